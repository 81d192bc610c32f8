"""Primitive classes of layers: activations, convolution, pooling, normalisation, losses, resizing."""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.core.shapes import numel, same_padding
from duograph.ops import arithmetic, image, unary
from duograph.ops import conv as convs
from duograph.ops import loss as losses
from duograph.ops import pool as pools
from duograph.ops.compare import equal
from duograph.ops.creation import constant_like, iota, one_hot, zeros_like
from duograph.ops.indexing import gather
from duograph.ops.movement import move_axis, reshape
from duograph.ops.norm import batch_norm_inference as batch_norm_inference_op
from duograph.ops.norm import batch_norm_training as batch_norm_training_op
from duograph.ops.norm import l2_normalize as l2_normalize_op
from duograph.ops.norm import moments as moments_op
from duograph.ops.norm import number_along
from duograph.ops.norm import scaled as scaled_op
from duograph.ops.norm import shifted as shifted_op
from duograph.ops.norm import softmax as softmax_op
from duograph.ops.select import select
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

from ..functional import activation, loss, nn, pool
from ..functional import image as images
from ..functional.forms import one_per_axis
from ..promote import to_dtype
from ..tensor_shape import shape_of
from .base import REQUIRED, Table

CLASSES = Table()
_row = CLASSES.row


# ---- activations ----------------------------------------------------------------------------------------------------


def _check_axis(p: Any) -> None:
    axis = p.axis[0] if isinstance(p.axis, tuple | list) and len(p.axis) == 1 else p.axis
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise TypeError(
            f"For '{p.name}', the type of 'axis' should be one of '[int, tuple of int]', but got {type(p.axis)}."
        )


_row("Softmax", lambda p, x: activation.softmax(x, p.axis), {"axis": -1}, check=_check_axis)
_row("LogSoftmax", lambda p, x: activation.log_softmax(x, p.axis), {"axis": -1}, check=_check_axis)
_row("Elu", lambda p, x: activation.elu(x, p.alpha), {"alpha": 1.0})
_row("CeLU", lambda p, x: activation.celu(x, p.alpha), {"alpha": 1.0})
_row("GLU", lambda p, x: activation.glu(x, p.axis), {"axis": -1})
_row("HShrink", lambda p, x: activation.hardshrink(x, p.lambd), {"lambd": 0.5})
_row("SoftShrink", lambda p, x: activation.softshrink(x, p.lambd), {"lambd": 0.5})


def _bias_add(p: Any, x: Tensor, bias: Tensor) -> Tensor:
    """``bias`` along the channels: the last axis in ``NHWC``."""
    if p.data_format != "NHWC":
        return nn.bias_add(x, bias)
    last = x.ndim - 1
    return move_axis(nn.bias_add(move_axis(x, last, 1), bias), 1, last)


_row("BiasAdd", _bias_add, {"data_format": "NCHW"}, only={"data_format": ("NCHW", "NHWC", "NCDHW")})

# ---- convolution ----------------------------------------------------------------------------------------------------


def _inner(value: Any, rank: int) -> Any:
    """The entries for the spatial axes of what may have four or five."""
    return value[2:] if isinstance(value, tuple | list) and len(value) == rank + 2 else value


def _check_channels(p: Any) -> None:
    if isinstance(p.out_channel, bool) or not isinstance(p.out_channel, int):
        raise TypeError(f"For '{p.name}', the 'out_channel' must be int, but got '{type(p.out_channel).__name__}'")
    one_per_axis(p.kernel_size, 2 if p.name == "Conv2D" else 3, p.name, "kernel_size")
    if isinstance(p.pad, int):  # raises for a wrong mode, and for padding where the mode leaves no room for it
        convs.resolve_padding(p.pad_mode, p.pad, (1,), (1,), (1,), (1,), p.name)


def _conv(rank: int) -> Any:
    def forward(p: Any, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
        stride, dilation = _inner(p.stride, rank), _inner(p.dilation, rank)
        padding = p.pad if p.pad_mode.lower() == "pad" else 0
        return nn.convolve(rank, x, w, bias, stride, p.pad_mode, padding, dilation, p.group)

    return forward


_CONV = {
    "out_channel": REQUIRED, "kernel_size": REQUIRED, "mode": 1, "pad_mode": "valid", "pad": 0, "stride": 1,
    "dilation": 1, "group": 1,
}  # fmt: skip
_FIRST_2D, _FIRST_3D = {"data_format": ("NCHW",)}, {"data_format": ("NCDHW",)}
_ONE_MODE = {"mode": (1,)}
_row("Conv2D", _conv(2), {**_CONV, "data_format": "NCHW"}, check=_check_channels, only=_FIRST_2D | _ONE_MODE)
_row("Conv3D", _conv(3), {**_CONV, "data_format": "NCDHW"}, check=_check_channels, only=_FIRST_3D | _ONE_MODE)


def _conv_input(p: Any, dout: Tensor, w: Tensor, size: Any) -> Tensor:
    """The input of a convolution that gave ``dout``: its adjoint, on an input of shape ``size``."""
    extents = tuple(size)[2:]
    stride = one_per_axis(_inner(p.stride, 2), 2, p.name, "stride")
    dilation = one_per_axis(_inner(p.dilation, 2), 2, p.name, "dilation")
    given = p.pad if p.pad_list is None else p.pad_list
    padding = convs.resolve_padding(p.pad_mode, given, extents, w.shape[2:], stride, dilation, p.name)
    return convs.conv_input_grad(
        dout, w, input_size=extents, stride=stride, padding=padding, dilation=dilation, groups=p.group
    )


_BACKWARD = {
    "out_channel": REQUIRED, "kernel_size": REQUIRED, "pad_mode": "valid", "pad": 0, "pad_list": None, "mode": 1,
    "stride": 1, "dilation": 1, "group": 1, "data_format": "NCHW",
}  # fmt: skip
_row("Conv2DBackpropInput", _conv_input, _BACKWARD, only=_FIRST_2D | _ONE_MODE)
_row("Conv2DTranspose", _conv_input, _BACKWARD, only=_FIRST_2D | _ONE_MODE)

# ---- pooling --------------------------------------------------------------------------------------------------------


def _padding(p: Any, x: Tensor, kernel: Any, stride: Any) -> tuple[tuple[int, int], ...]:
    mode = p.pad_mode.lower()
    if mode == "same":
        return tuple(same_padding(n, k, s) for n, k, s in zip(x.shape[2:], kernel, stride, strict=True))  # type: ignore[misc]
    if mode == "pad":
        return pool.pairs_of(p.attrs.get("pad", p.attrs.get("pad_list", 0)), len(kernel), p.name)
    return ((0, 0),) * len(kernel)


def _window(p: Any, rank: int) -> tuple[Any, Any]:
    return (
        one_per_axis(_inner(p.kernel_size, rank), rank, p.name, "kernel_size"),
        one_per_axis(_inner(p.strides, rank), rank, p.name, "strides"),
    )


def _max_pool(rank: int, with_index: bool = False) -> Any:
    def forward(p: Any, x: Tensor) -> Any:
        kernel, stride = _window(p, rank)
        values, places = pools.max_pool(
            x, kernel=kernel, stride=stride, padding=_padding(p, x, kernel, stride), dilation=(1,) * rank,
            ceil_mode=bool(p.attrs.get("ceil_mode")),
        )  # fmt: skip
        if not with_index:
            return values
        # MindSpore counts places through all channels of a sample
        channel = iota(shape=tuple(places.shape), axis=1, dtype=dt.int64)
        offset = arithmetic.mul(channel, constant_like(channel, numel(x.shape[2:])))
        return values, to_dtype(arithmetic.add(places, offset), dt.int32)

    return forward


def _avg_pool(rank: int) -> Any:
    def forward(p: Any, x: Tensor) -> Tensor:
        kernel, stride = _window(p, rank)
        return pools.avg_pool(
            x, kernel=kernel, stride=stride, padding=_padding(p, x, kernel, stride),
            ceil_mode=p.attrs.get("ceil_mode", False), divisor=p.attrs.get("divisor_override", 0),
            count_include_pad=p.attrs.get("count_include_pad", True) and (rank == 3 or p.pad_mode.lower() == "pad"),
        )  # fmt: skip

    return forward


def _check_pool(p: Any) -> None:
    modes = ("same", "valid", "pad") if "3D" in p.name else ("same", "valid")
    if not isinstance(p.pad_mode, str) or p.pad_mode.lower() not in modes:
        raise ValueError(
            f"For '{p.name}', the 'pad_mode' must be in {[m.upper() for m in modes]}, but got {p.pad_mode}."
        )


_POOL = {"kernel_size": 1, "strides": 1, "pad_mode": "valid", "data_format": "NCHW"}
_row("MaxPool", _max_pool(2), _POOL, check=_check_pool, only=_FIRST_2D)
_row("MaxPoolWithArgmax", _max_pool(2, with_index=True), _POOL, check=_check_pool, only=_FIRST_2D)
_row("AvgPool", _avg_pool(2), {**_POOL, "pad_mode": "VALID"}, check=_check_pool, only=_FIRST_2D)
_row(
    "MaxPool3D", _max_pool(3),
    {"kernel_size": 1, "strides": 1, "pad_mode": "VALID", "pad_list": 0, "ceil_mode": None, "data_format": "NCDHW"},
    check=_check_pool, only=_FIRST_3D,
)  # fmt: skip
_row(
    "AvgPool3D", _avg_pool(3),
    {
        "kernel_size": 1, "strides": 1, "pad_mode": "valid", "pad": 0, "ceil_mode": False, "count_include_pad": True,
        "divisor_override": 0, "data_format": "NCDHW",
    }, check=_check_pool, only=_FIRST_3D,
)  # fmt: skip


def _max_pool_v2(p: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """Maxima and their places, these in ``argmax_type``."""
    values, places = pool.maximum(2, x, p.kernel_size, p.strides, p.pads, p.dilation, p.ceil_mode)
    return values, to_dtype(places, p.argmax_type)


_row(
    "MaxPoolWithArgmaxV2",
    _max_pool_v2,
    {
        "kernel_size": REQUIRED,
        "strides": None,
        "pads": 0,
        "dilation": (1, 1),
        "ceil_mode": False,
        "argmax_type": dt.int64,
    },
)
_row("AdaptiveAvgPool2D", lambda p, x: pool.adaptive_average(2, x, p.output_size), {"output_size": REQUIRED})
_row("AdaptiveAvgPool3D", lambda p, x: pool.adaptive_average(3, x, p.output_size), {"output_size": REQUIRED})
_row("AdaptiveMaxPool2D", lambda p, x: pool.adaptive_maximum(2, x, p.output_size), {"output_size": REQUIRED})

# ---- normalisation --------------------------------------------------------------------------------------------------


def _layer_norm(p: Any, x: Tensor, gamma: Tensor, beta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Normalised values, mean and variance over the axes from ``begin_norm_axis`` on."""
    begin = p.begin_norm_axis % x.ndim
    axes = tuple(range(begin, x.ndim))
    centred, mean, variance = moments_op(x, axes)
    out = arithmetic.mul(centred, unary.rsqrt(shifted_op(variance, p.epsilon)))
    return arithmetic.add(arithmetic.mul(out, gamma), beta), mean, variance


def _check_layer_norm(p: Any) -> None:
    if p.begin_params_axis != p.begin_norm_axis:
        raise ValueError(
            f"For 'LayerNorm', the 'begin_params_axis' must be the 'begin_norm_axis' {p.begin_norm_axis}, but got "
            f"{p.begin_params_axis}."
        )


_LAYER_NORM = {"begin_norm_axis": 1, "begin_params_axis": 1, "epsilon": 1e-7}
_row("LayerNorm", _layer_norm, _LAYER_NORM, check=_check_layer_norm)


def _batch_norm(p: Any, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor) -> tuple[Tensor, ...]:
    """Normalised values and the statistics: of the batch while training (which move the given ones), else the given."""
    if p.data_format == "NHWC":
        last = x.ndim - 1
        out, *rest = _batch_norm_channels_first(p, move_axis(x, last, 1), scale, bias, mean, variance)
        return move_axis(out, 1, last), *rest
    return _batch_norm_channels_first(p, x, scale, bias, mean, variance)


def _batch_norm_channels_first(
    p: Any, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor
) -> tuple[Tensor, ...]:
    if not p.is_training:
        out = batch_norm_inference_op(x, scale, bias, mean, variance, p.epsilon)
        return out, mean, variance, mean, variance
    out, batch_mean, batch_variance = batch_norm_training_op(x, scale, bias, p.epsilon)
    count = numel(x.shape) // x.shape[1]
    unbiased = scaled_op(batch_variance, count / (count - 1)) if count > 1 else batch_variance
    for running, new in ((mean, batch_mean), (variance, unbiased)):
        write(running, arithmetic.add(scaled_op(running, 1 - p.momentum), scaled_op(new, p.momentum)))
    return out, batch_mean, batch_variance, batch_mean, batch_variance


_BATCH_NORM = {"is_training": False, "epsilon": 1e-5, "momentum": 0.1, "data_format": "NCHW"}
_row("BatchNorm", _batch_norm, _BATCH_NORM, only={"data_format": ("NCHW", "NHWC")})
_row("L2Normalize", lambda p, x: l2_normalize_op(x, p.axis, p.epsilon), {"axis": 0, "epsilon": 1e-4})
_row(
    "LRN", lambda p, x: nn.lrn(x, p.depth_radius, p.bias, p.alpha, p.beta),
    {"depth_radius": 5, "bias": 1.0, "alpha": 1.0, "beta": 0.5, "norm_region": "ACROSS_CHANNELS"},
    only={"norm_region": ("ACROSS_CHANNELS",)},
)  # fmt: skip
_row("RmsNorm", lambda p, x, g: nn.rms_norm(x, g, p.epsilon), {"epsilon": 1e-6})

# ---- losses ---------------------------------------------------------------------------------------------------------

_MEAN = {"reduction": "mean"}


def _check_reduction(p: Any) -> None:
    if p.reduction not in ("none", "mean", "sum", "batchmean"):
        raise ValueError(f"For '{p.name}', the 'reduction' must be in ['none', 'mean', 'sum'], but got {p.reduction}.")


def _nll(p: Any, logits: Tensor, labels: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """The loss and the sum of the weights of the labels."""
    out = losses.nll_loss(logits, labels, weight, p.ignore_index, p.reduction, owner="NLLLoss")
    ignored = equal(labels, constant_like(labels, p.ignore_index))
    weights = gather(weight, select(ignored, zeros_like(labels), labels), axis=0)
    return out, losses.total(select(ignored, zeros_like(weights), weights))


_row("NLLLoss", _nll, {**_MEAN, "ignore_index": -100}, check=_check_reduction)
_row(
    "BinaryCrossEntropy",
    lambda p, x, y, w=None: loss.binary_cross_entropy(x, y, w, p.reduction),
    _MEAN,
    check=_check_reduction,
)
_row(
    "BCEWithLogitsLoss",
    lambda p, x, y, w=None, pos=None: loss.binary_cross_entropy_with_logits(x, y, w, pos, p.reduction),
    _MEAN, check=_check_reduction,
)  # fmt: skip
_row("KLDivLoss", lambda p, x, y: loss.kl_div(x, y, p.reduction), _MEAN, check=_check_reduction)
_row(
    "SmoothL1Loss", lambda p, x, y: loss.smooth_l1_loss(x, y, p.beta, p.reduction), {"beta": 1.0, "reduction": "none"},
    check=_check_reduction,
)  # fmt: skip
_row("SoftMarginLoss", lambda p, x, y: loss.soft_margin_loss(x, y, p.reduction), _MEAN, check=_check_reduction)
_row(
    "MultiMarginLoss", lambda p, x, y, w=None: loss.multi_margin_loss(x, y, p.p, p.margin, w, p.reduction),
    {"p": 1, "margin": 1.0, "reduction": "mean"},
)  # fmt: skip
_row("MultilabelMarginLoss", lambda p, x, y: losses.multilabel_margin_loss(x, y, p.reduction), _MEAN)
_row(
    "TripletMarginLoss",
    lambda p, a, pos, neg, margin: loss.triplet_margin_loss(a, pos, neg, margin, p.p, p.eps, p.swap, p.reduction),
    {"p": 2, "swap": False, "eps": 1e-6, "reduction": "mean"},
)


def _sparse_cross_entropy(p: Any, logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross entropy with classes; with ``is_grad`` its gradient with respect to the logits."""
    if not p.is_grad:
        return losses.sparse_softmax_cross_entropy_with_logits(logits, labels)

    chosen = one_hot(labels, depth=logits.shape[-1], dtype=logits.dtype)
    gap = arithmetic.sub(softmax_op(logits, axis=logits.ndim - 1), chosen)
    return scaled_op(gap, 1.0 / number_along(logits, (0,)))


_row("SparseSoftmaxCrossEntropyWithLogits", _sparse_cross_entropy, {"is_grad": False})

# ---- images ---------------------------------------------------------------------------------------------------------


def _nearest(p: Any, x: Tensor, size: Any) -> Tensor:
    """The nearest element; with ``half_pixel_centers`` places are the middles of pixels."""
    mode = "nearest-exact" if p.half_pixel_centers else "nearest"
    return image.resize(x, shape_of((size,), p.name), mode, p.align_corners)


def _bilinear(p: Any, x: Tensor, size: Any) -> Tensor:
    """Linear interpolation; without ``half_pixel_centers`` places are the upper left corners of pixels."""
    mode = "linear" if p.half_pixel_centers or p.align_corners else "linear-corner"
    return image.resize(x, shape_of((size,), p.name), mode, p.align_corners)


def _check_corners(p: Any) -> None:
    if p.align_corners and p.half_pixel_centers:
        raise ValueError(f"For '{p.name}', 'align_corners' and 'half_pixel_centers' cannot be True both.")


_CORNERS = {"align_corners": False, "half_pixel_centers": False}
_row("ResizeNearestNeighbor", lambda p, x: _nearest(p, x, p.size), {"size": REQUIRED, **_CORNERS}, check=_check_corners)
_row("ResizeNearestNeighborV2", _nearest, _CORNERS, check=_check_corners)
_row("ResizeBilinearV2", _bilinear, _CORNERS, check=_check_corners)
_row("ChannelShuffle", lambda p, x: images.channel_shuffle(x, p.group), {"group": REQUIRED})
_row("AffineGrid", lambda p, theta, size: images.affine_grid(theta, size, p.align_corners), {"align_corners": False})


def _columns(unfolded: Tensor, x: Tensor) -> Tensor:
    """(N, C, taps, positions) of (N, C * taps, positions)."""
    n, c = x.shape[:2]
    rows, places = unfolded.shape[1:]
    return reshape(unfolded, shape=(n, c, rows // c, places))


_GRID = {"interpolation_mode": "bilinear", "padding_mode": "zeros", "align_corners": False}
for _name in ("GridSampler2D", "GridSampler3D"):
    _row(_name, lambda p, x, g: images.grid_sample(x, g, p.interpolation_mode, p.padding_mode, p.align_corners), _GRID)
_row(
    "Im2Col", lambda p, x: _columns(images.unfold(x, p.ksizes, p.dilations, p.pads, p.strides), x),
    {"ksizes": REQUIRED, "strides": 1, "dilations": 1, "pads": 0},
)  # fmt: skip
_row(
    "Col2Im", lambda p, x, size: images.col2im(x, size, p.kernel_size, p.dilation, p.padding, p.stride),
    {"kernel_size": REQUIRED, "dilation": 1, "padding": 0, "stride": 1},
)  # fmt: skip
