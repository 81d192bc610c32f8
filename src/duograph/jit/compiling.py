"""One more version for a call: capture, compile, and what is done where that is refused or fails."""

from __future__ import annotations

import logging
import time
from traceback import format_exception
from typing import Any

from duograph.base.collection import no_collection
from duograph.base.config import refresh_config
from duograph.base.diagnostics import Diagnostic, Label, diagnostic_error
from duograph.base.events import emit
from duograph.base.failures import ExtensionError, about, internal_failure, is_from_outside
from duograph.base.render import render
from duograph.core.op import restoring, state
from duograph.frontend.rules.budget import share_left
from duograph.frontend.rules.errors import BetterApart, NotYet, Uncapturable

from .capturing import unless_too_deep
from .comments import check_comments
from .cuts import is_light
from .entries import PLAINLY, Entries, Fallback
from .entry import LEVELS, Entry, PassFailed
from .keys import key_of_call
from .misses import near_misses, note_misses, renewed
from .policy import MOST_UNUSED, changes
from .shared import for_others
from .telling import fallbacks, log, name_of, tell_captured, tell_fallback

logger = logging.getLogger("duograph")


class Compiling:
    """How a compiled function gets its versions. A part of `JitFunction`, which says what the attributes are."""

    __slots__ = ()

    @unless_too_deep
    @restoring
    @no_collection
    def _compile(
        self: Any, store: Entries, names: tuple[str, ...], values: list[Any], left: Entry | None = None
    ) -> Entry | None:
        """A new version; ``left``: in the place of this one, which knows no run that decides as this call."""
        refresh_config()
        emit("compiling", function=self)
        if self._python is not None and self._is_new and not self.is_auxiliary:
            check_comments(self._python)
            self._is_new = False
        store.doubt = None
        store.attempts.captures += 1
        changes[0] += 1
        places = self.cut.places if self.cut is not None else frozenset()
        if left is None and (entry := renewed(store, names, values) or for_others(store, names, values)) is not None:
            return entry
        near = near_misses(store.compiled, names, values) if left is None else []
        dynamic = note_misses(self, store, names, values, near, left)
        if store.attempts.unsteady and self._cut_at_what_varies(store, names, values):
            return None
        patterns = self._patterns(store, names, values)
        if not self.is_auxiliary:
            self.spent.seconds = 0.0
        started, begun = time.perf_counter(), time.thread_time() - self.spent.seconds
        entry = None
        try:
            program = self._general(store, names, values, dynamic, patterns, near, begun, left)
            if program is None:
                share = self.least_share if store.is_late else share_left(begun, self.least_share)
                program = self._capture(names, values, set(), {}, share, left=left)
            entry = self._entry(program, names, started)
            if near and program.symbols and not state.tapes and (why := entry.loses_to(near[0].entry)):
                store.sizes.refuse(patterns, why)
                entry = self._entry(self._capture(names, values, set(), {}), names, started)
        except BetterApart as exc:
            cause = Fallback((names, key_of_call(values)), exc.reason, exc.span, exc.reason, exc)
            if self._cut_at(exc, cause, places):
                return None
            self._may_break = False
        except Uncapturable as exc:
            if isinstance(exc, NotYet) and store.attempts.postpones():
                return None
            self._refuse(store, names, values, exc.reason, exc.span, exc)
            if not self._cut_at(exc, store.fallbacks[-1], places):
                tell_fallback(self, store.fallbacks[-1])
                self._note_no_use()
            else:
                fallbacks.info(store.fallbacks[-1].rendered_cut)
            return None
        except PassFailed as failed:
            with about(failed.graph, LEVELS[self._level()]):
                failure = internal_failure("a pass", failed.name, failed.error)
            store.failures.append(failure)
            self._refuse(store, names, values, str(failure), None, failed.error)
            return None
        except MemoryError:  # there may be more at the next call
            if self._is_strict():
                raise
            return None
        except Exception as exc:  # an error of the program itself, or ours: plain Python shows which (`_judged`)
            if is_from_outside(exc) or isinstance(exc, ExtensionError):
                raise
            if logger.isEnabledFor(logging.DEBUG):  # as text: records may be kept, and would keep the arguments
                logger.debug("capture of %s failed: %s", self, "".join(format_exception(exc)))
            store.doubt = exc, exc.__traceback__
            self._refuse(store, names, values, f"{type(exc).__name__}: {exc}", None, exc)
            return None
        if entry is None:  # it cannot be cut
            return self._compile(store, names, values, left)
        entry.verify(values)
        if self.is_auxiliary and is_light(entry.graph, len(entry.program.guards.guards)):
            self._note_no_use()
        tell_captured(self, entry)
        if store.compiled:  # there will be misses
            entry.prepare(values)
        store.add(entry)
        if self._subject is not None or self._method is not None:
            self._shared.add(entry)
        if self.part_of is not None and sum(e.hits <= 1 for e in store.compiled) > MOST_UNUSED:
            self._note_no_use(finer=True)
        return entry

    def _refuse(
        self: Any, store: Entries, names: tuple[str, ...], values: list[Any], reason: str, span: Any, exc: Exception
    ) -> None:
        text = f"{name_of(self.fn)} cannot be compiled: {reason}"
        labels = (Label(span, reason),) if span is not None else ()
        diagnostic = Diagnostic("DG0102", text, labels, help=PLAINLY)
        if self._is_strict():
            if isinstance(exc, Uncapturable):
                raise diagnostic_error(RuntimeError, Diagnostic("DG0104", text, self._with_further(labels))) from None
            raise exc
        rendered = render(diagnostic)
        store.fallbacks.append(Fallback((names, key_of_call(values)), reason, span, rendered, exc))
        log(self, "graph_break", rendered)
