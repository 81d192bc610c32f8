"""Runs a program under the alias: a script, a module, a piece of code or a notebook.

The program runs as ``python`` would run it: as ``__main__``, with its own ``sys.argv`` and ``sys.path[0]``, with its
own lines in tracebacks. Code cells of a notebook share one namespace (`notebook`).
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any, TextIO

from duograph.base.source import register_source

from .alias import install_as_mindspore
from .notebook import code_cells, notebook_code


class NoProgram(FileNotFoundError):
    """There is no program of this name."""


def run_program(arguments: Sequence[str]) -> dict[str, Any]:
    """Runs a command line as ``python`` would: ``PROGRAM ...``, ``-m MODULE ...`` or ``-c CODE ...``.

    Raises:
        NoProgram: there is no such file, module or option.
    """
    first, *rest = arguments
    if first == "-m":
        return run_module(rest[0], rest[1:])
    if first == "-c":
        return run_code(rest[0], rest[1:])
    if first.startswith("-"):
        raise NoProgram(f"unknown option {first} (python -m duograph --help lists the options)")
    return run_script(first, rest)


def run_script(path: str, arguments: Sequence[str] = ()) -> dict[str, Any]:
    """Runs the file ``path`` (a script, a notebook, or a folder or zip file with a ``__main__.py``).

    Args:
        path (str): the file.
        arguments (Sequence[str]): the program's arguments.

    Returns:
        The program's global names.

    Raises:
        NoProgram: there is no such file, or the folder has no ``__main__.py``.
    """
    install_as_mindspore()
    file = Path(path)
    if not file.exists():
        raise NoProgram(f"no such file: {path!r}")
    sys.argv = [path, *arguments]
    if file.is_dir() and not (file / "__main__.py").exists():
        raise NoProgram(f"there is no __main__.py in the folder {path!r}")
    if file.is_dir() or file.suffix in (".zip", ".pyz"):
        return runpy.run_path(path, run_name="__main__")
    sys.path[0:1] = [str(file.resolve().parent)]
    module = _main_module(path)
    for code in _notebook(file, module) if file.suffix == ".ipynb" else [compile(file.read_bytes(), path, "exec")]:
        exec(code, module.__dict__)
    return module.__dict__


def _notebook(file: Path, module: ModuleType) -> Iterator[CodeType]:
    try:
        texts = code_cells(file)
    except ValueError as error:  # also of what is no JSON, and no text
        raise NoProgram(f"{file.name!r} is not a notebook: {error}") from None
    return notebook_code(file, module, texts)


def run_module(name: str, arguments: Sequence[str] = ()) -> dict[str, Any]:
    """Runs the module ``name`` as a program, like ``python -m name``.

    Raises:
        NoProgram: there is no such module.
    """
    install_as_mindspore()
    sys.argv = [name, *arguments]
    sys.path[0:1] = [str(Path.cwd())]
    try:
        spec = find_spec(name)
    except ModuleNotFoundError as error:  # a package that it is in
        if error.name is None or not name.startswith(f"{error.name}."):
            raise
        spec = None
    if spec is None:
        raise NoProgram(f"no module named {name!r}")
    return runpy.run_module(name, run_name="__main__", alter_sys=True)


def run_code(text: str, arguments: Sequence[str] = ()) -> dict[str, Any]:
    """Runs the program ``text``, like ``python -c text``."""
    install_as_mindspore()
    sys.argv = ["-c", *arguments]
    sys.path[0:1] = [""]
    module = _main_module(None)
    exec(_compiled(text, "<string>"), module.__dict__)
    return module.__dict__


def hide_runner_frames() -> None:
    """Lets an uncaught exception show the frames of the program only, as if Python itself had run it."""

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        below(kind, error.with_traceback(trace), trace)

    below, sys.excepthook = sys.excepthook, show


def _is_ours(filename: str) -> bool:
    return filename.startswith("<frozen runpy") or Path(filename).parent in (_PACKAGE, _PACKAGE.parent)


_PACKAGE = Path(__file__).parent


def _main_module(path: str | None) -> ModuleType:
    """A fresh ``__main__``."""
    module = ModuleType("__main__")
    module.__builtins__ = sys.modules["builtins"]  # type: ignore[attr-defined]
    if path is not None:
        module.__file__ = path
    sys.modules["__main__"] = module
    return module


def _compiled(text: str, name: str) -> CodeType:
    """Code whose source tracebacks and capture can read although there is no file."""
    register_source(text, name)
    return compile(text, name, "exec")


def flushed(stream: TextIO | None) -> bool:
    """Whether somebody reads ``stream``; if nobody does, what is still in it goes nowhere.

    The interpreter flushes its streams once more at its end, and a failure there is the status of the process.
    """
    if stream is None:
        return False
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):  # a stream without a file
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return False
    return True
