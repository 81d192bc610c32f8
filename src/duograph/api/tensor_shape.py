"""Methods of Tensor that rearrange elements. They share storage with the tensor.

Everything here is expressed over the movement primitives; shapes may contain symbolic dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.core import dtype as dt
from duograph.core.dim import Dim, definitely_eq, known_eq
from duograph.core.shapes import broadcast_shapes, infer_reshape, normalize_axis, normalize_permutation, numel
from duograph.ops import movement
from duograph.ops.arithmetic import conj as conj_op
from duograph.ops.scalar import Scalar, extent_of
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from .functional.forms import renamed

Axes = Any


def shape_of(args: Sequence[Any], op: str) -> tuple[Any, ...]:
    """A shape given as ``f(2, 3)``, ``f((2, 3))``, ``f([2, 3])`` or ``f(Tensor([2, 3]))``.

    Raises:
        TypeError: an entry is not an integer.
    """
    given: Any = args[0] if len(args) == 1 and not isinstance(args[0], int | Dim) else tuple(args)
    if isinstance(given, Tensor):
        given = hooks.value_of(given, f"the shape of '{op}'").tolist() if given.shape else [given]
    if not isinstance(given, list | tuple):
        given = (given,)
    return tuple(_extent(n, op) for n in given)


def _extent(n: Any, op: str) -> Any:
    n = extent_of(n)
    if isinstance(n, Dim):
        return n
    if isinstance(n, bool | float | str | Scalar) or not hasattr(n, "__index__"):
        raise TypeError(f"For '{op}', every element of the shape must be an int, but got {n!r}.")
    return hooks.as_python_number(n, "index") if isinstance(n, Tensor) else int(n)


def reshape(self: Tensor, *shape: Any) -> Tensor:
    """The elements in another shape; one extent may be -1. Shares storage where NumPy's does.

    Returns:
        Tensor, of this dtype.

    Raises:
        ValueError: the number of elements differs.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(Tensor([1, 2, 3, 4]).reshape(2, -1))
        [[1 2]
         [3 4]]
    """
    return movement.reshape(self, shape=infer_reshape(self.shape, shape_of(shape, "reshape")))


def view(self: Tensor, *shape: Any) -> Tensor:
    """As `reshape`; with a dtype: the same bytes read as another dtype.

    Returns:
        Tensor, of this dtype; with a dtype as argument, of that one.

    Examples:
        >>> print(Tensor([1, 2, 3, 4]).view(2, -1))
        [[1 2]
         [3 4]]
    """
    if len(shape) == 1 and isinstance(shape[0], dt.DType):
        from duograph.ops.bits import bitcast

        return bitcast(self, dtype=shape[0])
    return movement.reshape(self, shape=infer_reshape(self.shape, shape_of(shape, "view")))


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """The elements in the shape of ``other``.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([1, 2]).reshape_as(Tensor([[0], [0]])))
        [[1]
         [2]]
    """
    return movement.reshape(self, shape=infer_reshape(self.shape, other.shape))


def flatten(self: Tensor, order: Any = "C", end: int | None = None, *, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The axes from ``start_dim`` to ``end_dim`` as one; ``order`` is ``'C'`` (rows) or ``'F'`` (columns).

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).flatten())
        [1 2 3 4]
    """
    if isinstance(order, int):
        start_dim, end_dim, order = order, end_dim if end is None else end, "C"
    if not isinstance(order, str):
        raise TypeError(f"For Tensor.flatten, the parameter 'order' must be str, but got {type(order).__name__}.")
    if order not in ("C", "F"):
        raise ValueError(f"For Tensor.flatten, the parameter 'order' must be 'C' or 'F', but got {order!r}")
    if order == "F":
        self = transpose(self)
    if not self.shape:
        return movement.reshape(self, shape=(1,))
    if not all(-self.ndim <= d < self.ndim for d in (start_dim, end_dim)):
        raise ValueError("'start_dim' or 'end_dim' out of range.")
    first, last = start_dim % self.ndim, end_dim % self.ndim
    if first > last:
        raise ValueError("For 'flatten', 'start_dim' cannot come after 'end_dim'.")
    if first == last:
        return self
    merged = numel(self.shape[first : last + 1])
    return movement.reshape(self, shape=(*self.shape[:first], merged, *self.shape[last + 1 :]))


def ravel(self: Tensor) -> Tensor:
    """All elements in one dimension.

    Returns:
        Tensor, of shape ``(n,)``.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).ravel())
        [1 2 3 4]
    """
    return movement.reshape(self, shape=(numel(self.shape),))


def _axes_of(args: Sequence[Any]) -> tuple[int, ...]:
    given = args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args
    return tuple(given)


def transpose(self: Tensor, *axes: Any) -> Tensor:
    """The axes in another order, reversed by default; with two axes of a tensor with more: those two swapped.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).transpose())
        [[1 3]
         [2 4]]
    """
    perm = _axes_of(axes)
    if not perm:
        perm = tuple(reversed(range(self.ndim)))
    elif len(perm) == 2 and len(axes) == 2 and self.ndim != 2:
        return swapaxes(self, *perm)
    elif len(perm) == 2 and len(axes) == 2 and self.ndim == 2:
        return swapaxes(self, *perm) if perm[0] != perm[1] else self
    return movement.transpose(self, perm=normalize_permutation(perm, self.ndim))


def permute(self: Tensor, *axis: Any) -> Tensor:
    """The axes in the order ``axis``.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).permute(1, 0))
        [[1 3]
         [2 4]]
    """
    return movement.transpose(self, perm=normalize_permutation(_axes_of(axis), self.ndim))


def swapaxes(self: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two axes exchanged.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([[1, 2, 3]]).swapaxes(0, 1).shape)
        (3, 1)
    """
    i, j = _in_range(axis0, self.ndim), _in_range(axis1, self.ndim)
    if i == j:
        return self
    perm = list(range(self.ndim))
    perm[i], perm[j] = j, i
    return movement.transpose(self, perm=tuple(perm))


def _in_range(axis: Any, ndim: int) -> int:
    """``axis`` counted from the front, with the error of `swapaxes` and `narrow`."""
    if isinstance(axis, int) and not -max(ndim, 1) <= axis < max(ndim, 1):
        raise ValueError(f"The 'axis' must be in the range of [{-ndim}, {ndim}), but got {axis}.")
    return normalize_axis(axis, ndim, "swapaxes")


swapdims = renamed(swapaxes, "swapdims", axis0="dim0", axis1="dim1")


def moveaxis(self: Tensor, source: Axes, destination: Axes) -> Tensor:
    """The axes ``source`` at the places ``destination``, the others in order.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([[1, 2, 3]]).moveaxis(0, 1).shape)
        (3, 1)
    """
    sources = _each(source, self.ndim, "moveaxis")
    targets = _each(destination, self.ndim, "moveaxis")
    if len(sources) != len(targets):
        raise ValueError("For 'movedim', 'source' and 'destination' must have the same number of elements.")
    perm = [i for i in range(self.ndim) if i not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        perm.insert(target, origin)
    return movement.transpose(self, perm=normalize_permutation(perm, self.ndim))


def _each(axes: Axes, ndim: int, op: str) -> list[int]:
    return [normalize_axis(a, ndim, op) for a in (axes if isinstance(axes, list | tuple) else (axes,))]


def t(self: Tensor) -> Tensor:
    """The transpose of a matrix; vectors and 0-d tensors as they are.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).t())
        [[1 3]
         [2 4]]
    """
    if self.ndim > 2:
        raise ValueError(f"For 't', the rank of input must be at most 2, but got {self.ndim}.")
    return transpose(self)


def matrix_transpose(self: Tensor) -> Tensor:
    """The last two axes exchanged."""
    if self.ndim < 2:
        raise ValueError(f"The 'axis' must be in the range of [{-self.ndim}, {self.ndim}), but got -2.")
    return swapaxes(self, -2, -1)


def adjoint(self: Tensor) -> Tensor:
    """The last two axes exchanged, conjugated.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).adjoint())
        [[1 3]
         [2 4]]
    """
    flipped = matrix_transpose(self)
    return conj_op(flipped) if self.dtype.is_complex else flipped


def hermitian(self: Tensor) -> Tensor:
    """The conjugate transpose of a matrix."""
    if self.ndim not in (0, 2):
        raise ValueError(f"For tensor.H, only 2-D Tensor is supported, but got {self.ndim}-D.")
    return adjoint(self) if self.ndim else self


def squeeze(self: Tensor, axis: Axes = None) -> Tensor:
    """Without the axes of size 1, or without those of ``axis`` that have size 1.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([[1], [2]]).squeeze())
        [1 2]
    """
    if axis is None:
        axes = [i for i, n in enumerate(self.shape) if known_eq(n, 1)]
    else:
        axes = [i for i in _each(axis, self.ndim, "Squeeze") if self.ndim and known_eq(self.shape[i], 1)]
    return movement.squeeze(self, tuple(axes)) if axes else self


def expand_dims(self: Tensor, axis: int) -> Tensor:
    """With a new axis of size 1 at position ``axis``.

    Returns:
        Tensor, of this dtype; its rank is one more.

    Examples:
        >>> print(Tensor([1, 2]).expand_dims(0))
        [[1 2]]
    """
    rank = self.ndim + 1
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise TypeError(f"For 'ExpandDims', the 'axis' must be int, but got '{type(axis).__name__}'.")
    if not -rank <= axis < rank:
        raise ValueError(f"Dimension out of range (expected to be in range of [{-rank}, {rank}), but got {axis})")
    return movement.expand_dims(self, axis % rank)


unsqueeze = renamed(expand_dims, "unsqueeze", axis="dim")


def broadcast_to(self: Tensor, *shape: Any) -> Tensor:
    """Repeated along new axes and axes of size 1 up to ``shape``; -1 keeps an extent.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([1, 2]).broadcast_to((2, 2)))
        [[1 2]
         [1 2]]
    """
    target = list(shape_of(shape, "broadcast_to"))
    extra = len(target) - self.ndim
    for i, n in enumerate(target):
        if n == -1:
            if i < extra:
                raise ValueError(
                    f"For 'BroadcastTo', -1 is not allowed in a leading, new dimension, but got shape {tuple(target)}."
                )
            target[i] = self.shape[i - extra]
    if extra < 0 or any(
        definitely_eq(a, 1) is False and definitely_eq(a, b) is False
        for a, b in zip(self.shape, target[max(extra, 0) :], strict=False)
    ):
        raise ValueError(
            "For 'BroadcastTo', in order to broadcast, each dimension pair must be equal or input dimension is 1 or "
            f"target dimension is -1. But got x_shape: {_listed(self.shape)}, target shape: {_listed(target)}."
        )
    return self if tuple(target) == tuple(self.shape) else movement.broadcast_to(self, shape=tuple(target))


def _listed(shape: Sequence[Any]) -> str:
    return f"({', '.join(map(str, shape))})"


def expand(self: Tensor, *size: Any) -> Tensor:
    """As `broadcast_to`.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([1, 2]).expand(2, -1).shape)
        (2, 2)
    """
    return broadcast_to(self, *size)


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Repeated up to the shape of ``other``.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([1, 2]).expand_as(Tensor([[0, 0], [0, 0]])))
        [[1 2]
         [1 2]]
    """
    return broadcast_to(self, tuple(other.shape))


def broadcast_shape(*shapes: Any) -> tuple[Any, ...]:
    """The shape that all ``shapes`` broadcast to."""
    return broadcast_shapes(*shapes)


METHODS: dict[str, Any] = {
    "reshape": reshape, "view": view, "reshape_as": reshape_as, "view_as": reshape_as, "flatten": flatten,
    "ravel": ravel, "transpose": transpose, "permute": permute, "swapaxes": swapaxes, "swapdims": swapdims,
    "moveaxis": moveaxis, "movedim": moveaxis, "t": t, "adjoint": adjoint, "squeeze": squeeze,
    "expand_dims": expand_dims, "unsqueeze": unsqueeze, "broadcast_to": broadcast_to, "expand": expand,
    "expand_as": expand_as,
}  # fmt: skip
PROPERTIES: dict[str, Any] = {
    "T": property(transpose), "mT": property(matrix_transpose), "mH": property(adjoint), "H": property(hermitian),
}  # fmt: skip
