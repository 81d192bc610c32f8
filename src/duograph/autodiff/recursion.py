"""Gradient rules of recursive graphs: ``call_named``, and the objects that their residuals travel in.

The forward graph of a recursive function gives one more result, an object with everything that its backward graph
needs, objects of inner calls included; so objects nest as deep as the recursion went. Both graphs are entries of the
context's function table that call themselves. All cotangents and accumulated gradients of the backward graph are of
kind "maybe": which ones exist depends on the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.core.op import no_recording, rules_version, state
from duograph.core.types import BOOL, OBJECT, TupleType, Type
from duograph.ir.control import call, call_named
from duograph.ir.memo import Memo
from duograph.ir.node import Context, Graph
from duograph.tensor.tensor import type_of

from .adapt import fitting
from .backward import Gradient, Groups, gather, plus, spread
from .entries import refuse
from .graph_vjp import cotangent_items, cotangent_type, derivative_of
from .loops import differentiable_items, make_graph
from .stacks import pack, unpack
from .tape import Tape, outer_tapes, recorded_by


class NamedDerivative:
    """Forward and backward graph of the function ``name``, by name: they may be used while they are being made."""

    def __init__(self, context: Context, name: str, active: tuple[bool, ...], type: Type) -> None:
        self.context, self.name, self.active = context, name, active
        self.forward, self.backward = context.fresh_name(f"{name}.fwd"), context.fresh_name(f"{name}.bwd")
        self.single = not isinstance(type, TupleType)
        self.outs: tuple[Type, ...] = (type,) if self.single else type.items  # type: ignore[attr-defined, assignment]
        self.active_outputs = [cotangent_type(t) is not None for t in self.outs]

    def build(self) -> None:
        graph: Graph = self.context.functions[self.name]
        derivative = derivative_of(graph, self.active)
        saved = derivative.captures
        types = tuple(c.type for c in saved)
        with derivative.inside():
            packed = pack(*[derivative.binder.wrap(c) for c in saved])
        self.context.functions[self.forward] = derivative.forward([packed])
        dout_kinds = ["maybe" if t is not None and v is not None else None
                      for t, v in zip(self._dout_types(), derivative.out_variables, strict=True)]  # fmt: skip
        acc_kinds = ["maybe" if a else None for a in self.active]
        groups = tuple(i if a else None for i, a in enumerate(self.active))
        acc_types = [cotangent_type(p.type) if a else None for p, a in zip(graph.params, self.active, strict=True)]
        given = [t for t in self._dout_types() if t is not None]
        accs = [t for t in acc_types if t is not None]
        params = [x for t in (*given, *accs) for x in (t, BOOL)]

        def emit(*values: Any) -> list[Any]:
            gradients = gather(values[:-1], ["maybe"] * (len(given) + len(accs)))
            rest = iter(gradients)
            douts = [None if t is None else next(rest) for t in self._dout_types()]
            before = [None if t is None else next(rest) for t in acc_types]
            if all(k is None for k in dout_kinds):
                return spread(before, acc_kinds, acc_types)
            lookup = derivative.lookup_in(dict(zip(saved, unpack(values[-1], types=types), strict=True)))
            new = derivative.pull(lambda g, args: call(*args, graph=fitting(g, args)), lookup, douts, before, groups)
            return spread(new, acc_kinds, acc_types)

        captured, self.context.is_captured = self.context.is_captured, False
        try:  # what flows in from the callers is not known, and would count as something everywhere (`refuse`)
            with derivative.inside(), no_recording():
                self.context.functions[self.backward] = make_graph(self.backward, [*params, OBJECT], emit)
        finally:
            self.context.is_captured = captured

    def _dout_types(self) -> list[Type | None]:
        return [cotangent_type(t) for t in self.outs]


_DERIVATIVES: Memo[tuple[str, tuple[bool, ...], object], NamedDerivative] = Memo("derivatives of recursive functions")


def named_derivative(context: Context, name: str, active: tuple[bool, ...], type: Type) -> NamedDerivative:
    """The derivative of a recursive function, made at its first use."""
    memo = _DERIVATIVES.of(context)
    key = (name, active, rules_version[0])
    found = memo.get(key)
    if found is None:
        found = memo[key] = NamedDerivative(context, name, active, type)
        found.build()
    return found


@recorded_by("call_named")
def record_call_named(tape: Tape, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    active = tuple(tape.variable(x) is not None for x in operands)
    binder: Any = state.binder
    found = named_derivative(binder.builder.context, attrs["name"], active, attrs["type"])
    with outer_tapes(tape):
        *outs, saved = call_named(*operands, name=found.forward, type=TupleType((*found.outs, OBJECT)))

    def pull(douts: Sequence[Gradient], accs: Sequence[Gradient], groups: Groups) -> Sequence[Gradient]:
        dout_types = [cotangent_type(t) for t in found.outs]
        dout_kinds = ["maybe" if t is not None else None for t in dout_types]
        acc_types = [cotangent_type(type_of(x)) if a else None for x, a in zip(operands, active, strict=True)]
        acc_kinds = ["maybe" if a else None for a in active]
        result_types = tuple(x for t in acc_types if t is not None for x in (t, BOOL))
        results = call_named(
            *spread(douts, dout_kinds, dout_types), *spread(accs, acc_kinds, acc_types), saved,
            name=found.backward, type=TupleType(result_types),
        )  # fmt: skip
        return gather(results, acc_kinds)

    tape.record_custom("call_named", operands, tuple(outs), pull, found.active_outputs, raw=True)
    return outs[0] if found.single else tuple(outs)


# ---- objects --------------------------------------------------------------------------------------------------------


@recorded_by("pack")
def record_pack(tape: Tape, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    with outer_tapes(tape):
        out = pack(*operands)
    types = [type_of(x) for x in operands]
    places = differentiable_items(types)

    def pull(douts: Sequence[Gradient], accs: Sequence[Gradient], groups: Groups) -> Sequence[Gradient]:
        if any(accs[i] is not None for i in places):
            refuse("a gradient of a gradient of a recursion, some of whose values are saved twice")
        items = unpack(douts[0], types=cotangent_items(types))
        new = list(accs)
        for i, gradient in zip(places, gather(items, ["maybe"] * len(places)), strict=True):
            new[i] = plus(new[i], gradient)
        return new

    tape.record_custom("pack", operands, (out,), pull, raw=True)
    return out


@recorded_by("unpack")
def record_unpack(tape: Tape, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    types = attrs["types"]
    with outer_tapes(tape):
        outs = unpack(*operands, types=types)
    places = differentiable_items(types)

    def pull(douts: Sequence[Gradient], accs: Sequence[Gradient], groups: Groups) -> Sequence[Gradient]:
        items = spread([douts[i] for i in places], ["maybe"] * len(places), [cotangent_type(types[i]) for i in places])
        return (plus(accs[0], pack(*items)),)

    tape.record_custom("unpack", operands, tuple(outs), pull, [i in places for i in range(len(types))], raw=True)
    return tuple(outs)
