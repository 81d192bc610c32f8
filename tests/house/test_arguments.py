"""No argument without effect: what a public function takes is read by its code, or is in a list here with the reason.

Read means: the name is loaded somewhere in the body. A constructor that only stores an argument does not read it,
unless some code of the package loads that attribute. Rows of the tables of Primitives and of ``mint.nn`` are read
through the function of the row, with the functions that it calls in its own module; rows of settings as what a
constructor stores.

Left out: a parameter named ``_``, private functions, the protocols of Python (``__exit__`` ...), methods whose whole
body raises or is empty (a base's hooks), and methods that override such a hook and take what it takes.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import pytest

from duograph import nn
from duograph.experimental import optim
from tests.house.accepted_arguments import ACCEPTED, KEPT
from tests.house.imports import SOURCE, nodes, parsed

INTERNAL = (
    "autodiff", "base", "compat", "core", "debug", "distributed", "frontend", "ir", "lower", "ops", "passes", "rewrite",
    "runtime",
)  # fmt: skip
"""Packages that users do not call."""

CALLED_BY_USERS = ("__init__", "__call__", "__new__")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Found:
    """One function with the parameters that its code does not read."""

    name: str
    parameters: list[str]
    hook: bool


def parameters_of(node: Function) -> list[str]:
    args = node.args
    groups = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return [a.arg for a in groups if a is not None]


def is_hook(node: Function) -> bool:
    """Whether the body is empty, only raises or gives ``None``."""
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return all(isinstance(s, ast.Pass | ast.Raise) or _gives_nothing(s) for s in body)


def _gives_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return) and (node.value is None or _is_none(node.value))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def is_decorated(node: Function, *names: str) -> bool:
    return any(isinstance(n, ast.Name | ast.Attribute) and _last(n) in names for n in node.decorator_list)


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def loads(node: ast.AST) -> set[str]:
    """Names that are loaded in ``node``; what only goes into an attribute of its own name is not counted."""
    found: set[str] = set()
    stack = [node]
    while stack:
        now = stack.pop()
        if isinstance(now, ast.Assign):
            stack += _not_merely_stored(now)
            continue
        if isinstance(now, ast.Name) and isinstance(now.ctx, ast.Load):
            found.add(now.id)
        stack += ast.iter_child_nodes(now)
    return found


def _not_merely_stored(assign: ast.Assign) -> list[ast.AST]:
    """The parts of an assignment that read: all but ``self.x = x`` where no code loads ``.x``."""
    target, value = assign.targets[0], assign.value
    if not isinstance(target, ast.Tuple):
        pairs = [(target, value)]
    elif isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
    else:
        return [*assign.targets, value]
    kept = [
        v for t, v in pairs
        if not (isinstance(t, ast.Attribute) and isinstance(v, ast.Name) and t.attr not in attributes_loaded())
    ]  # fmt: skip
    return [*assign.targets, *kept]


@functools.cache
def trees() -> dict[str, ast.Module]:
    return {p.relative_to(SOURCE).as_posix(): parsed(p.read_text(encoding="utf-8")) for p in SOURCE.rglob("*.py")}


@functools.cache
def attributes_loaded() -> frozenset[str]:
    """Every ``.name`` that some code of the package loads, and every text that could be one (``getattr``)."""
    found: set[str] = set()
    for tree in trees().values():
        for node in nodes(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                found.add(node.attr)
            elif isinstance(node, ast.Call) and _last(node.func) in ("getattr", "get"):
                found |= {a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return frozenset(found)


def functions(node: ast.AST, prefix: str, in_class: bool) -> Iterator[Found]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from functions(child, f"{prefix}{child.name}.", True)
        elif isinstance(child, Function):
            yield from _one(child, prefix, in_class)
            if not child.name.startswith("__"):
                yield from functions(child, f"{prefix}{child.name}.", False)
        elif isinstance(child, ast.If | ast.Try | ast.With | ast.For):
            yield from functions(child, prefix, in_class)


def _one(node: Function, prefix: str, in_class: bool) -> Iterator[Found]:
    if is_decorated(node, "overload") or (node.name.startswith("_") and node.name not in CALLED_BY_USERS):
        return
    read = set().union(*(loads(s) for s in node.body))
    if "locals" in read:
        return
    parameters = [p for p in parameters_of(node) if p != "self"]
    if in_class and "self" not in parameters_of(node) and not is_decorated(node, "staticmethod"):
        parameters = parameters[1:]
    unread = [p for p in parameters if p not in read and (p != "_" or p in _collecting(node))]
    if unread:
        yield Found(prefix + node.name, unread, is_hook(node))


def _collecting(node: Function) -> list[str]:
    """The names of ``*args`` and ``**kwargs``."""
    return [a.arg for a in (node.args.vararg, node.args.kwarg) if a is not None]


@functools.cache
def classes() -> dict[str, list[ast.ClassDef]]:
    """Every class of the package by its name (several may share one)."""
    found: dict[str, list[ast.ClassDef]] = {}
    for tree in trees().values():
        for node in nodes(tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
    return found


def hook_parameters(owner: ast.ClassDef, method: str) -> set[str]:
    """The parameters of ``method`` in this class, if it is a hook there."""
    found = [f for f in owner.body if isinstance(f, Function) and f.name == method and is_hook(f)]
    return {p for f in found for p in parameters_of(f)}


def given_by_hook(name: str) -> set[str]:
    """The parameters that a base's hook of the same name has."""
    owner, _, method = name.rpartition(".")
    found: set[str] = set()
    seen: set[str] = set()
    todo = [owner.rpartition(".")[2]]
    while todo:
        for cls in classes().get(todo.pop(), ()):
            found |= hook_parameters(cls, method)
            new = {_last(b) for b in cls.bases} - seen
            seen |= new
            todo += new
    return found


@functools.cache
def unread() -> set[str]:
    """``module:function(parameter)`` of the whole public part."""
    found = set()
    for path, tree in trees().items():
        if path.split("/")[0] in INTERNAL:
            continue
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for one in functions(tree, "", False):
            if not one.hook:
                excused = given_by_hook(one.name)
                found |= {f"{module}:{one.name}({p})" for p in one.parameters if p not in excused}
    return found


def listed(table: dict[str, str]) -> list[str]:
    return [f"{name}({p}" for entry in table.values() for line in entry.split() for name, p in _rows(line)]


def _rows(line: str) -> Iterator[tuple[str, str]]:
    name, _, inner = line.removesuffix(")").partition("(")
    yield from ((name, f"{p})") for p in inner.split(","))


def test_every_argument_is_read_or_listed():
    assert not sorted(unread() - set(listed(ACCEPTED)))


def test_what_is_listed_is_still_not_read():
    assert not sorted(set(listed(ACCEPTED)) - unread())


def test_nothing_is_listed_twice():
    names = listed(ACCEPTED)
    assert len(names) == len(set(names))


# ---- tables ---------------------------------------------------------------------------------------------------------


def names_in(function: Any) -> set[str]:
    """Names and texts in the code of a function, of its inner functions and of those it calls in its module."""
    found: set[str] = set()
    seen: set[int] = set()
    todo: list[Any] = [function]
    while todo:
        now = todo.pop()
        if id(now) in seen:
            continue
        seen.add(id(now))
        if isinstance(now, CodeType):
            found |= {*now.co_names, *(c for c in now.co_consts if isinstance(c, str))}
            found |= {t for c in now.co_consts if isinstance(c, tuple) for t in c if isinstance(t, str)}
            todo += [c for c in now.co_consts if isinstance(c, CodeType)]
        elif isinstance(now, FunctionType):
            todo.append(now.__code__)
            todo += [c.cell_contents for c in now.__closure__ or ()]
            inside = {*now.__code__.co_names}
            todo += [v for n in inside if (v := now.__globals__.get(n)) is not None and _is_here(v, now)]
        elif isinstance(now, dict):
            found |= {k for k in now if isinstance(k, str)}
    return found


def _is_here(value: Any, function: FunctionType) -> bool:
    same = isinstance(value, FunctionType) and value.__module__ == function.__module__
    return same or (isinstance(value, dict) and len(value) < 12)


def unread_in_tables() -> set[str]:
    """``Class(parameter)`` of the Primitives and layers that tables make."""
    from duograph.api.primitives import primitive_classes
    from duograph.mint.nn.layers import LAYERS

    found = set()
    for name, cls in primitive_classes().items():
        table = getattr(cls, "parameters", None)
        if isinstance(table, dict):
            seen = names_in(cls.forward) | names_in(cls.check)
            found |= {f"ops.{name}({p})" for p in table if p not in seen}
    for name, (compute, table) in LAYERS.items():
        found |= {f"mint.nn.{name}({p})" for p in table or () if p not in names_in(compute)}
    return found


@functools.cache
def keys_loaded() -> frozenset[str]:
    """Every text in brackets: ``given["accum"]``, ``group["eps"]``."""
    return frozenset(
        node.slice.value
        for tree in trees().values()
        for node in nodes(tree)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.ctx, ast.Load)
    )


def unread_settings() -> set[str]:
    """``Class(setting)`` of the rows of layers, losses, optimizers and schedules that no code loads."""
    found = set()
    for place, owner in (("nn", nn), ("optim", optim), ("lr_scheduler", optim.lr_scheduler)):
        for name in owner.__all__:
            for setting in getattr(getattr(owner, name), "_settings", ()):
                if setting not in attributes_loaded() | keys_loaded():
                    found.add(f"{place}.{name}({setting})")
    return found


def test_every_parameter_of_a_table_is_read_or_listed():
    assert not sorted((unread_in_tables() | unread_settings()) - set(listed(KEPT)))


def test_what_is_listed_of_tables_is_still_not_read():
    assert not sorted(set(listed(KEPT)) - unread_in_tables() - unread_settings())


# ---- the finder finds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x, y): return x", ["y"]),
        ("def f(x, *rest, **named): return x", ["rest", "named"]),
        ("def f(x):\n x = 1\n return 2", ["x"]),
        ("def f(x):\n def g(): return x\n return g", []),
        ("def _f(x): return 1", []),
        ("class A:\n def __init__(self, no_code_loads_this): self.no_code_loads_this = no_code_loads_this",
         ["no_code_loads_this"]),
        ("class A:\n def __exit__(self, *_): return 1", []),
        ("def f(x, _): return x", []),
        ("def f(x, **_): return x", ["_"]),
        ("class A:\n @staticmethod\n def f(x): return 1", ["x"]),
    ],
)  # fmt: skip
def test_planted(text, expected):
    found = [p for one in functions(ast.parse(text), "", False) for p in one.parameters]
    assert found == expected


def test_planted_row():
    def read(p: Any) -> Any:
        return p.alpha

    assert {"alpha", "beta", "gamma"} & names_in(lambda p, x: (read(p), p.beta)) == {"alpha", "beta"}
