"""Loop IR functions that were written before, by what they depend on."""

from __future__ import annotations

from typing import Any

from .loop.ir import Function

MOST_FUNCTIONS = 32
"""Of one kind that are kept, 10 to 100 KB each: who calls one keeps it, or its code, anyway."""


class Functions(dict[Any, Function]):
    """The latest functions of one kind of kernel: constants in programs, which are part of the keys, have no end."""

    def put(self, key: Any, function: Function) -> Function:
        """Keeps a function, and gives it."""
        self[key] = function
        for oldest in list(self)[:-MOST_FUNCTIONS]:
            self.pop(oldest, None)
        return function
