"""Kinds of settings of optimizers: their words in docstrings, and their checks with MindSpore's classes and texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from duograph.nn import checks
from duograph.nn.settings import Kind


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


def of_sign(
    sign: str,
    right: Callable[[float], bool],
    type_check: Callable[[Any, str, str], float] = checks.real,
    zero: Any = 0.0,
) -> Callable[[Any, str, str], float]:
    """The check of a float ``sign`` 0."""

    def check(value: Any, name: str, owner: str) -> float:
        if not right(type_check(value, name, owner)):
            raise ValueError(
                f"For '{owner}', the '{name}' must be float and must {sign} {zero}, but got '{value}' with type 'float'."
            )
        return value

    return check


not_negative = of_sign(">=", lambda x: not x < 0)
positive = of_sign(">", lambda x: not x <= 0)

Params = Annotated[Any, Kind("Union[list[Parameter], list[dict]]", text="see `Optimizer`", kept=False)]
Rate = Annotated[Any, Kind("Union[float, int, Tensor, Iterable, LearningRateSchedule]", kept=False)]
Decay = Annotated[Any, Kind("Union[float, int, Cell]", kept=False)]
Scale = Annotated[float, Kind("float", kept=False)]
Flag = Annotated[bool, Kind("bool", checks.boolean)]
Locking = Annotated[bool, Kind("bool", checks.boolean, "kept for old programs", kept=False)]
Share = Annotated[float, Kind("float", share)]
Epsilon = Annotated[float, Kind("float", of_sign(">", lambda x: not x <= 0, float_of, 0))]
Real = Annotated[float, Kind("float", checks.real)]
NotNegative = Annotated[float, Kind("float", not_negative)]
Positive = Annotated[float, Kind("float", positive)]
First = Annotated[float, Kind("float", not_negative, "first value of the accumulators", kept=False)]
