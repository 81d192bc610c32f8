"""Callbacks of training and evaluation."""

from .base import Callback, CallbackManager, InternalCallbackParam, LambdaCallback, RunContext
from .checkpoint import CheckpointConfig, ModelCheckpoint
from .events import read_events
from .monitors import EarlyStopping, History, LearningRateScheduler, LossMonitor, ReduceLROnPlateau, TimeMonitor
from .progress import ProgressBar
from .records import OnRequestExit, SummaryCollector, SummaryRecord

__all__ = [
    "Callback", "CallbackManager", "CheckpointConfig", "EarlyStopping", "History", "InternalCallbackParam",
    "LambdaCallback", "LearningRateScheduler", "LossMonitor", "ModelCheckpoint", "OnRequestExit",
    "ProgressBar", "ReduceLROnPlateau", "RunContext", "SummaryCollector", "SummaryRecord", "TimeMonitor",
    "read_events",
]  # fmt: skip
