"""Primitive classes of boxes in images, of colours, and of rare kinds of pooling and resizing."""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.ops import boxes as box_ops
from duograph.ops import decoding, image
from duograph.ops import pool as pools
from duograph.ops.arithmetic import abs_, maximum, minimum
from duograph.ops.compare import equal, greater, less
from duograph.ops.creation import constant_like
from duograph.ops.movement import expand_dims, reshape
from duograph.ops.select import select
from duograph.ops.slices import concat, slice_axis
from duograph.ops.unary import floor
from duograph.tensor.tensor import Tensor

from ..functional import boxes, pool
from ..functional.forms import one_per_axis
from ..promote import as_tensor, to_dtype
from ..tensor_shape import shape_of
from .base import REQUIRED, Table

CLASSES = Table()
_row = CLASSES.row


# ---- boxes -----------------------------------------------------------------------------------------------------------

_CODING = {"means": (0.0,) * 4, "stds": (1.0,) * 4}
_row("IOU", lambda p, a, b: boxes.iou(a, b, p.mode), {"mode": "iou"})
_row("BoundingBoxEncode", lambda p, a, b: boxes.bounding_box_encode(a, b, p.means, p.stds), _CODING)
_row(
    "BoundingBoxDecode",
    lambda p, a, d: boxes.bounding_box_decode(a, d, p.max_shape, p.means, p.stds, p.wh_ratio_clip),
    {"max_shape": REQUIRED, **_CODING, "wh_ratio_clip": 0.016},
)
_row("CheckValid", lambda p, b, meta: boxes.check_valid(b, meta))
_row(
    "CropAndResize",
    lambda p, x, b, i, size: boxes.crop_and_resize(x, b, i, size, p.method, p.extrapolation_value),
    {"method": "bilinear", "extrapolation_value": 0.0},
)
_row(
    "ROIAlign",
    lambda p, x, rois: box_ops.roi_align(
        x, rois, size=(p.pooled_height, p.pooled_width), scale=float(p.spatial_scale), samples=p.sample_num,
        mode=p.roi_end_mode,
    ),
    {
        "pooled_height": REQUIRED, "pooled_width": REQUIRED, "spatial_scale": REQUIRED, "sample_num": 2,
        "roi_end_mode": 1,
    },
)  # fmt: skip
_row("NMSWithMask", lambda p, b: box_ops.nms_with_mask(b, threshold=float(p.iou_threshold)), {"iou_threshold": 0.5})


def _suppression(given: bool) -> Any:
    def forward(_: Any, b: Tensor, scores: Tensor, limit: Any, overlap: Any, least: Any) -> Tensor:
        numbers = (as_tensor(limit, dt.int64), as_tensor(overlap, scores.dtype), as_tensor(least, scores.dtype))
        return box_ops.non_max_suppression(b, scores, *numbers, given=given)

    return forward


_row("NonMaxSuppressionV3", _suppression(False))
_row("NonMaxSuppressionWithOverlaps", _suppression(True))

# ---- colours ---------------------------------------------------------------------------------------------------------


def _channels(x: Tensor) -> list[Tensor]:
    return [slice_axis(x, x.ndim - 1, i, i + 1) for i in range(3)]


def rgb_to_hsv(x: Tensor) -> Tensor:
    """Red, green, blue in the last axis as hue, saturation (0 ... 1) and value."""
    r, g, b = _channels(x)
    value, low = maximum(maximum(r, g), b), minimum(minimum(r, g), b)
    spread, one, zero = value - low, constant_like(value, 1), constant_like(value, 0)
    flat = equal(spread, zero)
    unit = 1 / (6 * select(flat, one, spread))
    hue = select(
        equal(r, value), (g - b) * unit,
        select(equal(g, value), (b - r) * unit + 1 / 3, (r - g) * unit + 2 / 3),
    )  # fmt: skip
    hue = select(flat, zero, select(less(hue, zero), hue + 1, hue))
    black = greater(value, zero)
    return concat(hue, select(black, spread / select(black, value, one), zero), value, axis=x.ndim - 1)


def hsv_to_rgb(x: Tensor) -> Tensor:
    """The inverse of `rgb_to_hsv`."""
    h, s, v = _channels(x)
    one, zero = constant_like(h, 1), constant_like(h, 0)

    def ramp(y: Tensor) -> Tensor:
        return minimum(maximum(y, zero), one)

    parts = (ramp(abs_(h * 6 - 3) - 1), ramp(2 - abs_(h * 6 - 2)), ramp(2 - abs_(h * 6 - 4)))
    return concat(*((1 - s + s * part) * v for part in parts), axis=x.ndim - 1)


def _adjust_hue(p: Any, x: Tensor, delta: Any) -> Tensor:
    """The hue turned by ``delta``."""
    h, s, v = _channels(rgb_to_hsv(to_dtype(x, dt.float32)))
    turned = h + as_tensor(delta, dt.float32)
    return to_dtype(hsv_to_rgb(concat(turned - floor(turned), s, v, axis=x.ndim - 1)), x.dtype)


def _adjust_saturation(p: Any, x: Tensor, scale: Any) -> Tensor:
    """The saturation times ``scale``, at most 1."""
    h, s, v = _channels(rgb_to_hsv(to_dtype(x, dt.float32)))
    new = minimum(maximum(s * as_tensor(scale, dt.float32), constant_like(s, 0)), constant_like(s, 1))
    return to_dtype(hsv_to_rgb(concat(h, new, v, axis=x.ndim - 1)), x.dtype)


_row("RGBToHSV", lambda p, x: rgb_to_hsv(x))
_row("HSVToRGB", lambda p, x: hsv_to_rgb(x))
_row("AdjustHue", _adjust_hue)
_row("AdjustSaturation", _adjust_saturation)

# ---- pooling and resizing --------------------------------------------------------------------------------------------


def _fractional(rank: int) -> Any:
    def forward(p: Any, x: Tensor, samples: Tensor) -> tuple[Tensor, Tensor]:
        kernel = one_per_axis(p.ksize, rank, p.name, "ksize")
        return decoding.fractional_max_pool(x, samples, kernel=kernel, size=tuple(p.output_shape))

    return forward


_row(
    "FractionalMaxPoolWithFixedKsize", _fractional(2),
    {"ksize": REQUIRED, "output_shape": REQUIRED, "data_format": "NCHW"}, only={"data_format": ("NCHW",)},
)  # fmt: skip
_row(
    "FractionalMaxPool3DWithFixedKsize", _fractional(3),
    {"ksize": REQUIRED, "output_shape": REQUIRED, "data_format": "NCDHW"}, only={"data_format": ("NCDHW",)},
)  # fmt: skip
_row("AdaptiveMaxPool3D", lambda p, x, size: _adaptive(x, shape_of((size,), p.name)))


def _adaptive(x: Tensor, size: Any) -> tuple[Tensor, Tensor]:
    single = x.ndim == 4
    values, places = pools.adaptive_max_pool(expand_dims(x, 0) if single else x, output_size=tuple(size))
    places = to_dtype(places, dt.int32)
    if single:
        values, places = (reshape(t, shape=tuple(t.shape[1:])) for t in (values, places))
    return values, places


def _max_pool_3d(p: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """Maxima and their places, these in ``argmax_type``."""
    values, places = pool.maximum(3, x, p.ksize, p.strides, p.pads, p.dilation, p.ceil_mode)
    return values, to_dtype(places, p.argmax_type)


_row(
    "MaxPool3DWithArgmax",
    _max_pool_3d,
    {
        "ksize": REQUIRED, "strides": REQUIRED, "pads": REQUIRED, "dilation": (1, 1, 1), "ceil_mode": False,
        "data_format": "NCDHW", "argmax_type": dt.int64,
    },
    only={"data_format": ("NCDHW",)},
)  # fmt: skip


def _upsample(mode: str) -> Any:
    def forward(p: Any, x: Tensor, size: Any = None, scales: Any = None) -> Tensor:
        align = bool(p.attrs.get("align_corners", False))
        if size is not None:
            return image.resize(x, tuple(shape_of((size,), p.name)), mode, align)
        sizes = tuple(int(n * s) for n, s in zip(x.shape[2:], scales, strict=True))
        return image.resize(x, sizes, mode, align, [float(s) for s in scales])

    return forward


_row("UpsampleNearest1D", _upsample("nearest"))
_row("UpsampleNearest2D", _upsample("nearest"))
_row("UpsampleNearest3D", _upsample("nearest"))
_row("UpsampleTrilinear3D", _upsample("linear"), {"align_corners": False})


def _linear(p: Any, x: Tensor, size: Any) -> Tensor:
    """The last axis resized linearly."""
    aligned = p.coordinate_transformation_mode == "align_corners"
    return image.resize(x, tuple(shape_of((size,), p.name)), "linear", aligned)


_row("ResizeLinear1D", _linear, {"coordinate_transformation_mode": "align_corners"})
