"""Where a list becomes one that a loop of the graph makes longer (`values.grown`)."""

from __future__ import annotations

from typing import Any

from duograph.core.op import no_recording
from duograph.core.op import state as dispatch

from ..rules.errors import Uncapturable
from ..values.grown import GrownList, form_of
from ..values.world import Snapshot


class Grows(BaseException):
    """The body of a loop makes a list longer: the loop is captured again with a `GrownList` in its place.

    Attributes:
        list: that was there before the loop.
        form: of the further elements.
    """

    def __init__(self, longer: list[Any], form: Any) -> None:
        self.list, self.form = longer, form


def check_variable(before: Any, after: Any) -> None:
    """To be called with what a variable holds before and after the body of a loop.

    Raises:
        Grows: an inner loop has made a list longer.
    """
    if type(before) is list and type(after) is GrownList:
        raise Grows(before, after.form)


def check_length(obj: Any, one: list[Any], other: list[Any]) -> None:
    """To be called with what the list ``obj`` holds in two states.

    Raises:
        Grows: in one of them it has further elements, which are of one form.
    """
    less, more = sorted((one, other), key=len)
    if type(obj) is not list or len(less) == len(more) or any(a is not b for a, b in zip(less, more, strict=False)):
        return
    form = form_of(more[len(less)])
    if form is not None and all(form_of(element) == form for element in more[len(less) :]):
        raise Grows(obj, form)


def begin_growth(session: Any, key: Any, entry: Snapshot, found: Grows, references: int) -> Snapshot:
    """The state before the loop ``key`` with a `GrownList` in place of the list that was ``found``, to which there are
    so many ``references``.

    Raises:
        Uncapturable: others than one variable refer to the list, or its elements are known to be needed.
    """
    obj, world = found.list, session.world
    holders = [(frame, name) for frame, values in entry.locals.items() for name, v in values.items() if v is obj]
    is_hidden = id(obj) in session.originals or references != 1 or len(holders) != 1
    if is_hidden or key in session.log.never_grown or dispatch.tapes:  # what leaves has no gradient
        raise Uncapturable("a loop whose end depends on tensor values changes the size of a container")
    world.restore(entry)
    frame, name = holders[0]
    with no_recording():
        frame.locals[name] = world.track(GrownList(session, key, found.form, tuple(entry.containers[id(obj)][1])))
    session.has_grown = True
    began: Snapshot = world.snapshot()
    return began
