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
from contextlib import suppress
from copy import deepcopy
from typing import Any

from duograph.autodiff.hooks import call_user
from duograph.base.collection import members
from duograph.base.config import config
from duograph.base.diagnostics import InternalError
from duograph.base.lookup import raw_getattr, raw_hasattr
from duograph.base.modes import graph_mode
from duograph.base.tracing import may_be_traced, tracer_of
from duograph.core.op import state, stepping
from duograph.frontend.load import LOADERS
from duograph.frontend.programs.printing import left_over, withheld
from duograph.frontend.programs.program import Program
from duograph.frontend.rules.budget import Spent
from duograph.frontend.rules.errors import Uncapturable
from duograph.frontend.rules.policy import look_of, request
from duograph.frontend.values.functions import signature_of
from duograph.tensor.numerics import Checker, check_numerics

from .bound import BoundJit, GivenAttributes
from .capturing import Capturing
from .comparing import Comparing
from .compiling import Compiling
from .cuts import Cut
from .cutting import Cutting
from .entries import ATTRIBUTE, Entries, Fallback, first_that_holds, statistics
from .explain import Explanation
from .keys import key_of_call, key_of_method, make_room
from .options import JitOptions
from .policy import SURE, Comparison
from .running import NOTHING, Running
from .shared import Shared, shared_by, subject_of
from .signature import SUBJECT, check_signature
from .telling import name_of, tell_fallback, tell_traced

logger = logging.getLogger("duograph")
LAZY = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR  # a call takes no time, its steps do


class JitFunction(GivenAttributes, Capturing, Comparing, Cutting, Compiling, Running):
    """The compiled form of ``fn``.

    Args:
        fn: a Python function, or anything callable with a signature.
        options: how to compile.
        target: what is captured, if not ``fn`` itself (a Cell: its call includes hooks); ``fn`` gives the signature.
        plain: what runs if nothing is compiled, if not ``fn`` itself.

    Calls are native once a version has run (``runtime/calls/native.py``); `__call__` does what native code does not.
    """

    __slots__ = ("__dict__", "__weakref__", "_instead", "_method", "_own", "_subject")  # native code: the last four

    _method: str | None  # key of this function's versions in the table of an instance; None: it is no method
    _own: Entries
    _subject: Any  # what versions for others have to look into: it is their first argument; None: there is no such

    def __init__(
        self, fn: Callable[..., Any], options: JitOptions, target: Any = None, plain: Callable[..., Any] | None = None
    ) -> None:
        for name in functools.WRAPPER_ASSIGNMENTS:
            if hasattr(fn, name):
                setattr(self, name, getattr(fn, name))
        self.fn = fn
        self.options = options
        self.load = LOADERS[options.capture_mode]
        self.target = target
        self.plain = plain
        self._own = Entries()
        self._of_instances: weakref.WeakSet[Entries] = weakref.WeakSet()
        self.cut: Cut | None = None  # its form with graph breaks, once something in it could not be captured
        self.part_of: tuple[Cut, Any] | None = None  # a segment of a function that is cut: of which, and which one
        self.is_auxiliary = False  # a segment, or a function that a skeleton calls
        self.spent = Spent()  # its parts have the same one
        self.is_no_use = False  # compiled, it is no faster
        self.left_parts: list[str] = []  # its parts that are not, and what their calls take; they have the same list
        self.has_advised = self.has_told_fallback = False
        self.comparison = Comparison()  # of its form with graph breaks
        self.left: Fallback | None = None  # why plain Python answers, if what is compiled does not pay
        self._instead = self._account = None
        self.absent = 0  # calls in which the decoration counted as absent
        self._may_break = True  # at steps that graphs run in Python
        self._is_lazy = False
        self._read_signature()

    def _read_signature(self) -> None:
        """How the function is called, and what was compiled for others of its code."""
        fn = self.fn
        plain = fn.__func__ if isinstance(fn, types.MethodType) else fn
        self._python = plain if isinstance(plain, types.FunctionType) else None
        if isinstance(plain, types.FunctionType):
            self._code = plain.__code__
            request(plain)
            self._signature = signature_of(plain)
            self._is_new = True
            self._is_lazy = bool(plain.__code__.co_flags & LAZY)
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
        self._method = key_of_method(plain) if self._first else None
        self._subject = subject_of(self)
        self._shared = Shared() if self._subject is None else shared_by(self._subject, self.options)
        self._own.take(self._shared.entries)

    def __get__(self, obj: Any, cls: Any = None) -> Any:
        return self if obj is None else BoundJit(self, obj)

    def __repr__(self) -> str:
        return f"<jit {name_of(self.fn)}>"

    def __reduce__(self) -> Any:
        found: Any = sys.modules.get(raw_getattr(self, "__module__") or "")
        for name in (raw_getattr(self, "__qualname__") or "").split("."):
            found = getattr(found, name, None)
        if found is self:  # what a module holds has its name, as the function has without the decorator
            return self.__qualname__
        return JitFunction, (self.fn, self.options, self.target, self.plain)

    def __copy__(self) -> Any:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """As of functions: they are not copied. Those of objects are about the copies of these."""
        if isinstance(self.fn, types.FunctionType) and self.target is None and self.plain is None:
            return self
        return JitFunction(*deepcopy((self.fn, self.options, self.target, self.plain), memo))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if state.binder is not None:  # called by a program that is being captured: part of it
            return call_user(self.target or self.fn, args, kwargs)
        if (done := left_over()) is not None:  # a native call of it has failed
            return withheld(done)(JitFunction.__call__)(self, *args, **kwargs)
        if self._account is not None:
            self._settle()
        observer = state.observer
        if (steps := observer is not None and observer.steps) and observer.leads(self):
            return observer.lead(self, self._code if self._python is not None else None, args, kwargs)
        if self.options.debug and observer is None and not self.is_auxiliary:
            with stepping.value():
                return self(*args, **kwargs)
        if not steps and may_be_traced() and (tracer := tracer_of(self._code if self._python is not None else None)):
            tell_traced(tracer)
            return self._plain(args, kwargs)
        if self.options.check_numerics or (observer is not None and observer.runs_plainly):
            return self._checked(args, kwargs)
        if (self.is_small and state.tapes) or not config().jit:
            return self._plain(args, kwargs)
        if self.options.is_pijit and graph_mode.value():
            self.absent += 1
            return self._plain(args, kwargs)
        if self._python is not None and self._python.__code__ is not self._code:
            self._read_signature()  # versions of the old code fail their guards
            self.cut, self.comparison = None, Comparison()
            self._return()
        if (left := self.left) is not None and not state.tapes and not steps:
            return self._answer_left(left, args, kwargs)
        given = None
        skeleton = self.cut.skeleton if self.cut is not None else None
        if kwargs and self._has_hooks():  # they get keyword arguments apart, and versions have all by position
            return self._plain(args, kwargs) if skeleton is None else self._answer_cut(skeleton, args, kwargs)
        if self.cut is not None and skeleton is not None:
            if state.tapes and self.cut.is_small:
                return self._plain(args, kwargs)
            has_signature = self.options.signature is not None
            if has_signature or self._has_versions() or self.cut.kinds.is_asked(len(self.cut.causes)):
                given = self._given(args, kwargs)
            if given is None:
                return self._answer_cut(skeleton, args, kwargs)
        elif (given := self._given(args, kwargs)) is None:
            return self._plain(args, kwargs)  # Python's own error for wrong arguments, and no other before it
        names, values = given
        if self.options.signature is not None:
            check_signature(self.options.signature, values[self._first :])
        store = self._store(values)
        if store.is_small and state.tapes:
            return self._plain(args, kwargs)
        tried, begun = tuple(store.compiled), time.perf_counter()  # other threads may add versions meanwhile
        if (found := first_that_holds(tried, names, values)) is not None:
            return self._run(found, store, values, begun, args, kwargs)
        if self.cut is not None and skeleton is not None and self.cut.covers(names, values):
            return self._answer_cut(skeleton, args, kwargs)
        key = (names, key_of_call(values)) if store.fallbacks else None
        for fallback in store.fallbacks:
            if fallback.key == key and fallback.holds(values):
                if not self.has_told_fallback:  # it was cut, and nothing is left that is worth compiling
                    tell_fallback(self, fallback)
                if fallback.hits > SURE and not (tried or self._shared.entries) and store is self._own:
                    self._let(fallback, fallback.rest, self.plain or self.fn)
                elif tried:
                    plain = fallback.seconds / max(1, fallback.hits)
                    self._look_no_more(store, tried, time.perf_counter() - begun, plain, fallback)
                return self._timed(fallback, args, kwargs)
        shared = self._shared.find(names, values, self._level(), tried) if self._shared.entries else None
        if shared is not None:
            with store.lock:
                store.take([shared])
                store.add(shared)
            return self._run(shared, store, values, begun, args, kwargs)
        with store.lock:
            store.note_miss()
            added = [e for e in store.compiled if e not in tried and e.names == names]
            made = next((e for e in added if e.matches(values)), None)
            is_cut = self.cut is not None and self.cut.skeleton is not None and self.cut.covers(names, values)
            if made is None and not is_cut and (self._is_strict() or not store.is_backing_off()):
                made = self._compile(store, names, values)
                if self.options.report:
                    print(Explanation(self, [store]))
            elif made is None and not is_cut and (store.attempts.has_news or store.refusal is not None):
                self._cut_while_resting(store, names, values)
            doubt, store.doubt = store.doubt, None
        if made is not None and not (store.is_small and state.tapes):
            return self._run(made, store, values, time.perf_counter(), args, kwargs)
        if self.cut is not None and (skeleton := self.cut.skeleton) is not None:
            self.cut.cause.hits += 1
            return self._run_cut(skeleton, args, kwargs)
        lost, entries = time.perf_counter() - begun, (*tried, *self._shared.entries)
        self._look_no_more(store, entries, lost, store.plain_seconds, store)
        return self._timed(store, args, kwargs) if doubt is None else self._judged(doubt, store, args, kwargs)

    @property
    def is_small(self) -> bool:
        """Whether tapes are served op by op, whatever the arguments are (`Entry.is_small`)."""
        return self._own.is_small and self.options.signature is None

    def prepare(self, *args: Any, **kwargs: Any) -> None:
        """Compiles for these arguments without running.

        Raises:
            Exception: what the program raises for all arguments of these types, such as shapes that do not fit.
        """
        self._signature.bind(*args, **kwargs)  # raises what Python does
        given = self._given(args, kwargs)
        assert given is not None
        names, values = given
        store = self._store(values)
        if any(entry.names == names and entry.matches(values) for entry in store.compiled):
            return
        self._may_break = False  # segments are compiled when they are reached
        if (made := self._compile(store, names, values)) is None:
            error = store.fallbacks[-1].error if store.fallbacks else None
            if error is not None and not isinstance(error, Uncapturable | InternalError):
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
        names, values = tuple(bound.arguments), list(bound.arguments.values())
        return self._capture(names, values, set(), patterns, journals=False)

    def bound_values(self, args: Sequence[Any]) -> dict[str, Any]:
        """The arguments by the names of the parameters that they go to; ``*args`` is one tuple."""
        return dict(self._signature.bind(*args).arguments)

    @property
    def takes_varargs(self) -> bool:
        """Whether the function has a ``*args``."""
        return any(p.kind is p.VAR_POSITIONAL for p in self._signature.parameters.values())

    def _plain(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return (self.plain or self.fn)(*args, **kwargs)

    def _checked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Plain Python's answer, with the result of each operator looked at."""
        with NOTHING if isinstance(state.observer, Checker) else check_numerics():
            return self._plain(args, kwargs)

    def _judged(self, doubt: Any, store: Entries, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Plain Python's answer to a call whose capture raised: what the program does not raise was ours."""
        error, trace = doubt
        try:
            result = self._plain(args, kwargs)
        except Exception as raised:
            if type(raised).__name__ != type(error).__name__:
                self._note_failure(store, error.with_traceback(trace))
            raise
        self._note_failure(store, error.with_traceback(trace))
        return result

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[str, ...], list[Any]] | None:
        """Names and values of arguments, one per parameter given, as versions get them; ``None``: they are wrong."""
        simple = self._positional(args) if not kwargs else None
        if simple is None:
            with suppress(TypeError):
                bound = self._signature.bind(*args, **kwargs)
                simple = tuple(bound.arguments), list(bound.arguments.values())
        if simple is None or self._subject is None:
            return simple
        return (SUBJECT, *simple[0]), [self._subject, *simple[1]]

    def _has_versions(self) -> bool:
        """Whether some of its calls are compiled as a whole."""
        return any(store.compiled for store in self._stores())

    def _positional(self, args: tuple[Any, ...]) -> tuple[tuple[str, ...], list[Any]] | None:
        """Names and values of arguments, one per parameter given; ``None`` if that is for `inspect` to judge."""
        names = self._names
        n = len(args)
        if self._required <= n <= len(names):
            return names[:n], list(args)
        if n > len(names) and self._rest:
            return (*names, self._rest), [*args[: len(names)], args[len(names) :]]
        return None

    def _store(self, values: Sequence[Any]) -> Entries:
        """Versions of decorated methods, and those of Cells, live with the instance, so that they go when it goes."""
        may_keep = bool(values) and (not self.is_auxiliary or raw_hasattr(type(values[0]), "run_instead"))
        if may_keep and self._first and not look_of(type(values[0])):
            held = raw_getattr(values[0], "__dict__")
            if isinstance(held, dict):
                per_function = held.setdefault(ATTRIBUTE, {})
                store = per_function.get(self._method)
                if store is None:
                    make_room(per_function)
                    store = per_function.setdefault(self._method, Entries())
                self._of_instances.add(store)
                return store
        return self._own

    # -- compiling ---------------------------------------------------------------------------------------------

    @property
    def _classes(self) -> tuple[type, type, type, str]:
        """What takes part in native calls (`runtime.calls.native.Classes`)."""
        return JitFunction, BoundJit, Entries, ATTRIBUTE

    # -- what a user can ask -----------------------------------------------------------------------------------

    __wrapped__ = property(lambda self: self.fn)

    def explain(self) -> Explanation:
        """What was compiled, what was not, and why: versions, guards, graphs, fallbacks, recompilations."""
        self._settle_all()
        return Explanation(self, self._stores())

    def _stores(self) -> list[Entries]:
        """Own versions, and those of all instances that this method was called on."""
        return [self._own, *members(self._of_instances)]

    @property
    def answered(self) -> int:
        """Calls that versions have answered, of it and of what it is cut into."""
        self._settle()
        hits = sum(entry.hits for store in self._stores() for entry in tuple(store.compiled))
        return hits + (self.cut.answered if self.cut is not None else 0)

    @property
    def stats(self) -> dict[str, Any]:
        """Numbers of versions, calls answered by them, attempts to capture, graph breaks, checks of guards and misses;
        time spent in capture and compilation (ms). Captures, breaks, checks and misses of its segments count, too."""
        found = statistics(self._stores())
        found["breaks"] = len(self.cut.reasons) if self.cut is not None else 0
        for part in self.cut.current if self.cut is not None else ():
            for name in ("captures", "guard_checks", "guard_misses", "breaks"):
                found[name] += part.stats[name]
        return found
