"""Connectionist temporal classification: the probability of a label sequence, summed over all its alignments.

Forward and backward variables are computed in log space in float64, over sequences in which blanks stand between all
labels. As in MindSpore, the gradient in ``log_probs`` is that in the logits which they are the log_softmax of (it stays
the same on its way through log_softmax). It has no derivative of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.op import NOT_DIFFERENTIABLE, primitive
from duograph.core.types import TensorType, TupleType

from .arithmetic import div, maximum, mul
from .cast import cast
from .creation import constant_like
from .movement import reduce_sum, reshape
from .norm import reduce_mean
from .rules import require_kind
from .select import select
from .unary import isinf


@primitive
class ctc_nll:
    """Negative log likelihood of every target, and the forward variables (N, T, 2 * labels + 1).

    ``log_probs`` is (T, N, C), ``targets`` (N, labels), both lengths (N,).
    """

    raises = True
    infinite = (1,)

    def infer(log_probs, targets, input_lengths, target_lengths, *, blank=0):
        log_probs = require_kind("ctc_loss", log_probs, "f", "log_probs")
        for t in (targets, input_lengths, target_lengths):
            require_kind("ctc_loss", t, "i", "targets and lengths")
        if log_probs.ndim != 3 or targets.ndim != 2:
            raise ValueError(
                f"For 'CTCLossV2', log_probs must be of 3 and targets of 2 dimensions, but got shapes "
                f"{tuple(log_probs.shape)} and {tuple(targets.shape)}."
            )
        steps, n, classes = log_probs.shape
        if not 0 <= blank < classes:
            raise ValueError(f"For 'CTCLossV2', blank must be in [0, {classes}), but got {blank}.")
        alpha = TensorType(log_probs.dtype, (n, steps, 2 * targets.shape[1] + 1))
        return TupleType((TensorType(log_probs.dtype, (n,)), alpha))

    def reference(log_probs, targets, input_lengths, target_lengths, *, blank):
        steps, n, _ = log_probs.shape
        wide = log_probs.astype(np.float64)
        loss = np.full(n, np.inf)
        alphas = np.full((n, steps, 2 * targets.shape[1] + 1), -np.inf)
        for i in range(n):
            path, t = _path(targets[i], target_lengths[i], blank), int(input_lengths[i])
            alpha = _forward(wide[:t, i][:, path], _skips(path, blank))
            alphas[i, :t, : len(path)] = alpha
            loss[i] = -_end(alpha)
        return loss.astype(log_probs.dtype), alphas.astype(log_probs.dtype)

    def bprop(ins, out, dout, *, blank):
        log_probs = ins[0]
        grad = ctc_grad(*ins, blank=blank)
        return (mul(grad, reshape(dout[0], shape=(1, log_probs.shape[1], 1))), None, None, None)


@primitive
class ctc_grad:
    """Probabilities minus shares of alignments that pass through every label at every step; 0 without any path."""

    raises = True

    bprop = NOT_DIFFERENTIABLE

    def infer(log_probs, targets, input_lengths, target_lengths, *, blank=0):
        return log_probs

    def reference(log_probs, targets, input_lengths, target_lengths, *, blank):
        wide = log_probs.astype(np.float64)
        grad = np.zeros_like(wide)
        for i in range(wide.shape[1]):
            path, t = _path(targets[i], target_lengths[i], blank), int(input_lengths[i])
            emit, skips = wide[:t, i][:, path], _skips(path, blank)
            alpha = _forward(emit, skips)
            beta = _forward(emit[::-1, ::-1], _skips(path[::-1], blank))[::-1, ::-1]
            whole = _end(alpha)
            if not np.isfinite(whole):
                continue
            share = np.exp(alpha + beta - emit - whole)  # the emission is counted in both
            grad[:t, i] = np.exp(wide[:t, i])
            for k, label in enumerate(path):
                grad[:t, i, label] -= np.where(np.isfinite(emit[:, k]), share[:, k], 0.0)
        return grad.astype(log_probs.dtype)


def _path(target: np.ndarray, length: Any, blank: int) -> np.ndarray:
    """The labels with blanks before, between and behind them."""
    path = np.full(2 * int(length) + 1, blank, np.int64)
    path[1::2] = target[: int(length)]
    return path


def _skips(path: np.ndarray, blank: int) -> np.ndarray:
    """Where an alignment may jump over the blank before a place: at labels that differ from the one before."""
    allowed = np.zeros(len(path), bool)
    allowed[2:] = (path[2:] != blank) & (path[2:] != path[:-2])
    return allowed


def _forward(emit: np.ndarray, skips: np.ndarray) -> np.ndarray:
    steps, places = emit.shape
    alpha = np.full((steps, places), -np.inf)
    if steps == 0:
        return alpha
    alpha[0, :2] = emit[0, :2]
    for t in range(1, steps):
        before = alpha[t - 1]
        reach = before.copy()
        reach[1:] = np.logaddexp(reach[1:], before[:-1])
        reach[2:] = np.where(skips[2:], np.logaddexp(reach[2:], before[:-2]), reach[2:])
        alpha[t] = reach + emit[t]
    return alpha


def _end(alpha: np.ndarray) -> float:
    """Log probability that an alignment ends at the last label or the blank behind it."""
    if not len(alpha):
        return 0.0 if alpha.shape[1] == 1 else -np.inf
    return float(np.logaddexp.reduce(alpha[-1, -2:]))


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> tuple[Any, Any]:
    """The CTC loss and the forward variables; ``"mean"`` divides every loss by its target length first.

    Raises:
        ValueError: unknown ``reduction``.
    """
    loss, alpha = ctc_nll(log_probs, targets, input_lengths, target_lengths, blank=blank)
    if zero_infinity:
        loss = select(isinf(loss), constant_like(loss, 0), loss)
    if reduction == "mean":
        lengths = cast(target_lengths, dtype=loss.dtype)
        loss = reduce_mean(div(loss, maximum(lengths, constant_like(loss, 1))), axis=(0,), keep_dims=False)
    elif reduction == "sum":
        loss = reduce_sum(loss, axis=(0,), keep_dims=False)
    elif reduction != "none":
        raise ValueError(f"For 'ctc_loss', the 'reduction' must be in ['mean', 'sum', 'none'], but got {reduction}.")
    return loss, alpha
