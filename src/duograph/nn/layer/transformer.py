"""Attention and transformer layers. Sequences: (length, batch, width), or with batch_first (batch, length, width)."""

from __future__ import annotations

import copy
from typing import Annotated, Any, ClassVar

from duograph.common.initializer import XavierNormal, XavierUniform, initializer
from duograph.core import dtype as dt
from duograph.nn.cell import Cell
from duograph.nn.kinds import Anything, Dtype, PositiveInt, Unkept
from duograph.nn.settings import Kind, option, with_settings
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

Part = Annotated[Any, Kind("Cell", kept=False)]


@with_settings
class MultiheadAttention(Cell):
    """Attention in several heads: ``construct(query, key, value, ...)`` returns the result and the weights.

    Examples:
        >>> print(nn.MultiheadAttention(4, 2)(ops.ones((3, 1, 4)), ops.ones((3, 1, 4)), ops.ones((3, 1, 4)))[0].shape)
        (3, 1, 4)
    """

    embed_dim: PositiveInt = option("width")
    num_heads: PositiveInt = option("number of heads; divides the width")
    dropout: Anything = option("of the weights", default=0.0)
    has_bias: Unkept = option("of the projections", default=True)
    add_bias_kv: Unkept = option("whether a learnt key and value are appended", default=False)
    add_zero_attn: Anything = option("whether a zero key and value are appended", default=False)
    kdim: Anything = option("width of the keys; ``None``: ``embed_dim``", default=None)
    vdim: Anything = option("width of the values; ``None``: ``embed_dim``", default=None)
    batch_first: Anything = False
    dtype: Dtype = dt.float32

    def _settings_taken(self, given):
        embed_dim, dtype = self.embed_dim, given["dtype"]
        self.kdim = embed_dim if self.kdim is None else self.kdim
        self.vdim = embed_dim if self.vdim is None else self.vdim
        self.head_dim = embed_dim // self.num_heads
        if self.head_dim * self.num_heads != embed_dim:
            raise ValueError(
                "The init argument 'embed_dim' must be divisible by 'num_heads', but got "
                f"{embed_dim} and {self.num_heads}."
            )
        self.same_width = self.kdim == embed_dim and self.vdim == embed_dim
        self.in_proj_weight = self.q_proj_weight = self.k_proj_weight = self.v_proj_weight = None
        shapes = {"in_proj_weight": (3 * embed_dim, embed_dim)}
        if not self.same_width:
            shapes = {f"{n}_proj_weight": (embed_dim, w) for n, w in zip("qkv", (embed_dim, self.kdim, self.vdim))}
        for name, shape in shapes.items():
            setattr(self, name, Parameter(initializer(XavierUniform(), shape, dtype), name))
        self.in_proj_bias = self.bias_k = self.bias_v = None
        if given["has_bias"]:
            self.in_proj_bias = Parameter(initializer("zeros", (3 * embed_dim,), dtype), "in_proj_bias")
        self.out_proj = Dense(embed_dim, embed_dim, has_bias=given["has_bias"], dtype=dtype)
        if given["add_bias_kv"]:
            self.bias_k = Parameter(initializer(XavierNormal(), (1, 1, embed_dim), dtype), "bias_k")
            self.bias_v = Parameter(initializer(XavierNormal(), (1, 1, embed_dim), dtype), "bias_v")

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


Callables = Annotated[Any, Kind("Union[str, callable, Cell]", kept=False)]


@with_settings
class _Layer(Cell):
    """The settings and parts of encoder and decoder layers."""

    d_model: Unkept = option("width")
    nhead: Unkept = option("number of heads")
    dim_feedforward: Unkept = option("width of the inner dense layer", default=2048)
    dropout: Unkept = 0.1
    activation: Callables = "relu"
    layer_norm_eps: Unkept = 1e-5
    batch_first: Unkept = False
    norm_first: Anything = option("whether normalisations come first", default=False)
    dtype: Dtype = dt.float32

    attentions: ClassVar[tuple[str, ...]] = ("self_attn",)

    def _settings_taken(self, given):
        width, inner, p, dtype = given["d_model"], given["dim_feedforward"], given["dropout"], given["dtype"]
        for name in self.attentions:
            attention = MultiheadAttention(
                width, given["nhead"], dropout=p, batch_first=given["batch_first"], dtype=dtype
            )
            setattr(self, name, attention)
        self.dense1 = Dense(width, inner, dtype=dtype)
        self.dropout = Dropout(p=p)
        self.dense2 = Dense(inner, width, dtype=dtype)
        numbers = range(1, len(self.attentions) + 2)
        for i in numbers:
            setattr(self, f"norm{i}", LayerNorm((width,), epsilon=given["layer_norm_eps"], dtype=dtype))
        for i in numbers:
            setattr(self, f"dropout{i}", Dropout(p=p))
        self.__dict__["activation"] = activation_of(given["activation"], self.cls_name)


@with_settings
class TransformerEncoderLayer(_Layer):
    """Self-attention and two dense layers, each with a residual and a normalisation.

    Examples:
        >>> print(nn.TransformerEncoderLayer(4, 2)(ops.ones((3, 1, 4))).shape)
        (3, 1, 4)
    """

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


@with_settings
class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory, and two dense layers, each with a residual and a normalisation.

    Examples:
        >>> print(nn.TransformerDecoderLayer(4, 2)(ops.ones((3, 1, 4)), ops.ones((5, 1, 4))).shape)
        (3, 1, 4)
    """

    attentions = ("self_attn", "multihead_attn")

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


@with_settings
class TransformerEncoder(Cell):
    """Copies of an encoder layer, one after the other, and a normalisation.

    Examples:
        >>> print(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 2)(ops.ones((3, 1, 4))).shape)
        (3, 1, 4)
    """

    encoder_layer: Unkept = option("what is copied")
    num_layers: Anything = option("how often")
    norm: Part = None

    def _settings_taken(self, given):
        self.layers = CellList([copy.deepcopy(given["encoder_layer"]) for _ in range(self.num_layers)])
        self.norm = given["norm"]

    def construct(self, src, src_mask=None, src_key_padding_mask=None):
        out = src
        for layer in self.layers:
            out = layer(out, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        if self.norm is not None:
            out = self.norm(out)
        return out


@with_settings
class TransformerDecoder(Cell):
    """Copies of a decoder layer, one after the other, and a normalisation.

    Examples:
        >>> layer = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2), 2)
        >>> print(layer(ops.ones((3, 1, 4)), ops.ones((5, 1, 4))).shape)
        (3, 1, 4)
    """

    decoder_layer: Unkept = option("what is copied")
    num_layers: Anything = option("how often")
    norm: Part = None

    def _settings_taken(self, given):
        self.layers = CellList([copy.deepcopy(given["decoder_layer"]) for _ in range(self.num_layers)])
        self.norm = given["norm"]

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


@with_settings
class Transformer(Cell):
    """An encoder and a decoder: ``construct(src, tgt, ...)``.

    Examples:
        >>> print(nn.Transformer(4, 2)(ops.ones((5, 1, 4)), ops.ones((3, 1, 4))).shape)
        (3, 1, 4)
    """

    d_model: Anything = option("width", default=512)
    nhead: Anything = 8
    num_encoder_layers: Unkept = 6
    num_decoder_layers: Unkept = 6
    dim_feedforward: Unkept = 2048
    dropout: Unkept = 0.1
    activation: Callables = "relu"
    custom_encoder: Unkept = None
    custom_decoder: Unkept = None
    layer_norm_eps: Unkept = 1e-5
    batch_first: Anything = False
    norm_first: Unkept = False
    dtype: Dtype = dt.float32

    def _settings_taken(self, given):
        settings = {name: given[name] for name in _Layer._settings}
        parts = (
            ("encoder", given["custom_encoder"], given["num_encoder_layers"]),
            ("decoder", given["custom_decoder"], given["num_decoder_layers"]),
        )
        kinds = {
            "encoder": (TransformerEncoder, TransformerEncoderLayer),
            "decoder": (TransformerDecoder, TransformerDecoderLayer),
        }
        for name, made, count in parts:
            if made is None:
                stack, layer = kinds[name]
                last = LayerNorm((self.d_model,), epsilon=given["layer_norm_eps"], dtype=given["dtype"])
                made = stack(layer(**settings), count, last)
            setattr(self, name, made)
        for _, p in self.parameters_and_names():
            if len(p.shape) > 1:
                p.set_data(initializer("xavier_uniform", tuple(p.shape), p.dtype))

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
