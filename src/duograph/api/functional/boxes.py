"""Boxes in images: overlaps, codings, crops, suppression of all but the best; colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from duograph.core import dtype as dt
from duograph.ops import boxes as box_ops
from duograph.ops.arithmetic import maximum, minimum
from duograph.ops.compare import greater_equal, less
from duograph.ops.creation import constant_like
from duograph.ops.logical import logical_and
from duograph.ops.movement import expand_dims, squeeze
from duograph.ops.slices import concat, slice_axis
from duograph.ops.unary import exp, log
from duograph.tensor.tensor import Tensor

from ..promote import as_tensor, to_dtype
from .forms import need_tensor, not_public, one_per_axis, public_functions

Four = Sequence[float]


@not_public
def columns(boxes: Tensor) -> list[Tensor]:
    """The four coordinates, each with a last axis of size 1."""
    return [slice_axis(boxes, boxes.ndim - 1, i, i + 1) for i in range(4)]


def _joined(*parts: Tensor) -> Tensor:
    return concat(*parts, axis=parts[0].ndim - 1)


def _row(values: Four, like: Tensor) -> Tensor:
    return as_tensor(tuple(float(v) for v in values), like.dtype)


def iou(anchor_boxes: Tensor, gt_boxes: Tensor, mode: str = "iou") -> Tensor:
    """The overlap of every pair of boxes (x0, y0, x1, y1): over the union, or for ``"iof"`` over the second box.

    Args:
        anchor_boxes: (N, 4).
        gt_boxes: (M, 4).
        mode: ``"iou"`` or ``"iof"``.

    Returns:
        (M, N).

    Raises:
        ValueError: unknown ``mode``.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> boxes = Tensor([[0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 2.0, 1.0]])
        >>> print(ops.iou(boxes, boxes))
        [[1.         0.33333334]
         [0.33333334 1.        ]]
    """
    need_tensor("IOU", anchor_boxes=anchor_boxes, gt_boxes=gt_boxes)
    if mode not in ("iou", "iof"):
        raise ValueError(f"For 'IOU', the 'mode' must be in ['iou', 'iof'], but got {mode}.")
    a, b = columns(expand_dims(anchor_boxes, 0)), columns(expand_dims(gt_boxes, 1))

    def area(x0: Tensor, y0: Tensor, x1: Tensor, y1: Tensor) -> Tensor:
        return (x1 - x0 + 1) * (y1 - y0 + 1)

    width = minimum(a[2], b[2]) - maximum(a[0], b[0]) + 1
    height = minimum(a[3], b[3]) - maximum(a[1], b[1]) + 1
    zero = constant_like(width, 0)
    common = maximum(width, zero) * maximum(height, zero)
    whole = area(*b) if mode == "iof" else area(*a) + area(*b) - common
    return squeeze(common / whole, (2,))


def _centre(box: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Centre, width and height of boxes whose corners belong to them."""
    x0, y0, x1, y1 = columns(box)
    return (x0 + x1) * 0.5, (y0 + y1) * 0.5, x1 - x0 + 1, y1 - y0 + 1


def bounding_box_encode(
    anchor_box: Tensor, groundtruth_box: Tensor, means: Four = (0.0,) * 4, stds: Four = (1.0,) * 4
) -> Tensor:
    """Shifts and logarithms of scales that turn anchors into true boxes.

    Returns:
        Tensor, of shape ``(N, 4)``.

    Examples:
        >>> print(ops.bounding_box_encode(Tensor([[0.0, 0.0, 3.0, 3.0]]), Tensor([[1.0, 1.0, 4.0, 4.0]])))
        [[0.25 0.25 0.   0.  ]]
    """
    need_tensor("BoundingBoxEncode", anchor_box=anchor_box, groundtruth_box=groundtruth_box)
    ax, ay, aw, ah = _centre(anchor_box)
    gx, gy, gw, gh = _centre(groundtruth_box)
    deltas = _joined((gx - ax) / aw, (gy - ay) / ah, log(gw / aw), log(gh / ah))
    return (deltas - _row(means, deltas)) / _row(stds, deltas)


def bounding_box_decode(
    anchor_box: Tensor, deltas: Tensor, max_shape: Sequence[int], means: Four = (0.0,) * 4, stds: Four = (1.0,) * 4,
    wh_ratio_clip: float = 0.016,
) -> Tensor:  # fmt: skip
    """The inverse of `bounding_box_encode`, kept inside an image of ``max_shape`` (height, width).

    Returns:
        Tensor, of shape ``(N, 4)``: left, top, right and bottom edges.

    Examples:
        >>> print(ops.bounding_box_decode(Tensor([[0.0, 0.0, 3.0, 3.0]]), Tensor([[0.25, 0.25, 0.0, 0.0]]), (10, 10)))
        [[1. 1. 4. 4.]]
    """
    need_tensor("BoundingBoxDecode", anchor_box=anchor_box, deltas=deltas)
    dx, dy, dw, dh = columns(deltas * _row(stds, deltas) + _row(means, deltas))
    limit = constant_like(dw, abs(math.log(wh_ratio_clip)))
    ax, ay, aw, ah = _centre(anchor_box)
    x, y = ax + aw * dx, ay + ah * dy
    w, h = (size * exp(minimum(maximum(d, -limit), limit)) for size, d in ((aw, dw), (ah, dh)))
    corners = (x - w * 0.5 + 0.5, y - h * 0.5 + 0.5, x + w * 0.5 - 0.5, y + h * 0.5 - 0.5)
    bounds = (max_shape[1] - 1, max_shape[0] - 1) * 2
    zero = constant_like(x, 0)
    return _joined(*(minimum(maximum(c, zero), constant_like(c, n)) for c, n in zip(corners, bounds, strict=True)))


def check_valid(bboxes: Tensor, img_metas: Tensor) -> Tensor:
    """Whether boxes lie inside an image, given as (height, width, ratio).

    Returns:
        Tensor of bool, of shape ``(N,)``.

    Examples:
        >>> print(ops.check_valid(Tensor([[0.0, 0.0, 3.0, 3.0], [0.0, 0.0, 9.0, 3.0]]), Tensor([4.0, 4.0, 1.0])))
        [ True False]
    """
    need_tensor("CheckValid", bboxes=bboxes, img_metas=img_metas)
    height, width, ratio = (slice_axis(img_metas, 0, i, i + 1) for i in range(3))
    x0, y0, x1, y1 = (slice_axis(bboxes, 1, i, i + 1) for i in range(4))
    zero = constant_like(x0, 0)
    fine = logical_and(greater_equal(x0, zero), greater_equal(y0, zero))
    fine = logical_and(fine, logical_and(less(x1, width * ratio), less(y1, height * ratio)))
    return squeeze(fine, (1,))


def crop_and_resize(
    image: Tensor, boxes: Tensor, box_indices: Tensor, crop_size: Any, method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:  # fmt: skip
    """Boxes (y0, x0, y1, x1, as fractions) cut from images (N, H, W, C) and resized to ``crop_size``.

    Returns:
        Tensor of float32, of shape ``(boxes, *crop_size, C)``.

    Raises:
        ValueError: unknown ``method``.

    Examples:
        >>> images, boxes = Tensor(np.ones((1, 4, 4, 1), np.float32)), Tensor([[0.0, 0.0, 1.0, 1.0]])
        >>> print(ops.crop_and_resize(images, boxes, Tensor([0], ms.int32), (2, 2)).shape)
        (1, 2, 2, 1)
    """
    need_tensor("CropAndResize", image=image, boxes=boxes, box_indices=box_indices)
    if method not in box_ops.METHODS:
        raise ValueError(f"For 'CropAndResize', the 'method' must be in {list(box_ops.METHODS)}, but got {method}.")
    return box_ops.crop_and_resize(
        to_dtype(image, dt.float32), boxes, box_indices, size=one_per_axis(crop_size, 2, "CropAndResize", "crop_size"),
        method=method, outside=float(extrapolation_value),
    )  # fmt: skip


FUNCTIONS = public_functions(globals())
