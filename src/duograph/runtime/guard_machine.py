"""A small machine that checks guards natively: is the world still as a compiled program assumes it?

The checks of one program are a table of 64-bit words; one native function, compiled once for all programs, walks it and
stops at the first check that fails. A check costs 2 to 30 ns where generated Python takes 50 to 500.

    program = GuardProgram(n_args)
    x = program.arg(0)
    program.tensor(x, Tensor, np.dtype("float32"), (64, 784), contiguous=True)
    net = program.global_(module.__dict__, "net")
    program.is_(net, the_network)
    check = program.function()          # a builtin function: check(*args) -> bool

Words of an instruction: ``operation, target register, first, second``. Registers hold objects; what the machine was
given a new reference to is released at the end. Any exception (an attribute that is gone) counts as failure.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.tensor.tensor import Tensor

from . import code, cpython
from .cpython import Unsupported, layout

REGISTERS = 512
_OPERATIONS = (
    "done", "arg", "const", "attr", "item", "cell", "lookup", "is", "type", "len", "tensor", "equal", "float", "python",
    "absent", "same",
)  # fmt: skip
_CODE = {name: i for i, name in enumerate(_OPERATIONS)}


class GuardProgram:
    """Collects checks; `function` gives the compiled form."""

    def __init__(self, n_args: int) -> None:
        self.n_args = n_args
        self.words: list[int] = []
        self.kept: list[Any] = []  # objects that the table points to
        self.registers = 0
        self.tables: list[np.ndarray] = []

    def _add(self, operation: str, target: int, first: int = 0, second: int = 0) -> None:
        self.words += [_CODE[operation], target, first, second]

    def _register(self) -> int:
        if self.registers == REGISTERS:
            raise Unsupported("more values than registers")
        self.registers += 1
        return self.registers - 1

    def _pointer(self, value: Any) -> int:
        self.kept.append(value)
        return id(value)

    # -- values: each gives a register ---------------------------------------------------------------------------

    def arg(self, index: int) -> int:
        self._add("arg", r := self._register(), index)
        return r

    def const(self, value: Any) -> int:
        self._add("const", r := self._register(), self._pointer(value))
        return r

    def attr(self, base: int, name: str) -> int:
        self._add("attr", r := self._register(), base, self._pointer(name))
        return r

    def item(self, base: int, key: Any) -> int:
        self._add("item", r := self._register(), base, self._pointer(key))
        return r

    def cell(self, variable: Any) -> int:
        """What a closure cell holds."""
        self._add("cell", r := self._register(), self._pointer(variable))
        return r

    def lookup(self, namespace: dict[Any, Any], key: Any) -> int:
        """An item of a dictionary that is known by identity."""
        self._add("lookup", r := self._register(), self._pointer(namespace), self._pointer(key))
        return r

    # -- checks --------------------------------------------------------------------------------------------------

    def is_(self, value: int, expected: Any) -> None:
        self._add("is", value, self._pointer(expected))

    def same(self, one: int, two: int) -> None:
        """Two values are one object."""
        self._add("same", one, two)

    def type_(self, value: int, expected: type) -> None:
        self._add("type", value, self._pointer(expected))

    def len_(self, value: int, expected: int) -> None:
        self._add("len", value, expected)

    def equal(self, value: int, expected: Any) -> None:
        """Type and value; for ``int``, ``str``, ``bytes``, ``bool`` and floats (compared by their bits)."""
        self.type_(value, type(expected))
        if type(expected) is float:
            self._add("float", value, struct.unpack("<q", struct.pack("<d", expected))[0])
        elif expected is None or type(expected) is bool:
            self.is_(value, expected)
        else:
            self._add("equal", value, self._pointer(expected))

    def absent(self, namespace: dict[Any, Any], key: Any) -> None:
        """``key not in namespace``, a dictionary known by identity."""
        self._add("absent", 0, self._pointer(namespace), self._pointer(key))

    def tensor(self, value: int, kind: type, dtype: np.dtype, shape: tuple[int, ...], contiguous: bool) -> None:
        """A tensor of exactly this class whose payload is an array of this dtype and shape."""
        if np.empty(0, dtype).dtype is not dtype:
            raise Unsupported(f"dtype {dtype} is not a single object")
        table = np.array([self._pointer(kind), id(dtype), len(shape), int(contiguous), *shape], np.int64)
        self.tables.append(table)
        self.kept.append(dtype)
        self._add("tensor", value, table.ctypes.data)

    def python(self, function: Callable[..., Any]) -> None:
        """``function(*args)`` must be true."""
        self._add("python", 0, self._pointer(function))

    def function(self) -> Any:
        """The native function ``check(*args) -> bool``.

        Raises:
            Unsupported: this Python cannot be served natively.
        """
        table = np.array([self.n_args, *self.words, 0, 0, 0, 0], np.int64).view(_Table)
        table.kept = (self.kept, self.tables, machine_code())
        address = table.kept[2].address("dg_guards")
        return cpython.function("check", address, "Whether a compiled program is valid for these arguments.", table)


class _Table(np.ndarray):
    """The words, and what must live as long as they do."""

    kept: Any = None


@functools.cache
def machine_code() -> Any:
    """The machine, compiled or from disk.

    Raises:
        Unsupported: this Python has another layout.
    """
    known = layout()
    names = (
        "PyObject_GetAttr", "PyObject_GetItem", "PyDict_GetItemWithError", "PyObject_Size", "PyObject_RichCompareBool",
        "PyObject_IsTrue", "PyObject_Vectorcall", "PyErr_Clear", "Py_IncRef", "Py_DecRef", "PyDict_Contains",
    )  # fmt: skip
    symbols = {f"c_{name}": known.function(name) for name in names}
    text = _text(known.slot(Tensor, "_data"))
    symbols.update({"c_True": id(True), "c_False": id(False), "c_ndarray": id(np.ndarray)})
    return code.load(text, ["dg_guards"], symbols=symbols)


def _text(payload: int) -> str:
    """LLVM text of ``dg_guards``; ``payload`` is the offset of a tensor's array."""
    from .cpython import ARRAY_DATA, ARRAY_DTYPE, ARRAY_FLAGS, ARRAY_RANK, ARRAY_SHAPE, FLOAT_VALUE, HEAD, TYPE

    switch = "\n".join(f"    i64 {i}, label %{name}" for i, name in enumerate(_OPERATIONS))

    def at(result: str, base: str, offset: int, type_: str = "ptr") -> str:
        return f"""  {result}.at = getelementptr i8, ptr {base}, i64 {offset}
  {result} = load {type_}, ptr {result}.at
"""

    def own(result: str) -> str:
        """Checks a new reference and remembers to release it."""
        return f"""  {result}.null = icmp eq ptr {result}, null
  br i1 {result}.null, label %fail, label %{result[1:]}.own
{result[1:]}.own:
  {result}.n = load i64, ptr %count
  {result}.slot = getelementptr ptr, ptr %owned, i64 {result}.n
  store ptr {result}, ptr {result}.slot
  {result}.more = add i64 {result}.n, 1
  store i64 {result}.more, ptr %count
  store ptr {result}, ptr %target
  br label %next
"""

    return f"""
declare ptr @c_PyObject_GetAttr(ptr, ptr)
declare ptr @c_PyObject_GetItem(ptr, ptr)
declare ptr @c_PyDict_GetItemWithError(ptr, ptr)
declare i64 @c_PyObject_Size(ptr)
declare i32 @c_PyObject_RichCompareBool(ptr, ptr, i32)
declare i32 @c_PyDict_Contains(ptr, ptr)
declare i32 @c_PyObject_IsTrue(ptr)
declare ptr @c_PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @c_PyErr_Clear()
declare void @c_Py_IncRef(ptr)
declare void @c_Py_DecRef(ptr)
@c_True = external global i8
@c_False = external global i8
@c_ndarray = external global i8

define ptr @dg_guards(ptr %self, ptr %args, i64 %nargs, ptr %keywords) nounwind {{
entry:
  %regs = alloca [{REGISTERS} x ptr]
  %owned = alloca [{REGISTERS} x ptr]
  %count = alloca i64
  store i64 0, ptr %count
{at("%words", "%self", ARRAY_DATA)}  %wanted = load i64, ptr %words
  %count_ok = icmp eq i64 %nargs, %wanted
  %first = getelementptr i64, ptr %words, i64 1
  br i1 %count_ok, label %loop, label %fail

loop:
  %pc = phi ptr [ %first, %entry ], [ %after, %next ]
  %operation = load i64, ptr %pc
  %p1 = getelementptr i64, ptr %pc, i64 1
  %r = load i64, ptr %p1
  %p2 = getelementptr i64, ptr %pc, i64 2
  %a = load i64, ptr %p2
  %ap = inttoptr i64 %a to ptr
  %p3 = getelementptr i64, ptr %pc, i64 3
  %b = load i64, ptr %p3
  %bp = inttoptr i64 %b to ptr
  %target = getelementptr ptr, ptr %regs, i64 %r
  switch i64 %operation, label %fail [
{switch}
  ]

next:
  %after = getelementptr i64, ptr %pc, i64 4
  br label %loop

arg:
  %arg.at = getelementptr ptr, ptr %args, i64 %a
  %arg.v = load ptr, ptr %arg.at
  store ptr %arg.v, ptr %target
  br label %next

const:
  store ptr %ap, ptr %target
  br label %next

attr:
  %attr.base.at = getelementptr ptr, ptr %regs, i64 %a
  %attr.base = load ptr, ptr %attr.base.at
  %got = call ptr @c_PyObject_GetAttr(ptr %attr.base, ptr %bp)
{own("%got")}
item:
  %item.base.at = getelementptr ptr, ptr %regs, i64 %a
  %item.base = load ptr, ptr %item.base.at
  %part = call ptr @c_PyObject_GetItem(ptr %item.base, ptr %bp)
{own("%part")}
cell:
{at("%cell.v", "%ap", HEAD)}  %cell.null = icmp eq ptr %cell.v, null
  store ptr %cell.v, ptr %target
  br i1 %cell.null, label %fail, label %next

lookup:
  %found = call ptr @c_PyDict_GetItemWithError(ptr %ap, ptr %bp)
  %found.null = icmp eq ptr %found, null
  br i1 %found.null, label %fail, label %found.own
found.own:
  call void @c_Py_IncRef(ptr %found)
  %found.n = load i64, ptr %count
  %found.slot = getelementptr ptr, ptr %owned, i64 %found.n
  store ptr %found, ptr %found.slot
  %found.more = add i64 %found.n, 1
  store i64 %found.more, ptr %count
  store ptr %found, ptr %target
  br label %next

absent:
  %there = call i32 @c_PyDict_Contains(ptr %ap, ptr %bp)
  %absent.ok = icmp eq i32 %there, 0
  br i1 %absent.ok, label %next, label %fail

is:
  %is.v = load ptr, ptr %target
  %is.ok = icmp eq ptr %is.v, %ap
  br i1 %is.ok, label %next, label %fail

same:
  %same.v = load ptr, ptr %target
  %same.other.at = getelementptr ptr, ptr %regs, i64 %a
  %same.other = load ptr, ptr %same.other.at
  %same.ok = icmp eq ptr %same.v, %same.other
  br i1 %same.ok, label %next, label %fail

type:
  %type.v = load ptr, ptr %target
{at("%type.t", "%type.v", TYPE)}  %type.ok = icmp eq ptr %type.t, %ap
  br i1 %type.ok, label %next, label %fail

len:
  %len.v = load ptr, ptr %target
  %len.n = call i64 @c_PyObject_Size(ptr %len.v)
  %len.ok = icmp eq i64 %len.n, %a
  br i1 %len.ok, label %next, label %fail

equal:
  %equal.v = load ptr, ptr %target
  %equal.same = icmp eq ptr %equal.v, %ap
  br i1 %equal.same, label %next, label %equal.compare
equal.compare:
  %equal.r = call i32 @c_PyObject_RichCompareBool(ptr %equal.v, ptr %ap, i32 2)
  %equal.ok = icmp eq i32 %equal.r, 1
  br i1 %equal.ok, label %next, label %fail

float:
  %float.v = load ptr, ptr %target
{at("%float.bits", "%float.v", FLOAT_VALUE, "i64")}  %float.ok = icmp eq i64 %float.bits, %a
  br i1 %float.ok, label %next, label %fail

python:
  %answer = call ptr @c_PyObject_Vectorcall(ptr %ap, ptr %args, i64 %nargs, ptr null)
  %answer.null = icmp eq ptr %answer, null
  br i1 %answer.null, label %fail, label %answer.got
answer.got:
  %answer.true = call i32 @c_PyObject_IsTrue(ptr %answer)
  call void @c_Py_DecRef(ptr %answer)
  %answer.ok = icmp eq i32 %answer.true, 1
  br i1 %answer.ok, label %next, label %fail

tensor:
  %tensor.v = load ptr, ptr %target
{at("%tensor.type", "%tensor.v", TYPE)}  %tensor.kind = load ptr, ptr %ap
  %tensor.type.ok = icmp eq ptr %tensor.type, %tensor.kind
  br i1 %tensor.type.ok, label %tensor.payload, label %fail
tensor.payload:
{at("%data", "%tensor.v", payload)}  %data.null = icmp eq ptr %data, null
  br i1 %data.null, label %fail, label %tensor.array
tensor.array:
{at("%data.type", "%data", TYPE)}  %data.is = icmp eq ptr %data.type, @c_ndarray
  br i1 %data.is, label %tensor.facts, label %fail
tensor.facts:
{at("%dtype", "%data", ARRAY_DTYPE)}{at("%want.dtype", "%ap", 8)}  %dtype.ok = icmp eq ptr %dtype, %want.dtype
{at("%rank", "%data", ARRAY_RANK, "i32")}  %rank.wide = sext i32 %rank to i64
{at("%want.rank", "%ap", 16, "i64")}  %rank.ok = icmp eq i64 %rank.wide, %want.rank
{at("%flags", "%data", ARRAY_FLAGS, "i32")}  %flags.c = and i32 %flags, 1
  %flags.wide = zext i32 %flags.c to i64
{at("%want.flags", "%ap", 24, "i64")}  %flags.ok = icmp eq i64 %flags.wide, %want.flags
  %both = and i1 %dtype.ok, %rank.ok
  %all = and i1 %both, %flags.ok
  br i1 %all, label %tensor.extents, label %fail
tensor.extents:
{at("%shape", "%data", ARRAY_SHAPE)}  %want.shape = getelementptr i8, ptr %ap, i64 32
  br label %extent.test
extent.test:
  %axis = phi i64 [ 0, %tensor.extents ], [ %axis.next, %extent ]
  %axis.more = icmp slt i64 %axis, %rank.wide
  br i1 %axis.more, label %extent, label %next
extent:
  %extent.at = getelementptr i64, ptr %shape, i64 %axis
  %extent.v = load i64, ptr %extent.at
  %extent.want.at = getelementptr i64, ptr %want.shape, i64 %axis
  %extent.want = load i64, ptr %extent.want.at
  %axis.next = add i64 %axis, 1
  %extent.ok = icmp eq i64 %extent.v, %extent.want
  br i1 %extent.ok, label %extent.test, label %fail

done:
  br label %finish
fail:
  call void @c_PyErr_Clear()
  br label %finish
finish:
  %result = phi ptr [ @c_True, %done ], [ @c_False, %fail ]
  %n = load i64, ptr %count
  br label %release.test
release.test:
  %i = phi i64 [ 0, %finish ], [ %i.next, %release ]
  %i.more = icmp slt i64 %i, %n
  br i1 %i.more, label %release, label %out
release:
  %held.at = getelementptr ptr, ptr %owned, i64 %i
  %held = load ptr, ptr %held.at
  call void @c_Py_DecRef(ptr %held)
  %i.next = add i64 %i, 1
  br label %release.test
out:
  call void @c_Py_IncRef(ptr %result)
  ret ptr %result
}}
"""
