"""Sizes that only the program finds out and that do not fit raise, also if nobody reads the result."""

from __future__ import annotations

import pytest

import duograph as ms
from duograph import Tensor, ops

MODES = [{}, {"jit_level": "O0"}, {"backend": "interpreter"}]
LOG: list = []


def unused_sum(x, y):
    ops.masked_select(x, x > 0) + y
    LOG.append(1)
    return x


def caught(x, y):
    try:
        ops.masked_select(x, x > 0) * y
    except ValueError:
        return x - 1
    return x


def before_text(x, y):
    ops.nonzero(x > 0).reshape(-1) + y
    print("after")
    return y


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("f", [unused_sum, caught, before_text])
def test_same_as_eager(f, mode, capsys):
    compiled = ms.jit(f, **mode)
    y = Tensor([1.0, 2.0])
    for values in ([1.0, 2.0, -1.0], [1.0, 2.0, 3.0], [3.0, -1.0, 0.0], [-1.0, 1.0, 2.0], [1.0, 1.0, 1.0]):
        shown = []
        for g in (f, compiled):
            LOG.clear()
            try:
                result = g(Tensor(values), y).tolist()
            except Exception as error:  # noqa: BLE001 - the class is compared
                result = type(error).__name__
            shown.append((result, list(LOG), capsys.readouterr().out))
        assert shown[0] == shown[1], values


def column(x):
    return x[:, 0]


def last_row(x):
    return x[-1]


def element_and_column(x):
    return x[1, Tensor([0])]


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("f", [column, last_row, element_and_column])
def test_an_index_of_nothing_raises_where_sizes_vary(f, mode):
    """Also where nothing else is left: the result would be as empty as it should be."""
    compiled = ms.jit(f, dynamic=1, **mode)
    for _ in range(2):
        for shape in ((3, 2), (3, 4), (4, 0), (0, 0), (0, 1), (2, 0), (0, 0), (1, 1)):
            shown = []
            for g in (f, compiled):
                try:
                    shown.append(g(ops.ones(shape)).shape)
                except IndexError as error:
                    shown.append(str(error))
            assert shown[0] == shown[1], shape
