"""The life cycle of a compiled function: events come in, decisions go out.

Nothing here captures, runs, or looks at a clock: counts and times are arguments. All thresholds of the life of
versions, cuts, segments and refusals are here; who acts on a decision is `JitFunction` and its parts. The states are
drawn in ``docs/capture.md`` (*Life cycle of a compiled function*).

    Attempts    of one owner: whether a call for which no version holds is captured, or waits
    Looks       of one refusal: whether what led to it is looked at, or taken to be so still
    CallKinds   of one cut: whether calls are looked at that may be compiled as a whole; whether it is of use
    Forms       of what a skeleton calls: whether a function that is met gets a compiled form
    Comparison  of what is compiled with plain Python, by the time that calls take
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from duograph.base.weak import WeakTable

MAX_VERSIONS, MOST_LOOKED_AT = 128, 16
"""Versions of one owner, which native code tries; those that a call is compared with to find out what differs, the most
recent first."""
MOST_OWNERS, MOST_SINGLE, MOST_ENTRIES = 256, 32, 8
"""Codes and classes for which versions are kept that serve others: the latest ones of those with several functions or
instances, and those with one so far; versions of each."""
STALE = 256
"""Misses after which a version that is unused, and was so before them, is dropped."""
FREE_FAILURES, FREE_UNUSED, MAX_BACKOFF = 4, 8, 20
"""Attempts that may fail for one reason, and versions that may be unused after the call that they were made for, before
the next attempts wait: each twice as long as the last, so many times."""
FREE_COSTLY, COSTLY = 4, 1.0
"""Versions of which each takes so many seconds to make, before another one waits until plain Python has taken as
long for calls without one: whatever the calls are, that is at most twice what the better of both takes (ski rental)."""
MANY, SPREAD = 32, 8
"""Versions, whatever they cost, after which plain Python takes so many times as long as another one does before it is
made: the next ones are for rarer and rarer calls."""
LOOKS = 16
"""Of how many calls that wait, before one it is found out anew how long they do."""
MANY_FLAGS = 3
"""Bools that vary, before they are inputs: until then there is a version for each combination, without a decision."""
UNSTEADY, WORTH = 8, 64
"""Misses because of one thing, before no more versions for what it is are made, and calls that make a version worth it.
"""
MOST_UNUSED = 4
"""Versions of a segment that no later call has used, before it is left to plain Python."""
MOST_REFUSED = 4
"""Sets of sizes for which capture was refused, before sizes are no longer tried."""
FEWEST, LARGE, TAPED_RARELY = 5, 1 << 13, 16
"""Operations that are worth a call of their own on a tape, which costs as much as recording four or five; elements of
results that take as long as one more; calls after which a version that is not native on tapes looks again what they
watch."""
SECONDS, MOST_CAPTURES = 2.0, 24
"""So long plain Python may run for a function, and so many versions and calls without one there may be, before that is
worth a word."""
FAILURES = 16
"""Calls that a version may leave to plain Python, if they are most of its calls."""
SURE = 64
"""Calls that are plain Python for one reason, before others are not looked at each time."""
OFTEN, RARELY = 8, 32
"""Calls before each of which what a refusal was about is looked at, and of how many later ones, before one."""
MOST_CUTS, DEEPEST = 128, 16
"""Places that a function is cut at; segments of segments."""
MOST_CAUSES = 5
"""Kinds of calls that are refused, before no others are looked for."""
OFTEN_TOLD = 64
"""Calls of a function that is cut, after which it is to have answered some, and may have something to say."""
LIGHT, SMALL, MOST_GUARDS = 3, 1 << 15, 32
"""Operations on tensors below which a segment costs more than it saves, elements up to which that is so, and guards per
operation above which it is: a long list that is handed over is looked through at each call."""
FEW, FEW_GUARDS = 8, 4
"""Operations on tensors, and guards per operation, up to which a version is compared with plain Python."""
FEW_CALLS, NEVER, MOST_CLOSURES, MOST_FORMS = 1, 64, 4, 256
"""Of what a skeleton calls: calls before it is compiled (most functions that a program calls once, it calls only once),
functions with one code that are met, and compiled, before no more are, and compiled forms that are kept."""

SETTLED = 16
"""Calls in a row in which nothing is captured, cut or timed, before their times say anything."""
SAMPLES, CLEAR, FIRST = 8, 2, 3
"""Calls of each kind in a round; after how many it is over if one kind takes less than half of the least of the other;
how many are timed before, for nothing: they compile kernels, and Python adapts to what it sees."""
ROUNDS, SLOWER = 2, 1.05
"""Rounds that compiled calls have to be slower in, and how much slower. To come back they have to gain as much."""
AGAIN, RARER = 256, 16
"""Calls after which what pays is compared once more (plain Python may have compiled kernels for sizes that were new),
and how many times as many after that."""
LOSING = 2.0
"""A version that Python leads and that takes this many times as long as plain Python is given up, though other versions
of the function are in use."""
RAISING = 8
"""Timed calls in a row that raise, before their times count: all calls may be like that. Calls that a version has left
to plain Python, before it is compared."""
MINOR = 4
"""A version with less than one call for so many of another one has no say in whether that pays: its calls were a few of
the first, or are rare."""
MISSED, GAIN, PAUSED = 32, 0.5, 0.02
"""Calls that plain Python answers after versions were tried in vain, before it is seen what that has cost; the part of
its time in plain Python that a call gains which a version answers, as long as that is not measured; what further
trials may cost, as a part of plain Python's time, where they do not pay."""
RETRY = 1 << 13
"""Calls after which plain Python is compared anew for the first time."""
LONGER, LONG_OFTEN = 4.0, 2
"""This many times what they took calls of plain Python have to take, in so many looks, to be compared anew."""
MOST_POSTPONED = 3
"""Attempts of an owner in a row that are put off to its next call, before one counts as failed."""
MOST_CHANGES = 1024
"""Changes after which no more of them are waited for."""
EXACT = 64
"""Calls of a function that is cut in which its plain statements are counted and timed, before one stands for many."""
LET, MOST_LET, PART = 63, 4095, 4
"""Calls that go one way natively between two that Python leads: one for so many that have gone there before."""

changes = [0]
"""Counts what makes the time of a call around it useless: captures, cuts, timed calls."""


def let(hits: int, least: int = LET) -> int:
    """How many calls may go natively where so many have gone."""
    return max(least, min(MOST_LET, hits // PART))


def typical(seconds: Sequence[float]) -> float:
    """What a call takes: the mean of the shorter half, so that interruptions do not count."""
    half = sorted(seconds)[: (len(seconds) + 1) // 2]
    return sum(half) / len(half)


class Attempts:
    """Whether the next call of an owner for which no version holds is captured.

    Attributes:
        misses: calls for which no version held.
        captures: attempts to compile.
        dropped: versions that were never used again, and are gone.
        waited: calls with new arguments that plain Python has answered since the latest attempt.
        unattempted: such calls, from the beginning.
        missed: how often versions did not hold because of what was found there.
        varying: how often a number was another one; -1: it cannot be an input.
        known_unsteady: those of `unsteady` that the function could not be cut at, or has been.
        has_news: something is unsteady that has not been before.
        postponed: attempts in a row given up because Python's own run of the call makes the next one possible.
    """

    def __init__(self) -> None:
        self.misses = self.captures = self.dropped = self.waited = self.unattempted = self.postponed = 0
        self.missed: dict[Any, int] = {}
        self.varying: dict[Any, int] = {}
        self.kinds: dict[Any, type] = {}  # of what varies
        self.sizes: set[Any] = set()  # ints of what varies that sizes stand for
        self.known_unsteady: frozenset[Any] = frozenset()
        self.has_news = False
        self._backoff = 0  # so many are answered before the next attempt, as far as is known
        self._looked = self._pause = self._answered = 0
        self._lost = 0.0

    def note_miss(self) -> bool:
        """No version holds for a call; whether those that nobody uses are to go: each costs such a call a check."""
        self.misses += 1
        return self.misses % STALE == 0

    def postpones(self) -> bool:
        """Whether an attempt that is possible after this call (`NotYet`) leaves no trace: only a few do."""
        self.postponed += 1
        return self.postponed <= MOST_POSTPONED

    def note_number(self, source: Hashable, kind: type) -> None:
        """The number, or the text, that is found there was another one."""
        self.kinds[source] = kind
        flags = [found for found, its_kind in self.kinds.items() if its_kind is bool]
        if kind is bool and len(flags) < MANY_FLAGS:
            return
        for varying in flags if kind is bool else [source]:
            if self.varying.get(varying, 0) >= 0:
                self.varying[varying] = self.varying.get(varying, 0) + 1

    def note_missed(self, source: Hashable, hits: int) -> None:
        """What was found there was another thing than a version that has answered ``hits`` calls assumed."""
        if hits < WORTH:
            self.missed[source] = self.missed.get(source, 0) + 1
            self.has_news = self.has_news or self.missed[source] == UNSTEADY

    @property
    def unsteady(self) -> frozenset[Any]:
        """Where versions have often found something else than they had assumed."""
        return frozenset([source for source, times in self.missed.items() if times >= UNSTEADY])

    def wait(self, count: Callable[[], tuple[int, int, bool]], debt: float = 0.0) -> bool:
        """Whether plain Python answers a call without an attempt.

        An attempt costs as much as many calls. Where they go on failing for one reason, or give versions that no
        later call uses (an argument is another object, a text or a size each time), each waits longer than the last.

        Args:
            count: gives how many attempts have failed for the latest reason, how many versions are unused, and whether
                the latest attempt has taken all the time there was.
            debt: seconds that another version takes, less those that calls without one have taken since the latest
                attempt.
        """
        if self.waited % LOOKS == 0 or self.waited >= self._backoff:  # nobody counts versions for each call
            failed, unused, is_late = count()
            doublings = max(failed if is_late else failed - FREE_FAILURES, unused + self.dropped - FREE_UNUSED, 0)
            self._backoff = 2 ** min(doublings, MAX_BACKOFF) - 1
        waits = self.waited < self._backoff or debt > 0
        self.waited = self.waited + 1 if waits else 0
        self.unattempted += waits
        return waits

    @property
    def rest(self) -> int:
        """How many further calls will be answered without an attempt, where many have been."""
        return max(0, min(let(self.waited), self._backoff - self.waited)) if self.waited > SURE else 0

    def pause(self, answered: int, gain: float, lost: float, plain: float) -> int:
        """For how many further calls no version is tried, where many try them in vain: each loses what that takes, and
        what the others gain does not make up for it. Longer each time, as long as that is so.

        Args:
            answered: calls that versions have answered, from the beginning.
            gain: seconds that each of them gains.
            lost: seconds for which versions were tried, to no end, in this call.
            plain: seconds that a call takes in plain Python.
        """
        self._lost, self._looked = self._lost + lost, self._looked + 1
        if self._looked < (MISSED if self._pause < RETRY else MISSED // PART):
            return 0
        most = max(RETRY, int(self._lost / max(plain * PAUSED, 1e-9)))
        pays = (answered - self._answered) * gain >= self._lost
        self._pause = 0 if pays else min(max(LET, 2 * self._pause), most)
        self._answered, self._looked, self._lost = answered, 0, 0.0
        return self._pause

    def passed(self, calls: int) -> None:
        """This many calls have gone to plain Python natively."""
        self.waited += calls
        self.unattempted += calls


class Looks:
    """When it is looked at whether what a refusal was about is still so: often at first, then rarely.

    Attributes:
        hits: calls that plain Python has answered because of it.
        weight: calls that the next one that is timed stands for.
    """

    def __init__(self) -> None:
        self.hits, self.weight = 0, 1
        self._looks = 0

    def is_due(self) -> bool:
        """Whether it is looked at before this call."""
        self._looks += 1
        return self._looks <= OFTEN or self._looks % RARELY == 0

    def passed(self, calls: int) -> None:
        """This many calls have gone to plain Python natively: the time of the next one stands for theirs."""
        self.hits += calls
        self._looks += calls
        self.weight += calls

    @property
    def rest(self) -> int:
        """For how many further calls it need not be looked at: the next look after them is one that is due."""
        calls = let(self.hits, RARELY)
        return calls - 1 - (self._looks + calls) % RARELY


class CallKinds:
    """What kinds of calls a cut is for, and whether it is of use."""

    def __init__(self) -> None:
        self._asked = self._told = self._answered = self._taped = 0
        self._is_small = False

    def is_asked(self, causes: int) -> bool:
        """Whether a call is looked at that may be of another kind than those that were refused for ``causes``."""
        self._asked += 1
        return not self.are_all(causes) and (self._asked <= OFTEN or self._asked % OFTEN == 0)

    def are_all(self, causes: int) -> bool:
        """Whether all calls count as refused, for so many causes."""
        return causes >= MOST_CAUSES

    def is_told(self, calls: int) -> bool:
        """It has been called so often; whether it is time to see if that is of use."""
        is_due = calls - self._told >= OFTEN_TOLD
        self._told = calls if is_due else self._told
        return is_due

    def is_in_use(self, answered: int) -> bool:
        """Whether what is compiled of it has answered a call since this was asked last; so many, from the beginning."""
        before, self._answered = self._answered, answered
        return answered != before

    def is_small(self, look: Callable[[], bool]) -> bool:
        """Whether tapes are served better op by op, as ``look`` has found out of one call of several."""
        self._taped += 1
        if self._taped % RARELY == 0:
            self._is_small = look()
        return self._is_small


class Forms:
    """Whether a function that a skeleton calls gets a compiled form: what is called more than once does. A closure that
    is made at each call would be compiled at each call."""

    def __init__(self) -> None:
        self._met: WeakTable[types.CodeType, int] = WeakTable()  # functions with this code
        self._calls: weakref.WeakKeyDictionary[types.FunctionType, int] = weakref.WeakKeyDictionary()

    def is_worth(self, fn: types.FunctionType, may_be: Callable[[], bool]) -> bool:
        """``fn`` is called; whether it is to be compiled, if functions with its code ``may_be`` at all."""
        code = fn.__code__
        met = self._met.get(code)
        if met is None:
            met = self._met[code] = 0 if may_be() else NEVER
        if met >= NEVER:
            return False
        calls = self._calls[fn] = self._calls.get(fn, 0) + 1
        self._met[code] = met + (calls == 1 if calls <= FEW_CALLS else NEVER // MOST_CLOSURES)
        return calls > FEW_CALLS


def computes_too_little(operations: int, is_flat: bool, largest: int, guards: int) -> bool:
    """Whether a call of what is compiled costs more than Python's.

    Args:
        operations: on tensors.
        is_flat: it has no branches and loops.
        largest: elements of the largest tensor that is computed.
        guards: their number.
    """
    gains = operations > 1 and largest > SMALL  # by fusion
    return (operations < LIGHT and is_flat and not gains) or guards > MOST_GUARDS * (operations + 1)


def may_not_pay(operations: int, is_flat: bool, largest: int, guards: int) -> bool:
    """Whether a version, of which `computes_too_little` takes the same, is to be compared with plain Python."""
    return (operations < FEW and is_flat and largest <= SMALL) or guards > FEW_GUARDS * (operations + 1)


def work_for_tapes(elements: int) -> int:
    """What compiled code saves tapes by an op with so many elements in its result: recording it, and more by fusion."""
    return 1 + elements // LARGE


def is_quicker_op_by_op(work: float) -> bool:
    """Whether tapes are served faster op by op by what saves them so much (`work_for_tapes`, of all its ops)."""
    return work < FEWEST


def saves_too_little(works: Sequence[float], cuts: int) -> bool:
    """Whether what is compiled of a function saves tapes less than so many cuts cost: each as much as recording the ops
    of a version that is not worth a call."""
    return bool(works) and sum(work for work in works if work >= FEWEST) < FEWEST * cuts


def debt(made: int, cost: float, paid: float) -> float:
    """Seconds for which plain Python still answers calls that have no version, before another one is made.

    Args:
        made: versions, those that are gone included.
        cost: seconds that one takes to make.
        paid: seconds that plain Python has taken for such calls since the latest attempt.
    """
    if made >= MANY:
        return cost * SPREAD - paid
    return cost - paid if made >= FREE_COSTLY and cost >= COSTLY else 0.0


def is_minor(hits: int, others: int) -> bool:
    """Whether a version that has answered ``hits`` calls has no say beside one that has answered ``others``."""
    return hits <= max(1, others // MINOR)


def fails_too_often(failed: int, calls: int) -> bool:
    """Whether a version that has left so many of its calls to plain Python is given up."""
    return failed > FAILURES and failed * 2 > calls


class Comparison:
    """Compiled calls against plain ones: a few of each are timed, in turn.

    Both give the same, so each call can be answered either way, and none is made twice. What pays is asked again, ever
    more rarely. What does not is left to plain Python, which is compared anew after many calls, or when its calls take
    much longer than they did: they may be about larger data then.

    Attributes:
        pays: whether compiled calls are to answer; ``None``: not known yet.
        compiled: seconds that a compiled call takes, as far as that is known.
        plain: the same of plain Python.
        plain_calls: that were timed, from the beginning.
        again: calls, from the beginning, after which what pays is asked again.
    """

    def __init__(self, settled: int = SETTLED) -> None:
        self.pays: bool | None = None
        self.compiled = self.plain = 0.0
        self.plain_calls, self.again = 0, AGAIN
        self.is_busy = False  # a call is being timed
        self._wanted = self._quiet = settled
        self._changes = self._slower = self._trials = self._calls = self._longer = self._raised = 0
        self._first = 2 * FIRST
        self._times: tuple[list[float], list[float]] = ([], [])  # plain, compiled

    def way(self) -> bool | None:
        """Which way the next call goes to be timed: compiled or not; ``None``: it is not to be timed."""
        if self.pays is not None or self.is_busy or self._quiet:
            return None
        plain, compiled = map(len, self._times)
        return (plain + compiled + self._first) % 4 in (0, 3)  # a program whose calls alternate is not misjudged

    def ask_again(self, calls: int) -> bool:
        """What pays has answered so many calls; whether it is compared once more, from now on."""
        if self.pays is not True or calls < self.again:
            return False
        self.pays, self.again, self._slower, self._times = None, calls * RARER, 0, ([], [])
        self._first = 2 * FIRST
        return True

    def changed(self) -> None:
        """Something was captured, cut or timed during a call: what was timed is void."""
        self._changes += 1
        if self._changes <= MOST_CHANGES:
            self._quiet, self._times = self._wanted, ([], [])

    def passed(self) -> None:
        """A call has been answered without being timed, and nothing has changed."""
        self._quiet = max(0, self._quiet - 1)

    def counts(self, raised: bool) -> bool:
        """Whether the time of a call that has raised, or not, says something about others."""
        self._raised = self._raised + 1 if raised else 0
        return not raised or self._raised > RAISING

    def note(self, is_compiled: bool, seconds: float) -> None:
        """A call of one kind took so long."""
        self.plain_calls += not is_compiled
        if self._first > 0:
            self._first -= 1
            return
        self._times[is_compiled].append(seconds)
        if len(self._times[0]) != len(self._times[1]):
            return
        count, plain, compiled = len(self._times[0]), *map(typical, self._times)
        least_plain, least_compiled = map(min, self._times)  # what compiles a kernel meanwhile says nothing
        is_clear = compiled * 2 < least_plain or (plain * 2 < least_compiled and self._slower > 0)
        is_clear = is_clear and count >= CLEAR
        if count < SAMPLES and not is_clear:
            return
        self.plain, self.compiled, self._times = plain, compiled, ([], [])
        if compiled <= plain * (SLOWER if not self._trials else 1 / SLOWER):
            self.pays = True
        else:
            self._slower += 1
            if self._slower >= (ROUNDS if not self._trials else 1):
                self.pays, self._trials, self._calls = False, self._trials + 1, 0

    def look(self, calls: int, seconds: float) -> bool:
        """Plain Python has answered so many more calls, the latest in so many seconds; whether to compare anew."""
        self._calls += calls
        self._longer = self._longer + 1 if seconds > self.plain * LONGER else 0
        if self._longer >= LONG_OFTEN or self._calls >= RETRY << min(self._trials - 1, 20):
            self.pays, self._slower, self._longer, self._quiet = None, 0, 0, self._wanted
            self._first = 2 * FIRST
            return True
        return False

    def gain(self, plain: float) -> float:
        """Seconds that a compiled call gains, as far as that is known, where calls take ``plain`` in plain Python."""
        if self.pays is False:
            return 0.0
        return max(0.0, self.plain - self.compiled) or (self.plain or plain) * GAIN

    @property
    def loses(self) -> bool:
        """Whether compiled calls take so much longer that plain ones are better even if Python decides at each."""
        return self.pays is False and self.compiled > self.plain * LOSING

    @property
    def reason(self) -> str:
        """Why compiled calls do not answer."""
        return (
            f"compiled, a call takes {self.compiled * 1e6:.1f} us, and {self.plain * 1e6:.1f} us as plain Python: "
            "it runs as plain Python"
        )
