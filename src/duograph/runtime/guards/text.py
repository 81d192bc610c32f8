"""The guard machine as LLVM text: ``dg_check`` walks the words of a program, ``dg_guards`` is its Python function.

    i64 dg_check(ptr program, ptr args, ptr registers, ptr owned, ptr count)

Words of a program: number of arguments, number of registers, whether Python may run while it is checked, then the
instructions of `WIDTH` words each: operation, target register, first, second, version, value. The last two are a
memory: what a dictionary (or class) gave for a key is known as long as its version is the same.

``compare`` goes through a table of entries of `ENTRY` words: address of a word, what stood there when all was well, the
instruction to go on with if something else does, and a place for that. It is one that fails, or the first of a group of
checks which ends in ``settle``: it makes the new word the one that is well, and goes on with the next entry. (What the
group was about was read before; if it changes meanwhile, the next call looks again.) ``compare_short`` is for words of
32 bits, the versions of classes, which may be 0 (none) and are given by the look-ups of the group.

It gives 1 if the guards hold, 0 if one does not, and -1 with the error set if that is the caller's: errors of reading a
value say that it is not there any more, but a Ctrl-C, or what a signal handler raised (``c_judge``), says nothing about
it. The function of a ``python`` instruction has judged for itself: whatever it raises goes on.

If Python may run, every register that is loaded from somewhere owns a reference, which the caller finds in ``owned``
and gives back. Otherwise references are borrowed: nothing can change before the caller lets Python run.
"""

from __future__ import annotations

from duograph.runtime.python.cpython import ARRAY_DATA

from .operations import ANY, comparisons, field, groups, lookups, reads, tensors

OPERATIONS = (
    "done", "fail", "const", "attr", "item", "at", "field", "lookup", "own", "member", "is", "type", "len", "tensor",
    "equal", "float", "python", "absent", "same", "differ", "key", "keys", "lacking",
    "holds", "overrides", "defines", "values", "owns", "compare", "compare_short", "settle", "settle_short",
)  # fmt: skip
WIDTH = 6
ENTRY = 4
N_ARGS, N_REGISTERS, RUNS_PYTHON, FIRST = 0, 1, 2, 3
FEW_REGISTERS = 1024
"""So many lie on the stack of the thread, which may have little of it; more are allocated."""

API = (
    "PyObject_GetAttr", "PyObject_GetItem", "PyDict_GetItemWithError", "PyObject_RichCompareBool",
    "PyObject_IsTrue", "PyObject_Vectorcall", "Py_IncRef", "Py_DecRef", "PyDict_Contains",
    "_PyObject_GetDictPtr", "_PyType_Lookup", "PyDict_Next", "PyErr_Occurred", "PyErr_ExceptionMatches",
    "PyMem_RawMalloc", "PyMem_RawFree", "PyErr_Fetch", "PyErr_NormalizeException", "PyErr_Restore",
    "PyException_SetTraceback", "PyObject_CallOneArg",
)  # fmt: skip


def text(payload: int, versions: bool, class_versions: bool) -> str:
    """The module.

    Args:
        payload: offset of a tensor's array.
        versions: whether dictionaries have versions; else everything is looked up every time.
        class_versions: whether classes have.
    """
    operations = reads() + groups() + lookups(versions, class_versions) + comparisons() + tensors(payload)
    return "\n" + _declarations() + _loop() + operations + _end() + _guards()


def _declarations() -> str:
    """What the code calls."""
    declared = {
        "PyObject_RichCompareBool": "i32 @c_{}(ptr, ptr, i32)",
        "PyObject_IsTrue": "i32 @c_{}(ptr)", "PyObject_Vectorcall": "ptr @c_{}(ptr, ptr, i64, ptr)",
        "Py_IncRef": "void @c_{}(ptr)", "Py_DecRef": "void @c_{}(ptr)",
        "PyDict_Contains": "i32 @c_{}(ptr, ptr)", "_PyObject_GetDictPtr": "ptr @c_{}(ptr)",
        "PyDict_Next": "i32 @c_{}(ptr, ptr, ptr, ptr)", "PyErr_Occurred": "ptr @c_{}()",
        "PyErr_ExceptionMatches": "i32 @c_{}(ptr)", "PyMem_RawMalloc": "ptr @c_{}(i64)",
        "PyMem_RawFree": "void @c_{}(ptr)", "PyErr_Fetch": "void @c_{}(ptr, ptr, ptr)",
        "PyErr_NormalizeException": "void @c_{}(ptr, ptr, ptr)", "PyErr_Restore": "void @c_{}(ptr, ptr, ptr)",
        "PyException_SetTraceback": "i32 @c_{}(ptr, ptr)",
    }  # fmt: skip
    declarations = "\n".join("declare " + declared.get(n, "ptr @c_{}(ptr, ptr)").format(n) for n in API)
    return f"""\
{declarations}
@c_True = external global i8
@c_False = external global i8
@c_ndarray = external global i8
@c_list = external global i8
@c_dict = external global i8
@c_Exception = external global i8
@c_judge = external global i8

"""


def _loop() -> str:
    """The head of ``dg_check``: the next instruction, and what becomes of objects that one has found."""
    switch = "\n".join(f"    i64 {i}, label %{name}" for i, name in enumerate(OPERATIONS))
    return f"""\
define i64 @dg_check(ptr %program, ptr %args, ptr %regs, ptr %owned, ptr %count) nounwind {{
entry:
  %position = alloca i64
  %found.key = alloca ptr
  %error.class = alloca ptr
  %error.value = alloca ptr
  %error.trace = alloca ptr
{field("%nargs", "%program", 8 * N_ARGS, "i64")}{field("%runs", "%program", 8 * RUNS_PYTHON, "i64")}\
  %owning = icmp ne i64 %runs, 0
  %first = getelementptr i64, ptr %program, i64 {FIRST}
  br label %arg.test
arg.test:
  %arg.i = phi i64 [ 0, %entry ], [ %arg.next, %arg ]
  %arg.more = icmp slt i64 %arg.i, %nargs
  br i1 %arg.more, label %arg, label %loop
arg:
  %arg.at = getelementptr ptr, ptr %args, i64 %arg.i
  %arg.v = load ptr, ptr %arg.at
  %arg.target = getelementptr ptr, ptr %regs, i64 %arg.i
  store ptr %arg.v, ptr %arg.target
  %arg.next = add i64 %arg.i, 1
  br label %arg.test

loop:
  %pc = phi ptr [ %first, %arg.test ], [ %after, %next ], [ %compare.group, %compare.other ], \
[ %compare_short.group, %compare_short.other ]
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

"""


def _end() -> str:
    """The results of ``dg_check``."""
    return f"""\
done:
  ret i64 1
fail:
  %error = call ptr @c_PyErr_Occurred()
  %no.error = icmp eq ptr %error, null
  br i1 %no.error, label %not, label %judge
judge:
  %ordinary = call i32 @c_PyErr_ExceptionMatches(ptr @c_Exception)
  %is.ordinary = icmp ne i32 %ordinary, 0
  br i1 %is.ordinary, label %ordinary.error, label %raised
ordinary.error:
  %is.judged = icmp eq i64 %operation, {OPERATIONS.index("python")}
  br i1 %is.judged, label %raised, label %ask
ask:
  call void @c_PyErr_Fetch(ptr %error.class, ptr %error.value, ptr %error.trace)
  call void @c_PyErr_NormalizeException(ptr %error.class, ptr %error.value, ptr %error.trace)
  %e.class = load ptr, ptr %error.class
  %e.value = load ptr, ptr %error.value
  %e.trace = load ptr, ptr %error.trace
  %no.trace = icmp eq ptr %e.trace, null
  br i1 %no.trace, label %clear, label %ask.judge
ask.judge:
  %set = call i32 @c_PyException_SetTraceback(ptr %e.value, ptr %e.trace)
  %verdict = call ptr @c_PyObject_CallOneArg(ptr @c_judge, ptr %e.value)
  %no.verdict = icmp eq ptr %verdict, null
  br i1 %no.verdict, label %interrupted, label %judged
judged:
  call void @c_Py_DecRef(ptr %verdict)
  %is.callers = icmp eq ptr %verdict, @c_True
  br i1 %is.callers, label %back, label %clear
back:
  call void @c_PyErr_Restore(ptr %e.class, ptr %e.value, ptr %e.trace)
  br label %raised
clear:
  call void @c_Py_DecRef(ptr %e.class)
  call void @c_Py_DecRef(ptr %e.value)
  call void @c_Py_DecRef(ptr %e.trace)
  br label %not
interrupted:
  call void @c_Py_DecRef(ptr %e.class)
  call void @c_Py_DecRef(ptr %e.value)
  call void @c_Py_DecRef(ptr %e.trace)
  br label %raised
not:
  ret i64 0
raised:
  ret i64 -1
}}

"""


def _guards() -> str:
    """``dg_guards``: gives back what ``dg_check`` owns."""
    return f"""\
define ptr @dg_guards(ptr %self, ptr %args, i64 %nargs, ptr %keywords) nounwind {{
entry:
{field("%program", "%self", ARRAY_DATA)}{field("%wanted", "%program", 8 * N_ARGS, "i64")}\
{field("%registers", "%program", 8 * N_REGISTERS, "i64")}  %count = alloca i64
  store i64 0, ptr %count
  %many = icmp ugt i64 %registers, {FEW_REGISTERS}
  br i1 %many, label %heap, label %stack
heap:
  %bytes = shl i64 %registers, 4
  %rows.heap = call ptr @c_PyMem_RawMalloc(i64 %bytes)
  %lack = icmp eq ptr %rows.heap, null
  br i1 %lack, label %finish, label %ready
stack:
  %twice = shl i64 %registers, 1
  %rows.stack = alloca ptr, i64 %twice
  br label %ready
ready:
  %regs = phi ptr [ %rows.heap, %heap ], [ %rows.stack, %stack ]
  %owned = getelementptr ptr, ptr %regs, i64 %registers
  %count_ok = icmp eq i64 %nargs, %wanted
  br i1 %count_ok, label %check, label %finish
check:
  %holds = call i64 @dg_check(ptr %program, ptr %args, ptr %regs, ptr %owned, ptr %count)
  br label %finish
finish:
  %answer = phi i64 [ 0, %heap ], [ 0, %ready ], [ %holds, %check ]
  %rows = phi ptr [ null, %heap ], [ %owned, %ready ], [ %owned, %check ]
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
  %held.at = getelementptr ptr, ptr %rows, i64 %i
  %held = load ptr, ptr %held.at
  call void @c_Py_DecRef(ptr %held)
  %i.next = add i64 %i, 1
  br label %release.test
out:
  br i1 %many, label %free, label %end
free:
  %back = mul i64 %registers, -8
  %whole = getelementptr i8, ptr %rows, i64 %back
  %there = icmp ne ptr %rows, null
  %given = select i1 %there, ptr %whole, ptr null
  call void @c_PyMem_RawFree(ptr %given)
  br label %end
end:
  call void @c_Py_IncRef(ptr %result)
  ret ptr %result
}}
"""


__all__ = ["ANY", "API", "FIRST", "OPERATIONS", "WIDTH", "text"]
