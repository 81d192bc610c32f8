"""`ExportedGraph`: a program that was read from a file, and `StandaloneProgram`: one that can be called.

The file's data (``jit/portable.py``) becomes a `Program` again, whose inputs from outside are pinned tensors. It runs
like every compiled entry: optimised graph without tapes, derivative of the captured graph under a tape.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from duograph.autodiff.graph_vjp import replay
from duograph.core import dtype as dt
from duograph.core.dim import Symbol, parse_dim
from duograph.core.op import all_ops, rules_version, state
from duograph.frontend.guards.guard import GuardSet
from duograph.frontend.programs.program import Path, Program, Write
from duograph.frontend.rules.errors import Uncapturable
from duograph.frontend.rules.sources import Source, pinned
from duograph.frontend.values import recipe as recipes
from duograph.ir.node import Context, Graph
from duograph.ir.parser import parse
from duograph.tensor.tensor import Tensor

from .entry import Entry, RunFailed
from .portable import Portable


class ExportedGraph:
    """A program in MindIR, as a file holds it; `nn.GraphCell` makes it callable.

    Attributes:
        name: what the exported function was called.
        state: per tensor that lives with the program, its name, its value and whether it is a Parameter.
    """

    def __init__(self, content: Portable) -> None:
        self.content = content
        self.name: str = content.program["name"]
        self.graph = self.graph_in(Context())
        self.state = [
            SimpleNamespace(value=content.arrays[f"state.{k}"], **entry)
            for k, entry in enumerate(content.program["state"])
        ]

    def graph_in(self, context: Context) -> Graph:
        """The graph as one of ``context``, with the functions that it calls."""
        constants = {n.removeprefix("const."): a for n, a in self.content.arrays.items() if n.startswith("const.")}
        for name, text in self.content.functions.items():
            context.functions[name] = parse(text, context, constants)
        context.overwritten.update({tag: set(places) for tag, places in self.content.program["overwritten"]})
        return parse(self.content.text, context, constants)

    @property
    def arguments(self) -> list[tuple[str, dict[str, Any]]]:
        """Name and description of every argument of the exported call."""
        return [(name, spec) for name, spec in self.content.program["arguments"]]

    def __str__(self) -> str:
        return self.content.text

    def __repr__(self) -> str:
        return f"<MindIR graph {self.name}({', '.join(name for name, _ in self.arguments)})>"

    def __deepcopy__(self, memo: Any) -> ExportedGraph:
        return self  # nothing of it ever changes


class StandaloneProgram:
    """An `ExportedGraph` with the tensors that are its state."""

    def __init__(self, exported: ExportedGraph, tensors: Sequence[Tensor]) -> None:
        self.exported, self.tensors = exported, list(tensors)
        self._entry: Entry | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"exported": self.exported, "tensors": self.tensors, "_entry": None}

    def __call__(self, *inputs: Any) -> Any:
        """Runs the program.

        Raises:
            RuntimeError: the inputs are not like those that the program was exported for.
        """
        values = self._arguments(inputs)
        if state.binder is not None:
            return self._emit(values)
        entry = self._entry
        if entry is None or entry.rules != rules_version[0]:
            entry = self._entry = Entry(_Reader(self).program(), (), "O1", 0.0)
        program = entry.program
        if not program.memory_matches(values):
            raise RuntimeError("The inputs share memory in another way than those that the graph was exported for.")
        if not program.sizes_match(values):
            raise RuntimeError("The sizes of the inputs break an assumption of the exported graph.")
        try:
            return entry.run(values)
        except RunFailed as failed:
            assert failed.__cause__ is not None
            raise failed.__cause__ from None

    def _emit(self, values: list[Any]) -> Any:
        """Emits the program as a part of the one that is being captured."""
        program = _Reader(self).program()
        if len(program.paths) > 1 or program.symbols:
            raise Uncapturable("an exported graph with several ways to end, or with open sizes, inside another program")
        binder: Any = state.binder
        context, world = binder.builder.context, binder.session.world  # the world has the state of random numbers
        if not context.functions.keys().isdisjoint(self.exported.content.functions):
            raise Uncapturable("an exported graph that defines a function of the same name")
        graph = self.exported.graph_in(context)
        outputs = replay(graph, [*program.load_inputs(values), world.seed, world.offset], binder)
        return program.finish(values, outputs, world)

    # -- arguments ---------------------------------------------------------------------------------------------

    def _arguments(self, inputs: tuple[Any, ...]) -> list[Any]:
        """One value per argument. Those that are constants of the graph may be left out all together."""
        wanted = self.exported.arguments
        if self.exported.content.program["varargs"]:
            plain = len(wanted) - 1
            inputs = (*inputs[:plain], inputs[plain:])
        if len(inputs) != len(wanted):
            open_ = [i for i, (_, spec) in enumerate(wanted) if not _is_fixed(spec)]
            if len(inputs) != len(open_):
                names = ", ".join(name for name, _ in wanted)
                raise RuntimeError(
                    f"The input number of parameters is not compatible: the graph takes {len(wanted)} ({names}), "
                    f"got {len(inputs)}."
                )
            given = dict(zip(open_, inputs, strict=True))
            inputs = tuple(given[i] if i in given else _fixed(spec) for i, (_, spec) in enumerate(wanted))
        for (name, spec), value in zip(wanted, inputs, strict=True):
            wrong = mismatch(spec, value)
            if wrong:
                raise RuntimeError(f"The input {name!r} of the graph {wrong}.")
        return list(inputs)


def mismatch(spec: dict[str, Any], value: Any) -> str:
    """Why ``value`` is not what ``spec`` describes; empty if it is."""
    if "tensor" in spec:
        if not isinstance(value, Tensor):
            return f"must be a Tensor, but got {type(value).__name__}"
        dtype, shape = _DTYPES[spec["tensor"]], tuple(spec["shape"])
        fits = value.dtype is dtype and len(value.shape) == len(shape)
        fits = fits and all(want in (None, n) for want, n in zip(shape, value.shape, strict=True))
        return "" if fits else f"must be {dtype} {_shape_text(shape)}, but got {value.dtype} {tuple(value.shape)}"
    if "number" in spec:
        right = type(value).__name__ if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
        fits = isinstance(value, int | float) and right == spec["number"]
        return "" if fits else f"must be of type {spec['number']}, but got {value!r}"
    if "value" in spec:
        expected = decoded(spec["value"])
        fits = type(value) is type(expected) and value == expected
        return "" if fits else f"was {expected!r} when it was exported and must be so again, but got {value!r}"
    (kind, items), sequence = next(iter(spec.items())), (tuple, list)
    if kind == "dict":
        keys = [decoded(k) for k, _ in items]
        if not isinstance(value, dict) or list(value) != keys:
            return f"must be a dict with the keys {keys}, but got {value!r}"
        pairs = [(s, value[k]) for k, (_, s) in zip(keys, items, strict=True)]
    elif not isinstance(value, sequence[kind == "list"]) or len(value) != len(items):
        return f"must be a {kind} of {len(items)} items, but got {value!r}"
    else:
        pairs = list(zip(items, value, strict=True))
    return next((wrong for s, v in pairs if (wrong := mismatch(s, v))), "")


_DTYPES = {dtype.name: dtype for dtype in dt.DTYPES}


def _shape_text(shape: tuple[int | None, ...]) -> str:
    return "(" + ", ".join("any" if n is None else str(n) for n in shape) + ")"


def _is_fixed(spec: dict[str, Any]) -> bool:
    if "value" in spec:
        return True
    items = spec.get("tuple", spec.get("list"))
    return items is not None and all(map(_is_fixed, items))


def _fixed(spec: dict[str, Any]) -> Any:
    """The one value that fits a description without open parts."""
    if "value" in spec:
        return decoded(spec["value"])
    return tuple(map(_fixed, spec["tuple"])) if "tuple" in spec else list(map(_fixed, spec["list"]))


def decoded(data: Any) -> Any:
    """What `portable.encoded` wrote."""
    if not isinstance(data, dict):
        return data
    ((kind, content),) = data.items()
    match kind:
        case "float":
            return float.fromhex(content)
        case "complex":
            return complex(*map(float.fromhex, content))
        case "bytes":
            return bytes.fromhex(content)
        case "dtype":
            return _DTYPES[content]
        case "dict":
            return {decoded(k): decoded(v) for k, v in content}
        case "tuple" | "list" | "range" | "slice":
            items = [decoded(v) for v in content]
            kinds: dict[str, Any] = {"tuple": tuple, "list": list}
            return kinds[kind](items) if kind in kinds else getattr(builtins, kind)(*items)
    return Ellipsis


class _Reader:
    """Makes the `Program` of a file around given state tensors."""

    def __init__(self, owner: StandaloneProgram) -> None:
        self.exported, self.tensors = owner.exported, owner.tensors
        self.recipes: dict[int, recipes.Recipe] = {}

    def program(self) -> Program:
        data = self.exported.content.program
        symbols = {name: Symbol(name) for name, _, _ in data["symbols"]}
        return Program(
            self.exported.name,
            self.exported.graph,
            [self.input(s) for s in data["inputs"]],
            True,
            False,
            [self.path(p) for p in data["paths"]],
            GuardSet(),
            [(self.source(source), mark) for source, mark in data["aliases"]],
            [(symbols[name], self.source(source), axis) for name, source, axis in data["symbols"]],
            [(parse_dim(a, symbols), parse_dim(b, symbols)) for a, b in data["assumptions"]],
            standalone=True,
        )

    def source(self, data: dict[str, Any]) -> Source:
        if "state" in data:
            return pinned(self.tensors[data["state"]])
        source = Source("arg", self.exported.arguments[data["arg"]][0], data["arg"])
        for key in data["path"]:
            source = Source("item", source, decoded(key))
        return source

    def input(self, data: dict[str, Any]) -> Source:
        return pinned(decoded(data["number"])) if "number" in data else self.source(data)

    def path(self, data: dict[str, Any]) -> Path:
        value = data["value"]
        if data["kind"] == "raise":
            args = [decoded(a) for a in value["args"]]
            made: recipes.Recipe = recipes.Constant(getattr(builtins, value["exception"])(*args))
        else:
            made = self.recipe(value)
        return Path(
            data["kind"],
            made,
            data["first"],
            data["count"],
            [Write(self.recipe(target), *rest) for target, *rest in data["tensors"]],
            [(self.source(source), self.container(contents)) for source, contents in data["containers"]],
            [],
            data["offset"],
        )

    def recipe(self, data: dict[str, Any]) -> recipes.Recipe:
        if "value" in data:
            return recipes.Constant(decoded(data["value"]))
        if "output" in data:
            return recipes.Output(data["output"])
        if "outside" in data:
            return recipes.Outside(self.source(data["outside"]))
        if "slice" in data:
            return recipes.Called(slice, [self.recipe(r) for r in data["slice"]])
        if data["id"] in self.recipes:
            return self.recipes[data["id"]]
        if "view" in data:
            attrs = {k: decoded(v) for k, v in data["attrs"].items()}
            made = recipes.View(self.recipe(data["view"]), all_ops()[data["op"]], attrs)
            self.recipes[data["id"]] = made
            return made
        return self.container(data)

    def container(self, data: dict[str, Any]) -> recipes.Container:
        known = self.recipes.get(data["id"])
        if isinstance(known, recipes.Container):
            return known
        kind = getattr(builtins, data["kind"])
        made = self.recipes[data["id"]] = recipes.Container(kind, blank=partial(kind))
        if "keys" in data:
            made.keys = [decoded(k) for k in data["keys"]]
        made.items = [self.recipe(r) for r in data["items"]]
        return made
