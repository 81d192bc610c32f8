"""The benchmarks: a report never loses what the README showed before."""

from __future__ import annotations

import sys

import pytest

from bench import __main__ as bench
from bench._report import SUMMARY


def test_a_report_has_all_that_the_readme_shows():
    assert bench.chosen([], report=True) == list(SUMMARY)
    assert bench.chosen(["gemm", "training"], report=True) == [*SUMMARY, "gemm"]
    assert set(SUMMARY) <= set(bench.chosen(["all"], report=True))
    assert bench.chosen(["gemm"], report=False) == ["gemm"]


def test_without_names_benchmarks_are_only_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "argv", ["bench"])
    assert bench.main() == 0
    listed = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == bench.names()
