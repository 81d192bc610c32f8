"""Internal failures that no graph is at hand for (capture, guards, native calls): the call as a program of its own.

The program has the compiled function or Cell, the functions and classes of the user's script that it needs, what else
it names, and the arguments. What cannot be written so (an object of a class in a function) is refused; the file then
has the traceback. To replay it is to run it: each time in a child process, with a limit of time, because parts of a
program may have no end.
"""

from __future__ import annotations

import ast
import base64
import copy
import dis
import io
import json
import os
import pickle
import select
import signal
import sys
import time
import types
import zlib
from collections.abc import Iterator
from typing import Any

from duograph.base.config import configure
from duograph.base.failures import InternalFailure
from duograph.base.source import captured_source, is_internal_file, register_source
from duograph.frontend.source.load import load_function
from duograph.jit.function import JitFunction

__all__ = ["call_in", "program_of", "shrunk_program", "unpacked", "why_the_call_fails"]

MOST_BYTES = 4 << 20
"""Of one value."""
SECONDS = 20
MOST_TRIES = 2000
_PLAIN = (type(None), bool, int, float, str)
_OPTIONS = ("capture_mode", "jit_level", "backend")


def unpacked(text: str) -> Any:
    """A value of a program that `program_of` has written; classes of the script it was in are those of the program."""
    reader = _Unpickler(io.BytesIO(zlib.decompress(base64.b64decode(text))))
    reader.names = sys._getframe(1).f_globals
    return reader.load()


class _Unpickler(pickle.Unpickler):
    names: dict[str, Any]

    def find_class(self, module: str, name: str) -> Any:
        return self.names[name] if module == "__main__" else super().find_class(module, name)


class _Pickler(pickle.Pickler):
    """Notes the functions and classes of the running script that what it writes refers to."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.named: list[Any] = []

    def reducer_override(self, obj: Any) -> Any:
        if issubclass(type(obj), type | types.FunctionType) and obj.__module__ == "__main__":
            self.named.append(obj)
        return NotImplemented


# ---- writing --------------------------------------------------------------------------------------------------------


def call_in(frame: types.FrameType | None) -> tuple[JitFunction, tuple[Any, ...], dict[str, Any]] | None:
    """The innermost call of a compiled function among the callers of a frame."""
    while frame is not None:
        if frame.f_code is JitFunction.__call__.__code__:
            held = frame.f_locals
            return held["self"], held["args"], held["kwargs"]
        frame = frame.f_back
    return None


def program_of(function: JitFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """A program with the call.

    Raises:
        ValueError: something in it cannot be written down.
    """
    writer = _Writer()
    name = writer.subject_of(function)
    given, named = writer.text_of(args), writer.text_of(kwargs)
    folder = os.path.dirname(os.path.abspath(sys.argv[0])) if sys.argv[0] else os.getcwd()
    return "\n".join(
        [
            "from __future__ import annotations",
            "import sys",
            f"sys.path.append({folder!r})",
            *writer.imports,
            *writer.classes,
            *writer.values,
            *writer.functions,
            f"CALL = {name}, {given}, {named}",
            "if __name__ == '__main__':",
            "    print(CALL[0](*CALL[1], **CALL[2]))",
            "",
        ]
    )


class _Writer:
    """Writes functions and values by the names that they have in the program."""

    def __init__(self) -> None:
        self.imports: list[str] = ["import duograph", "from duograph.debug.hunt.calls import unpacked"]
        self.classes: list[str] = []
        self.values: list[str] = []
        self.functions: list[str] = []
        self._known: dict[str, Any] = {"duograph": None, "unpacked": None, "sys": sys, "CALL": None}

    def subject_of(self, function: JitFunction) -> str:
        """An expression for what was called: a compiled function, or a Cell or another object whose call is."""
        if function.target is None:
            return self.name_of(function)
        return f"duograph.jit({self.text_of(function.target)}, **{self._options(function)!r})"

    def _options(self, function: JitFunction) -> dict[str, str]:
        options = {key: value for key in _OPTIONS if (value := getattr(function.options, key))}
        if not all(isinstance(value, str) for value in options.values()):
            raise ValueError("its backend is one of the program")
        return options

    def name_of(self, function: JitFunction) -> str:
        """Writes a compiled function under its own name."""
        fn = function.fn
        if not isinstance(fn, types.FunctionType) or function.target is not None or function.options.signature:
            raise ValueError(f"{function} is not a plain function")
        self._known[fn.__name__] = function
        self._function(fn, [f"@duograph.jit(**{self._options(function)!r})"])
        return fn.__name__

    def _function(self, fn: types.FunctionType, decorators: list[str]) -> None:
        node = copy.deepcopy(load_function(fn).node)
        if not isinstance(node, ast.FunctionDef):
            raise ValueError(f"{fn.__name__} is no def")
        node.decorator_list, node.returns = [], None
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        for name in _names_in(fn.__code__):
            if name in cells:
                self.let(name, cells[name].cell_contents)
            elif name in fn.__globals__:
                self.let(name, fn.__globals__[name])
        self.functions += ["", *decorators, ast.unparse(node)]

    def _class(self, cls: type) -> None:
        """Writes a class of the running script, and before it the classes that it derives from."""
        codes = [value.__code__ for value in vars(cls).values() if type(value) is types.FunctionType]
        codes = [code for code in codes if code.co_qualname == f"{cls.__qualname__}.{code.co_name}"]  # not dataclass's
        names = vars(sys.modules["__main__"])
        file = codes[0].co_filename if codes else names.get("__file__", "")
        source = captured_source(file)
        found = [
            node
            for node in (ast.parse(source.text).body if source else [])
            if isinstance(node, ast.ClassDef) and node.name == cls.__qualname__
        ]
        lines = range(found[-1].lineno, (found[-1].end_lineno or 0) + 1) if found else ()
        if not found or not all(code.co_firstlineno in lines for code in codes):
            raise ValueError(f"there is no source of {cls.__qualname__}")
        for name in _names_in(compile(ast.Module([found[-1]], []), file, "exec")):
            if name in names and names[name] is not cls and not name.startswith("__"):
                self.let(name, names[name])
        self.classes += ["", ast.unparse(found[-1])]

    def let(self, name: str, value: Any) -> None:
        """Gives a name its value in the program."""
        if name in self._known:
            if self._known[name] is not value:
                raise ValueError(f"{name} is two things")
            return
        self._known[name] = value
        if isinstance(value, types.ModuleType):
            self.imports.append(f"import {value.__name__} as {name}")
        elif isinstance(value, JitFunction) and value.fn.__name__ == name:
            self.name_of(value)
        elif isinstance(value, types.FunctionType) and value.__name__ == name and _is_of_user(value):
            self._function(value, [])
        elif issubclass(type(value), type) and value.__module__ == "__main__":
            self._class(value)
        elif getattr(sys.modules.get(home := getattr(value, "__module__", None) or ""), name, None) is value and (
            home != "__main__"  # of an object, the module of its class
        ):
            self.imports.append(f"from {value.__module__} import {name}")
        else:
            self.values.append(f"{name} = {self.text_of(value)}")

    def text_of(self, value: Any) -> str:
        """An expression for a value."""
        if type(value) in _PLAIN:
            return f"float({str(value)!r})" if isinstance(value, float) else repr(value)
        if type(value) in (tuple, list):
            items = ", ".join(map(self.text_of, value))
            return f"[{items}]" if isinstance(value, list) else f"({items},)" if value else "()"
        if type(value) is dict:
            return "{" + ", ".join(f"{self.text_of(k)}: {self.text_of(v)}" for k, v in value.items()) + "}"
        file = io.BytesIO()
        writer = _Pickler(file)
        try:
            writer.dump(value)
        except Exception as error:
            raise ValueError(f"a {type(value).__name__} cannot be written: {error}") from error
        data = file.getvalue()
        if len(data) > MOST_BYTES:
            raise ValueError(f"a {type(value).__name__} is too large")
        for found in writer.named:
            if type(found) is types.FunctionType:  # functions are written behind the values
                raise ValueError(f"a {type(value).__name__} refers to {found.__name__} of the running script")
            self.let(found.__qualname__, found)
        return f"unpacked({base64.b64encode(zlib.compress(data)).decode()!r})"


def _names_in(code: types.CodeType) -> Iterator[str]:
    """The names that a function looks up outside of itself."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
    yield from code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


def _is_of_user(fn: types.FunctionType) -> bool:
    file = fn.__code__.co_filename
    if fn.__globals__.get("__name__", "").partition(".")[0] in sys.stdlib_module_names:
        return False
    return not is_internal_file(file) and "site-packages" not in file and captured_source(file) is not None


# ---- replaying ------------------------------------------------------------------------------------------------------


def why_the_call_fails(text: str, seconds: float = SECONDS) -> str:
    """How the call of a program fails, in words that are the same for the same failure; empty if it does not, or not
    within so many ``seconds``."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            for output in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), output)
            os.write(writing, json.dumps(_run(text)).encode()[:4096])
        finally:
            os._exit(0)
    os.close(writing)
    try:
        found = os.read(reading, 4096) if select.select([reading], [], [], seconds)[0] else b""
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return json.loads(found) if found else ""


def _run(text: str) -> str:
    source = register_source(text)
    with configure(failures="raise"):
        try:
            module = sys.modules["replayed"] = types.ModuleType("replayed")  # where dataclasses look for their names
            names = vars(module)
            exec(compile(text, source.name, "exec"), names)
            function, args, kwargs = names["CALL"]
            for _ in range(3):  # compiled, run, and called natively
                function(*args, **kwargs)
        except InternalFailure as failed:
            told = failed.failure
            return f"{told.area}: {told.error.partition(':')[0]} ({told.place.rpartition(':')[0]})"
        except Exception:  # noqa: BLE001 - the program's own
            return ""
    return ""


def shrunk_program(text: str) -> str:
    """The smallest program that was found to fail as ``text`` does: without statements, or parts of them.

    Raises:
        ValueError: it does not fail.
    """
    begun = time.perf_counter()
    wanted = why_the_call_fails(text)
    if not wanted:
        raise ValueError("the call does not fail here")
    limit = 1 + 2 * (time.perf_counter() - begun)
    tree = ast.parse(text)
    small, tried = ast.unparse(tree), {""}
    at = last = 0  # once around without success is the end
    while len(tried) < MOST_TRIES:
        candidate = _changed(tree, at)
        if candidate is None:
            if not last:
                break
            at = last = 0
            continue
        made = ast.unparse(candidate)
        if made in tried or len(made) >= len(small):
            at += 1
            continue
        tried.add(made)
        if why_the_call_fails(made, limit) == wanted:
            tree, small, last = candidate, made, 1
        else:
            at += 1
    return small + "\n"


def _changed(tree: ast.Module, number: int) -> ast.Module | None:
    """A copy of a program with change ``number``, of all that there are; ``None``: there are no more."""
    made = copy.deepcopy(tree)
    for node in ast.walk(made):
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                for i, statement in enumerate(value):
                    inside = [s for part in ("body", "orelse") for s in _statements(statement, part)]
                    ways: list[list[ast.stmt]] = [[], inside] if inside else [[]]
                    if number < len(ways):
                        value[i : i + 1] = ways[number]
                        if not value:
                            value.append(ast.Pass())
                        return made
                    number -= len(ways)
            elif isinstance(value, ast.expr) and not isinstance(node, ast.Attribute):
                parts = [part for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr)]
                if number < len(parts):
                    setattr(node, field, parts[number])
                    return made
                number -= len(parts)
    return None


def _statements(node: ast.stmt, part: str) -> list[ast.stmt]:
    return [] if isinstance(node, ast.FunctionDef) else [s for s in getattr(node, part, ()) if isinstance(s, ast.stmt)]
