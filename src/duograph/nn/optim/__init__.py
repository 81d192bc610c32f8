"""Optimizers; `nn.HOMES` says which module holds which."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from duograph.nn import HOMES

_home = {n: module for module, names in HOMES.items() if module.startswith(f"{__name__}.") for n in names.split()}
__all__ = list(_home)


def __getattr__(name: str) -> Any:
    if name not in _home:
        raise AttributeError(f"module 'duograph.nn.optim' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_home[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
