"""Attention: scaled dot products, the split into heads around them, and rotary positions. Composites over ops."""

from __future__ import annotations

import math
from typing import Any

from duograph.core.dtype import bool_
from duograph.core.shapes import numel

from .arithmetic import add, mul, neg
from .creation import constant_like, full
from .diagonals import tril
from .linalg import matmul
from .movement import expand_dims, reshape, transpose
from .norm import reduce_mean, scaled, softmax
from .select import select
from .slices import concat, slice_axis


def attention_bias(mask: Any, like: Any) -> Any:
    """A mask as something to add to scores: 0 where a bool ``mask`` holds, -inf elsewhere; floats stay as they are."""
    if not mask.dtype.is_bool:
        return mask
    return select(mask, constant_like(like, 0), constant_like(like, -math.inf))


def causal_bias(rows: Any, columns: Any, like: Any) -> Any:
    """0 on and below the diagonal, -inf above."""
    return attention_bias(tril(full(shape=(rows, columns), value=True, dtype=bool_), diagonal=0), like)


def attention_weights(query: Any, key: Any, bias: Any = None, scale: float | None = None) -> Any:
    """Softmax over the keys of ``query @ key^T * scale + bias``; by default ``scale`` is ``1 / sqrt(width)``."""
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = matmul(scaled(query, factor), key, transpose_b=True)
    if bias is not None:
        scores = add(scores, bias)
    return softmax(scores, axis=len(scores.shape) - 1)


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, is_causal: bool = False, scale: float | None = None
) -> Any:
    """Mean of ``value`` (..., S, V) weighted by `attention_weights` of ``query`` (..., L, E) and ``key`` (..., S, E).

    Args:
        query: what asks.
        key: what is asked.
        value: what answers.
        attn_mask: bool (True: takes part) or something to add to the scores; broadcasts to (..., L, S).
        is_causal: every place sees itself and those before it.
        scale: factor of the scores, default ``1 / sqrt(E)``.

    Raises:
        ValueError: ``attn_mask`` and ``is_causal`` are both given.
    """
    if attn_mask is not None and is_causal:
        raise ValueError("For 'scaled_dot_product_attention', 'attn_mask' must be None when 'is_causal' is True.")
    bias = None if attn_mask is None else attention_bias(attn_mask, query)
    if is_causal:
        bias = causal_bias(query.shape[-2], key.shape[-2], query)
    return matmul(attention_weights(query, key, bias, scale), value)


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """``x @ weight^T + bias`` over the last axis of ``x``; ``weight`` is (out, in)."""
    flat = x if len(x.shape) == 2 else reshape(x, shape=(numel(x.shape[:-1]), x.shape[-1]))
    out = matmul(flat, weight, transpose_b=True)
    out = out if bias is None else add(out, bias)
    return out if len(x.shape) == 2 else reshape(out, shape=(*x.shape[:-1], weight.shape[0]))


def split_heads(x: Any, heads: int) -> Any:
    """(length, batch, width) becomes (batch, heads, length, width / heads).

    Raises:
        ValueError: the width cannot be divided.
    """
    length, batch, width = x.shape
    if width % heads:
        raise ValueError(
            f"For 'MultiheadAttention', the width {width} must be divisible by the number of heads {heads}."
        )
    return transpose(reshape(x, shape=(length, batch, heads, width // heads)), perm=(1, 2, 0, 3))


def merge_heads(x: Any) -> Any:
    """(batch, heads, length, width) becomes (length, batch, heads * width)."""
    batch, heads, length, width = x.shape
    return reshape(transpose(x, perm=(2, 0, 1, 3)), shape=(length, batch, heads * width))


def project_packed(query: Any, key: Any, value: Any, weight: Any, bias: Any = None) -> tuple[Any, Any, Any]:
    """The three input projections by one weight (3 * width, width) and bias (3 * width,)."""
    width = weight.shape[0] // 3
    parts = []
    for i, x in enumerate((query, key, value)):
        w = slice_axis(weight, 0, i * width, (i + 1) * width)
        b = None if bias is None else slice_axis(bias, 0, i * width, (i + 1) * width)
        parts.append(linear(x, w, b))
    return parts[0], parts[1], parts[2]


def multi_head_attention(
    query: Any,
    key: Any,
    value: Any,
    heads: int,
    bias: Any = None,
    dropout: Any = None,
    need_weights: bool = False,
    average_weights: bool = True,
) -> tuple[Any, Any]:
    """Attention of projected ``query`` (L, N, E), ``key`` and ``value`` (S, N, E) in ``heads`` heads.

    Args:
        query: projected query.
        key: projected key.
        value: projected value.
        heads: number of heads.
        bias: added to the scores, broadcasts to (N, heads, L, S).
        dropout: applied to the weights, if given.
        need_weights: give the weights too.
        average_weights: give their mean over the heads.

    Returns:
        The merged heads (L, N, E), and the weights or ``None``.
    """
    weights = attention_weights(split_heads(query, heads), split_heads(key, heads), bias)
    used = weights if dropout is None else dropout(weights)
    out = merge_heads(matmul(used, split_heads(value, heads)))
    if not need_weights:
        return out, None
    return out, reduce_mean(weights, axis=(1,), keep_dims=False) if average_weights else weights


def rotate_half(x: Any) -> Any:
    """The halves of the last axis swapped, the one that comes first negated."""
    axis, width = len(x.shape) - 1, x.shape[-1]
    return concat(neg(slice_axis(x, axis, width // 2, width)), slice_axis(x, axis, 0, width // 2), axis=axis)


def rotate_interleaved(x: Any) -> Any:
    """Neighbours in the last axis swapped, the one that comes first negated."""
    axis, width = len(x.shape) - 1, x.shape[-1]
    even, odd = slice_axis(x, axis, 0, width, 2), slice_axis(x, axis, 1, width, 2)
    pairs = concat(expand_dims(neg(odd), axis + 1), expand_dims(even, axis + 1), axis=axis + 1)
    return reshape(pairs, shape=tuple(x.shape))


def rotary_position_embedding(x: Any, cos: Any, sin: Any, mode: int = 0) -> Any:
    """``x * cos + rotated(x) * sin``; mode 0 rotates halves, 1 interleaved neighbours.

    Raises:
        ValueError: unknown ``mode``.
    """
    if mode not in (0, 1):
        raise ValueError(f"For 'rotary_position_embedding', the 'mode' must be 0 or 1, but got {mode}.")
    rotated = rotate_half(x) if mode == 0 else rotate_interleaved(x)
    return add(mul(x, cos), mul(rotated, sin))
