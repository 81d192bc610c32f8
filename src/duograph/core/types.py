"""Types of graph values: what is known about a value before it exists.

Types are small frozen objects compared by content. They say *what kind* of value a node has, never *which*
value: constness belongs to the frontend, not to the type (``docs/decisions``). Dimensions are ``int`` or `Dim`.

    Type ::= TensorType(dtype, shape)      an array
           | ScalarType(kind)              a Python bool, int or float that is only known at run time
           | TupleType(items)              several values (multi-result ops, loop carries)
           | StackType(item)               growable stack of residuals of a data-dependent loop
           | TokenType()                   order of effects: print, assert, py_call
           | ObjectType()                  an opaque Python object
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from .dim import Dim
from .dtype import DType

Extent: TypeAlias = "int | Dim"
Shape: TypeAlias = "tuple[Extent, ...]"


class Type:
    """Base of all types; use the subclasses."""

    __slots__ = ()


_SHORT = {
    "bool": "bool", "bool_": "bool", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "complex64": "c64", "complex128": "c128", "float8_e4m3fn": "f8e4", "float8_e5m2": "f8e5",
    **{f"{sign}int{bits}": f"{sign[:1] or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
SHORT_DTYPE_NAMES = _SHORT


@dataclass(frozen=True, slots=True)
class TensorType(Type):
    """An array of ``dtype`` and ``shape``."""

    dtype: DType
    shape: Shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def with_shape(self, shape: Shape) -> TensorType:
        return TensorType(self.dtype, tuple(shape))

    def with_dtype(self, dtype: DType) -> TensorType:
        return TensorType(dtype, self.shape)

    def __str__(self) -> str:
        return f"{_SHORT[self.dtype.name]}[{','.join(map(str, self.shape))}]"


SCALAR_KINDS = ("bool", "int", "float")


@dataclass(frozen=True, slots=True)
class ScalarType(Type):
    """A Python number whose value is only known at run time; ``kind`` is one of ``bool``, ``int``, ``float``."""

    kind: str

    @property
    def python_type(self) -> type:
        return {"bool": bool, "int": int, "float": float}[self.kind]

    def __str__(self) -> str:
        return self.kind


@dataclass(frozen=True, slots=True)
class TupleType(Type):
    items: tuple[Type, ...]
    _hash: int = field(init=False, repr=False, compare=False)  # hundreds of items are hashed once, not at every look-up

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(self.items))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.items))
        return f"({inner},)" if len(self.items) == 1 else f"({inner})"


@dataclass(frozen=True, slots=True)
class StackType(Type):
    """A stack that a data-dependent loop pushes one ``item`` on per iteration, for its gradient."""

    item: Type

    def __str__(self) -> str:
        return f"stack<{self.item}>"


@dataclass(frozen=True, slots=True)
class TokenType(Type):
    def __str__(self) -> str:
        return "token"


@dataclass(frozen=True, slots=True)
class ObjectType(Type):
    def __str__(self) -> str:
        return "object"


TOKEN = TokenType()
OBJECT = ObjectType()
INT, FLOAT, BOOL = ScalarType("int"), ScalarType("float"), ScalarType("bool")


def scalar_type(value: object) -> ScalarType:
    """The scalar type of a Python number."""
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT
    if isinstance(value, float):
        return FLOAT
    raise TypeError(f"not a Python bool, int or float: {value!r}")
