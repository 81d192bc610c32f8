"""Reductions, products, layers and recurrent networks of ONNX, as functions of Tensors; see `functions.py`."""

from __future__ import annotations

from typing import Any

from duograph import ops
from duograph.core import dtype as dt
from duograph.core.traits import Traits
from duograph.ops.conv import conv, conv_input_grad
from duograph.ops.indexing import scatter_elements as scattered
from duograph.ops.indexing import scatter_nd_update as scattered_slices
from duograph.ops.pool import avg_pool, max_pool

from .functions import axes_of, flatten, is_size, number, sizes, tensor

__capture__ = Traits(program=True)


# ---- reductions and order --------------------------------------------------------------------------------------------


def _reduction(function: Any) -> Any:
    def reduce(x: Any, along: Any = None, axes: Any = None, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Any:
        x = tensor(x)
        along = axes if along is None else along
        places = sizes(along) if along is not None else ()
        if not places and noop_with_empty_axes:
            return x
        return function(x, axes_of(places, len(x.shape)) if places else tuple(range(len(x.shape))), bool(keepdims))

    return reduce


reduce_sum = _reduction(lambda x, axis, keep: ops.sum(x, axis, keep).astype(x.dtype))
reduce_mean = _reduction(ops.mean)
reduce_max = _reduction(ops.amax)
reduce_min = _reduction(ops.amin)
reduce_l2 = _reduction(lambda x, axis, keep: ops.sqrt(ops.sum(x * x, axis, keep)))
reduce_sum_square = _reduction(lambda x, axis, keep: ops.sum(x * x, axis, keep))
reduce_log_sum_exp = _reduction(ops.logsumexp)


def reduce_prod(x: Any, along: Any = None, axes: Any = None, keepdims: int = 1) -> Any:
    x = tensor(x)
    along = axes if along is None else along
    for axis in sorted(axes_of(along, len(x.shape)) if along is not None else range(len(x.shape)), reverse=True):
        x = ops.prod(x, axis, bool(keepdims))
    return x


def arg_max(x: Any, axis: int = 0, keepdims: int = 1) -> Any:
    return ops.argmax(x, axis, bool(keepdims)).astype(dt.int64)


def arg_min(x: Any, axis: int = 0, keepdims: int = 1) -> Any:
    return ops.argmin(x, axis, bool(keepdims)).astype(dt.int64)


def top_k(x: Any, k: Any, axis: int = -1, largest: int = 1) -> Any:
    values, places = ops.topk(x, number(k), axis, bool(largest))
    return values, places.astype(dt.int64)


def cum_sum(x: Any, axis: Any, exclusive: int = 0, reverse: int = 0) -> Any:
    axis = number(axis) % len(x.shape)
    turned = ops.flip(x, (axis,)) if reverse else x
    result = ops.cumsum(turned, axis).astype(x.dtype)
    if exclusive:
        result = result - turned
    return ops.flip(result, (axis,)) if reverse else result


def softmax_joined(x: Any, axis: int = 1, log: int = 0) -> Any:
    """Of versions before 13: over all dimensions from ``axis`` on."""
    function = ops.log_softmax if log else ops.softmax
    return function(flatten(x, axis % len(x.shape)), -1).reshape(tuple(x.shape))


def softmax(x: Any, axis: int | None = None) -> Any:
    return ops.softmax(x, -1 if axis is None else axis)


def log_softmax(x: Any, axis: int | None = None) -> Any:
    return ops.log_softmax(x, -1 if axis is None else axis)


# ---- products and norms ----------------------------------------------------------------------------------------------


def mat_mul(a: Any, b: Any) -> Any:
    return ops.matmul(a, b)


def gemm(a: Any, b: Any, c: Any = None, alpha: float = 1.0, beta: float = 1.0, transA: int = 0, transB: int = 0) -> Any:
    product = ops.matmul(a.T if transA else a, b.T if transB else b)
    product = product if alpha == 1 else product * alpha
    if c is None:
        return product
    return product + (c if beta == 1 else c * beta)


def einsum(*xs: Any, equation: str) -> Any:
    return ops.einsum(equation, *xs)


def _padding(x: Any, kernel: Any, stride: Any, dilation: Any, pads: Any, auto_pad: str) -> Any:
    """Pairs of padding per axis."""
    rank = len(kernel)
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        pairs = []
        for n, k, s, d in zip(x.shape[2:], kernel, stride, dilation):
            whole = max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0)
            less_ = whole // 2
            pairs.append((less_, whole - less_) if auto_pad == "SAME_UPPER" else (whole - less_, less_))
        return tuple(pairs)
    if pads is None or auto_pad == "VALID":
        return ((0, 0),) * rank
    return tuple([(pads[i], pads[i + rank]) for i in range(rank)])


def _with_bias(x: Any, bias: Any) -> Any:
    return x if bias is None else x + bias.reshape((-1,) + (1,) * (len(x.shape) - 2))


def convolution(
    x: Any, w: Any, bias: Any = None, strides: Any = None, pads: Any = None, dilations: Any = None, group: int = 1,
    kernel_shape: Any = None, auto_pad: str = "NOTSET",
) -> Any:  # fmt: skip
    kernel = tuple(w.shape[2:] if kernel_shape is None else kernel_shape)
    ones = (1,) * len(kernel)
    stride, dilation = tuple(strides or ones), tuple(dilations or ones)
    padding = _padding(x, kernel, stride, dilation, pads, auto_pad)
    return _with_bias(conv(x, w, stride=stride, padding=padding, dilation=dilation, groups=group), bias)


def convolution_transposed(
    x: Any, w: Any, bias: Any = None, strides: Any = None, pads: Any = None, dilations: Any = None, group: int = 1,
    kernel_shape: Any = None, output_padding: Any = None,
) -> Any:  # fmt: skip
    kernel = tuple(w.shape[2:] if kernel_shape is None else kernel_shape)
    ones = (1,) * len(kernel)
    stride, dilation = tuple(strides or ones), tuple(dilations or ones)
    padding = _padding(x, kernel, stride, dilation, pads, "NOTSET")
    extra = output_padding or (0,) * len(kernel)
    found = []
    for n, k, s, (front, back), d, e in zip(x.shape[2:], kernel, stride, padding, dilation, extra):
        found.append((n - 1) * s - front - back + d * (k - 1) + 1 + e)
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": group}
    return _with_bias(conv_input_grad(x, w, input_size=tuple(found), **how), bias)


def max_pooled(
    x: Any, kernel_shape: Any, strides: Any = None, pads: Any = None, dilations: Any = None, ceil_mode: int = 0,
    auto_pad: str = "NOTSET",
) -> Any:  # fmt: skip
    kernel = tuple(kernel_shape)
    ones = (1,) * len(kernel)
    stride, dilation = tuple(strides or ones), tuple(dilations or ones)
    padding = _padding(x, kernel, stride, dilation, pads, auto_pad)
    how = {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation, "ceil_mode": bool(ceil_mode)}
    return max_pool(x, **how)[0]


def average_pooled(
    x: Any, kernel_shape: Any, strides: Any = None, pads: Any = None, ceil_mode: int = 0, count_include_pad: int = 0,
    auto_pad: str = "NOTSET",
) -> Any:  # fmt: skip
    kernel = tuple(kernel_shape)
    ones = (1,) * len(kernel)
    stride = tuple(strides or ones)
    padding = _padding(x, kernel, stride, ones, pads, auto_pad)
    how = {"kernel": kernel, "stride": stride, "padding": padding, "ceil_mode": bool(ceil_mode)}
    return avg_pool(x, **how, count_include_pad=bool(count_include_pad), divisor=0)


def global_average(x: Any) -> Any:
    return ops.mean(x, tuple(range(2, len(x.shape))), True)


def global_max(x: Any) -> Any:
    return ops.amax(x, tuple(range(2, len(x.shape))), True)


def batch_normalization(x: Any, scale: Any, bias: Any, mean: Any, variance: Any, epsilon: float = 1e-5) -> Any:
    """Of inference: with the statistics of the file."""
    shape_ = (-1,) + (1,) * (len(x.shape) - 2)
    factor = ops.rsqrt(variance + epsilon) * scale
    return (x - mean.reshape(shape_)) * factor.reshape(shape_) + bias.reshape(shape_)


def _standardized(x: Any, axes: Any, epsilon: float) -> Any:
    centred = x - ops.mean(x, axes, True)
    return centred / ops.sqrt(ops.mean(centred * centred, axes, True) + epsilon)


def layer_normalization(x: Any, scale: Any, bias: Any = None, axis: int = -1, epsilon: float = 1e-5) -> Any:
    result = _standardized(x, tuple(range(axis % len(x.shape), len(x.shape))), epsilon) * scale
    return result if bias is None else result + bias


def instance_normalization(x: Any, scale: Any, bias: Any, epsilon: float = 1e-5) -> Any:
    shape_ = (-1,) + (1,) * (len(x.shape) - 2)
    result = _standardized(x, tuple(range(2, len(x.shape))), epsilon)
    return result * scale.reshape(shape_) + bias.reshape(shape_)


# ---- by indices ------------------------------------------------------------------------------------------------------


def _wrapped(indices: Any, extent: Any) -> Any:
    return ops.where(indices < 0, indices + extent, indices)


def gather(x: Any, indices: Any, axis: int = 0) -> Any:
    if isinstance(x, tuple) and is_size(indices):
        return x[indices] if isinstance(indices, int) else tuple([x[i] for i in indices])
    x, indices = tensor(x), tensor(indices)
    return ops.gather(x, _wrapped(indices, x.shape[axis]), axis % len(x.shape))


def gather_elements(x: Any, indices: Any, axis: int = 0) -> Any:
    return ops.gather_elements(x, axis % len(x.shape), _wrapped(tensor(indices), x.shape[axis]))


def gather_nd(x: Any, indices: Any) -> Any:
    return ops.gather_nd(x, tensor(indices))


def scatter_elements(x: Any, indices: Any, updates: Any, axis: int = 0, reduction: str = "none") -> Any:
    return scattered(x, tensor(indices), updates, axis=axis % len(x.shape), reduction=reduction)


def scatter_nd(x: Any, indices: Any, updates: Any, reduction: str = "none") -> Any:
    return scattered_slices(x, tensor(indices), updates, reduction=reduction)


def nonzero(x: Any) -> Any:
    return ops.nonzero(x).T


# ---- recurrent networks ----------------------------------------------------------------------------------------------


def lstm(
    x: Any, w: Any, r: Any, b: Any = None, h: Any = None, c: Any = None,
    hidden_size: int = 0, direction: str = "forward",
) -> Any:  # fmt: skip
    rows, last, cells = [], [], []
    for d in range(w.shape[0]):
        bias = None if b is None else b[d][: 4 * hidden_size] + b[d][4 * hidden_size :]
        hidden = ops.zeros((x.shape[1], hidden_size), x.dtype) if h is None else h[d]
        cell = ops.zeros((x.shape[1], hidden_size), x.dtype) if c is None else c[d]
        backwards = direction == "reverse" or d == 1
        steps = []
        for t in range(x.shape[0]):
            at = x.shape[0] - 1 - t if backwards else t
            gates = ops.matmul(x[at], w[d].T) + ops.matmul(hidden, r[d].T)
            gates = gates if bias is None else gates + bias
            i, o = ops.sigmoid(gates[:, :hidden_size]), ops.sigmoid(gates[:, hidden_size : 2 * hidden_size])
            f = ops.sigmoid(gates[:, 2 * hidden_size : 3 * hidden_size])
            cell = f * cell + i * ops.tanh(gates[:, 3 * hidden_size :])
            hidden = o * ops.tanh(cell)
            steps.append(hidden)
        rows.append(ops.stack(steps[::-1] if backwards else steps, 0))
        last.append(hidden)
        cells.append(cell)
    return ops.stack(rows, 1), ops.stack(last, 0), ops.stack(cells, 0)


def gru(
    x: Any, w: Any, r: Any, b: Any = None, h: Any = None, hidden_size: int = 0,
    direction: str = "forward", linear_before_reset: int = 0,
) -> Any:  # fmt: skip
    n = hidden_size
    rows, last = [], []
    for d in range(w.shape[0]):
        bias = ops.zeros((6 * n,), x.dtype) if b is None else b[d]
        hidden = ops.zeros((x.shape[1], n), x.dtype) if h is None else h[d]
        backwards = direction == "reverse" or d == 1
        steps = []
        for t in range(x.shape[0]):
            at = x.shape[0] - 1 - t if backwards else t
            given = ops.matmul(x[at], w[d].T) + bias[: 3 * n]
            known = ops.matmul(hidden, r[d][: 2 * n].T) + bias[3 * n : 5 * n]
            update = ops.sigmoid(given[:, :n] + known[:, :n])
            reset = ops.sigmoid(given[:, n : 2 * n] + known[:, n:])
            if linear_before_reset:
                inner = reset * (ops.matmul(hidden, r[d][2 * n :].T) + bias[5 * n :])
            else:
                inner = ops.matmul(reset * hidden, r[d][2 * n :].T) + bias[5 * n :]
            hidden = (1 - update) * ops.tanh(given[:, 2 * n :] + inner) + update * hidden
            steps.append(hidden)
        rows.append(ops.stack(steps[::-1] if backwards else steps, 0))
        last.append(hidden)
    return ops.stack(rows, 1), ops.stack(last, 0)
