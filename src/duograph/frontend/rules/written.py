"""Python functions that are written as text: checks of guards, and what is left to do when a graph has run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .sources import EXTENTS, Source, shown


class Written:
    """The lines of a function, and the objects that they name.

    Attributes:
        lines: statements.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._constants: dict[str, Any] = {}
        self._known: dict[int, str] = {}
        self._loaded: dict[Source, str] = {}
        self._variables = 0

    def constant(self, value: Any) -> str:
        """The name of an object."""
        found = self._known.get(id(value))
        if found is None:
            found = self._known[id(value)] = f"k{len(self._constants)}"
            self._constants[found] = value
        return found

    def variable(self, text: str) -> str:
        """A new variable with the value of this expression."""
        name = f"v{self._variables}"
        self._variables += 1
        self.lines.append(f"{name} = {text}")
        return name

    def load(self, source: Source) -> str:
        """The variable with what is found there (`Source.load`); values that several ask for are loaded once."""
        found = self._loaded.get(source)
        if found is None:
            found = self._loaded[source] = self._load(source)
        return found

    def _load(self, source: Source) -> str:
        match source.kind:
            case "arg":
                text = f"a[{source.key}]"
            case "pinned":
                return self.constant(source.base.value)
            case "attr":
                text = f"{self.load(source.base)}.{source.key}"
                if not source.key.isidentifier():
                    text = f"getattr({self.load(source.base)}, {source.key!r})"
            case "item":
                text = f"{self.load(source.base)}[{self.constant(source.key)}]"
            case "global":
                text = f"{self.constant(source.base.value)}[{source.key!r}]"
            case "found":
                key = self.load(source.key) if isinstance(source.key, Source) else self.constant(source.key)
                text = f"{self.load(source.base)}.get({key})"
            case "array":
                text = f"{self.constant(shown)}({self.load(source.base)})"
            case "extent":
                text = f"{self.constant(EXTENTS)}[{self.load(source.base)}]"
            case "number":
                text = f"{self.load(source.base)}.item()"
            case _:
                text = f"{self.constant(source.base.value)}.cell_contents"
        return self.variable(text)

    def function(self, parameters: str) -> Callable[..., Any]:
        """The function, with these parameters; arguments of calls, where they are sources, are ``a``."""
        body = "\n    ".join(self.lines)
        code = compile(f"def written({parameters}):\n    {body}\n", __file__, "exec")  # no line of the user's
        exec(code, self._constants)
        return self._constants["written"]  # type: ignore[no-any-return]
