"""Remainders of floats, which are exact."""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value


def fmod(b: Builder, x: Value, y: Value) -> Value:
    """``x - trunc(x / y) * y`` with the sign of ``x``: LLVM's ``frem``, the C library's ``fmod`` for each lane."""
    return b.rem(x, y)


def python_mod(b: Builder, x: Value, y: Value) -> Value:
    """The remainder with the sign of ``y``, as NumPy's ``remainder``."""
    rest = fmod(b, x, y)
    other_sign = b.lt(y, 0.0) ^ b.lt(rest, 0.0)
    moved = b.select(other_sign, rest + y, rest)
    zero = b.copysign(b.const(0.0, x), y)
    # modulo zero: NumPy gives back the NaN of fmod
    return b.select(b.eq(y, 0.0), rest, b.select(b.eq(rest, 0.0), zero, moved))
