"""Who calls: what the verbs of `Semantics` and the rules of callbacks ask of `Calls`, which knows them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ..session.session import Session


class Caller(Protocol):
    """`calls.Calls`."""

    session: Session

    def call(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``fn(*args, **kwargs)``, interpreted where that is the policy."""

    def call_native(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs code that is not interpreted, if it is known to be free of effects on the outside world."""
