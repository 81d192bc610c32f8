"""The operators of ONNX as functions of Tensors: ``function(*inputs, **attributes)``, with None for what is left out.

Here are those of elements and shapes; `layers.py` has the others, `table.py` their names.

Sizes are Python's: what ``Shape`` gives is an int or a tuple of ints, and so is what integers of a file are that only
sizes are computed from, so that a network that is read stays one of known shapes, in both modes. Whoever needs a tensor
makes one (`tensor`).
"""

from __future__ import annotations

import math
from typing import Any

from duograph import ops
from duograph.core import dtype as dt
from duograph.core.traits import Traits
from duograph.ops.slices import pad as padded
from duograph.tensor.tensor import Tensor

__capture__ = Traits(program=True)

FLOATS = {1: dt.float32, 10: dt.float16, 11: dt.float64, 16: dt.bfloat16}
DTYPES = {
    **FLOATS, 2: dt.uint8, 3: dt.int8, 4: dt.uint16, 5: dt.int16, 6: dt.int32, 7: dt.int64, 9: dt.bool_, 12: dt.uint32,
    13: dt.uint64,
}  # fmt: skip


def is_size(value: Any) -> bool:
    """Whether a value is an int or a tuple of ints."""
    return isinstance(value, int | tuple)


def tensor(value: Any) -> Any:
    """A value as a Tensor."""
    if isinstance(value, tuple):
        return Tensor(list(value), dt.int64) if value else ops.zeros((0,), dt.int64)
    return Tensor(value, dt.int64) if isinstance(value, int) else value


def sizes(value: Any) -> Any:
    """A value as a tuple of ints."""
    if isinstance(value, tuple):
        return value
    if isinstance(value, int):
        return (value,)
    return tuple(value.reshape((-1,)).tolist())


def number(value: Any) -> Any:
    """A value as an int."""
    return value if isinstance(value, int) else sizes(value)[0]


def axes_of(axes: Any, rank: int) -> Any:
    """Dimensions counted from the front."""
    return tuple([axis % rank for axis in sizes(axes)])


# ---- element by element ----------------------------------------------------------------------------------------------


def _each(function: Any, a: Any, b: Any) -> Any:
    """An operation of sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return function(a, b)
    if isinstance(a, int):
        return tuple([function(a, y) for y in b])
    if isinstance(b, int):
        return tuple([function(x, b) for x in a])
    if len(a) != len(b):
        a, b = (a * len(b), b) if len(a) == 1 else (a, b * len(a))
    return tuple([function(x, y) for x, y in zip(a, b)])


def add(a: Any, b: Any) -> Any:
    if is_size(a) and is_size(b):
        return _each(lambda x, y: x + y, a, b)
    return tensor(a) + tensor(b)


def sub(a: Any, b: Any) -> Any:
    if is_size(a) and is_size(b):
        return _each(lambda x, y: x - y, a, b)
    return tensor(a) - tensor(b)


def mul(a: Any, b: Any) -> Any:
    if is_size(a) and is_size(b):
        return _each(lambda x, y: x * y, a, b)
    return tensor(a) * tensor(b)


def div(a: Any, b: Any) -> Any:
    """Of integers: rounded towards zero."""
    if is_size(a) and is_size(b):
        return _each(lambda x, y: x // y if (x >= 0) == (y > 0) else -(-x // y), a, b)
    a, b = tensor(a), tensor(b)
    return a / b if a.dtype.is_floating else ops.div(a, b, rounding_mode="trunc").astype(a.dtype)


def mod(a: Any, b: Any, fmod: int = 0) -> Any:
    if is_size(a) and is_size(b) and not fmod:
        return _each(lambda x, y: x % y, a, b)
    return ops.fmod(tensor(a), tensor(b)) if fmod else tensor(a) % tensor(b)


def power(a: Any, b: Any) -> Any:
    a = tensor(a)
    return ops.pow(a, tensor(b)).astype(a.dtype)


def less(a: Any, b: Any) -> Any:
    return tensor(a) < tensor(b)


def less_or_equal(a: Any, b: Any) -> Any:
    return tensor(a) <= tensor(b)


def greater(a: Any, b: Any) -> Any:
    return tensor(a) > tensor(b)


def greater_or_equal(a: Any, b: Any) -> Any:
    return tensor(a) >= tensor(b)


def equal(a: Any, b: Any) -> Any:
    return ops.equal(tensor(a), tensor(b))


def where(condition: Any, a: Any, b: Any) -> Any:
    return ops.where(condition, tensor(a), tensor(b))


def maximum(first: Any, *others: Any) -> Any:
    result = tensor(first)
    for x in others:
        result = ops.maximum(result, tensor(x))
    return result


def minimum(first: Any, *others: Any) -> Any:
    result = tensor(first)
    for x in others:
        result = ops.minimum(result, tensor(x))
    return result


def total(first: Any, *others: Any) -> Any:
    result = tensor(first)
    for x in others:
        result = result + tensor(x)
    return result


def cast(x: Any, to: int) -> Any:
    if is_size(x) and to in (6, 7):
        return x
    return tensor(x).astype(DTYPES[to])


def identity(x: Any) -> Any:
    return x


def dropout(x: Any) -> Any:
    """Of inference: nothing."""
    return x


def clip(x: Any, low: Any = None, high: Any = None, min: Any = None, max: Any = None) -> Any:
    low, high = min if low is None else low, max if high is None else high
    if low is not None:
        x = ops.maximum(x, tensor(low) if not isinstance(low, float) else Tensor(low, x.dtype))
    if high is not None:
        x = ops.minimum(x, tensor(high) if not isinstance(high, float) else Tensor(high, x.dtype))
    return x


def leaky_relu(x: Any, alpha: float = 0.01) -> Any:
    return ops.where(x < 0, x * alpha, x)


def elu(x: Any, alpha: float = 1.0) -> Any:
    return ops.where(x < 0, ops.expm1(x) * alpha, x)


def selu(x: Any, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875) -> Any:
    return ops.where(x < 0, ops.expm1(x) * alpha, x) * gamma


def prelu(x: Any, slope: Any) -> Any:
    return ops.where(x < 0, x * slope, x)


def hard_sigmoid(x: Any, alpha: float = 0.2, beta: float = 0.5) -> Any:
    return ops.clamp(x * alpha + beta, 0.0, 1.0)


def hard_swish(x: Any) -> Any:
    return x * ops.clamp(x / 6 + 0.5, 0.0, 1.0)


def gelu(x: Any, approximate: str = "none") -> Any:
    return ops.gelu(x, approximate=approximate)


def softsign(x: Any) -> Any:
    return x / (ops.abs(x) + 1)


def softplus(x: Any) -> Any:
    return ops.softplus(x)


# ---- shapes ----------------------------------------------------------------------------------------------------------


def shape(x: Any, start: int = 0, end: int | None = None) -> Any:
    found = tensor(x).shape
    return tuple(found)[start:end]


def size(x: Any) -> Any:
    return math.prod(tensor(x).shape)


def reshape(x: Any, wanted: Any, allowzero: int = 0) -> Any:
    wanted = sizes(wanted)
    if isinstance(x, int) and wanted in ((1,), (-1,)):
        return (x,)
    if is_size(x) and wanted == ():
        return x if isinstance(x, int) else x[0]
    if isinstance(x, tuple) and wanted in ((-1,), (len(x),)):
        return x
    x = tensor(x)
    if not allowzero:
        wanted = tuple([x.shape[i] if n == 0 else n for i, n in enumerate(wanted)])
    return x.reshape(wanted)


def flatten(x: Any, axis: int = 1) -> Any:
    axis = axis % (len(x.shape) + 1)
    return x.reshape((math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


def transpose(x: Any, perm: Any = None) -> Any:
    x = tensor(x)
    return ops.transpose(x, tuple(perm) if perm is not None else tuple(range(len(x.shape)))[::-1])


def unsqueeze(x: Any, places: Any = None, axes: Any = None) -> Any:
    places = sizes(axes if places is None else places)
    if isinstance(x, int) and len(places) == 1:
        return (x,)
    x = tensor(x)
    rank = len(x.shape) + len(places)
    for axis in sorted([place % rank for place in places]):
        x = ops.expand_dims(x, axis)
    return x


def squeeze(x: Any, places: Any = None, axes: Any = None) -> Any:
    places = axes if places is None else places
    if isinstance(x, tuple) and len(x) == 1:
        return x[0]
    x = tensor(x)
    dropped = axes_of(places, len(x.shape)) if places is not None else [i for i, n in enumerate(x.shape) if n == 1]
    return x.reshape(tuple([n for i, n in enumerate(x.shape) if i not in dropped]))


def concat(*xs: Any, axis: int) -> Any:
    if all(is_size(x) for x in xs):
        result: Any = ()
        for x in xs:
            result = result + sizes(x)
        return result
    return ops.concat([tensor(x) for x in xs], axis)


def split(x: Any, parts: Any = None, axis: int = 0, split: Any = None, num_outputs: int = 0) -> Any:
    """``num_outputs`` is that of the node where the file has none."""
    axis = axis % len(x.shape)
    parts = split if parts is None else parts
    extent = x.shape[axis]
    if parts is None:
        step = -(-extent // num_outputs)
        parts = [min(step, extent - i * step) for i in range(num_outputs)]
    found, start = [], 0
    for length in sizes(tuple(parts) if isinstance(parts, list) else parts):
        index = (slice(None),) * axis + (slice(start, start + length),)
        found.append(x[index])
        start += length
    return tuple(found)


_FAR = 2**31 - 1
"""Bounds beyond are the end, as files say it."""


def slices(
    x: Any, first: Any = None, last: Any = None, along: Any = None, steps: Any = None, starts: Any = None,
    ends: Any = None, axes: Any = None,
) -> Any:  # fmt: skip
    first, last = sizes(starts if first is None else first), sizes(ends if last is None else last)
    along = axes if along is None else along
    places = tuple(range(len(first))) if along is None else sizes(along)
    strides = (1,) * len(first) if steps is None else sizes(steps)
    if isinstance(x, tuple) and len(first) == 1:
        return x[first[0] : last[0] : strides[0]]
    x = tensor(x)
    for start, stop, axis, step in zip(first, last, places, strides):
        axis = axis % len(x.shape)
        if step < 0:
            x = ops.flip(x, (axis,))
            extent = x.shape[axis]
            start = -start - 1 if start < 0 else max(extent - 1 - start, 0)
            stop = extent if stop < -extent else (-stop - 1 if stop < 0 else extent - 1 - stop)
            step = -step
        bounds = slice(start, None if stop >= _FAR else stop, step)
        x = x[(slice(None),) * axis + (bounds,)]
    return x


def expand(x: Any, wanted: Any) -> Any:
    x, wanted = tensor(x), sizes(wanted)
    rank = max(len(x.shape), len(wanted))
    have = (1,) * (rank - len(x.shape)) + tuple(x.shape)
    want = (1,) * (rank - len(wanted)) + tuple(wanted)
    return ops.broadcast_to(x, tuple([b if a == 1 else a for a, b in zip(have, want)]))


def tile(x: Any, repeats: Any) -> Any:
    return ops.tile(tensor(x), sizes(repeats))


_PAD_MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate"}


def pad(
    x: Any, amounts: Any = None, axes: Any = None, mode: str = "constant", value: float = 0, pads: Any = None
) -> Any:
    """``pads``: the attribute of early versions. ``value`` is taken out of the inputs where the file is planned."""
    amounts = sizes(pads if amounts is None else amounts)
    rank = len(x.shape)
    places = tuple(range(rank)) if axes is None else axes_of(axes, rank)
    pairs = [(0, 0)] * rank
    for i, axis in enumerate(places):
        pairs[axis] = (amounts[i], amounts[i + len(places)])
    return padded(x, padding=tuple(pairs), mode=_PAD_MODES[mode], value=value)


def trilu(x: Any, k: Any = 0, upper: int = 1) -> Any:
    return ops.triu(x, number(k)) if upper else ops.tril(x, number(k))


def constant(value: Any) -> Any:
    return value


def constant_of_shape(wanted: Any, value: Any = None) -> Any:
    element = Tensor([0.0], dt.float32) if value is None else tensor(value)
    return ops.broadcast_to(element.reshape(()), sizes(wanted))


def sequence(start: Any, limit: Any, delta: Any) -> Any:
    if is_size(start) and is_size(limit) and is_size(delta):
        return ops.arange(number(start), number(limit), number(delta), dtype=dt.int64)
    return ops.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)


def one_hot(x: Any, depth: Any, values: Any, axis: int = -1) -> Any:
    count = number(depth)
    values = tensor(values)
    wide = tensor(x).astype(dt.int64)
    hit = ops.expand_dims(ops.where(wide < 0, wide + count, wide), -1) == ops.arange(count)
    result = ops.where(hit, values[1], values[0])
    return result if axis == -1 else ops.movedim(result, -1, axis)
