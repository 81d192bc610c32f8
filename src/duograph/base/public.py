"""Public names: where a package's names live, loaded when they are first asked for.

`Names` answers for a package whose `__getattr__` and `__dir__` call it. A package may show names that live on a higher
layer (``nn.Accuracy`` is `train`'s); it does not know of them: the layer that does lends them with `lend` before the
package is loaded. `open_paths` makes modules importable under the public path where users look for them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.machinery import ModuleSpec
from opcode import opmap
from types import FrameType, ModuleType
from typing import Any

from .absent import instead
from .lookup import raw_getattr

__all__ = [
    "Names",
    "explain_missing_modules",
    "is_opened",
    "keep_in_front",
    "lend",
    "missing",
    "open_paths",
    "saying_why",
]

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
        modules: those of them that are modules, by name.
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
        self.modules = dict(places)
        self.all = list(self._homes)

    def get(self, name: str) -> Any:
        """The value of a name, kept in the package from then on.

        Raises:
            AttributeError: there is no such name; it says what to write instead.
        """
        package = sys.modules[self.package]
        if name in self.modules:
            value: Any = import_module(self.modules[name])
        elif name in self._homes:
            home, inner = self._homes[name]
            value = getattr(import_module(home), inner)
        else:
            raise missing(self.package, name, self.all)
        vars(package)[name] = value
        return value

    def listing(self) -> list[str]:
        """What ``dir`` shows of the package."""
        return sorted({*own_names(vars(sys.modules[self.package])), *self.all, *self.modules})


def own_names(namespace: Mapping[str, Any]) -> list[str]:
    """The names of a package without those of the standard library that it uses: ``Any`` is not public."""
    return [name for name, value in namespace.items() if name.startswith("_") or not _is_borrowed(value)]


def _is_borrowed(value: Any) -> bool:
    home = value.__name__ if type(value) is ModuleType else raw_getattr(value, "__module__")
    if not isinstance(home, str):
        home = type(value).__module__
    return home.partition(".")[0] in _STANDARD


_STANDARD = sys.stdlib_module_names - {"builtins"}


def saying_why(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module that loads nothing: the error says what to write instead, or why not."""

    def __getattr__(name: str) -> Any:
        here = sys.modules[module]
        raise missing(module, name, vars(here))

    return __getattr__


def missing(module: str, name: str, names: Iterable[str] = (), says: str = "") -> Exception:
    """The error for a name that a module does not have, to be raised by its ``__getattr__``.

    It says what to write instead. ``from module import name`` would hide an `AttributeError` with that sentence behind
    an `ImportError` without: there it is the `ImportError`.

    Args:
        module: its name.
        name: what was asked for.
        names: what there is.
        says: how the message begins, if not as Python's.
    """
    hint, here = instead(module, name, names), sys.modules[module]
    if hint and _is_imported_from():
        return ImportError(f"cannot import name {name!r} from {module!r}{hint}", name=module)
    said = says or f"module {module!r} has no attribute {name!r}"
    return AttributeError(f"{said}{hint}", name=name, obj=None if hint else here)  # else Python suggests one more


_IMPORT_FROM = opmap["IMPORT_FROM"]


def _is_imported_from() -> bool:
    """Whether the ``__getattr__`` of a module that is running answers a ``from module import name``."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_name != "__getattr__":
        frame = frame.f_back
    importer = frame.f_back if frame is not None else None
    return importer is not None and importer.f_code.co_code[importer.f_lasti] == _IMPORT_FROM


class _NoModule:
    """The last finder, and a loader that only refuses: it says what to write instead of ``import duograph.optim``.

    Who only asks whether there is a module (`importlib.util.find_spec`) gets None, as ever. What to write is found out
    by the loader, since finders run under the import lock, and the names of some packages have to be imported.
    """

    def __init__(self, roots: tuple[str, ...]) -> None:
        self.roots = roots

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        root, dot, _ = fullname.partition(".")
        if not dot or root not in self.roots or sys._getframe(2).f_code.co_name != "_find_and_load_unlocked":
            return None
        later = sys.meta_path[sys.meta_path.index(self) + 1 :]
        found = (finder.find_spec(fullname, path, target) for finder in later)
        return next(filter(None, found), None) or ModuleSpec(fullname, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Never makes one."""
        parent, _, name = spec.name.rpartition(".")
        hint = instead(
            parent, name, dir(sys.modules.get(parent))
        )  # of this class ``from parent import name`` sees none
        raise ModuleNotFoundError(f"No module named {spec.name!r}{hint}", name=spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is none."""


def explain_missing_modules(*roots: str) -> None:
    """Lets ``import`` of a module that these packages do not have say what to write instead."""
    sys.meta_path.append(_NoModule(roots))


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
