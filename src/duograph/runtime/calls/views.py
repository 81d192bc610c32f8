"""Views that calls of compiled functions give: an op of a tensor that the call has made or was given.

How a view lies in memory depends on how its parent does. Python makes the first view of a parent of some layout, and
notes it; from then on native code makes them (``dg_shown_by``). So any op that makes views can be one of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.dim import Dim, Symbol, symbols_of
from duograph.core.op import Op
from duograph.core.types import TensorType
from duograph.ir.interpreter import resolved
from duograph.runtime.launch.records import Words, view_words
from duograph.runtime.python.asm import Function, Module, Value
from duograph.runtime.python.cpython import ARRAY_RANK, ARRAY_SHAPE, ARRAY_STRIDES, address_of
from duograph.tensor.tensor import Tensor

from . import words as w

MOST = 64
"""Layouts that are noted for a view; nothing of them is ever freed while a call may be using it."""


def known_by(type: TensorType) -> dict[Symbol, tuple[int, int]]:
    """The symbols of which the shape of a tensor of this type tells the values: which axis is how much longer."""
    found: dict[Symbol, tuple[int, int]] = {}
    for axis, dim in enumerate(type.shape):
        for symbol in symbols_of(dim) if isinstance(dim, Dim) else ():
            more = dim - symbol
            if isinstance(more, int):
                found[symbol] = axis, more
    return found


class Views:
    """``op(parent, **attrs)``, for parents of the layouts that were met.

    Attributes:
        address: of its words, which native code reads.

    Args:
        op: makes a view.
        attrs: may depend on sizes.
        type: of the parent; all sizes that the attributes depend on are `known_by` it.
    """

    def __init__(self, op: Op, attrs: dict[str, Any], type: TensorType | None) -> None:
        self.op, self.attrs = op, attrs
        self._sizes = {} if type is None else known_by(type)
        self._words = Words()
        self._entries, self._block = np.zeros(MOST, np.int64), np.zeros(w.VIEWS.n_words, np.int64)
        self._block[w.VIEWS.entry_at.word] = address_of(self._entries)
        self._block[w.VIEWS.make.word] = self._words.object(self.made)
        self.address: int = address_of(self._block)

    def __str__(self) -> str:
        return f"{self.op.name} {self.attrs}"

    def made(self, parent: Tensor) -> Tensor:
        """The view, whose layout is noted if it is one of ``parent`` for gradients, too."""
        attrs = self.attrs
        if self._sizes:
            attrs = resolved(attrs, {symbol: parent.shape[axis] - more for symbol, (axis, more) in self._sizes.items()})
        view: Tensor = self.op(parent, **attrs)
        base, words, link = parent.array(), self._words, view._view
        known = int(self._block[w.VIEWS.known.word])
        if known < MOST and base.size and link is not None and link.parent is parent:
            entry = [0] * w.VIEW.n_words
            entry[w.VIEW.layout.word] = words.array([*base.shape, *base.strides])
            entry[w.VIEW.output.word] = words.array(view_words(words, base, view.array()))
            entry[w.VIEW.op.word], entry[w.VIEW.attrs.word] = words.object(self.op), words.object(attrs)
            self._entries[known] = words.array(entry)
            self._block[w.VIEWS.known.word] = known + 1
        return view


def dg_shown_by(module: Module) -> Function:
    """``new dg_shown_by(ptr parent, ptr views, i64 detached)``: a view of a tensor; null with an error set."""
    f = Function("new", "dg_shown_by", "ptr parent, ptr views, i64 detached", module)
    parent, views = f.arg("parent"), f.arg("views")
    array = f.get(parent, f.slot("data"))
    rank = f.get(array, ARRAY_RANK).to("i64")
    parts = f.get(array, ARRAY_SHAPE), f.get(array, ARRAY_STRIDES)
    with f.times(f.get(views, w.VIEWS.known)) as i:
        entry = f.load("ptr", f.get(views, w.VIEWS.entry_at), i * 8)
        layout, other = f.get(entry, w.VIEW.layout), f.label("other")
        for place, part in enumerate(parts):
            differs = f.api("memcmp", part, layout + rank * (8 * place), rank * 8)
            f.goto_if(differs.ne(0), other)
        how: list[Value] = [f.get(entry, x) for x in (w.VIEW.output, w.VIEW.op, w.VIEW.attrs)]
        f.ret(f.call("new", "dg_view", parent, *how, f.arg("detached")))
        f.place(other)
    f.ret(f.api("PyObject_CallOneArg", f.get(views, w.VIEWS.make), parent))
    return f
