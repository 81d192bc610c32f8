"""Reads the import graph of the package with `ast`, and knows the layers.

A module imports only from its own or lower layers, and names no module of a higher one in a string. What is imported
inside a function, or for type checking only, counts like everything else: a layer says what a reader must know first,
not when Python loads it. What has to know of higher layers has a place where they register themselves.
"""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = "duograph"
SOURCE = Path(__file__).resolve().parents[2] / "src" / PACKAGE

LAYERS = {
    "base": 0,
    "core": 1,
    "distributed": 2,
    "ir": 2,
    "tensor": 2,
    "ops": 3,
    "autodiff": 4,
    "rewrite": 4,
    "passes": 5,
    "lower": 6,
    "runtime": 6,
    "frontend": 7,
    "jit": 8,
    "profiling": 8,
    "api": 9,
    "common": 9,
    "context": 9,
    "log": 9,
    "nn": 10,
    "dataset": 11,
    "device": 11,
    "experimental": 11,
    "mint": 12,
    "numpy": 12,
    "scipy": 12,
    "train": 13,
    "compat": 14,
    "debug": 14,
    "demo": 14,
    "__main__": 14,
    "": 14,
}
"""Top-level part of the package -> layer. The package itself, "", knows where every public name lives."""

SUBPACKAGES = {
    "runtime": {
        "machine": 0, "python": 0, "pool": 1, "kernels": 2, "guards": 2, "launch": 3, "programs": 4, "calls": 5,
    },
    "frontend": {
        "rules": 0, "source": 1, "bytecode": 2, "split": 3, "guards": 3, "load": 3, "values": 4, "programs": 5,
        "control": 6, "session": 7, "verbs": 8, "assembly": 8, "ast": 9, "capture": 10,
    },
}  # fmt: skip
"""Part with layers of its own -> folder or file in it -> layer there."""

_ENGINE = "the native engine is loaded with the first op that needs it"
INDENTED = {
    "": (3, "public names are loaded when they are asked for, the debugger, and what writes failures down"),
    "__main__": (7, "each command loads what it runs"),
    "api": (
        7,
        f"{_ENGINE}; rare families of operators, and all public names, when they are asked for",
    ),
    "base": (2, "diagnostics know their renderer, which prints them; most programs need none"),
    "compat": (2, "commands load the compiler"),
    "context": (2, _ENGINE),
    "device": (1, _ENGINE),
    "distributed": (2, "MPI is loaded by who communicates with other processes"),
    "frontend": (3, _ENGINE),
    "jit": (12, _ENGINE + ", and the page"),
    "lower": (5, "rules are loaded when the first is looked for; neighbours: loop IR and printer, groups and merging"),
    "nn": (1, "the compiler is loaded when a step is compiled"),
    "ops": (2, "windows are loaded when a picture is taken apart"),
    "tensor": (2, "a sequence of tensors becomes a tensor: neighbours"),
}
"""Part of the package -> how many modules of the package its functions import, and why not its files. What is imported
in a function is found late, and read by nobody who looks at the top of the file. The numbers go down only."""

TOP = 14
SIBLINGS = frozenset({"distributed", "ir", "tensor"})
"""Parts of one layer that do not import each other."""


@dataclass(frozen=True)
class Import:
    """One import statement's target.

    Attributes:
        importer: dotted name of the module it stands in.
        target: dotted name of the module it names (the module, not the things in it).
        line: where.
        when: "load" when the module is loaded, "call" inside a function, "typing" under TYPE_CHECKING.
    """

    importer: str
    target: str
    line: int
    when: str


@cache
def parsed(text: str) -> ast.Module:
    """The tree of a module, made once for all tests: nobody may change it. The collector need not look at it again."""
    tree = ast.parse(text)
    gc.freeze()
    return tree


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """What `ast.walk` gives of a module that is `parsed`."""
    return tuple(ast.walk(tree))


def module_name(path: Path, root: Path) -> str:
    """The dotted name of a file of the package that lies at `root`."""
    parts = [root.name, *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules(root: Path = SOURCE) -> dict[str, Path]:
    """All modules of the package, by dotted name."""
    return {module_name(path, root): path for path in sorted(root.rglob("*.py"))}


def part(module: str) -> str:
    """The top-level part of the package a module belongs to: `duograph.ops.unary` -> `ops`; "" for the package."""
    return (module.split(".") + [""])[1]


def layer(module: str) -> int:
    """The layer of a module; a part that has none counts as the top, and `unassigned` names it."""
    return LAYERS.get(part(module), TOP)


def subpackage(module: str) -> str:
    """The folder of a part that a module lies in: `duograph.runtime.pool.text` -> `pool`; "" for the part itself."""
    return (module.split(".") + ["", ""])[2]


def subpackage_layer(module: str) -> int:
    """The layer of a module among the subpackages of its part; what lies in none of them is below all."""
    return SUBPACKAGES[part(module)].get(subpackage(module), -1)


def unassigned(root: Path = SOURCE) -> list[str]:
    """Parts of the package that have no layer."""
    return sorted({part(module) for module in modules(root)} - LAYERS.keys())


def links(root: Path = SOURCE) -> list[str]:
    """Symbolic links in the package: a file lies in one place."""
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_symlink())


def names_of_higher_layers(root: Path = SOURCE) -> list[str]:
    """Strings that name a module of a higher layer than their own: an import that the import graph does not show."""
    wrong = []
    for name, path in modules(root).items():
        tree = parsed(path.read_text(encoding="utf-8"))
        prose = {id(node.value) for node in nodes(tree) if isinstance(node, ast.Expr)}
        for node in nodes(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in prose:
                continue
            for other in re.findall(rf"\b{root.name}\.\w+", node.value):
                if part(other) in LAYERS and layer(other) > layer(name):
                    wrong.append(f"{name}:{node.lineno} names {other}, of layer {layer(other)}, in a string")
    return wrong


def imports_of(name: str, path: Path, known: frozenset[str]) -> Iterator[Import]:
    """All imports of the package's own modules in one file."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    root = name.split(".")[0]
    for node, when in _imports_in(path.read_text(encoding="utf-8")):
        for target in _targets(node, package, known):
            if target.split(".")[0] == root:
                yield Import(name, target, node.lineno, when)


@cache
def _imports_in(text: str) -> list[tuple[ast.Import | ast.ImportFrom, str]]:
    return list(_statements(parsed(text), "load"))


def _statements(node: ast.AST, when: str) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    for child in ast.iter_child_nodes(node):
        inner = when
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, when
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inner = "call" if when == "load" else when
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            inner = "typing"
        yield from _statements(child, inner)


def _targets(node: ast.stmt, package: str, known: frozenset[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            above = package.split(".")[: len(package.split(".")) - (node.level - 1)]
            base = ".".join([*above, base] if base else above)
        for alias in node.names:
            full = f"{base}.{alias.name}"
            yield full if full in known else base


def import_graph(root: Path = SOURCE) -> list[Import]:
    """All imports inside the package."""
    found = modules(root)
    known = frozenset(found)
    return [item for name, path in found.items() for item in imports_of(name, path, known)]


def violations(root: Path = SOURCE) -> list[str]:
    """Imports that go up, or across between siblings: one line of text each."""
    wrong = []
    for item in import_graph(root):
        here, there = part(item.importer), part(item.target)
        if here == there and here in SUBPACKAGES and subpackage_layer(item.target) > subpackage_layer(item.importer):
            why = f"inside {here}, {subpackage(item.importer)} lies below {subpackage(item.target)}"
            wrong.append(f"{item.importer}:{item.line} imports {item.target}: {why}")
            continue
        if layer(item.target) > layer(item.importer):
            why = f"layer {layer(item.importer)} imports from layer {layer(item.target)}"
        elif here != there and {here, there} <= SIBLINGS:
            why = f"the siblings {here} and {there} do not know each other"
        else:
            continue
        wrong.append(f"{item.importer}:{item.line} imports {item.target}: {why}")
    return wrong


def cycles(root: Path = SOURCE) -> list[list[str]]:
    """Groups of modules of one layer that import each other while they are loaded.

    A package's `__init__` that re-exports from its own modules makes no cycle with them by itself: what counts is
    an import that names the module it needs.
    """
    edges: dict[str, list[str]] = {name: [] for name in modules(root)}
    for item in import_graph(root):
        if item.when == "load" and layer(item.target) == layer(item.importer) and item.target in edges:
            edges[item.importer].append(item.target)
    return [sorted(group) for group in _components(edges) if len(group) > 1]


def circles(root: Path = SOURCE) -> list[list[str]]:
    """Groups of more than two modules that import each other, whether at load, in functions or for types only.

    A file and its neighbour may know each other; who wants to understand one of a larger group must read all.
    """
    edges: dict[str, list[str]] = {name: [] for name in modules(root)}
    for item in import_graph(root):
        if item.target in edges:
            edges[item.importer].append(item.target)
    return [sorted(group) for group in _components(edges) if len(group) > 2]


def indented(root: Path = SOURCE) -> dict[str, int]:
    """How many modules of the package are imported inside of functions, by part."""
    found: dict[str, int] = {}
    for item in import_graph(root):
        if item.when == "call":
            found[part(item.importer)] = found.get(part(item.importer), 0) + 1
    return found


def _components(edges: dict[str, list[str]]) -> list[set[str]]:
    reach: dict[str, set[str]] = {}
    for start in edges:
        seen: set[str] = set()
        stack = [start]
        while stack:
            for target in edges[stack.pop()]:
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
        reach[start] = seen
    groups: list[set[str]] = []
    placed: set[str] = set()
    for name in edges:
        if name not in placed:
            group = {name} | {other for other in reach[name] if name in reach[other]}
            placed |= group
            groups.append(group)
    return groups
