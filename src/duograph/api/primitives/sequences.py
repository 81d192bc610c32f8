"""Primitive classes of sequences: CTC, distances, recurrent layers."""

from __future__ import annotations

from typing import Any

from duograph.autodiff.recurrence import recurrent_layers
from duograph.core import dtype as dt
from duograph.core.shapes import numel
from duograph.ops import decoding, indexing
from duograph.ops.compare import less, not_equal
from duograph.ops.creation import constant_like, full
from duograph.ops.ctc import ctc_grad, ctc_loss
from duograph.ops.movement import reshape
from duograph.ops.norm import log_softmax
from duograph.ops.slices import slice_axis
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from ..functional import ctc, reduce
from ..promote import to_dtype
from ..tensor_shape import shape_of
from .base import REQUIRED, Table

CLASSES = Table()
_row = CLASSES.row


_row("CTCGreedyDecoder", lambda p, x, n: ctc.ctc_greedy_decoder(x, n, p.merge_repeated), {"merge_repeated": True})
_row(
    "CTCLossV2", lambda p, x, y, n, m: ctc.ctc_loss(x, y, n, m, p.blank, p.reduction, p.zero_infinity),
    {"blank": 0, "reduction": "none", "zero_infinity": False},
)  # fmt: skip


def _ctc(p: Any, x: Tensor, places: Tensor, labels: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The CTC loss of logits (T, N, C) whose last class is the blank, and its gradient in the logits."""
    if p.preprocess_collapse_repeated or not p.ctc_merge_repeated:
        raise ValueError("For 'CTCLoss', only labels that are not collapsed and paths that are merged are supported.")
    steps, n, classes = x.shape
    width = labels.shape[0]
    empty = full(shape=(n, width), value=classes - 1, dtype=dt.int64)
    dense = indexing.scatter_nd_update(empty, places, to_dtype(labels, dt.int64))
    known = to_dtype(not_equal(dense, constant_like(dense, classes - 1)), dt.int64)
    leading = reduce.cumprod(known, 1)  # the first blank ends the labels of a row
    if hooks.truth(reduce.any(not_equal(leading, known))):
        raise RuntimeError("For 'CTCLoss', a label that is the blank may only stand at the end of a sequence.")
    counts, limits = reduce.sum(leading, 1), to_dtype(lengths, dt.int64)
    if not p.ignore_longer_outputs_than_inputs and hooks.truth(reduce.any(less(limits, counts))):
        raise RuntimeError("For 'CTCLoss', the input time (sequence length) must not be less than the label length.")
    given = (log_softmax(x, axis=2), dense, limits, counts)
    loss, _ = ctc_loss(*given, blank=classes - 1, reduction="none")
    return loss, ctc_grad(*given, blank=classes - 1)


_row(
    "CTCLoss", _ctc,
    {"preprocess_collapse_repeated": False, "ctc_merge_repeated": True, "ignore_longer_outputs_than_inputs": False},
)  # fmt: skip
_row("NoRepeatNGram", lambda p, s, x: decoding.no_repeat_ngram(s, x, size=p.ngram_size), {"ngram_size": 1})


def _edit(p: Any, i: Tensor, v: Tensor, shape: Any, ti: Tensor, tv: Tensor, truth_shape: Any) -> Tensor:
    """Levenshtein's distance of the sequences of two sparse tensors, over the truth's length if ``normalize``."""
    sizes = [shape_of((s,), "EditDistance") for s in (shape, truth_shape)]
    groups = tuple(max(pair) for pair in zip(sizes[0][:-1], sizes[1][:-1], strict=True))
    return decoding.edit_distance(i, v, ti, tv, shape=groups, normalize=p.normalize)


_row("EditDistance", _edit, {"normalize": True})
_row("ListDiff", lambda p, x, y: decoding.list_diff(x, y, index_dtype=p.out_idx), {"out_idx": dt.int32})


def _lstm(p: Any, x: Tensor, h: Tensor, c: Tensor, weights: Tensor) -> tuple[Tensor, ...]:
    """LSTM layers over (steps, batch, features); all weights one after the other in ``weights``.

    A single layer may have one bias instead of two, as MindSpore's kernels of a CPU have it.
    """
    flat = reshape(weights, shape=(numel(weights.shape),))
    if p.dropout:
        raise ValueError(f"For 'LSTM', the 'dropout' must be 0 on CPU, but got {p.dropout}.")
    sides, gates, at = 2 if p.bidirectional else 1, 4 * p.hidden_size, 0
    layers = []
    widths = [p.input_size if layer == 0 else sides * p.hidden_size for layer in range(p.num_layers)]
    plain = sum(sides * gates * (width + p.hidden_size) for width in widths)
    biases = (numel(weights.shape) - plain) // (gates * sides * p.num_layers) if p.has_bias else 0
    wanted = (0,) if not p.has_bias else (1, 2) if sides * p.num_layers == 1 else (2,)
    if biases not in wanted or numel(weights.shape) != plain + biases * gates * sides * p.num_layers:
        raise ValueError(
            f"For 'LSTM', 'w' must have {plain + wanted[-1] * gates * sides * p.num_layers} elements, but got "
            f"{numel(weights.shape)}."
        )
    for width in widths:
        for _ in range(sides):
            cell = []
            shapes = [(gates, width), (gates, p.hidden_size)] + [(gates,)] * biases
            for shape in shapes:
                cell.append(reshape(slice_axis(flat, 0, at, at + numel(shape)), shape=shape))
                at += numel(shape)
            layers.append((*cell, *[None] * (2 - biases)))
    out, (hn, cn) = recurrent_layers("LSTM", x, (h, c), layers, bidirectional=p.bidirectional)
    nothing = full(shape=(1, 1), value=0, dtype=x.dtype)
    return out, hn, cn, nothing, nothing


_row(
    "LSTM", _lstm,
    {
        "input_size": REQUIRED, "hidden_size": REQUIRED, "num_layers": REQUIRED, "has_bias": REQUIRED,
        "bidirectional": REQUIRED, "dropout": REQUIRED, "proj_size": 0,
    },
    only={"proj_size": (0,)},
)  # fmt: skip
