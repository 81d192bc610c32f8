"""Attention and transformer layers. Sequences: (length, batch, width), or with batch_first (batch, length, width)."""

from __future__ import annotations

import copy
from typing import Any

from duograph.common.initializer import XavierNormal, XavierUniform, initializer
from duograph.core import dtype as dt
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.ops.attention import attention_bias, linear, multi_head_attention, project_packed
from duograph.ops.cast import cast
from duograph.ops.creation import full
from duograph.ops.logical import logical_not
from duograph.ops.movement import broadcast_to, expand_dims, reshape, transpose
from duograph.ops.slices import concat, slice_axis
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .activation import GELU, ReLU
from .basic import Dense, Dropout, dropout
from .container import CellList
from .normalization import LayerNorm


class MultiheadAttention(Cell):
    """Attention in several heads: ``construct(query, key, value, ...)`` returns the result and the weights.

    Args:
        embed_dim (int): width.
        num_heads (int): number of heads; divides the width.
        dropout (float): of the weights. Default ``0.0``.
        has_bias (bool): of the projections. Default ``True``.
        add_bias_kv (bool): whether a learnt key and value are appended. Default ``False``.
        add_zero_attn (bool): whether a zero key and value are appended. Default ``False``.
        kdim (int): width of the keys. Default ``None``: ``embed_dim``.
        vdim (int): width of the values. Default ``None``: ``embed_dim``.
        batch_first (bool): Default ``False``.
        dtype (dtype): Default float32.

    Raises:
        ValueError: the width does not divide into the heads.

    Examples:
        >>> print(nn.MultiheadAttention(4, 2)(ops.ones((3, 1, 4)), ops.ones((3, 1, 4)), ops.ones((3, 1, 4)))[0].shape)
        (3, 1, 4)
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        has_bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__()
        checks.positive_int(embed_dim, "embed_dim", self.cls_name)
        checks.positive_int(num_heads, "num_heads", self.cls_name)
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.batch_first, self.head_dim = batch_first, embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise ValueError(
                f"The init argument 'embed_dim' must be divisible by 'num_heads', but got {embed_dim} and {num_heads}."
            )
        self.same_width = self.kdim == embed_dim and self.vdim == embed_dim
        self.in_proj_weight = self.q_proj_weight = self.k_proj_weight = self.v_proj_weight = None
        init = XavierUniform()
        if self.same_width:
            self.in_proj_weight = Parameter(initializer(init, (3 * embed_dim, embed_dim), dtype), "in_proj_weight")
        else:
            self.q_proj_weight = Parameter(initializer(init, (embed_dim, embed_dim), dtype), "q_proj_weight")
            self.k_proj_weight = Parameter(initializer(init, (embed_dim, self.kdim), dtype), "k_proj_weight")
            self.v_proj_weight = Parameter(initializer(init, (embed_dim, self.vdim), dtype), "v_proj_weight")
        self.in_proj_bias = self.bias_k = self.bias_v = None
        if has_bias:
            self.in_proj_bias = Parameter(initializer("zeros", (3 * embed_dim,), dtype), "in_proj_bias")
        self.out_proj = Dense(embed_dim, embed_dim, has_bias=has_bias, dtype=dtype)
        if add_bias_kv:
            self.bias_k = Parameter(initializer(XavierNormal(), (1, 1, embed_dim), dtype), "bias_k")
            self.bias_v = Parameter(initializer(XavierNormal(), (1, 1, embed_dim), dtype), "bias_v")
        self.add_zero_attn = add_zero_attn

    def construct(
        self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True
    ):
        return self.attend(query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights)

    def attend(
        self, query: Tensor, key: Tensor, value: Tensor, padding: Any, need_weights: bool, mask: Any, average: bool
    ) -> tuple[Tensor, Any]:
        """See `construct`."""
        batched = len(query.shape) == 3
        if not batched:
            query, key, value = (expand_dims(t, 1) for t in (query, key, value))
            padding = None if padding is None else expand_dims(padding, 0)
        elif self.batch_first:
            query, key, value = (transpose(t, perm=(1, 0, 2)) for t in (query, key, value))
        q, k, v = self._projected(query, key, value)
        bias = self._bias(q, k.shape[0], padding, mask)
        k, v, bias = self._extended(k, v, bias)
        drop = self._drop if self.dropout and self.training else None
        out, weights = multi_head_attention(q, k, v, self.num_heads, bias, drop, need_weights, average)
        out = self.out_proj(out)
        if not batched:
            out = reshape(out, shape=(out.shape[0], out.shape[2]))
            weights = None if weights is None else reshape(weights, shape=tuple(weights.shape[1:]))
        elif self.batch_first:
            out = transpose(out, perm=(1, 0, 2))
        return out, weights

    def _drop(self, weights: Tensor) -> Tensor:
        return dropout(weights, self.dropout)

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        bias = self.in_use(self.in_proj_bias)
        if self.same_width:
            return project_packed(query, key, value, self.in_use(self.in_proj_weight), bias)
        e = self.embed_dim
        parts = []
        for i, (x, w) in enumerate(
            ((query, self.q_proj_weight), (key, self.k_proj_weight), (value, self.v_proj_weight))
        ):
            parts.append(linear(x, self.in_use(w), None if bias is None else slice_axis(bias, 0, i * e, (i + 1) * e)))
        return parts[0], parts[1], parts[2]

    def _bias(self, q: Tensor, keys: Any, padding: Any, mask: Any) -> Any:
        """What is added to the scores (N, heads, L, S): True in a mask means *left out*."""
        bias = None
        if mask is not None:
            bias = attention_bias(logical_not(mask), q) if mask.dtype.is_bool else cast(mask, dtype=q.dtype)
            if len(bias.shape) == 3:
                bias = reshape(bias, shape=(q.shape[1], self.num_heads, q.shape[0], keys))
        if padding is not None:
            out = attention_bias(logical_not(padding), q) if padding.dtype.is_bool else cast(padding, dtype=q.dtype)
            out = reshape(out, shape=(q.shape[1], 1, 1, keys))
            bias = out if bias is None else bias + out
        return bias

    def _extended(self, k: Tensor, v: Tensor, bias: Any) -> tuple[Tensor, Tensor, Any]:
        """Appends the learnt and the zero key and value."""
        extra: list[tuple[Tensor, Tensor]] = []
        shape = (1, *k.shape[1:])
        if self.bias_k is not None:
            extra.append((broadcast_to(self.bias_k, shape=shape), broadcast_to(self.bias_v, shape=shape)))
        if self.add_zero_attn:
            zeros = full(shape=shape, value=0, dtype=k.dtype)
            extra.append((zeros, zeros))
        for more_k, more_v in extra:
            k, v = concat(k, more_k, axis=0), concat(v, more_v, axis=0)
            if bias is not None:
                column = full(shape=(*bias.shape[:-1], 1), value=0, dtype=bias.dtype)
                bias = concat(bias, column, axis=len(bias.shape) - 1)
        return k, v, bias


def activation_of(activation: Any, owner: str) -> Any:
    """The activation that a name, Cell or function stands for."""
    if isinstance(activation, str):
        if activation not in ("relu", "gelu"):
            raise ValueError(f"The activation must be 'relu' or 'gelu', but got {activation}.")
        return ReLU() if activation == "relu" else GELU(approximate=False)
    if not callable(activation):
        raise ValueError(f"The argument 'activation' of '{owner}' must be str, callable or Cell, but got {activation}.")
    return activation


class TransformerEncoderLayer(Cell):
    """Self-attention and two dense layers, each with a residual and a normalisation.

    Args:
        d_model (int): width.
        nhead (int): number of heads.
        dim_feedforward (int): width of the inner dense layer. Default ``2048``.
        dropout (float): Default ``0.1``.
        activation (Union[str, callable, Cell]): Default ``"relu"``.
        layer_norm_eps (float): Default ``1e-5``.
        batch_first (bool): Default ``False``.
        norm_first (bool): whether normalisations come first. Default ``False``.
        dtype (dtype): Default float32.

    Examples:
        >>> print(nn.TransformerEncoderLayer(4, 2)(ops.ones((3, 1, 4))).shape)
        (3, 1, 4)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype)
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.norm2 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.dropout1, self.dropout2 = Dropout(p=dropout), Dropout(p=dropout)
        self.__dict__["activation"] = activation_of(activation, self.cls_name)

    def construct(self, src, src_mask=None, src_key_padding_mask=None):
        x = src
        if self.norm_first:
            x = x + self._attention(self.norm1(x), src_mask, src_key_padding_mask)
            return x + self._feed_forward(self.norm2(x))
        x = self.norm1(x + self._attention(x, src_mask, src_key_padding_mask))
        return self.norm2(x + self._feed_forward(x))

    def _attention(self, x: Tensor, mask: Any, padding: Any) -> Tensor:
        out = self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0]
        return self.dropout1(out)

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.dropout2(self.dense2(self.dropout(self.activation(self.dense1(x)))))


class TransformerDecoderLayer(Cell):
    """Self-attention, attention to a memory, and two dense layers; arguments as in `TransformerEncoderLayer`.

    Examples:
        >>> print(nn.TransformerDecoderLayer(4, 2)(ops.ones((3, 1, 4)), ops.ones((5, 1, 4))).shape)
        (3, 1, 4)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype)
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.norm2 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.norm3 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.dropout1, self.dropout2, self.dropout3 = Dropout(p=dropout), Dropout(p=dropout), Dropout(p=dropout)
        self.__dict__["activation"] = activation_of(activation, self.cls_name)

    def construct(
        self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None
    ):
        x = tgt
        if self.norm_first:
            x = x + self._self(self.norm1(x), tgt_mask, tgt_key_padding_mask)
            x = x + self._cross(self.norm2(x), memory, memory_mask, memory_key_padding_mask)
            return x + self._feed_forward(self.norm3(x))
        x = self.norm1(x + self._self(x, tgt_mask, tgt_key_padding_mask))
        x = self.norm2(x + self._cross(x, memory, memory_mask, memory_key_padding_mask))
        return self.norm3(x + self._feed_forward(x))

    def _self(self, x: Tensor, mask: Any, padding: Any) -> Tensor:
        out = self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0]
        return self.dropout1(out)

    def _cross(self, x: Tensor, memory: Tensor, mask: Any, padding: Any) -> Tensor:
        out = self.multihead_attn(x, memory, memory, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0]
        return self.dropout2(out)

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.dropout3(self.dense2(self.dropout(self.activation(self.dense1(x)))))


class TransformerEncoder(Cell):
    """Copies of an encoder layer, one after the other, and a normalisation.

    Args:
        encoder_layer (Cell): what is copied.
        num_layers (int): how often.
        norm (Cell): Default ``None``.

    Examples:
        >>> print(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 2)(ops.ones((3, 1, 4))).shape)
        (3, 1, 4)
    """

    def __init__(self, encoder_layer: Cell, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__()
        self.layers = CellList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def construct(self, src, src_mask=None, src_key_padding_mask=None):
        out = src
        for layer in self.layers:
            out = layer(out, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        if self.norm is not None:
            out = self.norm(out)
        return out


class TransformerDecoder(Cell):
    """Copies of a decoder layer, one after the other, and a normalisation; arguments as in `TransformerEncoder`.

    Examples:
        >>> layer = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2), 2)
        >>> print(layer(ops.ones((3, 1, 4)), ops.ones((5, 1, 4))).shape)
        (3, 1, 4)
    """

    def __init__(self, decoder_layer: Cell, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__()
        self.layers = CellList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def construct(
        self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None
    ):
        out = tgt
        for layer in self.layers:
            out = layer(
                out,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
            )
        if self.norm is not None:
            out = self.norm(out)
        return out


class Transformer(Cell):
    """An encoder and a decoder: ``construct(src, tgt, ...)``.

    Args:
        d_model (int): width. Default ``512``.
        nhead (int): Default ``8``.
        num_encoder_layers (int): Default ``6``.
        num_decoder_layers (int): Default ``6``.
        dim_feedforward (int): Default ``2048``.
        dropout (float): Default ``0.1``.
        activation (Union[str, callable, Cell]): Default ``"relu"``.
        custom_encoder (Cell): Default ``None``.
        custom_decoder (Cell): Default ``None``.
        layer_norm_eps (float): Default ``1e-5``.
        batch_first (bool): Default ``False``.
        norm_first (bool): Default ``False``.
        dtype (dtype): Default float32.

    Examples:
        >>> print(nn.Transformer(4, 2)(ops.ones((5, 1, 4)), ops.ones((3, 1, 4))).shape)
        (3, 1, 4)
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        custom_encoder: Cell | None = None,
        custom_decoder: Cell | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__()
        settings = (
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            dtype,
        )
        if custom_encoder is None:
            last = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
            custom_encoder = TransformerEncoder(TransformerEncoderLayer(*settings), num_encoder_layers, last)
        if custom_decoder is None:
            last = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
            custom_decoder = TransformerDecoder(TransformerDecoderLayer(*settings), num_decoder_layers, last)
        self.encoder, self.decoder = custom_encoder, custom_decoder
        for _, p in self.parameters_and_names():
            if len(p.shape) > 1:
                p.set_data(initializer("xavier_uniform", tuple(p.shape), p.dtype))
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def construct(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
    ):
        check_widths(src, tgt, self.d_model, self.batch_first)
        memory = self.encoder(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
        )


def check_widths(src: Tensor, tgt: Tensor, width: int, batch_first: bool) -> None:
    """Raises ValueError unless source and target fit each other and the model."""
    batch = 0 if batch_first else 1
    if len(src.shape) == 3 and src.shape[batch] != tgt.shape[batch]:
        raise ValueError("For 'Transformer', the batch size of 'src' and 'tgt' must be equal.")
    if src.shape[-1] != width or tgt.shape[-1] != width:
        raise ValueError(f"For 'Transformer', the last dimension of 'src' and 'tgt' must be d_model {width}.")
