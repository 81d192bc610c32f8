"""Loss layers: Cells around the functions of ``ops.loss``."""

from __future__ import annotations

from typing import Annotated, Any

from duograph.api.functional.loss import softmax_cross_entropy_with_logits
from duograph.api.promote import promote_float
from duograph.core import dtype as dt
from duograph.core.launchable import launchable
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.nn.kinds import Anything, AsFloat, Flag
from duograph.nn.settings import Kind, Setting, keep, option, with_settings
from duograph.ops import loss as losses
from duograph.ops.arithmetic import mul, square
from duograph.ops.cast import cast
from duograph.ops.creation import constant_like, one_hot
from duograph.ops.norm import softmax
from duograph.ops.stable import root
from duograph.ops.unary import sigmoid
from duograph.tensor.tensor import Tensor

_REDUCTIONS = ("mean", "sum", "none")


def same_floats(*tensors: Tensor | None) -> tuple[Any, ...]:
    """Floating tensors (or ``None``) brought to the widest of their dtypes."""
    present = [promote_float(t) for t in tensors if t is not None]
    wide = present[0].dtype
    for t in present[1:]:
        wide = dt.promote_types(wide, t.dtype)
    queue = iter(present)
    return tuple(None if t is None else _in(next(queue), wide) for t in tensors)


def _in(x: Tensor, dtype: dt.DType) -> Tensor:
    return x if x.dtype is dtype else cast(x, dtype=dtype)


def same_shape(x: Tensor, target: Tensor, owner: str) -> None:
    """Raises ValueError unless both have one shape."""
    if tuple(x.shape) != tuple(target.shape):
        raise ValueError(
            f"For '{owner}', the 'logits' shape {tuple(x.shape)} and the 'labels' shape {tuple(target.shape)} must "
            "be equal."
        )


def tensors_only(owner: str, **named: Any) -> None:
    """Raises TypeError unless all are tensors."""
    for name, value in named.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"For '{owner}', the '{name}' must be a Tensor, but got {type(value).__name__}.")


def _reduction(value: Any, name: str, owner: str) -> str:
    if value is None:
        return "none"
    if value not in _REDUCTIONS:
        raise ValueError(f"For '{owner}', the '{name}' must be in {list(_REDUCTIONS)}, but got {value}.")
    return value


def _weight(value: Any, name: str, owner: str) -> Tensor | None:
    if value is not None:
        tensors_only(owner, **{name: value})
    return value


def _no_cell(value: Any, name: str, owner: str) -> Tensor | None:
    if isinstance(value, Cell):
        raise TypeError(f"For '{owner}', the '{name}' can not be a Parameter or a Cell.")
    return value


def _known_activation(value: Any, name: str, owner: str) -> Any:
    if value is not None and value not in ("softmax", "sigmoid"):
        raise KeyError(f"For '{owner}', the '{name}' must be 'softmax', 'sigmoid' or None, but got {value}.")
    return value


Reduction = Annotated[str, Kind("str", _reduction, '``"mean"``, ``"sum"`` or ``"none"``')]
KLReduction = Annotated[str, Kind("str", text='also ``"batchmean"``: the sum divided by the first extent')]
Weight = Annotated[Tensor | None, Kind("Tensor", text="weight of each element")]
ClassWeight = Annotated[Tensor | None, Kind("Tensor", _weight, "weight of each class")]
LogitsWeight = Annotated[Tensor | None, Kind("Tensor", _no_cell)]
IgnoredClass = Annotated[int, Kind("int", checks.integer, "targets that do not count")]
above_0 = checks.that(checks.a_number, lambda x: not x <= 0, "be > 0, but got {}")
_at_least_0 = checks.that(checks.a_number, lambda x: not x < 0, "be float and must >= 0, but got '{}'")
_smoothing = checks.that(checks.real, lambda x: 0 <= x <= 1, "be float and must in [0.0, 1.0], but got '{}'")
Above0 = Annotated[float, Kind("Union[int, float]", above_0)]
AtLeast0 = Annotated[float, Kind("Union[int, float]", _at_least_0)]
Smoothing = Annotated[float, Kind("float", _smoothing, "between 0 and 1")]
Activation = Annotated[Any, Kind("str", _known_activation, 'of the logits: ``"softmax"``, ``"sigmoid"`` or ``None``')]


class LossBase(Cell):
    """Base of losses: `get_loss` reduces.

    Args:
        reduction (str): ``"mean"``, ``"sum"`` or ``"none"``. Default ``"mean"``.

    Raises:
        ValueError: another reduction.

    Examples:
        >>> class Cubed(nn.LossBase):
        ...     def construct(self, logits, labels):
        ...         return self.get_loss((logits - labels) ** 3)
        >>> print(Cubed()(Tensor([1.0, 3.0]), Tensor([0.0, 1.0])))
        4.5
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self._set_reduction(_reduction(reduction, "reduction", self.cls_name))

    def _set_reduction(self, reduction: str) -> None:
        self.reduction = reduction
        self.average, self.reduce = reduction == "mean", reduction != "none"

    def _take_settings(self, given: dict[str, Any], settings: dict[str, Setting]) -> None:
        Cell.__init__(self)
        keep(self, given, settings)
        self._set_reduction(given.get("reduction", "mean"))
        self._settings_taken(given)

    def get_axis(self, x: Tensor) -> tuple[int, ...]:
        """All axes of ``x``."""
        return tuple(range(len(x.shape)))

    def get_loss(self, x: Tensor, weights: Any = 1.0) -> Tensor:
        """``x`` weighted and reduced; half types compute in float32."""
        return weighted_reduction(x, weights, self.reduction)

    def construct(self, logits, labels):
        raise NotImplementedError


@launchable
def weighted_reduction(x: Tensor, weights: Any, reduction: str) -> Tensor:
    """See `LossBase.get_loss`."""
    dtype = x.dtype
    wide = _in(x, dt.float32) if dtype in (dt.float16, dt.bfloat16) else x
    weight = _in(weights, wide.dtype) if isinstance(weights, Tensor) else constant_like(wide, weights)
    return _in(losses.reduced(mul(weight, wide), reduction), dtype)


@with_settings
class L1Loss(LossBase):
    """Absolute difference.

    Examples:
        >>> print(nn.L1Loss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0])))
        0.25
    """

    reduction: Reduction = "mean"

    def construct(self, logits, labels):
        tensors_only("L1Loss", logits=logits, labels=labels)
        logits, labels = same_floats(logits, labels)
        return losses.l1_loss(logits, labels, self.reduction)


@with_settings
class MAELoss(L1Loss):
    """As `L1Loss`.

    Examples:
        >>> print(nn.MAELoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0])))
        0.25
    """


@with_settings
class MSELoss(LossBase):
    """Squared difference.

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> print(nn.MSELoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        2.0
    """

    reduction: Reduction = "mean"

    def construct(self, logits, labels):
        tensors_only("MSELoss", logits=logits, labels=labels)
        logits, labels = same_floats(logits, labels)
        return losses.reduced(square(losses.gap_of(logits, labels)), self.reduction)


@with_settings
class RMSELoss(LossBase):
    """Root of the mean squared difference.

    Examples:
        >>> print(nn.RMSELoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0])))
        0.254951
    """

    def construct(self, logits, labels):
        logits, labels = same_floats(logits, labels)
        return root(losses.reduced(square(losses.gap_of(logits, labels)), "mean"))


@with_settings
class SmoothL1Loss(LossBase):
    """``gap**2 / (2 beta)`` where the gap is below ``beta``, ``gap - beta / 2`` elsewhere.

    Examples:
        >>> print(nn.SmoothL1Loss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0])))
        [0.02  0.045]
    """

    beta: AtLeast0 = 1.0
    reduction: Reduction = "none"

    def construct(self, logits, labels):
        tensors_only("SmoothL1Loss", logits=logits, labels=labels)
        logits, labels = same_floats(logits, labels)
        return losses.smooth_l1_loss(logits, labels, float(self.beta), self.reduction)


@with_settings
class HuberLoss(LossBase):
    """``gap**2 / 2`` where the gap is at most ``delta``, ``delta * (gap - delta / 2)`` elsewhere.

    Examples:
        >>> print(nn.HuberLoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0])))
        0.032500003
    """

    reduction: Reduction = "mean"
    delta: Above0 = 1.0

    def construct(self, logits, labels):
        logits, labels = same_floats(logits, labels)
        return losses.huber_loss(logits, labels, self.reduction, float(self.delta))


@with_settings
class CrossEntropyLoss(LossBase):
    """Cross entropy of the softmax of logits (C,) or (N, C, ...) with class indices or probabilities.

    Examples:
        >>> print(nn.CrossEntropyLoss()(Tensor([[0.2, 0.8], [1.5, -0.5]]), Tensor([1, 0], ms.int32)))
        0.28220803
    """

    weight: ClassWeight = None
    ignore_index: IgnoredClass = -100
    reduction: Reduction = "mean"
    label_smoothing: Smoothing = 0.0

    def construct(self, logits, labels):
        tensors_only("CrossEntropyLoss", logits=logits, labels=labels)
        return cross_entropy(logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


@launchable
def cross_entropy(
    logits: Tensor, labels: Tensor, weight: Tensor | None, ignore_index: int, reduction: str, label_smoothing: float
) -> Tensor:
    """`losses.cross_entropy` on operands brought to one dtype."""
    logits = promote_float(logits)
    labels = _in(labels, logits.dtype) if labels.dtype.is_floating else labels
    weight = None if weight is None else _in(weight, logits.dtype)
    return losses.cross_entropy(logits, labels, weight, ignore_index, reduction, label_smoothing, "CrossEntropyLoss")


@with_settings
class NLLLoss(LossBase):
    """Negative log likelihood of class indices, given log probabilities.

    Examples:
        >>> print(nn.NLLLoss()(ops.log_softmax(Tensor([[0.2, 0.8], [1.5, -0.5]])), Tensor([1, 0], ms.int32)))
        0.28220803
    """

    weight: ClassWeight = None
    ignore_index: IgnoredClass = -100
    reduction: Reduction = "mean"

    def construct(self, logits, labels):
        tensors_only("NLLLoss", logits=logits, labels=labels)
        return losses.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction, owner="NLLLoss")


def fits_labels(shape: tuple[Any, ...], labels: Tensor, logits: Tensor, meaning: str) -> None:
    """Raises unless ``labels`` have ``shape``, as far as sizes are known."""
    pairs = zip(shape, labels.shape, strict=False)
    if len(shape) != len(labels.shape) or any(m != n for m, n in pairs if isinstance(m, int) and isinstance(n, int)):
        raise ValueError(
            f"For 'SoftmaxCrossEntropyWithLogits', the 'labels' must be {meaning}, of shape {tuple(shape)} for "
            f"'logits' of shape {tuple(logits.shape)}, but got shape {tuple(labels.shape)}."
        )


@with_settings
class SoftmaxCrossEntropyWithLogits(LossBase):
    """Cross entropy of the rows of logits (N, C).

    Raises:
        RuntimeError: a label is not a class.

    Examples:
        >>> layer = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        >>> print(layer(Tensor([[0.2, 0.8], [1.5, -0.5]]), Tensor([1, 0], ms.int32)))
        0.28220803
    """

    sparse: Flag = option("whether labels are class indices (N,) instead of probabilities (N, C)", default=False)
    reduction: Reduction = option(
        'with ``sparse`` and ``"mean"``, labels that are not a class are an error; otherwise they have loss 0',
        default="none",
    )

    def construct(self, logits, labels):
        tensors_only("SoftmaxCrossEntropyWithLogits", logits=logits, labels=labels)
        of_rows: Any = softmax_cross_entropy_with_logits
        if self.sparse:
            if self.reduction == "mean" and len(labels.shape) == 1:  # MindSpore's kernel of this case looks at them
                labels = losses.checked_labels(labels, logits.shape[-1], "SoftmaxCrossEntropyWithLogits")
                of_rows = losses.softmax_cross_entropy_with_logits  # rows add up to 1: its own derivative is the same
            fits_labels(logits.shape[:-1], labels, logits, "one class for each row")
            labels = one_hot(labels, depth=logits.shape[-1], dtype=logits.dtype)
        else:
            fits_labels(logits.shape, labels, logits, "probabilities of all classes (classes as numbers: sparse=True)")
        logits, labels = same_floats(logits, labels)
        return losses.reduced(of_rows(logits, labels), self.reduction)


@with_settings
class BCELoss(LossBase):
    """Binary cross entropy of probabilities.

    Examples:
        >>> print(nn.BCELoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0])))
        0.28990924
    """

    weight: Weight = None
    reduction: Reduction = "mean"

    def construct(self, logits, labels):
        tensors_only("BCELoss", logits=logits, labels=labels)
        same_shape(logits, labels, "BCELoss")
        logits, labels, weight = same_floats(logits, labels, self.weight)
        return losses.binary_cross_entropy(logits, labels, weight, self.reduction)


@with_settings
class BCEWithLogitsLoss(LossBase):
    """Binary cross entropy of the sigmoid of logits.

    Examples:
        >>> print(nn.BCEWithLogitsLoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0])))
        0.60066247
    """

    reduction: Reduction = "mean"
    weight: LogitsWeight = option("of each element", default=None)
    pos_weight: LogitsWeight = option("of positive targets", default=None)

    def construct(self, logits, labels):
        tensors_only("BCEWithLogitsLoss", logits=logits, labels=labels)
        same_shape(logits, labels, "BCEWithLogitsLoss")
        logits, labels, weight, pos_weight = same_floats(logits, labels, self.weight, self.pos_weight)
        return losses.binary_cross_entropy_with_logits(logits, labels, weight, pos_weight, self.reduction)


@with_settings
class KLDivLoss(LossBase):
    """``target * (log(target) - log_probs)``.

    Examples:
        >>> print(nn.KLDivLoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0])))
        -0.35
    """

    reduction: KLReduction = "mean"

    def _settings_taken(self, given):
        own = self.reduction
        self._set_reduction("mean" if own == "batchmean" else _reduction(own, "reduction", self.cls_name))
        self.reduction = own

    def construct(self, logits, labels):
        logits, labels = same_floats(logits, labels)
        return losses.kl_div(logits, labels, self.reduction)


@with_settings
class SoftMarginLoss(LossBase):
    """``log(1 + exp(-target * x))``.

    Examples:
        >>> print(nn.SoftMarginLoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0])))
        0.54816663
    """

    reduction: Reduction = "mean"

    def construct(self, logits, labels):
        logits, labels = same_floats(logits, labels)
        return losses.soft_margin_loss(logits, labels, self.reduction)


@with_settings
class FocalLoss(LossBase):
    """Cross entropy scaled by ``(1 - p)**gamma``.

    Examples:
        >>> logits = Tensor([[0.8, 1.4], [0.5, 0.9]])
        >>> print(nn.FocalLoss()(logits, Tensor([[1], [0]], ms.int32)))
        0.19108999
    """

    weight: ClassWeight = None
    gamma: AsFloat = 2.0
    reduction: Reduction = "mean"

    def construct(self, logits, labels):
        return losses.focal_loss(logits, labels, self.weight, self.gamma, self.reduction)


@with_settings
class DiceLoss(LossBase):
    """1 minus the overlap of probabilities and targets.

    Examples:
        >>> print(nn.DiceLoss()(Tensor([0.2, 0.7]), Tensor([0.0, 1.0])))
        0.084973335
    """

    smooth: Above0 = 1e-5

    def _settings_taken(self, given):
        self.smooth = float(self.smooth)

    def construct(self, logits, label):
        tensors_only("DiceLoss", logits=logits, label=label)
        same_shape(logits, label, "DiceLoss")
        logits, label = same_floats(logits, label)
        return losses.dice_loss(logits, label, self.smooth)


@with_settings
class MultiClassDiceLoss(LossBase):
    """Mean `DiceLoss` over the classes (axis 1).

    Examples:
        >>> print(nn.MultiClassDiceLoss()(Tensor([[0.2, 0.8], [1.5, -0.5]]), Tensor([[0.0, 1.0], [1.0, 0.0]])))
        0.08559379
    """

    weights: Weight = option("(num_classes, dim)", default=None)
    ignore_indiex: Anything = option("class that does not count", default=None)
    activation: Activation = "softmax"

    def construct(self, logits, label):
        same_shape(logits, label, "MultiClassDiceLoss")
        logits, label = same_floats(logits, label)
        if self.activation == "softmax":
            logits = softmax(logits, axis=1)
        elif self.activation == "sigmoid":
            logits = sigmoid(logits)
        return multiclass_dice(logits, label, self.weights, self.ignore_indiex)


def multiclass_dice(probs: Tensor, label: Tensor, weights: Tensor | None, ignored: int | None) -> Tensor:
    """Mean over classes of the dice losses, weighted."""
    total: Any = None
    classes = [c for c in range(probs.shape[1]) if c != ignored]
    for c in classes:
        part = losses.dice_loss(probs[:, c], label[:, c])
        if weights is not None:
            part = part * weights[c]
        total = part if total is None else total + part
    return total / probs.shape[1]
