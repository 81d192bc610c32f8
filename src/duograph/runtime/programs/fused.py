"""Records of several ops as one native call: what eager calls run that come often while no tape looks.

A tape has to see every op of a call with its operands and results, so a record runs them one by one. Without a tape
nobody sees what lies between: the ops are a graph, and its executable has the fusion, and the bits, of compiled
functions. Gradient rules are such calls, too. The executable is made when the calls so far have lost about as much time
as making it costs, so the total cost is at most twice the optimum (rent or buy); the record of it stands behind the
first one, which tapes go on to need.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from duograph.base.config import config
from duograph.core.op import get_op
from duograph.core.types import TensorType, TupleType
from duograph.ir.builder import Builder
from duograph.ir.node import Graph, Node
from duograph.passes.pipelines import compile_pipeline
from duograph.runtime.launch import words as lt
from duograph.runtime.launch.records import RecordPlan, Uncovered, Words, output_words
from duograph.tensor.tensor import wrap

from .executable import Executable

COST = 4e6
"""Nanoseconds that making an executable is taken to cost."""
CALL, BYTES = 200, 12
"""Nanoseconds that a kernel costs besides its work; bytes per nanosecond from and to memory."""
FEWEST = 8
"""Calls before anything is fused."""


def calls_before(plan: RecordPlan) -> int:
    """After how many calls fusing pays; 0 if nothing would be gained."""
    kernels = [op for op in plan.ops if op.view is None]
    if not kernels or config().debug:
        return 0
    inner = [n for op in kernels for k, n in enumerate(op.nbytes) if op.first + k not in plan.results]
    copied = [_bytes(plan.types[i]) for i in plan.strided if _walked(plan, i) is not None]
    lost = (len(kernels) - 1) * CALL + 2 * (sum(inner) + sum(copied)) / BYTES
    return max(FEWEST, int(COST / lost)) if lost else 0


def _bytes(type: TensorType) -> Any:
    return math.prod(type.shape) * type.dtype.numpy.itemsize  # type: ignore[arg-type]  # shapes are known


def _walked(plan: RecordPlan, number: int) -> list[int] | None:
    """The axes along which the memory of a strided tensor runs, outermost first, if its elements are in one piece:
    transposed, or repeated along the other axes. The gradient of a sum is one number, seen as often as needed."""
    strides, shape = plan.strided[number], plan.types[number].shape
    if strides is None:
        return None
    walked = [d for d, s in enumerate(strides) if s and shape[d] != 1]
    walked.sort(key=lambda d: -strides[d])
    step = 1
    for d in reversed(walked):
        if strides[d] != step:
            return None
        step *= shape[d]  # type: ignore[assignment]  # shapes are known here
    return walked


def _wanted(plan: RecordPlan) -> list[int]:
    """The values of kernels that are results, or that results show."""
    views = plan.views()
    found: dict[int, None] = {}
    for n in plan.results:
        while n in views:
            n = views[n].operands[0]
        if n >= plan.made:
            found[n] = None
    return list(found)


def _graph(plan: RecordPlan, wanted: list[int]) -> Graph:
    """The ``wanted`` values as a function of the tensors and numbers of a call."""
    builder = Builder(tagging=False)
    params, nodes = [], list[Node]()
    for i, type_ in enumerate(plan.types):
        walked = _walked(plan, i) if i in plan.strided else None
        shape = type_.shape if walked is None else tuple([type_.shape[d] for d in walked])
        params.append(builder.param("x", type_.with_shape(shape)))
        nodes.append(params[-1] if walked is None else _seen(builder, params[-1], walked, type_))
    nodes += [builder.context.const(c) for c in plan.constants]
    for op in plan.ops:
        made = builder.emit(op.op, tuple([nodes[i] for i in op.operands]), op.attrs)
        nodes += builder.results(made) if isinstance(made.type, TupleType) else [made]
    return compile_pipeline(builder.graph("fused", params, [nodes[n] for n in wanted]))


def _seen(builder: Builder, base: Node, walked: list[int], type: TensorType) -> Node:
    """What a tensor of ``type`` shows of memory whose axes are ``walked``."""
    order = sorted(range(len(walked)), key=walked.__getitem__)
    kept = tuple([n if d in walked else 1 for d, n in enumerate(type.shape)])
    node = builder.emit(get_op("transpose"), (base,), {"perm": tuple(order)})
    node = builder.emit(get_op("reshape"), (node,), {"shape": kept})
    return builder.emit(get_op("broadcast_to"), (node,), {"shape": type.shape})


def pack_fused(plan: RecordPlan, record: Any) -> tuple[Any, list[Any]]:
    """The record of a plan whose kernels are one call, and what it points into.

    Args:
        plan: of ``record``.
        record: the ops one by one; its owner is the new record's owner, too.

    Raises:
        Uncovered: Python would have to take part.
    """
    wanted = _wanted(plan)
    graph = _graph(plan, wanted)
    executable = Executable(graph)
    build = executable.build
    if build.host_steps or not wanted or executable.n_outputs != len(wanted):
        raise Uncovered("Python takes part")
    if len(plan.types) + len(wanted) + 2 > lt.MOST_BUFFERS:
        raise Uncovered("too many buffers")
    words = Words()
    words.kept.append(executable)
    # Code without loops of its own, and without Python, only reads this block: calls at the same time can share it.
    run = executable.new_run()
    context = wrap(np.array(run.ctx, np.int64))
    inputs, at = list(range(len(plan.types))), plan.made
    number = {n: at + 1 + k for k, n in enumerate(wanted)}
    assert isinstance(graph.output.type, TupleType)
    outs = [np.empty(t.shape, t.dtype.numpy) for t in graph.output.type.items]  # type: ignore[attr-defined]
    block = [0] * lt.STEP.n_words
    block[lt.STEP.operands.word], block[lt.STEP.operand_at.word] = len(inputs), words.array(inputs)
    block[lt.STEP.outputs.word] = len(outs)
    block[lt.STEP.output_at.word] = words.array([w for a in outs for w in output_words(words, a)])
    block[lt.STEP.temporaries.word] = size = int(build.plan.size)
    buffers = [*inputs, *number.values(), -1, at]
    call = [executable.address, len(buffers), words.array(buffers), words.array([size])]
    block[lt.STEP.calls.word], block[lt.STEP.call_at.word] = 1, words.array(call)
    steps = [block]
    views = plan.views()

    def number_of(n: int) -> int:
        if n in views and n not in number:
            op = views[n]
            view = list(op.view or ())
            view[lt.STEP.operand_at.word], view[lt.STEP.copy.word] = words.array([number_of(op.operands[0])]), 0
            steps.append(view)
            number[n] = at + len(wanted) + len(steps) - 1
        return number.get(n, n)

    results = [number_of(n) for n in plan.results]
    if at + len(wanted) + len(steps) > lt.MOST_VALUES:
        raise Uncovered("too many values")
    made = (ctypes.c_int64 * lt.RECORD.n_words)(*record)
    fixed = [*(ctypes.c_int64 * len(plan.constants)).from_address(record[lt.RECORD.constant_at.word])]
    made[lt.RECORD.constants.word], made[lt.RECORD.constant_at.word] = (
        len(fixed) + 1,
        words.array([*fixed, words.object(context)]),
    )
    made[lt.RECORD.steps.word], made[lt.RECORD.step_at.word] = (
        len(steps),
        words.array([words.array(step) for step in steps]),
    )
    made[lt.RECORD.result.word] = results[0] if plan.single else words.array(results)
    read = {o for node in graph.nodes for o in node.operands} | {graph.output}
    made[lt.RECORD.copies.word] = sum(
        1 << i for i in plan.strided if graph.params[i] in read and _walked(plan, i) is None
    )
    made[lt.RECORD.tell.word] = made[lt.RECORD.wait.word] = 0
    return made, words.kept


__all__ = ["calls_before", "pack_fused"]
