"""Layers of ``mint.nn`` under the names that ``nn`` gives them."""

from duograph.mint.nn import AvgPool1d as AvgPool1dExt
from duograph.mint.nn import AvgPool2d as AvgPool2dExt
from duograph.mint.nn import AvgPool3d as AvgPool3dExt
from duograph.mint.nn import Dropout as DropoutExt
from duograph.mint.nn import Dropout2d as Dropout2dExt
from duograph.mint.nn import Embedding as EmbeddingExt
from duograph.mint.nn import L1Loss as L1LossExt
from duograph.mint.nn import LayerNorm as LayerNormExt
from duograph.mint.nn import LogSoftmax as LogSoftmaxExt
from duograph.mint.nn import MaxPool2d as MaxPool2dExt
from duograph.mint.nn import PReLU as PReLUExt

__all__ = [
    "AvgPool1dExt", "AvgPool2dExt", "AvgPool3dExt", "Dropout2dExt", "DropoutExt", "EmbeddingExt", "L1LossExt",
    "LayerNormExt", "LogSoftmaxExt", "MaxPool2dExt", "PReLUExt",
]  # fmt: skip
