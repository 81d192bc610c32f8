"""Calls that prepare images: padded copies, images that are read where they are, channels put last."""

from __future__ import annotations

from typing import Any

from ..lowering import Lowering, Operand, Temporary
from .geometry import Padded
from .pad import WIDE, channel_last_function, pad_function
from .parts import compute_elem, round_up

SLACK = 64
"""Elements behind a padded image that the last vector may read."""


class Plain:
    """An image that is read where it is."""

    phases, fronts = 1, (0, 0, 0)

    def __init__(self, sizes: list[Any]) -> None:
        self.row = self.step_h = sizes[2]
        self.step_d = sizes[1] * sizes[2]
        self.channel = sizes[0] * self.step_d


def pad(c: Lowering, x: Operand, image: Padded, sizes: list[Any]) -> Temporary:
    """A call that copies ``x`` into a zero-bordered buffer."""
    lead = x.shape[0] * x.shape[1]
    out = c.temp(compute_elem(x.elem), lead * image.channel + SLACK)
    step = image.phases if image.phases <= 2 else 0
    phases = [image.phases] if step == 0 else []
    dims = [lead, *sizes, image.d, image.h, image.row, *phases, *image.fronts, image.channel]
    c.call(pad_function(x.elem, step), [x, out], [*dims, grain_of(image.h * image.step_h)])
    return out


def grain_of(elements: Any, wanted: int = 16384) -> int:
    """How many pieces of ``elements`` elements make a chunk that is worth a thread."""
    return max(1, wanted // max(1, elements)) if isinstance(elements, int) else 4


def turned(c: Lowering, x: Any, lead: Any, rows: Any, pixels: Any, width: Any) -> Temporary:
    """A call that puts the channels last: (lead, rows, pixels) into (lead, pixels, width)."""
    out = c.temp(compute_elem(x.elem), lead * round_up(pixels, WIDE) * width)
    c.call(channel_last_function(x.elem), [x, out], [lead, rows, pixels, width, grain_of(pixels * WIDE, 4096)])
    return out
