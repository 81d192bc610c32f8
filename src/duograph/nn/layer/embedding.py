"""Embedding layers."""

from __future__ import annotations

from typing import Any

from duograph.common.initializer import initializer
from duograph.core import dtype as dt
from duograph.core.launchable import launchable
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.ops.arithmetic import mul
from duograph.ops.creation import one_hot
from duograph.ops.indexing import gather
from duograph.ops.linalg import matmul
from duograph.ops.norm import clip_by_norm
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor


class Embedding(Cell):
    """A table of vectors, looked up by index.

    Args:
        vocab_size (int): rows of the table.
        embedding_size (int): extent of each vector.
        use_one_hot (bool): whether the look-up is a product with one-hot vectors. Default ``False``.
        embedding_table (Union[Tensor, str, Initializer, numbers.Number]): Default ``"normal"``.
        dtype (dtype): of the table. Default float32.
        padding_idx (int): a row that starts as zeros. Default ``None``.

    Raises:
        TypeError: wrong types.
        ValueError: ``padding_idx`` out of range.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(nn.Embedding(10, 3)(Tensor([1, 4])).shape)
        (2, 3)
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: Any = dt.float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__()
        self.vocab_size = checks.integer(vocab_size, "vocab_size", self.cls_name)
        self.embedding_size = checks.integer(embedding_size, "embedding_size", self.cls_name)
        self.use_one_hot = checks.boolean(use_one_hot, "use_one_hot", self.cls_name)
        self.dtype, self.padding_idx = dtype, padding_idx
        table = initializer(embedding_table, (vocab_size, embedding_size), dtype)
        if padding_idx is not None:
            checks.integer(padding_idx, "padding_idx", self.cls_name)
            if not 0 <= padding_idx < vocab_size:
                raise ValueError(
                    f"For '{self.cls_name}', the 'padding_idx' must be in range of [0, {vocab_size}), but got "
                    f"{padding_idx}."
                )
            table = without_row(table, padding_idx)
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


class EmbeddingLookup(Cell):
    """A table of vectors, looked up by index; vectors longer than ``max_norm`` are shortened.

    Args:
        vocab_size (int): rows of the table.
        embedding_size (int): extent of each vector.
        param_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``"normal"``.
        target (str): kept for old programs. Default ``"CPU"``.
        slice_mode (str): kept for old programs. Default ``"batch_slice"``.
        manual_shapes (tuple): kept for old programs. Default ``None``.
        max_norm (float): Default ``None``.
        sparse (bool): kept for old programs. Default ``True``.
        dtype (dtype): of the table. Default float32.

    Examples:
        >>> print(nn.EmbeddingLookup(10, 3)(Tensor([1, 4])).shape)
        (2, 3)
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        param_init: Any = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        manual_shapes: Any = None,
        max_norm: float | None = None,
        sparse: bool = True,
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__()
        self.vocab_size = checks.positive_int(vocab_size, "vocab_size", self.cls_name)
        self.embedding_size = checks.positive_int(embedding_size, "embedding_size", self.cls_name)
        checks.boolean(sparse, "sparse", self.cls_name)
        if target not in ("CPU", "DEVICE"):
            raise ValueError(f"For '{self.cls_name}', the 'target' must be in ['CPU', 'DEVICE'], but got {target}.")
        if max_norm is not None:
            checks.real(max_norm, "max_norm", self.cls_name)
        self.target, self.sparse, self.max_norm = target, sparse, max_norm
        self.embedding_table = Parameter(
            initializer(param_init, (vocab_size, embedding_size), dtype), name="embedding_table"
        )

    def construct(self, indices):
        out = looked_up(self.in_use(self.embedding_table), indices, False)
        if self.max_norm is not None:
            out = clip_by_norm(out, self.max_norm, 2.0, (len(out.shape) - 1,))
        return out
