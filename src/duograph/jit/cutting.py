"""How a compiled function is cut (`cuts`): when, where, and what happens to its parts."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from duograph.autodiff.grads import gradient_of
from duograph.base.collection import no_collection
from duograph.base.diagnostics import Label
from duograph.base.failures import is_from_outside
from duograph.base.lookup import raw_getattr, raw_hasattr
from duograph.core.op import restoring
from duograph.frontend.rules.budget import OutOfTime
from duograph.frontend.rules.errors import Uncapturable, WholeOnly
from duograph.frontend.split.hoist import Place
from duograph.frontend.split.plan import can_be_cut

from .cuts import Cut, statements_at, variables_of
from .entries import Entries, Fallback, without_frames
from .foreseen import further_labels
from .policy import WORTH, Comparison
from .telling import tell_breaks


class Cutting:
    """A part of `JitFunction`, which has the attributes."""

    __slots__ = ()

    cut: Cut | None

    def _cut_at(self: Any, error: Uncapturable, cause: Fallback, places: frozenset[Place]) -> bool:
        """Lets the rest of the function be compiled, and the statement that ``error`` came up in be plain Python.

        ``places`` are those it was cut at when the capture began. Gives whether that is possible.
        """
        if self.options.signature is not None or self._python is None:
            return False
        if self.target is not None and not raw_hasattr(self.target, "run_instead"):  # another callable object
            return False
        if isinstance(error, OutOfTime | WholeOnly):  # what has taken too long as a whole may do so in each part
            return False
        try:
            if self.cut is None and (
                gradient_of(self._python) is not None or can_be_cut(self.load(self._python), variables_of(self._python))
            ):
                self.cut, self.comparison = Cut(self, cause, self._segment, self.part_of), Comparison()
            elif self.cut is not None:
                self.cut.causes.append(cause)
            found = statements_at(error, self)
            tell_breaks(self, found.values())
            return self.cut is not None and self.cut.note(found, places)
        except Uncapturable:  # it has no source
            return False

    @restoring
    @no_collection
    def _cut_while_resting(self: Any, store: Entries, names: tuple[str, ...], values: list[Any]) -> None:
        self._cut_at_what_varies(store, names, values)

    def _cut_at_what_varies(self: Any, store: Entries, names: tuple[str, ...], values: list[Any]) -> bool:
        """Versions for each value of something have been of no use: the statement that needs the value is plain Python
        from now on, and the others are compiled for all values. Gives whether that is possible."""
        refusal, store.refusal = store.refusal, None
        unsteady, store.attempts.has_news = store.attempts.unsteady, False
        if self._is_strict() or (refusal is None and unsteady <= store.attempts.known_unsteady):
            return False
        if refusal is None:
            store.attempts.known_unsteady = unsteady
            try:
                self._capture(names, values, set(), {}, unsteady=unsteady)
            except Uncapturable as error:
                refusal = without_frames(error)
            except Exception as error:  # what the program raises is a path of its graph
                if is_from_outside(error):
                    raise
        if refusal is None or not refusal.trail:
            return False
        self._refuse(store, names, values, refusal.reason, refusal.span, refusal)
        if not self._cut_at(refusal, store.fallbacks[-1], self.cut.places if self.cut is not None else frozenset()):
            store.fallbacks.pop()
            return False
        for entry in [e for e in store.compiled if e.hits < WORTH]:
            store.drop(entry)
            self._shared.drop(entry)
        return True

    def _with_further(self: Any, labels: tuple[Label, ...]) -> tuple[Label, ...]:
        """The label of a refusal, and those of what else would be refused, as far as that is foreseen."""
        if self._python is None:
            return labels
        try:
            source = self.load(self._python)
        except Uncapturable:
            return labels
        return (*labels, *further_labels(source, self._python, labels[0] if labels else None))

    def _segment(self: Any, fn: types.FunctionType, cut: Cut | None = None, segment: Any = None) -> Any:
        """A function that is compiled as this one is, on behalf of it."""
        made = type(self)(fn, replace(self.options, strict=None, signature=None, report=False, is_exact=True))
        made.part_of = (cut, segment) if cut is not None else None
        made.is_auxiliary = True
        made.spent, made.left_parts = self.spent, self.left_parts
        return made

    def works(self: Any) -> Iterator[float]:
        """What calls save tapes (`Entry.work`), of its versions and of all that it is cut into: for each the most that
        one version does; nothing for what is compiled nowhere."""
        found = [entry.work for store in self._stores() for entry in store.compiled]
        if found:
            yield max(found)
        if self.cut is not None:
            yield from self.cut.works()

    def _note_no_use(self: Any, finer: bool = False) -> None:
        """``finer``: parts of this segment may be of use, still."""
        self.is_no_use = True
        if self.part_of is not None:
            cut, segment = self.part_of
            cut.note(cut.halves(segment) if finer else dict.fromkeys(segment.places))

    def guards_for(self: Any, args: tuple[Any, ...]) -> Callable[[], Any] | None:
        """What checks the guards of the version that a call with these arguments tries first."""
        values = [self._subject, *args] if self._subject is not None else list(args)
        latest = self._store(values).compiled[:1]
        native = latest[0].guards.native if latest else None
        return partial(native, *values) if native is not None else None

    def as_construct_of(self: Any, cell: Any) -> Any:
        """What ``cell.construct = self`` means: ``jit(cell)`` compiles the ``construct`` that the Cell had, not a call
        of the Cell, which would call its ``construct`` again."""
        if self.target is cell:
            return type(self)(self.fn, self.options)
        if raw_getattr(self.fn, "__self__") is not cell or self.fn.__name__ != "__call__":
            return self
        had = cell.construct  # of a class with a ``__call__`` of its own
        return had if hasattr(type(had), "captured_target") else type(self)(had, self.options)

    def captured_target(self: Any) -> Any:
        """What a program that is being captured calls instead."""
        return self.target or self.fn
