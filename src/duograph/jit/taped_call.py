"""Native calls while tapes record: versions that keep residuals and tell the tapes, and backward graphs.

A version is compiled once more for each set of inputs that tapes watch: its graph is the forward graph with residuals.
Native code checks the guards, asks `_Recorder.begin` whether the tapes watch just these inputs, runs the graph, and
hands its results to `_Recorder.finish`, which puts the call on the tapes. Python without native code does the same
(`Entry.run`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from duograph.autodiff.compiled import GraphFunction, record
from duograph.autodiff.levels import Level
from duograph.core.op import state
from duograph.core.types import ScalarType, TensorType, TupleType
from duograph.frontend.programs.conclusion import conclusion
from duograph.frontend.programs.program import Program, RunPlainly, Unfinished
from duograph.frontend.values.recipe import Output
from duograph.ir.node import Graph
from duograph.passes.simplify.tuples import items_of
from duograph.runtime.calls import words as w
from duograph.runtime.calls.native import AGAIN, NativeCall
from duograph.runtime.calls.plan import CallPlan, PathPlan, Subject
from duograph.runtime.guards.program import GuardProgram
from duograph.runtime.programs.executable import executable_of
from duograph.runtime.python.cpython import Unsupported
from duograph.tensor.random import default_generator
from duograph.tensor.tensor import Tensor, wrap

from .conditions import is_possible_now

__all__ = ["Active", "Recorder", "Unsupported", "active_inputs", "graph_call"]

Active = tuple[tuple[bool, ...], ...]
"""Of each tape that watches an input, innermost first, which inputs it watches."""


def active_inputs(inputs: Sequence[Any]) -> Active:
    """What the tapes that record now watch of ``inputs``."""
    found = [tuple([tape.variable(x) is not None for x in inputs]) for tape in reversed(state.tapes)]
    return tuple([active for active in found if any(active)])


class Recorder:
    """What Python does in a native call of a version while tapes record.

    Args:
        program: of the version.
        function: its graph, as tapes see it.
        active: what is watched of its inputs.
        has_paths: whether its gradient is one graph for several paths.
    """

    def __init__(self, program: Program, function: GraphFunction, active: Active, has_paths: bool) -> None:
        self.program, self.active, self.has_paths = program, active, has_paths
        self.unwatched = [None] * (len(program.graph.params) - len(program.inputs))  # state of the generator, token
        self.only = _only_output(program)
        self.arrays = [k for k, source in enumerate(program.inputs) if source.kind == "array"]
        self.levels: list[Level] = []
        self.graph = program.graph
        for watched in active:
            level = function.level(self.graph, (*watched, *[False] * len(self.unwatched)))
            self.levels.append(level)
            self.graph = level.forward
        self.n_results = len(items_of(self.graph.output))
        path = program.paths[0]
        is_one = len(program.paths) == 1 and path.kind == "return" and not path.tensors and path.offset is None
        self.conclude = conclusion(program, path, {}, program.standalone) if is_one else None
        self.generator = default_generator()

    def begin(self, inputs: list[Any]) -> Any:
        """The inputs, and the tapes that watch them with their variables; `AGAIN` if that is not what this call is."""
        tapes, active = state.tapes, self.active
        for k in self.arrays:
            inputs[k] = Tensor(inputs[k])
        if self.program.plain_for_gradients or (self.has_paths and (len(tapes) > 1 or tapes[0].is_kept)):
            return AGAIN
        if len(tapes) == len(active) == 1:  # nearly always
            variables = tapes[0].variables_if(inputs, active[0])
            return AGAIN if variables is None else (inputs, [(self.levels[0], tapes[0], variables + self.unwatched)])
        if active_inputs(inputs) != active:
            return AGAIN
        found: list[Any] = []
        for tape in reversed(tapes):
            variables = [tape.variable(x) for x in inputs]
            if any(v is not None for v in variables):
                found.append((self.levels[len(found)], tape, variables + self.unwatched))
        return inputs, found

    def finish(self, args: Sequence[Any], leaves: list[Any], begun: Any) -> Any:
        """The result of the call, of which tapes are told."""
        inputs, chain = begun
        generator = self.generator
        if len(leaves) > self.n_results:  # the graph has read the state of the generator
            state_of = leaves[-2:]
            del leaves[-2:]
        else:
            state_of = [generator.initial_seed(), generator.offset]
        inputs += state_of
        if len(self.unwatched) > 2:
            inputs.append(None)
        outputs = record(chain, inputs, leaves)
        if self.only >= 0:
            return outputs[self.only]
        try:
            if self.conclude is not None:
                return self.conclude(args, outputs)
            return self.program.finish(args, outputs, generator)
        except (RunPlainly, Unfinished):
            return AGAIN


def _only_output(program: Program) -> int:
    """The number of the output that is all that the program gives or does; -1: it does more."""
    path = program.paths[0]
    if len(program.paths) > 1 or path.kind == "raise" or path.offset is not None or not isinstance(path.value, Output):
        return -1
    return -1 if path.tensors or path.containers or path.attributes else path.first + path.value.index


def graph_call(
    graph: Graph, level: int, inputs: Sequence[Any], plain: Callable[..., Sequence[Any]], forget: Callable[[], object]
) -> NativeCall | None:
    """A native call of ``graph`` by itself, for inputs like these; ``None`` if it has none now.

    Args:
        graph: simplified.
        level: of its executable.
        inputs: Tensors and numbers.
        plain: ``(*inputs) -> outputs`` does the same in another way.
        forget: is called when the call has given its memory back, and another one should be made.

    Raises:
        Unsupported: it never has one.
    """
    if not is_possible_now():
        return None
    executable = executable_of(graph, level)
    is_whole = executable is not None and all(step.is_pure for step in executable.build.host_steps)
    if executable is None or not is_whole or not executable._flat_params:
        raise Unsupported("part of it runs in Python")
    guards = GuardProgram(len(inputs))
    names = [f"input {i}" for i in range(len(inputs))]
    plan = CallPlan(guards, executable, names, False, len(inputs), len(inputs))
    buffer, dim, subjects = 0, 1, [-1] * len(inputs)
    for i, (x, type_) in enumerate(zip(inputs, executable.input_types, strict=True)):
        if isinstance(type_, TensorType) and isinstance(x, Tensor):
            shape = [n if isinstance(n, int) else None for n in type_.shape]
            guards.tensor(i, type(x), type_.dtype.numpy, shape, True)
            subjects[i] = len(plan.subjects)
            plan.subjects.append(Subject(i, buffer=buffer))
            buffer += 1
        elif isinstance(type_, ScalarType):
            guards.type_(i, type_.python_type)
            plan.numbers.append((i, type_.python_type, dim, False))
            dim += 1
        else:
            raise Unsupported(f"an input is a {type_}")
    if executable.build.symbols:
        plan.vary(subjects, dim)
    outputs = executable.build.outputs
    result = [(w.TREE_TUPLE, len(outputs)), *[(w.TREE_LEAF, i) for i in range(len(outputs))]]
    if not isinstance(graph.output.type, TupleType):
        result = [(w.TREE_TUPLE, 1), (w.TREE_LEAF, 0)]
    plan.paths = [PathPlan(result=result)]
    call: NativeCall

    def otherwise(*args: Any) -> Sequence[Any]:
        """The same, with inputs in order of their elements; or in another way."""
        dense = tuple([x if not isinstance(x, Tensor) or x.array().flags.c_contiguous else _dense(x) for x in args])
        if call.is_retired:
            forget()
        elif is_possible_now() and (call.renew_if_old() or any(map(_differ, dense, args))):
            return call(*dense)
        return plain(*args)

    plan.otherwise = otherwise
    call = NativeCall(plan)
    return call


def _dense(x: Tensor) -> Tensor:
    return wrap(np.ascontiguousarray(x.array()))


def _differ(a: Any, b: Any) -> bool:
    return a is not b
