"""What native code must know of CPython and NumPy: where the fields of objects are, and where the C functions are.

Everything here was looked up, not assumed: slots of our own classes stand in their member descriptors, and each offset
that no descriptor tells is compared with a live object through its public attributes. `layout` does so when it is
first called, and raises `Unsupported` if anything is not as expected; native launching is then left off and Python
does the same work (``runtime/launch/launcher.py``).

    layout().slot(Tensor, "_data")          # offset of a slot
    function_address("PyTuple_New")         # of the C API
    method(Tensor, "__add__", address, doc, owner)     # a native method, ready to be put into the class
"""

from __future__ import annotations

import ctypes
import functools
import sys
import sysconfig
from typing import Any

import numpy as np

from duograph.base.once import lazy

from .structs import Field

HEAD = object.__basicsize__
"""Bytes of reference count and type."""

_api = ctypes.pythonapi

# Fields of CPython's and NumPy's own objects. `_check` compares all of them.
COUNT = Field("reference count", "i64", 0)
TYPE = Field("type", "ptr", HEAD - 8)
SIZE = Field("size", "i64", HEAD)  # number of items of a tuple, bytes or list
TUPLE_ITEMS = Field("items of a tuple", "ptr", HEAD + 8)
LIST_ITEMS = Field("items of a list", "ptr", HEAD + 8)  # a pointer to them
FLOAT_VALUE = Field("value of a float", "i64", HEAD)
SLICE_PARTS = Field("parts of a slice", "ptr", HEAD)  # start, stop, step
FUNCTION_FIELDS = {"__code__": HEAD + 32, "__defaults__": HEAD + 40, "__kwdefaults__": HEAD + 48}
DICT_VERSION = Field("version of a dict", "i64", HEAD + 8)  # changes with the contents (`Layout.has_versions`)
TYPE_VERSION = Field("version of a class", "i32", HEAD + 368)  # changes with the attributes of a class; 0: none
ARRAY_DATA = Field("data of an array", "ptr", HEAD)
ARRAY_RANK = Field("rank of an array", "i32", HEAD + 8)
ARRAY_SHAPE = Field("shape of an array", "ptr", HEAD + 16)
ARRAY_STRIDES = Field("strides of an array", "ptr", HEAD + 24)
ARRAY_BASE = Field("base of an array", "ptr", HEAD + 32)
ARRAY_DTYPE = Field("dtype of an array", "ptr", HEAD + 40)
DTYPE_CLASS = Field("class of a dtype's scalars", "ptr", HEAD)
DTYPE_CHARS = Field("kind, character and byte order of a dtype", "i32", HEAD + 8)
ARRAY_FLAGS = Field("flags of an array", "i32", HEAD + 48)
ARRAY_HANDLER = Field("memory handler of an array", "ptr", HEAD + 72)

IMMORTAL = -1  # the lower half of the reference count of objects that live for ever, from 3.12 on

C_CONTIGUOUS, OWNS_DATA, ALIGNED, WRITEABLE = 0x1, 0x4, 0x100, 0x400

_NUMPY_TABLE = {"PyArray_NewCopy": 85, "PyArray_NewFromDescr": 94, "PyArray_SetBaseObject": 282}
_ARRAY_TYPE_ENTRY = 2

METH_FASTCALL, METH_KEYWORDS = 0x80, 0x2


class Unsupported(RuntimeError):
    """This Python or NumPy is not laid out as native code expects."""


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("address", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    )  # fmt: skip


class Layout:
    """The checked layout of this interpreter."""

    def __init__(self) -> None:
        self._table: ctypes.Array[ctypes.c_void_p] | None = None

    def slot(self, cls: type, name: str) -> Field:
        """A slot of a class; checked on an instance.

        Raises:
            Unsupported: it is not there.
        """
        descriptor = cls.__dict__[name]
        member = _word(id(descriptor) + HEAD + 24)
        if _word(_word(member)).to_bytes(8, sys.byteorder)[: len(name)] != name.encode()[:8]:
            raise Unsupported(f"member descriptor of {cls.__name__}.{name}")
        offset = ctypes.c_ssize_t.from_address(member + 16).value
        probe: Any = cls.__new__(cls)  # type: ignore[call-overload]  # of any class
        sentinel = object()
        if not HEAD <= offset < cls.__basicsize__:
            raise Unsupported(f"offset {offset} of {cls.__name__}.{name}")
        descriptor.__set__(probe, sentinel)
        _expect(_word(id(probe) + offset), id(sentinel), f"slot {cls.__name__}.{name}")
        return Field(f"{cls.__name__}.{name}", "ptr", offset)

    @lazy
    def has_versions(self) -> bool:
        """Whether dictionaries and classes have a version where native code looks for it.

        From 3.13 on the attributes of an object lie in the object, also when its dictionary has been asked for, and
        specialised stores to them leave the version of the dictionary alone.
        """
        return sys.version_info < (3, 13) and _has_dict_versions() and self.has_class_versions

    @lazy
    def has_class_versions(self) -> bool:
        """Whether classes have a version where native code looks for it."""
        return _has_type_versions()

    def dictionary_place(self, owner: Any) -> int:
        """Address of the word of an object that points to its ``__dict__``.

        Raises:
            Unsupported: it does not.
        """
        place = self._find_dictionary(owner)
        if not place or ctypes.c_void_p.from_address(place).value != id(vars(owner)):
            raise Unsupported(f"the dictionary of a {type(owner).__name__}")
        return int(place)

    @lazy
    def _find_dictionary(self) -> Any:
        """CPython's function for the place of an object's dictionary."""
        return ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(("_PyObject_GetDictPtr", _api))

    def numpy_entry(self, index: int) -> int:
        """An entry of NumPy's table of C functions."""
        if self._table is None:
            get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))
            start = get(_numpy_capsule(), None)
            self._table = (ctypes.c_void_p * 310).from_address(start)
        return self._table[index] or 0


def _numpy_capsule() -> Any:
    """What holds the address of NumPy's table of C functions."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]  # no part of the stubs

    return _multiarray_umath._ARRAY_API


def _word(address: int) -> int:
    """The word at an address, which may be a wrong one: Linux reads it for us and fails where we would crash."""
    try:
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            return int.from_bytes(memory.read(8), sys.byteorder)
    except FileNotFoundError:
        return ctypes.c_size_t.from_address(address).value
    except (OSError, OverflowError) as error:
        raise Unsupported(f"no memory where a field should point to ({error})") from None


def _expect(found: Any, wanted: Any, what: str) -> None:
    if found != wanted:
        raise Unsupported(f"{what}: expected {wanted}, found {found}")


def _has_dict_versions() -> bool:
    """Whether every kind of change gives a dictionary another version, and reading does not."""
    seen: list[int] = []

    class Holder:
        """Something with a dictionary of its own."""

    holder = Holder()
    plain: dict[Any, Any] = {"a": 1}
    changes: list[Any] = [
        lambda d: d.update(b=2), lambda d: d.__setitem__("a", 3), lambda d: d.pop("b"), lambda d: d.setdefault("c", 1),
        lambda d: d.__delitem__("c"), lambda d: d.popitem(), lambda d: d.update({"x": 1}), lambda d: d.clear(),
    ]  # fmt: skip
    for d in (plain, vars(holder)):
        d["a"] = 0
        for change in changes:
            seen.append(_word(id(d) + DICT_VERSION))
            d.get("a")
            if _word(id(d) + DICT_VERSION) != seen[-1]:
                return False
            change(d)
            seen.append(_word(id(d) + DICT_VERSION))
    for number in range(64):  # often enough for the interpreter to specialise the line
        holder.attribute = object() if number % 2 else number  # type: ignore[attr-defined]
        seen.append(_word(id(vars(holder)) + DICT_VERSION))
    changed = [v for i, v in enumerate(seen) if i == 0 or v != seen[i - 1]]
    return len(set(changed)) == len(changed) and len(changed) >= 2 * len(changes) + 64


def _has_type_versions() -> bool:
    """Whether the version of a class is lost with each change of it or of a base."""

    class Base:
        """What is looked up."""

        value = 1

    class Derived(Base):
        """Where it is looked up."""

    def version() -> int:
        for _ in range(3):
            Derived.value  # noqa: B018 - a look-up gives the class a version
        return ctypes.c_uint32.from_address(id(Derived) + TYPE_VERSION).value

    seen = [version(), version()]
    for number in range(3):
        Base.value = number + 2
        seen.append(version())
    Derived.other = 1  # type: ignore[attr-defined]
    seen.append(version())
    return seen[0] == seen[1] != 0 and len(set(seen[1:])) == len(seen) - 1


def _check(known: Layout) -> None:
    """Compares every offset above with live objects.

    Raises:
        Unsupported: one is different.
    """
    if sys.implementation.name != "cpython":
        raise Unsupported(f"{sys.implementation.name} is not CPython")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise Unsupported("free-threaded Python")
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        raise Unsupported("not a 64-bit little-endian machine")
    if HEAD != 16 or hasattr(sys, "getobjects"):
        raise Unsupported("a debug build of Python")
    items = (object(), object(), object())
    _expect(_word(id(items) + TYPE), id(tuple), "type of an object")
    _expect(_word(id(items) + SIZE), 3, "size of a tuple")
    _expect(tuple(_word(id(items) + TUPLE_ITEMS + 8 * i) for i in range(3)), tuple(map(id, items)), "items of a tuple")
    several = list(items)
    _expect(_word(id(several) + SIZE), 3, "size of a list")
    _expect(_word(_word(id(several) + LIST_ITEMS) + 8), id(items[1]), "items of a list")
    number = 0.1 + len(items)
    _expect(ctypes.c_double.from_address(id(number) + FLOAT_VALUE).value, number, "value of a float")
    parts = slice(*items)
    _expect(tuple(_word(id(parts) + SLICE_PARTS + 8 * i) for i in range(3)), tuple(map(id, items)), "fields of a slice")
    _check_counts()
    _check_functions()
    _check_arrays(known)


def _check_counts() -> None:
    counted, more = object(), []
    for _ in range(3):
        _expect(_word(id(counted) + COUNT) & 0xFFFFFFFF, sys.getrefcount(counted) - 1, "reference count of an object")
        more.append(counted)
    if (3, 12) <= sys.version_info < (3, 14):
        _expect(_word(id(None) + COUNT) & 0xFFFFFFFF, IMMORTAL & 0xFFFFFFFF, "reference count of what lives for ever")


def _check_functions() -> None:
    def probe(a: Any = 1, *, b: Any = None) -> Any:
        return a, b

    for name, offset in FUNCTION_FIELDS.items():
        _expect(_word(id(probe) + offset), id(getattr(probe, name)), f"{name} of a function")


def _check_arrays(known: Layout) -> None:
    whole = np.zeros((4, 6), np.float32)
    for array in (whole, whole[1:, ::2], whole.T, np.array(1, np.int64)):
        at = id(array)
        _expect(_word(at + TYPE), id(np.ndarray), "type of an array")
        _expect(_word(at + ARRAY_DATA), array.ctypes.data, "data of an array")
        rank = ctypes.c_int32.from_address(at + ARRAY_RANK).value
        _expect(rank, array.ndim, "rank of an array")
        for field, wanted in ((ARRAY_SHAPE, array.shape), (ARRAY_STRIDES, array.strides)):
            found = tuple(_word(_word(at + field) + 8 * i) for i in range(rank)) if rank else ()
            _expect(found, wanted, "shape or strides of an array")
        _expect(_word(at + ARRAY_BASE), 0 if array.base is None else id(array.base), "base of an array")
        _expect(_word(at + ARRAY_DTYPE), id(array.dtype), "dtype of an array")
        _expect(_word(id(array.dtype) + DTYPE_CLASS), id(array.dtype.type), "class of a dtype's scalars")
        chars = f"{array.dtype.kind}{array.dtype.char}{array.dtype.byteorder}".encode()
        _expect(ctypes.string_at(id(array.dtype) + DTYPE_CHARS, 3), chars, "kind, character and byte order of a dtype")
        flags = ctypes.c_int32.from_address(at + ARRAY_FLAGS).value
        for bit, name in (
            (C_CONTIGUOUS, "C_CONTIGUOUS"), (OWNS_DATA, "OWNDATA"), (ALIGNED, "ALIGNED"), (WRITEABLE, "WRITEABLE"),
        ):  # fmt: skip
            _expect(bool(flags & bit), array.flags[name], f"flag {name} of an array")  # type: ignore[index]
    handler = _word(id(whole) + ARRAY_HANDLER)  # of an array that owns its memory: a capsule, as NumPy's table is in
    _expect(_word(handler + TYPE) if handler else 0, id(type(_numpy_capsule())), "memory handler of an array")
    _expect(known.numpy_entry(_ARRAY_TYPE_ENTRY), id(np.ndarray), "NumPy's table of functions")


@functools.cache
def layout() -> Layout:
    """The layout of this interpreter, checked.

    Raises:
        Unsupported: native code would not find what it needs.
    """
    known = Layout()
    _check(known)
    return known


@functools.cache
def is_known() -> bool:
    """Whether objects are laid out as this file says, so that their fields may be read directly."""
    try:
        layout()
    except Unsupported:
        return False
    return True


_address = ctypes.c_size_t.from_address


def address_of(array: np.ndarray) -> int:
    """Where the elements of an array are; five times as fast as ``array.ctypes.data``."""
    if not is_known():
        return int(array.ctypes.data)
    return _address(id(array) + ARRAY_DATA).value


def function_address(name: str) -> int:
    """Address of a function of the C API of Python, or of NumPy, whose table must be where it is expected.

    Raises:
        Unsupported: there is none.
    """
    if name in _NUMPY_TABLE:
        return layout().numpy_entry(_NUMPY_TABLE[name])
    try:
        return ctypes.cast(getattr(_api, name), ctypes.c_void_p).value or 0
    except AttributeError:
        raise Unsupported(f"no function {name}") from None


def keep_for_ever(value: object) -> None:
    """Never frees ``value``, not even when the interpreter ends: native code has its address."""
    _api.Py_IncRef(ctypes.py_object(value))


def method(cls: type, name: str, address: int, doc: str) -> Any:
    """A method descriptor of ``cls`` around ``ptr f(ptr self, ptr args, i64 n, ptr keyword_names)``.

    The code must stay for ever: so does the descriptor's record.
    """
    definition = _definition(name, address, doc)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)(("PyDescr_NewMethod", _api))
    return make(cls, ctypes.addressof(definition))


def function(name: str, address: int, doc: str, owner: object) -> Any:
    """A builtin function; ``owner`` is its ``self`` and keeps what the code needs."""
    definition = _definition(name, address, doc)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", _api)
    )
    return make(ctypes.addressof(definition), owner, None)


CALL, GET = (50, HEAD + 112), (54, HEAD + 256)
"""Slots of classes, ``tp_call`` and ``tp_descr_get``: number for ``PyType_GetSlot``, and where they are."""


def slot_of(cls: type, slot: tuple[int, int]) -> int:
    """The C function in a slot of a class.

    Raises:
        Unsupported: it is not where it is expected.
    """
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_int)(("PyType_GetSlot", _api))
    number, offset = slot
    _expect(_word(id(cls) + offset), get(cls, number) or 0, f"slot {number} of {cls.__name__}")
    return _word(id(cls) + offset)


_originals: dict[tuple[type, int], int] = {}


def original_slot(cls: type, slot: tuple[int, int]) -> int:
    """The C function that was in a slot before `set_slot` put one of ours there, which may call this one.

    Raises:
        Unsupported: it is not where it is expected.
    """
    return _originals.get((cls, slot[0])) or slot_of(cls, slot)


def set_slot(cls: type, slot: tuple[int, int], address: int) -> None:
    """Puts another C function into a slot of a class written in Python. What its attributes say stays the same.

    Raises:
        Unsupported: it is not possible here.
    """
    found = slot_of(cls, slot)
    if not found:
        raise Unsupported(f"{cls.__name__} has no slot {slot[0]}")
    _originals.setdefault((cls, slot[0]), found)
    ctypes.c_size_t.from_address(id(cls) + slot[1]).value = address


@functools.cache  # one for all functions of the same code, however many there will be
def _definition(name: str, address: int, doc: str) -> _MethodDef:
    made = _MethodDef(name.encode(), address, METH_FASTCALL | METH_KEYWORDS, doc.encode())
    keep_for_ever(made)  # CPython has a pointer to it
    return made
