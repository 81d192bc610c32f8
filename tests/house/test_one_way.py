"""Things that there is one way to do, in the subpackages where several were found once."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.house.imports import SOURCE, nodes, parsed

WAYS = {
    "the address of an array": ("runtime/**/*.py", "{}.ctypes.data", "runtime/python/cpython.py"),
    "the passes": ("**/*.py", "optimise({})", "passes/pipelines.py"),
    "who may overwrite an input": ("**/*.py", "donation_of({})", "jit/entry.py"),
    "what runs a graph": ("{frontend,jit}/**/*.py", "Interpreter()", "frontend/programs/execute.py"),
}
"""What -> where it is looked for, how it is written, the one file that may."""


def found(root: Path, places: str, written: str) -> list[str]:
    """Files with an expression of the form ``written``, in which ``{}`` is anything."""
    before, _, after = written.partition("{}")
    head = places.partition("/")[0]
    folders = head.strip("{}").split(",") if head.startswith("{") else None
    pattern = places if folders is None else places.partition("/")[2]
    files = [p for f in folders or [""] for p in sorted((root / f).glob(pattern))]
    names = re.findall(r"\w+", written)  # files without them need not be parsed
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    return [
        path.relative_to(root).as_posix()
        for path, whole in texts.items()
        if all(name in whole for name in names)
        and any(
            isinstance(node, ast.Attribute | ast.Call)
            and (text := ast.unparse(node)).startswith(before)
            and text.endswith(after)
            for node in nodes(parsed(whole))
        )
    ]


@pytest.mark.parametrize("what", WAYS)
def test_only_one_file_does_it(what):
    places, written, owner = WAYS[what]
    assert found(SOURCE, places, written) == [owner]


@pytest.mark.parametrize("what", WAYS)
def test_a_second_way_is_found(what, tmp_path):
    places, written, _ = WAYS[what]
    path = tmp_path / places.split("/")[0].replace("**", "").strip("{}").split(",")[0] / "another.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"print({written.format('x')})\n")
    assert found(tmp_path, places, written) == [path.relative_to(tmp_path).as_posix()]
