"""Running captured programs: arrays in, arrays out, and what users see of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from duograph.base.config import config
from duograph.core.op import state
from duograph.ir.executor import Executor
from duograph.ir.interpreter import Interpreter
from duograph.ir.node import Apply, Graph
from duograph.tensor.tensor import wrap

from .backends import UserBackend


class _Observed(Interpreter):
    """Tells of every operator what it has computed."""

    def run_node(self, node: Apply, operands: list[Any]) -> Any:
        out = super().run_node(node, operands)
        state.observer.look(node.op, operands, out, node.context.origins.get(node, ()))
        return out


_interpreter, _observed = Interpreter(), _Observed()


def executor(backend: Any = "") -> Executor:
    """What runs graphs: the interpreter if ``backend`` is ``interpreter``, a function of the user if it is one, else
    what the configuration says."""
    if callable(backend):
        return UserBackend(backend)
    observer = state.observer
    if observer is not None and observer.runs_plainly:
        return _observed
    if backend != "interpreter" and config().kernels == "native":
        from duograph.runtime.programs.executable import NATIVE

        return NATIVE if observer is None else observer.executor(NATIVE)
    return _interpreter if observer is None else observer.executor(_interpreter)


def run_graph(
    graph: Graph,
    values: Sequence[Any],
    level: int = 1,
    backend: Any = "",
    donate: Mapping[int, int] | None = None,
    repeat: bool = True,
) -> list[Any]:
    """The outputs of ``graph`` as arrays, numbers, objects and tokens; arguments as for `Executor.run`."""
    return list(executor(backend).run(graph, values, level, donate, repeat))


def run_graph_owned(graph: Graph, values: Sequence[Any], level: int = 1, backend: Any = "") -> Any:
    """Like `run_graph`, with every array its own memory: what is saved for a gradient must not change with a result
    that the user writes to in place."""
    result = executor(backend).run(graph, values, level)
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
