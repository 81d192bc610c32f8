"""The guard machine as LLVM text: ``dg_check`` walks the words of a program, ``dg_guards`` is its Python function.

    i64 dg_check(ptr program, ptr args, ptr registers, ptr owned, ptr count)

Words of a program: number of arguments, number of registers, whether Python may run while it is checked, then the
instructions of `WIDTH` words each: operation, target register, first, second, version, value. The last two are a
memory: what a dictionary (or class) gave for a key is known as long as its version is the same.

It gives 1 if the guards hold, 0 if one does not, and -1 with the error set if Python raised what is no `Exception`:
errors of reading a value say that it is not there any more, but a Ctrl-C says nothing about it.

If Python may run, every register that is loaded from somewhere owns a reference, which the caller finds in ``owned``
and gives back. Otherwise references are borrowed: nothing can change before the caller lets Python run.
"""

from __future__ import annotations

from .cpython import (
    ARRAY_DATA,
    ARRAY_DTYPE,
    ARRAY_FLAGS,
    ARRAY_RANK,
    ARRAY_SHAPE,
    DICT_VERSION,
    FLOAT_VALUE,
    LIST_ITEMS,
    SIZE,
    TUPLE_ITEMS,
    TYPE,
    TYPE_VERSION,
)  # fmt: skip

OPERATIONS = (
    "done", "arg", "const", "attr", "item", "at", "field", "lookup", "own", "member", "is", "type", "len", "tensor",
    "equal", "float", "python", "absent", "same", "key", "keys",
)  # fmt: skip
WIDTH = 6
N_ARGS, N_REGISTERS, RUNS_PYTHON, FIRST = 0, 1, 2, 3
API = (
    "PyObject_GetAttr", "PyObject_GetItem", "PyDict_GetItemWithError", "PyObject_Size", "PyObject_RichCompareBool",
    "PyObject_IsTrue", "PyObject_Vectorcall", "PyErr_Clear", "Py_IncRef", "Py_DecRef", "PyDict_Contains",
    "_PyObject_GetDictPtr", "_PyType_Lookup", "PyDict_Next", "PyErr_Occurred", "PyErr_ExceptionMatches",
)  # fmt: skip
ANY = -1
"""An extent, or a contiguity, that may be anything."""


def _at(result: str, base: str, offset: int, type: str = "ptr") -> str:
    return f"  {result}.at = getelementptr i8, ptr {base}, i64 {offset}\n  {result} = load {type}, ptr {result}.at\n"


def _versioned(
    name: str, holder: str, offset: int, search: str, type: str = "i64", remembers: bool = True, versions: bool = True
) -> str:
    """Code that goes to ``search`` unless the memory of the instruction is about this state of ``holder``."""
    wide = f"  %{name}.now = load i64, ptr %{name}.now.at\n"
    if type == "i32":  # 0: no version
        wide = f"  %{name}.short = load i32, ptr %{name}.now.at\n  %{name}.now = zext i32 %{name}.short to i64\n"
    known = f"{name}.known"
    text = f"""  %{name}.now.at = getelementptr i8, ptr {holder}, i64 {offset}
{wide}  %{name}.then = load i64, ptr %p4
  %{name}.same = icmp eq i64 %{name}.now, {f"%{name}.then" if versions else -2}
  br i1 %{name}.same, label %{known}, label %{search}
{known}:
"""
    if not remembers:
        return text + "  br label %next\n"
    return (
        text
        + f"""  %{name}.value = load ptr, ptr %p5
  br label %taken
"""
    )


def text(payload: int, versions: bool) -> str:
    """The module.

    Args:
        payload: offset of a tensor's array.
        versions: whether dictionaries and classes have versions; else everything is looked up every time.
    """
    switch = "\n".join(f"    i64 {i}, label %{name}" for i, name in enumerate(OPERATIONS))
    declared = {
        "PyObject_Size": "i64 @c_{}(ptr)", "PyObject_RichCompareBool": "i32 @c_{}(ptr, ptr, i32)",
        "PyObject_IsTrue": "i32 @c_{}(ptr)", "PyObject_Vectorcall": "ptr @c_{}(ptr, ptr, i64, ptr)",
        "PyErr_Clear": "void @c_{}()", "Py_IncRef": "void @c_{}(ptr)", "Py_DecRef": "void @c_{}(ptr)",
        "PyDict_Contains": "i32 @c_{}(ptr, ptr)", "_PyObject_GetDictPtr": "ptr @c_{}(ptr)",
        "PyDict_Next": "i32 @c_{}(ptr, ptr, ptr, ptr)", "PyErr_Occurred": "ptr @c_{}()",
        "PyErr_ExceptionMatches": "i32 @c_{}(ptr)",
    }  # fmt: skip
    declarations = "\n".join("declare " + declared.get(n, "ptr @c_{}(ptr, ptr)").format(n) for n in API)
    at = _at
    return f"""
{declarations}
@c_True = external global i8
@c_False = external global i8
@c_ndarray = external global i8
@c_tuple = external global i8
@c_list = external global i8
@c_dict = external global i8
@c_Exception = external global i8

define i64 @dg_check(ptr %program, ptr %args, ptr %regs, ptr %owned, ptr %count) nounwind {{
entry:
  %position = alloca i64
  %found.key = alloca ptr
{at("%nargs", "%program", 8 * N_ARGS, "i64")}{at("%runs", "%program", 8 * RUNS_PYTHON, "i64")}\
  %owning = icmp ne i64 %runs, 0
  %first = getelementptr i64, ptr %program, i64 {FIRST}
  br label %loop

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
  %p4 = getelementptr i64, ptr %pc, i64 4
  %p5 = getelementptr i64, ptr %pc, i64 5
  %target = getelementptr ptr, ptr %regs, i64 %r
  %base.at = getelementptr ptr, ptr %regs, i64 %a
  switch i64 %operation, label %fail [
{switch}
  ]

next:
  %after = getelementptr i64, ptr %pc, i64 {WIDTH}
  br label %loop

taken:
  %borrowed = phi ptr [ %lookup.value, %lookup.known ], [ %found, %found.keep ], [ %own.value, %own.known ], \
[ %own.found, %own.keep ], [ %part, %at.element ], [ %member.value, %member.known ], [ %member.new, %member.keep ], \
[ %field.v, %field ], [ %key.value, %key.known ], [ %key.found, %key.keep ]
  store ptr %borrowed, ptr %target
  br i1 %owning, label %hold, label %next
hold:
  call void @c_Py_IncRef(ptr %borrowed)
  br label %note

got:
  %fresh = phi ptr [ %attribute, %attr ], [ %got.item, %item ]
  %fresh.null = icmp eq ptr %fresh, null
  store ptr %fresh, ptr %target
  br i1 %fresh.null, label %fail, label %note
note:
  %reference = phi ptr [ %borrowed, %hold ], [ %fresh, %got ]
  %n = load i64, ptr %count
  %slot = getelementptr ptr, ptr %owned, i64 %n
  store ptr %reference, ptr %slot
  %more = add i64 %n, 1
  store i64 %more, ptr %count
  br label %next

arg:
  %arg.at = getelementptr ptr, ptr %args, i64 %a
  %arg.v = load ptr, ptr %arg.at
  store ptr %arg.v, ptr %target
  br label %next

const:
  store ptr %ap, ptr %target
  br label %next

attr:
  %attr.base = load ptr, ptr %base.at
  %attribute = call ptr @c_PyObject_GetAttr(ptr %attr.base, ptr %bp)
  br label %got

item:
  %item.base = load ptr, ptr %base.at
  %got.item = call ptr @c_PyObject_GetItem(ptr %item.base, ptr %bp)
  br label %got

at:
  %at.base = load ptr, ptr %base.at
{at("%at.type", "%at.base", TYPE)}{at("%at.size", "%at.base", SIZE, "i64")}\
  %at.inside = icmp slt i64 %b, %at.size
  %at.tuple = icmp eq ptr %at.type, @c_tuple
  %at.in.tuple = and i1 %at.tuple, %at.inside
  br i1 %at.in.tuple, label %at.of.tuple, label %at.or.list
at.or.list:
  %at.list = icmp eq ptr %at.type, @c_list
  %at.in.list = and i1 %at.list, %at.inside
  br i1 %at.in.list, label %at.of.list, label %fail
at.of.tuple:
  %in.tuple = getelementptr i8, ptr %at.base, i64 {TUPLE_ITEMS}
  br label %at.element
at.of.list:
{at("%in.list", "%at.base", LIST_ITEMS)}  br label %at.element
at.element:
  %elements = phi ptr [ %in.tuple, %at.of.tuple ], [ %in.list, %at.of.list ]
  %part.at = getelementptr ptr, ptr %elements, i64 %b
  %part = load ptr, ptr %part.at
  br label %taken

field:
  %field.at = getelementptr i8, ptr %ap, i64 %b
  %field.v = load ptr, ptr %field.at
  %field.null = icmp eq ptr %field.v, null
  br i1 %field.null, label %fail, label %taken

key:
  %key.dict = load ptr, ptr %base.at
{at("%key.type", "%key.dict", TYPE)}  %key.is = icmp eq ptr %key.type, @c_dict
  br i1 %key.is, label %key.there, label %fail
key.there:
{_versioned("key", "%key.dict", DICT_VERSION, "key.search", versions=versions)}
key.search:
  %key.found = call ptr @c_PyDict_GetItemWithError(ptr %key.dict, ptr %bp)
  %key.missing = icmp eq ptr %key.found, null
  br i1 %key.missing, label %fail, label %key.keep
key.keep:
  store i64 %key.now, ptr %p4
  store ptr %key.found, ptr %p5
  br label %taken

keys:
  %keys.dict = load ptr, ptr %target
{at("%keys.type", "%keys.dict", TYPE)}  %keys.is = icmp eq ptr %keys.type, @c_dict
  br i1 %keys.is, label %keys.there, label %fail
keys.there:
{_versioned("keys", "%keys.dict", DICT_VERSION, "keys.search", remembers=False, versions=versions)}
keys.search:
{at("%keys.count", "%keys.dict", SIZE, "i64")}{at("%keys.wanted", "%ap", SIZE, "i64")}\
  %keys.enough = icmp eq i64 %keys.count, %keys.wanted
  store i64 0, ptr %position
  br i1 %keys.enough, label %keys.test, label %fail
keys.test:
  %keys.i = phi i64 [ 0, %keys.search ], [ %keys.next, %keys.equal ], [ %keys.next, %keys.step ]
  %keys.more = icmp slt i64 %keys.i, %keys.wanted
  br i1 %keys.more, label %keys.step, label %keys.keep
keys.step:
  %keys.next = add i64 %keys.i, 1
  %keys.got = call i32 @c_PyDict_Next(ptr %keys.dict, ptr %position, ptr %found.key, ptr null)
  %keys.key = load ptr, ptr %found.key
  %keys.all = getelementptr i8, ptr %ap, i64 {TUPLE_ITEMS}
  %keys.want.at = getelementptr ptr, ptr %keys.all, i64 %keys.i
  %keys.want = load ptr, ptr %keys.want.at
  %keys.one = icmp eq ptr %keys.key, %keys.want
  br i1 %keys.one, label %keys.test, label %keys.compare
keys.compare:
{at("%keys.class", "%keys.key", TYPE)}{at("%keys.want.class", "%keys.want", TYPE)}\
  %keys.text = icmp eq ptr %keys.class, %keys.want.class
  br i1 %keys.text, label %keys.equal, label %fail
keys.equal:
  %keys.r = call i32 @c_PyObject_RichCompareBool(ptr %keys.key, ptr %keys.want, i32 2)
  %keys.ok = icmp eq i32 %keys.r, 1
  br i1 %keys.ok, label %keys.test, label %fail
keys.keep:
  store i64 %keys.now, ptr %p4
  br label %next

lookup:
{_versioned("lookup", "%ap", DICT_VERSION, "search", versions=versions)}
search:
  %found = call ptr @c_PyDict_GetItemWithError(ptr %ap, ptr %bp)
  %found.null = icmp eq ptr %found, null
  br i1 %found.null, label %fail, label %found.keep
found.keep:
  store i64 %lookup.now, ptr %p4
  store ptr %found, ptr %p5
  br label %taken

own:
  %own.base = load ptr, ptr %base.at
  %own.dict.at = call ptr @c__PyObject_GetDictPtr(ptr %own.base)
  %own.none = icmp eq ptr %own.dict.at, null
  br i1 %own.none, label %fail, label %own.read
own.read:
  %own.dict = load ptr, ptr %own.dict.at
  %own.null = icmp eq ptr %own.dict, null
  br i1 %own.null, label %fail, label %own.there
own.there:
{_versioned("own", "%own.dict", DICT_VERSION, "own.search", versions=versions)}
own.search:
  %own.found = call ptr @c_PyDict_GetItemWithError(ptr %own.dict, ptr %bp)
  %own.missing = icmp eq ptr %own.found, null
  br i1 %own.missing, label %fail, label %own.keep
own.keep:
  store i64 %own.now, ptr %p4
  store ptr %own.found, ptr %p5
  br label %taken

member:
{_versioned("member", "%ap", TYPE_VERSION, "member.search", "i32", versions=versions)}
member.search:
  %member.new = call ptr @c__PyType_Lookup(ptr %ap, ptr %bp)
  %member.null = icmp eq ptr %member.new, null
  br i1 %member.null, label %fail, label %member.keep
member.keep:
  %member.short.again = load i32, ptr %member.now.at
  %member.again = zext i32 %member.short.again to i64
  %member.none = icmp eq i64 %member.again, 0
  %member.version = select i1 %member.none, i64 -1, i64 %member.again
  store i64 %member.version, ptr %p4
  store ptr %member.new, ptr %p5
  br label %taken

absent:
{_versioned("absent", "%ap", DICT_VERSION, "absent.search", remembers=False, versions=versions)}
absent.search:
  %there = call i32 @c_PyDict_Contains(ptr %ap, ptr %bp)
  %absent.ok = icmp eq i32 %there, 0
  br i1 %absent.ok, label %absent.keep, label %fail
absent.keep:
  store i64 %absent.now, ptr %p4
  br label %next

is:
  %is.v = load ptr, ptr %target
  %is.ok = icmp eq ptr %is.v, %ap
  br i1 %is.ok, label %next, label %fail

same:
  %same.v = load ptr, ptr %target
  %same.other = load ptr, ptr %base.at
  %same.ok = icmp eq ptr %same.v, %same.other
  br i1 %same.ok, label %next, label %fail

type:
  %type.v = load ptr, ptr %target
{at("%type.t", "%type.v", TYPE)}  %type.ok = icmp eq ptr %type.t, %ap
  br i1 %type.ok, label %next, label %fail

len:
  %len.v = load ptr, ptr %target
  %len.t.at = getelementptr i8, ptr %len.v, i64 {TYPE}
  %len.t = load ptr, ptr %len.t.at
  %len.type.ok = icmp eq ptr %len.t, %bp
  br i1 %len.type.ok, label %len.count, label %fail
len.count:
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
{at("%want.flags", "%ap", 24, "i64")}  %flags.same = icmp eq i64 %flags.wide, %want.flags
  %flags.any = icmp eq i64 {ANY}, %want.flags
  %flags.ok = or i1 %flags.same, %flags.any
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
  %extent.same = icmp eq i64 %extent.v, %extent.want
  %extent.any = icmp eq i64 {ANY}, %extent.want
  %extent.ok = or i1 %extent.same, %extent.any
  br i1 %extent.ok, label %extent.test, label %fail

done:
  ret i64 1
fail:
  %error = call ptr @c_PyErr_Occurred()
  %no.error = icmp eq ptr %error, null
  br i1 %no.error, label %not, label %judge
judge:
  %ordinary = call i32 @c_PyErr_ExceptionMatches(ptr @c_Exception)
  %is.ordinary = icmp ne i32 %ordinary, 0
  br i1 %is.ordinary, label %clear, label %raised
clear:
  call void @c_PyErr_Clear()
  br label %not
not:
  ret i64 0
raised:
  ret i64 -1
}}

define ptr @dg_guards(ptr %self, ptr %args, i64 %nargs, ptr %keywords) nounwind {{
entry:
{at("%program", "%self", ARRAY_DATA)}{at("%wanted", "%program", 8 * N_ARGS, "i64")}\
{at("%registers", "%program", 8 * N_REGISTERS, "i64")}  %count = alloca i64
  %regs = alloca ptr, i64 %registers
  %owned = alloca ptr, i64 %registers
  store i64 0, ptr %count
  %count_ok = icmp eq i64 %nargs, %wanted
  br i1 %count_ok, label %check, label %finish
check:
  %holds = call i64 @dg_check(ptr %program, ptr %args, ptr %regs, ptr %owned, ptr %count)
  br label %finish
finish:
  %answer = phi i64 [ 0, %entry ], [ %holds, %check ]
  %yes = icmp ne i64 %answer, 0
  %truth = select i1 %yes, ptr @c_True, ptr @c_False
  %raised = icmp slt i64 %answer, 0
  %result = select i1 %raised, ptr null, ptr %truth
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


__all__ = ["ANY", "API", "FIRST", "OPERATIONS", "WIDTH", "text"]
