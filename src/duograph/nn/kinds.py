"""Kinds of settings that many layers share (`settings`)."""

from __future__ import annotations

from typing import Annotated, Any

from duograph.nn import checks
from duograph.nn.settings import Kind

Anything = Annotated[Any, Kind("any")]
Unkept = Annotated[Any, Kind("any", kept=False)]
Flag = Annotated[bool, Kind("bool", checks.boolean)]
Integer = Annotated[int, Kind("int", checks.integer)]
PositiveInt = Annotated[int, Kind("int", checks.positive_int)]
Number = Annotated[float, Kind("Union[int, float]", checks.a_number)]
AsFloat = Annotated[float, Kind("Union[int, float]", checks.number)]
Real = Annotated[float, Kind("float", checks.real)]
Init = Annotated[Any, Kind("Union[Tensor, str, Initializer, numbers.Number]", kept=False)]
Dtype = Annotated[Any, Kind("dtype", text="of the parameters", kept=False)]
Extent = Annotated[Any, Kind("Union[int, tuple[int]]", kept=False)]
Text = Annotated[str, Kind("str", kept=False)]
