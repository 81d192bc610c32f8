"""Functions of layers: activations, convolution, pooling, normalisation, dropout, resizing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core.shapes import conv_output_size, existing_axis
from duograph.ops import activation as act
from duograph.ops import arithmetic, attention, image, movement, sampling
from duograph.ops import conv as convs
from duograph.ops.compare import less
from duograph.ops.creation import constant_like
from duograph.ops.norm import (
    batch_norm_inference as batch_norm_inference_op,
)
from duograph.ops.norm import (
    batch_norm_training as batch_norm_training_op,
)
from duograph.ops.norm import (
    group_norm as group_norm_op,
)
from duograph.ops.norm import (
    l2_normalize as l2_normalize_op,
)
from duograph.ops.norm import (
    layer_norm as layer_norm_op,
)
from duograph.ops.norm import (
    log_softmax as log_softmax_op,
)
from duograph.ops.norm import (
    lrn as lrn_op,
)
from duograph.ops.norm import (
    rms_norm as rms_norm_op,
)
from duograph.ops.norm import (
    scaled as scaled_op,
)
from duograph.ops.norm import (
    softmax as softmax_op,
)
from duograph.ops.select import select
from duograph.ops.unary import isfinite
from duograph.ops.unary import relu as relu_op
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from ..promote import to_dtype
from .forms import (
    as_float,
    axis_of,
    enough_memory,
    in_dtype,
    inner,
    named,
    need_tensor,
    one_per_axis,
    only,
    public_functions,
    renamed,
    unary_function,
)

# ---- activations ----------------------------------------------------------------------------------------------------


def _on_floats(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: fn(as_float(x))


_PLAIN: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "relu6": (act.relu6, "ReLU6", "x"), "selu": (act.selu, "SeLU", "x"), "silu": (act.silu, "SiLU", "input"),
    "mish": (act.mish, "Mish", "x"), "hardsigmoid": (act.hardsigmoid, "HSigmoid", "input"),
    "hardswish": (act.hardswish, "HSwish", "input"), "logsigmoid": (act.logsigmoid, "LogSigmoid", "x"),
    "softsign": (act.softsign, "Softsign", "x"), "tanhshrink": (act.tanhshrink, "Tanhshrink", "input"),
    "fast_gelu": (act.fast_gelu, "FastGeLU", "x"),
}  # fmt: skip
ACTIVATIONS: dict[str, Callable[..., Tensor]] = {
    name: unary_function(name, _on_floats(fn), title, arg, fn.__doc__ or "")
    for name, (fn, title, arg) in _PLAIN.items()
}


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(input, 0)``; with ``inplace`` the tensor itself is written and given back.

    Raises:
        TypeError: ``input`` is no Tensor.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.relu(Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    need_tensor("ReLU", input=input)
    return _in_place(input, relu_op(input), inplace)


def _in_place(x: Tensor, value: Tensor, inplace: bool) -> Tensor:
    from duograph.tensor.eager import write

    if not inplace:
        return value
    write(x, value)
    return x


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """``x`` times the normal distribution function of ``x``; ``"tanh"`` approximates it."""
    need_tensor("GeLU", input=input)
    return act.gelu(as_float(input), approximate)


def _slope_function(
    name: str, fn: Callable[..., Any], title: str, default: Any, option: str, arg: str = "input"
) -> Any:
    """``fn(input, option=default)``, with the names MindSpore gives both arguments."""
    from inspect import Parameter, Signature

    def function(*args: Any, **options: Any) -> Tensor:
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        x, value = bound.arguments[arg], bound.arguments[option]
        need_tensor(title, **{arg: x})
        return fn(as_float(x), value)

    kind = Parameter.POSITIONAL_OR_KEYWORD
    signature = Signature([Parameter(arg, kind), Parameter(option, kind, default=default)])
    function.__signature__ = signature  # type: ignore[attr-defined]
    return named(function, name, fn.__doc__ or "")


leaky_relu = _slope_function("leaky_relu", act.leaky_relu, "LeakyReLU", 0.2, "alpha")
elu = _slope_function("elu", act.elu, "Elu", 1.0, "alpha", "input_x")
celu = _slope_function("celu", act.celu, "CeLU", 1.0, "alpha", "x")
hardshrink = _slope_function("hardshrink", act.hardshrink, "HShrink", 0.5, "lambd")
softshrink = _slope_function("softshrink", act.softshrink, "SoftShrink", 0.5, "lambd")
soft_shrink = _slope_function("soft_shrink", act.softshrink, "SoftShrink", 0.5, "lambd")
glu = _slope_function("glu", act.glu, "GLU", -1, "axis", "x")


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """``input`` limited to ``min_val`` .. ``max_val``."""
    need_tensor("Hardtanh", input=input)
    return act.hardtanh(input, min_val, max_val)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``; ``x`` itself above the threshold."""
    need_tensor("SoftplusExt", input=input)
    return act.softplus(as_float(input), beta, threshold)


def threshold(input: Tensor, thr: float, value: float) -> Tensor:
    """``input`` where it is above ``thr``, ``value`` elsewhere."""
    need_tensor("Threshold", input=input)
    return act.threshold(input, thr, value)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """``input`` above 0, ``weight * input`` below."""
    need_tensor("PReLU", input=input, weight=weight)
    return act.prelu(input, movement.reshape(weight, shape=(1,)) if weight.ndim == 0 else weight)


def swiglu(input: Tensor, dim: int = -1) -> Tensor:
    """`silu` of the first half along ``dim`` times the second half."""
    from duograph.ops.slices import slice_axis

    need_tensor("Swiglu", input=input)
    axis = existing_axis(dim, input.ndim, "Swiglu")
    half = input.shape[axis] // 2
    return arithmetic.mul(act.silu(slice_axis(input, axis, 0, half)), slice_axis(input, axis, half, 2 * half))


def softmax(input: Tensor, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """``exp(input)`` divided by its sum along ``axis``."""
    need_tensor("Softmax", input=input)
    x = as_float(in_dtype(input, dtype))
    return softmax_op(x, axis=_one_axis(axis, x, "Softmax"))


def log_softmax(logits: Tensor, axis: int = -1) -> Tensor:
    """Logarithm of `softmax`."""
    need_tensor("LogSoftmax", logits=logits)
    x = as_float(logits)
    return log_softmax_op(x, axis=_one_axis(axis, x, "LogSoftmax"))


def softmin(x: Tensor, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """Softmax of ``-x``."""
    need_tensor("Softmin", x=x)
    y = as_float(in_dtype(x, dtype))
    return softmax_op(arithmetic.neg(y), axis=_one_axis(axis, y, "Softmax"))


def _one_axis(axis: Any, x: Tensor, op: str) -> int:
    if isinstance(axis, list | tuple):
        if len(axis) != 1:
            raise ValueError(f"For '{op}', the length of 'axis' must be 1, but got {axis}.")
        axis = axis[0]
    return axis_of(axis, x, op)


# ---- convolution ----------------------------------------------------------------------------------------------------


@inner
def convolve(
    rank: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, pad_mode: str, padding: Any, dilation: Any,
    groups: int,
) -> Tensor:  # fmt: skip
    """Convolution of (N, C, *size) over ``rank`` spatial axes with MindSpore's padding modes."""
    name = f"Conv{rank}D"
    need_tensor(name, input=x, weight=weight)
    if x.ndim not in (rank + 1, rank + 2):
        raise ValueError(f"For '{name}', the input must have {rank + 2} dimensions, but got shape {tuple(x.shape)}.")
    batched = x if x.ndim == rank + 2 else movement.expand_dims(x, 0)
    steps = one_per_axis(stride, rank, name, "stride")
    gaps = one_per_axis(dilation, rank, name, "dilation")
    if any(s <= 0 for s in (*steps, *gaps)):
        raise ValueError(f"For '{name}', 'stride' and 'dilation' must be positive, but got {stride} and {dilation}.")
    pairs = convs.resolve_padding(pad_mode, padding, batched.shape[2:], weight.shape[2:], steps, gaps, name)
    if batched.dtype is not weight.dtype:
        raise TypeError(
            f"For '{name}', 'input' and 'weight' must have one dtype, but got {x.dtype} and {weight.dtype}."
        )
    out = convs.conv(batched, weight, stride=steps, padding=pairs, dilation=gaps, groups=groups)
    out = out if bias is None else convs.add_bias(out, bias)
    return out if batched is x else movement.squeeze(out, (0,))


def _convolution(rank: int) -> Callable[..., Tensor]:
    def function(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, pad_mode: str = "valid",
        padding: Any = 0, dilation: Any = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        return convolve(rank, input, weight, bias, stride, pad_mode, padding, dilation, groups)

    return named(
        function,
        f"conv{rank}d",
        f"""Convolution over {rank} axes: input (N, C, *size), weight (O, C / groups, *kernel).

    Args:
        input: the input.
        weight: the kernels.
        bias: one number per output channel.
        stride: step of the windows.
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"`` (as ``padding`` says).
        padding: elements added on each side.
        dilation: distance of kernel elements.
        groups: groups of channels.
    """,
    )


conv1d, conv2d, conv3d = (_convolution(rank) for rank in (1, 2, 3))


def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """Transposed convolution: input (N, C, H, W), weight (C, O / groups, *kernel)."""
    need_tensor("ConvTranspose2D", input=input, weight=weight)
    steps, pads, extra, gaps = (
        one_per_axis(v, 2, "ConvTranspose2D", n)
        for v, n in (
            (stride, "stride"),
            (padding, "padding"),
            (output_padding, "output_padding"),
            (dilation, "dilation"),
        )
    )
    batched = input if input.ndim == 4 else movement.expand_dims(input, 0)
    out = convs.conv_transpose(
        batched,
        weight,
        stride=steps,
        padding=tuple((p, p) for p in pads),
        dilation=gaps,
        groups=groups,
        output_padding=extra,
    )
    out = out if bias is None else convs.add_bias(out, bias)
    return out if batched is input else movement.squeeze(out, (0,))


def bias_add(input_x: Tensor, bias: Tensor) -> Tensor:
    """``input_x`` (N, C, ...) plus one number per channel.

    Raises:
        ValueError: ``bias`` does not have one number per channel.
    """
    need_tensor("BiasAdd", input_x=input_x, bias=bias)
    if bias.ndim != 1 or input_x.ndim < 2 or bias.shape[0] != input_x.shape[1]:
        raise ValueError(
            f"For 'BiasAdd', bias[0] shape should be equal to input_x[1] shape, but got {tuple(bias.shape)} and "
            f"{tuple(input_x.shape)}."
        )
    return convs.add_bias(input_x, bias)


# ---- normalisation --------------------------------------------------------------------------------------------------


def layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Mean 0 and variance 1 over the last axes, then scaled and shifted."""
    need_tensor("LayerNorm", input=input)
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    return layer_norm_op(input, shape, weight, bias, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Mean 0 and variance 1 within groups of channels, then scaled and shifted per channel."""
    need_tensor("GroupNorm", input=input)
    return group_norm_op(input, num_groups, weight, bias, eps)


def rms_norm(x: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple[Tensor, Tensor]:
    """``x`` divided by its root mean square, times ``gamma``; and the reciprocal root."""
    need_tensor("RmsNorm", x=x, gamma=gamma)
    return rms_norm_op(x, gamma, epsilon)


def add_rms_norm(x1: Tensor, x2: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple[Tensor, Tensor, Tensor]:
    """`rms_norm` of ``x1 + x2``; also the reciprocal root and the sum."""
    total = arithmetic.add(x1, x2)
    out, rstd = rms_norm_op(total, gamma, epsilon)
    return out, rstd, total


def batch_norm(
    input_x: Tensor, running_mean: Any, running_var: Any, weight: Any, bias: Any, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """``input_x`` (N, C, ...) normalised per channel; in training by own statistics, which move the running ones."""
    from duograph.core.shapes import numel
    from duograph.tensor.eager import write

    others = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    need_tensor("BatchNorm", input_x=input_x, **{name: x for name, x in others.items() if x is not None})
    if not training:
        return batch_norm_inference_op(input_x, weight, bias, running_mean, running_var, eps)
    out, mean, variance = batch_norm_training_op(input_x, weight, bias, eps)
    count = numel(input_x.shape) // input_x.shape[1]
    unbiased = scaled_op(variance, count / (count - 1)) if isinstance(count, int) and count > 1 else variance
    for running, new in ((running_mean, mean), (running_var, unbiased)):
        if running is not None:
            kept = scaled_op(running, 1 - momentum)
            write(running, arithmetic.add(kept, scaled_op(to_dtype(new, running.dtype), momentum)))
    return out


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """``input`` divided by its p-norm along ``dim`` (at least ``eps``)."""
    from .linalg import vector_norm

    size = vector_norm(input, p, dim, True)
    return arithmetic.div(input, arithmetic.maximum(size, constant_like(size, eps)))


def lrn(
    x: Tensor, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
    norm_region: str = "ACROSS_CHANNELS",
) -> Tensor:  # fmt: skip
    """Local response normalisation over the channels.

    Raises:
        ValueError: another ``norm_region`` than ``"ACROSS_CHANNELS"``.
    """
    need_tensor("LRN", x=x)
    only("LRN", "norm_region", norm_region, "ACROSS_CHANNELS")
    return lrn_op(x, depth_radius, bias, alpha, beta)


def l2_normalize(x: Tensor, axis: Any = 0, epsilon: float = 1e-4) -> Tensor:
    """``x / sqrt(max(sum(x*x), epsilon))`` over ``axis``."""
    need_tensor("L2Normalize", x=x)
    return l2_normalize_op(x, axis, epsilon)


def clip_by_norm(x: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    """All tensors scaled down so that their joint norm is at most ``max_norm``; as they are if that is NaN.

    Raises:
        RuntimeError: the norm is not finite, and ``error_if_nonfinite``.
    """
    from .linalg import vector_norm

    parts = [x] if isinstance(x, Tensor) else list(x)
    sizes = [vector_norm(t, norm_type) for t in parts]
    from duograph.ops.slices import stack

    total = sizes[0] if len(sizes) == 1 else vector_norm(stack(*sizes, axis=0), norm_type)
    factor = arithmetic.div(constant_like(total, max_norm), arithmetic.add(total, constant_like(total, 1e-6)))
    if error_if_nonfinite and not hooks.truth(isfinite(total)):
        raise RuntimeError(f"For clip_by_norm, the total norm of order {norm_type} from input is non-finite.")
    factor = select(less(factor, constant_like(factor, 1)), factor, constant_like(factor, 1))
    out = [arithmetic.mul(t, to_dtype(factor, t.dtype)) for t in parts]
    return out[0] if isinstance(x, Tensor) else type(x)(out)


# ---- attention ------------------------------------------------------------------------------------------------------


def rotary_position_embedding(x: Tensor, cos: Tensor, sin: Tensor, mode: int = 0) -> Tensor:
    """``x * cos + rotated(x) * sin``: halves swapped (``mode`` 0) or neighbours (1)."""
    need_tensor("RotaryPositionEmbedding", x=x, cos=cos, sin=sin)
    turned = attention.rotate_half(x) if mode == 0 else attention.rotate_interleaved(x)
    return arithmetic.add(arithmetic.mul(x, cos), arithmetic.mul(turned, sin))


# ---- images ---------------------------------------------------------------------------------------------------------


def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
) -> Tensor:  # fmt: skip
    """``input`` (N, C, *extents) resized to ``size``, or by ``scale_factor``."""
    need_tensor("interpolate", input=input)
    return image.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
) -> Tensor:  # fmt: skip
    """As `interpolate`."""
    return interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Values of ``input`` at the places ``grid``."""
    need_tensor("grid_sample", input=input, grid=grid)
    return sampling.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


def affine_grid(theta: Tensor, size: Any, align_corners: bool = False) -> Tensor:
    """The grid of places that affine maps send pixels to."""
    need_tensor("affine_grid", theta=theta)
    return sampling.affine_grid(theta, size, align_corners)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(..., C * r**2, H, W) becomes (..., C, H * r, W * r)."""
    need_tensor("pixel_shuffle", input=input)
    return image.pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(..., C, H * r, W * r) becomes (..., C * r**2, H, W)."""
    need_tensor("pixel_unshuffle", input=input)
    return image.pixel_unshuffle(input, downscale_factor)


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """The channels dealt out from ``groups`` piles in turn."""
    need_tensor("ChannelShuffle", x=x)
    return image.channel_shuffle(x, groups)


def _pairs(padding: Any, op: str) -> tuple[tuple[int, int], ...]:
    return tuple((p, p) for p in one_per_axis(padding, 2, op, "padding"))


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Windows of (N, C, H, W) as columns (N, C * taps, positions)."""
    need_tensor("unfold", input=input)
    k, d, s = (
        one_per_axis(v, 2, "unfold", n)
        for v, n in ((kernel_size, "kernel_size"), (dilation, "dilation"), (stride, "stride"))
    )
    pairs = _pairs(padding, "unfold")
    if input.ndim == 4 and all(isinstance(n, int) for n in input.shape):
        n, c, *sizes = input.shape  # windows along one axis, made first, may fit where the result does not
        count = [max(0, conv_output_size(*of_axis)) for of_axis in zip(sizes, k, s, pairs, d, strict=True)]
        enough_memory("unfold", (n, c * k[0] * k[1], count[0] * count[1]), input.dtype)  # type: ignore[arg-type]  # all numbers
    return image.unfold(input, k, d, pairs, s)  # type: ignore[arg-type]


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Columns added up to an image; the adjoint of `unfold`."""
    need_tensor("fold", input=input)
    size, k, d, s = (
        one_per_axis(v, 2, "fold", n)
        for v, n in (
            (output_size, "output_size"),
            (kernel_size, "kernel_size"),
            (dilation, "dilation"),
            (stride, "stride"),
        )
    )
    return image.fold(input, size, k, d, _pairs(padding, "fold"), s)  # type: ignore[arg-type]


# ---- dropout --------------------------------------------------------------------------------------------------------


@inner
def masked_and_scaled(x: Tensor, mask: Tensor, keep: float) -> Tensor:
    """``x / keep`` where ``mask`` holds, 0 elsewhere."""
    if keep == 0:
        return arithmetic.mul(x, constant_like(x, 0))
    return select(mask, scaled_op(x, 1.0 / keep), constant_like(x, 0))


def dropout(input: Tensor, p: float = 0.5, training: bool = True, seed: int | None = None) -> Tensor:
    """Elements set to 0 with probability ``p``, the others divided by ``1 - p``.

    Raises:
        ValueError: ``p`` is not in [0, 1].
    """
    from duograph.ops.random import dropout_mask
    from duograph.tensor.random import Generator

    need_tensor("Dropout", input=input)
    _check_p("dropout", p)
    if not training or p == 0:
        return input
    generator = None if seed is None else Generator(seed)
    return masked_and_scaled(input, dropout_mask(1 - p, tuple(input.shape), generator), 1 - p)


def _check_p(op: str, p: Any) -> None:
    if isinstance(p, bool) or not isinstance(p, int | float):
        raise TypeError(f"For '{op}', the 'p' must be float, but got {type(p).__name__}.")
    if not 0 <= p <= 1:
        raise ValueError(f"For '{op}', the 'p' must be a number in range [0, 1], but got {p}.")


def _channel_dropout(rank: int) -> Callable[..., Tensor]:
    def function(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
        from duograph.ops.random import dropout_mask

        name = f"dropout{rank}d"
        need_tensor(f"Dropout{rank}D", input=input)
        _check_p(name, p)
        if not training or p == 0:
            return input
        lead = input.ndim - rank
        mask = dropout_mask(1 - p, (*input.shape[:lead], *(1,) * rank))
        return masked_and_scaled(input, mask, 1 - p)

    return named(function, f"dropout{rank}d", "Whole channels set to 0 with probability ``p``.")


dropout1d, dropout2d, dropout3d = (_channel_dropout(rank) for rank in (1, 2, 3))


def padding(x: Tensor, pad_dim_size: int = 8) -> Tensor:
    """The last axis, of size 1, filled up with zeros to ``pad_dim_size``."""
    need_tensor("Padding", x=x)
    from .array import pad_pairs

    return pad_pairs(x, [(0, 0)] * (x.ndim - 1) + [(0, pad_dim_size - 1)])


FUNCTIONS = public_functions(globals()) | {
    **ACTIVATIONS,
    "selu": renamed(ACTIVATIONS["selu"], x="input_x"),
}  # fmt: skip
