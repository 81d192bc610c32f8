"""Metrics of evaluation."""

from typing import Any

from .basic import (
    MAE,
    MSE,
    Accuracy,
    Loss,
    Metric,
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
)
from .confusion import ROC, ConfusionMatrix, ConfusionMatrixMetric, auc, rearrange_inputs
from .distances import BleuScore, CosineSimilarity, Dice
from .scores import F1, Fbeta, Perplexity, Precision, Recall

_BY_NAME: dict[str, Any] = {
    "accuracy": Accuracy, "acc": Accuracy, "precision": Precision, "recall": Recall, "F1": F1, "mae": MAE, "mse": MSE,
    "loss": Loss, "top_1_accuracy": Top1CategoricalAccuracy, "top_5_accuracy": Top5CategoricalAccuracy,
    "topk": TopKCategoricalAccuracy, "perplexity": Perplexity, "roc": ROC, "auc": auc, "bleu_score": BleuScore,
    "confusion_matrix": ConfusionMatrix, "confusion_matrix_metric": ConfusionMatrixMetric, "dice": Dice,
    "cosine_similarity": CosineSimilarity,
}  # fmt: skip


def names() -> list[str]:
    """The names that `get_metric_fn` knows."""
    return sorted(_BY_NAME)


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Any:
    """The metric of a name.

    Raises:
        KeyError: unknown name.
    """
    if name not in _BY_NAME:
        raise KeyError(f"Unsupported metric {name!r}; there are {names()}.")
    return _BY_NAME[name](*args, **kwargs)


def get_metrics(metrics: Any) -> dict[str, Metric]:
    """The metrics of a `Model` by name.

    Args:
        metrics (Union[dict, set, list]): names, or metrics by name; ``None`` for none.

    Raises:
        TypeError: it is something else.
    """
    if metrics is None:
        return {}
    if isinstance(metrics, dict):
        for name, metric in metrics.items():
            if not isinstance(name, str) or not isinstance(metric, Metric):
                raise TypeError(f"For 'Model', metrics must map names to Metric, but got {name!r}: {metric!r}.")
        return dict(metrics)
    if not isinstance(metrics, set | list | tuple):
        raise TypeError(f"The argument 'metrics' must be None, dict or set, but got {metrics}.")
    names = sorted(metrics) if isinstance(metrics, set) else metrics  # the order of a set differs from run to run
    return {name: get_metric_fn(name) for name in names}


__all__ = [
    "F1", "MAE", "MSE", "ROC", "Accuracy", "BleuScore", "ConfusionMatrix", "ConfusionMatrixMetric", "CosineSimilarity",
    "Dice", "Fbeta", "Loss", "Metric", "Perplexity", "Precision", "Recall", "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy", "TopKCategoricalAccuracy", "auc", "get_metric_fn", "names", "rearrange_inputs",
]  # fmt: skip
