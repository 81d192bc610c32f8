"""Capture of one run (``capture_mode="trace"``): decisions on tensors are taken as this run takes them, and guarded.

The driver is the one of every other capture; two things are different at the places where it needs what only a run
knows (`regions.Regions`):

* a decision on a tensor goes the way of this run, whose value is computed from the graph so far (`Recorder.value_of`).
  The other way is left open: a path that ends in `Leave`, where a later call goes that decides otherwise;
* where Python must have a number (an index of a list, a bound of a slice), it gets that of this run, which is one more
  decision: whether the number is that one.

A call that leaves has changed nothing yet. Its run is recorded in addition: a program knows all runs so far
(`Recorded`), as the tree of their decisions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from duograph.base.failures import is_from_outside
from duograph.core.dim import Symbol
from duograph.core.kernel import as_value, compute
from duograph.ir.control import call, call_named, cond, custom_vjp, make_tuple, scan, tuple_get, while_loop
from duograph.ir.interpreter import bind_dims, resolved
from duograph.ir.node import Apply, Const, Graph, Node
from duograph.ops.scalar import Scalar

from ..rules.budget import Budget
from ..rules.errors import Restart
from .execute import executor

MOST_DECISIONS = 64
"""Decisions of one run; a run that takes more is not recorded: all paths are captured."""
MOST_RUNS = 8
"""Runs that one program knows; after that all paths are captured."""
Way = tuple[bool, ...]
"""Decisions from the beginning of a program on."""
_WITH_GRAPHS = (call, call_named, cond, custom_vjp, scan, while_loop)


class Leave(Restart):
    """No run that was recorded has come here: the path ends."""


class Unrecordable(Restart):
    """This run cannot be recorded; all paths are captured instead. The argument is the reason."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The runs that a program knows.

    Attributes:
        ways: of each run, what it decided.
        numbers: what Python had of numbers where runs had decided so; a number is asked for before the next decision.
    """

    ways: tuple[Way, ...] = ()
    numbers: Mapping[Way, tuple[int, ...]] = field(default_factory=dict)

    def next(self, way: Way) -> bool | None:
        """What a run has decided that came this way; ``None`` if there is none."""
        k = len(way)
        return next((w[k] for w in self.ways if len(w) > k and w[:k] == way), None)

    def knows(self, way: Way) -> bool:
        """Whether a run has begun so."""
        return any(w[: len(way)] == way for w in self.ways)


class Recorder:
    """The recording of one run by one attempt to capture.

    Args:
        recorded: earlier runs.
        given: the value of an input of the graph in this call: an array or a number.
        budget: of the capture.

    Attributes:
        is_leading: whether the path that is being captured is that of this run.
        way: what this run has decided, once its path is captured.
    """

    def __init__(self, recorded: Recorded, given: Callable[[Node], Any], budget: Budget) -> None:
        self.recorded, self.given, self.budget = recorded, given, budget
        self.is_leading = False
        self.way: Way = ()
        self._numbers = dict(recorded.numbers)
        self._values: dict[Node, Any] = {}
        self._sizes: dict[Symbol, int] = {}

    @property
    def result(self) -> Recorded:
        """The runs that the program knows."""
        ways = dict.fromkeys((*self.recorded.ways, self.way))
        return Recorded(tuple(ways), self._numbers)

    def decision(self, way: Way, pred: Scalar) -> bool:
        """How the run that is being captured decides.

        Raises:
            Leave: no run has come this way.
            Unrecordable: it has decided too often.
        """
        if len(way) >= MOST_DECISIONS:
            raise Unrecordable(f"a run takes more than {MOST_DECISIONS} decisions by tensors")
        if self.is_leading:
            return bool(self.value_of(pred.node))
        known = self.recorded.next(way)
        if known is None:
            raise Leave
        return known

    def is_open(self, way: Way) -> bool:
        """Whether no run has begun so: such a path ends where it begins."""
        return not self.recorded.knows(way)

    def numbers(self, way: Way) -> Sequence[int]:
        """What runs had of a number after these decisions, in the order in which that is asked."""
        return self._numbers.get(way, ())

    def number(self, way: Way, asked: Scalar) -> int:
        """What this run has of it, which is none of `numbers`.

        Raises:
            Leave: it is not this run that is being captured.
        """
        if not self.is_leading:
            raise Leave
        value: int = self.value_of(asked.node)
        self._numbers[way] = (*self.numbers(way), value)
        return value

    # -- values of this run ------------------------------------------------------------------------------------

    def value_of(self, node: Node) -> Any:
        """What the graph so far computes in ``node`` for the arguments of this call: an array, a number or a tuple.

        Raises:
            Unrecordable: that raises, or would have effects.
        """
        started = time.thread_time()
        try:
            with np.errstate(all="ignore"):
                return self._computed(node)
        except Exception as error:
            if is_from_outside(error):
                raise
            raise Unrecordable(f"what it decides by raises {type(error).__name__} in this run") from None
        finally:
            self.budget.started += time.thread_time() - started  # it is the program's time

    def _computed(self, root: Node) -> Any:
        values, work = self._values, [root]
        while work:
            node = work[-1]
            if node in values:
                work.pop()
            elif isinstance(node, Const):
                values[node] = node.value
            elif not isinstance(node, Apply):
                values[node] = self.given(node)
                bind_dims(node.type, values[node], self._sizes)
            elif missing := [x for x in node.operands if x not in values]:
                work += missing
            else:
                values[node] = self._applied(node, [values[x] for x in node.operands])
        return values[root]

    def _applied(self, node: Apply, operands: list[Any]) -> Any:
        op = node.op
        if op.effects:
            raise Unrecordable("it decides by what an effect gives")
        if op is make_tuple:
            return tuple(operands)
        if op is tuple_get:
            return operands[0][node.attrs["index"]]
        if op in _WITH_GRAPHS:
            value = executor("interpreter").run(self._alone(node), operands)
        else:
            value = as_value(compute(op, operands, resolved(node.attrs, self._sizes)), node.type)
        bind_dims(node.type, value, self._sizes)
        return value

    @staticmethod
    def _alone(node: Apply) -> Graph:
        """A graph of nothing else, whose parameters are the operands."""
        context = node.context
        params = tuple([context.param(context.fresh_name("operand"), x.type) for x in node.operands])
        return Graph(context, "of_this_run", params, context.apply(node.op, params, node.attrs, node.tag))
