"""Losses of embeddings, rankings, margins and likelihoods."""

from __future__ import annotations

from typing import Any

from duograph.nn import checks
from duograph.ops import loss as losses
from duograph.ops.arithmetic import maximum
from duograph.ops.cast import cast
from duograph.ops.creation import constant_like
from duograph.ops.ctc import ctc_loss
from duograph.tensor.tensor import Tensor

from .loss import LossBase, same_floats, tensors_only


class CosineEmbeddingLoss(LossBase):
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1.

    Args:
        margin (float): between -1 and 1. Default ``0.0``.
        reduction (str): Default ``"mean"``.

    Examples:
        >>> layer = nn.CosineEmbeddingLoss()
        >>> x = Tensor([[0.2, 0.8], [1.5, -0.5]])
        >>> print(layer(x, x, Tensor([1, -1], ms.int32)))
        0.5
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        checks.real(margin, "margin", self.cls_name)
        if not -1.0 <= margin <= 1.0:
            raise ValueError(f"For '{self.cls_name}', the 'margin' must be in range of [-1.0, 1.0], but got {margin}.")
        self.margin = margin

    def construct(self, logits_x1, logits_x2, labels):
        tensors_only("CosineEmbeddingLoss", logits_x1=logits_x1, logits_x2=logits_x2, labels=labels)
        x1, x2 = same_floats(logits_x1, logits_x2)
        return losses.cosine_embedding_loss(x1, x2, cast(labels, dtype=x1.dtype), self.margin, self.reduction)


class MarginRankingLoss(LossBase):
    """``max(0, -target * (x1 - x2) + margin)``.

    Args:
        margin (float): Default ``0.0``.
        reduction (str): Default ``"mean"``.

    Examples:
        >>> print(nn.MarginRankingLoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0]), Tensor([1.0, -1.0])))
        0.0
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = checks.real(margin, "margin", self.cls_name)

    def construct(self, input1, input2, target):
        x1, x2, target = same_floats(input1, input2, target)
        return losses.margin_ranking_loss(x1, x2, target, self.margin, self.reduction)


class TripletMarginLoss(LossBase):
    """``max(0, d(x, positive) - d(x, negative) + margin)`` with p-norm distances.

    Args:
        p (int): Default ``2``.
        swap (bool): whether the distance from positive to negative counts too. Default ``False``.
        eps (float): Default ``1e-6``.
        reduction (str): Default ``"mean"``.
        margin (Union[Tensor, float]): Default ``1.0``; may be given at the call.

    Examples:
        >>> layer = nn.TripletMarginLoss()
        >>> x = Tensor([[0.2, 0.8], [1.5, -0.5]])
        >>> print(layer(x, x, x))
        1.0
    """

    def __init__(
        self, p: int = 2, swap: bool = False, eps: float = 1e-6, reduction: str = "mean", margin: Any = 1.0
    ) -> None:
        super().__init__(reduction)
        self.p = checks.integer(p, "p", self.cls_name)
        self.swap = checks.boolean(swap, "swap", self.cls_name)
        self.eps, self.margin = checks.real(eps, "eps", self.cls_name), margin

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


class TripletMarginWithDistanceLoss(LossBase):
    """``max(0, d(x, positive) - d(x, negative) + margin)`` with a distance of one's own.

    Args:
        distance_function (callable): Default ``None``: the 2-norm.
        swap (bool): Default ``False``.
        reduction (str): Default ``"mean"``.
        margin (float): Default ``1.0``.

    Examples:
        >>> layer = nn.TripletMarginWithDistanceLoss()
        >>> x = Tensor([[0.2, 0.8], [1.5, -0.5]])
        >>> print(layer(x, x, x))
        1.0
    """

    def __init__(
        self, distance_function: Any = None, swap: bool = False, reduction: str = "mean", margin: float = 1.0
    ) -> None:
        super().__init__(reduction)
        self.swap = checks.boolean(swap, "swap", self.cls_name)
        self.margin = checks.number(margin, "margin", self.cls_name)
        self.distance_function = losses.pairwise_distance if distance_function is None else distance_function

    def construct(self, x, positive, negative):
        near = self.distance_function(x, positive)
        far = self.distance_function(x, negative)
        if self.swap:
            far = far.minimum(self.distance_function(positive, negative))
        gap = near - far + self.margin
        return losses.reduced(maximum(gap, constant_like(gap, 0)), self.reduction)


class PoissonNLLLoss(LossBase):
    """Negative log likelihood of counts under a Poisson distribution.

    Args:
        log_input (bool): whether the input is the logarithm of the mean. Default ``True``.
        full (bool): whether Stirling's term is added. Default ``False``.
        eps (float): Default ``1e-08``.
        reduction (str): Default ``"mean"``.

    Examples:
        >>> print(nn.PoissonNLLLoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0])))
        1.2675776
    """

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-08, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def construct(self, input, target):
        x, target = same_floats(input, target)
        return losses.poisson_nll_loss(x, target, self.log_input, self.full, self.eps, self.reduction)


class GaussianNLLLoss(LossBase):
    """Negative log likelihood of targets under normal distributions.

    Args:
        full (bool): whether the constant term is added. Default ``False``.
        eps (float): least variance. Default ``1e-6``.
        reduction (str): Default ``"mean"``.

    Examples:
        >>> print(nn.GaussianNLLLoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0]), Tensor([1.0, 1.0])))
        0.032500003
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        if eps <= 0:
            raise ValueError(f"For '{self.cls_name}', the 'eps' must be float and must > 0, but got '{eps}'.")
        self.full = checks.boolean(full, "full", self.cls_name)
        self.eps = checks.real(eps, "eps", self.cls_name)

    def construct(self, logits, labels, var):
        logits, labels, var = same_floats(logits, labels, var)
        return losses.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class HingeEmbeddingLoss(LossBase):
    """``x`` where the target is 1, ``max(0, margin - x)`` where it is -1.

    Args:
        margin (float): Default ``1.0``.
        reduction (str): Default ``"mean"``.

    Examples:
        >>> print(nn.HingeEmbeddingLoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0])))
        0.85
    """

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = checks.number(margin, "margin", self.cls_name)

    def construct(self, logits, labels):
        logits, labels = same_floats(logits, labels)
        return losses.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class MultiLabelSoftMarginLoss(LossBase):
    """Mean over the classes of the binary cross entropy (``weight`` default ``None``, ``reduction`` ``"mean"``).

    Examples:
        >>> print(nn.MultiLabelSoftMarginLoss()(Tensor([[0.2, 0.8], [1.5, -0.5]]), Tensor([[0.0, 1.0], [1.0, 0.0]])))
        0.46118245
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, x, target):
        x, target, weight = same_floats(x, target, self.weight)
        return losses.multilabel_soft_margin_loss(x, target, weight, self.reduction)


class MultiMarginLoss(LossBase):
    """Multi-class hinge loss.

    Args:
        p (int): 1 or 2. Default ``1``.
        margin (float): Default ``1.0``.
        reduction (str): Default ``"mean"``.
        weight (Tensor): of each class. Default ``None``.

    Examples:
        >>> print(nn.MultiMarginLoss()(Tensor([[0.2, 0.8], [1.5, -0.5]]), Tensor([1, 0])))
        0.099999994
    """

    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean", weight: Tensor | None = None) -> None:
        super().__init__(reduction)
        checks.one_of(p, {1, 2}, "p", self.cls_name)
        self.p, self.margin, self.weight = p, checks.real(margin, "margin", self.cls_name), weight

    def construct(self, x, target, weight=None):
        weight = self.weight if weight is None else weight
        return losses.multi_margin_loss(x, target, self.p, self.margin, weight, self.reduction)


class MultilabelMarginLoss(LossBase):
    """Multi-label hinge loss: each target row lists class indices, up to the first -1.

    Examples:
        >>> print(nn.MultilabelMarginLoss()(Tensor([[0.2, 0.8], [1.5, -0.5]]), Tensor([[1, -1], [0, -1]], ms.int32)))
        0.099999994
    """

    def construct(self, x, target):
        return losses.multilabel_margin_loss(x, target, self.reduction)[0]


class CTCLoss(LossBase):
    """Connectionist temporal classification.

    Args:
        blank (int): index of the blank. Default ``0``.
        reduction (str): Default ``"mean"``.
        zero_infinity (bool): whether infinite losses count as 0. Default ``False``.

    Inputs are log probabilities (T, N, C), labels (N, S) and both lengths (N,); without N those of one sequence.
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction)
        self.blank = checks.integer(blank, "blank", self.cls_name)
        self.zero_infinity = checks.boolean(zero_infinity, "zero_infinity", self.cls_name)

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
