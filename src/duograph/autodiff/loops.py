"""Gradient rules of ``while_loop`` and ``scan``, and of the stacks that their residuals travel on.

Forward: the loop carries a stack and pushes, per iteration, what the backward graph of the body needs. Backward: a
``while_loop`` pops it. The first iteration is taken out of the backward loop if initial carries are differentiated:
there the carries *are* outer variables, so its contributions must be added one by one to what later uses have
accumulated, as eager does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from duograph.core.borders import opened, symbols_in
from duograph.core.dim import UnknownSizeError
from duograph.core.op import state
from duograph.core.types import BOOL, StackType, TupleType, Type
from duograph.ir.control import call, scan, undef, while_loop
from duograph.ir.node import Graph, Node
from duograph.ops.cast import relabel
from duograph.ops.scalar import scalar_binary
from duograph.tensor.tensor import Tensor

from .adapt import fitting
from .backward import (
    Gradient,
    Groups,
    Kind,
    Maybe,
    branch,
    gather,
    groups_of,
    inner_scope,
    join_kinds,
    kind_of,
    plus,
    spread,
)
from .entries import refuse
from .graph_vjp import Derivative, cotangent_items, cotangent_type, derivative_of
from .stacks import cotangent_pop, stack_new, stack_pop, stack_push, stack_size
from .tape import Tape, outer_tapes, recorded_by


@recorded_by("while_loop")
def record_while(tape: Tape, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    return _Loop(tape, "while_loop", operands, attrs, first=0).record()


@recorded_by("scan")
def record_scan(tape: Tape, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    return _Loop(tape, "scan", operands[1:], attrs, first=1, trips=operands[0]).record()


class _Loop:
    """One recorded loop. ``first`` is the position of the first carry among the parameters of the body."""

    def __init__(
        self, tape: Tape, name: str, operands: tuple[Any, ...], attrs: dict[str, Any], first: int, trips: Any = None
    ) -> None:
        self.tape, self.name, self.attrs, self.first, self.trips = tape, name, attrs, first, trips
        self.n: int = attrs["n_carry"]
        self.operands = operands
        self.variables = [tape.variable(x) for x in operands]
        self.body = self._settled_body()
        self.params = self.body.graph.params[first:]
        invariants = self.params[self.n :]
        self.items = [c for c in self.body.captures if c not in invariants]

    def _settled_body(self) -> Derivative:
        """The derivative of the body with all carries active that become so in some iteration."""
        active = [v is not None for v in self.variables]
        while True:
            derivative = derivative_of(self.attrs["body"], [False] * self.first + active)
            grown = [a or b for a, b in zip(active, derivative.active_outputs, strict=False)] + active[self.n :]
            if grown == active:
                return derivative
            active = grown

    # -- forward -----------------------------------------------------------------------------------------------

    def record(self) -> Any:
        n = self.n
        types, attrs = self._with_stack()
        with outer_tapes(self.tape):
            empty = stack_new(items=types)
            operands = (*self.operands[:n], empty, *self.operands[n:])
            if self.name == "scan":
                results = scan(self.trips, *operands, **attrs)
            else:
                results = while_loop(*operands, **attrs)
        outs, self.stack = tuple(results[:n]), results[n]
        active, unchanged = self.body.active[self.first :][:n], [(i, [i]) for i in range(n)]  # if there is no iteration
        self.tape.record_custom(self.name, self.operands, outs, self.pull, active, raw=True, shared=(unchanged,))
        return outs

    def _with_stack(self) -> tuple[tuple[Type, ...], dict[str, Any]]:
        """Types of what is saved per iteration, and the attributes of the loop that carries the stack of it.

        Made once: code that is captured again, for another path, must find the very same loop.
        """
        n, body, test = self.n, self.body, self.attrs.get("cond")
        found = body.loops.get(test)
        if found is None:
            types = tuple(c.type for c in self.items)
            stack = body.binder.builder.param("stack", StackType(TupleType(types)))
            with body.inside():
                pushed = stack_push(body.binder.wrap(stack), *[body.binder.wrap(c) for c in self.items])
            params = (*body.graph.params[: self.first + n], stack, *self.params[n:])
            attrs: dict[str, Any] = {}
            if test is not None:
                test_params = (*test.params[:n], stack, *test.params[n:])
                attrs["cond"] = test.context.named_graph(test.name, test_params, test.output)
            attrs |= {"body": body.forward([pushed], params), "n_carry": n + 1}
            found = body.loops[test] = types, attrs
        return found

    # -- backward ----------------------------------------------------------------------------------------------

    def pull(self, douts: Sequence[Gradient], accs: Sequence[Gradient], groups: Groups) -> Sequence[Gradient]:
        n = self.n
        invariant_groups: Groups = (None,) * n + tuple(None if g is None else n + g for g in groups_of(groups[n:]))
        active = self.body.active[self.first :]
        carries = [d if a else None for d, a in zip(douts, active, strict=False)]
        invariants = [
            accs[g] if g is not None and invariant_groups[n + j] == n + j else None for j, g in enumerate(groups[n:])
        ]
        separate = tuple(i if a else None for i, a in enumerate(active[:n])) + invariant_groups[n:]
        peel = any(g is not None for g in groups[:n])
        rest, carries, invariants = self._run_backward(carries, invariants, separate, peel)
        if not peel:
            return [None] * n + invariants

        wanted = [i for i, g in enumerate(groups) if g == i]
        before: list[Gradient] = list(accs)
        for j, g in enumerate(groups[n:]):
            if g is not None and invariant_groups[n + j] == n + j:
                before[g] = invariants[j]
        before = [before[i] if g == i else None for i, g in enumerate(groups)]

        def first_iteration() -> list[Gradient]:
            _, *items = stack_pop(rest)
            new = self._step(items, self.operands[n:], carries, before, groups)
            return [new[i] for i in wanted]

        def no_iteration() -> list[Gradient]:
            new = list(before)
            for i, g in enumerate(groups[:n]):
                if g is not None:
                    new[g] = plus(new[g], carries[i])
            return [new[i] for i in wanted]

        merged = branch(scalar_binary(stack_size(rest), 0, fn="gt"), first_iteration, no_iteration)
        new: list[Gradient] = [None] * len(groups)
        for i, gradient in zip(wanted, merged, strict=True):
            new[i] = gradient
        return new

    def _shifted(self, values: Sequence[Any]) -> list[Any]:
        """Values per operand as values per parameter of the body."""
        return [None] * self.first + list(values)

    def _shifted_groups(self, groups: Groups) -> Groups:
        return (None,) * self.first + tuple(None if g is None else g + self.first for g in groups)

    def _step(
        self,
        items: Sequence[Any],
        invariants: Sequence[Any],
        douts: Sequence[Gradient],
        accs: Sequence[Gradient],
        groups: Groups,
    ) -> list[Gradient]:
        """One iteration backward, given the values that it had pushed."""
        values: dict[Node, Any] = dict(zip(self.items, items, strict=True))
        values.update(zip(self.params[self.n :], invariants, strict=True))
        new = self.body.pull(
            lambda graph, args: call(*args, graph=fitting(graph, args)),
            self.body.lookup_in(values),
            douts,
            self._shifted(accs),
            self._shifted_groups(groups),
        )
        return list(new[self.first :])

    def _run_backward(
        self, carries: list[Gradient], invariants: list[Gradient], groups: Groups, peel: bool
    ) -> tuple[Any, list[Gradient], list[Gradient]]:
        """The loop over all iterations but the first (or over all): rest of the stack, gradients at its end."""
        n = self.n
        kinds = [kind_of(g) for g in (*carries, *invariants)]
        while True:
            found = self._kinds_after(kinds, groups)
            joined = [join_kinds(a, b) for a, b in zip(kinds, found, strict=True)]
            if joined == kinds:
                break
            kinds = joined
        self._check_sums(kinds)
        if all(k is None for k in kinds):
            return self.stack, [None] * n, invariants
        types = [cotangent_type(p.type) for p in self.params]
        for i in self._of_changing_size():
            if kinds[i] == "maybe":
                raise UnknownSizeError(
                    "whether something flows into a value whose size changes in a loop depends on data"
                )
            kind = types[i]
            assert kind is not None
            types[i] = opened(kind, symbols_in(kind))
        state_types: list[Type] = []
        for t, k in zip(types, kinds, strict=True):
            if k is not None and t is not None:
                state_types += [t, BOOL] if k == "maybe" else [t]
        n_state, stack_type = len(state_types), self.stack.type
        invariant_types = [p.type for p in self.params[n:]]
        loop_types = [stack_type, *state_types, *invariant_types]

        def body(stack: Any, *values: Any) -> list[Any]:
            rest, *items = stack_pop(stack)
            gradients = gather(values[:n_state], kinds)
            new = self._step(items, values[n_state:], gradients[:n], [None] * n + gradients[n:], groups)
            return [rest, *spread(new, kinds, types)]

        least = 1 if peel else 0
        test = make_graph("backward_test", loop_types, lambda s, *_: scalar_binary(stack_size(s), least, fn="gt"))
        state = [
            relabel(x, type=t) if isinstance(x, Tensor) and x.abstract != t else x
            for x, t in zip(spread([*carries, *invariants], kinds, types), state_types, strict=True)
        ]
        results = while_loop(
            self.stack,
            *state,
            *self.operands[n:],
            cond=test,
            body=make_graph("backward_body", loop_types, body),
            n_carry=1 + n_state,
        )
        gradients = gather(results[1:], kinds)
        return results[0], gradients[:n], gradients[n:]

    def _check_sums(self, kinds: Sequence[Kind]) -> None:
        """Each carry is a variable of its own: of two that are one value, or of one that is an invariant, what flows
        into them is added up apart.

        Raises:
            Underivable: something does.
        """
        for param, outs in self.body.shared:
            names = [i for i in outs if i < self.n and kinds[i] is not None]
            names += [param - self.first] if param is not None and param >= self.first + self.n else []
            if len(names) > 1:
                refuse("the order of a sum of gradients depends on data: a loop has two names for one tensor")

    def _of_changing_size(self) -> list[int]:
        """Indices of differentiable carries whose sizes change from one iteration to the next."""
        outs = self.body.out_types
        return [i for i in range(self.n) if outs[i] != self.params[i].type and cotangent_type(outs[i]) is not None]

    def _kinds_after(self, kinds: Sequence[Kind], groups: Groups) -> list[Kind]:
        """Kinds of the gradients after one iteration backward."""
        n = self.n
        dout_kinds = [k if v is not None else None for k, v in zip(kinds, self.body.out_variables, strict=False)]
        if all(k is None for k in dout_kinds):
            return [None] * n + list(kinds[n:])
        acc_kinds = self._shifted([None] * n + list(kinds[n:]))
        return self.body.kinds_after(dout_kinds, acc_kinds, self._shifted_groups(groups))[self.first :]


def make_graph(name: str, types: Sequence[Type], emit: Callable[..., Any]) -> Graph:
    """A closed graph over fresh parameters; ``emit`` gets handles and gives one output or a list of them."""
    binder: Any = state.binder
    builder = binder.builder
    with inner_scope(binder) as scope:
        scope.params = params = [builder.inner_param("p", t) for t in types]
        out = emit(*[binder.wrap(p) for p in params])
        nodes = [binder.node_of(v) for v in out] if isinstance(out, list) else binder.node_of(out)
    graph, captures = scope.close(name, params, nodes)
    if captures:
        raise UnknownSizeError(f"@{name} needs a size that none of its arguments has")
    return graph


# ---- stacks ---------------------------------------------------------------------------------------------------------


def differentiable_items(types: Sequence[Type]) -> list[int]:
    """Indices of the types that have a gradient."""
    return [i for i, t in enumerate(types) if cotangent_type(t) is not None]


@recorded_by("stack_push")
def record_push(tape: Tape, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    with outer_tapes(tape):
        out = stack_push(*operands)
    places = differentiable_items(out.type.item.items)

    def pull(douts: Sequence[Gradient], accs: Sequence[Gradient], groups: Groups) -> Sequence[Gradient]:
        if not isinstance(douts[0], Node) or isinstance(douts[0], Maybe):
            raise TypeError("the cotangent of a stack is a stack")
        below, *items = cotangent_pop(douts[0], items=cotangent_items(out.type.item.items))
        if any(accs[i + 1] is not None for i in places):
            refuse("a gradient of a gradient of a loop, some of whose values are saved twice")
        new = list(accs)
        new[0] = plus(new[0], below)
        for i, gradient in zip(places, gather(items, ["maybe"] * len(places)), strict=True):
            new[i + 1] = plus(new[i + 1], gradient)
        return new

    tape.record_custom("stack_push", operands, (out,), pull, raw=True)
    return out


@recorded_by("stack_pop")
def record_pop(tape: Tape, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    return _record_pop(stack_pop, tape, operands, attrs)


@recorded_by("cotangent_pop")
def record_cotangent_pop(tape: Tape, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    return _record_pop(cotangent_pop, tape, operands, attrs)


def _record_pop(op: Any, tape: Tape, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    (stack,) = operands
    with outer_tapes(tape):
        outs = op(stack, **attrs)
    types = stack.type.item.items
    places = differentiable_items(types)
    below_type = StackType(TupleType(cotangent_items(types)))

    def pull(douts: Sequence[Gradient], accs: Sequence[Gradient], groups: Groups) -> Sequence[Gradient]:
        dbelow, *ditems = douts
        if dbelow is None:
            dbelow = undef(type=below_type)
        elif isinstance(dbelow, Maybe):
            dbelow = dbelow.value
        chosen = [ditems[i] for i in places]
        items = spread(chosen, ["maybe"] * len(places), [cotangent_type(types[i]) for i in places])
        return (plus(accs[0], stack_push(dbelow, *items)),)

    active = [True] + [i in places for i in range(len(types))]
    tape.record_custom(op.name, operands, tuple(outs), pull, active, raw=True)
    return tuple(outs)
