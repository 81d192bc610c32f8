"""The programs of the conformance table, called with arguments that nobody wrote for them.

A program of the table is right for the calls that stand beside it. Here it gets others, derived from those: other
values (zeros, infinities, NaN), other dtypes, more and fewer elements, none, no dimension or one more, transposed and
strided views, numbers that vary. Most of these calls are mistakes, which is the point: compiled modes must make the
same ones.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import duograph as ms

from .relatives import compare

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool", "complex64")
NUMBERS = (0, 1, -1, 2, 3, 7, 100, True, 0.5, -2.0, float("nan"))


# Other arguments ------------------------------------------------------------------------------------------------------


def other(value: Any, choose: random.Random) -> Any:
    """A relative of ``value``, an argument."""
    if type(value) is ms.Tensor:
        return other_tensor(value, choose)
    if type(value) in (int, float, bool):
        return choose.choice([value, value + 1, -value, *NUMBERS])
    if type(value) in (tuple, list):
        items = [other(item, choose) for item in value]
        if choose.random() < 0.2 and items:
            items = items[1:] if choose.random() < 0.5 else [*items, items[0]]
        return type(value)(items)
    if type(value) is dict:
        return {key: other(item, choose) for key, item in value.items()}
    return value


def other_tensor(value: Any, choose: random.Random) -> Any:
    """A tensor of other values, dtype or shape."""
    array = value.asnumpy().copy()
    match choose.randrange(9):
        case 0 | 1:
            array = np.flip(array) * array.dtype.type(choose.choice([1, 2]))
        case 2:
            array = np.zeros_like(array)
        case 3 if array.ndim:
            array = np.concatenate([array, array], axis=choose.randrange(array.ndim))
        case 4 if array.ndim:
            array = np.take(array, range(array.shape[-1] and choose.randrange(array.shape[-1])), axis=-1)
        case 5 if array.size:
            array = array.reshape(-1)[0] if choose.random() < 0.5 else array[None]
        case 6 if array.size and array.dtype.kind == "f":
            array.reshape(-1)[choose.randrange(array.size)] = choose.choice([np.inf, -np.inf, np.nan, -0.0])
        case 7:
            with np.errstate(all="ignore"):
                return ms.Tensor(array, value.dtype).astype(getattr(ms, choose.choice(DTYPES)))
    return ms.Tensor(np.ascontiguousarray(array) if array.ndim else array, value.dtype)


VIEWS: tuple[Callable[[Any], Any], ...] = (
    lambda x: x.swapaxes(0, -1),
    lambda x: x[::2],
    lambda x: x[..., ::-1] if x.ndim == 0 else x.flip(0),
    lambda x: x[None][0],
)


def relative_of(program: Any, seed: int) -> Any:
    """``program`` with other calls; the first is one of its own."""
    choose = random.Random(seed)
    own = list(program.calls)
    calls: list[tuple[Any, ...]] = [choose.choice(own)]
    views: list[Callable[[Any], Any] | None] = [None]
    for _ in range(choose.randint(3, 5)):
        call = choose.choice(own)
        if choose.random() < 0.85:
            call = tuple([other(argument, choose) if choose.random() < 0.7 else argument for argument in call])
        calls.append(call)
        views.append(choose.choice(VIEWS) if choose.random() < 0.25 else None)
    return dataclasses.replace(program, calls=calls), views


def difference(program: Any, seed: int) -> str | None:
    """In what a mode first differs from eager mode, if any does."""
    from tests.conformance.harness import MODES

    relative, views = relative_of(program, seed)
    compiled = [mode for mode in MODES if mode.name in ("jit", "graph", "interpreter")]
    return compare(lambda: relative, compiled[:1] if any(views) else [compiled[0], compiled[1 + seed % 2]], views)


def examine(seed: int, table: list[Any]) -> tuple[str, str | None]:
    """The program of a seed, and in what its relative differs."""
    program = table[random.Random(seed).randrange(len(table))]
    return program.name, difference(program, seed)
