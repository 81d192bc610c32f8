"""Writes the stubs (``.pyi``) of the packages whose public names come from tables, and of the methods of `Tensor`.

Type checkers and editors read text; they see no table. A stub lists what a package shows: what a ``def`` or ``class``
statement makes is imported from there (its types and docstring are those of the source), and what a table makes is
declared with its signature and the first sentence of its docstring.

``scripts/stubs.py`` writes them all; with ``--check`` it lists those that are not what it would write.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import functools
import inspect
import pathlib
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from duograph import PATHS, Tensor
from duograph.api.primitives.base import Primitive

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "src"
PACKAGES = (
    "duograph", "duograph.nn", "duograph.ops", "duograph.mint", "duograph.mint.nn", "duograph.mint.nn.functional",
    "duograph.numpy", "duograph.train", "duograph.common", "duograph.experimental", "duograph.nn.optim",
    "duograph.nn.probability", "duograph.nn.probability.distribution",
)  # fmt: skip
METHODS = "duograph.tensor.methods"
"""The module that only type checkers find: the base class of `Tensor` with what the package attaches to it."""

HEAD = """# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as _np

from duograph.core.dtype import DType as _DType
from duograph.tensor.tensor import Tensor
"""
KNOWN = {"Any", "Callable", "DType", "Iterator", "None", "Sequence", "Tensor"}
TYPES = {n for n, v in vars(builtins).items() if isinstance(v, type)}
IGNORED = {"dataclass", "contextmanager", "with_settings", "runtime_checkable", "total_ordering", "says_instead"}
"""Decorators that type checkers understand."""


@functools.cache
def statements(module: str) -> dict[str, ast.stmt]:
    """The top-level definitions of a module by name."""
    file = getattr(sys.modules.get(module), "__file__", None) if module.startswith("duograph") else None
    found: dict[str, ast.stmt] = {}
    for statement in ast.parse(pathlib.Path(file).read_text(encoding="utf-8")).body if file else ():
        named = getattr(statement, "names", None)  # of an import
        for target in named or getattr(statement, "targets", [getattr(statement, "target", statement)]):
            for node in ast.walk(target) if isinstance(target, ast.expr) else [target]:
                name = getattr(node, "id", getattr(node, "asname", None) or getattr(node, "name", None))
                if name is not None:
                    found[name] = statement  # the last: before it there may be overloads
    return found


def is_stated(value: Any) -> bool:
    """Whether a ``def`` or ``class`` statement makes it, under its own name, and nothing changes its signature."""
    made = statements(getattr(value, "__module__", None) or "").get(getattr(value, "__qualname__", ""))
    if not isinstance(made, ast.FunctionDef | ast.ClassDef):
        return False
    decorators = {re.split(r"[.(]", ast.unparse(d))[0] for d in made.decorator_list}
    return decorators <= IGNORED and not _is_bare(made)


def _is_bare(made: ast.stmt) -> bool:
    """A function whose result has no annotation is declared with what its docstring says."""
    return isinstance(made, ast.FunctionDef) and made.returns is None


class Stub:
    """The text of one stub; ``shown`` are its public names, which may hide built-in types in annotations."""

    def __init__(self, shown: set[str]) -> None:
        self.shown = shown
        self.imports: set[str] = set()
        self.lines: list[str] = []

    def text(self) -> str:
        lines = [HEAD, *sorted(self.imports), "", *self.lines]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"

    def name(self, name: str, value: Any, package: str) -> None:
        """Declares a public name."""
        if inspect.ismodule(value):
            parent, _, last = value.__name__.rpartition(".")
            self.imports.add(f"from {parent} import {last} as {name}" if parent else f"import {last} as {name}")
        elif is_stated(value) and value.__module__ != package:
            self.imports.add(f"from {value.__module__} import {value.__qualname__} as {name}")
        elif inspect.isfunction(value):
            self.function(name, value)
        elif isinstance(value, type) and issubclass(value, Primitive):
            self.primitive(name, value)
        elif isinstance(value, type) and value.__module__ in sys.modules and value.__module__.startswith("duograph."):
            self.table_class(name, value)
        else:
            self.lines.append(f"{name}: {self.type_of(value)}")

    def function(self, name: str, function: Callable[..., Any], indent: str = "") -> None:
        """A ``def`` with the signature and the summary of a function; of a method if there is an ``indent``."""
        signature = inspect.signature(function)
        if indent:
            first, *others = signature.parameters.values()
            self_ = first.replace(name="self", annotation=first.empty)
            signature = signature.replace(parameters=[self_, *others])
        returns = self.annotation(signature.return_annotation)
        if returns in ("", "Any"):
            returns = self.returned(function.__doc__ or "")
        self.lines.append(f"{indent}def {name}({self.parameters(signature)}) -> {returns}:")
        self.body(function.__doc__, indent)

    def primitive(self, name: str, cls: type) -> None:
        """A class of primitives that a table makes: attributes for the constructor, operands for the call."""
        self.imports.add("from duograph.api.primitives.base import Primitive as _Primitive")
        self.lines.append(f"class {name}(_Primitive):")
        self.body(cls.__doc__, "")
        parameters = self.parameters(inspect.signature(cls))
        self.lines.append(f"    def __init__(self{', ' if parameters else ''}{parameters}) -> None: ...")

    def table_class(self, name: str, cls: type) -> None:
        """Another class that a table makes."""
        base = cls.__mro__[1]
        under = "object"
        if is_stated(base):
            self.imports.add(f"from {base.__module__} import {base.__qualname__} as _{base.__name__}")
            under = f"_{base.__name__}"
        self.lines.append(f"class {name}({under}):")
        self.body(cls.__doc__, "")
        parameters = self.parameters(inspect.signature(cls))
        self.lines.append(f"    def __init__(self{', ' if parameters else ''}{parameters}) -> None: ...")

    def body(self, doc: str | None, indent: str) -> None:
        summary = " ".join(inspect.cleandoc(doc or "").split("\n\n")[0].split())
        text = summary.replace("\\", "\\\\").replace('"', '\\"')
        self.lines.append(f'{indent}    """{text}"""' if text else f"{indent}    ...")

    def parameters(self, signature: inspect.Signature) -> str:
        """Parameters with annotations and with defaults where these are literals."""
        plain = []
        for p in signature.parameters.values():
            annotation = self.annotation(p.annotation) or ("Any" if p.name != "self" else "")
            default = p.default
            if default is not p.empty and not isinstance(default, bool | int | float | str | None):
                default = DOTS
            if isinstance(default, float) and not abs(default) < float("inf"):
                default = DOTS
            if default is None and annotation not in ("", "Any") and "None" not in annotation:
                annotation += " | None"
            kept = p.empty if not annotation else _Text(annotation)
            plain.append(p.replace(annotation=kept, default=default))
        shown = inspect.Signature(plain)
        return str(shown)[1:-1]

    def annotation(self, annotation: Any) -> str:
        """An annotation with names that the stub knows; ``Any`` if there are others."""
        if annotation is inspect.Parameter.empty:
            return ""
        text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
        try:
            tree = ast.parse(text.strip("'\""), mode="eval").body
        except SyntaxError:
            return "Any"
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                if node.id in TYPES:
                    node.id = f"builtins.{node.id}" if node.id in self.shown else node.id
                elif node.id in ("np", "numpy"):
                    node.id = "_np"
                elif node.id == "DType":
                    node.id = "_DType"
                elif node.id not in KNOWN:
                    return "Any"
        return ast.unparse(tree)

    def returned(self, doc: str) -> str:
        """What the section Returns of a docstring begins with."""
        found = re.search(r"Returns:\s+(\w+(?: of Tensors)?)", doc)
        kind = found[1].lower() if found else ""
        qualified = f"builtins.{kind}" if kind in self.shown else kind
        if kind in ("tensor", "a"):
            return "Tensor" if kind == "tensor" else "Any"
        if kind == "none":
            return "None"
        if kind in ("bool", "int", "float", "str"):
            return qualified
        return {"tuple of tensors": "tuple[Tensor, ...]", "list of tensors": "list[Tensor]"}.get(kind, "Any")

    def type_of(self, value: Any) -> str:
        """The type of a constant."""
        kind = type(value)
        if kind.__module__ == "builtins":
            return f"builtins.{kind.__name__}" if kind.__name__ in TYPES else "Any"
        if is_stated(kind):
            self.imports.add(f"from {kind.__module__} import {kind.__name__} as _{kind.__name__}")
            return f"_{kind.__name__}"
        return "Any"


class _Text(str):
    """An annotation that is shown as it is written."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


DOTS = type("Dots", (), {"__repr__": lambda self: "..."})()
"""A default that no literal says."""


def public_names(package: ModuleType) -> list[str]:
    """What a package shows: its ``__all__`` and the modules that it loads late, or what ``dir`` says is its own."""
    listed = getattr(package, "__all__", None)
    if listed is not None:
        lazy = vars(package).get("_names")
        return [*listed, *(lazy.modules if lazy is not None else ())]
    found = {n: getattr(package, n) for n in dir(package) if not n.startswith("_")}
    imported = {n for n, s in statements(package.__name__).items() if isinstance(s, ast.ImportFrom | ast.Import)}
    return [n for n in found if n not in imported]


def package_stub(package: ModuleType) -> str:
    """The stub of a package."""
    names = public_names(package)
    stub = Stub({*names})
    for name in dict.fromkeys(names):
        stub.name(name, getattr(package, name), package.__name__)
    for name, made in statements(package.__name__).items():  # for our own modules
        if name not in {*stub.shown, "__getattr__", "__dir__"} and not isinstance(made, ast.ImportFrom | ast.Import):
            stub.lines.append(f"{name}: Any")
    if "Tensor" in stub.shown:
        return stub.text().replace("from duograph.tensor.tensor import Tensor\n", "", 1)
    return stub.text()


def methods_stub() -> str:
    """The base class of `Tensor`: what its class statement does not say."""
    file = sys.modules[Tensor.__module__].__file__
    assert file is not None
    body = next(s for s in ast.parse(pathlib.Path(file).read_text()).body if getattr(s, "name", "") == "Tensor")
    own = {getattr(s, "name", None) for s in body.body}  # type: ignore[attr-defined]
    attached = {n: v for n, v in vars(Tensor).items() if n not in own and (callable(v) or isinstance(v, property))}
    inherited = {*vars(object)} - {f"__{n}__" for n in ("eq", "ne", "lt", "le", "gt", "ge", "hash")}
    attached = {n: v for n, v in attached.items() if n not in inherited and (n[0] != "_" or n[-1] == "_")}
    stub = Stub({*attached})
    stub.lines = ["class Methods:", '    """What is attached to `Tensor`."""', ""]
    for name, value in sorted(attached.items()):
        if isinstance(value, property):
            stub.lines.append("    @property")
            value = value.fget
        if inspect.isfunction(value):
            stub.function(name, value, "    ")
        else:
            stub.lines.append(f"    {name}: Any")
    return stub.text()


def stubs() -> Iterator[tuple[pathlib.Path, str]]:
    """Files and the texts that belong into them."""
    for name in PACKAGES:
        package = import_module(name)
        yield pathlib.Path(package.__file__ or "").with_suffix(".pyi"), package_stub(package)
    yield SOURCE.joinpath(*METHODS.split(".")).with_suffix(".pyi"), methods_stub()
    for name, home in PATHS.items():
        yield SOURCE.joinpath("duograph", f"{name}.pyi"), f"{HEAD.splitlines()[0]}\nfrom {home} import *\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file would change")
    checks = parser.parse_args().check
    changed = [(f, t) for f, t in stubs() if not f.exists() or f.read_text(encoding="utf-8") != t]
    for file, text in changed:
        print(file.relative_to(SOURCE.parent))
        if not checks:
            file.write_text(text, encoding="utf-8")
    return int(checks and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
