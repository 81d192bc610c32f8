"""What `infer` accepts, there is: every operator with samples that have been spoiled at random.

Compiled code is made from what `infer` says. If that lets something pass which only the reference refuses, a compiled
program that does not use the result does not raise, and a kernel rule fails on what it was not written for. Operators
whose operands can be wrong by value (indices) say so: ``raises``, or ``data_dependent``.
"""

from __future__ import annotations

import random
import zlib
from typing import Any

import numpy as np
import pytest

import duograph.tensor.eager  # noqa: F401 (installs the eager binder)
from duograph.core.types import TensorType, TupleType
from duograph.tensor.tensor import wrap
from tests.ops.opinfo import TABLE, OpInfo

REFUSALS = (TypeError, ValueError, RuntimeError, OverflowError, NotImplementedError, MemoryError)
DTYPES = (np.float32, np.int32, np.uint8, np.bool_, np.complex64, np.int64, np.float16)
INTERNAL_FORM = ("spec", "slices")  # attributes that only our own code writes
LARGE = 100_000


def spoiled_array(r: random.Random, a: np.ndarray) -> np.ndarray:
    axis = r.randrange(a.ndim) if a.ndim else None
    choices = [lambda: a[None], lambda: a.astype(r.choice(DTYPES))]
    if a.size:
        choices.append(lambda: a.reshape(-1)[0].reshape(()))
    if axis is not None:
        choices += [lambda: np.take(a, [], axis), lambda: np.concatenate([a, a], axis), lambda: a.T]
        if a.shape[axis]:
            choices += [lambda: np.take(a, [0], axis), lambda: np.take(a, 0, axis)]
    return np.array(r.choice(choices)())


def spoiled_attr(r: random.Random, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return r.choice([value + 1, value - 1, -value, 0, 1, -1, 2, 5, -7, 100])
    if isinstance(value, float):
        return r.choice([0.0, -1.0, float("inf"), float("nan"), value * 2])
    if isinstance(value, tuple):
        if not value:
            return r.choice([(0,), (1,), (5,)])
        k = r.randrange(len(value))
        return r.choice([value[:-1], (*value, value[-1]), (*value[:k], spoiled_attr(r, value[k]), *value[k + 1 :])])
    return value


def spoiled(r: random.Random, row: OpInfo) -> tuple[list[np.ndarray], dict[str, Any]]:
    sample = r.choice(row.samples)
    operands, attrs = [np.asarray(a) for a in sample.operands], dict(sample.attrs)
    for _ in range(r.choice([1, 1, 2])):
        names = [n for n in attrs if n not in INTERNAL_FORM]
        if names and (r.random() < 0.5 or not operands):
            name = r.choice(names)
            attrs[name] = spoiled_attr(r, attrs[name])
        elif operands:
            k = r.randrange(len(operands))
            operands[k] = spoiled_array(r, operands[k])
    return operands, attrs


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_accepted_is_computed(row: OpInfo) -> None:
    r = random.Random(zlib.crc32(row.name.encode()))
    with np.errstate(all="ignore"):
        for _ in range(12):
            arrays, attrs = spoiled(r, row)
            operands = [wrap(a) for a in arrays]
            shown = f"{row.name} of {[f'{a.dtype}{a.shape}' for a in arrays]}, {attrs}"
            try:
                promised = row.op.result_type(tuple(t.abstract for t in operands), row.op.complete_attrs(attrs))
            except REFUSALS:
                continue
            except IndexError as error:  # an operator's own, about an index; not that of a rule
                assert "tuple index" not in str(error), shown
                continue
            items = promised.items if isinstance(promised, TupleType) else (promised,)
            if any(sized(item) and np.prod(item.shape) > LARGE for item in items):
                continue
            try:
                out = row.op(*operands, **attrs)
            except (*REFUSALS, IndexError):
                assert row.op.raises or row.op.data_dependent, shown
                continue
            for item, value in zip(items, out if isinstance(out, tuple) else (out,), strict=True):
                assert value.dtype is item.dtype, shown
                assert not sized(item) or tuple(value.shape) == tuple(item.shape), shown


def sized(item: Any) -> bool:
    return isinstance(item, TensorType) and all(isinstance(n, int) for n in item.shape)
