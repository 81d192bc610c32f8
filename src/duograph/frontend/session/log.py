"""What the attempts of one capture learn (`capture`)."""

from __future__ import annotations

from typing import Any

from ..programs.recording import Recorded
from ..rules.budget import Budget
from ..rules.sources import Source
from ..values.journals import Learned


class Log:
    """What earlier attempts of one capture have learned; the next attempt starts with it."""

    def __init__(
        self,
        share: float = 1.0,
        may_break: bool = False,
        unsteady: frozenset[Source] = frozenset(),
        recorded: Recorded | None = None,
        unrolls: bool = False,
        grows_lists: bool = False,
    ) -> None:
        self.unrolls = unrolls  # whether loops whose end is known are unrolled, however long
        self.places_chosen = 0  # by numbers that only a run knows
        self.may_break = may_break  # steps in Python may become graph breaks
        self.unsteady = unsteady  # what is there is another thing in each call: nothing may be assumed of it
        self.recorded = recorded  # the runs so far; ``None``: all paths are captured
        self.joins_texts = True  # a text that depends on a decision is one value
        self.has_joined_text = False
        self.keeps_choices = True  # a variable may be one of two values (`Conflict.choice`)
        self.has_choices = False
        self.drops_readings = True  # what a clock says is not looked at
        self.has_reading = False
        self.dissolved: set[Any] = set()
        self.places: dict[Any, Any] = {}  # of regions, by key
        self.dissolved_at: dict[Any, int] = {}  # how many regions of a place have been dissolved
        self.is_by_place = True  # where that were several, the others are, too
        self.paths_before: int | None = None  # explored until the first region was dissolved for its place alone
        self.peeled: dict[Any, int] = {}
        self.unrolled: set[Any] = set()
        self.grows_lists = grows_lists  # loops may
        self.never_grown: set[Any] = set()  # loops that make a list longer whose elements are needed
        self.forking: dict[Any, bool] = {}  # loops that could be unrolled, but fork: whether they stay loops
        self.containers = Learned()
        self.restarts = 0
        self.separated = 0  # choices of tensors that are kept apart (`control.identity`)
        self.selecting: set[Any] = set()  # regions that say which of several outside tensors they give
        self.paths = self.calls = 0
        self.budget = Budget(share)

    def forget_places(self) -> bool:
        """From now on each region is dissolved for itself; whether any was not."""
        if self.paths_before is None:
            return False
        self.paths, self.paths_before, self.is_by_place = self.paths_before, None, False
        return True
