"""Reading MindSpore's ``.mindir`` files: planned, and captured as a program.

What is read are graphs for inference of `FUNCTIONS` and of the primitives that duograph has, with ``if`` and ``while``.
Functions of the file are put in where they are called.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from duograph import ops
from duograph.core.protobuf import parse
from duograph.jit.portable import Portable, portable
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from ..capturing import captured
from ..file_cell import Plan
from .cell import Choice, GraphOfFile, Repeat, Step
from .schema import DTYPES, MONAD, array_of, model, value_of
from .table import FUNCTIONS, IDENTITIES, meaning, parameters_of, primitive_of

__all__ = ["is_foreign", "read"]

_REFERENCE = "REF::"
_FIRST_BYTES = tuple(bytes([number << 3 | kind]) for number, kind in ((1, 2), (2, 2), (3, 2), (7, 2), (8, 2)))
"""Tags of fields that a file may begin with; a ZIP archive begins with another byte."""
_CALLED_OTHERWISE = {"data_format": "format"}
"""Attributes of files, by the parameters of our classes."""
_MOST_CALLS = 1000
"""Calls within each other, at most: functions of a file that call themselves in another way than a loop have no end."""


class _Closure(NamedTuple):
    """A function of the file with values for its first parameters."""

    name: str
    given: tuple[int, ...]


class _Chosen(NamedTuple):
    """What ``Switch`` gives."""

    condition: int
    then: _Closure
    orelse: _Closure


def is_foreign(data: bytes) -> bool:
    """Whether the content of a ``.mindir`` file may be MindSpore's."""
    return data[:1] in _FIRST_BYTES


def read(data: bytes) -> Portable:
    """A graph of MindSpore as a program of ours.

    Raises:
        ValueError: it is damaged, or has an operator, a setting or data that is not read; the message names it.
    """
    message = parse(model(), data)
    if not message.HasField("graph") or not message.little_endian:
        raise ValueError("it is not a MindIR model, or was written with another byte order")
    planner = _Planner(message)
    cell = planner.cell()
    return portable(*captured(cell, planner.inputs()))


class _Planner:
    def __init__(self, message: Any) -> None:
        self.graph = message.graph
        self.graphs = {graph.name: graph for graph in (message.graph, *message.functions)}
        self.primitives = {primitive.name: primitive for primitive in message.primitives}
        self.count = 0
        self.known: dict[str, Any] = {}  # constants and closures of all graphs, and places of weights
        self.values: dict[int, Any] = {}
        self.weights: dict[int, Parameter] = {}
        self.calls: list[str] = []
        self.loops: list[str] = []

    def new(self, value: Any = None, is_constant: bool = False) -> int:
        self.count += 1
        if is_constant:
            self.values[self.count - 1] = value
        return self.count - 1

    def inputs(self) -> tuple[Any, ...]:
        """Placeholders that the graph can be captured with."""
        found = []
        for info in self.graph.input:
            if len(info.tensor) != 1 or info.tensor[0].data_type not in DTYPES:
                raise ValueError(f"the input {_short(info.name)!r} is not a tensor, which is not read")
            sizes = [None if size < 0 else size for size in info.tensor[0].dims]
            dtype = DTYPES[info.tensor[0].data_type]
            found.append(Tensor(shape=sizes, dtype=dtype) if None in sizes else ops.zeros(tuple(sizes), dtype))
        return tuple(found)

    def cell(self) -> GraphOfFile:
        for graph in self.graphs.values():
            if graph.map_parameter:
                raise ValueError("it has a MapTensor, which is not read")
            for entry in graph.parameter:
                array, place = array_of(entry), self.new()
                trained = array.dtype.kind in "fV"
                self.weights[place] = Parameter(Tensor(array), name=_short(entry.name), requires_grad=trained)
                self.known[entry.name] = place
            for node in graph.node:
                if node.op_type == "Constant":
                    (entry,) = node.attribute
                    self.known[node.output[0]] = self.new(value_of(entry), is_constant=True)
        places = tuple(self.new() for _ in self.graph.input)
        plan = self.plan(self.graph, places, inputs=places)
        values = {place: value for place, value in self.values.items() if value is not MONAD}
        return GraphOfFile(plan, self.count, self.weights, values)

    # ---- graphs -----------------------------------------------------------------------------------------------------

    def plan(self, graph: Any, given: tuple[int, ...], inputs: tuple[int, ...] = (), loop: str = "") -> Plan:
        """A graph for values in the places ``given``; in the body of a loop, up to the call that begins it again."""
        steps, names, last = self.steps(graph, given)
        if not loop:
            output = _output(graph)
            if last is not None:
                names[output] = self.node(last, names, steps)
            return Plan(tuple(steps), inputs, (self.place(names, output, graph.name),))
        target = None if last is None else self.target(last, names)
        who = f"the loop {loop!r}"
        if target is None:
            raise ValueError(f"{who} is left from within, which is not read")
        given = tuple(self.place(names, name, who) for name in last.input)
        if isinstance(target, _Chosen):
            then, orelse = (self.inlined(f, given, loop) for f in (target.then, target.orelse))
            outputs = tuple(self.new() for _ in then.outputs)
            return Plan((*steps, Choice(target.condition, then, orelse, outputs)), inputs, outputs)
        if target.name == loop:
            return Plan(tuple(steps), inputs, (*target.given, *given))
        called = self.graphs[target.name]
        if self.is_loop(called):
            again = self.loop(called, (*target.given, *given), loop)
            return Plan((*steps, again), inputs, again.outputs)
        rest = self.inlined(target, given, loop)
        return Plan((*steps, *rest.steps), inputs, rest.outputs)

    def inlined(self, function: _Closure, given: tuple[int, ...], loop: str = "") -> Plan:
        """The plan of a function that is called."""
        if function.name in self.calls or len(self.calls) > _MOST_CALLS:
            raise ValueError(f"the function {function.name!r} calls itself, in another way than loops do")
        self.calls.append(function.name)
        plan = self.plan(self.graphs[function.name], (*function.given, *given), loop=loop)
        self.calls.pop()
        return plan

    def steps(self, graph: Any, given: tuple[int, ...]) -> tuple[list[Any], dict[str, Any], Any]:
        """The steps of a graph but the last, what each of its names stands for, and the node of its result."""
        if len(given) != len(graph.input):
            raise ValueError(f"the function {graph.name!r} is called with {len(given)} values")
        names: dict[str, Any] = {info.name: place for info, place in zip(graph.input, given)}
        found: list[Any] = []
        for node in graph.node:
            if node.op_type == "Constant":
                continue
            (name,) = node.output
            if name == _output(graph):
                return found, names, node
            names[name] = self.node(node, names, found)
        return found, names, None

    def place(self, names: dict[str, Any], name: str, who: str) -> int:
        value = names.get(name, self.known.get(name))
        if not isinstance(value, int):
            raise ValueError(f"{who} takes {name!r}, which is not a value that was defined before")
        return value

    def closure(self, names: dict[str, Any], name: str, who: str) -> _Closure:
        value = _Closure(name, ()) if name in self.graphs else names.get(name)
        if not isinstance(value, _Closure):
            raise ValueError(f"{who} takes {name!r} for a function, which it is not")
        return value

    def target(self, node: Any, names: dict[str, Any]) -> Any:
        """The function that a node calls, if it does."""
        name = node.op_type.removeprefix(_REFERENCE)
        if name in self.primitives:
            return None
        found = names.get(name, _Closure(name, ()) if name in self.graphs else None)
        return found if isinstance(found, _Closure | _Chosen) else None

    def node(self, node: Any, names: dict[str, Any], found: list[Any]) -> Any:
        """What the name of a node stands for; its steps are added to ``found``."""
        name = node.op_type.removeprefix(_REFERENCE)
        primitive = self.primitives.get(name)
        kind = name if primitive is None else primitive.op_type
        who = f"the operator {kind}" + (f" ({node.domain})" if node.domain else "")
        if kind == "UpdateState":
            return self.new(MONAD, is_constant=True)
        if kind == "Partial":
            first, *rest = node.input
            function = self.closure(names, first, who)
            return _Closure(function.name, (*function.given, *(self.place(names, name, who) for name in rest)))
        if kind == "Switch":
            condition, then, orelse = node.input
            branches = (self.closure(names, then, who), self.closure(names, orelse, who))
            return _Chosen(self.place(names, condition, who), *branches)
        target = self.target(node, names)
        given = [self.place(names, name, who) for name in node.input]
        if target is not None:
            return self.call(target, tuple(given), found)
        if kind in IDENTITIES:
            return given[0]
        given = [place for place in given if self.values.get(place) is not MONAD]
        if len(given) != len(node.input):
            raise ValueError(f"{who} changes state or is ordered by it, which is not read")
        attributes = node.attribute if primitive is None else primitive.attribute
        found.append(self.step(kind, given, attributes, primitive is None or primitive.prim_type == 1, who))
        return found[-1].output

    def call(self, target: Any, given: tuple[int, ...], found: list[Any]) -> int:
        if isinstance(target, _Chosen):
            then, orelse = (self.inlined(f, given) for f in (target.then, target.orelse))
            found.append(Choice(target.condition, then, orelse, (self.new(),)))
        elif self.is_loop(self.graphs[target.name]):
            found.append(self.loop(self.graphs[target.name], (*target.given, *given)))
        else:
            plan = self.inlined(target, given)
            found += plan.steps
            return plan.outputs[0]
        return found[-1].outputs[0]

    # ---- loops ------------------------------------------------------------------------------------------------------

    def is_loop(self, graph: Any) -> bool:
        """Whether a function ends with a choice whose first branch comes back to it, by last calls of functions."""
        reached = self.last_calls(graph)
        if len(reached) != 2:
            return False
        seen, todo = set(self.loops), [reached[0]]
        while todo:
            name = todo.pop()
            if name == graph.name:
                return True
            if name not in seen:
                seen.add(name)
                todo += self.last_calls(self.graphs[name])
        return False

    def last_calls(self, graph: Any) -> list[str]:
        """The functions of which a graph calls one at its end."""
        nodes = {node.output[0]: node for node in graph.node}
        last = nodes.get(_output(graph))
        name = "" if last is None else last.op_type.removeprefix(_REFERENCE)
        called = nodes.get(name)
        if called is None or name in self.primitives:
            return [name] if name in self.graphs else []
        functions = called.input[1:] if self._kind(called) == "Switch" else [name]
        partials = [nodes[f].input[0] if f in nodes else f for f in functions]
        return [name for name in partials if name in self.graphs]

    def loop(self, graph: Any, given: tuple[int, ...], outer: str = "") -> Repeat:
        """A loop, and what follows it; within a loop ``outer``, up to the call that begins that again."""

        def part(which: str) -> Plan:
            state = tuple(self.new() for _ in given)
            steps, names, last = self.steps(graph, state)
            chosen = self.target(last, names)
            if which == "test":
                return Plan(tuple(steps), state, (chosen.condition,))
            body = which == "body"
            plan = self.inlined(chosen.then if body else chosen.orelse, (), graph.name if body else outer)
            return Plan((*steps, *plan.steps), state, plan.outputs)

        self.loops.append(graph.name)
        test, body = part("test"), part("body")
        self.loops.pop()
        after = part("after")
        return Repeat(given, test, body, after, tuple(self.new() for _ in after.outputs))

    def _kind(self, node: Any) -> str:
        name = node.op_type.removeprefix(_REFERENCE)
        return self.primitives[name].op_type if name in self.primitives else name

    # ---- operators --------------------------------------------------------------------------------------------------

    def step(self, kind: str, given: list[int], attributes: Any, has_attributes: bool, who: str) -> Step:
        function = FUNCTIONS.get(kind)
        cls = None if function is not None else primitive_of(kind)
        if function is None and cls is None:
            raise ValueError(f"{who} is not read")
        settings: dict[str, Any] = {}
        if cls is not None:
            parameters = list(parameters_of(cls))
            if has_attributes:
                values = self._attributes(parameters, attributes, who)
            else:
                behind = given[len(given) - len(parameters) :]
                given = given[: len(given) - len(parameters)]
                values = {name: self._constant(name, place, who) for name, place in zip(parameters, behind)}
            try:
                function = cls(**values)
            except (ValueError, TypeError, NotImplementedError) as exc:
                raise ValueError(f"{who}: {exc}") from None
        else:
            for i, (name, by_name) in enumerate(parameters_of(function).items()):
                if i < len(given) and (by_name or name in ("dtype", "approximate")):
                    settings[name] = self._constant(name, given[i], who)
            given = [place for place, name in zip(given, _names(function, len(given))) if name not in settings]
        if kind == "Cast":
            given[1] = self.new(self._constant("dtype", given[1], who), is_constant=True)
        return Step(function, tuple(given), settings, self.new())

    def _constant(self, name: str, place: int, who: str) -> Any:
        if place not in self.values:
            raise ValueError(f"{who} has a setting {name!r} that is computed, which is not read")
        try:
            return meaning(name, self.values[place])
        except ValueError as exc:
            raise ValueError(f"{who} {exc}") from None

    def _attributes(self, parameters: list[str], attributes: Any, who: str) -> dict[str, Any]:
        found = {entry.name: entry for entry in attributes}
        values = {}
        for name in parameters:
            entry = found.get(name, found.get(_CALLED_OTHERWISE.get(name, "")))
            if entry is None:
                raise ValueError(f"{who} does not say what {name!r} is")
            value = meaning(name, value_of(entry))
            values[name] = value.lower() if name == "pad_mode" else value
        return values


def _names(function: Any, count: int) -> list[str]:
    names = list(parameters_of(function))
    return [*names, *[""] * (count - len(names))][:count]


def _short(name: str) -> str:
    """A name without that of its graph."""
    return name.split(":", 1)[-1]


def _output(graph: Any) -> str:
    if len(graph.output) != 1:
        raise ValueError(f"the function {graph.name!r} does not give one value")
    return graph.output[0].name
