"""``duograph.mint``: the functions of ``duograph.ops`` under PyTorch's signatures, as MindSpore's ``mint``.

Names that agree with ``ops`` are the same functions; `FUNCTIONS` holds those whose signature or result differs.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from duograph.api.public_ops import functions as _functions

from .functions import FUNCTIONS

SAME = """
    abs acos acosh add addbmm addcmul addmm addmv arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan
    atan2 atanh bernoulli bincount bitwise_and bitwise_not bitwise_or bitwise_xor bmm broadcast_to cdist ceil clamp clip
    cos cosh cross dot einsum erf erfc erfinv exp exp2 expm1 eye floor fmod frac full full_like gcd ge
    greater greater_equal gt histc hstack inverse isclose isfinite isinf isneginf isnan kthvalue le lerp less less_equal
    log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logsumexp lt masked_select
    matmul maximum minimum mm mul mv nan_to_num ne neg negative nonzero not_equal ones_like outer
    polar pow ravel real imag reciprocal remainder reshape roll rsqrt searchsorted sigmoid sign sin sinc
    sinh sqrt square sum swapaxes t take tan tanh tile trace tril triu trunc unbind unique_consecutive unsqueeze
    where xlogy zeros_like diag_embed repeat_interleave round allclose""".split()
SUBMODULES = ("nn", "linalg", "special", "optim", "distributed")

_OPS = _functions()
globals().update({name: _OPS[name] for name in SAME if name in _OPS})
globals().update(FUNCTIONS)
__all__ = sorted({name for name in SAME if name in _OPS} | set(FUNCTIONS))


def __getattr__(name: str) -> Any:
    if name in SUBMODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
