"""Kinds of settings of groups: their words in docstrings, and their checks with MindSpore's classes and texts."""

from __future__ import annotations

from typing import Annotated, Any

from duograph.nn.settings import Check, Kind


def not_negative(label: str = "") -> Check:
    """The check of a number of at least 0; ``label``: what the error calls it (its name)."""

    def check(value: Any, name: str, _: str) -> Any:
        if value < 0:
            raise ValueError(f"Invalid {label or name} value: {value}")
        return value

    return check


def _betas(value: Any, name: str, owner: str) -> Any:
    for i in (0, 1):
        if not 0.0 <= value[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {value[i]}")
    return value


def _rho(value: Any, name: str, owner: str) -> Any:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"Invalid rho value: {value}")
    return value


def _etas(value: Any, name: str, owner: str) -> Any:
    if not 0.0 < value[0] < 1.0 < value[1]:
        raise ValueError(f"Invalid eta values: {value[0]}, {value[1]}")
    return value


Params = Annotated[Any, Kind("Union[list[Parameter], list[dict]]", text="see `Optimizer`")]
Rate = Annotated[Any, Kind("Union[int, float, Tensor]", text="the rate")]
Number = Annotated[float, Kind("float")]
Sizes = Annotated[tuple[float, float], Kind("tuple[float, float]")]
Switch = Annotated[bool, Kind("bool")]
Maximize = Annotated[bool, Kind("bool", text="climb instead of descend")]
NotNegative = Annotated[float, Kind("float", not_negative())]
Epsilon = Annotated[float, Kind("float", not_negative("epsilon"))]
Betas = Annotated[tuple[float, float], Kind("tuple[float, float]", _betas, "decay of the running means")]
Rho = Annotated[float, Kind("float", _rho)]
Etas = Annotated[tuple[float, float], Kind("tuple[float, float]", _etas)]
