"""CTC: losses of sequences whose alignment is not known, and their decoding."""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.ops import ctc
from duograph.ops import decoding as decoders
from duograph.tensor.tensor import Tensor

from ..promote import as_tensor
from .forms import need_tensor, public_functions


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The CTC loss of sequences of log probabilities (T, N, C), and the forward variables.

    Args:
        log_probs: (T, N, C).
        targets: labels (N, S).
        input_lengths: steps of every sequence.
        target_lengths: labels of every sequence.
        blank: the class that means no label.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        zero_infinity: losses of sequences without any alignment count as 0.

    Returns:
        The loss and the forward variables.

    Raises:
        ValueError: unknown ``reduction``.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> log_probs = ops.log_softmax(Tensor([[[0.0, 0.0]], [[0.0, 0.0]]]))
        >>> loss, _ = ops.ctc_loss(log_probs, Tensor([[1]]), Tensor([2]), Tensor([1]))
        >>> print(loss)
        0.2876821
    """
    need_tensor("CTCLossV2", log_probs=log_probs, targets=targets)
    steps, labels = (as_tensor(n, dt.int64) for n in (input_lengths, target_lengths))
    return ctc.ctc_loss(log_probs, targets, steps, labels, blank, reduction, zero_infinity)


def ctc_greedy_decoder(
    inputs: Tensor, sequence_length: Tensor, merge_repeated: bool = True
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The best class of every step, without blanks (the last class): indices, labels, shape, and minus the scores.

    Returns:
        Four Tensors: ``(n, 2)`` indices (batch, place), ``(n,)`` classes, ``(2,)`` shape, ``(batch, 1)`` scores.

    Examples:
        >>> print(*ops.ctc_greedy_decoder(Tensor([[[0.0, 2.0, 1.0]], [[0.0, 0.0, 3.0]]]), Tensor([2], ms.int32)))
        [[0 0]] [1] [1 1] [[-5.]]
    """
    need_tensor("CTCGreedyDecoder", inputs=inputs, sequence_length=sequence_length)
    return decoders.ctc_greedy_decoder(inputs, sequence_length, merge_repeated=bool(merge_repeated))


FUNCTIONS = public_functions(globals())
