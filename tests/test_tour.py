"""The pages of the documentation are true: their code runs and prints what they say."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import types
from pathlib import Path

import pytest

import duograph as ms
from duograph.base.source import register_source
from duograph.core import op
from duograph.frontend.guards import guard, kinds
from tests.seeds.conftest import run_python

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", re.DOTALL)


def run_blocks(text: str, page: str, names: dict) -> int:
    """Runs the programs of a text, one after the other; says how many there were."""
    blocks = _BLOCK.findall(text)
    for number, (code, expected) in enumerate(blocks, 1):
        printed = io.StringIO()
        register_source(code, f"<{page}, block {number}>")
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"<{page}, block {number}>", "exec"), names)
        assert printed.getvalue() == expected, f"block {number}"
    return len(blocks)


def test_tour():
    assert run_blocks((ROOT / "docs" / "tour.md").read_text(encoding="utf-8"), "tour.md", {"__name__": "tour"}) > 4
    assert ms.get_context("mode") == ms.PYNATIVE_MODE


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXERCISES = re.findall(r"^## How to (add [^\n]*)\n(.*?)(?=^## )", CONTRIBUTING, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("title", "text"), EXERCISES, ids=[title for title, _ in EXERCISES])
def test_worked_examples_for_contributors(title, text, monkeypatch):
    """What a contributor is told to write works as it stands; each exercise is a module of its own."""
    for owner, table in ((op, "_OPS"), (kinds, "KINDS")):  # what it declares is gone afterwards
        monkeypatch.setattr(owner, table, dict(getattr(owner, table)))
    monkeypatch.setattr(guard, "KINDS", kinds.KINDS)
    module = types.ModuleType(title.replace(" ", "_"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert run_blocks(text, "CONTRIBUTING.md", vars(module))


def test_readme_names_real_things():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in re.findall(r"`((?:src|tests|bench|docs|scripts|examples)[\w/.]*)`", text):
        assert (ROOT / path).exists(), path


def test_the_example_is_the_demo():
    example, demo = ROOT / "examples" / "digits.py", ROOT / "src" / "duograph" / "demo" / "digits.py"
    assert example.read_bytes() == demo.read_bytes()
    assert not re.search(r"duograph\.\w*_|import _|from duograph\.", demo.read_text(encoding="utf-8"))


def test_the_example_runs_as_a_script():
    done = run_python(str(ROOT / "examples" / "digits.py"), "--network", "mlp", "--epochs", "1")
    assert done.returncode == 0 and "the same bits in all modes" in done.stdout, done.stdout + done.stderr
