"""The benchmarks: a report never loses what the README showed before."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bench import __main__ as bench
from bench import _budgets as budgets
from bench._budgets import verdict
from bench._report import SUMMARY
from tests.children import PATIENCE


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


def history() -> bool:
    """Whether this tree is a checkout that has all of its commits: an archive, or a shallow copy, says nothing."""
    command = ["git", "-C", budgets.ROOT, "rev-parse", "--show-toplevel", "--is-shallow-repository"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode == 0 and done.stdout.split() == [str(budgets.ROOT.resolve()), "false"]


def test_the_commit_whose_budgets_are_recorded_is_in_the_history():
    assert not history() or budgets.is_here(json.loads(budgets.FILE.read_text())["commit"])


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository of one commit, in the place of this one."""
    monkeypatch.setattr(budgets, "ROOT", tmp_path)
    monkeypatch.setattr(budgets, "FILE", tmp_path / "bench" / "budgets.json")
    for name in ("src", "bench"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file.py").touch()
    budgets.git("init", "-q", "-b", "main")
    budgets.git("add", ".")
    budgets.git("-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "all")
    return tmp_path


def test_figures_of_no_commit_are_not_recorded(checkout, capsys):
    budgets.FILE.write_text("{}")
    assert budgets.why_not_recorded() == "" and budgets.is_here("HEAD") and not budgets.is_here("439b420a60")
    (checkout / "src" / "more.py").touch()
    assert budgets.record(1) == 2 and "commit them first" in capsys.readouterr().err
    (checkout / "src" / "more.py").unlink()
    budgets.git("checkout", "-q", "--detach")
    assert budgets.record(1) == 2 and "no branch is checked out" in capsys.readouterr().err


def test_a_base_that_is_not_there_is_refused(checkout, capsys):
    budgets.FILE.write_text('{"commit": "439b420a60"}')
    assert budgets.compare("", 1, "") == 2 and "has no commit 439b420a60" in capsys.readouterr().err
