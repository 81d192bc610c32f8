"""Capturing a function: from arguments to a `Program`.

One *attempt* interprets the function with a fresh `Session`. Whatever cannot be decided in advance (which paths join,
which loops need an iteration peeled off or must be unrolled) is learned by failing: `Restart` ends the attempt, the
`Log` keeps what was learned, and the next attempt begins.
"""

from __future__ import annotations

import copy
import itertools
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from duograph.autodiff.hooks import user_caller
from duograph.autodiff.vmap import BatchBinder
from duograph.base.events import stage
from duograph.base.lookup import raw_getattr
from duograph.base.source import watch_exec
from duograph.core.assumptions import listener
from duograph.core.dim import UnknownSizeError
from duograph.core.op import binding, no_recording, state
from duograph.core.types import Type
from duograph.ir.control import cond, undef
from duograph.ir.node import Apply, Const, Graph, Node, is_wide
from duograph.ir.printer import all_graphs
from duograph.ops.scalar import Scalar, number_of
from duograph.tensor import hooks as tensor_hooks
from duograph.tensor.alias import Alias, root_of
from duograph.tensor.random import default_generator
from duograph.tensor.tensor import SymbolicValueError, Tensor

from .ast.driver import AstDriver
from .control.join import close_pair, has_changed, join_leaves
from .control.paths import Fork, Leaf, Outcome, leaves_of
from .load import Load, from_source
from .programs.program import Path, Program, Write
from .programs.recording import Recorded, Recorder, Unrecordable
from .programs.sizes import finds_any_size, has_changing_loops
from .programs.structural import structural
from .rules import sources
from .rules.budget import OutOfTime
from .rules.dropped import check_dropped
from .rules.errors import INTERNAL, BetterApart, Restart, Uncapturable
from .rules.exceptions import objects_of
from .rules.facts import MISSING
from .rules.faults import FromOutside
from .rules.policy import is_interpreted
from .rules.sources import Source
from .rules.watch import watch
from .session.binder import CaptureBinder
from .session.log import Log
from .session.session import Session
from .values.collector import Collector
from .values.movable import PLAIN
from .values.premises import premises_of
from .values.recipe import Called, Constant, Recipe
from .values.world import contents, held_now
from .verbs.enclosed import call_enclosed

MAX_ATTEMPTS = 400


def capture(
    fn: Callable[..., Any],
    names: Sequence[str],
    args: Sequence[Any],
    call: Callable[..., Any],
    dynamic: set[Source],
    patterns: dict[Source, tuple[Any, ...]] | None = None,
    share: float = 1.0,
    is_part: bool = False,
    journals: bool = True,
    may_break: bool = False,
    load: Load = from_source,
    unsteady: frozenset[Source] = frozenset(),
    recorded: Recorded | None = None,
    unrolls: bool = False,
    grows_lists: bool = False,
) -> Program:
    """The program of ``fn`` for arguments like ``args``.

    Args:
        fn: what to interpret; names the program.
        names: names of the values in ``args``.
        args: the values of this call, one per name.
        call: ``call(calls, values)`` makes the interpreted call from the values of the program.
        dynamic: sources of numbers that are known to vary and become inputs.
        patterns: shapes of tensors with ``None`` for dimensions whose size varies.
        share: of the time that a capture may take.
        journals: whether containers that are only written may have journals; a file has none.
        may_break: whether steps in Python may be refused, because the function may be cut there (`BetterApart`).
        load: gives the trees of functions.
        unsteady: sources of what may not be looked at, as it is another thing in each call.
        recorded: the runs that the program is to know besides this one, whose decisions it then takes; ``None``: it
            has all paths.
        is_part: of a function that goes on with what it gives: it must be the very objects that Python would give.
        unrolls: whether loops whose end is known are unrolled, however long.
        grows_lists: whether loops of the graph may make lists longer (`values.grown`), whose elements have no gradient.

    Raises:
        Uncapturable: with the reason and the user's span.
    """
    log = Log(share, may_break, unsteady, recorded, unrolls, grows_lists)
    log.containers.enabled = journals
    why = ""
    for _ in range(MAX_ATTEMPTS):
        try:
            program = _attempt(fn, names, args, call, dynamic, log, patterns, is_part, load)
            program.unrecorded = why
            return program
        except FromOutside as outside:
            raise outside.error from None
        except OutOfTime:
            raise
        except Unrecordable as exc:
            why, log = str(exc), Log(share, may_break, unsteady, None, unrolls, grows_lists)
            log.containers.enabled = journals
        except Restart:
            log.restarts += 1
        except BetterApart:
            raise
        except Uncapturable:
            if log.forget_places():  # some of the regions of a place do join, perhaps
                continue
            if log.has_reading:  # it may be looked at
                log.drops_readings = log.has_reading = False
                continue
            if log.has_joined_text:  # it may be asked what it says
                log.joins_texts = log.has_joined_text = False
                continue
            if log.has_choices:  # paths that stay apart know more
                log.keeps_choices = log.has_choices = False
                continue
            if not any(log.forking.values()):
                raise
            log.forking = dict.fromkeys(log.forking, False)  # what follows a loop may need what unrolling knows
    raise Uncapturable("capture was restarted too often")


def _attempt(
    fn: Any,
    names: Sequence[str],
    args: Sequence[Any],
    call: Any,
    dynamic: set[Source],
    log: Log,
    patterns: Any,
    is_part: bool,
    load: Load,
) -> Program:
    session = Session(dynamic, log, patterns)
    driver = AstDriver(session, load)
    with stage("capture"), _capturing(session, driver):
        # a function's variables are looked after when they are read; what else is called may look into its arguments
        is_users = is_interpreted(fn.__func__ if isinstance(fn, types.MethodType) else fn)
        take = session.entered if is_users else session.external
        session.args = tuple(args)
        if not isinstance(fn, types.FunctionType | types.MethodType):
            session.source_of(fn)  # a partial, say: what it holds was found outside
        session.choices.are_exact = is_part
        if log.recorded is not None:
            session.regions.recorder = Recorder(log.recorded, partial(_given, session), log.budget)
        values = [take(v, sources.arg(i, n)) for i, (n, v) in enumerate(zip(names, args, strict=True))]

        def body() -> Outcome:
            try:
                outcome = Outcome("return", call(driver.calls, values))
            except (Restart, *INTERNAL):
                raise
            except Exception:
                session.check_finished()
                raise
            session.check_finished()
            return outcome

        try:
            tree = session.regions.explore("top", body)
            ends = list(leaves_of(tree))
            are_apart = any(end.outcome.kind == "leave" for end in ends) or "top" in session.regions.dissolved
            are_apart = are_apart or (is_part and session.choices.differ(ends))
            if isinstance(tree, Fork) and not are_apart:
                tree = join_leaves(session.regions, "top", tree) or tree
            program = _program(session, tree, raw_getattr(fn, "__name__", type(fn).__name__))
            program.target = fn
            program = _letting_go(session, program)
            if session.regions.recorder is not None:
                program.recorded = session.regions.recorder.result
            session.is_done = True
            return program
        except (SymbolicValueError, UnknownSizeError) as exc:
            trail = session.trail_of(exc)
            refused = Uncapturable(str(exc), _innermost(session.span, trail))
            refused.trail = trail
            refused.premises = premises_of(session.guards, session.args)
            raise refused from exc
        except Uncapturable as exc:
            exc.span = exc.span or session.span
            exc.trail = session.trail_of(exc)
            exc.premises = premises_of(session.guards, session.args)
            raise


def _innermost(latest: Any, trail: list[tuple[int, Any, Any]]) -> Any:
    """Where an error came up that has left these statements: the ``latest`` expression, if the first has that."""
    if not trail or trail[0][1] is None:
        return latest
    statement = trail[0][1].span(trail[0][2])
    return latest if latest is not None and statement.covers(latest) else statement


def _letting_go(session: Session, program: Program) -> Program:
    """``program``, if it keeps nobody alive whose end is awaited; else the same program for whoever holds the same.

    Raises:
        Uncapturable: it is about those objects.
    """
    awaited = session.awaited()
    if not awaited:
        return program
    ids = {id(held) for held, _ in awaited}
    made = structural(program, session.args, ids) if ids <= program.movable.keys() else None
    if made is not None and ids.isdisjoint(made.movable):
        return made
    for held, is_users in awaited:
        if is_users:
            raise Uncapturable(
                f"an object of class {type(held).__qualname__!r}, which a compiled version would keep alive, and "
                "whose destruction can be observed"
            )
    return program


def _given(session: Session, param: Node) -> Any:
    """What an input of the graph is in the call that is captured.

    Raises:
        Unrecordable: no single value stands for it: it belongs to a graph inside.
    """
    generator = default_generator()
    for known, value in zip(session.random_params, (generator.initial_seed(), generator.offset), strict=True):
        if param is known:
            return value
    source = next((source for source, known in session.inputs if known is param), None)
    if source is None:
        raise Unrecordable("it decides by what no value of this run stands for")
    value = source.load(session.args)
    return value.array() if isinstance(value, Tensor) else value


@contextmanager
def _capturing(session: Session, driver: AstDriver) -> Iterator[None]:
    """The thread's ops emit into the session; the random generator's state is symbolic."""
    seed, offset = session.start_random()
    session.driver = driver
    with no_recording(), binding(session.binder):
        session.world.seed, session.world.offset = Scalar(seed), Scalar(offset)
        quiet, state.quiet = state.quiet, 0
        enclosed, state.enclosed = state.enclosed, 0
        tapes, detached = state.tapes, state.detached  # an attempt that is given up leaves no block of the program
        listener.assume = session.assume
        listener.assume_broadcast = session.assume_broadcast
        listener.assume_layout, listener.is_strided = session.assume_layout, session.is_strided
        outer, watch.session = watch.session, session
        try:
            yield
        finally:
            session.is_over = True
            watch.session = outer
            listener.assume = listener.assume_broadcast = listener.assume_layout = listener.is_strided = None
            if not session.is_done:
                session.forget()
            state.quiet, state.enclosed, state.tapes, state.detached = quiet, enclosed, tapes, detached


# -- the program --------------------------------------------------------------------------------------------------


def _program(session: Session, tree: Leaf | Fork, name: str) -> Program:
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


# -- hooks of lower floors ----------------------------------------------------------------------------------------


def current_session() -> Session | None:
    """The capture session of this thread, if one is running."""
    binder: Any = state.binder
    while isinstance(binder, BatchBinder):  # within a `vmap` of the program
        binder = binder.outer
    return binder.session if isinstance(binder, CaptureBinder) else None


def _call_user(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    session = current_session()
    if session is None:
        return fn(*args, **kwargs)
    if state.enclosed:
        return call_enclosed(session, fn, args, kwargs)
    overlay = session.world.overlay
    if overlay and state.tapes and any(key[2] == "requires_grad" for key in overlay):  # tapes look at what is outside
        raise Uncapturable("a gradient of a program that has set `requires_grad` of a Parameter")
    return session.driver.calls.call(fn, args, kwargs)


def _with_session(eager: Callable[..., Any], captured: Callable[..., Any]) -> Callable[..., Any]:
    """``captured`` while a capture runs in the calling thread, ``eager`` at all other times."""

    def hook(tensor: Tensor, *rest: Any) -> Any:
        session = current_session()
        return eager(tensor, *rest) if session is None else captured(session, tensor, *rest)

    return hook


def _truth(session: Session, tensor: Tensor) -> bool:
    return session.driver.semantics.as_bool(tensor)


def _value(session: Session, tensor: Tensor, what: str) -> Any:
    if session.is_outside(tensor) or tensor.is_symbolic or root_of(tensor)._alias in session.binder.store:
        raise Uncapturable(f"{what} of a tensor, which is only known at run time")
    return tensor.array()


def _number(scalar: Scalar) -> Any:
    session = current_session()
    return None if session is None else session.regions.known(scalar)


def _identity(session: Session, tensor: Tensor) -> int:
    session.choices.note_key(tensor)
    return object.__hash__(tensor)


def install() -> None:
    """Connects the frontend with the floors below; called once when the package is imported."""
    watch_exec()
    user_caller.fill(_call_user)
    tensor_hooks.truth_of.fill(_with_session(tensor_hooks.truth_of.value, _truth))
    tensor_hooks.reader.fill(_with_session(tensor_hooks.reader.value, _value))
    tensor_hooks.hasher.fill(_with_session(tensor_hooks.hasher.value, _identity))
    number_of.fill(_number)
