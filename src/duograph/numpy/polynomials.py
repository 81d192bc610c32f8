"""Functions of ``numpy`` on polynomials: tensors of coefficients, that of the highest power first."""

from __future__ import annotations

from typing import Any

from duograph.api.functional import creation, joining
from duograph.api.promote import to_dtype
from duograph.core import dtype as dt
from duograph.ops import movement
from duograph.tensor.tensor import Tensor

from .elementwise import as_tensor


def _coefficients(p: Any, name: str) -> Any:
    t = as_tensor(p)
    if t.ndim > 1:
        raise ValueError(f"For '{name}', coefficients must have 1 dimension, but got {t.ndim}.")
    return movement.reshape(t, shape=(1,)) if t.ndim == 0 else t


def _aligned(a1: Any, a2: Any, name: str) -> tuple[Any, Any]:
    """Both with as many coefficients."""
    p, q = _coefficients(a1, name), _coefficients(a2, name)
    size = max(p.shape[0], q.shape[0])
    return _padded(p, size), _padded(q, size)


def _padded(p: Any, size: int) -> Any:
    missing = size - p.shape[0]
    return joining.concat([creation.zeros((missing,), p.dtype), p]) if missing else p


def polyadd(a1: Any, a2: Any) -> Tensor:
    """The sum of two polynomials.

    Args:
        a1 (Union[Tensor, list, tuple]): coefficients, the highest power first.
        a2 (Union[Tensor, list, tuple]): coefficients of the second polynomial.

    Returns:
        Tensor, with one axis.

    Examples:
        >>> print(mnp.polyadd([1, 2], [1, 0, 3]))
        [1 1 5]
    """
    p, q = _aligned(a1, a2, "polyadd")
    out: Tensor = p + q
    return out


def polysub(a1: Any, a2: Any) -> Tensor:
    """The difference of two polynomials.

    Args:
        a1 (Union[Tensor, list, tuple]): coefficients, the highest power first.
        a2 (Union[Tensor, list, tuple]): coefficients of the second polynomial.

    Returns:
        Tensor, with one axis.

    Examples:
        >>> print(mnp.polysub([1, 2], [1, 0, 3]))
        [-1  1 -1]
    """
    p, q = _aligned(a1, a2, "polysub")
    out: Tensor = p - q
    return out


def polymul(a1: Any, a2: Any) -> Tensor:
    """The product of two polynomials.

    Args:
        a1 (Union[Tensor, list, tuple]): coefficients, the highest power first.
        a2 (Union[Tensor, list, tuple]): coefficients of the second polynomial.

    Returns:
        Tensor, with one axis.

    Examples:
        >>> print(mnp.polymul([1, 1], [1, -1]))
        [ 1  0 -1]
    """
    p, q = _coefficients(a1, "polymul"), _coefficients(a2, "polymul")
    size = p.shape[0] + q.shape[0] - 1
    out: Any = None
    for i in range(p.shape[0]):
        term = p[i] * q
        parts = [creation.zeros((i,), term.dtype), term, creation.zeros((size - i - q.shape[0],), term.dtype)]
        shifted = joining.concat([part for part in parts if part.shape[0]])
        out = shifted if out is None else out + shifted
    return out  # type: ignore[no-any-return]


def polyval(p: Any, x: Any) -> Tensor:
    """The values of a polynomial, by Horner's rule; those at polynomials are polynomials in the powers of ``x``.

    Args:
        p (Union[Tensor, list, tuple]): coefficients, the highest power first.
        x (Union[Tensor, list, tuple, number]): where.

    Returns:
        Tensor, of the shape of ``x``.

    Examples:
        >>> print(mnp.polyval([1, 0, 3], [0, 1, 2]))
        [3 4 7]
    """
    coefficients: Any = _coefficients(p, "polyval")
    t: Any = as_tensor(x)
    out: Any = creation.zeros_like(t)
    for i in range(coefficients.shape[0]):
        out = out * t + coefficients[i]
    return out  # type: ignore[no-any-return]


def polyder(p: Any, m: int = 1) -> Tensor:
    """The ``m``-th derivative of a polynomial.

    Returns:
        Tensor, with one axis.

    Raises:
        ValueError: ``m`` is negative.

    Examples:
        >>> print(mnp.polyder([1, 2, 3]), mnp.polyder([1, 2, 3], 2))
        [2 2] [2]
    """
    if m < 0:
        raise ValueError(f"For 'polyder', the 'm' must be at least 0, but got {m}.")
    out: Any = _coefficients(p, "polyder")
    for _ in range(min(m, out.shape[0])):
        size = out.shape[0] - 1
        out = out[:-1] * to_dtype(as_tensor(list(range(size, 0, -1)) or [0])[:size], out.dtype)  # type: ignore[index]
    return out  # type: ignore[no-any-return]


def polyint(p: Any, m: int = 1, k: Any = None) -> Tensor:
    """The ``m``-th integral of a polynomial, with the constants ``k`` (default: 0).

    Returns:
        Tensor, with one axis.

    Raises:
        ValueError: ``m`` is negative, or there are not as many constants.

    Examples:
        >>> print(mnp.polyint([3.0, 2.0]), mnp.polyint([3.0, 2.0], k=5.0))
        [1.5 2.  0. ] [1.5 2.  5. ]
    """
    if m < 0:
        raise ValueError(f"For 'polyint', the 'm' must be at least 0, but got {m}.")
    constants = [0] * m if k is None else [k] if isinstance(k, int | float) else list(k)
    if len(constants) == 1:
        constants *= m
    if len(constants) < m:
        raise ValueError(f"For 'polyint', the 'k' must have {m} constants, but got {len(constants)}.")
    out: Any = _coefficients(p, "polyint")
    for constant in constants[:m]:
        size = out.shape[0]
        divided = to_dtype(out, dt.float32) / as_tensor([float(n) for n in range(size, 0, -1)])  # type: ignore[operator]
        out = joining.concat([divided, creation.full((1,), constant, dtype=divided.dtype)])
    return out  # type: ignore[no-any-return]


FUNCTIONS = {f.__name__: f for f in (polyadd, polysub, polymul, polyval, polyder, polyint)}
