"""Confusion matrices, what is derived from them, and the curve of hits and false alarms."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from .basic import Metric


def rearrange_inputs(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates ``update`` of a metric: gives it the inputs that ``set_indexes`` chose, in that order."""

    @wraps(func)
    def wrapper(self: Any, *inputs: Any) -> Any:
        indexes = self.indexes
        return func(self, *inputs) if indexes is None else func(self, *(inputs[i] for i in indexes))

    return wrapper


def auc(x: Any, y: Any, reorder: bool = False) -> float:
    """The area below a curve.

    Args:
        x (numpy.ndarray): places, rising or falling.
        y (numpy.ndarray): heights.
        reorder (bool): sort the points first. Default ``False``.

    Raises:
        TypeError: no arrays.
        ValueError: less than two points, different lengths, or ``x`` goes up and down.
    """
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(f"For 'auc', the argument 'x' and 'y' must all be np.ndarray, but got {type(x)}, {type(y)}")
    if len(x) != len(y):
        raise ValueError(f"For 'auc', the 'x' and 'y' must have the same length, but got {len(x)} and {len(y)}.")
    if len(x) < 2:
        raise ValueError(
            f"For 'auc', the shape of the argument 'x' in axis 0 must be greater than 2, but got {len(x)}."
        )
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    steps = np.diff(x)
    direction = 1
    if np.any(steps < 0):
        if not np.all(steps <= 0):
            raise ValueError(
                "For 'auc', if the argument is False, the argument 'x' array must be increasing or decreasing, "
                f"but got 'x': {x}"
            )
        direction = -1
    return float(direction * np.sum(steps * (y[1:] + y[:-1]) / 2))


class ConfusionMatrix(Metric):
    """The number of members of each class (rows) that were predicted as each class (columns).

    Args:
        num_classes (int): number of classes.
        normalize (str): ``"no_norm"``, ``"target"`` (rows sum to 1), ``"prediction"`` (columns) or ``"all"``. Default
            ``"no_norm"``.
        threshold (float): for two classes given by one score. Default ``0.5``.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: unknown ``normalize``.
    """

    def __init__(self, num_classes: int, normalize: str = "no_norm", threshold: float = 0.5) -> None:
        for name, value, kind in (("num_classes", num_classes, int), ("threshold", threshold, float)):
            if isinstance(value, bool) or not isinstance(value, kind):
                raise TypeError(
                    f"The type of '{name}' should be '{kind.__name__}', but got type '{type(value).__name__}'."
                )
        if normalize not in ("no_norm", "target", "prediction", "all"):
            raise ValueError(
                "For 'ConfusionMatrix', the argument 'normalize' must be in ['all', 'prediction', 'label', "
                f"'no_norm'(None)], but got {normalize}."
            )
        self.num_classes, self.normalize, self.threshold = num_classes, normalize, threshold
        self.clear()

    def clear(self) -> None:
        self.confusion_matrix = np.zeros((self.num_classes, self.num_classes))
        self._is_update = False

    def update(self, *inputs: Any) -> None:
        predicted, target = self._inputs(inputs, 2)
        if predicted.ndim not in (target.ndim, target.ndim + 1):
            raise ValueError(
                f"For 'ConfusionMatrix.update', predicted value and true value should have the same number of "
                f"dimensions, or the predicted value one more, but got {predicted.ndim} and {target.ndim}."
            )
        if predicted.ndim == target.ndim + 1:
            predicted = predicted.argmax(1)
        elif predicted.dtype.kind == "f":
            predicted = (predicted >= self.threshold).astype(np.int64)
        places = target.reshape(-1).astype(np.int64) * self.num_classes + predicted.reshape(-1).astype(np.int64)
        counts = np.bincount(places, minlength=self.num_classes**2)
        self.confusion_matrix = self.confusion_matrix + counts.reshape(self.num_classes, self.num_classes)
        self._is_update = True

    def eval(self) -> np.ndarray:
        if not self._is_update:
            raise RuntimeError("Please call the 'update' method before calling 'eval' method.")
        matrix = self.confusion_matrix.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.normalize == "target":
                matrix = matrix / matrix.sum(axis=1, keepdims=True)
            elif self.normalize == "prediction":
                matrix = matrix / matrix.sum(axis=0, keepdims=True)
            elif self.normalize == "all":
                matrix = matrix / matrix.sum()
        return np.nan_to_num(matrix, nan=0.0)


def _rates(tp: Any, fp: Any, tn: Any, fn: Any) -> dict[str, Any]:
    """Every measure, by its shortest name; 0/0 is NaN."""
    p, n = tp + fn, fp + tn
    tpr, tnr = tp / p, tn / n
    ppv, npv = tp / (tp + fp), tn / (tn + fn)
    root = np.sqrt(tpr * (1 - tnr))
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return {
        "tpr": tpr, "tnr": tnr, "ppv": ppv, "npv": npv, "fnr": fn / p, "fpr": fp / n, "fdr": fp / (fp + tp),
        "for": fn / (fn + tn), "pt": (root + tnr - 1) / (tpr + tnr - 1), "ts": tp / (tp + fn + fp),
        "acc": (tp + tn) / (p + n), "ba": (tpr + tnr) / 2, "f1": 2 * tp / (2 * tp + fn + fp),
        "mcc": (tp * tn - fp * fn) / np.sqrt(product), "fm": np.sqrt(ppv * tpr), "bm": tpr + tnr - 1,
        "mk": ppv + npv - 1,
    }  # fmt: skip


_NAMES = {
    "tpr": "sensitivity recall hit_rate true_positive_rate", "tnr": "specificity selectivity true_negative_rate",
    "ppv": "precision positive_predictive_value", "npv": "negative_predictive_value",
    "fnr": "miss_rate false_negative_rate", "fpr": "fall_out false_positive_rate", "fdr": "false_discovery_rate",
    "for": "false_omission_rate", "pt": "prevalence_threshold", "ts": "threat_score critical_success_index csi",
    "acc": "accuracy", "ba": "balanced_accuracy", "f1": "f1_score", "mcc": "matthews_correlation_coefficient",
    "fm": "fowlkes_mallows_index", "bm": "informedness bookmaker_informedness", "mk": "markedness deltap",
}  # fmt: skip
_SHORT = {word: short for short, words in _NAMES.items() for word in (short, *words.split())}


class ConfusionMatrixMetric(Metric):
    """A measure of classes given as one-hot tensors (batch, class, ...).

    Args:
        skip_channel (bool): ``False`` leaves out the first class (as MindSpore does; its documents say the opposite).
            Default ``True``.
        metric_name (str): which measure, for instance ``"sensitivity"`` or ``"f1 score"``. Default ``"sensitivity"``.
        calculation_method (bool): the measure of each sample, then their mean. Default ``False``: of all counts.
        decrease (str): how the measures of samples are put together: ``"none"``, ``"mean"``, ``"sum"``,
            ``"mean_batch"``, ``"sum_batch"``, ``"mean_channel"`` or ``"sum_channel"``. Default ``"mean"``.

    Raises:
        TypeError: an argument has the wrong type.
        NotImplementedError: unknown measure (by `eval`).
    """

    def __init__(
        self,
        skip_channel: bool = True,
        metric_name: str = "sensitivity",
        calculation_method: bool = False,
        decrease: str = "mean",
    ) -> None:
        for name, value, kind in (
            ("skip_channel", skip_channel, bool),
            ("metric_name", metric_name, str),
            ("calculation_method", calculation_method, bool),
        ):
            if not isinstance(value, kind):
                raise TypeError(
                    f"The type of '{name}' should be '{kind.__name__}', but got type '{type(value).__name__}'."
                )
        self.skip_channel, self.metric_name = skip_channel, metric_name
        self.calculation_method, self.decrease = calculation_method, decrease
        self.clear()

    def clear(self) -> None:
        self._totals = np.zeros(4)
        self._sum, self._samples = 0.0, 0
        self._seen = False

    def update(self, *inputs: Any) -> None:
        predicted, target = self._inputs(inputs, 2)
        if predicted.shape != target.shape:
            raise ValueError(
                f"For 'ConfusionMatrixMetric.update', both inputs must have one shape, but got {predicted.shape} and "
                f"{target.shape}."
            )
        if predicted.ndim < 2:
            raise ValueError("For 'ConfusionMatrixMetric.update', the inputs must have at least two dimensions.")
        if not self.skip_channel and predicted.shape[1] > 1:  # MindSpore does the opposite of what it says
            predicted, target = predicted[:, 1:], target[:, 1:]
        flat = (*predicted.shape[:2], -1)
        predicted, target = predicted.reshape(flat), target.reshape(flat)
        tp = ((predicted + target) == 2).sum(2).astype(np.float64)
        tn = ((predicted + target) == 0).sum(2).astype(np.float64)
        p = target.sum(2).astype(np.float64)
        n = predicted.shape[2] - p
        counts = tp, n - tn, tn, p - tp
        self._seen = True
        if self.calculation_method:
            value, known = self._decreased(self._measure(counts))
            self._sum, self._samples = self._sum + value * known, self._samples + known
            return
        self._totals = self._totals + np.array([c.sum() for c in counts])

    def _measure(self, counts: tuple[Any, ...]) -> Any:
        short = _SHORT.get(self.metric_name.strip().lower().replace(" ", "_"))
        if short is None:
            raise NotImplementedError("The metric is not implemented.")
        with np.errstate(divide="ignore", invalid="ignore"):
            return _rates(*counts)[short]

    def _decreased(self, values: np.ndarray) -> tuple[Any, Any]:
        """Values of (batch, class) put together, and how many there were; NaN counts as none."""
        known = ~np.isnan(values)
        values = np.where(known, values, 0.0)
        how, axis = self.decrease, {"batch": 0, "channel": 1}.get(self.decrease.rpartition("_")[2])
        if how == "none":
            return values, known.astype(np.float64)
        if how.startswith("sum"):
            total = values.sum() if axis is None else values.sum(axis)
            return total, known.any().astype(np.float64) if axis is None else known.any(axis).astype(np.float64)
        if not how.startswith("mean"):
            raise ValueError(f"For 'ConfusionMatrixMetric', unknown 'decrease': {how!r}.")
        if axis is not None:
            count = known.sum(axis)
            return values.sum(axis) / np.maximum(count, 1), (count > 0).astype(np.float64)
        per_sample = values.sum(1) / np.maximum(known.sum(1), 1)
        some = known.any(1)
        return per_sample.sum() / max(some.sum(), 1), float(some.any())

    def eval(self) -> Any:
        if not self._seen:
            raise RuntimeError("Please call the 'update' method before calling 'eval' method.")
        if self.calculation_method:
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray(self._sum) / np.asarray(self._samples)
        return np.atleast_1d(self._measure(tuple(self._totals)))


class ROC(Metric):
    """The ROC curve: true and false positive rates at all thresholds.

    Args:
        class_num (int): number of classes; ``None`` for two. Default ``None``.
        pos_label (int): the class that counts as positive, for two. Default ``None``: 1.
    """

    def __init__(self, class_num: int | None = None, pos_label: int | None = None) -> None:
        for name, value in (("class_num", class_num), ("pos_label", pos_label)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise TypeError(f"The type of '{name}' should be 'int', but got type '{type(value).__name__}'.")
        self.class_num = 1 if class_num is None else class_num
        self.pos_label = 1 if pos_label is None else pos_label
        self.clear()

    def clear(self) -> None:
        self._scores: list[np.ndarray] = []
        self._targets: list[np.ndarray] = []

    def update(self, *inputs: Any) -> None:
        scores, target = self._inputs(inputs, 2)
        if scores.ndim not in (target.ndim, target.ndim + 1):
            raise ValueError("For 'ROC.update', the scores must have as many dimensions as the targets, or one more.")
        self._scores.append(scores)
        self._targets.append(target)

    def eval(self) -> tuple[Any, Any, Any]:
        """Rates of false alarms, rates of hits, thresholds; lists of one per class if there are several."""
        if not self._scores:
            raise RuntimeError("Please call the 'update' method before calling 'eval' method.")
        scores, targets = np.concatenate(self._scores), np.concatenate(self._targets)
        if self.class_num == 1:
            return _curve(scores.reshape(-1), targets.reshape(-1) == self.pos_label)
        curves = [_curve(scores[:, c].reshape(-1), targets.reshape(-1) == c) for c in range(self.class_num)]
        return tuple(list(part) for part in zip(*curves, strict=True))  # type: ignore[return-value]


def _curve(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    order = np.argsort(-scores, kind="stable")
    scores, positive = scores[order], positive[order]
    last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    hits = np.cumsum(positive)[last]
    alarms = 1 + last - hits
    hits, alarms = np.append(0, hits), np.append(0, alarms)
    thresholds = np.append(scores[0] + 1, scores[last])
    return alarms / max(alarms[-1], 1), hits / max(hits[-1], 1), thresholds
