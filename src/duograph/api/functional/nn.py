"""Functions of layers: convolution, normalisation, dropout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.ops import arithmetic, movement
from duograph.ops import conv as convs
from duograph.ops.cast import in_single
from duograph.ops.compare import less
from duograph.ops.creation import constant_like, full
from duograph.ops.norm import batch_norm_inference as batch_norm_inference_op
from duograph.ops.norm import batch_norm_training as batch_norm_training_op
from duograph.ops.norm import group_norm as group_norm_op
from duograph.ops.norm import l2_normalize as l2_normalize_op
from duograph.ops.norm import layer_norm as layer_norm_op
from duograph.ops.norm import lrn as lrn_op
from duograph.ops.norm import moments, unbiased_variance
from duograph.ops.norm import rms_norm as rms_norm_op
from duograph.ops.norm import scaled as scaled_op
from duograph.ops.random import dropout_mask
from duograph.ops.select import select
from duograph.ops.slices import stack
from duograph.ops.unary import isfinite, rsqrt
from duograph.tensor import hooks
from duograph.tensor.eager import write
from duograph.tensor.random import Generator
from duograph.tensor.tensor import Tensor

from ..promote import to_dtype
from .forms import documented, named, need_tensor, not_public, one_per_axis, only, public_functions
from .linalg import vector_norm
from .padding import pad_pairs

# ---- activations ----------------------------------------------------------------------------------------------------


# ---- convolution ----------------------------------------------------------------------------------------------------


@not_public
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

    doc = f"""Convolution over {rank} axes: input (N, C, *size), weight (O, C / groups, *kernel).

    Args:
        input: the input.
        weight: the kernels.
        bias: one number per output channel.
        stride: step of the windows.
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"`` (as ``padding`` says).
        padding: elements added on each side.
        dilation: distance of kernel elements.
        groups: groups of channels.
    """
    call = f"ops.conv{rank}d(ops.ones({(1, 1, *[3] * rank)}), ops.ones({(2, 1, *[2] * rank)})).shape"
    returns = "Tensor, of shape ``(N, O, *places)`` and the dtype of ``input``."
    return named(function, f"conv{rank}d", documented(doc, returns, call, str((1, 2, *[2] * rank))))


conv1d, conv2d, conv3d = (_convolution(rank) for rank in (1, 2, 3))


def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """Transposed convolution: input (N, C, H, W), weight (C, O / groups, *kernel).

    Returns:
        Tensor, of shape ``(N, O, *places)`` and the dtype of ``input``.

    Examples:
        >>> print(ops.conv_transpose2d(Tensor([[[[1.0, 2.0]]]]), Tensor([[[[1.0, 1.0]]]]), stride=2))
        [[[[1. 1. 2. 2.]]]]
    """
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

    Returns:
        Tensor, of the shape and dtype of ``input_x``.

    Raises:
        ValueError: ``bias`` does not have one number per channel.

    Examples:
        >>> print(ops.bias_add(Tensor([[1.0, 2.0]]), Tensor([10.0, 20.0])))
        [[11. 22.]]
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
    """Mean 0 and variance 1 over the last axes, then scaled and shifted.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.layer_norm(Tensor([[1.0, 3.0]]), (2,), Tensor([1.0, 1.0]), Tensor([0.0, 0.0]), eps=0.0))
        [[-1.  1.]]
    """
    need_tensor("LayerNorm", input=input)
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    return layer_norm_op(input, shape, weight, bias, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Mean 0 and variance 1 within groups of channels, then scaled and shifted per channel.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.group_norm(Tensor([[[1.0], [3.0]]]), 1, eps=0.0))
        [[[-1.]
          [ 1.]]]
    """
    need_tensor("GroupNorm", input=input)
    return group_norm_op(input, num_groups, weight, bias, eps)


def rms_norm(x: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple[Tensor, Tensor]:
    """``x`` divided by its root mean square, times ``gamma``; and the reciprocal root.

    Returns:
        Two Tensors: of the shape of ``x``, and with extent 1 along the axes of ``gamma``.

    Examples:
        >>> print(*ops.rms_norm(Tensor([3.0, 3.0]), Tensor([1.0, 2.0]), 0.0))
        [1. 2.] [0.33333334]
    """
    need_tensor("RmsNorm", x=x, gamma=gamma)
    return rms_norm_op(x, gamma, epsilon)


def add_rms_norm(x1: Tensor, x2: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple[Tensor, Tensor, Tensor]:
    """`rms_norm` of ``x1 + x2``; also the reciprocal root and the sum.

    Returns:
        Three Tensors: of the shape of ``x1``, with extent 1 along the axes of ``gamma``, of the shape of ``x1``.

    Examples:
        >>> print(*ops.add_rms_norm(Tensor([1.0, 1.0]), Tensor([2.0, 2.0]), Tensor([1.0, 2.0]), 0.0))
        [1. 2.] [0.33333334] [3. 3.]
    """
    total = arithmetic.add(x1, x2)
    out, rstd = rms_norm_op(total, gamma, epsilon)
    return out, rstd, total


def batch_norm(
    input_x: Tensor, running_mean: Any, running_var: Any, weight: Any, bias: Any, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """``input_x`` (N, C, ...) normalised per channel; in training by own statistics, which move the running ones.

    Returns:
        Tensor, of the shape and dtype of ``input_x``.

    Examples:
        >>> one, zero = Tensor([1.0]), Tensor([0.0])
        >>> print(ops.batch_norm(Tensor([[1.0], [3.0]]), Tensor([2.0]), one, one, zero, eps=0.0))
        [[-1.]
         [ 1.]]
    """
    others = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    need_tensor("BatchNorm", input_x=input_x, **{name: x for name, x in others.items() if x is not None})
    if not training:
        return batch_norm_inference_op(input_x, weight, bias, running_mean, running_var, eps)
    out, mean, variance = batch_norm_training_op(input_x, weight, bias, eps)
    for running, new in ((running_mean, mean), (running_var, unbiased_variance(variance, input_x))):
        if running is not None:
            kept = _share_of(running, 1 - momentum)
            write(running, arithmetic.add(kept, _share_of(to_dtype(new, running.dtype), momentum)))
    return out


def _share_of(statistic: Tensor, share: Any) -> Tensor:
    if isinstance(share, Tensor):  # what layers of `mint` count for a cumulative average
        return arithmetic.mul(statistic, to_dtype(share, statistic.dtype))
    return scaled_op(statistic, share)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """``input`` divided by its p-norm along ``dim`` (at least ``eps``).

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.normalize(Tensor([[3.0, 4.0]])))
        [[0.6 0.8]]
    """
    return _normalized(input, p, dim, eps)


@in_single
def _normalized(x: Tensor, p: float, dim: int, eps: float) -> Tensor:
    size = vector_norm(x, p, dim, True)
    return arithmetic.div(x, arithmetic.maximum(size, constant_like(size, eps)))


def lrn(
    x: Tensor, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
    norm_region: str = "ACROSS_CHANNELS",
) -> Tensor:  # fmt: skip
    """Local response normalisation over the channels.

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Raises:
        ValueError: another ``norm_region`` than ``"ACROSS_CHANNELS"``.

    Examples:
        >>> print(ops.lrn(Tensor([[[[1.0]]]]), alpha=3.0))
        [[[[0.5]]]]
    """
    need_tensor("LRN", x=x)
    only("LRN", "norm_region", norm_region, "ACROSS_CHANNELS")
    return lrn_op(x, depth_radius, bias, alpha, beta)


def l2_normalize(x: Tensor, axis: Any = 0, epsilon: float = 1e-4) -> Tensor:
    """``x / sqrt(max(sum(x*x), epsilon))`` over ``axis``.

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Examples:
        >>> print(ops.l2_normalize(Tensor([3.0, 4.0])))
        [0.6 0.8]
    """
    need_tensor("L2Normalize", x=x)
    return l2_normalize_op(x, axis, epsilon)


def clip_by_norm(x: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    """All tensors scaled down so that their joint norm is at most ``max_norm``; as they are if that is NaN.

    Returns:
        What was given, of the same shapes.

    Raises:
        RuntimeError: the norm is not finite, and ``error_if_nonfinite``.

    Examples:
        >>> print(ops.clip_by_norm(Tensor([3.0, 4.0]), 1.0))
        [0.5999999  0.79999983]
    """
    parts = [x] if isinstance(x, Tensor) else list(x)
    sizes = [vector_norm(t, norm_type) for t in parts]

    total = sizes[0] if len(sizes) == 1 else vector_norm(stack(*sizes, axis=0), norm_type)
    factor = arithmetic.div(constant_like(total, max_norm), arithmetic.add(total, constant_like(total, 1e-6)))
    if error_if_nonfinite and not hooks.truth(isfinite(total)):
        raise RuntimeError(f"For clip_by_norm, the total norm of order {norm_type} from input is non-finite.")
    factor = select(less(factor, constant_like(factor, 1)), factor, constant_like(factor, 1))
    out = [arithmetic.mul(t, to_dtype(factor, t.dtype)) for t in parts]
    return out[0] if isinstance(x, Tensor) else type(x)(out)


# ---- dropout --------------------------------------------------------------------------------------------------------


@not_public
def masked_and_scaled(x: Tensor, mask: Tensor, keep: float) -> Tensor:
    """``x / keep`` where ``mask`` holds, 0 elsewhere."""
    if keep == 0:
        return arithmetic.mul(x, constant_like(x, 0))
    return select(mask, scaled_op(x, 1.0 / keep), constant_like(x, 0))


def dropout(input: Tensor, p: float = 0.5, training: bool = True, seed: int | None = None) -> Tensor:
    """Elements set to 0 with probability ``p``, the others divided by ``1 - p``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Raises:
        ValueError: ``p`` is not in [0, 1].

    Examples:
        >>> print(ops.dropout(Tensor([1.0, 2.0]), p=0.0))
        [1. 2.]
    """
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
        name = f"dropout{rank}d"
        need_tensor(f"Dropout{rank}D", input=input)
        _check_p(name, p)
        if not training or p == 0:
            return input
        lead = input.ndim - rank
        mask = dropout_mask(1 - p, (*input.shape[:lead], *(1,) * rank))
        return masked_and_scaled(input, mask, 1 - p)

    shape = (1, 2, *[3] * rank)
    return named(
        function, f"dropout{rank}d",
        documented("Whole channels set to 0 with probability ``p``.", "Tensor, of the shape and dtype of ``input``.",
                   f"ops.dropout{rank}d(ops.ones({shape})).shape", str(shape)),
    )  # fmt: skip


dropout1d, dropout2d, dropout3d = (_channel_dropout(rank) for rank in (1, 2, 3))


def padding(x: Tensor, pad_dim_size: int = 8) -> Tensor:
    """The last axis, of size 1, filled up with zeros to ``pad_dim_size``.

    Returns:
        Tensor, of the dtype of ``x``; its last extent is ``pad_dim_size``.

    Examples:
        >>> print(ops.padding(Tensor([[1], [2]]), 3))
        [[1 0 0]
         [2 0 0]]
    """
    need_tensor("Padding", x=x)

    return pad_pairs(x, [(0, 0)] * (x.ndim - 1) + [(0, pad_dim_size - 1)])


def add_layer_norm(
    x1: Tensor, x2: Tensor, gamma: Tensor, beta: Tensor, epsilon: float = 1e-5, additional_output: bool = False
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The layer norm of ``x1 + x2`` over the axes of ``gamma``, mean, inverse deviation and the sum.

    Returns:
        Four Tensors: normalised, mean, inverse deviation, and the sum, which is empty without ``additional_output``.

    Examples:
        >>> gamma, beta = Tensor([1.0, 1.0]), Tensor([0.0, 0.0])
        >>> print(*ops.add_layer_norm(Tensor([[1.0, 1.0]]), Tensor([[0.0, 2.0]]), gamma, beta, 0.0))
        [[-1.  1.]] [[2.]] [[1.]] []
    """
    need_tensor("AddLayerNorm", x1=x1, x2=x2, gamma=gamma, beta=beta)
    total = x1 + x2
    centred, mean, variance = moments(total, tuple(range(total.ndim - gamma.ndim, total.ndim)))
    scale = rsqrt(variance + epsilon)
    return (
        centred * scale * gamma + beta,
        mean,
        scale,
        total if additional_output else full(shape=(0,), value=0, dtype=total.dtype),
    )


FUNCTIONS = public_functions(globals())
