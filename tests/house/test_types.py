"""mypy checks what it is said to check: the rules in the body of an op's declaration, which its plugin makes known."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

from tests.children import PATIENCE
from tests.house.imports import SOURCE

ROOT = SOURCE.parents[1]
DECLARED = """
from duograph.core.op import primitive

@primitive
class twice:
    def infer(x, *, n=2):
        return 1 + "a"

    def bprop(ins, out, dout, *, n):
        (x,) = ins
        return (twice(dout, n=n), 1 + "b")

def plain(x) -> int:
    return twice(x, n=3)
"""
CORE = "class Op:\n    def __call__(self, *a: object, **k: object) -> int: ...\ndef primitive(cls: type) -> Op: ...\n"


def test_the_rules_of_an_op_are_checked(tmp_path):
    pytest.importorskip("mypy")
    core = tmp_path / "duograph" / "core"
    core.mkdir(parents=True)
    (tmp_path / "duograph" / "__init__.py").touch()
    (core / "__init__.py").touch()
    (core / "op.py").write_text(CORE)
    (tmp_path / "planted.py").write_text(DECLARED)
    settings = f'[tool.mypy]\nplugins = ["{ROOT / "scripts" / "mypy_ops.py"}"]\ncheck_untyped_defs = true\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "planted.py"],
        cwd=tmp_path,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    found = [line.split(": ", 1)[0] for line in done.stdout.splitlines() if "Unsupported operand" in line]
    assert found == ["planted.py:7", "planted.py:11"], done.stdout + done.stderr


CHECKED = "base core ir tensor ops autodiff rewrite passes lower runtime frontend jit"


def test_layers_whose_bodies_are_checked():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["overrides"]
    checked = {name for row in settings if row.get("check_untyped_defs") for name in row["module"]}
    assert {f"duograph.{name}.*" for name in CHECKED.split()} <= checked
