"""``duograph.mint``: the functions of ``duograph.ops`` under PyTorch's signatures, as MindSpore's ``mint``.

Names that agree with ``ops`` are the same functions; `FUNCTIONS` holds those whose signature or result differs.
"""

from __future__ import annotations

from typing import Any

from duograph.api.public_ops import functions as _functions
from duograph.base.public import Names as _Names
from duograph.core.traits import Traits as _Traits

from .functions import FUNCTIONS

_SAME = """
    abs acos acosh addbmm addcmul addmm addmv arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh
    atan atan2 atanh bincount bitwise_and bitwise_not bitwise_or bitwise_xor broadcast_to ceil clamp clip cos cosh
    cross dot einsum erf erfc erfinv exp exp2 expm1 eye floor fmod full_like gcd ge greater greater_equal gt histc
    hstack inverse isclose isfinite isinf isneginf kthvalue le lerp less less_equal log log10 log1p log2 logaddexp
    logaddexp2 logical_and logical_not logical_or logical_xor logsumexp lt masked_select matmul maximum minimum mul
    nan_to_num ne neg negative nonzero not_equal ones_like outer polar pow ravel real imag reciprocal remainder
    reshape roll rsqrt searchsorted sigmoid sign sin sinc sinh square sum swapaxes t take tan tanh tile trace tril
    triu trunc unbind unique_consecutive unsqueeze where xlogy zeros_like diag_embed repeat_interleave round
"""
SAME = _SAME.split()
"""Names that mean the same functions as in ``ops``."""
_names = _Names(__name__, {}, ("nn", "linalg", "special", "optim", "distributed"))
_OPS = _functions()
globals().update({name: _OPS[name] for name in SAME})
globals().update(FUNCTIONS)
__all__ = list(dict.fromkeys([*SAME, *FUNCTIONS]))
__capture__ = _Traits(rules=True)


def __getattr__(name: str) -> Any:
    return _names.get(name)


def __dir__() -> list[str]:
    return _names.listing()
