"""Tools to look inside: stepping through compiled functions, running passes on MindIR text."""

from .step import step

__all__ = ["step"]
