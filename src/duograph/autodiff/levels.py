"""Compiled calls on a tape: what they leave on it, and the fast way back over them.

An entry of a compiled call is a `CallEntry`: operands, results and residuals, and the `Level` that knows all that is
the same for every call of the graph. Walking back, as a rule, is to choose the backward graph by what there is of
cotangents and accumulated gradients, and to call it (`CallEntry.pull_quickly`); whatever is unusual about the call goes
the general way (`control.pull_call`), which gives the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.core.op import state
from duograph.ir.node import Graph
from duograph.tensor.alias import CLOCK
from duograph.tensor.tensor import Tensor, wrap

from .backward import Gradient, Groups, Kind, gather
from .control import meet, pull_call
from .entries import Saved, TapeEntry, Underivable, Variable, is_trackable
from .graph_vjp import apart, derivative_of
from .tape import Tape
from .unfold import can_unfold, expand, pull_again

if TYPE_CHECKING:
    from .compiled import GraphFunction

_UNKNOWN = object()


class Level:
    """What a tape that watches the inputs ``active`` makes of calls of ``graph``.

    Attributes:
        forward: the graph that runs: it gives the residuals, too.
        places: results that are residuals.
        unfolds: whether a call can become the ops of the graph.

    Raises:
        Underivable: only plain Python can tell.
    """

    def __init__(self, function: GraphFunction, graph: Graph, active: tuple[bool, ...]) -> None:
        self.function, self.graph, self.active = function, graph, active
        self.context = graph.context
        self.derivative = derivative_of(graph, active)
        self.forward = self.derivative.forward()
        self.n_outs = len(self.derivative.outs)
        self.tracked = [i for i, active in enumerate(self.derivative.active_outputs) if active]
        self.places = tuple(self.derivative.results.values())
        self.shared = self.derivative.shared
        self.unfolds = can_unfold(graph)
        self.expand = partial(expand, graph=graph)
        self.again = partial(pull_again, graph) if self.unfolds else None
        self.groups: Groups = tuple(i if a else None for i, a in enumerate(active))
        self.n_active = sum(active)
        self._pulls: dict[Any, Any] = {}

    def record(
        self, tape: Tape, ins: Sequence[Any], variables: Sequence[Any], results: list[Any], is_seen: bool
    ) -> list[Any]:
        """Puts a call that gave ``results`` (with the residuals) on ``tape``; gives what the graph gives."""
        n = self.n_outs
        outs = results[:n]
        outputs: list[Variable | None] = [None] * n
        for i in self.tracked:
            if is_trackable(outs[i]):
                outputs[i] = tape.assign(outs[i])
        entry = CallEntry(self, tuple(ins), tuple(variables), tuple(outs), tuple(outputs), results[n:])
        tape.log.append(entry)
        if self.unfolds and not is_seen:
            tape.calls.append((entry, self.expand))
        return outs

    def launch(self, backward: Graph, args: list[Any]) -> Sequence[Any]:
        """Runs a backward graph; tapes that record now see it."""
        return self.function.call(backward, args, True)

    def pull_for(self, has_dout: tuple[bool, ...], has_acc: tuple[bool, ...]) -> _Pull | None:
        """How to pull these cotangents and accumulated gradients; ``None`` if only the general way knows."""
        key = has_dout, has_acc, self.context.writes
        pull = self._pulls.get(key, _UNKNOWN)
        if pull is _UNKNOWN:
            try:
                pull = self._make(has_dout, has_acc)
            except Underivable:
                pull = None
            self._pulls[key] = pull
        return pull

    def _make(self, has_dout: tuple[bool, ...], has_acc: tuple[bool, ...]) -> _Pull | None:
        d = self.derivative
        douts: list[Any] = [True if has else None for has in has_dout]
        accs: list[Any] = [True if has else None for has in has_acc]
        if self.again is not None and meet(self.shared, douts, accs):
            return None
        dout_kinds: list[Kind] = [None if x is None else "full" for x in d.masked(douts)]
        if all(k is None for k in dout_kinds):
            return _Pull(None, (), ())
        added = d.backward(dout_kinds, [None] * len(accs), self.groups).kinds
        if all(k is None for k in added):
            return _Pull(None, (), ())
        through, _ = apart(["full" if has else None for has in accs], added)
        back = d.backward(dout_kinds, through, self.groups)
        n, m = self.n_outs, len(self.active)  # what there is: cotangents, accumulated, operands, results, residuals
        where: dict[Any, int] = {p: n + m + i for i, p in enumerate(self.graph.params)}
        where.update({node: n + 2 * m + i for node, i in d.results.items()})
        where.update({node: 2 * n + 2 * m + i for i, node in enumerate(d.hidden)})
        if any(c not in where for c in back.captures):
            return None
        chosen = [i for i, k in enumerate(dout_kinds) if k is not None]
        chosen += [n + i for i, k in enumerate(through) if k is not None]
        chosen += [where[c] for c in back.captures]
        return _Pull(back.graph, tuple(chosen), tuple(back.kinds))


class _Pull:
    """A backward graph (``None``: nothing flows), what it is called with, which operands its results are for, and of
    what kinds they are if some depend on branches."""

    __slots__ = ("choose", "graph", "kinds", "targets")

    def __init__(self, graph: Graph | None, chosen: tuple[int, ...], kinds: tuple[Kind, ...]) -> None:
        self.graph = graph
        self.kinds = kinds if "maybe" in kinds else None
        self.targets = tuple([i for i, k in enumerate(kinds) if k is not None])
        self.choose: Callable[[Sequence[Any]], Sequence[Any]] = (
            _first_of(chosen) if len(chosen) < 2 else itemgetter(*chosen)
        )


def _dense(x: Tensor) -> Tensor:
    """``x`` as native calls take it: the gradient of a sum is a broadcast view."""
    return wrap(np.ascontiguousarray(x.array()))


def _first_of(chosen: tuple[int, ...]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    return lambda values: [values[i] for i in chosen]


_PLAIN = {Tensor, type(None)}


class CallEntry(TapeEntry):
    """A compiled call on a tape.

    Attributes:
        level: what is known of all such calls.
        hidden: residuals that are no results.
        time: when it was recorded: what has a version from then on was overwritten since.
    """

    __slots__ = ("_saved", "hidden", "level", "time")

    def __init__(
        self,
        level: Level,
        ins: tuple[Any, ...],
        variables: tuple[Variable | None, ...],
        out: tuple[Any, ...],
        outputs: tuple[Variable | None, ...],
        hidden: Sequence[Any],
    ) -> None:
        self.op, self.stamps, self.raw, self.shared = None, (), True, ()
        self.origin = None if state.observer is None else state.observer.here()
        self.level, self.ins, self.variables, self.out, self.outputs = level, ins, variables, out, outputs
        self.hidden, self.time = hidden, CLOCK.now
        self._saved: Saved | None = None

    @property
    def attrs(self) -> dict[str, Any]:  # type: ignore[override]  # of a call as `Tape.record_custom` has them
        return {"name": self.level.graph.name, "saved": self.saved}

    @property
    def saved(self) -> Saved:
        """Operands and those results that are residuals, with the versions that they had."""
        if self._saved is None:
            self._saved = made = Saved([*self.ins, *[self.out[i] for i in self.level.places]])
            made.stamps = [s if s is None or s < self.time else self.time - 1 for s in made.stamps]
        return self._saved

    def pull(  # type: ignore[override]  # other entries are given it
        self, douts: Sequence[Gradient], accs: Sequence[Gradient], groups: Groups
    ) -> Sequence[Gradient]:
        """See `TapeEntry`."""
        level = self.level
        return pull_call(level.derivative, self.saved, self.out, self.hidden, level.launch, douts, accs, groups,
                         level.again)  # fmt: skip

    def pull_quickly(self, grads: dict[Variable, Gradient], keep: set[Variable], hooks: dict[Variable, Any]) -> bool:
        """Does to ``grads`` what visiting the entry does, if nothing about it is unusual; whether it has done so."""
        outputs = self.outputs
        douts = [grads.get(v) for v in outputs]  # of a result that has no variable there is nothing
        has_dout = tuple([d is not None for d in douts])
        if True not in has_dout:
            return True
        for v, d in zip(outputs, douts, strict=True):
            if d is not None and (type(d) is not Tensor or v in keep or v in hooks):
                return False
        level, variables = self.level, self.variables
        if state.tapes or self._saved is not None or (CLOCK.now != self.time and not self._is_intact()):
            return False
        accs = [grads.get(v) for v in variables]
        if not {type(a) for a in accs} <= _PLAIN:
            return False
        if level.n_active > 1 and len({*variables, None}) != level.n_active + 1:
            return False  # one variable twice
        pull = level.pull_for(has_dout, tuple([a is not None for a in accs]))
        if pull is None:
            return False
        if pull.graph is not None:
            function = level.function
            douts = [d if d is None or d._data.flags.c_contiguous else _dense(d) for d in douts]
            args = pull.choose((*douts, *accs, *self.ins, *self.out, *self.hidden))
            found = (function.calls.get(pull.graph) or function.call_of(pull.graph, args))(*args)
            if pull.kinds is not None:
                grads.update({v: g for v, g in zip(variables, gather(found, pull.kinds), strict=True) if g is not None})
            else:
                for i, gradient in zip(pull.targets, found, strict=True):
                    grads[variables[i]] = gradient
        for v in outputs:
            if v is not None and v not in keep:
                grads.pop(v, None)
        return True

    def keep(self, kept: Callable[[Any, Any], tuple[Any, Any]]) -> None:
        """See `TapeEntry`: copies take the place of operands."""

        def keeps(x: Any) -> Any:
            return kept(x, min(x._version, self.time - 1))[0] if isinstance(x, Tensor) else x

        outs = [self.out[i] for i in self.level.places]
        if self._saved is None and all(keeps(o) is o for o in outs):
            self.ins = tuple([keeps(x) for x in self.ins])
        else:  # results are what the program has, too
            self.saved.replace(kept)

    def _is_intact(self) -> bool:
        """Whether nothing that it saved was overwritten, as far as a look at versions tells."""
        time = self.time
        for x in self.ins:
            if isinstance(x, Tensor) and x._version >= time:
                return False
        return not any(self.out[i]._version >= time for i in self.level.places if isinstance(self.out[i], Tensor))
