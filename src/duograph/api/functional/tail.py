"""Functions that few programs use: CTC, columns to images, fractional pooling, candidates, writes of other kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.ops import ctc, image, scatter
from duograph.ops import decoding as decoders
from duograph.ops import random as draws
from duograph.ops.cast import stop_gradient as stop_gradient_op
from duograph.ops.creation import full
from duograph.ops.movement import expand_dims, reshape, transpose
from duograph.ops.slices import slice_axis
from duograph.ops.unary import erfinv
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

from ..promote import as_tensor, to_dtype
from .forms import axis_of, contents, dtype_or, need_tensor, on_cpu, one_per_axis, only, public_functions
from .random import source

# ---- sequences -------------------------------------------------------------------------------------------------------


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The CTC loss of sequences of log probabilities (T, N, C), and the forward variables.

    Args:
        log_probs: (T, N, C).
        targets: labels (N, S).
        input_lengths: steps of every sequence.
        target_lengths: labels of every sequence.
        blank: the class that means no label.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        zero_infinity: losses of sequences without any alignment count as 0.

    Returns:
        The loss and the forward variables.

    Raises:
        ValueError: unknown ``reduction``.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> log_probs = ops.log_softmax(Tensor([[[0.0, 0.0]], [[0.0, 0.0]]]))
        >>> loss, _ = ops.ctc_loss(log_probs, Tensor([[1]]), Tensor([2]), Tensor([1]))
        >>> print(loss)
        0.2876821
    """
    need_tensor("CTCLossV2", log_probs=log_probs, targets=targets)
    steps, labels = (as_tensor(n, dt.int64) for n in (input_lengths, target_lengths))
    return ctc.ctc_loss(log_probs, targets, steps, labels, blank, reduction, zero_infinity)


def ctc_greedy_decoder(
    inputs: Tensor, sequence_length: Tensor, merge_repeated: bool = True
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The best class of every step, without blanks (the last class): indices, labels, shape, and minus the scores."""
    need_tensor("CTCGreedyDecoder", inputs=inputs, sequence_length=sequence_length)
    return decoders.ctc_greedy_decoder(inputs, sequence_length, merge_repeated=bool(merge_repeated))


# ---- images ----------------------------------------------------------------------------------------------------------


def _pairs(value: Any, name: str) -> tuple[int, int]:
    a, b = one_per_axis(value, 2, "Col2Im", name)
    return a, b


def col2im(
    input_x: Tensor, output_size: Any, kernel_size: Any, dilation: Any, padding_value: Any, stride: Any
) -> Tensor:
    """Columns (N, C, taps, positions) added up to images (N, C, H, W): the adjoint of `unfold`."""
    need_tensor("Col2Im", input_x=input_x)
    n, c, taps, places = input_x.shape
    pads = tuple((p, p) for p in _pairs(padding_value, "padding_value"))
    return image.fold(
        reshape(input_x, shape=(n, c * taps, places)), _pairs(output_size, "output_size"),
        _pairs(kernel_size, "kernel_size"), _pairs(dilation, "dilation"), pads, _pairs(stride, "stride"),
    )  # fmt: skip


def _fractional(rank: int) -> Callable[..., Any]:
    def function(
        input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
        return_indices: bool = False, _random_samples: Tensor | None = None,
    ) -> Any:  # fmt: skip
        name = f"fractional_max_pool{rank}d"
        need_tensor(name, input=input)
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"For '{name}', exactly one of 'output_size' and 'output_ratio' must be given.")
        x = input if input.ndim == rank + 2 else expand_dims(input, 0)
        extents = x.shape[2:]
        if output_size is None:
            ratio = (output_ratio,) * rank if isinstance(output_ratio, float) else output_ratio
            size = tuple(int(n * r) for n, r in zip(extents, ratio, strict=True))
        else:
            size = one_per_axis(output_size, rank, name, "output_size")
        samples = _random_samples
        if samples is None:
            samples = draws.standard_uniform((*x.shape[:2], rank), x.dtype)
        kernel = one_per_axis(kernel_size, rank, name, "kernel_size")
        values, places = decoders.fractional_max_pool(x, samples, kernel=kernel, size=size)
        if input.ndim != rank + 2:
            values, places = (reshape(t, shape=tuple(t.shape[1:])) for t in (values, places))
        return (values, places) if return_indices else values

    function.__name__ = function.__qualname__ = f"fractional_max_pool{rank}d"
    function.__doc__ = "The maximum over windows at pseudo-random places, one window per result place."
    return function


# ---- writes and moves ------------------------------------------------------------------------------------------------


def inplace_index_add(var: Any, indices: Tensor, updates: Tensor, axis: int) -> Any:
    """Adds the slices ``updates`` to ``var`` at ``indices`` along ``axis``, in place."""
    write(var, scatter.index_add(var, indices, updates, axis=axis_of(axis, var, "InplaceIndexAdd")))
    return contents(var)


def erfinv_(input: Tensor) -> Tensor:
    """`erfinv`, in place."""
    write(input, erfinv(input))
    return input


def relu_(input: Tensor) -> Tensor:
    """`relu`, in place."""
    from duograph.ops.unary import relu

    write(input, relu(input))
    return input


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """`threshold`, in place."""
    from .nn import threshold as threshold_function

    write(input, threshold_function(input, threshold, value))
    return input


def stop_gradient_(input: Tensor) -> Tensor:
    """From here on ``input`` is a constant for gradients."""
    write(input, stop_gradient_op(input))
    return input


def move_to(input: Tensor, to: str = "CPU", blocking: bool = True) -> Tensor:
    """``input`` on the device ``to``; here there is the CPU alone.

    Raises:
        ValueError: unknown or missing device.
    """
    need_tensor("MoveTo", input=input)
    return input.move_to(to, blocking)


def empty(*size: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor whose contents do not matter (zeros)."""
    on_cpu("empty", device)
    given = size[0] if len(size) == 1 and isinstance(size[0], list | tuple) else size
    return full(shape=tuple(given), value=0, dtype=dtype_or(dtype, dt.float32))


def empty_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """`empty` in the shape of ``input``."""
    need_tensor("EmptyLike", input=input)
    on_cpu("empty_like", device)
    return full(shape=tuple(input.shape), value=0, dtype=dtype_or(dtype, input.dtype))


def dyn_shape(input_x: Tensor) -> Tensor:
    """The shape as an int64 tensor."""
    need_tensor("TensorShape", input_x=input_x)
    return as_tensor(tuple(input_x.shape), dt.int64)


def eps(x: Tensor) -> Tensor:
    """The smallest number that makes a difference when added to 1, in the shape of ``x``."""
    need_tensor("Eps", x=x)
    return full(shape=tuple(x.shape), value=float(np.finfo(x.dtype.numpy).eps), dtype=x.dtype)


# ---- layers ----------------------------------------------------------------------------------------------------------


def add_layer_norm(
    x1: Tensor, x2: Tensor, gamma: Tensor, beta: Tensor, epsilon: float = 1e-5, additional_output: bool = False
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The layer norm of ``x1 + x2`` over the axes of ``gamma``, mean, inverse deviation and the sum."""
    from duograph.ops.norm import moments
    from duograph.ops.unary import rsqrt

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


def flash_attention_score(
    query: Tensor, key: Tensor, value: Tensor, head_num: int, real_shift: Tensor | None = None,
    drop_mask: Tensor | None = None, padding_mask: Tensor | None = None, attn_mask: Tensor | None = None,
    prefix: Any = None, actual_seq_qlen: Any = None, actual_seq_kvlen: Any = None, keep_prob: float = 1.0,
    scalar_value: float = 1.0, pre_tokens: int = 2147483647, next_tokens: int = 2147483647, inner_precise: int = 0,
    input_layout: str = "BSH", sparse_mode: int = 0,
) -> Tensor:  # fmt: skip
    """Attention of ``head_num`` heads, ``softmax(q k^T * scalar_value + shift) v``; ``attn_mask`` marks what is hidden.

    Raises:
        ValueError: a layout or an argument that only accelerators have.
    """
    from duograph.ops.linalg import matmul
    from duograph.ops.norm import softmax
    from duograph.ops.select import masked_fill

    need_tensor("FlashAttentionScore", query=query, key=key, value=value)
    if input_layout not in ("BSH", "BNSD", "SBH", "BSND"):
        raise ValueError(f"For 'flash_attention_score', the 'input_layout' {input_layout} is not supported on CPU.")
    if padding_mask is not None:
        raise ValueError("For 'flash_attention_score', the 'padding_mask' must be None: it is reserved.")
    for name, tokens in (("pre_tokens", pre_tokens), ("next_tokens", next_tokens)):
        only("flash_attention_score", name, tokens, 2147483647)
    only("flash_attention_score", "inner_precise", inner_precise, 0)
    if prefix is not None or actual_seq_qlen is not None or actual_seq_kvlen is not None or sparse_mode != 0:
        raise ValueError("For 'flash_attention_score', sequence lengths, prefixes and sparse modes need an NPU.")

    def heads(x: Tensor) -> Tensor:
        if input_layout == "BNSD":
            return x
        if input_layout == "BSND":
            return transpose(x, perm=(0, 2, 1, 3))
        split = reshape(x, shape=(*x.shape[:2], head_num, x.shape[2] // head_num))
        return transpose(split, perm=(0, 2, 1, 3) if input_layout == "BSH" else (1, 2, 0, 3))

    q, k, v = heads(query), heads(key), heads(value)
    scores = matmul(q, k, transpose_b=True) * scalar_value
    scores = scores if real_shift is None else scores + real_shift
    if attn_mask is not None:
        scores = masked_fill(scores, to_dtype(attn_mask, dt.bool_), as_tensor(-65504.0, scores.dtype))
    weights = softmax(scores, axis=scores.ndim - 1)
    if drop_mask is not None:
        weights = weights * to_dtype(drop_mask, weights.dtype) / keep_prob
    out = matmul(weights, v)
    if input_layout == "BNSD":
        return out
    moved = transpose(out, perm=(2, 0, 1, 3) if input_layout == "SBH" else (0, 2, 1, 3))
    return moved if input_layout == "BSND" else reshape(moved, shape=tuple(query.shape))


# ---- candidates ------------------------------------------------------------------------------------------------------


def uniform_candidate_sampler(
    true_classes: Tensor, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0,
    remove_accidental_hits: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Classes drawn evenly below ``range_max``, and how often true and drawn classes are expected.

    Raises:
        ValueError: ``num_true`` is not the number of true classes of each sample, or drawn ones must differ from them.
    """
    need_tensor("UniformCandidateSampler", true_classes=true_classes)
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise ValueError(
            f"For 'UniformCandidateSampler', the shape of 'true_classes' must be (batch, num_true={num_true}), but got "
            f"{tuple(true_classes.shape)}."
        )
    only("UniformCandidateSampler", "remove_accidental_hits", remove_accidental_hits, False)
    if unique:
        drawn = slice_axis(draws.randperm(range_max, dt.int64, source(seed or None)), 0, 0, num_sampled)
    else:
        drawn = draws.randint(0, range_max, (num_sampled,), dt.int64, source(seed or None))
    share = num_sampled / range_max
    counts = (full(shape=s, value=share, dtype=dt.float32) for s in (tuple(true_classes.shape), (num_sampled,)))
    return (to_dtype(drawn, true_classes.dtype), *counts)  # type: ignore[return-value]


FUNCTIONS = public_functions(globals()) | {
    **{f"fractional_max_pool{rank}d": _fractional(rank) for rank in (2, 3)},
}  # fmt: skip
