"""Where the time of a function that is cut goes: compiled segments, guards, gradients, Python, and what joins them.

Calls are measured now and then, the first ones soon (`is_due`), in full: the skeleton runs with segments, steps and
what it calls behind a `Meter`, which charges each moment to one of `PARTS`. Functions that it calls, and that are cut
as well, run behind the same one. All other calls pay for a comparison.
"""

from __future__ import annotations

import inspect
import threading
import types
from collections import deque
from collections.abc import Callable
from functools import partial, update_wrapper
from time import perf_counter
from typing import Any

from duograph.autodiff.grads import gradient_of
from duograph.base.failures import is_from_outside
from duograph.base.weak import WeakTable

PARTS = {
    "segments": "compiled code",
    "guards": "guards",
    "gradients": "tapes and backward graphs",
    "crossing": "what joins them",
    "steps": "Python steps",
}
"""What time is spent in, and how texts call it."""
EARLY = (8, 16, 32)
"""Calls that are measured before `RARELY` are over."""
KEPT = 7
"""Of how many measured calls the median is taken."""
RARELY = 64
"""Of how many calls one is measured."""


def is_due(call: int) -> bool:
    """Whether the call with this number is measured."""
    return call in EARLY or (call > 0 and call % RARELY == 0)


class Account:
    """What measured calls of one function took.

    Attributes:
        calls: how many were measured.
    """

    def __init__(self) -> None:
        self.calls = 0
        self._latest: deque[dict[str, float]] = deque(maxlen=KEPT)

    def add(self, meter: Meter) -> None:
        """A measured call."""
        self.calls += 1
        self._latest.append(meter.seconds)

    @property
    def usual(self) -> dict[str, float]:
        """The seconds in each of `PARTS` of the call of median length among the latest: some have captured or compiled
        something; empty if none was measured."""
        found = sorted(self._latest, key=lambda seconds: sum(seconds.values()))
        return found[(len(found) - 1) // 2] if found else {}

    def milliseconds(self, calls: int) -> dict[str, float]:
        """What so many calls take in each part; empty if none was measured."""
        return {part: seconds * calls * 1e3 for part, seconds in self.usual.items()}

    @property
    def share_of_python(self) -> float:
        """Of the time, how much is not spent in compiled code, from 0 to 1."""
        usual = self.usual
        return (usual["steps"] + usual["crossing"]) / sum(usual.values()) if usual else 0.0


class Meter:
    """Charges time to the part that runs."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self.part = "crossing"
        self._since = perf_counter()

    def switch(self, part: str) -> str:
        """From now on ``part`` runs; gives which one did."""
        now, before = perf_counter(), self.part
        self.seconds[before] += now - self._since
        self._since, self.part = now, part
        return before

    def clock(self) -> float:
        """The clock of a skeleton, which asks for the time in steps at the beginning and at the end of each."""
        self.switch("crossing" if self.part == "steps" else "steps")
        return self.seconds["steps"]

    def segment(self, made: Any) -> Callable[..., Any]:
        """A segment behind the meter."""

        def measured(*args: Any) -> Any:
            before, check = self.switch("guards"), made.guards_for(args)
            if check is not None:  # what its call does natively before anything else; taken off that
                self._since = perf_counter()
                try:
                    check()
                except Exception as error:
                    if is_from_outside(error):
                        raise
            guards = self.seconds["guards"]
            self.switch("segments")
            looked = self.seconds["guards"] - guards
            try:
                return made(*args)
            finally:
                self.switch(before)
                self.seconds["segments"] = max(self.seconds["segments"] - looked, 0.0)

        return measured

    def called(self, form: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """What gives compiled forms to a skeleton, so that these run behind the meter."""

        def asked(fn: Any) -> Any:
            found = form(fn)
            is_gradient = type(found) is types.FunctionType and gradient_of(found) is not None
            if found is fn and not is_gradient:
                return fn
            return _named(partial(self._run, found, "gradients" if is_gradient else "segments"), fn)

        asked.unbound, asked.method = form.unbound, form.method  # type: ignore[attr-defined]
        return asked

    def _run(self, fn: Callable[..., Any], part: str, /, *args: Any, **kwargs: Any) -> Any:
        before = self.switch(part)
        try:
            return fn(*args, **kwargs)
        finally:
            self.switch(before)

    def run(self, fn: Callable[..., Any], *args: Any) -> Any:
        """``fn(*args)``, which is a call that is measured, or part of one."""
        outer, _active.meter = _active.meter, self
        before = self.switch("crossing")
        try:
            return fn(*args)
        finally:
            self.switch(before)
            _active.meter = outer


class Watch:
    """The clock of a skeleton whose statements are counted, and what gives it compiled forms: while one of these runs,
    the clock stands. What they spend in Python, they count themselves. So it does for what will have a form when it is
    called again: that call compiles the kernels of dynamic mode."""

    def __init__(self, form: Any) -> None:
        self.form = form
        self._met: WeakTable[types.CodeType, bool] = WeakTable()
        self.unbound, self.method = form.unbound, form.method
        self._away = _Away()

    def clock(self) -> float:
        """The time, without what compiled forms have taken."""
        return perf_counter() - self._away.seconds

    def __call__(self, fn: Any) -> Any:
        found = self.form(fn)
        return _named(partial(self._run, found), fn) if found is not fn or self._is_first(fn) else fn

    def _is_first(self, fn: Any) -> bool:
        code = self.form.code_to_compile(fn)
        if code is None or self._met.get(code):
            return False
        self._met[code] = True
        return True

    def _run(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        before, began = self._away.seconds, perf_counter()
        try:
            return fn(*args, **kwargs)
        finally:
            self._away.seconds = before + perf_counter() - began


def _named(made: partial[Any], fn: Any) -> Any:
    """``made``, named in Python's messages about its arguments as ``fn`` is."""
    return update_wrapper(made, fn, ("__module__", "__qualname__"), ())


class _Away(threading.local):
    seconds = 0.0


_LEFT_HALFWAY = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class _Active(threading.local):
    meter: Meter | None = None


_active = _Active()


def meter_for(skeleton: types.FunctionType, call: int) -> tuple[Meter | None, bool]:
    """What measures the call with this number, and whether that begins with it; ``None``: nothing does."""
    meter = _active.meter
    if (meter is None and not is_due(call)) or skeleton.__code__.co_flags & _LEFT_HALFWAY:
        return None, False
    return (Meter(), True) if meter is None else (meter, False)
