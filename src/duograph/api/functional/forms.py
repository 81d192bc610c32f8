"""What the public functions share: checks of arguments, axes in every form, tables of uniform functions."""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from duograph.core import dtype as dt
from duograph.core.called import refusal
from duograph.core.dim import Dim, definitely_eq
from duograph.core.dtype import DType, as_dtype
from duograph.core.launchable import is_launchable, launchable
from duograph.core.memory import no_memory
from duograph.core.shapes import normalize_axis, numel
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from ..promote import as_tensor, describe, is_number, to_dtype, way_out

Axis = int | tuple[int, ...] | list[int] | None


def refused(title: str, /, **arguments: Any) -> TypeError:
    """MindSpore's error for arguments of a wrong type: ``Failed calling ReLU with "ReLU()(input=int)".``"""
    shown = ", ".join(f"{name}={describe(value)}" for name, value in arguments.items())
    return TypeError(f'Failed calling {title} with "{title}()({shown})".{way_out(*arguments.values())}')


refusal.fill(refused)


def need_tensor(title: str, **arguments: Any) -> None:
    """Raises MindSpore's `TypeError` unless every argument is a Tensor."""
    if not all(isinstance(x, Tensor) for x in arguments.values()):
        raise refused(title, **arguments)


def need_sequence(op: str, name: str, values: Any) -> list[Any]:
    """A list or tuple of tensors as a list.

    Raises:
        TypeError: it is something else.
        ValueError: it is empty.
    """
    if not isinstance(values, list | tuple):
        raise TypeError(f"For '{op}', the '{name}' must be list or tuple of tensors, but got {describe(values)}.")
    if not values:
        raise ValueError(f"For primitive[{op}], the elements size must be greater than 0, but got 0.")
    return list(values)


def as_float(x: Any) -> Tensor:
    """``x`` as a tensor whose functions are floating: bool and integers become float32."""
    x = as_tensor(x)
    return to_dtype(x, dt.float32) if x.dtype.is_bool or x.dtype.is_integer else x


def in_dtype(x: Tensor, dtype: Any) -> Tensor:
    """``x`` in ``dtype``; as it is for ``None``."""
    return x if dtype is None else to_dtype(x, as_dtype(dtype))


def static_int(value: Any, op: str, name: str) -> Any:
    """An ``int`` argument, which may come as a tensor of one element.

    Raises:
        TypeError: it is not an integer.
    """
    if isinstance(value, Tensor):
        return hooks.as_python_number(value, "index")
    if isinstance(value, bool | float | str) or value is None:
        raise TypeError(f"For '{op}', the '{name}' must be int, but got '{type(value).__name__}'.")
    return value


def axis_of(axis: Any, x: Tensor, op: str) -> int:
    """One axis, counted from the front.

    Raises:
        TypeError: ``axis`` is not an int.
        ValueError: it is out of range.
    """
    return normalize_axis(static_int(axis, op, "axis"), x.ndim, op)


def axes_of(axis: Any, x: Tensor, op: str) -> tuple[int, ...]:
    """The axes of a reduction, counted from the front; ``None`` and ``()`` mean all.

    Raises:
        TypeError: an entry is not an int.
        ValueError: an entry is out of range.
        RuntimeError: an axis appears twice.
    """
    if isinstance(axis, Tensor):
        axis = hooks.value_of(axis, f"the axis of '{op}'").reshape(-1).tolist()
    if axis is None or (isinstance(axis, list | tuple) and not axis):
        return tuple(range(x.ndim))
    entries: Iterable[Any] = axis if isinstance(axis, list | tuple) else (axis,)
    found: list[int] = []
    for entry in entries:
        i = axis_of(entry, x, op)
        if i in found:
            raise RuntimeError(f"dim={entry} appears multiple times in the list of dims")
        found.append(i)
    return tuple(sorted(found)) if x.ndim else ()


def one_per_axis(value: Any, rank: int, op: str, name: str) -> tuple[int, ...]:
    """An int for every spatial axis, or one per axis as given.

    Raises:
        ValueError: the number of entries is wrong.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,) * rank
    if isinstance(value, Tensor):
        value = hooks.value_of(value, f"the '{name}' of '{op}'").reshape(-1).tolist()
    if not isinstance(value, list | tuple):
        raise TypeError(f"For '{op}', the '{name}' must be int, tuple or list, but got {type(value).__name__}.")
    given = tuple(value)
    if len(given) == rank + 2:
        given = given[2:]
    if len(given) == 1:
        given = given * rank
    if len(given) != rank:
        raise ValueError(f"For '{op}', the '{name}' must be an int or {rank} ints, but got {value}.")
    return given


def contents(variable: Any) -> Any:
    """What functions that write in place give back: of a Parameter a Tensor that shares its storage."""
    return variable.value() if getattr(variable, "is_parameter", False) else variable


def dtype_or(dtype: Any, default: DType) -> DType:
    """User's dtype, or the default for ``None``."""
    return default if dtype is None else as_dtype(dtype)


def enough_memory(op: str, shape: tuple[int, ...], dtype: DType) -> None:
    """Raises before work begins that no machine has room for: what is made is listed by Python or NumPy, not by an op.

    Raises:
        MemoryError: the list would be larger than the memory of this machine.
    """
    if numel(shape) * dtype.itemsize > memory_of_machine():
        raise no_memory(op, tuple(shape), dtype)


@functools.cache
def memory_of_machine() -> int:
    """Bytes of main memory; 8 GiB where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 8 << 30


def on_cpu(op: str, device: Any) -> None:
    """Raises unless ``device`` is ``None`` or names the CPU.

    Raises:
        ValueError: another device.
    """
    if device is not None and str(device).split(":")[0].upper() != "CPU":
        raise ValueError(f"For '{op}', the 'device' must be None or 'CPU': there is no {device!r} here.")


def only(op: str, name: str, value: Any, *allowed: Any) -> None:
    """Raises unless ``value`` is one of ``allowed``: for arguments that only other devices give a meaning to.

    Raises:
        ValueError: another value.
    """
    if not any(value is choice or (type(value) is type(choice) and value == choice) for choice in allowed):
        shown = " or ".join(repr(choice) for choice in allowed)
        raise ValueError(f"For '{op}', the '{name}' must be {shown} on CPU, but got {value!r}.")


def renamed(
    fn: Callable[..., Any], public: str = "", weak_numbers: bool = False, home: str = "ops", /, **names: str
) -> Callable[..., Any]:
    """``fn`` with other names of its parameters (``old="new"``), and under the name ``public`` of ``home`` if one is
    given; so is its docstring.

    The code is the same: a function that native code stands in for stays one (``weak_numbers`` as in `launchable`).
    """
    plain: Any = inspect.unwrap(fn)
    code = plain.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    missing = set(names) - set(code.co_varnames[:count])
    if missing:
        raise TypeError(f"{plain.__name__}() has no parameters {sorted(missing)}")
    known, cells = ([names.get(n, n) for n in found] for found in (code.co_varnames, code.co_cellvars))
    code = code.replace(co_varnames=tuple(known), co_cellvars=tuple(cells))  # a parameter that is a cell is in both
    made = FunctionType(code, plain.__globals__, public or fn.__name__, plain.__defaults__, plain.__closure__)
    made.__kwdefaults__ = {names.get(k, k): v for k, v in (plain.__kwdefaults__ or {}).items()} or None
    own = fn.__name__
    calls = {f"ops.{own}(": f"{home}.{public}(", f".{own}(": f".{public}("} if public else {}
    made.__doc__, made.__module__ = _with_names(fn.__doc__ or "", names, calls), fn.__module__
    return launchable(made, weak_numbers) if is_launchable(fn) else made


def _with_names(doc: str, names: dict[str, str], calls: dict[str, str]) -> str:
    """A docstring with other names of parameters, where it speaks of them, and of functions, where it calls them."""
    if names:
        word = re.compile(rf"\b({'|'.join(names)})\b")

        def other(found: re.Match[str]) -> str:
            return word.sub(lambda name: names[name[1]], found[0])

        spoken = re.compile(r"``.*?``|^ +\w+(?=:| \()|\b\w+(?==)", re.MULTILINE)  # code, rows of Args, keywords
        doc = spoken.sub(other, doc)
    for before, after in calls.items():
        doc = doc.replace(before, after)
    return doc


def named(fn: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    """``fn`` under the public ``name``; for functions that are made by a table."""
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = doc
    return fn


def documented(doc: str, returns: str, *examples: str) -> str:
    """``doc`` with what is returned, and calls, each followed by what it prints: for functions that a table makes."""
    body, raises, errors = inspect.cleandoc(doc).partition("\n\nRaises:")
    shown = ""
    for call, printed in zip(examples[::2], examples[1::2], strict=True):
        shown += f"\n    >>> print({call})" + "".join(f"\n    {line}" for line in printed.split("\n"))
    return f"{body}\n\nReturns:\n    {returns}{raises}{errors}\n\nExamples:{shown}\n"


FOUR_AND_TWO = {
    "add": 6, "sum": 6, "sub": 2, "mul": 8, "prod": 8, "div": 2, "max": 4, "min": 2, "update": 2, "none": 2,
}  # fmt: skip
"""What the examples of reductions and scatters make of 4 and 2."""

_UNARY_SECTIONS = """

Args:
    {arg} (Tensor): the operand.

Returns:
    Tensor, of the shape of ``{arg}``.

Raises:
    TypeError: ``{arg}`` is not a Tensor.

Supported Platforms:
    ``CPU``

Examples:
    >>> print(ops.{name}({sample}).shape)
    (2,)
"""
_BINARY_SECTIONS = """

Args:
    {first} (Union[Tensor, number]): first operand.
    {second} (Union[Tensor, number]): second operand; shapes broadcast, dtypes promote.

Returns:
    Tensor, of the shape both operands broadcast to.

Supported Platforms:
    ``CPU``

Examples:
    >>> print(ops.{name}({sample}, {sample}).shape)
    (2,)
"""


def _sample(name: str) -> str:
    """An operand for the example of function ``name``."""
    integral = "bitwise" in name or name in ("gcd", "lcm", "invert")
    return "Tensor([2, 3])" if integral else "Tensor([0.25, 0.5])"


def unary_function(name: str, compute: Callable[[Tensor], Tensor], title: str, arg: str, doc: str) -> Any:
    """The public function ``name(input)`` (or ``name(x)``) of one tensor."""
    if arg == "x":

        def function(x: Any) -> Tensor:
            if not isinstance(x, Tensor):
                raise refused(title, x=x)
            return compute(x)

    else:

        def function(input: Any) -> Tensor:  # type: ignore[misc]
            if not isinstance(input, Tensor):
                raise refused(title, input=input)
            return compute(input)

    return named(function, name, doc + _UNARY_SECTIONS.format(name=name, arg=arg, sample=_sample(name)))


def binary_function(name: str, compute: Callable[[Any, Any], Tensor], args: tuple[str, str], doc: str) -> Any:
    """The public function ``name(input, other)`` (or ``name(x, y)``) of two operands."""
    if args == ("x", "y"):

        def function(x: Any, y: Any) -> Tensor:
            return compute(x, y)

    else:

        def function(input: Any, other: Any) -> Tensor:  # type: ignore[misc]
            return compute(input, other)

    sections = _BINARY_SECTIONS.format(name=name, first=args[0], second=args[1], sample=_sample(name))
    return named(function, name, doc + sections)


_not_public: set[Any] = set()


def not_public(function: Any) -> Any:
    """Marks a function of a family that other families use, and that ``duograph.ops`` does not show."""
    _not_public.add(function)
    return function


def public_functions(family: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """The functions and classes that are written in a family, but for private and marked ones: what is written there
    is public, and a table adds what other functions make."""
    return {
        name: value
        for name, value in family.items()
        if name[0] != "_" and isinstance(value, FunctionType | type)
        if value.__module__ == family["__name__"] and value not in _not_public
    }


__all__ = [
    "FOUR_AND_TWO", "Axis", "as_float", "as_tensor", "axes_of", "axis_of", "binary_function", "contents", "documented",
    "dtype_or", "enough_memory", "in_dtype", "is_number", "named", "need_sequence", "need_tensor", "not_public",
    "on_cpu", "one_per_axis", "only", "public_functions", "refused", "renamed", "static_int", "to_dtype",
    "unary_function",
]  # fmt: skip


# ---- parts of sparse tensors ----------------------------------------------------------------------------------------

_INDICES = (dt.int16, dt.int32, dt.int64)
_SIZE = (int, Dim)


def check_sparse(kind: str, shape: Any, indices: Any, values: Any, indptr: Any = None) -> None:
    """Raises unless the parts of a sparse tensor of this kind are of the right types, and may fit each other."""
    tensors = {"indices": indices, "values": values} | ({"indptr": indptr} if kind == "CSRTensor" else {})
    for name, value in tensors.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"For '{kind}', the '{name}' must be a Tensor, but got {type(value).__name__}.")
        if name != "values" and value.dtype not in _INDICES:
            raise TypeError(f"For '{kind}', the '{name}' must be int16, int32 or int64, but got {value.dtype}.")
    if not isinstance(shape, tuple):
        raise TypeError(f"For '{kind}', the 'shape' must be a tuple of ints, but got {shape!r}.")
    count = tuple(values.shape[:1])
    fitting: list[tuple[str, Any, Any]] = [("indices", indices.shape, (*count, 2) if kind == "COOTensor" else count)]
    if kind == "RowTensor":
        fitting.append(("values", values.shape[1:], shape[1:]))
    else:
        fitting += [("values", values.shape, count), ("shape", (len(shape),), (2,))]
    if kind == "CSRTensor":
        fitting.append(("indptr", indptr.shape, (shape[0] + 1,)))
    for name, found, wanted in fitting:
        extents = zip(found, wanted, strict=False)
        differ = [
            a for a, b in extents if isinstance(a, _SIZE) and isinstance(b, _SIZE) and definitely_eq(a, b) is False
        ]
        if len(found) != len(wanted) or differ:
            raise ValueError(f"For '{kind}', the '{name}' must have the shape {tuple(wanted)}, but got {tuple(found)}.")
