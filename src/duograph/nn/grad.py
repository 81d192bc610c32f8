"""Cells that multiply vectors with the Jacobian of a network."""

from __future__ import annotations

from typing import Any

from duograph.autodiff.transforms import jvp, vjp
from duograph.nn.cell import Cell

__all__ = ["Jvp", "Vjp"]


class Jvp(Cell):
    """The output of a network, and its Jacobian times tangents of the inputs: ``construct(*inputs, v)``.

    Args:
        fn (Cell): the network.

    Inputs:
        - **inputs** (Tensors) - the inputs of the network.
        - **v** (Union[Tensor, tuple[Tensor]]) - their tangents.

    Outputs:
        tuple, the output and its tangent.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> x = Tensor([2.0])
        >>> print(*nn.Jvp(lambda x, y: x ** 3 + y)(x, x, (Tensor([1.0]), Tensor([10.0]))))
        [10.] [22.]
    """

    def __init__(self, fn: Any) -> None:
        super().__init__()
        self.fn = fn

    def construct(self, *args):
        return jvp(self.fn, args[:-1], args[-1])


class Vjp(Cell):
    """The output of a network, and cotangents of the output times its Jacobian: ``construct(*inputs, v)``.

    Args:
        fn (Cell): the network.

    Inputs:
        - **inputs** (Tensors) - the inputs of the network.
        - **v** (Union[Tensor, tuple[Tensor]]) - cotangents of the output.

    Outputs:
        tuple, the output and the gradient of the input; a tuple of gradients if there are several inputs.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> x = Tensor([2.0])
        >>> output, gradients = nn.Vjp(lambda x, y: x ** 3 + y)(x, x, Tensor([1.0]))
        >>> print(output, *gradients)
        [10.] [12.] [1.]
    """

    def __init__(self, fn: Any) -> None:
        super().__init__()
        self.fn = fn

    def construct(self, *args):
        output, pull = vjp(self.fn, *args[:-1])
        found = pull(args[-1])
        return output, found[0] if len(found) == 1 else found
