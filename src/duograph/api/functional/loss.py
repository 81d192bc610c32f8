"""Losses: checks of MindSpore's arguments over the composites of ``ops.loss``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.autodiff.custom import custom_call
from duograph.ops import loss as losses
from duograph.ops.arithmetic import mul, sub
from duograph.ops.creation import constant_like
from duograph.ops.movement import expand_dims
from duograph.ops.norm import softmax
from duograph.ops.unary import exp
from duograph.tensor.tensor import Tensor

from ..promote import promote, promote_float
from .forms import axis_of, documented, need_tensor, not_public, public_functions
from .math import checked


def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Cross entropy of the softmax of ``input`` (C,) or (N, C, ...) with classes or probabilities ``target``.

    Args:
        input: logits.
        target: class indices, or probabilities in the shape of ``input``.
        weight: one number per class.
        ignore_index: the class that does not count.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        label_smoothing: share of the probability that is spread over all classes.

    Returns:
        Tensor, the loss.

    Raises:
        TypeError: ``input`` or ``target`` is not a Tensor.
        ValueError: unknown ``reduction``, or shapes do not fit.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.cross_entropy(Tensor([[0.0, 0.0]]), Tensor([1])))
        0.6931472
    """
    need_tensor("cross_entropy", input=input, target=target)
    return losses.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)


def nll_loss(
    inputs: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Negative log likelihood of the classes ``target``, given log probabilities.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.nll_loss(Tensor([[-1.0, -2.0]]), Tensor([1])))
        2.0
    """
    need_tensor("nll_loss", inputs=inputs, target=target)
    return losses.nll_loss(inputs, target, weight, ignore_index, reduction, label_smoothing)


def binary_cross_entropy(
    logits: Tensor, labels: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """``-(y log p + (1 - y) log(1 - p))``.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.binary_cross_entropy(Tensor([0.5, 0.5]), Tensor([1.0, 0.0])))
        0.6931472
    """
    need_tensor("BinaryCrossEntropy", logits=logits, labels=labels)
    return losses.binary_cross_entropy(logits, labels, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`binary_cross_entropy` of the sigmoid of ``input``.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.binary_cross_entropy_with_logits(Tensor([0.0]), Tensor([1.0])))
        0.6931472
    """
    need_tensor("BCEWithLogitsLoss", input=input, target=target)
    return losses.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(logits: Tensor, labels: Tensor, reduction: str = "mean") -> Tensor:
    """``labels * (log(labels) - logits)``.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.kl_div(Tensor([0.0, -1.0]), Tensor([1.0, 1.0])))
        0.5
    """
    need_tensor("KLDivLoss", logits=logits, labels=labels)
    return losses.kl_div(logits, labels, reduction)


@not_public
def kl_div_of_logs(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """`kl_div`, of a target that may be given as logarithms."""
    if not log_target:
        return kl_div(input, target, reduction)

    return losses.reduced(mul(exp(target), sub(target, input)), reduction, "kl_div")


def _promoted_pair(name: str, fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def function(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
        need_tensor(name, input=input, target=target)
        x, y = promote(input, target, name)
        if tuple(x.shape) != tuple(y.shape):
            checked(x, y, name)
        return fn(promote_float(x), promote_float(y), reduction)

    function.__name__ = name
    call = f"ops.{name}(Tensor([1.0, 1.0]), Tensor([4.0, 4.0]))"
    function.__doc__ = documented(
        fn.__doc__ or "", 'Tensor, 0-d; with ``reduction="none"`` the single losses.', call,
        "9.0" if name == "mse_loss" else "3.0",
    )  # fmt: skip
    return function


mse_loss, l1_loss = _promoted_pair("mse_loss", losses.mse_loss), _promoted_pair("l1_loss", losses.l1_loss)


def smooth_l1_loss(input: Tensor, target: Tensor, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """``gap**2 / (2 beta)`` below ``beta``, ``gap - beta / 2`` above.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.smooth_l1_loss(Tensor([1.0, 2.0]), Tensor([1.5, 4.0])))
        [0.125 1.5  ]
    """
    need_tensor("SmoothL1Loss", input=input, target=target)
    return losses.smooth_l1_loss(input, target, beta, reduction)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """``gap**2 / 2`` up to ``delta``, ``delta * (gap - delta / 2)`` above.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.huber_loss(Tensor([1.0, 2.0]), Tensor([1.5, 4.0]), reduction="none"))
        [0.125 1.5  ]
    """
    x, y = promote(input, target, "huber_loss")
    return losses.huber_loss(promote_float(x), promote_float(y), reduction, delta)


def gaussian_nll_loss(
    x: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Negative log likelihood of ``target`` under normal distributions.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.gaussian_nll_loss(Tensor([1.0]), Tensor([3.0]), Tensor([1.0])))
        2.0
    """
    need_tensor("gaussian_nll_loss", x=x, target=target, var=var)
    return losses.gaussian_nll_loss(x, target, var, full, eps, reduction)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood of counts under Poisson distributions.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.poisson_nll_loss(Tensor([0.0]), Tensor([2.0])))
        1.0
    """
    need_tensor("poisson_nll_loss", input=input, target=target)
    return losses.poisson_nll_loss(input, target, log_input, full, eps, reduction)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Cosine of the angle along ``dim``.

    Returns:
        Tensor, of the shape the operands broadcast to, without ``dim``.

    Examples:
        >>> print(ops.cosine_similarity(Tensor([[1.0, 0.0]]), Tensor([[0.0, 1.0]])))
        [0.]
    """
    need_tensor("cosine_similarity", x1=x1, x2=x2)
    a, b = promote(x1, x2, "cosine_similarity")
    product = a if a.ndim >= b.ndim else b
    return losses.cosine_similarity(promote_float(a), promote_float(b), axis_of(dim, product, "cosine_similarity"), eps)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.cosine_embedding_loss(Tensor([[1.0, 0.0]]), Tensor([[0.0, 1.0]]), Tensor([1])))
        1.0
    """
    need_tensor("cosine_embedding_loss", input1=input1, input2=input2, target=target)
    return losses.cosine_embedding_loss(input1, input2, target, margin, reduction)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """``max(0, -target * (input1 - input2) + margin)``.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.margin_ranking_loss(Tensor([1.0]), Tensor([3.0]), Tensor([1.0])))
        2.0
    """
    need_tensor("margin_ranking_loss", input1=input1, input2=input2, target=target)
    return losses.margin_ranking_loss(input1, input2, target, margin, reduction)


def hinge_embedding_loss(inputs: Tensor, targets: Tensor, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """``inputs`` where the target is 1, ``max(0, margin - inputs)`` where it is -1.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.hinge_embedding_loss(Tensor([0.5, 0.25]), Tensor([1.0, -1.0]), reduction="none"))
        [0.5  0.75]
    """
    need_tensor("hinge_embedding_loss", inputs=inputs, targets=targets)
    return losses.hinge_embedding_loss(inputs, targets, margin, reduction)


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """``log(1 + exp(-target * input))``.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.soft_margin_loss(Tensor([0.0]), Tensor([1.0])))
        0.6931472
    """
    need_tensor("SoftMarginLoss", input=input, target=target)
    return losses.soft_margin_loss(input, target, reduction)


def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Mean over the classes of ``max(0, margin - x[target] + x[i])**p``.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.multi_margin_loss(Tensor([[0.5, 1.0]]), Tensor([0])))
        0.75
    """
    need_tensor("MultiMarginLoss", input=input, target=target)
    return losses.multi_margin_loss(input, target, p, margin, weight, reduction)


def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Mean over the classes of the margins between target classes and others.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.multilabel_margin_loss(Tensor([[0.5, 1.0]]), Tensor([[0, -1]])))
        0.75
    """
    need_tensor("MultilabelMarginLoss", input=input, target=target)
    return losses.multilabel_margin_loss(input, target, reduction)[0]


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Mean over the classes of the binary cross entropy.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.multilabel_soft_margin_loss(Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]])))
        0.6931472
    """
    need_tensor("multilabel_soft_margin_loss", input=input, target=target)
    return losses.multilabel_soft_margin_loss(input, target, weight, reduction)


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: Any = 1.0, p: int = 2, eps: float = 1e-6,
    swap: bool = False, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)``.

    Returns:
        Tensor, 0-d; with ``reduction="none"`` the single losses.

    Examples:
        >>> print(ops.triplet_margin_loss(Tensor([[0.0]]), Tensor([[1.0]]), Tensor([[3.0]]), margin=3.0, eps=0.0))
        1.0
    """
    need_tensor("TripletMarginLoss", anchor=anchor, positive=positive, negative=negative)
    return losses.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)


@not_public
def sigmoid_cross_entropy(logits: Tensor, label: Tensor) -> Tensor:
    """Elementwise binary cross entropy of the sigmoid of ``logits`` (``ops.SigmoidCrossEntropyWithLogits``)."""
    return losses.binary_cross_entropy_with_logits(logits, label, reduction="none")


def l2_loss(input_x: Tensor) -> Tensor:
    """Half the sum of squares.

    Returns:
        Tensor, 0-d, of the dtype of ``input_x``.

    Examples:
        >>> print(ops.l2_loss(Tensor([3.0, 4.0])))
        12.5
    """
    need_tensor("L2Loss", input_x=input_x)
    total = losses.total(mul(input_x, input_x))
    return mul(total, constant_like(total, 0.5))


@not_public
def square_sum_all(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Sums of squares of both tensors."""
    return losses.total(mul(x, x)), losses.total(mul(y, y))


@not_public
def softmax_cross_entropy_with_logits(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross entropy of every row, with the gradient of MindSpore's kernel: ``softmax(logits) - labels``, also where a
    row of ``labels`` does not add up to 1, and none for ``labels``."""
    loss = losses.softmax_cross_entropy_with_logits
    return custom_call(loss, _softmax_cross_entropy_bprop, (logits, labels))  # type: ignore[no-any-return]


def _softmax_cross_entropy_bprop(logits: Tensor, labels: Tensor, _out: Tensor, dout: Tensor) -> tuple[Tensor, None]:
    axis = len(logits.shape) - 1
    slope = sub(softmax(logits, axis=axis), labels)
    return mul(slope, expand_dims(dout, axis)), None


FUNCTIONS = public_functions(globals()) | {
    "mse_loss_ext": mse_loss,
}  # fmt: skip
