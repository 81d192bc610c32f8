"""Base of metrics; accuracies, errors and mean loss."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any

import numpy as np

from duograph.tensor.tensor import Tensor


class Metric(metaclass=ABCMeta):
    """Base class: `clear`, then `update` with every batch, then `eval`."""

    _indexes: list[int] | None = None

    @abstractmethod
    def clear(self) -> None:
        """Forgets what was seen."""

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """Takes the outputs of one batch."""

    @abstractmethod
    def eval(self) -> Any:
        """The value."""

    @property
    def indexes(self) -> list[int] | None:
        """Which of the outputs `update` is given, ``None``: all."""
        return self._indexes

    def set_indexes(self, indexes: list[int]) -> Metric:
        """Selects the outputs that `update` is given.

        Raises:
            ValueError: these are not ints.
        """
        if not isinstance(indexes, list) or not all(isinstance(i, int) for i in indexes):
            raise ValueError(f"For 'set_indexes', the argument 'indexes' should be a list of int, but got {indexes}.")
        self._indexes = indexes
        return self

    def __call__(self, *inputs: Any) -> Any:
        """The value of one batch alone."""
        self.clear()
        self.update(*inputs)
        return self.eval()

    def _convert_data(self, data: Any) -> np.ndarray:
        """An output as an array; metrics of programs call it.

        Raises:
            TypeError: it is not a Tensor, list or array.
        """
        if not isinstance(data, Tensor | list | np.ndarray):
            raise TypeError(
                f"For 'Metric' and its derived classes, the input data type must be tensor, list or numpy.ndarray, "
                f"but got {type(data)}."
            )
        return self._array(data)

    def _array(self, value: Any) -> np.ndarray:
        return value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)

    def _inputs(self, inputs: tuple[Any, ...], count: int) -> list[np.ndarray]:
        if self._indexes is not None:
            inputs = tuple(inputs[i] for i in self._indexes)
        if len(inputs) != count:
            raise ValueError(f"For '{type(self).__name__}.update', it needs {count} inputs, but got {len(inputs)}.")
        return [self._array(x) for x in inputs]

    def _class_numbers(self, predicted: np.ndarray, target: np.ndarray, column: bool = False) -> np.ndarray:
        """``target`` as one class for each row of ``predicted``: it may be so, or one-hot, or (``column``) N x 1.

        Raises:
            ValueError: the shapes do not fit; NumPy would compare every row with every other.
        """
        if target.ndim == predicted.ndim and target.ndim > 1 and _is_one_hot(target):
            target = target.argmax(1) if target.shape == predicted.shape else target
        if column and target.shape == (len(predicted), 1):
            target = target.reshape(-1)
        if target.shape != (*predicted.shape[:1], *predicted.shape[2:]):
            raise ValueError(
                f"For '{type(self).__name__}.update', the target must have one class for each row of the predicted "
                f"values, or be one-hot like them, but got shape {target.shape} for {predicted.shape}."
            )
        return target

    def _check_multilabel(self, predicted: np.ndarray, target: np.ndarray) -> None:
        """Raises ValueError unless both have one shape and hold 0 and 1 alone."""
        said = f"For '{type(self).__name__}.update' of 'multilabel', both inputs must"
        if predicted.shape != target.shape:
            raise ValueError(f"{said} have one shape, but got {predicted.shape} and {target.shape}.")
        if not (np.isin(predicted, (0, 1)).all() and np.isin(target, (0, 1)).all()):
            raise ValueError(f"{said} be 0 or 1: compare probabilities with a threshold first.")

    def _no_samples(self) -> RuntimeError:
        return RuntimeError(f"The '{type(self).__name__}' can not be calculated, because the number of samples is 0.")


def _is_one_hot(values: np.ndarray) -> bool:
    return bool(np.isin(values, (0, 1)).all() and (values.sum(1) == 1).all())


def checked_eval_type(eval_type: str) -> str:
    """``eval_type``, if there is such a one.

    Raises:
        TypeError: there is not.
    """
    if eval_type not in ("classification", "multilabel"):
        raise TypeError(f"The argument 'eval_type' must be in ['classification', 'multilabel'], but got {eval_type}.")
    return eval_type


class Accuracy(Metric):
    """The fraction of correct predictions.

    Args:
        eval_type (str): ``"classification"`` or ``"multilabel"``. Default ``"classification"``.
    """

    def __init__(self, eval_type: str = "classification") -> None:
        self._type = checked_eval_type(eval_type)
        self.clear()

    def clear(self) -> None:
        self._correct = self._total = 0

    def update(self, *inputs: Any) -> None:
        predicted, target = self._inputs(inputs, 2)
        if self._type == "classification":
            target = self._class_numbers(predicted, target)
            right = predicted.argmax(1) == target
        else:
            self._check_multilabel(predicted, target)
            flat = predicted.reshape(len(predicted), -1), target.reshape(len(target), -1)
            right = np.all(flat[0] == flat[1], axis=1)
        self._correct += int(right.sum())
        self._total += right.size

    def eval(self) -> float:
        if not self._total:
            raise self._no_samples()
        return self._correct / self._total


class TopKCategoricalAccuracy(Metric):
    """Share of samples whose class is among the ``k`` likeliest."""

    def __init__(self, k: int) -> None:
        if not isinstance(k, int):
            raise TypeError(f"The argument 'k' must be int, but got {type(k)}.")
        if k < 1:
            raise ValueError(f"The argument 'k' must be > 0, but got {k}.")
        self.k = k
        self.clear()

    def clear(self) -> None:
        self._correct = self._total = 0

    def update(self, *inputs: Any) -> None:
        predicted, target = self._inputs(inputs, 2)
        target = self._class_numbers(predicted, target, column=True)
        best = np.argsort(-predicted, axis=1, kind="stable")[:, : self.k]
        self._correct += int((best == target.reshape(-1, 1)).any(1).sum())
        self._total += len(target)

    def eval(self) -> float:
        if not self._total:
            raise self._no_samples()
        return self._correct / self._total


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """The fraction of samples whose class has the highest score."""

    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """Share of samples whose class is among the five likeliest."""

    def __init__(self) -> None:
        super().__init__(5)


class _MeanError(Metric):
    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._sum, self._count = 0.0, 0

    def update(self, *inputs: Any) -> None:
        predicted, target = self._inputs(inputs, 2)
        self._sum += float(self._error(predicted - target.reshape(predicted.shape)).sum())
        self._count += len(target)

    def _error(self, gap: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def eval(self) -> float:
        if not self._count:
            raise self._no_samples()
        return self._sum / self._count


class MAE(_MeanError):
    """Mean absolute error."""

    def _error(self, gap: np.ndarray) -> np.ndarray:
        return np.abs(gap)


class MSE(_MeanError):
    """Mean squared error."""

    def _error(self, gap: np.ndarray) -> np.ndarray:
        return np.square(gap)


class Loss(Metric):
    """Mean loss of the batches."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._sum, self._count = 0.0, 0

    def update(self, *inputs: Any) -> None:
        (loss,) = self._inputs(inputs, 1)
        self._sum += float(np.mean(loss))
        self._count += 1

    def eval(self) -> float:
        if not self._count:
            raise self._no_samples()
        return self._sum / self._count
