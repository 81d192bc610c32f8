"""``mint.nn``: `functional`, and the layers of ``duograph.nn`` whose signatures are PyTorch's too."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

LAYERS = [
    "Identity",
    "ReLU",
    "ReLU6",
    "Sigmoid",
    "Tanh",
    "SiLU",
    "Mish",
    "Softmax",
    "LogSoftmax",
    "Softshrink",
    "Hardshrink",
    "LogSigmoid",
    "PReLU",
    "SELU",
    "L1Loss",
    "MSELoss",
    "BCELoss",
    "SmoothL1Loss",
    "KLDivLoss",
    "NLLLoss",
    "CrossEntropyLoss",
    "BCEWithLogitsLoss",
    "PixelShuffle",
    "PixelUnshuffle",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
]
OTHER_NAMES = {"Softshrink": "SoftShrink", "Hardshrink": "HShrink", "SELU": "SeLU"}


def __getattr__(name: str) -> Any:
    if name == "functional":
        return import_module(f"{__name__}.functional")
    if name in LAYERS:
        return getattr(import_module("duograph.nn"), OTHER_NAMES.get(name, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
