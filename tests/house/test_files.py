"""What every file of the package keeps to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.imports import SOURCE, nodes, parsed

MAX_LINES = 600
FILES = sorted(SOURCE.rglob("*.py"))

_TODO = re.compile(r"#.*\b(TODO|FIXME|XXX)\b(?!\s*\(#\d+\))")


_READ_ENVIRONMENT = ("base/config.py", "frontend/verbs/library.py")
"""The settings of the package, and what a captured program of the user reads."""


def complaints(path: Path, relative: str) -> Iterator[str]:
    """What is wrong with one file: one line of text each."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    tree = parsed(text)
    if len(lines) > MAX_LINES:
        yield f"{len(lines)} lines, more than {MAX_LINES}: what is this file really about?"
    if not (ast.get_docstring(tree) or "").strip():
        yield "no module docstring"
    for number, line in enumerate(lines, 1):
        if _TODO.search(line):
            yield f"line {number}: TODO without an issue number, write TODO(#12)"
    for node in nodes(tree):
        if isinstance(node, ast.ExceptHandler) and _is_blind(node):
            yield f"line {node.lineno}: all exceptions are swallowed without a word"
        if relative not in _READ_ENVIRONMENT and _reads_environment(node):
            yield f"line {node.lineno}: environment variables are read in base/config.py only"
        if relative != "base/files.py" and _writes_a_file(node):
            yield f"line {node.lineno}: files are written by base/files.py only, which leaves nothing half written"


def _is_blind(node: ast.ExceptHandler) -> bool:
    broad = node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException"))
    return broad and all(isinstance(statement, ast.Pass) for statement in node.body)


def _reads_environment(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="os"), attr="environ" | "environb" | "getenv"):
            return True
        case ast.ImportFrom(module="os", names=names):
            return any(alias.name in ("environ", "environb", "getenv") for alias in names)
    return False


def _writes_a_file(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="write_text" | "write_bytes" | "tofile" | "savez" | "savetxt")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="save" | "memmap")):
            return True
        case ast.Call(func=ast.Name(id="open") | ast.Attribute(attr="open"), args=args, keywords=keywords):
            modes = [*args, *[k.value for k in keywords]]
            return any(
                isinstance(mode, ast.Constant)
                and isinstance(mode.value, str)
                and re.fullmatch(r"[rwaxbt+]{1,3}", mode.value)
                and set("wax+") & set(mode.value)
                for mode in modes
            )
    return False


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_file(path):
    assert not list(complaints(path, path.relative_to(SOURCE).as_posix()))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = 1\n", "no module docstring"),
        ('"""Doc."""\n' + "x = 1\n" * MAX_LINES, "601 lines"),
        ('"""Doc."""\nx = 1  # TODO: later\n', "line 2: TODO"),
        ('"""Doc."""\ntry:\n    f()\nexcept:\n    pass\n', "line 4: all exceptions"),
        ('"""Doc."""\ntry:\n    f()\nexcept Exception:\n    pass\n', "line 4: all exceptions"),
        ('"""Doc."""\nimport os\nx = os.environ["X"]\n', "line 3: environment"),
        ('"""Doc."""\nfrom os import getenv\n', "line 2: environment"),
        ('"""Doc."""\nwith open(path, "wb") as file:\n    file.write(b"")\n', "line 2: files"),
        ('"""Doc."""\npath.open(mode="r+")\n', "line 2: files"),
        ('"""Doc."""\npath.write_text("")\n', "line 2: files"),
    ],
)
def test_planted_fault_is_caught(tmp_path, text, complaint):
    path = tmp_path / "planted.py"
    path.write_text(text)
    (found,) = complaints(path, "planted.py")
    assert complaint in found


def test_good_file_passes(tmp_path):
    path = tmp_path / "good.py"
    path.write_text('"""Doc."""\ntry:\n    f()  # TODO(#12): later\nexcept KeyError:\n    pass\n')
    assert not list(complaints(path, "good.py"))
