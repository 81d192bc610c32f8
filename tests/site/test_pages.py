"""The tutorials and the catalogue of errors are true, and the Chinese pages have the same programs."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.base.diagnostics import CODES
from duograph.base.source import register_source
from tests.test_tour import run_blocks

DOCS = Path(__file__).parents[2] / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
CASE = re.compile(r"^## (DG\d{4}): (.*)\n((?:(?!^## ).*\n)*)", re.MULTILINE)
PROGRAM = re.compile(r"```python\n(.*?)```\n```text\n(.*?)```", re.DOTALL)
WITHOUT_A_PROGRAM = {"DG0703", "DG0901"}
"""Nobody's mistake but that of a pass, or of duograph."""


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Pages change modes, seeds and variables, write files, and give MindSpore's names to this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    known = dict(os.environ)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "mindspore"]:
        del sys.modules[name]
    os.environ.clear()
    os.environ.update(known)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.reset_auto_parallel_context()


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial(page):
    assert run_blocks(page.read_text(encoding="utf-8"), page.name, {"__name__": page.stem}) > 2


@pytest.mark.parametrize("name", ["tour.md", *[f"tutorials/{page.name}" for page in TUTORIALS]])
def test_the_chinese_page_has_the_same_programs(name):
    pages = [(folder / name).read_text(encoding="utf-8") for folder in (DOCS, DOCS / "zh")]
    english, chinese = (re.findall(r"```.*?```", page, re.DOTALL) for page in pages)
    assert english == chinese


def test_every_code_has_a_case():
    found = {code: title for code, title, _ in CASE.findall((DOCS / "error-codes.md").read_text(encoding="utf-8"))}
    assert list(found) == sorted(CODES)
    assert all(found[code] in CODES[code] for code in found)


@pytest.mark.parametrize(("code", "title", "text"), CASE.findall((DOCS / "error-codes.md").read_text(encoding="utf-8")))
def test_a_mistake_gives_its_code(code, title, text):
    programs = PROGRAM.findall(text)
    assert len(programs) == (code not in WITHOUT_A_PROGRAM)
    for program, expected in programs:
        register_source(program, "<error-codes.md>")
        names = {"ms": ms, "np": np, "ops": ops, "nn": nn, "Tensor": Tensor, "os": os}
        printed, drawn = io.StringIO(), ""
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(program, "<error-codes.md>", "exec"), names)
        except Exception as error:  # noqa: BLE001 - whatever the page says
            printed.write(f"{type(error).__name__}: {str(error).splitlines()[0]}\n")
            drawn = " ".join([str(error), *getattr(error, "__notes__", [])])
        assert printed.getvalue() == expected
        assert code in printed.getvalue() + drawn
