"""The eager binder: an op call computes at once.

Launching is deliberately tiny: infer the type (remembered), call the reference kernel on arrays, wrap the result.
The native engine installs compiled launchers in its place; the meaning stays the one of `Op.reference`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.core.attrs import plain_attrs
from duograph.core.errors import draw_below
from duograph.core.kernel import at_memory_shortage, compute, compute_reference
from duograph.core.memory import no_memory
from duograph.core.op import NOT_DIFFERENTIABLE, Op, attrs_key, eager_binder, get_op, state
from duograph.core.types import TensorType, TupleType

from .alias import ViewLink, fresh_stamp, root_of, written
from .tensor import Tensor, type_of, wrap, wrap_view

REMEMBERED_WRITES = 256
"""Partial writes per storage that are told apart when a tape asks whether a saved value was overwritten."""


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    try:
        return np.shares_memory(a, b, max_work=10_000)  # type: ignore[arg-type]  # NumPy's stub knows two values only
    except np.exceptions.TooHardError:
        return True


class EagerBinder:
    """Computes op calls on concrete tensors.

    Attributes:
        calls: how many; native launches (`runtime.launch`) are not among them.
    """

    def __init__(self) -> None:
        self.calls = 0
        self._types: dict[Any, Any] = {}

    def bind(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        observer = state.observer
        return self._bound(op, operands, attrs) if observer is None else observer.bind(self._bound, op, operands, attrs)

    def _bound(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        self.calls += 1
        try:
            try:
                return self._compute(op, operands, attrs)
            except MemoryError:
                for release in at_memory_shortage:
                    release()
                return self._compute(op, operands, attrs)
        except Exception as exc:
            lack = out_of_memory(op, operands, attrs, exc)
            explain_error(lack or exc, op, operands)
            if lack is not None:
                raise lack from None
            raise

    def _compute(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        types = tuple([type_of(x) for x in operands])
        out_type = self._known_type(op, types, attrs) if op.data_dependent else op.result_type(types, attrs)
        arrays = [x.array() if isinstance(x, Tensor) else x for x in operands]
        out = (compute_reference if op.view else compute)(op, arrays, attrs)  # native kernels never share memory
        if isinstance(out_type, TupleType):
            return tuple([wrap_result(o) for o in out])
        if op.view:
            out = np.asarray(out)
            # Where there are no elements NumPy sees no shared memory, but a write is a write all the same: gradients
            # pass through it, and a sum of zeros has another sign than no sum.
            if not out.size or np.may_share_memory(out, arrays[0]):
                view = wrap_view(out, ViewLink(operands[0], op, attrs))
                if state.detached and op.bprop is not NOT_DIFFERENTIABLE:
                    return wrap_view(out, ViewLink(view, get_op("stop_gradient"), {}))
                return view
        return wrap_result(out)

    def _known_type(self, op: Op, types: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """`Op.result_type` of an op with a size that data decide, which graphs have other names for in each call."""
        plain_attrs(op.name, types, attrs)
        key = (op, types, attrs_key(attrs))
        known = self._types.get(key)
        if known is None:
            if len(self._types) > MOST_TYPES:
                self._types.clear()
            known = self._types[key] = op.result_type(types, attrs)
        return known

    def write(self, target: Tensor, value: Tensor, parts: Sequence[np.ndarray] | None = None) -> None:
        """Replaces the contents of ``target`` in place; every tensor that shares its memory sees it."""
        if not target.array().flags.writeable:
            raise RuntimeError(
                "this tensor cannot be written: it is a broadcast view, in which several elements share one place, or "
                "it shares the memory of a read-only NumPy array"
            )
        if target.array() is not value.array():  # else a program has written there already
            np.copyto(target.array(), value.array())
        alias = target._alias
        if alias.version and not (alias.writes and alias.writes[-1][0] == alias.version):
            alias.writes = [(alias.version, None)]  # native code has written all of it, and only noted the version
        alias.version = stamp = fresh_stamp()
        if target._view is None and parts is None:
            alias.writes = [(stamp, None)]
            return
        if len(alias.writes) >= REMEMBERED_WRITES:  # older ones count as writes of everything
            alias.writes[: REMEMBERED_WRITES // 2] = [(alias.writes[REMEMBERED_WRITES // 2 - 1][0], None)]
        alias.writes += [(stamp, part) for part in ([target.array()] if parts is None else parts)]

    def replace(self, target: Tensor, value: Tensor) -> None:
        """Gives ``target`` the memory of ``value``, which nobody else has. Who shares its old memory keeps that."""
        target._become(value)
        target._alias.version = stamp = fresh_stamp()  # gradient tapes must not take the new contents for the old ones
        target._alias.writes = [(stamp, None)]

    def overwritten(self, tensor: Tensor, stamp: int) -> bool:
        """Whether any element that ``tensor`` shows may have been written since the version ``stamp``."""
        if tensor._version == stamp:
            return False
        alias = tensor._alias
        if not alias.writes or alias.writes[-1][0] != alias.version:
            return True
        return any(s > stamp and (a is None or _overlap(a, tensor.array())) for s, a in alias.writes)

    def version(self, tensor: Tensor) -> int:
        """Stamp of the last write to the storage of ``tensor``."""
        return tensor._version


MOST_TYPES = 1 << 12
"""Types of results that are remembered, of ops whose sizes data decide."""
LARGEST_ARRAY = 1 << 47
"""Bytes that no machine has; NumPy refuses some of those sizes with other errors."""


def out_of_memory(op: Op, operands: tuple[Any, ...], attrs: dict[str, Any], exc: Exception) -> MemoryError | None:
    """The error for a result that there is no memory for; ``None`` if ``exc`` is about something else."""
    if not isinstance(exc, MemoryError | ValueError) or op.data_dependent:
        return None
    try:
        found = op.result_type(tuple([type_of(x) for x in operands]), attrs)
    except (TypeError, ValueError):
        return None
    except MemoryError as error:
        return error
    parts = [t for t in (found.items if isinstance(found, TupleType) else (found,)) if isinstance(t, TensorType)]
    if not parts or not all(isinstance(n, int) for t in parts for n in t.shape):
        return None
    sizes: list[int] = [math.prod(t.shape) * t.dtype.itemsize for t in parts]  # type: ignore[misc]  # ints, see above
    if not isinstance(exc, MemoryError) and max(sizes) < LARGEST_ARRAY:
        return None
    largest = parts[sizes.index(max(sizes))]
    return no_memory(op.name, largest.shape, largest.dtype)


def explain_error(exc: Exception, op: Op, operands: tuple[Any, ...]) -> None:
    """Adds what the user needs to see below the message: the operands' shapes and dtypes, and the line of the call."""
    shown = ", ".join(str(x.abstract) if isinstance(x, Tensor) else repr(x) for x in operands)
    draw_below(exc, f"{op.name}({shown})")


def wrap_result(out: Any) -> Any:
    """ndarrays and NumPy scalars become tensors; Python scalars stay (ops that return Python numbers), and tokens."""
    if type(out) is np.ndarray:
        return wrap(out)
    if out is None or (isinstance(out, bool | int | float) and not isinstance(out, np.generic)):
        return out  # a token, or a number
    return wrap(np.asarray(out))


EAGER = EagerBinder()
eager_binder.fill(EAGER)


def current_binder() -> Any:
    """The binder that op calls of this thread go to."""
    return state.binder or EAGER


def write(target: Tensor, value: Tensor, parts: Sequence[np.ndarray] | None = None) -> None:
    """In-place write: ``target`` (a whole tensor or a view) now holds ``value`` (same shape and dtype).

    Args:
        target: what is written.
        value: its new contents.
        parts: of the memory of ``target``: elsewhere ``value`` is what it holds. ``None``: it may differ everywhere.
    """
    if (state.tapes or state.binder is not None) and root_of(target).is_parameter:
        value = get_op("assigned")(value, target)
    binder = current_binder()
    whole = root_of(target)
    if whole.is_parameter and state.binder is None:
        # Assigning a Parameter is a step of the program: gradients use the value that was read.
        for tape in state.tapes:
            tape.keep_value(whole)
    tapes = [] if state.binder is not None else [t for t in state.tapes if t.begin_write(target, value)]
    if not tapes:
        binder.write(target, value, parts)
        return
    # A tape sees the functional form of the write, the very ops that a graph of this program has.
    if target.array().flags.writeable:
        root, new, apart = written(target, value)
        shown = [(target, value), *apart, (root, new)]
    else:
        shown = [(target, value)]
    marks = [(tape, [(tensor, tape.variable(held)) for tensor, held in shown]) for tape in tapes]
    binder.write(target, value, parts)
    for tape, variables in marks:
        tape.end_write(variables)


def replace(target: Tensor, value: Tensor) -> None:
    """Gives the Parameter ``target`` other memory, with the contents ``value``: what `Parameter.set_data` does.

    For gradients, uses of the new contents are uses of a constant.

    Args:
        target: a Parameter. Views and NumPy arrays that share its old memory keep that, as it is.
        value: the new contents, in memory that nobody else has.
    """
    if state.binder is None:
        for tape in state.tapes:  # what was read before stays known
            tape.keep_value(target)
    current_binder().replace(target, value)
