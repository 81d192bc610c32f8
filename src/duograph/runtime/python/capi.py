"""The C functions that native code calls: their signatures, in one table, and their addresses in this process.

``new`` is a pointer whose reference the caller owns (or null), ``steal`` an argument whose reference the callee takes;
all else is LLVM's types. Text names a function ``c_NAME`` (`asm.Function.api`), and the linker fills its address in.
LLVM's intrinsics, which become instructions, stand in the table too; they keep their names and have no address.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from duograph.runtime.machine.llvm import TextError

from .cpython import Unsupported, function_address

__all__ = ["Signature", "declaration", "signature", "spelled", "symbols"]


@dataclass(frozen=True)
class Signature:
    """What a function takes and gives.

    Attributes:
        result: an LLVM type, or ``"new"``.
        params: LLVM types, or ``"steal"``.
        is_variadic: whether more pointers may follow.
    """

    result: str
    params: tuple[str, ...]
    is_variadic: bool = False

    @classmethod
    def parse(cls, text: str) -> Signature:
        """``"new (ptr, i64)"``, as a signature."""
        found = re.fullmatch(r"(\w+) \((.*)\)", text)
        if found is None:
            raise TextError(f"not a signature: {text}")
        params = tuple([part.strip() for part in found[2].split(",") if part.strip()])
        variadic = params[-1:] == ("...",)
        return cls(found[1], params[:-1] if variadic else params, variadic)

    def spelled(self, name: str) -> str:
        """As LLVM spells it: ``ptr @name(ptr, i64)``."""
        params = [_LLVM.get(p, p) for p in self.params] + ["..."] * self.is_variadic
        return f"{_LLVM.get(self.result, self.result)} @{name}({', '.join(params)})"

    def called(self) -> str:
        """What stands between ``call`` and the callee: the result, or the whole type if the function is variadic."""
        return self.spelled("").replace(" @", " ") if self.is_variadic else _LLVM.get(self.result, self.result)


_LLVM = {"new": "ptr", "steal": "ptr"}

_TABLE = """
    new PyArray_NewCopy(ptr, i32)
    new PyArray_NewFromDescr(ptr, steal, i32, ptr, ptr, ptr, i32, ptr)
    i32 PyArray_SetBaseObject(ptr, steal)
    new PyBytes_FromStringAndSize(ptr, i64)
    i32 PyContextVar_Get(ptr, ptr, ptr)
    i32 PyDict_Contains(ptr, ptr)
    new PyDict_Copy(ptr)
    i32 PyDict_DelItem(ptr, ptr)
    ptr PyDict_GetItem(ptr, ptr)
    ptr PyDict_GetItemWithError(ptr, ptr)
    new PyDict_New()
    i32 PyDict_Next(ptr, ptr, ptr, ptr)
    i32 PyDict_SetItem(ptr, ptr, ptr)
    i64 PyDict_Size(ptr)
    i32 PyErr_CheckSignals()
    void PyErr_Clear()
    i32 PyErr_ExceptionMatches(ptr)
    void PyErr_Fetch(ptr, ptr, ptr)
    ptr PyErr_NoMemory()
    void PyErr_NormalizeException(ptr, ptr, ptr)
    ptr PyErr_Occurred()
    void PyErr_Restore(steal, steal, steal)
    void PyEval_RestoreThread(ptr)
    ptr PyEval_SaveThread()
    i32 PyException_SetTraceback(ptr, ptr)
    double PyFloat_AsDouble(ptr)
    new PyFloat_FromDouble(double)
    i32 PyGILState_Ensure()
    void PyGILState_Release(i32)
    i32 PyList_Append(ptr, ptr)
    new PyList_New(i64)
    i64 PyLong_AsLongLong(ptr)
    i64 PyLong_AsLongLongAndOverflow(ptr, ptr)
    new PyLong_FromLongLong(i64)
    void PyMem_RawFree(ptr)
    ptr PyMem_RawMalloc(i64)
    new PyObject_Call(ptr, ptr, ptr)
    new PyObject_CallFunctionObjArgs(ptr, ...)
    new PyObject_CallNoArgs(ptr)
    new PyObject_CallOneArg(ptr, ptr)
    new PyObject_GetAttr(ptr, ptr)
    new PyObject_GetItem(ptr, ptr)
    i32 PyObject_IsTrue(ptr)
    i32 PyObject_RichCompareBool(ptr, ptr, i32)
    new PyObject_Vectorcall(ptr, ptr, i64, ptr)
    new PyObject_VectorcallDict(ptr, ptr, i64, ptr)
    ptr PyThreadState_Get()
    i64 PyThreadState_GetID(ptr)
    new PyTuple_GetSlice(ptr, i64, i64)
    new PyTuple_New(i64)
    new PyType_GenericAlloc(ptr, i64)
    void Py_DecRef(steal)
    void Py_IncRef(ptr)
    ptr _PyObject_GetDictPtr(ptr)
    ptr _PyType_Lookup(ptr, ptr)

    ptr aligned_alloc(i64, i64)
    void free(ptr)
    i32 memcmp(ptr, ptr, i64)
    ptr memcpy(ptr, ptr, i64)
    ptr memset(ptr, i32, i64)

    i32 pthread_create(ptr, ptr, ptr, ptr)
    i32 pthread_join(i64, ptr)
    i32 pthread_sigmask(i32, ptr, ptr)
    i32 sched_yield()
    i32 sigdelset(ptr, i32)
    i32 sigfillset(ptr)
    i64 syscall(i64, ...)

    i64 llvm.aarch64.get.fpcr()
    void llvm.aarch64.hint(i32)
    void llvm.aarch64.set.fpcr(i64)
    i64 llvm.ctlz.i64(i64, i1)
    i64 llvm.fshl.i64(i64, i64, i64)
    void llvm.x86.sse2.pause()
    void llvm.x86.sse.ldmxcsr(ptr)
    void llvm.x86.sse.stmxcsr(ptr)
"""


def _parsed(table: str) -> dict[str, Signature]:
    rows = [re.fullmatch(r"(\w+) ([\w.]+)(\(.*\))", line.strip()) for line in table.split("\n") if line.strip()]
    return {row[2]: Signature.parse(f"{row[1]} {row[3]}") for row in rows if row}


_SIGNATURES: Mapping[str, Signature] = _parsed(_TABLE)
_INTRINSIC = "llvm."


def signature(name: str) -> Signature:
    """Of a C function.

    Raises:
        TextError: the table has no such function.
    """
    found = _SIGNATURES.get(name)
    if found is None:
        raise TextError(f"no C function {name} in the table of {__name__}")
    return found


def declaration(name: str) -> str:
    """The line that text needs to call a C function."""
    return f"declare {signature(name).spelled(spelled(name))}"


def spelled(name: str) -> str:
    """The symbol of a C function or intrinsic in text."""
    return name if name.startswith(_INTRINSIC) else f"c_{name}"


def symbols(names: Iterable[str]) -> dict[str, int]:
    """The addresses of C functions, by their names in text.

    Raises:
        Unsupported: this Python has no such function.
    """
    return {spelled(name): _address(name) for name in names if not name.startswith(_INTRINSIC)}


def _address(name: str) -> int:
    if name.lstrip("_").startswith("Py"):
        return function_address(name)
    address = ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value
    if not address:
        raise Unsupported(f"no function {name}")
    return address
