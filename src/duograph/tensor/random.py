"""Where random numbers come from: a seed and a counter, nothing else.

Every random op takes ``(seed, offset)`` and its bits are a function of them and the shape alone (``ops/random.py``). A
`Generator` hands out offsets in program order, so a program draws the same numbers in every mode: in dynamic mode the
counter is a Python int, in a captured program it is a run-time int that the graph threads through.
"""

from __future__ import annotations

import os
from typing import Any

from duograph.base.fork import object_lock
from duograph.core.op import state

from .tensor import SymbolicValueError

DEFAULT_SEED = 0


def only_at_run_time() -> None:
    """Where a stream stands is not known while a program is being captured, and must not change then."""
    if getattr(state.binder, "draw", None) is not None:
        raise SymbolicValueError("the state of a random generator is only known at run time")


class Generator:
    """A stream of random numbers.

    Args:
        seed: start of the stream; equal seeds give equal numbers.

    Attributes:
        offset: how many draws were made.
    """

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self._lock = object_lock()
        self._seed: Any = seed
        self.offset: Any = 0

    def next_offset(self, n: int = 1) -> tuple[Any, Any]:
        """``(seed, offset)`` for one draw; the next ``n`` offsets are taken.

        A program that is being captured draws from the state it will find at run time (the binder's ``draw``).
        """
        if (draw := getattr(state.binder, "draw", None)) is not None:
            return draw(self, n)
        with self._lock:
            seed, offset = self._seed, self.offset
            self.offset = offset + n
        return seed, offset

    def manual_seed(self, seed: int) -> Generator:
        """Starts the stream of ``seed`` from its beginning."""
        return self.set_state((seed, 0))

    def seed(self) -> int:
        """Starts a stream from a seed that the operating system draws; gives the seed."""
        fresh = int.from_bytes(os.urandom(8), "little") >> 1
        self.manual_seed(fresh)
        return fresh

    def initial_seed(self) -> Any:
        """The seed."""
        return self._seed

    def get_state(self) -> tuple[Any, Any]:
        """``(seed, offset)``: where the stream stands."""
        only_at_run_time()
        with self._lock:
            return self._seed, self.offset

    def set_state(self, value: tuple[Any, Any]) -> Generator:
        """Continues from a state that `get_state` gave."""
        only_at_run_time()
        seed, offset = value
        with self._lock:
            self._seed, self.offset = seed, offset
        return self

    def __getstate__(self) -> tuple[Any, Any]:
        return self.get_state()

    def __setstate__(self, value: tuple[Any, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self.set_state(value)

    def __repr__(self) -> str:
        return f"Generator(seed={self._seed}, offset={self.offset})"


_default = Generator()


def default_generator() -> Generator:
    """The generator that random functions use when none is given."""
    return _default


def manual_seed(seed: int) -> Generator:
    """Seeds the default generator."""
    return _default.manual_seed(seed)
