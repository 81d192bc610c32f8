"""`Parameter` and `ParameterTuple` where MindSpore programs look for them."""

from duograph.tensor.parameter import Parameter, ParameterTuple

__all__ = ["Parameter", "ParameterTuple"]
