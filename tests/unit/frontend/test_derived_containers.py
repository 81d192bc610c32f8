"""What objects of classes derived from containers hold besides their items: where they are made, copied, and leave."""

import copy

import pytest

import duograph as ms
from duograph import Tensor


class Rows(list):
    pass


class Config(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class Point(tuple):
    pass


def made(x):
    rows = Rows([x])
    rows.best = x * 2
    rows.other = rows
    return rows


def copied(x):
    rows = Rows([x])
    rows.best = 2
    return copy.copy(rows), copy.deepcopy([rows])[0]


def branched(x):
    rows = Rows()
    rows.best = 0
    if x.sum() > 0:
        rows.best, rows.late = x, 1
    return rows


def own_items(x):
    config = Config(x=x)
    config.y = x * 2
    config.inner = config
    return config


def held(value, depth=2):
    """Items and attributes, as plain data."""
    if isinstance(value, Rows | Config) and depth:
        items = value.items() if isinstance(value, dict) else value
        return type(value), held(list(items), depth - 1), held(sorted(vars(value).items()), depth - 1)
    if isinstance(value, list | tuple):
        return [held(v, depth) for v in value]
    return str(value) if isinstance(value, Tensor) else value if isinstance(value, int | str) else type(value)


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("program", [made, copied, branched, own_items])
def test_the_same_as_plain_python(program, mode):
    compiled = ms.jit(program, capture_mode=mode)
    for values in ([1.0, 2.0], [-1.0, 0.0], [1.0, 2.0]):
        assert held(compiled(Tensor(values))) == held(program(Tensor(values)))


@pytest.mark.parametrize("program", [made, branched, own_items])
def test_they_are_part_of_the_program(program):
    result = ms.jit(program, fullgraph=True)(Tensor([1.0]))
    assert not isinstance(result, Config) or result.__dict__ is result.inner is result
    assert program is not made or result.other is result


def test_a_copy_of_one_from_outside_has_its_attributes():
    rows = Rows([1])
    rows.best = Tensor([2.0])
    one, two = ms.jit(lambda r: (copy.copy(r), copy.deepcopy([r])[0]))(rows)
    assert one.best is rows.best and two.best.tolist() == [2.0] and two.best is not rows.best


def test_a_tuple_with_attributes_leaves_with_them():
    def f(x):
        point = Point([1, 2])
        point.name = "a"
        return x * 2 - x.mean(), copy.copy(point)

    assert ms.jit(f)(Tensor([1.0]))[1].name == "a"
