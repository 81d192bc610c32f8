"""Primitive classes of shapes, joins, indexing and order with constructor parameters.

Every row is ``declare(name, forward, {parameter: default})``; ``forward`` gets the Primitive first.
"""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.ops import arithmetic, movement
from duograph.ops.creation import constant_like
from duograph.ops.slices import stack
from duograph.tensor.tensor import Tensor

from ..functional import (
    array,
    blocks,
    compare,
    creation,
    index,
    joining,
    matrices,
    nn,
    padding,
    sorting,
    structure,
    unary,
)
from ..functional.forms import axis_of
from ..promote import as_tensor, to_dtype
from ..tensor_shape import shape_of
from .base import REQUIRED, Table

CLASSES = Table()
_row = CLASSES.row


def _tensors(args: tuple[Any, ...]) -> Any:
    """Tensors given one by one or as one list or tuple."""
    return args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args


# ---- shapes and joins -----------------------------------------------------------------------------------------------

_row("Concat", lambda p, *xs: joining.concat(_tensors(xs), p.axis), {"axis": 0})
_row("Stack", lambda p, *xs: joining.stack(_tensors(xs), p.axis), {"axis": 0})
_row("Pack", lambda p, *xs: joining.stack(_tensors(xs), p.axis), {"axis": 0})


def _unstack(p: Any, x: Tensor) -> tuple[Tensor, ...]:
    """The slices along ``axis``; ``num`` says how many there must be."""
    parts = joining.unstack(x, p.axis)
    if p.num is not None and p.num != len(parts):
        raise ValueError(f"For 'Unstack', the 'num' must be the size {len(parts)} of axis {p.axis}, but got {p.num}.")
    return parts


_row("Unstack", _unstack, {"axis": 0, "num": None})
_row("Unpack", lambda p, x: joining.unstack(x, p.axis), {"axis": 0})


def _split(p: Any, x: Tensor) -> tuple[Tensor, ...]:
    axis = axis_of(p.axis, x, "Split")
    if x.shape[axis] % p.output_num:
        raise ValueError(
            f"For 'Split', the size of axis {axis} must be divisible by output_num {p.output_num}, but got "
            f"{x.shape[axis]}."
        )
    return joining.split(x, x.shape[axis] // p.output_num, axis)


_row("Split", _split, {"axis": 0, "output_num": 1})


def _check_splits(p: Any) -> None:
    if p.num_split != len(p.size_splits):
        raise ValueError(
            f"For 'SplitV', the 'num_split' must be the length {len(p.size_splits)} of 'size_splits', but got "
            f"{p.num_split}."
        )


_row(
    "SplitV", lambda p, x: joining.split(x, _sizes(p, x), p.split_dim),
    {"size_splits": REQUIRED, "split_dim": REQUIRED, "num_split": REQUIRED}, check=_check_splits,
)  # fmt: skip


def _sizes(p: Any, x: Tensor) -> list[int]:
    """The sizes, with what is left in the place of -1."""
    rest = x.shape[p.split_dim] - sum(n for n in p.size_splits if n != -1)
    return [rest if n == -1 else n for n in p.size_splits]


_row("Squeeze", lambda p, x: array.squeeze(x, p.axis), {"axis": ()})
_row("BroadcastTo", lambda p, x: array.broadcast_to(x, p.shape), {"shape": REQUIRED})
_row("ReverseV2", lambda p, x: array.flip(x, p.axis), {"axis": REQUIRED})
_row("Roll", lambda p, x: array.roll(x, p.shifts, p.dims), {"shifts": REQUIRED, "dims": None})
_row(
    "ReverseSequence",
    lambda p, x, n: array.reverse_sequence(x, n, p.seq_dim, p.batch_dim),
    {"seq_dim": REQUIRED, "batch_dim": 0},
)
_row("Tril", lambda p, x: blocks.tril(x, p.diagonal), {"diagonal": 0})
_row("Triu", lambda p, x: blocks.triu(x, p.diagonal), {"diagonal": 0})
_row("Meshgrid", lambda p, *xs: joining.meshgrid(*_tensors(xs), indexing=p.indexing), {"indexing": "xy"})
_MASKS = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
_row(
    "StridedSlice",
    lambda p, x, begin, end, strides: array.strided_slice(x, begin, end, strides, **{k: p.attrs[k] for k in _MASKS}),
    _MASKS,
)
_row("Pad", lambda p, x: padding.pad_pairs(x, [tuple(pair) for pair in p.paddings]), {"paddings": REQUIRED})


def _contiguous(p: Any, paddings: Any) -> Any:
    """Pairs per axis from the last one on, also where all that comes before is given first."""
    if p.paddings_contiguous:
        return paddings
    given = shape_of((paddings,), "PadV3")
    half = len(given) // 2
    return tuple(n for pair in zip(given[:half], given[half:], strict=True) for n in pair)


_row(
    "PadV3",
    lambda p, x, paddings, value=None: padding.pad(
        x, _contiguous(p, paddings), {"edge": "replicate"}.get(p.mode, p.mode), value
    ),
    {"mode": "constant", "paddings_contiguous": True},
)  # fmt: skip
_row("Padding", lambda p, x: nn.padding(x, p.pad_dim_size), {"pad_dim_size": 8})
_row(
    "SpaceToBatchND",
    lambda p, x: blocks.space_to_batch_nd(x, p.block_shape, p.paddings),
    {"block_shape": REQUIRED, "paddings": REQUIRED},
)
_row(
    "BatchToSpaceND",
    lambda p, x: blocks.batch_to_space_nd(x, p.block_shape, p.crops),
    {"block_shape": REQUIRED, "crops": REQUIRED},
)
_row(
    "SpaceToBatch",
    lambda p, x: blocks.space_to_batch_nd(x, p.block_size, p.paddings),
    {"block_size": REQUIRED, "paddings": REQUIRED},
)
_row(
    "BatchToSpace",
    lambda p, x: blocks.batch_to_space_nd(x, p.block_size, p.crops),
    {"block_size": REQUIRED, "crops": REQUIRED},
)


def _depth_to_space(p: Any, x: Tensor) -> Tensor:
    n, c, h, w = x.shape
    r = p.block_size
    cut = movement.transpose(movement.reshape(x, shape=(n, r, r, c // (r * r), h, w)), perm=(0, 3, 4, 1, 5, 2))
    return movement.reshape(cut, shape=(n, c // (r * r), h * r, w * r))


def _space_to_depth(p: Any, x: Tensor) -> Tensor:
    n, c, h, w = x.shape
    r = p.block_size
    cut = movement.transpose(movement.reshape(x, shape=(n, c, h // r, r, w // r, r)), perm=(0, 3, 5, 1, 2, 4))
    return movement.reshape(cut, shape=(n, c * r * r, h // r, w // r))


_row("DepthToSpace", _depth_to_space, {"block_size": REQUIRED})
_row("SpaceToDepth", _space_to_depth, {"block_size": REQUIRED})
_row("Range", lambda p, start, limit, delta: creation.arange(start, limit, delta), {"maxlen": 1000000})
_row("Eye", lambda p, n, m, t: creation.eye(n, m, t))
_row("OneHot", lambda p, i, depth, on, off: creation.one_hot(i, depth, on, off, p.axis), {"axis": -1})
_TRIANGLE = {"row": REQUIRED, "col": REQUIRED, "offset": 0, "dtype": dt.int32}
_row("TrilIndices", lambda p: creation.tril_indices(p.row, p.col, p.offset, dtype=p.dtype), _TRIANGLE)
_row("TriuIndices", lambda p: creation.triu_indices(p.row, p.col, p.offset, dtype=p.dtype), _TRIANGLE)

# ---- indexing and order ---------------------------------------------------------------------------------------------

_row("Gather", lambda p, x, i, axis: index.gather(x, i, axis, p.batch_dims), {"batch_dims": 0})
_row("GatherV2", lambda p, x, i, axis: index.gather(x, i, axis))
_row(
    "IndexAdd",
    lambda p, x, i, y: index.index_add(x, i, y, p.axis),
    {"axis": REQUIRED, "use_lock": True, "check_index_bound": True},
)
_row(
    "TensorScatterElements", lambda p, x, i, u: index.tensor_scatter_elements(x, i, u, p.axis, p.reduction),
    {"axis": 0, "reduction": "none"},
)  # fmt: skip
_row("Sort", lambda p, x: sorting.sort(x, p.axis, p.descending), {"axis": -1, "descending": False})
_row("TopK", lambda p, x, k: sorting.topk(x, k), {"sorted": True})
_row("InTopK", lambda p, x, y: sorting.intopk(x, y, p.k), {"k": REQUIRED})
_row(
    "SearchSorted",
    lambda p, s, v, sorter=None: to_dtype(sorting.searchsorted(s, v, right=p.right, sorter=sorter), p.dtype),
    {"dtype": dt.int64, "right": False},
)  # fmt: skip
_row("Bucketize", lambda p, x: sorting.bucketize(x, p.boundaries, right=True), {"boundaries": REQUIRED})
_row(
    "Histogram",
    lambda p, x: sorting.histc(x, p.bins, p.min, p.max),
    {"bins": 100, "min": 0.0, "max": 0.0},
)
_row(
    "UniqueConsecutive", lambda p, x: sorting.unique_consecutive(x, p.return_inverse, p.return_counts, p.dim),
    {"return_inverse": False, "return_counts": False, "dim": None},
)  # fmt: skip
_row(
    "NanToNum",
    lambda p, x: index.nan_to_num(x, p.nan, p.posinf, p.neginf),
    {"nan": None, "posinf": None, "neginf": None},
)
_row(
    "IsClose", lambda p, x, y: compare.isclose(x, y, p.rtol, p.atol, p.equal_nan),
    {"rtol": 1e-5, "atol": 1e-8, "equal_nan": False},
)  # fmt: skip
_row("ApproximateEqual", lambda p, x, y: compare.approximate_equal(x, y, p.tolerance), {"tolerance": 1e-5})
_row("Logit", lambda p, x: unary.logit(x, p.eps), {"eps": -1.0})
_row("Mvlgamma", lambda p, x: unary.mvlgamma(x, p.p), {"p": REQUIRED})


def _scatter(name: str, how: str, nd: bool) -> Any:
    write = structure.FUNCTIONS[f"scatter_{'nd_' if nd else ''}{how}"]
    return lambda p, x, i, u: write(x, i, u)


for _how in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Update"):
    _locking = {"use_locking": _how == "Update"}
    _row(f"Scatter{_how}", _scatter(_how, _how.lower(), nd=False), _locking)
    _row(f"ScatterNd{_how}", _scatter(_how, _how.lower(), nd=True), _locking)


def _rows(how: str) -> Any:
    fn = getattr(structure, f"inplace_{how}")
    return lambda p, x, v: fn(x, v, p.indices)


for _how in ("add", "sub", "update"):
    _row(f"Inplace{_how.title()}", _rows(_how), {"indices": REQUIRED})


_row("MatrixBandPart", lambda p, x, lower, upper: matrices.matrix_band_part(x, lower, upper))


def _unravel(p: Any, indices: Any, dims: Any) -> Tensor:
    """Coordinates of flat positions, one row per axis."""
    rest, rows = as_tensor(indices), []
    for n in reversed(shape_of((dims,), "UnravelIndex")):
        extent = constant_like(rest, n)
        rows.append(arithmetic.mod(rest, extent))
        rest = arithmetic.floor_div(rest, extent)
    return stack(*reversed(rows), axis=0)


_row("UnravelIndex", _unravel)
