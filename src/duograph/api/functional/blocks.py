"""Diagonals and triangles, and blocks of the last axes moved into the batch axis."""

from __future__ import annotations

from typing import Any

from duograph.core.shapes import normalize_axis, numel
from duograph.ops import diagonals, movement, slices
from duograph.ops.creation import full
from duograph.ops.scalar import integer_of
from duograph.tensor.tensor import Tensor

from .. import tensor_shape as shaped
from ..promote import promote_all, to_dtype
from .array import atleast_2d
from .forms import axis_of, need_tensor, one_per_axis, public_functions, static_int
from .padding import pad_pairs


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of the matrices in two axes, as the last axis.

    Returns:
        Tensor, of the dtype of ``input``; its rank is one less.

    Examples:
        >>> print(ops.diagonal(Tensor([[1, 2], [3, 4]])))
        [1 4]
    """
    need_tensor("Diagonal", input=input)
    if input.ndim < 2:
        raise ValueError(
            f"For 'ops.diagonal', the original tensor requires at least two dimensions, but got {input.ndim}"
        )
    i, j = axis_of(dim1, input, "Diagonal"), axis_of(dim2, input, "Diagonal")
    return diagonals.diagonal(input, offset=offset, axis1=i, axis2=j)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Square matrices in two axes with the last axis of ``input`` on a diagonal.

    Returns:
        Tensor, of the dtype of ``input``; its rank is one more.

    Examples:
        >>> print(ops.diag_embed(Tensor([1, 2])))
        [[1 0]
         [0 2]]
    """
    need_tensor("diag_embed", input=input)
    out = diagonals.diag_embed(input, offset)
    rank = out.ndim
    i, j = normalize_axis(dim1, rank, "diag_embed"), normalize_axis(dim2, rank, "diag_embed")
    return out if (i, j) == (rank - 2, rank - 1) else shaped.moveaxis(out, (-2, -1), (i, j))


def diag(input: Tensor) -> Tensor:
    """A tensor with ``input`` on its diagonal, of shape ``input.shape + input.shape``.

    Returns:
        Tensor, of the dtype of ``input``.

    Examples:
        >>> print(ops.diag(Tensor([1, 2])))
        [[1 0]
         [0 2]]
    """
    need_tensor("Diag", input=input)
    square = diagonals.diag_embed(shaped.ravel(input), 0)
    return movement.reshape(square, shape=(*input.shape, *input.shape)) if input.ndim > 1 else square


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements of ``input`` on a diagonal.

    Returns:
        Tensor, a square matrix of the dtype of ``input``.

    Examples:
        >>> print(ops.diagflat(Tensor([1, 2]), 1))
        [[0 1 0]
         [0 0 2]
         [0 0 0]]
    """
    need_tensor("diagflat", input=input)
    return diagonals.diag_embed(shaped.ravel(input), offset)


def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangles of the matrices in the last two axes.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.tril(Tensor([[1, 2], [3, 4]])))
        [[1 0]
         [3 4]]
    """
    need_tensor("Tril", input=input)
    return diagonals.tril(input, diagonal=integer_of(static_int(diagonal, "Tril", "diagonal")))


def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangles of the matrices in the last two axes.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.triu(Tensor([[1, 2], [3, 4]])))
        [[1 2]
         [0 4]]
    """
    need_tensor("Triu", input=input)
    return diagonals.triu(input, diagonal=integer_of(static_int(diagonal, "Triu", "diagonal")))


def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """``input`` with a diagonal replaced by ``src``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.diagonal_scatter(Tensor([[1, 2], [3, 4]]), Tensor([0, 0])))
        [[0 2]
         [3 0]]
    """
    need_tensor("DiagonalScatter", input=input, src=src)
    i, j = axis_of(dim1, input, "diagonal_scatter"), axis_of(dim2, input, "diagonal_scatter")
    return diagonals.diagonal_update(input, to_dtype(src, input.dtype), offset=offset, axis1=i, axis2=j)


def block_diag(*inputs: Tensor) -> Tensor:
    """Matrices along the diagonal of one matrix, zeros elsewhere.

    Returns:
        Tensor, a matrix of the promoted dtype; its extents are the sums of those given.

    Examples:
        >>> print(ops.block_diag(Tensor([[1, 2]]), Tensor([[3]])))
        [[1 2 0]
         [0 0 3]]
    """
    need_tensor("BlockDiag", **{f"inputs[{k}]": t for k, t in enumerate(inputs)})
    parts = [atleast_2d(t) for t in inputs]
    rows, columns = sum(t.shape[0] for t in parts), sum(t.shape[1] for t in parts)
    out, r, c = full(shape=(rows, columns), value=0, dtype=promote_all(*parts, op="block_diag")[0].dtype), 0, 0
    for t in parts:
        n, m = t.shape
        out = slices.slice_update(out, to_dtype(t, out.dtype), slices=((r, r + n, 1), (c, c + m, 1)))
        r, c = r + n, c + m
    return out


def _check_blocks(name: str, block: tuple[int, ...]) -> None:
    if any(n < 1 for n in block):
        raise ValueError(f"For '{name}', the elements of 'block_shape' must be positive, but got {block}.")


def space_to_batch_nd(input_x: Tensor, block_size: Any, paddings: Any) -> Tensor:
    """Blocks of the last axes moved into the batch axis.

    Returns:
        Tensor, of the dtype of ``input_x``; its first extent is the product of ``block_size`` times as large.

    Examples:
        >>> print(ops.space_to_batch_nd(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), [2, 2], [[0, 0], [0, 0]]).shape)
        (4, 1, 1, 1)
    """
    block = one_per_axis(block_size, len(paddings), "SpaceToBatchND", "block_shape")
    _check_blocks("SpaceToBatchND", block)
    lead = input_x.ndim - len(block)
    x = pad_pairs(input_x, [(0, 0)] * lead + [tuple(p) for p in paddings])
    n, *rest = x.shape
    sizes = rest[lead - 1 :]
    split_shape = (n, *rest[: lead - 1], *[v for s, b in zip(sizes, block, strict=True) for v in (s // b, b)])
    inner = range(lead, lead + 2 * len(block))
    perm = (*[i for i in inner if (i - lead) % 2], *range(lead), *[i for i in inner if not (i - lead) % 2])
    out = movement.transpose(movement.reshape(x, shape=split_shape), perm=perm)
    return movement.reshape(
        out, shape=(n * numel(block), *rest[: lead - 1], *[s // b for s, b in zip(sizes, block, strict=True)])
    )


def batch_to_space_nd(input_x: Tensor, block_shape: Any, crops: Any) -> Tensor:
    """The inverse of `space_to_batch_nd`.

    Returns:
        Tensor, of the dtype of ``input_x``; its first extent is divided by the product of ``block_shape``.

    Examples:
        >>> print(ops.batch_to_space_nd(Tensor([[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]]), [2, 2], [[0, 0], [0, 0]]))
        [[[[1. 2.]
           [3. 4.]]]]
    """
    block = one_per_axis(block_shape, len(crops), "BatchToSpaceND", "block_shape")
    _check_blocks("BatchToSpaceND", block)
    m, lead = len(block), input_x.ndim - len(block)
    n, *rest = input_x.shape
    grouped = movement.reshape(input_x, shape=(*block, n // numel(block), *rest))
    perm = [*range(m, m + lead)]
    for i in range(m):
        perm += [m + lead + i, i]
    sizes = [s * b for s, b in zip(rest[lead - 1 :], block, strict=True)]
    out = movement.reshape(
        movement.transpose(grouped, perm=tuple(perm)), shape=(n // numel(block), *rest[: lead - 1], *sizes)
    )
    cuts = tuple((a, s - b, 1) for s, (a, b) in zip(sizes, crops, strict=True))
    return slices.strided_slice(out, slices=((None, None, None),) * lead + cuts)


FUNCTIONS = public_functions(globals())
