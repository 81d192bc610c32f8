"""The graph binder: an op call on Tensors emits a MindIR node, and gives a Tensor that stands for it.

In-place writes become dataflow here. `store` holds the current node of every storage that was written; a view whose
storage was written re-derives itself from its parent, and a write through a view goes up to the root as
``write_view`` ops (``tensor/alias.py``). So the graph has values only, and programs keep their aliasing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from duograph.core.op import Op, get_op, state
from duograph.core.shapes import taken_equal_shapes
from duograph.core.types import TensorType, TupleType
from duograph.ir.builder import Builder
from duograph.ir.control import make_tuple
from duograph.ir.node import Node
from duograph.tensor.alias import Alias, ViewLink, fresh_stamp, written
from duograph.tensor.tensor import SymbolicValueError, Tensor, wrap, wrap_view

from .layout import Pairs, assume, shares_memory
from .scalar import Scalar


class Stored(NamedTuple):
    """Current content of a written storage: the root tensor's node and the stamp of the write.

    ``memory`` tells which memory the root has: 0, the one that it came with, or the stamp that `GraphBinder.replace`
    gave another one. ``left`` is what the program had written to the first one by then, if anything.
    """

    root: Tensor
    node: Node
    stamp: int
    memory: int = 0
    left: Node | None = None


class GraphBinder:
    """Emits op calls into ``builder``. Subclasses decide what an outside tensor becomes (`lift`)."""

    origin: tuple[Any, ...] = ()
    """Where nodes come from, while that is not where the code is that emits them (`from_origin`)."""

    strict_versions = False
    """Whether a value that was overwritten in place counts as lost, as in eager, although its node still exists."""

    def note_watched(self, value: Tensor) -> None:
        """A gradient tape watches ``value``, a handle of its own on an argument, or a weight, from now on."""

    def note_handle(self, handle: Tensor, tensor: Tensor) -> None:
        """``handle`` has the attributes and hooks of ``tensor``."""

    def note_hooked(self) -> None:
        """A value of this graph has a hook from now on, which runs for gradients that are taken outside, too."""

    def note_overwritten(self) -> None:
        """Tells the context which operands of which ops were written to in place later on this path."""

    def note_own_gradient(self, values: Sequence[Any], again: Callable[[], Any], is_pure: bool) -> None:
        """Operands and results of a function whose gradient is the user's, and what gives the nodes of that gradient:
        its graph is made now, and the user's code is to run when the gradient is computed."""

    def __init__(self, builder: Builder | None = None) -> None:
        if builder is not None:  # a subclass whose payloads are no nodes has none
            self.builder = builder
        self.store: dict[Alias, Stored] = {}
        self._views: dict[int, tuple[Tensor, int, Node, Any]] = {}  # id(view) -> (view, stamp, node, scope)
        self._apart: dict[tuple[int, int], tuple[Tensor, Node]] = {}  # id(view), stamp -> what it holds, for gradients
        self._sharing: list[tuple[Alias, Alias, Pairs]] = []
        self._memories: dict[int, tuple[ViewLink, int]] = {}  # id(link) -> link of a view, and `Stored.memory` it shows

    @contextmanager
    def from_origin(self, origin: tuple[Any, ...]) -> Iterator[None]:
        """Within the block, what is emitted comes from ``origin``, wherever the code is that emits it."""
        before, self.origin, self.builder.origin = (self.origin, self.builder.origin), origin, origin
        try:
            yield
        finally:
            self.origin, self.builder.origin = before

    def lift(self, tensor: Tensor) -> Node:
        """The node for a concrete tensor from outside the graph; here: a constant."""
        return self.builder.context.const(tensor.array())

    def node_of(self, value: Any) -> Node:
        """The node that holds the current value of an operand."""
        if isinstance(value, Tensor):
            stored = self.store.get(value._alias)
            if stored is None:
                return value._data if isinstance(value._data, Node) else self.lift(value)
            if value._view is None:
                return stored.node
            return self.outdated(value) if self.is_outdated(value) else self._view_node(value, stored.stamp)
        if isinstance(value, Scalar):
            return value.node
        if isinstance(value, Node):
            return value
        if isinstance(value, bool | int | float):
            return self.builder.context.const(value)
        raise TypeError(f"not an operand: {value!r}")

    def is_outdated(self, view: Tensor) -> bool:
        """Whether ``view`` shows memory that its root has no more (`replace`)."""
        stored = self.store.get(view._alias)
        return stored is not None and view._view is not None and self._memory_of(view) != stored.memory

    def note_memory(self, view: Tensor) -> None:
        """Remembers which memory a new view shows: that of its parent."""
        stored, link = self.store.get(view._alias), view._view
        if stored is not None and stored.memory and link is not None:
            memory = stored.memory if link.parent._view is None else self._memory_of(link.parent)
            self._memories[id(link)] = (link, memory)

    def _memory_of(self, view: Tensor) -> int:
        known = self._memories.get(id(view._view))
        return 0 if known is None else known[1]

    def outdated(self, view: Tensor) -> Node:
        """The node of a view of memory that its root has no more."""
        raise SymbolicValueError("a view is used after set_data has given its Parameter other memory")

    def _view_node(self, view: Tensor, stamp: int) -> Node:
        known = self._views.get(id(view))
        if known is not None and known[1] == stamp and self._in_scope(known[3]):
            return known[2]
        written = self._apart.get((id(view), stamp))
        if written is not None:
            return written[1]
        parent, op, attrs = view._view  # type: ignore[misc]
        node = self._emit(op, (parent,), attrs)
        if not state.detached:  # else it is a constant for gradients, which the view is not after the block
            self._note_view(view, stamp, node)
        return node

    def _note_view(self, view: Tensor, stamp: int, node: Any) -> None:
        """Remembers that ``node`` is what ``view`` shows since the write ``stamp``, for the scope it was emitted in."""
        self._views[id(view)] = (view, stamp, node, self.builder.current)

    def _in_scope(self, scope: Any) -> bool:
        inner: Any = self.builder.current
        while inner is not None and inner is not scope:
            inner = inner.parent
        return inner is scope

    def _emit(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Node:
        """Emits through `Op.__call__`, so that gradient tapes see it, and gives the node."""
        return op(*operands, **attrs)._data

    def bind(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        nodes = tuple([self.node_of(x) for x in operands])
        node = self.builder.emit(op, nodes, attrs)
        if op.raises and op.may_raise(nodes, attrs):
            self.note_raising(node)
        return self.view_or_copy(op, operands[0], attrs, node) if op.view else self.wrap(node)

    def view_or_copy(self, op: Op, base: Tensor, attrs: dict[str, Any], node: Any) -> Tensor:
        """The tensor for ``node``, the result of an op that makes views: one where eager's result would be one."""
        shares, assumed = shares_memory(op, base, node.shape)
        if not shares:
            copy: Tensor = self.wrap(node)
            if assumed:
                self.note_sharing(base, copy, assumed)
            return copy
        view = wrap_view(node, ViewLink(base, op, attrs))
        stored = self.store.get(view._alias)
        if stored is not None:  # the node shows the storage as it is after its last write
            self._note_view(view, stored.stamp, node)
        self.note_memory(view)
        if assumed:
            self.note_sharing(base, view, assumed)
        return view

    def note_sharing(self, base: Tensor, made: Tensor, assumed: Pairs) -> None:
        """Whether ``made`` shares memory with ``base`` depends on sizes: it is as if the ``assumed`` pairs were equal.

        That matters once one of the two is written to, or both leave the program (`assume_sharing`). What has been
        written already may be written again, by the next iteration of a loop.
        """
        if base._alias in self.store:
            assume(assumed)
        else:
            self._sharing.append((base._alias, made._alias, assumed))

    def assume_sharing(self, matters: Callable[[Alias, Alias], bool]) -> None:
        """Takes the sizes to be such that those storages share memory, or do not, of which it ``matters``."""
        for known in [known for known in self._sharing if matters(*known[:2])]:
            self._sharing.remove(known)
            assume(known[2])

    def note_raising(self, node: Node) -> None:
        """``node``, which may raise when it runs, was emitted."""

    def wrap(self, node: Node) -> Any:
        """What library code gets for a node: Tensor, Scalar, a tuple of them, or the node itself (tokens)."""
        if isinstance(node.type, TensorType):
            return wrap(node)
        if isinstance(node.type, TupleType):
            return tuple([self.wrap(item) for item in self.builder.results(node)])
        return Scalar.of(node)

    def packed(self, value: Any) -> Any:
        """What stands for `wrap`'s ``value`` as one operand: all results of an op are one (of `anchor`)."""
        if not isinstance(value, tuple):
            return value
        return self.builder.emit(make_tuple, tuple([self.node_of(self.packed(v)) for v in value]), {})

    def write(self, target: Tensor, value: Tensor, parts: Any = None) -> None:
        if self.is_outdated(target):
            raise SymbolicValueError("a view is written after set_data has given its Parameter other memory")
        if not taken_equal_shapes(value.shape, target.shape):
            raise ValueError(f"a tensor of shape {tuple(target.shape)} cannot hold one of shape {tuple(value.shape)}")
        if self._sharing:
            alias = target._alias
            self.assume_sharing(lambda one, two: alias is one or alias is two)
        stamp = fresh_stamp()
        node = self.node_of(value)
        view, new, held = written(target, value)
        assert view._view is None, f"{view._view.op.name} makes views but has no write_view"
        apart = [(shown, self.node_of(x)) for shown, x in held]
        whole = self.node_of(new)  # maybe the target itself: what that shows is asked for before it is noted anew
        self._note_view(target, stamp, node)
        for shown, what in apart:
            self._apart[id(shown), stamp] = shown, what
        before = self.store.get(view._alias)
        memory, left = (0, None) if before is None else (before.memory, before.left)
        self.store[view._alias] = Stored(view, whole, stamp, memory, left)
        old = view._data if before is None else before.node
        if isinstance(old, Node):
            for function, name in old.context.variables.get(old, ()):
                whole.context.note_variable(whole, function, name)

    def replace(self, target: Tensor, value: Tensor) -> None:
        """``target`` gets other memory with the contents ``value``; views of the old one do not show it."""
        before = self.store.get(target._alias)
        self.write(target, get_op("stop_gradient")(value))
        made = self.store[target._alias]
        left = None if before is None else before.left if before.memory else before.node
        self.store[target._alias] = made._replace(memory=made.stamp, left=left)

    def version(self, tensor: Tensor) -> int:
        stored = self.store.get(tensor._alias)
        return 0 if stored is None else stored.stamp
