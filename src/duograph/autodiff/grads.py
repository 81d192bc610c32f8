"""The gradient functions of the public API: `grad`, `value_and_grad`, `GradOperation`, `get_grad`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from types import FunctionType
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from duograph.base.lookup import raw_hasattr
from duograph.base.notices import nothing_to_differentiate
from duograph.base.tree import leaves
from duograph.core.errors import user_error
from duograph.tensor.tensor import Tensor

from .record import Recorded, cotangents_for, is_tensor, ones_for

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Differentiated(Protocol[P, R_co]):
    """What type checkers know of a gradient function: it takes what the plain one takes."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


def _checked_position(grad_position: Any, weights: Any) -> Any:
    if grad_position is None:
        if weights is None:
            raise ValueError("`grad_position` and `weight` can not be None at the same time.")
        return None
    if isinstance(grad_position, int):
        positions: tuple[Any, ...] = (grad_position,)
    elif isinstance(grad_position, tuple):
        positions = grad_position
    else:
        is_weights = isinstance(grad_position, list) and any(isinstance(w, Tensor) for w in grad_position)
        way = ", and weights come behind it: grad(fn, None, weights)" if is_weights else ""
        raise TypeError(f"For 'F.grad', the 'grad_position' must be int or tuple{way}.")
    for position in positions:
        if not isinstance(position, int):
            raise TypeError("For 'F.grad', the element in 'grad_position' must be int.")
        if position < 0:
            raise ValueError("grad_position must be >= 0.")
    if len(set(positions)) != len(positions):
        raise ValueError("There are duplicate positions in `grad_position`, please check it")
    return grad_position


def _positions(grad_position: Any, n_args: int) -> list[int]:
    if grad_position is None:
        return []
    positions = [grad_position] if isinstance(grad_position, int) else list(grad_position)
    if not positions:
        raise RuntimeError("grad_position should not be empty when grad by position!")
    for position in positions:
        if position >= n_args and n_args:
            raise RuntimeError(f"Position index {position} is exceed input size.")
    return [int(p) for p in positions if p < n_args]


def _weights(weights: Any) -> list[Any]:
    if weights is None:
        return []
    if isinstance(weights, Tensor):
        return [weights]
    if not isinstance(weights, list | tuple):
        raise TypeError(f"The weights you provided is expected to be a tensor, or a list or tuple. but got {weights!r}")
    for w in weights:
        if not isinstance(w, Tensor):
            raise RuntimeError(f"The weights must be Parameters, but got {w!r}.")
    return list(weights)


def _check_bool(owner: str, **flags: Any) -> None:
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"For '{owner}', the '{name}' should be bool, but got {type(value).__name__}")


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError(f"The fn should be callable, but got {type(fn).__name__}")


def _named(fn: Any, after_grad: Callable[..., Any]) -> Callable[..., Any]:
    """``after_grad`` looking like ``fn`` where ``fn`` is a plain function."""
    return wraps(fn)(after_grad) if raw_hasattr(fn, "__name__") else after_grad


def _first_output(out: Any) -> tuple[Any, tuple[Any, ...]]:
    if not isinstance(out, tuple | list) or len(out) < 2:
        raise ValueError("When has_aux is True, origin fn requires more than one outputs.")
    return out[0], tuple(out[1:])


def check_output(fn: Any, out: Any) -> None:
    """Tells the user whose function returns nothing that has a gradient.

    Raises:
        TypeError: it returns a text, which is no result of a computation.
    """
    if isinstance(out, str | bytes):
        name, kind = getattr(fn, "__qualname__", type(fn).__qualname__), type(out).__name__
        message = f"{name} returned a {kind}, which has no gradient: return a Tensor, and texts beside it with has_aux"
        raise user_error(TypeError, "DG0404", message, f"the gradient of a {kind}")
    if not is_tensor(out) and not any(is_tensor(x) for x in leaves(out)):
        nothing_to_differentiate(fn, out)


def _with_ids(positions: Sequence[int], grads: Sequence[Any]) -> list[Any]:
    return [(p, g) for p, g in zip(positions, grads, strict=True)]


def _unwrapped(items: Sequence[Any]) -> Any:
    return items[0] if len(items) == 1 else tuple(items)


def split_sens(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Arguments without the cotangent, and the cotangent: the keyword ``sens``, else the last argument."""
    if "sens" in kwargs:
        return args, {k: v for k, v in kwargs.items() if k != "sens"}, kwargs["sens"]
    return (args[:-1], kwargs, args[-1]) if args else (args, kwargs, None)


class Gradient:
    """What `grad` and `value_and_grad` share: their options, checked.

    Attributes:
        fn: the function.
    """

    def __init__(
        self, made_by: Any, fn: Any, grad_position: Any, weights: Any, has_aux: Any, return_ids: Any, sens_param: Any
    ) -> None:
        _check_bool("_Grad", has_aux=has_aux, return_ids=return_ids, sens_param=sens_param)
        self.grad_position = _checked_position(grad_position, weights)
        self.fn, self.weights, self.has_aux, self.return_ids = fn, weights, has_aux, return_ids
        self.sens_param = sens_param
        options = {"has_aux": has_aux, "return_ids": return_ids, "sens_param": sens_param}
        self._anew = partial(_anew, made_by, grad_position, options)

    def of(self, fn: Any) -> Callable[..., Any]:
        """The same of another function."""
        return self._anew(fn, self.weights)

    @property
    def parts(self) -> tuple[Callable[..., Any], list[Any]]:
        """A function, and what to call it with to make another one."""
        return self._anew, [self.fn, self.weights]

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """The function's output and its gradients."""
        _check_callable(self.fn)
        sens = None
        if self.sens_param:
            args, kwargs, sens = split_sens(args, kwargs)
        positions = [p for p in _positions(self.grad_position, len(args)) if _has_tensor(args[p])]
        weights = _weights(self.weights)
        done = Recorded(self.fn, args, kwargs, positions, weights)
        first = _first_output(done.out)[0] if self.has_aux else done.out
        check_output(self.fn, first)
        seeds = cotangents_for(first, sens) if self.sens_param else ones_for(first)
        inputs, of_weights = done.gradients(seeds)
        if self.return_ids:
            inputs = _with_ids(positions, inputs)
            of_weights = [(getattr(w, "name", None), g) for w, g in zip(weights, of_weights, strict=True)]
        if self.weights is None:
            return done.out, _unwrapped(inputs)
        weight_part = of_weights[0] if isinstance(self.weights, Tensor) else tuple(of_weights)
        if self.grad_position is None or not args:
            return done.out, weight_part
        return done.out, (_unwrapped(inputs), weight_part)


def _anew(made_by: Any, grad_position: Any, options: dict[str, bool], fn: Any, weights: Any) -> Callable[..., Any]:
    made: Callable[..., Any] = made_by(fn, grad_position, weights, **options)
    return made


class OfOperation:
    """What `GradOperation` makes of a function, as `Gradient` is what `grad` does.

    Attributes:
        fn: the function.
        owner: the Cell whose Parameters are meant if none are given: ``fn``, or what that is the compiled form of.
    """

    def __init__(self, operation: GradOperation, fn: Any, weights: Any, owner: Any) -> None:
        self.operation, self.fn, self.weights, self.owner = operation, fn, weights, owner

    def of(self, fn: Any) -> Callable[..., Any]:
        """The same of another function."""
        return self.operation.applied(fn, self.weights, self.owner)

    @property
    def parts(self) -> tuple[Callable[..., Any], list[Any]]:
        """See `Gradient.parts`."""
        made = self.operation
        return GradOperation(made.get_all, made.get_by_list, made.sens_param).applied, [
            self.fn, self.weights, self.owner,
        ]  # fmt: skip

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The gradients."""
        _check_callable(self.fn)
        return self.operation.run(self.fn, self.weights, self.owner, args, kwargs)


def gradient_of(fn: Callable[..., Any]) -> Gradient | OfOperation | None:
    """What ``fn`` is the gradient of; ``None`` if nothing here has made it.

    The function itself holds it, as a closure variable: a table would keep both alive where the one leads to the other.
    """
    if type(fn) is not FunctionType or fn.__globals__ is not globals() or "work" not in fn.__code__.co_freevars:
        return None
    assert fn.__closure__ is not None
    work: Gradient | OfOperation = fn.__closure__[fn.__code__.co_freevars.index("work")].cell_contents
    return work


def _has_tensor(value: Any) -> bool:
    return any(is_tensor(x) for x in leaves(value))


@overload
def grad(
    fn: Callable[P, Any], grad_position: Any = 0, weights: Any = None, has_aux: bool = False, return_ids: bool = False
) -> Differentiated[P, Any]: ...
@overload
def grad(
    fn: Callable[..., Any],
    grad_position: Any = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]: ...
def grad(
    fn: Any,
    grad_position: Any = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """A function that computes the gradient of ``fn``.

    Outputs of any shape are differentiated as if they were summed; several outputs are summed too.

    Args:
        fn: function or Cell of Tensors, or nested tuples, lists and dicts of Tensors.
        grad_position: index, or tuple of indices, of the positional arguments to differentiate; None for none.
        weights: Parameter, or list or tuple of Parameters, to differentiate as well.
        has_aux: whether only the first output is differentiated; the others are returned beside the gradient.
        return_ids: whether every gradient comes as ``(position or Parameter name, gradient)``.
        sens_param: whether the gradient function takes the cotangent of the output as a further last argument.

    Returns:
        Function of the arguments of ``fn``. It gives the gradient for one position, a tuple for several,
        ``(gradients, weight gradients)`` if weights are given too; with ``has_aux``, ``(that, other outputs)``.

    Raises:
        TypeError: an option is of a wrong type.
        ValueError: positions are negative or repeated, or there is nothing to differentiate.
        RuntimeError: a position is beyond the arguments.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> print(ms.grad(lambda x: x * x)(ms.Tensor([3.0])))
        [6.]
    """
    work = Gradient(grad, fn, grad_position, weights, has_aux, return_ids, sens_param)

    def after_grad(*args: Any, **kwargs: Any) -> Any:
        out, gradients = work.run(args, kwargs)
        return (gradients, _first_output(out)[1]) if has_aux else gradients

    return _named(fn, after_grad)


@overload
def value_and_grad(
    fn: Callable[P, R], grad_position: Any = 0, weights: Any = None, has_aux: bool = False, return_ids: bool = False
) -> Differentiated[P, tuple[R, Any]]: ...
@overload
def value_and_grad(
    fn: Callable[..., R],
    grad_position: Any = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., tuple[R, Any]]: ...
def value_and_grad(
    fn: Any,
    grad_position: Any = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """A function that computes ``fn`` and its gradient.

    Args:
        fn: function or Cell.
        grad_position: as for `grad`.
        weights: as for `grad`.
        has_aux: whether only the first output is differentiated.
        return_ids: as for `grad`.
        sens_param: as for `grad`.

    Returns:
        Function of the arguments of ``fn`` that gives ``(all outputs, gradients)``.

    Raises:
        TypeError, ValueError, RuntimeError: as for `grad`.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> value, gradient = ms.value_and_grad(lambda x: x * x)(ms.Tensor([3.0]))
        >>> print(value, gradient)
        [9.] [6.]
    """
    work = Gradient(value_and_grad, fn, grad_position, weights, has_aux, return_ids, sens_param)
    return _named(fn, lambda *args, **kwargs: work.run(args, kwargs))


class GradOperation:
    """Makes gradient functions of one kind.

    Args:
        get_all: gradients of all inputs, as a tuple, instead of the first one.
        get_by_list: gradients of Parameters.
        sens_param: the gradient function takes the cotangent of the output as an additional last argument.

    Raises:
        TypeError: an argument is not a bool.

    Returns:
        Callable, the function that gives gradients of the one it is called with.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import ops
        >>> print(ops.GradOperation(get_all=True)(lambda x, y: x * y)(ms.Tensor(2.0), ms.Tensor(3.0)))
        (Tensor(shape=[], dtype=Float32, value= 3), Tensor(shape=[], dtype=Float32, value= 2))
    """

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        _check_bool("GradOperation", get_all=get_all, get_by_list=get_by_list, sens_param=sens_param)
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    def __call__(self, fn: Any, weights: Any = None) -> Callable[..., Any]:
        return self.applied(fn, weights, fn)

    def applied(self, fn: Any, weights: Any, owner: Any) -> Callable[..., Any]:
        """The gradient function of ``fn``; see `OfOperation`."""
        work = OfOperation(self, fn, weights, owner)
        return _named(fn, lambda *args, **kwargs: work.run(args, kwargs))

    def run(self, fn: Any, weights: Any, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The gradients of ``fn`` that are asked for; see `OfOperation`."""
        sens: Any = None
        if self.sens_param:
            args, kwargs, sens = split_sens(args, kwargs)
        chosen = self._weights(owner, weights)
        by_position = self.get_all or not self.get_by_list
        candidates = range(len(args)) if self.get_all else range(min(1, len(args)))
        positions = [p for p in candidates if _has_tensor(args[p])] if by_position else []
        done = Recorded(fn, args, kwargs, positions, chosen)
        check_output(fn, done.out)
        seeds = cotangents_for(done.out, sens) if self.sens_param else ones_for(done.out)
        inputs, of_weights = done.gradients(seeds)
        weight_part = of_weights[0] if isinstance(weights, Tensor) else tuple(of_weights)
        if not self.get_by_list:
            return tuple(inputs) if self.get_all else _unwrapped(inputs)
        return (tuple(inputs), weight_part) if self.get_all else weight_part

    def _weights(self, owner: Any, weights: Any) -> list[Any]:
        if not self.get_by_list:
            return []
        if weights is None and raw_hasattr(owner, "trainable_params"):
            return list(owner.trainable_params())
        return _weights(weights)


def get_grad(gradients: Any, identifier: Any) -> Any:
    """The gradient for a position or Parameter, out of the result of a gradient function with ``return_ids=True``.

    Args:
        gradients: the result.
        identifier: position, or Parameter.

    Returns:
        Tensor, the gradient.

    Raises:
        TypeError: ``identifier`` is neither an int nor a Parameter.
        RuntimeError: there is no gradient for it.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> x = Tensor([3.0])
        >>> gradients = ms.grad(lambda x: (x * x).sum(), 0, return_ids=True)(x)
        >>> print(ms.get_grad(gradients, 0))
        [6.]
    """
    if isinstance(identifier, int):
        wanted: Any = identifier
    elif isinstance(identifier, Tensor):
        wanted = getattr(identifier, "name", None)
    else:
        raise TypeError(f"For `get_grad`, the `x` should be an integer or a Parameter, but got {identifier}")
    found = _find(gradients, wanted)
    if found is None:
        raise RuntimeError(f"Can not find the gradient for position or Parameter {identifier}")
    return found[0]


def _find(gradients: Any, wanted: Any) -> tuple[Any] | None:
    if not isinstance(gradients, tuple | list):
        return None
    if len(gradients) == 2 and isinstance(gradients[0], int | str):
        return (gradients[1],) if gradients[0] == wanted else None
    for item in gradients:
        found = _find(item, wanted)
        if found is not None:
            return found
    return None
