# Written by scripts/stubs.py: run it after a public name, a signature or a summary has changed.
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as _np

from duograph.core.dtype import DType as _DType
from duograph.tensor.tensor import Tensor

from duograph.mint.nn.weighted import Embedding as EmbeddingExt
from duograph.mint.nn.weighted import LayerNorm as LayerNormExt
from duograph.mint.nn.weighted import PReLU as PReLUExt
from duograph.nn import cell as cell
from duograph.nn import dynamic_lr as dynamic_lr
from duograph.nn import layer as layer
from duograph.nn import learning_rate_schedule as learning_rate_schedule
from duograph.nn import loss as loss
from duograph.nn import optim as optim
from duograph.nn import probability as probability
from duograph.nn import wrap as wrap
from duograph.nn.cell import Cell as Cell
from duograph.nn.cell import Cell as _Cell
from duograph.nn.dynamic_lr import cosine_decay_lr as cosine_decay_lr
from duograph.nn.dynamic_lr import piecewise_constant_lr as piecewise_constant_lr
from duograph.nn.dynamic_lr import polynomial_decay_lr as polynomial_decay_lr
from duograph.nn.dynamic_lr import warmup_lr as warmup_lr
from duograph.nn.grad import Jvp as Jvp
from duograph.nn.grad import Vjp as Vjp
from duograph.nn.graph_cell import GraphCell as GraphCell
from duograph.nn.layer.activation import CELU as CELU
from duograph.nn.layer.activation import ELU as ELU
from duograph.nn.layer.activation import FastGelu as FastGelu
from duograph.nn.layer.activation import GELU as GELU
from duograph.nn.layer.activation import GLU as GLU
from duograph.nn.layer.activation import HShrink as HShrink
from duograph.nn.layer.activation import HSigmoid as HSigmoid
from duograph.nn.layer.activation import HSwish as HSwish
from duograph.nn.layer.activation import Hardtanh as Hardtanh
from duograph.nn.layer.activation import LeakyReLU as LeakyReLU
from duograph.nn.layer.activation import LogSigmoid as LogSigmoid
from duograph.nn.layer.activation import LogSoftmax as LogSoftmax
from duograph.nn.layer.activation import Mish as Mish
from duograph.nn.layer.activation import PReLU as PReLU
from duograph.nn.layer.activation import RReLU as RReLU
from duograph.nn.layer.activation import ReLU as ReLU
from duograph.nn.layer.activation import ReLU6 as ReLU6
from duograph.nn.layer.activation import SeLU as SeLU
from duograph.nn.layer.activation import SiLU as SiLU
from duograph.nn.layer.activation import Sigmoid as Sigmoid
from duograph.nn.layer.activation import SoftShrink as SoftShrink
from duograph.nn.layer.activation import Softmax as Softmax
from duograph.nn.layer.activation import Softmax2d as Softmax2d
from duograph.nn.layer.activation import Softmin as Softmin
from duograph.nn.layer.activation import Softsign as Softsign
from duograph.nn.layer.activation import Tanh as Tanh
from duograph.nn.layer.activation import Tanhshrink as Tanhshrink
from duograph.nn.layer.activation import Threshold as Threshold
from duograph.nn.layer.activation import get_activation as get_activation
from duograph.nn.layer.basic import BiDense as BiDense
from duograph.nn.layer.basic import Dense as Dense
from duograph.nn.layer.basic import Dropout as Dropout
from duograph.nn.layer.basic import Dropout1d as Dropout1d
from duograph.nn.layer.basic import Dropout2d as Dropout2d
from duograph.nn.layer.basic import Dropout3d as Dropout3d
from duograph.nn.layer.basic import Flatten as Flatten
from duograph.nn.layer.basic import Identity as Identity
from duograph.nn.layer.basic import Linear as Linear
from duograph.nn.layer.basic import OneHot as OneHot
from duograph.nn.layer.combined import Conv2dBnAct as Conv2dBnAct
from duograph.nn.layer.combined import DenseBnAct as DenseBnAct
from duograph.nn.layer.combined import TimeDistributed as TimeDistributed
from duograph.nn.layer.combined import _FractionalMaxPool as __FractionalMaxPool
from duograph.nn.layer.container import CellDict as CellDict
from duograph.nn.layer.container import CellList as CellList
from duograph.nn.layer.container import SequentialCell as SequentialCell
from duograph.nn.layer.conv import Conv1d as Conv1d
from duograph.nn.layer.conv import Conv1dTranspose as Conv1dTranspose
from duograph.nn.layer.conv import Conv2d as Conv2d
from duograph.nn.layer.conv import Conv2dTranspose as Conv2dTranspose
from duograph.nn.layer.conv import Conv3d as Conv3d
from duograph.nn.layer.conv import Conv3dTranspose as Conv3dTranspose
from duograph.nn.layer.embedding import Embedding as Embedding
from duograph.nn.layer.embedding import EmbeddingLookup as EmbeddingLookup
from duograph.nn.layer.image import ChannelShuffle as ChannelShuffle
from duograph.nn.layer.image import ClipByNorm as ClipByNorm
from duograph.nn.layer.image import LRN as LRN
from duograph.nn.layer.image import Norm as Norm
from duograph.nn.layer.image import PixelShuffle as PixelShuffle
from duograph.nn.layer.image import PixelUnshuffle as PixelUnshuffle
from duograph.nn.layer.image import Roll as Roll
from duograph.nn.layer.image import Tril as Tril
from duograph.nn.layer.image import Triu as Triu
from duograph.nn.layer.image import Unflatten as Unflatten
from duograph.nn.layer.image import Unfold as Unfold
from duograph.nn.layer.image import Upsample as Upsample
from duograph.nn.layer.math import DiGamma as DiGamma
from duograph.nn.layer.math import IGamma as IGamma
from duograph.nn.layer.math import L1Regularizer as L1Regularizer
from duograph.nn.layer.math import LBeta as LBeta
from duograph.nn.layer.math import LGamma as LGamma
from duograph.nn.layer.math import MatDet as MatDet
from duograph.nn.layer.math import MatInverse as MatInverse
from duograph.nn.layer.math import MatMul as MatMul
from duograph.nn.layer.math import MatrixDiag as MatrixDiag
from duograph.nn.layer.math import MatrixDiagPart as MatrixDiagPart
from duograph.nn.layer.math import MatrixSetDiag as MatrixSetDiag
from duograph.nn.layer.math import Moments as Moments
from duograph.nn.layer.math import Range as Range
from duograph.nn.layer.math import ReduceLogSumExp as ReduceLogSumExp
from duograph.nn.layer.normalization import BatchNorm1d as BatchNorm1d
from duograph.nn.layer.normalization import BatchNorm2d as BatchNorm2d
from duograph.nn.layer.normalization import BatchNorm3d as BatchNorm3d
from duograph.nn.layer.normalization import GroupNorm as GroupNorm
from duograph.nn.layer.normalization import LayerNorm as LayerNorm
from duograph.nn.layer.normalization import _InstanceNorm as __InstanceNorm
from duograph.nn.layer.padding import Pad as Pad
from duograph.nn.layer.padding import ZeroPad2d as ZeroPad2d
from duograph.nn.layer.padding import _ConstantPad as __ConstantPad
from duograph.nn.layer.padding import _EdgePad as __EdgePad
from duograph.nn.layer.pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from duograph.nn.layer.pooling import AvgPool1d as AvgPool1d
from duograph.nn.layer.pooling import AvgPool2d as AvgPool2d
from duograph.nn.layer.pooling import AvgPool3d as AvgPool3d
from duograph.nn.layer.pooling import MaxPool1d as MaxPool1d
from duograph.nn.layer.pooling import MaxPool2d as MaxPool2d
from duograph.nn.layer.pooling import MaxPool3d as MaxPool3d
from duograph.nn.layer.pooling import _AdaptiveAvgPool as __AdaptiveAvgPool
from duograph.nn.layer.pooling import _AdaptiveMaxPool as __AdaptiveMaxPool
from duograph.nn.layer.pooling import _LPPool as __LPPool
from duograph.nn.layer.pooling import _MaxUnpool as __MaxUnpool
from duograph.nn.layer.quality import CentralCrop as CentralCrop
from duograph.nn.layer.quality import ImageGradients as ImageGradients
from duograph.nn.layer.quality import MSSSIM as MSSSIM
from duograph.nn.layer.quality import PSNR as PSNR
from duograph.nn.layer.quality import SSIM as SSIM
from duograph.nn.layer.recurrent import GRU as GRU
from duograph.nn.layer.recurrent import GRUCell as GRUCell
from duograph.nn.layer.recurrent import LSTM as LSTM
from duograph.nn.layer.recurrent import LSTMCell as LSTMCell
from duograph.nn.layer.recurrent import RNN as RNN
from duograph.nn.layer.recurrent import RNNCell as RNNCell
from duograph.nn.layer.synchronised import SyncBatchNorm as SyncBatchNorm
from duograph.nn.layer.transformer import MultiheadAttention as MultiheadAttention
from duograph.nn.layer.transformer import Transformer as Transformer
from duograph.nn.layer.transformer import TransformerDecoder as TransformerDecoder
from duograph.nn.layer.transformer import TransformerDecoderLayer as TransformerDecoderLayer
from duograph.nn.layer.transformer import TransformerEncoder as TransformerEncoder
from duograph.nn.layer.transformer import TransformerEncoderLayer as TransformerEncoderLayer
from duograph.nn.learning_rate_schedule import CosineDecayLR as CosineDecayLR
from duograph.nn.learning_rate_schedule import ExponentialDecayLR as ExponentialDecayLR
from duograph.nn.learning_rate_schedule import InverseDecayLR as InverseDecayLR
from duograph.nn.learning_rate_schedule import LearningRateSchedule as LearningRateSchedule
from duograph.nn.learning_rate_schedule import NaturalExpDecayLR as NaturalExpDecayLR
from duograph.nn.learning_rate_schedule import PolynomialDecayLR as PolynomialDecayLR
from duograph.nn.learning_rate_schedule import WarmUpLR as WarmUpLR
from duograph.nn.loss.loss import BCELoss as BCELoss
from duograph.nn.loss.loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from duograph.nn.loss.loss import CrossEntropyLoss as CrossEntropyLoss
from duograph.nn.loss.loss import DiceLoss as DiceLoss
from duograph.nn.loss.loss import FocalLoss as FocalLoss
from duograph.nn.loss.loss import HuberLoss as HuberLoss
from duograph.nn.loss.loss import KLDivLoss as KLDivLoss
from duograph.nn.loss.loss import L1Loss as L1Loss
from duograph.nn.loss.loss import LossBase as LossBase
from duograph.nn.loss.loss import MAELoss as MAELoss
from duograph.nn.loss.loss import MSELoss as MSELoss
from duograph.nn.loss.loss import MultiClassDiceLoss as MultiClassDiceLoss
from duograph.nn.loss.loss import NLLLoss as NLLLoss
from duograph.nn.loss.loss import RMSELoss as RMSELoss
from duograph.nn.loss.loss import SmoothL1Loss as SmoothL1Loss
from duograph.nn.loss.loss import SoftMarginLoss as SoftMarginLoss
from duograph.nn.loss.loss import SoftmaxCrossEntropyWithLogits as SoftmaxCrossEntropyWithLogits
from duograph.nn.loss.ranking import CTCLoss as CTCLoss
from duograph.nn.loss.ranking import CosineEmbeddingLoss as CosineEmbeddingLoss
from duograph.nn.loss.ranking import GaussianNLLLoss as GaussianNLLLoss
from duograph.nn.loss.ranking import HingeEmbeddingLoss as HingeEmbeddingLoss
from duograph.nn.loss.ranking import MarginRankingLoss as MarginRankingLoss
from duograph.nn.loss.ranking import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from duograph.nn.loss.ranking import MultiMarginLoss as MultiMarginLoss
from duograph.nn.loss.ranking import MultilabelMarginLoss as MultilabelMarginLoss
from duograph.nn.loss.ranking import PoissonNLLLoss as PoissonNLLLoss
from duograph.nn.loss.ranking import TripletMarginLoss as TripletMarginLoss
from duograph.nn.loss.ranking import TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss
from duograph.nn.loss.sampled import SampledSoftmaxLoss as SampledSoftmaxLoss
from duograph.nn.optim.adam import AdaMax as AdaMax
from duograph.nn.optim.adam import Adam as Adam
from duograph.nn.optim.adam import AdamOffload as AdamOffload
from duograph.nn.optim.adam import AdamWeightDecay as AdamWeightDecay
from duograph.nn.optim.adam import Lamb as Lamb
from duograph.nn.optim.adam import LazyAdam as LazyAdam
from duograph.nn.optim.adaptive import Adadelta as Adadelta
from duograph.nn.optim.adaptive import Adagrad as Adagrad
from duograph.nn.optim.adaptive import FTRL as FTRL
from duograph.nn.optim.adaptive import ProximalAdagrad as ProximalAdagrad
from duograph.nn.optim.adaptive import RMSProp as RMSProp
from duograph.nn.optim.momentum import Momentum as Momentum
from duograph.nn.optim.momentum import SGD as SGD
from duograph.nn.optim.optimizer import Optimizer as Optimizer
from duograph.nn.optim.other import ASGD as ASGD
from duograph.nn.optim.other import LARS as LARS
from duograph.nn.optim.other import Rprop as Rprop
from duograph.nn.wrap.cell_wrapper import ForwardValueAndGrad as ForwardValueAndGrad
from duograph.nn.wrap.cell_wrapper import GetNextSingleOp as GetNextSingleOp
from duograph.nn.wrap.cell_wrapper import ParameterUpdate as ParameterUpdate
from duograph.nn.wrap.cell_wrapper import TrainOneStepCell as TrainOneStepCell
from duograph.nn.wrap.cell_wrapper import WithEvalCell as WithEvalCell
from duograph.nn.wrap.cell_wrapper import WithGradCell as WithGradCell
from duograph.nn.wrap.cell_wrapper import WithLossCell as WithLossCell
from duograph.nn.wrap.grad_reducer import DistributedGradReducer as DistributedGradReducer
from duograph.nn.wrap.loss_scale import DynamicLossScaleUpdateCell as DynamicLossScaleUpdateCell
from duograph.nn.wrap.loss_scale import FixedLossScaleUpdateCell as FixedLossScaleUpdateCell
from duograph.nn.wrap.loss_scale import TrainOneStepWithLossScaleCell as TrainOneStepWithLossScaleCell
from duograph.train.metrics import get_metric_fn as get_metric_fn
from duograph.train.metrics import names as names
from duograph.train.metrics.basic import Accuracy as Accuracy
from duograph.train.metrics.basic import Loss as Loss
from duograph.train.metrics.basic import MAE as MAE
from duograph.train.metrics.basic import MSE as MSE
from duograph.train.metrics.basic import Metric as Metric
from duograph.train.metrics.basic import Top1CategoricalAccuracy as Top1CategoricalAccuracy
from duograph.train.metrics.basic import Top5CategoricalAccuracy as Top5CategoricalAccuracy
from duograph.train.metrics.basic import TopKCategoricalAccuracy as TopKCategoricalAccuracy
from duograph.train.metrics.confusion import ConfusionMatrix as ConfusionMatrix
from duograph.train.metrics.confusion import ConfusionMatrixMetric as ConfusionMatrixMetric
from duograph.train.metrics.confusion import ROC as ROC
from duograph.train.metrics.confusion import auc as auc
from duograph.train.metrics.confusion import rearrange_inputs as rearrange_inputs
from duograph.train.metrics.distances import BleuScore as BleuScore
from duograph.train.metrics.distances import CosineSimilarity as CosineSimilarity
from duograph.train.metrics.distances import Dice as Dice
from duograph.train.metrics.scores import F1 as F1
from duograph.train.metrics.scores import Fbeta as Fbeta
from duograph.train.metrics.scores import Perplexity as Perplexity
from duograph.train.metrics.scores import Precision as Precision
from duograph.train.metrics.scores import Recall as Recall

class InstanceNorm1d(__InstanceNorm):
    """Instance normalisation of (N, C, L)."""
    def __init__(self, num_features: Any, eps: Any = 1e-05, momentum: Any = 0.1, affine: Any = True, gamma_init: Any = 'ones', beta_init: Any = 'zeros', dtype: Any = ...) -> None: ...
class InstanceNorm2d(__InstanceNorm):
    """Instance normalisation of (N, C, H, W)."""
    def __init__(self, num_features: Any, eps: Any = 1e-05, momentum: Any = 0.1, affine: Any = True, gamma_init: Any = 'ones', beta_init: Any = 'zeros', dtype: Any = ...) -> None: ...
class InstanceNorm3d(__InstanceNorm):
    """Instance normalisation of (N, C, D, H, W)."""
    def __init__(self, num_features: Any, eps: Any = 1e-05, momentum: Any = 0.1, affine: Any = True, gamma_init: Any = 'ones', beta_init: Any = 'zeros', dtype: Any = ...) -> None: ...
class AdaptiveAvgPool1d(__AdaptiveAvgPool):
    """Means over ``output_size`` nearly equal parts of (N, C, L) or (C, L)."""
    def __init__(self, output_size: Any) -> None: ...
class AdaptiveAvgPool2d(__AdaptiveAvgPool):
    """Means over ``output_size`` nearly equal parts of (N, C, H, W) or (C, H, W)."""
    def __init__(self, output_size: Any) -> None: ...
class AdaptiveAvgPool3d(__AdaptiveAvgPool):
    """Means over ``output_size`` nearly equal parts of (N, C, D, H, W) or (C, D, H, W)."""
    def __init__(self, output_size: Any) -> None: ...
class AdaptiveMaxPool2d(__AdaptiveMaxPool):
    """Maxima over ``output_size`` nearly equal parts of (N, C, H, W) or (C, H, W)."""
    def __init__(self, output_size: Any, return_indices: Any = False) -> None: ...
class AdaptiveMaxPool3d(__AdaptiveMaxPool):
    """Maxima over ``output_size`` nearly equal parts of (N, C, D, H, W) or (C, D, H, W)."""
    def __init__(self, output_size: Any, return_indices: Any = False) -> None: ...
class LPPool1d(__LPPool):
    """The p-norm of each window of (N, C, L) or (C, L)."""
    def __init__(self, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: Any = False) -> None: ...
class LPPool2d(__LPPool):
    """The p-norm of each window of (N, C, H, W) or (C, H, W)."""
    def __init__(self, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: Any = False) -> None: ...
class MaxUnpool1d(__MaxUnpool):
    """Undoes maximum pooling of (N, C, L): puts values at their positions, 0 elsewhere."""
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None: ...
class MaxUnpool2d(__MaxUnpool):
    """Undoes maximum pooling of (N, C, H, W): puts values at their positions, 0 elsewhere."""
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None: ...
class MaxUnpool3d(__MaxUnpool):
    """Undoes maximum pooling of (N, C, D, H, W): puts values at their positions, 0 elsewhere."""
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None: ...
class ConstantPad1d(__ConstantPad):
    """Pads the last axis by (left, right) with ``value``."""
    def __init__(self, padding: Any, value: Any) -> None: ...
class ConstantPad2d(__ConstantPad):
    """Pads the last two axes by (left, right, top, bottom) with ``value``."""
    def __init__(self, padding: Any, value: Any) -> None: ...
class ConstantPad3d(__ConstantPad):
    """Pads the last three axes by (left, right, top, bottom, front, back) with ``value``."""
    def __init__(self, padding: Any, value: Any) -> None: ...
class ReflectionPad1d(__EdgePad):
    """Pads the last axis by reflection at the ends."""
    def __init__(self, padding: Any) -> None: ...
class ReflectionPad2d(__EdgePad):
    """Pads the last two axes by reflection at the ends."""
    def __init__(self, padding: Any) -> None: ...
class ReflectionPad3d(__EdgePad):
    """Pads the last three axes by reflection at the ends."""
    def __init__(self, padding: Any) -> None: ...
class ReplicationPad1d(__EdgePad):
    """Pads the last axis by repeating the ends."""
    def __init__(self, padding: Any) -> None: ...
class ReplicationPad2d(__EdgePad):
    """Pads the last two axes by repeating the ends."""
    def __init__(self, padding: Any) -> None: ...
class ReplicationPad3d(__EdgePad):
    """Pads the last three axes by repeating the ends."""
    def __init__(self, padding: Any) -> None: ...
class FractionalMaxPool2d(__FractionalMaxPool):
    """Maxima over windows of (N, C, H, W) at pseudo-random places."""
    def __init__(self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: Any = False, _random_samples: Any = None) -> None: ...
class FractionalMaxPool3d(__FractionalMaxPool):
    """Maxima over windows of (N, C, D, H, W) at pseudo-random places."""
    def __init__(self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: Any = False, _random_samples: Any = None) -> None: ...
def exponential_decay_lr(learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int, is_stair: bool = False) -> list[float]:
    """``learning_rate * decay_rate ** (epoch / decay_epoch)``."""
def natural_exp_decay_lr(learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int, is_stair: bool = False) -> list[float]:
    """``learning_rate * exp(-decay_rate * epoch)``, with ``is_stair`` at the last multiple of ``decay_epoch``."""
def inverse_decay_lr(learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int, is_stair: bool = False) -> list[float]:
    """``learning_rate / (1 + decay_rate * epoch / decay_epoch)``."""
class AvgPool1dExt(_Cell):
    """PyTorch's layer ``AvgPool1d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True)``."""
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True) -> None: ...
class AvgPool2dExt(_Cell):
    """PyTorch's layer ``AvgPool2d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)``."""
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True, divisor_override: Any = None) -> None: ...
class AvgPool3dExt(_Cell):
    """PyTorch's layer ``AvgPool3d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)``."""
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True, divisor_override: Any = None) -> None: ...
class DropoutExt(_Cell):
    """PyTorch's layer ``Dropout(p=0.5, inplace=False)``."""
    def __init__(self, p: Any = 0.5, inplace: Any = False) -> None: ...
class Dropout2dExt(_Cell):
    """PyTorch's layer ``Dropout2d(p=0.5, inplace=False)``."""
    def __init__(self, p: Any = 0.5, inplace: Any = False) -> None: ...
class L1LossExt(_Cell):
    """PyTorch's layer ``L1Loss(reduction='mean')``."""
    def __init__(self, reduction: Any = 'mean') -> None: ...
class LogSoftmaxExt(_Cell):
    """PyTorch's layer ``LogSoftmax(dim=None)``."""
    def __init__(self, dim: Any = None) -> None: ...
class MaxPool2dExt(_Cell):
    """PyTorch's layer ``MaxPool2d(kernel_size=1, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False)``."""
    def __init__(self, kernel_size: Any = 1, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: Any = False, ceil_mode: Any = False) -> None: ...
HOMES: Any
_names: Any
__all__: Any
__capture__: Any
_FACTS: Any
_OF_CELLS: Any
