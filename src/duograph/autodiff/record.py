"""Running a function under a tape: handles for its arguments, seeds for its outputs, gradients in its structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.base.tree import leaves, map_tree
from duograph.core.op import binding, restoring, state
from duograph.ops.cast import identity
from duograph.ops.creation import full, ones_like, zeros_like
from duograph.ops.movement import reshape
from duograph.tensor.alias import ViewLink
from duograph.tensor.tensor import SymbolicValueError, Tensor, wrap_view

from . import recording  # noqa: F401 (the recording rules of control ops register themselves)
from .backward import backpropagate, complete
from .entries import Variable
from .hooks import call_user
from .separate import separate
from .tape import Tape


def is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def is_frozen(value: Any) -> bool:
    """Whether ``value`` is a Parameter that asks for no gradient."""
    return not getattr(value, "requires_grad", True)


def handle(value: Tensor) -> Tensor:
    """A new handle on the storage of ``value``: the same contents, but a variable of its own.

    Passing one tensor twice must give two gradients, and writes of the function must reach the caller's tensor.
    """
    if state.binder is None and not state.tapes:  # what the op gives, for a quarter of its time
        new = wrap_view(value.array()[...], ViewLink(value, identity, {}))
    else:
        new = identity(value)
    if type(value) is not Tensor and issubclass(type(value), Tensor):
        new.__class__ = type(value)
    new.__dict__.update(value.__dict__)
    if state.binder is not None:
        state.binder.note_handle(new, value)  # type: ignore[attr-defined]
    return new


class Recorded:
    """A function call that was recorded.

    Attributes:
        out: what the function returned.
        tape: what it did.
    """

    def __init__(
        self,
        fn: Any,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        positions: Sequence[int] = (),
        weights: Sequence[Tensor] = (),
        is_kept: bool = False,
    ) -> None:
        self.tape = Tape()
        self.tape.is_kept = is_kept
        self._binder = state.binder
        self.args = list(args)
        self.variables: dict[int, Variable] = {}  # id(handle or weight) -> variable
        for i in positions:
            self.args[i] = map_tree(lambda x: handle(x) if is_tensor(x) else x, self.args[i])
        self.inputs = [self.args[i] for i in positions]
        self.weights = list(weights)
        self.out = self._record(fn, kwargs)

    @restoring
    def _record(self, fn: Any, kwargs: dict[str, Any]) -> Any:
        state.tapes = [*state.tapes, self.tape]
        for x in leaves(self.inputs):
            if is_tensor(x) and not is_frozen(x):
                self.variables[id(x)] = self.tape.watch(x)
        for w in self.weights:
            if is_tensor(w) and not is_frozen(w) and id(w) not in self.variables:
                self.variables[id(w)] = self.tape.watch(w)
        return call_user(fn, tuple(self.args), kwargs)

    @restoring
    def gradients(self, seeds: Sequence[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
        """Gradients of the inputs (nested as they are) and of the weights, for pairs of output tensor and cotangent."""
        self._check_place()
        flat = [x for x in leaves(self.inputs) if is_tensor(x)] + self.weights
        wanted = [self.variables.get(id(x)) for x in flat]
        with binding(self._binder):  # a variable is what it was there
            pairs = [(self.tape.variable(out), dout) for out, dout in seeds]
        found = backpropagate(self.tape, pairs, wanted)
        complete_ones = [complete(g, x) if g is not None else zeros_like(x) for x, g in zip(flat, found, strict=True)]
        owned = separate(complete_ones, [*flat, *[dout for _, dout in seeds]])
        done = {id(x): g for x, g in zip(flat, owned, strict=True)}
        inputs = [map_tree(lambda x: done[id(x)] if is_tensor(x) else None, x) for x in self.inputs]
        return inputs, [done[id(w)] for w in self.weights]

    def _check_place(self) -> None:
        """Whether the gradients can be taken here: where the call was recorded, or of an eager one under vmap.

        Raises:
            SymbolicValueError: they cannot; plain Python takes them if this is a capture.
        """
        here: Any = state.binder
        while here is not self._binder:
            if self._binder is not None or not hasattr(here, "outer"):
                raise SymbolicValueError("a gradient of a call that was recorded outside of this program, or vmap")
            here = here.outer


def ones_for(out: Any) -> list[tuple[Any, Any]]:
    """Every tensor in ``out`` with a cotangent of ones; nothing flows into bools."""
    return [(x, ones_like(x)) for x in leaves(out) if is_tensor(x) and not x.dtype.is_bool]


def cotangents_for(out: Any, given: Any) -> list[tuple[Any, Any]]:
    """Tensors of ``out`` paired with the user's cotangents, checked.

    Raises:
        RuntimeError: not one cotangent per output.
        ValueError: a shape differs.
        TypeError: a dtype differs.
    """
    outs = [x for x in leaves(out) if is_tensor(x)]
    douts = leaves(given)
    if len(outs) != len(douts):
        raise RuntimeError(
            "The given sens gradient's size should be same as out of network! "
            f"Got {len(douts)} for {len(outs)} outputs."
        )
    return [(o, _checked(d, o)) for o, d in zip(outs, douts, strict=True)]


def _checked(dout: Any, out: Tensor) -> Any:
    if isinstance(dout, bool | int | float):
        return full(shape=tuple(out.shape), value=dout, dtype=out.dtype)
    if not is_tensor(dout):
        raise TypeError(f"The sens gradient should be a Tensor, but got {type(dout).__name__}.")
    if tuple(dout.shape) != tuple(out.shape) and _is_one(dout.shape) and _is_one(out.shape):
        dout = reshape(
            dout, shape=tuple(out.shape)
        )  # a scalar loss scale for a loss of shape (1,), as in graphs of MindSpore
    if tuple(dout.shape) != tuple(out.shape):
        raise ValueError(f"The shape should be {tuple(out.shape)}, but got {tuple(dout.shape)}.")
    if dout.dtype != out.dtype:
        raise TypeError(f"The dtype should be {out.dtype}, but got {dout.dtype}.")
    return dout


def _is_one(shape: Any) -> bool:
    return all(type(size) is int and size == 1 for size in shape)
