"""What ``globals()`` gives: variables of a module that are read and written by their names."""

from __future__ import annotations

from typing import Any

from ..rules import sources
from ..rules.facts import MISSING
from .restricted import Restricted


class Namespace(Restricted):
    """The global variables of a module; they are looked after one by one."""

    why = "the dictionary of global variables, other than to read and write single ones by their names"

    def __init__(self, session: Any, variables: dict[str, Any]) -> None:
        self._session, self._variables = session, variables

    def _found(self, name: Any) -> Any:
        if type(name) is not str:
            self.refuse()
        session, variables = self._session, self._variables
        key = ("global", id(variables), name)
        if key in session.world.overlay:
            return session.world.overlay[key][1]
        if name in variables:
            return session.external_global(variables, name)
        session.guards.add(sources.pinned(variables), "no item", name)
        return MISSING

    def __getitem__(self, name: Any) -> Any:
        found = self._found(name)
        if found is MISSING:
            raise KeyError(name)
        return found

    def get(self, name: Any, default: Any = None) -> Any:
        """The variable, or ``default``."""
        found = self._found(name)
        return default if found is MISSING else found

    def __contains__(self, name: Any) -> bool:
        return self._found(name) is not MISSING

    def __setitem__(self, name: Any, value: Any) -> None:
        if type(name) is not str:
            self.refuse()
        self._session.world.overwrite("global", self._variables, name, value)
