"""Operations that move pixels: turning, shearing, perspective, parts and patches, blurring and erasing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .colour import interval, number
from .pictures import ImageOperation, Inter, Pixels, RandomImageOperation, resample, saturated
from .warp import warped


def check_inter(name: str, value: Any) -> Inter:
    """``value`` if it is a way of resizing.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, Inter):
        raise TypeError(f"Argument {name} with value {value} is not of type [<enum 'Inter'>], but got {type(value)}.")
    return value


def affine_matrix(shape: tuple[int, ...], degrees: float, translate: Any, scale: float, shear: Any) -> np.ndarray:
    """The map that shears, turns (clockwise on the screen), scales about the middle, and then moves by pixels."""
    cx, cy = (shape[1] - 1) / 2, (shape[0] - 1) / 2
    a, sx, sy = math.radians(degrees), math.radians(shear[0]), math.radians(shear[1])
    turn = scale * np.array([
        [math.cos(a - sy) / math.cos(sy), -math.cos(a - sy) * math.tan(sx) / math.cos(sy) - math.sin(a)],
        [math.sin(a - sy) / math.cos(sy), -math.sin(a - sy) * math.tan(sx) / math.cos(sy) + math.cos(a)],
    ])  # fmt: skip
    moved = np.array([cx + translate[0], cy + translate[1]]) - turn @ np.array([cx, cy])
    return np.array([[*turn[0], moved[0]], [*turn[1], moved[1]], [0.0, 0.0, 1.0]])


def filling(value: Any) -> Any:
    """``value`` if it is what images can be filled with."""
    for item in value if isinstance(value, list | tuple) else [value]:
        number("fill_value", item, 0, 255)
    return value


class Affine(ImageOperation):
    """Shears, rotates and scales about the centre, then translates.

    Args:
        degrees (float): the angle, clockwise.
        translate (Sequence[float, float]): by which shares of width and height it moves, each from -1 to 1.
        scale (float): above 0.
        shear (Union[float, Sequence[float, float]]): angles along x and y.
        resample (Inter): Default ``Inter.NEAREST``.
        fill_value (Union[int, tuple[int, int, int]]): what comes in from outside. Default ``0``.
    """

    def __init__(
        self,
        degrees: float,
        translate: Any,
        scale: float,
        shear: Any,
        resample: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        self._degrees = number("degrees", degrees, float("-inf"))
        if not isinstance(translate, list | tuple) or len(translate) != 2:
            raise TypeError("translate must be a list or tuple of two numbers.")
        self._translate = [number(f"translate[{i}]", t, -1, 1) for i, t in enumerate(translate)]
        self._scale = number("scale", scale)
        if self._scale == 0:
            raise ValueError("Input scale must be greater than 0.")
        whole = list(shear) if isinstance(shear, list | tuple) else [shear, 0.0]
        self._shear = [number(f"shear[{i}]", s, float("-inf")) for i, s in enumerate(whole)]
        if len(whole) != 2:
            raise ValueError(f"shear must be one number or two, but got {len(whole)}.")
        self._inter, self._outside = check_inter("resample", resample), filling(fill_value)

    def apply(self, image: np.ndarray) -> np.ndarray:
        moved = self._translate[0] * image.shape[1], self._translate[1] * image.shape[0]
        matrix = affine_matrix(image.shape, self._degrees, moved, self._scale, self._shear)
        return warped(image, matrix, image.shape[:2], self._inter, self._outside)


class RandomAffine(RandomImageOperation):
    """`Affine` with random numbers.

    Args:
        degrees (Union[float, Sequence[float]]): the range of the angle, or how far it goes to both sides.
        translate (Sequence[float]): ranges of the shares of the width, and (4 numbers) of the height. Default ``None``.
        scale (Sequence[float]): its range. Default ``None``.
        shear (Union[float, Sequence[float]]): how far along x to both sides, its range, or (4 numbers) those of both.
            Default ``None``.
        resample (Inter): Default ``Inter.NEAREST``.
        fill_value (Union[int, tuple[int, int, int]]): Default ``0``.
    """

    def __init__(
        self, degrees: Any, translate: Any = None, scale: Any = None, shear: Any = None,
        resample: Inter = Inter.NEAREST, fill_value: Any = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        low = float("-inf")
        self._degrees = _both_sides("degrees", degrees)
        moves = [0.0] * 4 if translate is None else [*translate, 0.0, 0.0][:4]
        self._moves = [interval("translate", moves[i : i + 2], -1, 1) for i in (0, 2)]
        self._scale = interval("scale", scale if scale is not None else (1.0, 1.0))
        angles = (0.0, 0.0) if shear is None else shear if isinstance(shear, list | tuple) else (-shear, shear)
        self._shears = [interval("shear", ([*angles, 0.0, 0.0])[i : i + 2], low) for i in (0, 2)]
        self._inter, self._outside = check_inter("resample", resample), filling(fill_value)

    def apply(self, image: np.ndarray) -> np.ndarray:
        draw = self.rng.uniform
        moved = [round(draw(*r) * n) for r, n in zip(self._moves, (image.shape[1], image.shape[0]), strict=True)]
        shears = [draw(*r) for r in self._shears]
        matrix = affine_matrix(image.shape, draw(*self._degrees), moved, draw(*self._scale), shears)
        return warped(image, matrix, image.shape[:2], self._inter, self._outside)


def _both_sides(name: str, value: Any) -> tuple[float, float]:
    if isinstance(value, list | tuple):
        return interval(name, value, float("-inf"))
    return -number(name, value), value


class Rotate(ImageOperation):
    """Rotates counter-clockwise.

    Args:
        degrees (float): the angle.
        resample (Inter): Default ``Inter.NEAREST``.
        expand (bool): make the result as large as is needed. Default ``False``.
        center (tuple): the fixed place (x, y). Default ``None``: the middle.
        fill_value (Union[int, tuple[int, int, int]]): what comes in from outside. Default ``0``.
    """

    def __init__(
        self,
        degrees: float,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: Any = None,
        fill_value: Any = 0,
    ) -> None:
        self._degrees = number("degrees", degrees, float("-inf"))
        self._inter, self._expand, self._center = check_inter("resample", resample), expand, center
        self._outside = filling(fill_value)

    def apply(self, image: np.ndarray) -> np.ndarray:
        return rotated(image, self._degrees, self._inter, self._expand, self._center, self._outside)


def rotated(
    image: np.ndarray, degrees: float, inter: Inter, expand: bool = False, center: Any = None, fill: Any = 0
) -> np.ndarray:
    """The image turned counter-clockwise; see `Rotate`."""
    if isinstance(image, Pixels):
        colour = tuple([fill] * image.shape[2]) if image.ndim == 3 and isinstance(fill, int) else fill
        return image.by(lambda picture: picture.rotate(degrees, resample(inter), expand, center, fillcolor=colour))
    height, width = image.shape[:2]
    matrix = affine_matrix(image.shape, -degrees, (0, 0), 1.0, (0, 0))
    if center is not None:
        turn, middle = matrix[:2, :2], np.asarray(center, np.float64)
        matrix[:2, 2] = middle - turn @ middle
    size = height, width
    if expand:
        cos, sin = abs(math.cos(math.radians(degrees))), abs(math.sin(math.radians(degrees)))
        tall, wide = height * cos + width * sin, height * sin + width * cos
        size = round(tall), round(wide)
        matrix[0, 2] += (wide - width) / 2  # as MindSpore, which does not round them here
        matrix[1, 2] += (tall - height) / 2
    return warped(image, matrix, size, inter, fill)


class RandomRotation(RandomImageOperation):
    """`Rotate` by a random angle.

    Args:
        degrees (Union[float, Sequence[float]]): its range, or how far it goes to both sides.
        resample (Inter): see `Rotate`. So ``expand``, ``center`` and ``fill_value``.
    """

    def __init__(
        self,
        degrees: Any,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: Any = None,
        fill_value: Any = 0,
    ) -> None:
        super().__init__()
        self._degrees = _both_sides("degrees", degrees)
        self._inter, self._expand, self._center = check_inter("resample", resample), expand, center
        self._outside = filling(fill_value)

    def apply(self, image: np.ndarray) -> np.ndarray:
        degrees = float(self.rng.uniform(*self._degrees))
        return rotated(image, degrees, self._inter, self._expand, self._center, self._outside)


class Perspective(ImageOperation):
    """The perspective transform that maps four points to four others.

    Args:
        start_points (Sequence[Sequence[int, int]]): places (x, y) in the image.
        end_points (Sequence[Sequence[int, int]]): where they are in the result.
        interpolation (Inter): Default ``Inter.BILINEAR``.
    """

    def __init__(self, start_points: Any, end_points: Any, interpolation: Inter = Inter.BILINEAR) -> None:
        for name, points in (("start_points", start_points), ("end_points", end_points)):
            if not isinstance(points, list | tuple) or len(points) != 4 or any(len(p) != 2 for p in points):
                raise TypeError(f"{name} should be a sequence of four places (x, y).")
        self._matrix = perspective_matrix(start_points, end_points)
        self._inter = check_inter("interpolation", interpolation)

    def apply(self, image: np.ndarray) -> np.ndarray:
        return warped(image, self._matrix, image.shape[:2], self._inter, 0, perspective=True)


def perspective_matrix(start: Any, end: Any) -> np.ndarray:
    """The map that takes four places to four others.

    Raises:
        ValueError: three of them are on a line.
    """
    rows = []
    for (x, y), (u, v) in zip(start, end, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    try:
        made = np.linalg.solve(np.array(rows, np.float64), np.array(end, np.float64).reshape(-1))
    except np.linalg.LinAlgError:
        raise ValueError(f"three of the places {start} or {end} are on a line.") from None
    return np.append(made, 1.0).reshape(3, 3)


class RandomPerspective(RandomImageOperation):
    """`Perspective` with the corners at random positions.

    Args:
        distortion_scale (float): by which share of half the sides corners move at most. Default ``0.5``.
        prob (float): Default ``0.5``.
        interpolation (Inter): Default ``Inter.BICUBIC``.
    """

    def __init__(self, distortion_scale: float = 0.5, prob: float = 0.5, interpolation: Inter = Inter.BICUBIC) -> None:
        super().__init__(prob)
        self._scale = number("distortion_scale", distortion_scale, 0, 1)
        self._inter = check_inter("interpolation", interpolation)

    def apply(self, image: np.ndarray) -> np.ndarray:
        height, width = image.shape[:2]
        start = [(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)]
        most = int(self._scale * (width // 2)), int(self._scale * (height // 2))
        end = []
        for x, y in start:
            dx, dy = (int(self.rng.integers(n + 1)) for n in most)
            end.append((x - dx if x else dx, y - dy if y else dy))
        return warped(image, perspective_matrix(start, end), (height, width), self._inter, 0, perspective=True)


class GaussianBlur(ImageOperation):
    """Blurs with a Gaussian kernel; the image is reflected at the border.

    Args:
        kernel_size (Union[int, Sequence[int]]): odd width and height of the kernel.
        sigma (Union[float, Sequence[float]]): its standard deviations. Default ``None``: by the width,
            as OpenCV does.
    """

    def __init__(self, kernel_size: Any, sigma: Any = None) -> None:
        sizes = list(kernel_size) if isinstance(kernel_size, list | tuple) else [kernel_size] * 2
        for n in sizes:
            if isinstance(n, bool) or not isinstance(n, int):
                raise TypeError(f"kernel_size must be of ints, but got {type(n)}.")
            if n < 1 or n % 2 == 0:
                raise ValueError(f"kernel_size must be odd and above 0, but got {n}.")
        given = list(sigma) if isinstance(sigma, list | tuple) else [sigma] * 2
        usual = 0.3 * ((sizes[0] - 1) * 0.5 - 1) + 0.8
        sigmas = [number("sigma", s) if s else usual for s in given]
        self._kernels = [
            _gauss(n, s) for n, s in zip(sizes * (2 // len(sizes)), sigmas * (2 // len(sigmas)), strict=True)
        ]

    def apply(self, image: np.ndarray) -> np.ndarray:
        out = image.astype(np.float64)
        for axis, kernel in ((1, self._kernels[0]), (0, self._kernels[1])):
            half = len(kernel) // 2
            mode: Any = "reflect" if out.shape[axis] > half else "edge"
            wide = np.pad(out, [(half, half) if a == axis else (0, 0) for a in range(out.ndim)], mode=mode)
            parts = (wide.take(range(i, i + out.shape[axis]), axis) * w for i, w in enumerate(kernel))
            out = sum(parts, np.zeros(()))
        return saturated(out, image.dtype)


def _gauss(n: int, sigma: float) -> np.ndarray:
    weights = np.exp(-((np.arange(n) - (n - 1) / 2) ** 2) / (2 * sigma * sigma))
    return weights / weights.sum()
