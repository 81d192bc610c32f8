"""`gemm_call`: a product of matrices as kernel calls, from any rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from duograph.core.dim import ceil_div

from ..functions import Functions
from ..layout import is_one
from ..loop.builder import Builder
from ..loop.ir import Function, Value
from ..lowering import Extent, Lowering, Memory, Operand, product
from .driver import Variant, build_driver
from .kind import Kind, kind_of
from .output import ColumnOutput, Output
from .pack import pack_complex_rows, pack_strip
from .stack import offsets
from .vector import RowVariant, build_row_product, fits_row_product

__all__ = ["BatchLoop", "Matrix", "gemm_call"]


@dataclass(frozen=True)
class Matrix:
    """An operand: row r begins at ``offset + r * step``, its elements are neighbours. Counts pairs if complex.

    ``transposed``: the product takes it the other way round.
    """

    memory: Memory
    step: Extent
    transposed: bool = False
    offset: Extent = 0

    @property
    def is_complex(self) -> bool:
        return isinstance(self.memory, Operand) and self.memory.is_complex


@dataclass(frozen=True)
class BatchLoop:
    """A loop over products: how many, and elements from one matrix of A and of B to the next (0: the same)."""

    extent: Extent
    a: Extent
    w: Extent


def gemm_call(
    c: Lowering,
    a: Matrix,
    w: Matrix,
    out: Output,
    m: Extent,
    n: Extent,
    k: Extent,
    loops: Sequence[BatchLoop] = (),
) -> None:
    """Adds the calls that compute ``out[t] = A[t] B[t]``, A of m x k and B of k x n.

    Every element is the chain fma(a[i, 0], b[0, j], +0.0), fma(a[i, 1], b[1, j], ...), ... whatever the sizes. The
    products are counted with the last of ``loops`` fastest. Example, with the results in a temporary::

        gemm_call(c, Matrix(x, k), Matrix(weight, k, transposed=True), MatrixOutput(temp, n), m, n, k)
    """
    kind = kind_of(a.memory.elem, a.is_complex)
    if fits_row_product(kind):
        if is_one(m):
            _row_product(c, kind, a, w, out, n, k, loops)
            return
        if is_one(n):  # (A b)^T = b^T A^T, and the chains are the same: multiplication commutes
            turned = [BatchLoop(loop.extent, loop.w, loop.a) for loop in loops]
            column, flipped = replace(w, transposed=not w.transposed), replace(a, transposed=not a.transposed)
            _row_product(c, kind, column, flipped, ColumnOutput(out, m), m, k, turned)
            return
    packed = _packs_a(kind, a, m, n, k)
    if packed:
        a, loops = _pack_a(c, kind, a, m, k, loops)
    narrow = isinstance(n, int) and 0 < n % kind.columns <= kind.lanes and n < 8 * kind.columns
    variant = Variant(kind, a.transposed, w.transposed, packed, narrow, len(loops))
    function = _known(variant, out, build_driver)
    dims = [x for loop in loops for x in (loop.extent, loop.a, loop.w)]
    dims += [m, n, k, a.step, w.step, a.offset, w.offset]
    c.call(function, [a.memory, w.memory, *out.buffers], [*dims, *out.dims])


def _row_product(
    c: Lowering,
    kind: Kind,
    x: Matrix,
    w: Matrix,
    out: Output,
    n: Extent,
    k: Extent,
    loops: Sequence[BatchLoop],
) -> None:
    function = _known(RowVariant(kind, w.transposed, len(loops)), out, build_row_product)
    dims = [e for loop in loops for e in (loop.extent, loop.a, loop.w)]
    dims += [n, k, x.step if x.transposed else 1, w.step, x.offset, w.offset]
    c.call(function, [x.memory, w.memory, *out.buffers], [*dims, *out.dims])


_functions = Functions()


def _known(variant: Any, out: Output, build: Callable[[Any, Output], Function]) -> Function:
    """The function for a variant and an output; built once."""
    key = (variant, out.key)
    function = _functions.get(key)
    if function is None:
        function = _functions.put(key, build(variant, out))
    elif not out.settled:
        out.declare(Builder("known"), variant.kind)  # for its buffers and dims
    return function


# ---- packing A -------------------------------------------------------------------------------------------------------


def _packs_a(kind: Kind, a: Matrix, m: Extent, n: Extent, k: Extent) -> bool:
    """Whether A is copied into tiles first: it must be converted, or collides with itself in the first cache.

    Rows that a tile reads side by side fall into few sets of the cache if they are a multiple of 2 KiB apart. Then the
    copy is soon paid back, unless there is little to compute with it. Measured: 0.65 of the peak becomes 0.91 at 512^3.
    """
    if kind.is_complex:
        return a.transposed
    if kind.converts:
        return True
    if not (isinstance(a.step, int) and a.step and isinstance(n, int)) or n < 8 * kind.columns:
        return False
    apart = a.step * kind.size
    if a.transposed:
        return apart % 4096 == 0 and not (isinstance(k, int) and k < 256)
    return apart % 2048 == 0 and (apart % 4096 == 0 or not (isinstance(m, int) and m < 96))


def _pack_a(
    c: Lowering, kind: Kind, a: Matrix, m: Extent, k: Extent, loops: Sequence[BatchLoop]
) -> tuple[Matrix, list[BatchLoop]]:
    """A call that packs all matrices of A into a temporary, and A as the driver then finds it."""
    tiles = ceil_div(m, kind.rows)
    size = tiles * kind.rows * k
    own = [loop for loop in loops if not (isinstance(loop.a, int) and loop.a == 0)]
    count = product([loop.extent for loop in own])
    temp = c.temp(kind.acc, count * size * (2 if kind.is_complex else 1))
    function = _a_packer(kind, a.transposed, len(own))
    dims: list[Any] = [x for loop in own for x in (loop.extent, loop.a)]
    c.call(function, [a.memory, temp], [*dims, m, k, a.step, a.offset])
    steps: list[Extent] = []
    step: Extent = size
    for loop in reversed(loops):
        steps.append(step if loop in own else 0)
        step = step * loop.extent if loop in own else step
    packed_loops = [replace(loop, a=s) for loop, s in zip(loops, reversed(steps), strict=True)]
    return Matrix(temp, 0, True), packed_loops


@cache
def _a_packer(kind: Kind, transposed: bool, batch: int) -> Function:
    """Packs stacks of A. Dims: extent and step of each batch loop; ``m``, ``k``, ``a_step``, ``a_offset``."""
    b = Builder("gemm_pack_a")
    a, out = b.buffer("a", kind.elem), b.buffer("out", kind.acc)
    loops = [(b.dim(f"extent{i}"), b.dim(f"step{i}")) for i in range(batch)]
    m, k, step, offset = (b.dim(name) for name in ("m", "k", "a_step", "a_offset"))
    scale = 2 if kind.is_complex else 1
    tiles = b.ceil_div(m, kind.rows)
    count = b.product([tiles, *[extent for extent, _ in loops]])
    work = b.mul(b.max(k, 1), kind.rows)

    def tile(number: Value) -> None:
        row = b.mul(b.rem(number, tiles), kind.rows)
        (start,) = offsets(b, loops, b.div(number, tiles), (offset,))
        start = b.add(start, row if transposed else b.mul(row, step))
        source = b.view(a, b.mul(start, scale * kind.elem_size), kind.elem)
        goal = b.view(out, b.mul(b.mul(number, k), kind.rows * scale * kind.size), kind.acc)
        rows = b.min(b.sub(m, row), kind.rows)
        pack = pack_complex_rows(kind) if kind.is_complex else pack_strip(kind, not transposed, kind.rows)
        b.call(pack, [source, goal], [rows, k, step])

    out.written = True
    b.parallel_for(0, count, b.div(b.add(work, 20_000), work), tile)
    return b.finish()
