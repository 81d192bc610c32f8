"""Python numbers that are only known at run time: ``int(tensor)``, a counter of a compiled ``while``, ``len`` of data.

`Scalar` behaves like the Python number it will be: its operators emit one of two ops, ``scalar_unary`` and
``scalar_binary``, whose reference *is* Python's operator (floor division, unbounded ints, true division, errors), so a
compiled program computes exactly what Python would. Asking for the value (``bool``, ``index``, ``hash``) while the
graph is being built raises `SymbolicValueError`; the frontend turns truth values into control flow before that happens.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from duograph.base.slot import Slot
from duograph.core.dim import Dim, definitely_le, dim_max, dim_min, fresh_symbol, symbols_of
from duograph.core.dtype import DType
from duograph.core.op import primitive, state
from duograph.core.types import BOOL, FLOAT, INT, ScalarType, TensorType, Type
from duograph.ir.node import Apply, Const, Node, reachable
from duograph.tensor.tensor import SymbolicValueError

BINARY: dict[str, Any] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne, "and": operator.and_,
    "or": operator.or_, "xor": operator.xor, "lshift": operator.lshift, "rshift": operator.rshift,
    "max": max, "min": min, "round": round,
    **{f"math.{fn.__name__}": fn for fn in (
        math.atan2, math.copysign, math.fmod, math.hypot, math.log, math.pow, math.remainder
    )},
}  # fmt: skip


class UnknownTextError(SymbolicValueError):
    """A text, perhaps of a message, was asked for that shows a run-time number while its graph is being built."""


class UnforeseenKind(Exception):
    """A run-time number became another kind of number than the graph was built for: ``2 ** k`` for a negative ``k``."""


def _int64(value: int) -> int:
    """``value``, of which NumPy makes an int64 (of larger ones other dtypes, or objects)."""
    if not -(1 << 63) <= value < 1 << 63:
        raise UnforeseenKind(f"an int of {value.bit_length()} bits is not an int64")
    return value


UNARY: dict[str, Any] = {
    "neg": operator.neg, "pos": operator.pos, "abs": abs, "invert": operator.invert, "not": operator.not_,
    "int": int, "float": float, "bool": bool, "round": round, "floor": math.floor, "ceil": math.ceil,
    "trunc": math.trunc, "int64": _int64,
    **{f"math.{fn.__name__}": fn for fn in (
        math.acos, math.acosh, math.asin, math.asinh, math.atan, math.atanh, math.cbrt, math.cos, math.cosh,
        math.degrees, math.erf, math.erfc, math.exp, math.exp2, math.expm1, math.fabs, math.gamma, math.isfinite,
        math.isinf, math.isnan, math.isqrt, math.lgamma, math.log, math.log10, math.log1p, math.log2, math.radians,
        math.sin, math.sinh, math.sqrt, math.tan, math.tanh,
    )},
}  # fmt: skip
"""What Python's operator or function of a name does; those of `math` may raise whatever the number is."""
number_of: Slot[Callable[[Scalar], Any]] = Slot("ops.scalar.number_of", lambda scalar: None)
"""What a number is that is only known at run time, if somebody knows that, and looks after the assumption; ``None``: it
is not known."""
_TESTS = ("math.isfinite", "math.isinf", "math.isnan")
_COMPARE = ("lt", "le", "gt", "ge", "eq", "ne")
_SAMPLE = {"bool": True, "int": 1, "float": 1.0}
_KINDS = {"bool": bool, "int": int, "float": float}


def _foreseen(fn: str, result: Any, *operands: Any) -> Any:
    """``result``, if it is of the kind that `_python_result` says for these operands."""
    kinds = tuple([kind_of(x) for x in operands])
    if kind_of(result) != _python_kind(fn, kinds):
        raise UnforeseenKind(f"{fn} of these numbers is no {_python_kind(fn, kinds)}")
    return result


def _binary_raises(a: Node, b: Node, *, fn: str) -> bool:
    """Whether the operator may raise for some numbers of these kinds, as far as they are not known."""
    known = b.value if isinstance(b, Const) else None
    if fn.startswith("math."):
        return True
    if fn in ("floordiv", "mod", "truediv"):
        return not known or "float" in (a.type.kind, b.type.kind) or fn == "truediv"  # type: ignore[attr-defined]
    if fn == "pow":
        return known is None or known < 0 or "float" in (a.type.kind, b.type.kind)  # type: ignore[attr-defined]
    if fn in ("lshift", "rshift"):
        return known is None or known < 0
    return fn in ("add", "sub", "mul") and a.type != b.type and "float" in (a.type.kind, b.type.kind)  # type: ignore[attr-defined]


@primitive
class scalar_binary:
    """Python's binary operator ``fn`` on two run-time numbers."""

    raises = _binary_raises
    layout = "any"

    def infer(a, b, *, fn):
        return _of_math(fn) or _python_result(BINARY[fn], a, b)

    def reference(a, b, *, fn):
        result = BINARY[fn](a, b)
        return _foreseen(fn, result, a, b) if fn == "pow" else result


def _unary_raises(a: Node, *, fn: str) -> bool:
    kind = a.type.kind  # type: ignore[attr-defined]
    return fn.startswith("math.") or fn in (
        ("int", "round", "floor", "ceil", "trunc") if kind == "float" else ("float", "int64") * (kind == "int")
    )


@primitive
class scalar_unary:
    """Python's unary operator or conversion ``fn`` on a run-time number."""

    raises = _unary_raises
    layout = "any"

    def infer(a, *, fn):
        return _of_math(fn) or _python_result(UNARY[fn], a)

    def reference(a, *, fn):
        return UNARY[fn](a)


def _of_math(fn: str) -> ScalarType | None:
    """The kind of result of a function of `math`."""
    return BOOL if fn in _TESTS else INT if fn == "math.isqrt" else FLOAT if fn.startswith("math.") else None


def _python_result(fn: Any, *types: Type) -> ScalarType:
    """The kind of result, found by running the operator on sample values of the operand kinds."""
    result = fn(*[_SAMPLE[t.kind] for t in types])  # type: ignore[attr-defined]
    return BOOL if isinstance(result, bool) else INT if isinstance(result, int) else FLOAT


@cache
def _python_kind(fn: str, kinds: tuple[str, ...]) -> str:
    return kind_of(BINARY[fn](*[_SAMPLE[k] for k in kinds]))


def kind_of(number: Any) -> str:
    """What kind of Python number ``number`` is; the name of its class if it is none."""
    return next((kind for kind, cls in _KINDS.items() if isinstance(number, cls)), type(number).__name__)


def _item_raises(x: Node, *, kind: str) -> bool:
    one = all(isinstance(n, int) and n == 1 for n in x.type.shape)  # type: ignore[attr-defined]
    return not one or x.type.dtype.is_complex or (kind == "int" and x.type.dtype.is_floating)  # type: ignore[attr-defined]


@primitive
class tensor_item:
    """The only element of a tensor as a Python number of kind ``kind``; `ValueError` unless it has one element."""

    raises = _item_raises
    layout = "any"

    def infer(x, *, kind):
        return ScalarType(kind)

    def reference(x, *, kind):
        if x.size != 1:
            what = "The truth value of an array" if kind == "bool" else "A tensor"
            raise ValueError(f"{what} with {x.size} elements cannot become a Python {kind}.")
        return {"bool": bool, "int": int, "float": float}[kind](x.reshape(()).item())


def _number_raises(a: Node, *, dtype: DType) -> bool:
    kind = a.type.kind  # type: ignore[attr-defined]
    return (kind == "float" and dtype.is_integer) or (kind == "int" and dtype.is_floating)


def fitted(value: bool | int | float | complex, dtype: DType) -> bool | int | float | complex:
    """A Python number as ``dtype`` stores it: integers wrap, floats are truncated for integer types."""
    if dtype.is_bool:
        return bool(value)
    if dtype.is_integer:
        bits = 8 * dtype.itemsize
        whole = int(value) & ((1 << bits) - 1)  # type: ignore[arg-type]
        return whole - (1 << bits) if dtype.is_signed and whole >> (bits - 1) else whole
    return value if dtype.is_complex else float(value)  # type: ignore[arg-type]


def limits_of(dtype: DType) -> tuple[int, int]:
    """The least and the largest number that an integer dtype has."""
    bits = 8 * dtype.itemsize
    return (-1 << bits - 1, (1 << bits - 1) - 1) if dtype.is_signed else (0, (1 << bits) - 1)


@primitive
class scalar_tensor:
    """A 0-d tensor of ``dtype`` that holds a run-time number."""

    raises = _number_raises
    layout = "any"

    def infer(a, *, dtype):
        return TensorType(dtype, ())

    def reference(a, *, dtype):
        return np.array(fitted(a, dtype), dtype.numpy)


@primitive
class dim_size:
    """The size of dimension ``axis``, as an int known at run time."""

    layout = "any"

    def infer(x, *, axis):
        return INT

    def reference(x, *, axis):
        return int(x.shape[axis])


def sizes_behind(node: Node) -> frozenset[Any]:
    """The symbols of the sizes of tensors that a number is computed from."""
    sizes = [n for n in reachable(node) if isinstance(n, Apply) and n.op is dim_size]
    shapes: list[Any] = [n.operands[0].type for n in sizes]
    return frozenset(s for t, n in zip(shapes, sizes, strict=True) for s in symbols_of(t.shape[n.attrs["axis"]]))


def extent_of(number: Any) -> Any:
    """The run-time int ``number`` as an extent, if it is made of sizes of tensors and known ints and cannot be
    negative, which means something else to those who take shapes; else ``number`` as it is."""
    if not isinstance(number, Scalar):
        return number
    extent = _extent(number.node)
    return number if extent is None or not definitely_le(0, extent) else extent


def integer_of(number: Any) -> Any:
    """The run-time int ``number`` as an extent, if it is made of sizes and known ints, whatever its sign: for those who
    compare it as such (`taken_at_most`), or do not at all; else ``number`` as it is."""
    extent = _extent(number.node) if isinstance(number, Scalar) else None
    return number if extent is None else extent


def bound_of(number: Any) -> Any:
    """The run-time int ``number`` as an end of a slice, if it is made of sizes and known ints and its sign is known, as
    negative ones count from the end; else ``number`` as it is."""
    if not isinstance(number, Scalar):
        return number
    extent = _extent(number.node)
    return extent if extent is not None and (definitely_le(0, extent) or definitely_le(extent, -1)) else number


def distance(a: Any, b: Any) -> Any:
    """``b - a`` as an extent, whatever run-time ints are part of both: 3 for ``n`` and ``n + 3``. ``None`` if it
    depends on these, or may be negative."""
    unknown: dict[Node, Any] = {}
    ends = [_extent(n.node, unknown) if isinstance(n, Scalar) else n for n in (a, b)]
    if not all(isinstance(n, int | Dim) for n in ends):
        return None
    extent = ends[1] - ends[0]
    depends = isinstance(extent, Dim) and not symbols_of(extent).isdisjoint(unknown.values())
    return None if depends or not definitely_le(0, extent) else extent


def _extent(node: Node, unknown: dict[Node, Any] | None = None) -> Any:
    """The int that ``node`` computes as an extent; with ``unknown``, what is made of no sizes gets a symbol there."""
    if isinstance(node, Const):
        return node.value if type(node.value) is int else None
    found = _made_of_sizes(node, unknown) if isinstance(node, Apply) else None
    if found is None and unknown is not None and node.type is INT:
        found = unknown.setdefault(node, fresh_symbol("unknown", -sys.maxsize))
    return found


def _made_of_sizes(node: Apply, unknown: dict[Node, Any] | None) -> Any:
    if node.op is dim_size:
        return node.operands[0].type.shape[node.attrs["axis"]]  # type: ignore[attr-defined]
    if node.op is scalar_unary and node.attrs["fn"] == "neg":
        found = _extent(node.operands[0], unknown)
        return None if found is None else -found
    fn = node.attrs["fn"] if node.op is scalar_binary else ""
    if fn not in ("add", "sub", "mul", "floordiv", "mod", "min", "max"):
        return None
    a, b = (_extent(operand, unknown) for operand in node.operands)
    if a is None or b is None or (fn in ("floordiv", "mod") and not definitely_le(1, b)):
        return None
    return (dim_min if fn == "min" else dim_max if fn == "max" else BINARY[fn])(a, b)


class Scalar:
    """A number of type ``type`` that the graph computes in ``node``."""

    __slots__ = ("node",)
    __array_ufunc__ = None  # NumPy's numbers ask this class

    def __init__(self, node: Node) -> None:
        self.node = node

    @staticmethod
    def of(node: Node) -> Any:
        """A Scalar for scalar-typed nodes; other nodes (tokens, objects) as they are."""
        return Scalar(node) if isinstance(node.type, ScalarType) else node

    @property
    def type(self) -> ScalarType:
        return self.node.type  # type: ignore[return-value]

    @property
    def kind(self) -> str:
        return self.type.kind

    def _no_value(self, *_: Any) -> Any:
        raise SymbolicValueError(f"the value of this {self.kind} is only known at run time")

    def _number(self) -> Any:
        known = number_of.value(self)
        return self._no_value() if known is None else known

    __iter__ = __hash__ = _no_value  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self._number())

    def __index__(self) -> int:
        return self._no_value() if self.kind == "float" else int(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def __repr__(self) -> str:
        if state.binder is not None:  # native code makes a text of what holds it, which the program would see
            raise UnknownTextError(f"the text of this {self.kind} is only known at run time")
        return f"Scalar({self.kind})"

    def __copy__(self) -> Scalar:
        return self

    def __deepcopy__(self, memo: Any) -> Scalar:
        return self

    def to_tensor(self, dtype: DType) -> Any:
        return scalar_tensor(self, dtype=dtype)

    def __round__(self, ndigits: Any = None) -> Any:
        return scalar_unary(self, fn="round") if ndigits is None else scalar_binary(self, ndigits, fn="round")


def is_number(value: Any) -> bool:
    """Whether a graph can have ``value`` as a number. One of a class derived from Python's would lose its class."""
    return isinstance(value, Scalar) or type(value) in (bool, int, float)


_REFLECTED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def _plain(number: Any, fn: str) -> Any:
    """``number`` of a class derived from Python's as what Python's operator ``fn`` takes it for.

    Raises:
        SymbolicValueError: the class has an operator of its own, as NumPy's numbers do, which gives what it likes.
    """
    base = int if isinstance(number, int) else float
    names = (f"__{fn}__", f"__{_REFLECTED[fn]}__" if fn in _COMPARE else f"__r{fn}__")
    if any(getattr(type(number), name, None) is not getattr(base, name, None) for name in names):
        raise SymbolicValueError(f"{fn} of a {type(number).__name__} and a number that is only known at run time")
    return int.__int__(number) if base is int else float.__float__(number)


def _binary(fn: str, swapped: bool) -> Any:
    def method(self: Scalar, other: Any) -> Any:
        if not is_number(other):
            if not isinstance(other, int | float | np.generic):
                return NotImplemented
            other = _plain(other, fn)
        return scalar_binary(other, self, fn=fn) if swapped else scalar_binary(self, other, fn=fn)

    return method


def _unary(fn: str) -> Any:
    return lambda self: scalar_unary(self, fn=fn)


for _fn in BINARY:
    if _fn in ("max", "min", "round") or _fn.startswith("math."):
        continue
    setattr(Scalar, f"__{_fn}__", _binary(_fn, swapped=False))
    if _fn not in _COMPARE:
        setattr(Scalar, f"__r{_fn}__", _binary(_fn, swapped=True))
for _fn in ("neg", "pos", "abs", "invert", "floor", "ceil", "trunc"):
    setattr(Scalar, f"__{_fn}__", _unary(_fn))


def as_scalar(value: Any, kind: str) -> Any:
    """``int(value)``, ``float(value)`` or ``bool(value)`` of a Scalar, Python number or Tensor, kept in the graph."""
    if isinstance(value, Scalar):
        return value if value.kind == kind else scalar_unary(value, fn=kind)
    if isinstance(value, bool | int | float):
        return {"bool": bool, "int": int, "float": float}[kind](value)
    return tensor_item(value, kind=kind)
