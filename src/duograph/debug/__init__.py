"""Tools to look inside: stepping through compiled functions, comparing them with eager mode, passes on MindIR text."""

from .hunt import compare
from .step import step

__all__ = ["compare", "step"]
