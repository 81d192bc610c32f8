"""The graph binder: an op call on Tensors emits a MindIR node, and gives a Tensor that stands for it.

In-place writes become dataflow here. `store` holds the current node of every storage that was written; a view whose
storage was written re-derives itself from its parent, and a write through a view goes up to the root as
``write_view`` ops (``tensor/alias.py``). So the graph has values only, and programs keep their aliasing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from duograph.core.dim import Dim, evaluate, symbols_of
from duograph.core.op import Op, binding, get_op, no_recording
from duograph.core.types import TensorType, TupleType
from duograph.ir.builder import Builder
from duograph.ir.node import Node
from duograph.tensor.alias import Alias, ViewLink, fresh_stamp
from duograph.tensor.tensor import SymbolicValueError, Tensor, wrap, wrap_view

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

    strict_versions = False
    """Whether a value that was overwritten in place counts as lost, as in eager, although its node still exists."""

    def note_watched(self, view: Tensor) -> None:
        """A gradient tape watches ``view``, another handle on its root, from now on."""

    def note_overwritten(self) -> None:
        """Tells the context which operands of which ops were written to in place later on this path."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.store: dict[Alias, Stored] = {}
        self._views: dict[int, tuple[Tensor, int, Node, Any]] = {}  # id(view) -> (view, stamp, node, scope)
        self._memories: dict[int, tuple[ViewLink, int]] = {}  # id(link) -> link of a view, and `Stored.memory` it shows

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
        parent, op, attrs = view._view  # type: ignore[misc]
        node = self._emit(op, (parent,), attrs)
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
        if op.view and self._aliases(op, operands[0], node):
            view = wrap_view(node, ViewLink(operands[0], op, attrs))
            stored = self.store.get(view._alias)
            if stored is not None:  # the node shows the storage as it is after its last write
                self._note_view(view, stored.stamp, node)
            self.note_memory(view)
            return view
        return self.wrap(node)

    def note_raising(self, node: Node) -> None:
        """``node``, which may raise when it runs, was emitted."""

    def wrap(self, node: Node) -> Any:
        """What library code gets for a node: Tensor, Scalar, a tuple of them, or the node itself (tokens)."""
        if isinstance(node.type, TensorType):
            return wrap(node)
        if isinstance(node.type, TupleType):
            return tuple([self.wrap(item) for item in self.builder.results(node)])
        return Scalar.of(node)

    def _aliases(self, op: Op, base: Tensor, node: Node) -> bool:
        """Whether eager's result would share memory with ``base``: asked of NumPy on a stand-in of the same layout."""
        try:
            return view_shares_memory(op, ViewLink(base, op, {}), node)
        except SymbolicValueError:
            return False

    def write(self, target: Tensor, value: Tensor) -> None:
        if self.is_outdated(target):
            raise SymbolicValueError("a view is written after set_data has given its Parameter other memory")
        stamp = fresh_stamp()
        node, view = self.node_of(value), target
        new: Any = value
        while view._view is not None:
            parent, op, attrs = view._view
            assert op.write_view is not None, f"{op.name} makes views but has no write_view"
            new = op.write_view(parent, new, **attrs)
            view = parent
        whole = self.node_of(
            new
        )  # which may be the target itself: what that shows is asked for before it is noted anew
        self._note_view(target, stamp, node)
        before = self.store.get(view._alias)
        memory, left = (0, None) if before is None else (before.memory, before.left)
        self.store[view._alias] = Stored(view, whole, stamp, memory, left)

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


def view_shares_memory(op: Op, link: ViewLink, node: Node) -> bool:
    """Whether ``op`` on a tensor with the memory layout of ``link.parent`` gives a view rather than a copy."""
    if op.name != "reshape":
        return True
    return _reshape_is_view(stand_in(link.parent), typical(node.shape))


def _reshape_is_view(array: np.ndarray, shape: tuple[int, ...]) -> bool:
    try:
        array.reshape(shape, copy=False)
    except (ValueError, TypeError):  # NumPy would have to copy; or it is older than 2.1 and cannot tell
        return False
    return True


def stand_in(tensor: Tensor) -> np.ndarray:
    """An array of one byte that has the strides of ``tensor`` (nothing is allocated or read)."""
    if tensor._view is None or not isinstance(tensor._data, Node):
        if not isinstance(tensor._data, Node):
            data = tensor._data
            return np.lib.stride_tricks.as_strided(np.empty(1, data.dtype), data.shape, data.strides)
        shape = typical(tensor.shape)
        return np.empty(shape, np.int8) if 0 in shape else _contiguous(shape)
    parent, op, attrs = tensor._view
    with binding(None), no_recording():
        return np.asarray(op.reference(stand_in(parent), **{k: typical(v) for k, v in attrs.items()}))


def typical(value: Any) -> Any:
    """``value`` (a shape or an attribute) with symbolic sizes replaced by ordinary ones, which 0 and 1 are not.

    Whether a reshape is a view is the same for all ordinary sizes.
    """
    if isinstance(value, tuple):
        return tuple(typical(v) for v in value)
    if isinstance(value, Dim):
        return evaluate(value, {s: int(min(max(7, s.lo), s.hi)) for s in symbols_of(value)})
    return value


def _contiguous(shape: tuple[int, ...]) -> np.ndarray:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return np.lib.stride_tricks.as_strided(np.empty(1, np.int8), shape, tuple(reversed(strides)))
