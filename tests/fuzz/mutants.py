"""The programs of the conformance table, with statements and expressions that nobody wrote there.

Each program of the table is a corner of the language. A mutant has a few changes: another operator or constant, a
subexpression put elsewhere, statements removed, doubled, exchanged, wrapped in a branch, a loop or a ``try``, new ones
between them, and statements of other programs (`changes`). So corners meet that no grammar would bring together. Most
mutants raise, which is the point: compiled modes must raise the same, after the same effects.

Each mode gets a module of its own, and each call is made twice. The changes of a finding are dropped one after the
other as long as it still differs.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import dataclasses
import functools
import importlib.util
import itertools
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from .changes import CHANGES, Site
from .relatives import compare

_serial = itertools.count()
_folder = tempfile.TemporaryDirectory(prefix="mutants")
# Mutants --------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Module:
    """A module of the table: its text, without the calls of the programs that are not asked for."""

    tree: ast.Module

    def functions(self) -> list[ast.FunctionDef]:
        """The programs."""
        return [n for n in self.tree.body if isinstance(n, ast.FunctionDef) and _declared(n)]

    def only(self, name: str) -> tuple[ast.Module, ast.FunctionDef]:
        """A copy in which ``name`` is the only program, and its definition."""
        tree = copy.deepcopy(self.tree)
        chosen = None
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and _declared(node):
                if node.name == name:
                    chosen = node
                else:
                    node.decorator_list = [d for d in node.decorator_list if not _is_program(d)]
        assert chosen is not None
        after = next(
            (n for n, s in enumerate(tree.body) if isinstance(s, ast.ImportFrom) and s.module == "__future__"), -1
        )
        tree.body[after + 1 : after + 1] = ast.parse("import contextlib\nimport duograph as ms\nG_ = None").body
        return tree, chosen


def _is_program(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "program"


def _declared(function: ast.FunctionDef) -> bool:
    return any(map(_is_program, function.decorator_list))


@functools.cache
def modules() -> dict[str, Module]:
    """The modules of the table by name."""
    from tests.conformance import programs

    folder = Path(programs.__path__[0])
    found = {path.stem: Module(ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(folder.glob("*.py"))}
    return {name: module for name, module in found.items() if module.functions()}


def mutant(seed: int, kept: list[bool] | None = None) -> tuple[str, str, int]:
    """The text of a mutant, the name of its program, and how many changes there are; ``kept`` says which are made."""
    choose = random.Random(seed)
    everything = modules()
    pairs = [(name, f.name) for name, module in everything.items() for f in module.functions()]
    where, name = choose.choice(pairs)
    others = [f for module, weight in ((where, 3), (choose.choice(sorted(everything)), 1)) for f in
              everything[module].functions() * weight]  # fmt: skip
    tree, function = everything[where].only(name)
    count = choose.choice((1, 1, 2, 2, 3, 4, 6))
    for n in range(count):
        change, own = choose.choice(CHANGES), random.Random(choose.random())
        if kept is None or kept[n]:
            change(Site(function, others), own)
    return ast.unparse(ast.fix_missing_locations(tree)), name, count


def load(source: str, name: str) -> Any:
    """The program of a text, in a module of its own."""
    from tests.conformance.harness import PROGRAMS

    path = Path(_folder.name) / f"mutant{os.getpid()}_{next(_serial)}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    before = len(PROGRAMS)
    try:
        spec.loader.exec_module(module)
        program = PROGRAMS[-1]
    finally:
        del PROGRAMS[before:]
    return dataclasses.replace(program, calls=[*program.calls, *program.calls])


def check(source: str, name: str, modes: list[Any]) -> str | None:
    """In what a mode differs from eager mode; None also for a text that is not a module."""
    try:
        compile(source, name, "exec")
    except (SyntaxError, ValueError):
        return None
    with contextlib.suppress(KeyError):
        return compare(lambda: load(source, name), modes)
    return None


def examine(seed: int, table: list[Any]) -> tuple[str, str | None]:
    """The name of the seed's program, and in what its mutant differs, with the text of a small one."""
    from tests.conformance.harness import MODES

    by_name = {mode.name: mode for mode in MODES}
    rotating = [mode for mode in by_name if mode not in ("jit", "native")]
    modes = [by_name["jit"], by_name[rotating[seed % len(rotating)]]]
    source, name, count = mutant(seed)
    found = check(source, name, modes)
    if found is None:
        return name, None
    kept = [True] * count
    for n in range(count):
        fewer = [*kept[:n], False, *kept[n + 1 :]]
        text, _, _ = mutant(seed, fewer)
        again = check(text, name, modes)
        if again is not None:
            kept, source, found = fewer, text, again
    small = next(
        n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and _declared(n) and n.name == name
    )
    return name, f"{found}\n{ast.unparse(small)}\n"
