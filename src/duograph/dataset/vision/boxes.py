"""Operations on images with bounding boxes: rows of x, y, width, height, and whatever follows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..nodes import array_of
from ..transforms import RandomOperation, check_prob
from .basic import HorizontalFlip, RandomCrop, RandomResizedCrop, Resize, VerticalFlip, cropped
from .parts import RandomResize
from .pictures import Inter, image_of


def boxes_of(data: Any, image: np.ndarray, what: str) -> np.ndarray:
    """``data`` as boxes of an image.

    Raises:
        RuntimeError: it has other axes, or a box that is not inside the image.
    """
    boxes = array_of(data)
    if boxes.ndim != 2 or boxes.shape[1] < 4:
        raise RuntimeError(
            f"{what}: bounding boxes must be of shape <N,4> or more columns, but got {list(boxes.shape)}."
        )
    height, width = image.shape[:2]
    x, y, w, h = (boxes[:, i].astype(np.float64) for i in range(4))
    wrong = (x < 0) | (y < 0) | (w < 0) | (h < 0) | (x + w > width) | (y + h > height)
    if wrong.any():
        raise RuntimeError(
            f"{what}: the bounding box {boxes[wrong.argmax(), :4].tolist()} is not inside the image of "
            f"{height} x {width}."
        )
    return boxes


class WithBoxes(RandomOperation):
    """Base of operations on an image and its boxes."""

    def __init__(self, prob: float = 1.0) -> None:
        super().__init__()
        self._prob = check_prob(prob)

    def __call__(self, image: Any, bboxes: Any) -> tuple[np.ndarray, np.ndarray]:
        image = image_of(image)
        boxes = boxes_of(bboxes, image, type(self).__name__)
        if self._prob < 1.0 and self.rng.random() >= self._prob:
            return image, boxes
        return self.apply(image, boxes.copy())

    def apply(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The operation; ``boxes`` is a copy."""
        raise NotImplementedError


class RandomHorizontalFlipWithBBox(WithBoxes):
    """Flips the image and its boxes horizontally with probability ``prob`` (default 0.5)."""

    def __init__(self, prob: float = 0.5) -> None:
        super().__init__(prob)

    def apply(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        boxes[:, 0] = image.shape[1] - boxes[:, 0] - boxes[:, 2]
        return HorizontalFlip().apply(image), boxes


class RandomVerticalFlipWithBBox(WithBoxes):
    """Flips the image and its boxes vertically with probability ``prob`` (default 0.5)."""

    def __init__(self, prob: float = 0.5) -> None:
        super().__init__(prob)

    def apply(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        boxes[:, 1] = image.shape[0] - boxes[:, 1] - boxes[:, 3]
        return VerticalFlip().apply(image), boxes


class ResizeWithBBox(WithBoxes):
    """`Resize`."""

    def __init__(self, size: Any, interpolation: Inter = Inter.LINEAR) -> None:
        super().__init__()
        self._resize = Resize(size, interpolation)

    def apply(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return scaled(image, boxes, self._resize.apply(image))


class RandomResizeWithBBox(WithBoxes):
    """`RandomResize`."""

    def __init__(self, size: Any) -> None:
        super().__init__()
        self._resize = RandomResize(size)

    def apply(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self._resize.reseed(self.rng)
        return scaled(image, boxes, self._resize.apply(image))


def scaled(image: np.ndarray, boxes: np.ndarray, made: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A resized image, and the boxes in it."""
    by = np.array([made.shape[1] / image.shape[1], made.shape[0] / image.shape[0]])
    boxes[:, :4] = boxes[:, :4] * np.concatenate([by, by])
    return made, boxes


def inside(boxes: np.ndarray, top: int, left: int, size: tuple[int, int]) -> np.ndarray:
    """What of boxes lies in a part, in its places; boxes beside it go. None left: one box of zeros."""
    first = np.maximum(boxes[:, :2] - [left, top], 0)
    last = np.minimum(boxes[:, :2] + boxes[:, 2:4] - [left, top], [size[1], size[0]])
    kept = ((last - first) > 0).all(axis=1)
    if not kept.any():
        return np.zeros((1, boxes.shape[1]), boxes.dtype)
    made = boxes[kept]
    made[:, :2], made[:, 2:4] = first[kept], (last - first)[kept]
    return made


class RandomCropWithBBox(WithBoxes):
    """`RandomCrop`; takes the same arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._crop = RandomCrop(*args, **kwargs)

    def apply(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self._crop.reseed(self.rng)
        image, (left, top) = self._crop.widened(image)
        boxes[:, 0] += left
        boxes[:, 1] += top
        row, column = self._crop.place(image)
        return cropped(image, row, column, self._crop.size), inside(boxes, row, column, self._crop.size)


class RandomResizedCropWithBBox(WithBoxes):
    """`RandomResizedCrop`; takes the same arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._crop = RandomResizedCrop(*args, **kwargs)

    def apply(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self._crop.reseed(self.rng)
        top, left, size = self._crop.part(image)
        part = cropped(image, top, left, size)
        return scaled(part, inside(boxes, top, left, size), self._crop.resize.apply(part))


class BoundingBoxAugment(WithBoxes):
    """Applies an operation to the image within some of the bounding boxes.

    Args:
        transform (Callable): the operation; what it gives must have the size of the part, or is resized to it.
        ratio (float): the share of the boxes. Default ``0.3``.
    """

    def __init__(self, transform: Any, ratio: float = 0.3) -> None:
        super().__init__()
        if not callable(transform):
            raise TypeError(f"transform must be an operation, but got {type(transform)}.")
        self._step, self._ratio = transform, check_prob(ratio)

    def apply(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(self._step, RandomOperation):
            self._step.reseed(self.rng)
        made = image.copy()
        count = round(self._ratio * len(boxes))
        for i in self.rng.choice(len(boxes), count, replace=False):
            x, y, w, h = (int(n) for n in boxes[int(i), :4])
            if w and h:
                part = image_of(self._step(made[y : y + h, x : x + w]))
                part = part if part.shape[:2] == (h, w) else Resize((h, w)).apply(part)
                made[y : y + h, x : x + w] = part
        return made, boxes
