"""Residual stacks and packed residuals as native cells (`programs.residuals` says what a cell is).

Cells lie in the region ``CELLS``. They never change, so a pop hands out the memory of its items without a copy. The
empty stack is address 0. Who pops checks that the items are of the types that it expects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.core.dim import Dim, Symbol
from duograph.core.types import ScalarType, TensorType, TokenType, TupleType, Type
from duograph.ir.node import Apply
from duograph.lower.loop.ir import Buffer, Value
from duograph.lower.loop.types import element_of
from duograph.runtime.kernels.status import ASSERTION

from .emit import Emitter, Scope
from .frame import CELLS
from .residuals import heads_of, layout_number
from .steps import STACK_OPS
from .values import (
    NOTHING,
    Handle,
    Leaf,
    Memory,
    Number,
    Tree,
    bytes_of,
    leaf_types,
    leaves_of,
    tree_of,
    word_type,
)


class StackEmitter(Emitter):
    """An `Emitter` that knows stacks."""

    def stack_step(self, node: Apply, operands: list[Tree], scope: Scope) -> Tree | None:
        name = node.op.name
        if name not in STACK_OPS:
            return None
        if not self.build.native_stacks:
            return self.host(node, operands, scope, "a stack of unknown sizes, or of a higher derivative")
        b = self.b
        if name == "stack_new":
            return Handle(node.type, b.const(0))
        if name == "pack":
            return Handle(node.type, b.address(self._cell(b.const(0), operands, scope)))
        (stack, *items) = operands
        assert isinstance(stack, Handle)
        if name == "stack_rows":
            return self._rows(node, stack, scope)
        if name == "stack_size":
            assert isinstance(node.type, ScalarType)
            return Number(node.type, b.if_(b.eq(stack.value, 0), lambda: b.const(0), lambda: self._depth(stack))[0])
        if name == "stack_push":
            cell = self._cell(stack.value, items, scope)
            (below,) = b.if_(b.eq(stack.value, 0), lambda: b.const(0), lambda: self._depth(stack))
            b.store(cell, 1, b.add(below, 1))
            return Handle(node.type, b.address(cell))
        b.fail(b.eq(stack.value, 0) | b.ne(stack.value & 1, 0), ASSERTION)
        b.leave()
        cell = b.at(stack.value, "i64")
        types = node.type.items  # type: ignore[attr-defined]
        expected = types if name == "unpack" else types[1:]
        b.fail(b.ne(b.load(cell, 2), layout_number(expected)), ASSERTION)
        b.leave()
        if name == "unpack":
            return tuple(self._items(cell, types, scope))
        return (Handle(types[0], b.load(cell, 0)), *self._items(cell, types[1:], scope))

    def _rows(self, node: Apply, stack: Handle, scope: Scope) -> Tree:
        """The items of all cells as arrays, whose last rows are those of the cell on top."""
        b = self.b
        types: list[Any] = leaf_types(node.type)
        (count,) = b.if_(b.eq(stack.value, 0), lambda: b.const(0), lambda: self._depth(stack))
        size = types[0].shape[0]  # type: ignore[attr-defined]
        scope.symbols[size] = count
        arrays = [self.region(CELLS, self.dim(bytes_of(t), scope.symbols)) for t in types]

        def write(address: Value, row: Value) -> tuple[Value, Value]:
            row, cell = b.sub(row, 1), b.at(address, "i64")
            for leaf, array, t in zip(self._items(cell, node.attrs["items"], scope), arrays, types, strict=True):
                if isinstance(leaf, Number):
                    number = b.ne(leaf.value, 0) if leaf.type.kind == "bool" else leaf.value
                    b.store(b.at(array, element_of(t.dtype.numpy)), row, number)
                else:
                    assert isinstance(leaf, Memory)
                    at = b.add(array, b.mul(row, self.dim(bytes_of(leaf.type), scope.symbols)))
                    self.copy(Memory(leaf.type, None, address=at), leaf, scope.symbols)
            return b.load(cell, 0), row

        b.while_((stack.value, count), lambda address, _: b.ne(address, 0), write)
        return tuple([Memory(t, None, address=array) for t, array in zip(types, arrays, strict=True)])

    def _depth(self, stack: Handle) -> Any:
        return self.b.load(self.b.at(stack.value, "i64"), 1)

    def _cell(self, below: Any, items: Sequence[Tree], scope: Scope) -> Buffer:
        """A new cell on top of ``below``."""
        b = self.b
        leaves = [leaf for item in items for leaf in leaves_of(item)]
        types = [leaf.type for leaf in leaves]
        offsets, extents_at, size = self._layout(types, scope)
        address = self.region(CELLS, size)
        cell = b.at(address, "i64")
        b.store(cell, 0, below)
        b.store(cell, 1, b.const(0))
        b.store(cell, 2, b.const(layout_number([_type_of(item) for item in items])))
        for leaf, offset, at in zip(leaves, offsets, extents_at, strict=True):
            if isinstance(leaf, Memory):
                for axis, extent in enumerate(leaf.type.shape if at else ()):
                    b.store(cell, at + axis, b.value(self.dim(extent, scope.symbols)))
                self.copy(Memory(leaf.type, None, address=b.add(address, offset)), leaf, scope.symbols)
            elif isinstance(leaf, Number | Handle):
                b.store(cell, b.div(offset, 8), b.bitcast(leaf.value, "i64"))
        return cell

    def _layout(self, types: Sequence[Type], scope: Scope) -> tuple[list[Any], list[int], Any]:
        """Where in a cell each leaf lies, in bytes; the word where its extents begin, if they are saved; and how large
        the cell is."""
        b = self.b
        offsets: list[Any]
        offsets, extents_at, at = heads_of(types)
        for k, t in enumerate(types):
            if isinstance(t, TensorType):
                offsets[k] = at
                nbytes = self.dim(bytes_of(t), scope.symbols)
                at = b.add(at, b.mul(b.div(b.add(nbytes, 63), 64), 64))
        return offsets, extents_at, at

    def _items(self, cell: Buffer, types: Sequence[Type], scope: Scope) -> list[Tree]:
        b = self.b
        flat = [t for item in types for t in leaf_types(item)]
        self._read_extents(cell, flat, scope)
        offsets, _, _ = self._layout(flat, scope)
        base = b.address(cell)
        leaves: list[Leaf] = []
        for t, offset in zip(flat, offsets, strict=True):
            if isinstance(t, TensorType):
                leaves.append(Memory(t, None, address=b.add(base, offset)))
            elif isinstance(t, TokenType):
                leaves.append(NOTHING)
            else:
                word = b.load(cell, b.div(offset, 8))
                if isinstance(t, ScalarType):
                    leaves.append(Number(t, b.bitcast(word, word_type(t))))
                else:
                    leaves.append(Handle(t, word))
        trees: list[Tree] = []
        for item in types:
            n = len(leaf_types(item))
            trees.append(tree_of(item, leaves[:n]))
            leaves = leaves[n:]
        return trees

    def _read_extents(self, cell: Buffer, types: Sequence[Type], scope: Scope) -> None:
        """Learns from a cell the sizes that only it knows; what is known already must be as large."""
        b = self.b
        unknown: list[tuple[Any, Value]] = []
        for t, at in zip(types, heads_of(types)[1], strict=True):
            for axis, extent in enumerate(t.shape if at and isinstance(t, TensorType) else ()):
                if isinstance(extent, Symbol) and extent not in scope.symbols:
                    scope.symbols[extent] = b.load(cell, at + axis)
                elif isinstance(extent, Dim):
                    unknown.append((extent, b.load(cell, at + axis)))
        for extent, saved in unknown:
            b.fail(b.ne(b.value(self.dim(extent, scope.symbols)), saved), ASSERTION)
        if unknown:
            b.leave()


def _type_of(tree: Tree) -> Type:
    return TupleType(tuple([_type_of(x) for x in tree])) if isinstance(tree, tuple) else tree.type
