"""`summary`: the layers of a network with shapes, parameters, operations and memory, as one table.

The network runs once, Cell by Cell, with hooks; so whatever its control flow does for these inputs is what is shown.
Afterwards everything is as it was: parameters, training flags, and the state of the random generator.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from duograph.base.config import configure
from duograph.base.html import bytes_text, text_block
from duograph.base.tree import leaves
from duograph.common.generator import get_rng_state, set_rng_state
from duograph.core.shapes import numel
from duograph.tensor.tensor import Tensor

from .cell import Cell
from .dispatch import plainly

__all__ = ["Layer", "Summary", "summary"]


@dataclass
class Layer:
    """One Cell of a network.

    Attributes:
        name: its path.
        kind: its class.
        depth: how many Cells it is inside of.
        output: shapes of the tensors that its last call gave.
        parameters: elements of its own parameters, each counted where it is met first.
        flops: floating-point operations of its calls, without those of the Cells in it.
        calls: how often it was called.
        nbytes: bytes of the tensors that its calls gave.
    """

    name: str
    kind: str
    depth: int
    output: list[tuple[int, ...]] = field(default_factory=list)
    parameters: int = 0
    flops: int = 0
    calls: int = 0
    nbytes: int = 0


@dataclass
class Summary:
    """What `summary` has found; its text is the table, or one line if the table has been printed already.

    Attributes:
        layers: one entry per Cell, in the order of the network.
        parameters: elements of all parameters.
        trainable: elements of those that are trained.
        parameter_bytes: bytes of all parameters.
        is_printed: whether the table has been printed.
    """

    layers: list[Layer]
    parameters: int = 0
    trainable: int = 0
    parameter_bytes: int = 0
    is_printed: bool = False

    @property
    def flops(self) -> int:
        """Floating-point operations of all layers."""
        return sum(layer.flops for layer in self.layers)

    @property
    def output_bytes(self) -> int:
        """Bytes of what the innermost layers give: what a gradient may have to keep."""
        inner = [a for a, b in zip(self.layers, [*self.layers[1:], None], strict=True) if not b or b.depth <= a.depth]
        return sum(layer.nbytes for layer in inner)

    def __repr__(self) -> str:
        if self.is_printed:  # `print(summary(net, x))` shows it once
            return f"<Summary of {self.parameters:,} parameters, {self.flops:,} FLOPs>"
        return self.table

    @property
    def table(self) -> str:
        """The layers, a line each, and totals."""
        head = ("Layer", "Output", "Parameters", "FLOPs")
        rows = [head, *[_row(layer) for layer in self.layers]]
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        line = "-" * (sum(widths) + 2 * (len(widths) - 1))
        shown = ["  ".join((row[0].ljust(widths[0]), row[1].ljust(widths[1]), row[2].rjust(widths[2]),
                            row[3].rjust(widths[3]))).rstrip() for row in rows]  # fmt: skip
        frozen, weight = self.parameters - self.trainable, bytes_text(self.parameter_bytes)
        below = [
            f"Parameters: {self.parameters:,} ({self.trainable:,} trained, {frozen:,} not), {weight}",
            f"Outputs of layers: {bytes_text(self.output_bytes)}",
            f"FLOPs of one call: {self.flops:,}",
        ]
        return "\n".join([shown[0], line, *shown[1:], line, *below])

    def _repr_html_(self) -> str:
        return text_block("", repr(self))


def _row(layer: Layer) -> tuple[str, str, str, str]:
    name = layer.name.rpartition(".")[2]
    title = "  " * layer.depth + (f"{name}: {layer.kind}" if name else layer.kind)
    if not layer.calls:
        return title, "not called", f"{layer.parameters:,}" if layer.parameters else "", ""
    shapes = ", ".join(str(list(shape)) for shape in layer.output)
    times = f" x{layer.calls}" if layer.calls > 1 else ""
    return (title, shapes + times, f"{layer.parameters:,}" if layer.parameters else "",
            f"{layer.flops:,}" if layer.flops else "")  # fmt: skip


def _flops(cell: Cell, inputs: list[Any], outputs: list[Any]) -> int:
    """Two operations for each weight and place where it is used; one per element of what has no weights.

    A network's own arithmetic outside of layers is not seen by hooks and not counted.
    """
    weights = [p for p in cell._params.values() if p is not None and p.ndim >= 2]
    if not outputs or (cell._cells and not weights):
        return 0
    if not weights:
        return sum(numel(tuple(out.shape)) for out in outputs)
    kind = type(cell).__name__
    if "Embedding" in kind:
        return 0  # rows are copied
    # The kernel of a transposed convolution is used at each place of the input, others at each of the output.
    placed = inputs[0] if "Transpose" in kind and inputs else outputs[0]
    channels = 1 if weights[0].ndim > 2 else -1
    places = numel(tuple(placed.shape)) // max(placed.shape[channels], 1) if placed.ndim > 1 else 1
    return sum(2 * numel(tuple(w.shape)) * places for w in weights)


@contextmanager
def _as_it_was(net: Cell) -> Iterator[None]:
    """Gives training flags, parameters and the random generator back after the block."""
    state, cells = get_rng_state(), [cell for _, cell in net.cells_and_names()]
    flags, values = [cell.training for cell in cells], [(p, p.value().copy()) for p in net.get_parameters()]
    try:
        yield
    finally:
        set_rng_state(state)
        for cell, flag in zip(cells, flags, strict=True):
            cell.training = flag
        for parameter, value in values:
            if parameter.asnumpy().tobytes() != value.asnumpy().tobytes():
                parameter.set_data(value)


def summary(net: Cell, *inputs: Any, verbose: bool = True) -> Summary:
    """The layers of a network with shapes, parameters, operations and memory, from one call with these inputs.

    Operations are two for each weight and place where it is used, and one for each element that a layer without weights
    gives; what ``construct`` computes between layers is not counted.

    Args:
        net (Cell): the network.
        inputs (tuple): what it is called with; it runs as in evaluation.
        verbose (bool): whether the table is printed. Default ``True``.

    Returns:
        Summary, whose ``table`` is the text; ``layers``, ``parameters``, ``trainable`` and ``flops`` are its numbers.

    Raises:
        TypeError: ``net`` is not a Cell.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2))
        >>> found = ms.summary(net, ops.ones((16, 4)))
        Layer           Output   Parameters  FLOPs
        ------------------------------------------
        SequentialCell  [16, 2]
          0: Dense      [16, 8]          40  1,024
          1: ReLU       [16, 8]                128
          2: Dense      [16, 2]          18    512
        ------------------------------------------
        Parameters: 58 (58 trained, 0 not), 232 B
        Outputs of layers: 1.1 KiB
        FLOPs of one call: 1,664
    """
    if not isinstance(net, Cell):
        raise TypeError(f"For 'summary', the 'net' must be a Cell, but got {type(net).__name__}.")
    if len(inputs) == 1 and isinstance(inputs[0], tuple | list) and all(isinstance(n, int) for n in inputs[0]):
        raise TypeError(
            f"For 'summary', the network is called: give its inputs, not their shape: ops.ones({tuple(inputs[0])})."
        )
    rows: dict[Cell, Layer] = {}
    seen: set[int] = set()
    result = Summary([])
    for name, cell in net.cells_and_names():
        row = rows[cell] = Layer(name, type(cell).__name__, name.count(".") + 1 if name else 0)
        result.layers.append(row)
        for parameter in cell._params.values():
            if parameter is not None and id(parameter) not in seen:
                seen.add(id(parameter))
                size = numel(tuple(parameter.shape))
                row.parameters += size
                result.parameters += size
                result.trainable += size if parameter.requires_grad else 0
                result.parameter_bytes += size * parameter.dtype.itemsize

    def note(cell: Cell, args: Any, output: Any) -> None:
        given = [x for x in leaves(output) if isinstance(x, Tensor)]
        row = rows[cell]
        row.calls += 1
        row.output = [tuple(x.shape) for x in given]
        row.nbytes += sum(numel(tuple(x.shape)) * x.dtype.itemsize for x in given)
        row.flops += _flops(cell, [x for x in leaves(args) if isinstance(x, Tensor)], given)

    handles = [cell.register_forward_hook(note) for cell in rows]
    try:
        with _as_it_was(net), plainly(), configure(jit=False):
            net.set_train(False)
            net(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    if verbose:
        print(result)
        result.is_printed = True
    return result
