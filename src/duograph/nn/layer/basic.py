"""Dense layers, Flatten, Dropout and small helpers."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

from duograph.api.operators import inner_sizes_differ
from duograph.api.primitives import primitive_classes
from duograph.api.promote import promote_float
from duograph.common.initializer import HeUniform, Uniform, initializer
from duograph.core import dtype as dt
from duograph.core.launchable import launchable
from duograph.core.shapes import normalize_axis, numel
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.nn.kinds import Anything, Dtype, Flag, Init, PositiveInt, Unkept
from duograph.nn.settings import Kind, option, with_settings
from duograph.ops import creation, random
from duograph.ops.arithmetic import add, mul
from duograph.ops.creation import constant_like, full, zeros_like
from duograph.ops.linalg import matmul
from duograph.ops.movement import broadcast_to, move_axis, reduce_sum, reshape, transpose
from duograph.ops.select import select
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .activation import get_activation


def default_weight(init: Any, shape: tuple[int, ...], dtype: Any) -> Tensor:
    """``init`` drawn; by default HeUniform(√5), that is uniform within ``1 / sqrt(fan_in)``."""
    return initializer(HeUniform(math.sqrt(5)) if init is None else init, shape, dtype)


def default_bias(init: Any, size: int, fan_in: int, dtype: Any) -> Tensor:
    """``init`` drawn; by default uniform within ``1 / sqrt(fan_in)``."""
    if init is None:
        init = Uniform(1 / math.sqrt(fan_in)) if fan_in else "zeros"
    return initializer(init, (size,), dtype)


def checked_init(init: Any, shape: tuple[int, ...], name: str, owner: str) -> None:
    """Raises ValueError if the Tensor ``init`` does not have ``shape``."""
    if isinstance(init, Tensor) and tuple(init.shape) != shape:
        raise ValueError(
            f"For '{owner}', {name} shape error. The shape of the Tensor must be {shape}, but got {tuple(init.shape)}."
        )


@launchable
def dense(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``x @ weight.T + bias`` over the last axis of ``x`` (..., in); ``weight`` is (out, in)."""
    if len(x.shape) and x.shape[-1] != weight.shape[-1]:
        raise inner_sizes_differ(x.shape[-1], weight.shape[-1], x, weight)
    if len(x.shape) == 1:
        out = reshape(matmul(reshape(x, shape=(1, x.shape[0])), weight, transpose_b=True), shape=(weight.shape[0],))
    else:
        out = matmul(x, weight, transpose_b=True)
    return out if bias is None else add(out, bias)


def add_weights(cell: Cell, fan_in: int, fan_out: int, given: dict[str, Any]) -> None:
    """Gives ``cell`` its parameters weight (fan_out, fan_in) and, where it has one, bias."""
    weight, bias, dtype = given["weight_init"], given["bias_init"], given["dtype"]
    checked_init(weight, (fan_out, fan_in), "weight init", cell.cls_name)
    cell.weight = Parameter(default_weight(weight, (fan_out, fan_in), dtype), name="weight")
    cell.bias = None
    if cell.has_bias:
        checked_init(bias, (fan_out,), "bias init", cell.cls_name)
        cell.bias = Parameter(default_bias(bias, fan_out, fan_in, dtype), name="bias")


Activation = Annotated[Any, Kind("Union[str, Cell, Primitive, None]", kept=False)]
HasBias = Annotated[bool, Kind("bool", checks.boolean, kept=False)]


@with_settings
class Dense(Cell):
    """Fully connected layer: ``activation(x @ weight.T + bias)`` over the last axis.

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> print(nn.Dense(3, 2, weight_init="ones", bias_init="zeros")(ms.Tensor([[1.0, 2.0, 3.0]])))
        [[6. 6.]]
    """

    in_channels: PositiveInt = option("size of the last axis of the input")
    out_channels: PositiveInt = option("size of the last axis of the output")
    weight_init: Init = option("``None``: HeUniform", default=None)
    bias_init: Init = option("``None``: Uniform", default=None)
    has_bias: Flag = True
    activation: Activation = None
    dtype: Dtype = dt.float32

    def _settings_taken(self, given):
        add_weights(self, self.in_channels, self.out_channels, given)
        activation = given["activation"]
        self.activation = get_activation(activation, self.cls_name) if isinstance(activation, str) else activation
        if activation is not None and not callable(self.activation):
            raise TypeError(
                f"For '{self.cls_name}', the 'activation' must be str or Cell or Primitive, "
                f"but got {type(activation).__name__}."
            )
        self.activation_flag = activation is not None

    def construct(self, x):
        x = dense(x, self.in_use(self.weight), self.in_use(self.bias))
        if self.activation_flag:
            x = self.activation(x)
        return x

    def extend_repr(self) -> str:
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        if self.has_bias:
            text += f", has_bias={self.has_bias}"
        if self.activation_flag:
            text += f", activation={self.activation}"
        return text


@with_settings
class Linear(Cell):
    """Fully connected layer, with `Dense`'s initial values and the argument names of other frameworks.

    Examples:
        >>> print(nn.Linear(2, 3)(Tensor([[-1.0, 0.5], [2.0, -3.0]])).shape)
        (2, 3)
    """

    in_features: PositiveInt = option("size of the last axis of the input")
    out_features: PositiveInt = option("size of the last axis of the output")
    bias: HasBias = True
    weight_init: Init = None
    bias_init: Init = None
    dtype: Dtype = option("``None``: float32", default=None)

    def _settings_taken(self, given):
        self.has_bias = given["bias"]
        given["dtype"] = dt.float32 if given["dtype"] is None else given["dtype"]
        add_weights(self, self.in_features, self.out_features, given)

    def construct(self, x):
        return dense(x, self.in_use(self.weight), self.in_use(self.bias))

    def extend_repr(self) -> str:
        text = f"input_features={self.in_features}, output_features={self.out_features}"
        return text + (f", has_bias={self.has_bias}" if self.has_bias else "")


@with_settings
class BiDense(Cell):
    """Bilinear layer: ``out[o] = sum_ij x1[i] weight[o, i, j] x2[j] + bias[o]``.

    Examples:
        >>> print(nn.BiDense(2, 2, 3)(Tensor([[-1.0, 0.5], [2.0, -3.0]]), Tensor([[-1.0, 0.5], [2.0, -3.0]])).shape)
        (2, 3)
    """

    in1_channels: PositiveInt = option("size of the last axis of the first input")
    in2_channels: PositiveInt = option("size of the last axis of the second input")
    out_channels: PositiveInt = option("size of the last axis of the output")
    weight_init: Init = None
    bias_init: Init = None
    has_bias: Flag = True
    dtype: Dtype = dt.float32

    def _settings_taken(self, given):
        shapes = {"weight": (self.out_channels, self.in1_channels, self.in2_channels), "bias": (self.out_channels,)}
        self.bias = None
        for name, shape in shapes.items():
            init = given[f"{name}_init"]
            if name == "weight" or self.has_bias:
                checked_init(init, shape, f"{name} init", self.cls_name)
                start = Uniform(1 / math.sqrt(self.in1_channels)) if init is None else init
                setattr(self, name, Parameter(initializer(start, shape, given["dtype"]), name=name))

    def construct(self, input1, input2):
        return bilinear(input1, input2, self.in_use(self.weight), self.in_use(self.bias))

    def extend_repr(self) -> str:
        text = (
            f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}, output_channels={self.out_channels}"
        )
        return text + (f", has_bias={self.has_bias}" if self.has_bias else "")


def bilinear(x1: Tensor, x2: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``x1`` (..., I) and ``x2`` (..., J) combined by ``weight`` (O, I, J)."""
    lead = tuple(x1.shape[:-1])
    o, i, j = weight.shape
    left = reshape(x1, shape=(numel(lead), i))
    right = reshape(x2, shape=(numel(lead), 1, j))
    # (N, I) @ (I, O*J) -> (N, O, J), then the product with x2 summed over J.
    half = matmul(weight_rows(weight), left, transpose_b=True)

    half = transpose(reshape(half, shape=(o, j, numel(lead))), perm=(2, 0, 1))
    out = reduce_sum(mul(half, broadcast_to(right, shape=tuple(half.shape))), axis=(2,), keep_dims=False)
    out = reshape(out, shape=(*lead, o))
    return out if bias is None else add(out, bias)


def weight_rows(weight: Tensor) -> Tensor:
    """``weight`` (O, I, J) as a matrix (O*J, I)."""

    o, i, j = weight.shape
    return reshape(transpose(weight, perm=(0, 2, 1)), shape=(o * j, i))


class Identity(Cell):
    """Returns its input. Any arguments are accepted and ignored.

    Examples:
        >>> print(nn.Identity()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-1.   0.5]
         [ 2.  -3. ]]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, x):
        return x


@with_settings
class Flatten(Cell):
    """Joins the axes from ``start_dim`` to ``end_dim``.

    Examples:
        >>> print(nn.Flatten()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-1.   0.5]
         [ 2.  -3. ]]
    """

    start_dim: Anything = 1
    end_dim: Anything = -1

    def construct(self, x):
        return flatten(x, self.start_dim, self.end_dim)


def flatten(x: Tensor, start_dim: int, end_dim: int) -> Tensor:
    """``x`` with the axes ``start_dim`` to ``end_dim`` (both included) as one."""
    for name, dim in (("start_dim", start_dim), ("end_dim", end_dim)):
        if isinstance(dim, bool) or not isinstance(dim, int):
            raise TypeError(f"For 'flatten', the '{name}' must be int, but got {dim!r}.")
    ndim = len(x.shape)
    if ndim == 0:
        return reshape(x, shape=(1,))
    if ndim == 1 and (start_dim, end_dim) == (1, -1):
        return x
    first, last = normalize_axis(start_dim, ndim), normalize_axis(end_dim, ndim)
    if first > last:
        raise ValueError("For 'flatten', the 'start_dim' must be less than or equal to 'end_dim'.")
    return reshape(x, shape=(*x.shape[:first], numel(x.shape[first : last + 1]), *x.shape[last + 1 :]))


# ---- dropout ---------------------------------------------------------------------------------------------------------


def dropout(x: Tensor, p: float, mask_shape: tuple[Any, ...] | None = None) -> Tensor:
    """``x`` with elements set to 0 with probability ``p``, the others divided by ``1 - p``.

    ``mask_shape`` (broadcastable to ``x``) drops whole channels.
    """
    x = promote_float(x)
    keep = 1.0 - p
    shape = tuple(x.shape) if mask_shape is None else mask_shape
    mask = random.dropout_mask(keep, shape)
    scaled = mul(x, constant_like(x, 1.0 / keep if keep else 0.0))
    return select(mask, scaled, constant_like(x, 0))


@with_settings
class Dropout(Cell):
    """While training, zeroes elements at random and scales the others so that the expected value is unchanged.

    Raises:
        ValueError: a probability out of range.

    Examples:
        >>> print(nn.Dropout(p=0.5)(Tensor([[-1.0, 0.5], [2.0, -3.0]])).shape)
        (2, 2)
    """

    keep_prob: Anything = option("probability of *keeping* an element; deprecated, use ``p``", default=0.5)
    p: Anything = option("probability of dropping an element", default=None)
    dtype: Unkept = option("kept for old programs", default=dt.float32)

    def _settings_taken(self, given):
        keep, p = self.keep_prob, self.p
        if p is not None:
            checks.probability(p, "p", self.cls_name)
            self.keep_prob = None
        elif not 0 < checks.number(keep, "keep_prob", self.cls_name) <= 1:
            raise ValueError(
                f"For '{self.cls_name}', the 'keep_prob' must be a number in range (0, 1], but got {keep}."
            )
        self.drop_prob = float(p) if p is not None else 1.0 - keep

    def construct(self, x):
        if not self.training or self.drop_prob == 0:
            return x
        return dropout(x, self.drop_prob)

    def extend_repr(self) -> str:
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


_probability = checks.that(checks.a_number, lambda x: 0 <= x <= 1, "be a number in range [0, 1], but got {}")
Probability = Annotated[float, Kind("float", _probability, "probability of dropping a channel")]


@with_settings
class _ChannelDropout(Cell):
    """While training, drops whole channels."""

    p: Probability = 0.5

    ranks: ClassVar[tuple[int, ...]] = ()

    def construct(self, x):
        if not self.training or self.p == 0:
            return x
        return drop_channels(x, self.p, self.ranks, self.cls_name)


def drop_channels(x: Tensor, p: float, ranks: tuple[int, ...], owner: str) -> Tensor:
    """``x`` with channels (axis 1, or 0 if the batch is missing) dropped whole."""
    ndim = len(x.shape)
    if ndim not in ranks:
        raise ValueError(f"For '{owner}', the dimension of the input must be in {list(ranks)}, but got {ndim}.")
    lead = 1 if ndim == min(ranks) and len(ranks) == 2 else 2
    if p == 1:
        return zeros_like(x)
    return dropout(x, p, (*x.shape[:lead], *(1,) * (ndim - lead)))


@with_settings
class Dropout1d(_ChannelDropout):
    """While training, drops whole channels of (N, C, L) or (C, L).

    Examples:
        >>> print(nn.Dropout1d(p=0.5)(ops.ones((1, 2, 4))).shape)
        (1, 2, 4)
    """

    ranks = (2, 3)


@with_settings
class Dropout2d(_ChannelDropout):
    """While training, drops whole channels of (N, C, H, W).

    Examples:
        >>> print(nn.Dropout2d(p=0.5)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 4, 4)
    """

    ranks = (4,)

    def extend_repr(self) -> str:
        return f"p={self.p}"


@with_settings
class Dropout3d(_ChannelDropout):
    """While training, drops whole channels of (N, C, D, H, W).

    Examples:
        >>> print(nn.Dropout3d(p=0.5)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 2, 4, 4, 4)
    """

    ranks = (5,)

    def extend_repr(self) -> str:
        return f"p={self.p}"


@with_settings
class OneHot(Cell):
    """Indices as vectors that are ``on_value`` at the index and ``off_value`` elsewhere.

    Examples:
        >>> print(nn.OneHot(depth=3)(Tensor([0, 2])))
        [[1. 0. 0.]
         [0. 0. 1.]]
    """

    axis: Anything = option("where the new axis goes", default=-1)
    depth: Anything = option("its size", default=1)
    on_value: Anything = 1.0
    off_value: Anything = 0.0
    dtype: Anything = dt.float32

    def construct(self, indices):
        return one_hot(indices, self.depth, self.on_value, self.off_value, self.axis, self.dtype)


def one_hot(indices: Tensor, depth: int, on: float, off: float, axis: int, dtype: dt.DType) -> Tensor:
    """See `OneHot`."""

    ndim = len(indices.shape) + 1
    if not -1 <= axis < ndim:
        raise ValueError(f"For 'OneHot', the 'axis' must be in range [-1, {ndim - 1}], but got {axis}.")
    hot = creation.one_hot(indices, depth=depth, dtype=dt.bool_)
    on_, off_ = full(shape=(), value=on, dtype=dtype), full(shape=(), value=off, dtype=dtype)
    out = select(hot, on_, off_)
    return out if axis in (-1, ndim - 1) else move_axis(out, ndim - 1, axis)


def primitive_of_layer(name: str, *settings: Any, **named: Any) -> Any:
    """A primitive that a layer offers to subclasses, whose `construct` calls it as in MindSpore."""
    return primitive_classes()[name](*settings, **named)
