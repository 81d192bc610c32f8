"""Programs in which the size of a value depends on data are machine code, too."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops


@pytest.mark.parametrize("n", [1, 5, 100, 70_000])
def test_reductions_of_selected_elements(n):
    x = Tensor(np.random.default_rng(n).standard_normal(n).astype(np.float32))

    def f(x):
        chosen = ops.masked_select(x, x > 0)
        return chosen.sum(), ops.exp(chosen * 0.1).sum()

    compiled = ms.jit(f)
    for _ in range(3):
        for made, wanted in zip(compiled(x), f(x), strict=True):
            assert made.asnumpy().tobytes() == wanted.asnumpy().tobytes()
    (version,) = compiled.explain().versions
    assert all("masked_select" in note for note in version["in_python"])
