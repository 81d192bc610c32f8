"""Donated inputs: which of them kernels write directly.

A training step reads its parameters and gives their new values; where its caller has decided that output `k` may lie
where input `j` lies (`frontend/programs/donation.py`), the step updates in place. That is done by the kernel itself
where it is proved to be right:

* the kernel that makes the output is the last to read the input, or nobody reads the input from then on;
* no step from then on can fail, because a call that fails is repeated from the same inputs; but for places that are
  run-time indices, which are checked before the first write (`Lowering.checks`) if they are known then.

Otherwise the output is made elsewhere and copied at the very end, after the last possible failure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from duograph.core.dim import Dim, Symbol, symbols_of
from duograph.core.types import TensorType
from duograph.ir.control import make_tuple, tuple_get
from duograph.ir.node import Graph, Node, Param
from duograph.lower.lowering import Operand

from .emit import may_overwrite
from .steps import Step, numbers_of, step_may_fail
from .values import ALIASES, CONTROL, Place, leaf_types, output_places

__all__ = ["written_directly"]


def written_directly(graph: Graph, steps: Sequence[Step], wanted: Mapping[int, int]) -> dict[int, list[Place]]:
    """Those of ``wanted`` (leaf of the output: leaf of the inputs) that kernels may write directly: the output's place,
    and those before it that lie there first (a value that is updated several times)."""
    places = output_places(graph)
    params = [p for p in graph.params for _ in leaf_types(p.type)]  # by leaf
    names = _names_of_params(graph, steps)
    sizes = _symbols(graph.params)
    are_known = [_symbols([*step.nodes, *step.operands]) <= sizes for step in steps]
    may_fail = [step_may_fail(step) or not known for step, known in zip(steps, are_known, strict=True)]
    failing = [i for i, fails in enumerate(may_fail) if fails]
    made_by: dict[Node, int] = {node: i for i, step in enumerate(steps) for node in step.nodes}
    maker_of: dict[Any, int] = {}
    readers_of: dict[Any, set[int]] = {}  # without those that only show the same memory
    users_of: dict[Any, set[int]] = {}
    for i, step in enumerate(steps):
        if step.lowering is not None:
            for made in step.outputs:
                maker_of.setdefault(made, i)
        for operand in step.operands:
            users_of.setdefault(operand, set()).add(i)
            if not _is_alias(step):
                readers_of.setdefault(operand, set()).add(i)
    given, times_given = set(_items(graph.output)), Counter(places)

    def is_checked(i: int, before: int) -> bool:
        """Whether step ``i`` fails only where its `numbers_of` are wrong, which are known before a step."""
        c = steps[i].lowering
        told = c is not None and c.checks and are_known[i]
        return bool(told) and all(made_by.get(node, -1) < before for node in numbers_of(steps[i]))

    def may_write(place: Place, param: Param) -> bool:
        """Whether what is made there may lie in the memory of ``param`` from its step on."""
        maker = maker_of.get(place)
        if maker is None or not all(is_checked(i, maker) for i in failing if i >= maker):
            return False
        step, c, same = steps[maker], steps[maker].lowering, names[param]
        assert c is not None
        out = c.outs[step.outputs.index(place)]
        readers = {i for node in same for i in readers_of.get(node, ())}
        if out.type != param.type or any(i > maker for i in readers):
            return False
        return maker not in readers or _overwrites(step, out, same)

    def before(place: Place) -> Place | None:
        """What the step of ``place`` overwrites there, if all others have read it before, and do not show it."""
        maker = maker_of[place]
        step = steps[maker]
        assert step.lowering is not None
        out = step.lowering.outs[step.outputs.index(place)]
        for node in step.inputs:
            users = users_of.get(node, ())
            if (node, 0) not in maker_of or node in given or any(i > maker or not steps[i].lowering for i in users):
                continue
            if _overwrites(step, out, {node}):
                return node, 0
        return None

    result: dict[int, list[Place]] = {}
    for k, j in wanted.items():
        param, place = params[j], places[k]
        if place is None or times_given[place] > 1 or not isinstance(param.type, TensorType):
            continue
        if not names[param].isdisjoint(given):  # nodes that show the memory of the parameter
            continue
        while place is not None and may_write(place, param):
            result.setdefault(k, []).append(place)
            place = before(place)
    return result


def _overwrites(step: Step, out: Operand, nodes: set[Any]) -> bool:
    """Whether the kernels of ``step`` allow that ``out`` is the memory of ``nodes``."""
    c = step.lowering
    assert c is not None
    used = [o for o, n in zip(c.ins, step.inputs, strict=True) if n in nodes]
    return all(may_overwrite(c, o, out) for o in used)


def _symbols(nodes: Sequence[Node]) -> set[Symbol]:
    """The sizes that are only known at run time. What shape rules assume of those that depend on data is checked where
    a step relies on it (`emit`)."""
    types = [leaf for node in nodes for leaf in leaf_types(node.type) if isinstance(leaf, TensorType)]
    return {symbol for t in types for dim in t.shape if isinstance(dim, Dim) for symbol in symbols_of(dim)}


def _is_alias(step: Step) -> bool:
    return step.lowering is None and step.nodes[0].op.name in ALIASES


def _names_of_params(graph: Graph, steps: Sequence[Step]) -> dict[Any, set[Node]]:
    """For each parameter the nodes that are, or may be, the same memory."""
    names: dict[Any, set[Node]] = {p: {p} for p in graph.params}
    shown: dict[Any, set[Any]] = {p: {p} for p in graph.params}  # by node, the parameters whose memory it may be
    for step in steps:
        if step.lowering is not None:
            continue
        (node,) = step.nodes
        if node.op.name in ALIASES or node.op in CONTROL or node.op is make_tuple or node.op is tuple_get:
            for param in {p for o in node.operands for p in shown.get(o, ())}:
                names[param].add(node)
                shown.setdefault(node, set()).add(param)
    return names


def _items(node: Node) -> tuple[Node, ...]:
    return tuple(getattr(node, "operands", ())) if getattr(node, "op", None) is make_tuple else (node,)
