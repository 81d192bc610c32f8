"""The op ``matmul``: which products it is made of."""

from __future__ import annotations

from collections.abc import Sequence

from duograph.core.dim import dim_min
from duograph.core.types import TensorType

from ..layout import is_one
from ..lowering import Extent, Lowering, Sink, product
from .call import BatchLoop, Matrix, gemm_call
from .kind import kind_of
from .output import MatrixOutput, Output, SinkOutput

__all__ = ["batch_loops", "lower_matmul"]


def lower_matmul(c: Lowering) -> None:
    """Stacks of matrices, broadcast; a stack times one matrix is one product of more rows."""
    x, w = c.ins
    transpose_a, transpose_b = bool(c.attrs["transpose_a"]), bool(c.attrs["transpose_b"])
    out = c.op.result_type((x.type, w.type), c.attrs)
    assert isinstance(out, TensorType)
    shape = out.shape
    batch, (m, n) = shape[:-2], shape[-2:]
    k = x.shape[-2] if transpose_a else x.shape[-1]
    if not transpose_a and all(is_one(extent) for extent in w.shape[:-2]):
        m, loops = product([*batch, m]), []
    else:
        loops = batch_loops(batch, x.shape[:-2], w.shape[:-2], m * k, k * n)
    a, b = Matrix(x, x.shape[-1], transpose_a), Matrix(w, w.shape[-1], transpose_b)
    gemm_call(c, a, b, _output(c, m, n), m, n, k, loops)


def _output(c: Lowering, m: Extent, n: Extent) -> Output:
    """Straight to memory where nothing is fused and nothing is to be converted."""
    x = c.ins[0]
    if type(c.sink) is Sink and not kind_of(x.elem, x.is_complex).converts:
        return MatrixOutput(c.sink.out, n, m * n)
    return SinkOutput(c.sink, x.elem, x.is_complex)


def batch_loops(
    batch: Sequence[Extent], x_batch: Sequence[Extent], w_batch: Sequence[Extent], x_size: Extent, w_size: Extent
) -> list[BatchLoop]:
    """Loops over a broadcast stack of contiguous matrices of ``x_size`` and ``w_size`` elements, as few as possible."""
    loops: list[BatchLoop] = []
    joined: tuple[bool, bool] | None = None
    for i in reversed(range(len(batch))):
        extent = batch[i]
        x_extent, w_extent = (own[i - len(batch)] if len(batch) - i <= len(own) else 1 for own in (x_batch, w_batch))
        if not is_one(extent):
            loop = BatchLoop(extent, _step(x_size, x_extent, extent), _step(w_size, w_extent, extent))
            known = all(own is extent or own == extent or is_one(own) for own in (x_extent, w_extent))
            pattern = (is_one(x_extent), is_one(w_extent)) if known else None
            if pattern is not None and pattern == joined:
                loops[0] = BatchLoop(loops[0].extent * extent, loops[0].a, loops[0].w)
            else:
                loops.insert(0, loop)
            joined = pattern
        x_size, w_size = x_size * x_extent, w_size * w_extent
    return loops


def _step(size: Extent, own: Extent, extent: Extent) -> Extent:
    """Elements to the next matrix: none where the stack is broadcast, which a symbolic extent tells at run time."""
    if is_one(own):
        return 0
    return size if own == extent else size * dim_min(own - 1, 1)
