"""Kinds of settings of optimizers: their words in docstrings, and their checks with MindSpore's classes and texts."""

from __future__ import annotations

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


_share = checks.that(float_of, lambda x: 0.0 < x < 1.0, "be in range of (0.0, 1.0), but got {} with type 'float'")
not_negative = checks.against_0(">=")

Params = Annotated[Any, Kind("Union[list[Parameter], list[dict]]", text="see `Optimizer`", kept=False)]
Rate = Annotated[Any, Kind("Union[float, int, Tensor, Iterable, LearningRateSchedule]", kept=False)]
Decay = Annotated[Any, Kind("Union[float, int, Cell]", kept=False)]
Scale = Annotated[float, Kind("float", kept=False)]
Locking = Annotated[bool, Kind("bool", checks.boolean, "kept for old programs", kept=False)]
Share = Annotated[float, Kind("float", _share)]
Epsilon = Annotated[float, Kind("float", checks.against_0(">", "0", float_of))]
NotNegative = Annotated[float, Kind("float", not_negative)]
Positive = Annotated[float, Kind("float", checks.against_0(">"))]
First = Annotated[float, Kind("float", not_negative, "first value of the accumulators", kept=False)]
