"""Strings that depend on values known at run time: ``f"{x}"``, ``"%s" % x``, ``str(x)``, messages of exceptions."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from duograph.base.lookup import raw_hasattr
from duograph.core.op import state
from duograph.ops.numpy_scalar import NumpyScalar
from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor, wrap

from ..rules.errors import Uncapturable
from ..rules.sources import Source
from .restricted import Restricted
from .world import new_tuple

MAX_SAMPLE = 1024
"""Elements of a tensor that stands in for one whose contents are only known at run time."""


class GraphText:
    """A string made of constant pieces and run-time values with the function that formats each.

    It can be concatenated, formatted into another string, printed, returned and stored. Asking what it says while the
    graph is being built cannot be captured.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: list[str | tuple[Callable[[Any], str], Any]]) -> None:
        self.parts = parts

    @property
    def found(self) -> UnreadText | None:
        """What it says if it is a text from outside, as it is."""
        part = self.parts[0] if len(self.parts) == 1 else ""
        return part[1] if isinstance(part, tuple) and part[0] is str and type(part[1]) is UnreadText else None

    def __add__(self, other: Any) -> Any:
        if isinstance(other, str):
            return GraphText([*self.parts, other])
        return GraphText([*self.parts, *other.parts]) if isinstance(other, GraphText) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return GraphText([other, *self.parts]) if isinstance(other, str) else NotImplemented

    def _unknown(self, *_: Any, **__: Any) -> Any:
        raise refusal("what is said by", self)

    __str__ = __repr__ = __len__ = __bool__ = __eq__ = __contains__ = __getitem__ = __iter__ = __format__ = __hash__ = (
        _unknown  # type: ignore[assignment]
    )

    def __getattr__(self, name: str) -> Any:
        raise refusal(f"str.{name} of", self)

    def attribute(self, name: str) -> Any:
        """An attribute of the string that a program asks for."""
        if name == "__class__":
            return str
        if not hasattr(str, name):
            raise AttributeError(f"'str' object has no attribute {name!r}", name=name, obj=self)
        raise refusal(f"str.{name} of", self)


def refusal(what: str, text: Any) -> Uncapturable:
    """Why something cannot be done to a text that is only known at run time."""
    found = frozenset(_found_in(text))
    kind = UnreadText.why if found else "a string that depends on tensor values, which is only known at run time"
    error = Uncapturable(f"{what} {kind}")
    error.needed = found
    return error


def _found_in(value: Any) -> Iterator[Source]:
    """Where the texts from outside are found that a text consists of, as `Session.dynamic` has it."""
    if type(value) is UnreadText:
        yield value.known_as
    elif isinstance(value, GraphText | tuple | list):
        for part in value.parts if isinstance(value, GraphText) else value:
            yield from _found_in(part)


class UnreadText(Restricted):
    """What a text from outside says that is another one in each call: a program may only hand it on."""

    __slots__ = ("known_as", "source")
    why = "a text that is another one in each call"

    def __init__(self, source: Source, known_as: Source) -> None:
        self.source, self.known_as = source, known_as

    def refuse(self, *_: Any) -> NoReturn:
        raise refusal("what is said by", self)


_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


def _check_spec(spec: str) -> None:
    if spec.endswith("c") or "{" in spec:
        _refuse_range()


def _refuse_range() -> None:
    raise Uncapturable("a text that some run-time numbers cannot be put into")


@dataclass(frozen=True, slots=True)
class Format:
    """``format(convert(v), spec)``."""

    spec: str
    conversion: str

    def __post_init__(self) -> None:
        _check_spec(self.spec)

    def __call__(self, value: Any) -> str:
        if self.conversion:
            value = _CONVERSIONS[self.conversion](value)
        return format(value, self.spec)


@dataclass(frozen=True, slots=True)
class Pick:
    """One of these texts, by its number."""

    texts: tuple[str, ...]

    def __call__(self, number: int) -> str:
        return self.texts[number]


_RANGED = re.compile(r"%(\(\w*\))?[-#0 +]*(\*|\d*\.?\*|\d*(\.\d+)?[hlL]?c)")
"""A character by its number, or a width among the values."""


@dataclass(frozen=True, slots=True)
class Percent:
    """``template % values``."""

    template: str

    def __post_init__(self) -> None:
        if _RANGED.search(self.template):
            _refuse_range()

    def __call__(self, values: Any) -> str:
        return self.template % values


@dataclass(frozen=True, slots=True)
class Template:
    """``template.format(*args, **kwargs)``; the value is the pair of both."""

    template: str

    def __post_init__(self) -> None:
        for _, _, spec, _ in string.Formatter().parse(self.template):
            _check_spec(spec or "")

    def __call__(self, values: Any) -> str:
        args, kwargs = values
        return self.template.format(*args, **kwargs)


def rendered(function: Callable[[Any], str], value: Any) -> GraphText:
    """The text ``function(value)`` of a run-time value as it is now.

    Raises:
        Exception: what ``function`` raises for all values of these types.
    """
    try:
        sample = _sample(value)
    except _NoSampleError:
        pass
    else:
        function(sample)
    return GraphText([(function, _at_present(value))])


def contains_symbolic(value: Any) -> bool:
    """Whether a value has parts that are only known at run time."""
    if isinstance(value, Scalar | NumpyScalar | GraphText | Tensor):
        return True
    if isinstance(value, tuple | list | set | frozenset):
        return any(contains_symbolic(v) for v in value)
    if isinstance(value, dict):
        return any(contains_symbolic(v) for v in value.values())
    return False


class _NoSampleError(Exception):
    """A value for which nothing can stand in."""


def _character(text: Any, _: Any) -> NoReturn:
    raise refusal("a character of", text)


_AnyText: Any = type("str", (str,), {"__getitem__": _character})
"""What is done to one text can be done to all of them, but for taking a character (``"{0[1]}".format(text)``)."""


def _sample(value: Any) -> Any:
    """A value of the same types as the run-time ``value``: nobody may look at the text before it is made."""
    if isinstance(value, GraphText):
        return _AnyText()
    if isinstance(value, Scalar):
        return {"bool": True, "int": 1, "float": 1.0}[value.kind]
    if type(value) is Tensor:
        if not all(isinstance(n, int) for n in value.shape) or math.prod(value.shape) > MAX_SAMPLE:
            raise _NoSampleError
        return wrap(np.zeros(value.shape, value.dtype.numpy))
    if isinstance(value, tuple) and not raw_hasattr(value, "_make"):
        return tuple([_sample(v) for v in value])
    if type(value) is list:
        return [_sample(v) for v in value]
    if type(value) is dict:
        return {k: _sample(v) for k, v in value.items()}
    if isinstance(value, bool | int | float | str | bytes | type(None)):
        return value
    raise _NoSampleError


def formatted(value: Any, spec: str, conversion: str) -> GraphText:
    """``f"{value!conversion:spec}"`` of a run-time value."""
    return rendered(Format(spec, conversion), value)


def _at_present(value: Any) -> Any:
    """``value`` with what it holds now: texts are made after the run, when tensors may have been overwritten and
    containers changed. (Parameters are shown without their contents.)"""
    if type(value) is Tensor:
        binder: Any = state.binder
        return binder.wrap(binder.node_of(value))
    if isinstance(value, tuple):
        items = [_at_present(v) for v in value]
        return new_tuple(type(value), items)
    if type(value) is list:
        return [_at_present(v) for v in value]
    if type(value) is dict:
        return {k: _at_present(v) for k, v in value.items()}
    return value
