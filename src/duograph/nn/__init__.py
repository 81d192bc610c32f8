"""Networks: Cells, layers, losses, optimizers. Names are loaded when they are first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

HOMES: dict[str, str] = {
    "duograph.nn.cell": "Cell",
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
        BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LayerNorm GroupNorm InstanceNorm1d InstanceNorm2d
        InstanceNorm3d""",
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
    "duograph.nn.layer.extended": """
        AvgPool1dExt AvgPool2dExt AvgPool3dExt Dropout2dExt DropoutExt EmbeddingExt L1LossExt LayerNormExt LogSoftmaxExt
        MaxPool2dExt PReLUExt""",
    "duograph.nn.optim.optimizer": "Optimizer",
    "duograph.nn.optim.momentum": "SGD Momentum",
    "duograph.nn.optim.adam": "Adam AdamWeightDecay AdamOffload LazyAdam AdaMax Lamb",
    "duograph.nn.optim.adaptive": "Adagrad Adadelta RMSProp FTRL ProximalAdagrad",
    "duograph.nn.optim.other": "ASGD Rprop LARS",
    "duograph.nn.wrap": """
        WithLossCell WithGradCell ForwardValueAndGrad TrainOneStepCell WithEvalCell ParameterUpdate GetNextSingleOp
        DynamicLossScaleUpdateCell FixedLossScaleUpdateCell TrainOneStepWithLossScaleCell""",
    "duograph.nn.learning_rate_schedule": """
        LearningRateSchedule ExponentialDecayLR NaturalExpDecayLR InverseDecayLR CosineDecayLR PolynomialDecayLR
        WarmUpLR""",
    "duograph.train.metrics": """
        F1 MAE MSE Accuracy Fbeta Loss Metric Perplexity Precision Recall Top1CategoricalAccuracy
        Top5CategoricalAccuracy TopKCategoricalAccuracy get_metric_fn names BleuScore ConfusionMatrix
        ConfusionMatrixMetric CosineSimilarity Dice ROC auc rearrange_inputs""",
    "duograph.nn.dynamic_lr": """
        piecewise_constant_lr exponential_decay_lr natural_exp_decay_lr inverse_decay_lr cosine_decay_lr
        polynomial_decay_lr warmup_lr""",
}
"""Module: the public names that it holds."""

SUBMODULES = ("layer", "loss", "optim", "wrap", "cell", "metrics", "learning_rate_schedule", "dynamic_lr", "grad")

_home = {name: module for module, names in HOMES.items() for name in names.split()}

__all__ = list(_home)


def __getattr__(name: str) -> Any:
    if name in SUBMODULES:
        return import_module(f"duograph.nn.{name}")
    if name not in _home:
        raise AttributeError(_unknown(name))
    value = globals()[name] = getattr(import_module(_home[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, __all__, n=1, cutoff=0.5)
    return f"module 'duograph.nn' has no attribute {name!r}" + (f"; the nearest name is {near[0]!r}" if near else "")
