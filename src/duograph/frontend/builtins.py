"""Python's built-in functions on values of the captured program, by table; all others run as they are."""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

from duograph.core.dtype import as_dtype
from duograph.ops.cast import cast, identity
from duograph.ops.scalar import Scalar, as_scalar, scalar_binary, scalar_unary
from duograph.tensor.tensor import Tensor

from .attributes import user_method
from .errors import Uncapturable
from .policy import is_user_class
from .recipe import Collector, Run
from .semantics import contains_symbolic
from .text import GraphText, formatted

SUBSTITUTES: dict[Any, Callable[..., Any]] = {}


def substitute(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers what is called instead of ``functions``; it gets the `Calls` object first."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        for f in functions:
            SUBSTITUTES[f] = fn
        return fn

    return register


class SymbolicRange:
    """``range`` whose bounds are only known at run time; a ``for`` over it becomes a loop of the graph."""

    symbolic_bounds = True

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step

    def __iter__(self) -> Iterator[Any]:
        raise Uncapturable("a range with bounds only known at run time, used other than in a for statement")


class PrintTarget:
    """Prints rebuilt values; runs once per call of the compiled program, in program order."""

    __slots__ = ("kwargs", "recipes")

    def __init__(self, recipes: list[Any], kwargs: dict[str, Any]) -> None:
        self.recipes, self.kwargs = recipes, kwargs

    def _key(self) -> Any:
        return (tuple(r.key() for r in self.recipes), tuple(sorted((k, repr(v)) for k, v in self.kwargs.items())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PrintTarget) and other._key() == self._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __call__(self, *values: Any) -> None:
        from .execute import as_user_values

        run = Run((), as_user_values(values))
        builtins.print(*[r.build(run) for r in self.recipes], **self.kwargs)


@substitute(print)
def _print(calls: Any, *values: Any, **kwargs: Any) -> None:
    if kwargs.get("file") is not None or contains_symbolic(kwargs):
        raise Uncapturable("print into a file")
    shown = [_text_of_user_object(calls, v) for v in values]
    collector = Collector(calls.session, values_only=True)
    recipes = [collector.recipe(v) for v in shown]
    calls.session.call_effect(PrintTarget(recipes, kwargs), *collector.nodes)


def _text_of_user_object(calls: Any, value: Any) -> Any:
    for name in ("__str__", "__repr__"):
        method = user_method(value, name)
        if method is not None:
            return calls.call(method, (value,), {})
    return value


@substitute(isinstance)
def _isinstance(calls: Any, obj: Any, cls: Any) -> bool:
    if isinstance(obj, Scalar):
        return issubclass(obj.type.python_type, cls)
    if isinstance(obj, GraphText):
        return issubclass(str, cls)
    if isinstance(obj, SymbolicRange):
        return issubclass(range, cls)
    _guard_class(calls, obj)
    return isinstance(obj, cls)


def _guard_class(calls: Any, obj: Any) -> None:
    """Guards of identity do not cover ``obj.__class__ = ...``."""
    if is_user_class(type(obj)) and not isinstance(obj, type | Tensor) and not calls.world.is_tracked(obj):
        calls.session.guards.add(calls.session.source_of(obj), "type", type(obj))


@substitute(type)
def _type(calls: Any, *args: Any, **kwargs: Any) -> Any:
    if len(args) != 1:
        raise Uncapturable("a class made by type(name, bases, dict)")
    obj = args[0]
    if isinstance(obj, Scalar):
        return obj.type.python_type
    _guard_class(calls, obj)
    return str if isinstance(obj, GraphText) else type(obj)


@substitute(bool)
def _bool(calls: Any, *args: Any) -> Any:
    return calls.semantics.truth(*args) if args else False


def _number(kind: str) -> Callable[..., Any]:
    convert = {"int": int, "float": float}[kind]

    def build(calls: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], Tensor | Scalar):
            if isinstance(args[0], Tensor):
                size = functools.reduce(operator.mul, [d for d in args[0].shape if isinstance(d, int)], 1)
                if size != 1:
                    raise ValueError("Only one element tensors can be converted to Python scalars")
            return as_scalar(args[0], kind)
        method = user_method(args[0], f"__{kind}__") if args else None
        if method is not None:
            return calls.call(method, (args[0],), {})
        return convert(*args, **kwargs)

    return build


SUBSTITUTES[int] = _number("int")
SUBSTITUTES[float] = _number("float")


@substitute(len)
def _len(calls: Any, obj: Any) -> Any:
    method = user_method(obj, "__len__")
    if method is not None:
        return calls.call(method, (obj,), {})
    if isinstance(obj, Tensor) and obj.ndim and not isinstance(obj.shape[0], int):
        return calls.semantics.getattr(obj, "shape")[0]
    return len(obj)


@substitute(abs)
def _abs(calls: Any, obj: Any) -> Any:
    method = user_method(obj, "__abs__")
    return calls.call(method, (obj,), {}) if method is not None else abs(obj)


@substitute(divmod)
def _divmod(calls: Any, a: Any, b: Any) -> Any:
    return (a // b, a % b) if isinstance(a, Scalar) or isinstance(b, Scalar) else divmod(a, b)


@substitute(round)
def _round(calls: Any, number: Any, ndigits: Any = None) -> Any:
    if isinstance(number, Scalar):
        if ndigits is not None:
            raise Uncapturable("round to digits of a number that is only known at run time")
        return scalar_unary(number, fn="round")
    return round(number) if ndigits is None else round(number, ndigits)


def _extremum(name: str) -> Callable[..., Any]:
    plain = {"max": max, "min": min}[name]

    def build(calls: Any, *args: Any, **kwargs: Any) -> Any:
        values = list(calls.semantics.iterate(args[0])) if len(args) == 1 else list(args)
        numbers = all(isinstance(v, Scalar | int | float) for v in values)
        if not kwargs and len(values) > 1 and numbers and any(isinstance(v, Scalar) for v in values):
            kinds = {v.kind if isinstance(v, Scalar) else type(v).__name__ for v in values}
            if len(kinds) == 1:
                return functools.reduce(lambda a, b: scalar_binary(a, b, fn=name), values)
        if "key" in kwargs:
            kwargs["key"] = calls._callback(kwargs["key"])
        return plain(values, **kwargs)

    return build


SUBSTITUTES[max] = _extremum("max")
SUBSTITUTES[min] = _extremum("min")


@substitute(getattr)
def _getattr(calls: Any, obj: Any, name: str, *default: Any) -> Any:
    return calls.semantics.getattr(obj, name, *default)


@substitute(hasattr)
def _hasattr(calls: Any, obj: Any, name: str) -> bool:
    return calls.semantics.getattr(obj, name, None) is not None or _present(calls, obj, name)


def _present(calls: Any, obj: Any, name: str) -> bool:
    try:
        calls.semantics.getattr(obj, name)
    except AttributeError:
        return False
    return True


@substitute(setattr)
def _setattr(calls: Any, obj: Any, name: str, value: Any) -> None:
    calls.semantics.setattr(obj, name, value)


@substitute(object.__setattr__)
def _object_setattr(calls: Any, obj: Any, name: str, value: Any) -> None:
    calls.semantics.object_setattr(obj, name, value)


@substitute(delattr)
def _delattr(calls: Any, obj: Any, name: str) -> None:
    calls.semantics.delattr(obj, name)


@substitute(callable)
def _callable(calls: Any, obj: Any) -> bool:
    return callable(obj)


@substitute(range)
def _range(calls: Any, *args: Any) -> Any:
    if not any(isinstance(a, Tensor | Scalar) for a in args):
        return range(*args)
    bounds = [as_scalar(a, "int") if isinstance(a, Tensor) else a for a in args]
    start, stop = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) == 3 else 1
    if not isinstance(step, int):
        raise Uncapturable("a range with a step that is only known at run time")
    return SymbolicRange(start, stop, step)


def _sequence(kind: Any) -> Callable[..., Any]:
    def build(calls: Any, *args: Any) -> Any:
        made = kind(*[calls.semantics.iterate(a) for a in args])
        return made if kind in (tuple, frozenset) else calls.world.track(made)

    return build


for _kind in (list, tuple, set, frozenset):
    SUBSTITUTES[_kind] = _sequence(_kind)


@substitute(iter)
def _iter(calls: Any, *args: Any) -> Any:
    return calls.semantics.iterate(args[0]) if len(args) == 1 else iter(*args)


@substitute(next)
def _next(calls: Any, it: Any, *default: Any) -> Any:
    method = user_method(it, "__next__")
    if method is None:
        calls.semantics.change_opaque(it)
        return next(it, *default)
    try:
        return calls.call(method, (it,), {})
    except StopIteration:
        if default:
            return default[0]
        raise


@substitute(sum)
def _sum(calls: Any, values: Any, start: Any = 0) -> Any:
    for v in calls.semantics.iterate(values):
        start = calls.semantics.binary(operator.add, start, v)
    return start


@substitute(any)
def _any(calls: Any, values: Any) -> bool:
    return any(calls.semantics.as_bool(v) for v in calls.semantics.iterate(values))


@substitute(all)
def _all(calls: Any, values: Any) -> bool:
    return all(calls.semantics.as_bool(v) for v in calls.semantics.iterate(values))


@substitute(sorted)
def _sorted(calls: Any, values: Any, *, key: Any = None, reverse: Any = False) -> Any:
    made = sorted(calls.semantics.iterate(values), key=calls._callback(key), reverse=reverse)
    return calls.world.track(made)


for _fn in (enumerate, zip):
    SUBSTITUTES[_fn] = lambda calls, *args, _fn=_fn, **kw: _fn(
        *[calls.semantics.iterate(a) if i == 0 or _fn is zip else a for i, a in enumerate(args)], **kw
    )


@substitute(map)
def _map(calls: Any, fn: Any, *iterables: Any) -> Any:
    return (
        calls.call(fn, values, {}) for values in zip(*[calls.semantics.iterate(i) for i in iterables], strict=False)
    )


@substitute(filter)
def _filter(calls: Any, fn: Any, iterable: Any) -> Any:
    for_truth = (lambda v: v) if fn is None else (lambda v: calls.call(fn, (v,), {}))
    return (v for v in calls.semantics.iterate(iterable) if calls.semantics.as_bool(for_truth(v)))


@substitute(functools.reduce)
def _reduce(calls: Any, fn: Any, values: Any, *initial: Any) -> Any:
    it = calls.semantics.iterate(values)
    result = initial[0] if initial else next(it)
    for v in it:
        result = calls.call(fn, (result, v), {})
    return result


@substitute(str)
def _str(calls: Any, *args: Any) -> Any:
    if len(args) == 1 and contains_symbolic(args[0]):
        return args[0] if isinstance(args[0], GraphText) else formatted(args[0], "", "s")
    if args:
        text = _text_of_user_object(calls, args[0])
        if text is not args[0]:
            return text
    return str(*args)


@substitute(repr)
def _repr(calls: Any, obj: Any) -> Any:
    if contains_symbolic(obj):
        return formatted(obj, "", "r")
    method = user_method(obj, "__repr__")
    return calls.call(method, (obj,), {}) if method is not None else repr(obj)


@substitute(format)
def _format(calls: Any, obj: Any, spec: str = "") -> Any:
    return formatted(obj, spec, "") if contains_symbolic(obj) else format(obj, spec)


@substitute(Tensor)
def _tensor(calls: Any, input_data: Any = None, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    calls.semantics._refuse_foreign(input_data)
    if isinstance(input_data, Tensor):
        if dtype is None or as_dtype(dtype) is input_data.dtype:
            return identity(input_data)  # another handle on the same storage
        return cast(input_data, dtype=as_dtype(dtype))
    if isinstance(input_data, Scalar):
        want = (
            as_dtype(dtype)
            if dtype is not None
            else as_dtype({"int": "int64", "float": "float32", "bool": "bool"}[input_data.kind])
        )
        return input_data.to_tensor(want)
    if isinstance(input_data, list | tuple) and contains_symbolic(input_data):
        return calls.stacked_tensor(input_data, dtype)
    return Tensor(input_data, dtype, *args, **kwargs)


def _refused(name: str) -> Callable[..., Any]:
    def refuse(calls: Any, *args: Any, **kwargs: Any) -> Any:
        raise Uncapturable(f"the built-in function {name}()")

    return refuse


for _name in (
    "id",
    "input",
    "open",
    "exec",
    "eval",
    "compile",
    "__import__",
    "globals",
    "vars",
    "dir",
    "breakpoint",
    "memoryview",
):
    SUBSTITUTES[getattr(builtins, _name)] = _refused(_name)
