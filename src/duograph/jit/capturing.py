"""From the arguments of a call to a program: what varies, which runs are known, and a second try with less of that."""

from __future__ import annotations

import functools
import inspect
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from duograph.base.config import config
from duograph.base.failures import SHORTAGE, internal_failure
from duograph.base.lookup import raw_hasattr
from duograph.core.op import state
from duograph.frontend.capture import capture
from duograph.frontend.load import Load
from duograph.frontend.programs.program import Program
from duograph.frontend.programs.recording import MOST_RUNS, Recorded
from duograph.frontend.rules.budget import LEAST, LEAST_OF_PARTS, OutOfTime, Spent, share_left
from duograph.frontend.rules.errors import INTERNAL, Uncapturable

from .entries import Entries, without_frames
from .entry import Entry, PassFailed
from .misses import Miss
from .options import JitOptions
from .signature import (
    MARKS,
    SUBJECT,
    SUBJECT_PARAMETER,
    caller,
    declared_patterns,
    framework_call,
    marked_patterns,
    of_arguments,
)
from .sizes import sizes_of_ints, symbols_of, with_sizes
from .telling import name_of

R = TypeVar("R")

logger = logging.getLogger("duograph")


def unless_too_deep(fn: Callable[..., R]) -> Callable[..., R | None]:
    """``fn``, which gives ``None`` where it goes deeper than Python's stack: through what a program only passes on."""

    @functools.wraps(fn)
    def made(*args: Any) -> R | None:
        try:
            return fn(*args)
        except RecursionError:
            return None

    return made


class Capturing:
    """How a compiled function captures. Mixed into `JitFunction`, which says what the attributes are."""

    __slots__ = ()

    fn: Callable[..., Any]
    options: JitOptions
    load: Load
    target: Any
    plain: Callable[..., Any] | None
    part_of: tuple[Any, Any] | None
    is_auxiliary: bool
    spent: Spent
    grows_lists = True  # loops of its graphs may (`values.grown`)
    _signature: inspect.Signature
    _subject: Any
    _may_break: bool
    _first: int

    def _note_failure(self: Any, store: Entries, error: Exception) -> None:
        try:
            if not isinstance(error, SHORTAGE):  # capture needs more than the program, which has got through
                store.failures.append(internal_failure("capture", name_of(self.fn), error))
        finally:
            error.__traceback__ = None

    def _entry(self, program: Program, names: tuple[str, ...], started: float) -> Entry:
        """The version of a program whose capture was ``started`` then."""
        capture_ms = (time.perf_counter() - started) * 1e3
        try:
            return Entry(program, names, self._level(), capture_ms, self.options.backend)
        except SHORTAGE:
            raise MemoryError from None
        except Exception as error:
            raise PassFailed(program, error) from error

    @property
    def least_share(self) -> float:
        """Of the time of a capture, for the last attempt at a call."""
        return LEAST_OF_PARTS if self.is_auxiliary else LEAST

    def _is_strict(self) -> bool:
        return config().jit_syntax_level == 0 if self.options.strict is None else self.options.strict

    def _has_hooks(self) -> bool:
        """Whether it is a Cell with hooks."""
        return raw_hasattr(self.target, "_has_hooks") and bool(self.target._has_hooks())

    @property
    def _parameters(self) -> tuple[inspect.Parameter, ...]:
        """How native code may bind arguments."""
        parameters = tuple(self._signature.parameters.values())
        if self._has_hooks():  # of keyword arguments Python decides
            plain, only = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY
            parameters = tuple([p.replace(kind=only) if p.kind is plain else p for p in parameters])
        return parameters if self._subject is None else (SUBJECT_PARAMETER, *parameters)

    def _level(self) -> str:
        return self.options.jit_level or config().jit_level or "O1"

    def _patterns(self, store: Entries, names: tuple[str, ...], values: list[Any]) -> dict[Any, Any]:
        """Shapes of tensors with symbols for what varies: because it has, or because somebody says so."""
        owner = self.target if self.target is not None else values[0] if self._first and values else None
        first = self._first or int(names[:1] == (SUBJECT,))
        declared = declared_patterns(self.fn, owner, self.options.signature, names, first)
        found = store.sizes.patterns(values, (marked_patterns(names, values) | declared) if MARKS else declared)
        return found | sizes_of_ints(store.attempts.sizes, values)

    def _general(
        self,
        store: Entries,
        names: tuple[str, ...],
        values: list[Any],
        dynamic: set[Any],
        patterns: dict[Any, Any],
        near: Sequence[Miss],
        begun: float,
        left: Entry | None = None,
    ) -> Program | None:
        """A program for varying numbers and sizes, if any are known to vary; ``None`` if there is none."""
        store.is_late = False
        if any(m.entry.patterns == patterns and all(g.source in patterns for g in m.tensors) for m in near):
            patterns = {}  # they vary more than such a version allows
        tried: list[tuple[set[Any], dict[Any, Any]]] = [(set(), {})]
        why = ""
        kinds = store.attempts.kinds
        ints, texts, flags = ({s for s in dynamic if kinds.get(s) is kind} for kind in (int, str, bool))
        sized = patterns | sizes_of_ints(ints, values)
        ways = [
            (dynamic, patterns),
            (dynamic - flags, patterns),
            (dynamic - ints, sized),
            (dynamic - texts, patterns),
            (set(), patterns),
            (dynamic, {}),
        ]
        while ways:
            sources, shapes = ways.pop(0)
            if (sources, shapes) in tried or store.is_late:
                continue
            tried.append((sources, shapes))
            try:
                program = self._capture(names, values, sources, shapes, share_left(begun, self.least_share), left=left)
            except (*INTERNAL, RecursionError) as exc:  # a rule does not know symbolic sizes: those at hand always work
                logger.debug("%s", f"capture for varying numbers and sizes failed: {exc}")
                store.is_late = isinstance(exc, OutOfTime)
                needed = exc.needed & sources if isinstance(exc, Uncapturable) else frozenset()
                if needed:  # there is a version for each of these texts; others may be passed on
                    ways.insert(0, (sources - needed, shapes))
                elif isinstance(exc, Uncapturable) and exc.sizes & symbols_of(patterns):
                    ways.insert(0, (sources, with_sizes(exc.sizes, shapes, values)))
                elif isinstance(exc, Uncapturable) and exc.trail and sources - flags:
                    store.refusal = without_frames(exc)
                span = exc.span if isinstance(exc, Uncapturable) else None
                why = why or (str(exc) if span is None else f"{exc} at {span}")
            except Exception as exc:  # noqa: BLE001 - the policy; what the program raises is a path of its graph
                what = f"{name_of(self.fn)}, numbers and sizes varying"
                store.failures.append(internal_failure("capture", what, exc))
                why = why or f"{type(exc).__name__}: {exc}"
            else:
                if program.sizes_match(values):
                    break
                why = why or "what is done depends on how large they are"
        else:
            program, sources, shapes = None, set(), {}
        for source in dynamic - sources:
            store.attempts.varying[source] = -1
        if shapes is sized:
            store.attempts.sizes |= ints
            store.refusal = None
        store.sizes.refuse(patterns, why, shapes)
        return program

    def _with_gradients(self: Any, entry: Entry, store: Entries, values: list[Any]) -> Entry | None:
        """In place of ``entry``, the elements of whose lists have none; ``None``: plain Python serves tapes."""
        entry.program.grows_lists = False  # asked once
        with store.lock:
            made, store.doubt = self._compile(store, entry.names, values), None
            if made is not None:
                self.grows_lists = False
                store.drop(entry)
                self._shared.drop(entry)
        return cast("Entry | None", made)

    def _capture(
        self,
        names: tuple[str, ...],
        values: list[Any],
        dynamic: set[Any],
        patterns: Any,
        share: float = 1.0,
        journals: bool = True,
        left: Entry | None = None,
        unsteady: frozenset[Any] = frozenset(),
    ) -> Any:
        target = self.target or self.fn
        # what graph mode compiles has been called by the Cell's own ``__call__``, if it has one
        called = target if self.plain is target else framework_call(target)
        call = caller(called, self._signature, names[1:] if names[:1] == (SUBJECT,) else names)
        if names[:1] == (SUBJECT,):
            call = of_arguments(call)
        recorded, why = self._runs(left) if journals else (None, "")
        may_break = journals and self._may_break and not self._is_strict()
        begun, operations = time.thread_time(), 0
        try:
            program = capture(
                target,
                names,
                values,
                call,
                dynamic,
                dict(patterns),
                share,
                self.options.is_exact,
                journals,
                may_break,
                self.load,
                unsteady,
                recorded,
                self.options.unrolls,
                self.grows_lists and journals and not state.tapes,
            )
            operations = len(program.graph.nodes)
        finally:
            self.spent.add(begun, operations)
        program.unrecorded = program.unrecorded or why
        program.patterns = patterns
        return program

    def _runs(self, left: Entry | None) -> tuple[Recorded | None, str]:
        """The runs that a new version is to know besides the one that it is made for.

        Args:
            left: the version that this call has left, since it decides as none of its runs.

        Returns:
            ``None`` if it is to have all paths, and why, if runs are recorded as a rule.
        """
        if self.options.capture_mode != "trace":
            return None, ""
        if left is None:
            return Recorded(), ""
        known = left.program.recorded
        if known is not None and len(known.ways) >= MOST_RUNS:
            return None, f"more than {MOST_RUNS} runs decide differently"
        return known, "" if known is not None else "a run decides otherwise than it was recorded"
