"""Text of tensors, as MindSpore prints them: ``str`` is NumPy's, ``repr`` has a format of its own.

``repr`` shows floats in scientific notation with 8 digits (float16: 4), right-aligned to the widest element of the
whole tensor; one-dimensional tensors are summarised above 1000 elements, axes of higher-dimensional ones above 6.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from duograph.base.html import bytes_text, text_block
from duograph.core.op import state
from duograph.core.types import SHORT_DTYPE_NAMES

from . import hooks
from .tensor import Placeholder, SymbolicValueError, Tensor

_THRESHOLD = 1000
_EDGE = 3
_PER_LINE = {"int": 24, "other": 12}


def tensor_str(tensor: Tensor) -> str:
    """``str(tensor)``."""
    _check_known(tensor)
    if tensor.is_symbolic:
        return _symbolic(tensor)
    array = tensor.array()
    if array.dtype.kind not in "biufc":  # bfloat16 and float8: six decimals
        wide = array.astype(np.float32)
        if not wide.shape:
            return f"{float(wide):.6f}"
        return np.array2string(wide, formatter={"float_kind": lambda v: f"{v:.6f}"})
    return str(array)


def tensor_repr(tensor: Tensor) -> str:
    """``repr(tensor)``."""
    _check_known(tensor)
    if tensor.is_symbolic:
        return _symbolic(tensor)
    array = tensor.array()
    head = f"Tensor(shape={list(tensor.shape)}, dtype={tensor.dtype}, value="
    if array.ndim == 0:
        return f"{head} {_zero_dim(array)})"
    if array.size == 0:
        return f"{head} )" if array.ndim == 1 else f"{head}\n)"
    texts = _element_texts(array)
    if array.ndim == 1:
        return f"{head} {_vector(texts, _kind(array))})"
    return f"{head}\n{_nested(texts, 1)})"


def _check_known(tensor: Tensor) -> None:
    """Refuses a text while a program is captured: native code makes one of what holds the tensor. (Within `vmap` in
    dynamic mode, it says what is known.)"""
    if state.binder is not None:
        with suppress(SymbolicValueError):
            hooks.value_of(tensor, "the text")


MOST_MEASURED = 1 << 20
"""Elements up to which a notebook shows the range of a tensor: looking at one costs no pass over gigabytes."""


def tensor_html(tensor: Tensor) -> str:
    """What notebooks show: dtype, shape, size, range, and the values at the edges."""
    parts = [f"{type(tensor).__name__} {tensor.dtype.name.lower()}{list(tensor.shape)}"]
    if not tensor.is_symbolic:
        array = tensor.array()
        parts.append(bytes_text(array.nbytes))
        if 0 < array.size <= MOST_MEASURED and array.dtype.kind not in "bc":
            numbers = array if array.dtype.kind in "iuf" else array.astype(np.float32)
            low, high = np.fmin.reduce(numbers, None), np.fmax.reduce(numbers, None)
            bad = int((~np.isfinite(numbers)).sum())
            parts += [f"from {low:g} to {high:g}", *[f"{bad} of {array.size} NaN or infinite"] * bool(bad)]
    return text_block(", ".join(parts), repr(tensor))


def _symbolic(tensor: Tensor) -> str:
    if isinstance(tensor._data, Placeholder):
        nothing = " " if len(tensor.shape) == 1 else "\n"
        return f"Tensor(shape={list(tensor.shape)}, dtype={tensor.dtype}, value={nothing})"
    shape = ",".join(map(str, tensor.shape))
    return f"Tensor({SHORT_DTYPE_NAMES.get(tensor.dtype.name, tensor.dtype.name)}[{shape}], symbolic)"


def _kind(array: np.ndarray) -> str:
    return "int" if array.dtype.kind in "iu" else "other"


def _zero_dim(array: np.ndarray) -> str:
    value = array[()]
    if array.dtype.kind == "b":
        return str(bool(value))
    if array.dtype.kind in "iu":
        return str(int(value))
    if array.dtype.kind == "c":
        return _complex_text(complex(value))
    return f"{float(value):g}"


def _complex_text(value: complex) -> str:
    return f"{value.real:g}{value.imag:+g}j"


def _formatter(array: np.ndarray) -> Callable[[Any], str]:
    kind = array.dtype.kind
    if kind == "b":
        return lambda v: "True" if v else "False"
    if kind in "iu":
        return lambda v: str(int(v))
    if kind == "c":
        return lambda v: _complex_text(complex(v))
    if kind != "f":
        return lambda v: f"{float(v):g}"
    digits = 4 if array.dtype.itemsize == 2 else 8
    return lambda v: _scientific(float(v), digits)


def _scientific(value: float, digits: int) -> str:
    return f"{value:.{digits}e}" if np.isfinite(value) else f"{value:g}"


def _element_texts(array: np.ndarray) -> np.ndarray:
    """An object array of equally wide texts, of the elements that are shown and those next to them."""
    form, width = _formatter(array), _width(array)
    shown = _edges(array)
    texts = np.empty(shown.size, dtype=object)
    texts[:] = [form(v).rjust(width) for v in shown.ravel()]
    return texts.reshape(shown.shape)


def _edges(array: np.ndarray) -> np.ndarray:
    """One element more of each long axis than is shown."""
    longest = _THRESHOLD if array.ndim == 1 else 2 * _EDGE
    places = [*range(longest + 1 - _EDGE), *range(-_EDGE, 0)]
    for axis, size in enumerate(array.shape):
        if size > len(places):
            array = array.take(places, axis)
    return array


def _width(array: np.ndarray) -> int:
    """How wide the widest element of all is."""
    kind = array.dtype.kind
    if kind == "b":
        return 5
    if kind == "c":  # are not aligned
        return 0
    form = _formatter(array)
    if kind in "iu":
        return max(len(form(array.min())), len(form(array.max())))
    if kind != "f":  # of two bytes or one
        some = array if array.size <= MOST_MEASURED else _edges(array)
        return max(len(form(v)) for v in np.unique(some.view(f"u{array.dtype.itemsize}")).view(array.dtype))
    width = (4 if array.dtype.itemsize == 2 else 8) + 7  # room for a sign, whether there is one or not
    if array.dtype.itemsize < 8:
        return width
    negative = np.isfinite(array) & (array < 0)  # with exponents of three digits, perhaps
    ends = array.min(where=negative, initial=0), array.max(where=negative, initial=-np.inf)
    return max(width, *[len(form(v)) for v in ends])


def _vector(texts: np.ndarray, kind: str) -> str:
    if len(texts) > _THRESHOLD:
        return f"[{_summary(texts)}]"
    per_line = _PER_LINE[kind]
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + ", \n ".join(lines) + "]"


def _summary(texts: np.ndarray) -> str:
    return ", ".join(texts[:_EDGE]) + " ... " + ", ".join(texts[-_EDGE:])


def _nested(texts: np.ndarray, depth: int) -> str:
    long = len(texts) > 2 * _EDGE
    if texts.ndim == 1:
        return f"[{_summary(texts)}]" if long else "[" + ", ".join(texts) + "]"
    shown = list(texts[:_EDGE]) if long else list(texts)
    indent = ",\n" + " " * depth
    rows = indent.join(_nested(row, depth + 1) for row in shown)
    if long:
        tail = indent.join(_nested(row, depth + 1) for row in texts[-_EDGE:])
        rows = f"{rows},\n{' ' * depth}...\n{' ' * depth}{tail}"
    return f"[{rows}]"
