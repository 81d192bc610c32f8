"""Element types, and which one results when two meet.

A `DType` is interned: there is one object per element type, so `is`, `==` and `hash` are identity and the tables below
are indexed by the small integer `DType.index`. Names, printed forms and promotion are MindSpore 2.10's (measured, see
`docs/notes/mindspore_behaviour.md`); `as_dtype` is the one gate through which user input becomes a `DType`.

    Type                         everything MindSpore calls a type
    +-- DType                    a concrete element type: float32, bool_ ...
    |   +-- Bool, Int, UInt, Float, BFloat, Complex    kinds; `Int(8) is int8`
    +-- TypeClass                a kind without width, or no tensor element: number, float_, string, list_ ...
    +-- TensorType               `TensorType(float32)`, printed `Tensor[Float32]`
"""

from __future__ import annotations

from typing import Any, Self

import ml_dtypes
import numpy as np


class Type:
    """Root of the type objects; immutable, interned, pickled by name."""

    __slots__ = ("name", "title")
    name: str
    title: str

    def __setattr__(self, key: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} objects are immutable")

    def __repr__(self) -> str:
        return f"mindspore.{self.name}"

    def __str__(self) -> str:
        return self.title

    def __reduce__(self) -> tuple[Any, ...]:
        return _lookup, (self.name,)


class DType(Type):
    """A concrete element type.

    Attributes:
        name: MindSpore's and NumPy's name, `'float32'`; `str(dtype)` is the capitalised `'Float32'`.
        index: position in `DTYPES`, for tables.
        numpy: the `np.dtype`; bfloat16 and float8 come from ml_dtypes.
        itemsize: bytes per element.
        is_bool, is_integer, is_floating, is_complex: exactly one holds.
        is_signed: can hold negative values (complex counts, bool does not).
        is_number: any but bool, as in MindSpore's `number_type`.
    """

    __slots__ = (
        "index", "is_bool", "is_complex", "is_floating", "is_floating_point", "is_integer", "is_number", "is_signed",
        "itemsize", "numpy",
    )  # fmt: skip
    index: int
    numpy: np.dtype[Any]
    itemsize: int
    is_bool: bool
    is_integer: bool
    is_floating: bool
    is_floating_point: bool
    is_complex: bool
    is_signed: bool
    is_number: bool

    def __new__(cls, bits: int = 0) -> Self:
        """`Int(8)` is `int8`; `Int()` is the width-free `int_`."""
        kind = _KIND_NAMES.get(cls)
        found = _BY_NAME.get(f"{kind}{bits}" if bits else f"{kind}") if kind else None
        if found is None:
            raise TypeError(f"There is no {cls.__name__} type of {bits} bits.")
        return found  # type: ignore[return-value]

    def to_real(self) -> DType:
        """The type of the real and imaginary part of a complex type; any other type is its own."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def to_complex(self) -> DType:
        """The complex type with parts of (at least) this precision."""
        if self.is_complex:
            return self
        if not self.is_floating or self is float16:
            raise TypeError(f"Cannot convert type {self.name} to complex type.")
        return complex128 if self is float64 else complex64


class Bool(DType):
    __slots__ = ()


class Int(DType):
    __slots__ = ()


class UInt(DType):
    __slots__ = ()


class Float(DType):
    __slots__ = ()


class BFloat(DType):
    __slots__ = ()


class Complex(DType):
    __slots__ = ()


_KIND_NAMES: dict[type, str] = {
    Bool: "bool", Int: "int", UInt: "uint", Float: "float", BFloat: "bfloat", Complex: "complex"
}  # fmt: skip


class TypeClass(Type):
    """A type that no tensor element has: a whole kind (`number`, `float_`) or another sort of object (`string`)."""

    __slots__ = ("kinds",)
    kinds: tuple[type, ...]


class TensorType(Type):
    """`TensorType(float32)`: the type of tensors of one element type."""

    __slots__ = ("_element",)
    _element: DType | None

    def __new__(cls, element: DType | None = None) -> Self:
        if element is None:
            return tensor_type  # type: ignore[return-value]
        if not isinstance(element, DType):
            raise TypeError(f"TensorType() needs a dtype, but got {element!r}.")
        return _TENSOR_OF[element.index]  # type: ignore[no-any-return]

    def element_type(self) -> DType | None:
        return self._element

    def __class_getitem__(cls, element: DType) -> TensorType:
        return cls(element)

    def __getitem__(self, element: DType) -> TensorType:
        return TensorType(element)

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorType, (self._element,)


_BY_NAME: dict[str, Type] = {}
DTYPES: list[DType] = []
"""Every concrete element type; `DTYPES[d.index] is d`."""


def _lookup(name: str) -> Type:
    return _BY_NAME[name]


def _fill(obj: Any, **fields: object) -> Any:
    for key, value in fields.items():
        object.__setattr__(obj, key, value)
    return obj


def _dtype(kind: type[DType], name: str, title: str, scalar: Any) -> DType:
    npdtype = np.dtype(scalar)
    floating = kind in (Float, BFloat)
    new: DType = _fill(
        object.__new__(kind), name=name, title=title, index=len(DTYPES), numpy=npdtype, itemsize=npdtype.itemsize,
        is_bool=kind is Bool, is_integer=kind in (Int, UInt), is_floating=floating, is_floating_point=floating,
        is_complex=kind is Complex, is_signed=kind not in (Bool, UInt), is_number=kind is not Bool,
    )  # fmt: skip
    DTYPES.append(new)
    _BY_NAME[name] = new
    return new


def _class(name: str, title: str, *kinds: type) -> TypeClass:
    new: TypeClass = _fill(object.__new__(TypeClass), name=name, title=title, kinds=kinds)
    _BY_NAME[name] = new
    return new


bool_ = _dtype(Bool, "bool", "Bool", np.bool_)
int8 = _dtype(Int, "int8", "Int8", np.int8)
int16 = _dtype(Int, "int16", "Int16", np.int16)
int32 = _dtype(Int, "int32", "Int32", np.int32)
int64 = _dtype(Int, "int64", "Int64", np.int64)
uint8 = _dtype(UInt, "uint8", "UInt8", np.uint8)
uint16 = _dtype(UInt, "uint16", "UInt16", np.uint16)
uint32 = _dtype(UInt, "uint32", "UInt32", np.uint32)
uint64 = _dtype(UInt, "uint64", "UInt64", np.uint64)
float16 = _dtype(Float, "float16", "Float16", np.float16)
bfloat16 = _dtype(BFloat, "bfloat16", "BFloat16", ml_dtypes.bfloat16)
float32 = _dtype(Float, "float32", "Float32", np.float32)
float64 = _dtype(Float, "float64", "Float64", np.float64)
complex64 = _dtype(Complex, "complex64", "Complex64", np.complex64)
complex128 = _dtype(Complex, "complex128", "Complex128", np.complex128)
float8_e4m3fn = _dtype(Float, "float8_e4m3fn", "Float8E4M3FN", ml_dtypes.float8_e4m3fn)
float8_e5m2 = _dtype(Float, "float8_e5m2", "Float8E5M2", ml_dtypes.float8_e5m2)

byte, short, intc, long, intp = int8, int16, int32, int64, int64
ubyte, ushort, uintc, uintp = uint8, uint16, uint32, uint64
half, single, double, cfloat, cdouble = float16, float32, float64, complex64, complex128

number = _class("number", "Number", DType)
int_ = _class("int", "Int", Int)
uint = _class("uint", "UInt", UInt)
float_ = _class("float", "Float", Float, BFloat)
complex_ = _class("complex", "Complex", Complex)
string = _class("string_", "String")
list_ = _class("list_", "List")
tuple_ = _class("tuple_", "Tuple")
type_none = _class("type_none", "None")
null = _class("Null", "Null")
tensor_type: TensorType = _fill(object.__new__(TensorType), name="tensor", title="Tensor", _element=None)

_TENSOR_OF = [
    _fill(object.__new__(TensorType), name=f"tensor[{d.name}]", title=f"Tensor[{d.title}]", _element=d) for d in DTYPES
]

int_type = (int8, int16, int32, int64)
uint_type = (uint8, uint16, uint32, uint64)
float_type = (float16, float32, float64, bfloat16, float8_e4m3fn, float8_e5m2)
complex_type = (complex64, complex128)
number_type = int_type + uint_type + (*float_type[:4], *complex_type, *float_type[4:])
signed_type = tuple(d for d in number_type if d.is_signed)
all_types = (bool_, *number_type)


# ---- promotion ------------------------------------------------------------------------------------------------------

_SHORT = {
    "b": bool_, "i8": int8, "i16": int16, "i32": int32, "i64": int64,
    "u8": uint8, "u16": uint16, "u32": uint32, "u64": uint64,
    "f16": float16, "bf": bfloat16, "f32": float32, "f64": float64, "c64": complex64, "c128": complex128,
    "e4": float8_e4m3fn, "e5": float8_e5m2,
}  # fmt: skip

# Symmetric. MindSpore refuses u16, u32 and u64 with anything but themselves and bool ("Type implicit conversion between
# UInt16 and Int8 is not supported") and knows no arithmetic on e4 and e5. There we widen as the rest of the table does:
# signed meets unsigned in the next wider signed type (int64 at most, so integers never turn into floats), any integer
# meets a float in that float.
_PROMOTION = """
      b    i8   i16  i32  i64  u8   u16  u32  u64  f16  bf   f32  f64  c64  c128 e4   e5
b     b    i8   i16  i32  i64  u8   u16  u32  u64  f16  bf   f32  f64  c64  c128 e4   e5
i8    i8   i8   i16  i32  i64  i16  i32  i64  i64  f16  bf   f32  f64  c64  c128 e4   e5
i16   i16  i16  i16  i32  i64  i16  i32  i64  i64  f16  bf   f32  f64  c64  c128 e4   e5
i32   i32  i32  i32  i32  i64  i32  i32  i64  i64  f16  bf   f32  f64  c64  c128 e4   e5
i64   i64  i64  i64  i64  i64  i64  i64  i64  i64  f16  bf   f32  f64  c64  c128 e4   e5
u8    u8   i16  i16  i32  i64  u8   u16  u32  u64  f16  bf   f32  f64  c64  c128 e4   e5
u16   u16  i32  i32  i32  i64  u16  u16  u32  u64  f16  bf   f32  f64  c64  c128 e4   e5
u32   u32  i64  i64  i64  i64  u32  u32  u32  u64  f16  bf   f32  f64  c64  c128 e4   e5
u64   u64  i64  i64  i64  i64  u64  u64  u64  u64  f16  bf   f32  f64  c64  c128 e4   e5
f16   f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f32  f32  f64  c64  c128 f16  f16
bf    bf   bf   bf   bf   bf   bf   bf   bf   bf   f32  bf   f32  f64  c64  c128 bf   bf
f32   f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f64  c64  c128 f32  f32
f64   f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128 f64  f64
c64   c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c128 c64  c128 c64  c64
c128  c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128
e4    e4   e4   e4   e4   e4   e4   e4   e4   e4   f16  bf   f32  f64  c64  c128 e4   f32
e5    e5   e5   e5   e5   e5   e5   e5   e5   e5   f16  bf   f32  f64  c64  c128 f32  e5
"""
_TABLE: list[list[DType]] = [[_SHORT[cell] for cell in row.split()[1:]] for row in _PROMOTION.split("\n")[2:-1]]


def promote_types(a: DType, b: DType) -> DType:
    """The dtype of `x + y` for tensors of dtypes `a` and `b`; shapes, and being 0-d, play no part."""
    return _TABLE[a.index][b.index]


def promote_scalar(dtype: DType, py_type: type) -> DType:
    """The dtype of a tensor of `dtype` with a Python number, on either side: the number is weak.

    A bool changes nothing; an int lifts bool to int64; a float lifts bool and integers to float32. A complex number
    (which MindSpore refuses) lifts to the complex type of the same precision.
    """
    if dtype.is_complex or issubclass(py_type, bool):
        return dtype
    if issubclass(py_type, int):
        return int64 if dtype.is_bool else dtype
    if issubclass(py_type, float):
        return dtype if dtype.is_floating else float32
    if issubclass(py_type, complex):
        return complex128 if dtype is float64 else complex64
    raise TypeError(f"unsupported operand type: tensor of {dtype.name} and '{py_type.__name__}'")


def true_divide_dtype(dtype: DType) -> DType:
    """The dtype of `x / y` once both have `dtype`: bool and every integer, int64 too, give float32."""
    return dtype if dtype.is_floating or dtype.is_complex else float32


# ---- conversion -----------------------------------------------------------------------------------------------------

_FROM_NUMPY: dict[np.dtype[Any], DType] = {d.numpy: d for d in DTYPES}
_FROM_PYTHON: dict[type, DType] = {bool: bool_, int: int64, float: float64, complex: complex128}
_FROM_STRING: dict[str, DType] = {
    **{d.name: d for d in DTYPES}, **{d.title: d for d in DTYPES},
    "bool_": bool_, "int": int64, "float": float64, "complex": complex128,
    "byte": byte, "short": short, "intc": intc, "long": long, "intp": intp,
    "ubyte": ubyte, "ushort": ushort, "uintc": uintc, "uintp": uintp,
    "half": half, "single": single, "double": double, "cfloat": cfloat, "cdouble": cdouble,
}  # fmt: skip
_WEAK: dict[type, DType] = {bool: bool_, int: int64, float: float32, complex: complex128}


def as_dtype(x: object, who: str = "as_dtype") -> DType:
    """The `DType` that `x` names: a DType, NumPy dtype or scalar class, `bool/int/float/complex`, or a string.

    Python's `float` is float64 and `int` int64, as in `tensor.astype(float)`; for the dtype of a value see `dtype_of`.

    Args:
        x: what the user gave.
        who: name of the API, for the message.

    Raises:
        TypeError: `x` names no element type.
    """
    if isinstance(x, DType):
        return x
    found: DType | None = None
    if isinstance(x, str):
        found = _FROM_STRING.get(x)
    elif isinstance(x, np.dtype):
        found = _FROM_NUMPY.get(x)
    elif isinstance(x, type):
        found = _FROM_PYTHON.get(x)
        if found is None and (issubclass(x, np.generic) or x in _ML_SCALARS):
            found = _FROM_NUMPY.get(np.dtype(x))
    if found is None:
        raise TypeError(f"For '{who}', the input 'dtype' should be mindspore dtype, but got {x}.")
    return found


_ML_SCALARS = frozenset(d.numpy.type for d in (bfloat16, float8_e4m3fn, float8_e5m2))


def from_numpy(dtype: np.dtype[Any]) -> DType:
    """The `DType` of arrays of ``dtype`` (native byte order); `TypeError` for dtypes that are no tensor's."""
    found = _FROM_NUMPY.get(dtype)
    if found is None:
        raise TypeError(f"arrays of dtype {dtype} cannot be tensors")
    return found


def dtype_of(obj: object) -> DType:
    """The dtype of a value as a tensor: bool, int64, float32, complex128 for Python's numbers; NumPy's own is kept."""
    found = _WEAK.get(type(obj))
    if found is not None:
        return found
    npdtype = getattr(obj, "dtype", None)
    if isinstance(npdtype, np.dtype):
        found = _FROM_NUMPY.get(npdtype.newbyteorder("="))
    elif isinstance(npdtype, DType):
        return npdtype
    else:
        for base in (bool, int, float, complex):
            if isinstance(obj, base):
                return _WEAK[base]
    if found is None:
        raise TypeError(f"The python type {type(obj)} cannot be converted to a tensor dtype.")
    return found


# ---- MindSpore's helper functions (re-exported by `duograph.common.dtype`) ------------------------------------------


def dtype_to_nptype(type_: DType) -> type:
    """The NumPy scalar class of a dtype; `KeyError` for anything else, as in MindSpore."""
    if not isinstance(type_, DType):
        raise KeyError(type_)
    return type_.numpy.type


def dtype_to_pytype(type_: Type) -> type:
    """The Python class of a dtype: `float` for every float width, `int` for integers, `str` for `string` ..."""
    if isinstance(type_, DType):
        return bool if type_.is_bool else int if type_.is_integer else complex if type_.is_complex else float
    return {list_: list, tuple_: tuple, string: str, type_none: type(None)}[type_]  # type: ignore[index, return-value]


def pytype_to_dtype(obj: type) -> Type:
    """The type object of a Python or NumPy class: `float` is float64."""
    if not isinstance(obj, type):
        raise TypeError(
            "For 'pytype_to_dtype', the argument 'obj' must be a python type object,"
            f"such as int, float, str, etc. But got type {type(obj)}."
        )
    simple: dict[type, Type] = {list: list_, tuple: tuple_, type(None): type_none, str: string, np.str_: string}
    found = simple.get(obj)
    if found is not None:
        return found
    try:
        return as_dtype(obj)
    except TypeError:
        raise NotImplementedError(f"The python type {obj} cannot be converted to MindSpore type.") from None


def get_py_obj_dtype(obj: object) -> Type:
    """The type object of a value; of a tensor its `TensorType`, of a class that of its instances."""
    dtype = getattr(obj, "dtype", None)
    if isinstance(dtype, DType) and not isinstance(obj, Type):
        return TensorType(dtype)
    return pytype_to_dtype(obj if isinstance(obj, type) else type(obj))


def issubclass_(type_: object, dtype: object) -> bool:
    """Whether `type_` is `dtype` or one of its kind: `issubclass_(float16, float_)`, `issubclass_(int8, number)`."""
    if not isinstance(type_, Type) or not isinstance(dtype, Type):
        return False
    if type_ is dtype:
        return True
    if isinstance(dtype, TypeClass):
        if isinstance(type_, TypeClass):
            return dtype is number and bool(type_.kinds)
        return isinstance(type_, dtype.kinds)
    return dtype is tensor_type and isinstance(type_, TensorType)


def type_size_in_bytes(dtype: Type) -> int:
    """Bytes per element."""
    if not isinstance(dtype, Type):
        raise TypeError("The argument `dtype` should be instance of ", Type)
    return dtype.itemsize if isinstance(dtype, DType) else 0
