"""Distributions of random variables, and the maps between them. Names are loaded when they are first asked for."""

from __future__ import annotations

from typing import Any

from duograph.base.public import Names

_names = Names(__name__, {}, ("distribution", "bijector"))
__all__ = ["bijector", "distribution"]


def __getattr__(name: str) -> Any:
    return _names.get(name)


def __dir__() -> list[str]:
    return _names.listing()
