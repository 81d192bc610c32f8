"""Names of MindSpore that begin with an underscore there, and that programs use nevertheless."""

from __future__ import annotations

from duograph.autodiff.function import Function
from duograph.autodiff.modes import no_grad

__all__ = ["_Function", "_no_grad"]

_Function = Function
_no_grad = no_grad
