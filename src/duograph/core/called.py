"""Errors name the function that the user called, not the operators that it consists of.

``ops.cdist`` subtracts and sums, and its operators say ``For 'Sub', ...``. So in front of every public function stands
one of the same signature that only calls it, and gives its name to an error on the way out::

    cdist = named_in_errors(cdist, "cdist")

Where public functions call each other the outermost comes last, and that is the one that the user has called. An error
that has come through code of the user, which some functions call, names what that code called.

What is one operator keeps MindSpore's spelling of it: ``ops.add`` says ``For primitive[Add]``.

Where operands do not fit and nobody has looked, Python says so in words about our code, ``tuple index out of range`` or
``'str' object has no attribute 'ndim'``. Those are replaced, too. And an error without a drawing of the user's line
gets one.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import os
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from duograph.base.slot import Slot
from duograph.base.source import is_internal_file

from .docstrings import with_arguments
from .errors import draw_below, spelled
from .op import state

refusal: Slot[Callable[..., Exception]] = Slot("core.called.refusal")
"""The error for arguments of wrong types, of the name of a function and its arguments by name."""

_OF_USER = "_duograph_of_user"
_NUMPY = os.path.dirname(np.__file__) + os.sep
_OPERATOR = re.compile(
    r"For primitive\[(?P<primitive>[\w.]+)\]|For (?P<quote>['\"`]?)(?P<quoted>[\w.]+)(?P=quote)(?=[, :])"
    r"|Failed calling (?P<failed>[\w.]+) with \"(?P=failed)\("
)
"""The forms in which messages begin, with the operator."""


_OF_SHAPES = re.compile(
    r"(tuple|list) index out of range|zip\(\) argument|(not enough|too many) values to unpack|integer (modulo|division)"
    r"|object (too deep|of too small depth)"
)
_OF_TYPES = re.compile(
    r"can only concatenate|can't multiply sequence|(unsupported|bad) operand type|cannot unpack non-iterable"
    r"|'\w+' object (is not|has no attribute|cannot be interpreted)|object of type '\w+' has no len|'\S+' not supported"
    r"|(string|list|tuple) indices must be|not a Python bool, int or float|not all arguments converted"
    r"|invalid literal for|could not convert string"
)
"""What Python says of operands of a wrong number of dimensions, or of a wrong type."""


def name_in_error(name: str, arguments: Callable[[types.FrameType], dict[str, Any]]) -> None:
    """Makes the error that is being handled name what was called, if it names an operator inside of it, or our code.

    Args:
        name: of the public function, method or Primitive.
        arguments: gives those of the call by name, of the frame that handles the error.

    Raises:
        ValueError: in place of an error of Python about shapes.
        TypeError: in place of an error of Python about types.
    """
    error = sys.exception()
    said = error.args[0] if isinstance(error, Exception) and error.args else None
    if not isinstance(error, Exception) or not isinstance(said, str) or _is_of_user(error):
        return
    frame = sys._getframe(1)
    given = arguments(frame)
    told = _told(error, said, name, given)
    is_plain = type(told).__module__ == "builtins" and not getattr(told, "__notes__", None)
    if is_plain and state.binder is None and frame.f_back and not is_internal_file(frame.f_back.f_code.co_filename):
        shown = [str(value.abstract) for value in _flat(given.values()) if hasattr(type(value), "abstract")]
        draw_below(told, f"{name}({', '.join(shown)})")
    if told is not error:
        try:
            raise told from None
        finally:  # its traceback holds this frame
            del told, error, frame, given


def _told(error: Exception, said: str, name: str, given: dict[str, Any]) -> Exception:
    """What the user gets: the error with another message, or another one."""
    text = with_name(said, name)
    if text != said and not text.startswith("Failed calling"):
        error.args = (text, *error.args[1:])
    elif type(error) in (ValueError, IndexError, ZeroDivisionError) and _OF_SHAPES.match(said):
        return ValueError(with_shapes(said, name))
    elif text != said or _is_of_types(error, said, given):
        refused = refusal.value(name, **{key: value for key, value in given.items() if key != "self"})
        if type(error) is not TypeError:
            return refused
        error.args = refused.args
    return error


def _is_of_types(error: Exception, said: str, given: dict[str, Any]) -> bool:
    """Whether Python complains about the type of something, which is an argument if it was asked for an attribute."""
    if type(error) not in (TypeError, AttributeError, ValueError) or not _OF_TYPES.match(said):
        return False
    return not isinstance(error, AttributeError) or any(error.obj is value for value in _flat(given.values()))


def with_shapes(said: str, name: str) -> str:
    """What Python says of a wrong number of dimensions, in words about the call; other messages as they are."""
    return f"For '{name}', the dimensions of the operands do not fit: {said}" if _OF_SHAPES.match(said) else said


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        yield value
        if isinstance(value, tuple | list):
            yield from value


def _given(function: types.FunctionType, frame: types.FrameType) -> dict[str, Any]:
    """The arguments in a frame of a function, but for those that are the default."""
    code = function.__code__
    count = code.co_argcount
    rest = code.co_kwonlyargcount + (code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)).bit_count()
    defaults = function.__defaults__ or ()
    left = dict(zip(code.co_varnames[count - len(defaults) : count], defaults, strict=True))
    left |= function.__kwdefaults__ or {}
    values = {name: frame.f_locals[name] for name in code.co_varnames[: count + rest]}
    return {name: value for name, value in values.items() if name not in left or value is not left[name]}


def with_name(said: str, name: str) -> str:
    """A message with ``name`` in the place of the operator that it begins with, if it does."""
    found = _OPERATOR.match(said)
    if found is None:
        return said
    operator = found["primitive"] or found["quoted"] or found["failed"]
    if spelled(operator) == spelled(name) and (operator != operator.lower() or name == name.lower()):
        return said
    start = f'Failed calling {name} with "{name}(' if found["failed"] else f"For '{name}'"
    return start + said[found.end() :]


def note_user_code(error: Exception) -> None:
    """``error`` comes out of code of the user that is interpreted: it has no frame of its own in the traceback."""
    setattr(error, _OF_USER, True)


def _is_of_user(error: BaseException) -> bool:
    if hasattr(error, _OF_USER):
        return True
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not is_internal_file(file) and not file.startswith(_NUMPY):
            return True
        trace = trace.tb_next
    return False


def in_front(function: types.FunctionType, name: str, names: dict[str, Any]) -> types.FunctionType:
    """A function of the signature and documentation of ``function`` that calls ``names["call"]``.

    Args:
        function: what it looks like.
        name: what it is called, and what its errors name; empty: as ``function``, whose errors stay as they are.
        names: its globals, which others may change.
    """
    code = function.__code__
    plain, named = code.co_argcount, code.co_kwonlyargcount
    rest = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    parameters = code.co_varnames[: plain + named + rest.bit_count()]
    made = _template(plain, parameters[plain : plain + named], rest).replace(
        co_varnames=parameters, co_name=code.co_name, co_qualname=code.co_qualname, co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno, co_posonlyargcount=code.co_posonlyargcount,
    )  # fmt: skip
    names |= {"__name__": function.__module__, "__builtins__": builtins, "name_in_error": _as_it_is}
    _fronts.append(names)
    redirect(names, names["call"])
    if name:
        names["public_name"] = name
        names["name_in_error"] = functools.partial(name_in_error, name, functools.partial(_given, function))
    public = types.FunctionType(made, names, code.co_name, function.__defaults__)
    public.__kwdefaults__ = function.__kwdefaults__  # type: ignore[assignment]  # may be None
    functools.update_wrapper(public, function)
    public.__doc__ = with_arguments(function, name)
    if name and (name != function.__name__ or "<locals>" in function.__qualname__):
        public.__name__ = public.__qualname__ = name
    return public


between: Slot[Callable[[Callable[..., Any]], Callable[..., Any]]] = Slot("core.called.between", lambda target: target)
"""What public functions call, of what they stand for; who fills it calls `redirect_all` then."""
_fronts: list[dict[str, Any]] = []


def redirect(names: dict[str, Any], target: Callable[..., Any]) -> None:
    """From now on the public function with these globals calls ``target``."""
    names["target"] = target
    names["call"] = between.value(target)


def redirect_all() -> None:
    """Public functions call what `between` gives now."""
    for names in _fronts:
        redirect(names, names["target"])


def named_in_errors(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """``function``, whose errors say ``name``; what is no Python function as it is."""
    if not isinstance(function, types.FunctionType):
        return function
    plain, known = _named.get(id(function), (function, ""))
    if known == name:
        return function
    public = in_front(plain, name, {"call": plain})
    _named[id(public)] = plain, name
    return public


_named: dict[int, tuple[types.FunctionType, str]] = {}


def _as_it_is() -> None:
    pass


@functools.cache
def _template(plain: int, named: tuple[str, ...], rest: int) -> types.CodeType:
    """Code that hands its arguments on to the global ``call``. No ``try`` costs anything until there is an error."""
    parameters = [f"a{i}" for i in range(plain)]
    star = ["*a"] if rest & inspect.CO_VARARGS else []
    stars = ["**k"] if rest & inspect.CO_VARKEYWORDS else []
    head = ", ".join([*parameters, *(star or (["*"] if named else [])), *named, *stars])
    handed = ", ".join([*parameters, *star, *[f"{n}={n}" for n in named], *stars])
    space: dict[str, Any] = {}
    exec(
        f"def f({head}):\n try: return call({handed})\n except Exception:\n  name_in_error()\n  raise",
        space,
    )
    code: types.CodeType = space["f"].__code__
    return code


__all__ = [
    "between", "in_front", "name_in_error", "named_in_errors", "note_user_code", "redirect", "redirect_all", "refusal",
    "with_name", "with_shapes",
]  # fmt: skip
