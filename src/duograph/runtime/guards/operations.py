"""What the operations of the guard machine do, as parts of the LLVM text of ``dg_check`` (`guards.text`).

Each begins at the label of its name, with the instruction in ``%r``, ``%a`` and ``%b`` (as pointers: ``%ap``, ``%bp``),
the places of the registers of number r and a in ``%target`` and ``%base.at``, and of what the instruction remembers,
version and value, in ``%p4`` and ``%p5``. It ends at ``next``, at ``fail``, or with an object: at ``taken`` if that is
borrowed, at ``got`` if it is new.
"""

from __future__ import annotations

from duograph.runtime.python.cpython import (
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

ANY = -1
"""An extent, or a contiguity, that may be anything."""


def field(result: str, base: str, offset: int, type: str = "ptr") -> str:
    """Code that reads a field of an object."""
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
    return text + f"  %{name}.value = load ptr, ptr %p5\n  br label %taken\n"


def _kept_class(name: str) -> str:
    """Code that remembers the version of a class, after the look-up: that may be what gave it one."""
    return f"""{name}.keep:
  %{name}.short.again = load i32, ptr %{name}.now.at
  %{name}.again = zext i32 %{name}.short.again to i64
  %{name}.none = icmp eq i64 %{name}.again, 0
  %{name}.version = select i1 %{name}.none, i64 -1, i64 %{name}.again
  store i64 %{name}.version, ptr %p4
  br label %next
"""


def reads() -> str:
    """Operations that load a register, without looking it up."""
    return f"""\
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
{field("%at.type", "%at.base", TYPE)}{field("%at.size", "%at.base", SIZE, "i64")}\
  %at.inside = icmp slt i64 %b, %at.size
  %at.class = load ptr, ptr %p4
  %at.tuple = icmp eq ptr %at.type, %at.class
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
{field("%in.list", "%at.base", LIST_ITEMS)}  br label %at.element
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

"""


def groups() -> str:
    """Operations that compare words, and what is known of groups of checks."""
    return f"""\
{_compare("compare", "i64")}
{_compare("compare_short", "i32")}
settle:
  %settled.at = getelementptr i64, ptr %ap, i64 3
  %settled = load i64, ptr %settled.at
  %settled.word = getelementptr i64, ptr %ap, i64 1
  store i64 %settled, ptr %settled.word
  %settle.next = getelementptr i64, ptr %ap, i64 4
  br label %compare.entry

settle_short:
  %short.at = load ptr, ptr %ap
  %short = load i32, ptr %short.at
  %short.wide = zext i32 %short to i64
  %short.none = icmp eq i32 %short, 0
  %short.known = select i1 %short.none, i64 -1, i64 %short.wide
  %short.word = getelementptr i64, ptr %ap, i64 1
  store i64 %short.known, ptr %short.word
  %settle_short.next = getelementptr i64, ptr %ap, i64 4
  br label %compare_short.entry

"""


def _compare(name: str, type: str) -> str:
    """Code that goes through a table of words of ``type``, to the group of the first that is another."""
    settle = name.replace("compare", "settle")
    wide = f"  %{name}.now = zext i32 %{name}.word to i64\n" if type == "i32" else ""
    now = f"%{name}.now" if wide else f"%{name}.word"
    return f"""\
{name}:
  br label %{name}.entry
{name}.entry:
  %{name}.e = phi ptr [ %ap, %{name} ], [ %{name}.next, %{name}.entry ], [ %{settle}.next, %{settle} ]
  %{name}.at = load ptr, ptr %{name}.e
  %{name}.word = load {type}, ptr %{name}.at
{wide}{field(f"%{name}.then", f"%{name}.e", 8, "i64")}  %{name}.next = getelementptr i64, ptr %{name}.e, i64 4
  %{name}.same = icmp eq i64 {now}, %{name}.then
  br i1 %{name}.same, label %{name}.entry, label %{name}.other
{name}.other:
  %{name}.place = getelementptr i64, ptr %{name}.e, i64 3
  store i64 {now}, ptr %{name}.place
{field(f"%{name}.group", f"%{name}.e", 16)}  br label %loop
"""


def lookups(versions: bool, class_versions: bool) -> str:
    """Operations that look something up in a dictionary or class, or remember what they found there."""
    return f"""\
key:
  %key.dict = load ptr, ptr %base.at
{field("%key.type", "%key.dict", TYPE)}  %key.is = icmp eq ptr %key.type, @c_dict
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
{field("%keys.type", "%keys.dict", TYPE)}  %keys.is = icmp eq ptr %keys.type, @c_dict
  br i1 %keys.is, label %keys.there, label %fail
keys.there:
{_versioned("keys", "%keys.dict", DICT_VERSION, "keys.search", remembers=False, versions=versions)}
keys.search:
{field("%keys.count", "%keys.dict", SIZE, "i64")}{field("%keys.wanted", "%ap", SIZE, "i64")}\
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
{field("%keys.class", "%keys.key", TYPE)}{field("%keys.want.class", "%keys.want", TYPE)}\
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

owns:
  %owns.v = load ptr, ptr %target
  %owns.dict.at = call ptr @c__PyObject_GetDictPtr(ptr %owns.v)
  %owns.none = icmp eq ptr %owns.dict.at, null
  br i1 %owns.none, label %fail, label %owns.read
owns.read:
  %owns.dict = load ptr, ptr %owns.dict.at
  %owns.null = icmp eq ptr %owns.dict, null
  br i1 %owns.null, label %fail, label %owns.there
owns.there:
{_versioned("owns", "%owns.dict", DICT_VERSION, "owns.search", remembers=False, versions=versions)}
owns.search:
  %owns.found = call ptr @c_PyDict_GetItemWithError(ptr %owns.dict, ptr %bp)
  %owns.ok = icmp eq ptr %owns.found, %ap
  br i1 %owns.ok, label %owns.keep, label %fail
owns.keep:
  store i64 %owns.now, ptr %p4
  br label %next

member:
{_versioned("member", "%ap", TYPE_VERSION, "member.search", "i32", versions=class_versions)}
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

holds:
{_versioned("holds", "%ap", DICT_VERSION, "holds.search", remembers=False, versions=versions)}
holds.search:
  %holds.found = call ptr @c_PyDict_GetItemWithError(ptr %ap, ptr %bp)
  %holds.want = inttoptr i64 %r to ptr
  %holds.ok = icmp eq ptr %holds.found, %holds.want
  br i1 %holds.ok, label %holds.keep, label %fail
holds.keep:
  store i64 %holds.now, ptr %p4
  br label %next

overrides:
{_versioned("overrides", "%ap", DICT_VERSION, "overrides.search", remembers=False, versions=versions)}
overrides.search:
  %overrides.found = call ptr @c_PyDict_GetItemWithError(ptr %ap, ptr %bp)
  %overrides.want = inttoptr i64 %r to ptr
  %overrides.ok = icmp eq ptr %overrides.found, %overrides.want
  br i1 %overrides.ok, label %overrides.keep, label %overrides.other
overrides.other:
  %overrides.null = icmp eq ptr %overrides.found, null
  br i1 %overrides.null, label %overrides.missing, label %fail
overrides.missing:
  %overrides.error = call ptr @c_PyErr_Occurred()
  %overrides.none = icmp eq ptr %overrides.error, null
  br i1 %overrides.none, label %overrides.keep, label %fail
overrides.keep:
  store i64 %overrides.now, ptr %p4
  br label %next

defines:
{_versioned("defines", "%ap", TYPE_VERSION, "defines.search", "i32", remembers=False, versions=class_versions)}
defines.search:
  %defines.found = call ptr @c__PyType_Lookup(ptr %ap, ptr %bp)
  %defines.want = inttoptr i64 %r to ptr
  %defines.ok = icmp eq ptr %defines.found, %defines.want
  br i1 %defines.ok, label %defines.keep, label %fail
{_kept_class("defines")}
values:
{_versioned("values", "%ap", DICT_VERSION, "values.search", remembers=False, versions=versions)}
values.search:
{field("%values.count", "%ap", SIZE, "i64")}{field("%values.wanted", "%bp", SIZE, "i64")}\
  %values.enough = icmp eq i64 %values.count, %values.wanted
  store i64 0, ptr %position
  br i1 %values.enough, label %values.test, label %fail
values.test:
  %values.i = phi i64 [ 0, %values.search ], [ %values.next, %values.step ]
  %values.more = icmp slt i64 %values.i, %values.wanted
  br i1 %values.more, label %values.step, label %values.keep
values.step:
  %values.next = add i64 %values.i, 1
  %values.got = call i32 @c_PyDict_Next(ptr %ap, ptr %position, ptr null, ptr %found.key)
  %values.value = load ptr, ptr %found.key
  %values.all = getelementptr i8, ptr %bp, i64 {TUPLE_ITEMS}
  %values.want.at = getelementptr ptr, ptr %values.all, i64 %values.i
  %values.want = load ptr, ptr %values.want.at
  %values.one = icmp eq ptr %values.value, %values.want
  br i1 %values.one, label %values.test, label %fail
values.keep:
  store i64 %values.now, ptr %p4
  br label %next

lacking:
{_versioned("lacking", "%ap", TYPE_VERSION, "lacking.search", "i32", remembers=False, versions=class_versions)}
lacking.search:
  %lacking.found = call ptr @c__PyType_Lookup(ptr %ap, ptr %bp)
  %lacking.null = icmp eq ptr %lacking.found, null
  br i1 %lacking.null, label %lacking.keep, label %fail
{_kept_class("lacking")}
absent:
{_versioned("absent", "%ap", DICT_VERSION, "absent.search", remembers=False, versions=versions)}
absent.search:
  %there = call i32 @c_PyDict_Contains(ptr %ap, ptr %bp)
  %absent.ok = icmp eq i32 %there, 0
  br i1 %absent.ok, label %absent.keep, label %fail
absent.keep:
  store i64 %absent.now, ptr %p4
  br label %next

"""


def comparisons() -> str:
    """Operations that compare a register, and what is left to Python."""
    return f"""\
is:
  %is.v = load ptr, ptr %target
  %is.ok = icmp eq ptr %is.v, %ap
  br i1 %is.ok, label %next, label %fail

same:
  %same.v = load ptr, ptr %target
  %same.other = load ptr, ptr %base.at
  %same.ok = icmp eq ptr %same.v, %same.other
  br i1 %same.ok, label %next, label %fail

differ:
  %differ.v = load ptr, ptr %target
  %differ.other = load ptr, ptr %base.at
  %differ.ok = icmp ne ptr %differ.v, %differ.other
  br i1 %differ.ok, label %next, label %fail

type:
  %type.v = load ptr, ptr %target
{field("%type.t", "%type.v", TYPE)}  %type.ok = icmp eq ptr %type.t, %ap
  br i1 %type.ok, label %next, label %fail

len:
  %len.v = load ptr, ptr %target
  %len.t.at = getelementptr i8, ptr %len.v, i64 {TYPE}
  %len.t = load ptr, ptr %len.t.at
  %len.type.ok = icmp eq ptr %len.t, %bp
  br i1 %len.type.ok, label %len.count, label %fail
len.count:
{field("%len.n", "%len.v", SIZE, "i64")}  %len.ok = icmp eq i64 %len.n, %a
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
{field("%float.bits", "%float.v", FLOAT_VALUE, "i64")}  %float.ok = icmp eq i64 %float.bits, %a
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

"""


def tensors(payload: int) -> str:
    """The operation that compares a tensor with dtype, rank, contiguity and extents."""
    return f"""\
tensor:
  %tensor.v = load ptr, ptr %target
{field("%tensor.type", "%tensor.v", TYPE)}  %tensor.kind = load ptr, ptr %ap
  %tensor.type.ok = icmp eq ptr %tensor.type, %tensor.kind
  br i1 %tensor.type.ok, label %tensor.payload, label %fail
tensor.payload:
{field("%data", "%tensor.v", payload)}  %data.null = icmp eq ptr %data, null
  br i1 %data.null, label %fail, label %tensor.array
tensor.array:
{field("%data.type", "%data", TYPE)}  %data.is = icmp eq ptr %data.type, @c_ndarray
  br i1 %data.is, label %tensor.facts, label %fail
tensor.facts:
{field("%dtype", "%data", ARRAY_DTYPE)}{field("%want.dtype", "%ap", 8)}  %dtype.ok = icmp eq ptr %dtype, %want.dtype
{field("%rank", "%data", ARRAY_RANK, "i32")}  %rank.wide = sext i32 %rank to i64
{field("%want.rank", "%ap", 16, "i64")}  %rank.ok = icmp eq i64 %rank.wide, %want.rank
{field("%flags", "%data", ARRAY_FLAGS, "i32")}  %flags.c = and i32 %flags, 1
  %flags.wide = zext i32 %flags.c to i64
{field("%want.flags", "%ap", 24, "i64")}  %flags.same = icmp eq i64 %flags.wide, %want.flags
  %flags.any = icmp eq i64 {ANY}, %want.flags
  %flags.ok = or i1 %flags.same, %flags.any
  %both = and i1 %dtype.ok, %rank.ok
  %all = and i1 %both, %flags.ok
  br i1 %all, label %tensor.extents, label %fail
tensor.extents:
{field("%shape", "%data", ARRAY_SHAPE)}  %want.shape = getelementptr i8, ptr %ap, i64 32
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

"""
