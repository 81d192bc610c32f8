"""Clocks: what they say is only known at run time, and nobody need know it if nothing is done with it.

    began = time.perf_counter()
    y = net(x)
    log.debug("%.3f s", time.perf_counter() - began)    # nothing, where the level is off

A program may read a clock, subtract readings and drop them. Where it looks at one, that is refused, and capture begins
anew (`capture`) with the call as one of Python's, like others.
"""

from __future__ import annotations

import time
from typing import Any

from ..values.restricted import Restricted
from .substitutes import substitute

_NUMBERS = (int, float, bool)


class Reading(Restricted):
    """What a clock has said, or what was computed from that. There is one object, so that paths and loops join."""

    __slots__ = ()
    why = "the time of a clock, which is only known at run time"

    def _with(self, other: Any) -> Reading:
        if type(other) is not Reading and type(other) not in _NUMBERS:
            self.refuse()
        return self

    def _divided(self, other: Any) -> Reading:
        return self._with(other) if type(other) in _NUMBERS and other else self.refuse()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _with
    __truediv__ = __floordiv__ = _divided


_READING = Reading()


def _reader(clock: Any) -> Any:
    def read(calls: Any) -> Any:
        log = calls.session.log
        if not log.drops_readings:
            return calls.call_native(clock, (), {})
        log.has_reading = True
        return _READING

    return read


for _clock in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
    for _unit in ("", "_ns"):
        _read = getattr(time, _clock + _unit)
        substitute(_read)(_reader(_read))
