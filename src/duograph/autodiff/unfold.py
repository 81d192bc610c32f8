"""A graph run op by op in dynamic mode, where tapes see of it what they would have seen of the program.

A compiled call is one entry of a tape, with a backward graph for all paths through it. Sometimes a tape must know what
the program itself would have left on it, namely ops on the path that was taken:

* a tensor is about to be overwritten that the call has read or given. Whether a gradient raises, then, depends on
  which rules read it (`expand`, before anything is written: the call can be repeated);
* a result gets a hook, which sees the gradient of all its uses, those in the call, too;
* the order of a sum depends on the path (`Underivable`): `pull_again` repeats the call when its gradient is taken.

A graph repeats a call exactly: everything that the program has read is an operand of it, random numbers included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from duograph.core.kernel import as_value, compute
from duograph.core.op import no_recording, restoring, state
from duograph.core.types import ScalarType
from duograph.ir.control import call, cond, custom_vjp, make_tuple, scan, tuple_get, undef, while_loop
from duograph.ir.interpreter import Frame, Interpreter, Step
from duograph.ir.memo import Memo
from duograph.ir.node import Apply, Graph, Node
from duograph.ir.printer import all_graphs
from duograph.ops.cast import identity
from duograph.tensor.tensor import Tensor, wrap

from .backward import Gradient, Groups, backpropagate
from .custom import identity_with
from .entries import Saved, Stale, TapeEntry, entry_of, stamps_of
from .graph_vjp import mark_overwritten, program_order
from .tape import Tape

_LOOSE = (make_tuple, tuple_get, undef)
_PATHS = (cond, while_loop, scan)
_UNFOLDED = (*_LOOSE, call, custom_vjp, *_PATHS)  # no recursion, no residuals


_UNFOLDS: Memo[Graph, bool] = Memo("graphs that can be run op by op on tapes")


def can_unfold(graph: Graph) -> bool:
    """Whether ``graph`` consists of ops that tapes know in dynamic mode, in the order of the program."""
    known = _UNFOLDS.of(graph.context)
    if graph not in known:
        known[graph] = all(_is_plain(g) for g in all_graphs(graph))
    return known[graph]


def _is_plain(graph: Graph) -> bool:
    for node in graph.nodes:
        if node.op.effects or (node.op.structured and node.op not in _UNFOLDED):
            return False
    return _recorded(program_order(graph)) == _recorded(graph.nodes)


def has_paths(graph: Graph, is_inner: bool = False) -> bool:
    """Whether a gradient of ``graph`` is one graph for several paths through it: of a branch, or of steps of a loop.

    Args:
        graph: any graph.
        is_inner: whether other gradients are taken of the gradient: they are of its own branches and loops, too.
    """
    if is_inner:
        return any(node.op in _PATHS for g in all_graphs(graph) for node in g.nodes)
    unread = _without_cotangents(graph)
    return any(
        (node.op in _PATHS and node not in unread)
        or (node.op is not custom_vjp and any(isinstance(g, Graph) and has_paths(g) for g in node.attrs.values()))
        for node in graph.nodes
    )


def _without_cotangents(graph: Graph) -> set[Node]:
    """What only functions with a gradient of their own read, which gives it none: the steps of a recurrent layer."""
    readers: dict[Node, list[bool]] = {graph.output: [False]}
    for node in reversed(graph.nodes):
        if node.op is tuple_get:
            given = [all(readers.get(node, []))]
        else:
            given = [node.op is custom_vjp and i not in node.attrs["wanted"] for i in range(len(node.operands))]
        for operand, is_unread in zip(node.operands, given, strict=True):
            readers.setdefault(operand, []).append(is_unread)
    return {node for node in graph.nodes if all(readers.get(node, []))}


def _recorded(nodes: Iterable[Apply]) -> list[Apply]:
    """Those of ``nodes`` whose order matters to tapes."""
    return [n for n in nodes if n.op not in _LOOSE and not isinstance(n.type, ScalarType)]


class Unfolding(Interpreter):
    """Runs the ops of a graph on tensors, through `Op.__call__`."""

    def run_node(self, node: Apply, operands: list[Any]) -> Any:
        if node.op is make_tuple:
            return tuple(operands)
        if node.op is tuple_get:
            return operands[0][node.attrs["index"]]
        if isinstance(node.type, ScalarType) or node.op is undef:
            values = [x.array() if isinstance(x, Tensor) else x for x in operands]
            out = as_value(compute(node.op, values, node.attrs), node.type)
            return wrap(out) if isinstance(out, np.ndarray) else out
        marks = [len(tape.log) for tape in state.tapes]
        out = node.op(*[wrap(x) if isinstance(x, np.ndarray) else x for x in operands], **node.attrs)
        context = node.context
        if node.tag and context.overwritten:
            tag = context.replayed.get(node.tag, node.tag)
            for tape, mark in zip(state.tapes, marks, strict=True):
                mark_overwritten([(entry, tag) for entry in tape.since(mark)], context.overwritten)
        return out

    def entered(self, step: Step, frame: Frame) -> Frame:
        if step.node.op is not custom_vjp:
            return super().entered(step, frame)
        operands, attrs = [frame.slots[i] for i in step.ins], step.node.attrs
        with no_recording():
            results = self.run(attrs["forward"], operands)

        def pull(ins: Sequence[Any], outs: Sequence[Any], douts: Sequence[Any]) -> list[Any]:
            found = unfold(attrs["backward"], [*ins, *outs, *[douts[i] for i in attrs["differentiable"]]])
            given = dict(zip(attrs["wanted"], found, strict=True))
            return [given.get(i) for i in range(len(ins))]

        frame.slots[step.out] = tuple(identity_with(operands, results, pull, is_pure=True))
        return frame


def unfold(graph: Graph, inputs: Sequence[Any]) -> list[Any]:
    """Outputs of ``graph`` for Tensors and numbers; tapes record its ops one by one."""
    out = Unfolding().run(graph, list(inputs))
    outs = list(out) if isinstance(out, tuple) else [out]
    return [wrap(o) if isinstance(o, np.ndarray) else o for o in outs]


@restoring
def expand(tape: Tape, entry: TapeEntry, graph: Graph) -> None:
    """Puts the ops of ``graph`` in the place of ``entry``, the call of it that ``tape`` has recorded.

    Nothing else may have recorded the call. What it has read and given must not have been overwritten yet.
    """
    saved = entry.attrs["saved"]
    if any(isinstance(x, Stale) for x in saved.checked(graph.name)):
        return
    state.tapes = []
    ins = saved.values[: len(entry.ins)]  # of Parameters that were written since, what was read
    handles = [identity(x) if isinstance(x, Tensor) else x for x in ins]
    for handle, variable in zip(handles, entry.variables, strict=True):
        if isinstance(handle, Tensor):
            tape._bind(handle, variable)
    state.tapes = [tape]
    end = len(tape.log)
    outs = unfold(graph, handles)
    variables = [tape.variable(o) for o in outs]
    new = [entry_of(item) if isinstance(item, tuple) else item for item in tape.log[end:]]
    del tape.log[end:]
    names: dict[Any, Any] = {}
    tensors: dict[int, Tensor] = {}
    made = {v for e in new for v in e.outputs}
    copies = []
    for value, variable, given, name in zip(outs, variables, entry.out, entry.outputs, strict=True):
        if variable is None or name is None:
            continue
        if variable in made and variable not in names:
            names[variable], tensors[id(value)] = name, given
        else:  # an operand, or a result twice: one variable to the program, of which the call has made two
            original = names.get(variable, variable)
            copies.append(TapeEntry(identity, (value,), {}, given, (original,), (name,), stamps_of((value, given))))
            tape.copied[name] = tape.copied.get(original, original)
    for e in new:
        _rename(e, names, tensors)
    at = tape.log.index(entry)
    tape.log[at : at + 1] = [*new, *copies]
    tape.forget_index()


def _rename(entry: TapeEntry, names: dict[Any, Any], tensors: dict[int, Tensor]) -> None:
    """Gives variables and tensors that have been made anew the names of those that the program has."""
    entry.variables = tuple([names.get(v, v) for v in entry.variables])
    entry.outputs = tuple([names.get(v, v) for v in entry.outputs])
    if isinstance(saved := entry.attrs.get("saved"), Saved):
        saved.replace(lambda x, stamp: (y := tensors.get(id(x), x), stamp if y is x else stamps_of((y,))[0]))
    held = (*entry.ins, *(entry.out if isinstance(entry.out, tuple) else (entry.out,)))
    if not any(id(x) in tensors for x in held):
        return
    found = tuple([tensors.get(id(x), x) for x in held])
    fresh = stamps_of(found)
    entry.stamps = tuple([
        s if old is new else f for s, old, new, f in zip(entry.stamps, held, found, fresh, strict=True)
    ])  # fmt: skip
    n = len(entry.ins)
    entry.ins, entry.out = found[:n], found[n:] if isinstance(entry.out, tuple) else found[n]


@restoring
def pull_again(
    graph: Graph, operands: Sequence[Any], douts: Sequence[Gradient], accs: Sequence[Gradient], groups: Groups
) -> list[Gradient]:
    """What the pull of a call of ``graph`` gives, by repeating the call."""
    tape = Tape()
    handles = [identity(x) if isinstance(x, Tensor) else x for x in operands]
    variables: list[Any] = [None] * len(handles)
    for i, group in enumerate(groups):
        if group is not None:
            variables[i] = tape.watch(handles[i], None if group == i else variables[group])
    state.tapes = [*state.tapes, tape]
    outs = unfold(graph, handles)
    state.tapes = state.tapes[:-1]
    return backpropagate(
        tape,
        [(tape.variable(o), d) for o, d in zip(outs, douts, strict=True)],
        [v if g == i else None for i, (v, g) in enumerate(zip(variables, groups, strict=True))],
        [(v, a) for v, a in zip(variables, accs, strict=True) if v is not None],
    )
