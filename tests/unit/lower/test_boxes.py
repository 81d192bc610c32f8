"""Boxes in images: crops, regions, suppression; their gradients; boxes of images that do not exist. Random windows."""

from __future__ import annotations

import numpy as np
import pytest

import duograph.ops.boxes
import duograph.ops.decoding  # noqa: F401
from duograph.core.op import get_op
from duograph.runtime.kernels.single import run_single
from tests.unit.lower.kernel_checks import BFLOAT16, check, sample

RNG = np.random.default_rng(0)
FLOATS = ["f4", "f8", "f2", BFLOAT16]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("method", ["bilinear", "nearest", "bilinear_v2"])
def test_crops(dtype, method):
    image = sample((3, 7, 9, 4), dtype)
    boxes = RNG.uniform(-0.2, 1.2, (6, 4)).astype(np.float32)
    boxes[0] = [0, 0, 1, 1]
    indices = np.array([0, 2, 1, 1, -1, 0], np.int32)
    for size in [(5, 4), (1, 3), (2, 1), (0, 2)]:
        out = check("crop_and_resize", image, boxes, indices, size=size, method=method, outside=0.25)
        dout = sample(out.shape, dtype, 1)
        check("crop_grad", dout, boxes, indices, shape=image.shape, size=size, method=method)
    assert run_single(get_op("crop_and_resize"), [image, boxes, indices + 1],
                      {"size": (2, 2), "method": method, "outside": 0}) is None  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_regions(dtype):
    x = sample((2, 3, 8, 10), dtype)
    rois = np.concatenate(
        [RNG.integers(0, 2, (5, 1)), np.sort(RNG.uniform(-3, 22, (5, 2, 2)), axis=1).reshape(5, 4)], 1
    )
    rois = rois.astype(np.float32)
    for mode in (0, 1):
        for samples in (2, 0, 3):
            how = {"size": (3, 2), "scale": 0.5, "samples": samples, "mode": mode}
            out = check("roi_align", x, rois, **how)
            check("roi_align_grad", sample(out.shape, dtype, 1), rois, shape=x.shape, **how)
    rois[0, 0] = 7
    assert run_single(get_op("roi_align"), [x, rois], {"size": (3, 2), "scale": 0.5, "samples": 2, "mode": 0}) is None


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_suppression(dtype):
    corner = RNG.integers(0, 20, (40, 2))
    boxes = np.concatenate([corner, corner + RNG.integers(-1, 9, (40, 2)), RNG.integers(0, 9, (40, 1)) / 8], 1)
    for threshold in (0.0, 0.3, 0.9):
        check("nms_with_mask", boxes.astype(dtype), threshold=threshold)
    check("nms_with_mask", boxes[:0].astype(dtype), threshold=0.5)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_windows_at_random_places(dtype):
    cases = [((9, 11), (2, 3), (4, 3)), ((5, 5), (5, 5), (1, 1)), ((6, 5, 7), (2, 2, 2), (3, 1, 4))]
    for extents, window, size in cases:
        x = sample((2, 3, *extents), dtype)
        x[0, 0, 1, 1] = np.nan
        numbers = RNG.random((2, 3, len(extents))).astype(dtype)
        numbers[numbers >= 1] = 0
        check("fractional_max_pool", x, numbers, kernel=window, size=size)
    outside = np.full((2, 3, 3), np.nan, dtype)
    assert run_single(get_op("fractional_max_pool"), [x, outside], {"kernel": window, "size": size}) is None
