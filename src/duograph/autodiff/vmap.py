"""`vmap`: one program, run on a batch.

Under a `BatchBinder` a tensor's payload is a `Batched`: a tensor with one more axis in front, or one without if it does
not depend on the batch. Ops run through their ``batch`` rules (``Op.batch``); one that has none runs once per element.
Shapes that the program sees are those without the batch axis. The binder keeps storages and views as graph binders
do, so in-place writes work; and tapes inside of the program see batched payloads, tapes around it the batched ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from duograph.base.tree import map_tree
from duograph.core.op import NO_RULE, Op, binding, restoring, state
from duograph.core.types import TensorType
from duograph.ops.collective import IN_ORDER
from duograph.ops.graph_binder import GraphBinder
from duograph.ops.movement import broadcast_to, move_axis, reshape
from duograph.ops.slices import slice_axis, stack
from duograph.tensor.alias import root_of
from duograph.tensor.tensor import SymbolicValueError, Tensor, type_of, wrap

from .hooks import call_user
from .tape import taping

P = ParamSpec("P")
R = TypeVar("R")


class Batched:
    """The payload of a tensor in a batched program: ``value`` with the batch in front, or the same for all."""

    __slots__ = ("is_batched", "owner", "value")

    def __init__(self, owner: BatchBinder | None, value: Tensor, is_batched: bool) -> None:
        self.owner, self.value, self.is_batched = owner, value, is_batched

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(self.value.shape[1:]) if self.is_batched else tuple(self.value.shape)

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def type(self) -> TensorType:
        return TensorType(self.dtype, self.shape)


class BatchBinder(GraphBinder):
    """Runs op calls of the program on whole batches of ``size``, as calls to the binder around it."""

    def __init__(self, size: Any) -> None:
        super().__init__()
        self.size = size
        self.outer, self.outer_tapes = state.binder, state.tapes
        self._lifted: dict[int, tuple[Tensor, Batched]] = {}
        self.order = IN_ORDER if self.outer is None else getattr(self.outer, "order", None)
        if (draw := getattr(self.outer, "draw", None)) is not None:
            self.draw = draw  # a program that is being captured has the state of the random generator

    def known_value(self, tensor: Tensor) -> Any:
        """The array of a tensor that is the same for the whole batch, in dynamic mode; else ``None``."""
        payload = self.node_of(tensor)
        if payload.is_batched:
            return None
        if self.outer is None:
            return payload.value.array()
        return self.outer.known_value(payload.value) if isinstance(self.outer, BatchBinder) else None

    def lift(self, tensor: Tensor) -> Any:
        data = tensor._data
        if isinstance(data, Batched) and data.owner is self:
            return data
        found = self._lifted.get(id(tensor))
        if found is None:
            found = self._lifted[id(tensor)] = (tensor, Batched(self, tensor, False))
        return found[1]

    def node_of(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        stored = self.store.get(value._alias)
        if stored is None:
            return self.lift(value)
        return stored.node if value._view is None else self._view_node(value, stored.stamp)

    def _note_view(self, view: Tensor, stamp: int, node: Any) -> None:
        self._views[id(view)] = (view, stamp, node, None)

    def _in_scope(self, scope: Any) -> bool:
        return True  # a batched program has no scopes: it does not branch

    def bind(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        payloads = [self.node_of(x) for x in operands]
        with binding(self.outer), taping(self.outer_tapes):
            out = self._run(op, payloads, attrs)
        if isinstance(out, tuple):
            return tuple([wrap(o) if isinstance(o, Batched) else o for o in out])
        if not isinstance(out, Batched):
            return out
        return self.view_or_copy(op, operands[0], attrs, out) if op.view else wrap(out)

    def write(self, target: Tensor, value: Tensor, parts: Any = None) -> None:
        data = root_of(target)._data
        if not (isinstance(data, Batched) and data.owner is self):
            raise RuntimeError("a function under vmap cannot write to a tensor from outside of it")
        super().write(target, value, parts)

    def _run(self, op: Op, payloads: list[Any], attrs: dict[str, Any]) -> Any:
        values = tuple([p.value if isinstance(p, Batched) else p for p in payloads])
        axes = tuple([0 if isinstance(p, Batched) and p.is_batched else None for p in payloads])
        if all(a is None for a in axes):
            return self._wrapped(op(*values, **attrs), None)
        if op.structured:
            raise SymbolicValueError(f"{op.name} that depends on the batch of a vmap")
        if op.batch is not NO_RULE:
            # Its operands have an axis more, and may fit where those of one element do not.
            op.result_type(tuple([p.type if isinstance(p, Batched) else type_of(p) for p in payloads]), attrs)
            out, out_axes = op.batch(axes, values, **attrs)
            return self._wrapped(out, out_axes)
        results = []
        for i in range(self.size):
            element = [v if a is None else _element(v, i) for v, a in zip(values, axes, strict=True)]
            results.append(op(*element, **attrs))
        first = results[0]
        if isinstance(first, tuple):
            return self._wrapped(tuple(stack(*column, axis=0) for column in zip(*results, strict=True)), 0)
        if not isinstance(first, Tensor):
            raise SymbolicValueError(f"{op.name} needs the value of a tensor that differs along the batch of a vmap")
        return self._wrapped(stack(*results, axis=0), 0)

    def _wrapped(self, out: Any, axes: Any) -> Any:
        if isinstance(out, tuple | list):
            given = axes if isinstance(axes, tuple | list) else (axes,) * len(out)
            return tuple([self._wrapped(o, a) for o, a in zip(out, given, strict=True)])
        return Batched(self, out, axes is not None) if isinstance(out, Tensor) else out


def _element(value: Any, i: int) -> Any:
    return reshape(slice_axis(value, 0, i, i + 1), shape=tuple(value.shape[1:]))


def vmap(fn: Callable[P, R], in_axes: Any = 0, out_axes: Any = 0) -> Callable[P, R]:
    """A function that maps ``fn`` over an axis of its arguments, all at once.

    Args:
        fn: function or Cell, written for one element of the batch; or a CellList, each Cell of which gets one element.
        in_axes: the axis of each argument to map over, None for arguments that are the same for all; one int for
            all arguments, or a tuple or list, nested like the arguments. For a CellList also one None.
        out_axes: where the batch axis goes in each result; None for results that do not depend on the batch.

    Returns:
        Function of the arguments of ``fn`` with a batch axis.

    Raises:
        RuntimeError: axes do not fit the arguments or each other.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> print(ms.vmap(lambda x: (x * x).sum())(ms.Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [ 5. 25.]
    """
    if not callable(fn):
        raise RuntimeError(f"'VmapOperation' arg0 must be a 'Function' or 'Cell', but got {fn!r}.")
    ensemble = getattr(type(fn), "ensemble", None)
    if in_axes is None and ensemble is None:
        raise RuntimeError("The 'in_axes' of 'vmap' cannot be a single None while 'fn' is not a 'CellList'.")

    @restoring
    def mapped(*args: Any) -> Any:
        if isinstance(in_axes, tuple | list) and len(in_axes) != len(args):
            raise RuntimeError(
                "When vmap`s 'in_axes' is a tuple or list, and its size must be equal to the number of arguments of "
                f"'fn': {len(args)}, but got size: {len(in_axes)}."
            )
        axes = list(in_axes) if isinstance(in_axes, tuple | list) else [in_axes] * len(args)
        cells = None if ensemble is None else call_user(ensemble, (fn,), {})
        sizes: list[Any] = [] if cells is None else [len(cells)]
        fronted = [_fronted(x, a, sizes) for x, a in zip(args, axes, strict=True)]
        if not sizes or (cells is not None and sizes == [0]):
            raise RuntimeError("'vmap' needs at least one argument with an axis to map over, or one Cell.")
        if any(s != sizes[0] for s in sizes):
            other = next(s for s in sizes if s != sizes[0])
            raise RuntimeError(
                "The 'axis_size' of each argument in the scope of 'vmap' should be equal, but got "
                f"{sizes[0]} and {other}."
            )
        if cells is not None:
            return _leaving(_one_by_one(cells, fronted), out_axes, sizes[0])
        binder = BatchBinder(sizes[0])
        inside = map_tree(lambda leaf: _entering(binder, leaf), tuple(fronted))
        with binding(binder), taping([]):
            out = call_user(fn, inside, {})
            payloads = map_tree(lambda x: binder.node_of(x) if isinstance(x, Tensor) else x, out)
        return _leaving(payloads, out_axes, sizes[0])

    return mapped


def _one_by_one(cells: Any, fronted: list[Any]) -> Any:
    """The results of Cells, each called with its element of the batch."""

    def element_of(leaf: Any, i: int) -> Any:
        return _element(leaf.value, i) if isinstance(leaf, _Front) else leaf

    outs = [call_user(cell, map_tree(lambda leaf, i=i: element_of(leaf, i), tuple(fronted)), {})
            for i, cell in enumerate(cells)]  # fmt: skip
    return map_tree(lambda *row: Batched(None, stack(*row, axis=0), True), *outs)


class _Front:
    """A tensor leaf whose batch axis is in front."""

    def __init__(self, value: Tensor) -> None:
        self.value = value


def _fronted(value: Any, axis: Any, sizes: list[Any]) -> Any:
    """The tensors in ``value`` with the batch axis in front, marked; the sizes of those axes are noted."""
    if isinstance(axis, tuple | list):
        if not isinstance(value, tuple | list) or len(value) != len(axis):
            raise RuntimeError(f"The 'in_axes' {axis} of 'vmap' does not fit its argument.")
        return type(value)(_fronted(v, a, sizes) for v, a in zip(value, axis, strict=True))
    if axis is None:
        return value
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise RuntimeError(f"The axis in vmap`s 'in_axes' can only be of type Int or None, but got {axis!r}.")

    def front(x: Any) -> Any:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"'vmap' maps over Tensors, but got {x!r}; its axis must be None.")
        rank = len(x.shape)
        if not -rank <= axis < rank:
            raise RuntimeError(
                f"The axis: {axis} in 'in_axes' is out of bounds for array of dimension [{-rank},{rank})."
            )
        sizes.append(x.shape[axis])
        return _Front(move_axis(x, axis % rank, 0) if axis % rank else x)

    return map_tree(front, value)


def _entering(binder: BatchBinder, leaf: Any) -> Any:
    return wrap(Batched(binder, leaf.value, True)) if isinstance(leaf, _Front) else leaf


def _leaving(out: Any, axes: Any, size: Any) -> Any:
    """Results with the batch axis where ``axes`` wants it."""
    if isinstance(out, tuple | list):
        if isinstance(axes, tuple | list):
            if len(axes) != len(out):
                raise RuntimeError(
                    "The size of vmap's 'out_axes' should be equal to the number of results of 'fn': "
                    f"{len(out)}, but got size: {len(axes)}."
                )
            return type(out)(_leaving(o, a, size) for o, a in zip(out, axes, strict=True))
        return type(out)(_leaving(o, axes, size) for o in out)
    if isinstance(out, dict):
        return {k: _leaving(v, axes, size) for k, v in out.items()}
    if not isinstance(out, Batched):
        return out
    if isinstance(axes, tuple | list) and len(axes) == 1:
        (axes,) = axes
    if axes is None:
        if out.is_batched:
            raise RuntimeError("The 'out_axes' of 'vmap' is None for a result that depends on the batch.")
        return out.value
    if isinstance(axes, bool) or not isinstance(axes, int):
        raise RuntimeError(f"The axis in vmap`s 'out_axes' can only be of type Int or None, but got {axes!r}.")
    value = out.value if out.is_batched else broadcast_to(out.value, shape=(size, *out.value.shape))
    rank = len(value.shape)
    if not -rank <= axes < rank:
        raise RuntimeError(f"The axis: {axes} in 'out_axes' is out of bounds for array of dimension [{-rank},{rank}).")
    return move_axis(value, 0, axes % rank) if axes % rank else value
