"""What parts of the compiler remember about the graphs of a context: a typed table for each, which dies with it."""

from __future__ import annotations

from typing import Generic, TypeVar

from .node import Context

__all__ = ["Memo"]

Key = TypeVar("Key")
Kept = TypeVar("Kept")


class Memo(Generic[Key, Kept]):
    """A table in each context.

        DERIVATIVES: Memo[tuple[Graph, ...], Derivative] = Memo("derivatives")
        DERIVATIVES.of(graph.context)[key] = made

    Args:
        name: what it remembers, for whoever looks at a context.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def of(self, context: Context) -> dict[Key, Kept]:
        """The table of ``context``."""
        return context.memos.setdefault(self, {})

    def __repr__(self) -> str:
        return f"<memo {self.name}>"
