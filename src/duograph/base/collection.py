"""Compiling without Python's cycle collector.

A compiler makes many objects and keeps nearly all of them until it is done: collections find little and take a tenth of
the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["no_collection"]


@contextmanager
def no_collection() -> Iterator[None]:
    """Within the block the cycle collector does not start by itself.

    What was made in it counts as old afterwards, so that it is not all looked at as soon as the block ends.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # or what the user has frozen would thaw
            gc.freeze()
            gc.unfreeze()
        gc.enable()
