"""A version that was captured of two tensors is none for one tensor that is given twice, where the program can tell."""

from __future__ import annotations

import pytest

import duograph as ms
from duograph import Tensor


def keys(x, y):
    return len({x, y}), x in {y, 1}, {y: 1}.get(x), len(dict.fromkeys([x, y])), x + y


def containers(x, y):
    return x in [y, None], [x] == [y], (x, 1) == (y, 1), [y, x].count(x), {0: x} == {0: y}, x + y


def hashes(x, y):
    return hash(x) == hash(y), x.__hash__() == hash(y), object.__hash__(x) == Tensor.__hash__(y), x + y


def held_in_containers(x, y):
    return {(x, 1): 2}.get((y, 1)), frozenset([y]) == frozenset([x]), x + y


@pytest.mark.parametrize("capture_mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("program", [keys, containers, hashes, held_in_containers])
@pytest.mark.parametrize(
    "number", [1.0, float("nan")]
)  # NaN is in a list because it is that object, and equals nothing
def test_one_tensor_twice(program, capture_mode, number):
    compiled = ms.jit(program, capture_mode=capture_mode)
    a, b, c = Tensor(number), Tensor(number), Tensor(number)
    for pair in [(a, b), (a, a), (b, a), (b, b), (c, c), (a, c), (c, c)]:
        *expected, _ = program(*pair)
        *found, _ = compiled(*pair)
        assert found == expected


@pytest.mark.parametrize("capture_mode", ["ast", "bytecode", "trace"])
def test_the_hash_of_another_tensor(capture_mode):
    compiled = ms.jit(lambda x: (hash(x), x * 2), capture_mode=capture_mode)
    for x in [Tensor([1.0]), Tensor([2.0])] * 3:
        assert compiled(x)[0] == hash(x)


def test_keys_need_no_break():
    compiled = ms.jit(keys, fullgraph=True)
    assert compiled(Tensor(1.0), Tensor(2.0))[0] == 2
    assert len(compiled.explain().versions) == 1


def test_parameters_as_keys_of_a_table():
    held = [ms.Parameter(Tensor([float(i)]), name=f"p{i}") for i in range(20)]
    compiled = ms.jit(lambda given: {p: p * 2 for p in given}[given[0]], fullgraph=True)
    for given in (held, held[::-1], held, held[:1] * 20):
        assert compiled(given).tolist() == [2 * given[0].asnumpy().item()]
