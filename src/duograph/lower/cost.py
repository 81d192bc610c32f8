"""What elementwise work costs, roughly: nanoseconds per element on one core, to choose where splitting pays."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from .layout import moves
from .loop.types import BITS
from .program import ElementStep, Program, Reduction
from .target import current_target

_DEFAULT = 0.03
_OPS = {
    **dict.fromkeys(("div", "sqrt", "rsqrt", "reciprocal", "mod", "fmod", "floor_div", "trunc_div"), 0.2),
    **dict.fromkeys(("exp", "exp2", "log", "log2", "log10", "sigmoid", "log1p", "expm1", "silu", "fast_gelu"), 0.4),
    **dict.fromkeys(("tanh", "erf", "sin", "cos", "sinh", "cosh", "atan", "softplus", "sinc"), 0.6),
    **dict.fromkeys(("tan", "asin", "acos", "asinh", "acosh", "atanh", "erfc", "erfinv", "atan2", "pow", "xlogy"), 1.2),
    **dict.fromkeys(("normal_cdf", "gelu", "gelu_by_tanh", "logit", "tanhshrink", "mish"), 0.8),
    **dict.fromkeys(("lgamma", "digamma", "polygamma"), 10.0),
    **dict.fromkeys(("igamma", "igammac", "igamma_grad_a", "betainc", "zeta"), 100.0),
    **{f"bessel_{kind}": 60.0 for kind in ("i0", "i0e", "i1", "i1e", "j0", "j1", "y0", "y1")},
    **{f"bessel_{kind}": 150.0 for kind in ("k0", "k0e", "k1", "k1e")},
}
_BYTE = 0.02
WORTH = 4000.0
"""Nanoseconds of work that a chunk of a parallel loop should hold at least."""
DEEP = 38
"""Instructions in a chain from which iterations do not overlap by themselves."""
LARGE = 120
"""Instructions of an iteration that are too many to be written several times: that takes a tenth off the time of such a
kernel, and doubles what LLVM needs for it."""
MOST_CODE = 320
"""Instructions of an iteration from which a kernel takes no more operators: the processor looks no further ahead, what
goes through memory is nothing beside so much work, and LLVM takes longer for each instruction of a larger function."""


def op_cost(name: str) -> float:
    """Nanoseconds per element of one op."""
    return _OPS.get(name, _DEFAULT)


def program_cost(program: Program, written: int) -> float:
    """Nanoseconds per element of a program that writes ``written`` bytes per element."""
    moved = written + sum(
        BITS[leaf.operand.elem] // 8 for leaf in program.leaves if leaf.in_memory and any(map(moves, leaf.strides))
    )
    return _BYTE * moved + sum(_step_cost(step) for step in program.steps)


def _step_cost(step: ElementStep | Reduction) -> float:
    return op_cost(step.op.name) if isinstance(step, ElementStep) else 2 * _DEFAULT


@functools.cache
def op_size(name: str) -> float:
    """Roughly the vector instructions of one op."""
    return 1 + 30 * op_cost(name)


def code_size(steps: Iterable[ElementStep | Reduction]) -> float:
    """Roughly the vector instructions of one iteration."""
    return sum(1 + 30 * _step_cost(step) for step in steps)


def depth(program: Program) -> float:
    """Roughly how many instructions of one iteration wait for each other."""
    levels = [0.0] * len(program.leaves)
    for step in program.steps:
        here = max((levels[a] for a in step.args), default=0.0) + 1 + 30 * _step_cost(step)
        levels += [here] * len(step.outs)
    return max(levels, default=0.0)


def interleaved(program: Program) -> int:
    """How many vectors an iteration should hold, so that the processor, which looks a few hundred instructions ahead,
    finds some that wait for nothing: four where each is a register, two where vectors are several registers anyway."""
    if depth(program) <= DEEP or code_size(program.steps) > LARGE or any(_step_cost(s) > 1.5 for s in program.steps):
        return 1
    return 4 if current_target().vector_bits >= 512 else 2


def grain_for(cost: float) -> int:
    """Elements per chunk at ``cost`` nanoseconds each: whole vectors, a power of two."""
    return 1 << min(20, max(8, int(WORTH / max(cost, 1e-3)).bit_length()))
