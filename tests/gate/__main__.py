"""What CI does, with the Python that is at hand: `scripts/ci [quick]`.

Makes a virtual environment for each CPython, runs ``scripts/check``, the suites of `tests.gate.plan` and the tests
marked ``timed``, and decides (`tests.gate.verdict`). Everything is run, even after a failure. Logs lie in ``.ci/logs``.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import glob
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import IO, Any

from . import plan
from .verdict import Outcome, Verdict

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / ".ci" / "logs" / "cache"
CONSTRAINTS = ROOT / ".ci" / "constraints.txt"
"""The versions that everything is tried with, for ``pip install -c``: a release of tomorrow refuses nothing today."""
OURS = ("DUOGRAPH_", "MS_", "GLOG_", "PYTEST_", "PYTHON")
LIMIT = 50 * 60
"""Seconds after which a run of pytest is killed, which refuses the change: a test hangs where no signal reaches it. So
for set-up and check."""
AT_A_TIME = 2
"""Parts of the suite that run at the same time."""
SUITE = ("-n", "0", "-m", "not timed", "--durations=10")
LOGS = ROOT / ".ci" / "logs"


class Environment:
    """A CPython and a virtual environment that has this checkout and its tools."""

    def __init__(self, version: str, interpreter: str) -> None:
        self.version, self.interpreter = version, interpreter
        self.folder = ROOT / f".venv-{version}"
        self.python = str(self.folder / "bin" / "python")
        self.status = 1  # until it is set up
        self.is_constrained = False
        self.logs = LOGS
        self._numbers = itertools.count(1)
        self._running: set[int] = set()  # processes that lead groups
        self.is_ready = threading.Event()
        """It is set up, or cannot be."""

    def set_up(self) -> None:
        """Makes the environment and installs the checkout; ``status`` is what that came to."""
        try:
            self._set_up()
        finally:
            self.is_ready.set()

    def _set_up(self) -> None:
        installed = self.folder / ".duograph-installed"
        pip = [self.python, "-m", "pip", "--disable-pip-version-check"]
        install = [*pip, "install", "--quiet", "-e", ".[dev]"]
        with open(LOGS / f"setup-{self.version}.txt", "w") as log:

            def run(*command: str) -> int:
                self.status = _status(list(command), stdout=log, stderr=log, env=environment())
                return self.status

            if not installed.exists() and run(self.interpreter, "-m", "venv", "--clear", str(self.folder)):
                return  # one that is half made is made anew
            self.is_constrained = not run(*install, "--constraint", str(CONSTRAINTS))
            if not self.is_constrained and run(*install):  # an index may not have those versions any more
                return
            if run(*pip, "freeze"):
                return
        installed.touch()

    def check(self) -> int:
        """The exit code of ``scripts/check``, whose output goes to the screen when it has ended."""
        log = self.logs / "check.txt"
        with open(log, "w") as out:
            status = _status(
                ["bash", "scripts/check"], env=environment(VIRTUAL_ENV=str(self.folder)),
                stdout=out, stderr=subprocess.STDOUT,
            )  # fmt: skip
        print(f"{log.read_text(errors='replace')}scripts/check: exit code {status}", flush=True)
        return status

    def pytest(self, name: str, *arguments: str, shown: bool = False) -> Outcome:
        """One run of pytest; its output goes to a log, and to the screen if it is ``shown``."""
        log, found = self.logs / f"{self.version}-{name}.txt", self.logs / f"{self.version}-{name}.json"
        found.unlink(missing_ok=True)
        command = [self.python, "-m", "pytest", "-p", "tests.gate.outcomes", f"--outcomes={found}", *arguments]
        running = subprocess.Popen(
            command, cwd=ROOT, env=environment(VIRTUAL_ENV=str(self.folder)), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        reader = threading.Thread(target=_copy, args=(running.stdout, log, shown), daemon=True)
        reader.start()
        self._running.add(running.pid)
        try:
            running.wait(LIMIT)
        except subprocess.TimeoutExpired:
            print(f"python {self.version}: {name}: killed after {LIMIT} s", flush=True)
        finally:
            self._running.discard(running.pid)
            _kill(running.pid)  # children that tests have left, too
            running.wait()
            reader.join(3)  # a child with a session of its own may hold the pipe open
        what = json.loads(found.read_text()) if found.exists() else {}
        return Outcome(running.returncode, log=os.path.relpath(log, ROOT), **what)

    def part(self, part: str, chosen: list[str]) -> Outcome:
        """One part of the suite, once the environment is there; its output goes to the screen if something fails."""
        self.is_ready.wait()
        if self.status:
            return Outcome(self.status)
        begin = time.monotonic()
        outcome = self.pytest(part, *SUITE, *chosen)
        said = f"{sum(outcome.counts.values())} tests, {len(outcome.failed)} failed, exit code {outcome.status}"
        shown = f"python {self.version}: {part}: {said}, {time.monotonic() - begin:.0f} s"
        if outcome.status:
            shown = f"{(ROOT / outcome.log).read_text(errors='replace')}\n{shown}"
        print(shown, flush=True)
        return outcome

    def kill(self) -> None:
        """Ends the runs of pytest that are under way."""
        for leader in list(self._running):
            _kill(leader)

    def alone(self, test: str) -> Outcome:
        """One test in a process of its own."""
        name = f"alone-{next(self._numbers)}-{re.sub(r'[^A-Za-z0-9_]+', '_', test)[-60:]}"
        outcome = self.pytest(name, "-n", "0", test)
        print(f"python {self.version}: alone: exit code {outcome.status}: {test}", flush=True)
        return outcome


def _status(command: list[str], **how: Any) -> int:
    """The exit code of a command, or that of ``timeout`` where it takes longer than `LIMIT`."""
    try:
        return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, timeout=LIMIT, **how).returncode
    except subprocess.TimeoutExpired:
        return 124


def _kill(leader: int) -> None:
    """Ends the group of processes that one leads."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _copy(lines: IO[str], log: pathlib.Path, shown: bool) -> None:
    with lines, open(log, "w", buffering=1) as out:
        for line in lines:
            out.write(line)
            if shown:
                print(line, end="", flush=True)


def environment(**more: str) -> dict[str, str]:
    """The variables of children: those of this process but for what would change Python, pytest or the package.

    Machine code is kept in a folder of this run: what another tree has compiled must neither hide a fault nor be one.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith(OURS) and k != "VIRTUAL_ENV"}
    return kept | {"CI": "true", "DUOGRAPH_CACHE_DIR": str(CACHE)} | more


def find_python(version: str) -> str | None:
    """A command that starts this version of CPython."""
    versions = sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}*/bin/python")))
    for candidate in (f"python{version}", "python3", "python", *versions, f"/usr/bin/python{version}"):
        if shutil.which(candidate) is None:
            continue
        command = [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        told = subprocess.run(command, capture_output=True, text=True)
        if told.returncode == 0 and told.stdout.strip() == version:
            return candidate
    return None


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/ci", description=__doc__.splitlines()[0])
    parser.add_argument("scope", nargs="?", choices=["quick"], help="quick: the check, and the suite on CPython 3.11")
    is_quick = parser.parse_args().scope == "quick"
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell's background jobs ignore it, and so do their children
    LOGS.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(CACHE, ignore_errors=True)
    begin, verdict = time.monotonic(), Verdict()
    environments = []
    for version in plan.PYTHONS[: 1 if is_quick else None]:
        interpreter = find_python(version)
        if interpreter is not None:
            environments.append(Environment(version, interpreter))
        else:  # each runs a share of what is run in every mode, so none can be left out
            verdict.step(f"python {version}: find an interpreter", 1)
    if environments:
        _run(environments, verdict, is_quick)
    print(f"\n{(time.monotonic() - begin) / 60:.1f} minutes")
    print("\n".join(verdict.report()), flush=True)
    return int(verdict.is_refused)


def _run(environments: list[Environment], verdict: Verdict, is_quick: bool) -> None:
    first, *others = environments
    first.set_up()

    def set_up_others() -> None:  # waits for the network and the disk most of the time
        for other in others:
            other.set_up()

    setting_up = threading.Thread(target=set_up_others)
    setting_up.start()
    check, suites = side_by_side(environments)
    setting_up.join()
    if check is not None:
        verdict.step("scripts/check", check)
    for one in environments:
        name = f"python {one.version}"
        verdict.step(f"{name}: set-up", one.status, f".ci/logs/setup-{one.version}.txt")
        if one.status:
            continue
        if not one.is_constrained:
            verdict.remarks.append(f"{name}: the newest versions: those of {CONSTRAINTS.name} cannot be installed")
        for part, outcome in suites[one.version].items():
            verdict.whole_run(f"{name}: {part}", outcome, one.alone)
    for file in plan.timed(ROOT) if first.status == 0 and not is_quick else ():
        # A run for each: what ends one, such as an interrupt that no test has caught, ends no other.
        print(f"=== python {first.version}: timed: {file}", flush=True)
        name = "timed-" + pathlib.Path(file).stem
        timed = first.pytest(name, "-n", "0", "-m", "timed", file, shown=True)
        verdict.timed_run(f"timed tests of {file}", timed, first.alone)


def side_by_side(environments: list[Environment]) -> tuple[int | None, dict[str, dict[str, Outcome]]]:
    """The exit code of the check, and for each CPython the parts of its suite: `AT_A_TIME` of all these at a time, so
    that no core waits for the end of another Python's last part."""
    first = environments[0]
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        has_check = first.version == plan.WHOLE and first.status == 0
        check = pool.submit(first.check) if has_check else None
        suites = {
            one.version: {part: pool.submit(one.part, part, chosen) for part, chosen in plan.suite(one.version).items()}
            for one in environments
        }
        try:
            outcomes = {
                version: {part: future.result() for part, future in parts.items()} for version, parts in suites.items()
            }
            return check.result() if check else None, outcomes
        except BaseException:  # Ctrl-C
            pool.shutdown(wait=False, cancel_futures=True)
            for one in environments:
                one.kill()
            raise


if __name__ == "__main__":
    if sys.version_info < (3, 11):
        sys.exit("scripts/ci needs CPython 3.11 or newer to run itself")
    sys.exit(main())
