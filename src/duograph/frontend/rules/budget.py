"""How long a capture may take: a program that cannot be captured soon is better run as plain Python.

What a capture does well grows with the program: so much time per operation on the longest path through it. What has no
end in sight explores ever more paths, starts again, or interprets a long loop that emits nothing, while that number
stays as it is. So a capture may take ``capture_seconds`` (``DUOGRAPH_CAPTURE_SECONDS``; 0: no limit) and
`PER_OPERATION` for each operation on its longest path, of at most `MOST_OPERATIONS` and `PER_INPUT` for each tensor
that it reads: a network and its optimizer have as many as their Parameters need. It is the processor time of its thread
that counts: on a busy machine the same programs are captured.
"""

from __future__ import annotations

import time
from typing import Any

from duograph.base.config import config

from .errors import Uncapturable

PER_OPERATION = 0.002
"""Seconds; some five times what capturing an operation usually takes."""

MOST_OPERATIONS = 30_000
"""On a path. Arithmetic of numbers that vary is operations, too: a loop over a table would have time without end."""

PER_INPUT = 100
"""Operations; a layer and its gradient have some ten for each of its Parameters, and the optimizer as many."""

PACE = 256
"""Expressions between two readings of the clock."""


LEAST = 0.25
"""The share of a capture's time that the last attempt at a call has, whatever those before it have taken."""


LEAST_OF_PARTS = 0.05
"""The same for each part of a function that is cut: there may be many."""


class Spent:
    """The processor time that captures for one call have taken: of a function, and of the parts that it is cut into."""

    __slots__ = ("seconds",)

    def __init__(self) -> None:
        self.seconds = 0.0

    def add(self, begun: float, operations: int = 0) -> None:
        """A capture that began at ``begun`` has ended, with a graph of so many ``operations``, or without one."""
        self.seconds += max(0.0, time.thread_time() - begun - PER_OPERATION * operations)


def share_left(begun: float, least: float = LEAST) -> float:
    """The share of a capture's time that is left for another attempt at the same call: a function may be captured for
    varying sizes, for varying numbers, and for those at hand; and so may its parts.

    Args:
        begun: `time.thread_time` when the first one began.
        least: what each has.
    """
    seconds = float(config().capture_seconds)
    return max(least, 1.0 - (time.thread_time() - begun) / seconds) if seconds else 1.0


class OutOfTime(Uncapturable):
    """The capture has taken too long."""


class Budget:
    """The time of one capture, with all its attempts."""

    __slots__ = ("countdown", "longest", "seconds", "started")

    def __init__(self, share: float = 1.0) -> None:
        self.seconds = config().capture_seconds * share
        self.started = time.thread_time()
        self.longest = 0  # operations on the longest path so far
        self.countdown = PACE  # expressions until the clock is looked at; who interprets one counts it here

    def check(self, builder: Any, inputs: int = 0) -> None:
        """Looks at the clock.

        Args:
            builder: of the graph.
            inputs: how many tensors the program has read so far.

        Raises:
            OutOfTime: the time is over.
        """
        self.countdown = PACE
        self.longest = max(self.longest, builder.next_tag)
        most = MOST_OPERATIONS + PER_INPUT * inputs
        if self.seconds and self.longest > most:
            raise OutOfTime(f"it has more than {most} operations on one path")
        spent = time.thread_time() - self.started
        if self.seconds and spent > self.seconds + PER_OPERATION * self.longest:
            limit = f"DUOGRAPH_CAPTURE_SECONDS={config().capture_seconds:g}"
            raise OutOfTime(f"its capture takes more than {spent:.1f} s ({limit})")
