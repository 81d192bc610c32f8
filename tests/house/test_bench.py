"""The benchmarks: a report never loses what the README showed before."""

from __future__ import annotations

import sys

import pytest

from bench import __main__ as bench
from bench._budgets import verdict
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


def test_a_budget_is_exceeded_by_what_is_slower_nearly_always():
    base = [10.0, 10.1, 10.2, 10.4]
    assert verdict(base, [11.0, 11.2, 11.1, 11.5], 1.05) == (pytest.approx(1.103, abs=0.01), True)
    assert not verdict(base, [10.1, 10.0, 10.3, 10.2], 1.05)[1]
    assert not verdict(base, [10.1, 14.0, 15.0, 16.0], 1.05)[1]  # somebody else was busy: the least is as ever
    assert not verdict(base, [11.0, 11.1, 10.2, 10.3], 1.05)[1]  # half of the time
    assert verdict([100.0] * 3, [103.0] * 3, 1.02)[1]  # counts have no noise
