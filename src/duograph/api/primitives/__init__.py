"""MindSpore's Primitive classes (``ops.Add()``, ``ops.MatMul(transpose_b=True)``), made from tables of functions."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

CLASSES = [module.name for module in iter_modules(__path__) if module.name != "base"]
"""The modules of this package; each has a table."""


@cache
def primitive_classes() -> dict[str, type]:
    """Primitive classes by name."""
    table: dict[str, type] = {}
    for part in CLASSES:
        table.update(import_module(f"{__name__}.{part}").CLASSES)
    return table
