"""What the values of a graph are while its native code is being written: memory, machine numbers, handles, nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from duograph.core.types import ScalarType, TensorType, TokenType, TupleType, Type
from duograph.ir.control import call, call_named, cond, custom_vjp, make_tuple, scan, tuple_get, while_loop
from duograph.ir.node import Apply, Graph, Node
from duograph.lower.loop.ir import Value
from duograph.lower.loop.types import element_of

from .arena import Block, Extent

CONTROL = (call, call_named, cond, custom_vjp, while_loop, scan)
ALIASES = frozenset({"reshape", "identity", "stop_gradient", "assigned", "sized"})
"""Ops whose result is their first operand, seen otherwise: all values are contiguous and nobody writes to them."""
SCALAR_OPS = frozenset({"scalar_binary", "scalar_unary", "tensor_item", "scalar_tensor", "dim_size"})
"""Ops on Python numbers and sizes, written by ``scalars.py``."""


@dataclass(eq=False)
class Memory:
    """A tensor: ``offset`` bytes into ``block``, or at ``address`` (then it lies in one of ``blocks``)."""

    type: TensorType
    block: Block | None
    offset: int = 0
    address: Value | None = None
    blocks: tuple[Block, ...] = ()

    def __post_init__(self) -> None:
        if self.block is not None:
            self.blocks = (self.block,)

    @property
    def elem(self) -> str:
        return element_of(self.type.dtype.numpy)

    @property
    def nbytes(self) -> Extent:
        return bytes_of(self.type)

    def retyped(self, type: TensorType) -> Memory:
        """The same memory as a tensor of another type."""
        return Memory(type, self.block, self.offset, self.address, self.blocks)

    def is_at(self, other: Memory) -> bool:
        """Whether both are known to be the same memory."""
        if self.address is not None:
            return self.address is other.address
        return self.block is not None and self.block is other.block and self.offset == other.offset


@dataclass(eq=False)
class Number:
    """A Python number: ``i64`` (ints, and bools as 0 or 1) or ``f64``."""

    type: ScalarType
    value: Value


def word_type(type: ScalarType) -> str:
    """How a number of this type is held."""
    return "f64" if type.kind == "float" else "i64"


@dataclass(eq=False)
class Handle:
    """A Python object or a stack: an odd number is a place in the list of objects of the running call, an even one the
    address of a native cell (`programs.stacks`)."""

    type: Type
    value: Value


class Nothing:
    """A token: order is the order of the code."""

    type = TokenType()


NOTHING = Nothing()
Leaf: TypeAlias = "Memory | Number | Handle | Nothing"
Tree: TypeAlias = "Leaf | tuple[Any, ...]"


def bytes_of(type: TensorType) -> Extent:
    """Bytes of a contiguous tensor of this type."""
    total: Extent = type.dtype.numpy.itemsize
    for extent in type.shape:
        total = total * extent
    return total


def leaf_types(type: Type) -> list[Type]:
    """The types of the leaves of a value of ``type``: tuples are flattened."""
    if isinstance(type, TupleType):
        return [leaf for item in type.items for leaf in leaf_types(item)]
    return [type]


def leaves_of(tree: Tree) -> list[Leaf]:
    """The leaves of a value, tuples flattened."""
    if isinstance(tree, tuple):
        return [leaf for item in tree for leaf in leaves_of(item)]
    return [tree]


def tree_of(type: Type, leaves: Sequence[Leaf]) -> Tree:
    """Leaves put together again as a value of ``type``."""
    return _next_tree(type, iter(leaves))


def _next_tree(type: Type, rest: Iterator[Leaf]) -> Tree:
    # An inner function that calls itself is a cycle, which would hold the leaves until the garbage collector comes.
    if isinstance(type, TupleType):
        return tuple([_next_tree(item, rest) for item in type.items])
    return next(rest)


def blocks_of(tree: Tree) -> list[Block]:
    """All blocks that a value may lie in."""
    return [b for leaf in leaves_of(tree) if isinstance(leaf, Memory) for b in leaf.blocks]


def is_handle(type: Type) -> bool:
    """Whether values of ``type`` are handles."""
    return not isinstance(type, TensorType | ScalarType | TokenType | TupleType)


# ---- where outputs come from ----------------------------------------------------------------------------------------

Place: TypeAlias = "tuple[Node, int]"


def output_places(graph: Graph) -> list[Place | None]:
    """For each leaf of the output of ``graph`` the application (and the number of its leaf) that makes it, if any."""
    return places_of(graph.output)


def places_of(node: Node) -> list[Place | None]:
    """`output_places` of one node."""
    if isinstance(node, Apply) and node.op is make_tuple:
        return [place for item in node.operands for place in places_of(item)]
    return [_producer(node, k) for k in range(len(leaf_types(node.type)))]


def _leaves_before(type: TupleType, index: int) -> int:
    """How many leaves the items before ``index`` have; most tuples are flat."""
    before = type.items[:index]
    return index if all(not isinstance(t, TupleType) for t in before) else sum(len(leaf_types(t)) for t in before)


def _producer(node: Node, leaf: int) -> Place | None:
    while isinstance(node, Apply):
        if node.op is tuple_get:
            (source,), index = node.operands, node.attrs["index"]
            if isinstance(source, Apply) and source.op is make_tuple:
                node = source.operands[index]
                continue
            assert isinstance(source.type, TupleType)
            node, leaf = source, leaf + _leaves_before(source.type, index)
        elif node.op is make_tuple:
            for item in node.operands:
                n = len(leaf_types(item.type))
                if leaf < n:
                    node = item
                    break
                leaf -= n
        elif node.op.name in ALIASES:
            node = node.operands[0]
        else:
            return node, leaf
    return None
