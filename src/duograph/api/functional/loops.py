"""Loops as objects: ``WhileLoop``, ``ForiLoop``, ``Scan``."""

from __future__ import annotations

from typing import Any

from duograph.autodiff.hooks import call_user
from duograph.base.absent import says_instead

from .forms import public_functions


@says_instead("Loop")
class _Loop:
    """A loop as an object. Its ``construct`` is interpreted under capture, so that it becomes a loop of the graph."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call_user(self.construct, args, kwargs)  # type: ignore[attr-defined]


class WhileLoop(_Loop):
    """``while cond_func(state): state = loop_func(state)``.

    Returns:
        Any, what ``loop_func`` has returned last.

    Raises:
        TypeError: an argument or an operand has an unsupported type.

    Examples:
        >>> print(ops.WhileLoop()(lambda x: x < 10, lambda x: x * 2, Tensor(3)))
        12
    """

    def construct(self, cond_func: Any, loop_func: Any, init_val: Any) -> Any:
        state = init_val
        while cond_func(state):
            state = loop_func(state)
        return state


class ForiLoop(_Loop):
    """``for i in range(lower, upper): state = loop_func(i, state)``.

    Returns:
        Any, what ``loop_func`` has returned last.

    Raises:
        TypeError: an argument or an operand has an unsupported type.

    Examples:
        >>> print(ops.ForiLoop()(0, 4, lambda i, x: x + i, Tensor(0)))
        6
    """

    def construct(self, lower: Any, upper: Any, loop_func: Any, init_val: Any, unroll: bool = True) -> Any:
        state = init_val
        for i in range(lower, upper):
            state = loop_func(i, state)
        return state


class Scan(_Loop):
    """Folds ``loop_func(carry, x) -> (carry, y)`` over ``xs``; gives the last carry and the list of ``y``.

    Returns:
        tuple of the value that was carried, and of the list of what the function has returned beside it.

    Raises:
        TypeError: an argument or an operand has an unsupported type.

    Examples:
        >>> final, products = ops.Scan()(lambda s, x: (s + x, s * x), Tensor(1), [Tensor(2), Tensor(3)])
        >>> print(final, [int(x) for x in products])
        6 [2, 9]
    """

    def construct(self, loop_func: Any, init: Any, xs: Any, length: int | None = None, unroll: bool = True) -> Any:
        carry = init
        results = []
        for i in range(len(xs) if length is None else length):
            carry, y = loop_func(carry, None if xs is None else xs[i])
            results.append(y)
        return carry, results


FUNCTIONS = public_functions(globals())
