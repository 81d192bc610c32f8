"""Looking for what is wrong: `compare` with eager mode, files of internal failures, graphs made small."""

from .compare import compare

__all__ = ["compare"]
