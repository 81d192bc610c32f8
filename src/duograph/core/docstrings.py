"""Sections of docstrings that functions do not write themselves: Args from a table (`parameters`), what they refuse."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Sequence
from typing import Any

from .parameters import ROWS

__all__ = ["with_arguments", "rows", "with_constructor", "with_operands", "with_result"]


def rows(text: str) -> dict[str, tuple[str, str]]:
    """What lines ``name: type: meaning`` say, by name."""
    return {name: (kind, meaning) for name, kind, meaning in (r.split(": ", 2) for r in text.strip().splitlines())}


@functools.cache
def _table() -> dict[str, tuple[str, str]]:
    return rows(ROWS)


def with_arguments(function: types.FunctionType, name: str = "") -> str | None:
    """The docstring of a public function, with the sections Args and Raises if it has none of its own.

    What is raised is what all functions do: they refuse a first argument of a type that they cannot use.

    Args:
        function: the function.
        name: its public name; empty: as it is called.
    """
    text = function.__doc__
    if not text:
        return text
    if "Args:" not in text:
        text = _with_parameters(text, function, name)
    return text if "Raises:" in text else _with_refusal(text, function)


def _with_refusal(text: str, function: types.FunctionType) -> str:
    at = text.find("Args:\n")
    line = text[at + 6 : text.find("\n", at + 6)].lstrip() if at >= 0 else ""
    first, _, kind = line.partition(": ")[0].partition(" (")
    if not first or kind.startswith("Any"):
        return text
    if not kind.startswith(("Tensor)", "Union[Tensor, number", "Union[Tensor, list, tuple, number")):
        what = "has an unsupported type"
    elif function.__annotations__.get(first) == "Tensor":
        what = "is not a Tensor"
    else:
        what = "cannot be converted to a tensor"
    return _inserted(text, f"Raises:\n    TypeError: ``{first}`` {what}.", _AFTER_RAISES)


def _with_parameters(text: str, function: types.FunctionType, name: str) -> str:
    names, given = _parameters(function)
    table, lines = _table(), []
    for parameter in names:
        annotated = function.__annotations__.get(parameter)
        rows = (f"{parameter}.{name}", f"{parameter}@{annotated}", parameter)
        found = next((table[row] for row in rows if row in table), None)
        if parameter != "self" and found is not None:
            kind = annotated if annotated in _PLAIN else found[0]
            default = f" Default: ``{given[parameter]!r}``." if parameter in given else ""
            lines.append(f"    {parameter} ({kind}): {found[1]}{default}")
    return _inserted(text, "Args:\n" + "\n".join(lines)) if lines else text


def with_constructor(text: str, name: str, parameters: dict[str, Any], required: Any) -> str:
    """The docstring of a Primitive, with the arguments of its constructor that a row describes.

    Args:
        text: what it says by itself.
        name: the class.
        parameters: the default values by name.
        required: the value of those that have none.
    """
    if "Args:" in text:
        return text
    table, lines = _table(), []
    for parameter, value in parameters.items():
        found = table.get(f"{parameter}.{name}") or table.get(parameter)
        if found is not None:
            default = "" if value is required else f" Default: ``{value!r}``."
            lines.append(f"    {parameter} ({found[0]}): {found[1]}{default}")
    return _inserted(text, "Args:\n" + "\n".join(lines)) if lines else text


def with_operands(text: str, name: str, operands: Sequence[str], table: dict[str, tuple[str, str]]) -> str:
    """The docstring of a Primitive, with the section Inputs for the operands of a call.

    Args:
        text: what it says by itself.
        name: the class.
        operands: their names.
        table: rows that come before those of parameters.
    """
    both = (table, _table())
    lines = []
    for operand in operands:
        found = next((t[row] for t in both for row in (f"{operand}.{name}", operand) if row in t), None)
        if found is not None:
            lines.append(f"    - **{operand}** ({found[0]}) - {found[1]}")
    return _inserted(text, "Inputs:\n" + "\n".join(lines)) if lines and "Inputs:" not in text else text


def with_result(text: str, returns: str, raises: str) -> str:
    """The docstring of a Primitive, with the sections Returns and Raises if it has none of its own.

    Args:
        text: what it says by itself.
        returns: what a call gives; empty: nothing is added.
        raises: what it raises, the same.
    """
    for heading, section, before in (("Returns:", returns, _AFTER_RETURNS), ("Raises:", raises, _AFTER_RAISES)):
        if section and heading not in text:
            text = _inserted(text, f"{heading}\n    {section}", before)
    return text


def _parameters(function: types.FunctionType) -> tuple[Sequence[str], dict[str, Any]]:
    """The names of the parameters, and the default values."""
    shown: inspect.Signature | None = getattr(function, "__signature__", None)
    if shown is not None:
        found = shown.parameters
        return list(found), {name: p.default for name, p in found.items() if p.default is not p.empty}
    code = function.__code__  # much faster than `inspect.signature`, and this is asked of all functions
    rest = (code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)).bit_count()
    defaults = function.__defaults__ or ()
    given = dict(zip(code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount], defaults, strict=True))
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + rest]
    return names, given | (function.__kwdefaults__ or {})


def _inserted(text: str, section: str, before: tuple[str, ...] = ()) -> str:
    """``text`` with a section before the first that it has (of those of ``before``), in its indentation."""
    lines = text.rstrip().split("\n")
    at = next((i for i, line in enumerate(lines) if i and line.strip() in (before or _SECTIONS)), len(lines))
    inner = next((line for line in lines[1:] if line.strip()), "")
    indent = inner[: len(inner) - len(inner.lstrip())]
    added = [indent + line for line in section.split("\n")]
    if at == len(lines):
        return "\n".join([*lines, "", *added, indent])
    return "\n".join([*lines[:at], *added, "", *lines[at:], indent])


_PLAIN = ("Tensor", "bool", "int", "float", "str")
_SECTIONS = ("Returns:", "Raises:", "Examples:", "Yields:", "Note:", "Inputs:", "Outputs:", "Supported Platforms:")
_AFTER_RETURNS = ("Raises:", "Examples:", "Note:", "Supported Platforms:")
_AFTER_RAISES = _AFTER_RETURNS[1:]
