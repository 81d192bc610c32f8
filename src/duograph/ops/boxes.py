"""Boxes in images: crops that are resized, regions that are averaged, and suppression of all but the best.

Positions in the images are run-time values, so these are primitives. The resampling ones are linear in the image: what
they do is a list of places and weights, which the gradient uses the other way round. Boxes get no gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.op import NOT_DIFFERENTIABLE, primitive
from duograph.core.types import TensorType, TupleType

from .rules import in_float32, require_kind
from .search import _count

METHODS = ("bilinear", "nearest", "bilinear_v2")
Taps = list[tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Rows, columns and weights of what is added up, each one array per result place."""


def _bilinear(y: np.ndarray, x: np.ndarray, height: int, width: int) -> Taps:
    """The four neighbours of every place ``(y, x)``."""
    y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    bottom, right = np.minimum(top + 1, height - 1), np.minimum(left + 1, width - 1)
    dy, dx = y - top, x - left
    return [
        (top, left, (1 - dy) * (1 - dx)), (top, right, (1 - dy) * dx),
        (bottom, left, dy * (1 - dx)), (bottom, right, dy * dx),
    ]  # fmt: skip


# ---- crops -----------------------------------------------------------------------------------------------------------


def _crop_taps(image_shape: Any, boxes: np.ndarray, size: tuple[int, int], method: str) -> tuple[Taps, np.ndarray]:
    """Places and weights (boxes, rows, columns), and which of them lie inside the image."""
    height, width = image_shape[1:3]

    def axis(low: np.ndarray, high: np.ndarray, extent: int, count: int) -> np.ndarray:
        if count == 1:
            return (0.5 * (low + high) * (extent - 1))[:, None]
        return (low * (extent - 1))[:, None] + np.arange(count) * ((high - low) * (extent - 1) / (count - 1))[:, None]

    wide = boxes.astype(np.float32)
    y, x = axis(wide[:, 0], wide[:, 2], height, size[0]), axis(wide[:, 1], wide[:, 3], width, size[1])
    y, x = np.broadcast_arrays(y[:, :, None], x[:, None, :])
    inside = (y >= 0) & (y <= height - 1) & (x >= 0) & (x <= width - 1)
    if method == "nearest":
        rows, cols = (np.clip(np.floor(v + 0.5), 0, n - 1).astype(np.int64) for v, n in ((y, height), (x, width)))
        return [(rows, cols, np.ones_like(y))], inside
    return _bilinear(y, x, height, width), inside


@primitive
class crop_and_resize:
    """Boxes (B, 4) cut from ``image`` (N, H, W, C), given by ``box_indices``, and resized to ``size``."""

    raises = True

    def infer(image, boxes, box_indices, *, size, method, outside):
        image = require_kind("CropAndResize", image, "f", "image")
        boxes = require_kind("CropAndResize", boxes, "f", "boxes")
        require_kind("CropAndResize", box_indices, "i", "box_indices")
        if image.ndim != 4 or boxes.ndim != 2:
            raise ValueError(
                f"For 'CropAndResize', 'image' must be of 4 and 'boxes' of 2 dimensions, but got shapes "
                f"{tuple(image.shape)} and {tuple(boxes.shape)}."
            )
        return image.with_shape((boxes.shape[0], *size, image.shape[3]))

    @in_float32
    def reference(image, boxes, box_indices, *, size, method, outside):
        taps, inside = _crop_taps(image.shape, boxes, size, method)
        source = box_indices[:, None, None]
        total = np.zeros((len(boxes), *size, image.shape[3]), image.dtype)
        for rows, cols, weight in taps:
            total += image[source, rows, cols] * weight[..., None].astype(image.dtype)
        return np.where(inside[..., None], total, image.dtype.type(outside))

    def bprop(ins, out, dout, *, size, method, outside):
        image, boxes, places = ins
        return lambda: crop_grad(dout, boxes, places, shape=tuple(image.shape), size=size, method=method), None, None


@primitive
class crop_grad:
    """The adjoint of `crop_and_resize` in the image of the given shape."""

    raises = True
    bprop = NOT_DIFFERENTIABLE

    def infer(dout, boxes, box_indices, *, shape, size, method):
        return TensorType(dout.dtype, shape)

    @in_float32
    def reference(dout, boxes, box_indices, *, shape, size, method):
        taps, inside = _crop_taps(shape, boxes, size, method)
        total = np.zeros(shape, dout.dtype)
        part = np.where(inside[..., None], dout, dout.dtype.type(0))
        for rows, cols, weight in taps:
            np.add.at(total, (box_indices[:, None, None], rows, cols), part * weight[..., None].astype(dout.dtype))
        return total


# ---- regions of interest ---------------------------------------------------------------------------------------------


def _roi_taps(shape: Any, rois: np.ndarray, size: tuple[int, int], scale: float, samples: int, mode: int) -> Any:
    """Per region its image, and places and weights (rows, columns, samples) of the mean over each cell."""
    height, width = shape[2:]
    for region in rois.astype(np.float32):
        image = int(region[0])
        x0, y0, x1, y1 = (float(v) * scale for v in region[1:])
        w, h = (d + scale if mode else max(d, 1.0) for d in (x1 - x0, y1 - y0))
        cell_h, cell_w = h / size[0], w / size[1]
        count_h = samples if samples > 0 else int(np.ceil(h / size[0]))
        count_w = samples if samples > 0 else int(np.ceil(w / size[1]))
        i, k = np.arange(size[0])[:, None], np.arange(count_h)
        y = y0 + i * cell_h + (k + 0.5) * cell_h / count_h
        j, k = np.arange(size[1])[:, None], np.arange(count_w)
        x = x0 + j * cell_w + (k + 0.5) * cell_w / count_w
        y, x = np.broadcast_arrays(y[:, None, :, None], x[None, :, None, :])
        inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
        taps = [
            (rows, cols, np.where(inside, weight, 0.0) / (count_h * count_w))
            for rows, cols, weight in _bilinear(y, x, height, width)
        ]
        yield image, taps


@primitive
class roi_align:
    """The mean over the cells of regions (R, 5: image, x0, y0, x1, y1) of ``x`` (N, C, H, W)."""

    raises = True

    def infer(x, rois, *, size, scale, samples, mode):
        x = require_kind("ROIAlign", x, "f", "features")
        rois = require_kind("ROIAlign", rois, "f", "rois")
        if x.ndim != 4 or rois.ndim != 2:
            raise ValueError(
                f"For 'ROIAlign', 'features' must be of 4 and 'rois' of 2 dimensions, but got shapes "
                f"{tuple(x.shape)} and {tuple(rois.shape)}."
            )
        return x.with_shape((rois.shape[0], x.shape[1], *size))

    @in_float32
    def reference(x, rois, *, size, scale, samples, mode):
        out = np.zeros((len(rois), x.shape[1], *size), x.dtype)
        for r, (image, taps) in enumerate(_roi_taps(x.shape, rois, size, scale, samples, mode)):
            for rows, cols, weight in taps:
                out[r] += (x[image][:, rows, cols] * weight.astype(x.dtype)).sum(axis=(-2, -1))
        return out

    def bprop(ins, out, dout, **how):
        x, rois = ins
        return lambda: roi_align_grad(dout, rois, shape=tuple(x.shape), **how), None


@primitive
class roi_align_grad:
    """The adjoint of `roi_align` in the features of the given shape."""

    raises = True
    bprop = NOT_DIFFERENTIABLE

    def infer(dout, rois, *, shape, size, scale, samples, mode):
        return TensorType(dout.dtype, shape)

    @in_float32
    def reference(dout, rois, *, shape, size, scale, samples, mode):
        total = np.zeros(shape, dout.dtype)
        for r, (image, taps) in enumerate(_roi_taps(shape, rois, size, scale, samples, mode)):
            for rows, cols, weight in taps:
                part = dout[r][..., None, None] * weight.astype(dout.dtype)
                np.add.at(total[image], (slice(None), rows, cols), part)  # type: ignore[arg-type]  # the stub knows no slices
        return total


# ---- suppression -----------------------------------------------------------------------------------------------------


def _overlap(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union of one box with others."""
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:4], others[:, 2:4])
    common = np.prod(np.maximum(high - low, 0), axis=1)
    areas = np.prod(others[:, 2:4] - others[:, :2], axis=1)
    whole = np.prod(box[2:4] - box[:2]) + areas - common
    return np.where(whole > 0, common / np.where(whole > 0, whole, 1), 0.0)


def _greedy(overlaps: Any, order: np.ndarray, threshold: float, limit: int) -> list[int]:
    """Places in ``order`` that overlap no earlier kept one by more than ``threshold``; ``overlaps(i, kept)``."""
    kept: list[int] = []
    for i in order.tolist():
        if len(kept) >= limit:
            break
        if not kept or not (overlaps(i, kept) > threshold).any():
            kept.append(i)
    return kept


@primitive
class nms_with_mask:
    """Boxes with scores (N, 5) by falling score, their places, and which remain when overlapping ones are dropped."""

    bprop = NOT_DIFFERENTIABLE

    def infer(boxes, *, threshold):
        boxes = require_kind("NMSWithMask", boxes, "f", "bboxes")
        if boxes.ndim != 2:
            raise ValueError(f"For 'NMSWithMask', the 'bboxes' must be of shape (N, 5), but got {tuple(boxes.shape)}.")
        n = boxes.shape[0]
        return TupleType((boxes, TensorType(dt.int32, (n,)), TensorType(dt.bool_, (n,))))

    @in_float32
    def reference(boxes, *, threshold):
        order = np.argsort(-boxes[:, 4], kind="stable")
        ranked = boxes[order]
        kept = _greedy(lambda i, k: _overlap(ranked[i], ranked[k]), np.arange(len(ranked)), threshold, len(ranked))
        mask = np.zeros(len(ranked), bool)
        mask[kept] = True
        return ranked, np.arange(len(ranked), dtype=np.int32), mask


@primitive
class non_max_suppression:
    """The places of boxes with high ``scores`` that do not overlap better ones.

    ``boxes`` are (N, 4), or ``given``: the overlaps (N, N) themselves.
    """

    bprop = NOT_DIFFERENTIABLE
    data_dependent = True

    def infer(boxes, scores, limit, overlap, least, *, given):
        require_kind("NonMaxSuppressionV3", boxes, "f", "boxes")
        scores = require_kind("NonMaxSuppressionV3", scores, "f", "scores")
        return TensorType(dt.int32, (_count("kept", scores.shape[0]),))

    def reference(boxes, scores, limit, overlap, least, *, given):
        order = np.argsort(-scores, kind="stable")
        order = order[scores[order] > least]
        if given:
            find = lambda i, k: boxes[i, k]  # noqa: E731
        else:
            low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
            upright = np.concatenate([low, high], axis=1)
            find = lambda i, k: _overlap(upright[i], upright[k])  # noqa: E731
        return np.array(_greedy(find, order, float(overlap), int(limit)), np.int32)
