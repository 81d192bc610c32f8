"""Checks of layer arguments, with MindSpore's classes and texts."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any


def positive_int(value: Any, name: str, owner: str) -> int:
    """``value`` if it is an int above 0."""
    integer(value, name, owner)
    if value <= 0:
        raise ValueError(
            f"For '{owner}', the '{name}' must be int and must > 0, but got '{value}' with type "
            f"'{type(value).__name__}'."
        )
    return value


def integer(value: Any, name: str, owner: str) -> int:
    """``value`` if it is an int."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{owner}', the '{name}' must be int, but got '{type(value).__name__}'")
    return value


def not_negative_int(value: Any, name: str, owner: str) -> int:
    """``value`` if it is an int of at least 0."""
    integer(value, name, owner)
    if value < 0:
        raise ValueError(
            f"For '{owner}', the '{name}' must be int and must >= 0, but got '{value}' with type "
            f"'{type(value).__name__}'."
        )
    return value


def boolean(value: Any, name: str, owner: str) -> bool:
    """``value`` if it is a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"For '{owner}', the '{name}' must be a bool, but got {type(value).__name__}.")
    return value


def number(value: Any, name: str, owner: str) -> float:
    """``value`` as a float, if it is an int or float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(
            f"For '{owner}', the type of '{name}' should be one of '['int', 'float']', "
            f"but got type '{type(value).__name__}'."
        )
    return float(value)


def real(value: Any, name: str, owner: str) -> float:
    """``value`` if it is a float (no int)."""
    if not isinstance(value, float):
        raise TypeError(f"For '{owner}', the '{name}' must be float, but got '{type(value).__name__}'")
    return value


def a_number(value: Any, name: str, owner: str) -> Any:
    """``value`` if it is an int or float."""
    number(value, name, owner)
    return value


def same(value: Any, name: str, owner: str) -> Any:
    """``value``, whatever it is."""
    return value


def that(of_type: Callable[..., Any], right: Callable[[Any], bool], words: str) -> Any:
    """The check of a value that is ``of_type`` and for which ``right`` holds; ``words``: what it must, in the error."""

    def check(value: Any, name: str, owner: str) -> Any:
        value = of_type(value, name, owner)
        if not right(value):
            raise ValueError(f"For '{owner}', the '{name}' must {words.format(value)}.")
        return value

    return check


def against_0(sign: str, bound: str = "0.0", of_type: Callable[..., Any] = real) -> Any:
    """The check of a float that must be ``sign`` 0 (``bound``: as the error writes it)."""
    wrong = {">": operator.le, ">=": operator.lt}[sign]
    words = f"be float and must {sign} {bound}, but got '{{}}' with type 'float'"
    return that(of_type, lambda value: not wrong(value, 0), words)


def rising_rates(low: float, high: float, owner: str) -> None:
    """Raises unless ``low``, given as ``min_lr``, is below ``high``, given as ``max_lr``."""
    if low >= high:
        raise ValueError(
            f"For '{owner}', the 'max_lr' must be greater than the 'min_lr', but got 'max_lr' value: {high}, "
            f"'min_lr' value: {low}."
        )


def one_of(value: Any, choices: Any, name: str, owner: str) -> Any:
    """``value`` if it is among ``choices``."""
    if value not in choices:
        raise ValueError(f"For '{owner}', the '{name}' must be in {list(choices)}, but got {value}.")
    return value


def string_of(value: Any, choices: Any, name: str, owner: str) -> str:
    """``value`` if it is a string among ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"For '{owner}', the '{name}' must be str and must be in '{list(choices)}', but got '{value}'."
        )
    return value


def extents(value: Any, rank: int, name: str, owner: str, least: int = 1) -> tuple[int, ...]:
    """``value`` (an int, or a tuple of ``rank`` ints or one) as a tuple of ``rank`` ints of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | tuple | list):
        raise TypeError(
            f"For '{owner}', the type of '{name}' should be one of '['int', 'tuple']', "
            f"but got type '{type(value).__name__}'."
        )
    items = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(items) == 1:
        items = items * rank
    if len(items) != rank:
        raise ValueError(f"For '{owner}', the dimension of '{name}' must be {rank}, but got {len(items)}.")
    for item in items:
        (positive_int if least > 0 else not_negative_int)(item, f"{name} item", owner)
    return items


def probability(value: Any, name: str, owner: str, include_one: bool = False) -> float:
    """``value`` as a float if it is a number of at least 0 and below 1 (or at most 1)."""
    number(value, name, owner)
    if not (0 <= value < 1 or (include_one and value == 1)):
        bracket = "]" if include_one else ")"
        raise ValueError(f"For '{owner}', the '{name}' must be a number in range [0, 1{bracket}, but got {value}.")
    return float(value)
