"""``mint.nn``: `functional`, and layers with PyTorch's signatures."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from . import functional, layers, weights

_table = {**layers.LAYERS, **{name: getattr(weights, name) for name in weights.NAMES}}
globals().update(_table)
__all__ = ["functional", *_table]
OTHERS = ("PixelUnshuffle",)
"""Layers of ``duograph.nn`` that are here too."""


def __getattr__(name: str) -> Any:
    if name in OTHERS:
        return getattr(import_module("duograph.nn"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
