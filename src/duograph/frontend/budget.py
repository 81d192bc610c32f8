"""How long a capture may take: a program that cannot be captured soon is better run as plain Python.

What a capture does well grows with the program: so much time per operation on the longest path through it. What has no
end in sight explores ever more paths, starts again, or interprets a long loop that emits nothing, while that number
stays as it is. So a capture may take ``capture_seconds`` (``DUOGRAPH_CAPTURE_SECONDS``; 0: no limit) and
`PER_OPERATION` for each operation on its longest path. It is the processor time of its thread that counts: on a busy
machine the same programs are captured.
"""

from __future__ import annotations

import time
from typing import Any

from duograph.base.config import config

from .errors import Uncapturable

PER_OPERATION = 0.004
"""Seconds; some ten times what capturing an operation usually takes."""

PACE = 256
"""Expressions between two looks at the clock."""


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

    def check(self, builder: Any) -> None:
        """Looks at the clock.

        Raises:
            OutOfTime: the time is over.
        """
        self.countdown = PACE
        self.longest = max(self.longest, builder.next_tag)
        spent = time.thread_time() - self.started
        if self.seconds and spent > self.seconds + PER_OPERATION * self.longest:
            raise OutOfTime(f"its capture takes more than {spent:.1f} s (DUOGRAPH_CAPTURE_SECONDS={self.seconds:g})")
