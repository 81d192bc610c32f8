"""Where the time and the memory of a program go, by line, operator, kernel and layer: `profile`."""

from .recorder import mark, profile

__all__ = ["mark", "profile"]
