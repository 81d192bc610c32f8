"""The pages of the documentation are true: their code runs and prints what they say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import duograph as ms
from duograph.base.source import register_source
from tests.seeds.conftest import run_python

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", re.DOTALL)


def test_tour():
    blocks = _BLOCK.findall((ROOT / "docs" / "tour.md").read_text(encoding="utf-8"))
    assert len(blocks) > 4
    names: dict = {"__name__": "tour"}
    for number, (code, expected) in enumerate(blocks, 1):
        printed = io.StringIO()
        register_source(code, f"<tour.md, block {number}>")
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"<tour.md, block {number}>", "exec"), names)
        assert printed.getvalue() == expected, f"block {number}"
    assert ms.get_context("mode") == ms.PYNATIVE_MODE


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
