"""``for`` and ``while``: unrolled where the end is known and near, a loop of the graph otherwise.

A ``while`` whose test is a Python bool is executed as Python would, iteration by iteration; one that goes on for more
than `UNROLL` iterations, or that a tensor may end from within (``while True`` with a ``break``), and every loop whose
test depends on a tensor, becomes a `SymbolicLoop`. A ``for`` over a
``range`` longer than `UNROLL` likewise, with its counter as a run-time number, or longer than `UNROLL_FORKING` where a
tensor may end it from within. If a body cannot be captured that way (it indexes a Python list with the counter, say),
the loop is remembered and unrolled.
"""

from __future__ import annotations

import ast
import itertools
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn

from duograph.ops.scalar import Scalar, sizes_behind
from duograph.tensor.tensor import Tensor

from ..control.paths import Outcome
from ..rules.errors import INTERNAL, Restart, Uncapturable
from ..rules.exceptions import held_by, hold, with_causes
from ..values.grown import GrownList
from ..values.world import Frame, Snapshot
from ..verbs.loops import SymbolicLoop
from ..verbs.substitutes import SymbolicRange
from .statements import NEXT, Statements

UNROLL = 32
UNROLL_FORKING = 8
"""As `UNROLL`, if each iteration is one more path: each path is captured from its beginning."""
MOST_FORKING = 48
"""Iterations of such a loop that are unrolled at most: the graph grows with the square of their number."""
MAX_UNROLL = 20_000
PLAIN = bool, int, float, str
"""Values of variables that debuggers see."""


class Loops(Statements):
    """Loop statements. Mixed into the driver."""

    def exec_While(self, node: ast.While, frame: Frame) -> Outcome:
        def test() -> Any:
            return self.test(node.test, frame)

        def body() -> Outcome:
            return self.block(node.body, frame)

        key = self.session.regions.next_key()
        once = self._alone(node, frame, body)
        log = self.session.log
        region = self.session.regions.current
        assert region is not None
        for count in range(MAX_UNROLL):
            near = log.peeled.get(key, 0) if log.forking.get(key) else self._most_unrolled()
            a_loop = count >= near and key not in log.unrolled
            entry = self.world.snapshot()
            truth = self._of_this_run(test(), count, key)
            if isinstance(truth, Scalar):
                if log.peeled.get(key, 0) > count:
                    return self._peeled(node, frame, truth, count, key)
                return self._symbolic(node, frame, key, entry, test, body, truth, count)
            if not truth:
                return self.block(node.orelse, frame)
            if a_loop:
                return self._symbolic(node, frame, key, entry, test, body, None, count)
            decisions = len(region.path)
            with self._iteration(key, count):
                outcome = once()
            if outcome.kind == "break":
                return NEXT
            if outcome.kind in ("return", "raise"):
                return outcome
            if len(region.path) > decisions and self.session.regions.recording is None:
                if key not in log.forking:
                    self._note_forking(key)
                self._check_forking(count)
        raise Uncapturable(f"a loop of more than {MAX_UNROLL} iterations that cannot be kept as a loop")

    def _note_forking(self, key: Any) -> NoReturn:
        self.session.log.forking[key] = True  # unrolled, each iteration is one more path
        raise Restart

    def _check_forking(self, count: int) -> None:
        if count > MOST_FORKING and not self.session.log.unrolls:
            raise Uncapturable(f"a loop of more than {MOST_FORKING} iterations, each of which may be the last one")

    def _alone(self, node: ast.For | ast.While, frame: Frame, body: Callable[[], Outcome]) -> Callable[[], Outcome]:
        """The body of an iteration that is unrolled: paths that ``continue`` meet the others at its end."""
        if ast.Continue not in _kinds_within(node):
            return body

        def once() -> Outcome:
            outcome = body()
            return NEXT if outcome.kind == "continue" else outcome

        def run() -> Outcome:
            self.at(node, frame)  # the place of all iterations, whichever statement the one before has ended with
            return self.session.regions.run(once)

        return run

    def _most_unrolled(self) -> int:
        """Iterations of a loop whose end is known that are unrolled."""
        return MAX_UNROLL if self.session.log.unrolls else UNROLL

    def _of_this_run(self, truth: Any, count: int, key: Any) -> Any:
        """The test of a loop after ``count`` iterations, as the run that is recorded has it; a long loop stays one."""
        regions = self.session.regions
        is_near = count < self._most_unrolled() or key in self.session.log.unrolled
        if is_near and isinstance(truth, Scalar) and regions.recording is not None:
            return regions.decide(truth)
        return truth

    def _peeled(self, node: ast.While, frame: Frame, truth: Scalar, count: int, key: Any) -> Outcome:
        """``if test: body; <rest of the loop> else: <else clause>``."""

        def once() -> Outcome:
            with self._iteration(key, count):
                outcome = self.block(node.body, frame)
            if outcome.kind == "break":
                return NEXT
            if outcome.kind == "return":
                return outcome
            entry = self.world.snapshot()
            again = self.test(node.test, frame)
            if not isinstance(again, Scalar):
                return self.exec_While(node, frame) if again else self.block(node.orelse, frame)
            if self.session.log.peeled.get(key, 0) > count + 1:
                return self._peeled(node, frame, again, count + 1, key)
            test, body = (lambda: self.test(node.test, frame)), (lambda: self.block(node.body, frame))
            return self._symbolic(node, frame, key, entry, test, body, again, count + 1)

        return self.session.regions.branch(truth, once, lambda: self.block(node.orelse, frame))

    def _symbolic(
        self, node: Any, frame: Frame, key: Any, entry: Snapshot,
        test: Callable[[], Any], body: Callable[[], Outcome], truth: Any, count: int,
    ) -> Outcome:  # fmt: skip
        """A loop of the graph, from the state before ``test`` was captured for the first time (``entry``), after
        ``count`` iterations."""
        self.world.restore(entry)
        try:
            with self._iteration(key, count, None):
                outcome = SymbolicLoop(self.session, key, test, body).run()
        except INTERNAL as error:
            if isinstance(error, Uncapturable) and isinstance(truth, Scalar):
                error.sizes |= sizes_behind(truth.node)
            if truth is None or (self.session.regions.recording and key not in self.session.log.unrolled):
                # the test was known, or is in this run: unrolling is possible too
                if self.session.log.forking.get(key):
                    self.session.log.forking[key] = False
                else:
                    self.session.log.unrolled.add(key)
                raise Restart from None
            raise
        return self._after(node, frame, outcome)

    @contextmanager
    def _iteration(self, key: Any, count: int, variables: Any = ()) -> Iterator[None]:
        """Within the block, what is captured is of an iteration of the loop ``key`` (`Context.iterations`)."""
        builder = self.session.builder
        outer, builder.iterations = builder.iterations, (*builder.iterations, (key, count, variables))
        try:
            yield
        finally:
            builder.iterations = outer

    def _after(self, node: Any, frame: Frame, outcome: Outcome) -> Outcome:
        """What happens after a loop of the graph: the else clause, or the early exit that its status says."""
        if outcome.kind == "next":
            return self.block(node.orelse, frame)
        status, payload, early = outcome.value
        branch = self.session.regions.branch

        def dispatch(i: int) -> Outcome:
            if i == len(early):
                return self.block(node.orelse, frame)
            exit_ = early[i]
            if exit_.kind == "stop":
                return dispatch(i + 1)
            return branch(status == i + 1, lambda: leave(exit_), lambda: dispatch(i + 1))

        def leave(exit_: Outcome) -> Outcome:
            shape, offset, value = exit_.value
            if exit_.kind == "break":
                return NEXT
            held = shape.rebuild(payload[offset : offset + len(shape.types)])
            if exit_.kind == "return":
                return Outcome("return", held)
            left = iter(held)
            for exc in with_causes(value):
                hold(exc, [next(left) for _ in held_by(exc)])
            raise value

        return dispatch(0)

    def exec_For(self, node: ast.For, frame: Frame) -> Outcome:
        key = self.session.regions.next_key()
        iterable = self.eval(node.iter, frame)
        if type(iterable) is itertools.count and isinstance(node.iter, ast.Call):
            iterable = _endless(iterable)
        rows = isinstance(iterable, Tensor) and iterable.ndim > 0
        length = _length(iterable) if isinstance(iterable, range) else iterable.shape[0] if rows else None
        counted = isinstance(iterable, SymbolicRange | GrownList) or (
            length is not None and not isinstance(length, int)
        )
        log = self.session.log
        is_far = isinstance(length, int) and length > UNROLL_FORKING and not log.unrolls
        most = UNROLL_FORKING if is_far and log.forking.get(key) else self._most_unrolled()
        is_long = isinstance(length, int) and length > most and key not in log.unrolled
        if counted or is_long:
            return self._counted(node, frame, key, iterable, not counted)
        values = self.semantics.iterate(iterable)
        try:
            return self._each(node, frame, key, values, is_far and key not in log.forking and _may_leave(node))
        finally:
            if isinstance(values, types.GeneratorType) and isinstance(node.iter, ast.Call):
                values.close()  # nobody else holds it: Python would close it here, too

    def _each(self, node: ast.For, frame: Frame, key: Any, values: Iterator[Any], may_stay: bool) -> Outcome:
        """``may_stay``: it could be a loop of the graph, too."""
        region = self.session.regions.current
        assert region is not None
        names = [target.id for target in ast.walk(node.target) if isinstance(target, ast.Name)]
        once = self._alone(node, frame, lambda: self.block(node.body, frame))
        for count, value in enumerate(values):
            if count > MAX_UNROLL:
                raise Uncapturable(f"a loop of more than {MAX_UNROLL} iterations that cannot be kept as a loop")
            self.assign(node.target, value, frame)
            held = [(frame.name, name, frame.locals.get(name)) for name in names]
            decisions = len(region.path)
            with self._iteration(key, count, [one for one in held if type(one[2]) in PLAIN]):
                outcome = once()
            if outcome.kind == "break":
                return NEXT
            if outcome.kind == "return":
                return outcome
            if len(region.path) > decisions and self.session.regions.recording is None:
                if may_stay:
                    self._note_forking(key)
                self._check_forking(count)
        return self.block(node.orelse, frame)

    def _counted(self, node: ast.For, frame: Frame, key: Any, iterable: Any, known: bool) -> Outcome:
        """A for loop over a range or over the rows of a tensor, by a counter of the graph."""
        if isinstance(iterable, Tensor):
            start, stop, step = 0, self.semantics.getattr(iterable, "shape")[0], 1
            value = lambda i: self.semantics.getitem(iterable, i)  # noqa: E731
        elif isinstance(iterable, GrownList):
            start, stop, step = 0, iterable.length(), 1
            value = iterable.reader()
        else:
            start, stop, step = iterable.start, iterable.stop, iterable.step
            value = lambda i: i  # noqa: E731
        counter = f".counter of {key}"  # all of the key: a loop around this one may be as manyth in its own region
        frame.locals[counter] = start

        def test() -> Any:
            i = frame.locals[counter]
            return i < stop if step > 0 else i > stop

        def body() -> Outcome:
            i = frame.locals[counter]
            frame.locals[counter] = i + step
            self.assign(node.target, value(i), frame)
            return self.block(node.body, frame)

        peels = self.session.log.peeled.get(key, 0)

        def go(count: int) -> Outcome:
            entry = self.world.snapshot()
            truth = test()
            is_of_this_run = isinstance(truth, Scalar) and count < UNROLL
            truth = self._of_this_run(truth, count, key) if is_of_this_run else truth
            if not isinstance(truth, Scalar):
                if not truth:
                    return self.block(node.orelse, frame)
                if count < peels or is_of_this_run:
                    return once(count)
            elif count < peels:
                return self.session.regions.branch(truth, lambda: once(count), lambda: self.block(node.orelse, frame))
            return self._symbolic(node, frame, key, entry, test, body, None if known else truth, count)

        def once(count: int) -> Outcome:
            with self._iteration(key, count):
                outcome = body()
            if outcome.kind == "break":
                return NEXT
            return outcome if outcome.kind == "return" else go(count + 1)

        try:
            with iterable.walked() if isinstance(iterable, GrownList) else nullcontext():
                return go(0)
        finally:
            frame.locals.pop(counter, None)


def _endless(numbers: itertools.count[Any]) -> Any:
    """What ``numbers``, which nobody else holds, gives, as a range whose end nobody comes to."""
    start = next(numbers)
    step = next(numbers) - start
    if type(start) is int and type(step) is int and step:
        return range(start, start + (step << 61), step)
    return itertools.count(start, step)


def _may_leave(node: ast.For) -> bool:
    """Whether an iteration may be the last one."""
    return not _kinds_within(node).isdisjoint((ast.Break, ast.Return, ast.Raise))


_kinds: weakref.WeakKeyDictionary[ast.stmt, frozenset[type]] = weakref.WeakKeyDictionary()


def _kinds_within(node: ast.For | ast.While) -> frozenset[type]:
    """The classes of all nodes in the body of a loop, which is asked for anew whenever the loop is captured."""
    kinds = _kinds.get(node)
    if kinds is None:
        kinds = _kinds[node] = frozenset(type(part) for statement in node.body for part in ast.walk(statement))
    return kinds


def _length(numbers: range) -> int | None:
    """How many there are; ``None`` if more than a list could have, which is an error to ask for."""
    try:
        return len(numbers)
    except OverflowError:
        return None
