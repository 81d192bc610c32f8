"""Products with the Jacobian and the Jacobian itself: `vjp`, `jvp`, `jacrev`, `jacfwd`.

Forward mode is reverse mode twice: the backward pass is linear in its cotangents, so its own gradient with respect to
them is the product of the Jacobian with a tangent. No op needs a third rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from duograph.base.tree import flatten, unflatten
from duograph.core.op import restoring, state
from duograph.core.shapes import numel
from duograph.ops.creation import eye, full, ones_like, zeros_like
from duograph.ops.movement import reshape, transpose
from duograph.ops.slices import slice_axis, stack
from duograph.tensor.tensor import Tensor

from .backward import backpropagate, complete
from .grads import _check_callable, _checked_position, _first_output, _named, _unwrapped, _weights, check_output
from .record import Recorded, cotangents_for, handle, is_tensor
from .tape import Tape


def vjp(fn: Any, *inputs: Any, weights: Any = None, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of ``fn`` and a function that multiplies cotangents with its Jacobian from the left.

    Args:
        fn: function or Cell.
        inputs: Tensors, all differentiated.
        weights: Parameter, or list or tuple of Parameters, differentiated as well.
        has_aux: whether only the first output is differentiated.

    Returns:
        ``(outputs, vjp_fn)``; with ``has_aux``, ``(first output, vjp_fn, other outputs)``. ``vjp_fn(*cotangents)``
        gives a tuple with one gradient per input; with weights, ``(that tuple, weight gradients)``.

    Raises:
        TypeError: an input is not a Tensor, or ``fn`` no function.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> out, vjp_fn = ms.vjp(lambda x: x * x, ms.Tensor([3.0]))
        >>> print(out, vjp_fn(ms.Tensor([1.0]))[0])
        [9.] [6.]
    """
    _check_callable(fn)
    if not all(is_tensor(x) for x in inputs):
        raise TypeError("The inputs type must be Tensor.")
    done = Recorded(fn, inputs, {}, range(len(inputs)), _weights(weights), is_kept=True)
    out, aux = _first_output(done.out) if has_aux else (done.out, ())
    check_output(fn, out)

    def vjp_fn(*sens: Any) -> Any:
        given = sens[0] if len(sens) == 1 else sens
        inputs_part, weights_part = done.gradients(cotangents_for(out, given))
        if weights is None:
            return tuple(inputs_part)
        return tuple(inputs_part), weights_part[0] if is_tensor(weights) else tuple(weights_part)

    return (out, vjp_fn, _unwrapped(aux)) if has_aux else (out, vjp_fn)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def jvp(fn: Any, inputs: Any, v: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of ``fn`` and the product of its Jacobian with the tangents ``v``.

    Args:
        fn: function or Cell.
        inputs: Tensor, or tuple or list of Tensors.
        v: tangents, like ``inputs``.
        has_aux: whether only the first output is differentiated.

    Returns:
        ``(outputs, tangents of the outputs)``; with ``has_aux``, ``(first output, its tangent, *other outputs)``.

    Raises:
        TypeError: ``fn`` is not a function.
        ValueError: number or shapes of the tangents are not those of the inputs.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> print(ms.jvp(lambda x: x * x, ms.Tensor([3.0]), ms.Tensor([1.0]))[1])
        [6.]
    """
    _check_callable(fn)
    args, tangents = _as_tuple(inputs), _as_tuple(v)
    if len(args) != len(tangents):
        raise ValueError(f"v has invalid length: should be {len(args)}, but got {len(tangents)}")
    for x, t in zip(args, tangents, strict=True):
        if is_tensor(x) and is_tensor(t) and tuple(x.shape) != tuple(t.shape):
            raise ValueError(f"v has a tangent of shape {tuple(t.shape)} for an input of shape {tuple(x.shape)}")
    linear = _Linear(fn, args, [i for i, x in enumerate(args) if is_tensor(x)], {})
    first, aux = _first_output(linear.out) if has_aux else (linear.out, ())
    check_output(fn, first)
    moved = linear.push(first, {i: t for i, t in enumerate(tangents) if is_tensor(t)})
    return (first, moved, *(aux if has_aux else ()))


class _Linear:
    """A recorded call whose backward pass is recorded too, as a linear function of the cotangents."""

    def __init__(self, fn: Any, args: Sequence[Any], positions: Sequence[int], kwargs: dict[str, Any]) -> None:
        self.positions = list(positions)
        self.done = Recorded(fn, args, kwargs, self.positions)
        self.out = self.done.out
        self._pulled: Any = None

    @restoring
    def push(self, out: Any, tangents: dict[int, Any]) -> Any:
        """Tangents of the tensors in ``out``, nested like it, for tangents by position."""
        flat, spec = flatten(out)
        places = [i for i, x in enumerate(flat) if is_tensor(x)]
        if self._pulled is None:
            tape = Tape()
            duals = [handle(ones_like(flat[i])) for i in places]
            state.tapes = [*state.tapes, tape]
            variables = [tape.watch(u) for u in duals]
            pulled, _ = self.done.gradients([(flat[i], u) for i, u in zip(places, duals, strict=True)])
            seeds = {p: tape.variable(g) for p, g in zip(self.positions, pulled, strict=True)}
            state.tapes = [t for t in state.tapes if t is not tape]
            self._pulled = tape, variables, seeds
        tape, variables, seeds = self._pulled
        found = backpropagate(tape, [(seeds[i], t) for i, t in tangents.items() if i in seeds], variables)
        result: list[Any] = list(flat)
        for i, g in zip(places, found, strict=True):
            result[i] = zeros_like(flat[i]) if g is None else complete(g, flat[i])
        return unflatten(spec, result)


# ---- Jacobians ------------------------------------------------------------------------------------------------------


def _basis(x: Tensor) -> list[Any]:
    """For each element of ``x`` a tensor that is 1 there and 0 elsewhere."""
    n = numel(tuple(x.shape))
    rows = eye(n=n, m=n, dtype=x.dtype)
    return [reshape(slice_axis(rows, 0, i, i + 1), shape=tuple(x.shape)) for i in range(n)]


def _positions_of(grad_position: Any, n_args: int) -> list[int]:
    positions = [grad_position] if isinstance(grad_position, int) else list(grad_position)
    if any(p >= n_args for p in positions):
        raise ValueError("The element in grad_position must belong to [0, args_num).")
    return positions


def _single(items: list[Any]) -> Any:
    return items[0] if len(items) == 1 else tuple(items)


def _jacobian(fn: Any, grad_position: Any, has_aux: bool, rows: Callable[..., list[list[Any]]]) -> Callable[..., Any]:
    if not isinstance(has_aux, bool):
        raise TypeError(f"For 'jacobian', the 'has_aux' should be bool, but got {type(has_aux).__name__}")
    _checked_position(grad_position, None)

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        _check_callable(fn)
        positions = _positions_of(grad_position, len(args))
        for p in positions:
            if not is_tensor(args[p]):
                raise TypeError(f"The inputs to differentiate must be Tensors, but got {type(args[p]).__name__}.")
        out, table = rows(args, kwargs, positions)
        first, aux = _first_output(out) if has_aux else (out, ())
        several = isinstance(first, tuple | list)
        jac = tuple(_single(row) for row in table) if several else _single(table[0])
        return (jac, _unwrapped(aux)) if has_aux else jac

    return _named(fn, jacobian)


def jacrev(fn: Any, grad_position: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that computes the Jacobian of ``fn`` in reverse mode: one backward pass per element of the output.

    Args:
        fn: function or Cell.
        grad_position: index, or tuple of indices, of the arguments to differentiate.
        has_aux: whether only the first output is differentiated; the others are returned beside the Jacobian.

    Returns:
        Function of the arguments of ``fn``. A Jacobian has the shape of the output followed by that of the input;
        there is one per output, and in it one per position.

    Raises:
        TypeError: an option is of a wrong type.
        ValueError: a position is out of range.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> print(ms.jacrev(lambda x: x * x)(ms.Tensor([1.0, 2.0])))
        [[2. 0.]
         [0. 4.]]
    """

    def rows(args: Any, kwargs: Any, positions: list[int]) -> Any:
        done = Recorded(fn, args, kwargs, positions)
        first = _first_output(done.out)[0] if has_aux else done.out
        check_output(fn, first)
        table = []
        for y in _as_tuple(first):
            pulled = [done.gradients([(y, e)])[0] for e in _basis(y)]
            table.append([
                reshape(stack(*[row[k] for row in pulled], axis=0), shape=(*y.shape, *args[p].shape))
                for k, p in enumerate(positions)
            ])  # fmt: skip
        return done.out, table

    return _jacobian(fn, grad_position, has_aux, rows)


def jacfwd(fn: Any, grad_position: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that computes the Jacobian of ``fn`` in forward mode: one pass per element of the input.

    Args:
        fn: function or Cell.
        grad_position: index, or tuple of indices, of the arguments to differentiate.
        has_aux: whether only the first output is differentiated; the others are returned beside the Jacobian.

    Returns:
        Function of the arguments of ``fn``, with the results of `jacrev`.

    Raises:
        TypeError: an option is of a wrong type.
        ValueError: a position is out of range.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ms.jacfwd(lambda x: x * x)(Tensor([2.0, 3.0])))
        [[4. 0.]
         [0. 6.]]
    """

    def rows(args: Any, kwargs: Any, positions: list[int]) -> Any:
        linear = _Linear(fn, args, positions, kwargs)
        first = _first_output(linear.out)[0] if has_aux else linear.out
        check_output(fn, first)
        columns = {p: [_as_tuple(linear.push(first, {p: e})) for e in _basis(args[p])] for p in positions}
        table = []
        for k, y in enumerate(_as_tuple(first)):
            table.append([_columns([c[k] for c in columns[p]], y, args[p]) for p in positions])
        return linear.out, table

    return _jacobian(fn, grad_position, has_aux, rows)


def _columns(tangents: list[Any], y: Any, x: Any) -> Any:
    """Tangents of ``y``, one per element of ``x``, as a Jacobian."""
    n = len(tuple(y.shape))
    if not tangents:
        return full(shape=(*y.shape, *x.shape), value=0, dtype=y.dtype)
    joined = transpose(stack(*tangents, axis=0), perm=(*range(1, n + 1), 0))
    return reshape(joined, shape=(*y.shape, *x.shape))
