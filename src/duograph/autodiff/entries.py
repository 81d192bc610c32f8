"""What a tape records: entries, and the values that they save for the way back.

Saved values are checked against the version they had when they were recorded; one that has been overwritten since is
replaced by a `Stale` tensor that raises as soon as a rule reads it (as PyTorch's version counters do).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from duograph.core.op import Op, state
from duograph.core.types import ObjectType, StackType, TensorType
from duograph.ir.node import Node
from duograph.tensor.alias import CLOCK, root_of
from duograph.tensor.eager import EAGER, current_binder
from duograph.tensor.tensor import SymbolicValueError, Tensor, wrap

OVERWRITTEN = -1
"""In the place of a stamp: the captured program wrote to this value later."""
Variable = Any  # int for eager values, Node for graph values


class Residual:
    """Base of run-time objects that carry saved values from a forward to a backward graph; tapes track them."""

    __slots__ = ()


class TapeEntry:
    """One recorded operation: variables in and out, and what its rule may read.

    ``pull`` is set for computations that are no single op: ``pull(douts, accs)`` gets the cotangents of the outputs
    and per input the gradient accumulated so far, and gives the new accumulated gradients. ``raw`` pulls understand
    missing cotangents (``None``) and those that only exist at run time (`backward.Maybe`), others get zeros; and they
    get as a third argument which inputs are the same variable (`backward.groups_of`): only the first of those has an
    accumulated gradient, what comes for the others is added to the first one's.

    ``shared`` says, for each path through such a computation, which of its results are one value: groups of an operand
    (or ``None``) and results. To a tape that saw the path they would be one variable; here each has one of its own.
    """

    __slots__ = ("attrs", "ins", "op", "origin", "out", "outputs", "pull", "raw", "shared", "stamps", "variables")

    def __init__(
        self,
        op: Op | None,
        ins: tuple[Any, ...],
        attrs: dict[str, Any],
        out: Any,
        variables: tuple[Variable | None, ...],
        outputs: tuple[Variable | None, ...],
        stamps: tuple[Any, ...],
        pull: Callable[..., Sequence[Any]] | None = None,
        raw: bool = False,
    ) -> None:
        self.op, self.ins, self.attrs, self.out = op, ins, attrs, out
        self.variables, self.outputs, self.stamps, self.pull, self.raw = variables, outputs, stamps, pull, raw
        self.shared: Sequence[Sequence[tuple[int | None, Sequence[int]]]] = ()
        self.origin = None if state.observer is None else state.observer.here()

    def keep(self, kept: Callable[[Any, Any], tuple[Any, Any]]) -> None:
        """See `Tape.keep_value`, for a computation that is no single op."""
        saved = self.attrs.get("saved")
        if isinstance(saved, Saved):
            saved.replace(kept)

    def pull_quickly(self, grads: dict[Variable, Any], keep: set[Variable], hooks: dict[Variable, Any]) -> bool:
        """Walks back over the entry, if there is a faster way than to visit it; whether there was."""
        return False


class Saved:
    """Inputs that a recorded computation will read again, with what is needed to see that they were overwritten."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = list(values)
        self.stamps = list(stamps_of(values))

    def checked(self, name: str) -> list[Any]:
        """The inputs; `Stale` in the place of those that were overwritten."""
        return checked(self.values, self.stamps, name)

    def replace(self, kept: Callable[[Any, Any], tuple[Any, Any]]) -> None:
        """Puts what ``kept(value, stamp)`` gives in the place of every input."""
        pairs = [kept(x, stamp) for x, stamp in zip(self.values, self.stamps, strict=True)]
        self.values, self.stamps = [p[0] for p in pairs], [p[1] for p in pairs]


class Overwritten(RuntimeError):
    """A gradient needs what was overwritten in place."""


class Underivable(SymbolicValueError):
    """Only plain Python knows what a gradient is, or whether it raises: a graph is made for all paths."""


def refuse(why: str) -> None:
    """Gives up the derivative of a graph that was captured, for plain Python can do what it was captured from.

    Raises:
        Underivable: always, but for graphs that nothing else can stand in for.
    """
    if current_binder().builder.context.is_captured:
        raise Underivable(why)


class Stale(Tensor):
    """Stands for a saved value that was overwritten in place; reading it is an error, its shape and dtype are not."""

    __slots__ = ("_type", "_why")

    _type: TensorType
    _why: str

    @property
    def _data(self) -> Any:  # type: ignore[override]
        raise Overwritten(self._why)

    shape = property(lambda self: self._type.shape)  # type: ignore[assignment]
    dtype = property(lambda self: self._type.dtype)  # type: ignore[assignment]
    ndim = property(lambda self: len(self._type.shape))  # type: ignore[assignment]
    abstract = property(lambda self: self._type)  # type: ignore[assignment]

    def array(self) -> Any:
        raise Overwritten(self._why)


def _stale(saved: Tensor, op_name: str) -> Stale:
    t = Stale.__new__(Stale)
    t._storage, t._view, t._mark, t._type = CLOCK.now, None, None, saved.abstract
    t._why = (
        f"a value needed for the gradient of {op_name!r} was modified in place after it was computed "
        f"(shape {tuple(saved.shape)}, dtype {saved.dtype}); copy it before writing to it"
    )
    return t


def is_trackable(value: Any) -> bool:
    """Whether tapes can watch ``value``."""
    if isinstance(value, Tensor | Residual):
        return True
    return isinstance(value, Node) and isinstance(value.type, StackType | ObjectType)


def entry_of(item: tuple[Any, ...]) -> TapeEntry:
    """What native code recorded, as an entry."""
    op, attrs, out, variable, version = item[:5]
    ins, variables, versions = item[6::3], item[7::3], item[8::3]
    return TapeEntry(op, ins, attrs, out, variables, (variable,), (*versions, version))


def stamps_of(values: Sequence[Any]) -> tuple[Any, ...]:
    """What is needed to find out later whether a tensor in ``values`` was written: its version, or its graph node."""
    if state.binder is not None:
        node_of = state.binder.node_of  # type: ignore[attr-defined]
        return tuple([node_of(x) if isinstance(x, Tensor) else None for x in values])
    return tuple([x._version if isinstance(x, Tensor) else None for x in values])


def checked(values: Sequence[Any], stamps: Sequence[Any], name: str) -> list[Any]:
    """``values`` as they were when they had ``stamps``.

    Of eager tensors only the present contents exist: one that was overwritten is replaced by a `Stale`; writes to other
    parts of its storage do not matter. Nodes never change; but a program that is being captured must not know more
    than eager does (``strict_versions``).
    """
    binder = current_binder()
    out = []
    for x, stamp in zip(values, stamps, strict=True):
        if stamp is not None and isinstance(x, Tensor):
            if stamp == OVERWRITTEN:
                x = _stale(x, name)
            elif isinstance(stamp, int):
                if x._version != stamp and EAGER.overwritten(x, stamp):
                    x = _stale(x, name)
            elif binder.node_of(x) is not stamp:
                lost = binder.strict_versions and not root_of(x).is_parameter
                x = _stale(x, name) if lost else wrap(stamp)
        out.append(x)
    return out


def saved_values(entry: TapeEntry) -> tuple[tuple[Any, ...], Any]:
    """Operands and output of a recorded op, checked."""
    assert entry.op is not None
    outs = entry.out if isinstance(entry.out, tuple) else (entry.out,)
    saved = checked((*entry.ins, *outs), entry.stamps, entry.op.name)
    ins = tuple(saved[: len(entry.ins)])
    return ins, tuple(saved[len(entry.ins) :]) if isinstance(entry.out, tuple) else saved[-1]
