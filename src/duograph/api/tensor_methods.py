"""The one place where operators and methods are attached to `Tensor`.

Three sources: the Python protocol and operators, methods written for Tensor (their signatures differ from the function
of the same name), and the table of methods that are a function of the functional API with the tensor first.
"""

from __future__ import annotations

from typing import Any

from duograph.tensor.tensor import Tensor

from . import indexing, inplace, operators, tensor_basic, tensor_more, tensor_python, tensor_reduce, tensor_shape




def attach(members: dict[str, Any]) -> None:
    """Sets ``members`` on `Tensor`."""
    for name, member in members.items():
        setattr(Tensor, name, member)


attach(operators.OPERATORS)
attach(tensor_python.PROTOCOL)
attach({"__getitem__": indexing.getitem, "__setitem__": indexing.setitem})
attach(tensor_basic.PROPERTIES)
attach(tensor_shape.PROPERTIES)
attach(tensor_basic.METHODS)
attach(tensor_shape.METHODS)
attach(tensor_reduce.METHODS)
attach(tensor_more.METHODS)
attach(inplace.METHODS)
