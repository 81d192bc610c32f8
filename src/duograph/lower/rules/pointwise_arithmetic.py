"""Arithmetic, value by value."""

from __future__ import annotations

from duograph.lower.rule import pointwise


@pointwise("add")
def add(b, x, y):
    return x | y if x.type.is_bool else x + y
