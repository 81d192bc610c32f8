"""Python's built-in functions on values of the captured program, by table; all others run as they are."""

from __future__ import annotations

import builtins
import functools
import inspect
import itertools
import operator
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from duograph.core.dtype import DType, as_dtype, float32, float64
from duograph.ops.cast import cast, identity
from duograph.ops.scalar import Scalar, as_scalar, is_number, scalar_binary
from duograph.tensor.tensor import Tensor

from ..programs.printing import PrintTarget
from ..rules.errors import Uncapturable
from ..rules.opaque import is_iterator
from ..rules.watch import watched
from ..values.collector import Collector
from ..values.functions import CapturedFunction
from ..values.grown import GrownList
from ..values.text import GraphText, contains_symbolic, formatted
from .callbacks import key_function
from .chosen import is_index
from .classes import is_instance
from .contexts import Quiet
from .native_errors import run_native
from .operands import check_elements, check_holder, check_operand, check_text
from .order import in_order, keys_of
from .raw_attributes import object_getattr
from .special_methods import user_method
from .substitutes import SUBSTITUTES, SymbolicRange, substitute
from .texts import format_constant, text_of_user_object


@substitute(print)
def _print(calls: Any, *values: Any, **kwargs: Any) -> None:
    if kwargs.get("file") is not None or contains_symbolic(kwargs):
        raise Uncapturable("print into a file")
    calls.session.prefer_break("print()")
    shown = [text_of_user_object(calls, v) for v in values]
    collector = Collector(calls.session, values_only=True)
    recipes = [collector.recipe(v) for v in shown]
    calls.session.call_effect(PrintTarget(recipes, kwargs), *collector.nodes)


@substitute(np.errstate)
def _errstate(calls: Any, **kwargs: Any) -> Quiet:
    if set(kwargs.values()) != {"ignore"} or not kwargs.keys() <= {"all", "divide", "over", "under", "invalid"}:
        raise Uncapturable("numpy.errstate of more than what is ignored")
    return Quiet()


@substitute(operator.is_)
def _is(calls: Any, a: Any, b: Any) -> Any:
    return calls.semantics.same_object(a, b)


@substitute(operator.is_not)
def _is_not(calls: Any, a: Any, b: Any) -> Any:
    same = calls.semantics.same_object(a, b)
    return same == False if isinstance(same, Scalar) else not same  # type: ignore[comparison-overlap]  # noqa: E712


_ASKS_CLASS: dict[Any, type] = {
    inspect.isfunction: types.FunctionType, inspect.ismethod: types.MethodType, inspect.isclass: type,
    inspect.isbuiltin: types.BuiltinFunctionType, inspect.ismodule: types.ModuleType,
}  # fmt: skip
for _asked, _answer in _ASKS_CLASS.items():
    SUBSTITUTES[_asked] = lambda calls, object, _kind=_answer: is_instance(calls, object, _kind)


@substitute(bool)
def _bool(calls: Any, *args: Any) -> Any:
    return calls.semantics.truth(*args) if args else False


@substitute(len)
def _len(calls: Any, obj: Any) -> Any:
    method = user_method(obj, "__len__")
    if method is not None:
        return calls.semantics.special("__len__", method, obj)
    if type(obj) is np.ndarray and obj.ndim and not calls.session.is_made_inside(obj):
        obj = calls.session.of_array(obj)
    if isinstance(obj, GrownList):
        return obj.length()
    if isinstance(obj, Tensor) and obj.ndim and not isinstance(obj.shape[0], int):
        return calls.semantics.getattr(obj, "shape")[0]
    check_holder(calls.session, obj)
    return len(obj)


@substitute(GrownList.append)
def _append(calls: Any, grown: GrownList, element: Any) -> None:
    grown.append(element)


def _extremum(name: str) -> Callable[..., Any]:
    plain = {"max": max, "min": min}[name]

    def build(calls: Any, *args: Any, **kwargs: Any) -> Any:
        if not args or (len(args) > 1 and "default" in kwargs) or kwargs.keys() - {"key", "default"}:
            raise Uncapturable(f"{name}() of arguments that it does not take")
        if len(args) == 1 and kwargs.get("key") is not None:  # which is called for each value before the next is made
            made = key_function(calls, kwargs.pop("key"))
            pairs = [(v, made(v)) for v in calls.semantics.iterate(args[0])]
            return in_order(calls, plain, [v for v, _ in pairs], [k for _, k in pairs], **kwargs)
        values = list(calls.semantics.iterate(args[0])) if len(args) == 1 else list(args)
        numbers = all(map(is_number, values))
        if not kwargs and len(values) > 1 and numbers and any(isinstance(v, Scalar) for v in values):
            kinds = {v.kind if isinstance(v, Scalar) else type(v).__name__ for v in values}
            if len(kinds) == 1:
                return functools.reduce(lambda a, b: scalar_binary(a, b, fn=name), values)
        key = kwargs.pop("key", None)
        return in_order(calls, plain, values, keys_of(calls, values, key), **kwargs)

    return build


SUBSTITUTES[max] = _extremum("max")
SUBSTITUTES[min] = _extremum("min")


@substitute(getattr)
def _getattr(calls: Any, obj: Any, name: str, *default: Any) -> Any:
    return calls.semantics.getattr(obj, name, *default)


@substitute(hasattr)
def _hasattr(calls: Any, obj: Any, name: str) -> bool:
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


substitute(object.__getattribute__)(object_getattr)


@substitute(delattr)
def _delattr(calls: Any, obj: Any, name: str) -> None:
    calls.semantics.delattr(obj, name)


@substitute(hash, object.__hash__, Tensor.__hash__)
def _hash(calls: Any, value: Any) -> Any:
    if contains_symbolic(value):
        raise Uncapturable("the hash of a tensor, or of what is only known at run time")
    watched(type(value), "__hash__")
    return calls.call_native(hash, (value,), {})


@substitute(callable)
def _callable(calls: Any, obj: Any) -> bool:
    watched(type(obj), "__call__")
    return callable(obj)


@substitute(range)
def _range(calls: Any, *args: Any) -> Any:
    if not any(isinstance(a, Tensor | Scalar) for a in args):
        return run_native(calls.session, range, *args)
    if len(args) > 3 or not all(is_index(a) for a in args):
        raise Uncapturable("a range whose bounds are not integers")
    bounds = [as_scalar(a, "int") if isinstance(a, Tensor) else a for a in args]
    start, stop = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) == 3 else 1
    if not isinstance(step, int) or step == 0:
        raise Uncapturable("a range with a step that is only known at run time, or is zero")
    return SymbolicRange(start, stop, step)


def _sequence(kind: Any) -> Callable[..., Any]:
    def build(calls: Any, *args: Any) -> Any:
        if len(args) > 1:
            raise Uncapturable(f"{kind.__name__}() of {len(args)} arguments")
        take = calls.semantics.listed if kind in (list, tuple) else lambda a: list(calls.semantics.iterate(a))
        is_table = kind in (set, frozenset) and type(args[0] if args else ()) in (set, frozenset, dict)
        values = list(args) if is_table else [take(a) for a in args]  # a table is copied as one: its order comes along
        if kind in (set, frozenset):
            check_operand(calls.session, values)
        if is_table:
            calls.session.check_order(args[0], is_handed_on=True)
        made = kind(*values)
        return made if kind in (tuple, frozenset) else calls.world.track(made)

    return build


for _kind in (list, tuple, set, frozenset):
    SUBSTITUTES[_kind] = _sequence(_kind)


@substitute(iter)
def _iter(calls: Any, *args: Any) -> Any:
    if len(args) != 1:
        return _until(calls, *args)
    method = user_method(args[0], "__iter__")
    if method is None:
        if user_method(args[0], "__getitem__") is not None and user_method(args[0], "__len__") is not None:
            raise Uncapturable("iter() of an object that list() would ask for its length")
        return calls.semantics.iterate(args[0])
    made = calls.call(method, (args[0],), {})
    if not is_iterator(made):
        raise TypeError(f"iter() returned non-iterator of type '{type(made).__name__}'")
    return made


MOST_TURNS = 1000
"""Calls of the function of one ``iter(function, sentinel)``, after which Python is to find out when that ends."""


def _until(calls: Any, fn: Any, sentinel: Any) -> Iterator[Any]:
    """``iter(fn, sentinel)``."""
    if not callable(fn):
        raise TypeError("iter(v, w): v must be callable")

    # not a generator: in one, StopIteration of the user's function would be a RuntimeError; it ends this iterator
    left = itertools.count(MOST_TURNS, -1)

    def turn() -> Any:
        if next(left) <= 0:
            raise Uncapturable(f"iter() of a function that was called {MOST_TURNS} times without an end")
        return calls.call(fn, (), {})

    return iter(turn, _Sentinel(calls, sentinel))


class _Sentinel:
    """Equal to what the program finds equal to ``value``."""

    def __init__(self, calls: Any, value: Any) -> None:
        self._calls, self._value = calls, value

    def __eq__(self, other: Any) -> bool:
        if other is self._value:
            return True
        semantics = self._calls.semantics
        return semantics.as_bool(semantics.compare(operator.eq, self._value, other))  # type: ignore[no-any-return]

    __hash__ = None  # type: ignore[assignment]


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
def _sum(calls: Any, values: Any, /, start: Any = 0) -> Any:
    if isinstance(start, str | GraphText | bytes | bytearray):
        raise Uncapturable("a sum that starts with a text, which sum() refuses")
    compensates = COMPENSATED_SUM and _is_number(start)
    exact: list[Any] = []
    for v in calls.semantics.iterate(values):
        if compensates and _is_number(v) and not isinstance(v, Scalar) and not isinstance(start, Scalar):
            exact.append(v)  # these are added by Python itself, as soon as something else comes
            continue
        if exact:
            start, exact = sum(exact, start), []
        if compensates and _is_number(v) and _number_kind(start) == "float":
            raise Uncapturable("sum() of floats only known at run time, whose rounding errors Python adds up, too")
        integral = _number_kind(start) == "int"
        start = calls.semantics.binary(operator.add, start, v)
        compensates &= _is_number(v) or (integral and _number_kind(start) == "float")
    return sum(exact, start) if exact else start


COMPENSATED_SUM = sys.version_info >= (3, 12)
"""Whether ``sum`` adds the rounding errors of floats up (Neumaier), until it meets what is not a number."""


def _number_kind(value: Any) -> str:
    kind = value.kind if isinstance(value, Scalar) else type(value).__name__
    return "int" if kind == "bool" else kind


def _is_number(value: Any) -> bool:
    return isinstance(value, Scalar) or type(value) in (int, float, bool)


@substitute(any)
def _any(calls: Any, values: Any) -> bool:
    return any(calls.semantics.as_bool(v) for v in calls.semantics.iterate(values))


@substitute(all)
def _all(calls: Any, values: Any) -> bool:
    return all(calls.semantics.as_bool(v) for v in calls.semantics.iterate(values))


@substitute(sorted)
def _sorted(calls: Any, values: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    items = calls.semantics.listed(values)
    return calls.world.track(in_order(calls, sorted, items, keys_of(calls, items, key), reverse=reverse))


for _fn in (enumerate, zip):
    SUBSTITUTES[_fn] = lambda calls, *args, _fn=_fn, **kw: _fn(
        *[calls.semantics.iterate(a) if i == 0 or _fn is zip else a for i, a in enumerate(args)], **kw
    )


@substitute(map)
def _map(calls: Any, fn: Any, iterable: Any, *more: Any) -> Any:
    # not a generator: in one, StopIteration of the user's function would be a RuntimeError; it ends a map
    return map(lambda *values: calls.call(fn, values, {}), *[calls.semantics.iterate(i) for i in (iterable, *more)])


@substitute(filter)
def _filter(calls: Any, fn: Any, iterable: Any, /) -> Any:
    for_truth = (lambda v: v) if fn is None else (lambda v: calls.call(fn, (v,), {}))
    return filter(lambda v: calls.semantics.as_bool(for_truth(v)), calls.semantics.iterate(iterable))


@substitute(functools.wraps)
def _wraps(calls: Any, wrapped: Any, *args: Any, **kwargs: Any) -> Any:
    return functools.wraps(wrapped, *args, **kwargs)


@substitute(functools.update_wrapper)
def _update_wrapper(calls: Any, wrapper: Any, wrapped: Any, *args: Any, **kwargs: Any) -> Any:
    is_made_inside = isinstance(wrapper, CapturedFunction) or calls.world.is_tracked(wrapper)
    if not is_made_inside or any(owner is wrapped for owner, _ in calls.world.overlay.values()):
        raise Uncapturable("functools.wraps around, or of, a function whose attributes are set elsewhere")
    return functools.update_wrapper(wrapper, wrapped, *args, **kwargs)


@substitute(functools.reduce)
def _reduce(calls: Any, fn: Any, values: Any, *initial: Any) -> Any:
    it = calls.semantics.iterate(values)
    return functools.reduce(lambda a, b: calls.call(fn, (a, b), {}), it, *initial)


@substitute(str)
def _str(calls: Any, *args: Any) -> Any:
    if len(args) == 1 and contains_symbolic(args[0]):
        return args[0] if isinstance(args[0], GraphText) else formatted(args[0], "", "s")
    if args:
        text = text_of_user_object(calls, args[0])
        if text is not args[0]:
            return text
        check_text(calls.session, args[0])
    return str(*args)


@substitute(repr)
def _repr(calls: Any, obj: Any) -> Any:
    if contains_symbolic(obj):
        return formatted(obj, "", "r")
    method = user_method(obj, "__repr__")
    if method is not None:
        return calls.semantics.special("__repr__", method, obj)
    check_text(calls.session, obj)
    return repr(obj)


@substitute(format)
def _format(calls: Any, obj: Any, spec: str = "") -> Any:
    if not isinstance(spec, str):
        raise Uncapturable("a format whose specification is not a string, or is only known at run time")
    if contains_symbolic(obj):
        return formatted(obj, spec, "")
    return format_constant(calls, obj, spec)


@substitute(Tensor)
def _tensor(calls: Any, input_data: Any = None, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    is_array = type(input_data) is np.ndarray and not calls.session.is_made_inside(input_data)
    if is_array and all(x is None or x is False for x in (*args, *kwargs.values())):
        given = calls.session.of_array(input_data)
        if dtype is not None and not isinstance(dtype, DType):
            return Tensor(given, dtype)  # which raises
        if dtype is None or _converts_as_numpy(given.dtype, dtype):
            return cast(given, dtype=given.dtype if dtype is None else dtype)  # of the same dtype: a copy
        raise Uncapturable(f"a NumPy array of {given.dtype}, from outside the compiled function, made {dtype}")
    check_elements(calls.session, input_data)
    if isinstance(input_data, Tensor):
        if dtype is None or as_dtype(dtype) is input_data.dtype:
            return identity(input_data)  # another handle on the same storage
        return cast(input_data, dtype=as_dtype(dtype))
    return Tensor(input_data, dtype, *args, **kwargs)


def _converts_as_numpy(given: DType, wanted: DType) -> bool:
    """Whether operators convert elements as NumPy does, to the bit: in one rounding at most, and within range."""
    if given is wanted:
        return True
    return given.numpy.kind in "fiub" and (wanted in (float32, float64) or (given.is_integer and wanted.is_integer))


def _refused(name: str) -> Callable[..., Any]:
    def refuse(calls: Any, *args: Any, **kwargs: Any) -> Any:
        raise Uncapturable(f"the built-in function {name}()")

    return refuse


for _name in ("input", "open", "exec", "eval", "compile", "globals", "dir", "breakpoint", "memoryview"):
    SUBSTITUTES[getattr(builtins, _name)] = _refused(_name)


for _op in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
    SUBSTITUTES[_op] = lambda calls, a, b, _op=_op: calls.semantics.compare(_op, a, b)
for _op in (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
            operator.matmul, operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift):  # fmt: skip
    SUBSTITUTES[_op] = lambda calls, a, b, _op=_op: calls.semantics.binary(_op, a, b)
for _sign in (operator.neg, operator.pos, operator.invert):
    SUBSTITUTES[_sign] = lambda calls, a, _op=_sign: calls.semantics.unary(_op, a)
SUBSTITUTES[operator.getitem] = lambda calls, a, b: calls.semantics.getitem(a, b)
SUBSTITUTES[operator.contains] = lambda calls, a, b: calls.semantics.contains(a, b)
SUBSTITUTES[operator.truth] = lambda calls, a: calls.semantics.truth(a)
