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
        called_at: the user's call of the user's function that is innermost; it knows of those around it.
        is_plain: whether there is none of them.
    """

    __slots__ = ("_cells", "_spans", "called_at", "caller", "is_plain", "layer")

    def __init__(
        self,
        caller: Span | None = None,
        cells: tuple[Any, ...] = (),
        layer: str = "",
        called_at: Span | None = None,
    ) -> None:
        self.caller, self.layer, self._cells, self.called_at = caller, layer, cells, called_at
        self.is_plain = caller is None and not layer and called_at is None
        self._spans: dict[Span, Span] = {}

    def into(self, file: str, span: Span | None, first: Any) -> Called:
        """The calls within a function of this file, called at ``span`` with ``first`` as its first argument."""
        cells, layer = self._cells, self.layer
        if is_layer(first) and (not cells or cells[-1] is not first):
            cells = (*cells, first)
            layer = layer_path(cells)
        here = self.caller if span is None or is_internal_file(span.file) else span  # in the user's code
        if is_internal_file(file):
            if here is self.caller and layer == self.layer:
                return self
            return Called(here, cells, layer, self.called_at)
        called_at = self.called_at
        if here is not None:
            called_at = CalledSpan.of(here, None, self.layer, self.called_at) if self.called_at is not None else here
        if self.caller is None and called_at is self.called_at and layer == self.layer:
            return self
        return Called(None, cells, layer, called_at)

    def of(self, span: Span) -> Span:
        """``span``, which knows of the calls that it is in."""
        found = self._spans.get(span)
        if found is None:
            found = self._spans[span] = CalledSpan.of(span, self.caller, self.layer, self.called_at)
        return found
