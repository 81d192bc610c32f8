"""What `explain` says of many things alike, in few lines: guards by the object they are about, recompilations by what
varied, breaks by their place. The data of `Explanation` has each by itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from duograph.frontend.guards.guard import Guard
from duograph.frontend.rules.errors import Uncapturable
from duograph.frontend.rules.remedies import remedy
from duograph.frontend.rules.sources import Source

MOST_LISTED = 3
"""Guards on one object, and inputs of one relation, that are listed one by one."""
MOST_NAMES = 6
"""Attributes that the line of a group names."""


def grouped_guards(guards: Sequence[Guard], relations: Sequence[str]) -> list[str]:
    """A line for each guard; of an object with many, one for all: the state of an optimizer is one line.

    Args:
        guards: what was assumed of values, in order.
        relations: what was assumed of inputs together (`Program.relations`).
    """
    groups: dict[Any, list[Guard]] = {}
    for guard in guards:
        root, path = _way(guard.source)
        is_parameter = not path and guard.check == "tensor" and root.kind == "pinned"
        alone = not path and not is_parameter and root.kind != "pinned"
        key = "parameters" if is_parameter else (root, guard) if alone else str(root)  # equal layers: one line for all
        groups.setdefault(key, []).append(guard)
    lines = []
    for key, found in groups.items():
        if len(found) <= MOST_LISTED:
            lines += [str(guard) for guard in found]
        elif key == "parameters":
            lines.append(f"{len(found)} parameters: shape and dtype of {_listed([_told(g.source) for g in found])}")
        else:
            names = dict.fromkeys(path[0] for guard in found if (path := _way(guard.source)[1]))
            of = f" ({_listed(list(names))})" if names else ""
            lines.append(f"{key}: {len(found)} guards on its state{of}")
    return [*lines, *[_shortened(text) for text in relations]]


def _way(source: Source) -> tuple[Source, list[str]]:
    """The first step of the way to a value, and the attributes and items behind it."""
    path: list[str] = []
    while isinstance(source.base, Source):
        path.append(str(source.key) if source.kind in ("attr", "found") else f"[{source.key}]")
        source = source.base
    return source, path[::-1]


def _told(source: Source) -> str:
    return str(source).removeprefix("<Parameter ").removesuffix(">")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _shortened(relation: str) -> str:
    """``a, b, c, ...: written, and ...`` with the first few names."""
    head, colon, rest = relation.partition(": written")
    names = head.split(", ")
    return f"{_listed(names)}{colon}{rest}" if colon and len(names) > MOST_NAMES else relation


def grouped_recompiles(reasons: Iterable[str]) -> list[str]:
    """A line for each thing that varied: how often, the latest values, and what to change."""
    groups: dict[str, list[str]] = {}
    for reason in reasons:
        groups.setdefault(_varied(reason), []).append(reason)
    return [
        f"{found[-1]}{f' ({len(found)} times, the latest is shown)' if len(found) > 1 else ''}. "
        f"{recompile_advice(found[-1])}".rstrip()
        for found in groups.values()
    ]


def _varied(reason: str) -> str:
    """What a recompilation is due to, without its values."""
    return re.split(r" was | had | has |: ", reason, maxsplit=1)[0]


_SIZES = "Pad or batch to few sizes; convert dtypes and numbers of dimensions before the call."
_ADVICE = (
    ("other arguments were given", "Pass the same arguments in each call."),
    (r"\w+\[[\d, ]*\].* is .*\w+\[[\d, ]*\]", _SIZES),
    ("no run that was recorded", "Runs are recorded one by one; capture_mode='ast' compiles all paths at once."),
    ("was rebuilt|holds again", ""),
    ("another object", "Create the object once, outside of the loop that calls the function."),
    (".* was ", "Pass the value that varies as a Tensor, or move it out of the function."),
)


def recompile_advice(reason: str) -> str:
    """What to change about a recompilation; empty if nothing is to be."""
    found = (text for pattern, text in _ADVICE if re.search(pattern, reason))
    return next(found, "Keep what varies out of the function.")


def fallback_advice(fallback: Any) -> str:
    """What to change about calls that plain Python answers; empty if it is not known."""
    if not isinstance(fallback.error, Uncapturable):
        return ""
    return remedy(fallback.reason) if fallback.span is not None else LARGER


LARGER = "Compile the function that calls it: larger functions gain more."


def python_by_place(explanations: Iterable[Any]) -> list[tuple[Any, float]]:
    """A break for each place, with the milliseconds that Python has spent there, the longest first: in all functions
    that run into it, and in calls of compiled forms and segments that plain Python has answered because of it."""
    found: dict[Any, Any] = {}
    spent: dict[Any, dict[int, float]] = {}
    for made in explanations:
        plain = [(f, f.seconds * 1e3) for f in made.fallbacks if made.function.is_auxiliary]
        for cause, milliseconds in [*((b, b.milliseconds) for b in made.breaks), *plain]:
            key = cause.reason, str(cause.span)
            found.setdefault(key, cause)
            spent.setdefault(key, {})[id(cause)] = milliseconds  # those of a segment are the function's, too
    told = [(cause, sum(spent[key].values())) for key, cause in found.items()]
    return sorted(told, key=lambda one: one[1], reverse=True)
