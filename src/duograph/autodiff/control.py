"""Gradient rules of the control operators.

While a tape records, a control op is emitted in a form that also gives residuals, and recorded as one entry whose
*pull* emits the backward control op. Accumulated gradients pass through it, so that the order of every sum is that of
the unrolled program (``autodiff/graph_vjp.py``). With several tapes, the innermost one transforms the op first and the
next one transforms the result: that is all there is to higher order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.core.borders import opened, symbols_in
from duograph.core.dim import UnknownSizeError
from duograph.core.op import no_recording, state
from duograph.ir.control import call, cond, custom_vjp, undef
from duograph.ir.node import Apply, Node, sizes_in_attrs
from duograph.tensor.tensor import type_of

from .adapt import fitting
from .backward import Gradient, Groups, complete, gather, join_kinds, kind_of, plus, spread
from .entries import Saved, Stale, Underivable, checked
from .graph_vjp import Derivative, apart, cotangent_type, derivative_of, merged
from .tape import Tape, outer_tapes, recorded_by


def launch_call(graph: Any, args: list[Any]) -> Sequence[Any]:
    """Runs a backward graph as part of the graph that is being built."""
    return call(*args, graph=fitting(graph, args))


@recorded_by("call")
def record_call(tape: Tape, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    derivative = derivative_of(attrs["graph"], [tape.variable(x) is not None for x in operands])
    with outer_tapes(tape):
        results = call(*operands, graph=derivative.forward())
    return finish_call(tape, derivative, operands, results, launch_call)


def finish_call(
    tape: Tape, derivative: Derivative, operands: Sequence[Any], results: Sequence[Any], launch: Any
) -> Any:
    """Records a call whose forward graph gave ``results``; gives what the call gives.

    Args:
        tape: what records it.
        derivative: of the graph.
        operands: of the call.
        results: what the forward graph gave for them.
        launch: runs a backward graph.
    """
    n = len(derivative.outs)
    outs, hidden = tuple(results[:n]), results[n:]
    saved = Saved([*operands, *[outs[i] for i in derivative.results.values()]])

    def pull(douts: Sequence[Gradient], accs: Sequence[Gradient], groups: Groups) -> Sequence[Gradient]:
        return pull_call(derivative, saved, outs, hidden, launch, douts, accs, groups)

    tape.record_custom(
        derivative.graph.name, tuple(operands), outs, pull, derivative.active_outputs, raw=True, saved=saved,
        shared=() if state.binder is None else (derivative.shared,),
    )  # fmt: skip
    return outs[0] if derivative.single else outs


def pull_call(
    derivative: Derivative,
    saved: Saved,
    outs: Sequence[Any],
    hidden: Sequence[Any],
    launch: Any,
    douts: Sequence[Gradient],
    accs: Sequence[Gradient],
    groups: Groups,
    again: Any = None,
) -> Sequence[Gradient]:
    """The pull of a call.

    Args:
        derivative: of the graph.
        saved: operands, and the results that are residuals.
        outs: what the call gave.
        hidden: the other residuals.
        launch: runs a backward graph.
        douts: see `TapeEntry`; this and the next two.
        accs: accumulated gradients.
        groups: which operands are one variable.
        again: gives the gradients, as a pull does, of operands for which the backward graph is no answer.
    """
    known = saved.checked(derivative.graph.name)
    n = len(derivative.graph.params)
    if again is not None and meet(derivative.shared, douts, [None if g is None else accs[g] for g in groups]):
        return again(known[:n], douts, accs, groups)  # type: ignore[no-any-return]
    if state.binder is None and any(isinstance(x, Stale) for x in known):
        _check_reads(derivative, saved, outs, douts, groups)
    present = list(outs)
    for i, value in zip(derivative.results.values(), known[n:], strict=True):
        present[i] = value
    lookup = derivative.lookup(known[:n], present, _views_checked(derivative, saved, hidden))
    try:
        return derivative.pull(launch, lookup, douts, accs, groups)
    except Underivable:
        if again is None:
            raise
        return again(known[:n], douts, accs, groups)  # type: ignore[no-any-return]


def meet(
    shared: Sequence[tuple[int | None, Sequence[int]]], douts: Sequence[Gradient], accs: Sequence[Gradient]
) -> bool:
    """Whether something flows into several names of what may be one value."""
    return any(
        sum([operand is not None and accs[operand] is not None, *[douts[i] is not None for i in outs]]) > 1
        for operand, outs in shared
    )


def _check_reads(
    derivative: Derivative, saved: Saved, outs: Sequence[Any], douts: Sequence[Gradient], groups: Groups
) -> None:
    """`Derivative.check_reads` for a call of which something was overwritten that it has read or given."""
    params, results = derivative.graph.params, derivative.results
    given = {node: k + len(params) for k, node in enumerate(results)}

    def is_lost(node: Node) -> bool:
        ops: list[Apply] = []
        while node not in given and isinstance(node, Apply) and node.op.view and not sizes_in_attrs(node):
            ops.append(node)
            node = node.operands[0]
        place = given.get(node, params.index(node) if node in params else None)  # type: ignore[arg-type]
        return place is not None and isinstance(_shown(saved, place, ops[::-1], derivative.graph.name), Stale)

    derivative.check_reads(is_lost, [kind_of(d) for d in derivative.masked(douts)], groups)


def _shown(saved: Saved, place: int, ops: Sequence[Apply], name: str) -> Any:
    """What ``ops`` show of a saved value, checked."""
    value, stamp = saved.values[place], saved.stamps[place]
    with no_recording():
        for node in ops if isinstance(stamp, int) else ():
            value = node.op(value, **node.attrs)
    return checked([value], [stamp], name)[0]


def _views_checked(derivative: Derivative, saved: Saved, hidden: Sequence[Any]) -> Sequence[Any]:
    """``hidden`` residuals; `Stale` in the place of views of operands that were overwritten."""
    found = hidden
    for k, i, ops in derivative.views():
        operand, stamp = saved.values[i], saved.stamps[i]
        if stamp is None or (isinstance(stamp, int) and operand._version == stamp):
            continue
        now = _shown(saved, i, ops, derivative.graph.name)
        if isinstance(now, Stale):
            found = [*found[:k], now, *found[k + 1 :]]
    return found


# ---- cond -----------------------------------------------------------------------------------------------------------


def _saved_results(side: Derivative, sides: tuple[Derivative, Derivative]) -> dict[Node, int]:
    """The residuals of a branch that are results of the ``cond``, and which. They are saved as that: a result and a
    slot would be two variables of outer tapes, whose gradients would not be added in the order of the program.

    Not where the branches give different types: what comes out of the ``cond`` is known by another size then.
    """
    known = symbols_in(tuple([p.type for p in side.graph.params]))
    a, b = (d.out_types for d in sides)
    return {n: i for n, i in side.results.items()
            if n in side.residuals and a[i] == b[i] and symbols_in(a[i]) <= known}  # fmt: skip


def _hidden(side: Derivative, sides: tuple[Derivative, Derivative]) -> list[Node]:
    """The residuals of a branch that need a slot."""
    saved = _saved_results(side, sides)
    return [n for n in side.residuals if n not in saved]


def _slots(then: Derivative, orelse: Derivative) -> tuple[list[Any], list[int], list[int]]:
    """Residuals of two branches in common output slots: the types, and the slot of every residual.

    A residual of a size that only its branch knows has a slot of its own.
    """
    types: list[Any] = []
    places = []
    known = symbols_in(tuple([p.type for p in then.graph.params]))
    for derivative in (then, orelse):
        free = list(range(len(types)))
        chosen = []
        for node in _hidden(derivative, (then, orelse)):
            own = not symbols_in(node.type) <= known
            slot = None if own else next((s for s in free if types[s] == node.type), None)
            if slot is None:
                types.append(node.type)
                slot = len(types) - 1
            else:
                free.remove(slot)
            chosen.append(slot)
        places.append(chosen)
    return types, places[0], places[1]


def _forward_graphs(sides: tuple[Derivative, Derivative]) -> tuple[list[Any], list[list[int]], list[Any]]:
    """The types of the slots, the slots of the residuals, and the forward graphs of both branches.

    Made once: code that is captured again, for another path, must find the very same graphs. Else the ``cond`` there is
    another node, so another variable, and what comes back for this one finds no entry on the tape.
    """
    found = sides[0].conds.get(sides[1])
    if found is None:
        types, *places = _slots(*sides)
        forwards = [_with_slots(d, _hidden(d, sides), types, p) for d, p in zip(sides, places, strict=True)]
        found = sides[0].conds[sides[1]] = types, places, forwards
    return found


def _with_slots(derivative: Derivative, hidden: list[Node], types: list[Any], places: list[int]) -> Any:
    with derivative.inside():
        saved = dict(zip(places, hidden, strict=True))
        slots = [saved[s] if s in saved else undef(type=_elsewhere(derivative, t)) for s, t in enumerate(types)]
    return derivative.forward(slots)


def _elsewhere(derivative: Derivative, type: Any) -> Any:
    """The type of a residual of the other branch: here its sizes are not what they are called there."""
    return opened(type, symbols_in(type) - symbols_in(tuple([p.type for p in derivative.graph.params])))


@recorded_by("cond")
def record_cond(tape: Tape, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    pred, *args = operands
    active = [tape.variable(x) is not None for x in args]
    sides = (derivative_of(attrs["then"], active), derivative_of(attrs["orelse"], active))
    types, places, forwards = _forward_graphs(sides)
    with outer_tapes(tape):
        results = cond(pred, *args, then=forwards[0], orelse=forwards[1])
    n = len(sides[0].outs)
    outs, slots = results[:n], results[n:]
    binder: Any = state.binder
    values = [binder.wrap(binder.node_of(o)) for o in outs]  # as they are now: the program may write to its own handles

    def pull(douts: Sequence[Gradient], accs: Sequence[Gradient], groups: Groups) -> Sequence[Gradient]:
        own = tuple(None if g is None else g - 1 for g in groups[1:])
        return (None, *_pull_cond(pred, args, values, slots, sides, places, types, own, douts, accs[1:]))

    either = [a or b for a, b in zip(sides[0].active_outputs, sides[1].active_outputs, strict=True)]
    shared = [[(None if p is None else p + 1, results) for p, results in d.shared] for d in sides]
    tape.record_custom("cond", operands, tuple(outs), pull, either, raw=True, shared=shared)
    return outs[0] if sides[0].single else tuple(outs)


def _pull_cond(
    pred: Any,
    args: Sequence[Any],
    outs: Sequence[Any],
    slots: Sequence[Any],
    sides: tuple[Derivative, Derivative],
    places: list[list[int]],
    types: list[Any],
    groups: Groups,
    douts: Sequence[Gradient],
    accs: Sequence[Gradient],
) -> Sequence[Gradient]:
    dout_kinds = [kind_of(d) for d in douts]
    alone = [d.backward(dout_kinds, [None] * len(accs), groups).kinds for d in sides]
    added = [join_kinds(a, b) for a, b in zip(*alone, strict=True)]
    if all(k is None for k in added):
        return accs
    accs, kept = apart(accs, added)
    acc_kinds = [kind_of(a) for a in accs]
    key = ("cond", sides[1], tuple(dout_kinds), tuple(acc_kinds), groups, sides[0].graph.context.writes)
    found = sides[0]._backward.get(key)
    if found is None:
        found = sides[0]._backward[key] = _cond_graphs(sides, places, types, groups, dout_kinds, acc_kinds)
    graphs, used, used_outs, kinds = found
    operands = [
        *spread(douts, dout_kinds, [None] * len(douts)),
        *spread(accs, acc_kinds, [None] * len(accs)),
        *[args[i] for i in used],
        *[outs[i] for i in used_outs],
        *slots,
    ]
    then, orelse = [fitting(g, operands) for g in graphs]
    return merged(gather(cond(pred, *operands, then=then, orelse=orelse), kinds), kept)


def _cond_graphs(
    sides: tuple[Derivative, Derivative],
    places: list[list[int]],
    types: list[Any],
    groups: Groups,
    dout_kinds: Sequence[Any],
    acc_kinds: Sequence[Any],
) -> tuple[list[Any], list[int], list[int], list[Any]]:
    """Backward graphs of both branches with equal parameters and results; the parameters and the results that they
    need; the kinds."""
    parts = [d.parts(dout_kinds, acc_kinds, groups) for d in sides]
    kinds = [join_kinds(a, b) for a, b in zip(parts[0].kinds, parts[1].kinds, strict=True)]
    gradient_types = [a or b for a, b in zip(parts[0].types, parts[1].types, strict=True)]
    used: set[int] = set()
    used_outs: set[int] = set()
    for d, p in zip(sides, parts, strict=True):
        captured = d.close(p, kinds, gradient_types).captures
        used |= {i for i, param in enumerate(d.graph.params) if param in captured}
        used_outs |= {i for node, i in _saved_results(d, sides).items() if node in captured}
    order, order_outs = sorted(used), sorted(used_outs)
    graphs = []
    for d, p, place in zip(sides, parts, places, strict=True):
        param, hidden = d.binder.builder.param, _hidden(d, sides)
        own = {i: node for node, i in _saved_results(d, sides).items()}
        results = [own[i] if i in own else param("unused", d.out_types[i]) for i in order_outs]
        elsewhere = [_elsewhere(d, t) for t in types]
        unused = {s: param("unused", t) for s, t in enumerate(elsewhere) if s not in place}
        slots = [unused[s] if s in unused else hidden[place.index(s)] for s in range(len(types))]
        interface = [*[d.graph.params[i] for i in order], *results, *slots]
        back = d.close(p, kinds, gradient_types, interface)
        if len(back.captures) != len(interface):
            raise UnknownSizeError("a gradient in a branch needs a size that its forward branch did not save")
        graphs.append(back.graph)
    return graphs, order, order_outs, kinds


# ---- functions with a gradient of their own -------------------------------------------------------------------------


@recorded_by("custom_vjp")
def record_custom_vjp(tape: Tape, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    with outer_tapes(tape):
        result = custom_vjp(*operands, **attrs)
    outs = result if isinstance(result, tuple) else (result,)
    differentiable = attrs["differentiable"]

    def pull(douts: Sequence[Gradient], accs: Sequence[Gradient], groups: Groups) -> Sequence[Gradient]:
        filled = [complete(douts[i], outs[i]) for i in differentiable]
        grads = launch_call(attrs["backward"], [*operands, *outs, *filled])
        new = list(accs)
        for i, grad in zip(attrs["wanted"], grads, strict=True):
            new[i] = grad if new[i] is None else plus(new[i], grad)
        return new

    active = [i in differentiable and cotangent_type(type_of(o)) is not None for i, o in enumerate(outs)]
    tape.record_custom("custom_vjp", operands, outs, pull, active, raw=True)
    return result
