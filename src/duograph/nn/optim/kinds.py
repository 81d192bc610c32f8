"""Kinds of settings of optimizers: their words in docstrings, and their checks with MindSpore's classes and texts."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from duograph.nn import checks
from duograph.nn.settings import Check, Kind


def float_of(value: Any, name: str, owner: str) -> float:
    """``value`` if it is a float."""
    if not isinstance(value, float):
        raise TypeError(
            f"For '{owner}', the type of '{name}' should be 'float', but got type '{type(value).__name__}'."
        )
    return value


def as_float(value: Any, name: str, owner: str) -> float:
    """``value`` as a float, if it is an int or float."""
    return float_of(float(value) if isinstance(value, int) and not isinstance(value, bool) else value, name, owner)


def share(value: Any, name: str, owner: str) -> float:
    """``value`` if it is a float between 0 and 1."""
    if not 0.0 < float_of(value, name, owner) < 1.0:
        raise ValueError(
            f"For '{owner}', the '{name}' must be in range of (0.0, 1.0), but got {value} with type 'float'."
        )
    return value


def against_0(sign: str, bound: str = "0.0", of_type: Check = checks.real) -> Check:
    """The check of a float that must be ``sign`` 0 (``bound``: as the error writes it)."""
    wrong = {">": operator.le, ">=": operator.lt}[sign]

    def check(value: Any, name: str, owner: str) -> float:
        if wrong(of_type(value, name, owner), 0):
            raise ValueError(
                f"For '{owner}', the '{name}' must be float and must {sign} {bound}, but got '{value}' with type "
                "'float'."
            )
        return value

    return check


not_negative = against_0(">=")

Params = Annotated[Any, Kind("Union[list[Parameter], list[dict]]", text="see `Optimizer`", kept=False)]
Rate = Annotated[Any, Kind("Union[float, int, Tensor, Iterable, LearningRateSchedule]", kept=False)]
Decay = Annotated[Any, Kind("Union[float, int, Cell]", kept=False)]
Scale = Annotated[float, Kind("float", kept=False)]
Flag = Annotated[bool, Kind("bool", checks.boolean)]
Locking = Annotated[bool, Kind("bool", checks.boolean, "kept for old programs", kept=False)]
Share = Annotated[float, Kind("float", share)]
Epsilon = Annotated[float, Kind("float", against_0(">", "0", float_of))]
Real = Annotated[float, Kind("float", checks.real)]
NotNegative = Annotated[float, Kind("float", not_negative)]
Positive = Annotated[float, Kind("float", against_0(">"))]
First = Annotated[float, Kind("float", not_negative, "first value of the accumulators", kept=False)]
