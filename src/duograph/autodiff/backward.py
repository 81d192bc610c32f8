"""Walking back over a tape: the one place where gradients are accumulated.

Entries are visited in reverse program order and contributions to one variable are added in the order in which they
arrive. Rules run through the ordinary ops, so an outer tape records them: gradients of gradients need nothing more.

In a graph it may only be known at run time whether anything flows into a value (a branch that used it was not taken).
Such a gradient is a `Maybe`: a value and a bool; while nothing has flowed the value is -0.0, the exact neutral element
of IEEE addition. The rule of an op runs only if its cotangent is defined, as in eager where the op's entry would be
skipped; so a ``log(0)`` whose result no taken branch used contributes nothing, and never NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from duograph.core.launchable import launchable
from duograph.core.op import Op, no_recording, state
from duograph.core.types import ObjectType, StackType, TensorType, Type
from duograph.ir.builder import Scope
from duograph.ir.control import cond, undef
from duograph.ir.node import Graph, Node
from duograph.ops.arithmetic import add
from duograph.ops.creation import full, zeros_like
from duograph.ops.graph_binder import GraphBinder
from duograph.ops.scalar import scalar_binary
from duograph.tensor.alias import CLOCK
from duograph.tensor.tensor import Tensor, type_of

from .entries import TapeEntry, Underivable, Variable, checked, entry_of, refuse, saved_values
from .stacks import residual_add
from .tape import Tape


class Maybe:
    """A gradient that exists only if ``defined`` (a bool Scalar) holds; otherwise ``value`` is neutral in sums."""

    __slots__ = ("defined", "value")

    def __init__(self, value: Any, defined: Any) -> None:
        self.value, self.defined = value, defined


Groups = tuple[int | None, ...]
"""Per operand: the first operand that is the same variable (itself, usually); ``None`` if it is not differentiated."""

Gradient = Any  # None (nothing flows), a value, or a Maybe
Kind = str | None  # of a gradient, while building graphs: None, "full" or "maybe"


def groups_of(variables: Sequence[Any]) -> Groups:
    """Which operands are the same variable."""
    first: dict[Any, int] = {}
    return tuple(None if v is None else first.setdefault(v, i) for i, v in enumerate(variables))


def kind_of(gradient: Gradient) -> Kind:
    """What is known about a gradient before run time."""
    return None if gradient is None else "maybe" if isinstance(gradient, Maybe) else "full"


def join_kinds(a: Kind, b: Kind) -> Kind:
    """The kind of a gradient that is of kind ``a`` on one path and ``b`` on the other."""
    return a if a == b else "maybe"


def either(a: Any, b: Any) -> Any:
    """``a or b`` of two flags."""
    if isinstance(a, bool) and isinstance(b, bool):
        return a or b
    return scalar_binary(a, b, fn="or")


def plus(a: Gradient, b: Gradient) -> Gradient:
    """The sum of two gradients, ``a`` being the one accumulated earlier."""
    if a is None or b is None:
        return b if a is None else a
    if type(a) is Tensor and type(b) is Tensor:
        return a + b  # the op `add`, by its fastest way
    x, y = (g.value if isinstance(g, Maybe) else g for g in (a, b))
    total = add(x, y) if isinstance(x, Tensor) else residual_add(x, y)
    if isinstance(a, Maybe) and isinstance(b, Maybe):
        return Maybe(total, either(a.defined, b.defined))
    return total


def complete(gradient: Gradient, like: Any) -> Any:
    """The gradient as a plain value: zeros where nothing flowed."""
    if gradient is None:
        return zeros_like(like) if isinstance(like, Tensor) else None
    if isinstance(gradient, Maybe):
        found = gradient
        return branch(found.defined, lambda: [found.value], lambda: [zeros_like(found.value)])[0]
    return gradient


def neutral(type: Type) -> Any:
    """The value of an undefined gradient of ``type``."""
    if isinstance(type, TensorType):
        value = -0.0 if type.dtype.is_floating or type.dtype.is_complex else 0
        return full(shape=type.shape, value=value, dtype=type.dtype)
    assert isinstance(type, StackType | ObjectType), f"no gradient has the type {type}"
    return undef(type=type)


def spread(gradients: Sequence[Gradient], kinds: Sequence[Kind], types: Sequence[Type | None]) -> list[Any]:
    """Gradients as graph values of the given kinds: nothing, a value, or a value and a flag."""
    out: list[Any] = []
    for gradient, kind, type_ in zip(gradients, kinds, types, strict=True):
        if kind == "full":
            out.append(gradient)
        elif kind == "maybe":
            if gradient is None:
                if type_ is None:
                    raise Underivable("a gradient of bools on some path")
                out += [neutral(type_), False]
            elif isinstance(gradient, Maybe):
                out += [gradient.value, gradient.defined]
            else:
                out += [gradient, True]
    return out


def gather(values: Sequence[Any], kinds: Sequence[Kind]) -> list[Gradient]:
    """The inverse of `spread`. Flags that are known (eager) decide at once."""
    rest = iter(values)
    out: list[Gradient] = []
    for kind in kinds:
        if kind is None:
            out.append(None)
            continue
        value = next(rest)
        if kind == "maybe":
            flag = next(rest)
            if isinstance(flag, bool):
                value = value if flag else None
            else:
                value = Maybe(value, flag)
        out.append(value)
    return out


def gradient_type(gradient: Gradient) -> Type | None:
    value = gradient.value if isinstance(gradient, Maybe) else gradient
    return None if value is None else type_of(value)


_NOTHING = nullcontext()


def _origin_of(entry: TapeEntry) -> Any:
    """Within the block, nodes come from where the operator stands that the rule belongs to."""
    binder, first = state.binder, entry.out[0] if isinstance(entry.out, tuple) and entry.out else entry.out
    node = getattr(first, "_data", None)
    if isinstance(binder, GraphBinder) and isinstance(node, Node) and (origin := node.context.origins.get(node)):
        return binder.from_origin(origin)
    return _NOTHING


class quiet:
    """Within the block run gradient rules: what they emit raises only if the forward pass has raised."""

    __slots__ = ()

    def __enter__(self) -> None:
        state.quiet += 1

    def __exit__(self, *_: object) -> None:
        state.quiet -= 1


@contextmanager
def inner_scope(binder: Any) -> Iterator[Scope]:
    """A new innermost scope; nothing in it is recorded, and what is cached about views in it is forgotten."""
    views = dict(binder._views)
    with binder.builder.scope() as scope, no_recording(), quiet():
        state.enclosed += 1
        try:
            yield scope
        finally:
            state.enclosed -= 1
            binder._views = views


def branch(pred: Any, then: Callable[[], list[Gradient]], orelse: Callable[[], list[Gradient]]) -> list[Gradient]:
    """The gradients that ``then()`` gives if ``pred`` else those of ``orelse()``; emits a ``cond`` if it must."""
    if isinstance(pred, bool):
        return then() if pred else orelse()
    binder: Any = state.binder
    sides: list[tuple[Scope, list[Gradient]]] = []
    for make in (then, orelse):
        with inner_scope(binder) as scope:
            sides.append((scope, make()))
    (scope_a, a), (scope_b, b) = sides
    differ = [i for i in range(len(a)) if a[i] is not b[i]]
    kinds = [join_kinds(kind_of(a[i]), kind_of(b[i])) for i in differ]
    types = [gradient_type(a[i]) or gradient_type(b[i]) for i in differ]
    outs = []
    for scope, values in sides:
        with inside(binder, scope):
            outs.append([binder.node_of(v) for v in spread([values[i] for i in differ], kinds, types)])
    result = list(a)
    if outs[0]:
        graphs, captures = close_together((scope_a, scope_b), outs)
        handles = [binder.wrap(c) for c in captures]
        merged = cond(pred, *handles, then=graphs[0], orelse=graphs[1])
        for i, gradient in zip(differ, gather(merged, kinds), strict=True):
            result[i] = gradient
    return result


@contextmanager
def inside(binder: Any, scope: Scope) -> Iterator[None]:
    """Emits into an earlier scope again."""
    outer = binder.builder.current
    binder.builder.current = scope
    try:
        with no_recording():
            yield
    finally:
        binder.builder.current = outer


def close_together(scopes: Sequence[Scope], outs: Sequence[Sequence[Node]]) -> tuple[list[Graph], list[Node]]:
    """Branches as closed graphs with equal parameters, and the outer nodes to pass for them."""
    captures: dict[Node, None] = {}
    for scope, nodes in zip(scopes, outs, strict=True):
        captures.update(dict.fromkeys(scope.close("branch", (), nodes)[1]))
    graphs = [scope.close("branch", (), nodes, tuple(captures))[0] for scope, nodes in zip(scopes, outs, strict=True)]
    return graphs, list(captures)


# ---- the walk -------------------------------------------------------------------------------------------------------


def backpropagate(
    tape: Tape,
    seeds: Sequence[tuple[Variable | None, Gradient]],
    wanted: Sequence[Variable | None],
    initial: Sequence[tuple[Variable, Gradient]] = (),
    alias: dict[Variable, Variable] | None = None,
) -> list[Gradient]:
    """Gradients of ``wanted`` variables, given cotangents of output variables; ``None`` where nothing flows.

    Args:
        tape: what was recorded.
        seeds: variables and their cotangents.
        wanted: variables whose gradients are asked for.
        initial: gradients that later uses of a variable, outside of this tape, have accumulated already.
        alias: variables that are other names of another one.
    """
    if getattr(state.binder, "strict_versions", False):
        state.binder.note_overwritten()  # type: ignore[union-attr]  # of sub-graphs, whose tapes were not there
        if not state.enclosed:
            state.binder.check_own_gradients()  # type: ignore[union-attr]
    walk = _Walk(tape, alias or {})
    for variable, gradient in initial:
        if gradient is not None:
            walk.grads[walk.name(variable)] = gradient
            walk.note_term(walk.name(variable), True, False)
    for variable, dout in seeds:
        if variable is not None and dout is not None:
            walk.accumulate(variable, dout)
            if state.enclosed:  # in a derivative: what flows in has been added up outside
                walk.note_term(walk.name(variable), True, False)
    keep = {walk.name(v) for v in wanted if v is not None}
    walk.visit_all(keep)
    for variable in keep & tape.hooks.keys():
        walk.run_hooks(variable)
    return [None if v is None else walk.grads.get(walk.name(v)) for v in wanted]


def pulled(op: Op, watched: int, ins: tuple[Any, ...], out: Any, dout: Any, attrs: dict[str, Any]) -> tuple[Any, ...]:
    """What the gradient rule of ``op`` gives for the operands whose bits are set in ``watched``, ``None`` elsewhere."""
    found = []
    for i, part in enumerate(op.bprop(ins, out, dout, **attrs)):
        if not watched >> i & 1:
            part = None
        elif callable(part) and not isinstance(part, Tensor):
            part = part()
        found.append(part)
    return tuple(found)


def _pull(op: Op, watched: int, ins: tuple[Any, ...], out: Any, dout: Any, /) -> tuple[Any, ...]:
    """`pulled` for an op without attributes."""
    return pulled(op, watched, ins, out, dout, {})


def _pull_with(op: Op, watched: int, ins: tuple[Any, ...], out: Any, dout: Any, /, **attrs: Any) -> tuple[Any, ...]:
    """`pulled`, with attributes as native code takes them."""
    return pulled(op, watched, ins, out, dout, attrs)


pull, pull_with = launchable(_pull), launchable(_pull_with)


def pulled_item(item: tuple[Any, ...], dout: Tensor, born: int) -> tuple[Any, ...]:
    """`pulled` for an op that native code recorded on a tape made at the time ``born``."""
    op, attrs, out, watched, ins = item[0], item[1], item[2], item[5], item[6::3]
    if CLOCK.now != born:
        *saved, out = checked((*ins, out), (*item[8::3], item[4]), op.name)
        ins = tuple(saved)
    if op.bprop is not op.builtin_bprop:  # user-defined: may have side effects
        return pulled(op, watched, ins, out, dout, attrs)
    return pull_with(op, watched, ins, out, dout, **attrs) if attrs else pull(op, watched, ins, out, dout)


class Terms:
    """Of how many terms a gradient is the sum, as far as that is known, and when they came: entries visited by then."""

    __slots__ = ("first", "is_one", "last")

    def __init__(self, now: int, is_one: bool) -> None:
        self.first = self.last = now
        self.is_one = is_one

    def add(self, now: int) -> None:
        self.last, self.is_one = now, False


class _Walk:
    """Gradients accumulated so far, by variable; and what is known of the sums that they are."""

    def __init__(self, tape: Tape, alias: dict[Variable, Variable], grads: dict[Variable, Gradient] | None = None):
        self.tape, self.alias = tape, alias
        self.grads: dict[Variable, Gradient] = {} if grads is None else grads
        self.terms: dict[Variable, Terms] = {}
        self.visited = 0

    def name(self, variable: Variable) -> Variable:
        return self.alias.get(variable, variable)

    def get(self, variable: Variable | None) -> Gradient:
        return None if variable is None else self.grads.get(self.name(variable))

    def accumulate(self, variable: Variable, gradient: Gradient) -> None:
        name = self.name(variable)
        before = self.grads.get(name)
        self.note_term(name, before is None, True)
        self.grads[name] = plus(before, gradient)

    def note_term(self, name: Variable, is_first: bool, is_one: bool) -> None:
        """Something is added to the gradient of ``name``."""
        if is_first or name not in self.terms:
            self.terms[name] = Terms(self.visited, is_one and is_first)
        else:
            self.terms[name].add(self.visited)

    def run_hooks(self, variable: Variable) -> None:
        hooks = self.tape.hooks.get(variable)
        found = self.grads.get(self.name(variable))
        if not hooks or found is None:
            return

        def run() -> list[Gradient]:
            value = found.value if isinstance(found, Maybe) else found
            for hook in tuple(hooks):
                new = hook(value)
                value = value if new is None else new
            return [value]

        defined = found.defined if isinstance(found, Maybe) else True
        self.grads[self.name(variable)] = branch(defined, run, lambda: [found])[0]

    def visit_all(self, keep: set[Variable]) -> None:
        """Visits the whole tape, backwards."""
        tape, grads = self.tape, self.grads
        simple = state.binder is None and state.observer is None and not self.alias
        for item in reversed(tape.log):
            if type(item) is not tuple:
                if not (simple and item.pull_quickly(grads, keep, tape.hooks)):  # type: ignore[union-attr]
                    self.visit(item, keep)  # type: ignore[arg-type]
                continue
            dout = grads.get(item[3]) if simple else self.get(item[3])
            if dout is None:  # much of what native code recorded may lead nowhere
                continue
            if simple and type(dout) is Tensor and item[3] not in keep and item[3] not in tape.hooks:
                del grads[item[3]]
                for v, part in zip(item[7::3], pulled_item(item, dout, tape.born), strict=False):
                    if part is not None:
                        before = grads.get(v)
                        grads[v] = part if before is None else plus(before, part)
            else:
                self.visit(entry_of(item), keep)

    def visit(self, entry: TapeEntry, keep: set[Variable]) -> None:
        self.visited += 1
        if all(self.get(v) is None for v in entry.outputs):
            return
        for v in entry.outputs:
            if v in self.tape.hooks and self.name(v) not in keep:
                self.run_hooks(v)
        douts = [self.get(v) for v in entry.outputs]
        for v in entry.outputs:
            if v is not None and self.name(v) not in keep:
                self.grads.pop(self.name(v), None)
        if any(kind_of(d) == "full" for d in douts):
            self.apply(entry, douts)
            return
        maybes = [d for d in douts if d is not None]
        defined = maybes[0].defined
        for d in maybes[1:]:
            defined = either(defined, d.defined)
        touched = list(dict.fromkeys(self.name(v) for v in entry.variables if v is not None))

        def run() -> list[Gradient]:
            local = _Walk(self.tape, self.alias, {v: self.grads[v] for v in touched if v in self.grads})
            local.terms, local.visited = self.terms, self.visited
            local.apply(entry, [d.value for d in douts if d is not None] if len(douts) == 1 else _certain(douts))
            return [local.grads.get(v) for v in touched]

        before = [self.grads.get(v) for v in touched]
        for v, gradient in zip(touched, branch(defined, run, lambda: list(before)), strict=True):
            if gradient is not None:
                self.grads[v] = gradient

    def apply(self, entry: TapeEntry, douts: list[Gradient]) -> None:
        """Runs the rule of ``entry`` and adds what it gives."""
        if entry.pull is not None:
            self.check_sums(entry, douts)
            if not entry.raw:
                douts = [complete(d, o) for d, o in zip(douts, entry.out, strict=True)]
            names = [None if v is None else self.name(v) for v in entry.variables]
            groups = groups_of(names)
            accs = [self.grads.get(v) if g == i else None for i, (v, g) in enumerate(zip(names, groups, strict=True))]
            given = (douts, accs, groups) if entry.raw else (douts, accs)
            if state.observer is None:
                new = list(entry.pull(*given))
            else:
                new = state.observer.pulled(entry.pull, given, entry.attrs["name"], entry.origin)
            for i, g in enumerate(groups):
                if g is not None and g != i:
                    new[g] = plus(new[g], new[i])
            for i, g in enumerate(groups):
                if g == i and new[i] is not None:
                    if new[i] is not accs[i]:
                        self.note_term(names[i], accs[i] is None, False)
                    self.grads[names[i]] = new[i]
            return
        several = isinstance(entry.out, tuple)
        outs = entry.out if several else (entry.out,)
        filled = tuple(complete(d, o) for d, o in zip(douts, outs, strict=True))
        ins, out = saved_values(entry)
        assert entry.op is not None
        with quiet(), _origin_of(entry):
            parts: Any = _parts(entry, ins, out, filled if several else filled[0])
            if state.observer is not None:
                parts = state.observer.parts(parts, entry.op.name, entry.origin)
            for v, part in zip(entry.variables, parts, strict=False):
                if part is not None:
                    self.accumulate(v, part)

    def check_sums(self, entry: TapeEntry, douts: Sequence[Gradient]) -> None:
        """See `TapeEntry.shared`.

        Raises:
            Underivable: what flows into a value that has several names here would be added in another order.
        """
        for path in entry.shared:
            terms: dict[Any, dict[Variable, Terms]] = {}  # of the names of one value that something flows into
            for place, (operand, outputs) in enumerate(path):
                held = None if operand is None else entry.variables[operand]
                if operand is not None and held is None:
                    continue
                found = terms.setdefault(place if held is None else self.name(held), {})
                if self.get(held) is not None:
                    found[self.name(held)] = self.terms[self.name(held)]
                for i in outputs:
                    if douts[i] is not None:
                        name = self.name(entry.outputs[i])
                        found[name] = self.terms[name]
            if not all(_associate(list(found.values())) for found in terms.values()):
                refuse("the order of a sum of gradients depends on data: on some path two names are one tensor")


def _associate(sums: Sequence[Terms]) -> bool:
    """Whether adding up these sums is adding up their terms, in the order in which they came. What came from outside is
    looked at outside, where the order is known."""
    inside = [s for s in sums if s.last]
    if len(sums) < 2 or not inside:
        return True
    if len(sums) > 2:
        return False
    a, b = sorted(sums, key=lambda s: s.last)
    return b.is_one and (a.is_one or a.last < b.first)


def _parts(entry: TapeEntry, ins: tuple[Any, ...], out: Any, dout: Any) -> Iterator[Any]:
    """What the rule of ``entry`` gives for its watched operands.

    Raises:
        Underivable: it raises for integers, into which nothing may flow when the program runs.
    """
    assert entry.op is not None
    try:
        for v, part in zip(entry.variables, entry.op.bprop(ins, out, dout, **entry.attrs), strict=False):
            if v is None or part is None:
                yield None
            else:
                yield part() if callable(part) and not isinstance(part, Tensor) else part
    except TypeError as error:
        if state.enclosed and any(isinstance(d, Tensor) and _is_whole(d) for d in _several(dout)):
            refuse(f"the gradient of {entry.op.name!r} for integers: {error}")
        raise


def _several(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


def _is_whole(x: Tensor) -> bool:
    return not (x.dtype.is_floating or x.dtype.is_complex)


def _certain(douts: list[Gradient]) -> list[Gradient]:
    """Inside of ``cond(defined)``: the only uncertain cotangent is certain there."""
    maybes = [d for d in douts if d is not None]
    if len(maybes) == 1:
        return [None if d is None else d.value for d in douts]
    return douts
