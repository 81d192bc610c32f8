"""From the explored paths of a function to one `Program`: outputs, and a recipe for the effects of each path.

The graph has a selector, which says what path was taken, and *banks* of outputs: what different paths give of one type
shares a bank (`_banks`), and a tree of ``cond`` fills the slots (`_union`).
"""

from __future__ import annotations

import copy
import itertools
from typing import Any

from duograph.core.op import no_recording
from duograph.core.types import Type
from duograph.ir.control import cond, undef
from duograph.ir.node import Apply, Const, Graph, Node, is_wide
from duograph.ir.printer import all_graphs
from duograph.ops.scalar import Scalar
from duograph.tensor.alias import Alias

from .control.join import close_pair, has_changed
from .control.paths import Fork, Leaf
from .programs.program import Path, Program, Write
from .programs.sizes import finds_any_size, has_changing_loops
from .rules.dropped import check_dropped
from .rules.errors import Uncapturable
from .rules.exceptions import objects_of
from .rules.facts import MISSING
from .session.session import Session
from .values.collector import Collector
from .values.movable import PLAIN
from .values.recipe import Called, Constant, Recipe
from .values.world import contents, held_now


def assemble(session: Session, tree: Leaf | Fork, name: str) -> Program:
    """The program of a function whose paths, the leaves of ``tree``, have been explored."""
    builder = session.builder
    outer = builder.current
    leaves: list[tuple[Leaf, Path, list[Node], Node]] = []

    def left(leaf: Leaf) -> int:
        """The path on which nothing happens: one for all places where runs would go that were not recorded."""
        known = next((k for k, (_, path, _, _) in enumerate(leaves) if path.kind == "leave"), len(leaves))
        if known == len(leaves):
            leaves.append((leaf, Path("leave", Constant(None), 0, 0), [], builder.context.const(0)))
        return known

    def plan(t: Leaf | Fork) -> Any:
        if isinstance(t, Fork):
            return (t, plan(t.then), plan(t.orelse))
        if t.outcome.kind == "leave":
            return left(t)
        builder.current = t.scope if t is not tree else outer
        path, nodes = _plan_path(session, t)
        checked = session.binder.node_of(session.world.checked)
        builder.current = outer
        leaves.append((t, path, nodes, checked))
        return len(leaves) - 1

    structure = plan(tree)
    with no_recording():
        if isinstance(structure, int):
            outputs, checked = leaves[0][2:]
            firsts = [0]
        else:
            outputs, checked, firsts = _union(
                session, structure, [nodes for _, _, nodes, _ in leaves], [x[3] for x in leaves]
            )
    is_checked = not isinstance(checked, Const)
    if is_checked:
        outputs = [*outputs, checked]
    paths = [path for _, path, _, _ in leaves]
    for path, first in zip(paths, firsts, strict=True):
        path.first = first
    session.guard_changed()
    token = session.token_param
    random = session.random_params
    params = [*(p for _, p in session.inputs), *random, *([token] if token is not None else [])]
    graph = builder.graph(name, params, outputs)
    _refuse_wide_numbers(graph)
    aliases = session.shared_memory() if session.written else []
    inputs = [source for source, _ in session.inputs]
    return Program(
        name,
        graph,
        inputs,
        True,
        token is not None,
        paths,
        session.guards,
        aliases,
        session.symbols,
        session.assumptions,
        is_checked=is_checked,
        catches=session.catches,
        grows_lists=bool(session.appended),
        movable=session.movable(),
        plain_for_gradients=session.binder.reads_written
        or session.binder.has_hooks
        or session.binder.overwrites_own_gradients
        or any(map(session.shows_outside, session.binder.written_apart))
        or session.binder.order.communicates  # in the order of the program, backwards, too
        or session.sometimes_writes_views()
        or bool(session.appended)
        or session.gives_used_views(graph)
        or has_changing_loops(graph)
        or (len(paths) > 1 and finds_any_size(graph))
        or session.may_broadcast,
    )


def _refuse_wide_numbers(graph: Graph) -> None:
    """See `is_wide`.

    Raises:
        Uncapturable: a constant has more than 64 bits.
    """
    for g in all_graphs(graph):
        for node in (*g.nodes, g.output):
            for x in (node, *node.operands) if isinstance(node, Apply) else (node,):
                if is_wide(x):
                    raise Uncapturable("a number does not fit into 64 bits")


def _plan_path(session: Session, leaf: Leaf) -> tuple[Path, list[Node]]:
    """What one path returns and does, as recipes over the nodes that it outputs."""
    world = session.world
    world.restore(leaf.state)
    session.binder.note_overwritten()
    collector = Collector(session)
    outcome = leaf.outcome
    if outcome.kind == "raise":
        value: Recipe = _exception_recipe(collector, outcome.value)
    else:
        value = collector.recipe(outcome.value)
    path = Path("raise" if outcome.kind == "raise" else "return", value, 0, 0)
    for root in session.written.values():
        stored = world.binder.store.get(root._alias)
        if stored is None:
            continue
        if stored.memory:
            if stored.left is not None:
                path.tensors.append(Write(collector.recipe(root), collector.output(stored.left)))
            path.tensors.append(Write(collector.recipe(root), collector.own_output(stored.node), replaces=True))
        elif stored.node is not session.binder.unwritten_node(root):
            parts = session.written_parts.get(id(root))
            path.tensors.append(Write(collector.recipe(root), collector.output(stored.node), parts=parts))
    for shadow, (_, source) in session.shadows():
        if world.is_tracked(shadow) and has_changed(session.initial_contents[id(shadow)], contents(shadow)):
            session.note_changed(shadow)
            session.check_dropped_from(shadow)
            path.containers.append((source, collector.contents(shadow)))
    for (kind, _, name), (owner, written) in world.overlay.items():
        if id(owner) in session.without_dictionary:  # the program has made it, and it does not leave
            continue
        recipe = None if written is MISSING else collector.recipe(written)
        if (held := held_now(kind, owner, name)) is not written:
            check_dropped(held)
        path.attributes.append((kind, owner, name, recipe))
    offset = world.offset
    if not (isinstance(offset, Scalar) and offset.node is session.random_params[1]):
        path.offset = collector.output(session.binder.node_of(offset))
    if world.token is not None:
        collector.output(world.token)

    def leaves(alias: Alias) -> bool:
        return alias in collector.leaving or session.shows_outside(alias)

    session.binder.assume_sharing(lambda one, two: one is not two and leaves(one) and leaves(two))
    path.count = len(collector.nodes)
    if outcome.kind == "raise":
        path.span = session.span
    return path, collector.nodes


def _exception_recipe(collector: Collector, exc: BaseException) -> Recipe:
    """``exc`` is kept as it is, but for what varies: a copy gets that in each call. It holds none of the frames that it
    came through, which hold all that the call was given."""
    exc.__traceback__ = exc.__context__ = None
    count, members = len(exc.args), objects_of(exc)
    parts = [collector.recipe(held) for held in (*exc.args, *[getattr(exc, name) for name in members])]
    if exc.__cause__ is not None:
        parts.append(_exception_recipe(collector, exc.__cause__))
    if all(isinstance(p, Constant) and (k < count or type(p.value) in PLAIN) for k, p in enumerate(parts)):
        return Constant(exc)
    for name in members:
        setattr(exc, name, None)
    suppresses, exc.__cause__, exc.__suppress_context__ = exc.__suppress_context__, None, False

    def rebuild(*values: Any) -> BaseException:
        made = copy.copy(exc)
        made.args = values[:count]
        for name, value in zip(members, values[count:]):
            setattr(made, name, value)
        made.__cause__ = values[-1] if len(values) > count + len(members) else None
        made.__suppress_context__ = suppresses
        return made

    return Called(rebuild, parts)


def _banks(outputs: list[list[Node]]) -> tuple[list[list[Type]], list[int]]:
    """Slots for the outputs of paths, of which one is taken, and the bank of slots of each path: paths whose outputs
    have the same types, as far as both go, share one. A list that grows until a loop ends needs one slot per element.
    """
    banks: list[list[Type]] = []
    bank_of = []
    for nodes in outputs:
        types = [node.type for node in nodes]
        fits = (k for k, bank in enumerate(banks) if all(a == b for a, b in zip(bank, types, strict=False)))
        k = next(fits, len(banks))
        if k == len(banks):
            banks.append([])
        banks[k] += types[len(banks[k]) :]
        bank_of.append(k)
    return banks, bank_of


def _union(
    session: Session, structure: Any, outputs: list[list[Node]], checks: list[Node]
) -> tuple[list[Node], Node, list[int]]:
    """Outputs of a program whose paths do not join: the number of the path, then the slots; what keeps what might
    raise, one of ``checks`` on each path; and the number of each path's first output."""
    builder, binder = session.builder, session.binder

    banks, bank_of = _banks(outputs)

    def emit(s: Any) -> tuple[Node, Node, dict[int, list[Node]]]:
        """Selector, check and slots of a subtree, in the current scope."""
        if isinstance(s, int):
            return builder.context.const(s), checks[s], {bank_of[s]: outputs[s]}
        fork, then, orelse = s
        made = []
        outer = builder.current
        for side, scope in ((then, fork.then_scope), (orelse, fork.else_scope)):
            builder.current = scope
            made.append((scope, *emit(side)))
            builder.current = outer
        sizes: dict[int, int] = {}
        for *_, slots in made:
            for bank, held in slots.items():
                sizes[bank] = max(sizes.get(bank, 0), len(held))
        vectors = []
        for scope, selector, checked, slots in made:
            builder.current = scope
            vector = [selector, checked] if is_checked else [selector]
            for bank, size in sizes.items():
                held = slots.get(bank, [])
                vector += [*held, *[_undefined(builder, t) for t in banks[bank][len(held) : size]]]
            vectors.append(vector)
            builder.current = outer
        then_graph, else_graph, captures = close_pair(fork.then_scope, vectors[0], fork.else_scope, vectors[1])
        operands = (binder.node_of(fork.pred), *captures)
        result = builder.emit(cond, operands, {"then": then_graph, "orelse": else_graph})
        items = list(builder.results(result))
        found, at = {}, 1 + is_checked
        for bank, size in sizes.items():
            found[bank] = items[at : at + size]
            at += size
        return items[0], items[1] if is_checked else checks[0], found

    is_checked = not all(isinstance(node, Const) for node in checks)
    selector, checked, slots = emit(structure)
    starts = list(itertools.accumulate([len(bank) for bank in banks], initial=1))
    values = [selector, *(node for bank in range(len(banks)) for node in slots[bank])]
    return values, checked, [starts[bank] for bank in bank_of]


def _undefined(builder: Any, type: Type) -> Node:
    return builder.emit(undef, (), {"type": type})
