"""The alias: ``import mindspore`` means duograph.

A finder on ``sys.meta_path`` answers for ``mindspore`` and every module below it with an `AliasModule`: a module that
has MindSpore's name and takes its attributes from the duograph modules of `layout.search_path`. The attributes are
duograph's own objects, so ``mindspore.nn.Cell is duograph.nn.Cell``. A name that is missing gives the exception that
Python would give, naming it and the nearest name that there is.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from duograph.base.public import is_opened, missing

from .internals import internal
from .layout import KNOWN, search_path

MINDSPORE_VERSION = "2.10.0"
"""What ``mindspore.__version__`` says: the version whose public API is followed."""


class AliasModule(ModuleType):
    """A MindSpore module whose attributes are those of duograph modules."""

    def __getattr__(self, name: str) -> Any:
        if name == "__version__" and self.__name__ in ("mindspore", "mindspore.version"):
            return MINDSPORE_VERSION
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        if name == "__all__":
            return _exports(self._sources()[0]) if self._sources() else []
        for source in self._sources():
            try:
                value = getattr(source, name)
            except AttributeError:
                continue
            child = f"{self.__name__}.{name}"
            if isinstance(value, ModuleType) and child in KNOWN:
                return importlib.import_module(child)
            self.__dict__[name] = value
            return value
        try:
            value = self.__dict__[name] = internal(self.__name__, name)
        except KeyError:
            pass
        else:
            return value
        child = f"{self.__name__}.{name}"
        if child in KNOWN:
            return importlib.import_module(child)
        raise missing(self.__name__, name, dir(self), says=f"duograph has no {self.__name__}.{name}")

    def __dir__(self) -> list[str]:
        """What `getattr` finds: of the names that Python gives every module, only this module's own."""
        found = {*self.__dict__, "__all__"}
        if self.__name__ == "mindspore":
            found.add("__version__")
        found.update(name for source in self._sources() for name in dir(source) if not name.startswith("__"))
        return sorted(found)

    def _sources(self) -> Sequence[ModuleType]:
        found = self.__dict__.get("_duograph_modules")
        if found is None:
            found = tuple(module for path in search_path(self.__name__) if (module := _load(path)) is not None)
            self.__dict__["_duograph_modules"] = found
        return found


class AliasFinder(MetaPathFinder, Loader):
    """Finds and makes the modules below ``mindspore``."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if (name != "mindspore" and not name.startswith("mindspore.")) or not _exists(name):
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = AliasModule(spec.name, f"duograph under MindSpore's name {spec.name}.")
        if spec.name == "mindspore":
            module.__file__ = sys.modules["duograph"].__file__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run: attributes are looked up when they are asked for."""

    @staticmethod
    def find_distributions(context: Any) -> Iterable[Any]:
        """What ``importlib.metadata.version("mindspore")`` reads: libraries ask so which MindSpore there is."""
        if context.name is not None and context.name.lower() != "mindspore":
            return ()
        return (_distribution(),)


def _distribution() -> Any:
    base = sys.modules["importlib.metadata"].Distribution  # it is who asks; it is slow to import, and a fork waits

    class Alias(base):  # type: ignore[valid-type, misc]
        """The package ``mindspore`` as far as its name and version."""

        def read_text(self, filename: str) -> str | None:
            told = f"Metadata-Version: 2.1\nName: mindspore\nVersion: {MINDSPORE_VERSION}\n"
            return told if filename in ("METADATA", "PKG-INFO") else None

        def locate_file(self, path: Any) -> Any:
            return os.path.join(os.path.dirname(str(sys.modules["duograph"].__file__)), path)

    return Alias()


def install_as_mindspore() -> None:
    """Makes ``import mindspore`` mean duograph in this process.

    Raises:
        RuntimeError: the real MindSpore has been imported already.

    Examples:
        >>> import duograph
        >>> duograph.install_as_mindspore()
        >>> import mindspore
        >>> mindspore.nn.Cell is duograph.nn.Cell
        True
    """
    loaded = sys.modules.get("mindspore")
    if loaded is not None and not isinstance(loaded, AliasModule):
        raise RuntimeError("install_as_mindspore() comes too late: the real mindspore is imported already")
    if not any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, AliasFinder())


def _load(path: str) -> ModuleType | None:
    """The duograph module ``path``, or None if there is none. Its own errors while loading are not hidden."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is not None and (path == error.name or path.startswith(error.name + ".")):
            return None
        raise


def _exists(name: str) -> bool:
    """Whether MindSpore's module ``name`` can be offered, be it without names; one that only duograph has, as well.

    Nothing is imported: CPython 3.11 asks finders under its global import lock, and a module that waits for the import
    of another thread would wait forever.
    """
    if name in KNOWN:
        return True
    own = "duograph" + name.removeprefix("mindspore")
    folders = [os.path.join(root, *own.split(".")[1:-1]) for root in sys.modules["duograph"].__path__]
    return own in sys.modules or is_opened(own) or PathFinder.find_spec(own, folders) is not None


def _exports(source: ModuleType) -> list[str]:
    listed = getattr(source, "__all__", None)
    return list(listed) if listed is not None else [name for name in vars(source) if not name.startswith("_")]
