"""Residuals that leave a native program: stacks and packed objects as Python objects that own their memory.

A forward program saves values that its backward program needs. `NativeStack` carries them from one to the other without
looking at them; readers (the interpreter, derivatives of higher order) get the linked cells of
`autodiff.stacks` from `cells`.

A cell begins with three words: the address of the cell below, how many there are, and a number that stands for the
types of its items. Numbers and handles follow, one word each, and the extents of tensors whose types do not tell them,
in the order of the items; then tensors at multiples of 64 bytes.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.autodiff.entries import Residual
from duograph.autodiff.stacks import StackCell
from duograph.core.borders import renamed, symbols_in
from duograph.core.dim import Symbol
from duograph.core.types import ObjectType, ScalarType, TensorType, TokenType, Type
from duograph.runtime.python.cpython import address_of

from . import heap
from .host import from_word
from .values import leaf_types, tree_of

__all__ = ["HEAD", "Cells", "NativeStack", "cells", "heads_of", "layout_number"]

HEAD = 3
"""Words at the beginning of a cell."""

_layouts: dict[int, tuple[Type, ...]] = {}


def layout_number(types: Sequence[Type]) -> int:
    """The number that stands for items of these types, whatever their sizes are called; the same in every process."""
    words = re.findall(r"\w+", ", ".join(map(str, types)))
    order = sorted(symbols_in(tuple(types)), key=lambda symbol: words.index(str(symbol)))
    names = {symbol: Symbol(f"n{k}") for k, symbol in enumerate(order)}
    digest = hashlib.sha256(", ".join(str(renamed(t, names)) for t in types).encode()).digest()
    number = int.from_bytes(digest[:7], "little")
    _layouts.setdefault(number, tuple(types))
    return number


def heads_of(types: Sequence[Type]) -> tuple[list[int], list[int], int]:
    """Where in a cell the numbers and handles among these leaves lie, in bytes; for each tensor whose size its type
    does not tell the word where its extents begin, else 0; and where the first tensor lies."""
    offsets, extents_at, words = [], [], HEAD
    for t in types:
        offsets.append(8 * words)
        shape = t.shape if isinstance(t, TensorType) and not all(isinstance(n, int) for n in t.shape) else ()
        extents_at.append(words if shape else 0)
        words += len(shape) + (not isinstance(t, TensorType | TokenType))
    return offsets, extents_at, -(-8 * words // 64) * 64


class Cells:
    """Memory of a region that has left its run, and what else its cells refer to."""

    def __init__(self, ctx: Any, region: int, keep: Sequence[Any]) -> None:
        self.ctx = (ctypes.c_int64 * 2)(ctx[region], ctx[region + 1])
        ctx[region] = ctx[region + 1] = 0
        self.keep = list(keep)

    def __del__(self) -> None:
        if heap is not None:
            heap.give_back(self.ctx, 0)


class NativeStack(Residual):
    """A stack, or a packed object, at ``address`` in the memory of ``owner``."""

    __slots__ = ("address", "objects", "owner", "type")

    def __init__(self, owner: Cells, address: int, type: Type, objects: Sequence[Any]) -> None:
        self.owner, self.address, self.type, self.objects = owner, address, type, list(objects)


def cells(value: Any) -> Any:
    """A native stack as the linked cells that Python code works with; anything else as it is."""
    return _cells(value.address, value.type, value.objects) if isinstance(value, NativeStack) else value


def _cells(address: int, type: Type, objects: list[Any]) -> Any:
    if address == 0:
        return None if isinstance(type, ObjectType) else StackCell(None, ())
    chain = []
    while address:
        chain.append(address)
        address = _word(address, 0)
    made = None if isinstance(type, ObjectType) else StackCell(None, ())
    for at in reversed(chain):
        made = StackCell(made, _items(at, objects))
    return made


def _items(address: int, objects: list[Any]) -> tuple[Any, ...]:
    types = _layouts[_word(address, 2)]
    flat = [t for item in types for t in leaf_types(item)]
    leaves: list[Any] = []
    offsets, extents_at, place = heads_of(flat)
    for t, offset, at in zip(flat, offsets, extents_at, strict=True):
        if isinstance(t, TensorType):
            shape = [_word(address, at + axis) if at else n for axis, n in enumerate(t.shape)]
            array: np.ndarray = np.empty(shape, t.dtype.numpy)  # type: ignore[arg-type]
            ctypes.memmove(address_of(array), address + place, array.nbytes)
            leaves.append(array)
            place += -(-array.nbytes // 64) * 64
        elif isinstance(t, TokenType):
            leaves.append(None)
        else:
            word = _word(address, offset // 8)
            native = not isinstance(t, ScalarType) and not word & 1
            leaves.append(_cells(word, t, objects) if native else from_word(t, word, objects))
    rest = iter(leaves)
    return tuple([tree_of(item, [next(rest) for _ in leaf_types(item)]) for item in types])


def _word(address: int, index: int) -> int:
    return ctypes.c_int64.from_address(address + 8 * index).value
