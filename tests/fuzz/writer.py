"""Writes one random program, statement by statement, and runs it in eager mode while it grows.

The writer knows what every variable is in the calls it has tried, so expressions mostly fit; a statement that makes
every call fail is taken back. What is written depends on the seed and on what eager mode answers, on nothing else.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import random
import types
import warnings
from typing import Any

import numpy as np

import duograph as ms
from duograph.base.config import configure

from .clock import TooSlow, limited
from .grammar import WORLD
from .statements import Statements

GLOBALS = ("COUNT", "SCALE", "NAME", "STATE")
SECONDS = 2.0
"""Processor time that eager mode may take for all calls of a program."""


@functools.cache
def _world() -> types.CodeType:
    return compile(WORLD, "world", "exec")


def needed(source: str) -> str:
    """The source without top-level definitions that nothing reachable from the function mentions."""
    tree = ast.parse(source)
    lines = source.split("\n")
    defined: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            defined[node.targets[0].id] = node
    wanted, todo = set(), ["inputs", "between", "f"]
    while todo:
        name = todo.pop()
        if name in wanted or name not in defined:
            continue
        wanted.add(name)
        for node in ast.walk(defined[name]):
            if isinstance(node, ast.Name):
                todo.append(node.id)
            elif isinstance(node, ast.Global):
                todo += node.names
    text = {a.id for n in wanted for a in ast.walk(defined[n]) if isinstance(a, ast.Name)}
    kept = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            if isinstance(node, ast.ImportFrom):
                node.names = [a for a in node.names if (a.asname or a.name) in text]
            if node.names and any((a.asname or a.name) in {*text, "ms"} for a in node.names):
                kept.append(ast.unparse(node))
            continue
        name = next((n for n, d in defined.items() if d is node), None)
        if name is None or name in wanted:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            kept.append("\n".join(lines[first - 1 : node.end_lineno]))
    return "\n".join(kept) + "\n"


def kind_of(value: Any) -> str:
    """The kind of a value as the grammar knows it."""
    if isinstance(value, ms.Tensor):
        name = str(value.dtype)
        if value.ndim == 0:
            return "s"
        return "f" if "Float" in name else "b" if name == "Bool" else "c" if "Complex" in name else "i"
    if isinstance(value, bool):
        return "q"
    if isinstance(value, list):
        return "m" if value and all(type(a) is int for a in value) else "l"
    if isinstance(value, dict):
        return "d" if {"a", "b"} <= set(value) else "any"
    table = {int: "n", float: "r", str: "z", tuple: "u", set: "e"}
    return table.get(type(value), "o" if type(value).__name__ == "Box" else "any")


class Writer(Statements):
    """One program."""

    def source(self, body: list[str]) -> str:
        """The module, with what it needs of the world."""
        return needed(f"{WORLD}\n\n{self.rest(body)}")

    def rest(self, body: list[str], probe: str = "") -> str:
        """The module without the world."""
        text = "\n".join(body)
        tree = ast.parse("def f():\n" + (text or "    pass"))
        assigned = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        outside = sorted(assigned & set(GLOBALS))
        head = [f"    global {', '.join(outside)}"] if outside else []
        lines = [*head, *body, *([f"    {probe}"] if probe else [])] or ["    pass"]
        return f"{self.between}\n\n{self.inputs}\n\ndef f({', '.join(self.parameters)}):\n" + "\n".join(lines) + "\n"

    def tried(self, body: list[str]) -> dict[str, str] | None:
        """Kinds of the variables after ``body``; None if no call comes so far."""
        try:
            code = compile(self.rest(body, "PROBE.append(locals())"), "program", "exec")
        except SyntaxError:
            return None
        space: dict[str, Any] = {"PROBE": [], "__name__": "program"}
        try:
            with (
                limited(SECONDS),
                warnings.catch_warnings(),
                contextlib.redirect_stdout(io.StringIO()),
                configure(jit=False),
                np.errstate(all="ignore"),
            ):
                warnings.simplefilter("ignore")
                exec(_world(), space)
                exec(code, space)
                for call, args in enumerate(space["inputs"]()[:4]):
                    if call:
                        with contextlib.suppress(Exception):  # as in `observe`
                            space["between"](call)
                    try:
                        space["f"](*args)
                    except Exception:  # noqa: BLE001, S112 - a program may raise whatever it likes
                        continue
        except TooSlow:
            return None
        if not space["PROBE"]:
            return None
        return {
            name: kind_of(value)
            for name, value in space["PROBE"][0].items()
            if not callable(value) or kind_of(value) in "tfibcso"
        }

    def write(self) -> str:
        """The finished program."""
        rng = self.rng
        ms.set_seed(1)
        random.seed(1)
        self.make_inputs()
        self.env = self.tried([]) or {}
        kept: list[str] = []
        for _ in range(rng.randint(3, 8)):
            self.lines, self.indent, self.budget = [], 1, rng.randint(2, 7)
            env, fixed = dict(self.env), set(self.fixed)
            self.statement()
            found = self.tried(kept + self.lines)
            if found is None:
                self.env, self.fixed = env, fixed
                if rng.random() < 0.04 and self._parses(kept + self.lines):
                    kept += self.lines
                    break
                continue
            kept += self.lines
            self.env = found
        self.lines = []
        count = rng.randint(1, 3)
        made = [
            self.expr(rng.choice(["t", "t", "n", "any", "any", "r", "z"]), rng.choice([1, 1, 2])) for _ in range(count)
        ]
        names = rng.sample(sorted(self.env), min(2, len(self.env)))
        return self.source([*kept, *self.lines, f"    return {', '.join([*made, *names])}"])

    def _parses(self, body: list[str]) -> bool:
        try:
            compile(self.source(body), "program", "exec")
        except SyntaxError:
            return False
        return True


def generate(seed: int) -> str:
    """The source of the random program of ``seed``."""
    for attempt in range(10):
        source = Writer(seed * 16 + attempt).write()
        try:
            compile(source, "program", "exec")
        except SyntaxError:
            continue
        return source
    raise AssertionError(f"no program for seed {seed}")
