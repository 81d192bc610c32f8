"""A call that a version answers, and what is done where it fails: plain Python's answer, another version, or none."""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import Any

from duograph.autodiff.entries import Underivable
from duograph.base.diagnostics import InternalError
from duograph.base.failures import SHORTAGE, about, internal_failure
from duograph.core.dim import UnknownSizeError
from duograph.core.op import binding, state
from duograph.frontend.programs.printing import Noted, noted, withheld
from duograph.frontend.programs.program import Left, RunPlainly
from duograph.frontend.rules.errors import Uncapturable

from .conditions import is_possible_now, is_possible_under_tapes
from .entries import Entries, Fallback
from .entry import LEVELS, Entry, RunFailed
from .excused import is_excused
from .keys import key_of_call
from .policy import fails_too_often

NOTHING = nullcontext()


class Running:
    """How a compiled function runs its versions. A part of `JitFunction`, which says what the attributes are."""

    __slots__ = ()

    def _run(self: Any, entry: Entry, store: Entries, values: list[Any], begun: float, args: Any, kwargs: Any) -> Any:
        store.note_use(entry)
        if entry.runs and self.options.signature is None and is_possible_now():
            native = self._native_call(entry.make_native, values)
            if self._is_compared(entry, store, native):
                return self._run_compared(entry, store, native, begun, args, kwargs)
            store.put_native(entry, native)
        if state.tapes and entry.is_plain_for_tapes(values):
            if entry.program.grows_lists and (made := self._with_gradients(entry, store, values)) is not None:
                return self._run(made, store, values, time.perf_counter(), args, kwargs)
            entry.plain_runs += 1
            return (self.plain or self.fn)(*args, **kwargs)
        if (
            state.tapes
            and entry.taped_runs
            and entry.may_be_taped
            and self.options.signature is None
            and is_possible_under_tapes()
        ):
            store.put_taped(entry, self._native_call(entry.make_taped, values))
        done: Noted | None = None
        left = False
        with binding(None):
            try:
                if not entry.program.token:
                    return entry.run(values)
                with noted() as done:
                    return entry.run(values)
            except RunPlainly as planned:
                cause = planned.args[0]
                left = isinstance(planned, Left)
            except RunFailed as error:
                cause = error.__cause__
        if left and (made := self._recorded_anew(entry, store, values)) is not None and not done:
            return self._run(made, store, values, time.perf_counter(), args, kwargs)
        entry.plain_runs += 1
        is_given_up = not (left or isinstance(cause, SHORTAGE)) and fails_too_often(entry.plain_runs, entry.hits)
        if is_given_up:  # before Python's answer, which may be an exception
            self._retire(entry, store, values, cause, "what it computes raises too often")
        failed = time.perf_counter()
        try:
            with withheld(done) if done else NOTHING:  # not `_plain`: one frame less between the user's lines
                result = (self.plain or self.fn)(*args, **kwargs)  # nothing else has happened: it raises, catches there
        finally:
            if not done:
                self._look_no_more(store, store.compiled, failed - begun, time.perf_counter() - failed, store)
        if left or isinstance(cause, SHORTAGE):
            return result
        if entry.patterns and isinstance(cause, UnknownSizeError):  # a gradient; with the sizes at hand there is one
            store.sizes.refuse(entry.patterns, str(cause))
            with store.lock:
                store.drop(entry)
                self._shared.drop(entry)
            return result
        if isinstance(cause, Underivable) or type(cause) is UnknownSizeError:
            entry.program.plain_for_gradients = True
        if not (is_given_up or entry.program.catches or is_excused(cause)):
            self._retire(entry, store, values, cause)  # it did neither: the version is wrong, not the program
        return result

    def _recorded_anew(self: Any, entry: Entry, store: Entries, values: list[Any]) -> Entry | None:
        """The version that knows this run, too, which has left ``entry``; ``None``: plain Python is to answer."""
        with store.lock:
            store.drop(entry)
            self._shared.drop(entry)
            made = self._compile(store, entry.names, values, entry)
            if made is not None and made.program.recorded == entry.program.recorded is not None:
                store.drop(made)
                made.program.recorded = None
                made = self._compile(store, entry.names, values, made)
            store.doubt = None
        return made

    def _retire(
        self: Any, entry: Entry, store: Entries, values: list[Any], cause: BaseException | None, why: str = ""
    ) -> None:
        """Plain Python answers from now on what ``entry`` failed to, though it had promised to be valid."""
        with store.lock:
            store.drop(entry)
            self._shared.drop(entry)
            what = f"{type(cause).__name__}: {cause}" if cause is not None else "it raised what Python does not raise"
            error: Exception = InternalError(what, stage="a compiled version") if not why else Uncapturable(why)
            reason = why or f"the compiled version failed: {what}"
            store.fallbacks.append(Fallback((entry.names, key_of_call(values)), reason, None, str(error), error))
        if not why:
            with about(entry.program.graph, LEVELS[entry.level], entry.values_for(values)):
                store.failures.append(internal_failure("a compiled version", entry.program.name, cause or error))

    def _native_call(self: Any, make: Any, values: list[Any]) -> Any:
        return make(values, self._parameters, self._classes)
