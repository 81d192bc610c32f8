"""The graph binder of a capture: it knows the outside world, the order of effects and what the program has written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from duograph.autodiff.entries import Stale
from duograph.autodiff.hooks import REGISTERED
from duograph.core.memory import ADDRESSABLE, is_shape, obtainable, readable, size_of
from duograph.core.op import NOT_DIFFERENTIABLE, Op
from duograph.core.op import state as dispatch
from duograph.ir.builder import Builder
from duograph.ir.node import Node
from duograph.ops.cast import stop_gradient
from duograph.ops.graph_binder import GraphBinder, Stored
from duograph.ops.scalar import Scalar
from duograph.tensor.alias import Alias, fresh_stamp, is_apart, root_of
from duograph.tensor.random import Generator, default_generator
from duograph.tensor.tensor import Tensor

from ..programs.order import Order
from ..programs.primitives import anchor
from ..rules import sources
from ..rules.errors import Uncapturable
from .reads import Reads

if TYPE_CHECKING:
    from ..values.world import Snapshot
    from .session import Session


_SMALL = 1 << 20
"""Bytes that every machine has; what there is more is asked for only where more is wanted."""


def check_size(op: Op, out: Any) -> None:
    """Refuses results that take all memory that can be had, or more (a view has none of its own: what has no
    addresses), and shapes that no array has. Eager raises, as a rule; a graph need not have room for a value that
    nobody reads as a whole.

    Raises:
        Uncapturable: ``out`` is one.
    """
    for x in out if isinstance(out, tuple) else (out,):
        if not isinstance(x, Tensor):
            continue
        size = size_of(x.abstract)
        if size > _SMALL and size >= (ADDRESSABLE if op.view else obtainable()):
            raise Uncapturable(f"there is no memory for {readable(size)}, the result of {op.name!r}")
        if size == 0 and not is_shape(x.abstract):
            raise Uncapturable(f"no array has the shape of the result of {op.name!r}")


_ANY = "has_tensor_hooks"


class CaptureBinder(GraphBinder):
    """Emits ops of the captured program; outside tensors become inputs."""

    strict_versions = True

    def __init__(self, session: Session, builder: Builder) -> None:
        super().__init__(builder)
        self.session = session
        self.order = Order(session)
        self.written_views: dict[int, Tensor] = {}
        self.written_apart: set[Alias] = set()  # through what is a value of its own for gradients
        self.watched: dict[Alias, int] = {}  # storages of handles that tapes watch, and since when
        self.merged: dict[int, list[int]] = {}  # stamps of joined paths -> those of the writes on the paths
        self.reads = Reads()
        self.has_hooks = False
        self._handles: dict[int, tuple[Tensor, Tensor]] = {}
        self.own_gradients: list[tuple[Snapshot | None, list[tuple[Tensor, Any]], Callable[[], bool]]] = []
        self.reads_written = False
        """Whether an op reads what the program has written to a tensor from outside. Under a tape outside, that is the
        tensor, which may be written again; to the graph it is a value of its own."""

    def draw(self, generator: Generator, n: int) -> tuple[Any, Any]:
        """Seed and offset for ``n`` draws of the program, in its order."""
        if generator is not default_generator():
            raise Uncapturable("a random generator of its own")
        world = self.session.world
        offset = world.offset
        world.offset = offset + n
        return world.seed, offset

    def node_of(self, value: Any) -> Node:
        if type(value) is Stale:
            raise Uncapturable(value._why)
        return super().node_of(value)

    def lift(self, tensor: Tensor) -> Node:
        if tensor._view is not None and root_of(tensor)._alias.serial > self.session.born:
            return self.builder.context.const(tensor.array())
        if tensor._alias.serial > self.session.born:  # made during capture: a constant of the program
            return self.builder.context.const(tensor.array())
        return self.session.tensor_input(tensor)

    def outdated(self, view: Tensor) -> Node:
        root = root_of(view)
        stored = self.store[root._alias]
        if not self.session.is_outside(root) or stored.left is not None or self._memory_of(view):
            return super().outdated(view)
        return view._data if isinstance(view._data, Node) else self.lift(view)  # nobody has written to that memory

    def _view_node(self, view: Tensor, stamp: int) -> Node:
        self.session.follow(view)
        return super()._view_node(view, stamp)

    def birth_node(self, root: Tensor) -> Node:
        """The node of a storage before any write of the program, for a path that does not write to it."""
        self.session.sometimes_written.add(id(root))
        return self.unwritten_node(root)

    def unwritten_node(self, root: Tensor) -> Node:
        """The node of a storage before any write of the program."""
        return root._data if isinstance(root._data, Node) else self.lift(root)

    def bind(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        self.builder.origin = self.origin or self.session.origin()
        stamps = [self._stamp(x) for x in operands]
        born = self.session.born
        self.reads_written |= any(s is not None and s[1] and s[0].serial <= born for s in stamps)
        known = len(self.session.assumptions)
        typing, self.session.is_typing = self.session.is_typing, True
        try:
            out = super().bind(op, operands, attrs)
        finally:
            self.session.is_typing = typing
        check_size(op, out)
        first = out[0] if isinstance(out, tuple) and out else out
        if isinstance(first, Tensor) and self.session.assumes_late_sizes(first._data, known):
            self.note_raising(first._data)  # it raises if they are others
        if dispatch.detached and op is not stop_gradient and op.bprop is not NOT_DIFFERENTIABLE:
            return tuple(map(self._detached, out)) if isinstance(out, tuple) else self._detached(out)
        if isinstance(out, Tensor) and op.bprop is not NOT_DIFFERENTIABLE:
            self.reads.add(out._data.tag, (*stamps, self._stamp(out)))
        return out

    def _detached(self, value: Any) -> Any:
        """``value`` as a constant for gradients: a view of it only where it is a view itself."""
        if not isinstance(value, Tensor) or value._view is not None:
            return stop_gradient(value) if isinstance(value, Tensor) else value
        return self.wrap(self.builder.emit(stop_gradient, (self.node_of(value),), {}))

    def note_raising(self, node: Node) -> None:
        if not dispatch.quiet:
            world = self.session.world
            world.checked = Scalar(self.builder.emit(anchor, (self.node_of(world.checked), node), {}))

    def _stamp(self, value: Any) -> tuple[Any, int] | None:
        """Storage and version of a tensor that in-place writes can overwrite for gradients (Parameters keep reads)."""
        if not isinstance(value, Tensor):
            return None
        if (value if value._view is None else root_of(value)).is_parameter:
            return None
        alias = value._alias
        stored = self.store.get(alias)
        return alias, 0 if stored is None else stored.stamp

    def note_watched(self, value: Tensor) -> None:
        if value._view is not None:
            self.watched[value._alias] = fresh_stamp()
        else:
            self.session.choices.check_weight(value)
        if self.session.is_outside(value):
            self._guard_hooks(value)

    def note_handle(self, handle: Tensor, tensor: Tensor) -> None:
        origin = self.origin_of(tensor)
        if self.session.is_outside(origin):
            self._guard_hooks(origin)
            self._handles[id(handle)] = handle, origin

    def origin_of(self, tensor: Tensor) -> Tensor:
        """The tensor from outside of which ``tensor`` is a handle for gradients, or itself."""
        return self._handles.get(id(tensor), (tensor, tensor))[1]

    def _guard_hooks(self, tensor: Tensor) -> None:
        """The tape asks a tensor from outside for the hooks that it has."""
        session, source = self.session, self.session.tensor_source(tensor)
        if not session.external(REGISTERED[_ANY], sources.global_(REGISTERED, _ANY)):
            return
        found = tensor.__dict__.get("_gradient_hooks")
        if found is None:
            session.guards.add(source, "no value", "_gradient_hooks")
            return
        table = sources.attr(sources.attr(source, "_gradient_hooks"), "hooks")
        session.external(found.hooks, table)
        for key, hook in found.hooks.items():
            session.external(hook, sources.item(table, key))

    def note_hooked(self) -> None:
        self.has_hooks = True

    def note_own_gradient(self, values: Sequence[Any], again: Callable[[], bool], is_pure: bool) -> None:
        if not is_pure:
            self.note_hooked()  # tapes outside have it run in the state that there is by then
        before = None if is_pure else self.session.world.snapshot()
        self.own_gradients.append((before, [(x, self._stamp(x)) for x in values], again))

    @property
    def overwrites_own_gradients(self) -> bool:
        """Whether the program has written to what a function with a gradient of its own is given later."""
        return any(self._overwrites(values) for _, values, _ in self.own_gradients)

    def _overwrites(self, values: list[tuple[Tensor, Any]]) -> bool:
        now = [(stamp, self._stamp(x)) for x, stamp in values]
        return any(old is not None and new is not None and self._wrote(old[1], new[1]) for old, new in now)

    def check_own_gradients(self) -> None:
        """A gradient is computed: those of the user's functions are as they were when their graphs were made.

        Raises:
            Uncapturable: they read what the program has changed since, or are given what it has overwritten.
        """
        for before, values, is_as_before in self.own_gradients:
            if self._overwrites(values):
                raise Uncapturable("a write to what a function of the user's on gradients (bprop, hook) is given later")
            if before is not None and self.session.world.changed_since(before) and not is_as_before():
                raise Uncapturable("a function of the user's on gradients (bprop, hook) that reads what has changed")

    def is_watched_and(self, alias: Alias, stored: Stored | None) -> bool:
        """Whether a tape watches a handle on the storage, which has not been written since (``stored`` is what it
        holds). Then the handle is a variable of its own, and the storage is none: nothing may stand for both."""
        since = self.watched.get(alias)
        return since is not None and (stored is None or stored.stamp < since)

    def note_overwritten(self) -> None:
        """Tells the context which operands of which ops were written to in place later on this path."""
        found = self.builder.context.overwritten
        for storage, tag, place, stamp in self.reads.of(self.store):
            if self._wrote(stamp, self.store[storage].stamp):
                places = found.setdefault(tag, set())
                self.builder.context.writes += place not in places
                places.add(place)

    def _wrote(self, before: int, now: int) -> bool:
        """Whether a storage that has the stamp ``now`` may have been written since it had the stamp ``before``."""
        return before != now and all(self._wrote(before, side) for side in self.merged.get(now, ()))

    def write(self, target: Tensor, value: Tensor, parts: Any = None) -> None:
        self.session.follow(target)
        alias = root_of(target)._alias
        if alias is not target._alias:
            raise Uncapturable("a write to a view of memory that a Parameter had before set_data gave it another one")
        self.session.choices.check_write(alias)
        if target._view is not None:
            self.written_views[id(target)] = target
        if id(root_of(target)) in self.session.patterned:
            raise Uncapturable("an in-place write to an argument whose shape varies")
        if self.session.is_outside(root_of(target)):
            self.session.note_written(target)
        if not dispatch.detached and not root_of(target).is_parameter and is_apart(target):
            self.written_apart.add(alias)
        super().write(target, value, parts)
