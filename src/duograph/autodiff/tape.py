"""The gradient tape: records what ops did, and walks back over it. One tape for both lives of a program.

A tape listens at `Op.__call__`, above the binders, so it records eager tensors and graph nodes alike, in program
order; `backpropagate` calls the ``bprop`` rules in reverse program order, with eager tensors or with nodes. That is
why eager gradients, gradients inside compiled code and gradients of whole graphs are the same sums in the same order
(design, section 6, rule 5).

Only ops that touch a watched value are recorded. A value is known by its *variable*:

* a graph node is its own variable (every occurrence in a captured program is a distinct node);
* an eager tensor has a variable per version of its storage: writing in place makes a new one, views derive theirs
  from the tensor they were made from.

Saved values are checked against the version they had when they were recorded; one that has been overwritten since is
replaced by a `Stale` tensor that raises as soon as a rule reads it. (The check of PyTorch's version counters.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from duograph.core.op import NOT_DIFFERENTIABLE, Op, state
from duograph.ir.node import Node
from duograph.tensor.eager import current_binder
from duograph.tensor.tensor import Tensor

_variables = count(1)
Variable = Any  # int for eager values, Node for graph values


class Entry:
    """One recorded operation: variables in and out, and what its rule may read."""

    __slots__ = ("attrs", "ins", "op", "out", "outputs", "pull", "stamps", "variables")

    def __init__(
        self,
        op: Op | None,
        ins: tuple[Any, ...],
        attrs: dict[str, Any],
        out: Any,
        variables: tuple[Variable | None, ...],
        outputs: tuple[Variable, ...],
        stamps: tuple[int, ...],
        pull: Callable[..., Sequence[Any]] | None = None,
    ) -> None:
        self.op, self.ins, self.attrs, self.out = op, ins, attrs, out
        self.variables, self.outputs, self.stamps, self.pull = variables, outputs, stamps, pull


class Stale(Tensor):
    """Stands for a saved value that was overwritten in place; reading it is an error, its shape and dtype are not."""

    __slots__ = ("_why",)

    def array(self) -> Any:
        raise RuntimeError(self._why)


def _stale(saved: Tensor, op_name: str) -> Stale:
    t = Stale.__new__(Stale)
    t._data, t._alias, t._view = saved._data, saved._alias, None
    t._why = (
        f"a value needed for the gradient of {op_name!r} was modified in place after it was computed "
        f"(shape {tuple(saved.shape)}, dtype {saved.dtype}); copy it before writing to it"
    )
    return t


class Tape:
    """Records ops on watched values between `__enter__` and `__exit__`."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._known: dict[Any, tuple[Any, int, Variable]] = {}  # id(tensor) -> (tensor, version, variable)
        self._symbolic: set[Node] = set()

    def __enter__(self) -> Tape:
        state.tapes = [*state.tapes, self]
        return self

    def __exit__(self, *_: object) -> None:
        state.tapes = [t for t in state.tapes if t is not self]

    # -- variables ---------------------------------------------------------------------------------------------

    def watch(self, tensor: Tensor) -> Variable:
        """Starts tracking ``tensor``: ops on it are recorded from now on."""
        return self._assign(tensor)

    def _assign(self, value: Any) -> Variable:
        """A new variable for a freshly computed value."""
        binder = state.binder
        if binder is not None:
            node = binder.node_of(value)  # type: ignore[attr-defined]
            self._symbolic.add(node)
            return node
        variable = next(_variables)
        self._known[id(value)] = (value, value._alias.version, variable)
        return variable

    def variable(self, value: Any) -> Variable | None:
        """The variable that holds the current value of a tensor, ``None`` if it does not depend on watched ones."""
        if not isinstance(value, Tensor):
            return None
        binder = state.binder
        if binder is not None:
            node = binder.node_of(value)  # type: ignore[attr-defined]
            return node if node in self._symbolic else None
        known = self._known.get(id(value))
        if known is not None and known[1] == value._alias.version:
            return known[2]
        if value._view is None:
            return None
        if known is None and value._alias.version == 0:
            return self._derive(value) if self._known_root(value) else None
        return self._derive(value)

    def _known_root(self, view: Tensor) -> bool:
        while view._view is not None:
            if id(view) in self._known:
                return True
            view = view._view.parent
        return id(view) in self._known

    def _derive(self, view: Tensor) -> Variable | None:
        """The variable of a view that was made outside, or whose storage was written since: view op of its parent's."""
        parent, op, attrs = view._view  # type: ignore[misc]
        source = self.variable(parent)
        if source is None or op.bprop is NOT_DIFFERENTIABLE:
            return None
        out = self._assign(view)
        self._append(op, (parent,), attrs, view, (source,), (out,))
        return out

    # -- recording ---------------------------------------------------------------------------------------------

    def record(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any], out: Any) -> None:
        """The hook that `Op.__call__` calls after an op ran."""
        if op.bprop is NOT_DIFFERENTIABLE or op.structured:
            return
        variables = tuple([self.variable(x) for x in operands])
        if not any(v is not None for v in variables):
            return
        outs = out if isinstance(out, tuple) else (out,)
        outputs = tuple([self._assign(o) if isinstance(o, Tensor) else None for o in outs])
        self._append(op, operands, attrs, out, variables, outputs)

    def record_custom(
        self, name: str, ins: tuple[Any, ...], outs: tuple[Any, ...], pull: Callable[..., Sequence[Any]]
    ) -> None:
        """Records a computation with a gradient of its own.

        ``pull(douts, acc)`` gets one cotangent per output (zeros where there is none) and, per input, the gradient
        accumulated so far by later uses (or ``None``); it returns per input the new accumulated gradient.
        """
        variables = tuple([self.variable(x) for x in ins])
        if any(v is not None for v in variables):
            outputs = tuple([self._assign(o) if isinstance(o, Tensor) else None for o in outs])
            entry = Entry(None, ins, {"name": name}, outs, variables, outputs, (), pull)
            self.entries.append(entry)

    def record_write(self, target: Tensor, value: Tensor) -> None:
        """An eager in-place write of ``value`` through ``target``; called after memory has changed."""
        new = self.variable(value)
        chain = [target]
        while chain[-1]._view is not None:
            chain.append(chain[-1]._view.parent)
        root = chain[-1]
        known = self._known.get(id(root))
        old = known[2] if known is not None else None
        if new is None and old is None:
            return
        links = [t._view for t in chain[:-1]]

        def pull(dout: Any) -> tuple[Any, Any]:
            def of_old() -> Any:
                from duograph.ops.creation import zeros_like

                if not links:
                    return None
                return _through(links, dout, zeros_like(value))

            def of_new() -> Any:
                part = dout
                for link in reversed(links):
                    part = link.op(part, **link.attrs)
                return part

            return of_old, of_new

        out = self._assign(root)
        entry = Entry(None, (root, value), {"name": "write"}, root, (old, new), (out,), (), None)
        entry.attrs["pull"] = pull
        self.entries.append(entry)
        if links:
            self._known.pop(id(target), None)

    def _append(
        self, op: Op, ins: tuple[Any, ...], attrs: dict[str, Any], out: Any, variables: Any, outputs: Any
    ) -> None:
        version = current_binder().version
        outs = out if isinstance(out, tuple) else (out,)
        stamps = tuple([version(x) if isinstance(x, Tensor) else 0 for x in (*ins, *outs)])
        self.entries.append(Entry(op, ins, attrs, out, variables, outputs, stamps))


def _through(links: list[Any], base: Any, value: Any) -> Any:
    """``base`` with the part that the view ``links`` (innermost first) show replaced by ``value``."""
    parts = [base]
    for link in reversed(links[1:]):
        parts.append(link.op(parts[-1], **link.attrs))
    for link, part in zip(links, reversed(parts), strict=True):
        value = link.op.write_view(part, value, **link.attrs)
    return value


def backpropagate(
    tape: Tape, seeds: Sequence[tuple[Variable, Any]], wanted: Sequence[Variable | None]
) -> list[Any]:
    """Gradients of ``wanted`` variables, given cotangents of output variables; ``None`` where nothing flows.

    Entries are visited in reverse program order; contributions to one variable are added in the order in which they
    arrive. Rules run through the ordinary ops, so an outer tape records them and gradients of gradients need nothing
    more.
    """
    from duograph.ops.arithmetic import add
    from duograph.ops.creation import zeros_like

    grads: dict[Variable, Any] = {}

    def accumulate(variable: Variable, grad: Any) -> None:
        found = grads.get(variable)
        grads[variable] = grad if found is None else add(found, grad)

    for variable, dout in seeds:
        if variable is not None:
            accumulate(variable, dout)
    keep = {v for v in wanted if v is not None}
    for entry in reversed(tape.entries):
        douts = [grads.get(v) for v in entry.outputs]
        if all(d is None for d in douts):
            continue
        for v in entry.outputs:
            if v not in keep:
                grads.pop(v, None)
        outs = entry.out if isinstance(entry.out, tuple) else (entry.out,)
        filled = [zeros_like(o) if d is None and isinstance(o, Tensor) else d for d, o in zip(douts, outs, strict=True)]
        if entry.pull is not None:
            acc = [grads.get(v) if v is not None else None for v in entry.variables]
            for v, grad in zip(entry.variables, entry.pull(filled, acc), strict=True):
                if v is not None and grad is not None:
                    grads[v] = grad
            continue
        dout = tuple(filled) if isinstance(entry.out, tuple) else filled[0]
        parts = entry.attrs["pull"](dout) if entry.op is None else _apply_rule(entry, dout)
        for v, part in zip(entry.variables, parts, strict=False):
            if v is None or part is None:
                continue
            grad = part() if callable(part) and not isinstance(part, Tensor) else part
            if grad is not None:
                accumulate(v, grad)
    return [grads.get(v) if v is not None else None for v in wanted]


def _apply_rule(entry: Entry, dout: Any) -> Sequence[Any]:
    op = entry.op
    assert op is not None
    version = current_binder().version
    outs = entry.out if isinstance(entry.out, tuple) else (entry.out,)
    saved = [
        _stale(x, op.name) if isinstance(x, Tensor) and version(x) != stamp else x
        for x, stamp in zip((*entry.ins, *outs), entry.stamps, strict=True)
    ]
    ins = tuple(saved[: len(entry.ins)])
    out = tuple(saved[len(entry.ins) :]) if isinstance(entry.out, tuple) else saved[-1]
    return op.bprop(ins, out, dout, **entry.attrs)
