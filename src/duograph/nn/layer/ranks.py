"""Families of layers over one, two and three axes: one row gives all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.nn.settings import with_settings

_WORDS = {
    1: {"batch": "(N, C, L)", "single": "(C, L)", "axes": "the last axis", "sides": "(left, right)"},
    2: {
        "batch": "(N, C, H, W)", "single": "(C, H, W)", "axes": "the last two axes",
        "sides": "(left, right, top, bottom)",
    },
    3: {
        "batch": "(N, C, D, H, W)", "single": "(C, D, H, W)", "axes": "the last three axes",
        "sides": "(left, right, top, bottom, front, back)",
    },
}  # fmt: skip


def by_rank(
    base: Any,
    name: str,
    text: str,
    arguments: str = "",
    extent: Callable[[int], int] = lambda n: n,
    operands: str = "ops.ones({given})",
    **members: Any,
) -> tuple[Any, Any, Any]:
    """The classes ``name`` + ``1d``, ``2d`` and ``3d``.

    Args:
        base: of the three; reads ``rank``.
        name: of the family.
        text: what they do, with words of `_WORDS` in braces.
        arguments: of the constructor, in the example; no example if there are none.
        extent: of an axis of 4 in the result of the example.
        operands: of the call in the example.
        members: more attributes of the classes.
    """
    made: list[Any] = []
    for rank, words in _WORDS.items():
        doc = text.format(**words)
        if arguments:
            given, shown = (1, 2, *(4,) * rank), (1, 2, *(extent(4),) * rank)
            call = f"nn.{name}{rank}d({arguments})({operands.format(given=given)}).shape"
            doc += f"\n\nExamples:\n    >>> print({call})\n    {shown}"
        members |= {"__doc__": doc, "__module__": base.__module__, "rank": rank}
        made.append(with_settings(type(f"{name}{rank}d", (base,), dict(members))))
    return made[0], made[1], made[2]
