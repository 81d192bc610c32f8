# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as _np

from duograph.core.dtype import DType as _DType
from duograph.tensor.tensor import Tensor

from duograph.api.functional.activation import gelu as gelu
from duograph.api.functional.activation import prelu as prelu
from duograph.api.functional.activation import relu as relu
from duograph.api.functional.activation import softplus as softplus
from duograph.api.functional.image import fold as fold
from duograph.api.functional.image import grid_sample as grid_sample
from duograph.api.functional.image import interpolate as interpolate
from duograph.api.functional.image import pixel_shuffle as pixel_shuffle
from duograph.api.functional.image import unfold as unfold
from duograph.api.functional.index import clamp as clamp
from duograph.api.functional.index import embedding as embedding
from duograph.api.functional.inplace import relu_ as relu_
from duograph.api.functional.inplace import threshold_ as threshold_
from duograph.api.functional.loss import cosine_embedding_loss as cosine_embedding_loss
from duograph.api.functional.loss import cross_entropy as cross_entropy
from duograph.api.functional.loss import soft_margin_loss as soft_margin_loss
from duograph.api.functional.nn import conv_transpose2d as conv_transpose2d
from duograph.api.functional.nn import group_norm as group_norm
from duograph.api.functional.nn import layer_norm as layer_norm
from duograph.api.functional.nn import normalize as normalize
from duograph.api.functional.random import gumbel_softmax as gumbel_softmax
from duograph.mint.functions import flatten as flatten

def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The mean over nearly equal windows, ``output_size`` of them along the last axis."""
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The mean over nearly equal windows, ``output_size`` of them along each of the last 2 axes."""
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The mean over nearly equal windows, ``output_size`` of them along each of the last 3 axes."""
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Tensor:
    """The maximum over nearly equal windows, ``output_size`` of them along each of the last 2 axes."""
def hardshrink(input: Any, lambd: Any = 0.5) -> Tensor:
    """0 in the interval from ``-lambd`` to ``lambd``, ``x`` outside."""
def hardsigmoid(input: Any) -> Tensor:
    """``(x + 3) / 6`` limited to the interval from 0 to 1; flat at its ends."""
def hardswish(input: Any) -> Tensor:
    """``x * hardsigmoid(x)``, with the slopes of the inner part at -3 and 3."""
def kl_div(input: Tensor, target: Tensor, reduction: str = 'mean', log_target: bool = False) -> Tensor:
    """``target * (log(target) - input)``."""
def l1_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """Absolute difference."""
def mse_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """Squared difference."""
def sigmoid(input: Any) -> Tensor:
    """``1 / (1 + exp(-x))``."""
def softshrink(input: Any, lambd: Any = 0.5) -> Tensor:
    """``x`` moved towards 0 by ``lambd``, 0 where it would cross."""
def tanh(input: Any) -> Tensor:
    """Hyperbolic tangent."""
def upsample(input: Any, size: Any = None, scale_factor: Any = None, mode: Any = 'nearest', align_corners: Any = None, recompute_scale_factor: Any = None) -> Tensor:
    """``input`` (N, C, *extents) resized to ``size``, or by ``scale_factor``."""
def mish(input: Any) -> Tensor:
    """``input * tanh(softplus(input))``."""
def selu(input: Any) -> Tensor:
    """The self-normalising ``scale * elu(input, alpha)`` with its two constants."""
def logsigmoid(input: Any) -> Tensor:
    """``log(sigmoid(input))`` without overflow."""
def max_unpool2d(input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Values put back at the flat positions that maximum pooling gave."""
def linear(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """``input @ weight.T + bias``."""
def binary_cross_entropy(input: Any, target: Any, weight: Any = None, reduction: Any = 'mean') -> Tensor:
    """``-(y log p + (1 - y) log(1 - p))``."""
def pad(input: Any, pad: Any, mode: Any = 'constant', value: Any = None) -> Tensor:
    """With elements more on both sides of the last axes."""
def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Tensor:
    """The maximum over nearly equal windows."""
def avg_pool1d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
    """The mean of each window."""
def avg_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
    """The mean of each window."""
def avg_pool3d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor:
    """The mean of each window."""
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """``input`` (N, C, ...) normalised per channel; in training by own statistics, which move the running ones."""
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Any = None, reduction: str = 'mean', pos_weight: Any = None) -> Tensor:
    """`binary_cross_entropy` of the sigmoid of ``input``."""
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """Convolution over 1 axes; ``padding`` is numbers, ``'same'`` or ``'valid'``."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """Convolution over 2 axes; ``padding`` is numbers, ``'same'`` or ``'valid'``."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Tensor:
    """Convolution over 3 axes; ``padding`` is numbers, ``'same'`` or ``'valid'``."""
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements set to 0 with probability ``p``, the others divided by ``1 - p``."""
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels set to 0 with probability ``p``."""
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` above 0, ``alpha * (exp(input) - 1)`` below."""
def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`elu`, in place."""
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along ``dim`` times the sigmoid of the second."""
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` limited to ``min_val`` .. ``max_val``."""
def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """`hardtanh`, in place."""
def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """``input`` above 0, ``negative_slope * input`` below."""
def log_softmax(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """Logarithm of `softmax`."""
def max_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False, return_indices: bool = False) -> Tensor:
    """The maximum of each window; with ``return_indices`` also the flat positions."""
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = 'mean') -> Tensor:
    """Negative log likelihood of the classes ``target``, given log probabilities."""
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A new last axis that is 1 at the index (int64); the number of classes is that of the indices by default."""
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``min(max(input, 0), 6)``."""
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * sigmoid(input)``."""
def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = 'mean', beta: float = 1.0) -> Tensor:
    """``gap**2 / (2 beta)`` below ``beta``, ``gap - beta / 2`` above."""
def softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """``exp(input)`` divided by its sum along ``dim``."""
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``input`` above ``threshold``, ``value`` elsewhere."""
_OPS: Any
SAME: Any
_written: Any
_conv: Any
_avg_pool: Any
_here: Any
_renamed: Any
__all__: Any
