"""Work along sequences that depends on values: greedy decoding, edit distance, repeated n-grams; fractional pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dim import fresh_symbol
from duograph.core.op import NOT_DIFFERENTIABLE, primitive
from duograph.core.types import TensorType, TupleType

from .pool import scatter_planes
from .rules import in_float32, require_kind, tensor

# ---- decoding --------------------------------------------------------------------------------------------------------


@primitive
class ctc_greedy_decoder:
    """The best class of every step of (T, N, C), without blanks (the last class), as a sparse matrix.

    Gives the indices (labels, 2), the labels, the shape of the matrix, and minus the sum of the best scores (N, 1).
    """

    bprop = NOT_DIFFERENTIABLE
    data_dependent = True

    def infer(x, lengths, *, merge_repeated=True):
        x = require_kind("CTCGreedyDecoder", x, "f", "inputs")
        require_kind("CTCGreedyDecoder", lengths, "i", "sequence_length")
        if x.ndim != 3:
            raise ValueError(f"For 'CTCGreedyDecoder', inputs must have 3 dimensions, but got shape {tuple(x.shape)}.")
        found = fresh_symbol("labels", 0, None)
        places, labels = TensorType(dt.int64, (found, 2)), TensorType(dt.int64, (found,))
        return TupleType((places, labels, TensorType(dt.int64, (2,)), TensorType(x.dtype, (x.shape[1], 1))))

    @in_float32
    def reference(x, lengths, *, merge_repeated):
        blank, places, labels, longest = x.shape[2] - 1, [], [], 0
        total = np.zeros((x.shape[1], 1), x.dtype)
        for n, length in enumerate(lengths.tolist()):
            best = x[:length, n].argmax(axis=1)
            total[n] = -x[:length, n].max(axis=1).sum()
            changed = np.append(True, best[1:] != best[:-1])[:length] if merge_repeated else np.ones(length, bool)
            kept = best[changed & (best != blank)]
            places += [(n, i) for i in range(len(kept))]
            labels += kept.tolist()
            longest = max(longest, len(kept))
        pairs = np.array(places, np.int64).reshape(-1, 2)
        return pairs, np.array(labels, np.int64), np.array([x.shape[1], longest], np.int64), total


@primitive
class no_repeat_ngram:
    """Log probabilities (B, M, V) with the lowest number at classes that would repeat an n-gram of ``sequence``."""

    raises = True

    bprop = NOT_DIFFERENTIABLE

    def infer(sequence, log_probs, *, size):
        require_kind("NoRepeatNGram", sequence, "i", "state_seq")
        return require_kind("NoRepeatNGram", log_probs, "f", "log_probs")

    def reference(sequence, log_probs, *, size):
        out = log_probs.copy()
        rows = out.reshape(-1, out.shape[-1])
        for row, words in zip(rows, sequence.reshape(-1, sequence.shape[-1]), strict=True):
            grams = np.lib.stride_tricks.sliding_window_view(words, size)
            last = words[len(words) - size + 1 :]
            row[grams[(grams[:, :-1] == last).all(axis=1), -1]] = np.finfo(np.float32).min
        return out


def _distance(a: list[Any], b: list[Any]) -> int:
    """Levenshtein's distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


@primitive
class edit_distance:
    """Levenshtein's distance of sequences that are the last axis of two sparse tensors; ``shape`` without that axis."""

    raises = True

    bprop = NOT_DIFFERENTIABLE

    def infer(indices, values, truth_indices, truth_values, *, shape, normalize):
        for t in (indices, truth_indices):
            require_kind("EditDistance", t, "i", "indices")
        return TensorType(dt.float32, shape)

    def reference(indices, values, truth_indices, truth_values, *, shape, normalize):
        groups: list[dict[tuple[int, ...], list[Any]]] = []
        for places, items in ((indices, values), (truth_indices, truth_values)):
            found: dict[tuple[int, ...], list[Any]] = {}
            for place, item in zip(places.tolist(), items.tolist(), strict=True):
                found.setdefault(tuple(place[:-1]), []).append(item)
            groups.append(found)
        out = np.zeros(shape, np.float32)
        for place in np.ndindex(*shape):
            given, truth = (g.get(place, []) for g in groups)
            distance = float(_distance(given, truth))
            if normalize:
                distance = distance / len(truth) if truth else (np.inf if given else 0.0)
            out[place] = distance
        return out


@primitive
class list_diff:
    """The elements of ``x`` that ``y`` does not hold, and their places."""

    bprop = NOT_DIFFERENTIABLE
    data_dependent = True

    def infer(x, y, *, index_dtype):
        x = tensor("ListDiff", x)
        limit = x.shape[0] if isinstance(x.shape[0], int) else None
        found = fresh_symbol("rest", 0, limit)
        return TupleType((TensorType(x.dtype, (found,)), TensorType(index_dtype, (found,))))

    def reference(x, y, *, index_dtype):
        places = np.flatnonzero(~np.isin(x, y))
        return x[places], places.astype(index_dtype.numpy)


# ---- fractional pooling ----------------------------------------------------------------------------------------------


def _starts(sample: float, extent: int, kernel: int, count: int) -> np.ndarray:
    """The first places of ``count`` windows: even steps from a random start, the last window at the end."""
    if count == 1:
        return np.array([extent - kernel])
    step = (extent - kernel) / (count - 1)
    starts = ((np.arange(count) + sample) * step).astype(np.int64) - int(sample * step)
    starts[-1] = extent - kernel
    return starts


@primitive
class fractional_max_pool:
    """The maximum of ``size`` windows of shape ``kernel`` per plane of ``x`` (N, C, *extents), and its flat place.

    ``samples`` (N, C, axes) are random numbers in [0, 1) that shift the windows; in planes the first is that of the
    columns.
    """

    raises = True

    def infer(x, samples, *, kernel, size):
        x = require_kind("FractionalMaxPool", x, "f", "input")
        require_kind("FractionalMaxPool", samples, "f", "random_samples")
        if any(k > n for k, n in zip(kernel, x.shape[2:], strict=True)):
            raise ValueError(f"For 'FractionalMaxPool', the kernel {kernel} does not fit into {tuple(x.shape[2:])}.")
        out = x.with_shape((*x.shape[:2], *size))
        return TupleType((out, out.with_dtype(dt.int64)))

    @in_float32
    def reference(x, samples, *, kernel, size):
        extents = x.shape[2:]
        values = np.empty((*x.shape[:2], *size), x.dtype)
        places = np.empty(values.shape, np.int64)
        for plane in np.ndindex(*x.shape[:2]):
            numbers = samples[plane].tolist()
            numbers = numbers[::-1] if len(extents) == 2 else numbers
            starts = [_starts(u, n, k, c) for u, n, k, c in zip(numbers, extents, kernel, size, strict=True)]
            axes = [s[:, None] + np.arange(k) for s, k in zip(starts, kernel, strict=True)]
            for cell in np.ndindex(*size):
                window = np.ix_(*(axis[i] for axis, i in zip(axes, cell, strict=True)))
                best = np.unravel_index(x[plane][window].argmax(), kernel)
                place = tuple(int(axis[i][b]) for axis, i, b in zip(axes, cell, best, strict=True))
                values[plane][cell] = x[plane][place]
                places[plane][cell] = np.ravel_multi_index(place, extents)
        return values, places

    def bprop(ins, out, dout, *, kernel, size):
        return scatter_planes(dout[0], out[1], size=tuple(ins[0].shape[2:])), None
