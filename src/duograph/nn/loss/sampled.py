"""`SampledSoftmaxLoss`: a softmax over the true classes and a few drawn ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.api.public_ops import functions
from duograph.core import dtype as dt
from duograph.nn import checks
from duograph.ops.random import standard_uniform
from duograph.tensor.random import Generator
from duograph.tensor.tensor import Tensor

from .loss import LossBase

_OPS = functions()


class SampledSoftmaxLoss(LossBase):
    """Cross entropy of the true classes against ``num_sampled`` drawn ones, corrected by how likely these are.

    Args:
        num_sampled (int): how many classes are drawn, all different, small numbers more often.
        num_classes (int): number of classes.
        num_true (int): true classes of each sample. Default ``1``.
        sampled_values (Union[list, tuple]): drawn classes, and expected counts of the true and drawn ones. Default
            ``None``: drawn with every call.
        remove_accidental_hits (bool): drawn classes that are true do not count. Default ``True``.
        seed (int): of the draws; ``0``: they come from the default generator. Default ``0``.
        reduction (str): ``"mean"``, ``"sum"`` or ``"none"``. Default ``"none"``.

    Raises:
        TypeError: wrong types.
        ValueError: values out of range.
    """

    def __init__(
        self,
        num_sampled: int,
        num_classes: int,
        num_true: int = 1,
        sampled_values: Any = None,
        remove_accidental_hits: bool = True,
        seed: int = 0,
        reduction: str = "none",
    ) -> None:
        super().__init__(reduction)
        owner = self.cls_name
        if num_true < 1:
            raise ValueError(f"For '{owner}', the 'num_true' must be greater than or equal to 1, but got {num_true}.")
        if num_sampled > num_classes or num_true > num_classes:
            raise ValueError(
                f"For '{owner}', the 'num_sampled' {num_sampled} and 'num_true' {num_true} must not be above the "
                f"'num_classes' {num_classes}."
            )
        if sampled_values is not None and (not isinstance(sampled_values, list | tuple) or len(sampled_values) != 3):
            raise ValueError(f"For '{owner}', the length of 'sampled_values' must be equal to 3.")
        self.num_sampled, self.num_classes, self.num_true = num_sampled, num_classes, num_true
        self.sampled_values = sampled_values
        self.generator = Generator(checks.integer(seed, "seed", owner)) if seed else None
        self.remove_accidental_hits = checks.boolean(remove_accidental_hits, "remove_accidental_hits", owner)
        k = np.arange(num_classes, dtype=np.float64)
        share = np.log((k + 2) / (k + 1)) / np.log(num_classes + 1)
        expected = -np.expm1(num_sampled * np.log1p(-np.minimum(share, 1 - 1e-12)))
        self.log_share = Tensor(np.log(share).astype(np.float32))
        self.expected = Tensor(expected.astype(np.float32))

    def construct(self, weights, biases, labels, logits):
        return self.get_loss(self.entropy(weights, biases, labels, logits))

    def entropy(self, weights: Tensor, biases: Tensor, labels: Tensor, logits: Tensor) -> Tensor:
        """The loss of each sample."""
        take = _OPS["gather"]
        flat = labels.reshape(-1)
        if self.sampled_values is not None:
            drawn, true_count, drawn_count = self.sampled_values
            true_count = true_count.reshape(labels.shape)
        else:
            # The largest of log(p) plus Gumbel noise are a draw without replacement.
            noise = (
                -(-standard_uniform((self.num_classes,), dt.float32, self.generator).clamp(1e-20, 1.0).log())
                .clamp(1e-20)
                .log()
            )
            drawn = _OPS["topk"](self.log_share + noise, self.num_sampled)[1].astype(labels.dtype)
            true_count = take(self.expected, flat, 0).reshape(labels.shape)
            drawn_count = take(self.expected, drawn, 0)
        rows = take(weights, flat, 0).reshape((*labels.shape, weights.shape[1]))
        true = (rows * logits.expand_dims(1)).sum(-1) + take(biases, flat, 0).reshape(labels.shape) - true_count.log()
        other = _OPS["matmul"](logits, take(weights, drawn, 0).swapaxes(0, 1)) + take(biases, drawn, 0)
        other = other - drawn_count.log()
        if self.remove_accidental_hits:
            hits = (labels.expand_dims(2) == drawn.reshape((1, 1, -1))).astype(dt.float32).sum(1)
            other = other - hits * 3.0e38
        scores = _OPS["cat"]((true, other), 1)
        logs = _OPS["log_softmax"](scores, 1)
        return -logs[:, : self.num_true].sum(1) / self.num_true
