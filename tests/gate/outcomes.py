"""A plugin of pytest that writes what became of each test to a file, as JSON (``--outcomes FILE``), and leaves out what
is another CPython's share (``--share VERSION``).

The runner of CI reads it (`tests.gate.__main__`). Under xdist the controller writes, which hears of every worker.
"""

from __future__ import annotations

import json
import pathlib
from collections import Counter

import pytest

from . import plan


class Outcomes:
    """Collects the failed and the crashed tests of a session, counts the others, and sums up the seconds of files."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.counts: Counter[str] = Counter()
        self.failed: dict[str, None] = {}
        self.crashed: dict[str, None] = {}
        self.seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid.partition("::")[0]] += report.duration
        if report.failed:
            # xdist reports the test that a worker was running when its process died with this phase.
            (self.crashed if report.when == "???" else self.failed)[report.nodeid] = None
        elif report.when == "call" or report.skipped:
            self.counts[report.outcome] += 1

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object, error: object) -> None:
        """xdist replaces a worker that dies, and tells of none that dies while it runs no test."""
        if error is not None:
            self.crashed[f"worker {node.gateway.id}"] = None  # type: ignore[attr-defined]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = None

    def pytest_sessionfinish(self) -> None:
        seconds = {file: round(seconds, 1) for file, seconds in self.seconds.most_common()}
        found = {"counts": self.counts, "failed": [*self.failed], "crashed": [*self.crashed], "seconds": seconds}
        self.path.write_text(json.dumps(found))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", metavar="VERSION", help="only what `tests.gate.plan.is_run` gives this CPython")
    parser.addoption("--outcomes", metavar="FILE", help="write what became of each test to this file")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    version = config.getoption("--share")
    if version:
        left_out = [item for item in items if not plan.is_run(item.nodeid, version)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if plan.is_run(item.nodeid, version)]


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--outcomes")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes(pathlib.Path(path)))
