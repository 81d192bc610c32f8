"""Cells whose class has a ``__call__`` of its own: it runs once, whatever compiles the Cell, and hooks are seen."""

from __future__ import annotations

import os

import pytest

import duograph as ms
from duograph import Tensor, nn


class Whole(nn.Cell):
    def construct(self, x):
        return x * 2

    def __call__(self, x):
        return super().__call__(x + 10) + 1


class Cut(Whole):
    def construct(self, x):
        y = x * 2
        os.getpid()
        return y


class Joining(Whole):
    def __call__(self, x, y=10.0):
        return nn.Cell.__call__(self, x + y) + 1


class Outer(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x):
        return self.inner(x)


WAYS = {
    "dynamic": lambda cell: cell,
    "jit": ms.jit,
    "bytecode": lambda cell: ms.jit(cell, capture_mode="bytecode"),
    "function": lambda cell: ms.jit(lambda x: cell(x)),
    "outer": lambda cell: ms.jit(Outer(cell)),
    "graph mode": lambda cell: cell,
    "graph mode, outer": Outer,
}


@pytest.fixture(params=WAYS)
def way(request):
    ms.set_context(mode=ms.GRAPH_MODE if "graph" in request.param else ms.PYNATIVE_MODE)
    yield WAYS[request.param]
    ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("kind", [Whole, Cut, Joining])
def test_it_runs_once(kind, way):
    compiled = way(kind())
    assert [compiled(Tensor(1.0)).item() for _ in range(4)] == [23.0] * 4
    assert ms.grad(compiled)(Tensor(1.0)).item() == 2.0


@pytest.mark.parametrize("kind", [Whole, Cut, Joining])
def test_what_changes_later(kind, way):
    cell = kind()
    compiled = way(cell)
    seen = [compiled(Tensor(1.0)).item() for _ in range(3)]
    hook = cell.register_forward_hook(lambda cell, inputs, output: output + 100)
    seen += [compiled(Tensor(1.0)).item() for _ in range(3)]
    cell.construct = lambda x: x * 3
    seen += [compiled(Tensor(1.0)).item() for _ in range(3)]
    hook.remove()
    seen += [compiled(Tensor(1.0)).item() for _ in range(3)]
    assert seen == [23.0] * 3 + [123.0] * 3 + [134.0] * 3 + [34.0] * 3


@pytest.mark.parametrize("kind", [Whole, Cut, Joining])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_as_its_own_construct(kind, is_compiled):
    cell = kind()
    if is_compiled:
        cell.construct = ms.jit(cell.construct)
    cell.construct = ms.jit(cell)
    assert [cell(Tensor(1.0)).item() for _ in range(3)] == [23.0] * 3


def test_other_arguments_than_those_of_construct():
    compiled = ms.jit(Joining(), fullgraph=True)
    assert compiled(Tensor(1.0), y=Tensor(2.0)).item() == 7.0
    assert compiled(Tensor(1.0)).item() == 23.0


def _doubled(self, x):
    return x * 2


def _doubled_in_parts(self, x):
    y = x * 2
    os.getpid()
    return y


@pytest.mark.parametrize("construct", [_doubled, _doubled_in_parts])
def test_a_class_that_gets_one_later(construct, way):
    kind = type("Plain", (nn.Cell,), {"construct": construct})
    cell = kind()
    compiled = way(cell)
    seen = [compiled(Tensor(1.0)).item() for _ in range(3)]
    kind.__call__ = lambda self, x: nn.Cell.__call__(self, x) + 100
    seen += [compiled(Tensor(1.0)).item() for _ in range(3)]
    del kind.__call__
    seen += [compiled(Tensor(1.0)).item() for _ in range(3)]
    assert seen == [2.0] * 3 + [102.0] * 3 + [2.0] * 3
