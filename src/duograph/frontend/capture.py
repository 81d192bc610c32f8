"""Capturing a function: from arguments to a `Program`.

One *attempt* interprets the function with a fresh `Session`. Whatever cannot be decided in advance (which paths join,
which loops need an iteration peeled off or must be unrolled) is learned by failing: `Restart` ends the attempt, the
`Log` keeps what was learned, and the next attempt begins.
"""

from __future__ import annotations

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
from duograph.ir.node import Node
from duograph.ops.scalar import Scalar, number_of
from duograph.tensor import hooks as tensor_hooks
from duograph.tensor.alias import root_of
from duograph.tensor.random import default_generator
from duograph.tensor.tensor import SymbolicValueError, Tensor

from .assembly import assemble
from .ast.driver import AstDriver
from .control.join import join_leaves
from .control.paths import Fork, Outcome, leaves_of
from .load import Load, from_source
from .programs.program import Program
from .programs.recording import Recorded, Recorder, Unrecordable
from .programs.structural import structural
from .rules import sources
from .rules.budget import OutOfTime
from .rules.errors import INTERNAL, BetterApart, Restart, Uncapturable
from .rules.faults import FromOutside
from .rules.policy import is_interpreted
from .rules.sources import Source
from .rules.watch import watch
from .session.binder import CaptureBinder
from .session.log import Log
from .session.session import Session
from .values.premises import premises_of
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
            program = assemble(session, tree, raw_getattr(fn, "__name__", type(fn).__name__))
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


# -- hooks of lower layers ----------------------------------------------------------------------------------------


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
    """Connects the frontend with the layers below; called once when the package is imported."""
    watch_exec()
    user_caller.fill(_call_user)
    tensor_hooks.truth_of.fill(_with_session(tensor_hooks.truth_of.value, _truth))
    tensor_hooks.reader.fill(_with_session(tensor_hooks.reader.value, _value))
    tensor_hooks.hasher.fill(_with_session(tensor_hooks.hasher.value, _identity))
    number_of.fill(_number)
