"""Augmentation by policies, and by mixing images: AutoAugment, RandAugment, TrivialAugment, MixUp, CutMix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from ..nodes import array_of
from ..transforms import RandomOperation, check_prob
from .colour import (
    AutoContrast,
    Equalize,
    Invert,
    Posterize,
    Solarize,
    brightened,
    coloured,
    contrasted,
    number,
    sharpened,
)
from .geometry import affine_matrix, check_inter, rotated
from .pictures import ImageBatchFormat, Inter, RandomImageOperation, saturated
from .warp import warped


class AutoAugmentPolicy(StrEnum):
    """The data set for which a policy was learnt."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


def _sheared(axis: int) -> Callable[..., np.ndarray]:
    def shear(image: np.ndarray, by: float, inter: Inter, fill: Any) -> np.ndarray:
        matrix = np.eye(3)
        matrix[axis, 1 - axis] = by
        return warped(image, matrix, image.shape[:2], inter, fill)

    return shear


def _moved(axis: int) -> Callable[..., np.ndarray]:
    def move(image: np.ndarray, by: float, inter: Inter, fill: Any) -> np.ndarray:
        moves = (int(by), 0) if axis == 0 else (0, int(by))
        return warped(image, affine_matrix(image.shape, 0.0, moves, 1.0, (0.0, 0.0)), image.shape[:2], inter, fill)

    return move


def _posterized(image: np.ndarray, bits: float, *_: Any) -> np.ndarray:
    return Posterize(int(bits)).apply(image)


def _solarized(image: np.ndarray, threshold: float, *_: Any) -> np.ndarray:
    return Solarize((min(max(threshold, 0), 255), 255)).apply(image)


OPERATIONS: dict[str, Callable[..., np.ndarray]] = {
    "Identity": lambda image, *_: image,
    "ShearX": _sheared(0),
    "ShearY": _sheared(1),
    "TranslateX": _moved(0),
    "TranslateY": _moved(1),
    "Rotate": lambda image, by, inter, fill: rotated(image, by, inter, fill=fill),
    "Brightness": lambda image, by, *_: brightened(image, 1 + by),
    "Color": lambda image, by, *_: coloured(image, 1 + by),
    "Contrast": lambda image, by, *_: contrasted(image, 1 + by),
    "Sharpness": lambda image, by, *_: sharpened(image, 1 + by),
    "Posterize": _posterized,
    "Solarize": _solarized,
    "AutoContrast": lambda image, *_: AutoContrast().apply(image),
    "Equalize": lambda image, *_: Equalize().apply(image),
    "Invert": lambda image, *_: Invert().apply(image),
}
"""By the names of the papers: functions of an image, a magnitude, a way of resizing and what comes in from outside."""


def magnitudes(bins: int, shape: tuple[int, ...], wide: bool = False) -> dict[str, tuple[np.ndarray, bool]]:
    """Magnitudes of the operations in rising strength, and whether their sign is random.

    ``wide``: those of TrivialAugment, else those of AutoAugment and RandAugment.
    """
    shear, move, turn, colour = (0.99, 32.0, 135.0, 0.99) if wide else (0.3, 150.0 / 331.0, 30.0, 0.9)
    width, height = (move, move) if wide else (move * shape[1], move * shape[0])
    bits = 8 - (np.arange(bins) / ((bins - 1) / (6 if wide else 4))).round()
    return {
        "Identity": (np.zeros(bins), False),
        "ShearX": (np.linspace(0.0, shear, bins), True),
        "ShearY": (np.linspace(0.0, shear, bins), True),
        "TranslateX": (np.linspace(0.0, width, bins), True),
        "TranslateY": (np.linspace(0.0, height, bins), True),
        "Rotate": (np.linspace(0.0, turn, bins), True),
        "Brightness": (np.linspace(0.0, colour, bins), True),
        "Color": (np.linspace(0.0, colour, bins), True),
        "Contrast": (np.linspace(0.0, colour, bins), True),
        "Sharpness": (np.linspace(0.0, colour, bins), True),
        "Posterize": (bits, False),
        "Solarize": (np.linspace(255.0, 0.0, bins), False),
        "AutoContrast": (np.zeros(bins), False),
        "Equalize": (np.zeros(bins), False),
        "Invert": (np.zeros(bins), False),
    }


class _Augmentation(RandomImageOperation):
    """Base: operations by name, with a way of resizing and what comes in from outside."""

    def __init__(self, interpolation: Inter, fill_value: Any) -> None:
        super().__init__()
        self._inter, self._outside = check_inter("interpolation", interpolation), fill_value

    def made(self, image: np.ndarray, name: str, table: dict[str, tuple[np.ndarray, bool]], level: int) -> np.ndarray:
        """The image under one operation."""
        values, signed = table[name]
        by = float(values[level])
        if signed and self.rng.random() < 0.5:
            by = -by
        return OPERATIONS[name](image, by, self._inter, self._outside)

    def _checked(self, image: np.ndarray) -> np.ndarray:
        if image.ndim != 3 or image.shape[2] != 3:
            raise RuntimeError(
                f"{type(self).__name__}: the image must be of shape <H,W,3>, but got {list(image.shape)}."
            )
        return image


POLICIES = {
    AutoAugmentPolicy.IMAGENET: """
        Posterize .4 8 Rotate .6 9; Solarize .6 5 AutoContrast .6 -; Equalize .8 - Equalize .6 -;
        Posterize .6 7 Posterize .6 6; Equalize .4 - Solarize .2 4; Equalize .4 - Rotate .8 8;
        Solarize .6 3 Equalize .6 -; Posterize .8 5 Equalize 1 -; Rotate .2 3 Solarize .6 8;
        Equalize .6 - Posterize .4 6; Rotate .8 8 Color .4 0; Rotate .4 9 Equalize .6 -;
        Equalize 0 - Equalize .8 -; Invert .6 - Equalize 1 -; Color .6 4 Contrast 1 8; Rotate .8 8 Color 1 2;
        Color .8 8 Solarize .8 7; Sharpness .4 7 Invert .6 -; ShearX .6 5 Equalize 1 -;
        Color .4 0 Equalize .6 -; Equalize .4 - Solarize .2 4; Solarize .6 5 AutoContrast .6 -;
        Invert .6 - Equalize 1 -; Color .6 4 Contrast 1 8; Equalize .8 - Equalize .6 -""",
    AutoAugmentPolicy.CIFAR10: """
        Invert .1 - Contrast .2 6; Rotate .7 2 TranslateX .3 9; Sharpness .8 1 Sharpness .9 3;
        ShearY .5 8 TranslateY .7 9; AutoContrast .5 - Equalize .9 -; ShearY .2 7 Posterize .3 7;
        Color .4 3 Brightness .6 7; Sharpness .3 9 Brightness .7 9; Equalize .6 - Equalize .5 -;
        Contrast .6 7 Sharpness .6 5; Color .7 7 TranslateX .5 8; Equalize .3 - AutoContrast .4 -;
        TranslateY .4 3 Sharpness .2 6; Brightness .9 6 Color .2 8; Solarize .5 2 Invert 0 -;
        Equalize .2 - AutoContrast .6 -; Equalize .2 - Equalize .6 -; Color .9 9 Equalize .6 -;
        AutoContrast .8 - Solarize .2 8; Brightness .1 3 Color .7 0; Solarize .4 5 AutoContrast .9 -;
        TranslateY .9 9 TranslateY .7 9; AutoContrast .9 - Solarize .8 3; Equalize .8 - Invert .1 -;
        TranslateY .7 9 AutoContrast .9 -""",
    AutoAugmentPolicy.SVHN: """
        ShearX .9 4 Invert .2 -; ShearY .9 8 Invert .7 -; Equalize .6 - Solarize .6 6;
        Invert .9 - Equalize .6 -; Equalize .6 - Rotate .9 3; ShearX .9 4 AutoContrast .8 -;
        ShearY .9 8 Invert .4 -; ShearY .9 5 Solarize .2 6; Invert .9 - AutoContrast .8 -;
        Equalize .6 - Rotate .9 3; ShearX .9 4 Solarize .3 3; ShearY .8 8 Invert .7 -;
        Equalize .9 - TranslateY .6 6; Invert .9 - Equalize .6 -; Contrast .3 3 Rotate .8 4;
        Invert .8 - TranslateY 0 2; ShearY .7 6 Solarize .4 8; Invert .6 - Rotate .8 4;
        ShearY .3 7 TranslateX .9 3; ShearX .1 6 Invert .6 -; Solarize .7 2 TranslateY .6 7;
        ShearY .8 4 Invert .8 -; ShearX .7 9 TranslateY .8 3; ShearY .8 5 AutoContrast .7 -;
        ShearX .7 2 Invert .1 -""",
}
"""Operation, probability and level (of 10): tables 7 to 9 of E. Cubuk et al., AutoAugment, 2019."""


def _read(policy: str) -> list[list[tuple[str, float, int]]]:
    words = [row.split() for row in policy.split(";")]
    return [
        [(r[i], float(r[i + 1]), 0 if r[i + 2] == "-" else int(r[i + 2])) for i in range(0, len(r), 3)] for r in words
    ]


class AutoAugment(_Augmentation):
    """A pair of operations, chosen from a learnt policy (E. Cubuk et al., 2019).

    Args:
        policy (AutoAugmentPolicy): Default ``AutoAugmentPolicy.IMAGENET``.
        interpolation (Inter): Default ``Inter.NEAREST``.
        fill_value (Union[int, tuple[int, int, int]]): what comes in from outside. Default ``0``.
    """

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        super().__init__(interpolation, fill_value)
        if not isinstance(policy, AutoAugmentPolicy):
            raise TypeError(f"policy must be of AutoAugmentPolicy, but got {type(policy)}.")
        self._policy = _read(POLICIES[policy])

    def apply(self, image: np.ndarray) -> np.ndarray:
        table = magnitudes(10, self._checked(image).shape)
        for name, prob, level in self._policy[int(self.rng.integers(len(self._policy)))]:
            if self.rng.random() < prob:
                image = self.made(image, name, table, level)
        return image


class RandAugment(_Augmentation):
    """Operations of equal magnitude (E. Cubuk et al., 2020).

    Args:
        num_ops (int): how many. Default ``2``.
        magnitude (int): below ``num_magnitude_bins``. Default ``9``.
        num_magnitude_bins (int): Default ``31``.
        interpolation (Inter): Default ``Inter.NEAREST``.
        fill_value (Union[int, tuple[int, int, int]]): what comes in from outside. Default ``0``.
    """

    def __init__(
        self, num_ops: int = 2, magnitude: int = 9, num_magnitude_bins: int = 31, interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:  # fmt: skip
        super().__init__(interpolation, fill_value)
        self._bins = int(number("num_magnitude_bins", num_magnitude_bins, 2))
        self._level = int(number("magnitude", magnitude, 0, self._bins - 1))
        self._ops = int(number("num_ops", num_ops))

    def apply(self, image: np.ndarray) -> np.ndarray:
        table = magnitudes(self._bins, self._checked(image).shape)
        names = [name for name in table if name != "Invert"]
        for _ in range(self._ops):
            image = self.made(image, names[int(self.rng.integers(len(names)))], table, self._level)
        return image


class TrivialAugmentWide(_Augmentation):
    """One operation of random magnitude (S. Müller and F. Hutter, 2021).

    Args:
        num_magnitude_bins (int): Default ``31``.
        interpolation (Inter): Default ``Inter.NEAREST``.
        fill_value (Union[int, tuple[int, int, int]]): what comes in from outside. Default ``0``.
    """

    def __init__(self, num_magnitude_bins: int = 31, interpolation: Inter = Inter.NEAREST, fill_value: Any = 0) -> None:
        super().__init__(interpolation, fill_value)
        self._bins = int(number("num_magnitude_bins", num_magnitude_bins, 2))

    def apply(self, image: np.ndarray) -> np.ndarray:
        table = magnitudes(self._bins, self._checked(image).shape, wide=True)
        names = [name for name in table if name != "Invert"]
        name, level = names[int(self.rng.integers(len(names)))], int(self.rng.integers(self._bins))
        return self.made(image, name, table, level)


class _OfOthers(RandomOperation):
    """Base of random operations that are made of others, which get their random numbers."""

    def __init__(self, parts: Sequence[Any]) -> None:
        super().__init__()
        for part in parts:
            if not callable(part):
                raise TypeError(f"{type(self).__name__}: {part!r} is not an operation.")
        self._parts = list(parts)

    def reseed(self, rng: np.random.Generator) -> None:
        super().reseed(rng)
        for part in self._parts:
            if isinstance(part, RandomOperation):
                part.reseed(rng)


class UniformAugment(_OfOthers):
    """Some of several operations, each made with probability 1/2.

    Args:
        transforms (Sequence): the operations.
        num_ops (int): how many are chosen. Default ``2``.
    """

    def __init__(self, transforms: Any, num_ops: int = 2) -> None:
        super().__init__(transforms)
        self._ops = int(number("num_ops", num_ops, 1, len(self._parts)))

    def __call__(self, image: Any) -> Any:
        for place in self.rng.choice(len(self._parts), self._ops, replace=False):
            if self.rng.random() < 0.5:
                image = self._parts[int(place)](image)
        return image


class RandomSelectSubpolicy(_OfOthers):
    """One of several lists of operations, each with its probability.

    Args:
        policy (list[list[tuple[Callable, float]]]): the lists.
    """

    def __init__(self, policy: Any) -> None:
        if not isinstance(policy, list) or not policy:
            raise TypeError("policy must be a list of lists of (operation, probability) that is not empty.")
        self._policy = [[(step, check_prob(prob)) for step, prob in row] for row in policy]
        super().__init__([step for row in self._policy for step, _ in row])

    def __call__(self, image: Any) -> Any:
        for step, prob in self._policy[int(self.rng.integers(len(self._policy)))]:
            if self.rng.random() < prob:
                image = step(image)
        return image


# Mixing ---------------------------------------------------------------------------------------------------------------


def _mixed(values: np.ndarray, order: np.ndarray, share: Any) -> np.ndarray:
    made = values.astype(np.float32) * share + values[order].astype(np.float32) * (1 - share)
    return saturated(made, values.dtype) if values.dtype.kind in "iu" else made.astype(np.float32)


def _labels(label: np.ndarray, count: int, what: str) -> np.ndarray:
    if label.ndim not in (2, 3) or len(label) != count:
        raise RuntimeError(
            f"{what}: labels must be one-hot and batched, of shape <N,C>, but got shape {list(label.shape)} for "
            f"{count} images."
        )
    return label.astype(np.float32)


class MixUpBatch(RandomOperation):
    """Mixes each image of a batch, and its one-hot label, with another one (H. Zhang et al., 2018).

    Args:
        alpha (float): of the beta distribution of the share. Default ``1.0``.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._alpha = _positive("alpha", alpha)

    def __call__(self, image: Any, label: Any) -> tuple[np.ndarray, np.ndarray]:
        images = array_of(image)
        if images.ndim != 4:
            raise RuntimeError(
                f"MixUpBatch: images must be of shape <N,H,W,C> or <N,C,H,W>, but got {list(images.shape)}."
            )
        labels = _labels(array_of(label), len(images), "MixUpBatch")
        share, order = float(self.rng.beta(self._alpha, self._alpha)), self.rng.permutation(len(images))
        return _mixed(images, order, share), _mixed(labels, order, share)


class MixUp(MixUpBatch):
    """`MixUpBatch`, by shares of each image.

    Args:
        batch_size (int): how many images there are.
        alpha (float): of the beta distribution of the share.
        is_single (bool): with the next image of the batch; else with one of the batch before. Default ``True``.
    """

    def __init__(self, batch_size: int, alpha: float, is_single: bool = True) -> None:
        super().__init__(alpha)
        self._size, self._single = int(number("batch_size", batch_size, 1)), is_single
        self.keeps_rows = not is_single
        self._before: tuple[np.ndarray, np.ndarray] | None = None

    def __call__(self, image: Any, label: Any) -> tuple[np.ndarray, np.ndarray]:
        images, labels = array_of(image), _labels(array_of(label), len(array_of(image)), "MixUp")
        if len(images) != self._size:
            raise ValueError(f"MixUp: batch_size is {self._size}, but got {len(images)} images.")
        share = self.rng.beta(self._alpha, self._alpha, self._size).astype(np.float32)
        others = (images[self._next()], labels[self._next()]) if self._single else self._before or (images, labels)
        self._before = images, labels
        return _blend(images, others[0], share), _blend(labels, others[1], share)

    def _next(self) -> np.ndarray:
        return np.roll(np.arange(self._size), -1)


def _blend(values: np.ndarray, others: np.ndarray, share: np.ndarray) -> np.ndarray:
    weights = share.reshape(-1, *[1] * (values.ndim - 1))
    return values.astype(np.float32) * weights + others.astype(np.float32) * (1 - weights)


class CutMixBatch(RandomOperation):
    """Puts a part of another image into each image of a batch, and mixes one-hot labels by area (S. Yun et al., 2019).

    Args:
        image_batch_format (ImageBatchFormat): where the channels are.
        alpha (float): of the beta distribution of the share. Default ``1.0``.
        prob (float): for each image. Default ``1.0``.
    """

    def __init__(self, image_batch_format: ImageBatchFormat, alpha: float = 1.0, prob: float = 1.0) -> None:
        super().__init__()
        if not isinstance(image_batch_format, ImageBatchFormat):
            raise TypeError(f"image_batch_format must be of ImageBatchFormat, but got {type(image_batch_format)}.")
        self._first = image_batch_format is ImageBatchFormat.NCHW
        self._alpha, self._prob = _positive("alpha", alpha), check_prob(prob)

    def __call__(self, image: Any, label: Any) -> tuple[np.ndarray, np.ndarray]:
        images = array_of(image)
        if images.ndim != 4:
            raise RuntimeError(
                f"CutMixBatch: images must be of shape <N,H,W,C> or <N,C,H,W>, but got {list(images.shape)}."
            )
        labels = _labels(array_of(label), len(images), "CutMixBatch")
        made, mixed = images.copy(), labels.copy()
        height, width = images.shape[2:] if self._first else images.shape[1:3]
        order = self.rng.permutation(len(images))
        for i, other in enumerate(order):
            if self.rng.random() >= self._prob:
                continue
            rows, columns = self._part(height, width)
            place: Any = (slice(None), rows, columns) if self._first else (rows, columns)
            made[(i, *place)] = images[(int(other), *place)]
            share = 1.0 - (rows.stop - rows.start) * (columns.stop - columns.start) / (height * width)
            mixed[i] = labels[i] * share + labels[int(other)] * (1.0 - share)
        return made, mixed

    def _part(self, height: int, width: int) -> tuple[slice, slice]:
        cut = np.sqrt(1.0 - self.rng.beta(self._alpha, self._alpha))
        y, x = int(self.rng.integers(height)), int(self.rng.integers(width))
        h, w = int(height * cut), int(width * cut)
        rows = slice(max(y - h // 2, 0), min(y + (h + 1) // 2, height))
        return rows, slice(max(x - w // 2, 0), min(x + (w + 1) // 2, width))


def _positive(name: str, value: Any) -> float:
    if number(name, value) <= 0:
        raise ValueError(f"Input {name} must be greater than 0.")
    return value
