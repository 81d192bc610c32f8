"""Memory changes hands only where nobody can tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph.autodiff.tape import Tape, taping
from duograph.tensor.give import give


def parameter() -> ms.Parameter:
    return ms.Parameter(np.zeros(4, np.float32))


def fresh() -> ms.Tensor:
    return ms.Tensor(np.ones(4, np.float32))


def test_a_value_of_its_own_is_taken_over() -> None:
    p, value = parameter(), fresh()
    address = value.data_ptr()
    before = p._version
    give(p, value, holders=1)
    assert p.data_ptr() == address
    assert p._version > before
    assert p.asnumpy().tolist() == [1, 1, 1, 1]


def keep_array(p: ms.Parameter, value: ms.Tensor) -> Any:
    return p.asnumpy()


def keep_array_of_value(p: ms.Parameter, value: ms.Tensor) -> Any:
    return value.asnumpy()


def keep_slice(p: ms.Parameter, value: ms.Tensor) -> Any:
    return p[1:]


def keep_handle(p: ms.Parameter, value: ms.Tensor) -> Any:
    return p.value()


def keep_value(p: ms.Parameter, value: ms.Tensor) -> Any:
    return value


@pytest.mark.parametrize(
    "keep", [keep_array, keep_array_of_value, keep_slice, keep_handle, keep_value], ids=lambda f: f.__name__
)
def test_what_others_see_is_copied(keep: Any) -> None:
    p, value = parameter(), fresh()
    place, source = p.data_ptr(), value.data_ptr()
    kept = keep(p, value)
    give(p, value, holders=1)
    assert p.data_ptr() == place != source
    assert p.asnumpy().tolist() == [1, 1, 1, 1]
    p.add_(ms.Tensor(np.ones(4, np.float32)))
    assert value.asnumpy().tolist() == [1, 1, 1, 1]
    if keep in (keep_array, keep_slice, keep_handle):
        assert set(np.asarray(kept).tolist()) == {2}


def test_under_a_tape_it_is_an_ordinary_write() -> None:
    p, value = parameter(), fresh()
    with taping([tape := Tape()]):
        tape.watch(value)
        give(p, value, holders=1)
        assert tape.variable(p) is not None
    assert p.asnumpy().tolist() == [1, 1, 1, 1]


def test_views_are_written_in_place() -> None:
    whole = ms.Tensor(np.zeros(6, np.float32))
    part, value = whole[1:5], fresh()
    give(part, value, holders=1)
    assert whole.asnumpy().tolist() == [0, 1, 1, 1, 1, 0]


def test_optimizers_keep_the_memory_that_users_hold() -> None:
    weight = ms.Parameter(np.ones(4, np.float32), name="w")
    seen, gradient = weight.asnumpy(), ms.Tensor(np.full(4, 0.5, np.float32))
    optimizer = ms.nn.Adam([weight], 0.1)
    for _ in range(3):
        optimizer((gradient,))
        assert seen.tolist() == weight.asnumpy().tolist()
    assert gradient.asnumpy().tolist() == [0.5] * 4
