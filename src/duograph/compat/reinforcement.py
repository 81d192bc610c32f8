"""Operators inside MindSpore (``ops.operations._rl_inner_ops``) that its package for reinforcement learning uses.

A replay buffer is a tuple of Parameters whose first axis is a ring, with two more: how many rows it has (``count``)
and where its oldest row is (``head``). All is written with public operators, so compiled programs hold it, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph import ops
from duograph.api.functional.random import source
from duograph.core import dtype as dt
from duograph.core.traits import Traits
from duograph.ops.random import standard_uniform
from duograph.tensor.tensor import Tensor

__capture__ = Traits(program=True)  # what follows from the number of rows is decided by data

__all__ = ["BatchAssign", "BufferAppend", "BufferGetItem", "BufferSample"]


class _Buffer(ops.Primitive):
    """What the operators of replay buffers share.

    Args:
        capacity (int): rows of the buffer.
        buffer_shape (Sequence[tuple[int]]): shape of a row of each Parameter.
        buffer_dtype (Sequence[mindspore.dtype]): dtype of each Parameter.

    Raises:
        ValueError: ``capacity`` is below 1.
    """

    capacity: int

    def __init__(self, capacity: int, buffer_shape: Sequence[Any], buffer_dtype: Sequence[Any]) -> None:
        super().__init__(type(self).__name__)
        if capacity < 1:
            raise ValueError(f"For '{self.name}', the 'capacity' must be int and must >= 1, but got '{capacity}'.")
        self.add_prim_attr("capacity", capacity)
        self.add_prim_attr("buffer_dtype", buffer_dtype)
        self.shapes = [tuple(shape) for shape in buffer_shape]

    def _rows(self, data: Sequence[Any], head: Any, index: Any) -> tuple[Tensor, ...]:
        """The rows at ``index``, counted from the oldest."""
        places = ops.floor_mod(head + index, self.capacity)
        return tuple(ops.gather(part, places, 0) for part in data)


class BufferAppend(_Buffer):
    """Writes a row, or a batch of rows, behind the newest; what is oldest makes room.

    Inputs:
        - **data** (tuple[Parameter]) - the buffer.
        - **exp** (tuple[Tensor]) - a row, or a batch of rows, for each Parameter.
        - **count** (Parameter) - number of rows, int32.
        - **head** (Parameter) - place of the oldest row, int32.
    """

    def forward(self, data: Sequence[Any], exp: Sequence[Any], count: Any, head: Any) -> None:
        if len(data) != len(exp):
            raise ValueError(f"For '{self.name}', 'exp' must have {len(data)} tensors as 'data', but got {len(exp)}.")
        batch = exp[0].shape[0] if exp[0].ndim > len(self.shapes[0]) else 1
        rows = []
        for i, (part, new, shape) in enumerate(zip(data, exp, self.shapes, strict=True)):
            if new.dtype != part.dtype or tuple(new.shape) not in (shape, (batch, *shape)):
                raise ValueError(
                    f"For '{self.name}', 'exp[{i}]' must be a row of shape {shape} and {part.dtype}, or {batch} of "
                    f"them, but got {tuple(new.shape)} and {new.dtype}."
                )
            rows.append(new.reshape((batch, *shape))[-self.capacity :])
        total = count + batch
        kept = ops.minimum(total, self.capacity)
        start = head + total - rows[0].shape[0]
        places = ops.floor_mod(start + ops.arange(rows[0].shape[0]).astype(dt.int32), self.capacity).reshape((-1, 1))
        for part, new in zip(data, rows, strict=True):
            ops.scatter_nd_update(part, places, new)
        ops.assign(head, ops.floor_mod(head + total - kept, self.capacity))
        ops.assign(count, kept)


class BufferGetItem(_Buffer):
    """The row at ``index``, counted from the oldest; from the newest where it is negative.

    Inputs:
        - **data** (tuple[Parameter]) - the buffer.
        - **count** (Parameter) - number of rows, int32.
        - **head** (Parameter) - place of the oldest row, int32.
        - **index** (Union[int, Tensor]) - which row.

    Outputs:
        tuple[Tensor], for each Parameter its row.
    """

    def forward(self, data: Sequence[Any], count: Any, head: Any, index: Any) -> tuple[Tensor, ...]:
        index = ops.reshape(Tensor(index, dt.int32) if isinstance(index, int) else index.astype(dt.int32), ())
        index = ops.select(index < 0, index + count, index)
        if index < 0 or index >= count:
            raise IndexError(f"For '{self.name}', the 'index' must be below the number of rows in the buffer.")
        return self._rows(data, head, index)


class BufferSample(_Buffer):
    """Rows drawn at random.

    Args:
        capacity (int): rows of the buffer.
        batch_size (int): how many are drawn.
        buffer_shape (Sequence[tuple[int]]): shape of a row of each Parameter.
        buffer_dtype (Sequence[mindspore.dtype]): dtype of each Parameter.
        seed (int): of the draws. Default: 0, the stream of the process.
        unique (bool): whether no row is drawn twice. Default: ``False``.

    Inputs:
        - **data** (tuple[Parameter]) - the buffer.
        - **count** (Parameter) - number of rows, int32.
        - **head** (Parameter) - place of the oldest row, int32.

    Outputs:
        tuple[Tensor], for each Parameter the rows that were drawn.
    """

    unique: bool

    def __init__(
        self, capacity: int, batch_size: int, buffer_shape: Sequence[Any], buffer_dtype: Sequence[Any], seed: int = 0,
        unique: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(capacity, buffer_shape, buffer_dtype)
        if batch_size > capacity:
            raise ValueError(f"For '{self.name}', the 'batchsize' must be int and must <= {capacity}.")
        self.add_prim_attr("seed", seed)
        self.add_prim_attr("unique", unique)
        self.batch_size = batch_size
        self.generator = source(seed)

    def forward(self, data: Sequence[Any], count: Any, head: Any) -> tuple[Tensor, ...]:
        if count < (self.batch_size if self.unique else 1):
            raise ValueError(f"For '{self.name}', the buffer has too few rows for a batch of {self.batch_size}.")
        if self.unique:
            keys = standard_uniform((self.capacity,), dt.float32, self.generator)
            keys = ops.select(ops.arange(self.capacity) < count, keys, ops.full_like(keys, -1.0))
            index = ops.topk(keys, self.batch_size)[1].astype(dt.int32)
        else:
            drawn = standard_uniform((self.batch_size,), dt.float32, self.generator)
            index = ops.minimum(ops.floor(drawn * count.astype(dt.float32)).astype(dt.int32), count - 1)
        return self._rows(data, head, index)


class BatchAssign(ops.Primitive):
    """Writes Tensors into as many Parameters.

    Args:
        lock (bool): whether nothing else reads or writes meanwhile, which is so in any case. Default: ``True``.

    Inputs:
        - **dst** (tuple[Parameter]) - what is written.
        - **source** (tuple[Tensor]) - the new values.
    """

    def __init__(self, lock: bool = True) -> None:
        super().__init__("BatchAssign")
        self.add_prim_attr("lock", lock)

    def forward(self, dst: Sequence[Any], source: Sequence[Any]) -> None:
        if len(dst) != len(source):
            raise ValueError(f"For 'BatchAssign', 'dst' has {len(dst)} Parameters and 'source' {len(source)} Tensors.")
        for parameter, value in zip(dst, source, strict=True):
            ops.assign(parameter, value)
