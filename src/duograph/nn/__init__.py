"""Networks: Cells, layers, losses, optimizers. Names are loaded when they are first asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duograph.base.public import Names
from duograph.core.traits import Traits

HOMES: dict[str, str] = {
    "duograph.nn.cell": "Cell",
    "duograph.nn.grad": "Jvp Vjp",
    "duograph.nn.graph_cell": "GraphCell",
    "duograph.nn.layer.activation": """
        Softmin Softmax Softmax2d LogSoftmax ReLU ReLU6 RReLU SeLU SiLU Tanh Tanhshrink Hardtanh GELU FastGelu Sigmoid
        Softsign PReLU LeakyReLU HSwish HSigmoid LogSigmoid SoftShrink HShrink CELU ELU Threshold GLU Mish
        get_activation""",
    "duograph.nn.layer.basic": """
        Dense Linear BiDense Flatten Identity Dropout Dropout1d Dropout2d Dropout3d OneHot""",
    "duograph.nn.layer.container": "SequentialCell CellList CellDict",
    "duograph.nn.layer.conv": "Conv1d Conv2d Conv3d Conv1dTranspose Conv2dTranspose Conv3dTranspose",
    "duograph.nn.layer.normalization": """
        BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm GroupNorm InstanceNorm1d InstanceNorm2d
        InstanceNorm3d""",
    "duograph.nn.layer.synchronised": "SyncBatchNorm",
    "duograph.nn.layer.pooling": """
        MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d
        AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d LPPool1d LPPool2d MaxUnpool1d
        MaxUnpool2d MaxUnpool3d""",
    "duograph.nn.loss.loss": """
        LossBase L1Loss MAELoss MSELoss RMSELoss SmoothL1Loss HuberLoss CrossEntropyLoss NLLLoss
        SoftmaxCrossEntropyWithLogits BCELoss BCEWithLogitsLoss KLDivLoss SoftMarginLoss FocalLoss DiceLoss
        MultiClassDiceLoss""",
    "duograph.nn.loss.ranking": """
        CosineEmbeddingLoss MarginRankingLoss TripletMarginLoss TripletMarginWithDistanceLoss PoissonNLLLoss
        GaussianNLLLoss HingeEmbeddingLoss MultiLabelSoftMarginLoss MultiMarginLoss MultilabelMarginLoss CTCLoss""",
    "duograph.nn.loss.sampled": "SampledSoftmaxLoss",
    "duograph.nn.layer.embedding": "Embedding EmbeddingLookup",
    "duograph.nn.layer.padding": """
        Pad ConstantPad1d ConstantPad2d ConstantPad3d ZeroPad2d ReflectionPad1d ReflectionPad2d ReflectionPad3d
        ReplicationPad1d ReplicationPad2d ReplicationPad3d""",
    "duograph.nn.layer.image": """
        Upsample PixelShuffle PixelUnshuffle ChannelShuffle Unflatten ClipByNorm Norm LRN Roll Tril Triu Unfold""",
    "duograph.nn.layer.transformer": """
        MultiheadAttention TransformerEncoderLayer TransformerDecoderLayer TransformerEncoder TransformerDecoder
        Transformer""",
    "duograph.nn.layer.recurrent": "RNN LSTM GRU RNNCell LSTMCell GRUCell",
    "duograph.nn.layer.math": """
        MatMul Moments Range ReduceLogSumExp LGamma DiGamma LBeta IGamma MatDet MatInverse MatrixDiag MatrixDiagPart
        MatrixSetDiag L1Regularizer""",
    "duograph.nn.layer.combined": """
        Conv2dBnAct DenseBnAct TimeDistributed FractionalMaxPool2d FractionalMaxPool3d""",
    "duograph.nn.layer.quality": "ImageGradients CentralCrop PSNR SSIM MSSSIM",
    "duograph.nn.optim.optimizer": "Optimizer",
    "duograph.nn.optim.momentum": "SGD Momentum",
    "duograph.nn.optim.adam": "Adam AdamWeightDecay AdamOffload LazyAdam AdaMax Lamb",
    "duograph.nn.optim.adaptive": "Adagrad Adadelta RMSProp FTRL ProximalAdagrad",
    "duograph.nn.optim.other": "ASGD Rprop LARS",
    "duograph.nn.wrap": """
        WithLossCell WithGradCell ForwardValueAndGrad TrainOneStepCell WithEvalCell ParameterUpdate GetNextSingleOp
        DynamicLossScaleUpdateCell FixedLossScaleUpdateCell TrainOneStepWithLossScaleCell DistributedGradReducer""",
    "duograph.nn.learning_rate_schedule": """
        LearningRateSchedule ExponentialDecayLR NaturalExpDecayLR InverseDecayLR CosineDecayLR PolynomialDecayLR
        WarmUpLR""",
    "duograph.nn.dynamic_lr": """
        piecewise_constant_lr exponential_decay_lr natural_exp_decay_lr inverse_decay_lr cosine_decay_lr
        polynomial_decay_lr warmup_lr""",
}
"""Module: the public names that it holds."""

_names = Names(__name__, HOMES, (
    "layer", "loss", "optim", "wrap", "probability", "cell", "learning_rate_schedule", "dynamic_lr",
))  # fmt: skip
__all__ = list(_names.all)
__capture__ = Traits(rules=True, methods=("layer", "loss", "optim", "wrap", "probability"), settings=True, layers=True)
_FACTS = ("in_use", "cast_inputs", "cls_name", "cast_floats")
_OF_CELLS = replace(__capture__, rules=_FACTS, by_facts=_FACTS)
"""What else is pure of the parts of `Cell` is interpreted."""


def __getattr__(name: str) -> Any:
    return _names.get(name)


def __dir__() -> list[str]:
    return _names.listing()
