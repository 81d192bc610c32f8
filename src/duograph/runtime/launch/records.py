"""Records of native launches: what a call of known dtypes and shapes comes to, as words for `launch.text`.

`pack` takes the ops that Python ran for a call and plans the same ops natively: kernels come from `single.single_op`,
so they are the very ones that every other mode runs. Anything that native code does not cover is `Uncovered`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dtype import DType
from duograph.core.op import NOT_DIFFERENTIABLE, Op
from duograph.core.types import TensorType
from duograph.lower.rule import Pointwise, rule_of
from duograph.ops.scalar import limits_of
from duograph.runtime.kernels.single import SingleOp, single_op
from duograph.runtime.python.cpython import WRITEABLE, address_of
from duograph.tensor.tensor import Tensor

from . import words as lt

RELEASE_POINTWISE = 1 << 18
RELEASE_OTHER = 1 << 13
"""Bytes read and written from which the GIL is released: about 10 us of work."""

_SINGLETONS = {id(d.numpy) for d in dt.DTYPES}


class Uncovered(Exception):
    """A call that has to be computed in Python; the argument says why."""


@dataclass
class RecordedOp:
    """An op of a record.

    Attributes:
        op, attrs: the op.
        operands: numbers of the values that it gets.
        outs: its result tensors, for their dtypes and shapes.
        first: number of the value that the first result becomes.
        is_view: it makes no new values but shows the first operand.
    """

    op: Op
    attrs: dict[str, Any]
    operands: list[int]
    outs: list[Tensor]
    first: int
    is_view: bool


@dataclass
class Planned:
    """An op of a `RecordPlan`: operands are numbers of values, ``first`` is the number of its first result.

    Attributes:
        nbytes: of its results.
        view: the words of the step, if it is a view.
    """

    op: Op
    attrs: dict[str, Any]
    operands: list[int]
    first: int
    nbytes: list[int]
    view: list[int] | None


@dataclass
class RecordPlan:
    """What a record does, without the values of the call that it was made of.

    Attributes:
        types: of the tensors and numbers of the call.
        strided: the tensors that are not in one piece, with their strides (in elements, where these are aligned).
        constants: 0-d arrays, the values after them.
        ops: in order.
        results: numbers of the values that the call returns, -1 for ``None``.
        single: whether it returns the only one of them itself.
    """

    types: list[TensorType]
    strided: dict[int, tuple[int, ...] | None]
    constants: list[np.ndarray]
    ops: list[Planned]
    results: list[int]
    single: bool

    @property
    def made(self) -> int:
        """The number of the first value that an op makes."""
        return len(self.types) + len(self.constants)

    def views(self) -> dict[int, Planned]:
        """The ops that make views, by the numbers of these."""
        return {op.first: op for op in self.ops if op.view is not None}


class Words:
    """Arrays of words that point to each other, and what keeps them alive."""

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def array(self, words: Sequence[int]) -> int:
        """The address of a new array."""
        block = (ctypes.c_int64 * max(1, len(words)))(*words)
        self.kept.append(block)
        return ctypes.addressof(block)

    def object(self, value: object) -> int:
        """The address of an object, which is kept."""
        self.kept.append(value)
        return id(value)


def pack(
    key: Sequence[int],
    tensors: Sequence[Tensor],
    numbers: Sequence[Any],
    ops: Sequence[tuple[Op, tuple[Any, ...], dict[str, Any], Any]],
    out: Any,
    constants: Constants,
) -> tuple[Any, list[Any], RecordPlan]:
    """The record of a call, what it points into, and what it does.

    Args:
        key: its key.
        tensors: the tensors among the arguments, no two the same.
        numbers: the numbers that stand for tensors.
        ops: what ran: op, operands, attributes, result.
        out: what the call returned.
        constants: the tensors of numbers.

    Raises:
        Uncovered: native code cannot do the same.
    """
    ops = [step for step in ops if step[3] is out or not constants.takes(*step)]
    values = {id(x): i for i, x in enumerate(tensors)}
    count = len(tensors) + len(numbers)
    number_types, fixed = _find_numbers(values, len(tensors), numbers, ops, constants)
    for tensor in fixed:
        values[id(tensor)] = count
        count += 1
    steps = []
    for op, operands, attrs, result in ops:
        if op.structured or op.effects or op.data_dependent:
            raise Uncovered(f"{op.name} is not a plain computation")
        outs = list(result) if isinstance(result, tuple) else [result]
        if not all(type(x) is Tensor for x in outs):
            raise Uncovered("a result that is not a tensor")
        steps.append(RecordedOp(op, attrs, [_number_of(x, values) for x in operands], outs, count, _is_view(op, outs)))
        for x in outs:
            values[id(x)] = count
            count += 1
    if count > lt.MOST_VALUES:
        raise Uncovered("too many values")
    if isinstance(out, tuple):
        results, single = [-1 if x is None else _number_of(x, values) for x in out], False
    else:
        results, single = [_number_of(out, values)], True
    shown: dict[int, np.ndarray] = {}
    for tensor in (*tensors, *fixed):
        shown[values[id(tensor)]] = _plain(tensor)
    for i in range(len(numbers)):
        shown[len(tensors) + i] = np.empty((), number_types[i].numpy)
    words = Words()
    copied: set[int] = set()
    blocks = [_pack_step(words, step, shown, copied) for step in steps]
    for step, block in zip(steps, blocks, strict=True):
        block[lt.STEP.copy.word] = int(step.first in copied)
    packed = [words.array(block) for block in blocks]
    record = (ctypes.c_int64 * lt.RECORD.n_words)()
    record[lt.RECORD.count.word], record[lt.RECORD.key.word] = len(key), words.array(key)
    record[lt.RECORD.constants.word] = len(fixed)
    record[lt.RECORD.constant_at.word] = words.array([words.object(x) for x in fixed])
    numbers_as = [w for n, d in zip(numbers, number_types, strict=True) for w in _number_words(words, n, d)]
    record[lt.RECORD.number_at.word] = words.array(numbers_as)
    record[lt.RECORD.steps.word], record[lt.RECORD.step_at.word] = len(packed), words.array(packed)
    record[lt.RECORD.result.word] = results[0] if single else words.array(results)
    record[lt.RECORD.results.word] = 0 if single else len(results) + 1
    record[lt.RECORD.copies.word] = sum(1 << i for i in copied if i < len(tensors))
    record[lt.RECORD.tell.word] = int(
        any(len(step.outs) > 1 and step.op.bprop is not NOT_DIFFERENTIABLE for step in steps)
    )
    record[lt.RECORD.release.word] = int(any(_is_long(step, shown) for step in steps))
    given = [shown[i] for i in range(len(tensors) + len(numbers))]
    plan = RecordPlan(
        [TensorType(dt.from_numpy(a.dtype), a.shape) for a in given],
        {i: _strides(a) for i, a in enumerate(given) if not _is_in_one_piece(a)},
        [np.array(x.array()) for x in fixed],
        [
            Planned(s.op, s.attrs, s.operands, s.first, [x.nbytes for x in s.outs], block if s.is_view else None)
            for s, block in zip(steps, blocks, strict=True)
        ],
        results,
        single,
    )
    return record, words.kept, plan


class Constants:
    """0-d tensors that calls may use wherever they come from: numbers among the arguments, and in the functions' code.

    Args:
        make: the tensor of a number in a dtype.
        kept: all such tensors that are kept for the next use of their number.
    """

    def __init__(self, make: Callable[[Any, Any], Tensor], kept: Sequence[Tensor]) -> None:
        self.make = make
        self.known = {id(x): x for x in kept}
        self._made: dict[int, Any] = {}  # numbers of those that an op of the call has made

    def takes(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any], out: Any) -> bool:
        """Whether this op only made a constant, now known; nothing needs to be done for it natively."""
        if op.name == "full" and not operands and attrs["shape"] == () and type(out) is Tensor:
            self.known[id(out)] = out
            self._made[id(out)] = attrs["value"]
            return True
        return False

    def is_of(self, x: Tensor, number: Any) -> bool:
        """Whether ``x`` is the tensor of this number of the call. (Where `full` has made it, integers that the dtype
        does not have raise; the tensors of numbers wrap.)"""
        if id(x) in self._made:
            made = self._made[id(x)]
            is_same = type(made) is type(number) and made == number
            return is_same and (x.dtype.is_floating or x.dtype.is_complex)
        return self.make(number, x.dtype) is x


def _find_numbers(
    values: dict[int, int],
    first: int,
    numbers: Sequence[Any],
    ops: Sequence[tuple[Op, tuple[Any, ...], dict[str, Any], Any]],
    constants: Constants,
) -> tuple[list[Any], list[Tensor]]:
    """Which operands are numbers of the call (with their dtypes), and which always the same constants."""
    made = {id(x) for _, _, _, result in ops for x in (result if isinstance(result, tuple) else (result,))}
    types: list[Any] = [None] * len(numbers)
    fixed: list[Tensor] = []
    for _, operands, _, _ in ops:
        for x in operands:
            if not isinstance(x, Tensor) or id(x) in values or id(x) in made or any(x is c for c in fixed):
                continue
            if x.shape or id(x) not in constants.known:
                raise Uncovered("an operand from elsewhere")
            places = [i for i, n in enumerate(numbers) if constants.is_of(x, n)]
            if not places:
                fixed.append(x)
            elif len(places) == 1 and types[places[0]] in (None, x.dtype):
                types[places[0]] = x.dtype
                values[id(x)] = first + places[0]
            else:
                raise Uncovered("a number that is two operands")
    if None in types:
        raise Uncovered("a number that is not an operand")
    return types, fixed


_STORED = {
    dt.float64: lt.TO_FLOAT64, dt.float32: lt.TO_FLOAT32, dt.float16: lt.TO_FLOAT16, dt.bfloat16: lt.TO_BFLOAT16,
    dt.complex64: lt.TO_FLOAT32,  # its imaginary part is the other half of the word: 0
}  # fmt: skip


def _number_words(words: Words, number: Any, dtype: DType) -> list[int]:
    """What native code needs to make the 0-d tensors of such numbers in a dtype, with the bits of `full`."""
    how = lt.AS_IT_IS if type(number) is int and dtype.is_integer else _STORED.get(dtype, lt.BY_PYTHON)
    block = [0] * lt.NUMBER.n_words
    block[lt.NUMBER.dtype.word], block[lt.NUMBER.how.word] = words.object(dtype), how
    block[lt.NUMBER.output.word] = words.array(output_words(words, np.empty((), dtype.numpy)))
    low, high = limits_of(dtype if how == lt.AS_IT_IS else dt.int64)
    block[lt.NUMBER.low.word], block[lt.NUMBER.high.word] = low, min(high, limits_of(dt.int64)[1])
    return block


def _number_of(x: Any, values: dict[int, int]) -> int:
    number = values.get(id(x)) if isinstance(x, Tensor) else None
    if number is None:
        raise Uncovered("an operand or result from elsewhere")
    return number


def _is_view(op: Op, outs: list[Tensor]) -> bool:
    """Whether the op made a view; with the strides of the operand it may also have to copy, as a kernel does."""
    if op.view and len(outs) != 1:
        raise Uncovered("several views")
    return op.view and outs[0]._view is not None


def _plain(tensor: Tensor) -> np.ndarray:
    array = tensor.array()
    if id(array.dtype) not in _SINGLETONS:
        raise Uncovered("a dtype object of its own")
    if not array.size:
        raise Uncovered("no elements")
    return array


def _pack_step(words: Words, step: RecordedOp, shown: dict[int, np.ndarray], copied: set[int]) -> list[int]:
    """The words of a step; ``shown`` has an array like each value so far, and gets those of the results. ``copied``
    gets the values that kernels need in one piece and that are not."""
    operands = [shown[i] for i in step.operands]
    outs = [_plain(x) for x in step.outs]
    block = [0] * lt.STEP.n_words
    block[lt.STEP.view.word] = int(step.is_view)
    block[lt.STEP.op.word], block[lt.STEP.attrs.word] = words.object(step.op), words.object(step.attrs)
    block[lt.STEP.recorded.word] = int(step.op.bprop is not NOT_DIFFERENTIABLE)
    block[lt.STEP.operands.word], block[lt.STEP.operand_at.word] = len(operands), words.array(step.operands)
    block[lt.STEP.outputs.word] = len(outs)
    if step.is_view:
        block[lt.STEP.output_at.word] = words.array(view_words(words, operands[0], outs[0]))
    else:
        copied.update(i for i in step.operands if not _is_in_one_piece(shown[i]))
        _pack_calls(words, block, step, operands, outs)
    for i, array in enumerate(outs):
        shown[step.first + i] = array
    return block


def _is_in_one_piece(array: np.ndarray) -> bool:
    return array.flags.c_contiguous and array.flags.aligned


def _strides(array: np.ndarray) -> tuple[int, ...] | None:
    """Strides in elements."""
    if not array.flags.aligned or any(s % array.itemsize for s in array.strides):
        return None
    return tuple([s // array.itemsize for s in array.strides])


def _pack_calls(
    words: Words, block: list[int], step: RecordedOp, operands: list[np.ndarray], outs: list[np.ndarray]
) -> None:
    prepared = single_op(step.op, operands, step.attrs)
    if not isinstance(prepared, SingleOp):
        raise Uncovered(f"{step.op.name} has no native kernel")
    if [(a.dtype, a.shape) for a in outs] != [(np.dtype(d), tuple(s)) for d, s in prepared.outs]:
        raise Uncovered("results of another type")
    block[lt.STEP.output_at.word] = words.array([w for a in outs for w in output_words(words, a)])
    offsets = []
    for n in prepared.temps:
        offsets.append(block[lt.STEP.temporaries.word])
        block[lt.STEP.temporaries.word] += -(-n // 64) * 64
    calls: list[int] = []
    for function, sources, dims in prepared.calls:
        if len(sources) > lt.MOST_BUFFERS or any(type(d) is not int for d in dims):
            raise Uncovered("a kernel that takes numbers")
        places = {0: lambda i: step.operands[i], 1: lambda i: step.first + i, 2: lambda i: -1 - offsets[i]}
        buffers = [places[kind](i) for kind, i in sources]
        address = ctypes.cast(function, ctypes.c_void_p).value or 0
        calls += [address, len(buffers), words.array(buffers), words.array(dims)]
    block[lt.STEP.calls.word], block[lt.STEP.call_at.word] = len(prepared.calls), words.array(calls)
    words.kept.append(prepared)


def output_words(words: Words, array: np.ndarray) -> list[int]:
    """What native code needs to make an array of this dtype and shape."""
    block = [0] * lt.OUTPUT.n_words
    block[lt.OUTPUT.dtype.word], block[lt.OUTPUT.rank.word] = words.object(array.dtype), array.ndim
    block[lt.OUTPUT.bytes.word], block[lt.OUTPUT.shape.word] = array.nbytes, words.array(array.shape)
    return block


def view_words(words: Words, base: np.ndarray, view: np.ndarray) -> list[int]:
    """What native code needs to make an array that shows as much of an array like ``base`` as ``view`` shows of it."""
    block = output_words(words, view)
    block[lt.OUTPUT.strides.word] = words.array(view.strides)
    block[lt.OUTPUT.offset.word] = address_of(view) - address_of(base)
    # Native code takes what the base of each call allows of that: what this base forbids says nothing about others.
    repeats = any(n > 1 and step == 0 for n, step in zip(view.shape, view.strides, strict=True))
    forbids = base.flags.writeable and not view.flags.writeable
    block[lt.OUTPUT.flags.word] = 0 if forbids or repeats else WRITEABLE
    return block


def _is_long(step: RecordedOp, shown: dict[int, np.ndarray]) -> bool:
    if step.is_view:
        return False
    amount = sum(shown[i].nbytes for i in (*step.operands, *range(step.first, step.first + len(step.outs))))
    return amount > (RELEASE_POINTWISE if isinstance(rule_of(step.op), Pointwise) else RELEASE_OTHER)
