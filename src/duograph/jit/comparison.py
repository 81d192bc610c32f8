"""Whether what is compiled pays: a few calls of it are timed, and a few of plain Python, in turn.

Both give the same, so each call of the program can be answered either way, and none is made twice. What pays is never
asked again. What does not is left to plain Python, which is asked again after many calls, or when its calls take much
longer than they did: they may be about larger data then. Times come in as arguments: nothing here looks at a clock.

The states of a comparison::

    waiting --SETTLED calls without a change--> timing --compiled is not slower--> pays (for good)
       ^                                          |
       |                                          +--slower in ROUNDS rounds--> left to plain Python
       +----------after RETRY calls, twice as many each time; or calls have become longer----+
"""

from __future__ import annotations

from collections.abc import Sequence

SETTLED = 16
"""Calls in a row in which nothing is captured, cut or timed, before their times say anything."""
SAMPLES, CLEAR = 8, 2
"""Calls of each kind in a round, and after how many it is over if one kind takes less than half of the other."""
FIRST = 3
"""Calls of each kind that are timed before, for nothing: they compile kernels, and Python adapts to what it sees."""
ROUNDS = 2
"""Rounds that compiled calls have to be slower in."""
SLOWER = 1.05
"""So many times what plain Python takes compiled calls may take; to come back they have to gain as much."""
EXACT = 64
"""Calls of a function that is cut in which its plain statements are counted and timed, before one stands for many."""
LET, MOST_LET, PART = 63, 4095, 16
"""Calls that go one way natively between two that Python leads: one for so many that have gone there before."""
RETRY = 1 << 13
"""Calls after which plain Python is compared anew for the first time."""
LONGER, OFTEN = 4.0, 2
"""So many times what they took calls of plain Python have to take, in so many looks, to be compared anew."""
MOST_CHANGES = 1024
"""Changes after which no more of them are waited for."""

changes = [0]
"""Counts what makes the time of a call around it useless: captures, cuts, timed calls."""


def let(hits: int, least: int = LET) -> int:
    """How many calls may go natively where so many have gone."""
    return max(least, min(MOST_LET, hits // PART))


def typical(seconds: Sequence[float]) -> float:
    """What a call takes: the mean of the shorter half, so that interruptions do not count."""
    half = sorted(seconds)[: (len(seconds) + 1) // 2]
    return sum(half) / len(half)


class Comparison:
    """Compiled calls against plain ones.

    Attributes:
        pays: whether compiled calls are to answer; ``None``: not known yet.
        compiled: seconds that a compiled call takes, as far as that is known.
        plain: the same of plain Python.
    """

    def __init__(self, settled: int = SETTLED) -> None:
        self.pays: bool | None = None
        self.compiled = self.plain = 0.0
        self.is_busy = False  # a call is being timed
        self._wanted = self._quiet = settled
        self._changes = self._slower = self._trials = self._calls = self._longer = 0
        self._first = 2 * FIRST
        self._times: tuple[list[float], list[float]] = ([], [])  # plain, compiled

    def way(self) -> bool | None:
        """Which way the next call goes to be timed: compiled or not; ``None``: it is not to be timed."""
        if self.pays is not None or self.is_busy or self._quiet:
            return None
        plain, compiled = map(len, self._times)
        return (plain + compiled + self._first) % 4 in (0, 3)  # a program whose calls alternate is not misjudged

    def changed(self) -> None:
        """Something was captured, cut or timed during a call: what was timed is void."""
        self._changes += 1
        if self._changes <= MOST_CHANGES:
            self._quiet, self._times = self._wanted, ([], [])

    def passed(self) -> None:
        """A call has been answered without being timed, and nothing has changed."""
        self._quiet = max(0, self._quiet - 1)

    def note(self, is_compiled: bool, seconds: float) -> None:
        """A call of one kind took so long."""
        if self._first > 0:
            self._first -= 1
            return
        self._times[is_compiled].append(seconds)
        if len(self._times[0]) != len(self._times[1]):
            return
        count, plain, compiled = len(self._times[0]), *map(typical, self._times)
        is_clear = count >= CLEAR and (compiled * 2 < plain or (plain * 2 < compiled and self._slower))
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
        if self._longer >= OFTEN or self._calls >= RETRY << min(self._trials - 1, 20):
            self.pays, self._slower, self._longer, self._quiet = None, 0, 0, self._wanted
            self._first = 2 * FIRST
            return True
        return False

    @property
    def reason(self) -> str:
        """Why compiled calls do not answer."""
        return (
            f"compiled, a call takes {self.compiled * 1e6:.1f} us, and {self.plain * 1e6:.1f} us as plain Python: "
            "it runs as plain Python"
        )
