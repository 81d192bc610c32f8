"""Attention, and embeddings of positions."""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.ops import arithmetic, attention
from duograph.ops.attention import scaled_dot_product_attention as compute
from duograph.ops.linalg import matmul
from duograph.ops.movement import reshape, transpose
from duograph.ops.norm import softmax
from duograph.ops.select import masked_fill
from duograph.tensor.tensor import Tensor

from ..promote import as_tensor, to_dtype
from .forms import need_tensor, only, public_functions


def rotary_position_embedding(x: Tensor, cos: Tensor, sin: Tensor, mode: int = 0) -> Tensor:
    """``x * cos + rotated(x) * sin``: halves swapped (``mode`` 0) or neighbours (1).

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Examples:
        >>> one, zero = Tensor([[[[1.0, 1.0]]]]), Tensor([[[[0.0, 0.0]]]])
        >>> print(ops.rotary_position_embedding(Tensor([[[[1.0, 2.0]]]]), zero, one))
        [[[[-2.  1.]]]]
    """
    need_tensor("RotaryPositionEmbedding", x=x, cos=cos, sin=sin)
    turned = attention.rotate_half(x) if mode == 0 else attention.rotate_interleaved(x)
    return arithmetic.add(arithmetic.mul(x, cos), arithmetic.mul(turned, sin))


def flash_attention_score(
    query: Tensor, key: Tensor, value: Tensor, head_num: int, real_shift: Tensor | None = None,
    drop_mask: Tensor | None = None, padding_mask: Tensor | None = None, attn_mask: Tensor | None = None,
    prefix: Any = None, actual_seq_qlen: Any = None, actual_seq_kvlen: Any = None, keep_prob: float = 1.0,
    scalar_value: float = 1.0, pre_tokens: int = 2147483647, next_tokens: int = 2147483647, inner_precise: int = 0,
    input_layout: str = "BSH", sparse_mode: int = 0,
) -> Tensor:  # fmt: skip
    """Attention of ``head_num`` heads, ``softmax(q k^T * scalar_value + shift) v``; ``attn_mask`` marks what is hidden.

    Returns:
        Tensor, of the shape and dtype of ``query``.

    Raises:
        ValueError: a layout or an argument that only accelerators have.

    Examples:
        >>> query = key = value = Tensor(np.ones((1, 2, 4), np.float16))
        >>> print(ops.flash_attention_score(query, key, value, 2).shape)
        (1, 2, 4)
    """
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


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, *, is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:  # fmt: skip
    """Scaled dot product attention. By position PyTorch takes the rate of a dropout next: hence the keywords.

    Returns:
        Tensor, of the dtype of ``query``, of shape ``(..., L, Ev)``: rows of ``query``, columns of ``value``.

    Examples:
        >>> query, key = Tensor([[1.0, 0.0]]), Tensor([[0.0, 0.0], [0.0, 0.0]])
        >>> print(ops.scaled_dot_product_attention(query, key, Tensor([[1.0], [3.0]])))
        [[2.]]
    """
    masks = {} if attn_mask is None else {"attn_mask": attn_mask}
    need_tensor("ScaledDotProductAttention", query=query, key=key, value=value, **masks)
    return compute(query, key, value, attn_mask, is_causal, scale)


FUNCTIONS = public_functions(globals())
