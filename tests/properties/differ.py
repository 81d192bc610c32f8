"""Runs the source of a program in several modes and says where they differ; makes failing programs small.

A program (see `programs`) is a module with a function ``f``. Each mode imports its own copy of the module, calls ``f``
with three sets of arguments (the second of the same shapes as the first, the third of others), and notes everything
that can be observed: results and their identity, exceptions, arguments and globals afterwards, printed text, the state
of the random generator, and gradients if the program has them.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import itertools
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import duograph as ms
from duograph.nn.graph_mode import compiled_cell
from tests.conformance.harness import EAGER, MODES, Mode, describe

MODES_BY_NAME = {mode.name: mode for mode in [EAGER, *MODES]}
WATCHED = ("COUNT", "LOG", "TABLE", "W", "BOX")
_serial = itertools.count()
_folder = tempfile.TemporaryDirectory(prefix="programs")


def load(source: str) -> Any:
    """The source as a fresh module, from a file, so that functions have sources."""
    path = Path(_folder.name) / f"program{next(_serial)}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def arguments(seed: int, call: int) -> tuple[Any, ...]:
    """The arguments of one call."""
    rng = np.random.default_rng([seed, call])
    n = 3 if call < 2 else 4
    changes = seed % 2 and call

    def vector(*shape: int) -> Any:
        return ms.Tensor(rng.normal(size=shape).astype(np.float32).round(3))

    i = ms.Tensor(rng.integers(0, 5, n))
    k, flag = (2, False) if changes else (int(seed % 3) + 1, True)
    return vector(n), vector(2, n), i, k, flag, [vector(n), vector(n)], {"a": vector(n), "b": vector(n)}


def identities(*roots: Any) -> list[tuple[str, str]]:
    """Which tensors and containers below ``roots`` are the same objects, as pairs of paths."""
    first: dict[int, str] = {}
    keep, pairs = [], []

    def visit(value: Any, path: str) -> None:
        if not isinstance(value, ms.Tensor | list | dict | tuple):
            return
        keep.append(value)
        if id(value) in first and not isinstance(value, tuple):
            pairs.append((first[id(value)], path))
            return
        first[id(value)] = path
        items = (
            value.items() if isinstance(value, dict) else enumerate(value) if not isinstance(value, ms.Tensor) else ()
        )
        for key, item in items:
            visit(item, f"{path}.{key}")

    for n, root in enumerate(roots):
        visit(root, str(n))
    return pairs


def observe(source: str, seed: int, mode: Mode, calls: int = 3) -> tuple[dict[str, Any], list[str]]:
    """Everything that a run of the program shows, and the reasons for which it fell back to Python."""
    module = load(source)
    ms.set_seed(3)
    ms.set_context(mode=ms.GRAPH_MODE if mode.graph_mode else ms.PYNATIVE_MODE)
    printed = io.StringIO()
    seen: dict[str, Any] = {}
    explained = []
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
            warnings.simplefilter("ignore")
            fn = mode.transform(module.f)
            explained.append(fn)
            for call in range(calls):
                args = arguments(seed, call)
                result = attempt(lambda *a: _held(fn, a, seen, call), args)
                seen[f"result {call}"] = result
                seen[f"arguments {call}"] = describe(args)
                seen[f"globals {call}"] = _globals(module)
                seen[f"random {call}"] = describe(ms.get_rng_state())
            if hasattr(module, "gradient"):
                _gradients(module, mode, fn, seed, seen, explained)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
        sys.modules.pop(module.__name__)
    seen["printed"] = printed.getvalue()
    fallbacks = []
    for one in explained:
        explain = compiled_cell(one).explain if mode.graph_mode else getattr(one, "explain", None)
        if explain is not None:
            fallbacks += [str(reason.reason) for reason in explain().fallbacks]
    return seen, fallbacks


def attempt(fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The description of the result, or of the exception."""
    try:
        return describe(fn(*args))
    except Exception as error:  # noqa: BLE001 - whatever a program raises is part of what it shows
        return ("raised", type(error).__name__, str(error))


def _held(fn: Any, args: tuple[Any, ...], seen: dict[str, Any], call: int) -> Any:
    result = fn(*args)
    seen[f"identities {call}"] = identities(args, result)
    return result


def _globals(module: Any) -> Any:
    layer = module.LAYER
    held = [(name, describe(vars(module)[name])) for name in WATCHED]
    return [*held, describe(layer.weight), describe(layer.steps), describe(layer.last)]


def _gradients(module: Any, mode: Mode, fn: Any, seed: int, seen: dict[str, Any], explained: list[Any]) -> None:
    """Gradients: of the compiled function, and compiled themselves; first and second order."""
    for call in range(2):
        args = arguments(seed, call)
        inner, module.f = module.f, fn
        seen[f"gradient around {call}"] = attempt(module.gradient, args)
        seen[f"second around {call}"] = attempt(module.second, args)
        module.f = inner
    for name in ("gradient", "second"):
        compiled = mode.transform(getattr(module, name))
        explained.append(compiled)
        for call in range(2):
            seen[f"{name} inside {call}"] = attempt(compiled, arguments(seed, call))


def difference(source: str, seed: int, modes: tuple[str, ...] = ("jit", "graph")) -> tuple[str, Any, Any, list[str]]:
    """The first part in which a mode differs from eager ("" if none), both values, and the fallbacks of the first mode.

    Exceptions inside the machinery itself count as differences too.
    """
    expected, _ = observe(source, seed, EAGER)
    fallbacks: list[str] = []
    for name in modes:
        actual, reasons = observe(source, seed, MODES_BY_NAME[name])
        fallbacks = fallbacks or reasons
        for part in expected | actual:
            same = actual.get(part) == expected.get(part)
            if part.startswith("identities"):  # which of several objects it is, tensors may decide: then it is a copy
                same = set(actual.get(part, ())) <= set(expected.get(part, ()))
            if not same:
                return f"{name}: {part}", expected.get(part), actual.get(part), fallbacks
    return "", None, None, fallbacks


# Shrinking ------------------------------------------------------------------------------------------------------------


def shrink(source: str, fails: Callable[[str], bool], limit: int = 400) -> str:
    """A smaller source that still fails: statements deleted, blocks replaced by their bodies, expressions by parts."""
    best = source
    again = True
    while again and limit > 0:
        again = False
        for candidate in candidates(best):
            limit -= 1
            if limit <= 0:
                break
            if fails(candidate):
                best, again = candidate, True
                break
    return best


def candidates(source: str) -> Iterator[str]:
    """Sources with one thing less in the function ``f``, the big cuts first."""
    tree = ast.parse(source)
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "f")
    head = source.split("\n\ndef f(")[0]
    tail = source[source.index("\n\ndef gradient(") :] if "\n\ndef gradient(" in source else "\n"
    edits = sorted(_edits(function), key=lambda edit: -edit[0])
    for _, do, undo in edits:
        do()
        try:
            text = ast.unparse(function)
        finally:
            undo()
        made = f"{head}\n\n{text}\n{tail}"
        if len(made) < len(source) or text.count("\n") < ast.unparse(function).count("\n"):
            try:
                compile(made, "candidate", "exec")
            except SyntaxError:
                continue
            yield made


def _edits(function: ast.FunctionDef) -> list[tuple[int, Callable[[], None], Callable[[], None]]]:
    """(size, do, undo) of every cut."""
    edits: list[tuple[int, Callable[[], None], Callable[[], None]]] = []

    def replace(owner: Any, field: str, new: Any, size: int) -> None:
        old = getattr(owner, field)
        edits.append((size, lambda: setattr(owner, field, new), lambda: setattr(owner, field, old)))

    for node in ast.walk(function):
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                for at, statement in enumerate(value):
                    size = len(ast.unparse(statement))
                    rest = [*value[:at], *value[at + 1 :]]
                    if rest or field == "orelse":
                        replace(node, field, rest, size)
                    elif not isinstance(statement, ast.Pass):
                        replace(node, field, [ast.Pass()], size)
                    for inner in ("body", "orelse", "finalbody"):
                        body = getattr(statement, inner, None)
                        if body and not isinstance(statement, ast.FunctionDef):
                            replace(node, field, [*value[:at], *body, *value[at + 1 :]], size // 2)
            elif isinstance(value, ast.expr) and not isinstance(node, ast.Starred):
                _expression_edits(value, lambda new, size, n=node, f=field: replace(n, f, new, size))
            elif isinstance(value, list) and value and isinstance(value[0], ast.expr):
                for at, item in enumerate(value):
                    if len(value) > 1 and isinstance(node, ast.Tuple | ast.List | ast.BoolOp | ast.Call):
                        replace(node, field, [*value[:at], *value[at + 1 :]], 3)
                    _expression_edits(
                        item,
                        lambda new, size, v=value, a=at, n=node, f=field: replace(
                            n, f, [*v[:a], new, *v[a + 1 :]], size
                        ),
                    )
    return edits


def _expression_edits(value: ast.expr, put: Callable[[ast.expr, int], None]) -> None:
    """Replaces an expression by one of its parts, or by an argument of the program."""
    if isinstance(value, ast.Name | ast.Constant) or isinstance(getattr(value, "ctx", None), ast.Store):
        return
    size = len(ast.unparse(value))
    for part in ast.iter_child_nodes(value):
        if isinstance(part, ast.expr) and not isinstance(part, ast.Starred):
            put(part, max(1, size - len(ast.unparse(part))))
    for name in ("x", "k", "True"):
        put(ast.parse(name, mode="eval").body, max(1, size - 2))
