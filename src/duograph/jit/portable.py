"""A captured program as text, data and arrays: what a MindIR file holds, and how to make it from a `Program`.

The graph is MindIR text. What is around it (where inputs come from, what happens to outputs, on each path) is plain
data that JSON can hold; ``jit/exported.py`` reads it back::

    source ::= {"arg": i, "path": [key, ...]} | {"state": k}
    value  ::= null | true | 12 | "text" | {"float": "0x1p+0"} | {"tuple": [value, ...]} | {"dtype": "Float32"} | ...
    recipe ::= {"value": value} | {"outside": source} | {"output": i} | {"view": recipe, "op": name, "attrs": {...}}
             | {"list": [recipe, ...]} | {"dict": [recipe, ...], "keys": [value, ...]} | {"slice": [recipe, ...]} ...

Containers carry an ``"id"``, so that one object that occurs twice is one object again. Whatever belongs to the Python
world (prints, other objects, writes to attributes) cannot be put into a file; the error names it and its line.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from duograph.base.diagnostics import Diagnostic, DuographError, diagnostic_error
from duograph.base.lookup import raw_getattr
from duograph.base.source import Span, span_of_code
from duograph.core.dim import Dim
from duograph.core.dtype import DType
from duograph.core.types import OBJECT, Type
from duograph.frontend.programs.program import Path, Program
from duograph.frontend.rules.sources import Source
from duograph.frontend.values import recipe as recipes
from duograph.ir.control import call_named
from duograph.ir.node import Apply, Const, Context, Graph
from duograph.ir.printer import all_graphs, print_graph
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Placeholder, Tensor

_KEY = re.compile(r"@(k\d+)\b")


@dataclass(slots=True)
class Portable:
    """What a file holds.

    Attributes:
        text: the graph as MindIR.
        functions: MindIR of the functions that ``call_named`` calls.
        program: everything else, as data for JSON.
        arrays: large constants (``const.k0``) and the state (``state.0``): parameters and tensors from outside.
    """

    text: str
    functions: dict[str, str]
    program: dict[str, Any]
    arrays: dict[str, np.ndarray] = field(default_factory=dict)


def portable(program: Program, fn: Any, arguments: dict[str, Any], varargs: bool) -> Portable:
    """``program`` without the Python world around it.

    Args:
        program: a captured program.
        fn: the function that it was captured from, for messages.
        arguments: the captured call's arguments by name.
        varargs: whether the last of them is the tuple of ``*args``.

    Raises:
        RuntimeError: the program depends on Python objects, or has effects on them.
    """
    return _Writer(program, fn).write(arguments, varargs)


class _Writer:
    def __init__(self, program: Program, fn: Any) -> None:
        self.program, self.fn = program, fn
        self.context: Context = program.graph.context
        self.state: dict[int, tuple[Tensor, int]] = {}
        self.arrays: dict[str, np.ndarray] = {}
        self.ids: dict[int, int] = {}

    def write(self, arguments: dict[str, Any], varargs: bool) -> Portable:
        functions = self._functions()
        for graph in (self.program.graph, *functions.values()):
            self._check_graph(graph)
        inputs = [self.input(s) for s in self.program.inputs]
        dynamic = {s for s in self.program.inputs if s.kind in ("arg", "item")}
        data = {
            "name": self.program.name,
            "varargs": varargs,
            "arguments": [
                [name, self.argument(value, Source("arg", name, i), dynamic)]
                for i, (name, value) in enumerate(arguments.items())
            ],
            "inputs": inputs,
            "paths": [self.path(p) for p in self.program.paths],
            "aliases": self._aliases(),
            "symbols": [[str(symbol), self.source(source), axis] for symbol, source, axis in self.program.symbols],
            "assumptions": [[str(a), str(b)] for a, b in self.program.assumptions],
            "overwritten": [[tag, sorted(places)] for tag, places in self.context.overwritten.items()],
        }
        text, texts = print_graph(self.program.graph), {n: print_graph(g) for n, g in functions.items()}
        for key in dict.fromkeys(_KEY.findall("\n".join([text, *texts.values()]))):
            if isinstance(self.context.keys.get(key), np.ndarray):
                self.arrays[f"const.{key}"] = self.context.keys[key]
        data["state"] = [self._state_entry(tensor, k) for tensor, k in self.state.values()]
        return Portable(text, texts, data, self.arrays)

    # -- what cannot be exported -------------------------------------------------------------------------------

    def failure(self, what: str, span: Span | None = None, help: str | None = None) -> Exception:
        return cannot_export(self.fn, what, span, help)

    def _functions(self) -> dict[str, Graph]:
        """The recursive functions that the program calls, directly or not."""
        found: dict[str, Graph] = {}
        work = [self.program.graph]
        while work:
            for node in _nodes(work.pop()):
                name = node.attrs.get("name") if node.op is call_named else None
                if name is not None and name not in found:
                    found[name] = self.context.functions[name]
                    work.append(found[name])
        return found

    def _check_graph(self, graph: Graph) -> None:
        for node in _nodes(graph):
            spans = self.context.origins.get(node, ())
            span = spans[-1] if spans else None
            if node.op.effects:
                target = node.attrs.get("target")
                what = type(target).__name__.removesuffix("Target").lower() or "effect"
                why = "communicates with other ranks" if target is None else "runs Python code"
                raise self.failure(f"{what if target is not None else node.op.name} {why}", span)
            for operand in node.operands:
                if isinstance(operand, Const) and operand.type == OBJECT:
                    raise self.failure(f"{node.op.name} takes the Python object {operand.value!r}", span)
            for value in node.attrs.values():
                if not _is_writable(value):
                    raise self.failure(f"{node.op.name} takes the Python object {value!r}", span)

    def _aliases(self) -> list[Any]:
        """Memory that arguments share; state keeps to itself, so two of its tensors must not share any."""
        made, seen = [], set()
        for source, mark in self.program.aliases:
            data = self.source(source)
            if "arg" in data:
                made.append([data, mark])
            elif mark in seen:
                raise self.failure("two tensors from outside share memory, and the program writes to it")
            seen.add(mark)
        return made

    # -- sources and arguments ---------------------------------------------------------------------------------

    def source(self, source: Source) -> dict[str, Any]:
        """Where a tensor or container comes from: an argument, or the state that goes into the file."""
        found = self._argument_path(source)
        if found is not None:
            return found
        value = source.load(())
        if not isinstance(value, Tensor):
            what = f"{source} is a Python object ({type(value).__name__})"
            raise self.failure(f"{what} that the program gives back or changes")
        known = self.state.get(id(value))
        if known is None:
            known = self.state[id(value)] = (value, len(self.state))
            self.arrays[f"state.{known[1]}"] = value.array()
        return {"state": known[1]}

    def _argument_path(self, source: Source) -> dict[str, Any] | None:
        path: list[Any] = []
        while source.kind == "item":
            path.insert(0, self.value(source.key))
            source = source.base
        return {"arg": source.key, "path": path} if source.kind == "arg" else None

    def input(self, source: Source) -> dict[str, Any]:
        """An input of the graph; numbers from outside keep the value that they have now."""
        if self._argument_path(source) is None:
            value = source.load(())
            if isinstance(value, bool | int | float):
                return {"number": self.value(value)}
        return self.source(source)

    def _state_entry(self, tensor: Tensor, number: int) -> dict[str, Any]:
        if isinstance(tensor, Parameter):
            return {"name": tensor.name, "parameter": True, "requires_grad": tensor.requires_grad}
        return {"name": f"tensor.{number}", "parameter": False, "requires_grad": False}

    def argument(self, value: Any, source: Source, dynamic: set[Source]) -> dict[str, Any]:
        """What a later call must pass here."""
        if isinstance(value, Tensor):
            shape = [None if n == -1 else int(n) for n in value._data.shape]
            return {"tensor": value.dtype.name, "shape": shape}
        if source in dynamic and isinstance(value, int | float):
            return {"number": "int" if isinstance(value, int) else "float"}
        if isinstance(value, tuple | list):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [self.argument(v, Source("item", source, i), dynamic) for i, v in enumerate(value)]}
        if isinstance(value, dict):
            items = [(k, self.argument(v, Source("item", source, k), dynamic)) for k, v in value.items()]
            return {"dict": [[self.value(k), v] for k, v in items]}
        return {"value": self.value(value, f"the argument {source}")}

    # -- values ------------------------------------------------------------------------------------------------

    def value(self, value: Any, what: str = "") -> Any:
        """A constant as data."""
        data = encoded(value)
        if data is None and value is not None:
            raise self.failure(f"{what or 'what it uses'} is a Python object: {value!r}")
        return data

    # -- results and effects -----------------------------------------------------------------------------------

    def path(self, path: Path) -> dict[str, Any]:
        for kind, owner, name, _ in path.attributes:
            what = f"the attribute {type(owner).__name__}.{name}" if kind == "attr" else f"the variable {name}"
            raise self.failure(f"it assigns to {what}, which belongs to the Python program", path.span)
        return {
            "kind": path.kind,
            "value": self.recipe(path.value) if path.kind == "return" else self._exception(path),
            "first": path.first,
            "count": path.count,
            "tensors": [[self.recipe(w.target), w.output, w.replaces] for w in path.tensors],
            "containers": [[self.source(source), self.recipe(contents)] for source, contents in path.containers],
            "offset": path.offset,
        }

    def _exception(self, path: Path) -> dict[str, Any]:
        value: Any = path.value.value if isinstance(path.value, recipes.Constant) else None
        # errors of this package are of a builtin class, too; a class of the user's is not in the file
        for cls in type(value).__mro__ if isinstance(value, Exception) else ():
            if getattr(builtins, cls.__name__, None) is cls:
                args = [a if _is_encodable(a) else str(a) for a in value.args]
                return {"exception": cls.__name__, "args": [encoded(a) for a in args]}
            if not issubclass(cls, DuographError):
                break
        raise self.failure("it raises an exception that is made when it runs", path.span)

    def recipe(self, recipe: Any) -> dict[str, Any]:
        match recipe:
            case recipes.Constant(value=value):
                return {"value": self.value(value, "what the program returns")}
            case recipes.Output(index=index):
                return {"output": index}
            case recipes.Chosen(value=value):  # what is read from a file gives copies
                return self.recipe(value)
            case recipes.Outside(source=source):
                return {"outside": self.source(source)}
            case recipes.View(parent=parent, op=op, attrs=attrs):
                data = {"view": self.recipe(parent), "op": op.name, "id": self._id(recipe)}
                return {**data, "attrs": {k: self.value(v) for k, v in attrs.items()}}
            case recipes.Container(kind=kind) if kind in (list, tuple, dict, set, frozenset):
                known = id(recipe) in self.ids
                data = {"kind": kind.__name__, "id": self._id(recipe)}
                if known:
                    return data
                if recipe.keys is not None:
                    data["keys"] = [self.value(k) for k in recipe.keys]
                return {**data, "items": [self.recipe(r) for r in recipe.items]}
            case recipes.Called(function=function, items=items) if function is slice:
                return {"slice": [self.recipe(r) for r in items]}
            case recipes.Container(kind=kind):
                raise self.failure(f"it returns or changes an object of the Python class {kind.__name__}")
            case recipes.Text():
                raise self.failure("it returns a string that is made when it runs")
        raise self.failure("it returns a Python object that is made when it runs")

    def _id(self, recipe: Any) -> int:
        return self.ids.setdefault(id(recipe), len(self.ids))


def cannot_export(fn: Any, what: str, span: Span | None, help: str | None = None) -> Exception:
    """The error for a program that needs the Python interpreter."""
    fn = raw_getattr(fn, "__func__", fn)
    code = raw_getattr(fn, "__code__")
    span = span.users if span is not None else span_of_code(code) if code is not None else None
    name = raw_getattr(fn, "__qualname__", type(fn).__name__)
    diagnostic = Diagnostic(
        "DG0104", f"{name} cannot be exported: {what}",
        help=help or "a MindIR file holds tensors and graphs only; move this out of the exported program",
    ).with_label(span, what)  # fmt: skip
    return diagnostic_error(RuntimeError, diagnostic)


def encoded(value: Any) -> Any:
    """A constant as data for JSON; ``None`` for what is none (and for None)."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return {"float": value.hex()}
    if type(value) is complex:
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if type(value) is bytes:
        return {"bytes": value.hex()}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, DType):
        return {"dtype": value.name}
    if type(value) in (tuple, list):
        return {type(value).__name__: [encoded(v) for v in value]} if all(map(_is_encodable, value)) else None
    if type(value) is dict and all(map(_is_encodable, [*value, *value.values()])):
        return {"dict": [[encoded(k), encoded(v)] for k, v in value.items()]}
    if isinstance(value, range | slice):
        parts = (value.start, value.stop, value.step)
        return {type(value).__name__: [encoded(v) for v in parts]} if all(map(_is_encodable, parts)) else None
    if isinstance(value, bool | int | float | str):  # mutable(3), IntEnum, ...
        plain = next(kind for kind in (bool, int, float, str) if isinstance(value, kind))
        return encoded(plain(value)) if raw_getattr(value, "__ms_mutable__", False) else None
    return None


def _is_encodable(value: Any) -> bool:
    return value is None or encoded(value) is not None


def _is_writable(value: Any) -> bool:
    """Whether MindIR text can hold an attribute."""
    if isinstance(value, tuple):
        return all(_is_writable(v) for v in value)
    plain = bool | int | float | complex | str | type(None) | type(...)
    return isinstance(value, plain | Dim | DType | Type | Graph)


def _nodes(graph: Graph) -> Iterator[Apply]:
    for g in all_graphs(graph):
        yield from g.nodes


def is_open(value: Any) -> bool:
    """Whether a tensor only says what will be passed."""
    return isinstance(value, Tensor) and isinstance(value._data, Placeholder)


def open_patterns(arguments: dict[str, Any]) -> dict[Source, tuple[int | None, ...]]:
    """Patterns of all placeholders in the arguments of a call, however deep.

    Raises:
        ValueError: a placeholder of unknown rank.
    """
    found: dict[Source, tuple[int | None, ...]] = {}

    def visit(value: Any, source: Source) -> None:
        if is_open(value):
            if tuple(value._data.shape) == (-2,):
                raise ValueError(f"The rank of the input {source} is not known; only its extents can be left open.")
            found[source] = tuple(None if n == -1 else n for n in value._data.shape)
        elif isinstance(value, tuple | list):
            for i, v in enumerate(value):
                visit(v, Source("item", source, i))
        elif isinstance(value, dict):
            for k, v in value.items():
                visit(v, Source("item", source, k))

    for i, (name, value) in enumerate(arguments.items()):
        visit(value, Source("arg", name, i))
    return found
