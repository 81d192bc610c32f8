"""How a compiled function finds out whether it pays (`policy.Comparison`), and where calls go natively."""

from __future__ import annotations

import time
import types
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from duograph.base.config import config
from duograph.base.lookup import raw_getattr
from duograph.base.modes import graph_mode
from duograph.base.tracing import may_be_traced
from duograph.frontend.rules.errors import Uncapturable

from .account import meter_for
from .compiled import executables_of
from .conditions import is_possible_now, is_possible_under_tapes
from .cuts import Cut, is_light, measured
from .entries import Entries, Fallback
from .entry import Entry
from .policy import EXACT, RAISING, SECONDS, Comparison, changes, computes_too_little, is_minor, let, may_not_pay
from .signature import framework_call
from .telling import advise


def function_under(construct: Any) -> Any:
    """The Python function that a ``construct`` runs: bound, compiled, or itself."""
    found = raw_getattr(construct, "function", construct)  # of a `BoundJit`
    found = raw_getattr(found, "fn", found)
    return raw_getattr(found, "__func__", found)


class Comparing:
    """A part of `JitFunction`, which has the attributes."""

    __slots__ = ()

    comparison: Comparison
    left: Fallback | None
    _instead: Any  # where the next calls go natively (`Instead`)
    _account: Any  # what they count for

    def _may_compare(self: Any) -> bool:
        """Whether plain Python may answer instead of what is compiled, as things are."""
        options = self.options
        return (
            config().compare and is_possible_now() and options.signature is None and not options.is_pijit
            and not options.backend and not self._is_strict() and not self._is_lazy
        )  # fmt: skip

    def _timed_in_turn(
        self: Any,
        comparison: Comparison,
        compiled: Callable[..., Any],
        plain: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """An answer that is timed, if the comparison wants one now."""
        way, before = comparison.way(), changes[0]
        run = compiled if way is not False else plain
        is_mine = not comparison.is_busy
        comparison.is_busy, raised = True, True
        started = time.perf_counter()
        try:
            result = run(*args, **kwargs)
            raised = False
            return result
        finally:
            seconds = time.perf_counter() - started
            if is_mine:
                comparison.is_busy = False
                if changes[0] != before:
                    comparison.changed()
                elif way is None:
                    comparison.passed()
                elif comparison.counts(raised):
                    comparison.note(way, seconds)
                    changes[0] += 1  # for calls around this one

    # -- one version -------------------------------------------------------------------------------------------

    def _is_compared(self: Any, entry: Entry, store: Entries, native: Any) -> bool:
        """Whether it is to be found out if this version pays, which has more to do than to run its kernels."""
        comparison = entry.comparison
        if comparison.loses:
            store.leave_out(native)
            return self._may_compare()  # plain Python answers
        is_open = comparison.pays is None or (comparison.pays and entry.hits >= comparison.again)
        if not is_open or comparison.is_busy or not self._may_compare():
            return False
        has_failed = entry.plain_runs > RAISING  # what other calls gain is to make up for those that fail
        if comparison.ask_again(entry.hits) or (has_failed and native is not None and native in store.native):
            store.leave_out(native)
        # In graph mode plain Python compiles the Cells that it calls, which costs more than can be gained.
        is_costly = graph_mode.value() and any(g.check == "cell" for g in entry.guards.guards)
        if native is None or entry.program.token or any(path.finish is not None for path in native.plan.paths):
            return not is_costly
        decide = computes_too_little if self.is_auxiliary or is_costly else may_not_pay
        if is_light(entry.graph, len(entry.guards.guards), decide):
            return True
        return has_failed or any(made.notes for made in executables_of(entry.graph))  # steps in Python cost much

    def _run_compared(
        self: Any,
        entry: Entry,
        store: Entries,
        native: Any,
        begun: float,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        if entry.comparison.loses:
            return self._answer_losing(entry, store, begun, args, kwargs)
        before = store.native
        others = [other for other in before if other is not native]
        middle = len(others) // 2  # where it is tried on average
        store.native = tuple(others if native is None else [*others[:middle], native, *others[middle:]])
        if entry.comparison.way() is False:
            self._let(None, 1, self.plain or self.fn)
        try:  # both ways as later calls will go
            return self._timed_in_turn(entry.comparison, self, self, args, kwargs)
        finally:
            store.native = before
            if entry.comparison.pays is False:
                used = [e for store in self._stores() for e in store.compiled if not is_minor(e.hits, entry.hits)]
                if not any(e.comparison.pays is not False for e in used):
                    self._leave(entry.comparison)

    def _answer_losing(
        self: Any, entry: Entry, store: Entries, begun: float, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Plain Python's answer to a call of a version that Python leads and that loses, while others are in use."""
        started = time.perf_counter()
        try:
            return (self.plain or self.fn)(*args, **kwargs)
        finally:
            comparison = entry.comparison
            comparison.look(1, time.perf_counter() - started)
            self._look_no_more(store, store.compiled, started - begun, comparison.plain, store)

    def _leave(self: Any, comparison: Comparison) -> None:
        """Plain Python answers from now on."""
        changes[0] += 1
        if self.is_auxiliary:
            self.left_parts.append(f"{self}: {comparison.reason}")
            self._note_no_use(finer=self.part_of is not None)
            return
        reason = comparison.reason
        self.comparison, self.left = comparison, Fallback(None, reason, None, reason, Uncapturable(reason))
        self._own.fallbacks.insert(0, self.left)

    def _answer_left(self: Any, left: Fallback, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Plain Python's answer, since what is compiled does not pay."""
        calls, started = left.weight, time.perf_counter()
        try:
            return (self.plain or self.fn)(*args, **kwargs)
        finally:
            seconds = time.perf_counter() - started
            left.count(seconds)
            if self.comparison.look(calls, seconds):
                self._return()
                for entry in [e for store in self._stores() for e in store.compiled]:
                    entry.comparison = self.comparison
            else:
                self._let(left, let(left.hits), self.plain or self.fn, is_quiet=True)

    def _return(self: Any) -> None:
        """What is compiled answers again."""
        left, self.left = self.left, None
        if left is not None:
            self._own.fallbacks = [f for f in self._own.fallbacks if f is not left]

    def _timed(self: Any, cause: Fallback | Entries, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Plain Python's answer, on the account of what it is due to."""
        started = time.perf_counter()
        try:
            return (self.plain or self.fn)(*args, **kwargs)
        finally:
            cause.count(time.perf_counter() - started)
            if cause.seconds > SECONDS:
                advise(self, self._stores())

    # -- calls that go elsewhere -------------------------------------------------------------------------------

    def _let(
        self: Any,
        account: Fallback | Cut | Entries | None,
        calls: int,
        callee: Any,
        is_quiet: bool = False,
        present: Any = None,
        function: Any = None,
    ) -> None:
        """Lets the next calls go to ``callee`` natively (`Instead.let`), on an account."""
        if self.options.signature is not None:  # Python looks at each call
            return
        if self._instead is None:
            if not is_possible_under_tapes():
                return
            from .native_call import instead

            self._instead = instead(self._classes)
            if self._instead is None:
                return
        self._instead.let(calls, callee, is_quiet, present, function)
        self._account = account

    def _look_no_more(
        self: Any, store: Entries, entries: Sequence[Entry], lost: float, plain: float, account: Any
    ) -> None:
        """Lets further calls go to plain Python natively, where no version is of use to them, or those that none
        answers lose more than the others gain.

        Args:
            store: of the call, which no version answers.
            entries: those that might have.
            lost: seconds for which they were tried.
            plain: seconds that a call takes in plain Python.
            account: what such calls count for.
        """
        if store is not self._own:
            return
        if not any(entry.hits > 1 for entry in entries):
            calls = store.attempts.rest
        elif plain and self._may_compare():
            answered = sum(entry.hits for entry in entries)
            gained = sum(entry.hits * entry.comparison.gain(plain) for entry in entries)
            calls = store.attempts.pause(answered, gained / answered, lost, plain)
        else:
            calls = 0
        if calls:
            self._let(account, calls, self.plain or self.fn)

    def _settle(self: Any) -> None:
        """Puts calls that have gone elsewhere on the account that they belong to; Python leads the next one."""
        account, self._account = self._account, None
        if account is not None and (taken := self._instead.end()):
            account.passed(taken)

    def _settle_all(self: Any) -> None:
        """`_settle`, before somebody is told."""
        self._settle()
        if self.cut is not None:
            self.cut.settle()

    def _answer_cut(self: Any, skeleton: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The answer of the form with graph breaks to one of many calls, after a look at what these have been like."""
        cut = self.cut
        if not self.is_auxiliary:
            self.spent.seconds = 0.0
        cut.cause.hits += 1
        if cut.kinds.is_told(cut.cause.hits):
            if not cut.is_in_use():
                cut.retire()
                self._note_no_use()
            cut.settle()
            if not self.is_auxiliary:
                advise(self, self._stores())
        return self._run_cut(skeleton, args, kwargs)

    def _run_cut(self: Any, skeleton: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The answer of the form with graph breaks."""
        cut, comparison = self.cut, self.comparison
        may_go = is_possible_now() and not self.options.is_pijit
        may_tell = may_go and not comparison.is_busy and self._may_compare()  # not within a call that is timed
        if may_tell and (comparison.ask_again(cut.cause.hits) or comparison.pays is None):
            if comparison.way() is None:
                cut.seen += 1
            else:
                skeleton = cut.quick or skeleton
                cut.unseen += 1
            try:
                return self._timed_in_turn(comparison, self._called(skeleton), self.plain or self.fn, args, kwargs)
            finally:
                if comparison.pays is False and self._has_versions():
                    cut.retire()  # calls of other kinds are compiled
                elif comparison.pays is False:
                    self._leave(comparison)
        if may_go and cut.cause.hits > EXACT and not self._has_versions():
            self._let(cut, let(cut.cause.hits), self._called(cut.quick or skeleton), True, config(), self._python)
        cut.seen += 1
        meter, begins = meter_for(skeleton, cut.cause.hits)
        if meter is None:
            return self._called(skeleton)(*args, **kwargs)
        result = meter.run(partial(self._called(measured(skeleton, meter)), *args, **kwargs))
        if begins:
            cut.account.add(meter)
        return result

    def may_be_passed_by(self: Any) -> bool:
        """Whether the form with graph breaks can answer without a look at the call, as things are."""
        is_same = self._python is not None and self._python.__code__ is self._code
        is_simple = self.target is None and self.options.signature is None and not self.options.is_pijit
        return is_same and is_simple and self.left is None and is_possible_under_tapes() and not may_be_traced()

    def _called(self: Any, skeleton: Callable[..., Any]) -> Callable[..., Any]:
        """What takes the arguments of the function and lets ``skeleton`` answer."""
        if self.target is not None:

            def called(*args: Any, **kwargs: Any) -> Any:
                has_call = self.plain is self.target and framework_call(self.target) is not self.target
                if has_call or function_under(self.target.construct) is not self._python:  # it has got it since
                    return self._plain(args, kwargs)
                return self.target.run_instead(skeleton, args, kwargs)

            return called
        return partial(skeleton, self.fn.__self__) if isinstance(self.fn, types.MethodType) else skeleton
