"""What a user did wrong when a layer of this package fails: the message names the layer, the parameter and a way out.

Operators know shapes and dtypes, not who called them. Looking at the arguments only after something has gone wrong
costs nothing while all is well, and finds the same words in dynamic mode and while a graph is captured.
"""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.called import with_name, with_shapes
from duograph.core.errors import draw_below, user_error
from duograph.core.op import state
from duograph.core.traits import traits_of
from duograph.tensor.observer import frames_from, layer_of
from duograph.tensor.tensor import Tensor

_SEEN = "_duograph_layer"


def explain_mistake(cell: Any, args: tuple[Any, ...], error: Exception) -> None:
    """Puts what ``cell`` was called with into the message of ``error``, if that is what it is about.

    Raises:
        TypeError: in place of an error of another class, for an argument that is not a Tensor.
        ValueError: in place of an error of another class, for one with another number of dimensions.
    """
    if hasattr(error, _SEEN) or type(error) not in _PLAIN:
        return
    if not _is_ours(cell):
        _say_where(error)
        return
    setattr(error, _SEEN, True)
    _explain(cell, args, error)
    if state.binder is None:
        draw_below(error, _call(cell, args))


def _say_where(error: Exception) -> None:
    """Puts the user's layer that is being called into the drawing of an operator's error; its message stays."""
    notes = getattr(error, "__notes__", None)
    if notes and notes[0].startswith("error[DG") and (layer := layer_of(list(frames_from(sys._getframe(1))))):
        setattr(error, _SEEN, True)
        head, line, drawing = notes[0].partition("\n")
        notes[0] = f"{head} (in the layer '{layer}'){line}{drawing}"


def _call(cell: Any, args: tuple[Any, ...]) -> str:
    return f"{_name(cell)}({', '.join([_shown(x) for x in args if isinstance(x, Tensor)])})"


def _explain(cell: Any, args: tuple[Any, ...], error: Exception) -> None:
    text = str(error.args[0]) if error.args else ""
    if ".construct() " in text:  # too few or too many arguments
        return
    if f"'{cell.cls_name}'" in text:  # the layer's own words
        if (place := _name(cell)) != cell.cls_name and place not in text:
            error.args = (f"{text} (in the layer '{place}')", *error.args[1:])
        return
    for i, value in enumerate(args):
        if isinstance(value, np.ndarray | np.generic):
            kind = f"numpy.{type(value).__name__}"
            way = "mindspore.Tensor(x) makes a Tensor of it, mindspore.from_numpy(x) one that shares its memory"
            said = f"For '{_name(cell)}', {_argument(cell, i)} must be a Tensor, but got {kind}: {way}."
            raise _marked(user_error(TypeError, "DG0404", said, f"{_name(cell)}({kind})")) from None
    wrong = next((i for i, value in enumerate(args) if value is getattr(error, "obj", None)), 0)
    if args and isinstance(args[wrong], list | str | int | float | None) and type(error) in (TypeError, AttributeError):
        kind = type(args[wrong]).__name__
        said = f"For '{_name(cell)}', {_argument(cell, wrong)} must be a Tensor, but got {kind}."
        raise _marked(user_error(TypeError, "DG0404", said, f"{_name(cell)}({kind})")) from None
    about_shapes = with_shapes(text, cell.cls_name)
    if type(error) is AttributeError or (type(error) in _OF_SHAPES and about_shapes == text):
        return
    text = with_name(about_shapes, cell.cls_name)
    of_dtypes = "operands must have one dtype" in text or ("must be a type of" in text and "indices" not in text)
    found = _other_dtype(cell, args) if of_dtypes else None
    if found is not None:
        i, value, name, parameter = found
        wanted, given = parameter.dtype, value.dtype
        way = f"Convert the input with x.astype(mindspore.{wanted.name.lower()})"
        if given in (dt.float16, dt.bfloat16):
            way += f", or let the layer compute so with to_float(mindspore.{given.name.lower()}) or mindspore.amp"
        said = f"For '{_name(cell)}', {_argument(cell, i)} has dtype {given.name}"
        error.args = (f"{said}, but the parameter '{name}' has dtype {wanted.name}. {way}. ({text})",)
    else:
        text = f"{text} (in the layer '{_name(cell)}'{_called_with(cell, args)})"
        if type(error) in _OF_SHAPES:
            raise _marked(user_error(ValueError, "DG0405", text, _call(cell, args))) from None
        error.args = (text, *error.args[1:])


_OF_SHAPES = (IndexError, ZeroDivisionError)
"""What Python raises in code for operands of more dimensions; an index that the program has given is no such error."""
_PLAIN = (TypeError, ValueError, AttributeError, RuntimeError, *_OF_SHAPES)
"""Errors of other classes, also of classes derived from these, have their own words."""


def _is_ours(cell: Any) -> bool:
    """Whether all that ``cell`` runs is of this package: errors of the user's code are the user's."""
    inside = [inner for _, inner in cell.cells_and_names()]
    if any(type(inner)._runs_code_of_user for inner in inside):
        return False
    if not all(traits_of(type(inner).__module__).layers for inner in inside):
        return False
    values = [value for inner in inside for value in vars(inner).values()]
    return all((v.__module__ or "").startswith("duograph") for v in values if isinstance(v, types.FunctionType))


def _marked(error: Exception) -> Exception:
    setattr(error, _SEEN, True)
    return error


def _name(cell: Any) -> str:
    """Class, and the place in the network where the parameters tell it: ``Dense (fc1)``."""
    place = next((p.name.rpartition(".")[0] for p in cell._params.values() if p is not None), "")
    return f"{cell.cls_name} ({place})" if place else cell.cls_name


def _argument(cell: Any, index: int) -> str:
    code = getattr(type(cell).construct, "__code__", None)
    names = code.co_varnames[1 : code.co_argcount] if code is not None else ()
    return f"the input '{names[index]}'" if index < len(names) else f"input {index}"


def _called_with(cell: Any, args: tuple[Any, ...]) -> str:
    """The tensors that met: those of the call, and the parameters of the layer itself."""
    given = [_shown(value) for value in args if isinstance(value, Tensor)]
    own = [f"{name} {_shown(p)}" for name, p in cell._params.items() if p is not None]
    called = f", called with {', '.join(given)}" if given else ""
    return called + (f"; its parameters: {', '.join(own)}" if own else "")


def _shown(value: Tensor) -> str:
    sizes = ", ".join([str(n) if isinstance(n, int) else "?" for n in value.shape])
    return f"{value.dtype.name}[{sizes}]"


def _other_dtype(cell: Any, args: tuple[Any, ...]) -> tuple[int, Any, str, Any] | None:
    """The first argument whose dtype is not that of the layer's parameters."""
    parameters = [p for _, p in cell.parameters_and_names()]
    if not parameters or len({p.dtype for p in parameters}) > 1:
        return None
    first = parameters[0]
    for i, value in enumerate(args):
        if isinstance(value, Tensor) and value.dtype is not first.dtype:
            return i, value, first.name, first
    return None
