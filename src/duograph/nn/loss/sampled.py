"""`SampledSoftmaxLoss`: a softmax over the true classes and a few drawn ones."""

from __future__ import annotations

import numpy as np

from duograph.api.public_ops import functions
from duograph.core import dtype as dt
from duograph.nn import checks
from duograph.nn.kinds import Anything, Flag, Unkept
from duograph.nn.settings import option, with_settings
from duograph.ops.random import standard_uniform
from duograph.tensor.random import Generator
from duograph.tensor.tensor import Tensor

from .loss import LossBase, Reduction

_OPS = functions()


@with_settings
class SampledSoftmaxLoss(LossBase):
    """Cross entropy of the true classes against ``num_sampled`` sampled ones, corrected for their probabilities.

    Examples:
        >>> loss = nn.SampledSoftmaxLoss(num_sampled=4, num_classes=7)
        >>> weights, biases, labels = ops.ones((7, 3)), ops.ones(7), Tensor([[0], [1]])
        >>> print(loss(weights, biases, labels, ops.ones((2, 3))).shape)
        (2,)
    """

    num_sampled: Anything = option("how many classes are drawn, all different, small numbers more often")
    num_classes: Anything = option("number of classes")
    num_true: Anything = option("true classes of each sample", default=1)
    sampled_values: Anything = option(
        "drawn classes, and expected counts of the true and drawn ones; ``None``: drawn with every call", default=None
    )
    remove_accidental_hits: Flag = option("drawn classes that are true do not count", default=True)
    seed: Unkept = option("of the draws; ``0``: they come from the default generator", default=0)
    reduction: Reduction = "none"

    def _settings_taken(self, given):
        owner, drawn, classes, seed = self.cls_name, self.num_sampled, self.num_classes, given["seed"]
        if self.num_true < 1:
            raise ValueError(
                f"For '{owner}', the 'num_true' must be greater than or equal to 1, but got {self.num_true}."
            )
        if drawn > classes or self.num_true > classes:
            raise ValueError(
                f"For '{owner}', the 'num_sampled' {drawn} and 'num_true' {self.num_true} must not be above the "
                f"'num_classes' {classes}."
            )
        values = self.sampled_values
        if values is not None and (not isinstance(values, list | tuple) or len(values) != 3):
            raise ValueError(f"For '{owner}', the length of 'sampled_values' must be equal to 3.")
        self.generator = Generator(checks.integer(seed, "seed", owner)) if seed else None
        k = np.arange(classes, dtype=np.float64)
        share = np.log((k + 2) / (k + 1)) / np.log(classes + 1)
        expected = -np.expm1(drawn * np.log1p(-np.minimum(share, 1 - 1e-12)))
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
