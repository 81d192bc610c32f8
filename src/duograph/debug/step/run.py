"""A run of a graph under its listing: what the statements of a `Listing` do, and the values that they have computed.

Values are kept in the order in which they were computed, and all that happens depends on nothing else: to go back, the
functions are left, called again, and given the values that are known, up to the node that is wanted. What no longer
fits in memory is dropped, the oldest first, and computed again when it is asked for; what has an effect never is.

Operators are computed one by one by the kernels of eager mode, as `ir.interpreter` does: the bits are those of a call
without stepping (levels up to O1).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import CodeType, FrameType
from typing import Any

import numpy as np

from duograph.ir.control import while_loop
from duograph.ir.interpreter import Frame, Interpreter, Step, bind_dims, note_node, value_of
from duograph.ir.node import Graph, Node
from duograph.tensor.tensor import wrap

from .listing import CALLS, Listing

__all__ = ["Rewind", "Run"]

MOST_CALLS = 150
"""Calls of calls that have frames of their own; what is deeper runs without."""

_DROPPED = object()


class Rewind(BaseException):
    """The run is to be repeated up to a node: what the debugger raises to leave the frames."""


class _Nested:
    """A loop, branch or call that is running: its step, and what it has so far."""

    __slots__ = ("carry", "invariants", "iteration", "outer", "step", "value")

    def __init__(self, step: Step, outer: Frame) -> None:
        self.step, self.outer = step, outer
        self.carry: list[Any] = []
        self.invariants: list[Any] = []
        self.iteration = -1
        self.value: Any = None


class Run:
    """One call of a graph.

    Args:
        graph: what is run.
        values: one per parameter.
        listing: its functions.
        arguments: of the user's function, by name.
        watch: what is told when something has happened (`Watch`).
        most: bytes of values that are kept.

    Attributes:
        position: how many nodes have been run.
        nodes: the steps that were run, in order.
    """

    def __init__(
        self,
        graph: Graph,
        values: Sequence[Any],
        listing: Listing,
        arguments: dict[str, Any],
        watch: Watch,
        most: int,
    ) -> None:
        self.graph, self.listing, self._values = graph, listing, values
        self._arguments, self._watch, self._most = arguments, watch, most
        self.nodes: list[Step] = []
        self._history: list[Any] = []
        self._kept_bytes = self._oldest = 0
        self._begin()

    def _begin(self) -> None:
        self.position = 0
        self.frame = Frame(self.graph, self._values, None)
        self.nested: list[_Nested] = []

    def start(self, names: dict[str, Any]) -> Any:
        """The value of the graph's output; ``names``: of the user's module, for the frames."""
        while True:
            self._begin()
            root = self.frame
            try:
                with np.errstate(all="ignore"):
                    self.listing.main(self, names)()
                return root.slots[root.plan.output]
            except Rewind:
                continue

    # -- values ------------------------------------------------------------------------------------------------

    def held(self, slot: int) -> Any:
        """The value in a slot, as the user sees it."""
        return shown(self.frame.slots[slot])

    def argument(self, name: str) -> Any:
        return self._arguments.get(name)

    def step(self, number: int) -> Any:
        """Computes a node, or finds what it has been."""
        step, frame = self.listing.steps[number], self.frame
        self._watch.before(self, sys._getframe(1), step)
        at = self.position
        if at < len(self._history) and self._history[at] is not _DROPPED:
            value = self._history[at]
        else:
            with self._watch.computing(bool(step.node.op.effects)):
                try:
                    value = value_of(step, frame)
                except Exception as error:
                    note_node(error, step.node)
                    raise
            self._keep(at, step, value)
        if step.binds:
            bind_dims(step.node.type, value, frame.env)
        frame.slots[step.out] = value
        self.position = at + 1
        return shown(value)

    def _keep(self, at: int, step: Step, value: Any) -> None:
        if at < len(self._history):
            return  # it was dropped, and is again
        self._history.append(value)
        self.nodes.append(step)
        self._kept_bytes += _bytes_of(value)
        while self._kept_bytes > self._most and self._oldest < at:
            old = self._history[self._oldest]
            if not self.nodes[self._oldest].node.op.effects:
                self._kept_bytes -= _bytes_of(old)
                self._history[self._oldest] = _DROPPED
            self._oldest += 1

    def look(self, number: int) -> Callable[[], Any]:
        """Shows the value that was computed last to who looks for one. What the frame is to call then: debuggers stop
        in the frame that calls ``breakpoint``."""
        step, slots = self.listing.steps[number], self.frame.slots
        stops = self._watch.after(self, sys._getframe(1), step, slots[step.out], [slots[i] for i in step.ins])
        return breakpoint if stops else tuple

    # -- branches, loops and calls -----------------------------------------------------------------------------

    def _enter(self, nested: _Nested, graph: Graph, values: Sequence[Any]) -> None:
        self.frame = Frame(graph, values, self.frame)

    def _leave_graph(self, nested: _Nested) -> Any:
        frame, self.frame = self.frame, nested.outer
        return frame.slots[frame.plan.output]

    def _open(self, number: int) -> tuple[_Nested, list[Any]]:
        step = self.listing.steps[number]
        nested = _Nested(step, self.frame)
        self.nested.append(nested)
        return nested, [self.frame.slots[i] for i in step.ins]

    def is_taken(self, number: int) -> bool:
        """Enters one of the graphs of a branch."""
        nested, (test, *values) = self._open(number)
        self._enter(nested, nested.step.node.attrs["then" if test else "orelse"], values)
        return bool(test)

    def is_entered(self, number: int) -> bool:
        """Enters a graph that is called, unless there are too many calls around."""
        nested, values = self._open(number)
        node = nested.step.node
        key = {"call": "graph", "custom_vjp": "forward"}.get(node.op.name)
        graph = node.attrs[key] if key else node.context.functions[node.attrs["name"]]
        if sum(n.step.node.op in CALLS for n in self.nested) > MOST_CALLS:
            with self._watch.computing(True):
                nested.value = Interpreter().run(graph, values)
            return False
        self._enter(nested, graph, values)
        return True

    def leave(self, number: int) -> None:
        """Ends a branch, loop or call: its value is known."""
        nested = self.nested.pop()
        value = nested.value
        if self.frame is not nested.outer:
            value = self._leave_graph(nested)
        step = nested.step
        self.frame.slots[step.out] = value
        if step.binds:
            bind_dims(step.node.type, value, self.frame.env)

    def loop(self, number: int) -> None:
        """Begins a loop."""
        nested, values = self._open(number)
        attrs = nested.step.node.attrs
        n, first = attrs["n_carry"], 0 if nested.step.node.op is while_loop else 1
        nested.carry, nested.invariants = values[first : first + n], values[first + n :]
        nested.value = values[0] if first else None  # the number of iterations of a scan

    def test(self, number: int) -> None:
        """Enters the graph of the condition."""
        nested = self.nested[-1]
        self._enter(nested, nested.step.node.attrs["cond"], [*nested.carry, *nested.invariants])

    def is_done(self, number: int) -> bool:
        """Enters the body of a ``while_loop``, unless it is over."""
        nested = self.nested[-1]
        if not self._leave_graph(nested):
            nested.value = tuple(nested.carry)
            return True
        nested.iteration += 1
        self._enter(nested, nested.step.node.attrs["body"], [*nested.carry, *nested.invariants])
        self._watch.iteration(self, sys._getframe(1), nested.step)
        return False

    def goes_on(self, number: int) -> bool:
        """Enters the body of a ``scan``, unless it is over."""
        nested = self.nested[-1]
        nested.iteration += 1
        if nested.iteration >= nested.value:
            nested.value = tuple(nested.carry)
            return False
        values = [nested.iteration, *nested.carry, *nested.invariants]
        self._enter(nested, nested.step.node.attrs["body"], values)
        self._watch.iteration(self, sys._getframe(1), nested.step)
        return True

    def next(self, number: int) -> None:
        """Ends an iteration."""
        nested = self.nested[-1]
        nested.carry = list(self._leave_graph(nested))

    # -- what can be asked -------------------------------------------------------------------------------------

    def loops_at(self, node: Node) -> tuple[tuple[Any, int], ...]:
        """The loops of the program around a node that is run now, outermost first, and the iteration of each. The first
        iterations of a loop, or all, may have been unrolled."""
        running: dict[Any, int] = {}
        for nested in self.nested:
            if nested.iteration >= 0:
                known = nested.step.node.context.iterations.get(nested.step.node, ())
                key, first = known[-1][:2] if known and known[-1][2] is None else (nested.step, 0)
                running[key] = first + nested.iteration
        found = {}
        for key, number, variables in node.context.iterations.get(node, ()):
            if key in running or variables is not None:
                found[key] = running.get(key, number)
        return tuple({**found, **running}.items())

    @property
    def loops(self) -> tuple[tuple[Any, int], ...]:
        """Those around the node that was run last, as far as they are still running."""
        if not self.position:
            return ()
        loop = next((n for n in reversed(self.nested) if n.iteration >= 0), None)
        return self.loops_at(self.nodes[self.position - 1].node if loop is None else loop.step.node)

    def value_at(self, at: int) -> Any:
        """The value of a node that has been run; ``None`` if it is not kept."""
        return None if self._history[at] is _DROPPED else self._history[at]

    @property
    def reached(self) -> int:
        """How many nodes are known: those after `position` were run before the run went back."""
        return len(self._history)

    @property
    def inputs(self) -> Sequence[Any]:
        """The values of the graph's parameters."""
        return self._values

    @property
    def function(self) -> str:
        """The qualified name of the user's function."""
        return self.listing.function

    @property
    def codes(self) -> set[CodeType]:
        """The code objects of its frames."""
        return self.listing.codes


class Watch:
    """What a run tells: here, nobody."""

    def before(self, run: Run, frame: FrameType, step: Step) -> None:
        """A node is about to be computed in ``frame``."""

    def after(self, run: Run, frame: FrameType, step: Step, value: Any, operands: Sequence[Any]) -> bool:
        """A node has been computed; whether the frame is to call ``breakpoint()``."""
        raise NotImplementedError

    def iteration(self, run: Run, frame: FrameType, loop: Step) -> None:
        """An iteration of a loop begins."""

    def computing(self, is_python: bool) -> Any:
        """A context for the computation itself; ``is_python``: it may call the user's code."""
        raise NotImplementedError


Condition = Callable[[Step, Any, Sequence[Any]], str]


def shown(value: Any) -> Any:
    """A value as the user has it: arrays are tensors, which nobody can write to."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
        return wrap(value)
    return tuple([shown(v) for v in value]) if isinstance(value, tuple) else value


def _bytes_of(value: Any) -> int:
    if isinstance(value, tuple):
        return sum(map(_bytes_of, value))
    return value.nbytes if isinstance(value, np.ndarray) and value.base is None else 0
