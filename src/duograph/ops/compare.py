"""Comparisons: one dtype in, bool out; nothing is differentiable here."""

from __future__ import annotations

import numpy as np

from .elementwise import binary, comparison


def _compare(name, reference, doc, kinds="bifc"):
    return binary(name, reference, doc=doc, infer=comparison(name, kinds))


equal = _compare("equal", np.equal, "``x == y``; NaN equals nothing.")
not_equal = _compare("not_equal", np.not_equal, "``x != y``; NaN differs from everything.")
less = _compare("less", np.less, "``x < y``.", "bif")
less_equal = _compare("less_equal", np.less_equal, "``x <= y``.", "bif")
greater = _compare("greater", np.greater, "``x > y``.", "bif")
greater_equal = _compare("greater_equal", np.greater_equal, "``x >= y``.", "bif")
