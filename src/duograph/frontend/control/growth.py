"""Where a list becomes one that a loop of the graph makes longer (`values.grown`)."""

from __future__ import annotations

import gc
import types
from typing import Any

from duograph.base.collection import collections
from duograph.core.op import no_recording
from duograph.core.op import state as dispatch

from ..rules.errors import Uncapturable
from ..values.grown import GrownList, form_of
from ..values.journals import Journal
from ..values.world import Snapshot, set_contents

_STATES = (dict, list, tuple, types.FrameType, types.CellType)
"""What variables are in, and copies of tracked state; frames and cells are those of the capture itself."""


class Grows(BaseException):
    """The body of a loop makes a list longer: the loop is captured again with a `GrownList` in its place.

    Attributes:
        list: that was there before the loop.
        form: of the further elements.
    """

    def __init__(self, longer: list[Any], form: Any) -> None:
        self.list, self.form = longer, form

    def is_older_than(self, state: Snapshot) -> bool:
        return type(self.list) is Journal or id(self.list) in state.containers


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
    if type(obj) not in (list, Journal) or any(a is not b for a, b in zip(less, more, strict=False)):
        return
    added = more[len(less) :]
    if type(obj) is Journal:
        if added[:1] == ["extend"]:  # by an inner loop
            raise Grows(obj, added[1].form)
        if any(verb != "append" for verb in added[::2]):
            return
        added = added[1::2]
    form = form_of(added[0]) if added else None
    if form is not None and all(form_of(element) == form for element in added):
        raise Grows(obj, form)


def begin_growth(session: Any, key: Any, entry: Snapshot, found: Grows, references: int) -> Snapshot:
    """The state before the loop ``key`` with a `GrownList` in place of the list that was ``found``, to which there are
    so many ``references``.

    Raises:
        Uncapturable: others than one variable refer to the list, or its elements are known to be needed.
    """
    obj, world = found.list, session.world
    holders = [(frame, name) for frame, values in entry.locals.items() for name, v in values.items() if v is obj]
    if type(obj) is Journal:
        is_hidden = type(session.originals[id(obj)][0]) is not list
    else:
        is_hidden = id(obj) in session.originals or references != 1 or len(holders) != 1 or is_held(session, obj)
    may_grow = session.log.grows_lists and key not in session.log.never_grown
    if is_hidden or not may_grow or dispatch.tapes:  # what leaves has no gradient
        raise Uncapturable("a loop whose end depends on tensor values changes the size of a container")
    world.restore(entry)
    head = () if type(obj) is Journal else tuple(entry.containers[id(obj)][1])
    with no_recording():
        grown = world.track(GrownList(session, key, found.form, head))
    if type(obj) is Journal:
        if not world.is_tracked(obj):  # the body is the first to meet it
            set_contents(obj, session.initial_contents[id(obj)])
            world.track(obj)
        obj.extend(("extend", grown))
        session.note_changed(obj)
    else:
        frame, name = holders[0]
        frame.locals[name] = grown
    began: Snapshot = world.snapshot()
    return began


def is_held(session: Any, obj: Any) -> bool:
    """Whether something refers to ``obj`` whose state is not tracked: a bound method, a partial object, an iterator, an
    exception; also by way of a tuple or a dictionary (its arguments).

    The capture has made it, as it has made ``obj``: both are in the youngest generation, unless the cycle collector has
    run meanwhile. Only then is the whole heap searched, which takes 20 ms per million objects.
    """
    found, seen = [obj], []
    while found:
        seen += found
        if collections() == session.collections:
            wanted = {*map(id, found)}
            young = gc.get_objects(generation=0)
            holders = [v for v in young if type(v) is not list and not wanted.isdisjoint(map(id, gc.get_referents(v)))]
        else:
            holders = gc.get_referrers(*found)
        if any(type(v) not in _STATES and not type(v).__module__.startswith("duograph.") for v in holders):
            return True
        known = {*map(id, seen)}
        found = [v for v in holders if type(v) in (tuple, dict) and id(v) not in known]
    return False
