"""Normalisation layers.

Moving statistics are updated by in-place writes, in program order, so that dynamic and static runs leave the same
values behind.
"""

from __future__ import annotations

from typing import Any

from duograph.common.initializer import initializer
from duograph.core import dtype as dt
from duograph.core.launchable import launchable
from duograph.core.shapes import numel
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.ops.arithmetic import add, mul, sub
from duograph.ops.cast import cast, stop_gradient
from duograph.ops.creation import constant_like
from duograph.ops.movement import reshape
from duograph.ops.norm import batch_norm_inference, batch_norm_training, group_norm, instance_norm, layer_norm
from duograph.tensor.eager import write
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .conv import channels_first, channels_last


def in_dtype(x: Any, dtype: dt.DType) -> Any:
    """``x`` (or ``None``) in ``dtype``."""
    return x if x is None or x.dtype is dtype else cast(x, dtype=dtype)


def normalised_by_batch(
    x: Tensor,
    gamma: Tensor | None,
    beta: Tensor | None,
    moving_mean: Parameter,
    moving_variance: Parameter,
    eps: float,
    keep: float,
) -> Tensor:
    """Batch normalisation by the statistics of ``x``; moves the statistics: ``new = keep * old + (1 - keep) * batch``.

    Half types compute in the dtype of the statistics.
    """
    compute = moving_mean.dtype
    out, mean, variance = batch_norm_training(
        in_dtype(x, compute), in_dtype(gamma, compute), in_dtype(beta, compute), eps
    )
    count = numel((x.shape[0], *x.shape[2:]))
    unbiased = mul(variance, constant_like(variance, count / (count - 1) if count > 1 else 1.0))
    move(moving_mean, mean, keep)
    move(moving_variance, unbiased, keep)
    return in_dtype(out, x.dtype)


def move(statistic: Parameter, batch: Tensor, keep: float) -> None:
    """Moves a statistic towards the one of the batch: by ``(1 - keep)`` of the distance."""
    batch = stop_gradient(batch)
    step = mul(sub(statistic, batch), constant_like(batch, 1 - keep))
    write(statistic, sub(statistic, step))


def normalised_by_moving(
    x: Tensor, gamma: Tensor | None, beta: Tensor | None, mean: Tensor, variance: Tensor, eps: float
) -> Tensor:
    """Batch normalisation by given statistics."""
    compute = mean.dtype
    out = batch_norm_inference(
        in_dtype(x, compute), in_dtype(gamma, compute), in_dtype(beta, compute), mean, variance, eps
    )
    return in_dtype(out, x.dtype)


class _BatchNorm(Cell):
    """What batch normalisations share."""

    ranks: tuple[int, ...] = (4,)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        data_format: str = "NCHW",
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        checks.integer(num_features, "num_features", owner)
        if num_features < 1:
            raise ValueError(f"For '{owner}', the 'num_features' must be at least 1, but got {num_features}.")
        checks.number(momentum, "momentum", owner)
        if momentum < 0 or momentum > 1:
            raise ValueError(f"For '{owner}', the 'momentum' must be a number in range [0, 1], but got {momentum}.")
        if data_format not in ("NCHW", "NHWC"):
            raise ValueError(f"For '{owner}', the 'data_format' must be in ['NCHW', 'NHWC'], but got {data_format}.")
        if use_batch_statistics is not None and not isinstance(use_batch_statistics, bool):
            raise ValueError(
                f"For '{owner}', the 'use_batch_statistics' must be in [True, False, None], but got "
                f"{use_batch_statistics}."
            )
        checks.number(eps, "eps", owner)
        self.num_features, self.eps, self.format = num_features, eps, data_format
        self.keep = float(momentum)
        self.momentum = 1.0 - momentum  # as MindSpore shows it
        self.use_batch_statistics = use_batch_statistics
        self.gamma_init, self.beta_init = gamma_init, beta_init
        self.moving_mean_init, self.moving_var_init = moving_mean_init, moving_var_init
        shape = (num_features,)
        self.moving_mean = Parameter(initializer(moving_mean_init, shape, dtype), name="mean", requires_grad=False)
        self.moving_variance = Parameter(
            initializer(moving_var_init, shape, dtype), name="variance", requires_grad=False
        )
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), name="beta", requires_grad=affine)

    def construct(self, x):
        check_channels(x, self.ranks, self.num_features, self.format, self.cls_name)
        if self.format == "NHWC":
            x = channels_first(x)
        by_batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        if by_batch:
            out = normalised_by_batch(
                x, self.gamma, self.beta, self.moving_mean, self.moving_variance, self.eps, self.keep
            )
        else:
            out = normalised_by_moving(x, self.gamma, self.beta, self.moving_mean, self.moving_variance, self.eps)
        if self.format == "NHWC":
            out = channels_last(out)
        return out

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={1.0 - self.momentum}, gamma={self.gamma}, "
            f"beta={self.beta}, moving_mean={self.moving_mean}, moving_variance={self.moving_variance}"
        )


def check_channels(x: Tensor, ranks: tuple[int, ...], channels: int, data_format: str, owner: str) -> None:
    """Raises ValueError unless ``x`` has one of ``ranks`` and that many channels."""
    ndim = len(x.shape)
    if ndim not in ranks:
        wanted = " or ".join(f"{r}" for r in ranks)
        raise ValueError(f"For '{owner}', the dimension of the input must be {wanted}, but got {ndim}.")
    found = x.shape[-1 if data_format == "NHWC" else 1]
    if isinstance(found, int) and found != channels:
        raise ValueError(
            f"For 'BatchNorm', 'scale' and 'bias' must have {found} elements like the channels of the input of shape "
            f"{tuple(x.shape)}, but got {channels}."
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L).

    Args:
        num_features (int): channels.
        eps (float): Default ``1e-5``.
        momentum (float): share of the *old* moving statistic: ``new = momentum * old + (1 - momentum) * batch``.
            Default ``0.9``.
        affine (bool): whether gamma and beta are trained. Default ``True``.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``"ones"``.
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``"zeros"``.
        moving_mean_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``"zeros"``.
        moving_var_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``"ones"``.
        use_batch_statistics (bool): ``None``: while training. Default ``None``.
        data_format (str): ``"NCHW"`` or ``"NHWC"``. Default ``"NCHW"``.
        dtype (dtype): of the parameters. Default float32.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(nn.BatchNorm1d(2)(ops.ones((3, 2))).shape)
        (3, 2)
    """

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W); arguments as in `BatchNorm1d`.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn, ops
        >>> nn.BatchNorm2d(3)(ops.ones((1, 3, 2, 2))).shape
        (1, 3, 2, 2)
    """

    ranks = (4,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over all processes: with one process, `BatchNorm2d`.

    Examples:
        >>> print(nn.SyncBatchNorm(2)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 4, 4)
    """

    ranks = (2, 4)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        process_groups: Any = None,
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
            use_batch_statistics, "NCHW", dtype,
        )  # fmt: skip
        self.process_groups = process_groups


class BatchNorm3d(Cell):
    """Batch normalisation of (N, C, D, H, W); arguments as in `BatchNorm1d`.

    Examples:
        >>> print(nn.BatchNorm3d(2)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 2, 4, 4, 4)
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__()
        self.bn2d = BatchNorm2d(
            num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
            use_batch_statistics, "NCHW", dtype,
        )  # fmt: skip

    def construct(self, x):
        shape = x.shape
        if len(shape) != 5:
            raise ValueError(f"For 'BatchNorm3d', the dimension of the input must be 5, but got {len(shape)}.")
        flat = reshape(x, shape=(shape[0], shape[1], shape[2] * shape[3], shape[4]))
        return reshape(self.bn2d(flat), shape=tuple(shape))


class LayerNorm(Cell):
    """Normalisation over the last axes.

    Args:
        normalized_shape (Union(tuple[int], list[int])): extents of these axes.
        begin_norm_axis (int): first axis of the statistics. Default ``-1``.
        begin_params_axis (int): first axis of gamma and beta. Default ``-1``.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``"ones"``.
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``"zeros"``.
        epsilon (float): Default ``1e-7``.
        dtype (dtype): of the parameters. Default float32.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(nn.LayerNorm((2,))(Tensor([[-1.0, 0.5], [2.0, -3.0]])).shape)
        (2, 2)
    """

    def __init__(
        self,
        normalized_shape: Any,
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        epsilon: float = 1e-7,
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__()
        if not isinstance(normalized_shape, tuple | list):
            raise TypeError(
                f"For '{self.cls_name}', the type of 'normalized_shape' must be tuple[int] or list[int], "
                f"but got {normalized_shape} and the type is {type(normalized_shape)}."
            )
        if not normalized_shape:
            raise ValueError(
                f"Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
                f"but got normalized_shape = {normalized_shape}"
            )
        self.normalized_shape = tuple(normalized_shape)
        self.begin_norm_axis, self.begin_params_axis = begin_norm_axis, begin_params_axis
        self.epsilon = epsilon
        self.gamma = Parameter(initializer(gamma_init, normalized_shape, dtype), name="gamma")
        self.beta = Parameter(initializer(beta_init, normalized_shape, dtype), name="beta")

    def construct(self, input_x):
        return layer_normalised(
            input_x, self.in_use(self.gamma), self.in_use(self.beta), self.begin_norm_axis, self.epsilon
        )

    def extend_repr(self) -> str:
        return (
            f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
            f"begin_params_axis={self.begin_params_axis}, gamma{self.gamma}, beta={self.beta}"
        )


@launchable
def layer_normalised(x: Tensor, gamma: Tensor, beta: Tensor, begin: int, eps: float) -> Tensor:
    """Layer normalisation over the axes from ``begin`` on; half types compute in float32."""
    compute = dt.float32 if x.dtype in (dt.float16, dt.bfloat16) else x.dtype
    ndim = len(x.shape)
    begin = begin + ndim if begin < 0 else begin
    gamma_, beta_ = in_dtype(gamma, compute), in_dtype(beta, compute)
    if tuple(x.shape[ndim - len(gamma.shape) :]) != tuple(gamma.shape):
        raise ValueError(
            f"For 'LayerNorm', the last dimensions of the input {tuple(x.shape)} must be the 'normalized_shape' "
            f"{tuple(gamma.shape)}."
        )
    out = layer_norm(in_dtype(x, compute), tuple(x.shape[begin:]), None, None, eps)
    return in_dtype(add(mul(out, gamma_), beta_), x.dtype)


class GroupNorm(Cell):
    """Normalisation within groups of channels of (N, C, ...).

    Args:
        num_groups (int): groups.
        num_channels (int): channels.
        eps (float): Default ``1e-5``.
        affine (bool): whether gamma and beta are trained. Default ``True``.
        gamma_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``"ones"``.
        beta_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``"zeros"``.
        dtype (dtype): of the parameters. Default float32.

    Raises:
        ValueError: the channels do not divide into the groups.

    Examples:
        >>> print(nn.GroupNorm(2, 2)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 4, 4)
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__()
        self.num_groups = checks.positive_int(num_groups, "num_groups", self.cls_name)
        self.num_channels = checks.positive_int(num_channels, "num_channels", self.cls_name)
        if num_channels % num_groups:
            raise ValueError(
                f"For '{self.cls_name}', the 'num_channels' must be divided by 'num_groups', "
                f"but got 'num_channels': {num_channels}, 'num_groups': {num_groups}."
            )
        self.eps = checks.real(eps, "eps", self.cls_name)
        self.affine = checks.boolean(affine, "affine", self.cls_name)
        self.gamma = Parameter(initializer(gamma_init, (num_channels,), dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, (num_channels,), dtype), name="beta", requires_grad=affine)

    def construct(self, x):
        return group_norm(x, self.num_groups, self.in_use(self.gamma), self.in_use(self.beta), self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class _InstanceNorm(Cell):
    """What instance normalisations share: each sample and channel by its own statistics."""

    rank = 4

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__()
        checks.positive_int(num_features, "num_features", self.cls_name)
        checks.number(eps, "eps", self.cls_name)
        checks.number(momentum, "momentum", self.cls_name)
        if not 0 <= momentum <= 1:
            raise ValueError(
                f"For '{self.cls_name}', the 'momentum' must be a number in range [0, 1], but got {momentum}."
            )
        checks.boolean(affine, "affine", self.cls_name)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        shape = (num_features,)
        self.moving_mean = Parameter(initializer("zeros", shape, dtype), name="mean", requires_grad=False)
        self.moving_variance = Parameter(initializer("ones", shape, dtype), name="variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), name="beta", requires_grad=affine)

    def construct(self, x):
        check_channels(x, (self.rank,), self.num_features, "NCHW", self.cls_name)
        return instance_norm(x, self.in_use(self.gamma), self.in_use(self.beta), self.eps)

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, gamma={self.gamma}, "
            f"beta={self.beta}, moving_mean={self.moving_mean}, moving_variance={self.moving_variance}"
        )


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (N, C, L).

    Examples:
        >>> print(nn.InstanceNorm1d(2)(ops.ones((1, 2, 4))).shape)
        (1, 2, 4)
    """

    rank = 3


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (N, C, H, W).

    Examples:
        >>> print(nn.InstanceNorm2d(2)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 4, 4)
    """

    rank = 4


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (N, C, D, H, W).

    Examples:
        >>> print(nn.InstanceNorm3d(2)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 2, 4, 4, 4)
    """

    rank = 5
