"""Native calls of programs for many sizes: a function that checks the sizes and says how large the results are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from duograph.core.dim import Dim, Symbol, symbols_of
from duograph.core.types import TensorType
from duograph.lower.loop.ir import Function
from duograph.runtime.kernels.status import ASSERTION
from duograph.runtime.launch.words import OUTPUT
from duograph.runtime.programs.frame import Frame
from duograph.runtime.programs.values import bytes_of


@dataclass
class Sizes:
    """The sizes of a call.

    Attributes:
        symbols: dimensions that vary, in the order of the dims of `main`.
        given: further extents of inputs, and what they must be.
        equal: pairs of extents that shape rules took to be equal.
        outputs: types of the results that are tensors.
    """

    symbols: Sequence[Symbol]
    given: list[Any] = field(default_factory=list)
    equal: Sequence[tuple[Any, Any]] = ()
    outputs: Sequence[TensorType] = ()

    def function(self) -> Function:
        """``i32 sizes({extents, records of outputs}; symbols..., given...)``: writes the extents of all outputs one
        after another, and their bytes into the records; fails if a size is not what it must be, or an output empty."""
        frame = Frame("sizes", debug=False)
        b = frame.b
        extents, records = b.buffer("extents", "i64"), b.buffer("records", "i64")
        known = {s: b.dim(s.name) for s in self.symbols}
        for symbol, size in known.items():
            if symbol.lo > 0:
                b.fail(b.lt(size, int(symbol.lo)), ASSERTION)
        for k, wanted in enumerate(self.given):
            b.fail(b.ne(b.dim(f"given{k}"), b.value(frame.dim(wanted, known))), ASSERTION)
        for one, two in self.equal:
            if _symbols(one) | _symbols(two) <= known.keys():
                b.fail(b.ne(b.value(frame.dim(one, known)), b.value(frame.dim(two, known))), ASSERTION)
        at = 0
        for k, type in enumerate(self.outputs):
            for extent in type.shape:
                b.store(extents, at, b.value(frame.dim(extent, known)))
                at += 1
            nbytes = b.value(frame.dim(bytes_of(type), known))
            b.fail(b.lt(nbytes, 1), ASSERTION)
            b.store(records, k * OUTPUT.n_words + OUTPUT.bytes.word, nbytes)
        return b.finish()


def _symbols(extent: Any) -> frozenset[Symbol]:
    return symbols_of(extent) if isinstance(extent, Dim) else frozenset()
