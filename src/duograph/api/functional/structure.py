"""Functions of functions, order, writes: ``HyperMap``, ``MultitypeFuncGraph``, ``partial``, ``depend``, ``assign`` ...

User functions are called through `autodiff.hooks.call_user`, so that a capture interprets them.
"""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from duograph.autodiff.hooks import call_user
from duograph.base.absent import says_instead
from duograph.core import dtype as dt
from duograph.ops import arithmetic
from duograph.ops.cast import cast
from duograph.ops.creation import constant_like
from duograph.ops.movement import expand_dims, reshape
from duograph.ops.norm import global_norm as global_norm_op
from duograph.ops.scalar import Scalar
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

from ..promote import as_tensor, is_number, python_type, to_dtype
from .forms import FOUR_AND_TWO, contents, documented, named, need_tensor, public_functions
from .index import FUNCTIONS as index_functions
from .sparse import COOTensor, CSRTensor, RowTensor

# ---- maps over structures -------------------------------------------------------------------------------------------


class Map:
    """Applies a function to the items of sequences in turn; gives a tuple.

    Args:
        ops: the function, or ``None`` to give it with the call.
        reverse: run from the last item to the first (the results keep their places).

    Raises:
        TypeError: an argument is not a list or tuple.

    Returns:
        Any, of the structure of the operands: what the function gives for each element.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> ops.Map(lambda a, b: a + b)((1, 2), (3, 4))
        (4, 6)
    """

    nested = False

    def __init__(self, ops: Any = None, reverse: bool = False) -> None:
        self.ops, self.reverse = ops, reverse

    def __call__(self, *args: Any) -> Any:
        fn, sequences = (self.ops, args) if self.ops is not None else (args[0], args[1:])
        if not sequences or not any(isinstance(s, list | tuple | dict) for s in sequences):
            if self.nested and sequences:
                return call_user(fn, sequences, {})
            raise TypeError(f"For '{type(self).__name__}', the arguments must be lists or tuples, but got {sequences}.")
        return self._mapped(fn, sequences)

    def _mapped(self, fn: Any, sequences: Sequence[Any]) -> Any:
        if isinstance(sequences[0], dict):
            return {k: self._item(fn, tuple(s[k] for s in sequences)) for k in sequences[0]}
        rows = list(zip(*sequences, strict=False))
        order = reversed(range(len(rows))) if self.reverse else range(len(rows))
        results = {i: self._item(fn, rows[i]) for i in order}
        return tuple(results[i] for i in range(len(rows)))

    def _item(self, fn: Any, row: tuple[Any, ...]) -> Any:
        return call_user(fn, row, {})


class HyperMap(Map):
    """As `Map`, but goes down into nested lists, tuples and dicts.

    Args:
        ops: the function, or ``None`` to give it with the call.
        reverse: run from the last item to the first.

    Returns:
        Any, of the structure of the operands: what the function gives for each element.

    Raises:
        TypeError: an argument or an operand has an unsupported type.

    Examples:
        >>> squares = ops.HyperMap()(ops.square, [Tensor(2.0), (Tensor(3.0), Tensor(4.0))])
        >>> print(squares[0], squares[1][0], squares[1][1])
        4.0 9.0 16.0
    """

    nested = True

    def _item(self, fn: Any, row: tuple[Any, ...]) -> Any:
        if any(isinstance(v, list | tuple | dict) for v in row) and not _takes(fn, row):
            return self._mapped(fn, row)
        return call_user(fn, row, {})


def _takes(fn: Any, row: tuple[Any, ...]) -> bool:
    """Whether a MultitypeFuncGraph has a function for exactly these containers."""
    return isinstance(fn, MultitypeFuncGraph) and fn.find(row) is not None


_KINDS: dict[str, Callable[[Any], bool]] = {
    "tensor": lambda v: isinstance(v, Tensor),
    "rowtensor": lambda v: isinstance(v, RowTensor),
    "cootensor": lambda v: isinstance(v, COOTensor),
    "csrtensor": lambda v: isinstance(v, CSRTensor),
    "number": is_number,
    "bool": lambda v: is_number(v) and python_type(v) is bool,
    "int": lambda v: is_number(v) and python_type(v) is int,
    "float": lambda v: is_number(v) and python_type(v) is float,
    "string": lambda v: isinstance(v, str),
    "tuple": lambda v: isinstance(v, tuple),
    "list": lambda v: isinstance(v, list),
    "dictionary": lambda v: isinstance(v, dict),
    "none": lambda v: v is None,
    "function": lambda v: callable(v) and not isinstance(v, Tensor | Scalar),
    "any": lambda v: True,
}
_SPELLINGS = {
    "type_none": "none", "dict": "dictionary", "tensortype": "tensor", "parameter": "tensor", "ref": "tensor",
    "problem": "any", "anything": "any",
}  # fmt: skip


def _kind(signature: Any) -> str:
    """The name of a kind, from MindSpore's string or type object."""
    text = signature if isinstance(signature, str) else str(signature)
    name = text.lower().rstrip("_").split("[")[0]
    name = _SPELLINGS.get(name, name)
    if name in _KINDS:
        return name
    if isinstance(signature, dt.DType):
        return "bool" if signature.is_bool else "int" if signature.is_integer else "float"
    for prefix in ("bool", "int", "uint", "float"):
        if name.startswith(prefix):
            return prefix.lstrip("u")
    raise ValueError(f"For 'MultitypeFuncGraph', the type {signature!r} is not known.")


@says_instead("MultitypeFuncGraph")
class MultitypeFuncGraph:
    """One name for several functions, chosen by the types of the arguments.

    Args:
        name: name of the whole.
        read_value: kept for compatibility.

    Raises:
        ValueError: no function fits the arguments (when called).

    Returns:
        Any, what the function that is registered for the types of the operands returns.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> add = ops.MultitypeFuncGraph("add")
        >>> @add.register("Number", "Number")
        ... def _(x, y):
        ...     return x + y
        >>> add(1, 2)
        3
    """

    def __init__(self, name: str, read_value: bool = False, doc_url: str = "") -> None:
        if not isinstance(name, str):
            raise TypeError(f"For 'MultitypeFuncGraph', the 'name' must be str, but got {type(name).__name__}.")
        self.name, self.read_value = name, read_value
        self.entries: list[tuple[tuple[str, ...], Any]] = []

    def register(self, *type_names: Any) -> Callable[[Any], Any]:
        """Decorator: registers a function for arguments of these types, e.g. ``"Tensor"`` and ``"Number"``."""
        kinds = tuple(_kind(t) for t in type_names)

        def decorate(fn: Any) -> Any:
            self.entries.append((kinds, fn))
            return fn

        return decorate

    def find(self, args: Sequence[Any]) -> Any | None:
        """The function for ``args``; ``None`` if there is none."""
        for kinds, fn in self.entries:
            if len(kinds) == len(args) and all(_KINDS[k](v) for k, v in zip(kinds, args, strict=True)):
                return fn
        return None

    def __call__(self, *args: Any) -> Any:
        fn = self.entries[0][1] if len(self.entries) == 1 else self.find(args)  # MindSpore: a sole one takes all
        if fn is None:
            raise ValueError(
                f"For 'MultitypeFuncGraph', cannot find fn match given args. Got (sigs, fn): {self.entries}, "
                f"and (dtype, args): ({[type(a).__name__ for a in args]}, {args})."
            )
        return call_user(fn, args, {})

    def __repr__(self) -> str:
        return f"MultitypeFuncGraph<{self.name}>"


def partial(func: Callable[..., Any], *args: Any) -> functools.partial[Any]:
    """``func`` with its first arguments given.

    Returns:
        functools.partial

    Examples:
        >>> print(ops.partial(ops.add, Tensor([1]))(Tensor([2])))
        [3]
    """
    return functools.partial(func, *args)


# ---- order --------------------------------------------------------------------------------------------


def depend(value: Any, expr: Any) -> Any:
    """``value``, after ``expr`` was computed; programs run in order, so this is ``value``.

    Returns:
        ``value`` itself.

    Examples:
        >>> print(ops.depend(Tensor([1]), Tensor([2])))
        [1]
    """
    return value


def print_(*input_x: Any) -> None:
    """Prints every argument on a line of its own; tensors as their ``repr``.

    Returns:
        None.

    Examples:
        >>> ops.print_("loss", 3)
        loss
        3
    """
    for value in input_x:
        text = call_user(builtins.repr, (value,), {}) if isinstance(value, Tensor) else value
        call_user(builtins.print, (text,), {})


# ---- writes ---------------------------------------------------------------------------------------------------------


def _checked_value(op: str, variable: Any, value: Any) -> Tensor:
    if not isinstance(variable, Tensor):
        raise TypeError(f"For '{op}', the 'variable' must be a Parameter or Tensor, but got {type(variable).__name__}.")
    new = as_tensor(value, variable.dtype)
    if new.ndim != variable.ndim:
        raise ValueError(
            f"For '{op}','value' must have the same rank as 'variable'. But got 'value' rank: {new.ndim}, "
            f"'variable' rank: {variable.ndim}."
        )
    if tuple(new.shape) != tuple(variable.shape):
        raise ValueError(
            f"For '{op}','value' must have the same shape as 'variable'. But got 'value' shape: "
            f"({', '.join(map(str, new.shape))}), 'variable' shape: ({', '.join(map(str, variable.shape))})."
        )
    return new


def assign(variable: Any, value: Any) -> Any:
    """Writes ``value`` into ``variable`` in place.

    Args:
        variable: the Parameter.
        value: a tensor of its shape; cast to its dtype.

    Returns:
        The contents of the Parameter, as a Tensor that shares its storage.

    Raises:
        ValueError: shapes differ.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.assign(ms.Parameter(Tensor([1.0])), Tensor([2.0])))
        [2.]
    """
    new = _checked_value("Assign", variable, value)
    write(variable, new)
    return contents(variable)


def assign_add(variable: Any, value: Any) -> Any:
    """Adds ``value`` to ``variable`` in place and gives its contents.

    Returns:
        The contents of ``variable`` after it.

    Examples:
        >>> print(ops.assign_add(ms.Parameter(Tensor([1.0])), Tensor([2.0])))
        [3.]
    """
    write(variable, arithmetic.add(variable, _checked_value("AssignAdd", variable, value)))
    return contents(variable)


def assign_sub(variable: Any, value: Any) -> Any:
    """Subtracts ``value`` from ``variable`` in place and gives its contents.

    Returns:
        The contents of ``variable`` after it.

    Examples:
        >>> print(ops.assign_sub(ms.Parameter(Tensor([1.0])), Tensor([2.0])))
        [-1.]
    """
    write(variable, arithmetic.sub(variable, _checked_value("AssignSub", variable, value)))
    return contents(variable)


def _scattered(name: str) -> Callable[..., Any]:
    """In-place scatter: slices of ``input_x`` along the first axis at ``indices`` are combined with ``updates``."""
    how = name.removeprefix("scatter_").removeprefix("nd_")
    title = "".join(part.capitalize() for part in name.split("_"))

    def function(input_x: Any, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Any:
        need_tensor(title, input_x=input_x, indices=indices, updates=updates)
        rows = indices if name.startswith("scatter_nd") else expand_dims(indices, indices.ndim)
        write(input_x, index_functions[f"tensor_scatter_{how}"](input_x, rows, updates))
        return contents(input_x)

    function.__name__ = name
    rows = "[[1]]" if name.startswith("scatter_nd") else "[1]"
    function.__doc__ = documented(
        f"Writes ``updates`` ({how}) into ``input_x`` in place and gives its contents.",
        "The contents of ``input_x`` after it.",
        f"ops.{name}(ms.Parameter(Tensor([8, 4])), Tensor({rows}), Tensor([2]))", f"[8 {FOUR_AND_TWO[how]}]",
    )  # fmt: skip
    return function


def inplace_update(x: Any, v: Tensor, indices: Any) -> Any:
    """``x`` with the rows ``indices`` replaced by ``v``.

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Examples:
        >>> print(ops.inplace_update(Tensor([[1, 2], [3, 4]]), Tensor([[0, 0]]), (1,)))
        [[1 2]
         [0 0]]
    """
    return _rows(x, v, indices, "update")


def _rows(x: Any, v: Tensor, indices: Any, how: str) -> Any:
    places = (indices,) if isinstance(indices, int) else indices
    index = as_tensor(places, dt.int64)
    return index_functions[f"tensor_scatter_{how}"](x, reshape(index, shape=(index.shape[0], 1)), v)


def inplace_add(x: Any, v: Tensor, indices: Any) -> Any:
    """``x`` with ``v`` added to the rows ``indices``.

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Examples:
        >>> print(ops.inplace_add(Tensor([[1, 2], [3, 4]]), Tensor([[1, 1]]), (1,)))
        [[1 2]
         [4 5]]
    """
    return _rows(x, v, indices, "add")


def inplace_sub(x: Any, v: Tensor, indices: Any) -> Any:
    """``x`` with ``v`` subtracted from the rows ``indices``.

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Examples:
        >>> print(ops.inplace_sub(Tensor([[1, 2], [3, 4]]), Tensor([[1, 1]]), (1,)))
        [[1 2]
         [2 3]]
    """
    return _rows(x, v, indices, "sub")


def clip_by_global_norm(x: Any, clip_norm: float = 1.0, use_norm: Any = None) -> tuple[Tensor, ...]:
    """All tensors scaled by one factor so that their joint 2-norm is at most ``clip_norm``.

    Returns:
        tuple[Tensor, ...], of the shapes and dtypes of ``x``.

    Raises:
        TypeError: ``x`` is not a list or tuple of tensors.

    Examples:
        >>> print(*ops.clip_by_global_norm([Tensor([3.0]), Tensor([4.0])], 1.0))
        [0.6] [0.8]
    """
    if not isinstance(x, list | tuple) or not all(isinstance(t, Tensor) for t in x):
        raise TypeError("For 'clip_by_global_norm', 'x' must be a list or tuple of tensors.")
    if use_norm is None:
        common = [to_dtype(t, dt.float32) if t.dtype is not x[0].dtype else t for t in x]
        norm = global_norm_op(common)
    else:
        norm = as_tensor(use_norm)
    limit = constant_like(norm, clip_norm)
    divisor = arithmetic.maximum(norm, limit)
    return tuple(arithmetic.div(arithmetic.mul(t, to_dtype(limit, t.dtype)), to_dtype(divisor, t.dtype)) for t in x)


# ---- numbers --------------------------------------------------------------------------------------------------------


def _scalar_function(name: str, fn: Callable[..., Any], text: str, args: str) -> Callable[..., Any]:
    def function(x: Any, y: Any) -> Any:
        return fn(x, y)

    function.__name__ = name
    function.__doc__ = _of_values(name, text, args)
    return function


def _of_values(name: str, text: str, args: str) -> str:
    """The docstring of a function of plain Python values that says ``text``; its example is computed by it."""
    operands, _, printed = args.partition(" -> ")
    return documented(f"{text}, of Python values.", "The same as Python's.", f"ops.{name}({operands})", printed)


def scalar_cast(input_x: Any, input_y: Any) -> Any:
    """A number as Python's number of the kind of ``input_y``.

    Returns:
        int, float or bool

    Examples:
        >>> print(ops.scalar_cast(3.7, ms.int64))
        3
    """
    target = dt.as_dtype(input_y)
    if isinstance(input_x, Tensor):
        return cast(input_x, dtype=target)
    return bool(input_x) if target.is_bool else int(input_x) if target.is_integer else float(input_x)


def typeof(x: Any) -> Any:
    """The type of a value: a dtype for tensors, else the Python class.

    Returns:
        A dtype or a class.

    Examples:
        >>> print(ops.typeof(1))
        <class 'int'>
    """
    return x.dtype if isinstance(x, Tensor) else type(x)


_SCALAR: dict[str, tuple[Callable[..., Any], str, str]] = {
    # name: (function, what it is, operands of the example and its result)
    "scalar_add": (lambda x, y: x + y, "``x + y``", "7, 2 -> 9"),
    "scalar_sub": (lambda x, y: x - y, "``x - y``", "7, 2 -> 5"),
    "scalar_mul": (lambda x, y: x * y, "``x * y``", "7, 2 -> 14"),
    "scalar_div": (lambda x, y: x / y, "``x / y``", "7, 2 -> 3.5"),
    "scalar_floordiv": (lambda x, y: x // y, "``x // y``", "7, 2 -> 3"),
    "scalar_mod": (lambda x, y: x % y, "``x % y``", "7, 2 -> 1"),
    "scalar_pow": (lambda x, y: x**y, "``x ** y``", "7, 2 -> 49"),
    "scalar_eq": (lambda x, y: x == y, "``x == y``", "7, 2 -> False"),
    "scalar_ne": (lambda x, y: x != y, "``x != y``", "7, 2 -> True"),
    "scalar_lt": (lambda x, y: x < y, "``x < y``", "7, 2 -> False"),
    "scalar_le": (lambda x, y: x <= y, "``x <= y``", "7, 2 -> False"),
    "scalar_gt": (lambda x, y: x > y, "``x > y``", "7, 2 -> True"),
    "scalar_ge": (lambda x, y: x >= y, "``x >= y``", "7, 2 -> True"),
    "scalar_max": (max, "The larger one", "7, 2 -> 7"),
    "scalar_min": (min, "The smaller one", "7, 2 -> 2"),
    "bool_and": (lambda x, y: x and y, "``x and y``", "True, False -> False"),
    "bool_or": (lambda x, y: x or y, "``x or y``", "True, False -> True"),
    "bool_eq": (lambda x, y: x == y, "``x == y``", "True, False -> False"),
    "string_eq": (lambda x, y: x == y, "``x == y``", "'a', 'b' -> False"),
    "string_concat": (lambda x, y: x + y, "``x + y``", "'a', 'b' -> ab"),
    "tuple_getitem": (lambda x, y: x[y], "``x[y]``", "(7, 2), 1 -> 2"),
    "list_getitem": (lambda x, y: x[y], "``x[y]``", "[7, 2], 1 -> 2"),
    "dict_getitem": (lambda x, y: x[y], "``x[y]``", "{'a': 7}, 'a' -> 7"),
    "in_dict": (lambda x, y: x in y, "``x in y``", "'a', {'a': 7} -> True"),
    "not_in_dict": (lambda x, y: x not in y, "``x not in y``", "'a', {'a': 7} -> False"),
    "is_": (lambda x, y: x is y, "``x is y``", "None, None -> True"),
    "is_not": (lambda x, y: x is not y, "``x is not y``", "None, None -> False"),
}  # fmt: skip


FUNCTIONS = public_functions(globals()) | {
    **{f"scatter_{how}": _scattered(f"scatter_{how}") for how in ("add", "sub", "mul", "div", "max", "min", "update")},
    **{
        f"scatter_nd_{how}": _scattered(f"scatter_nd_{how}")
        for how in ("add", "sub", "mul", "div", "max", "min", "update")
    },
    **{name: _scalar_function(name, *row) for name, row in _SCALAR.items()},
    "scalar_log": math.log,
    "tuple_len": len,
    "list_len": len,
    "make_slice": slice,
    "make_range": range,
    **{
        name: named(fn, name, _of_values(name, text, args))
        for name, fn, text, args in (
            ("scalar_uadd", lambda x: +x, "``+x``", "7 -> 7"),
            ("scalar_usub", lambda x: -x, "``-x``", "7 -> -7"),
            ("bool_not", lambda x: not x, "``not x``", "True -> False"),
            ("make_tuple", lambda *args: args, "The arguments as a tuple", "7, 2 -> (7, 2)"),
            ("make_list", lambda *args: list(args), "The arguments as a list", "7, 2 -> [7, 2]"),
            ("tuple_reversed", lambda x: tuple(reversed(x)), "The items in reverse order", "(7, 2) -> (2, 7)"),
            ("tail", lambda x: x[1:], "All items but the first", "(7, 2) -> (2,)"),
        )
    },
}  # fmt: skip
