"""A fault planted in each part: under the policy of tests it raises; users get the right answer, and are told."""

from __future__ import annotations

import ast
import importlib
import re
import time
from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops
from duograph.base.diagnostics import InternalError
from duograph.base.failures import InternalFailure, failure_counts
from duograph.compat.explain import report
from duograph.frontend.rules import sources
from duograph.lower import ops as lower_ops
from duograph.lower.rule import Kernel
from tests.unit.alarms import signalled

steps, executable, kernels, single, launch = [
    importlib.import_module(f"duograph.runtime.{name}")
    for name in ("programs.steps", "programs.executable", "kernels.kernels", "kernels.single", "launch.launcher")
]
entry, native_call, capturing, cuts, guard, native_guards, expressions, recipe = [
    importlib.import_module(f"duograph.{name}")
    for name in (
        "jit.entry",
        "jit.native_call",
        "jit.capturing",
        "jit.cuts",
        "frontend.guards.guard",
        "frontend.guards.native",
        "frontend.ast.expressions",
        "frontend.values.recipe",
    )  # fmt: skip
]
X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)


def program(x: Any) -> Any:
    return ops.softmax(x @ x.T * 2 + 1, axis=-1).sum(axis=0)


def broken(*_: Any, **__: Any) -> Any:
    raise KeyError("planted")


def fails_always(real: Any) -> Any:
    """Guard programs that ask in addition for what never is."""

    def translated(self: Any, args: Any) -> Any:
        made = real(self, args)
        made.program.is_(made.program.const(X), PLACES)
        return made

    return translated


PLACES: dict[str, tuple[str, Any]] = {
    "rule": ("a kernel rule", lambda patch: patch.setattr(lower_ops, "rule_of", lambda op: Kernel(broken))),
    "fuser": ("the fuser", lambda patch: patch.setattr(steps, "lower_group", broken)),
    "grouping": ("the code generator", lambda patch: patch.setattr(steps, "groups", broken)),
    "emitter": ("the code generator", lambda patch: patch.setattr(executable, "Build", broken)),
    "machine code": ("the code generator", lambda patch: patch.setattr(kernels, "emit_functions", broken)),
    "pass": ("a pass", lambda patch: patch.setattr(entry, "compile_program", broken)),
    "capture": ("capture", lambda patch: patch.setattr(capturing, "capture", broken)),
    "running": ("a compiled version", lambda patch: patch.setattr(entry, "run_graph", broken)),
    "results": ("a compiled version", lambda patch: patch.setattr(recipe.Output, "make", broken)),
    "native call": ("native calls", lambda patch: patch.setattr(native_call, "native_call", broken)),
    "guard": ("a guard", lambda patch: patch.setattr(guard.GuardSet, "check", lambda *_: 1 / 0)),
    "native guard": ("a guard", lambda patch: patch.setattr(guard.GuardSet, "translated", broken)),
    "native guard that never holds": (
        "a guard",
        lambda patch: patch.setattr(guard.GuardSet, "translated", fails_always(guard.GuardSet.translated)),
    ),
}


def test_results_that_cannot_be_made_after_a_write(answering, monkeypatch):
    """Tensors have been written: no one can answer the call any more, and the error says whose it is."""
    f = ms.jit(lambda x: (x.add_(1), [x * 2]))
    monkeypatch.setattr(recipe.Container, "make", broken)
    monkeypatch.setattr(recipe.Output, "make", broken)
    x = Tensor(X)
    with pytest.raises(InternalError, match="fault of duograph"):
        f(x)
    assert failure_counts() == {"a compiled version": 1}


NAMES = {"one", "two"}
"""A set is guarded by Python, which native code calls."""


def calls(f: Any) -> list[Any]:
    return [f(Tensor(X * k)).asnumpy() for k in (1, 2, 3, 4)]


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch, request: Any) -> str:
    area, plant = PLACES[request.param]
    monkeypatch.setattr(kernels, "_code", {})  # nothing is compiled yet
    monkeypatch.setattr(kernels, "_link_packs", lambda *_: None)
    plant(monkeypatch)
    return area


@pytest.mark.parametrize("planted", PLACES, indirect=True)
def test_a_planted_fault_raises_in_tests(planted):
    with pytest.raises(InternalFailure, match=planted):
        calls(ms.jit(program))


@pytest.mark.parametrize("planted", PLACES, indirect=True)
def test_a_planted_fault_is_answered_and_told(answering, planted):
    want = [program(Tensor(X * k)).asnumpy() for k in (1, 2, 3, 4)]
    f = ms.jit(program)
    for got, wanted in zip(calls(f), want, strict=True):
        assert got.tobytes() == wanted.tobytes()
    assert failure_counts()[planted] >= 1
    assert len(answering) == 1 and "internal failure of" in str(answering[0].message)
    told = f.explain()
    assert [x for x in told.failures if x.area == planted]
    assert f"internal failure of {planted}" in str(told)
    assert re.search(rf"\d+ x internal failure of {planted}", report()), "and by the command"


@pytest.mark.parametrize(("raised", "failures"), [(KeyError, {}), (ValueError, {"capture": 1})])
def test_a_program_that_raises_where_capture_has(answering, monkeypatch, raised, failures):
    """Its exception reaches the caller. That of the capture is taken for it if it has the same class."""

    def f(x: Any) -> Any:
        raise raised("the program's own")

    monkeypatch.setattr(capturing, "capture", broken)
    compiled = ms.jit(f)
    for _ in range(3):
        with pytest.raises(raised, match="the program's own"):
            compiled(Tensor(X))
    assert failure_counts() == failures and len(compiled.explain().failures) == sum(failures.values())


def test_a_function_that_cannot_be_cut_runs_as_it_is(answering, monkeypatch):
    """Also with an error that compilers of Python raise for programs."""

    def fails(*_: Any) -> Any:
        raise SyntaxError("planted")

    def f(x: Any) -> Any:
        y = program(x)
        time.sleep(0)
        return program(x) + y

    monkeypatch.setattr(cuts, "plan_cuts", fails)
    compiled = ms.jit(f)
    for got, k in zip(calls(compiled), (1, 2, 3, 4), strict=True):
        assert got.tobytes() == f(Tensor(X * k)).asnumpy().tobytes()
    assert failure_counts() == {"cutting": 1} and len(answering) == 1
    assert "internal failure of cutting" in str(compiled.explain())


def contradicted(real: Any) -> Any:
    """Captures with one guard more, which the call does not fulfil."""

    def capture(*given: Any) -> Any:
        made = real(*given)
        made.guards.add(sources.arg(0, "x"), "type", int)
        return made

    return capture


def test_a_version_that_is_not_valid_for_its_own_call(monkeypatch):
    """It is right in its call, and no other comes to it: nothing but time would show it."""
    monkeypatch.setattr(capturing, "capture", contradicted(capturing.capture))
    with pytest.raises(InternalFailure, match=r"a guard for program.*not valid for the call that made it: x was"):
        ms.jit(program)(Tensor(X))


def fails_from_the_third_check(real: Any) -> Any:
    """Guards as generated Python that fails once native code calls it."""
    checks: list[int] = []

    def compile_guards(*given: Any) -> Any:
        check = real(*given)
        return lambda args: checks.append(1) or (1 / 0 if len(checks) == 3 else check(args))

    return compile_guards


def test_a_guard_in_python_that_native_code_calls(answering, monkeypatch):
    monkeypatch.setattr(native_guards, "compile_guards", fails_from_the_third_check(native_guards.compile_guards))
    f = ms.jit(lambda x: x + (1 if "one" in NAMES else 0))
    assert [float(f(Tensor(2.0))) for _ in range(6)] == [3.0] * 6
    assert failure_counts() == {"a guard": 1} and len(answering) == 1
    assert "ZeroDivisionError" in str(f.explain())


def test_in_tests_a_guard_that_native_code_calls_raises(monkeypatch):
    monkeypatch.setattr(native_guards, "compile_guards", fails_from_the_third_check(native_guards.compile_guards))
    f = ms.jit(lambda x: x + (1 if "one" in NAMES else 0))
    with pytest.raises(InternalFailure, match="a guard"):
        [f(Tensor(2.0)) for _ in range(6)]


@pytest.mark.parametrize("raised", [TimeoutError, ValueError])
def test_a_time_limit_during_a_guard_is_the_users(answering, monkeypatch, raised):
    real, late = native_guards.compile_guards, []

    def compile_guards(*given: Any) -> Any:
        check = real(*given)
        return lambda args: (late and signalled(late.pop())) or check(args)

    monkeypatch.setattr(native_guards, "compile_guards", compile_guards)
    f = ms.jit(lambda x: x + (1 if "one" in NAMES else 0))
    x = Tensor(2.0)
    for _ in range(4):
        f(x)
    assert f.explain().versions[0]["native_calls"]
    late.append(raised("too late"))
    with pytest.raises(raised, match="too late"):
        f(x)
    assert float(f(x)) == 3.0 and not late and not failure_counts() and not answering


@pytest.mark.parametrize(
    ("owner", "part", "fault", "area"),
    [
        (lower_ops, "rule_of", lambda op: Kernel(broken), "a kernel rule"),
        (single, "lower_op", broken, "a kernel"),
        (single.SingleOp, "run", broken, "a kernel"),
    ],
)
def test_eager_ops_run_their_reference(answering, monkeypatch, owner, part, fault, area):
    monkeypatch.setattr(single, "_singles", {})
    monkeypatch.setattr(owner, part, fault)
    x = X.reshape(2, 12) + 0.125
    assert np.array_equal(ops.argmax(Tensor(x), dim=1).asnumpy(), np.argmax(x, 1))
    assert failure_counts().keys() == {area} and len(answering) == 1


def test_records_of_the_launcher(answering, monkeypatch):
    if launch.engine() is None:
        pytest.skip("nothing is launched natively here")
    monkeypatch.setattr(launch, "pack", broken)
    x = Tensor(np.ones((3, 17), np.float32))
    for _ in range(4):
        assert float((x * x).sum()) == 51.0
    assert failure_counts().keys() == {"the launcher"} and len(answering) == 1


def test_a_failure_is_remembered_and_a_shortage_is_not(answering, monkeypatch):
    attempts = []

    def build(*args: Any) -> Any:
        attempts.append(1)
        raise (MemoryError("for now") if len(attempts) == 1 else KeyError("planted"))

    monkeypatch.setattr(executable, "Build", build)
    f = ms.jit(program)
    calls(f)
    assert len(attempts) == 2 and failure_counts() == {"the code generator": 1}
    assert f.explain().versions[0]["in_python"] == ["no machine code: KeyError: 'planted'"]


def test_a_shortage_of_memory_during_capture_is_not_remembered_either(answering, monkeypatch):
    real, attempts = capturing.capture, []

    def capture(*args: Any) -> Any:
        attempts.append(1)
        if len(attempts) == 1:
            raise MemoryError
        return real(*args)

    monkeypatch.setattr(capturing, "capture", capture)
    f = ms.jit(program)
    calls(f)
    assert len(attempts) == 2 and not failure_counts() and not f.explain().fallbacks and len(f.explain().versions) == 1


def test_capture_for_varying_numbers(answering, monkeypatch):
    """Such a failure is told, and captures for the numbers at hand follow; a shortage of memory changes nothing."""
    real, errors = capturing.capture, [MemoryError(), KeyError("planted")]

    def fails_on_patterns(fn: Any, names: Any, args: Any, call: Any, dynamic: Any, patterns: Any, *rest: Any) -> Any:
        if errors and (patterns or dynamic):
            raise errors.pop(0)
        return real(fn, names, args, call, dynamic, patterns, *rest)

    monkeypatch.setattr(capturing, "capture", fails_on_patterns)
    f = ms.jit(lambda x, n: x * n)
    for n in range(1, 12):
        assert float(f(Tensor(2.0), n)) == 2.0 * n
    assert not errors and failure_counts() == {"capture": 1} and len(answering) == 1
    assert "numbers and sizes varying: KeyError: 'planted'" in str(f.explain())


@pytest.mark.parametrize("part", ["capture", "Entry"])
def test_a_time_limit_is_the_users(answering, monkeypatch, part):
    """Whatever it interrupts: capture, or the compilation that follows."""

    monkeypatch.setattr(capturing, part, lambda *_: signalled(TimeoutError("too late")))
    with pytest.raises(TimeoutError, match="too late"):
        ms.jit(program)(Tensor(X))
    assert not failure_counts() and not answering


def test_no_except_clause_of_the_program_catches_a_time_limit_of_capture(monkeypatch):
    def f(x: Any) -> Any:
        try:
            x = x + 1
        except ValueError:
            x = x * 0
        return x

    monkeypatch.setitem(expressions._EVAL, ast.BinOp, lambda *_: signalled(ValueError("too late")))
    with pytest.raises(ValueError, match="too late"):
        ms.jit(f)(Tensor(X))


def test_a_slip_of_capture_selects_no_except_clause(answering, monkeypatch):
    """Nor does it end a path: the function runs as plain Python."""

    def f(x: Any) -> Any:
        try:
            y = not x.sum() > 0
        except AttributeError:
            return x * 0
        return x + y

    made: dict[str, Any] = {}
    source = "def eval_UnaryOp(self, node, frame):\n    return self.no_such_thing\n"
    exec(compile(source, expressions.__file__, "exec"), made)
    monkeypatch.setitem(expressions._EVAL, ast.UnaryOp, made["eval_UnaryOp"])
    compiled = ms.jit(f)
    x = Tensor(X)
    assert np.array_equal(compiled(x).asnumpy(), f(x).asnumpy())
    assert failure_counts() == {"capture": 1} and "no_such_thing" in compiled.explain().fallbacks[0].reason


def test_an_error_of_the_program_is_no_failure():
    def f(x: Any) -> Any:
        return ops.reshape(x, (5, 5))

    for _ in range(2):
        with pytest.raises(ValueError, match="proposed_shape"):
            ms.jit(f)(Tensor(X))
