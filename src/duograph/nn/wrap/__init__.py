"""Cells around networks: losses, training steps, evaluation, loss scaling."""

from .cell_wrapper import (
    ForwardValueAndGrad,
    GetNextSingleOp,
    ParameterUpdate,
    TrainOneStepCell,
    WithEvalCell,
    WithGradCell,
    WithLossCell,
)
from .loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell, TrainOneStepWithLossScaleCell

__all__ = [
    "DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "ForwardValueAndGrad", "GetNextSingleOp",
    "ParameterUpdate", "TrainOneStepCell", "TrainOneStepWithLossScaleCell", "WithEvalCell", "WithGradCell",
    "WithLossCell",
]  # fmt: skip
