"""Dense layers, Flatten, Dropout and small helpers."""

from __future__ import annotations

import math
from typing import Any

from duograph.api.promote import promote_float
from duograph.common.initializer import HeUniform, Uniform, initializer
from duograph.core import dtype as dt
from duograph.core.launchable import launchable
from duograph.core.shapes import normalize_axis, numel
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.ops import creation, random
from duograph.ops.arithmetic import add, mul
from duograph.ops.creation import constant_like, full, zeros_like
from duograph.ops.linalg import matmul
from duograph.ops.movement import broadcast_to, move_axis, reshape, transpose
from duograph.ops.reduce import reduce_sum
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
        raise ValueError(
            "For 'MatMul' the input dimensions must be equal, but got 'x1_col': "
            f"{x.shape[-1]} and 'x2_row': {weight.shape[-1]}."
        )
    out = matmul(x, weight, transpose_b=True)
    return out if bias is None else add(out, bias)


class Dense(Cell):
    """Fully connected layer: ``activation(x @ weight.T + bias)`` over the last axis.

    Args:
        in_channels (int): size of the last axis of the input.
        out_channels (int): size of the last axis of the output.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``None``: HeUniform.
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``None``: Uniform.
        has_bias (bool): Default ``True``.
        activation (Union[str, Cell, Primitive, None]): Default ``None``.
        dtype (dtype): of the parameters. Default float32.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a size is not positive, or a Tensor for a parameter has another shape.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> print(nn.Dense(3, 2, weight_init="ones", bias_init="zeros")(ms.Tensor([[1.0, 2.0, 3.0]])))
        [[6. 6.]]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        activation: Any = None,
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__()
        self.in_channels = checks.positive_int(in_channels, "in_channels", self.cls_name)
        self.out_channels = checks.positive_int(out_channels, "out_channels", self.cls_name)
        self.has_bias = checks.boolean(has_bias, "has_bias", self.cls_name)
        checked_init(weight_init, (out_channels, in_channels), "weight init", self.cls_name)
        self.weight = Parameter(default_weight(weight_init, (out_channels, in_channels), dtype), name="weight")
        self.bias = None
        if has_bias:
            checked_init(bias_init, (out_channels,), "bias init", self.cls_name)
            self.bias = Parameter(default_bias(bias_init, out_channels, in_channels, dtype), name="bias")
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


class Linear(Cell):
    """Fully connected layer, with `Dense`'s initial values and the argument names of other frameworks.

    Args:
        in_features (int): size of the last axis of the input.
        out_features (int): size of the last axis of the output.
        bias (bool): Default ``True``.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``None``.
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``None``.
        dtype (dtype): Default ``None``: float32.

    Examples:
        >>> print(nn.Linear(2, 3)(Tensor([[-1.0, 0.5], [2.0, -3.0]])).shape)
        (2, 3)
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
        dtype = dt.float32 if dtype is None else dtype
        self.in_features = checks.positive_int(in_features, "in_features", self.cls_name)
        self.out_features = checks.positive_int(out_features, "out_features", self.cls_name)
        self.has_bias = checks.boolean(bias, "bias", self.cls_name)
        checked_init(weight_init, (out_features, in_features), "weight init", self.cls_name)
        self.weight = Parameter(default_weight(weight_init, (out_features, in_features), dtype), name="weight")
        self.bias = None
        if bias:
            checked_init(bias_init, (out_features,), "bias init", self.cls_name)
            self.bias = Parameter(default_bias(bias_init, out_features, in_features, dtype), name="bias")

    def construct(self, x):
        return dense(x, self.in_use(self.weight), self.in_use(self.bias))

    def extend_repr(self) -> str:
        text = f"input_features={self.in_features}, output_features={self.out_features}"
        return text + (f", has_bias={self.has_bias}" if self.has_bias else "")


class BiDense(Cell):
    """Bilinear layer: ``out[o] = sum_ij x1[i] weight[o, i, j] x2[j] + bias[o]``.

    Args:
        in1_channels (int): size of the last axis of the first input.
        in2_channels (int): size of the last axis of the second input.
        out_channels (int): size of the last axis of the output.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``None``.
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Default ``None``.
        has_bias (bool): Default ``True``.
        dtype (dtype): Default float32.

    Examples:
        >>> print(nn.BiDense(2, 2, 3)(Tensor([[-1.0, 0.5], [2.0, -3.0]]), Tensor([[-1.0, 0.5], [2.0, -3.0]])).shape)
        (2, 3)
    """

    def __init__(
        self,
        in1_channels: int,
        in2_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__()
        self.in1_channels = checks.positive_int(in1_channels, "in1_channels", self.cls_name)
        self.in2_channels = checks.positive_int(in2_channels, "in2_channels", self.cls_name)
        self.out_channels = checks.positive_int(out_channels, "out_channels", self.cls_name)
        self.has_bias = checks.boolean(has_bias, "has_bias", self.cls_name)
        shape = (out_channels, in1_channels, in2_channels)
        bound = 1 / math.sqrt(in1_channels)
        checked_init(weight_init, shape, "weight init", self.cls_name)
        self.weight = Parameter(
            initializer(Uniform(bound) if weight_init is None else weight_init, shape, dtype), name="weight"
        )
        self.bias = None
        if has_bias:
            checked_init(bias_init, (out_channels,), "bias init", self.cls_name)
            init = Uniform(bound) if bias_init is None else bias_init
            self.bias = Parameter(initializer(init, (out_channels,), dtype), name="bias")

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


class Flatten(Cell):
    """Joins the axes from ``start_dim`` to ``end_dim``.

    Args:
        start_dim (int): Default ``1``.
        end_dim (int): Default ``-1``.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(nn.Flatten()(Tensor([[-1.0, 0.5], [2.0, -3.0]])))
        [[-1.   0.5]
         [ 2.  -3. ]]
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

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


class Dropout(Cell):
    """While training, sets elements to 0 at random and scales the others so that the mean stays.

    Args:
        keep_prob (float): probability of *keeping* an element. Default ``0.5``; deprecated, use ``p``.
        p (Union[float, int, None]): probability of dropping an element. Default ``None``.
        dtype (dtype): kept for old programs. Default float32.

    Raises:
        ValueError: a probability out of range.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(nn.Dropout(p=0.5)(Tensor([[-1.0, 0.5], [2.0, -3.0]])).shape)
        (2, 2)
    """

    def __init__(self, keep_prob: float = 0.5, p: Any = None, dtype: Any = dt.float32) -> None:
        super().__init__()
        if p is None:
            checks.number(keep_prob, "keep_prob", self.cls_name)
            if not 0 < keep_prob <= 1:
                raise ValueError(
                    f"For '{self.cls_name}', the 'keep_prob' must be a number in range (0, 1], but got {keep_prob}."
                )
            self.keep_prob: float | None = keep_prob
        else:
            checks.probability(p, "p", self.cls_name)
            self.keep_prob = None
        self.p = p
        self.drop_prob = float(p) if p is not None else 1.0 - keep_prob

    def construct(self, x):
        if not self.training or self.drop_prob == 0:
            return x
        return dropout(x, self.drop_prob)

    def extend_repr(self) -> str:
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


class _ChannelDropout(Cell):
    """While training, drops whole channels with probability ``p`` (default ``0.5``)."""

    ranks: tuple[int, ...] = ()

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        checks.probability(p, "p", self.cls_name, include_one=True)
        self.p = p

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


class Dropout1d(_ChannelDropout):
    """While training, drops whole channels of (N, C, L) or (C, L) with probability ``p`` (default ``0.5``).

    Examples:
        >>> print(nn.Dropout1d(p=0.5)(ops.ones((1, 2, 4))).shape)
        (1, 2, 4)
    """

    ranks = (2, 3)


class Dropout2d(_ChannelDropout):
    """While training, drops whole channels of (N, C, H, W) with probability ``p`` (default ``0.5``).

    Examples:
        >>> print(nn.Dropout2d(p=0.5)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 4, 4)
    """

    ranks = (4,)

    def extend_repr(self) -> str:
        return f"p={self.p}"


class Dropout3d(_ChannelDropout):
    """While training, drops whole channels of (N, C, D, H, W) with probability ``p`` (default ``0.5``).

    Examples:
        >>> print(nn.Dropout3d(p=0.5)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 2, 4, 4, 4)
    """

    ranks = (5,)

    def extend_repr(self) -> str:
        return f"p={self.p}"


class OneHot(Cell):
    """Indices as vectors that are ``on_value`` at the index and ``off_value`` elsewhere.

    Args:
        axis (int): where the new axis goes. Default ``-1``.
        depth (int): its size. Default ``1``.
        on_value (float): Default ``1.0``.
        off_value (float): Default ``0.0``.
        dtype (dtype): Default float32.

    Examples:
        >>> print(nn.OneHot(depth=3)(Tensor([0, 2])))
        [[1. 0. 0.]
         [0. 0. 1.]]
    """

    def __init__(
        self, axis: int = -1, depth: int = 1, on_value: float = 1.0, off_value: float = 0.0, dtype: Any = dt.float32
    ) -> None:
        super().__init__()
        self.axis, self.depth, self.dtype = axis, depth, dtype
        self.on_value, self.off_value = on_value, off_value

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
