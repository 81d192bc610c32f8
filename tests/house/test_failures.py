"""Every ``except`` for all exceptions is named here with its reason; new ones are found.

Whatever of our own machinery is caught goes through `duograph.base.failures.internal_failure`, which is seen here. The
others either raise what they have caught again, after some work, or have a reason on the list.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.imports import SOURCE, parsed

BROAD = ("Exception", "BaseException")
POLICY = ("internal_failure", "_failed")
"""Functions through which an exception goes on: the policy itself, and `jit.entry._failed`, which raises it inside."""

USER = "the exception is the captured program's own: `frontend.rules.faults` has looked at it"
REASONS: dict[str, tuple[str, ...]] = {
    USER: (
        "frontend/control/regions.py:_outcome",
        "frontend/ast/statements.py:_try_except",
    ),
    "of work on another thread; raised again where its result is asked for": (
        "base/imports.py:run",
        "dataset/processes.py:_pickled",
        "dataset/processes.py:_work",
        "dataset/processes.py:submit",
        "dataset/workers.py:ordered",
        "dataset/workers.py:produce",
        "distributed/worker.py:perform",
        "distributed/world.py:run",
        "runtime/machine/threads.py:run",
        "train/serialization.py:run",
    ),
    "an error of the user's operation or data, which `set_error_samples_mode` says to leave out": (
        "dataset/nodes.py:make",
    ),
    "at the exit of a process nobody is above: it is shown, and ends the job": ("distributed/ending.py:_end",),
    "raised again by the caller of native code": ("runtime/programs/host.py:_host",),
    "whatever a type rule raises for wrong operands is the complaint": (
        "ir/parser.py:node",
        "ir/verify.py:_type_complaints",
    ),
    "an error of the program, or ours: `_judged` sees what plain Python says": ("jit/compiling.py:_compile",),
    "asked again by `Entry.matches`, which goes through the policy": ("jit/entries.py:first_that_holds",),
    "what the function of the outside raises now is what the guard asks": ("frontend/guards/attribute_kinds.py:holds",),
    "guards that are only timed: the call that follows looks at them itself": ("jit/account.py:measured",),
    "told at the debugger's prompt, and the run goes on": ("debug/step/debugger.py:do_grad",),
    "the error is the answer of the test": (
        "compat/doctor.py:doctor",
        "debug/hunt/replay.py:why_it_fails",
        "debug/hunt/calls.py:_run",
    ),
    "compared with what other ways of running the program raise": ("debug/hunt/compare.py:result",),
    "the failure that was to be written down is told all the same": ("debug/hunt/files.py:write_down",),
    "a graph whose own nodes raise is reduced with values that are made up": ("debug/hunt/shrink.py:_given",),
    "an error that only a repeated step raises says nothing about the first one": ("train/diagnosis.py:_repeated",),
    "the function goes on being compiled as before, which tells whose error it is": (
        "jit/cutting.py:_cut_at_what_varies",
    ),
}


def is_broad(node: ast.ExceptHandler) -> bool:
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in BROAD) for kind in kinds)


def goes_on(node: ast.ExceptHandler) -> bool:
    """Whether the handler ends with a ``raise``, or asks the policy."""
    if isinstance(node.body[-1], ast.Raise):
        return True
    called = [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]
    return any(isinstance(f, ast.Name) and f.id in POLICY for f in called)


def swallowed(text: str) -> Iterator[str]:
    """The functions of a file in which an ``except`` for everything lets nothing out."""

    def visit(node: ast.AST, name: str) -> Iterator[str]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            name = node.name
        if isinstance(node, ast.ExceptHandler) and is_broad(node) and not goes_on(node):
            yield name
        for child in ast.iter_child_nodes(node):
            yield from visit(child, name)

    yield from visit(parsed(text), "<module>")


def test_what_catches_everything_is_listed():
    found = {
        f"{path.relative_to(SOURCE).as_posix()}:{name}"
        for path in sorted(SOURCE.rglob("*.py"))
        for name in swallowed(path.read_text(encoding="utf-8"))
    }
    listed = {place for places in REASONS.values() for place in places}
    assert found - listed == set(), "goes through `internal_failure`, or is listed with its reason"
    assert listed - found == set(), "not there any more"


@pytest.mark.parametrize(
    ("handler", "found"),
    [
        ("except Exception as e:\n    log(e)", True),
        ("except BaseException:\n    return None", True),
        ("except:\n    return None", True),
        ("except (ValueError, Exception):\n    return None", True),
        ("except Exception as e:\n    if mine(e):\n        raise\n    return None", True),
        ("except Exception:\n    clean()\n    raise", False),
        ("except Exception as e:\n    internal_failure('x', '', e)\n    return None", False),
        ("except KeyError:\n    return None", False),
    ],
)
def test_planted_handlers_are_judged(handler, found):
    lines = "".join(f"    {line}\n" for line in handler.split("\n"))
    assert bool(list(swallowed(f"def f():\n    try:\n        g()\n{lines}"))) is found


def test_each_reason_is_for_files_that_are_there():
    for places in REASONS.values():
        for place in places:
            assert Path(SOURCE, place.partition(":")[0]).is_file()
