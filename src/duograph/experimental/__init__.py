"""``duograph.experimental``: the optimizers and learning rate schedulers of ``mindspore.experimental``."""

from __future__ import annotations

from typing import Any

from duograph.base.public import Names
from duograph.core.traits import Traits

_names = Names(__name__, {}, ("optim",))
__all__ = ["optim"]
__capture__ = Traits(rules=True, methods=("optim",))


def __getattr__(name: str) -> Any:
    return _names.get(name)
