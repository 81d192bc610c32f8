"""``input_signature``, and dimensions of varying size.

A pattern is a shape with ``None`` for every dimension whose size varies, or a `Symbol` where versions are made; one
compiled version serves all tensors that fit it. Patterns come from ``input_signature``, ``Cell.set_inputs`` and
``enable_dynamic`` (placeholders ``Tensor(shape=[None, 4])``), and from the second size that a dimension is seen to have
(`sizes`).
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

from duograph.base.lookup import raw_getattr, raw_hasattr
from duograph.frontend.rules import sources
from duograph.frontend.rules.facts import lookup
from duograph.frontend.rules.policy import function_kind
from duograph.frontend.rules.sources import Source
from duograph.tensor.tensor import Tensor

Pattern = tuple[Any, ...]
SUBJECT = "__compiled__"
"""The name of what a compiled function passes to its versions in front of the arguments: itself, or its Cell."""
SUBJECT_PARAMETER = inspect.Parameter(SUBJECT, inspect.Parameter.POSITIONAL_ONLY)
DECLARED = "__duograph_dynamic__"
"""The attribute in which a function keeps what `enable_dynamic` says of its arguments."""


MARKED = "__duograph_dynamic_dims__"
"""The attribute in which a tensor keeps what `mark_dynamic` says of it."""
MARKS: set[str] = set()
"""Not empty once `mark_dynamic` has been called: most programs never do."""


def pattern_of(example: Tensor) -> Pattern | None:
    """The pattern that a tensor or placeholder stands for; ``None`` if its rank is open."""
    extents = tuple(example._data.shape)
    if extents == (-2,):
        return None
    return tuple(None if n == -1 else n for n in extents)


def check_signature(signature: Sequence[Any], values: Sequence[Any]) -> None:
    """Whether the arguments fit ``input_signature``.

    Raises:
        ValueError: the number of arguments, a dtype or a shape differs.
    """
    if len(signature) != len(values):
        raise ValueError(f"The input number ({len(values)}) is not equal to the signature's ({len(signature)}).")
    for i, (want, value) in enumerate(zip(signature, values, strict=True)):
        if not isinstance(want, Tensor):
            continue
        pattern = pattern_of(want)
        fits = isinstance(value, Tensor) and value.dtype is want.dtype
        if fits and pattern is not None:
            extents = value.shape
            fits = len(pattern) == len(extents) and all(w in (None, n) for w, n in zip(pattern, extents, strict=True))
        if not fits:
            given = f"{value.dtype} {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
            wanted = "of any rank" if pattern is None else str(pattern)
            raise ValueError(f"Argument {i} is {given}, but the signature says {want.dtype} {wanted}.")


def declared_patterns(
    function: Any, owner: Any, signature: Sequence[Any] | None, names: Sequence[str], first: int
) -> dict[Source, Pattern]:
    """Patterns of the arguments of which somebody has said that dimensions are open.

    Args:
        function: what is compiled; `enable_dynamic` leaves a mark on it.
        owner: the Cell whose ``construct`` it is, if any; `Cell.set_inputs` leaves a mark on it.
        signature: ``input_signature``.
        names: of the parameters that are given.
        first: the position of the first of them that is an argument.
    """
    found: dict[Source, Pattern] = {}
    plain = raw_getattr(function, "__func__", function)
    has_inputs = lookup(type(owner), "set_inputs") is not None
    of_cell = object.__getattribute__(owner, "__dict__").get("_dynamic_shape_inputs") if has_inputs else None
    for wanted in (signature, of_cell, getattr(plain, DECLARED, None)):
        if isinstance(wanted, dict):
            named = [(names.index(name), want) for name, want in wanted.items() if name in names]
        else:
            named = [(i + first, want) for i, want in enumerate(wanted or ()) if i + first < len(names)]
        for place, want in named:
            _add_patterns(found, sources.arg(place, names[place]), want)
    return found


def marked_patterns(names: Sequence[str], values: Sequence[Any]) -> dict[Source, Pattern]:
    """Patterns of the tensors among the arguments that `mark_dynamic` was told of."""
    found: dict[Source, Pattern] = {}
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        _add_marked(found, sources.arg(place, name), value)
    return found


def _add_marked(found: dict[Source, Pattern], source: Source, value: Any, depth: int = 4) -> None:
    if type(value) is Tensor:
        dims = value.__dict__.get(MARKED, ())
        if dims:
            found[source] = tuple([None if i in dims else n for i, n in enumerate(value._data.shape)])
    elif type(value) in (list, tuple) and depth:
        for i, part in enumerate(value):
            _add_marked(found, sources.item(source, i), part, depth - 1)
    elif type(value) is dict and depth:
        for key, part in value.items():
            if type(key) in (str, int):  # others may run code when they are compared
                _add_marked(found, sources.item(source, key), part, depth - 1)


def _add_patterns(found: dict[Source, Pattern], source: Source, want: Any) -> None:
    if isinstance(want, Tensor):
        pattern = pattern_of(want)
        if pattern is not None and None in pattern:
            found[source] = pattern
    elif isinstance(want, list | tuple):
        for i, part in enumerate(want):
            _add_patterns(found, sources.item(source, i), part)


def framework_call(target: Any) -> Any:
    """``target``, or where the class of a Cell has a ``__call__`` of its own, the call that this hides."""
    if not raw_hasattr(target, "run_instead"):
        return target
    defined = [vars(base)["__call__"] for base in type(target).__mro__ if "__call__" in vars(base)]
    hidden = next(fn for fn in defined if isinstance(fn, types.FunctionType) and function_kind(fn) == "framework")
    return target if hidden is defined[0] else types.MethodType(hidden, target)


def caller(target: Any, signature: inspect.Signature, names: Sequence[str]) -> Callable[[Any, Sequence[Any]], Any]:
    """What calls ``target`` in a capture, given one value for each of the parameters ``names``."""
    kinds = [signature.parameters[name].kind for name in names]
    positional = [
        p.name for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    first_left_out = next((i for i, (n, p) in enumerate(zip(names, positional, strict=False)) if n != p), len(names))

    def call(calls: Any, held: Sequence[Any]) -> Any:
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for i, (name, kind, value) in enumerate(zip(names, kinds, held, strict=True)):
            if kind is inspect.Parameter.VAR_POSITIONAL:
                args.extend(value)
            elif kind is inspect.Parameter.VAR_KEYWORD:
                kwargs.update(value)
            elif kind is inspect.Parameter.KEYWORD_ONLY or i >= first_left_out:
                kwargs[name] = value
            else:
                args.append(value)
        return calls.call(target, tuple(args), kwargs)

    return call


def of_arguments(call: Callable[[Any, Sequence[Any]], Any]) -> Callable[[Any, Sequence[Any]], Any]:
    """``call`` for values with the function itself in front (`SUBJECT`)."""
    return lambda calls, held: call(calls, held[1:])
