"""What the convolution kernels share: element types, tiles, small pieces of loop IR, a cache of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec

from ..functions import Functions
from ..loop.builder import Builder
from ..loop.ir import Function, Value
from ..loop.types import BITS, FLOATS, VType
from ..target import current_target

Args = ParamSpec("Args")
_functions = Functions()


def built_once(build: Callable[Args, Function]) -> Callable[Args, Function]:
    """Keeps what ``build`` makes, per arguments and target; a sink among them is known by its ``key``."""

    @wraps(build)
    def function(*args: Args.args, **named: Args.kwargs) -> Function:
        key = (build, current_target().name, *[getattr(x, "key", x) for x in (*args, *named.items())])
        found = _functions.get(key)
        return _functions.put(key, build(*args, **named)) if found is None else found

    return function


def compute_elem(elem: str) -> str:
    """What sums of ``elem`` are taken in."""
    return "f32" if elem in ("f16", "bf16") else elem


def size_of(elem: str) -> int:
    """Bytes of one element."""
    return BITS[elem] // 8


def round_up(n: Any, unit: int) -> Any:
    """The next multiple of ``unit``; ``n`` may be symbolic."""
    return (n + (unit - 1)) // unit * unit


def multiply_add(b: Builder, x: Value, y: Value, acc: Value) -> Value:
    """``x * y + acc``, for floats rounded once."""
    return b.fma(x, y, acc) if acc.type.elem in FLOATS else x * y + acc


def unsigned_zero(b: Builder, value: Value) -> Value:
    """``value``, and +0.0 where it is -0.0: what chains of `conv` and `conv_input_grad` end with is never that."""
    return value + b.const(0, value.type) if value.type.elem in FLOATS else value


def zeros(b: Builder, elem: str, lanes: int) -> Value:
    """A vector of zeros."""
    return b.const(0, VType(elem, lanes))


def below(b: Builder, limit: Any, lanes: int) -> Value:
    """The mask of the first ``limit`` lanes (none if it is negative)."""
    limit = b.convert(b.value(limit), "i32")
    return b.lt(b.lanes(lanes, "i32"), b.splat(limit, lanes))


def joined(b: Builder, pieces: Sequence[Value]) -> Value:
    """Vectors one behind the other; their number is a power of two."""
    parts = list(pieces)
    while len(parts) > 1:
        lanes = 2 * parts[0].type.lanes
        parts = [b.shuffle(parts[i], parts[i + 1], range(lanes)) for i in range(0, len(parts), 2)]
    return parts[0]


def split(b: Builder, index: Any, extent: Any) -> tuple[Value, Value]:
    """(quotient, remainder) of non-negative numbers."""
    quotient = b.div(index, extent)
    return quotient, b.sub(index, b.mul(quotient, extent))


def masked_loop(b: Builder, n: Any, lanes: int, elem: str, body: Callable[[Value, int, Value | None], None]) -> None:
    """``body(i, lanes, mask)`` for i = 0, lanes, ... below ``n``: what is left at the end is a masked vector.

    Elements of less than four bytes, which machines do not mask well, come one by one instead.
    """
    if size_of(elem) < 4:
        b.vector_loop(0, n, lanes, lambda i, lanes: body(i, lanes, None))
        return
    whole = b.mul(b.div(n, lanes), lanes)
    b.for_(0, whole, lanes, lambda i: body(i, lanes, None))
    left = b.sub(n, whole)
    b.if_(b.gt(b.value(left), 0), lambda: body(b.value(whole), lanes, below(b, left, lanes)))
