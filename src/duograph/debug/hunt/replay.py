"""Does a graph fail, and how: passes, verifier, machine code, and whether it computes what its nodes do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.base.config import configure
from duograph.base.failures import InternalFailure
from duograph.base.tree import leaves
from duograph.core.borders import symbols_in
from duograph.core.dim import evaluate
from duograph.core.types import ScalarType, TensorType, Type
from duograph.ir.interpreter import Interpreter
from duograph.ir.node import Context, Graph
from duograph.ir.printer import all_graphs
from duograph.ir.verify import verify
from duograph.ir.walk import clone
from duograph.passes.pipelines import compile_pipeline
from duograph.runtime.programs.executable import Executable

from .files import quiet

__all__ = ["has_effects", "made_up", "same_bits", "why_it_fails"]


def why_it_fails(graph: Graph, level: int, values: Sequence[Any] | None = None) -> str:
    """How ``graph`` fails, in words that are the same for the same failure; empty if it does not.

    Args:
        graph: any closed graph.
        level: of optimisation.
        values: one per parameter; ``None``: made up.
    """
    stage = "the verifier"
    with quiet(), configure(failures="raise", verify="pass"):
        try:
            verify(graph)
            copy = clone(graph, Context())
            stage = "a pass"
            optimised = compile_pipeline(copy, level)
            stage = "the code generator"
            executable = Executable(optimised, level)
            given = values if values is not None else made_up(graph)
            if given is None or has_effects(graph):
                return ""
            try:
                want = Interpreter().run(graph, given)
            except Exception:  # noqa: BLE001 - the program's own: there is nothing to compare with
                return ""
            stage = "running it"
            found = executable.run([_copied(v) for v in given])
        except InternalFailure as failed:
            told = failed.failure
            return f"{told.area}: {told.error.partition(':')[0]} ({told.place.rpartition(':')[0]})"
        except Exception as error:  # noqa: BLE001 - is the answer
            return f"{stage}: {type(error).__name__}"
    return "" if level > 1 or same_bits(found, want) else "other values than its nodes have one by one"


def same_bits(a: Any, b: Any) -> bool:
    """Whether two values are the same, in every bit, shape and dtype."""
    xs, ys = [list(leaves(v)) for v in (a, b)]
    return len(xs) == len(ys) and all(map(_same, xs, ys))


def _same(x: Any, y: Any) -> bool:
    if isinstance(x, np.ndarray | np.generic) or isinstance(y, np.ndarray | np.generic):
        x, y = np.asarray(x), np.asarray(y)
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    return type(x) is type(y) and (x is y or repr(x) == repr(y))


def made_up(graph: Graph) -> list[Any] | None:
    """Values for the parameters of a graph; ``None`` if it takes objects."""
    random = np.random.default_rng(0)
    symbols = sorted({s for p in graph.params for s in symbols_in(p.type)}, key=str)
    env = {s: max(s.lo, 3) if s.hi is None else min(max(s.lo, 3), s.hi) for s in symbols}
    values = []
    for param in graph.params:
        if not isinstance(param.type, TensorType | ScalarType):
            return None
        values.append(_value_for(param.type, env, random))
    return values


def _value_for(type: Type, env: Any, random: Any) -> Any:
    if isinstance(type, TensorType):
        shape = tuple([n if isinstance(n, int) else evaluate(n, env) for n in type.shape])
        return (random.standard_normal(shape) * 2).astype(type.dtype.numpy)
    return {"bool": True, "int": 2}.get(str(type), 0.5)


def has_effects(graph: Graph) -> bool:
    """Whether running ``graph`` twice can be told from running it once."""
    return any(node.op.effects for g in all_graphs(graph) for node in g.nodes)


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value
