"""``mint.nn``: `functional`, and layers under PyTorch's signatures (`layers`, `weighted`)."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from duograph.base.public import missing, own_names
from duograph.core.traits import Traits

__capture__ = Traits(rules=True, layers=True)


@cache
def classes() -> dict[str, Any]:
    """Layer classes by name."""
    return {n: c for part in ("layers", "weighted") for n, c in import_module(f"{__name__}.{part}").CLASSES.items()}


def __getattr__(name: str) -> Any:
    if name in ("functional", "layers", "weighted"):
        return import_module(f"{__name__}.{name}")
    if not name.startswith("_") and name in classes():
        return classes()[name]
    raise missing(__name__, name, __dir__())


def __dir__() -> list[str]:
    return sorted({*own_names(globals()), *classes()})
