"""Optimizers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

HOMES: dict[str, str] = {
    "duograph.nn.optim.optimizer": "Optimizer",
    "duograph.nn.optim.momentum": "SGD Momentum",
    "duograph.nn.optim.adam": "Adam AdamWeightDecay AdamOffload LazyAdam AdaMax Lamb",
    "duograph.nn.optim.adaptive": "Adagrad Adadelta RMSProp FTRL ProximalAdagrad",
    "duograph.nn.optim.other": "ASGD Rprop LARS",
}
_home = {name: module for module, names in HOMES.items() for name in names.split()}
__all__ = list(_home)


def __getattr__(name: str) -> Any:
    if name not in _home:
        raise AttributeError(f"module 'duograph.nn.optim' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_home[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
