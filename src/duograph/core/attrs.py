"""Attributes of operators: plain Python values, checked once for each call that is new, by the kind their name has.

Rules rely on what attributes are: a kernel computes addresses from ``shifts``, the memory planner sizes from ``shape``.
What public functions pass on, users wrote: ``2.0`` for a size, a NumPy number for an axis, a Tensor for ``beta``. So
whatever reaches `Op.infer` went through `plain_attrs`, and what it gave through `checked_type`; behind these two, no
rule has to look again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .dim import Dim
from .dtype import DType
from .types import TensorType, TupleType, Type

WHOLE = frozenset((
    "axes", "axis", "axis1", "axis2", "bins", "blank", "depth", "diagonal", "dilation", "divisor", "extent",
    "groups", "highest", "index", "input_size", "k", "kernel", "kernel_size", "lowest", "m", "minlength", "multiples",
    "n", "n_carry", "num_segments", "offset", "output_size", "padding", "perm", "repeats", "root", "shape",
    "shared_by", "shifts", "size", "sizes", "slices", "source", "steps", "stride", "tag", "to", "windows",
))  # fmt: skip
"""Names of attributes that hold integers or sizes, or nested tuples of them."""

SINGLE = frozenset((
    "axis1", "axis2", "bins", "blank", "depth", "diagonal", "divisor", "extent", "groups", "highest", "index", "k",
    "lowest", "m", "minlength", "n", "n_carry", "num_segments", "offset", "root", "shared_by", "source", "steps", "tag",
    "to",
))  # fmt: skip
"""Those of them that are no tuples."""

OPTIONAL = frozenset(("axis", "slices"))
"""Those of them that may be, or hold, ``None``."""

FLAGS = frozenset((
    "align", "ceil_mode", "complete", "count_include_pad", "descending", "exclusive", "first", "full_matrices",
    "inverse", "keep_dims", "kept", "largest", "lower", "merge_repeated", "normalize", "ordered", "reverse", "right",
    "shared", "transpose_a", "transpose_b", "transposed", "unit",
))  # fmt: skip
"""Names of attributes that are true or false."""

NUMBERS = frozenset(["epsilon", "high", "low", "scale", "start", "step", "stop", "threshold", "value"])
"""Names of attributes that are Python numbers, or tuples of them."""

PLAIN = frozenset((
    "alignment", "backward", "body", "cond", "differentiable", "dtype", "fn", "forward", "given", "graph",
    "group", "how", "index_dtype", "ins", "items", "kind", "labels_of", "method", "mode", "name", "norm", "of", "op",
    "orelse", "outs", "outside", "reduction", "samples", "spec", "target", "then", "type", "types", "wanted",
))  # fmt: skip
"""Names of the others: graphs, types, words, and what a rule reads in its own way."""

AXES = frozenset(["axes", "axis", "axis1", "axis2"])
"""Names of attributes that hold axes of the first operand, counted from 0."""


def plain_attrs(op: str, operand_types: tuple[Type, ...], attrs: dict[str, Any]) -> None:
    """Brings attributes into their plain form, in place: NumPy's numbers become Python's, flags ``True`` or ``False``.

    Raises:
        TypeError: a value is not of the kind that its name has; an array or Tensor never is.
        ValueError: the first operand has no such axis.
    """
    for name, value in attrs.items():
        kind = type(value)
        if name in WHOLE:
            if kind is not int:
                value = attrs[name] = _whole(op, name, value)
            if name in AXES and operand_types and isinstance(operand_types[0], TensorType):
                _check_axes(op, name, value, len(operand_types[0].shape))
        elif name in FLAGS:
            if kind is not bool:
                attrs[name] = _flag(op, name, value)
        elif name in ("dtype", "index_dtype"):
            _check_dtype(op, name, value)
        elif kind is not str:
            value = attrs[name] = _plain(op, name, value)
            if name in NUMBERS and not _is_number(value):
                raise TypeError(f"For '{op}', the '{name}' must be a number, but got {value!r}.")


def checked_type(op: str, found: Type) -> Type:
    """What `infer` gave, if there can be such a value.

    Raises:
        ValueError: a size is negative.
        TypeError: a size is not an integer.
    """
    if isinstance(found, TensorType):
        for n in found.shape:
            if type(n) is not int:
                if not isinstance(n, Dim):
                    raise TypeError(f"For '{op}', sizes must be integers, but got {n!r}.")
            elif n < 0:
                raise ValueError(f"For '{op}', the shape cannot have negative sizes, but got {found.shape}.")
    elif isinstance(found, TupleType):
        for item in found.items:
            checked_type(op, item)
    return found


def _whole(op: str, name: str, value: Any) -> Any:
    kind = type(value)
    if kind is int or isinstance(value, Dim) or (value is None and name in OPTIONAL):
        return value
    if kind is tuple and name not in SINGLE:
        return tuple([_whole(op, name, v) for v in value])
    if isinstance(value, int | np.integer | np.bool_):  # True, too, and members of an IntEnum
        return int(value)
    expected = "an integer" if name in SINGLE else "an integer or a tuple of integers"
    raise TypeError(f"For '{op}', the '{name}' must be {expected}, but got {value!r}.")


def _flag(op: str, name: str, value: Any) -> bool:
    """Not whatever has a truth value: a number or a word here belongs to an attribute of another kind."""
    plain = _plain(op, name, value)
    if plain is None or (isinstance(plain, int) and plain in (0, 1)):
        return bool(plain)
    raise TypeError(f"For '{op}', the '{name}' must be True or False, but got {value!r}.")


def _check_axes(op: str, name: str, value: Any, rank: int) -> None:
    for axis in value if type(value) is tuple else (value,):
        if type(axis) is int and not 0 <= axis < max(rank, 1):  # a single number is a row of one to many operators
            raise ValueError(f"For '{op}', the '{name}' must be in range of [0, {rank}), but got {value}.")


def _plain(op: str, name: str, value: Any) -> Any:
    kind = type(value)
    if kind is tuple:
        return tuple([_plain(op, name, v) for v in value])
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(kind, "__array__"):
        raise TypeError(f"For '{op}', the '{name}' must be a Python value, but got {kind.__name__}.")
    return value


def _check_dtype(op: str, name: str, value: Any) -> None:
    if not isinstance(value, DType):
        raise TypeError(f"For '{op}', the '{name}' must be one of mindspore's dtypes, but got {value!r}.")
    if name == "index_dtype" and not value.is_integer:
        raise TypeError(f"For '{op}', the dtype of indices must be one of integers, but got {value}.")


def _is_number(value: Any) -> bool:
    return (
        all(map(_is_number, value)) if type(value) is tuple else isinstance(value, bool | int | float | complex | Dim)
    )
