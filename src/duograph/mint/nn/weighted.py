"""Layers of ``mint.nn`` with parameters: convolutions, normalisations, embedding, PReLU; PyTorch's signatures."""

from __future__ import annotations

import math
from typing import Any

from duograph.common.initializer import HeUniform, Normal, Uniform, initializer
from duograph.core import dtype as dt
from duograph.core.shapes import numel
from duograph.nn.cell import Cell
from duograph.ops.arithmetic import add, reciprocal
from duograph.ops.cast import cast
from duograph.ops.creation import constant_like
from duograph.tensor.eager import write
from duograph.tensor.parameter import Parameter

from . import functional as F


def _spread(value: Any, rank: int) -> tuple[int, ...]:
    return (value,) * rank if isinstance(value, int) else tuple(value)


_PAD_MODES = {"zeros": "constant", "reflect": "reflect", "replicate": "replicate", "circular": "circular"}


class _Conv(Cell):
    """Convolution; ``padding`` is numbers, ``"same"`` or ``"valid"``."""

    rank = 2

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"For '{self.cls_name}', the channels {in_channels} and {out_channels} must be divisible by the "
                f"groups {groups}."
            )
        if padding_mode not in _PAD_MODES:
            raise ValueError(
                f"For '{self.cls_name}', the 'padding_mode' must be in {list(_PAD_MODES)}, but got {padding_mode}."
            )
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = _spread(kernel_size, self.rank), _spread(stride, self.rank)
        self.dilation, self.padding_mode = _spread(dilation, self.rank), padding_mode
        self.padding: Any = padding if isinstance(padding, str) else _spread(padding, self.rank)
        if padding == "same" and padding_mode != "zeros" and max(self.stride) > 1:
            raise ValueError(
                f"For '{self.cls_name}', 'padding' \"same\" needs 'stride' 1 if 'padding_mode' is {padding_mode}."
            )
        kind = dt.float32 if dtype is None else dtype
        shape = self.weight_shape()
        self.weight = Parameter(initializer(HeUniform(math.sqrt(5)), shape, kind), name="weight")
        self.bias = None
        if bias:
            bound = 1 / math.sqrt(numel(shape[1:]))
            self.bias = Parameter(initializer(Uniform(bound), (out_channels,), kind), name="bias")

    def weight_shape(self) -> tuple[int, ...]:
        """Of the kernel."""
        return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)

    def _sides(self) -> tuple[int, ...]:
        """What is put before and behind each axis, from the last one on; an odd element of ``"same"`` stands behind."""
        if self.padding == "valid":
            return (0, 0) * self.rank
        if self.padding != "same":
            return tuple(n for p in reversed(self.padding) for n in (p, p))
        totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
        return tuple(n for total in reversed(totals) for n in (total // 2, total - total // 2))

    def construct(self, input):
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._sides(), _PAD_MODES[self.padding_mode]), 0
        convolve = (F.conv1d, F.conv2d, F.conv3d)[self.rank - 1]
        return convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Conv):
    """Convolution of (N, C, L)."""

    rank = 1


class Conv2d(_Conv):
    """Convolution of (N, C, H, W)."""


class Conv3d(_Conv):
    """Convolution of (N, C, D, H, W)."""

    rank = 3


class ConvTranspose2d(_Conv):
    """Transposed convolution of (N, C, H, W)."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros",
        dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f"For '{type(self).__name__}', 'padding_mode' must be zeros, but got {padding_mode}.")
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, dtype
        )
        self.output_padding = _spread(output_padding, 2)

    def weight_shape(self) -> tuple[int, ...]:
        return (self.in_channels, self.out_channels // self.groups, *self.kernel_size)

    def construct(self, input, output_size=None):
        extra = self.output_padding
        if output_size is not None:
            least = [
                (n - 1) * s - 2 * p + d * (k - 1) + 1
                for n, s, p, d, k in zip(
                    input.shape[-2:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True
                )
            ]
            extra = tuple(want - have for want, have in zip(tuple(output_size)[-2:], least, strict=True))
        return F.conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )


class _BatchNorm(Cell):
    """Normalisation per channel; ``momentum`` is the share of the *new* statistic, None that of one batch in all."""

    ranks: tuple[int, ...] = (4,)

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if momentum is not None and not isinstance(momentum, int | float):
            raise TypeError(f"For '{self.cls_name}', the 'momentum' must be a number, but got {momentum}.")
        kind, shape = dt.float32 if dtype is None else dtype, (num_features,)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.weight = Parameter(initializer("ones", shape, kind), name="weight") if affine else None
        self.bias = Parameter(initializer("zeros", shape, kind), name="bias") if affine else None
        self.running_mean = self.running_var = self.num_batches_tracked = None
        if track_running_stats:
            self.running_mean = Parameter(initializer("zeros", shape, kind), "running_mean", requires_grad=False)
            self.running_var = Parameter(initializer("ones", shape, kind), "running_var", requires_grad=False)
            count = initializer("zeros", (), dt.int64)
            self.num_batches_tracked = Parameter(count, "num_batches_tracked", requires_grad=False)

    def construct(self, input):
        if input.ndim not in self.ranks:
            raise ValueError(
                f"For '{self.cls_name}', the dimension of the input must be in {self.ranks}, but got {input.ndim}."
            )
        by_batch = self.training or not self.track_running_stats
        momentum = self.momentum
        if self.training and self.track_running_stats:
            count = self.num_batches_tracked
            write(count, add(count, constant_like(count, 1)))
            if momentum is None:
                momentum = reciprocal(cast(count, dtype=self.running_mean.dtype))
        return F.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, by_batch, momentum, self.eps
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L)."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W)."""


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W)."""

    ranks = (5,)


class GroupNorm(Cell):
    """Normalisation within groups of channels of (N, C, ...)."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: Any = None
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"For 'GroupNorm', the channels {num_channels} must be divisible by the groups {num_groups}."
            )
        kind, shape = dt.float32 if dtype is None else dtype, (num_channels,)
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self.weight = Parameter(initializer("ones", shape, kind), name="weight", requires_grad=affine)
        self.bias = Parameter(initializer("zeros", shape, kind), name="bias", requires_grad=affine)

    def construct(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class LayerNorm(Cell):
    """Normalisation over the last axes, whose sizes are ``normalized_shape``.

    Examples:
        >>> from duograph import mint
        >>> print(mint.nn.LayerNorm(2)(Tensor([[1.0, 3.0]])))
        [[-0.999995  0.999995]]
    """

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        kind = dt.float32 if dtype is None else dtype
        self.normalized_shape = _spread(normalized_shape, 1)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.weight = self.bias = None
        if elementwise_affine:
            self.weight = Parameter(initializer("ones", self.normalized_shape, kind), name="weight")
            if bias:
                self.bias = Parameter(initializer("zeros", self.normalized_shape, kind), name="bias")

    def construct(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class Embedding(Cell):
    """Rows of a table.

    Examples:
        >>> from duograph import mint
        >>> print(mint.nn.Embedding(10, 4)(Tensor([1, 2, 3])).shape)
        (3, 4)
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Any = None,
        _freeze: bool = False, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if sparse:
            raise ValueError("For 'Embedding', sparse gradients are not supported.")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(
                f"For 'Embedding', the 'padding_idx' must be in [-{num_embeddings}, {num_embeddings}), but got "
                f"{padding_idx}."
            )
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        table = _weight
        if table is None:
            kind = dt.float32 if dtype is None else dtype
            table = initializer(Normal(1.0), (num_embeddings, embedding_dim), kind)
            if padding_idx is not None:
                table = table.init_data() if hasattr(table, "init_data") else table
                table[padding_idx] = 0
        self.weight = Parameter(table, name="weight", requires_grad=not _freeze)

    def construct(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq)


class PReLU(Cell):
    """``x`` above 0, a learned multiple of ``x`` below: one, or one per channel.

    Examples:
        >>> from duograph import mint
        >>> print(mint.nn.PReLU()(Tensor([-4.0, 2.0])))
        [-1.  2.]
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: Any = None) -> None:
        super().__init__()
        kind = dt.float32 if dtype is None else dtype
        self.weight = Parameter(initializer(float(init), (num_parameters,), kind), name="weight")

    def construct(self, input):
        return F.prelu(input, self.weight)


CLASSES: dict[str, type[Cell]] = {
    cls.__name__: cls
    for cls in (
        Conv1d, Conv2d, Conv3d, ConvTranspose2d, BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, LayerNorm,
        Embedding, PReLU,
    )
}  # fmt: skip
"""Class name to class."""
