"""What else MindSpore's graph API has: names that are hints here, or need no more than Python."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from duograph.core.op import state
from duograph.frontend.rules.errors import Uncapturable
from duograph.frontend.values.text import contains_symbolic
from duograph.tensor.tensor import Tensor

from .decorator import jit
from .function import JitFunction
from .signature import DECLARED, MARKED, MARKS

ms_function = jit


def jit_class(cls: Any) -> Any:
    """Marks a class for use in compiled code. Every class is compiled here anyway; the mark is a hint.

    Args:
        cls (type): a class that is not a Cell.

    Returns:
        The class itself.

    Raises:
        TypeError: ``cls`` is not a class, or a Cell.
    """
    if not isinstance(cls, type):
        raise TypeError(f"Decorator jit_class can only be used for class type, but got {cls!r}.")
    if hasattr(cls, "construct") and hasattr(cls, "run"):
        raise TypeError(
            f"Decorator jit_class is used for user-defined classes and cannot be used for nn.Cell: {cls!r}."
        )
    cls.__ms_class__ = True  # type: ignore[attr-defined]
    return cls


class ConstantExpression:
    """A function that is evaluated while compiling; its arguments must be constants then."""

    def __init__(self, fn: Callable[..., Any], name: str | None = None) -> None:
        functools.update_wrapper(self, fn)
        self.fn = fn
        self.name = name or fn.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if state.binder is not None and contains_symbolic((args, kwargs)):
            raise Uncapturable(f"the constexpr function {self.name!r} gets a value that is only known at run time")
        return self.fn(*args, **kwargs)


def constexpr(
    fn: Callable[..., Any] | None = None, get_instance: bool = True, name: str | None = None,
    reuse_result: bool = True, check: bool = True,
) -> Any:  # fmt: skip
    """Decorator: the function is evaluated while compiling, and its result is a constant of the graph.

    Args:
        fn (function): a function of constants.
        get_instance (bool): whether to return the callable rather than a class of it. Default: ``True``.
        name (str, optional): name for messages.
        reuse_result (bool): accepted; results are constants of the graph.
        check (bool): accepted; arguments are always checked.

    Returns:
        The decorated function.
    """

    def decorate(f: Callable[..., Any]) -> Any:
        made = ConstantExpression(f, name)
        return made if get_instance else lambda: made

    return decorate if fn is None else decorate(fn)


def enable_dynamic(**kwargs: Any) -> Callable[[Any], Any]:
    """Decorator: says which arguments have dimensions of varying size, so that the first version serves all sizes.

    Without it that is found out when a second size comes.

    Args:
        kwargs (dict): by the names of arguments, placeholders like ``Tensor(shape=[None, 4], dtype=mstype.float32)``;
            or lists and tuples of them.

    Returns:
        A decorator for functions, compiled or to be compiled.

    Raises:
        ValueError: the function has no such argument.
    """

    def decorate(fn: Any) -> Any:
        unknown = set(kwargs) - set(inspect.signature(fn).parameters)
        if unknown:
            raise ValueError(f"For 'enable_dynamic', {fn.__name__}() has no arguments {sorted(unknown)}.")
        plain = fn.fn if isinstance(fn, JitFunction) else fn
        setattr(getattr(plain, "__func__", plain), DECLARED, kwargs)
        return fn

    return decorate


def mark_dynamic(tensor: Any, dims: int | Sequence[int]) -> None:
    """Says of one tensor that sizes of dimensions vary: the first version of a function that is called with it serves
    all of them. Without it that is found out when a second size comes.

    Args:
        tensor (Tensor): an argument of compiled functions, or an item of lists, tuples and dicts that are.
        dims (Union[int, tuple[int], list[int]]): the dimensions; negative numbers count from the last one.

    Raises:
        TypeError: ``tensor`` is not a Tensor, or a Parameter, whose sizes never vary; a dimension is not an int.
        ValueError: the tensor has no such dimension.

    Examples:
        >>> import duograph as ms
        >>> x = ms.ops.ones((4, 3))
        >>> ms.mark_dynamic(x, 0)
        >>> double = ms.jit(lambda x: x * 2)
        >>> print(double(x).shape, double(ms.ops.ones((7, 3))).shape, double.stats["versions"])
        (4, 3) (7, 3) 1
    """
    given = [dims] if isinstance(dims, int) else list(dims)
    if type(tensor) is not Tensor:  # sizes of Parameters never vary
        raise TypeError(f"For 'mark_dynamic', the 'tensor' must be a Tensor, but got {type(tensor).__name__}.")
    if not all(isinstance(d, int) and not isinstance(d, bool) for d in given):
        raise TypeError(f"For 'mark_dynamic', the 'dims' must be ints, but got {dims!r}.")
    if any(not -tensor.ndim <= d < tensor.ndim for d in given):
        raise ValueError(f"For 'mark_dynamic', a tensor of {tensor.ndim} dimensions has no {dims!r}.")
    marked = {d % tensor.ndim for d in given} | set(getattr(tensor, MARKED, ()))
    MARKS.add(MARKED)
    setattr(tensor, MARKED, tuple(sorted(marked)))


class Symbol:
    """A dimension of varying size, with what is known of it.

    Args:
        max (int): largest size; 0: not known.
        min (int): smallest size.
        divisor (int): the size is a multiple of it, plus ``remainder``.
        remainder (int): see ``divisor``.
        unique (bool): whether equal Symbols mean equal sizes.
    """

    def __init__(self, max: int = 0, min: int = 1, divisor: int = 1, remainder: int = 0, unique: bool = False) -> None:
        for what, value in (("max", max), ("min", min), ("divisor", divisor), ("remainder", remainder)):
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"For 'Symbol', the '{what}' must be int, but got {type(value).__name__}.")
        if min < 0 or (max and max < min) or divisor < 1:
            raise ValueError("For 'Symbol', 0 <= min <= max and divisor >= 1 are needed.")
        self.max, self.min, self.divisor, self.remainder, self.unique = max, min, divisor, remainder, unique


__all__ = ["ConstantExpression", "Symbol", "constexpr", "enable_dynamic", "jit_class", "mark_dynamic", "ms_function"]
