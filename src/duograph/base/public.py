"""Public names: where a package's names live, loaded when they are first asked for.

`Names` answers for a package whose `__getattr__` and `__dir__` call it. A package may show names that live on a higher
floor (``nn.Accuracy`` is `train`'s); it does not know of them: the floor that does lends them with `lend` before the
package is loaded. `open_paths` makes modules importable under the public path where users look for them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .absent import instead

__all__ = ["Names", "is_opened", "keep_in_front", "lend", "open_paths", "saying_why"]

_lent: dict[str, dict[str, str]] = {}


def lend(package: str, homes: Mapping[str, str]) -> None:
    """Shows names of the modules ``homes`` in a package, as if the package had listed them itself."""
    _lent.setdefault(package, {}).update(homes)


class Names:
    """The names of a package.

    Args:
        package: its name.
        homes: module -> the names that it holds, in one text; ``shown=name`` where they differ.
        modules: names that are modules: those in the package itself, or name -> module.

    Attributes:
        all: the public names, for ``__all__``.
    """

    def __init__(
        self, package: str, homes: Mapping[str, str], modules: Mapping[str, str] | tuple[str, ...] = ()
    ) -> None:
        self.package = package
        self._homes: dict[str, tuple[str, str]] = {}
        for module, names in (*homes.items(), *_lent.get(package, {}).items()):
            for entry in names.split():
                shown, _, name = entry.partition("=")
                self._homes[shown] = module, name or shown
        places = modules if isinstance(modules, Mapping) else {name: f"{package}.{name}" for name in modules}
        self._modules = dict(places)
        self.all = list(self._homes)

    def get(self, name: str) -> Any:
        """The value of a name, kept in the package from then on.

        Raises:
            AttributeError: there is no such name; it says what to write instead.
        """
        package = sys.modules[self.package]
        if name in self._modules:
            value: Any = import_module(self._modules[name])
        elif name in self._homes:
            home, inner = self._homes[name]
            value = getattr(import_module(home), inner)
        else:
            hint = instead(self.package, name, self.all)  # with an ``obj``, Python would add another suggestion
            raise AttributeError(
                f"module {self.package!r} has no attribute {name!r}{hint}", name=name, obj=None if hint else package
            )
        vars(package)[name] = value
        return value

    def listing(self) -> list[str]:
        """What ``dir`` shows of the package."""
        return sorted({*vars(sys.modules[self.package]), *self.all, *self._modules})


def saying_why(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module that loads nothing: the error says what to write instead, or why not."""

    def __getattr__(name: str) -> Any:
        here = sys.modules[module]
        hint = instead(module, name, vars(here))
        raise AttributeError(
            f"module {module!r} has no attribute {name!r}{hint}", name=name, obj=None if hint else here
        )

    return __getattr__


class _Package(ModuleType):
    """The class of packages whose public names hide modules of theirs."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _in_front[self.__name__] and isinstance(value, ModuleType):
            return  # the import system binds every module to its package
        super().__setattr__(name, value)


_in_front: dict[str, frozenset[str]] = {}


def keep_in_front(package: str, names: frozenset[str]) -> None:
    """Makes these names of a package always mean what it shows, never its own module of the same name.

    ``from package.name import ...`` finds the module all the same.
    """
    _in_front[package] = names
    sys.modules[package].__class__ = _Package


class _Paths:
    """Finder and loader of modules under their public paths: both paths give one module object.

    Their classes in `importlib.abc` would only cost: they load twenty modules.
    """

    def __init__(self, homes: Mapping[str, str]) -> None:
        self.homes = homes

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in self.homes else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """A module as ever, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(self.homes[module.__name__])


def open_paths(homes: Mapping[str, str]) -> None:
    """Makes modules importable under other paths: public path -> module."""
    sys.meta_path.append(_Paths(homes))


def is_opened(path: str) -> bool:
    """Whether a module is importable under this public path."""
    return any(isinstance(finder, _Paths) and path in finder.homes for finder in sys.meta_path)
