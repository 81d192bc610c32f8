"""Groups as kernel calls: the program of a group, and which schedule runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.core.op import get_op
from duograph.core.types import ScalarType, TensorType, Type
from duograph.ir.node import Apply, Const, Node
from duograph.lower.layout import contiguous_strides, moves
from duograph.lower.lowering import Extent, KernelCall, Lowering, Operand, Temporary
from duograph.lower.pointwise import lower_program
from duograph.lower.program import ElementStep, Leaf, Program, Reduction, single_step
from duograph.lower.reduce.loops import cases, is_uneven
from duograph.lower.reduce.reduction import lower_reduction
from duograph.lower.rule import Kernel, Pointwise, rule_of
from duograph.lower.rules.reduce import fold_of, normalise

from .alignment import Alignment, broadcast_alignment, full_alignment, matched, strides_in, through_view
from .groups import NORMALISING, Group, is_constant
from .sink import FusingSink

COPY = Pointwise(lambda b, x: x, raw_half=True)


def lower_group(group: Group) -> Lowering:
    """The calls of a fused group. Operands refer to the nodes whose memory they are; results are those in
    ``group.stores``.

    Raises:
        NotAffine: the group does not fit the order of its reductions; its nodes have to run one by one.
    """
    return _GroupLowering(group).lower()


class _GroupLowering:
    def __init__(self, group: Group) -> None:
        self.group = group
        self.program = Program()
        self.leaves: dict[Any, int] = {}
        self.ins: dict[Node, Operand] = {}
        self.values: dict[Any, int] = {}
        self.walks: dict[int, bool] = {}  # whether a value differs along the reduced loops
        self.reduced: list[int] = []  # the reduced loops, without those that a kernel for an extent of 1 does not have
        if group.axes is not None:
            assert group.space is not None
            dropped = {s for ones, _ in cases(group.space, sorted(group.axes)) for s in ones}
            self.reduced = [d for d in sorted(group.axes) if group.space[d] not in dropped]

    def lower(self) -> Lowering:
        group, space = self.group, self.group.space
        assert space is not None
        stores = sorted(group.stores, key=lambda n: n.serial)
        outs = [Operand(n.type, n) for n in stores]
        order = self.collect(stores)
        number = {key: k for k, key in enumerate(self.leaves)}
        self.values.update(number)
        for key in order:
            self.add(*key)
        self.program.results = [self.stored(n) for n in stores]
        # a name that is the same for equal code, so that it is compiled once
        single = len(group.nodes) == 1
        name = next(iter(group.nodes)).op.name if single else "map" if group.axes is None else "reduce"
        first = group.root or stores[-1]
        c = Lowering(first.op, first.attrs if group.root is not None else {}, list(self.ins.values()), outs)
        if group.root is not None:
            self.into_sink(c, group.root, outs)
        elif group.axes is not None:
            c.calls += self.evened(space, sorted(group.axes))
            c.calls += lower_reduction(name, self.program, space, sorted(group.axes), outs)
        else:
            call = lower_program(name, self.program, space, outs)
            c.calls += [] if call is None else [call]
        return c

    def evened(self, space: Sequence[Extent], axes: Sequence[int]) -> list[KernelCall]:
        """Writes operands that are broadcast along a part of the reduced end of a row to memory as a whole; the program
        reads that instead."""
        calls = []
        for n, leaf in enumerate(self.program.leaves):
            if not leaf.in_memory or not is_uneven(space, axes, leaf.strides):
                continue
            assert isinstance(leaf.operand.type, TensorType)
            whole = Operand(leaf.operand.type.with_shape(tuple(space)))
            copy = single_step(get_op("identity"), COPY, {}, [leaf], whole.type)
            call = lower_program("identity", copy, space, [whole])
            memory = Temporary(whole.elem, whole.size * (2 if whole.is_complex else 1))
            if call is not None:
                calls.append(KernelCall(call.function, (leaf.memory, memory), call.dims))
            self.program.leaves[n] = Leaf(leaf.operand, contiguous_strides(space), 0, memory)
        return calls

    def into_sink(self, c: Lowering, root: Apply, outs: list[Operand]) -> None:
        """The kernel of ``root`` with the program as what happens to its results."""
        rule = rule_of(root.op)
        assert isinstance(rule, Kernel)
        taken = self.leaves.get((root, full_alignment(root.shape)))
        value = Operand(root.type, root)
        ins = [self.operand(o) for o in root.operands]
        inner = Lowering(root.op, root.attrs, ins, [value])
        inner.sink = FusingSink(self.program, taken, value, self.group.space or (), outs)
        rule.function(inner)
        c.ins, c.calls = list(self.ins.values()), inner.calls
        for call in c.calls:
            call.inplace += inner.sink.inplace(call.buffers, ins) if inner.sink.overwrites else ()

    # ---- values ----------------------------------------------------------------------------------------------------

    def stored_alignment(self, node: Apply) -> Alignment:
        group = self.group
        assert group.space is not None
        whole = matched(group.space, range(len(group.space)), node.shape)
        if whole is not None and (
            group.axes is None or whole in group.uses.get(node, ()) or node.op.name in NORMALISING
        ):
            return whole
        kept = matched(group.space, group.kept, node.shape)
        assert kept is not None
        return kept

    def stored(self, node: Apply) -> int:
        """The value that is written for ``node``."""
        alignment = self.stored_alignment(node)
        whole = matched(self.group.space or (), range(len(alignment)), node.shape)
        value = self.values[node, alignment]
        return self.per_element(value, node.type) if alignment == whole else value

    def per_element(self, value: int, type: Type) -> int:
        """``value`` as one that each reduced element has, if it is the same for all of them."""
        if self.group.axes is None or self.walks[value]:
            return value
        copy = ElementStep(get_op("identity"), COPY, {}, (value,), (type,), type, per_element=True)
        (made,) = self.program.add_step(copy)
        self.walks[made] = True
        return made

    def resolve(self, node: Node, alignment: Alignment) -> tuple[Node, Alignment]:
        """The value that is computed or read, behind views."""
        while isinstance(node, Apply) and node in self.group.views and node not in self.group.nodes:
            through = through_view(node, alignment)
            if through is None:
                break
            node, alignment = node.operands[0], through
        return node, alignment

    def arguments(self, node: Apply, alignment: Alignment) -> list[tuple[Node, Alignment]]:
        space = self.group.space
        assert space is not None
        if self.reduces(node):
            return [self.resolve(node.operands[0], full_alignment(space))]
        nowhere = (None,) * len(space)
        return [
            self.resolve(o, broadcast_alignment(node.shape, o.shape, alignment))
            if isinstance(o.type, TensorType)
            else (o, nowhere)
            for o in node.operands
        ]

    def reduces(self, node: Apply) -> bool:
        return not isinstance(rule_of(node.op), Pointwise)

    def collect(self, stores: list[Apply]) -> list[tuple[Apply, Alignment]]:
        """Registers all leaves; the values to compute, operands first."""
        order: dict[tuple[Apply, Alignment], None] = {}
        done: set[Any] = set()

        def visit(node: Node, alignment: Alignment) -> None:
            key = self.key(node, alignment)
            if key in done:
                return
            done.add(key)
            if isinstance(node, Apply) and node in self.group.nodes and node is not self.group.root:
                for argument in self.arguments(node, alignment):
                    visit(*argument)
                order[node, alignment] = None
            else:
                self.leaf(node, alignment)

        for node in stores:
            visit(node, self.stored_alignment(node))
        if self.group.root is not None:
            visit(self.group.root, full_alignment(self.group.root.shape))
        return list(order)

    def key(self, node: Node, alignment: Alignment) -> Any:
        """One number per reduction, however its results are spread."""
        if isinstance(node, Apply) and node in self.group.nodes and node is not self.group.root and self.reduces(node):
            return node, "reduction"
        return node, alignment

    def leaf(self, node: Node, alignment: Alignment) -> None:
        number = self.leaves[node, alignment] = len(self.program.leaves)
        leaf = self.leaf_of(node, alignment)
        # by its strides, as the schedule does: a constant has a shape and an alignment, but is the same everywhere
        self.walks[number] = any(moves(leaf.strides[d]) for d in self.reduced if leaf.strides)
        self.program.leaves.append(leaf)

    def leaf_of(self, node: Node, alignment: Alignment) -> Leaf:
        if is_constant(node) and not isinstance(node.type, ScalarType):
            assert isinstance(node.type, TensorType)
            with np.errstate(all="ignore"):  # a number may be too large for a half type
                if isinstance(node, Const):
                    value = node.value
                else:
                    assert isinstance(node, Apply)
                    value = np.full((), node.attrs["value"], node.type.dtype.numpy)
            operand = Operand(TensorType(node.type.dtype, ()), node, value)
            return Leaf(operand, (0,) * len(alignment))
        if isinstance(node.type, ScalarType):
            operand = Operand(node.type, node, node.value) if isinstance(node, Const) else self.operand(node)
            return Leaf(operand)
        return Leaf(self.operand(node), strides_in(node.shape, alignment))

    def operand(self, node: Node) -> Operand:
        """The memory of a node; one operand each."""
        if node is self.group.root:
            return Operand(node.type, node)
        if node not in self.ins:
            value = node.value if isinstance(node, Const) else None
            self.ins[node] = Operand(node.type, node, value)
        return self.ins[node]

    def number(self, node: Node, alignment: Alignment) -> int:
        return self.values[self.key(node, alignment)]

    def add(self, node: Apply, alignment: Alignment) -> None:
        args = tuple([self.number(*a) for a in self.arguments(node, alignment)])
        types = tuple([o.type for o in node.operands])
        rule = rule_of(node.op)
        assert isinstance(node.type, TensorType)
        if isinstance(rule, Pointwise):
            (made,) = self.program.add_step(ElementStep(node.op, rule, node.attrs, args, types, node.type))
            self.values[node, alignment] = made
            self.walks[made] = any(self.walks[a] for a in args)
            return
        axis = node.attrs["axis"]
        axes = (axis,) if isinstance(axis, int) else axis
        x = node.operands[0].type
        assert isinstance(x, TensorType)
        element = self.per_element(args[0], x)
        if node.op.name in NORMALISING:
            made = normalise(self.program, node.op.name, element, x, axes, node.attrs)
        else:
            (made,) = self.program.add_step(Reduction(fold_of(node.op.name, x, axes), (element,), node.type))
        self.walks[made] = node.op.name in NORMALISING
        self.values[node, "reduction"] = self.values[node, alignment] = made


__all__ = ["lower_group"]
