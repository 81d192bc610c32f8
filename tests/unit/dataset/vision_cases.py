"""Operations on one image, by name: what `mindspore.json` has MindSpore's results of.

``python vision_cases.py mindspore.json`` under a Python that has MindSpore writes them (version 2.10.0).
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import numpy as np


def image() -> np.ndarray:
    """Patches of colours, with noise."""
    rng = np.random.default_rng(0)
    patches = np.kron(rng.integers(0, 256, (4, 5, 3), dtype=np.uint8), np.ones((4, 3, 1), np.uint8)).astype(int)
    return (patches + rng.integers(-10, 10, patches.shape)).clip(0, 255).astype(np.uint8)


def cases(v: Any) -> dict[str, Any]:
    """Functions of the image, made of the operations of the module ``v``."""
    inter, border, mode = v.Inter, v.Border, v.ConvertMode
    corners = [[0, 0], [14, 0], [14, 15], [0, 15]], [[2, 1], [12, 0], [13, 14], [1, 13]]
    made = {
        "AdjustBrightness": v.AdjustBrightness(1.7),
        "AdjustContrast": v.AdjustContrast(0.4),
        "AdjustGamma": v.AdjustGamma(1.7, 1.1),
        "AdjustHue": v.AdjustHue(0.2),
        "AdjustHue, back": v.AdjustHue(-0.37),
        "AdjustSaturation": v.AdjustSaturation(2.3),
        "AdjustSharpness": v.AdjustSharpness(2.0),
        "Affine": v.Affine(15, [0.1, -0.1], 1.2, [5, 3], inter.BILINEAR),
        "Affine, nearest": v.Affine(15, [0.1, -0.1], 0.8, [5, 3], inter.NEAREST, 7),
        "AutoContrast": v.AutoContrast(),
        "AutoContrast, cut": v.AutoContrast(5.0, [0, 255]),
        "CenterCrop": v.CenterCrop((20, 7)),
        "ConvertColor, to grey": v.ConvertColor(mode.COLOR_RGB2GRAY),
        "ConvertColor, from BGR": v.ConvertColor(mode.COLOR_BGR2GRAY),
        "ConvertColor, alpha": v.ConvertColor(mode.COLOR_RGB2BGRA),
        "Crop": v.Crop((2, 3), (10, 11)),
        "Equalize": v.Equalize(),
        "Erase": v.Erase(3, 4, 10, 7, (1, 2, 3)),
        "GaussianBlur": v.GaussianBlur(5, 1.2),
        "GaussianBlur, by size": v.GaussianBlur([3, 7]),
        "HWC2CHW": v.HWC2CHW(),
        "Invert": v.Invert(),
        "Normalize": v.Normalize([100.0, 110.0, 120.0], [50.0, 60.0, 70.0]),
        "Pad": v.Pad((1, 2, 3, 4), 9, border.CONSTANT),
        "PadToSize": v.PadToSize([20, 21], [1, 2], 5, border.REFLECT),
        "Perspective": v.Perspective(*corners, inter.BILINEAR),
        "Posterize": v.Posterize(3),
        "Rescale": v.Rescale(1 / 255, 0.5),
        "ResizedCrop": v.ResizedCrop(3, 4, 10, 9, (15, 11), inter.BILINEAR),
        "Rotate": v.Rotate(30.0, inter.BILINEAR),
        "Rotate, expand": v.Rotate(-20.0, inter.NEAREST, True),
        "SlicePatches": v.SlicePatches(2, 2),
        "Solarize": v.Solarize((50, 150)),
        "ToTensor": v.ToTensor(),
        "from PNG": lambda x: v.Decode()(v.encode_png(x)),
        "HsvToRgb": lambda x: v.HsvToRgb(True)(x.astype(np.float32) / 255),
        "RgbToHsv": lambda x: v.RgbToHsv(True)(x.astype(np.float32) / 255),
    }
    for way in ("NEAREST", "LINEAR", "CUBIC", "AREA"):
        for size in ((8, 5), (32, 30), 11):
            made[f"Resize, {way}, {size}"] = v.Resize(size, getattr(inter, way))
    return made


def packed(value: Any) -> list[dict[str, Any]]:
    """Arrays as text."""
    arrays = [np.ascontiguousarray(x) for x in (value if isinstance(value, tuple) else (value,))]
    return [{"dtype": str(x.dtype), "shape": x.shape, "data": base64.b64encode(x.tobytes()).decode()} for x in arrays]


def unpacked(text: list[dict[str, Any]]) -> list[np.ndarray]:
    """The arrays again."""
    return [np.frombuffer(base64.b64decode(x["data"]), x["dtype"]).reshape(x["shape"]) for x in text]


if __name__ == "__main__":
    import mindspore.dataset.vision as vision

    results = {name: packed(made(image())) for name, made in cases(vision).items()}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(results, file, indent=0)
