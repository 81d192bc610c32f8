"""What an executable does, graph by graph: a list of steps, each of which is kernel calls or one node.

Level 0 has one op per step, level 1 takes fusion groups. A node that cannot be native says why (`Step.reason`) and runs
its reference through a call into Python.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from duograph.base.failures import internal_failure
from duograph.core.types import TokenType
from duograph.ir.control import make_tuple, tuple_get, undef
from duograph.ir.node import Apply, Const, Graph, Node
from duograph.lower.fuse.alike import Alike
from duograph.lower.fuse.fusion import lower_group
from duograph.lower.fuse.groups import Group, groups
from duograph.lower.lowering import Lowering, Operand, outputs_of
from duograph.lower.ops import lower_call
from duograph.lower.reduce.loops import NotAffine
from duograph.lower.rule import Refused
from duograph.runtime.kernels import kernels

from .values import ALIASES, CONTROL, SCALAR_OPS, Place, leaf_types

STACK_OPS = ("stack_new", "stack_push", "stack_pop", "stack_size", "stack_rows", "pack", "unpack")


@dataclass(eq=False)
class Step:
    """Part of a graph.

    Attributes:
        nodes: the applications that it computes.
        operands: what it needs of outside, constants left out; each once.
        inputs: the nodes that are the operands of the lowering, in its order.
        outputs: the leaves of nodes that are its results, in its order.
        lowering: kernel calls, or ``None``.
        reason: why the node runs in Python, if it does.
        inside: all nodes that are computed in it, those that nobody else needs and views included.
    """

    nodes: tuple[Apply, ...]
    operands: tuple[Node, ...]
    inputs: tuple[Node, ...] = ()
    outputs: tuple[Place, ...] = ()
    lowering: Lowering | None = None
    reason: str = ""
    notes: list[str] = field(default_factory=list)
    inside: tuple[Apply, ...] = ()


def single_steps(graph: Graph) -> list[Step]:
    """One step per node."""
    return [step_of(node) for node in graph.nodes]


def step_of(node: Apply) -> Step:
    """The step of one node."""
    operands = tuple(dict.fromkeys(o for o in node.operands if not isinstance(o, Const)))
    step = Step((node,), operands)
    op = node.op
    if op is make_tuple or op is tuple_get or op in CONTROL or op.name in ALIASES or op.name in STACK_OPS:
        return step
    if op.name in ("undef", "relabel", "anchor") or op.name in SCALAR_OPS:
        return step
    ins = [Operand(operand.type, operand, _known(operand)) for operand in node.operands]
    try:
        step.lowering = lower_call(op, node.attrs, ins, outputs_of(node.type, node))
    except Refused as reason:
        step.reason = str(reason)
        return step
    step.inputs = node.operands
    step.outputs = tuple([(node, k) for k in range(len(step.lowering.outs))])
    return step


def _known(node: Node) -> Any:
    if isinstance(node, Const) and isinstance(node.value, np.ndarray | bool | int | float):
        return node.value
    return None


def steps_of(graph: Graph, level: int) -> list[Step]:
    """The steps of ``graph``; operands of each are made by earlier ones.

    What might fail is computed before effects, which would else happen twice; but for what ranks do together, which is
    not done again if something fails (`distributed.journal`).
    """
    has_effects = any("io" in node.op.effects or _has_token(node) for node in graph.nodes)
    if level == 0 or (has_effects and any(node.op.name in STACK_OPS for node in graph.nodes)):
        return _undefined_late(single_steps(graph))
    steps: list[Step] = []
    made: set[Node] = set()

    def single(node: Apply) -> None:
        work = [node]
        while work:
            last = work[-1]
            missing = [o for o in last.operands if isinstance(o, Apply) and o not in made and last not in made]
            if missing:  # views and constants that groups have looked through
                work += missing
                continue
            work.pop()
            if last not in made:
                made.add(last)
                steps.append(step_of(last))

    alike = Alike(lower_group)
    for group in groups(graph, level):
        step = _fused(group, alike) if group.is_fused else None
        if step is not None:
            steps.append(step)
            made.update(step.nodes)
            continue
        for node in sorted(group.nodes, key=lambda n: n.serial):
            single(node)
    if isinstance(graph.output, Apply):
        single(graph.output)
    return _undefined_late(_effects_early(steps) if has_effects else _places_early(steps))


def step_may_fail(step: Step) -> bool:
    """Whether a call might have to be repeated because of this step."""
    if step.lowering is not None:
        return any(kernels.may_fail(call.function) for call in step.lowering.calls)
    op = step.nodes[0].op
    return not (op is make_tuple or op is tuple_get or op.name in ALIASES or op.name in ("undef", "anchor"))


def numbers_of(step: Step) -> list[Node]:
    """The operands that checks of the step read (`Lowering.checks`)."""
    c = step.lowering
    if c is None or not c.checks:
        return []
    read = {id(d) for call in c.checks for d in call.dims}
    return [node for x, node in zip(c.ins, step.inputs, strict=True) if id(x) in read]


def _places_early(steps: list[Step]) -> list[Step]:
    """``steps``, the numbers that tell where something is read or written before the first step that does, if they need
    nothing of such steps: all places can be checked then, before inputs are overwritten (`in_place`)."""
    maker: dict[Node, Step] = {node: step for step in steps for node in step.nodes}
    checked = [step for step in steps if step.lowering is not None and step.lowering.checks]
    if len(checked) < 2:
        return steps
    late: set[Step] = set()
    for step in steps:
        if step in checked or any(maker.get(o) in late for o in step.operands):
            late.add(step)
    wanted = [maker[n] for step in checked for n in numbers_of(step) if n in maker and maker[n] not in late]
    early: set[Step] = set()
    while wanted:
        step = wanted.pop()
        if step not in early:
            early.add(step)
            wanted += [maker[o] for o in step.operands if o in maker]
    first = steps.index(checked[0])
    moved = [step for step in steps[first:] if step in early]
    return [*steps[:first], *moved, *[step for step in steps[first:] if step not in early]]


def _has_token(node: Apply) -> bool:
    return any(isinstance(t, TokenType) for t in leaf_types(node.type))


def _effects_early(steps: list[Step]) -> list[Step]:
    """``steps``, each effect after all that may fail and needs nothing of it, and before all the rest.

    If something fails, plain Python repeats the call, and does not do again what has been done. So nothing may have
    been done that comes after the failure in the program; and what cannot fail any more may overwrite inputs
    (`in_place`).
    """
    maker = {node: step for step in steps for node in step.nodes}
    effects = [s for s in steps if s.lowering is None and s.nodes[0].op.name not in ALIASES and _has_effects(s)]
    after: dict[Step, set[Step]] = {}  # by step, the effects that it needs
    for step in steps:
        needed = [maker[o] for o in step.operands if o in maker]
        after[step] = set().union(*[after[s] | ({s} if s in effects else set()) for s in needed])
    found: dict[Step, None] = {}

    def put(step: Step) -> None:
        work = [step]
        while work:
            missing = [maker[o] for o in work[-1].operands if o in maker and maker[o] not in found]
            if missing:
                work += missing
            else:
                found[work.pop()] = None

    failing = [s for s in steps if s not in effects and step_may_fail(s)]
    for effect in effects:
        for step in failing:
            if step not in found and after[step] <= found.keys():
                put(step)
        put(effect)
    for step in steps:
        put(step)
    return list(found)


def _has_effects(step: Step) -> bool:
    op = step.nodes[0].op
    return op is not make_tuple and op is not tuple_get and _has_token(step.nodes[0])


def traffic_of(lowering: Lowering) -> int | None:
    """How much operands and results of a lowering have, each once; None if a size varies."""
    total = 0
    for operand in (*lowering.ins, *lowering.outs):
        size = getattr(getattr(operand, "dtype", None), "numpy", None) if operand.shape else None
        count = 1
        for n in operand.shape:
            if not isinstance(n, int):
                return None
            count *= n
        total += count * (size.itemsize if size is not None else 8)
    return total


def _undefined_late(steps: list[Step]) -> list[Step]:
    """``steps`` with every `undef` just before its first use: the graph may find a size in its type out until then."""
    undefined = {node: step for step in steps for node in step.nodes if isinstance(node, Apply) and node.op is undef}
    if not undefined:
        return steps
    found: list[Step] = []
    for step in steps:
        if undefined.keys().isdisjoint(step.nodes):
            found += [undefined.pop(node) for node in step.operands if node in undefined]
            found.append(step)
    return [*found, *undefined.values()]


def _fused(group: Group, alike: Alike) -> Step | None:
    """A group as one step; ``None`` if its nodes have to run one by one."""
    try:
        c = alike.lower(group)
    except (NotAffine, Refused):
        return None
    except Exception as error:  # noqa: BLE001 - the policy
        internal_failure("the fuser", ", ".join([node.op.name for node in group.nodes]), error)
        return None
    nodes = tuple([x.ref for x in c.outs])
    operands = tuple([x.ref for x in c.ins if not isinstance(x.ref, Const)])
    root = () if group.root is None else (group.root,)
    inside = (*root, *group.views, *group.nodes)
    return Step(nodes, operands, tuple([x.ref for x in c.ins]), tuple([(n, 0) for n in nodes]), c, inside=inside)
