"""What a cut knows of the compiled function that it is the form of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol


class Compiled(Protocol):
    """A `JitFunction`.

    Attributes:
        load: gives the trees of functions.
        cut: its form with graph breaks, if it has one.
        part_of: of a segment, the cut that it is part of, and which segment it is.
        is_no_use: compiled, it is no faster.
        answered: calls that versions have answered, of it and of what it is cut into.
        stats: numbers of versions, captures, breaks and checks.
    """

    load: Any
    cut: Any
    part_of: tuple[Any, Any] | None
    is_no_use: bool
    _python: Any

    @property
    def answered(self) -> int: ...

    @property
    def stats(self) -> dict[str, Any]: ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    def may_be_passed_by(self) -> bool:
        """Whether its form with graph breaks can answer without a look at the call, as things are."""

    def guards_for(self, args: tuple[Any, ...]) -> Callable[[], Any] | None:
        """What checks the guards of the version that a call with these arguments tries first."""

    def works(self) -> Iterator[float]:
        """What calls save tapes, of its versions and of all that it is cut into."""

    def _stores(self) -> list[Any]:
        """Its versions, by owner."""

    def explain(self) -> Any:
        """What was compiled, what was not, and why."""
