"""Metrics of evaluation."""

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
from .scores import F1, Fbeta, Perplexity, Precision, Recall

_BY_NAME = {
    "accuracy": Accuracy, "acc": Accuracy, "precision": Precision, "recall": Recall, "F1": F1, "mae": MAE, "mse": MSE,
    "loss": Loss, "top_1_accuracy": Top1CategoricalAccuracy, "top_5_accuracy": Top5CategoricalAccuracy,
    "topk": TopKCategoricalAccuracy, "perplexity": Perplexity,
}  # fmt: skip


def names() -> list[str]:
    """The names that `get_metric_fn` knows."""
    return list(_BY_NAME)


def get_metric_fn(name: str, *args: object, **kwargs: object) -> Metric:
    """The metric of a name.

    Raises:
        KeyError: unknown name.
    """
    if name not in _BY_NAME:
        raise KeyError(f"Unsupported metric {name!r}; there are {names()}.")
    return _BY_NAME[name](*args, **kwargs)


__all__ = [
    "F1", "MAE", "MSE", "Accuracy", "Fbeta", "Loss", "Metric", "Perplexity", "Precision", "Recall",
    "Top1CategoricalAccuracy", "Top5CategoricalAccuracy", "TopKCategoricalAccuracy", "get_metric_fn", "names",
]  # fmt: skip
