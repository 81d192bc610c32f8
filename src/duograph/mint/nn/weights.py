"""Layers of ``mint.nn`` that have parameters or behave differently in training."""

from __future__ import annotations

from typing import Any

from duograph.common.initializer import initializer
from duograph.core import dtype as dt
from duograph.core.shapes import numel
from duograph.nn.cell import Cell
from duograph.nn.layer.basic import default_bias, default_weight
from duograph.nn.optim.optimizer import assign
from duograph.ops.cast import stop_gradient
from duograph.ops.norm import batch_norm_training
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from . import functional as F


def _float(dtype: Any) -> Any:
    return dt.float32 if dtype is None else dtype


def _drawn(init: Any, shape: tuple[int, ...], dtype: Any, fan_in: int | None = None) -> Tensor:
    if fan_in is None:
        return default_weight(init, shape, _float(dtype))
    return default_bias(init, shape[0], fan_in, _float(dtype))


def _each(value: Any, rank: int) -> tuple[int, ...]:
    items = (value,) * rank if isinstance(value, int) else tuple(value)
    return items * rank if len(items) == 1 else items


class Linear(Cell):
    """``x @ weight.T + bias``.

    Args:
        in_features (int): size of the last axis.
        out_features (int): size of the last axis of the result.
        bias (bool): Default ``True``.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``None``: HeUniform.
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``None``: Uniform.
        dtype (dtype): of the parameters. Default ``None``: float32.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(_drawn(weight_init, (out_features, in_features), dtype), name="weight")
        self.bias = None
        if bias:
            self.bias = Parameter(_drawn(bias_init, (out_features,), dtype, in_features), name="bias")

    def construct(self, input):
        return F.linear(input, self.weight, self.bias)

    def extend_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class _Conv(Cell):
    """Convolution over ``rank`` axes."""

    rank = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups.")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups.")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(f"For '{self.cls_name}', unknown padding_mode {padding_mode!r}.")
        if isinstance(padding, str) and padding not in ("valid", "same"):
            raise ValueError(f"For '{self.cls_name}', padding must be numbers, 'valid' or 'same', but got {padding!r}.")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = _each(kernel_size, self.rank), _each(stride, self.rank)
        self.dilation, self.padding_mode = _each(dilation, self.rank), padding_mode
        self.padding = padding if isinstance(padding, str) else _each(padding, self.rank)
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = Parameter(_drawn(None, shape, dtype), name="weight")
        self.bias = None
        if bias:
            self.bias = Parameter(_drawn(None, (out_channels,), dtype, numel(shape[1:])), name="bias")

    def construct(self, input):
        return self.convolve(input)

    def convolve(self, x: Tensor) -> Tensor:
        """The convolution, after padding that is not zeros."""
        function = (F.conv1d, F.conv2d, F.conv3d)[self.rank - 1]
        padding: Any = self.padding
        if self.padding_mode != "zeros" and padding != "valid":
            x, padding = F.pad(x, self._around(), self.padding_mode), 0
        return function(x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def _around(self) -> tuple[int, ...]:
        if not isinstance(self.padding, str):
            return tuple(p for p in reversed(self.padding) for _ in range(2))
        totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
        return tuple(p for total in reversed(totals) for p in (total // 2, total - total // 2))

    def extend_repr(self) -> str:
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}, dilation={self.dilation}, groups={self.groups}"
        )


class Conv1d(_Conv):
    """Convolution over one axis; arguments as PyTorch's."""

    rank = 1


class Conv2d(_Conv):
    """Convolution over two axes; arguments as PyTorch's."""


class Conv3d(_Conv):
    """Convolution over three axes; arguments as PyTorch's."""

    rank = 3


class ConvTranspose2d(Cell):
    """Transposed convolution over two axes; arguments as PyTorch's."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError("Only `zeros` padding mode is supported for ConvTranspose2d")
        self.stride, self.padding, self.dilation = _each(stride, 2), _each(padding, 2), _each(dilation, 2)
        self.output_padding, self.groups = _each(output_padding, 2), groups
        shape = (in_channels, out_channels // groups, *_each(kernel_size, 2))
        self.weight = Parameter(_drawn(None, shape, dtype), name="weight")
        self.bias = None
        if bias:
            self.bias = Parameter(_drawn(None, (out_channels,), dtype, numel(shape[1:])), name="bias")

    def construct(self, input):
        return F.conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups, self.dilation
        )


class _BatchNorm(Cell):
    """Normalisation of channels over the batch."""

    ranks: tuple[int, ...] = (4,)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        shape, dtype = (num_features,), _float(dtype)
        self.weight = self.bias = None
        if affine:
            self.weight = Parameter(initializer("ones", shape, dtype), name="weight")
            self.bias = Parameter(initializer("zeros", shape, dtype), name="bias")
        self.running_mean = self.running_var = self.num_batches_tracked = None
        if track_running_stats:
            self.running_mean = Parameter(initializer("zeros", shape, dtype), "running_mean", requires_grad=False)
            self.running_var = Parameter(initializer("ones", shape, dtype), "running_var", requires_grad=False)
            self.num_batches_tracked = Parameter(Tensor(0, dt.float32), "num_batches_tracked", requires_grad=False)

    def construct(self, input):
        return self.normalise(input, self.training)

    def normalise(self, x: Tensor, training: bool) -> Tensor:
        """``x`` normalised by its own statistics in training or if there are no others."""
        if x.ndim not in self.ranks:
            expected = " or ".join(f"{r}D" for r in self.ranks)
            raise ValueError(f"expected {expected} input, but got {x.ndim}D input")
        mean, var = self.running_mean, self.running_var
        if mean is not None and var is not None and not training:
            return F.batch_norm(x, mean, var, self.weight, self.bias, False, 0.0, self.eps)
        out, batch_mean, batch_var = batch_norm_training(x, self.weight, self.bias, self.eps)
        if training and mean is not None and var is not None:
            share: Any = self.momentum
            steps: Any = self.num_batches_tracked
            assign(steps, steps + 1.0)
            if share is None:
                share = 1.0 / steps.value()
            count = numel((x.shape[0], *x.shape[2:]))
            unbiased = batch_var * (count / (count - 1) if count > 1 else 1.0)
            assign(mean, mean * (1.0 - share) + stop_gradient(batch_mean) * share)
            assign(var, var * (1.0 - share) + stop_gradient(unbiased) * share)
        return out

    def extend_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L); arguments as PyTorch's."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W); arguments as PyTorch's."""


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W); arguments as PyTorch's."""

    ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over all processes, of which there is one."""

    ranks = (2, 3, 4, 5)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)


class LayerNorm(Cell):
    """Normalisation over the last axes.

    Args:
        normalized_shape (Union[int, tuple[int], list[int]]): their sizes.
        eps (float): Default ``1e-5``.
        elementwise_affine (bool): has ``weight`` and ``bias``. Default ``True``.
        bias (bool): has ``bias``. Default ``True``.
        dtype (dtype): of the parameters. Default ``None``: float32.
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.weight = self.bias = None
        if elementwise_affine:
            self.weight = Parameter(initializer("ones", shape, _float(dtype)), name="weight")
            if bias:
                self.bias = Parameter(initializer("zeros", shape, _float(dtype)), name="bias")

    def construct(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extend_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Cell):
    """Normalisation of groups of channels; arguments as PyTorch's."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: Any = None
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                "For 'GroupNorm', the 'num_channels' must be divided by 'num_groups', but got 'num_channels': "
                f"{num_channels}, 'num_groups': {num_groups}."
            )
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight = self.bias = None
        if affine:
            self.weight = Parameter(initializer("ones", (num_channels,), _float(dtype)), name="weight")
            self.bias = Parameter(initializer("zeros", (num_channels,), _float(dtype)), name="bias")

    def construct(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class Embedding(Cell):
    """Rows of a table; arguments as PyTorch's."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ValueError(
                    f"padding_idx should in range [-{num_embeddings}, {num_embeddings}), but got {padding_idx}"
                )
            padding_idx %= num_embeddings
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        table = _weight
        if table is None:
            table = initializer("normal", (num_embeddings, embedding_dim), _float(dtype)).init_data()
            if padding_idx is not None:
                table[padding_idx] = 0.0
        elif tuple(table.shape) != (num_embeddings, embedding_dim):
            raise ValueError("shape of weight does not match num_embeddings and embedding_dim.")
        self.weight = Parameter(table, name="weight", requires_grad=not _freeze)

    def construct(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq)


class PReLU(Cell):
    """``max(x, 0) + weight * min(x, 0)``.

    Args:
        num_parameters (int): 1, or one weight per channel. Default ``1``.
        init (float): their first value. Default ``0.25``.
        dtype (dtype): Default ``None``: float32.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: Any = None) -> None:
        super().__init__()
        self.weight = Parameter(initializer(init, (num_parameters,), _float(dtype)), name="weight")

    def construct(self, input):
        return F.prelu(input, self.weight)


class Dropout(Cell):
    """Zeroes elements in training with probability ``p`` (default 0.5)."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"For '{self.cls_name}', the 'p' must be a number in range [0, 1], but got {p}.")
        self.p, self.inplace = p, inplace

    def construct(self, input):
        if not self.training:
            return input
        return self.drop(input)

    def drop(self, x: Tensor) -> Tensor:
        """``x`` with zeros."""
        return F.dropout(x, self.p, True)

    def extend_repr(self) -> str:
        return f"p={self.p}"


class Dropout2d(Dropout):
    """Zeroes channels in training with probability ``p`` (default 0.5)."""

    def drop(self, x: Tensor) -> Tensor:
        return F.dropout2d(x, self.p, True)


class Identity(Cell):
    """The input itself; takes any arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, input):
        return input


NAMES = (
    "Linear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d",
    "SyncBatchNorm", "LayerNorm", "GroupNorm", "Embedding", "PReLU", "Dropout", "Dropout2d", "Identity",
)  # fmt: skip
