"""``duograph.experimental``: the optimizers and learning rate schedulers of ``mindspore.experimental``."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name == "optim":
        return import_module(f"{__name__}.optim")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
