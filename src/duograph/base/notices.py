"""Notices that a program gets once: of switches that it sets and that have no effect here."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable

from .failures import level_of_user

__all__ = ["forget", "no_effect", "nothing_to_differentiate", "sizes_differ", "unknown_option"]

_told: set[str] = set()


def no_effect(what: str, why: str, stacklevel: int = 3) -> None:
    """Warns, once in a process, that setting ``what`` changes nothing, and why."""
    if what not in _told:
        _told.add(what)
        warnings.warn(f"{what} has no effect: {why}", stacklevel=stacklevel)


def unknown_option(who: str, name: object, known: Iterable[str], stacklevel: int = 3) -> None:
    """Warns that ``who`` has no option ``name``, with the nearest that it has."""
    hint = nearest(name, known)
    warnings.warn(f"For {who!r}, the option {name!r} is not known and ignored{hint or '.'}", stacklevel=stacklevel)


def sizes_differ(target: object, given: object) -> None:
    """Warns that a loss of two shapes is one of every element with every other, as PyTorch does."""
    text = (
        f"Using a target size ({target}) that is different to the input size ({given}). This will likely lead to "
        "incorrect results due to broadcasting. Please ensure they have the same size."
    )
    warnings.warn(text, stacklevel=level_of_user())


def nothing_to_differentiate(fn: object, out: object = None) -> None:
    """Warns that ``fn`` has returned no tensor, of which MindSpore has gradients of zeros."""
    method = ".construct" if hasattr(type(fn), "construct") else ""
    name = getattr(fn, "__qualname__", None) or type(fn).__qualname__ + method
    why = "Is a 'return' missing?" if out is None else "Return a Tensor that is computed of the arguments."
    what = "None" if out is None else f"no Tensor but a {type(out).__name__}"
    warnings.warn(f"{name} returned {what}: every gradient is 0. {why}", stacklevel=level_of_user())


def nearest(name: object, known: Iterable[str]) -> str:
    """The end of a sentence about a name that is not ``known``: which was meant, if one is like it."""
    near = difflib.get_close_matches(str(name), list(known), 1)
    return f". Did you mean {near[0]!r}?" if near else ""


def forget() -> None:
    """Notices are given again."""
    _told.clear()
