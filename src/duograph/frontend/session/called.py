"""Where code that a capture interprets was called from: the user's line around code of this package, and the layer."""

from __future__ import annotations

from typing import Any

from duograph.base.source import CalledSpan, Span, is_internal_file
from duograph.tensor.observer import is_layer, layer_path


class Called:
    """The calls that the interpreted code is in.

    Attributes:
        caller: the user's expression that led into code of this package; ``None``: the code is the user's.
        layer: the layers that are being called: ``Net.block.fc (Dense)``.
        is_plain: whether there is neither.
    """

    __slots__ = ("_cells", "_spans", "caller", "is_plain", "layer")

    def __init__(self, caller: Span | None = None, cells: tuple[Any, ...] = (), layer: str = "") -> None:
        self.caller, self.layer, self._cells = caller, layer, cells
        self.is_plain = caller is None and not layer
        self._spans: dict[Span, Span] = {}

    def into(self, file: str, span: Span | None, first: Any) -> Called:
        """The calls within a function of this file, called at ``span`` with ``first`` as its first argument."""
        cells, layer = self._cells, self.layer
        if is_layer(first) and (not cells or cells[-1] is not first):
            cells = (*cells, first)
            layer = layer_path(cells)
        caller = None
        if is_internal_file(file):
            caller = self.caller if span is None or is_internal_file(span.file) else span
        if caller is self.caller and layer == self.layer:
            return self
        return Called(caller, cells, layer)

    def of(self, span: Span) -> Span:
        """``span``, which knows of the calls that it is in."""
        found = self._spans.get(span)
        if found is None:
            found = self._spans[span] = CalledSpan.of(span, self.caller, self.layer)
        return found
