"""Operations of ``mindspore.dataset.vision.py_transforms`` whose defaults were others than they are today.

What older scripts take from there works on the result of ``ToTensor``: channels come first.
"""

from __future__ import annotations

from typing import Any

from . import basic

__all__ = ["Normalize", "NormalizePad"]


class Normalize(basic.Normalize):
    """`vision.Normalize` of an image whose channels come first."""

    def __init__(self, mean: Any, std: Any) -> None:
        super().__init__(mean, std, is_hwc=False)


class NormalizePad(basic.NormalizePad):
    """`vision.NormalizePad` of an image whose channels come first."""

    def __init__(self, mean: Any, std: Any, dtype: str = "float32") -> None:
        super().__init__(mean, std, dtype, is_hwc=False)
