"""Optimizers with groups of settings that may be read and changed while training, and schedulers of their rates."""

from . import lr_scheduler
from .adaptive import ASGD, Adadelta, Adagrad, RMSprop, Rprop
from .moments import Adam, Adamax, AdamW, NAdam, RAdam
from .optimizer import Optimizer
from .sgd import SGD

__all__ = [
    "ASGD", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop",
    "lr_scheduler",
]  # fmt: skip
