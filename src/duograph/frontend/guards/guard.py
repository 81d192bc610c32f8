"""Guards: what was assumed of a value, and sets of them, checked natively, by generated Python, or one by one.

    Guard ::= (Source, check, expected)

``check`` is the name of a kind (`kinds`). One by one answers which guard failed and why (`GuardSet.first_miss`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from duograph.base.diagnostics import InternalError
from duograph.base.failures import Failure, internal_failure, is_from_outside
from duograph.frontend.rules.sources import Pin, Source
from duograph.frontend.rules.written import Written

from . import attribute_kinds  # noqa: F401 - kinds, which register themselves
from .kinds import KINDS, Kind

if TYPE_CHECKING:
    from .native import Translator

__all__ = ["UNREADABLE", "Guard", "GuardSet"]

UNREADABLE = (AttributeError, KeyError, IndexError, TypeError, ValueError, ReferenceError)
"""What reading a source raises that is not there any more, or holds something else."""


MISSES = 4
"""So often guards fail one by one before a function is generated that checks them."""
RENEWALS = 4
"""So often a native check is made anew since it knew a dictionary that was replaced."""


def _is_missing(error: Exception) -> bool:
    """No: the guard does not hold. An exception of a signal handler says nothing of guards."""
    if is_from_outside(error):
        raise error
    return False


class Guard(NamedTuple):
    """An assumption."""

    source: Source
    check: str
    expected: Any

    @property
    def kind(self) -> Kind:
        return KINDS[self.check]

    @property
    def wanted(self) -> Any:
        """What capture saw, as it was."""
        return self.expected.value if isinstance(self.expected, Pin | _Key) else self.expected

    def holds(self, args: Sequence[Any]) -> bool:
        try:
            return bool(self.kind.holds(self.source.load(args), self.wanted))
        except UNREADABLE as error:
            return _is_missing(error)

    @property
    def is_about_code(self) -> bool:
        return self.kind.is_about_code(self.source)

    def __str__(self) -> str:
        return self.kind.text(self.source, self.wanted)

    def describe(self, args: Sequence[Any]) -> str:
        """Why this guard fails for ``args``, for the recompile log."""
        try:
            value = self.source.load(args)
        except UNREADABLE as exc:
            return f"{self.source} can no longer be read: {exc}"
        return self.kind.miss(self.source, self.wanted, value)


class GuardSet:
    """The guards of one compiled entry, in order of capture, without repetition."""

    def __init__(self) -> None:
        self._guards: dict[Guard, None] = {}
        self.same_objects: dict[tuple[Source, Source], None] = {}
        self.other_objects: dict[tuple[Source, Source], None] = {}
        """Pairs of sources of different objects: what the program writes into one does not show in the other."""
        self.apart: tuple[Source, ...] = ()
        """Sources that all give different objects."""
        self._check: Callable[..., bool] | None = None
        self.native: Callable[..., bool] | None = None  # the same check, if it is native
        self._translated: Translator | None = None  # the guards as `native` has them, for a native call to go on with
        self._is_provisional = False  # it has been generated without arguments for which the guards hold
        self._misses = self._renewals = 0
        self.failures: list[Failure] = []

    def add(self, source: Source, check: str, expected: Any) -> None:
        try:
            self._guards[Guard(source, check, expected)] = None
        except TypeError:  # it cannot be hashed
            self._guards[Guard(source, check, _Key(expected))] = None

    def add_different(self, one: Source, two: Source) -> None:
        """Two sources are to give two objects."""
        if (two, one) not in self.other_objects:
            self.other_objects[one, two] = None

    def keep_apart(self, sources: Sequence[Source]) -> None:
        """This many sources are to give so many objects, which none of those does that were kept apart before."""
        if len(sources) > 1:
            self.apart = tuple(dict.fromkeys((*self.apart, *sources)))

    @property
    def guards(self) -> list[Guard]:
        return list(self._guards)

    def check(self, args: Sequence[Any]) -> bool:
        """Whether the entry is valid for these arguments; one native function, or a generated one."""
        if self._check is None:
            return self._first_check(args)
        try:
            holds = self._check(*args)
        except UNREADABLE as error:
            return _is_missing(error)
        if holds and self._is_provisional:
            self._make_native(args)
        return holds

    def prepare(self, args: Sequence[Any]) -> None:
        """Makes the native check, as misses are to be expected.

        Args:
            args: arguments for which all guards hold, as a rule.
        """
        if self._check is None:
            self._first_check(args)

    def _first_check(self, args: Sequence[Any]) -> bool:
        """Checks one by one; when all guards hold, their present values tell how to check them natively.

        Many versions are never used again: nothing is generated for them, unless they go on being asked.
        """
        if self.check_one_by_one(args):
            self._make_native(args)
            return True
        self._misses += 1
        if self._misses == MISSES:
            self._is_provisional, self._check = True, self._generated()
        return False

    def check_one_by_one(self, args: Sequence[Any]) -> bool:
        """`check`, and nothing is generated for it."""
        return all(guard.holds(args) for guard in self._guards) and self._miss_between(args) == ""

    def _miss_between(self, args: Sequence[Any]) -> str:
        """Which objects are not the same, or not different, as they were; empty if they are."""
        for one, two in self.same_objects:
            if one.load(args) is not two.load(args):
                return f"{one} and {two} were the same tensor"
        for one, two in self.other_objects:
            if one.load(args) is two.load(args):
                return f"{one} and {two} were different objects"
        if len({id(source.load(args)) for source in self.apart}) < len(self.apart):
            return f"{', '.join(map(str, self.apart))} were different objects"
        return ""

    def _make_native(self, args: Sequence[Any]) -> None:
        self._is_provisional = False
        try:
            self.native = self.native_form(args, keeps=True)
            self._check = self.native or self._generated()
        except MemoryError:  # no room for code now: one by one, and the next call tries again
            self._check = None
        except Exception as error:  # noqa: BLE001 - the policy
            self.failures.append(internal_failure("a guard", "its native form", error))
            self._check = self._generated()

    def native_form(self, args: Sequence[Any], keeps: bool = False) -> Callable[..., bool] | None:
        """A native check, not kept; ``None`` if native code cannot be used in this Python.

        Args:
            args: arguments for which all guards hold: the check is asked for them, as one that fails there always does.
            keeps: the next call of `translated` gives the same program: guards may be many.

        Raises:
            InternalError: it fails, and not because another thread has changed something meanwhile.
        """
        from duograph.runtime.python.cpython import Unsupported

        try:
            translator = self.translated(args)
            self._translated = translator.copy() if keeps else None
            made: Callable[..., bool] = translator.program.function()
        except Unsupported:
            return None
        if not made(*args) and self.check_one_by_one(args):
            raise InternalError("the native check fails although each guard holds", stage="guards")
        return made

    def renew(self) -> None:
        """The check fails though all guards hold: it is made anew, or if that was of no use for long, in Python."""
        self._renewals += 1
        self._translated = self.native = None
        self._check = self._generated() if self._renewals > RENEWALS else None

    def _generated(self) -> Callable[..., bool]:
        generated = compile_guards(self.guards, list(self.same_objects), list(self.other_objects), self.apart)
        return lambda *a: generated(a)

    def translated(self, args: Sequence[Any]) -> Translator:
        """The guards as a program of the guard machine, not finished: more can be loaded in it.

        Args:
            args: arguments for which all guards hold.

        Raises:
            Unsupported: native code cannot be used in this Python.
        """
        from .native import translated

        found, self._translated = self._translated, None
        if found is not None:
            found.args = args
            return found
        same, other = list(self.same_objects), list(self.other_objects)
        return translated(self.guards, same, other, self.apart, args, self._judged)

    def _judged(self, check: Callable[..., bool]) -> Callable[..., bool]:
        """``check`` for native code, which raises whatever comes out of it: the rest is answered here."""

        def judged(*args: Any) -> bool:
            try:
                return check(args)
            except UNREADABLE as error:
                return _is_missing(error)
            except Exception as error:  # noqa: BLE001 - the policy
                self.failures.append(internal_failure("a guard", "its generated form", error))
                return False

        return judged

    def misses(self, args: Sequence[Any], kinds: Collection[str]) -> list[Guard] | None:
        """All guards that fail; ``None`` if one of other ``kinds`` is among them, after which nothing is looked at, or
        objects are not the same, or not different, as they were."""
        failing = []
        for guard in self._guards:
            if not guard.holds(args):
                if guard.check not in kinds:
                    return None
                failing.append(guard)
        try:
            return None if self._miss_between(args) else failing
        except UNREADABLE as error:
            _is_missing(error)
            return None

    def first_miss(self, args: Sequence[Any]) -> tuple[Guard | None, str]:
        """The first guard that fails, and why in words; empty if all hold."""
        for guard in self._guards:
            if not guard.holds(args):
                return guard, guard.describe(args)
        return None, self._miss_between(args)


class _Key:
    """An unhashable expected value (a list of keys, a set) as part of a guard."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.value == self.value

    def __hash__(self) -> int:
        return 0


def compile_guards(
    guards: list[Guard],
    same: list[tuple[Source, Source]],
    other: list[tuple[Source, Source]],
    apart: Sequence[Source] = (),
) -> Callable[[Sequence[Any]], bool]:
    """One Python function that is true if all guards hold. Values reached by several guards are loaded once."""
    made = Written()
    load, constant, lines = made.load, made.constant, made.lines
    for guard in guards:
        value = load(guard.source)
        lines.append(f"if not ({guard.kind.test(value, guard.wanted, constant)}): return False")
    for one, two in same:
        lines.append(f"if {load(one)} is not {load(two)}: return False")
    for one, two in other:
        lines.append(f"if {load(one)} is {load(two)}: return False")
    if apart:
        ids = ", ".join([f"{constant(id)}({load(source)})" for source in apart])
        lines.append(f"if {constant(len)}({{{ids}}}) < {len(apart)}: return False")
    lines.append("return True")
    return made.function("a")
