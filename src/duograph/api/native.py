"""What of the API the native launcher stands in for (``runtime/launch.py``), from the first native kernel on."""

from __future__ import annotations

from typing import Any

from duograph.base.config import config
from duograph.core import kernel
from duograph.core.op import Op
from duograph.tensor.tensor import Tensor

from . import indexing, operators
from .promote import operand_of


def start() -> bool:
    """Makes operators, indexing and calls of ops native; whether that is possible here.

    ``import duograph`` does not load the launcher: it takes longer than all the rest.
    """
    from duograph.runtime import launch

    launch.set_constant(operand_of)
    if not launch.is_registered():
        for name, function in operators.OPERATORS.items():
            launch.register(Tensor, name, function, weak_numbers=True)
        launch.register(Tensor, "__getitem__", indexing.getitem)
        launch.register(Op, "__call__", Op.__call__)
    return launch.activate()


def first_kernel(op: Op, arrays: list[Any], attrs: dict[str, Any]) -> Any:
    """In the place of `kernel.native` until the first op is computed: loads the code generator then, if it is wanted."""
    if config().kernels != "native":
        kernel.native = None
        return None
    from duograph.runtime.single import run_single

    kernel.native = run_single
    return run_single(op, arrays, attrs)


kernel.at_first_native.append(start)
kernel.native = first_kernel
