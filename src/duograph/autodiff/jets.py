"""Derivatives of higher order in one direction (`jet`, `derivative`), and a function replaced by its tangent
(`linearize`).

The inputs follow a curve ``x(t)`` with the given derivatives at 0; those of ``fn(x(t))`` are forward derivatives by the
one number ``t``, taken of each other. Each order is twice the work of the one below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from duograph.base.tree import map_tree
from duograph.core import dtype as dt
from duograph.ops.arithmetic import add, mul
from duograph.ops.cast import cast
from duograph.ops.creation import full
from duograph.ops.movement import reshape
from duograph.ops.slices import slice_axis, stack

from .grads import _check_callable
from .record import is_tensor
from .transforms import _as_tuple, _Linear, jvp

_FLOATS = (dt.float32, dt.float64)


def _floats(value: Any, who: str) -> Any:
    if not is_tensor(value):
        raise TypeError(f"For '{who}', the primals and series must be Tensors, but got {type(value).__name__}.")
    if value.dtype in (dt.int32, dt.int64):
        return cast(value, dtype=dt.float32)
    if value.dtype not in _FLOATS:
        raise TypeError(f"For '{who}', the dtype must be int32, int64, float32 or float64, but got {value.dtype}.")
    return value


def _curve(primal: Any, series: Sequence[Any], t: Any) -> Any:
    """The point at ``t`` of the curve that starts in ``primal`` with these derivatives."""
    here, power, point = cast(t, dtype=primal.dtype), None, primal
    for order, coefficient in enumerate(series, 1):
        power = here if power is None else mul(power, here)
        scale = power if order < 2 else mul(power, full(shape=(), value=1 / math.factorial(order), dtype=primal.dtype))
        point = add(point, mul(coefficient, scale))
    return point


def _derivatives(fn: Any, primals: Sequence[Any], series: Sequence[Sequence[Any]], orders: Sequence[int]) -> list[Any]:
    """The derivatives of ``fn`` along the curve, of these orders."""

    def along(t: Any) -> Any:
        return fn(*[_curve(p, s, t) for p, s in zip(primals, series, strict=True)])

    def of_order(n: int) -> Callable[[Any], Any]:
        if n == 0:
            return along
        lower = of_order(n - 1)
        return lambda t: jvp(lower, t, full(shape=(), value=1, dtype=t.dtype))[1]

    dtype = dt.float64 if any(p.dtype is dt.float64 for p in primals) else dt.float32
    start = full(shape=(), value=0, dtype=dtype)
    return [of_order(n)(start) for n in orders]


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | list) and len(value) > 1 else value


def jet(fn: Any, primals: Any, series: Any) -> tuple[Any, Any]:
    """The derivatives of ``fn`` along a curve, from those of the curve.

    Args:
        fn (Union[Cell, function]): function of Tensors.
        primals (Union[Tensor, tuple[Tensor]]): where the curve starts; ints become float32.
        series (Union[Tensor, tuple[Tensor]]): the first to the n-th derivative of the curve, stacked in front; as many
            as ``primals``. ``1, 0, 0, ...`` asks for the derivatives of ``fn`` in its input.

    Returns:
        tuple, ``fn(primals)`` and its first to n-th derivative, stacked in front; lists, if there are several outputs.

    Raises:
        TypeError: something is not a Tensor of a dtype that is supported.
        ValueError: number or shapes of primals and series do not fit.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.jet(lambda x: x ** 3, Tensor([2.0]), Tensor([[1.0], [0.0]]))[1])
        [[12.]
         [12.]]
    """
    _check_callable(fn)
    points = [_floats(p, "jet") for p in _as_tuple(primals)]
    given = [_floats(s, "jet") for s in _as_tuple(series)]
    shapes = [(tuple(p.shape), tuple(s.shape)) for p, s in zip(points, given, strict=False)]
    orders = {s[0] for _, s in shapes if s}
    if len(points) != len(given) or len(orders) != 1 or any(p != s[1:] for p, s in shapes):
        raise ValueError(
            "For 'jet', each of the series must have the shape of its primal with the number of orders in front, "
            f"but got primals and series of {shapes}."
        )
    count = orders.pop()
    parts = [[reshape(slice_axis(s, 0, i, i + 1), shape=p.shape) for i in range(count)]
             for p, s in zip(points, given, strict=True)]  # fmt: skip
    found = _derivatives(fn, points, parts, range(1, count + 1))
    return _listed(fn(*points)), _listed(map_tree(lambda *row: stack(*row, axis=0), *found))


def derivative(fn: Any, primals: Any, order: int) -> tuple[Any, Any]:
    """The derivative of ``fn`` of any order, with all inputs moving at speed 1.

    Args:
        fn (Union[Cell, function]): function of Tensors.
        primals (Union[Tensor, tuple[Tensor]]): its inputs; ints become float32.
        order (int): the order, 1 or more.

    Returns:
        tuple, ``fn(primals)`` and the derivative; lists, if there are several outputs.

    Raises:
        TypeError: ``order`` is not an int, or something is not a Tensor of a dtype that is supported.
        ValueError: ``order`` is less than 1.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(*ops.derivative(lambda x: x ** 3, Tensor([2.0, 3.0]), 2))
        [ 8. 27.] [12. 18.]
    """
    if isinstance(order, bool) or not isinstance(order, int):
        raise TypeError("For 'derivative', the type of 'order' must be int.")
    if order < 1:
        raise ValueError(f"For 'derivative', the 'order' should not be less than 1, but got {order}.")
    _check_callable(fn)
    points = [_floats(p, "derivative") for p in _as_tuple(primals)]
    speeds = [[full(shape=tuple(p.shape), value=1, dtype=p.dtype)] for p in points]
    return _listed(fn(*points)), _listed(_derivatives(fn, points, speeds, [order])[0])


def linearize(fn: Any, inputs: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The value of ``fn`` and the function that multiplies its Jacobian with tangents; ``fn`` runs once.

    Args:
        fn (Union[Cell, function]): function of Tensors.
        inputs (Union[Tensor, tuple[Tensor], list[Tensor]]): its inputs.

    Returns:
        tuple, the outputs and a function of tangents, which are like ``inputs``.

    Raises:
        TypeError: an input is not a Tensor.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> out, jvp_fn = ops.linearize(lambda x: x * x, Tensor([3.0]))
        >>> print(out, jvp_fn(Tensor([1.0])), jvp_fn(Tensor([2.0])))
        [9.] [6.] [12.]
    """
    _check_callable(fn)
    args = _as_tuple(inputs)
    if not all(is_tensor(x) for x in args):
        raise TypeError("The inputs type must be Tensor.")
    linear = _Linear(fn, args, range(len(args)), {})

    def jvp_fn(v: Any) -> Any:
        tangents = _as_tuple(v)
        if len(tangents) != len(args):
            raise ValueError(f"v has invalid length: should be {len(args)}, but got {len(tangents)}")
        return linear.push(linear.out, dict(enumerate(tangents)))

    return linear.out, jvp_fn
