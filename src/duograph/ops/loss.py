"""Losses between predictions and targets: composites over ops. Every tensor of one call has one floating dtype, class
indices are integers.

``reduction`` is ``"mean"``, ``"sum"`` or ``"none"`` everywhere (the public functions check it with their own names).
"""

from __future__ import annotations

import math
from typing import Any

from duograph.base.notices import sizes_differ
from duograph.core import dtype as dt
from duograph.core.dim import definitely_eq
from duograph.core.shapes import show_shape, taken_equal_shapes

from .arithmetic import abs_, add, div, maximum, minimum, mul, neg, sub
from .cast import cast, in_single, stop_gradient
from .compare import equal, greater, less
from .creation import constant_like, full, iota, one_hot, zeros_like
from .cumulative import cumsum
from .indexing import gather, gather_elements
from .logical import logical_and, logical_not
from .movement import broadcast_to, expand_dims, reduce_sum, reshape, squeeze
from .norm import log_softmax, number_along, reduce_mean, scaled, shifted
from .power import pow_, xlogy
from .select import select
from .smooth_activation import softplus
from .stable import p_norm
from .unary import exp, log, sqrt


def all_axes(x: Any) -> tuple[int, ...]:
    return tuple(range(len(x.shape)))


def total(x: Any) -> Any:
    """The sum of all elements."""
    return reduce_sum(x, axis=all_axes(x), keep_dims=False) if x.shape else x


def average(x: Any) -> Any:
    """The mean of all elements."""
    return reduce_mean(x, axis=all_axes(x), keep_dims=False) if x.shape else x


def reduced(loss: Any, reduction: str, op: str = "loss") -> Any:
    """``loss`` averaged, summed or as it is.

    Raises:
        ValueError: unknown ``reduction``.
    """
    if reduction == "mean":
        return average(loss)
    if reduction == "sum":
        return total(loss)
    if reduction == "none":
        return loss
    raise ValueError(f"For '{op}', the 'reduction' must be in ['mean', 'sum', 'none'], but got {reduction}.")


# ---- classification -------------------------------------------------------------------------------------------------


def cross_entropy(
    logits: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    owner: str = "cross_entropy",
) -> Any:
    """Cross entropy of the softmax of ``logits`` (C,) or (N, C, ...).

    ``target`` holds class indices, or (if floating, in the shape of ``logits``) probabilities. ``owner``: what the user
    called, for messages.
    """
    axis = 0 if len(logits.shape) == 1 else 1
    log_probs = log_softmax(logits, axis=axis)
    if target.dtype.is_floating:
        return _cross_entropy_of_probabilities(log_probs, target, weight, reduction, label_smoothing, axis)
    return nll_loss(log_probs, target, weight, ignore_index, reduction, label_smoothing, owner)


def _cross_entropy_of_probabilities(
    log_probs: Any, target: Any, weight: Any, reduction: str, label_smoothing: float, axis: int
) -> Any:
    if not taken_equal_shapes(target.shape, log_probs.shape):
        raise ValueError(
            f"For 'cross_entropy', class probabilities need the shape of the logits {tuple(log_probs.shape)}, "
            f"but got {tuple(target.shape)}."
        )
    if tuple(target.shape) != tuple(log_probs.shape):
        target = reshape(target, shape=tuple(log_probs.shape))  # sizes that only a running program knows: checked there
    if label_smoothing:
        target = shifted(scaled(target, 1 - label_smoothing), label_smoothing / number_along(log_probs, (axis,)))
    parts = mul(log_probs, target)
    if weight is not None:
        parts = mul(parts, _along(weight, log_probs, axis))
    loss = neg(reduce_sum(parts, axis=(axis,), keep_dims=False))
    return reduced(loss, reduction, "cross_entropy")


def _along(vector: Any, x: Any, axis: int) -> Any:
    """A vector as a tensor that broadcasts along ``axis`` of ``x``."""
    return reshape(vector, shape=tuple(vector.shape[0] if i == axis else 1 for i in range(len(x.shape))))


def nll_loss(
    log_probs: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    owner: str = "nll_loss",
) -> Any:
    """Negative log likelihood of the classes ``target``, given log probabilities (C,) or (N, C, ...).

    With ``reduction="mean"`` the sum is divided by the sum of the weights of the classes that count.
    """
    axis = 0 if len(log_probs.shape) == 1 else 1
    if len(target.shape) != len(log_probs.shape) - 1:
        raise ValueError(
            f"For '{owner}', the target must have one dimension less than the input, but got shapes "
            f"{tuple(target.shape)} and {tuple(log_probs.shape)}."
        )
    before, after = log_probs.shape[:axis], log_probs.shape[axis + 1 :]
    if not taken_equal_shapes(target.shape, (*before, *after)):
        raise ValueError(
            f"For '{owner}', the target must have the shape of the input without the axis of the classes, but got "
            f"shapes {tuple(target.shape)} and {tuple(log_probs.shape)}."
        )
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"For '{owner}', the 'reduction' must be in ['mean', 'sum', 'none'], but got {reduction}.")
    classes = reshape(target, shape=(*before, 1, *after))
    ignored = equal(classes, constant_like(classes, ignore_index))
    classes = select(ignored, zeros_like(classes), classes)
    zero = constant_like(log_probs, 0)
    picked = gather_elements(log_probs, classes, axis=axis, labels_of=owner)
    if weight is None:
        weights = select(ignored, zero, constant_like(log_probs, 1))
    else:
        weights = select(ignored, zero, gather(weight, classes, axis=0))
    loss = neg(squeeze(mul(select(ignored, zero, picked), weights), (axis,)))
    if label_smoothing:
        spread = log_probs if weight is None else mul(log_probs, _along(weight, log_probs, axis))
        smooth = neg(squeeze(select(ignored, zero, reduce_sum(spread, axis=(axis,), keep_dims=True)), (axis,)))
        share = label_smoothing / number_along(log_probs, (axis,))
    if reduction == "mean":
        count = total(weights)
        loss, smooth = div(total(loss), count), div(total(smooth), count) if label_smoothing else None
    elif reduction == "sum":
        loss, smooth = total(loss), total(smooth) if label_smoothing else None
    return add(scaled(loss, 1 - label_smoothing), scaled(smooth, share)) if label_smoothing else loss


def softmax_cross_entropy_with_logits(logits: Any, labels: Any) -> Any:
    """Cross entropy of every row of ``logits`` (N, C) with the probabilities ``labels`` (N, C); shape (N,)."""
    axis = len(logits.shape) - 1
    return neg(reduce_sum(mul(labels, log_softmax(logits, axis=axis)), axis=(axis,), keep_dims=False))


def sparse_softmax_cross_entropy_with_logits(logits: Any, labels: Any) -> Any:
    """Mean cross entropy of the rows of ``logits`` (N, C) with the classes ``labels`` (N,)."""
    log_probs = log_softmax(logits, axis=len(logits.shape) - 1)
    return nll_loss(log_probs, labels, ignore_index=-1, owner="SparseSoftmaxCrossEntropyWithLogits")


def checked_labels(labels: Any, classes: Any, owner: str) -> Any:
    """``labels`` (N,) as int64; raises RuntimeError where one is not a number of a class."""
    labels = cast(labels, dtype=dt.int64)
    outside = sub(labels, full(shape=(), value=classes, dtype=dt.int64))  # also for indices that count from the end
    safe = select(less(labels, constant_like(labels, 0)), outside, labels)
    return gather_elements(iota(shape=(classes,), axis=0, dtype=dt.int64), safe, axis=0, labels_of=owner)


@in_single
def binary_cross_entropy(probs: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """``-(y log p + (1 - y) log(1 - p))``; what a logarithm is taken of is at least 1e-12."""
    low, one = constant_like(probs, 1e-12), constant_like(probs, 1)

    def log_of(p: Any) -> Any:
        return log(add(p, stop_gradient(sub(maximum(p, low), p))))  # gradients pass: what is quite wrong is to move

    loss = neg(add(mul(target, log_of(probs)), mul(sub(one, target), log_of(sub(one, probs)))))
    return reduced(loss if weight is None else mul(loss, weight), reduction, "binary_cross_entropy")


def binary_cross_entropy_with_logits(
    logits: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: str = "mean"
) -> Any:
    """`binary_cross_entropy` of ``sigmoid(logits)``, accurate for large logits."""
    if pos_weight is None:
        loss = sub(softplus(logits), mul(logits, target))
    else:
        one = constant_like(logits, 1)
        factor = add(one, mul(sub(pos_weight, one), target))
        loss = add(mul(sub(one, target), logits), mul(factor, softplus(neg(logits))))
    return reduced(loss if weight is None else mul(loss, weight), reduction, "binary_cross_entropy_with_logits")


def kl_div(log_probs: Any, target: Any, reduction: str = "mean") -> Any:
    """``target * (log(target) - log_probs)``; ``"batchmean"`` divides the sum by the first extent."""
    loss = sub(xlogy(target, target), mul(target, log_probs))
    if reduction == "batchmean":
        rows = number_along(log_probs, (0,))
        return scaled(total(loss), math.inf if isinstance(rows, int) and not rows else 1.0 / rows)
    return reduced(loss, reduction, "kl_div")


def multilabel_soft_margin_loss(logits: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """Mean over the classes (last axis) of the binary cross entropy of ``sigmoid(logits)``."""
    axis = len(logits.shape) - 1
    loss = sub(softplus(logits), mul(logits, target))
    loss = loss if weight is None else mul(loss, weight)
    return reduced(reduce_mean(loss, axis=(axis,), keep_dims=False), reduction, "multilabel_soft_margin_loss")


def multi_margin_loss(
    x: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None, reduction: str = "mean"
) -> Any:
    """Mean over the classes of ``max(0, margin - x[target] + x[i])**p`` for ``i`` other than ``target``."""
    axis = len(x.shape) - 1
    classes = expand_dims(target, axis)
    right = gather_elements(x, classes, axis=axis, labels_of="multi_margin_loss")
    gap = maximum(add(sub(constant_like(x, margin), right), x), constant_like(x, 0))
    gap = mul(gap, gap) if p == 2 else gap
    gap = gap if weight is None else mul(gap, gather(weight, classes, axis=0))
    other = sub(constant_like(x, 1), one_hot(target, depth=x.shape[axis], dtype=x.dtype))
    return reduced(reduce_mean(mul(gap, other), axis=(axis,), keep_dims=False), reduction, "multi_margin_loss")


def multilabel_margin_loss(x: Any, target: Any, reduction: str = "mean") -> tuple[Any, Any]:
    """Mean over the classes of ``max(0, 1 - x[t] + x[i])`` for target classes ``t`` and other classes ``i``.

    ``target`` (C,) or (N, C) lists classes up to the first -1. Also gives what marks the target classes.
    """
    axis, classes = len(x.shape) - 1, x.shape[-1]
    ended = cumsum(cast(less(target, constant_like(target, 0)), dtype=target.dtype), axis=axis)
    listed = equal(ended, constant_like(target, 0))
    safe = select(listed, target, zeros_like(target))
    marks = mul(one_hot(safe, depth=classes, dtype=x.dtype), expand_dims(cast(listed, dtype=x.dtype), axis + 1))
    member = greater(reduce_sum(marks, axis=(axis,), keep_dims=False), constant_like(x, 0))
    right = expand_dims(gather_elements(x, safe, axis=axis), axis + 1)  # (..., targets, 1)
    gap = maximum(add(sub(constant_like(x, 1), right), expand_dims(x, axis)), constant_like(x, 0))
    counts = mul(
        cast(expand_dims(listed, axis + 1), dtype=x.dtype), cast(expand_dims(logical_not(member), axis), dtype=x.dtype)
    )
    loss = reduce_sum(mul(gap, counts), axis=(axis, axis + 1), keep_dims=False)
    loss = scaled(loss, 1.0 / number_along(x, (axis,)))
    return reduced(loss, reduction, "multilabel_margin_loss"), cast(member, dtype=target.dtype)


# ---- regression -----------------------------------------------------------------------------------------------------


def gap_of(x: Any, target: Any) -> Any:
    """``x - target``; a warning where their shapes are known to differ, if the target is no single number."""
    gap = sub(x, target)
    extents = zip(x.shape, target.shape, strict=False)
    if target.shape and (len(x.shape) != len(target.shape) or any(definitely_eq(m, n) is False for m, n in extents)):
        sizes_differ(show_shape(target.shape), show_shape(x.shape))
    return gap


def mse_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    """Squared difference."""
    gap = gap_of(x, target)
    return reduced(mul(gap, gap), reduction, "mse_loss")


def l1_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    """Absolute difference."""
    return reduced(abs_(gap_of(x, target)), reduction, "l1_loss")


def smooth_l1_loss(x: Any, target: Any, beta: float = 1.0, reduction: str = "none") -> Any:
    """``gap**2 / (2 beta)`` where the gap is below ``beta``, ``gap - beta / 2`` elsewhere."""
    gap = abs_(gap_of(x, target))
    if beta == 0:
        return reduced(gap, reduction, "smooth_l1_loss")
    is_near, small = _up_to(gap, beta)
    near = scaled(mul(small, small), 0.5 / beta)
    return reduced(select(is_near, near, shifted(gap, -0.5 * beta)), reduction, "smooth_l1_loss")


def _up_to(gap: Any, limit: float) -> tuple[Any, Any]:
    """Where ``gap`` is below ``limit``, and what it is there: the square of an infinity has no gradient."""
    is_near = less(gap, constant_like(gap, limit))
    return is_near, select(is_near, gap, constant_like(gap, 0))


def huber_loss(x: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """``gap**2 / 2`` where the gap is at most ``delta``, ``delta * (gap - delta / 2)`` elsewhere."""
    gap = abs_(gap_of(x, target))
    is_near, small = _up_to(gap, delta)
    far = scaled(shifted(gap, -0.5 * delta), delta)
    return reduced(select(is_near, scaled(mul(small, small), 0.5), far), reduction, "huber_loss")


@in_single
def poisson_nll_loss(
    x: Any, target: Any, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean"
) -> Any:
    """Negative log likelihood of counts ``target`` under a Poisson distribution; ``full`` adds Stirling's term."""
    if log_input:
        loss = sub(exp(x), mul(target, x))
    else:
        loss = sub(x, mul(target, log(shifted(x, eps))))
    if full:
        one = constant_like(target, 1)
        above = greater(target, one)
        safe = select(above, target, one)
        stirling = add(sub(mul(safe, log(safe)), safe), scaled(log(scaled(safe, 2 * math.pi)), 0.5))
        loss = add(loss, select(above, stirling, constant_like(x, 0)))
    return reduced(loss, reduction, "poisson_nll_loss")


@in_single
def gaussian_nll_loss(
    x: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """Negative log likelihood of ``target`` under normal distributions of means ``x`` and variances ``var``."""
    floor = constant_like(var, eps)
    safe = select(less(var, floor), floor, var)
    gap = sub(x, target)
    loss = scaled(add(log(safe), div(mul(gap, gap), safe)), 0.5)
    if full:
        loss = shifted(loss, 0.5 * math.log(2 * math.pi))
    return reduced(loss, reduction, "gaussian_nll_loss")


# ---- embeddings and rankings ----------------------------------------------------------------------------------------


def soft_margin_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    """``log(1 + exp(-target * x))``, targets -1 and 1."""
    return reduced(softplus(neg(mul(target, x))), reduction, "soft_margin_loss")


def margin_ranking_loss(x1: Any, x2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """``max(0, -target * (x1 - x2) + margin)``."""
    gap = shifted(neg(mul(target, sub(x1, x2))), margin)
    return reduced(maximum(gap, constant_like(gap, 0)), reduction, "margin_ranking_loss")


def hinge_embedding_loss(x: Any, target: Any, margin: float = 1.0, reduction: str = "mean") -> Any:
    """``x`` where the target is 1, ``max(0, margin - x)`` where it is -1, their sum elsewhere."""
    zero = constant_like(x, 0)
    far = maximum(sub(constant_like(x, margin), x), zero)
    unlike = select(equal(target, constant_like(target, 1)), zero, far)
    like = select(equal(target, constant_like(target, -1)), zero, x)
    return reduced(add(unlike, like), reduction, "hinge_embedding_loss")


@in_single
def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    """Cosine of the angle between ``x1`` and ``x2`` along ``axis``; norms are at least ``eps``."""
    dots = reduce_sum(mul(x1, x2), axis=(axis,), keep_dims=False)
    floor = constant_like(dots, eps * eps)
    norms = [maximum(reduce_sum(mul(x, x), axis=(axis,), keep_dims=False), floor) for x in (x1, x2)]
    both = mul(*norms)  # of equal rows its root is their square, to the bit; but it overflows first
    is_usual = logical_and(less(both, constant_like(both, 1e30)), greater(both, constant_like(both, 1e-30)))
    usual = sqrt(select(is_usual, both, constant_like(both, 1)))
    return div(dots, select(is_usual, usual, mul(*map(sqrt, norms))))


def cosine_embedding_loss(x1: Any, x2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1."""
    axis = 1 if len(x1.shape) > 1 else 0
    cosine = cosine_similarity(x1, x2, axis, 1e-12)
    zero, one = constant_like(cosine, 0), constant_like(cosine, 1)
    like = select(equal(target, constant_like(target, 1)), sub(one, cosine), zero)
    unlike = select(equal(target, constant_like(target, -1)), maximum(shifted(cosine, -margin), zero), zero)
    return reduced(add(like, unlike), reduction, "cosine_embedding_loss")


def pairwise_distance(x: Any, y: Any, p: float = 2.0, eps: float = 1e-6) -> Any:
    """The p-norm of ``x - y + eps`` along the last axis."""
    gap = shifted(sub(x, y), eps)
    axis = len(gap.shape) - 1
    return p_norm(gap, p, (axis,))


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)`` with p-norm distances."""
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    gap = shifted(sub(near, far), margin)
    return reduced(maximum(gap, constant_like(gap, 0)), reduction, "triplet_margin_loss")


# ---- segmentation and detection -------------------------------------------------------------------------------------


@in_single
def dice_loss(probs: Any, target: Any, smooth: float = 1e-5) -> Any:
    """1 minus the overlap of ``probs`` and ``target``: ``2 sum(p y) / (sum(p**2) + sum(y**2))``, smoothed."""
    overlap = scaled(total(mul(probs, target)), 2)
    union = shifted(add(total(mul(probs, probs)), total(mul(target, target))), smooth)
    quotient = div(overlap, union)
    return sub(constant_like(quotient, 1), quotient)


def focal_loss(logits: Any, target: Any, weight: Any = None, gamma: float = 2.0, reduction: str = "mean") -> Any:
    """Cross entropy of ``logits`` (N, C, ...) scaled by ``(1 - p)**gamma``, as a mean over the positions.

    ``target`` has the shape of ``logits`` (result (N, C) before the reduction), or class indices (N, 1, ...)
    (result (N,)).
    """
    if len(logits.shape) < 2 or len(target.shape) != len(logits.shape):
        raise ValueError(
            f"For 'focal_loss', the labels must have as many dimensions as the logits, (N, 1, ...) or (N, C, ...), but "
            f"got shapes {tuple(target.shape)} and {tuple(logits.shape)}."
        )
    n, classes = logits.shape[:2]
    logits = reshape(logits, shape=(n, classes, -1))
    target = reshape(target, shape=(n, target.shape[1], -1))
    log_probs = log_softmax(logits, axis=1)
    if weight is not None:
        weight = _along(weight, logits, 1)
    indexed = target.shape[1] == 1 and classes != 1
    if indexed:
        if weight is not None:
            weight = gather_elements(broadcast_to(weight, shape=tuple(logits.shape)), target, axis=1)
        log_probs = gather_elements(log_probs, target, axis=1, labels_of="focal_loss")
    modulation = pow_(sub(constant_like(logits, 1), exp(log_probs)), constant_like(logits, gamma))
    if not indexed:
        log_probs = mul(log_probs, cast(target, dtype=logits.dtype))
    parts = neg(mul(modulation, log_probs))
    parts = parts if weight is None else mul(parts, weight)
    return reduced(reduce_mean(parts, axis=(1, 2) if indexed else (2,), keep_dims=False), reduction, "focal_loss")
