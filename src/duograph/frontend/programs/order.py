"""The order of a program's effects while it is captured: prints, and what ranks do together, have one token."""

from __future__ import annotations

from typing import Any

from duograph.ir.node import Node
from duograph.ops.scalar import Scalar

from .primitives import anchor

__all__ = ["Order"]


class Order:
    """Gives effects their tokens (`ops.collective.ordered`).

    Args:
        session: of the capture.

    Attributes:
        communicates: whether ranks do something together.
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self.communicates = False

    def token(self) -> Node:
        """The token for the next effect; what might raise before it comes before it."""
        session = self._session
        token: Node = session.token_node(session.world.token)
        session.builder.origin = session.origin()
        if isinstance(session.world.checked, Scalar):
            token = session.builder.emit(anchor, (token, session.world.checked.node), {})
        return token

    def advance(self, token: Node) -> None:
        """A collective was emitted, which gives ``token``."""
        self._session.world.token = token
        self.communicates = True
