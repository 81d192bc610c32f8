"""When calls of compiled versions may be native: asked before the native engine is loaded."""

from __future__ import annotations

from duograph.base.config import config, is_configured_here
from duograph.core.op import state


def is_possible_now() -> bool:
    """Whether calls may be native in this thread, as things are."""
    return is_possible_under_tapes() and not state.tapes


def is_possible_under_tapes() -> bool:
    """`is_possible_now`, whatever tapes record."""
    present = config()
    return (
        present.jit and present.kernels == "native" and not present.debug and not is_configured_here()
        and state.binder is None and state.observer is None
    )  # fmt: skip
