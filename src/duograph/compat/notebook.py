"""The code cells of a notebook, as code that runs.

What is not Python (``%time``, ``%%capture``, ``!ls``, ``x?``) means what it means in IPython where that is installed:
its own transformer makes Python of it, and its shell runs in the names of the notebook. Elsewhere what only measures is
left out, and it is said so; what the program would miss ends it, with one line.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from duograph.base.source import register_source

__all__ = ["NeedsIPython", "code_cells", "notebook_code"]


class NeedsIPython(SystemExit):
    """A line of a notebook that only IPython can run; it ends the program."""


def code_cells(file: Path) -> list[str]:
    """The texts of the code cells of a notebook.

    Raises:
        ValueError: the file is not a notebook.
    """
    try:
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (KeyError, TypeError) as error:
        raise ValueError("it has no list of cells") from error


def notebook_code(file: Path, module: ModuleType, texts: Sequence[str]) -> Iterator[CodeType]:
    """The code cells of a notebook, compiled; where a cell ends in an expression, its value is shown.

    Args:
        file (Path): the notebook.
        module (ModuleType): where its names are.
        texts (Sequence[str]): its `code_cells`.

    Raises:
        NeedsIPython: a line is no Python, and IPython is not installed.
    """
    module.__dict__.setdefault("display", _display)
    for number, text in enumerate(texts, 1):
        name = f"<{file.name}, cell {number}>"
        if not _is_python(text):
            text = _by_ipython(text, module) if find_spec("IPython") is not None else _without_magics(text, name)
        register_source(text, name)
        tree = ast.parse(text, name)
        is_shown = not text.rstrip().endswith(";")
        last = tree.body.pop() if is_shown and tree.body and isinstance(tree.body[-1], ast.Expr) else None
        yield compile(tree, name, "exec")
        if last is not None:
            yield compile(ast.Interactive([last]), name, "single")


def _display(*objects: Any, **_: Any) -> None:
    for shown in objects:
        print(repr(shown))


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return not re.search(r"^\s*[%!?]|=\s*[%!]|\?\s*$", text, re.MULTILINE)
    return True


def _by_ipython(text: str, module: ModuleType) -> str:
    shell = import_module("IPython.core.interactiveshell").InteractiveShell.instance(user_module=module)
    module.__dict__.setdefault("get_ipython", lambda: shell)
    return str(shell.transform_cell(text))


_TIMING = ("time", "timeit", "capture", "prun")
"""Magics of a cell or a line that run it and look at it."""


def _without_magics(text: str, name: str) -> str:
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        code, where = line.strip(), f"{name}, line {number + 1}"
        if code.startswith("%%"):
            if code[2:].split(" ")[0] not in _TIMING:
                raise NeedsIPython(f"duograph: {where}: {code!r} is not Python and needs IPython: pip install ipython")
            _say_skipped(where, code)
            lines[number] = f"pass  # {code}\n"
        elif code.startswith("%time "):
            _say_skipped(where, "%time")
            lines[number] = line.replace("%time", "", 1).lstrip() if line[0] == "%" else line.replace("%time ", "", 1)
        elif re.match(r"[%!?]|[\w.]+\?+$", code):
            _say_skipped(where, code)
            lines[number] = line[: len(line) - len(line.lstrip())] + f"pass  # {code}\n"
        elif re.match(r"[\w.,\s]+=\s*[%!]", code):
            raise NeedsIPython(f"duograph: {where}: {code!r} is not Python and needs IPython: pip install ipython")
    return "".join(lines)


def _say_skipped(where: str, code: str) -> None:
    print(f"{where}: skipped {code!r} (IPython, which is not installed, would run it)", file=sys.stderr)
