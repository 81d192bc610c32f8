"""Texts of objects: ``f"{x!r:>8}"``, ``"%s" % x`` and ``"{}".format(x)``, whose methods may be the user's."""

from __future__ import annotations

import enum
import re
import string
from typing import Any

import numpy as np

from duograph.base.lookup import raw_getattr
from duograph.ops.scalar import Scalar

from ..rules.errors import Uncapturable
from ..rules.facts import lookup
from ..rules.policy import is_user_class
from ..values.text import GraphText, Template, contains_symbolic, formatted, rendered
from .operands import check_text
from .special_methods import user_method

_FORMAT_OF_MEMBERS = vars(enum.Enum)["__format__"]  # formats what ``str`` gives
_SAYING = ("__str__", "__repr__", "__format__")
_CONVERSION = re.compile(r"%(?:\((\w*)\))?[-#0 +]*(?:\d*)(?:\.\d+)?([a-zA-Z%])")
"""Of ``%``: a name, and the letter; what has a width among the values, or a size, is another one."""


def text_of_user_object(calls: Any, value: Any) -> Any:
    """``str(value)`` if code of the user makes it, else ``value``."""
    name = "__str__"
    method = user_method(value, name)
    if method is None and lookup(type(value), name) is object.__str__:  # which asks for the other one
        name = "__repr__"
        method = user_method(value, name)
    return value if method is None else calls.semantics.special(name, method, value)


def formatted_value(calls: Any, value: Any, conversion: str, spec: Any) -> Any:
    """``f"{value!conversion:spec}"``; without a conversion that is empty."""
    if contains_symbolic(spec):
        raise Uncapturable("a format specification that is only known at run time")
    if contains_symbolic(value):
        return (
            value
            if isinstance(value, GraphText) and not spec and conversion in ("", "s")
            else formatted(value, spec, conversion)
        )
    if not conversion:
        return format_constant(calls, value, spec)
    if conversion == "s" and (text := text_of_user_object(calls, value)) is not value:
        return format(text, spec)
    if conversion == "r" and (method := user_method(value, "__repr__")) is not None:
        return format(calls.semantics.special("__repr__", method, value), spec)
    check_text(calls.session, value)
    convert: Any = {"s": str, "r": repr, "a": ascii}[conversion]
    return format(convert(value), spec)


def format_constant(calls: Any, obj: Any, spec: str) -> Any:
    """``format(obj, spec)`` of what is known during capture."""
    method = user_method(obj, "__format__")
    if method is not None:
        return calls.semantics.special("__format__", method, obj, spec)
    found = lookup(type(obj), "__format__")
    plain = found is object.__format__  # which takes no specification
    if plain or found is _FORMAT_OF_MEMBERS:
        text = obj if plain and spec else text_of_user_object(calls, obj)
        if text is not obj:
            return format(text, spec)
    if spec.endswith("n"):
        raise Uncapturable("a format that depends on the locale")
    if not (isinstance(obj, np.generic) and spec):
        check_text(calls.session, obj)
    return format(obj, spec)


def check_template(fn: Any) -> None:
    """Refuses ``"{0.attribute}".format(...)``, which asks the object as it is."""
    template = raw_getattr(fn, "__self__")
    if isinstance(template, str) and raw_getattr(fn, "__name__", "") in ("format", "format_map") and _reads(template):
        raise Uncapturable("a format that reads attributes")


def _reads(template: str) -> bool:
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError:  # which Python is to raise
        return False
    return any("." in (name or "") or (spec and "{" in spec and _reads(spec)) for _, name, spec, _ in fields)


def percent(calls: Any, template: str, values: Any) -> tuple[str, Any]:
    """``template % values``, the user's objects among the values as their texts, from the left."""
    named = type(values) is dict
    given: Any = values if type(values) in (tuple, dict) else (values,)
    if "*" in template or not any(_says(v) for v in (given.values() if named else given)):
        return template, values
    made: Any = dict(given) if named else list(given)
    parts, end = [], 0
    for place, found in enumerate(_CONVERSION.finditer(template.replace("%%", "  "))):
        name, letter = found.groups()
        key = name if named else place
        if (named and key not in given) or (not named and (name or place >= len(given))):
            return template, values
        parts.append(template[end : found.end() - 1])
        end = found.end()
        if _says(given[key]):
            if letter not in "sr" or made[key] is not given[key]:  # there is one text of it, by its name
                return template, values
            made[key], letter = formatted_value(calls, given[key], letter, ""), "s"
        parts.append(letter)
    return "".join((*parts, template[end:])), made if named else tuple(made)


def _says(value: Any) -> bool:
    """Whether texts of ``value`` are made by code of the user."""
    return is_user_class(type(value)) and any(
        user_method(value, name) for name in ("__str__", "__repr__", "__format__")
    )


def _format(calls: Any, template: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``template.format(*args, **kwargs)``, field by field; ``None`` if it has others than values."""
    parts: list[Any] = []
    fields = list(string.Formatter().parse(template))
    if len({not name for _, name, _, _ in fields if name is not None and not name.isidentifier()}) > 1:
        return None  # numbers and places, which Python refuses
    for place, (literal, name, spec, conversion) in enumerate(fields):
        parts.append(literal)
        if name is None:
            continue
        key: Any = place if not name else int(name) if name.isdecimal() else name
        given: Any = kwargs if type(key) is str else args
        if "{" in (spec or "") or not (key in kwargs if given is kwargs else key < len(args)):
            return None
        parts.append(formatted_value(calls, given[key], conversion or "", spec or ""))
    return calls.call("".join, (parts,), {})


def text_method(calls: Any, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``template.format(...)`` and ``separator.join(...)`` of objects of the user, and of what only a run knows."""
    owner, name = raw_getattr(fn, "__self__"), raw_getattr(fn, "__name__", "")
    if not isinstance(owner, str):
        return None
    if name == "format" and type(owner) is str and any(map(_says, (*args, *kwargs.values()))):
        return _format(calls, owner, args, kwargs)
    if not contains_symbolic((args, kwargs)):
        return None
    if name == "format":
        return rendered(Template(owner), (args, dict(kwargs)))
    if name == "join" and len(args) == 1 and isinstance(args[0], list | tuple):
        pieces: list[Any] = []
        for i, item in enumerate(args[0]):
            if not isinstance(item, str | GraphText):
                kind = item.type.python_type if isinstance(item, Scalar) else type(item)
                raise TypeError(f"sequence item {i}: expected str instance, {kind.__name__} found")
            pieces += [owner] * (i > 0) + ([item] if isinstance(item, str) else item.parts)
        return GraphText(pieces)
    raise Uncapturable(f"str.{name} of values that are only known at run time")
