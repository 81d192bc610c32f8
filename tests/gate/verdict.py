"""The decision about a change: what refuses it, and what is only reported.

A test that fails in a whole run is run again alone, twice; it refuses the change if it fails both times, and else is
named as one that depends on order or load. More than `MOST_UNSTEADY` such names refuse the change, too. Tests marked
``timed`` run alone from the beginning, and refuse the change if three attempts fail. A process that dies, and a run of
pytest that ends with anything but "passed" or "failed", always refuse it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

MOST_NAMED = 12
"""Of the files that took longest."""

MOST_UNSTEADY = 3
MOST_RERUNS = 20
"""Of the tests that fail in one whole run. A change that breaks more is refused without running them again."""

ATTEMPTS = 3
"""Of a test marked ``timed``; others have two more after a whole run."""


@dataclasses.dataclass
class Outcome:
    """What one run of pytest came to.

    Attributes:
        status: its exit code.
        counts: tests by outcome, but for failed ones.
        failed: tests that failed, and files that could not be collected.
        crashed: worker processes that died, and tests during which one did.
        seconds: that the tests of each file took.
        log: where its output is.
    """

    status: int
    counts: dict[str, int] = dataclasses.field(default_factory=dict)
    failed: list[str] = dataclasses.field(default_factory=list)
    crashed: list[str] = dataclasses.field(default_factory=list)
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    log: str = ""


@dataclasses.dataclass
class Verdict:
    """What has been found so far.

    Attributes:
        refused: why the change is refused.
        unsteady: tests that failed in a whole run and passed alone, each with a line for the report.
        remarks: further lines for the report.
        seconds: what the files of the suite took, the longest of which are named.
        passed, failed, skipped: counts for the closing line; a test that passed in the end counts as passed.
    """

    refused: list[str] = dataclasses.field(default_factory=list)
    unsteady: dict[str, str] = dataclasses.field(default_factory=dict)
    remarks: list[str] = dataclasses.field(default_factory=list)
    seconds: list[tuple[float, str]] = dataclasses.field(default_factory=list)
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def step(self, name: str, status: int, log: str = "") -> None:
        """Takes account of a command that must end with 0."""
        if status:
            self.refused.append(f"{name}: FAILED (exit code {status}{f', {log}' if log else ''})")
        else:
            self.remarks.append(f"{name}: ok")

    def whole_run(self, name: str, outcome: Outcome, alone: Callable[[str], Outcome]) -> None:
        """Takes account of a whole run; ``alone`` runs one test in a process of its own."""
        self.seconds += [(seconds, f"{name}: {file}") for file, seconds in outcome.seconds.items()]
        if self._is_broken(name, outcome):
            return
        if len(outcome.failed) > MOST_RERUNS:
            self.failed += len(outcome.failed)
            self.refused.append(f"{name}: {len(outcome.failed)} tests failed ({outcome.log})")
            return
        for test in outcome.failed:
            if self._passes(name, test, alone, ATTEMPTS - 1):
                self.unsteady[test] = f"{name}: depends on order or load: {test} ({outcome.log})"

    def timed_run(self, name: str, outcome: Outcome, alone: Callable[[str], Outcome]) -> None:
        """Takes account of a run of tests marked ``timed``, which was their first attempt."""
        if self._is_broken(name, outcome):
            return
        for test in outcome.failed:
            if attempt := self._passes(name, test, alone, ATTEMPTS - 1):
                self.remarks.append(f"{name}: needed {attempt + 1} attempts: {test} ({outcome.log})")

    def _is_broken(self, name: str, outcome: Outcome) -> bool:
        self.passed += outcome.counts.get("passed", 0)
        self.skipped += outcome.counts.get("skipped", 0)
        for test in outcome.crashed:
            self.failed += 1
            self.refused.append(f"{name}: a process died: {test} ({outcome.log})")
        is_told = outcome.counts if outcome.status == 0 else outcome.failed or outcome.crashed
        if outcome.status not in (0, 1) or not is_told:  # pytest itself has not come to its end, or ran nothing
            self.refused.append(f"{name}: pytest ended with exit code {outcome.status} ({outcome.log})")
            return True
        self.remarks.append(f"{name}: {sum(outcome.counts.values()) + len(outcome.failed)} tests")
        return False

    def _passes(self, name: str, test: str, alone: Callable[[str], Outcome], attempts: int) -> int:
        """The attempt at which a test passes alone; 0 if none does."""
        logs = []
        for attempt in range(1, attempts + 1):
            again = alone(test)
            logs.append(again.log)
            if again.status == 0 and again.counts.get("passed", 0):
                self.passed += 1
                return attempt
        self.failed += 1
        self.refused.append(f"{name}: FAILED {test} ({', '.join(logs)})")
        return 0

    def report(self) -> Sequence[str]:
        """The closing lines; the last one has the form that runners of tests print."""
        refused = list(self.refused)
        if len(self.unsteady) > MOST_UNSTEADY:
            refused.append(f"{len(self.unsteady)} tests depend on order or load; at most {MOST_UNSTEADY} may")
        longest = [f"{seconds:.0f} s: {file}" for seconds, file in sorted(self.seconds, reverse=True)[:MOST_NAMED]]
        lines = [*self.remarks, *longest, *self.unsteady.values(), *refused]
        lines.append("the change is refused" if refused else "the change passes")
        return [*lines, f"tests: {self.passed} passed, {self.failed} failed, {self.skipped} skipped"]

    @property
    def is_refused(self) -> bool:
        return bool(self.refused) or len(self.unsteady) > MOST_UNSTEADY
