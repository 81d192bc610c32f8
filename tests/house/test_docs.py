"""Docstrings of what users call: all have MindSpore's headings, and their examples run."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph import nn, ops
from tests.house.imports import SOURCE, nodes, parsed

TABLES = ("functions", "methods", "mint", "mint.nn.functional", "numpy")
WHOLE = dict.fromkeys((*TABLES, "scipy.linalg"), ("Returns:", "Examples:"))
HEADINGS = {"cells": ("Examples:",), "primitives": ("Examples:",), **WHOLE}
KNOWN = {"ms": ms, "mint": ms.mint, "mnp": ms.numpy, "nn": nn, "ops": ops, "np": np, "Tensor": ms.Tensor}
"""What examples find without importing it."""
OF_RANKS = ("NeighborExchange", "Receive", "Send")
"""Primitives that one process cannot call; `tests/unit/distributed` calls them."""
WITH_EXAMPLES = [p for p in sorted(SOURCE.rglob("*.py")) if ">>>" in p.read_text(encoding="utf-8")]


def _module(path: Path) -> str:
    return ".".join(["duograph", *path.relative_to(SOURCE).with_suffix("").parts]).removesuffix(".__init__")


def _docstrings(path: Path) -> Iterator[tuple[str, str, int]]:
    """Name, docstring and line of everything in a file that has one."""
    for node in nodes(parsed(path.read_text(encoding="utf-8"))):
        if _has_body(node):
            text = ast.get_docstring(node)
            if text and ">>>" in text:
                yield getattr(node, "name", path.stem), text, node.body[0].lineno


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=_module)
def test_examples(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(_module(path))
    told: list[str] = []
    for name, text, line in _docstrings(path):
        known: dict[str, Any] = {**KNOWN, **vars(module)}
        test = doctest.DocTestParser().get_doctest(text, known, f"{_module(path)}.{name}", str(path), line)
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test, out=told.append)
    assert not told, "".join(told)


def _run(named: dict[str, Any]) -> str:
    told: list[str] = []
    for name, value in named.items():
        test = doctest.DocTestParser().get_doctest(value.__doc__, dict(KNOWN), name, None, None)
        doctest.DocTestRunner().run(test, out=told.append)
    return "".join(told)


@pytest.mark.parametrize("kind", [*TABLES, "primitives"])
def test_examples_of_functions_from_tables(kind):
    """Functions with docstrings that stand in no file; those that do have their examples run file by file."""
    texts = [
        ast.get_docstring(n)
        for p in WITH_EXAMPLES
        for n in nodes(parsed(p.read_text(encoding="utf-8")))
        if _has_body(n)
    ]
    stated = set(texts)
    made = {n: f for n, f in _public()[kind].items() if inspect.cleandoc(f.__doc__) not in stated}
    assert len(made) > 20
    assert not _run(made)


def _has_body(node: ast.AST) -> bool:
    return isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)


def test_examples_of_cells_from_tables():
    """Classes that no class statement makes; those have their examples run file by file."""
    stated = {
        n.name
        for p in SOURCE.rglob("*.py")
        for n in nodes(parsed(p.read_text(encoding="utf-8")))
        if isinstance(n, ast.ClassDef)
    }
    made = {name: cell for name, cell in _public()["cells"].items() if name not in stated}
    assert len(made) > 10
    assert not _run(made)


def _functions(module: Any) -> dict[str, Any]:
    return {n: f for n in module.__all__ if inspect.isfunction(f := getattr(module, n))}


def _public() -> dict[str, dict[str, Any]]:
    """What users call, by kind."""
    cells = {n: getattr(nn, n) for n in nn.__all__}
    methods = {n: m for n, m in vars(ms.Tensor).items() if n[0] != "_" and inspect.isfunction(m)}
    return {
        "cells": {n: c for n, c in cells.items() if isinstance(c, type) and issubclass(c, nn.Cell)},
        "functions": _functions(ops),
        "methods": methods,
        "primitives": {
            n: c
            for n in ops.__all__
            if isinstance(c := getattr(ops, n), type) and c.__module__.startswith("duograph") and n not in OF_RANKS
        },
        "mint": _functions(ms.mint),
        "mint.nn.functional": _functions(ms.mint.nn.functional),
        "numpy": _functions(ms.numpy),
        "scipy.linalg": _functions(ms.scipy.linalg),
    }


@pytest.mark.parametrize("kind", HEADINGS)
def test_documented(kind):
    lacking = [name for name, value in _public()[kind].items() if any(h not in value.__doc__ for h in HEADINGS[kind])]
    assert not lacking, f"have no {' and '.join(HEADINGS[kind])} section"


@pytest.mark.parametrize("kind", TABLES)
def test_every_parameter_is_described(kind):
    lacking = []
    for name, value in _public()[kind].items():
        parameters = [p for p in inspect.signature(value).parameters if p != "self"]
        section = (inspect.getdoc(value) or "").partition("Args:\n")[2]
        lacking += [f"{name}.{p}" for p in parameters if not re.search(rf"(?m)^ +[^(:]*\b{p}\b.*:", section)]
    assert not lacking


class Odd:
    """Nothing that a tensor can be made of."""


MATRIX = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
OTHERS: dict[str, tuple[Any, ...]] = {
    "addmv": (MATRIX, MATRIX[0]), "addr": (MATRIX[0], MATRIX[0]), "matrix_band_part": (1, 1), "matrix_power": (2,),
    "inplace_add": (MATRIX, 0), "inplace_sub": (MATRIX, 0), "inplace_update": (MATRIX, 0), "renorm": (2, 0, 1.0),
    "reverse_sequence": (ms.Tensor([1, 2]), 1), "rot90": (1, [0, 1]), "select_scatter": (MATRIX[0], 0, 0),
    "randint_like": (3, 5),
}  # fmt: skip
"""Further operands where a matrix for each is refused before the first is looked at."""


@pytest.mark.parametrize("kind", [kind for kind in TABLES if kind != "methods"])
def test_what_is_no_tensor_is_refused_as_the_docstrings_say(kind):
    count = 0
    for name, function in _public()[kind].items():
        parameters = [p for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        first = parameters[0].name if parameters else ""
        refusal = rf"TypeError: ``{first}`` (is not a Tensor|cannot be converted to a tensor)\."
        if not re.search(refusal, function.__doc__):
            continue
        others = OTHERS.get(name) or [MATRIX for p in parameters[1:] if p.default is p.empty]
        count += 1
        with pytest.raises(TypeError) as caught:
            print(name, function(Odd(), *others))
        assert "argument" not in str(caught.value) or "positional" not in str(caught.value), name
    assert count > 40


HOPS = re.findall(r"`([\w/]+\.py): (\w+(?:\.\w+)*)`", (SOURCE.parents[1] / "docs" / "architecture.md").read_text())


@pytest.mark.parametrize(("path", "name"), HOPS, ids=[f"{path}:{name}" for path, name in HOPS])
def test_hops_of_the_architecture_are_there(path, name):
    body = parsed((SOURCE / path).read_text(encoding="utf-8")).body
    for part in name.split("."):
        found = [x for x in body if _defined(x) == part]
        assert found, f"docs/architecture.md names {name} of {path}"
        body = getattr(found[0], "body", [])


def _defined(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.AnnAssign | ast.Assign):
        target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
        return getattr(target, "id", None)
    return getattr(statement, "name", None)


def test_the_lives_are_drawn():
    assert len(HOPS) >= 30
