"""Callbacks of training and evaluation."""

from .base import Callback, CallbackManager, InternalCallbackParam, LambdaCallback, RunContext
from .checkpoint import CheckpointConfig, ModelCheckpoint
from .monitors import EarlyStopping, History, LearningRateScheduler, LossMonitor, ReduceLROnPlateau, TimeMonitor

__all__ = [
    "Callback", "CallbackManager", "CheckpointConfig", "EarlyStopping", "History", "InternalCallbackParam",
    "LambdaCallback", "LearningRateScheduler", "LossMonitor", "ModelCheckpoint", "ReduceLROnPlateau", "RunContext",
    "TimeMonitor",
]  # fmt: skip
