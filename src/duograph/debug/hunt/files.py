"""Files of internal failures: a graph, what it failed on, and the command that replays it.

The file is MindIR text, which `duograph opt` reads, too; what a graph does not say stands in comments in front::

    # internal failure of the code generator for @f: KeyError: 'x' (runtime/programs/build.py:120)
    # replay: python -m duograph reduce --check FILE
    # level: 1
    # array k0: float32 3,4 eJxjYGD4DwAB...
    # value: array float32 3,4 eJxj...
    graph @f(%x: f32[3,4]) -> f32[3,4] {

Where no graph is at hand (guards, capture, native calls), the file is a program with the call (`calls`); and where
that cannot be written, it has the traceback, and the command is that of the program.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import hashlib
import os
import shlex
import sys
import tempfile
import traceback
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.base.failures import Failure
from duograph.core import dtype as dt
from duograph.core.op import get_op, is_declared
from duograph.debug.opt import declare_ops
from duograph.frontend.rules.errors import Uncapturable
from duograph.ir.node import Context, Graph
from duograph.ir.parser import parse
from duograph.ir.printer import all_graphs, print_graph
from duograph.runtime.machine.diskcache import folder

from .calls import call_in, program_of

__all__ = ["Case", "quiet", "read_case", "write_down"]

REPLAY = "# replay: "
WHOLE = "a compiled version"
"""The part whose graph is as right as machine code of it: what is wrong may be anything that led there."""
MOST_FILES = 20
"""Files that a process writes; programs that fail in a loop fail in the same ways."""
MOST_BYTES = 1 << 20
"""Of one array; larger ones are made up when the failure is replayed."""

_written: dict[str, str] = {}
_busy: list[None] = []


class Case:
    """A graph that fails.

    Attributes:
        graph: the graph, before its passes.
        level: of optimisation.
        values: what it was run on; ``None``: unknown.
        said: what was said of the failure.
    """

    def __init__(self, graph: Graph, level: int, values: Sequence[Any] | None = None, said: str = "") -> None:
        self.graph, self.level, self.said = graph, level, said
        self.values = None if values is None else list(values)

    def text(self, file: str) -> str:
        """The contents of a file of this name.

        Raises:
            ValueError: the graph refers to objects of Python, or has operators of the program.
        """
        for node in [n for g in all_graphs(self.graph) for n in g.nodes]:
            if not (is_declared(node.op.name) and get_op(node.op.name) is node.op):
                raise ValueError(f"the operator {node.op.name} is one of the program")
        context = self.graph.context
        graph_text = print_graph(self.graph)
        lines = [f"# {self.said}", f"# replay: python -m duograph reduce --check {shlex.quote(file)}"]
        lines.append(f"# level: {self.level}")
        for key, value in context.keys.items():
            if f"@{key}" in graph_text:
                if not isinstance(value, np.ndarray):
                    raise ValueError(f"the graph refers to a {type(value).__name__}")
                lines.append(f"# array {key}: {_packed(value)}")
        if self.values is not None and all(_is_plain(v) for v in self.values):
            lines += [f"# value: {_value_text(v)}" for v in self.values]
        return "\n".join(lines) + "\n" + graph_text


def read_case(path: str) -> Case:
    """The case that a file holds; any MindIR text is one.

    Raises:
        DuographError: the text is no MindIR.
        OSError: the file cannot be read.
        ValueError: what is said in front of the graph cannot be read.
    """
    declare_ops()
    with open(path, encoding="utf-8") as file:
        text = file.read()
    arrays: dict[str, Any] = {}
    values: list[Any] = []
    level, said = 1, ""
    for line in text.splitlines():
        if not line.startswith("# "):
            break
        name, _, rest = line[2:].partition(": ")
        if name == "level":
            level = int(rest)
        elif name.startswith("array "):
            arrays[name[6:]] = _unpacked(rest)
        elif name == "value":
            values.append(_value_of(rest))
        elif not said:
            said = line[2:]
    context = Context()
    graph = parse(text, context, arrays)
    return Case(graph, level, values if len(values) == len(graph.params) else None, said)


# ---- values ---------------------------------------------------------------------------------------------------------


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, np.ndarray | bool | int | float)


def _value_text(value: Any) -> str:
    return f"array {_packed(value)}" if isinstance(value, np.ndarray) else repr(value)


def _value_of(text: str) -> Any:
    if text.startswith("array "):
        return _unpacked(text[6:])
    return float(text) if text in ("nan", "inf", "-inf") else ast.literal_eval(text)


def _packed(array: np.ndarray) -> str:
    shape = ",".join(map(str, array.shape)) or "-"
    name = dt.from_numpy(array.dtype).name
    data = "?"
    if array.nbytes <= MOST_BYTES:
        data = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes())).decode()
    return f"{name} {shape} {data}"


def _unpacked(text: str) -> np.ndarray:
    name, shape_text, data = text.split(" ")
    dtype = getattr(dt, name, None)
    if not isinstance(dtype, dt.DType):
        raise ValueError(f"there is no dtype {name!r}")
    numpy_type = np.dtype(dtype.numpy)
    shape = () if shape_text == "-" else tuple(map(int, shape_text.split(",")))
    if data == "?":
        made = np.random.default_rng(0).standard_normal(shape) * 2
        return made.astype(numpy_type)
    try:
        raw = zlib.decompress(base64.b64decode(data))
    except zlib.error as error:
        raise ValueError(f"the bytes of an array are damaged: {error}") from None
    return np.frombuffer(raw, numpy_type).reshape(shape).copy()


# ---- writing --------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def quiet() -> Any:
    """Within the block failures are not written down: they are being replayed."""
    _busy.append(None)
    try:
        yield
    finally:
        _busy.pop()


def write_down(failure: Failure, error: BaseException, subject: Any) -> str:
    """Writes a failure to a file, once for each kind, and gives its name; empty: it could not be written."""
    key = f"{failure.area} {failure.error} {failure.place}"
    if key in _written:
        return _written[key]
    if _busy or len(_written) >= MOST_FILES:
        return ""
    with quiet():  # what fails in here does so in silence
        try:
            _written[key] = _write(failure, error, subject, hashlib.sha256(key.encode()).hexdigest()[:12])
        except Exception:  # noqa: BLE001 - the failure itself is told all the same
            _written[key] = ""
    return _written[key]


def _write(failure: Failure, error: BaseException, subject: Any, digest: str) -> str:
    place = folder()
    place = os.path.join(place or tempfile.gettempdir(), "duograph-failures" if place is None else "failures")
    os.makedirs(place, mode=0o700, exist_ok=True)
    name = os.path.join(place, f"{failure.area.split(' ')[-1]}-{digest}")
    said, program = str(failure).replace("\n", " "), f"DUOGRAPH_FAILURES=raise {shlex.join(sys.orig_argv)}"
    path, text, why = "", "", ""
    if subject is not None and failure.area != WHOLE:
        path = f"{name}.mindir"
        with contextlib.suppress(ValueError):
            text = Case(subject[0], subject[1], subject[2] if len(subject) > 2 else None, said).text(path)
    if not text and (call := call_in(sys._getframe())) is not None:
        path = f"{name}.py"
        replay = f"{REPLAY}python -m duograph reduce --check {shlex.quote(path)}"
        try:
            text = f"# {said}\n{replay}\n# program: {program}\n{program_of(*call)}"
        except (ValueError, Uncapturable) as refusal:
            why = f"# the call is not written down: {refusal}\n"
    if not text:
        path, trace = f"{name}.txt", "".join(traceback.format_exception(error))
        text = f"# {said}\n{REPLAY}{program}\n{why}{trace}"
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=place, delete=False) as file:
        file.write(text)
    os.replace(file.name, path)
    return path
