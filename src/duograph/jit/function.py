"""`JitFunction`: a Python function that runs as compiled versions of itself.

A call looks for a version whose guards hold (most recently used first), else captures one. What cannot be captured runs
as plain Python, with the reason recorded (`JitFunction.explain`), unless ``fullgraph``/STRICT asks for an error.
"""

from __future__ import annotations

import functools
import inspect
import logging
import sys
import time
import types
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from traceback import format_exception
from typing import Any

from duograph.autodiff.hooks import call_user
from duograph.autodiff.tape import Underivable
from duograph.base.collection import members, no_collection
from duograph.base.config import config, refresh_config
from duograph.base.diagnostics import Diagnostic, InternalError, Label, diagnostic_error
from duograph.base.failures import SHORTAGE, internal_failure, is_from_outside
from duograph.base.render import render
from duograph.core.dim import UnknownSizeError
from duograph.core.op import binding, restoring, state
from duograph.frontend.ast.load import load_function
from duograph.frontend.budget import OutOfTime
from duograph.frontend.capture import capture
from duograph.frontend.errors import INTERNAL, Uncapturable
from duograph.frontend.functions import signature_of
from duograph.frontend.policy import look_of
from duograph.frontend.printing import noted, withheld
from duograph.frontend.program import Program, RunPlainly
from duograph.frontend.split.plan import Place, can_be_cut

from .conditions import is_possible_now, is_possible_under_tapes
from .cuts import Cut, is_light, statements_at
from .entries import ATTRIBUTE, Entries, Fallback
from .entry import Entry, PassFailed, RunFailed
from .excused import is_excused
from .explain import Explanation
from .keys import key_of_call
from .misses import Miss, near_misses
from .options import JitOptions
from .signature import caller, check_signature, declared_patterns

logger = logging.getLogger("duograph")
_NOTHING = nullcontext()
SECOND = 0.25  # of a capture's time, for the attempt after one that has taken all of it
MOST_UNUSED = 4  # versions of a segment that no later call has used, before it is left to plain Python
FAILURES = 16  # calls that a version may leave to plain Python, if they are most of its calls


class JitFunction:
    """The compiled form of ``fn``.

    Args:
        fn: a Python function, or anything callable with a signature.
        options: how to compile.
        target: what is captured, if not ``fn`` itself (a Cell: its call includes hooks); ``fn`` gives the signature.
        plain: what runs if nothing is compiled, if not ``fn`` itself.

    Calls are native once a version has run (``runtime/calls/native.py``); `__call__` does what native code does not.
    """

    __slots__ = ("__dict__", "__weakref__", "_method", "_own")  # native code reads the last two

    _method: str | None  # key of this function's versions in the table of an instance; None: it is no method
    _own: Entries

    def __init__(
        self, fn: Callable[..., Any], options: JitOptions, target: Any = None, plain: Callable[..., Any] | None = None
    ) -> None:
        for name in functools.WRAPPER_ASSIGNMENTS:
            if hasattr(fn, name):
                setattr(self, name, getattr(fn, name))
        self.fn = fn
        self.options = options
        self.target = target
        self.plain = plain
        self._own = Entries()
        self._of_instances: weakref.WeakSet[Entries] = weakref.WeakSet()
        self.cut: Cut | None = None  # its form with graph breaks, once something in it could not be captured
        self.part_of: tuple[Cut, Any] | None = None  # a segment of a function that is cut: of which, and which one
        self.is_auxiliary = False  # a segment, or a function that a skeleton calls
        self.is_no_use = False  # compiled, it is no faster
        self._read_signature()

    def _read_signature(self) -> None:
        fn = self.fn
        plain = fn.__func__ if isinstance(fn, types.MethodType) else fn
        self._python = plain if isinstance(plain, types.FunctionType) else None
        if isinstance(plain, types.FunctionType):
            self._code = plain.__code__
            self._signature = signature_of(plain)
            if isinstance(fn, types.MethodType):
                params = list(self._signature.parameters.values())[1:]
                self._signature = self._signature.replace(parameters=params)
        else:
            self._signature = inspect.signature(fn)
        params = list(self._signature.parameters.values())
        positional = [p for p in params if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self._names = tuple([p.name for p in positional])
        self._rest = next((p.name for p in params if p.kind is p.VAR_POSITIONAL), "")
        self._required = sum(p.default is p.empty for p in positional)
        if any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in params):
            self._required = len(params) + 1  # never: `inspect` says what is missing
        self._first = 1 if self.target is None and self._names[:1] == ("self",) else 0
        self._method = sys.intern(getattr(fn, "__qualname__", "")) if self._first else None

    def __get__(self, obj: Any, cls: Any = None) -> Any:
        return self if obj is None else BoundJit(self, obj)

    def __repr__(self) -> str:
        return f"<jit {getattr(self.fn, '__qualname__', self.fn)}>"

    def __reduce__(self) -> Any:
        return JitFunction, (self.fn, self.options, self.target, self.plain)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if state.binder is not None:  # called by a program that is being captured: part of it
            return call_user(self.target or self.fn, args, kwargs)
        if (self.is_small and state.tapes) or not config().jit:
            return self._plain(args, kwargs)
        if self._python is not None and self._python.__code__ is not self._code:
            self._read_signature()  # versions of the old code fail their guards
            self.cut = None
        if self.cut is not None and (skeleton := self.cut.skeleton) is not None:
            self.cut.cause.hits += 1
            return skeleton(*args, **kwargs) if self.target is None else self.target.run_instead(skeleton, args, kwargs)
        bound = None
        simple = self._positional(args) if not kwargs else None
        if simple is not None:
            names, values = simple
        else:
            with suppress(TypeError):
                bound = self._signature.bind(*args, **kwargs)
            if bound is None:
                return self._plain(args, kwargs)  # Python's own error for wrong arguments, and no other before it
            names, values = self._flatten(bound)
        if self.options.signature is not None:
            check_signature(self.options.signature, values[self._first :])
        store = self._store(values)
        if store.is_small and state.tapes:
            return self._plain(args, kwargs)
        tried = tuple(store.compiled)  # other threads may add versions meanwhile
        for entry in tried:
            if entry.names == names and entry.matches(values):
                return self._run(entry, store, values, args, kwargs)
        key = (names, key_of_call(values)) if store.fallbacks else None
        for fallback in store.fallbacks:
            if fallback.key == key and fallback.holds(values):
                fallback.hits += 1
                return self._plain(args, kwargs)
        with store.lock:
            store.note_miss()
            added = [e for e in store.compiled if e not in tried and e.names == names]
            made = next((e for e in added if e.matches(values)), None)
            is_cut = self.cut is not None and self.cut.skeleton is not None  # meanwhile, by another thread
            if made is None and not is_cut and (self._is_strict() or not store.is_resting()):
                made = self._compile(store, names, values, bound or self._signature.bind(*args))
                if self.options.report:
                    print(Explanation(self, [store]))
            doubt, store.doubt = store.doubt, None
        if made is not None and not (store.is_small and state.tapes):
            return self._run(made, store, values, args, kwargs)
        if self.cut is not None and (skeleton := self.cut.skeleton) is not None:
            return skeleton(*args, **kwargs) if self.target is None else self.target.run_instead(skeleton, args, kwargs)
        return self._plain(args, kwargs) if doubt is None else self._judged(doubt, store, args, kwargs)

    @property
    def is_small(self) -> bool:
        """Whether tapes are served op by op, whatever the arguments are (`Entry.is_small`)."""
        return self._own.is_small and self.options.signature is None

    def captured_target(self) -> Any:
        """What a program that is being captured calls instead."""
        return self.target or self.fn

    def prepare(self, *args: Any, **kwargs: Any) -> None:
        """Compiles for these arguments without running.

        Raises:
            Exception: what the program raises for all arguments of these types, such as shapes that do not fit.
        """
        bound = self._signature.bind(*args, **kwargs)
        names, values = self._flatten(bound)
        store = self._store(values)
        if any(entry.names == names and entry.matches(values) for entry in store.compiled):
            return
        made = self._compile(store, names, values, bound)
        if made is None:
            error = store.fallbacks[-1].error
            if not isinstance(error, Uncapturable | InternalError):
                raise error
        elif all(path.kind == "raise" for path in made.program.paths) and not made.program.has_effects:
            self._plain(args, kwargs)
        else:
            made.compile()

    def captured(self, args: Sequence[Any], patterns: dict[Any, tuple[int | None, ...]]) -> Program:
        """The program of a call with these positional arguments, neither compiled nor kept.

        Args:
            args: the arguments.
            patterns: shapes of tensors with ``None`` for dimensions whose size varies, by source.

        Raises:
            Uncapturable: with the reason and the user's span.
            TypeError: the function does not take these arguments.
        """
        bound = self._signature.bind(*args)
        names, values = self._flatten(bound)
        return self._capture(names, values, bound, set(), patterns, journals=False)

    def bound_values(self, args: Sequence[Any]) -> dict[str, Any]:
        """The arguments by the names of the parameters that they go to; ``*args`` is one tuple."""
        return dict(self._signature.bind(*args).arguments)

    @property
    def takes_varargs(self) -> bool:
        """Whether the function has a ``*args``."""
        return any(p.kind is p.VAR_POSITIONAL for p in self._signature.parameters.values())

    def _plain(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return (self.plain or self.fn)(*args, **kwargs)

    def _judged(self, doubt: Any, store: Entries, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Plain Python's answer to a call whose capture raised: what the program does not raise was ours."""
        error, trace = doubt
        try:
            result = self._plain(args, kwargs)
        except Exception as raised:
            if type(raised).__name__ != type(error).__name__:
                self._note_failure("capture", store, error.with_traceback(trace))
            raise
        self._note_failure("capture", store, error.with_traceback(trace))
        return result

    def _note_failure(self, area: str, store: Entries, error: Exception) -> None:
        try:
            store.failures.append(internal_failure(area, getattr(self.fn, "__qualname__", self.fn), error))
        finally:
            error.__traceback__ = None

    def _flatten(self, bound: inspect.BoundArguments) -> tuple[tuple[str, ...], list[Any]]:
        """Names and values of the arguments, one per parameter that was given."""
        return tuple(bound.arguments), list(bound.arguments.values())

    def _positional(self, args: tuple[Any, ...]) -> tuple[tuple[str, ...], list[Any]] | None:
        """`_flatten` for positional arguments only, without `inspect`; ``None`` if that is for `inspect` to judge."""
        names = self._names
        n = len(args)
        if self._required <= n <= len(names):
            return names[:n], list(args)
        if n > len(names) and self._rest:
            return (*names, self._rest), [*args[: len(names)], args[len(names) :]]
        return None

    def _store(self, values: Sequence[Any]) -> Entries:
        """Versions of methods live with the instance, so that they go when it goes."""
        if values and self._first and not look_of(type(values[0])):
            held = getattr(values[0], "__dict__", None)
            if isinstance(held, dict):
                per_function = held.setdefault(ATTRIBUTE, {})
                store = per_function.get(self._method)
                if store is None:
                    store = per_function.setdefault(self._method, Entries())
                self._of_instances.add(store)
                return store
        return self._own

    # -- compiling ---------------------------------------------------------------------------------------------

    @restoring
    @no_collection
    def _compile(
        self, store: Entries, names: tuple[str, ...], values: list[Any], bound: inspect.BoundArguments
    ) -> Entry | None:
        refresh_config()
        store.doubt = None
        places = self.cut.places if self.cut is not None else frozenset()
        near = near_misses(store.compiled, names, values)
        dynamic = self._note_misses(store, names, values, near)
        patterns = self._patterns(store, names, values)
        started = time.perf_counter()
        try:
            program = self._general(store, names, values, bound, dynamic, patterns, near)
            if program is None:
                program = self._capture(names, values, bound, set(), {}, SECOND if store.is_late else 1.0)
            entry = self._entry(program, names, started)
            if near and program.symbols and not state.tapes and (why := entry.loses_to(near[0].entry)):
                store.sizes.refuse(patterns, why)
                entry = self._entry(self._capture(names, values, bound, set(), {}), names, started)
        except Uncapturable as exc:
            self._refuse(store, names, values, exc.reason, exc.span, exc)
            self._cut_at(exc, store.fallbacks[-1], places)
            return None
        except PassFailed as failed:
            failure = internal_failure("a pass", failed.name, failed.error)
            store.failures.append(failure)
            self._refuse(store, names, values, str(failure), None, failed.error)
            return None
        except MemoryError:  # there may be more at the next call
            if self._is_strict():
                raise
            return None
        except Exception as exc:  # an error of the program itself, or ours: plain Python shows which (`_judged`)
            if is_from_outside(exc):
                raise
            if logger.isEnabledFor(logging.DEBUG):  # as text: records may be kept, and would keep the arguments
                logger.debug("capture of %s failed: %s", self, "".join(format_exception(exc)))
            store.doubt = exc, exc.__traceback__
            self._refuse(store, names, values, f"{type(exc).__name__}: {exc}", None, exc)
            return None
        if self.is_auxiliary and is_light(entry.graph, len(entry.program.guards.guards)):
            self._note_no_use()
        if store.compiled:  # there will be misses
            entry.prepare(values)
        store.add(entry)
        if self.part_of is not None and sum(e.hits <= 1 for e in store.compiled) > MOST_UNUSED:
            self._note_no_use()
        return entry

    def _entry(self, program: Program, names: tuple[str, ...], started: float) -> Entry:
        """The version of a program whose capture was ``started`` then."""
        capture_ms = (time.perf_counter() - started) * 1e3
        level = self.options.jit_level or config().jit_level or "O1"
        try:
            return Entry(program, names, level, capture_ms, self.options.backend)
        except SHORTAGE:
            raise MemoryError from None
        except Exception as error:
            raise PassFailed(program.name, error) from error

    def _patterns(self, store: Entries, names: tuple[str, ...], values: list[Any]) -> dict[Any, Any]:
        """Shapes of tensors with symbols for what varies: because it has, or because somebody says so."""
        owner = self.target if self.target is not None else values[0] if self._first and values else None
        declared = declared_patterns(self.fn, owner, self.options.signature, names, self._first)
        return store.sizes.patterns(values, declared)

    def _general(
        self,
        store: Entries,
        names: tuple[str, ...],
        values: list[Any],
        bound: inspect.BoundArguments,
        dynamic: set[Any],
        patterns: dict[Any, Any],
        near: Sequence[Miss],
    ) -> Program | None:
        """A program for varying numbers and sizes, if any are known to vary; ``None`` if there is none."""
        store.is_late = False
        if any(miss.entry.patterns == patterns for miss in near):  # they vary more than such a version allows
            patterns = {}
        tried: list[tuple[set[Any], dict[Any, Any]]] = [(set(), {})]
        why = ""
        for sources, shapes in ((dynamic, patterns), (set(), patterns), (dynamic, {})):
            if (sources, shapes) in tried or store.is_late:
                continue
            tried.append((sources, shapes))
            try:
                program = self._capture(names, values, bound, sources, shapes)
            except (*INTERNAL, RecursionError) as exc:  # a rule does not know symbolic sizes: those at hand always work
                logger.debug("%s", f"capture for varying numbers and sizes failed: {exc}")
                store.is_late = isinstance(exc, OutOfTime)
                why = why or str(exc)
            except Exception as exc:  # noqa: BLE001 - the policy; what the program raises is a path of its graph
                what = f"{getattr(self.fn, '__qualname__', self.fn)}, numbers and sizes varying"
                store.failures.append(internal_failure("capture", what, exc))
                why = why or f"{type(exc).__name__}: {exc}"
            else:
                if program.sizes_match(values):
                    break
                why = why or "what is done depends on how large they are"
        else:
            program, sources, shapes = None, set(), {}
        for source in dynamic - sources:
            store.varying[source] = -1
        if patterns and not shapes:
            store.sizes.refuse(patterns, why)
        return program

    def _capture(
        self,
        names: tuple[str, ...],
        values: list[Any],
        bound: inspect.BoundArguments,
        dynamic: set[Any],
        patterns: Any,
        share: float = 1.0,
        journals: bool = True,
    ) -> Any:
        target = self.target or self.fn
        call = caller(target, self._signature, names)
        is_part = self.part_of is not None
        program = capture(target, names, values, call, dynamic, dict(patterns), share, is_part, journals)
        program.patterns = patterns
        return program

    def _note_misses(self, store: Entries, names: tuple[str, ...], values: list[Any], near: Sequence[Miss]) -> set[Any]:
        """Records why existing versions do not fit; numbers that varied twice become inputs."""
        general = [e for e in store.compiled[1:2] if e.patterns]  # see `put_first`
        for entry in general or store.compiled[:1]:
            if entry.names != names:
                store.recompiles.append(f"other arguments were given: {', '.join(entry.names)}")
                continue
            guard, reason = entry.program.guards.first_miss(values)
            store.recompiles.append(reason if guard is not None or not near else "sizes do not fit what was assumed")
            if guard is not None and guard.check == "equal" and type(guard.expected) in (int, float):
                store.note_number(guard.source)
        if near:
            most_general = max(near, key=lambda miss: len(miss.entry.patterns))
            store.sizes.note(most_general.tensors, values)
            for source in most_general.numbers:
                store.note_number(source)
        return {source for source, count in store.varying.items() if count >= 1}

    def _refuse(
        self, store: Entries, names: tuple[str, ...], values: list[Any], reason: str, span: Any, exc: Exception
    ) -> None:
        name = getattr(self.fn, "__qualname__", str(self.fn))
        labels = (Label(span, reason),) if span is not None else ()
        diagnostic = Diagnostic(
            "DG0102", f"{name} cannot be compiled: {reason}", labels,
            help="it runs as plain Python; jit(fullgraph=True) makes this an error",
        )  # fmt: skip
        if self._is_strict():
            if isinstance(exc, Uncapturable):
                strict = Diagnostic("DG0104", f"{name} cannot be compiled: {reason}", labels)
                raise diagnostic_error(RuntimeError, strict) from None
            raise exc
        rendered = render(diagnostic)
        store.fallbacks.append(Fallback((names, key_of_call(values)), reason, span, rendered, exc))
        if isinstance(exc, Uncapturable):
            logger.info("%s", rendered)

    def _cut_at(self, error: Uncapturable, cause: Fallback, places: frozenset[Place]) -> None:
        """Lets the rest of the function be compiled, and the statement that ``error`` came up in be plain Python.

        ``places`` are those it was cut at when the capture began.
        """
        if self.options.signature is not None or self._python is None:
            return None
        if self.target is not None and not hasattr(self.target, "run_instead"):  # another callable object
            return None
        if isinstance(error, OutOfTime):  # what has taken too long as a whole may do so in each part
            return self._note_no_use()
        try:
            if self.cut is None and can_be_cut(load_function(self._python)):
                self.cut = Cut(self, cause, self._segment, self.part_of)
            if self.cut is None or not self.cut.note(statements_at(error, self), places):
                self._note_no_use()
        except Uncapturable:  # it has no source
            self._note_no_use()

    def _segment(self, fn: types.FunctionType, cut: Cut | None = None, segment: Any = None) -> JitFunction:
        """A function that is compiled as this one is, on behalf of it."""
        made = JitFunction(fn, replace(self.options, strict=None, signature=None, report=False))
        made.part_of = (cut, segment) if cut is not None else None
        made.is_auxiliary = True
        return made

    def _note_no_use(self) -> None:
        self.is_no_use = True
        if self.part_of is not None:
            cut, segment = self.part_of
            cut.note(dict.fromkeys(segment.places))

    def _is_strict(self) -> bool:
        if self.options.strict is not None:
            return self.options.strict
        return config().jit_syntax_level == 0

    def _run(self, entry: Entry, store: Entries, values: list[Any], args: Any, kwargs: Any) -> Any:
        store.note_use(entry)
        if entry.runs and self.options.signature is None and is_possible_now():
            store.put_native(entry, self._native_call(entry.make_native, values))
        if state.tapes and entry.is_plain_for_tapes(values):
            entry.plain_runs += 1
            return (self.plain or self.fn)(*args, **kwargs)
        if state.tapes and entry.taped_runs and self.options.signature is None and is_possible_under_tapes():
            store.put_taped(entry, self._native_call(entry.make_taped, values))
        printed: list[str] = []
        with binding(None):
            try:
                if not entry.program.token:
                    return entry.run(values)
                with noted() as printed:
                    return entry.run(values)
            except RunPlainly as planned:
                cause = planned.args[0]
            except RunFailed as error:
                cause = error.__cause__
        entry.plain_runs += 1
        run = self.plain or self.fn  # not `_plain`: one frame less between the user's lines
        with withheld(printed) if printed else _NOTHING:
            result = run(*args, **kwargs)  # nothing else has happened: Python raises, or catches, at the user's line
        if isinstance(cause, SHORTAGE):
            return result
        if entry.patterns and isinstance(cause, UnknownSizeError):  # a gradient; with the sizes at hand there is one
            store.sizes.refuse(entry.patterns, str(cause))
            with store.lock:
                store.drop(entry)
            return result
        if isinstance(cause, Underivable):
            entry.program.plain_for_gradients = True
        if not (entry.program.catches or is_excused(cause)):
            self._retire(entry, store, values, cause)  # it did neither: the version is wrong, not the program
        elif entry.plain_runs > FAILURES and entry.plain_runs * 2 > entry.hits:
            self._retire(entry, store, values, cause, "what it computes raises too often")
        return result

    def _retire(
        self, entry: Entry, store: Entries, values: list[Any], cause: BaseException | None, why: str = ""
    ) -> None:
        """Plain Python answers from now on what ``entry`` failed to, though it had promised to be valid."""
        with store.lock:
            store.drop(entry)
            what = f"{type(cause).__name__}: {cause}" if cause is not None else "it raised what Python does not raise"
            error: Exception = InternalError(what, stage="a compiled version") if not why else Uncapturable(why)
            reason = why or f"the compiled version failed: {what}"
            store.fallbacks.append(Fallback((entry.names, key_of_call(values)), reason, None, str(error), error))
        if not why:
            store.failures.append(internal_failure("a compiled version", entry.program.name, cause or error))

    def _native_call(self, make: Any, values: list[Any]) -> Any:
        parameters = tuple(self._signature.parameters.values())
        return make(values, parameters, (JitFunction, BoundJit, Entries, ATTRIBUTE))

    # -- what a user can ask -----------------------------------------------------------------------------------

    def explain(self) -> Explanation:
        """What was compiled, what was not, and why: versions, guards, graphs, fallbacks, recompilations."""
        return Explanation(self, self._stores())

    def _stores(self) -> list[Entries]:
        """Own versions, and those of all instances that this method was called on."""
        return [self._own, *members(self._of_instances)]

    @property
    def __wrapped__(self) -> Any:
        return self.fn

    @property
    def stats(self) -> dict[str, Any]:
        """Number of versions, calls answered by them, time spent in capture and compilation (ms)."""
        entries = [entry for store in self._stores() for entry in store.compiled]
        return {
            "versions": len(entries),
            "hits": sum(e.hits for e in entries),
            "capture_ms": sum(e.capture_ms for e in entries),
            "compile_ms": sum(e.compile_ms for e in entries),
            "fallbacks": sum(len(store.fallbacks) for store in self._stores()),
        }


class BoundJit:
    """A jitted method bound to its instance."""

    __slots__ = ("__self__", "function")

    def __init__(self, function: JitFunction, obj: Any) -> None:
        self.function, self.__self__ = function, obj

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self.__self__, *args, **kwargs)

    def captured_target(self) -> Any:
        """What a program that is being captured calls instead."""
        return types.MethodType(self.function.fn, self.__self__)

    @property
    def __func__(self) -> JitFunction:
        return self.function

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundJit) and other.function is self.function and other.__self__ is self.__self__

    def __hash__(self) -> int:
        return hash((id(self.function), id(self.__self__)))

    def __reduce__(self) -> Any:
        return getattr, (self.__self__, self.function.fn.__name__)

    def explain(self) -> Explanation:
        """`JitFunction.explain` for the versions of this instance."""
        return Explanation(self.function, [self.function._store([self.__self__])])
