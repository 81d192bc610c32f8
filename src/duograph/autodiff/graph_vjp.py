"""The derivative of a closed graph: a forward graph that also gives residuals, and backward graphs that use them.

The graph is emitted once more, with a tape listening; walking back over the tape in an inner scope gives a backward
graph, and *what that scope captures are the residuals*: closure conversion decides what is saved, no list of it is
kept anywhere. Both graphs consist of ordinary and control ops, so they are differentiable again.

    forward(*params)                                  -> (*outputs, *residuals)
    backward(*cotangents, *accumulated, *captures)    -> accumulated gradients of the active parameters

Gradients accumulated outside by later uses go *into* the backward graph, which adds to them in reverse program order:
so sums associate exactly as they do in eager, where the ops of the graph are recorded one by one. Which cotangents
and accumulated gradients exist is known while building ("kinds"); one backward graph is made per combination.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from duograph.base.diagnostics import InternalError
from duograph.core.assumptions import applied_again
from duograph.core.op import binding, no_recording, rules_version, state
from duograph.core.types import BOOL, ObjectType, StackType, TensorType, TupleType, Type
from duograph.ir.builder import Builder, Scope
from duograph.ir.control import make_tuple, tuple_get, undef
from duograph.ir.memo import Memo
from duograph.ir.node import Apply, Graph, Node, Param, sizes_in_attrs
from duograph.ops.graph_binder import GraphBinder

from .backward import Gradient, Groups, Kind, backpropagate, gather, gradient_type, inner_scope, inside, kind_of, spread
from .entries import OVERWRITTEN, TapeEntry, Underivable, refuse
from .origins import origins_of_results
from .tape import Tape, taping

Launch = Callable[[Graph, list[Any]], Sequence[Any]]


def cotangent_type(type: Type) -> Type | None:
    """The type of the gradient of a value of ``type``; ``None`` if it has none."""
    if isinstance(type, TensorType):
        return None if type.dtype.is_bool else type
    if isinstance(type, StackType):
        assert isinstance(type.item, TupleType)
        return StackType(TupleType(cotangent_items(type.item.items)))
    return type if isinstance(type, ObjectType) else None


def cotangent_items(types: Sequence[Type]) -> tuple[Type, ...]:
    """Types of the gradients of items that are saved together: a value and a flag for each that has one."""
    found = [t for t in (cotangent_type(t) for t in types) if t is not None]
    return tuple(x for t in found for x in (t, BOOL))


def program_order(graph: Graph) -> list[Apply]:
    """The applications of ``graph`` in program order: by tag if capture has tagged them, else as they were made."""
    nodes = list(graph.nodes)
    loose = (make_tuple, tuple_get, undef)
    if all(n.tag or n.op in loose for n in nodes):
        tagged = sorted((n for n in nodes if n.op not in loose), key=lambda n: (n.tag, n.serial))
        place: dict[Node, int] = {n: i for i, n in enumerate(tagged)}
        if all(place.get(d, -1) < i for i, n in enumerate(tagged) for d in _dependencies(n)):
            return tagged
    return [n for n in nodes if n.op not in loose]


def _dependencies(node: Apply) -> Iterator[Node]:
    for operand in node.operands:
        if isinstance(operand, Apply) and operand.op in (make_tuple, tuple_get):
            yield from _dependencies(operand)
        else:
            yield operand


def replay(
    graph: Graph, args: Sequence[Any], binder: GraphBinder, entries: list[tuple[TapeEntry, int]] | None = None
) -> Any:
    """Emits the ops of ``graph`` on ``args`` through `Op.__call__`, in program order; gives its output.

    ``entries`` gets what tapes record of them, with their tags.
    """
    env: dict[Node, Any] = dict(zip(graph.params, args, strict=True))
    context = graph.context

    def value(node: Node) -> Any:
        if node in env:
            return env[node]
        if isinstance(node, Apply) and node.op is make_tuple:
            env[node] = tuple([value(o) for o in node.operands])
        elif isinstance(node, Apply) and node.op is tuple_get:
            env[node] = value(node.operands[0])[node.attrs["index"]]
        elif isinstance(node, Apply) and node.op is undef:
            env[node] = undef(**node.attrs)
        else:
            return binder.wrap(node)  # a constant
        return env[node]

    for node in program_order(graph):
        binder.builder.origin = context.origins.get(node, ())
        marks = [len(tape.log) for tape in state.tapes]
        operands = [binder.packed(value(o)) for o in node.operands]
        binder.builder.original = node  # attributes of what follows know its size, if that depends on data, by name
        with applied_again():
            env[node] = node.op(*operands, **node.attrs)
        if node.tag and entries is not None:
            captured = context.replayed.get(node.tag, node.tag)
            for tape, mark in zip(state.tapes, marks, strict=True):
                entries += [(entry, captured) for entry in tape.since(mark) if entry.op is node.op]
            for made in _made(env[node]):
                context.replayed[made.tag] = captured
    return value(graph.output)


TAGS_OF_ONE_GRAPH = 1 << 24
"""Nodes of a derivative have tags of their own, or what is known of captured ops would be said of others."""


def _made(value: Any) -> Iterator[Apply]:
    """The node of the op that has just given ``value``."""
    parts = value if isinstance(value, tuple) else (value,)
    for part in parts[:1]:
        data = getattr(part, "_data", None)
        node = data.operands[0] if isinstance(data, Apply) and data.op is tuple_get else data
        if isinstance(node, Apply) and node.tag:
            yield node


def mark_overwritten(entries: Sequence[tuple[TapeEntry, int]], overwritten: Mapping[int, set[int]]) -> None:
    """Makes entries refuse what the captured program overwrote, as eager's version check does."""
    for entry, tag in entries if overwritten else ():
        if places := overwritten.get(tag):
            entry.stamps = tuple([OVERWRITTEN if i in places else stamp for i, stamp in enumerate(entry.stamps)])


@dataclass(frozen=True)
class Backward:
    """A backward graph, the nodes of the forward scope that it needs, and the kinds of gradients it gives."""

    graph: Graph
    captures: tuple[Node, ...]
    kinds: tuple[Kind, ...]


class Parts:
    """A backward graph before it is closed."""

    def __init__(self, scope: Scope, params: list[Param], gradients: list[Gradient]) -> None:
        self.scope, self.params, self.gradients = scope, params, gradients

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(kind_of(g) for g in self.gradients)

    @property
    def types(self) -> list[Type | None]:
        return [gradient_type(g) for g in self.gradients]


def apart(accs: Sequence[Any], added: Sequence[Kind]) -> tuple[list[Any], list[Any]]:
    """Accumulated gradients (or their kinds) to which a backward graph adds something; and all others.

    ``added``: the kinds of what it gives alone.

    These do not pass through it. It would have to hand them through branches, whose conditions nobody saved.
    """
    through = [a if k is not None else None for a, k in zip(accs, added, strict=True)]
    return through, [a if k is None else None for a, k in zip(accs, added, strict=True)]


def merged(new: Sequence[Any], kept: Sequence[Any]) -> list[Any]:
    """What `apart` has taken apart."""
    return [n if k is None else k for n, k in zip(new, kept, strict=True)]


class Derivative:
    """The derivative of ``graph`` with respect to the parameters that are ``active``. Made by `derivative_of`."""

    def __init__(self, graph: Graph, active: tuple[bool, ...]) -> None:
        self.graph, self.active = graph, active
        graph.context.differentiated += 1
        self.binder = GraphBinder(Builder(graph.context, first_tag=graph.context.differentiated * TAGS_OF_ONE_GRAPH))
        self.scope = self.binder.builder.current
        self.scope.params = graph.params
        self.tape = Tape()
        self._backward: dict[Any, Any] = {}
        self._entries: list[tuple[TapeEntry, int]] = []
        self._residuals: list[Node] | None = None
        self._hidden: list[Node] | None = None
        self._views: list[tuple[int, int, list[Apply]]] | None = None
        self._forward: Graph | None = None
        self.loops: dict[Graph | None, tuple[tuple[Type, ...], dict[str, Any]]] = {}  # by test, of loops with this body
        self.conds: dict[Derivative, tuple[list[Any], list[list[int]], list[Any]]] = {}  # by the other branch
        with binding(self.binder), taping([self.tape]):
            handles = [self.binder.wrap(p) for p in graph.params]
            self.variables = [self.tape.watch(h) if a else None for h, a in zip(handles, active, strict=True)]
            out = replay(graph, handles, self.binder, self._entries)
            self.binder.builder.origin = ()
            self.single = not isinstance(graph.output.type, TupleType)
            self.outs: list[Any] = [out] if self.single else list(out)
            if any(isinstance(o, tuple) for o in self.outs):
                raise TypeError(f"@{graph.name}: gradients of nested tuples are not supported, flatten the outputs")
            self.out_variables = [self.tape.variable(o) for o in self.outs]
        self.out_types = (graph.output.type,) if self.single else graph.output.type.items  # type: ignore[attr-defined]

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Op calls go to the scope of this graph, unrecorded."""
        with binding(self.binder), no_recording():
            yield

    @property
    def active_outputs(self) -> list[bool]:
        return [v is not None for v in self.out_variables]

    # -- backward ----------------------------------------------------------------------------------------------

    def parts(
        self, dout_kinds: Sequence[Kind], acc_kinds: Sequence[Kind], groups: Groups, tape: Tape | None = None
    ) -> Parts:
        """The backward graph for these kinds of cotangents and accumulated gradients, still open. ``tape``: instead of
        what this graph has recorded."""
        builder = self.binder.builder
        params: list[Param] = []

        def fresh(kinds: Sequence[Kind], types: Sequence[Type], hint: str) -> list[Gradient]:
            values = []
            for kind, type_ in zip(kinds, types, strict=True):
                if kind is not None:
                    ct = cotangent_type(type_)
                    if ct is None:
                        raise Underivable(f"a gradient of {type_} on some path")
                    params.append(builder.param(hint, ct))
                    values.append(self.binder.wrap(params[-1]))
                if kind == "maybe":
                    params.append(builder.param("defined", BOOL))
                    values.append(self.binder.wrap(params[-1]))
            return gather(values, kinds)

        mark_overwritten(self._entries, self.graph.context.overwritten)
        with self.inside(), inner_scope(self.binder) as scope:
            scope.params = params
            douts = fresh(dout_kinds, self.out_types, "dout")
            accs = fresh(acc_kinds, [p.type for p in self.graph.params], "acc")
            alias = {}
            for variable, group in zip(self.variables, groups, strict=True):
                if variable is not None and group is not None:
                    alias[variable] = self.variables[group]
            wanted = [v if g == i else None for i, (v, g) in enumerate(zip(self.variables, groups, strict=True))]
            gradients = backpropagate(
                tape or self.tape,
                list(zip(self.out_variables, douts, strict=True)),
                wanted,
                list(zip(self.variables, accs, strict=True)),
                alias,
            )
        return Parts(scope, params, gradients)

    def check_reads(self, is_lost: Callable[[Node], bool], dout_kinds: Sequence[Kind], groups: Groups) -> None:
        """Looks whether gradient rules read a value of this graph that has been overwritten, as eager's would.

        What they compute from it may lead nowhere; then the backward graph does without. Of a graph with several paths
        nothing can be said, unless the path is known.

        Raises:
            Overwritten: a rule does.
        """
        entries = self.tape.entries
        if any(entry.op is None for entry in entries):
            return
        tape = Tape()
        for entry in entries:
            twin = copy(entry)
            twin.stamps = tuple([OVERWRITTEN if isinstance(s, Node) and is_lost(s) else s for s in entry.stamps])
            tape.log.append(twin)
        try:
            self.parts(dout_kinds, [None] * len(groups), groups, tape)
        except Underivable:  # another reason
            return

    def close(
        self, parts: Parts, kinds: Sequence[Kind], types: Sequence[Type | None], interface: Sequence[Node] = ()
    ) -> Backward:
        """The closed backward graph: gradients in the form of ``kinds``, captures starting with ``interface``."""
        with self.inside(), inside(self.binder, parts.scope):
            outs = [self.binder.node_of(v) for v in spread(parts.gradients, kinds, types)]
        graph, captures = parts.scope.close(f"{self.graph.name}.bwd", parts.params, outs, interface)
        return Backward(graph, tuple(captures), tuple(kinds))

    def backward(self, dout_kinds: Sequence[Kind], acc_kinds: Sequence[Kind], groups: Groups) -> Backward:
        key = (tuple(dout_kinds), tuple(acc_kinds), groups, self.graph.context.writes)
        found = self._backward.get(key)
        if found is None:
            parts = self.parts(dout_kinds, acc_kinds, groups)
            found = self._backward[key] = self.close(parts, parts.kinds, parts.types)
        return found

    def kinds_after(self, dout_kinds: Sequence[Kind], acc_kinds: Sequence[Kind], groups: Groups) -> list[Kind]:
        """The kinds of what `pull` gives for gradients of these kinds."""
        added = self.backward(dout_kinds, [None] * len(acc_kinds), groups).kinds
        through, kept = apart(acc_kinds, added)
        return merged(self.backward(dout_kinds, through, groups).kinds, kept)

    def masked(self, douts: Sequence[Gradient]) -> list[Gradient]:
        """Cotangents without those of outputs that do not depend on active parameters."""
        return [d if v is not None else None for d, v in zip(douts, self.out_variables, strict=True)]

    def pull(
        self,
        launch: Launch,
        lookup: Callable[[Node], Any],
        douts: Sequence[Gradient],
        accs: Sequence[Gradient],
        groups: Groups,
    ) -> list[Gradient]:
        """New accumulated gradients: runs the backward graph; ``lookup`` gives the values of what it captured."""
        douts = self.masked(douts)
        accs = [a if g == i else None for i, (a, g) in enumerate(zip(accs, groups, strict=True))]
        dout_kinds = [kind_of(d) for d in douts]
        if all(k is None for k in dout_kinds):
            return list(accs)
        added = self.backward(dout_kinds, [None] * len(accs), groups).kinds
        if all(k is None for k in added):
            return list(accs)
        accs, kept = apart(accs, added)
        acc_kinds = [kind_of(a) for a in accs]
        back = self.backward(dout_kinds, acc_kinds, groups)
        args = [
            *spread(douts, dout_kinds, [None] * len(douts)),
            *spread(accs, acc_kinds, [None] * len(accs)),
            *[lookup(c) for c in back.captures],
        ]
        return merged(gather(launch(back.graph, args), back.kinds), kept)

    # -- forward -----------------------------------------------------------------------------------------------

    @property
    def captures(self) -> tuple[Node, ...]:
        """What backward graphs may need of the forward scope: parameters and computed nodes."""
        kinds: list[Kind] = ["full" if v is not None and cotangent_type(t) else None
                             for v, t in zip(self.out_variables, self.out_types, strict=True)]  # fmt: skip
        if all(k is None for k in kinds):
            return ()
        groups = tuple(i if a else None for i, a in enumerate(self.active))
        return self.backward(kinds, [None] * len(groups), groups).captures

    @property
    def residuals(self) -> list[Node]:
        """The computed nodes that backward graphs need."""
        if self._residuals is None:
            self._residuals = [c for c in self.captures if not isinstance(c, Param)]
        return self._residuals

    @property
    def results(self) -> dict[Node, int]:
        """The computed nodes that are outputs, and as which."""
        with self.inside():
            nodes = [self.binder.node_of(out) for out in self.outs]
        return {node: i for i, node in reversed(list(enumerate(nodes))) if isinstance(node, Apply)}

    @cached_property
    def shared(self) -> list[tuple[int | None, list[int]]]:
        """Outputs that may be one value, and the parameter that it is, if it is one (`TapeEntry.shared`)."""
        found: dict[Any, list[int]] = {}
        for i, origins in enumerate(origins_of_results(self.graph)):
            if self.out_variables[i] is not None:
                for origin in origins:
                    found.setdefault(origin, []).append(i)
        params = self.graph.params
        places = [(params.index(n) if isinstance(n, Param) else None, outs) for n, outs in found.items()]
        return [(param, outs) for param, outs in places if param is not None or len(outs) > 1]

    @property
    def hidden(self) -> list[Node]:
        """The residuals that are no outputs. One that is an output is saved as that: it is one variable of outer tapes,
        which must add up what its uses inside and outside contribute in the order of the program."""
        if self._hidden is None:
            results = self.results
            self._hidden = [c for c in self.residuals if c not in results]
        return self._hidden

    def views(self) -> list[tuple[int, int, list[Apply]]]:
        """The `hidden` residuals that show memory of a parameter: which one, of which parameter, by which ops. To write
        there is to lose the residual, as it is in eager mode, although here it is a value of its own."""
        if self._views is None:
            self._views = []
            for k, node in enumerate(self.hidden):
                ops: list[Apply] = []
                while isinstance(node, Apply) and node.op.view and not sizes_in_attrs(node):
                    ops.append(node)
                    node = node.operands[0]
                if ops and isinstance(node, Param):
                    self._views.append((k, self.graph.params.index(node), ops[::-1]))
        return self._views

    def forward(self, extra: Sequence[Any] | None = None, params: Sequence[Param] | None = None) -> Graph:
        """The graph with ``extra`` outputs (default: the residuals that are none yet)."""
        if extra is None and params is None and self._forward is not None:
            return self._forward
        with self.inside():
            more = self.hidden if extra is None else extra
            outs = [self.binder.node_of(v) for v in (*self.outs, *more)]
        graph, captures = self.scope.close(f"{self.graph.name}.fwd", params or self.graph.params, outs)
        assert not captures, f"free variables in @{graph.name}: {captures}"
        if extra is None and params is None:
            self._forward = graph
        return graph

    def lookup(self, operands: Sequence[Any], outs: Sequence[Any], hidden: Sequence[Any]) -> Callable[[Node], Any]:
        """Values of captured nodes, given those of the parameters, of the outputs and of the `hidden` residuals."""
        values: dict[Node, Any] = dict(zip(self.graph.params, operands, strict=True))
        values.update({node: outs[i] for node, i in self.results.items()})
        values.update(zip(self.hidden, hidden, strict=True))
        return self.lookup_in(values)

    def lookup_in(self, values: Mapping[Node, Any]) -> Callable[[Node], Any]:
        """What finds the value of a captured node in ``values``."""

        def value(node: Node) -> Any:
            if node not in values:  # `captures` knows what is needed if something certainly flows into all results
                refuse("what a gradient needs of a path depends on what flows into its results")
                raise InternalError(f"@{self.graph.name}: the backward graph needs {node!r}, which was not saved")
            return values[node]

        return value


_DERIVATIVES: Memo[tuple[Graph, tuple[bool, ...], object], Derivative] = Memo("derivatives")


def derivative_of(graph: Graph, active: Sequence[bool]) -> Derivative:
    """The derivative of ``graph``, made once per context, choice of parameters and state of the gradient rules."""
    memo = _DERIVATIVES.of(graph.context)
    key = (graph, tuple(active), rules_version[0])
    found = memo.get(key)
    if found is None:
        found = memo[key] = Derivative(graph, tuple(active))
    return found


def vjp(graph: Graph, active: Sequence[bool] | None = None) -> tuple[Graph, Graph]:
    """Forward graph with residuals, and the backward graph for given cotangents of all differentiable outputs.

    Args:
        graph: any closed graph.
        active: which parameters to differentiate; default: all that can be.

    Returns:
        ``forward(*params) -> (*outputs, *captures)`` and ``backward(*cotangents, *captures) -> gradients``: one
        gradient per active parameter that any output depends on.
    """
    if active is None:
        active = [cotangent_type(p.type) is not None for p in graph.params]
    derivative = derivative_of(graph, active)
    groups = tuple(i if a else None for i, a in enumerate(active))
    kinds: list[Kind] = ["full" if a else None for a in derivative.active_outputs]
    back = derivative.backward(kinds, [None] * len(groups), groups)
    return derivative.forward(back.captures), back.graph
