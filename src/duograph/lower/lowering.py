"""`Lowering`: what a rule gets, and what it leaves behind: kernel calls.

A call says which function runs on which memory with which numbers. Memory is named by an *operand*: a value of the
program, or a temporary. Numbers are ints, symbolic dimensions, or operands of scalar type that are known at run time.
Nothing here knows addresses: eager launches, executables with planned memory and the NumPy interpreter bind the same
calls in their own ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from duograph.core.dim import Dim
from duograph.core.op import Op
from duograph.core.types import ScalarType, TensorType, TupleType, Type

from .loop.builder import Builder, Index
from .loop.ir import Function, Value
from .loop.types import BITS, UNSIGNED, element_of
from .rule import Complex

Extent: TypeAlias = "int | Dim"


@dataclass(eq=False)
class Operand:
    """A value of the program as memory: contiguous elements of ``elem``.

    Attributes:
        type: tensor type, or scalar type (one 8-byte cell: ``i64`` or ``f64``).
        ref: what it stands for: a node, a parameter number ...; the lowering does not look at it.
        value: the number or array, if it is a constant known now.
    """

    type: Type
    ref: Any = None
    value: Any = None

    @property
    def elem(self) -> str:
        """Element type in loop IR; complex numbers are pairs of it."""
        if isinstance(self.type, ScalarType):
            return "f64" if self.type.kind == "float" else "i64"
        assert isinstance(self.type, TensorType), self.type
        return element_of(self.type.dtype.numpy)

    @property
    def shape(self) -> tuple[Extent, ...]:
        return self.type.shape if isinstance(self.type, TensorType) else ()

    @property
    def dtype(self) -> Any:
        assert isinstance(self.type, TensorType)
        return self.type.dtype

    @property
    def is_complex(self) -> bool:
        return isinstance(self.type, TensorType) and self.type.dtype.is_complex

    @property
    def is_scalar(self) -> bool:
        return isinstance(self.type, ScalarType)

    @property
    def size(self) -> Extent:
        """Number of elements (of pairs, if complex)."""
        return product(self.shape)


@dataclass(eq=False)
class Temporary:
    """Scratch memory of a lowered op: ``count`` elements, 64-byte aligned, contents undefined at the first call."""

    elem: str
    count: Extent

    @property
    def nbytes(self) -> Extent:
        return self.count * (BITS[self.elem] // 8)


Memory: TypeAlias = "Operand | Temporary"
Number: TypeAlias = "int | float | Dim | Operand"


@dataclass(eq=False)
class KernelCall:
    """``function(buffers, dims)``.

    ``inplace`` lists pairs of positions in ``buffers``: an input and an output that may be the same memory, because the
    input is read at the index that is written, and before it is.
    """

    function: Function
    buffers: tuple[Memory, ...]
    dims: tuple[Number, ...]
    inplace: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        wanted = (len(self.function.buffers), len(self.function.dims))
        given = (len(self.buffers), len(self.dims))
        assert wanted == given, f"{self.function.name} takes {wanted} buffers and dims, got {given}"
        for memory, buf in zip(self.buffers, self.function.buffers, strict=True):
            # unsigned buffers may stand for raw memory: movement does not care what elements mean
            fits = memory.elem == buf.elem or buf.elem in UNSIGNED
            assert fits, f"{self.function.name}: {buf} bound to {memory.elem}"
        for number, taken in zip(self.dims, self.function.dims, strict=True):
            whole = isinstance(number, int | Dim)  # an Operand is of either kind
            assert not (whole and taken.type.is_float), f"{self.function.name}: {number} given for a {taken.type}"


@dataclass(eq=False)
class Lowering:
    """One op (or group of ops) on its way to kernel calls.

    Attributes:
        op, attrs: what is lowered (attributes may hold symbolic dimensions).
        ins: operands, C-contiguous.
        outs: results to be written, C-contiguous; one for a tensor, several for a tuple.
        sink: where a kernel with ``sinks`` puts its results (`Sink`).
        checks: calls that read numbers alone and fail where the kernels would; ``None``: those may fail otherwise.
    """

    op: Op
    attrs: dict[str, Any]
    ins: list[Operand]
    outs: list[Operand]
    calls: list[KernelCall] = field(default_factory=list)
    sink: Any = None
    checks: list[KernelCall] | None = None

    def __post_init__(self) -> None:
        if self.sink is None and self.outs:
            self.sink = Sink(self.outs[0])

    def temp(self, elem: str, count: Extent) -> Temporary:
        """Scratch memory."""
        return Temporary(elem, count)

    def call(
        self,
        function: Function,
        buffers: Sequence[Memory],
        dims: Sequence[Number] = (),
        inplace: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Adds a kernel call."""
        self.calls.append(KernelCall(function, tuple(buffers), tuple(dims), tuple(inplace)))

    def check(self, function: Function, dims: Sequence[Number]) -> None:
        """Adds one of the `checks`."""
        self.checks = [*(self.checks or ()), KernelCall(function, (), tuple(dims))]


class Sink:
    """Takes the results of a kernel, element by element, instead of a plain store.

    A kernel that has computed a value of its output says ``sink.store(b, coords, value)``; this class stores it. The
    fusing sink (`lower.sink`) goes on computing with it. Use, while building a kernel::

        sink = c.sink
        sink.declare(b)                                   # after the kernel's own buffers and dims
        ...
        sink.store(b, (row, column), value)               # lanes run along the last coordinate
        ...
        c.call(f, [x, w, *sink.buffers], [m, n, k, *sink.dims])

    Values are of the op's own element type (half types already rounded), complex ones `Complex` pairs.

    Kernels that go row by row (GEMM) use ``row`` and ``store_row`` instead of ``store``: all dimensions but the last
    are one, ``row`` is called once per row, so that what depends on the row only is computed there, and its result is
    handed to ``store_row`` for each vector of the row. What a sink needs of the other coordinates, `unravel` gives.

    Attributes:
        overwrites: whether results may take the memory of what the sink reads. A kernel says no if rows end in masked
            vectors: what it loads next, from under the masked part of a store, has to wait for that store.
    """

    overwrites = True

    def __init__(self, out: Operand) -> None:
        self.out = out
        self.buffers: list[Memory] = [out]
        self.dims: list[Number] = list(out.shape[1:])

    @property
    def key(self) -> str:
        """Tells kernels with different sinks apart where a rule caches functions."""
        return f"store:{self.out.elem}:{len(self.out.shape)}"

    def declare(self, b: Builder) -> None:
        """Adds the parameters that this sink needs to the kernel under construction."""
        self.buffer = b.buffer("out", self.out.elem)
        self.extents = [b.dim(f"out_extent{i}") for i in range(1, len(self.out.shape))]

    @property
    def can_mask(self) -> bool:
        """Whether masked vectors are worth it: no machine has masked stores of narrow elements that are fast."""
        return BITS[self.out.elem] >= 32 and not self.out.is_complex

    @property
    def is_brief(self) -> bool:
        """Whether its code is so short that a kernel may contain it many times."""
        return True

    def joins(self, axes: int) -> bool:
        """Whether the last ``axes`` coordinates may be given as zeros and one flat index over all of them.

        Kernels that treat a plane as one row ask this; a sink says no if something it reads is broadcast over some of
        these axes but not over all.
        """
        return axes >= 1

    def store(self, b: Builder, coords: Sequence[Any], value: Any, mask: Value | None = None) -> None:
        """The result at ``coords`` (one index per output dimension; lanes run along the last one)."""
        index: Any = 0
        for i, coord in enumerate(coords):
            index = coord if i == 0 else b.add(b.mul(index, self.extents[i - 1]), coord)
        self._put(b, index, value, mask)

    def row(self, b: Builder, row: Index) -> Any:
        """What `store_row` is to know of row number ``row`` of the output seen as a matrix of its last dimension."""
        return b.mul(row, self.extents[-1]) if self.extents else row

    def store_row(self, b: Builder, row: Any, column: Index, value: Any, mask: Value | None = None) -> None:
        """The results from ``column`` on in the row that `row` described."""
        self._put(b, b.add(row, column), value, mask)

    def _put(self, b: Builder, index: Index, value: Any, mask: Value | None) -> None:
        if isinstance(value, Complex):
            lanes = value.re.type.lanes
            pair = [lane // 2 + lanes * (lane % 2) for lane in range(2 * lanes)]
            value, index = b.shuffle(value.re, value.im, pair), b.mul(index, 2)
            assert mask is None, "complex results are not masked"
        elif value.type.elem != self.out.elem:
            value = b.convert(value, self.out.elem)
        b.store(self.buffer, index, value, mask)


def unravel(b: Builder, index: Index, extents: Sequence[Index]) -> list[Any]:
    """The coordinates of element ``index`` of an array of ``extents``; the first extent is not needed."""
    coords: list[Any] = []
    for extent in reversed(extents[1:]):
        coords.append(b.rem(index, extent))
        index = b.div(index, extent)
    return [index, *reversed(coords)]


def product(shape: Sequence[Extent]) -> Extent:
    """Number of elements of ``shape``."""
    total: Extent = 1
    for extent in shape:
        total = total * extent
    return total


def numpy_only(types: Iterable[Type]) -> str:
    """Why kernels cannot compute with values of these types; empty if they can."""
    if any(isinstance(t, TensorType) and t.dtype.name.startswith("float8") for t in types):
        return "float8 is a storage format: NumPy computes with it"
    return ""


def outputs_of(type: Type, ref: Any = None) -> list[Operand]:
    """Operands for the results of type ``type``."""
    if isinstance(type, TupleType):
        return [Operand(t, (ref, i)) for i, t in enumerate(type.items)]
    return [Operand(type, ref)]
