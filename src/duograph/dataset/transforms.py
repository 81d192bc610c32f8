"""Operations on columns of any kind."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import numpy as np

from duograph.core import dtype as dt

from . import config
from .dataset import to_numpy
from .nodes import array_of


class Shuffle(StrEnum):
    """What is shuffled: nothing, files, or everything."""

    FALSE = "false"
    FILES = "files"
    GLOBAL = "global"
    INFILE = "infile"


class Relational(StrEnum):
    """Comparisons of `Mask`."""

    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GE = "ge"
    LT = "lt"
    LE = "le"


class Transform:
    """Base of user-defined transforms: ``__call__`` takes the columns and returns them."""


class RandomOperation:
    """Base of operations with random choices. A pipeline gives each row its own numbers by `reseed`."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(config.chosen_seed())

    def reseed(self, rng: np.random.Generator) -> None:
        """Takes the random numbers from ``rng``."""
        self.rng = rng


def check_prob(prob: Any) -> float:
    """``prob`` if it is a probability."""
    if isinstance(prob, bool) or not isinstance(prob, int | float):
        raise TypeError(
            f"Argument prob with value {prob} is not of type [<class 'float'>, <class 'int'>], but got {type(prob)}."
        )
    if not 0.0 <= prob <= 1.0:
        raise ValueError("Input prob is not within the required interval of [0.0, 1.0].")
    return float(prob)


class TypeCast:
    """Casts to a type.

    Args:
        data_type (Union[mindspore.dtype, numpy.dtype]): the type.

    Raises:
        TypeError: it is none.
    """

    def __init__(self, data_type: Any) -> None:
        known = isinstance(data_type, dt.DType | np.dtype | str) or (
            isinstance(data_type, type) and issubclass(data_type, np.generic | bool | int | float)
        )
        if not known:
            raise TypeError(
                f"Argument data_type with value {data_type} is not of type [<class 'mindspore._c_expression.typing."
                f"Type'>, <class 'numpy.dtype'>], but got {type(data_type)}."
            )
        self._type = np.dtype(to_numpy(data_type))

    def __call__(self, data: Any) -> np.ndarray:
        return array_of(data).astype(self._type)


class OneHot:
    """One-hot vectors of class numbers.

    Args:
        num_classes (int): length of the rows.
        smoothing_rate (float): how much of the 1 is shared among all classes. Default ``0.0``.
    """

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0) -> None:
        if isinstance(num_classes, bool) or not isinstance(num_classes, int):
            raise TypeError(
                f"Argument num_classes with value {num_classes} is not of type [<class 'int'>], but got "
                f"{type(num_classes)}."
            )
        if num_classes <= 0:
            raise ValueError("Input must be greater than 0.")
        if not 0.0 <= smoothing_rate <= 1.0:
            raise ValueError("Input smoothing_rate is not within the required interval of [0.0, 1.0].")
        self._classes, self._smoothing = num_classes, smoothing_rate

    def __call__(self, label: Any) -> np.ndarray:
        label = array_of(label)
        if label.dtype.kind not in "iu":
            raise RuntimeError(f"OneHot: OneHot only support input of int type, but got: {label.dtype}")
        if label.size and (label.max() >= self._classes or label.min() < 0):
            raise RuntimeError(
                f"OneHot: index values should not bigger than num classes: {self._classes}, but got: {label.max()}"
            )
        rows = np.eye(self._classes, dtype=label.dtype)[label]
        if not self._smoothing:
            return rows
        return rows * (1.0 - self._smoothing) + self._smoothing / self._classes


class Fill:
    """Fills with a value."""

    def __init__(self, fill_value: Any) -> None:
        self._value = fill_value

    def __call__(self, data: Any) -> np.ndarray:
        return np.full_like(array_of(data), self._value)


class Concatenate:
    """Puts fixed arrays in front of and behind the data.

    Args:
        axis (int): Default ``0``.
        prepend (numpy.ndarray): Default ``None``.
        append (numpy.ndarray): Default ``None``.
    """

    def __init__(self, axis: int = 0, prepend: Any = None, append: Any = None) -> None:
        self._axis, self._before, self._after = axis, prepend, append

    def __call__(self, *data: Any) -> np.ndarray:
        parts = [self._before, *data, self._after]
        return np.concatenate([np.asarray(p) for p in parts if p is not None], axis=self._axis)


class Duplicate:
    """Returns the data twice."""

    def __call__(self, data: Any) -> tuple[np.ndarray, np.ndarray]:
        return array_of(data), array_of(data).copy()


class Mask:
    """The elements for which a comparison with a constant holds, as booleans.

    Args:
        operator (Relational): the comparison.
        constant (Union[str, int, float, bool]): what to compare with.
        dtype (mindspore.dtype): of the result. Default ``bool_``.
    """

    def __init__(self, operator: Relational, constant: Any, dtype: Any = dt.bool_) -> None:
        if not isinstance(operator, Relational):
            raise TypeError(f"operator is not a Relational operator enum, got {type(operator)}.")
        self._operator, self._constant, self._type = operator, constant, to_numpy(dtype)

    def __call__(self, data: Any) -> np.ndarray:
        names = {"eq": "equal", "ne": "not_equal", "gt": "greater", "ge": "greater_equal", "lt": "less"}
        compare = getattr(np, names.get(self._operator.value, "less_equal"))
        return compare(array_of(data), self._constant).astype(self._type)


class PadEnd:
    """Pads (or cuts) to a shape at the end of each axis; ``None`` keeps an extent.

    Args:
        pad_shape (list[int]): the shape.
        pad_value (Union[str, float, bool, int]): Default ``None``: 0.
    """

    def __init__(self, pad_shape: list[Any], pad_value: Any = None) -> None:
        self._shape, self._value = pad_shape, 0 if pad_value is None else pad_value

    def __call__(self, data: Any) -> np.ndarray:
        data = array_of(data)
        if data.ndim != len(self._shape):
            raise RuntimeError(f"PadEnd: invalid pad shape {self._shape} for data of shape {list(data.shape)}.")
        shape = [n if s is None else s for s, n in zip(self._shape, data.shape, strict=True)]
        out = np.full(shape, self._value, data.dtype)
        part = tuple(slice(0, min(a, b)) for a, b in zip(shape, data.shape, strict=True))
        out[part] = data[part]
        return out


class Slice:
    """A part of the data: for each axis an int, a list of ints, a slice, ``None`` or ``...`` (all)."""

    def __init__(self, *slices: Any) -> None:
        self._slices = slices

    def __call__(self, data: Any) -> np.ndarray:
        data = array_of(data)
        for axis, item in enumerate(self._slices):
            if item is Ellipsis or item is None:
                continue
            if isinstance(item, slice):
                data = data[(slice(None),) * axis + (item,)]
            else:
                data = np.take(data, [item] if isinstance(item, int) else list(item), axis=axis)
        return data


class Unique:
    """The distinct values, the index of each value among them, and their counts."""

    def __call__(self, data: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        values, places, counts = np.unique(array_of(data).reshape(-1), return_inverse=True, return_counts=True)
        return values, places.astype(np.int32), counts.astype(np.int32)


class Compose(RandomOperation):
    """Several operations, one after another.

    Args:
        transforms (list): the operations.
    """

    def __init__(self, transforms: list[Callable[..., Any]]) -> None:
        super().__init__()
        self.transforms = _callables(transforms)

    def reseed(self, rng: np.random.Generator) -> None:
        super().reseed(rng)
        for step in self.transforms:
            if isinstance(step, RandomOperation):
                step.reseed(rng)

    def __call__(self, *data: Any) -> Any:
        for step in self.transforms:
            made = step(*data)
            data = made if isinstance(made, tuple) else (made,)
        return data if len(data) > 1 else data[0]


class RandomApply(Compose):
    """Several operations, or none of them.

    Args:
        transforms (list): the operations.
        prob (float): how likely they are. Default ``0.5``.
    """

    def __init__(self, transforms: list[Callable[..., Any]], prob: float = 0.5) -> None:
        super().__init__(transforms)
        self._prob = check_prob(prob)

    def __call__(self, *data: Any) -> Any:
        if self.rng.random() < self._prob:
            return super().__call__(*data)
        return data if len(data) > 1 else data[0]


class RandomChoice(Compose):
    """One of several operations."""

    def __call__(self, *data: Any) -> Any:
        return self.transforms[int(self.rng.integers(len(self.transforms)))](*data)


class RandomOrder(Compose):
    """Several operations in random order."""

    def __call__(self, *data: Any) -> Any:
        for i in self.rng.permutation(len(self.transforms)):
            made = self.transforms[int(i)](*data)
            data = made if isinstance(made, tuple) else (made,)
        return data if len(data) > 1 else data[0]


def _callables(transforms: Any) -> list[Callable[..., Any]]:
    if not isinstance(transforms, list):
        raise TypeError(
            f"Argument transforms with value {transforms} is not of type [<class 'list'>], but got {type(transforms)}."
        )
    if not transforms:
        raise ValueError("transforms can not be empty.")
    for place, step in enumerate(transforms):
        if not callable(step):
            raise ValueError(f"transforms[{place}] is neither a transforms op nor a callable pyfunc.")
    return list(transforms)
