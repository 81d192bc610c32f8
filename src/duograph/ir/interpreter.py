"""Runs MindIR op by op: the meaning of a graph, and its executor where native code cannot go on.

A graph is prepared once (`Plan`, kept on the graph): every node has a slot, a step says which slots go in, which one
comes out and which are dead afterwards, so that memory is freed as early as possible. Control operators do not recurse
in Python: calls, branches and loop bodies are frames on an explicit stack, and a program may recurse as deep as memory
(`MAX_DEPTH`) allows.

    Interpreter().run(graph, [np.ones(3), 2.0])

Values are ndarrays for tensors, Python numbers for scalars, tuples, ``None`` for tokens, and objects. Symbolic
dimensions get their values from the arrays that come in, graph by graph. Subclasses override `run_node` to look at, or
change, every single computation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from duograph.core import kernel
from duograph.core.dim import Dim, OtherSizeError, Symbol, evaluate, symbols_of
from duograph.core.kernel import as_value, compute, contiguous
from duograph.core.types import ScalarType, TensorType, TupleType, Type

from .control import call, call_named, cond, custom_vjp, make_tuple, scan, tuple_get, undef, while_loop
from .node import Apply, Const, Graph, Node

MAX_DEPTH = 20_000
"""Calls of calls up to which a program may recurse; beyond it there is no end in sight: `RecursionError`."""

_CONTROL = (call, call_named, custom_vjp, cond, while_loop, scan)
_TENSOR, _CONTIGUOUS, _PLAIN, _OTHER = range(4)


class Step:
    """One application: where its operands are, where its result goes, and what is dead afterwards."""

    __slots__ = ("attrs", "binds", "dead", "index", "ins", "kernel", "kind", "node", "out", "symbolic")

    def __init__(self, node: Apply, ins: tuple[int, ...], out: int, dead: tuple[int, ...]) -> None:
        self.node, self.ins, self.out, self.dead = node, ins, out, dead
        self.kernel, self.attrs = node.op.reference, node.attrs
        self.symbolic = any(_has_symbols(v) for v in node.attrs.values())
        self.binds = _is_symbolic(node.type) and node.op is not undef
        self.index: int = node.attrs["index"] if node.op is tuple_get else -1
        self.kind = _kind(node, self.symbolic or self.binds)


def _kind(node: Apply, symbolic: bool) -> int:
    """Which way through the loop of `Interpreter._advance` is the shortest that is right for ``node``."""
    if symbolic or node.op.effects or node.op is make_tuple or node.op is tuple_get:
        return _OTHER
    if isinstance(node.type, TensorType):
        return _CONTIGUOUS if node.op.layout == "contiguous" else _TENSOR
    return _PLAIN if isinstance(node.type, ScalarType) and node.op.layout != "contiguous" else _OTHER


class Plan:
    """A graph made ready to run: stretches of straight-line steps, each but the last followed by a control step."""

    __slots__ = ("binds", "output", "stretches", "template", "types")

    def __init__(self, graph: Graph) -> None:
        slots: dict[Node, int] = {p: i for i, p in enumerate(graph.params)}
        self.template: list[Any] = []
        for operand in (*[o for node in graph.nodes for o in node.operands], graph.output):
            if isinstance(operand, Const) and operand not in slots:
                slots[operand] = len(slots)
                self.template.append(_shielded(operand.value))
        n_fixed = len(slots)
        last = {operand: node for node in graph.nodes for operand in node.operands}
        last.pop(graph.output, None)
        self.stretches: list[tuple[list[Step], Step | None]] = []
        steps: list[Step] = []
        for node in graph.nodes:
            slots[node] = len(slots)
            ins = tuple([_slot_of(slots, o, graph) for o in node.operands])
            dead = tuple({slots[o] for o in node.operands if last.get(o) is node and not isinstance(o, Const)})
            step = Step(node, ins, slots[node], dead)
            if node.op in _CONTROL:
                self.stretches.append((steps, step))
                steps = []
            else:
                steps.append(step)
        self.stretches.append((steps, None))
        self.template += [None] * (len(slots) - n_fixed)
        self.output = _slot_of(slots, graph.output, graph)
        self.types = tuple([p.type for p in graph.params])
        self.binds = any(_is_symbolic(t) for t in self.types)


def _shielded(value: Any) -> Any:
    """A constant as kernels and callers get it: nobody can write to it."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def _slot_of(slots: dict[Node, int], node: Node, graph: Graph) -> int:
    try:
        return slots[node]
    except KeyError:
        raise ValueError(f"{node!r} is free in @{graph.name}: neither computed nor a parameter there") from None


def plan_of(graph: Graph) -> Plan:
    """The plan of ``graph``, made at the first call."""
    if graph._plan is None:
        graph._plan = Plan(graph)
    plan: Plan = graph._plan
    return plan


# ---- frames ---------------------------------------------------------------------------------------------------------


class Frame:
    """A graph that is being run: its values, how far it has come, and the frame that waits for its result."""

    __slots__ = ("caller", "depth", "env", "plan", "position", "slots")

    def __init__(self, graph: Graph, args: Sequence[Any], caller: Any) -> None:
        self.plan = plan = plan_of(graph)
        if len(args) != len(plan.types):
            raise TypeError(f"@{graph.name} takes {len(plan.types)} arguments, got {len(args)}")
        self.slots = [*args, *plan.template]
        self.position = 0
        self.caller = caller
        self.depth: int = 0 if caller is None else caller.depth + 1
        if self.depth > MAX_DEPTH:
            raise RecursionError("maximum recursion depth exceeded")
        self.env: dict[Symbol, int] = {}
        if plan.binds:
            for type_, value in zip(plan.types, args, strict=True):
                bind_dims(type_, value, self.env)


class _Waiting:
    """A frame that waits for the result of a call or branch."""

    __slots__ = ("depth", "frame", "step")

    def __init__(self, frame: Frame, step: Step) -> None:
        self.frame, self.step, self.depth = frame, step, frame.depth

    def returned(self, value: Any) -> Frame:
        self.frame.slots[self.step.out] = value
        if self.step.binds:
            bind_dims(self.step.node.type, value, self.frame.env)
        return self.frame


class _While:
    """A running ``while_loop``: alternates between its two graphs."""

    __slots__ = ("attrs", "carry", "depth", "in_body", "invariants", "waiting")

    def __init__(self, waiting: _Waiting, attrs: dict[str, Any], operands: list[Any]) -> None:
        n = attrs["n_carry"]
        self.waiting, self.attrs, self.depth = waiting, attrs, waiting.depth
        self.carry, self.invariants = operands[:n], operands[n:]
        self.in_body = False

    def start(self) -> Frame:
        return Frame(self.attrs["cond"], [*self.carry, *self.invariants], self)

    def returned(self, value: Any) -> Frame:
        if self.in_body:
            self.in_body, self.carry = False, list(value)
            return self.start()
        if not value:
            return self.waiting.returned(tuple(self.carry))
        self.in_body = True
        args, self.carry = [*self.carry, *self.invariants], []
        return Frame(self.attrs["body"], args, self)


class _Scan:
    """A running ``scan``."""

    __slots__ = ("attrs", "carry", "depth", "i", "invariants", "n", "waiting")

    def __init__(self, waiting: _Waiting, attrs: dict[str, Any], operands: list[Any]) -> None:
        n = attrs["n_carry"]
        self.waiting, self.attrs, self.depth = waiting, attrs, waiting.depth
        self.n, self.carry, self.invariants = operands[0], operands[1 : 1 + n], operands[1 + n :]
        self.i = 0

    def start(self) -> Frame:
        if self.i >= self.n:
            return self.waiting.returned(tuple(self.carry))
        args, self.carry = [self.i, *self.carry, *self.invariants], []
        return Frame(self.attrs["body"], args, self)

    def returned(self, value: Any) -> Frame:
        self.carry = list(value)
        self.i += 1
        return self.start()


# ---- the interpreter ------------------------------------------------------------------------------------------------


class Interpreter:
    """Runs graphs; one instance may run many, also recursively."""

    def prepare(self, graph: Graph, level: int = 1, donate: Mapping[int, int] | None = None) -> None:
        """There is nothing to prepare."""

    def run(
        self,
        graph: Graph,
        values: Sequence[Any],
        level: int = 1,
        donate: Mapping[int, int] | None = None,
        repeat: bool = True,
    ) -> Any:
        """The value of ``graph`` for ``values``.

        Args:
            graph: any closed graph.
            values: one per parameter; arrays are never written to.
            level: ignored here, as are the others: `ir.executor.Executor`.
            donate: numbers of outputs, of inputs.
            repeat: whether what has failed is repeated.

        Returns:
            The value of the output. Arrays may share memory with arguments where an op is a view.

        Raises:
            Exception: whatever a kernel raises, with a note that names the op and the user's line.
        """
        with np.errstate(all="ignore"):
            return self._run(Frame(graph, values, None))

    def run_node(self, node: Apply, operands: list[Any]) -> Any:
        """The value of one application that is no control operator. Override to observe or replace it."""
        return as_value(compute(node.op, operands, node.attrs), node.type)

    def entered(self, step: Step, frame: Frame) -> Frame:
        """The frame that runs next: the graph of a control step, or ``frame`` itself for what is done already."""
        return _entered(step, frame)

    def _run(self, frame: Frame) -> Any:
        advance = self._advance if type(self).run_node is Interpreter.run_node else self._advance_observed
        while True:
            step = advance(frame)
            if step is None:
                value = frame.slots[frame.plan.output]
                if frame.caller is None:
                    return value
                frame = frame.caller.returned(value)
            else:
                try:
                    frame = self.entered(step, frame)
                except RecursionError as error:
                    note_node(error, step.node)
                    raise

    def _advance(self, frame: Frame) -> Step | None:
        """Runs ``frame`` up to its next control step, which is returned, or to its end (``None``)."""
        slots = frame.slots
        steps, control = frame.plan.stretches[frame.position]
        frame.position += 1
        ndarray = np.ndarray
        native = kernel.native.value
        step = None
        try:
            for step in steps:
                kind = step.kind
                if native is not None and kind <= _CONTIGUOUS:
                    out = compute(step.node.op, [slots[i] for i in step.ins], step.attrs)
                    slots[step.out] = out if type(out) is ndarray else np.asarray(out)
                elif kind == _TENSOR:
                    out = step.kernel(*[slots[i] for i in step.ins], **step.attrs)
                    slots[step.out] = out if type(out) is ndarray else np.asarray(out)
                elif kind == _CONTIGUOUS:
                    out = step.kernel(*[contiguous(slots[i]) for i in step.ins], **step.attrs)
                    slots[step.out] = out if type(out) is ndarray else np.asarray(out)
                elif kind == _PLAIN:
                    slots[step.out] = step.kernel(*[slots[i] for i in step.ins], **step.attrs)
                elif step.index >= 0:
                    slots[step.out] = slots[step.ins[0]][step.index]
                else:
                    slots[step.out] = _other(step, [slots[i] for i in step.ins], frame)
                for i in step.dead:
                    slots[i] = None
        except Exception as error:
            assert step is not None
            note_node(error, step.node)
            raise
        return control

    def _advance_observed(self, frame: Frame) -> Step | None:
        """As `_advance`, every computation through `run_node`."""
        slots = frame.slots
        steps, control = frame.plan.stretches[frame.position]
        frame.position += 1
        step = None
        try:
            for step in steps:
                node = _with_values(step, frame)
                value = self.run_node(node, [slots[i] for i in step.ins])
                if step.binds:
                    bind_dims(step.node.type, value, frame.env)
                    check_dims(step.node.type, value, frame.env)
                slots[step.out] = value
                for i in step.dead:
                    slots[i] = None
        except Exception as error:
            assert step is not None
            note_node(error, step.node)
            raise
        return control


def run(graph: Graph, *args: Any) -> Any:
    """The value of ``graph`` for ``args``, by the plain interpreter."""
    return Interpreter().run(graph, args)


def _entered(step: Step, frame: Frame) -> Frame:
    slots = frame.slots
    op, attrs = step.node.op, step.attrs
    operands = [slots[i] for i in step.ins]
    for i in step.dead:
        slots[i] = None
    waiting = _Waiting(frame, step)
    if op is call:
        return Frame(attrs["graph"], operands, waiting)
    if op is call_named:
        return Frame(step.node.context.functions[attrs["name"]], operands, waiting)
    if op is custom_vjp:
        return Frame(attrs["forward"], operands, waiting)
    if op is cond:
        return Frame(attrs["then" if operands[0] else "orelse"], operands[1:], waiting)
    if op is while_loop:
        return _While(waiting, attrs, operands).start()
    return _Scan(waiting, attrs, operands).start()


def value_of(step: Step, frame: Frame) -> Any:
    """What a step that is no control step computes from the values of its frame."""
    operands = [frame.slots[i] for i in step.ins]
    if step.kind <= _CONTIGUOUS:
        return np.asarray(compute(step.node.op, operands, step.attrs))
    if step.kind == _PLAIN:
        return step.kernel(*operands, **step.attrs)
    return operands[0][step.index] if step.index >= 0 else _other(step, operands, frame)


def _other(step: Step, operands: list[Any], frame: Frame) -> Any:
    """The rare kinds of steps: tuples, several results, effects, symbolic dimensions."""
    node = step.node
    if node.op is make_tuple:
        return tuple(operands)
    if node.op.effects:  # user code runs under NumPy's settings as they usually are
        with np.errstate(**_DEFAULT_ERRSTATE):
            result = as_value(node.op.reference(*operands, **node.attrs), node.type)
    else:
        attrs = resolved(step.attrs, frame.env) if step.symbolic else step.attrs
        result = as_value(compute(node.op, operands, attrs), node.type)
    if step.binds:
        bind_dims(node.type, result, frame.env)
        check_dims(node.type, result, frame.env)
    return result


_DEFAULT_ERRSTATE: Any = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def note_node(error: BaseException, node: Apply) -> None:
    """Says on the error which op failed, and which line of the user's program it stems from."""
    where = "".join(f", from {span}" for span in reversed(node.context.origins.get(node, ())))
    error.add_note(f"while running {node.op.name} : {node.type}{where}")


# ---- symbolic dimensions --------------------------------------------------------------------------------------------


def _has_symbols(value: Any) -> bool:
    if isinstance(value, Dim):
        return True
    if isinstance(value, Type):
        return _is_symbolic(value)
    return isinstance(value, tuple) and any(_has_symbols(v) for v in value)


def _is_symbolic(type: Type) -> bool:
    if isinstance(type, TensorType):
        return any(isinstance(d, Dim) for d in type.shape)
    return isinstance(type, TupleType) and any(_is_symbolic(t) for t in type.items)


def bind_dims(type: Type, value: Any, env: dict[Symbol, int]) -> None:
    """Notes in ``env`` what ``value``, of ``type``, says about the symbols of its shape; the first word stands."""
    if isinstance(type, TensorType):
        for dim, size in zip(type.shape, np.shape(value), strict=False):
            if isinstance(dim, Symbol):
                env.setdefault(dim, size)
    elif isinstance(type, TupleType):
        for t, v in zip(type.items, value, strict=True):
            bind_dims(t, v, env)


def check_dims(type: Type, value: Any, env: dict[Symbol, int]) -> None:
    """Raises `OtherSizeError` if ``value`` has not the sizes that ``type`` says."""
    if isinstance(type, TensorType):
        for dim, size in zip(type.shape, np.shape(value), strict=False):
            if isinstance(dim, Dim) and env.keys() >= set(symbols_of(dim)) and evaluate(dim, env) != size:
                raise OtherSizeError(f"the size {dim} was taken to be {evaluate(dim, env)}, and is {size}")
    elif isinstance(type, TupleType):
        for t, v in zip(type.items, value, strict=True):
            check_dims(t, v, env)


def resolved(value: Any, env: dict[Symbol, int]) -> Any:
    """Attributes (or one of them) with the values of symbolic dimensions filled in."""
    if isinstance(value, dict):
        return {name: resolved(v, env) for name, v in value.items()}
    if isinstance(value, tuple):
        return tuple([resolved(v, env) for v in value])
    if isinstance(value, Dim):
        unknown = [s for s in symbols_of(value) if s not in env]
        if unknown:
            raise ValueError(f"the size {value} is not known: no value of this graph has the dimension {unknown[0]}")
        return evaluate(value, env)
    if isinstance(value, TensorType):  # only names sizes (`undef`, `relabel`): some nobody knows yet
        known = [isinstance(d, int) or env.keys() >= set(symbols_of(d)) for d in value.shape]
        return TensorType(
            value.dtype, tuple([resolved(d, env) if k else d for d, k in zip(value.shape, known, strict=True)])
        )
    if isinstance(value, TupleType):
        return TupleType(resolved(value.items, env))
    return value


def _with_values(step: Step, frame: Frame) -> Apply:
    """The node of ``step``, with values for symbolic attributes."""
    if not step.symbolic:
        return step.node
    node = Apply()
    node.op, node.operands, node.tag, node.type = step.node.op, step.node.operands, step.node.tag, step.node.type
    node.attrs, node.serial, node.context = resolved(step.attrs, frame.env), step.node.serial, step.node.context
    return node
