"""Makes a program that fails small: statements deleted, blocks replaced by their bodies, expressions by their parts.

Every candidate runs in a forked child (`verdict`), so one that kills its process or never ends is an answer like any
other. How many are tried is a number, not a time: a busy machine makes the same program as small.
"""

from __future__ import annotations

import ast
import contextlib
import os
import pickle
import select
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

from .observe import Finding, check
from .writer import needed

MOST = 300
"""Candidates that are tried."""
WAIT = 60.0
"""Seconds that a candidate may take by the clock."""
Judge = Callable[[str, list[str]], Finding | None]


def verdict(source: str, modes: list[str]) -> Finding | None:
    """`check` in a child."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        answer: Any = None
        try:
            answer = check(source, modes)[0]
        except BaseException as error:  # noqa: BLE001 - the parent hears of everything
            answer = f"{type(error).__name__}: {error}"
        with contextlib.suppress(Exception), os.fdopen(writer, "wb") as out:
            pickle.dump(answer, out)
        os._exit(0)
    os.close(writer)
    data, end = b"", time.monotonic() + WAIT
    try:
        while (left := end - time.monotonic()) > 0:
            if select.select([reader], [], [], left)[0]:
                more = os.read(reader, 1 << 20)
                if not more:
                    break
                data += more
        else:
            os.kill(child, signal.SIGKILL)
            return Finding(modes[-1], "slow", -1, "", f"stopped after {WAIT} s by the clock")
    finally:
        os.close(reader)
        _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return Finding(modes[-1], "crash", -1, "", signal.Signals(os.WTERMSIG(status)).name)
    if not data:
        return None
    try:
        answer = pickle.loads(data)
    except Exception:  # noqa: BLE001 - half an answer is none
        return None
    return answer if isinstance(answer, Finding) else None


def shrink(
    source: str, found: Finding, modes: list[str], most: int = MOST, judge: Judge = verdict
) -> tuple[str, Finding]:
    """A smaller source that fails in the same way, and how, among so many candidates."""
    modes = [m for m in modes if m == found.mode] or modes
    if found.mode != "interpreter" and found.part not in ("internal", "slow", "crash", "escaped"):
        cheap = judge(source, ["interpreter"])  # no machine code to wait for
        if cheap is not None and cheap.kind == found.kind:
            modes, found = ["interpreter"], cheap
    best, again, start = source, True, 0
    seen = {source}
    while again and len(seen) <= most:
        again = False
        made = list(candidates(best))
        for at in [*range(start, len(made)), *range(min(start, len(made)))]:
            candidate = made[at]()
            if candidate is None or candidate in seen:
                continue
            seen.add(candidate)
            if len(seen) > most + 1:
                break
            now = judge(candidate, modes)
            if now is not None and now.kind == found.kind:
                best, found, again, start = candidate, now, True, at
                break
        else:
            start = 0
    return best, found


def candidates(source: str) -> Iterator[Callable[[], str | None]]:
    """Sources with one thing less, the big cuts first."""
    tree = ast.parse(source)
    edits = sorted(_edits(tree), key=lambda edit: -edit[0])

    def text(do: Callable[[], None], undo: Callable[[], None]) -> str | None:
        do()
        try:
            made = needed(ast.unparse(tree))
            compile(made, "candidate", "exec")
        except SyntaxError:
            return None
        finally:
            undo()
        return made if len(made) < len(source) else None

    for _, do, undo in edits:
        yield lambda do=do, undo=undo: text(do, undo)  # type: ignore[misc]


Edit = tuple[int, Callable[[], None], Callable[[], None]]


def _edits(tree: ast.Module) -> list[Edit]:
    """(size, do, undo) of every cut."""
    edits: list[Edit] = []

    def replace(owner: Any, field: str, new: Any, size: int) -> None:
        old = getattr(owner, field)
        edits.append((size, lambda: setattr(owner, field, new), lambda: setattr(owner, field, old)))

    whole = len(ast.unparse(tree))
    for function in tree.body:
        weight = 1
        if isinstance(function, ast.FunctionDef) and function.name == "inputs":
            listed = next((n for n in ast.walk(function) if isinstance(n, ast.List)), None)
            if listed is not None and len(listed.elts) > 1:
                half = len(listed.elts) // 2
                for kept in (listed.elts[:half], listed.elts[half:]):
                    replace(listed, "elts", kept, whole)
                for at in range(len(listed.elts)):
                    replace(listed, "elts", [*listed.elts[:at], *listed.elts[at + 1 :]], whole // 2)
            continue
        if isinstance(function, ast.FunctionDef) and function.name == "f":
            weight = 10
            length = len(function.body)
            for size in (length // 2, length // 4):
                for at in range(0, length, size or length):
                    rest = [*function.body[:at], *function.body[at + size :]]
                    if size > 1 and rest:
                        replace(function, "body", rest, whole)
        for node in ast.walk(function):
            for field, value in ast.iter_fields(node):
                if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                    _statement_edits(node, field, value, replace, weight)
                elif isinstance(value, list) and value and isinstance(value[0], ast.ExceptHandler | ast.match_case):
                    for at in range(len(value)):
                        if len(value) > 1:
                            replace(node, field, [*value[:at], *value[at + 1 :]], 20 * weight)
                elif isinstance(value, ast.expr) and not isinstance(node, ast.Starred):
                    _expression_edits(value, lambda new, size, n=node, f=field: replace(n, f, new, size))
                elif isinstance(value, list) and value and isinstance(value[0], ast.expr):
                    for at, item in enumerate(value):
                        if len(value) > 1 and isinstance(node, ast.Tuple | ast.List | ast.Set | ast.BoolOp | ast.Call):
                            replace(node, field, [*value[:at], *value[at + 1 :]], 3)
                        _expression_edits(
                            item,
                            lambda new, size, v=value, a=at, n=node, f=field: replace(
                                n, f, [*v[:a], new, *v[a + 1 :]], size
                            ),
                        )
    return edits


def _statement_edits(node: Any, field: str, value: list[Any], replace: Callable[..., None], weight: int) -> None:
    for at, statement in enumerate(value):
        if isinstance(statement, ast.Global | ast.Nonlocal):
            continue
        size = len(ast.unparse(statement)) * weight
        rest = [*value[:at], *value[at + 1 :]]
        if rest or field in ("orelse", "finalbody"):
            replace(node, field, rest, size)
        elif not isinstance(statement, ast.Pass):
            replace(node, field, [ast.Pass()], size)
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            continue
        bodies = [getattr(statement, inner, None) for inner in ("body", "orelse", "finalbody")]
        bodies += [h.body for h in getattr(statement, "handlers", ())] + [
            c.body for c in getattr(statement, "cases", ())
        ]
        for body in bodies:
            if body:
                replace(node, field, [*value[:at], *body, *value[at + 1 :]], size // 2)


def _expression_edits(value: ast.expr, put: Callable[[ast.expr, int], None]) -> None:
    """Replaces an expression by one of its parts, or by something simple."""
    if isinstance(value, ast.Name | ast.Constant) or isinstance(getattr(value, "ctx", None), ast.Store | ast.Del):
        return
    size = len(ast.unparse(value))
    for part in ast.walk(value):
        if isinstance(part, ast.expr) and part is not value and not isinstance(part, ast.Starred):
            if isinstance(getattr(part, "ctx", ast.Load()), ast.Load):
                put(part, max(1, size - len(ast.unparse(part))))
    for name in ("x0", "1", "None"):
        put(ast.parse(name, mode="eval").body, max(1, size - 2))
