"""Primitives that note values from inside of a network: the next `SummaryRecord.record` writes them.

What was noted last under a name is kept, so a network that nobody records does not fill the memory.
"""

from __future__ import annotations

from duograph.autodiff.hooks import call_user
from duograph.tensor.tensor import Tensor

from ..noted import keep
from .base import TablePrimitive


class _Summary(TablePrimitive):
    """Notes a tensor under a name."""

    kind = ""
    ranks: tuple[int, ...] = ()
    """Numbers of dimensions that are allowed; none: all but 0."""

    def forward(self, name: str, value: Tensor) -> None:
        who = type(self).__name__
        if not isinstance(name, str):
            raise TypeError(f"For '{who}', the type of 'name' must be str, but got {type(name).__name__}.")
        if not name:
            raise ValueError(f"For '{who}', the 'name' must not be an empty string.")
        if not isinstance(value, Tensor):
            raise TypeError(f"For '{who}', the type of 'value' must be Tensor, but got {type(value).__name__}.")
        shape = tuple(value.shape)
        if len(shape) not in self.ranks if self.ranks else not shape:
            wanted = " or ".join(map(str, self.ranks)) or "at least 1"
            raise ValueError(
                f"For '{who}', the number of dimensions of 'value' must be {wanted}, but got {len(shape)}."
            )
        if self.kind == "scalar" and shape not in ((), (1,)):
            raise ValueError(f"For '{who}', the shape of 'value' must be () or (1,), but got {shape}.")
        call_user(keep, (self.kind, name, value), {})


class ScalarSummary(_Summary):
    """Notes one number: ``construct`` calls ``self.summary("loss", loss)``, and `SummaryRecord` writes it.

    Inputs:
        - **name** (str) - under which it is recorded.
        - **value** (Tensor) - of shape ``()`` or ``(1,)``.

    Returns:
        None; the value is noted for `SummaryRecord`.

    Raises:
        TypeError: an argument or an operand has an unsupported type.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> ops.ScalarSummary()("loss", Tensor(2.5))
    """

    kind, ranks = "scalar", (0, 1)


class TensorSummary(_Summary):
    """Notes a tensor; see `ScalarSummary`.

    Inputs:
        - **name** (str) - under which it is recorded.
        - **value** (Tensor) - what is recorded.

    Returns:
        None; the value is noted for `SummaryRecord`.

    Raises:
        TypeError: an argument or an operand has an unsupported type.

    Examples:
        >>> ops.TensorSummary()("weight", Tensor([1.0, 2.0]))
    """

    kind = "tensor"


class HistogramSummary(_Summary):
    """Notes a tensor whose distribution is of interest; see `ScalarSummary`.

    Inputs:
        - **name** (str) - under which it is recorded.
        - **value** (Tensor) - what is recorded.

    Returns:
        None; the value is noted for `SummaryRecord`.

    Raises:
        TypeError: an argument or an operand has an unsupported type.

    Examples:
        >>> ops.HistogramSummary()("activations", Tensor([1.0, 2.0]))
    """

    kind = "histogram"


class ImageSummary(_Summary):
    """Notes images of shape ``(N, C, H, W)``; see `ScalarSummary`.

    Inputs:
        - **name** (str) - under which it is recorded.
        - **value** (Tensor) - what is recorded.

    Returns:
        None; the value is noted for `SummaryRecord`.

    Raises:
        TypeError: an argument or an operand has an unsupported type.

    Examples:
        >>> ops.ImageSummary()("input", ops.ones((1, 1, 2, 2)))
    """

    kind, ranks = "image", (4,)


CLASSES = {kind.__name__: kind for kind in (ScalarSummary, TensorSummary, HistogramSummary, ImageSummary)}
