"""The gradient tape: records what ops did, in program order. One tape for both lives of a program.

A tape listens at `Op.__call__`, above the binders, so it records eager tensors and graph nodes alike; `backpropagate`
(``autodiff/backward.py``) walks back over its entries with eager tensors or with nodes. That is why eager gradients,
gradients inside compiled code and gradients of whole graphs are the same sums in the same order (design, section 6,
rule 5).

Only ops that touch a watched value are recorded. A value is known by its *variable*:

* a graph node is its own variable (every occurrence in a captured program is a distinct node);
* an eager tensor has a variable per version of its storage: views derive theirs from the tensor they were made from,
  and after a write in place the storage holds what the functional form of the write (``write_view``) computed.

The variable of an eager tensor stands in a *mark* on the tensor: ``(tape's token, version, variable, next mark)``. A
tensor that several tapes watch has a chain of marks. Native code (``runtime/launch/tape.py``) reads and writes marks,
too. Its results get a short mark, an int: the variable itself, which begins with the token; it holds as long as nothing
was written. An op that the native launcher ran is recorded as a plain tuple, ``(op, attrs, out, its variable, its
version, watched, in, its variable, its version, in, ...)`` (``watched`` has a bit for each operand with a variable),
which becomes a `TapeEntry` when it is looked at.

Saved values are checked against the version they had when they were recorded; one that has been overwritten since is
replaced by a `Stale` tensor that raises as soon as a rule reads it. (The check of PyTorch's version counters.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from typing import Any
from weakref import ref

import numpy as np

from duograph.base.diagnostics import InternalError
from duograph.core.op import NOT_DIFFERENTIABLE, Op, drop_aside, state
from duograph.ir.control import anchor, sized
from duograph.ir.node import Node
from duograph.ops.cast import relabel
from duograph.tensor.alias import CLOCK, root_of
from duograph.tensor.eager import EAGER
from duograph.tensor.tensor import Tensor, wrap

from .entries import Saved, TapeEntry, Variable, entry_of, is_trackable, stamps_of

_variables = count(-2, -1)  # native code counts upwards
SHORT_MARK_BITS = 28
"""Bits of a short mark that tell the variables of one tape apart; those above are the tape's token."""

_tokens = count(1)
_tapes: dict[int, ref[Tape]] = {}
"""Tapes by token. Marks of those that are gone are dropped when a tensor gets a new one. The references have no
callbacks, which `WeakValueDictionary` has: a Ctrl-C that comes within one is lost."""


def _is_alive(token: int) -> bool:
    known = _tapes.get(token)
    return known is not None and known() is not None


class Tape:
    """Records ops on watched values while it is among the tapes of the dispatch state.

    Attributes:
        log: what was recorded, in order: entries, and the tuples of native code.
        hooks: functions to call on complete gradients, by variable.
        calls: entries that stand for compiled calls, with what puts the ops of a call in the place of its entry.
        copied: results of such calls that are copies, and what the program itself would have given there.
        is_kept: gradients are taken later than recording ends; writes in between pass unnoticed.
        token: stands for the tape in marks.
        born: the time when it was made; as long as it is now, nothing was written since.
    """

    __slots__ = (
        "__weakref__",
        "_indexed",
        "_objects",
        "_symbolic",
        "born",
        "calls",
        "copied",
        "hooks",
        "is_kept",
        "log",
        "token",
    )

    def __init__(self) -> None:
        self.log: list[TapeEntry | tuple[Any, ...]] = []
        self.hooks: dict[Variable, list[Callable[[Any], Any]]] = {}
        self.calls: list[tuple[TapeEntry, Callable[[Tape, TapeEntry], None]]] = []
        self.copied: dict[Variable, Variable] = {}
        self.is_kept = False
        self.token = next(_tokens)
        self.born = CLOCK.now
        self._objects: dict[int, tuple[Any, Variable | None]] = {}  # watched values that are not tensors, by id
        self._symbolic: dict[Node, Variable] = {}
        self._indexed: tuple[int, Any, list[TapeEntry], dict[int, list[TapeEntry]]] = (0, None, [], {})
        if self.token % 64 == 0:
            for token in list(_tapes):  # other threads add some meanwhile; a list of keys is made in one go
                known = _tapes.get(token)
                if known is not None and known() is None:
                    _tapes.pop(token, None)
        _tapes[self.token] = ref(self)

    @property
    def entries(self) -> list[TapeEntry]:
        """Everything recorded so far; changing the list changes the tape."""
        self.since(0)
        return self.log  # type: ignore[return-value]  # all are entries now

    @entries.setter
    def entries(self, entries: list[TapeEntry]) -> None:
        self.log = entries  # type: ignore[assignment]  # a list of entries is a log
        self.forget_index()

    def since(self, mark: int) -> list[TapeEntry]:
        """What has been recorded after the first ``mark`` entries."""
        log = self.log
        for i in range(mark, len(log)):
            if type(item := log[i]) is tuple:
                log[i] = entry_of(item)
        return log[mark:]  # type: ignore[return-value]  # all are entries now

    # -- variables ---------------------------------------------------------------------------------------------

    def watch(self, value: Any, same_as: Variable | None = None) -> Variable:
        """Starts tracking ``value``: ops on it are recorded from now on.

        ``same_as`` makes it another name of an already watched variable.
        """
        variable = self.assign(value, same_as)
        if state.binder is not None and isinstance(value, Tensor):
            state.binder.note_watched(value)  # type: ignore[attr-defined]
        hooks = value.__dict__.get("_gradient_hooks") if isinstance(value, Tensor) else None
        if hooks:
            self.hooks.setdefault(variable, []).append(hooks.run)
        return variable

    def assign(self, value: Any, variable: Variable | None = None) -> Variable:
        """A new variable for a freshly computed value (or the given one)."""
        binder = state.binder
        if binder is not None:
            node = binder.node_of(value)  # type: ignore[attr-defined]
            self._symbolic[node] = variable = node if variable is None else variable
            return variable
        variable = next(_variables) if variable is None else variable
        self._bind(value, variable)
        return variable

    def _bind(self, value: Any, variable: Variable | None) -> None:
        if not isinstance(value, Tensor):
            self._objects[id(value)] = (value, variable)
            return
        while True:
            before, storage = value._mark, value._storage
            version = 0 if type(storage) is int else storage.version  # type: ignore[union-attr]
            mark = (self.token, version, variable, before and self._others(before))
            if value._mark is before:  # no call from here to the store: no other thread's mark gets lost
                value._mark = mark
                return

    def _others(self, mark: tuple[Any, ...] | int) -> tuple[Any, ...] | int | None:
        """The marks of other tapes that still live."""
        if isinstance(mark, int):
            token = mark >> SHORT_MARK_BITS
            return mark if token != self.token and _is_alive(token) else None
        token, version, variable, rest = mark
        rest = rest and self._others(rest)
        if token == self.token or not _is_alive(token):
            return rest
        return mark if rest is mark[3] else (token, version, variable, rest)

    def variable(self, value: Any) -> Variable | None:
        """The variable that holds the current value of a tensor, ``None`` if it does not depend on watched ones."""
        if not is_trackable(value):
            return None
        binder = state.binder
        if binder is not None:
            return self._symbolic.get(binder.node_of(value))  # type: ignore[attr-defined]
        if not isinstance(value, Tensor):
            known = self._objects.get(id(value))
            return None if known is None else known[1]
        mark = value._mark
        while mark is not None:
            if type(mark) is int:
                if mark >> SHORT_MARK_BITS == self.token and not value._version:
                    return mark
                break
            if mark[0] == self.token:
                if mark[1] == value._version:
                    return mark[2]
                break
            mark = mark[3]
        if value._view is None:
            return None
        return self._derive(value)

    def variables_if(self, values: Sequence[Any], watched: Sequence[bool]) -> list[Variable | None] | None:
        """The variables of ``values``, if exactly those that are ``watched`` have one; of eager values."""
        token = self.token
        found: list[Variable | None] = []
        for x, wanted in zip(values, watched, strict=True):
            if isinstance(x, Tensor):
                mark, storage = x._mark, x._storage
                if type(mark) is tuple and mark[0] == token:
                    version = 0 if type(storage) is int else storage.version  # type: ignore[union-attr]
                    variable = mark[2] if mark[1] == version else self.variable(x)
                elif mark is None and x._view is None:  # no tape has ever seen it
                    variable = None
                else:
                    variable = self.variable(x)
            else:
                variable = self.variable(x)
            if (variable is not None) is not wanted:
                return None
            found.append(variable)
        return found

    def _derive(self, view: Tensor) -> Variable | None:
        """The variable of a view that was made outside, or whose storage was written since: view op of its parent's."""
        parent, op, attrs = view._view  # type: ignore[misc]
        source = self.variable(parent)
        if source is None or op.bprop is NOT_DIFFERENTIABLE:
            return None
        out = self.assign(view)
        self.append(op, (parent,), attrs, view, (source,), (out,))
        return out

    def add_hook(self, value: Any, hook: Callable[[Any], Any]) -> None:
        """Calls ``hook``, once, on the complete gradient of ``value``, if it has one."""
        if (variable := self.variable(value)) is not None:
            self._unfold([c for c in self.calls if variable in c[0].outputs])  # its own uses count
            if hook not in (hooks := self.hooks.setdefault(self.copied.get(variable, variable), [])):
                hooks.append(hook)

    # -- recording ---------------------------------------------------------------------------------------------

    def record(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any], out: Any) -> None:
        """The hook that `Op.__call__` calls after an op ran."""
        if op.bprop is NOT_DIFFERENTIABLE or op.structured:
            return
        if op is sized or op is anchor:  # the other operands are only computed before
            variables: tuple[Variable, ...] = (self.variable(operands[0]), *[None] * (len(operands) - 1))
        else:
            variables = tuple([self.variable(x) for x in operands])
        if not any(v is not None for v in variables):
            return
        if op is relabel:  # another name for its sizes, but the same value
            self.assign(out, variables[0])
            return
        outs = out if isinstance(out, tuple) else (out,)
        outputs = tuple([self.assign(o) if is_trackable(o) else None for o in outs])
        self.append(op, operands, attrs, out, variables, outputs)

    def bind_structured(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """What a control op means while this tape, the innermost one, records (called by `Op.__call__`).

        The tapes around this one see what the op's rule emits.
        """
        if not RULES:
            raise InternalError("a tape records a control op, and `autodiff.recording` was not imported")
        rule = RULES.get(op.name)
        if rule is None or all(self.variable(x) is None for x in operands):
            with outer_tapes(self):
                return op(*operands, **attrs)
        return rule(self, operands, attrs)

    def record_custom(
        self,
        name: str,
        ins: tuple[Any, ...],
        outs: tuple[Any, ...],
        pull: Callable[..., Sequence[Any]],
        active: Sequence[bool] | None = None,
        raw: bool = False,
        saved: Saved | None = None,
        shared: Sequence[Sequence[tuple[int | None, Sequence[int]]]] = (),
    ) -> TapeEntry | None:
        """Records a computation with a gradient of its own; ``None`` if nothing was watched.

        ``pull(douts, accs)`` gets one cotangent per output (zeros where there is none, unless ``raw``) and, per
        input, the gradient accumulated so far by later uses (or ``None``); it returns per input the new accumulated
        gradient. ``active`` says which outputs depend
        on the inputs (default: all). ``saved``: inputs that the pull reads again later. ``shared``: see `TapeEntry`.
        """
        variables = tuple([self.variable(x) for x in ins])
        if not any(v is not None for v in variables):
            return None
        wanted = [True] * len(outs) if active is None else active
        outputs = tuple([self.assign(o) if a and is_trackable(o) else None for o, a in zip(outs, wanted, strict=True)])
        attrs = {"name": name, "saved": saved}
        entry = TapeEntry(None, ins, attrs, outs, variables, outputs, (), pull, raw)
        entry.shared = shared
        self.log.append(entry)
        return entry

    def begin_write(self, target: Tensor, value: Tensor) -> bool:
        """Whether an eager write of ``value`` through ``target`` concerns this tape.

        What was computed by compiled code from what ``target`` shows becomes a computation by single ops (`unfold`):
        for these is known which of them need it.
        """
        if self.calls and not root_of(target).is_parameter:
            self._unfold([c for c in self.calls if _shows(c[0], root_of(target)._alias, target)])
        views = [target]
        while views[-1]._view is not None:
            views.append(views[-1]._view.parent)
        return any(self.variable(x) is not None for x in (value, *views))

    def _unfold(self, calls: list[tuple[TapeEntry, Callable[[Tape, TapeEntry], None]]]) -> None:
        self.calls = [c for c in self.calls if c not in calls]
        for entry, expand in calls:
            expand(self, entry)

    def keep_value(self, root: Tensor) -> None:
        """The storage of ``root`` is about to be written: what entries saved of it is kept as copies."""
        alias = root._alias
        copies: dict[int, Tensor] = {}

        def kept(x: Any, stamp: Any) -> tuple[Any, Any]:
            """``x``, or its copy if it shows the storage and was not overwritten since ``stamp``."""
            if not isinstance(x, Tensor) or x._storage is not alias or EAGER.overwritten(x, stamp):
                return x, stamp
            copy = copies.get(id(x))
            if copy is None:
                copy = copies[id(x)] = wrap(x.array().copy())
                for tape in state.tapes:
                    if (variable := tape.variable(x)) is not None:
                        tape._bind(copy, variable)
            return copy, 0

        calls, holders = self._index()
        for entry in calls:
            entry.keep(kept)
        for entry in [*holders.pop(id(root), ()), *holders.pop(id(alias), ())]:
            outs = entry.out if isinstance(entry.out, tuple) else (entry.out,)
            saved = (*entry.ins, *outs)
            if not any(isinstance(x, Tensor) and x._storage is alias for x in saved) or not entry.stamps:
                continue
            values, stamps = [], []
            for x, stamp in zip(saved, entry.stamps, strict=True):
                value, mark = kept(x, stamp)
                values.append(value)
                stamps.append(mark)
            entry.ins, entry.stamps = tuple(values[: len(entry.ins)]), tuple(stamps)
            rest = tuple(values[len(entry.ins) :])
            entry.out = rest if isinstance(entry.out, tuple) else rest[0]

    def _index(self) -> tuple[list[TapeEntry], dict[int, list[TapeEntry]]]:
        """The computations that are no single ops; the ops by what they saved of Parameters: these, and the storages of
        views. A step with many statistics writes each of them, and would look at all entries each time."""
        log, (count, last, calls, holders) = self.log, self._indexed
        if count > len(log) or (count and log[count - 1] is not last):  # a capture has taken entries back
            count, calls, holders = 0, [], {}
        for item in self.since(count):
            if item.op is None:
                calls.append(item)
                continue
            for x in (*item.ins, *(item.out if isinstance(item.out, tuple) else (item.out,))):
                if isinstance(x, Tensor) and (x.is_parameter or x._view is not None):
                    holders.setdefault(id(x if x._view is None else x._storage), []).append(item)
        self._indexed = len(log), log[-1] if log else None, calls, holders
        return calls, holders

    def forget_index(self) -> None:
        """Entries have been replaced, or hold other tensors."""
        self._indexed = 0, None, [], {}

    def end_write(self, written: Sequence[tuple[Tensor, Variable | None]]) -> None:
        """Memory has changed: the target holds the value, and the root of its storage what the write computed."""
        for tensor, variable in written:
            self._bind(tensor, variable)

    def append(
        self, op: Op, ins: tuple[Any, ...], attrs: dict[str, Any], out: Any, variables: Any, outputs: Any
    ) -> None:
        """Records an op on variables into variables."""
        outs = out if isinstance(out, tuple) else (out,)
        stamps = stamps_of((*ins, *outs))
        self.log.append(TapeEntry(op, ins, attrs, out, variables, outputs, stamps))


def _shows(entry: TapeEntry, alias: Any, target: Tensor) -> bool:
    """Whether the storage ``alias`` is of an operand or result of ``entry`` that shows something of ``target``."""
    return any(
        isinstance(x, Tensor) and x._alias is alias and np.may_share_memory(x.array(), target.array())
        for x in (*entry.ins, *entry.out)
    )


# ---- which tapes record, and how control ops are recorded ------------------------------------------------------------


@contextmanager
def taping(tapes: list[Any]) -> Iterator[None]:
    """Within the block, exactly these tapes record."""
    before, mine = state.tapes, list(tapes)
    state.tapes = mine
    try:
        yield
    finally:
        if state.tapes is mine:  # else this runs too late: see `restoring`
            state.tapes = before
            if state.aside:
                drop_aside()


def outer_tapes(tape: Tape) -> AbstractContextManager[None]:
    """Within the block, the tapes around ``tape`` record: they see what it makes of a control op."""
    return taping([t for t in state.tapes if t is not tape])


Rule = Callable[[Tape, tuple[Any, ...], dict[str, Any]], Any]
"""``(tape, operands, attrs) -> result``: emits the op in a form that gives residuals, and records it."""

RULES: dict[str, Rule] = {}
"""By control op. The rules differentiate graphs, which takes tapes: they stand above this file and register."""


def recorded_by(name: str) -> Callable[[Rule], Rule]:
    """Registers how the control op ``name`` is recorded."""

    def register(function: Rule) -> Rule:
        RULES[name] = function
        return function

    return register
