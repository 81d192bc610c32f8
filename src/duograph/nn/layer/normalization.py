"""Normalisation layers.

Moving statistics are updated by in-place writes, in program order, so that dynamic and static runs leave the same
values behind.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from duograph.common.initializer import initializer
from duograph.core import dtype as dt
from duograph.core.launchable import launchable
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.nn.kinds import Anything, Dtype, Flag, Init, Number, PositiveInt, Real
from duograph.nn.settings import Fixed, Kind, Setting, absent, option, with_settings
from duograph.ops.arithmetic import add, mul, sub
from duograph.ops.cast import cast, stop_gradient
from duograph.ops.creation import constant_like
from duograph.ops.movement import reshape
from duograph.ops.norm import (
    batch_norm_inference,
    batch_norm_training,
    group_norm,
    instance_norm,
    layer_norm,
    unbiased_variance,
)
from duograph.tensor.eager import write
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .basic import primitive_of_layer
from .conv import channels_first, channels_last
from .ranks import by_rank


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
    unbiased = unbiased_variance(variance, x)
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


_SHARE = "be a number in range [0, 1], but got {}"
_features = checks.that(checks.integer, lambda n: n >= 1, "be at least 1, but got {}")
_format = checks.that(checks.same, lambda x: x in ("NCHW", "NHWC"), "be in ['NCHW', 'NHWC'], but got {}")
_share = checks.that(checks.a_number, lambda x: 0 <= x <= 1, _SHARE)
_old_share = checks.that(checks.a_number, lambda x: not (x < 0 or x > 1), _SHARE)
_flag_or_none = checks.that(
    checks.same, lambda x: x is None or isinstance(x, bool), "be in [True, False, None], but got {}"
)
Features = Annotated[int, Kind("int", _features, "channels")]
Share = Annotated[float, Kind("float", _share)]
OldShare = Annotated[float, Kind(
    "float", _old_share, "share of the *old* moving statistic: ``new = momentum * old + (1 - momentum) * batch``",
    kept=False,
)]  # fmt: skip
Affine = Annotated[bool, Kind("bool", text="whether gamma and beta are trained", kept=False)]
TrainedFlag = Annotated[bool, Kind("bool", checks.boolean, "whether gamma and beta are trained", kept=False)]
KeptInit = Annotated[Any, Kind("Union[Tensor, str, Initializer, numbers.Number]")]
Statistics = Annotated[bool | None, Kind("bool", _flag_or_none, "``None``: while training")]
Format = Annotated[str, Kind("str", _format, '``"NCHW"`` or ``"NHWC"``', kept=False)]


def trained(cell: Cell, shape: Any, given: dict[str, Any], affine: bool = True) -> None:
    """Gives ``cell`` its parameters gamma and beta."""
    dtype = given["dtype"]
    cell.gamma = Parameter(initializer(given["gamma_init"], shape, dtype), name="gamma", requires_grad=affine)
    cell.beta = Parameter(initializer(given["beta_init"], shape, dtype), name="beta", requires_grad=affine)


def moving(cell: Cell, mean: Any, variance: Any, shape: Any, dtype: Any) -> None:
    """Gives ``cell`` its moving statistics."""
    cell.moving_mean = Parameter(initializer(mean, shape, dtype), name="mean", requires_grad=False)
    cell.moving_variance = Parameter(initializer(variance, shape, dtype), name="variance", requires_grad=False)


@with_settings
class _BatchSettings(Cell):
    """The settings of batch normalisations."""

    num_features: Features
    eps: Number = 1e-5
    momentum: OldShare = 0.9
    affine: Affine = True
    gamma_init: KeptInit = "ones"
    beta_init: KeptInit = "zeros"
    moving_mean_init: KeptInit = "zeros"
    moving_var_init: KeptInit = "ones"
    use_batch_statistics: Statistics = None
    data_format: Format = "NCHW"
    dtype: Dtype = dt.float32


class BatchNorm(_BatchSettings):
    """What batch normalisations share."""

    ranks: ClassVar[tuple[int, ...]] = (4,)

    def _settings_taken(self, given):
        self.format = given.get("data_format", "NCHW")
        self.keep = float(given["momentum"])
        self.momentum = 1.0 - given["momentum"]  # as MindSpore shows it
        shape = (self.num_features,)
        moving(self, self.moving_mean_init, self.moving_var_init, shape, given["dtype"])
        trained(self, shape, given, given["affine"])

    def construct(self, x):
        check_channels(x, self.ranks, self.num_features, self.format, self.cls_name)
        if self.format == "NHWC":
            x = channels_first(x)
        by_batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        if by_batch:
            out = self.by_batch(x)
        else:
            out = normalised_by_moving(x, self.gamma, self.beta, self.moving_mean, self.moving_variance, self.eps)
        if self.format == "NHWC":
            out = channels_last(out)
        return out

    def by_batch(self, x):
        """``x`` normalised by its own statistics, which move the moving ones."""
        return normalised_by_batch(
            x, self.gamma, self.beta, self.moving_mean, self.moving_variance, self.eps, self.keep
        )

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


@with_settings
class BatchNorm1d(BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L).

    Examples:
        >>> print(nn.BatchNorm1d(2)(ops.ones((3, 2))).shape)
        (3, 2)
    """

    ranks = (2, 3)


@with_settings
class BatchNorm2d(BatchNorm):
    """Batch normalisation of (N, C, H, W).

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn, ops
        >>> nn.BatchNorm2d(3)(ops.ones((1, 3, 2, 2))).shape
        (1, 3, 2, 2)
    """

    ranks = (4,)


@with_settings
class BatchNorm3d(_BatchSettings):
    """Batch normalisation of (N, C, D, H, W).

    Examples:
        >>> print(nn.BatchNorm3d(2)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 2, 4, 4, 4)
    """

    data_format: Fixed = absent

    def _take_settings(self, given: dict[str, Any], settings: dict[str, Setting]) -> None:
        Cell.__init__(self)
        self.bn2d = BatchNorm2d(**given)

    def construct(self, x):
        shape = x.shape
        if len(shape) != 5:
            raise ValueError(f"For 'BatchNorm3d', the dimension of the input must be 5, but got {len(shape)}.")
        flat = reshape(x, shape=(shape[0], shape[1], shape[2] * shape[3], shape[4]))
        return reshape(self.bn2d(flat), shape=tuple(shape))


def _normalized_shape(value: Any, name: str, owner: str) -> tuple[Any, ...]:
    if not isinstance(value, tuple | list):
        raise TypeError(
            f"For '{owner}', the type of '{name}' must be tuple[int] or list[int], but got {value} and the type is "
            f"{type(value)}."
        )
    if not value:
        raise ValueError(
            f"Expected {name} to be at least 1-dimensional, i.e., containing at least one element, but got {name} = "
            f"{value}"
        )
    return tuple(value)


Shape = Annotated[Any, Kind("Union(tuple[int], list[int])", _normalized_shape, "extents of these axes")]


@with_settings
class LayerNorm(Cell):
    """Normalisation over the last axes.

    Examples:
        >>> print(nn.LayerNorm((2,))(Tensor([[-1.0, 0.5], [2.0, -3.0]])).shape)
        (2, 2)
    """

    normalized_shape: Shape
    begin_norm_axis: Anything = option("first axis of the statistics", default=-1)
    begin_params_axis: Anything = option("first axis of gamma and beta", default=-1)
    gamma_init: Init = "ones"
    beta_init: Init = "zeros"
    epsilon: Anything = 1e-7
    dtype: Dtype = dt.float32

    def _settings_taken(self, given):
        trained(self, self.normalized_shape, given)
        # what `construct` of subclasses calls, as in MindSpore
        self.layer_norm = primitive_of_layer("LayerNorm", self.begin_norm_axis, self.begin_params_axis, self.epsilon)

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


@with_settings
class GroupNorm(Cell):
    """Normalisation within groups of channels of (N, C, ...).

    Examples:
        >>> print(nn.GroupNorm(2, 2)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 4, 4)
    """

    num_groups: PositiveInt = option("groups")
    num_channels: PositiveInt = option("channels, which divide into the groups")
    eps: Real = 1e-5
    affine: Flag = option("whether gamma and beta are trained", default=True)
    gamma_init: Init = "ones"
    beta_init: Init = "zeros"
    dtype: Dtype = dt.float32

    def _settings_taken(self, given):
        if self.num_channels % self.num_groups:
            raise ValueError(
                f"For '{self.cls_name}', the 'num_channels' must be divided by 'num_groups', "
                f"but got 'num_channels': {self.num_channels}, 'num_groups': {self.num_groups}."
            )
        trained(self, (self.num_channels,), given, self.affine)

    def construct(self, x):
        return group_norm(x, self.num_groups, self.in_use(self.gamma), self.in_use(self.beta), self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


@with_settings
class _InstanceNorm(Cell):
    """What instance normalisations share: each sample and channel by its own statistics."""

    num_features: PositiveInt = option("channels")
    eps: Number = 1e-5
    momentum: Share = 0.1
    affine: TrainedFlag = True
    gamma_init: Init = "ones"
    beta_init: Init = "zeros"
    dtype: Dtype = dt.float32

    rank = 2

    def _settings_taken(self, given):
        shape = (self.num_features,)
        moving(self, "zeros", "ones", shape, given["dtype"])
        trained(self, shape, given, given["affine"])

    def construct(self, x):
        check_channels(x, (self.rank + 2,), self.num_features, "NCHW", self.cls_name)
        return instance_norm(x, self.in_use(self.gamma), self.in_use(self.beta), self.eps)

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, gamma={self.gamma}, "
            f"beta={self.beta}, moving_mean={self.moving_mean}, moving_variance={self.moving_variance}"
        )


InstanceNorm1d, InstanceNorm2d, InstanceNorm3d = by_rank(
    _InstanceNorm, "InstanceNorm", "Instance normalisation of {batch}.", "2"
)
