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


SIZED = {
    "column": lambda x: x[:, 0],
    "last row": lambda x: x[-1],
    "element and column": lambda x: x[1, Tensor([0])],
    "narrow": lambda x: x.narrow(0, 0, 1),
    "slice": lambda x: ops.slice(x, (1, 0), (1, 1)),
    "split": lambda x: x.split([1, 1]),
    "squeeze": lambda x: x.squeeze(1),
    "squeeze all": lambda x: x.squeeze(),
    "kthvalue": lambda x: x.kthvalue(2),
    "mask": lambda x: x[Tensor([True, False])],
    "pooled": lambda x: ops.adaptive_avg_pool1d(x.expand_dims(0), 2),
}


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("f", SIZED.values(), ids=SIZED)
def test_sizes_that_vary_and_do_not_fit(f, mode):
    """Also where nothing else is left: the result would be as empty as it should be."""
    compiled = ms.jit(f, dynamic=1, **mode)
    for _ in range(2):
        for shape in ((3, 2), (3, 4), (4, 0), (0, 0), (0, 1), (2, 0), (0, 0), (2, 3), (1, 1), (1, 3), (2, 1)):
            shown = []
            for g in (f, compiled):
                try:
                    shown.append(str(g(ops.ones(shape))))
                except (IndexError, ValueError) as error:
                    shown.append(str(error))
            assert shown[0] == shown[1], shape


FOUND = {
    "split": lambda y: y.split([1, 1]),
    "narrow": lambda y: y.narrow(0, 0, 1),
    "slice": lambda y: ops.slice(y, (1,), (1,)),
    "mask": lambda y: y[Tensor([True, False])],
    "squeeze": lambda y: y.squeeze(),
    "element": lambda y: y[1],
}


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("f", FOUND.values(), ids=FOUND)
def test_sizes_that_are_found_out_and_do_not_fit(f, mode):
    def select(x, n):
        return f(x[x > n])

    compiled = ms.jit(select, **mode)
    for n in (0.5, 2.0, 10.0, 1.0, 0.5):
        shown = []
        for g in (select, compiled):
            try:
                shown.append(str(g(Tensor([1.0, 2.0, 3.0]), Tensor(n))))
            except (IndexError, ValueError) as error:
                shown.append(str(error))
        assert shown[0] == shown[1], n
