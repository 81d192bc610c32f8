# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as _np

from duograph.core.dtype import DType as _DType
from duograph.tensor.tensor import Tensor

from duograph.mint.nn import functional as functional
from duograph.mint.nn import layers as layers
from duograph.mint.nn import weighted as weighted
from duograph.mint.nn.weighted import BatchNorm1d as BatchNorm1d
from duograph.mint.nn.weighted import BatchNorm2d as BatchNorm2d
from duograph.mint.nn.weighted import BatchNorm3d as BatchNorm3d
from duograph.mint.nn.weighted import Conv1d as Conv1d
from duograph.mint.nn.weighted import Conv2d as Conv2d
from duograph.mint.nn.weighted import Conv3d as Conv3d
from duograph.mint.nn.weighted import ConvTranspose2d as ConvTranspose2d
from duograph.mint.nn.weighted import Embedding as Embedding
from duograph.mint.nn.weighted import GroupNorm as GroupNorm
from duograph.mint.nn.weighted import LayerNorm as LayerNorm
from duograph.mint.nn.weighted import PReLU as PReLU
from duograph.nn.cell import Cell as Cell
from duograph.nn.cell import Cell as _Cell
from duograph.nn.layer.activation import HShrink as Hardshrink
from duograph.nn.layer.activation import LogSigmoid as LogSigmoid
from duograph.nn.layer.activation import Mish as Mish
from duograph.nn.layer.activation import ReLU as ReLU
from duograph.nn.layer.activation import SeLU as SELU
from duograph.nn.layer.activation import Sigmoid as Sigmoid
from duograph.nn.layer.activation import SoftShrink as Softshrink
from duograph.nn.layer.activation import Tanh as Tanh
from duograph.nn.layer.basic import Identity as Identity
from duograph.nn.layer.basic import Linear as Linear
from duograph.nn.layer.image import PixelShuffle as PixelShuffle
from duograph.nn.layer.image import PixelUnshuffle as PixelUnshuffle
from duograph.nn.layer.pooling import _AdaptiveAvgPool as __AdaptiveAvgPool
from duograph.nn.loss.loss import BCELoss as BCELoss
from duograph.nn.loss.loss import CrossEntropyLoss as CrossEntropyLoss
from duograph.nn.loss.loss import MSELoss as MSELoss
from duograph.nn.loss.loss import NLLLoss as NLLLoss

class AdaptiveAvgPool1d(__AdaptiveAvgPool):
    """Means over ``output_size`` nearly equal parts of (N, C, L) or (C, L)."""
    def __init__(self, output_size: Any) -> None: ...
class AdaptiveAvgPool2d(__AdaptiveAvgPool):
    """Means over ``output_size`` nearly equal parts of (N, C, H, W) or (C, H, W)."""
    def __init__(self, output_size: Any) -> None: ...
class AdaptiveAvgPool3d(__AdaptiveAvgPool):
    """Means over ``output_size`` nearly equal parts of (N, C, D, H, W) or (C, D, H, W)."""
    def __init__(self, output_size: Any) -> None: ...
class AdaptiveMaxPool1d(_Cell):
    """PyTorch's layer ``AdaptiveMaxPool1d(output_size, return_indices=False)``."""
    def __init__(self, output_size: Any, return_indices: Any = False) -> None: ...
class AdaptiveMaxPool2d(_Cell):
    """PyTorch's layer ``AdaptiveMaxPool2d(output_size, return_indices=False)``."""
    def __init__(self, output_size: Any, return_indices: Any = False) -> None: ...
class AvgPool1d(_Cell):
    """PyTorch's layer ``AvgPool1d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True)``."""
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True) -> None: ...
class AvgPool2d(_Cell):
    """PyTorch's layer ``AvgPool2d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)``."""
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True, divisor_override: Any = None) -> None: ...
class AvgPool3d(_Cell):
    """PyTorch's layer ``AvgPool3d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)``."""
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True, divisor_override: Any = None) -> None: ...
class BCEWithLogitsLoss(_Cell):
    """PyTorch's layer ``BCEWithLogitsLoss(weight=None, reduction='mean', pos_weight=None)``."""
    def __init__(self, weight: Any = None, reduction: Any = 'mean', pos_weight: Any = None) -> None: ...
class ConstantPad1d(_Cell):
    """PyTorch's layer ``ConstantPad1d(padding, value)``."""
    def __init__(self, padding: Any, value: Any) -> None: ...
class ConstantPad2d(_Cell):
    """PyTorch's layer ``ConstantPad2d(padding, value)``."""
    def __init__(self, padding: Any, value: Any) -> None: ...
class ConstantPad3d(_Cell):
    """PyTorch's layer ``ConstantPad3d(padding, value)``."""
    def __init__(self, padding: Any, value: Any) -> None: ...
class CosineEmbeddingLoss(_Cell):
    """PyTorch's layer ``CosineEmbeddingLoss(margin=0.0, reduction='mean')``."""
    def __init__(self, margin: Any = 0.0, reduction: Any = 'mean') -> None: ...
class Dropout(_Cell):
    """PyTorch's layer ``Dropout(p=0.5, inplace=False)``."""
    def __init__(self, p: Any = 0.5, inplace: Any = False) -> None: ...
class Dropout2d(_Cell):
    """PyTorch's layer ``Dropout2d(p=0.5, inplace=False)``."""
    def __init__(self, p: Any = 0.5, inplace: Any = False) -> None: ...
class ELU(_Cell):
    """PyTorch's layer ``ELU(alpha=1.0, inplace=False)``."""
    def __init__(self, alpha: Any = 1.0, inplace: Any = False) -> None: ...
class Flatten(_Cell):
    """PyTorch's layer ``Flatten(start_dim=1, end_dim=-1)``."""
    def __init__(self, start_dim: Any = 1, end_dim: Any = -1) -> None: ...
class Fold(_Cell):
    """PyTorch's layer ``Fold(output_size, kernel_size, dilation=1, padding=0, stride=1)``."""
    def __init__(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None: ...
class GELU(_Cell):
    """PyTorch's layer ``GELU(approximate='none')``."""
    def __init__(self, approximate: Any = 'none') -> None: ...
class GLU(_Cell):
    """PyTorch's layer ``GLU(dim=-1)``."""
    def __init__(self, dim: Any = -1) -> None: ...
class Hardsigmoid(_Cell):
    """PyTorch's layer ``Hardsigmoid()``."""
    def __init__(self) -> None: ...
class Hardswish(_Cell):
    """PyTorch's layer ``Hardswish()``."""
    def __init__(self) -> None: ...
class Hardtanh(_Cell):
    """PyTorch's layer ``Hardtanh(min_val=-1.0, max_val=1.0, inplace=False)``."""
    def __init__(self, min_val: Any = -1.0, max_val: Any = 1.0, inplace: Any = False) -> None: ...
class KLDivLoss(_Cell):
    """PyTorch's layer ``KLDivLoss(reduction='mean', log_target=False)``."""
    def __init__(self, reduction: Any = 'mean', log_target: Any = False) -> None: ...
class L1Loss(_Cell):
    """PyTorch's layer ``L1Loss(reduction='mean')``."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class LogSoftmax(_Cell):
    """PyTorch's layer ``LogSoftmax(dim=None)``."""
    def __init__(self, dim: Any = None) -> None: ...
class MaxPool2d(_Cell):
    """PyTorch's layer ``MaxPool2d(kernel_size=1, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False)``."""
    def __init__(self, kernel_size: Any = 1, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: Any = False, ceil_mode: Any = False) -> None: ...
class MaxUnpool2d(_Cell):
    """PyTorch's layer ``MaxUnpool2d(kernel_size, stride=None, padding=0)``."""
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None: ...
class ReLU6(_Cell):
    """PyTorch's layer ``ReLU6(inplace=False)``."""
    def __init__(self, inplace: Any = False) -> None: ...
class ReflectionPad1d(_Cell):
    """PyTorch's layer ``ReflectionPad1d(padding)``."""
    def __init__(self, padding: Any) -> None: ...
class ReflectionPad2d(_Cell):
    """PyTorch's layer ``ReflectionPad2d(padding)``."""
    def __init__(self, padding: Any) -> None: ...
class ReflectionPad3d(_Cell):
    """PyTorch's layer ``ReflectionPad3d(padding)``."""
    def __init__(self, padding: Any) -> None: ...
class ReplicationPad1d(_Cell):
    """PyTorch's layer ``ReplicationPad1d(padding)``."""
    def __init__(self, padding: Any) -> None: ...
class ReplicationPad2d(_Cell):
    """PyTorch's layer ``ReplicationPad2d(padding)``."""
    def __init__(self, padding: Any) -> None: ...
class ReplicationPad3d(_Cell):
    """PyTorch's layer ``ReplicationPad3d(padding)``."""
    def __init__(self, padding: Any) -> None: ...
class SiLU(_Cell):
    """PyTorch's layer ``SiLU(inplace=False)``."""
    def __init__(self, inplace: Any = False) -> None: ...
class SmoothL1Loss(_Cell):
    """PyTorch's layer ``SmoothL1Loss(reduction='mean', beta=1.0)``."""
    def __init__(self, reduction: Any = 'mean', beta: Any = 1.0) -> None: ...
class SoftMarginLoss(_Cell):
    """PyTorch's layer ``SoftMarginLoss(reduction='mean')``."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class Softmax(_Cell):
    """PyTorch's layer ``Softmax(dim=None)``."""
    def __init__(self, dim: Any = None) -> None: ...
class Threshold(_Cell):
    """PyTorch's layer ``Threshold(threshold, value, inplace=False)``."""
    def __init__(self, threshold: Any, value: Any, inplace: Any = False) -> None: ...
class Unfold(_Cell):
    """PyTorch's layer ``Unfold(kernel_size, dilation=1, padding=0, stride=1)``."""
    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None: ...
class Upsample(_Cell):
    """PyTorch's layer ``Upsample(size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None)``."""
    def __init__(self, size: Any = None, scale_factor: Any = None, mode: Any = 'nearest', align_corners: Any = None, recompute_scale_factor: Any = None) -> None: ...
class UpsamplingBilinear2d(_Cell):
    """PyTorch's layer ``UpsamplingBilinear2d(size=None, scale_factor=None)``."""
    def __init__(self, size: Any = None, scale_factor: Any = None) -> None: ...
class UpsamplingNearest2d(_Cell):
    """PyTorch's layer ``UpsamplingNearest2d(size=None, scale_factor=None)``."""
    def __init__(self, size: Any = None, scale_factor: Any = None) -> None: ...
class ZeroPad1d(_Cell):
    """PyTorch's layer ``ZeroPad1d(padding)``."""
    def __init__(self, padding: Any) -> None: ...
class ZeroPad2d(_Cell):
    """PyTorch's layer ``ZeroPad2d(padding)``."""
    def __init__(self, padding: Any) -> None: ...
class ZeroPad3d(_Cell):
    """PyTorch's layer ``ZeroPad3d(padding)``."""
    def __init__(self, padding: Any) -> None: ...
classes: Any
__capture__: Any
