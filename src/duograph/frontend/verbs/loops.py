"""Loops whose end depends on tensor values (or that are too long to unroll) as ``while_loop`` nodes.

The body is captured from the state before the loop; what it changed becomes the carry, and it is captured again with
parameters in those places, until nothing new changes and the types are stable (Triton's two visits, repeated):

* a changed tensor or number is carried; a dimension that changes becomes symbolic;
* an early exit (``break``, ``return``, ``raise``) is a status number in the carry, looked at after the loop;
* if a type changes only in the first iteration, or a variable is first assigned in the body, one iteration is peeled
  off: ``if test: body; while test: body``.

* a list that becomes longer is carried as a stack (`values.grown`).

Anything else (a set that grows, an object that is replaced) cannot be a compiled loop and is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core.borders import opened, symbols_in
from duograph.core.dim import Symbol
from duograph.core.op import no_recording
from duograph.core.op import state as dispatch
from duograph.core.types import INT, TOKEN, StackType, TensorType
from duograph.ir.builder import Scope
from duograph.ir.control import cond, undef, while_loop
from duograph.ir.node import Node, reachable
from duograph.ops.cast import relabel
from duograph.ops.graph_binder import Stored
from duograph.ops.scalar import Scalar, is_number
from duograph.tensor.alias import root_of
from duograph.tensor.tensor import Tensor, type_of

from ..control.growth import Grows, begin_growth
from ..control.identity import is_derived
from ..control.join import close_pair, close_pair_with_params, may_have_gradient
from ..control.paths import Leaf, Outcome
from ..control.status import join_with_status
from ..programs.primitives import anchor
from ..rules.errors import Uncapturable, Undecidable
from ..rules.facts import MISSING
from ..session.session import Session
from ..values.world import Conflict, Snapshot
from .loop_carry import LoopCarry, Place, references

MOST_CARRIED = 2048
"""Values that a loop carries: the states of a large model; not each element of a list of numbers."""


class SymbolicLoop(LoopCarry):
    """Captures one loop. ``test`` gives a bool or a bool Scalar; ``body`` an `Outcome`."""

    def __init__(self, session: Session, key: Any, test: Callable[[], Any], body: Callable[[], Outcome]) -> None:
        self.session, self.key, self.test, self.body = session, key, test, body
        self.world, self.builder, self.binder = session.world, session.builder, session.binder
        self.regions = session.regions
        self.replaced: set[Any] = set()  # storages of Parameters to which the body gives other memory
        self.sizes: set[Any] = set()  # names of sizes in the carry that are this loop's own
        self.own: dict[int, Any] = {}  # lists and dictionaries in the carry, which nothing but a variable holds
        self.refusal = ""  # why this attempt must not be the last one
        self._first: dict[Any, Any] = {}  # what carried variables begin with, by their parameters
        self.forgotten: dict[Any, str] = {}  # locations of variables that cannot be carried, and why

    def run(self) -> Outcome:
        """Emits the loop; the outcome is next (it ended by its test), break, return or raise (by status)."""
        self.regions.check_no_batch()
        entry = self.world.snapshot()
        places: dict[Any, Place] = {}
        for _ in range(12):
            self.world.restore(entry)
            try:
                with self.regions.within(self, entry):
                    done = self._attempt(entry, places)
            except Grows as found:
                if not found.is_older_than(entry):  # it is an outer loop's
                    raise
                entry = begin_growth(self.session, self.key, entry, found, references(entry, found.list))
                places.clear()
                continue
            if done is not None:
                return done
        raise Uncapturable("the types of the loop's variables do not settle")

    def first(self, param: Node) -> Any:
        """What a carried variable, whose parameter is ``param``, is in the first iteration; ``None``: no such one."""
        return self._first.get(param)

    def _attempt(self, entry: Snapshot, places: dict[Any, Place]) -> Outcome | None:
        self._first, self.refusal = {}, ""
        params = {}
        for place in places.values():
            first = self._read(entry, place.location, place.path)
            params[place.key] = param = self.builder.inner_param("carry", place.type)
            self._put(place, self._handle(param, place.is_plain))
            self._first[param] = first
        self._forget()
        header = self.world.snapshot()
        self._header_checked = header.checked
        with no_recording():
            with self.builder.scope() as cond_scope:
                cond_scope.params = list(params.values())
                pred, pure = self._tested(header)
            self.world.restore(header)
            with self.builder.scope() as body_scope:
                body_scope.params, body_scope.repeats = list(params.values()), True
                leaf, statuses = self._body(pure)
        if not isinstance(pred, Scalar):
            if pure and pred is False:
                return Outcome("next")
            if pure:
                pred = Scalar(self.builder.context.const(True))
        changed = self._changes(header, leaf.state)
        if self._widen(entry, leaf, body_scope, places, changed):
            return None
        return self._emit(entry, leaf, places, params, pred if pure else None, cond_scope, body_scope, statuses)

    def _tested(self, header: Snapshot) -> tuple[Any, bool]:
        """The loop's test, and whether it may be a graph of its own: it changes nothing, and has one path."""
        try:
            with self.regions.straight():
                pred = self.test()
        except Undecidable:
            return None, False
        self._drop_used_anchors(pred)
        return pred, not self._changes(header, self.world.snapshot())

    def _drop_used_anchors(self, pred: Any) -> None:
        """Anchors of the test are not needed where its value depends on what they keep."""
        header, checked = self._header_checked, self.world.checked
        if not isinstance(pred, Scalar) or checked is header:
            return
        needed = reachable(pred.node)
        node = checked.node
        while node.op is anchor and all(v in needed and v.op is not while_loop for v in node.operands[1:]):
            node = node.operands[0]
            if node is self.binder.node_of(header):
                self.world.checked = header
                return

    def _body(self, pure: bool) -> tuple[Leaf, list[Outcome]]:
        """The body's paths joined into one, whose outcome value is (status, payloads)."""

        def once() -> Outcome:
            if not pure:
                pred = self.test()
                running = self.regions.decide(pred) if isinstance(pred, Scalar) else pred
                if not running:
                    return Outcome("stop")
            return self.body()

        tree = self.regions.explore(self.regions.next_key(), once)
        return join_with_status(self.regions, self.key, tree)

    # -- the carry ---------------------------------------------------------------------------------------------

    def _widen(self, entry: Snapshot, leaf: Leaf, scope: Any, places: dict[Any, Place], changed: list[Any]) -> bool:
        """Adds what the body changed to the carry and adapts types; True if another attempt is needed."""
        again = False
        for location, path, before, after in changed:
            key = (location, path)
            if location in self.forgotten:
                continue
            if location[0] == "store" and before.memory != after.memory and location[2] not in self.replaced:
                again = self._replaces(entry, location) or again
            if key not in places:
                first = self._read(entry, location, path)
                if isinstance(first, Conflict) and first.choice is not None:  # an iteration may read it
                    self.regions.dissolve(first.key)
                if first is MISSING or isinstance(first, Conflict):
                    if location[0] != "local":
                        name = location[-1][-1] if location[0] == "overlay" else location[-1]
                        self.session.peel(self.key, f"{name!r} is first set inside the loop")
                    self._after_only(location)
                    continue
            if location[0] == "local" and not _is_carried(after):
                what = f"a {type(after).__name__}" if not isinstance(after, Conflict) else after.why
                self.forgotten[location] = f"a loop whose end depends on tensor values changes {what}"
                for other in [k for k in places if k[0] == location]:
                    del places[other]
                again = True
                continue
            kind = self._type(after, leaf, scope)
            if key not in places:
                start = self._type(first, entry, None)
                places[key] = Place(location, path, self._meet(start, kind, location))
                again = True
            elif places[key].type != kind:
                before, places[key].type = places[key].type, self._meet(places[key].type, kind, location)
                again = again or places[key].type != before
            if len(places) > MOST_CARRIED:
                raise Uncapturable(f"a loop whose end depends on tensor values changes more than {MOST_CARRIED} values")
        return again or self._finds_derived(entry, leaf, places)

    def _finds_derived(self, entry: Snapshot, leaf: Leaf, places: dict[Any, Place]) -> bool:
        """Notes where there are tensors of derived classes; whether those are news."""
        derived = self.session.choices.derived
        found = False
        for place in places.values():
            held = [self._read(state, place.location, place.path) for state in (entry, leaf.state)]
            if place.is_plain and any(is_derived(value) or id(value) in derived for value in held):
                place.is_plain, found = False, True
        return found

    def _replaces(self, entry: Snapshot, location: Any) -> bool:
        """Notes that the body gives a Parameter other memory (`GraphBinder.replace`): each iteration begins with some
        that views from before do not show. It must have happened before the loop, which may end at once."""
        _, root, alias = location
        before = entry.store.get(alias)
        if self.session.is_outside(root) and (before is None or not before.memory):
            self.session.peel(self.key, "a loop whose end depends on tensor values gives a Parameter other memory")
        self.replaced.add(alias)
        return True

    def _type(self, value: Any, state: Any, scope: Any) -> Any:
        if isinstance(value, Tensor) or is_number(value):
            return type_of(value)
        if isinstance(value, Stored):
            return value.node.type
        if isinstance(value, Node) or value is None:
            return TOKEN if value is None else value.type
        raise Uncapturable(f"a loop whose end depends on tensor values changes a {type(value).__name__}")

    def _meet(self, a: Any, b: Any, location: Any) -> Any:
        if a == b:
            return a
        if isinstance(a, TensorType) and isinstance(b, TensorType) and a.dtype is b.dtype and a.ndim == b.ndim:
            shape = tuple(
                m if m == n or m in self.sizes else self._size() for m, n in zip(a.shape, b.shape, strict=True)
            )
            return TensorType(a.dtype, shape)
        self.session.peel(self.key, f"variable {location[-1]!r} changes its type in the loop from {a} to {b}")
        return a

    def _size(self) -> Any:
        """A size that is another one in each iteration."""
        size = Symbol(f"n_{self.builder.next_tag}_{len(self.sizes)}")  # captured again, the loop is the same graph
        self.sizes.add(size)
        return size

    def _check_aliases(self, entry: Snapshot, leaf: Leaf, places: list[Place]) -> None:
        """What is carried becomes a tensor of its own: nothing may be written to what it was another name of."""
        written = {p.location[2] for p in places if p.location[0] == "store"}
        if any(self.binder.is_watched_and(alias, entry.store.get(alias)) for alias in written):
            raise Uncapturable("a loop writes to an argument that a gradient is taken of")
        if not written.isdisjoint(self.binder.written_apart):
            raise Uncapturable("a loop writes through what `stop_gradient` has given")
        for place in places:
            if place.location[0] not in ("local", "item", "overlay"):
                continue
            for state in (entry, leaf.state):
                value = self._read(state, place.location, place.path)
                if isinstance(value, Tensor):
                    alias = root_of(value)._alias
                    if alias in written:
                        raise Uncapturable("a tensor that the loop also rebinds is written in place")
                    self.session.choices.note_source(value)

    def _forget(self) -> None:
        """Variables that cannot be carried: the body and the code after the loop may assign, but not read them."""
        for (_, frame, name), why in self.forgotten.items():
            frame.locals[name] = Conflict(("peel", self.key), why)

    def _after_only(self, location: Any) -> None:
        """A variable that the body is the first to assign: it is carried nowhere; reading it afterwards peels."""

    # -- emission ----------------------------------------------------------------------------------------------

    def _emit(
        self, entry: Snapshot, leaf: Leaf, places: dict[Any, Place], params: dict[Any, Any], pred: Scalar | None,
        cond_scope: Any, body_scope: Any, statuses: list[Outcome],
    ) -> Outcome:  # fmt: skip
        ordered = list(places.values())
        if self.sizes and any(isinstance(place.type, StackType) for place in ordered):  # Python would have to run it
            self.refusal = "a loop makes a list longer, and carries tensors whose sizes change"
        if self.refusal:
            raise Uncapturable(self.refusal)
        self._check_aliases(entry, leaf, ordered)
        early = bool(statuses) or pred is None
        self.world.restore(entry)
        status, payload = leaf.outcome.value
        payload_nodes: list[Node] = []
        with no_recording():
            self._enter(leaf.state, body_scope)
            outs = [self._node(self._read(leaf.state, p.location, p.path), None) for p in ordered]
            if early:
                status_node = self.binder.node_of(status)
                payload_nodes = [self.binder.node_of(v) for v in payload]
            self._leave(entry)
        # restoring a state forgets what tapes have recorded since: so this comes last
        init = [self._node(self._read(entry, p.location, p.path), p.type) for p in ordered]
        if dispatch.detached and any(map(may_have_gradient, init)):
            binder = self.world.binder
            if binder.watched:
                raise Uncapturable("a loop within `no_grad` that may hand on a tensor from outside, with its gradient")
            binder.note_hooked()  # only tapes outside ask for it, and plain Python answers them
        status_param = None
        extra_params: list[Node] = []
        if early:
            status_param = self.builder.inner_param("status", INT)
            inside = set().union(*[symbols_in(n.type) for n in (*body_scope.emitted, *body_scope.params)])
            inside -= set().union(*[symbols_in(n.type) for n in init])
            kinds = [opened(n.type, inside, f"result_{self.builder.next_tag}_{i}") for i, n in enumerate(payload_nodes)]
            extra_params = [status_param, *(self.builder.inner_param("result", t) for t in kinds)]
            init += [self.builder.context.const(0)]
            init += [self.builder.emit(undef, (), {"type": t}) for t in kinds]
            outs += [status_node, *payload_nodes]
        carry_params = [params[p.key] for p in ordered] + extra_params
        if not carry_params:  # gradients know a loop by what it gives
            carry_params = [self.builder.inner_param("nothing", INT)]
            init, outs = [self.builder.context.const(0)], list(carry_params)
        test_node = self._test_node(pred, status_param, cond_scope)

        cond_graph, body_graph, captures = close_pair_with_params(cond_scope, test_node, body_scope, outs, carry_params)
        operands = [self.binder.wrap(n) for n in (*init, *captures)]
        self.session.loops += 1
        results = while_loop(*operands, cond=cond_graph, body=body_graph, n_carry=len(carry_params))
        results, itself = list(results), self.world.checked  # which keeps the loop, as it may have no end
        for place, result in zip(ordered, results, strict=False):
            if place.location[0] == "checked":
                result = Scalar(self.builder.emit(anchor, (result.node, *itself.node.operands[1:]), {}))
            self._put(place, result)
            if isinstance(result, Tensor):
                self.session.choices.note_repeated(result, place.is_plain)
        self._forget()
        self._forget_body_variables(entry, leaf.state)
        if not early:
            return Outcome("next")
        tail = results[len(ordered) :]
        for result in tail[1:]:
            if isinstance(result, Tensor):
                self.session.choices.note_repeated(result)
        return Outcome("status", (tail[0], tail[1:], statuses))

    def _test_node(self, pred: Scalar | None, status: Any, cond_scope: Any) -> Node:
        """The loop's condition in its scope: still running, and the test holds."""
        self.builder.current, outer = cond_scope, self.builder.current
        try:
            with no_recording():
                if status is None:
                    assert pred is not None
                    return pred.node
                running: Any = Scalar(status) == 0  # type: ignore[comparison-overlap]
                if pred is None:
                    return running.node
                return self._and(running, pred, cond_scope)
        finally:
            self.builder.current = outer

    def _and(self, running: Scalar, pred: Scalar, scope: Any) -> Node:
        """``running and pred`` without evaluating the test after an early exit."""
        inner = Scope(self.builder, scope.parent)
        inner.emitted = scope.emitted  # the test's nodes move into the branch
        orelse = Scope(self.builder, scope.parent)

        scope.emitted = {running.node}
        inner.emitted = inner.emitted - {running.node}
        then, other, captures = close_pair(inner, pred.node, orelse, self.builder.context.const(False))
        handles = [self.binder.wrap(c) for c in captures]
        return cond(running, *handles, then=then, orelse=other).node

    def _forget_body_variables(self, entry: Snapshot, after: Snapshot) -> None:
        for frame, values in after.locals.items():
            if frame not in entry.locals:
                continue
            for name in values:
                if name not in frame.locals:
                    why = f"variable {name!r} is first assigned inside the loop"
                    frame.locals[name] = Conflict(("peel", self.key), why)

    # -- places ------------------------------------------------------------------------------------------------

    def _handle(self, node: Node, is_plain: bool) -> Any:
        if node.type == TOKEN:
            return node
        handle = self.binder.wrap(node)
        if isinstance(handle, Tensor):
            self.session.choices.note_repeated(handle, is_plain)
        return handle

    def _node(self, value: Any, type: Any) -> Node:
        if isinstance(value, Stored):
            node = value.node
        elif value is None or isinstance(value, Node):
            return self.session.token_node(value)
        else:
            node = self.binder.node_of(value)
        if node.type != type and isinstance(type, TensorType):  # a size that gets the loop's own name for it
            node = relabel(self.binder.wrap(node), type=type)._data
        return node

    def _enter(self, state: Snapshot, scope: Any) -> None:
        self._outer = self.builder.current
        self.world.restore(state)
        self.builder.current = scope

    def _leave(self, entry: Snapshot) -> None:
        self.world.restore(entry)
        self.builder.current = self._outer


def _is_carried(value: Any) -> bool:
    """Whether values like this one can be in the carry of a loop."""
    return value is None or is_number(value) or isinstance(value, Tensor | Stored | Node)
