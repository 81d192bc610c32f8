"""``id()``: a number that tells an object from all others, for as long as it lives.

Programs compare it and look for it, which asks which objects they are (`Semantics.same_object`). What the number is
shows only where it leaves the program. Everything else that can be done with an int is refused.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import Any

from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor

from ..rules.errors import Uncapturable
from ..values.recipe import Called
from ..values.restricted import Restricted
from ..values.text import GraphText
from .substitutes import substitute

MOST = 64
"""This many objects may be told apart by their numbers: each is compared with all."""
_SEQUENCES = (list, tuple, set, frozenset, deque)
_WITHOUT = (int, float, complex, str, bytes, tuple, frozenset, range, Scalar, GraphText)
"""Objects of which Python may have one or several that are equal."""


class Address(Restricted):
    """The ``id`` of an object; there is one `Address` for each."""

    __slots__ = ("_at", "_calls", "_of")
    why = "the built-in function id(), for more than telling objects apart"

    def __init__(self, calls: Any, of: Any) -> None:
        self._calls, self._of = calls, of
        session = calls.session
        known, patterned = session.originals.get(id(of)), session.patterned.get(id(of))
        self._at = id(known[0] if known is not None else patterned[2] if patterned is not None else of)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Address):
            self.refuse()
        return self._calls.semantics.same_object(self._of, other._of)  # type: ignore[no-any-return]

    def __ne__(self, other: object) -> bool:
        same: Any = self == other
        return same == 0 if isinstance(same, Scalar) else not same  # type: ignore[comparison-overlap,return-value]

    def __hash__(self) -> int:
        """That of the number, which outside containers may hold; none of the others that were asked for is equal."""
        semantics = self._calls.semantics
        for other in _addresses(self._calls.session).values():
            if other is not self and semantics.same_object(self._of, other._of) is not False:
                self.refuse()
        return hash(self._at)

    def __bool__(self) -> bool:
        return True

    def make_python_object(self, collector: Any) -> Called:
        """Where it leaves the program, it is the number of the object that leaves."""
        if collector.values_only:
            self.refuse()
        return Called(id, [collector.recipe(self._of)])


def _addresses(session: Any) -> dict[int, Address]:
    return session.addresses  # type: ignore[no-any-return]


@substitute(id)
def _id(calls: Any, obj: Any, /) -> Address:
    session = calls.session
    found = _addresses(session)
    if isinstance(obj, _WITHOUT) or obj is None:
        raise Uncapturable(f"the built-in function id() of a {type(obj).__name__} object")
    if id(obj) in found:
        return found[id(obj)]
    if len(found) > MOST:
        raise Uncapturable("the built-in function id() of many objects")
    for other in found.values():  # Python gives the number of what is gone to the next one
        if not _is_outside(session, other._of) and not _is_held(session, other._of):
            raise Uncapturable("the built-in function id(), with one of an object that may be gone")
    session.note_identity(obj, is_asked=True)
    made = found[id(obj)] = Address(calls, obj)
    return made


def _is_outside(session: Any, obj: Any) -> bool:
    if isinstance(obj, Tensor):
        return bool(session.is_outside(obj)) or id(obj) in session.patterned
    return id(obj) in session.originals or not session.is_made_inside(obj)


def _is_held(session: Any, obj: Any) -> bool:
    """Whether a variable of a call that has not ended holds ``obj``, or what holds it."""
    seen: set[int] = set()
    waiting = [v for frame in session.world.frames for v in frame.locals.values()]
    while waiting:
        value = waiting.pop()
        if value is obj:
            return True
        if id(value) in seen:
            continue
        seen.add(id(value))
        if type(value) in _SEQUENCES:
            waiting += value
        elif type(value) in (dict, OrderedDict, defaultdict):
            waiting += [*value, *value.values()]
        elif session.world.is_tracked(value) and hasattr(value, "__dict__"):
            waiting += vars(value).values()
    return False
