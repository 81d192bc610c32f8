"""Embedding layers."""

from __future__ import annotations

from typing import Annotated, Any

from duograph.common.initializer import initializer
from duograph.core import dtype as dt
from duograph.core.launchable import launchable
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.nn.kinds import Anything, Dtype, Flag, Init, Integer, PositiveInt
from duograph.nn.settings import Kind, option, with_settings
from duograph.ops.arithmetic import mul
from duograph.ops.creation import one_hot
from duograph.ops.indexing import gather
from duograph.ops.linalg import matmul
from duograph.ops.norm import clip_by_norm
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

_target = checks.that(checks.same, lambda x: x in ("CPU", "DEVICE"), "be in ['CPU', 'DEVICE'], but got {}")
Target = Annotated[str, Kind("str", _target, "kept for old programs")]
Old = Annotated[Any, Kind("any", text="kept for old programs", kept=False)]


@with_settings
class Embedding(Cell):
    """A table of vectors, looked up by index.

    Examples:
        >>> print(nn.Embedding(10, 3)(Tensor([1, 4])).shape)
        (2, 3)
    """

    vocab_size: Integer = option("rows of the table")
    embedding_size: Integer = option("extent of each vector")
    use_one_hot: Flag = option("whether the look-up is a product with one-hot vectors", default=False)
    embedding_table: Init = "normal"
    dtype: Anything = option("of the table", default=dt.float32)
    padding_idx: Anything = option("a row that starts as zeros", default=None)

    def _settings_taken(self, given):
        row, rows = self.padding_idx, self.vocab_size
        table = initializer(given["embedding_table"], (rows, self.embedding_size), self.dtype)
        if row is not None:
            checks.integer(row, "padding_idx", self.cls_name)
            if not 0 <= row < rows:
                raise ValueError(
                    f"For '{self.cls_name}', the 'padding_idx' must be in range of [0, {rows}), but got {row}."
                )
            table = without_row(table, row)
        self.embedding_table = Parameter(table, name="embedding_table")

    def construct(self, ids):
        return looked_up(self.in_use(self.embedding_table), ids, self.use_one_hot)

    def extend_repr(self) -> str:
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, use_one_hot={self.use_one_hot}, "
            f"embedding_table={self.embedding_table}, dtype={self.dtype}, padding_idx={self.padding_idx}"
        )


def without_row(table: Tensor, row: int) -> Tensor:
    """``table`` with zeros in one row."""
    hot = one_hot(Tensor([row], dt.int64), depth=table.shape[0], dtype=table.dtype).reshape(table.shape[0], 1)
    return mul(table, 1 - hot)


@launchable
def looked_up(table: Tensor, ids: Tensor, by_product: bool) -> Tensor:
    """The rows of ``table`` that ``ids`` name."""
    if by_product:
        return matmul(one_hot(ids, depth=table.shape[0], dtype=table.dtype), table)
    return gather(table, ids, axis=0)


@with_settings
class EmbeddingLookup(Cell):
    """A table of vectors, looked up by index; vectors longer than ``max_norm`` are rescaled to it.

    Examples:
        >>> print(nn.EmbeddingLookup(10, 3)(Tensor([1, 4])).shape)
        (2, 3)
    """

    BATCH_SLICE = "batch_slice"
    FIELD_SLICE = "field_slice"
    TABLE_ROW_SLICE = "table_row_slice"
    TABLE_COLUMN_SLICE = "table_column_slice"

    vocab_size: PositiveInt = option("rows of the table")
    embedding_size: PositiveInt = option("extent of each vector")
    param_init: Init = "normal"
    target: Target = "CPU"
    slice_mode: Old = "batch_slice"
    manual_shapes: Old = None
    max_norm: Anything = None
    sparse: Flag = option("kept for old programs", default=True)
    dtype: Dtype = dt.float32
    vocab_cache_size: Old = 0

    def _settings_taken(self, given):
        if self.max_norm is not None:
            checks.real(self.max_norm, "max_norm", self.cls_name)
        table = initializer(given["param_init"], (self.vocab_size, self.embedding_size), given["dtype"])
        self.embedding_table = Parameter(table, name="embedding_table")

    def construct(self, indices):
        out = looked_up(self.in_use(self.embedding_table), indices, False)
        if self.max_norm is not None:
            out = clip_by_norm(out, self.max_norm, 2.0, (len(out.shape) - 1,))
        return out
