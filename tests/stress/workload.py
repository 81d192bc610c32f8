"""Programs that the stress kinds run: made from a number, so that nobody has compiled them before.

Each is a function of tensors and numbers whose eager result is the expectation. Expected results are made by NumPy-free
eager code *after* or *beside* the compiled call, never by the compiled function itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import duograph as ms
from duograph import Tensor, ops

from .found import found


@dataclass(frozen=True)
class Program:
    """A function, and arguments of one of several shapes for it."""

    name: str
    function: Callable[..., Any]
    arguments: Callable[[np.random.Generator], tuple[Any, ...]]


def _rows(r: np.random.Generator, width: int = 300) -> Tensor:
    return Tensor(r.normal(size=(int(r.integers(1, 9)), width)).astype(np.float32))


def _square(r: np.random.Generator) -> Tensor:
    n = int(r.choice([4, 17, 64, 130]))
    return Tensor(r.normal(size=(n, n)).astype(np.float32))


def program(number: int) -> Program:
    """The program of a number: one of a few shapes of code, with a constant of its own in it."""
    c = 1.0 + number / 64.0
    kind = number % 9

    if kind == 0:

        def function(x: Any, k: Any) -> Any:
            return x * c + k

        return Program("affine", function, lambda r: (_rows(r), int(r.integers(0, 3))))
    if kind == 1:

        def function(x: Any) -> Any:
            return ops.softmax(x * c, -1), x.sum()

        return Program("softmax", function, lambda r: (_rows(r, 97),))
    if kind == 2:

        def function(a: Any) -> Any:
            return ops.relu(ops.matmul(a, a)) + c

        return Program("matmul", function, lambda r: (_square(r),))
    if kind == 3:

        def function(x: Any) -> Any:
            return x * c if x.sum() > 0 else {"minus": x - c}

        return Program("branch", function, lambda r: (_rows(r, 5),))
    if kind == 4:

        def function(x: Any, n: Any) -> Any:
            total = x
            for i in range(n):
                total = total * 0.5 + i * c
            return total

        return Program("loop", function, lambda r: (_rows(r, 3), int(r.integers(1, 4))))
    if kind == 5:

        def inner(x: Any) -> Any:
            return (ops.tanh(x * c) * x).sum()

        function = ms.grad(inner)
        return Program("gradient", lambda x: function(x), lambda r: (_rows(r, 7),))
    if kind == 6:

        def function(x: Any) -> Any:
            values, places = ops.sort(x * c)
            return values, places, x[..., ::2]

        return Program("sort", function, lambda r: (_rows(r, 33),))
    if kind == 7:

        def function(x: Any) -> Any:
            try:
                return x[5] * c
            except IndexError:
                return x * 2 - c

        return Program("handler", function, lambda r: (_rows(r, 4),))

    def function(x: Any, y: Any) -> Any:
        return [ops.cast(x * c, ms.float64), (y + 1, "text")]

    return Program("mixed", function, lambda r: (_rows(r, 2), Tensor(r.integers(0, 9, size=3))))


def flat(value: Any) -> list[Any]:
    """Leaves of a result, tensors as their bytes with dtype and shape."""
    if isinstance(value, Tensor):
        array = value.asnumpy()
        return [(str(array.dtype), array.shape, array.tobytes())]
    if isinstance(value, dict):
        return [x for k, v in value.items() for x in (k, *flat(v))]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [x for v in value for x in flat(v)]
    return [value]


def agree(got: Any, want: Any, what: str) -> None:
    """Reports a result that is not equal to the bit."""
    if flat(got) != flat(want):
        found(f"{what}:\n{got}\nwanted\n{want}")
