"""Losses of embeddings, rankings, margins and likelihoods."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Any

from duograph.nn import checks
from duograph.nn.kinds import Anything, AsFloat, Flag, Integer, Real
from duograph.nn.settings import Kind, option, with_settings
from duograph.ops import loss as losses
from duograph.ops.arithmetic import maximum
from duograph.ops.cast import cast
from duograph.ops.creation import constant_like
from duograph.ops.ctc import ctc_loss
from duograph.tensor.tensor import Tensor

from .loss import LossBase, Reduction, same_floats, tensors_only

_cosine = checks.that(checks.real, lambda x: -1.0 <= x <= 1.0, "be in range of [-1.0, 1.0], but got {}")
_variance = checks.that(checks.same, lambda x: not x <= 0, "be float and must > 0, but got '{}'")
Cosine = Annotated[float, Kind("float", _cosine, "between -1 and 1")]
Variance = Annotated[float, Kind("float", lambda *it: checks.real(_variance(*it), *it[1:]))]
OneOrTwo = Annotated[int, Kind("int", lambda value, *it: checks.one_of(value, {1, 2}, *it))]
Distance = Annotated[Any, Kind("callable")]


@with_settings
class CosineEmbeddingLoss(LossBase):
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1.

    Examples:
        >>> layer = nn.CosineEmbeddingLoss()
        >>> x = Tensor([[0.2, 0.8], [1.5, -0.5]])
        >>> print(layer(x, x, Tensor([1, -1], ms.int32)))
        0.5
    """

    margin: Cosine = 0.0
    reduction: Reduction = "mean"

    def construct(self, logits_x1, logits_x2, labels):
        tensors_only("CosineEmbeddingLoss", logits_x1=logits_x1, logits_x2=logits_x2, labels=labels)
        x1, x2 = same_floats(logits_x1, logits_x2)
        return losses.cosine_embedding_loss(x1, x2, cast(labels, dtype=x1.dtype), self.margin, self.reduction)


@with_settings
class MarginRankingLoss(LossBase):
    """``max(0, -target * (x1 - x2) + margin)``.

    Examples:
        >>> print(nn.MarginRankingLoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0]), Tensor([1.0, -1.0])))
        0.0
    """

    margin: Real = 0.0
    reduction: Reduction = "mean"

    def construct(self, input1, input2, target):
        x1, x2, target = same_floats(input1, input2, target)
        return losses.margin_ranking_loss(x1, x2, target, self.margin, self.reduction)


@with_settings
class TripletMarginLoss(LossBase):
    """``max(0, d(x, positive) - d(x, negative) + margin)`` with p-norm distances.

    Examples:
        >>> layer = nn.TripletMarginLoss()
        >>> x = Tensor([[0.2, 0.8], [1.5, -0.5]])
        >>> print(layer(x, x, x))
        1.0
    """

    p: Integer = 2
    swap: Flag = option("whether the distance from positive to negative counts too", default=False)
    eps: Real = 1e-6
    reduction: Reduction = "mean"
    margin: Anything = option("may be given at the call", default=1.0)

    def construct(self, x, positive, negative, margin=1.0):
        return triplet(x, positive, negative, margin, self.p, self.eps, self.swap, self.reduction)


def triplet(
    x: Tensor, near: Tensor, far: Tensor, margin: Any, p: float, eps: float, swap: bool, reduction: str
) -> Tensor:
    """`losses.triplet_margin_loss` whose margin may be a Tensor."""
    x, near, far = same_floats(x, near, far)
    if not isinstance(margin, Tensor):
        return losses.triplet_margin_loss(x, near, far, float(margin), float(p), eps, swap, reduction)
    close = losses.pairwise_distance(x, near, float(p), eps)
    apart = losses.pairwise_distance(x, far, float(p), eps)
    if swap:
        apart = apart.minimum(losses.pairwise_distance(near, far, float(p), eps))
    gap = close - apart + margin
    return losses.reduced(maximum(gap, constant_like(gap, 0)), reduction)


@with_settings
class TripletMarginWithDistanceLoss(LossBase):
    """``max(0, d(x, positive) - d(x, negative) + margin)`` with a distance of one's own.

    Examples:
        >>> layer = nn.TripletMarginWithDistanceLoss()
        >>> x = Tensor([[0.2, 0.8], [1.5, -0.5]])
        >>> print(layer(x, x, x))
        1.0
    """

    distance_function: Distance = option("``None``: the 2-norm", default=None)
    swap: Flag = False
    reduction: Reduction = "mean"
    margin: AsFloat = 1.0

    def _settings_taken(self, given):
        if self.distance_function is None:
            self.distance_function = losses.pairwise_distance

    def construct(self, x, positive, negative):
        near = self.distance_function(x, positive)
        far = self.distance_function(x, negative)
        if self.swap:
            far = far.minimum(self.distance_function(positive, negative))
        gap = near - far + self.margin
        return losses.reduced(maximum(gap, constant_like(gap, 0)), self.reduction)


@with_settings
class PoissonNLLLoss(LossBase):
    """Negative log likelihood of counts under a Poisson distribution.

    Examples:
        >>> print(nn.PoissonNLLLoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0])))
        1.2675776
    """

    log_input: Anything = option("whether the input is the logarithm of the mean", default=True)
    full: Anything = option("whether Stirling's term is added", default=False)
    eps: Anything = 1e-08
    reduction: Reduction = "mean"

    def construct(self, input, target):
        x, target = same_floats(input, target)
        return losses.poisson_nll_loss(x, target, self.log_input, self.full, self.eps, self.reduction)


@with_settings
class GaussianNLLLoss(LossBase):
    """Negative log likelihood of targets under normal distributions.

    Examples:
        >>> print(nn.GaussianNLLLoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0]), Tensor([1.0, 1.0])))
        0.032500003
    """

    _: KW_ONLY
    full: Flag = option("whether the constant term is added", default=False)
    eps: Variance = option("least variance", default=1e-6)
    reduction: Reduction = "mean"

    def construct(self, logits, labels, var):
        logits, labels, var = same_floats(logits, labels, var)
        return losses.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


@with_settings
class HingeEmbeddingLoss(LossBase):
    """``x`` where the target is 1, ``max(0, margin - x)`` where it is -1.

    Examples:
        >>> print(nn.HingeEmbeddingLoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0])))
        0.85
    """

    margin: AsFloat = 1.0
    reduction: Reduction = "mean"

    def construct(self, logits, labels):
        logits, labels = same_floats(logits, labels)
        return losses.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


@with_settings
class MultiLabelSoftMarginLoss(LossBase):
    """Mean over the classes of the binary cross entropy.

    Examples:
        >>> print(nn.MultiLabelSoftMarginLoss()(Tensor([[0.2, 0.8], [1.5, -0.5]]), Tensor([[0.0, 1.0], [1.0, 0.0]])))
        0.46118245
    """

    weight: Anything = None
    reduction: Reduction = "mean"

    def construct(self, x, target):
        x, target, weight = same_floats(x, target, self.weight)
        return losses.multilabel_soft_margin_loss(x, target, weight, self.reduction)


@with_settings
class MultiMarginLoss(LossBase):
    """Multi-class hinge loss.

    Examples:
        >>> print(nn.MultiMarginLoss()(Tensor([[0.2, 0.8], [1.5, -0.5]]), Tensor([1, 0])))
        0.099999994
    """

    p: OneOrTwo = option("1 or 2", default=1)
    margin: Real = 1.0
    reduction: Reduction = "mean"
    weight: Anything = option("of each class", default=None)

    def construct(self, x, target, weight=None):
        weight = self.weight if weight is None else weight
        return losses.multi_margin_loss(x, target, self.p, self.margin, weight, self.reduction)


@with_settings
class MultilabelMarginLoss(LossBase):
    """Multi-label hinge loss: each target row lists class indices, up to the first -1.

    Examples:
        >>> print(nn.MultilabelMarginLoss()(Tensor([[0.2, 0.8], [1.5, -0.5]]), Tensor([[1, -1], [0, -1]], ms.int32)))
        0.099999994
    """

    reduction: Reduction = "mean"

    def construct(self, x, target):
        return losses.multilabel_margin_loss(x, target, self.reduction)[0]


@with_settings
class CTCLoss(LossBase):
    """Connectionist temporal classification.

    Inputs are log probabilities (T, N, C), labels (N, S) and both lengths (N,); without N those of one sequence.

    Examples:
        >>> likely = ops.log_softmax(ops.zeros((2, 1, 2)))
        >>> print(nn.CTCLoss(reduction="sum")(likely, Tensor([[1]]), Tensor([2]), Tensor([1])).shape)
        ()
    """

    blank: Integer = option("index of the blank", default=0)
    reduction: Reduction = "mean"
    zero_infinity: Flag = option("whether infinite losses count as 0", default=False)

    def construct(self, log_probs, targets, input_lengths, target_lengths):
        single = log_probs.ndim == 2  # one sequence, without an axis of the batch
        if single:
            log_probs = log_probs.expand_dims(1)
        if single and targets.ndim == 1:
            targets = targets.expand_dims(0)
        if single:
            input_lengths, target_lengths = _vector(input_lengths), _vector(target_lengths)
        loss = ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )[0]
        return loss.squeeze(0) if single and self.reduction == "none" else loss


def _vector(length: Any) -> Any:
    """A length as a vector of one."""
    if isinstance(length, int):
        return (length,)
    return length.expand_dims(0) if isinstance(length, Tensor) and length.ndim == 0 else length
