"""Precision, recall, their means, and perplexity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .basic import Metric, checked_eval_type


class _ByClass(Metric):
    """Counts hits, predictions and members of each class."""

    takes_columns = False

    def __init__(self, eval_type: str = "classification") -> None:
        self._type = checked_eval_type(eval_type)
        self.clear()

    def clear(self) -> None:
        self._hits: Any = 0
        self._predicted: Any = 0
        self._members: Any = 0

    def update(self, *inputs: Any) -> None:
        scores, target = self._inputs(inputs, 2)
        if self._type == "classification":
            classes = scores.shape[1]
            target = self._class_numbers(scores, target, self.takes_columns)
            target, scores = np.eye(classes)[target.astype(np.int64)], np.eye(classes)[scores.argmax(1)]
        else:
            self._check_multilabel(scores, target)
        self._hits = self._hits + (scores * target).sum(0)
        self._predicted = self._predicted + scores.sum(0)
        self._members = self._members + target.sum(0)

    def _share(self, of: Any) -> np.ndarray:
        if np.ndim(of) == 0:
            raise self._no_samples()
        return self._hits / np.maximum(of, np.finfo(np.float64).eps)


class Precision(_ByClass):
    """The fraction of the predictions of each class that are correct."""

    def eval(self, average: bool = False) -> Any:
        value = self._share(self._predicted)
        return value.mean() if average else value


class Recall(_ByClass):
    """The fraction of the members of each class that are found."""

    def eval(self, average: bool = False) -> Any:
        value = self._share(self._members)
        return value.mean() if average else value


class Fbeta(_ByClass):
    """Weighted harmonic mean of precision and recall.

    Args:
        beta (Union[float, int]): weight of recall.
    """

    takes_columns = True

    def __init__(self, beta: float) -> None:
        if beta <= 0:
            raise ValueError(f"The argument 'beta' must be greater than 0, but got {beta}.")
        self.beta = beta
        super().__init__()

    def eval(self, average: bool = False) -> Any:
        weight = self.beta**2
        whole = weight * self._members + self._predicted
        value = (1 + weight) * self._share(whole)
        return value.mean() if average else value


class F1(Fbeta):
    """Harmonic mean of precision and recall."""

    def __init__(self) -> None:
        super().__init__(1.0)


class Perplexity(Metric):
    """Exponential of the mean negative log likelihood.

    Args:
        ignore_label (int): class that does not count. Default ``None``.
    """

    def __init__(self, ignore_label: int | None = None) -> None:
        self.ignore_label = ignore_label
        self.clear()

    def clear(self) -> None:
        self._sum, self._count = 0.0, 0

    def update(self, *inputs: Any) -> None:
        probs, target = self._inputs(inputs, 2)
        if probs.size != target.size * probs.shape[-1]:
            raise RuntimeError(
                f"For 'Perplexity.update', the target must have one class for each row of probabilities, but got shape "
                f"{target.shape} for {probs.shape}."
            )
        target = target.reshape(-1).astype(np.int64)
        picked = probs.reshape(len(target), -1)[np.arange(len(target)), target]
        counted = np.ones(len(target), bool) if self.ignore_label is None else target != self.ignore_label
        self._sum -= float(np.log(np.maximum(picked[counted], 1e-10)).sum())
        self._count += int(counted.sum())

    def eval(self) -> float:
        if not self._count:
            raise self._no_samples()
        return math.exp(self._sum / self._count)
