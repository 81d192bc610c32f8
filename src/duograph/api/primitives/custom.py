"""`Custom`: an operator whose kernel the user writes, in loop IR, in LLVM text or as a Python function of NumPy arrays.

Loop IR is what all kernels of this package are written in (docs/native.md): it has an interpreter, which checks every
access and is the reference where there is no machine code, and a verifier. LLVM text is compiled as it stands and
called from Python, also inside compiled programs; nothing checks what it does with the memory it is given. A Python
function is left to Python, as any other that works on NumPy arrays.
"""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from duograph.autodiff.custom import custom_call
from duograph.base.failures import ExtensionError
from duograph.core import dtype as dt
from duograph.core.errors import user_error
from duograph.core.op import Op
from duograph.core.shapes import numel
from duograph.core.types import TensorType, Type
from duograph.lower.loop.interpret import OutOfBounds, interpret
from duograph.lower.loop.ir import Function
from duograph.lower.loop.parser import LoopSyntaxError, parse_function
from duograph.lower.loop.types import element_of
from duograph.lower.loop.verify import LoopIRError, verify
from duograph.lower.lowering import Lowering
from duograph.lower.rule import Host, Kernel
from duograph.runtime.machine.code import load
from duograph.runtime.machine.llvm import Linked
from duograph.tensor.tensor import Tensor

from ..hybrid import HybridKernel
from ..promote import as_tensor
from .base import Primitive

_LLVM = re.compile(r"define\s+(?:dso_local\s+)?void\s+@([\w.$]+)\s*\(([^)]*)\)")
MOST_CHECKED = 4096
"""Elements up to which a kernel in loop IR is run by the interpreter once for each kind of operands."""
_numbers = itertools.count(1)
_ops: dict[Any, Op] = {}


class Custom(Primitive):
    """An operator with a kernel of the user, for eager mode and compiled programs.

    A kernel gets one buffer for each operand, one for the result, and numbers (64-bit integers). Operands are
    contiguous. In loop IR it is ``func(&0 x: f32, &1 out: f32; %0 n: i64) { ... }``; in LLVM text a function
    ``define void @name(ptr %x, ptr %out, i64 %n)``, the first such of the module. A Python function takes NumPy arrays,
    one for each operand, and gives the result as one; a tuple of arrays gives as many results.

    Args:
        func (Union[str, Callable]): the text of the kernel, or a Python function.
        out_shape (Union[Callable, tuple], optional): shape of the result (a tuple of shapes for several), or a function
            of the operands' shapes that gives it. Default: ``None``, that of the first operand.
        out_dtype (Union[Callable, mindspore.dtype], optional): dtype of the result, or a function of the operands'
            dtypes. Default: ``None``, that of the first operand.
        func_type (str): ``"loop_ir"``, ``"llvm"``, ``"pyfunc"``, or ``"hybrid"`` for a function of `ops.kernel`.
            Default: ``None``, which is ``"loop_ir"`` for a text and ``"pyfunc"`` for a function.
        bprop (Callable, optional): the gradient: ``bprop(*operands, out, dout)`` gives one for each operand. Default:
            ``None``: asking for one is an error.
        dims (Callable, optional): gives the kernel's numbers for the shapes of operands and result. Default: ``None``:
            a kernel with one number gets how many elements the result has.

    Inputs:
        - **operands** (Tensor) - one for each buffer but the last.

    Outputs:
        Tensor, of the shape and dtype that were given; a tuple of them where a Python function gives several.

    Raises:
        ValueError: ``func_type`` is another one, the text is no loop IR or has no such function, or the result of a
            Python function is of another shape.
        TypeError: ``func`` is neither text nor function, or operands do not fit the kernel, or the result of a Python
            function is not an array or of another dtype.
        ExtensionError: the kernel reads or writes outside of its buffers (found in loop IR, for small operands), fails,
            or is not accepted by LLVM.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import ops
        >>> double = ops.Custom('''
        ... func(&0 x: f32, &1 out: f32; %0 n: i64) {
        ...   for 0 %0 1 {
        ...     args %1: i64
        ...     %2: f32 = load &0 %1
        ...     %3: f32 = add %2 %2
        ...     store &1 %1 %3
        ...   }
        ... }
        ... ''')
        >>> print(double(ms.Tensor([1.0, 2.5])))
        [2. 5.]
        >>> sort = ops.Custom(lambda x: np.sort(x)[::-1], func_type="pyfunc")
        >>> print(sort(ms.Tensor([1.0, 2.5])))
        [2.5 1. ]
    """

    def __init__(
        self,
        func: str | Callable[..., Any],
        out_shape: Any = None,
        out_dtype: Any = None,
        func_type: str | None = None,
        bprop: Callable[..., Any] | None = None,
        dims: Callable[..., Sequence[Any]] | None = None,
    ) -> None:
        super().__init__("Custom")
        if not isinstance(func, str) and not callable(func):
            raise TypeError(
                f"For 'Custom', 'func' must be the text of a kernel or a function, but got {type(func).__name__}."
            )
        if func_type is None:
            func_type = "loop_ir" if isinstance(func, str) else "pyfunc"
        hybrid = isinstance(func, HybridKernel)
        known = ("loop_ir", "llvm") if isinstance(func, str) else ("pyfunc", "hybrid") if hybrid else ("pyfunc",)
        if func_type not in known:
            raise ValueError(
                "For 'Custom', 'func_type' must be 'loop_ir' or 'llvm' for the text of a kernel, 'pyfunc' for a "
                "function, or 'hybrid' for one of ops.kernel, "
                f"but got {func_type!r}; compiled libraries ('aot') are called through ctypes in a 'pyfunc'."
            )
        self.func, self.func_type, self.bprop = func, func_type, bprop
        self.out_shape, self.out_dtype = out_shape, out_dtype
        self.op: Any = self._call_python
        if isinstance(func, str):
            key = func, func_type, out_shape, out_dtype, dims
            if key not in _ops:
                made = (_LoopIR if func_type == "loop_ir" else _LLVMText)(func, out_shape, out_dtype, dims)
                _ops[key] = made.declare()
            self.op = _ops[key]
        elif dims is not None:
            raise ValueError("For 'Custom', 'dims' gives the numbers of a kernel in text; a function has none.")

    def forward(self, *operands: Any) -> Any:
        """What the kernel computes."""
        tensors = [as_tensor(x) for x in operands]
        bprop = self.bprop
        if bprop is None and not isinstance(self.func, str):
            bprop = _no_gradient_of_function
        return self.op(*tensors) if bprop is None else custom_call(self.op, bprop, tuple(tensors))

    def _call_python(self, *tensors: Any) -> Any:
        types = [TensorType(t.dtype, t.shape) for t in tensors]
        out = self.func(*[t.asnumpy().copy() for t in tensors])  # type: ignore[operator]
        if isinstance(self.func, HybridKernel) and self.out_shape is None and self.out_dtype is None:
            return tuple(map(Tensor, out)) if isinstance(out, tuple) else Tensor(out)  # it says what it allocates
        if not isinstance(out, tuple):
            return _checked(out, *_result_of(types, self.out_shape, self.out_dtype))
        shapes, dtypes = _given_for(types, self.out_shape, self.out_dtype)
        if not isinstance(dtypes, tuple | list):
            dtypes = [dtypes] * len(out)
        if len(shapes) != len(out) or len(dtypes) != len(out) or not all(isinstance(x, tuple | list) for x in shapes):
            raise ValueError(
                f"For 'Custom', 'func' returns {len(out)} arrays, so 'out_shape' and 'out_dtype' must give as many "
                f"shapes and dtypes, but they give {shapes} and {dtypes}."
            )
        return tuple(_checked(*one) for one in zip(out, map(tuple, shapes), dtypes, strict=True))


def _checked(out: Any, shape: tuple[Any, ...], dtype: dt.DType) -> Tensor:
    """What a Python function gave as a Tensor, if it is what was said."""
    if not isinstance(out, np.ndarray | np.generic):
        raise TypeError(f"For 'Custom', 'func' must return a NumPy array, but got {type(out).__name__}.")
    if out.shape != shape:
        raise ValueError(f"For 'Custom', 'func' must return an array of shape {shape}, but got {out.shape}.")
    if out.dtype != dtype.numpy:
        raise TypeError(f"For 'Custom', 'func' must return an array of dtype {dtype.numpy}, but got {out.dtype}.")
    return Tensor(np.asarray(out))


def _no_gradient(ins: Any, out: Any, dout: Any) -> Any:
    raise ExtensionError("For 'Custom', there is no gradient: give the rule as 'bprop'.")


def _no_gradient_of_function(*operands: Any) -> Any:
    return _no_gradient(operands, None, None)


def _result_of(types: Sequence[TensorType], shape: Any, dtype: Any) -> tuple[tuple[Any, ...], dt.DType]:
    """Shape and dtype of the one result for these operands, as they were given."""
    shape, dtype = _given_for(types, shape, dtype)
    return tuple(shape), dtype


def _given_for(types: Sequence[TensorType], shape: Any, dtype: Any) -> tuple[Any, Any]:
    shape = types[0].shape if shape is None else shape(*[t.shape for t in types]) if callable(shape) else shape
    if dtype is None:
        dtype = types[0].dtype
    elif not isinstance(dtype, dt.DType | tuple | list):
        dtype = dtype(*[t.dtype for t in types])
    return shape, dtype


class _Kernel:
    """A kernel as the rules of an op."""

    lower: Any

    def __init__(self, text: str, out_shape: Any, out_dtype: Any, dims: Any) -> None:
        self.text, self.out_shape, self.out_dtype, self._dims = text, out_shape, out_dtype, dims
        self.name = f"custom_{next(_numbers)}"
        self.n_operands, self.n_dims = self.read()

    def read(self) -> tuple[int, int]:
        """How many operands and numbers the text takes."""
        raise NotImplementedError

    def run(self, arrays: Sequence[np.ndarray], dims: Sequence[int]) -> None:
        """Runs the kernel on operands and result."""
        raise NotImplementedError

    def declare(self) -> Op:
        """The op. It is in no table: its name means nothing to another process."""
        rules = {"infer": self.infer, "reference": self.reference, "lower": self.lower, "bprop": _no_gradient}
        return Op(self.name, rules, __name__)

    def infer(self, *operands: Type) -> TensorType:
        if len(operands) != self.n_operands or not all(isinstance(x, TensorType) for x in operands):
            shown = f"{self.name}({', '.join(map(str, operands))})"
            message = f"For 'Custom', the kernel takes {self.n_operands} tensors, but got {len(operands)} operands"
            raise user_error(TypeError, "DG0404", message, shown)
        types: list[Any] = list(operands)
        shape, dtype = _result_of(types, self.out_shape, self.out_dtype)
        out = TensorType(dtype, shape)
        self.check([*types, out])
        return out

    def check(self, types: Sequence[TensorType]) -> None:
        """Raises what is wrong with operands and result of these types."""
        self.dims([t.shape for t in types])

    def dims(self, shapes: Sequence[Any]) -> tuple[Any, ...]:
        """The numbers for operands and result of these shapes."""
        if self._dims is not None:
            found = tuple(self._dims(*shapes))
        else:
            found = (numel(shapes[-1]),) if self.n_dims == 1 else ()
        if len(found) != self.n_dims:
            raise TypeError(f"For 'Custom', the kernel takes {self.n_dims} numbers, but 'dims' gives {len(found)}")
        return found

    def reference(self, *arrays: np.ndarray) -> np.ndarray:
        out = self.op_type(arrays)
        self.run([*arrays, out], self.dims([a.shape for a in (*arrays, out)]))
        return out

    def op_type(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """An array for the result."""
        made = self.infer(*[TensorType(dt.from_numpy(a.dtype), a.shape) for a in arrays])
        return np.zeros([int(n) for n in made.shape], made.dtype.numpy)


class _LoopIR(_Kernel):
    """A kernel in loop IR: part of compiled programs as those of the package are."""

    def read(self) -> tuple[int, int]:
        try:
            self.function: Function = parse_function(self.text.strip() + "\n", self.name)
            verify(self.function)
        except (LoopSyntaxError, LoopIRError) as error:
            raise ValueError(f"For 'Custom', the kernel is not loop IR: {error}") from error
        if not self.function.buffers:
            raise ValueError("For 'Custom', the kernel has no buffer for the result.")
        self.lower = Kernel(self._lower)
        return len(self.function.buffers) - 1, len(self.function.dims)

    def check(self, types: Sequence[TensorType]) -> None:
        super().check(types)
        for buffer, type_ in zip(self.function.buffers, types, strict=True):
            elem = element_of(type_.dtype.numpy)
            if elem != buffer.elem:
                raise TypeError(
                    f"For 'Custom', the kernel's {buffer.name!r} has elements {buffer.elem}, not {type_.dtype}"
                )
        sizes = [numel(t.shape) for t in types]
        if all(isinstance(n, int) and n <= MOST_CHECKED for n in sizes):
            results = []
            for fill in (0, 1):  # the memory of a result holds anything: what the kernel leaves as it was differs
                arrays = [np.ones(t.shape, t.dtype.numpy) for t in types]
                arrays[-1].fill(fill)
                self.run(arrays, self.dims([t.shape for t in types]))
                results.append(arrays[-1].reshape(-1))
            left = [i for i, pair in enumerate(zip(*results, strict=True)) if pair[0].tobytes() != pair[1].tobytes()]
            if left:
                said = f"does not write element {left[0]} of its result, or reads it before"
                raise ExtensionError(f"the kernel of 'Custom' ({self.name}) {said}")

    def run(self, arrays: Sequence[np.ndarray], dims: Sequence[int]) -> None:
        try:
            status = interpret(self.function, [np.ascontiguousarray(a) for a in arrays[:-1]] + [arrays[-1]], dims)
        except OutOfBounds as error:
            raise ExtensionError(f"the kernel of 'Custom' ({self.name}) leaves its buffers: {error}") from error
        if status:
            raise ExtensionError(f"the kernel of 'Custom' ({self.name}) has failed with status {status}")

    def _lower(self, c: Lowering) -> None:
        shapes = [x.shape for x in (*c.ins, *c.outs)]
        c.call(self.function, [*c.ins, *c.outs], self.dims(shapes))


class _LLVMText(_Kernel):
    """A kernel in LLVM text: called from Python."""

    lower = Host("its kernel is LLVM text of the user")

    def read(self) -> tuple[int, int]:
        found = _LLVM.search(self.text)
        if found is None:
            raise ValueError("For 'Custom', the LLVM text has no function 'define void @name(ptr ..., i64 ...)'.")
        self.entry = found[1]
        kinds = [argument.split()[0] for argument in found[2].split(",") if argument.strip()]
        n_pointers = sum(kind == "ptr" for kind in kinds)
        if not n_pointers or kinds != ["ptr"] * n_pointers + ["i64"] * (len(kinds) - n_pointers):
            raise ValueError(f"For 'Custom', @{self.entry} must take pointers, then i64 numbers, but takes {kinds}.")
        self._linked: Linked | None = None
        return n_pointers - 1, len(kinds) - n_pointers

    def run(self, arrays: Sequence[np.ndarray], dims: Sequence[int]) -> None:
        if self._linked is None:
            try:
                self._linked = load(self.text, (self.entry,))
            except Exception as error:
                raise ExtensionError(f"the kernel of 'Custom' (@{self.entry}) does not compile: {error}") from error
        types = [ctypes.c_void_p] * len(arrays) + [ctypes.c_int64] * len(dims)
        given = [np.ascontiguousarray(a) for a in arrays[:-1]]
        function = ctypes.CFUNCTYPE(None, *types)(self._linked.address(self.entry))
        function(*[a.ctypes.data for a in (*given, arrays[-1])], *dims)


CLASSES: dict[str, type] = {"Custom": Custom}
