"""Running captured programs: arrays in, arrays out, and what users see of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from duograph.base.config import config
from duograph.ir.interpreter import Interpreter
from duograph.ir.node import Graph
from duograph.tensor.tensor import Tensor, wrap

_interpreter = Interpreter()


def execute(
    graph: Graph,
    values: Sequence[Any],
    level: int = 1,
    backend: str = "",
    donate: Mapping[int, int] | None = None,
    repeat: bool = True,
) -> Any:
    """The value of ``graph``: as machine code, or by the interpreter if that was asked for.

    Args:
        graph: any closed graph.
        values: arrays, numbers and objects, one per parameter.
        level: of optimisation in the code generator; 0: op by op.
        backend: ``interpreter``, or anything else for what the configuration says.
        donate: numbers of outputs that may be written into the memory of inputs.
        repeat: whether the interpreter repeats what machine code notes a failure on; else `NotRepeated` is raised.
    """
    if backend != "interpreter" and config().kernels == "native":
        from duograph.runtime.programs.executable import run_compiled

        return run_compiled(graph, values, level, donate, repeat)
    return _interpreter.run(graph, list(values))


def prepare_graph(graph: Graph, level: int = 1, donate: Mapping[int, int] | None = None) -> None:
    """Compiles what `run_graph` with these arguments will run."""
    if config().kernels == "native":
        from duograph.runtime.programs.executable import executable_of

        executable_of(graph, level, donate)


def run_graph(
    graph: Graph,
    values: Sequence[Any],
    level: int = 1,
    backend: str = "",
    donate: Mapping[int, int] | None = None,
    repeat: bool = True,
) -> list[Any]:
    """The outputs of ``graph`` as arrays, numbers, objects and tokens; arguments as for `execute`."""
    return list(execute(graph, values, level, backend, donate, repeat))


def run_graph_owned(graph: Graph, values: Sequence[Any], level: int = 1, backend: str = "") -> Any:
    """Like `run_graph`, with every array its own memory: what is saved for a gradient must not change with a result
    that the user writes to in place."""
    result = execute(graph, values, level, backend)
    if not isinstance(result, tuple | list):
        return result
    seen = {id(v) for v in values}
    made = []
    for out in result:
        if isinstance(out, np.ndarray):
            if out.base is not None or id(out) in seen:
                out = np.array(out, order="C", copy=True)
            seen.add(id(out))
        made.append(out)
    return tuple(made)


def to_runtime(value: Any) -> Any:
    """A Tensor's array; numbers as they are."""
    return value.array() if isinstance(value, Tensor) else value


def as_user_values(values: Sequence[Any]) -> list[Any]:
    """Arrays as tensors, the rest as it is."""
    return [wrap(v) if isinstance(v, np.ndarray) else v for v in values]


def own_outputs(outputs: Sequence[Any], inputs: Sequence[Any], donate: Mapping[int, int] | None = None) -> list[Any]:
    """Outputs as tensors of their own storage: results of a program share memory only with inputs that were donated."""
    given = {id(x) for x in inputs}
    made: list[Any] = []
    for k, out in enumerate(outputs):
        if isinstance(out, np.ndarray):
            if donate and k in donate and out is inputs[donate[k]]:
                pass
            elif out.base is not None or id(out) in given or not out.flags.c_contiguous or not out.flags.writeable:
                out = np.array(out, order="C", copy=True)
            given.add(id(out))
            out = wrap(out)
        elif isinstance(out, np.generic):
            out = wrap(np.asarray(out))
        made.append(out)
    return made
