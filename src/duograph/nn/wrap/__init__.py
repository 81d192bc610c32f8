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
from .grad_reducer import DistributedGradReducer
from .loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell, TrainOneStepWithLossScaleCell

__all__ = [
    "DistributedGradReducer", "DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "ForwardValueAndGrad",
    "GetNextSingleOp", "ParameterUpdate", "TrainOneStepCell", "TrainOneStepWithLossScaleCell", "WithEvalCell",
    "WithGradCell", "WithLossCell",
]  # fmt: skip
