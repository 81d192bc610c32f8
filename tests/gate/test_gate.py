"""What refuses a change and what does not, by planted faults."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable

import pytest

from tests.gate import __main__ as gate
from tests.gate import plan
from tests.gate.verdict import MOST_RERUNS, MOST_UNSTEADY, Outcome, Verdict

ROOT = pathlib.Path(__file__).resolve().parents[2]


def attempts(*statuses: int) -> Callable[[str], Outcome]:
    """What stands for running a test alone: passes (0) or fails (1), once for each number."""
    left = list(statuses)

    def alone(test: str) -> Outcome:
        status = left.pop(0)
        return Outcome(status, {"passed": 1} if status == 0 else {}, [test] * status, log="alone.txt")

    return alone


def failing(*tests: str, crashed: tuple[str, ...] = ()) -> Outcome:
    return Outcome(1, {"passed": 5}, list(tests), list(crashed), log="suite.txt")


def test_a_suite_that_passes() -> None:
    verdict = Verdict()
    verdict.whole_run("3.11", Outcome(0, {"passed": 5, "skipped": 1}), attempts())
    assert not verdict.is_refused
    assert verdict.report()[-1] == "tests: 5 passed, 0 failed, 1 skipped"


@pytest.mark.parametrize("statuses", [(0,), (1, 0)])
def test_what_passes_alone_is_named(statuses: tuple[int, ...]) -> None:
    verdict = Verdict()
    verdict.whole_run("3.11", failing("a"), attempts(*statuses))
    assert not verdict.is_refused
    assert "3.11: depends on order or load: a (suite.txt)" in verdict.report()
    assert verdict.report()[-1] == "tests: 6 passed, 0 failed, 0 skipped"


def test_what_fails_alone_twice_refuses() -> None:
    verdict = Verdict()
    verdict.whole_run("3.11", failing("a", "b"), attempts(1, 1, 0))
    assert verdict.refused == ["3.11: FAILED a (alone.txt, alone.txt)"]
    assert verdict.report()[-1] == "tests: 6 passed, 1 failed, 0 skipped"


def test_more_than_three_that_pass_alone_refuse() -> None:
    verdict = Verdict()
    verdict.whole_run("3.11", failing(*"abc"), attempts(0, 0, 0))
    assert not verdict.is_refused and len(verdict.unsteady) == MOST_UNSTEADY
    verdict.whole_run("3.12", failing("a"), attempts(0))
    assert not verdict.is_refused  # it has a name already
    verdict.whole_run("3.12", failing("d"), attempts(0))
    assert verdict.is_refused and "4 tests depend on order or load; at most 3 may" in verdict.report()


def test_a_process_that_dies_refuses() -> None:
    verdict = Verdict()
    verdict.whole_run("3.11", failing(crashed=("a",)), attempts())
    assert verdict.refused == ["3.11: a process died: a (suite.txt)"]


def test_many_failures_are_not_run_again() -> None:
    verdict = Verdict()
    verdict.whole_run("3.11", failing(*map(str, range(MOST_RERUNS + 1))), attempts())
    assert verdict.is_refused


@pytest.mark.parametrize(
    "outcome", [Outcome(0), Outcome(2), Outcome(5), Outcome(-11), Outcome(1, {"passed": 3}), Outcome(4)]
)
def test_a_run_that_ends_otherwise_refuses(outcome: Outcome) -> None:
    verdict = Verdict()
    verdict.whole_run("3.11", outcome, attempts())
    assert verdict.is_refused


def test_a_selection_that_ran_nothing_alone_has_not_passed() -> None:
    verdict = Verdict()
    verdict.whole_run("3.11", failing("a"), lambda _: Outcome(0, {"skipped": 1}))
    assert verdict.is_refused


def test_the_longest_files_are_named():
    verdict = Verdict()
    verdict.whole_run("3.11: jit", Outcome(0, {"passed": 2}, seconds={"a.py": 1.5, "b.py": 20.0}), attempts())
    verdict.whole_run("3.12: jit", Outcome(0, {"passed": 2}, seconds={"b.py": 3.2}), attempts())
    told = [line for line in verdict.report() if " s: " in line]
    assert told == ["20 s: 3.11: jit: b.py", "3 s: 3.12: jit: b.py", "2 s: 3.11: jit: a.py"]


@pytest.mark.parametrize(("statuses", "said"), [((0,), "needed 2 attempts"), ((1, 0), "needed 3 attempts")])
def test_a_timed_test_has_three_attempts(statuses: tuple[int, ...], said: str) -> None:
    verdict = Verdict()
    verdict.timed_run("timed", failing("a"), attempts(*statuses))
    assert not verdict.is_refused and not verdict.unsteady
    assert f"timed: {said}: a (suite.txt)" in verdict.report()


def test_a_timed_test_that_fails_three_times_refuses() -> None:
    verdict = Verdict()
    verdict.timed_run("timed", failing("a"), attempts(1, 1))
    assert verdict.is_refused


def test_a_step_that_fails_refuses() -> None:
    verdict = Verdict()
    verdict.step("scripts/check", 1)
    assert verdict.refused == ["scripts/check: FAILED (exit code 1)"]


# -- the plugin, under xdist and without -------------------------------------------------------------------------------

FAILING = """
import os, pytest

def test_passes(): pass
def test_fails(): assert False
@pytest.fixture
def broken(): raise OSError
def test_of_a_broken_fixture(broken): pass
def test_skipped(): pytest.skip("no")
"""


def run(folder: pathlib.Path, *arguments: str) -> tuple[int, dict[str, object]]:
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = timed\n")
    found = folder / "found.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.gate.outcomes", f"--outcomes={found}", *arguments]
    ended = subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, timeout=240)
    return ended.returncode, json.loads(found.read_text())


@pytest.mark.parametrize("workers", ["0", "2"])
def test_outcomes_are_written(workers: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "test_a.py").write_text(FAILING)
    (tmp_path / "test_b.py").write_text("import nothing_of_this_name")
    status, found = run(tmp_path, "-n", workers, "--continue-on-collection-errors")
    assert status == 1
    assert found["counts"] == {"passed": 1, "skipped": 1}
    assert sorted(found["failed"]) == ["test_a.py::test_fails", "test_a.py::test_of_a_broken_fixture", "test_b.py"]
    assert found["crashed"] == []


def test_a_worker_that_dies_is_told(tmp_path: pathlib.Path) -> None:
    (tmp_path / "test_a.py").write_text("import os\ndef test_dies(): os._exit(3)\ndef test_passes(): pass\n")
    status, found = run(tmp_path, "-n", "1")
    assert status == 1 and sorted(found["crashed"]) == ["test_a.py::test_dies", "worker gw0"]


def test_a_worker_that_dies_between_tests_is_told(tmp_path: pathlib.Path) -> None:
    body = "import os\nif 'PYTEST_XDIST_WORKER' in os.environ and not os.path.exists('died'):\n"
    body += "    open('died', 'w').close()\n    os.abort()\ndef test_passes(): pass\n"
    (tmp_path / "test_a.py").write_text(body)
    _, found = run(tmp_path, "-n", "1")
    assert found["crashed"] == ["worker gw0"]


def test_a_process_that_ends_itself_has_not_passed(tmp_path: pathlib.Path) -> None:
    (tmp_path / "test_a.py").write_text("import os\ndef test_ends(): os._exit(0)\ndef test_fails(): assert False\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    outcome = environment_in(tmp_path).pytest("ends", "-n", "0", str(tmp_path))
    verdict = Verdict()
    verdict.timed_run("timed", outcome, attempts())
    assert outcome.status == 0 and verdict.is_refused


@pytest.mark.parametrize("group", ["", "setsid "])
def test_a_child_that_hangs_refuses(group: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "LIMIT", 4)
    (tmp_path / "test_a.py").write_text(f"import os\ndef test_it(): os.system('{group}sleep 300 &')\n")
    outcome = environment_in(tmp_path).pytest("hangs", "-n", "0", str(tmp_path))
    verdict = Verdict()
    verdict.whole_run("3.11", outcome, attempts())
    assert not verdict.is_refused  # pytest has come to its end; what it left is killed, or let go

    (tmp_path / "test_a.py").write_text("import time\ndef test_it(): time.sleep(300)\n")
    outcome = environment_in(tmp_path).pytest("sleeps", "-n", "0", str(tmp_path))
    verdict.whole_run("3.11", outcome, attempts())
    assert verdict.is_refused


def test_parts_of_a_suite(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each is told by itself, and what fails is on the screen."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = timed\n")
    (tmp_path / "test_a.py").write_text(
        "import pytest\n@pytest.mark.timed\ndef test_timed(): pass\ndef test_a(): pass\n"
    )
    (tmp_path / "test_b.py").write_text("def test_fails(): assert not 'planted'\n")
    parts = {"good": [str(tmp_path / "test_a.py")], "bad": [str(tmp_path / "test_b.py")]}
    monkeypatch.setattr(plan, "suite", lambda version: parts)
    monkeypatch.setattr(plan, "WHOLE", "")
    environment = environment_in(tmp_path)
    environment.status = 0
    environment.is_ready.set()
    check, suites = gate.side_by_side([environment])
    good, bad = suites[environment.version].values()
    assert check is None
    assert (good.status, good.counts, good.failed) == (0, {"passed": 1}, [])
    assert bad.status == 1 and [name.rpartition("::")[2] for name in bad.failed] == ["test_fails"]
    shown = capfd.readouterr().out
    assert "planted" in shown and "test_a.py" not in shown


def test_parts_of_every_python() -> None:
    for version in plan.PYTHONS:
        chosen = plan.suite(version)
        wanted = plan.EVERY_PYTHON.keys() | (plan.ONE_PYTHON.keys() if version == plan.WHOLE else set())
        assert {x for rows in chosen.values() for x in rows if x[0] != "-"} == wanted - {plan.IN_CHECK}
        options = {x.partition("=")[::2] for rows in chosen.values() for x in rows if x[0] == "-"}
        wanted = {("--share", version), *(("--ignore", file) for file in plan.ONE_PYTHON_FILES)}
        assert options == (set() if version == plan.WHOLE else wanted)


def test_shares_of_every_python() -> None:
    """Each case runs on one of the others, which of them has nothing to do with its mode; what is theirs, on all."""
    for function in ("a", "b"):
        cases = [f"tests/unit/jit/test_x.py::{function}[{n}-{mode}]" for n in range(64) for mode in ("ast", "bytecode")]
        ran = {version: {c for c in cases if plan.is_run(c, version)} for version in plan.PYTHONS}
        whole, (one, other) = ran.pop(plan.WHOLE), ran.values()
        assert whole == set(cases) == one | other and not one & other
        assert all(20 < sum(c.endswith(f"-{mode}]") for c in one) < 44 for mode in ("ast", "bytecode"))
    for file in (*plan.UNSHARED, "tests/conformance/test_conformance.py"):
        assert all(plan.is_run(f"{file}::test_x", version) for version in plan.PYTHONS)


def test_a_share_is_left_out(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "tests" / "seeds"
    folder.mkdir(parents=True)
    body = "import pytest\n@pytest.mark.parametrize('n', range(40))\ndef test_it(n): pass\n"
    (folder / "test_a.py").write_text(body)
    counts = [run(tmp_path, "-n", "0", f"--share={version}")[1]["counts"]["passed"] for version in plan.PYTHONS]
    assert counts[0] == 40 == counts[1] + counts[2] and counts[1] and counts[2]


def environment_in(folder: pathlib.Path) -> gate.Environment:
    """This interpreter, with logs in a folder."""
    made = gate.Environment("{}.{}".format(*sys.version_info[:2]), sys.executable)
    made.python, made.logs = sys.executable, folder
    return made


# -- the plan ----------------------------------------------------------------------------------------------------------


def test_every_folder_has_a_row() -> None:
    places = [*(ROOT / "tests").iterdir(), *(ROOT / "tests" / "unit").iterdir()]
    there = {
        str(p.relative_to(ROOT))
        for p in places
        if p.name not in ("__pycache__", "unit") and (p.is_dir() or p.name.startswith("test_"))
    }
    assert there == plan.EVERY_PYTHON.keys() | plan.ONE_PYTHON.keys()
    assert not plan.EVERY_PYTHON.keys() & plan.ONE_PYTHON.keys()
    assert sorted(row for rows in plan.PARTS.values() for row in rows) == sorted(there - {plan.IN_CHECK})
    assert all((ROOT / file).is_file() for file in (*plan.ONE_PYTHON_FILES, *plan.UNSHARED))
    assert all(row in plan.EVERY_PYTHON for row in plan.SHARED)
    assert all(file.rpartition("/")[0] in plan.SHARED for file in plan.UNSHARED)


def test_timed_tests_do_not_run_beside_others(tmp_path: pathlib.Path) -> None:
    body = "import pytest\n@pytest.mark.timed\ndef test_timed(): pass\ndef test_other(): pass\n"
    (tmp_path / "test_a.py").write_text(body)
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    for workers, passed in (("1", 1), ("0", 2)):
        _, found = run(tmp_path, "-n", workers)
        assert found["counts"] == {"passed": passed}


def test_files_with_timed_tests_are_found(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_marked.py").write_text("import pytest\n@pytest.mark.timed\ndef test_timed(): pass\n")
    (folder / "test_case.py").write_text("import pytest\nCASE = pytest.param(1, marks=pytest.mark.timed)\n")
    (folder / "test_text.py").write_text("TEXT = 'pytest.mark.timed'\n")
    assert plan.timed(tmp_path) == ["tests/test_case.py", "tests/test_marked.py"]
    assert "tests/unit/jit/test_memory.py" in plan.timed(ROOT)


@pytest.mark.parametrize("scope", ["", "quick"])
def test_a_python_that_is_missing_refuses_a_whole_run(
    scope: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each Python runs a share of the programs in some modes."""
    monkeypatch.setattr(gate, "LOGS", tmp_path)
    monkeypatch.setattr(gate, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(gate, "find_python", lambda version: sys.executable if version == plan.WHOLE else None)
    monkeypatch.setattr(gate, "_run", lambda environments, verdict, is_quick: None)
    monkeypatch.setattr(sys, "argv", ["ci", *scope.split()])
    assert gate.main() == (0 if scope else 1)
    assert ("python 3.13: find an interpreter: FAILED" in capfd.readouterr().out) is (not scope)


def test_an_environment_that_is_not_set_up_refuses(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "LOGS", tmp_path)
    broken = gate.Environment("3.11", str(tmp_path / "no-such-python"))
    broken.folder = tmp_path / "venv"
    with pytest.raises(FileNotFoundError):
        broken.set_up()
    assert broken.status
    monkeypatch.setattr(gate, "LIMIT", 1)
    assert gate._status(["sleep", "100"]) == 124


def test_versions_are_constrained() -> None:
    """Everything that is installed has its version there."""
    lines = gate.CONSTRAINTS.read_text().splitlines()
    versions = [re.match(r"([\w.-]+)==[\w.]+(; python_version (<|>=) \"3\.12\")?$", x) for x in lines if x[0] != "#"]
    assert all(versions)
    names = {v[1].lower() for v in versions if v}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *extras["dependencies"],
        *(x for k in ("test", "dev", "data", "mpi") for x in extras["optional-dependencies"][k]),
    ]
    assert {re.split(r"[>\[]", x)[0].lower() for x in wanted} - {"duograph"} <= names


@pytest.mark.parametrize("is_there", [True, False])
def test_versions_that_cannot_be_installed(
    is_there: bool, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], **how: object) -> int:
        ran.append(command)
        return int("--constraint" in command and not is_there)

    monkeypatch.setattr(gate, "LOGS", tmp_path)
    monkeypatch.setattr(gate, "_status", run)
    made = environment_in(tmp_path)
    made.folder = tmp_path
    made.set_up()
    assert (made.status, made.is_constrained) == (0, is_there)
    assert ["--constraint" in command for command in ran] == (
        [False, True, False] if is_there else [False, True, False, False]
    )
