"""`GraphCell`: a network that was read from a MindIR file."""

from __future__ import annotations

from typing import Any

from duograph.jit.exported import ExportedGraph, StandaloneProgram
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor, wrap

from .cell import Cell

__all__ = ["GraphCell"]


class GraphCell(Cell):
    """Runs the graph of a MindIR file, in dynamic and in graph mode, with gradients.

    Args:
        graph (ExportedGraph): what `load` has read.
        params_init (dict): values by name that take the place of the parameters in the file. Default ``None``.
        obf_random_seed (int): kept for old programs; must be None. Default ``None``.

    Inputs:
        Those that the network was exported with; constants among them may be left out.

    Outputs:
        What the network gives.

    Raises:
        TypeError: ``graph`` was not made by `load`, or ``params_init`` is not a dict of Tensors by name.
        ValueError: a value of ``params_init`` has another shape than the parameter.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> ms.export(nn.Dense(3, 2), ms.Tensor([[1.0, 2.0, 3.0]]), file_name="/tmp/net", file_format="MINDIR")
        >>> net = nn.GraphCell(ms.load("/tmp/net.mindir"))
        >>> [p.name for p in net.get_parameters()]
        ['weight', 'bias']
    """

    _runs_code_of_user = True

    def __init__(
        self, graph: ExportedGraph, params_init: dict[str, Any] | None = None, obf_random_seed: int | None = None
    ) -> None:
        super().__init__(auto_prefix=True)
        if not isinstance(graph, ExportedGraph):
            raise TypeError(
                f"For 'GraphCell', the argument 'graph' must be a FuncGraph loaded from MindIR, but got type "
                f"{type(graph)}."
            )
        if obf_random_seed is not None:
            raise TypeError("For 'GraphCell', obfuscated graphs are not supported: 'obf_random_seed' must be None.")
        values = _checked(params_init)
        self.graph = graph
        tensors: list[Tensor] = []
        for entry in graph.state:
            if not entry.parameter:
                tensors.append(wrap(entry.value.copy()))
                continue
            value = values.get(entry.name, entry.value)
            if tuple(value.shape) != tuple(entry.value.shape):
                raise ValueError(
                    f"For 'GraphCell', the parameter {entry.name!r} has the shape {tuple(entry.value.shape)}, but "
                    f"'params_init' gives it {tuple(value.shape)}."
                )
            made = wrap(entry.value.copy()) if value is entry.value else value
            param = Parameter(made.astype(_dtype_of(entry.value)), entry.name, requires_grad=entry.requires_grad)
            self.insert_param_to_cell(entry.name, param, check_name_contain_dot=False)
            tensors.append(param)
        self._program = StandaloneProgram(graph, tensors)

    def construct(self, *inputs: Any) -> Any:
        return self._program(*inputs)


def _dtype_of(array: Any) -> Any:
    return wrap(array).dtype


def _checked(params_init: Any) -> dict[str, Any]:
    if params_init is None:
        return {}
    if not isinstance(params_init, dict):
        raise TypeError(f"For 'GraphCell', the argument 'params_init' must be a dict, but got {type(params_init)}.")
    for name, value in params_init.items():
        if not isinstance(name, str) or not isinstance(value, Tensor):
            raise TypeError(
                "For 'GraphCell', the key of the 'params_init' must be str, and the value must be Tensor or Parameter, "
                f"but got the key type: {type(name)}, and the value type: {type(value)}"
            )
    return params_init
