"""Random programs with branches and loops: eager, a tape around the graph and ``grad`` inside a graph give the same
bits, for the first and second derivative; and the text of all their graphs is exact."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from duograph.autodiff.graph_vjp import vjp
from duograph.autodiff.loops import make_graph
from duograph.autodiff.tape import taping
from duograph.core.op import binding
from duograph.ir.builder import Builder
from duograph.ir.interpreter import run
from duograph.ir.node import Graph
from duograph.ir.parser import parse
from duograph.ir.printer import print_graph
from duograph.ir.verify import verify
from duograph.ops.arithmetic import add, maximum, mul, neg, sub
from duograph.ops.compare import greater
from duograph.ops.graph_binder import GraphBinder
from duograph.ops.select import select
from duograph.ops.unary import sin, tanh
from duograph.passes.pipelines import compile_pipeline
from duograph.rewrite.selfcheck import same_bits
from duograph.tensor.tensor import Tensor
from tests.unit.autodiff.programs import assert_same_bits, if_, scan_, truth, while_

Block = list[tuple[Any, ...]]


def random_block(rng: random.Random, known: int, depth: int) -> Block:
    """Instructions; each adds one value to the ``known`` ones and refers to values by number."""
    block: Block = []
    for _ in range(rng.randint(2, 5)):
        kind = rng.choice(
            ["binary", "binary", "binary", "unary", "select", *(["if", "while", "scan"] if depth else [])]
        )
        picks = [rng.randrange(known) for _ in range(3)]
        inner = [
            random_block(rng, known + (2 if kind in ("while", "scan") else 0), depth - 1)
            for _ in range(2 * (depth > 0))
        ]
        block.append((kind, rng.choice(["add", "mul", "sub", "maximum"]), rng.randint(0, 3), picks, inner))
        known += 1
    return block


BINARY = {"add": add, "mul": mul, "sub": sub, "maximum": maximum}
UNARY = (neg, sin, tanh, lambda x: mul(x, x))


def execute(block: Block, values: list[Any]) -> Any:
    """The last value of a block, computed eagerly or emitted."""
    values = list(values)
    for kind, name, number, (a, b, c), inner in block:
        x, y, z = values[a], values[b], values[c]
        outer = list(values)
        if kind == "binary":
            new = BINARY[name](x, y)
        elif kind == "unary":
            new = UNARY[number](x)
        elif kind == "select":
            new = select(greater(x, y), y, z)
        elif kind == "if":
            then, orelse = inner
            new = if_(
                truth(greater(x, y)), lambda t=then, o=outer: execute(t, o), lambda e=orelse, o=outer: execute(e, o)
            )
        elif kind == "scan":
            new = scan_(number, lambda _, u, v, o=outer, i=inner: (tanh(execute(i[0], [*o, u, v])), sin(u)), x, y)[0]
        else:
            new = loop(number, inner[0], outer, x, y)
        values.append(new)
    return values[-1]


def loop(number: int, inner: Block, outer: list[Any], x: Any, y: Any) -> Any:
    """A while loop of at most ``number`` iterations whose end depends on values, too."""

    def test(n: Any, u: Any, v: Any) -> Any:
        return truth(greater(Tensor(float(number)), select(greater(u, Tensor(5.0)), Tensor(9.0), n)))

    def body(n: Any, u: Any, v: Any) -> Any:
        return add(n, Tensor(1.0)), execute(inner, [*outer, u, v]), tanh(u)

    return while_(test, body, Tensor(0.0), x, y)[1]


def random_program(seed: int) -> Callable[..., Any]:
    """A function of two scalar tensors."""
    block = random_block(random.Random(seed), 2, 2)
    return lambda s, w: execute(block, [s, w])


@pytest.mark.parametrize("seed", range(25))
def test_gradients_are_those_of_eager(seed):
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        assert_same_bits(random_program(seed), *map(Tensor, rng.normal(size=2).astype(np.float32)), order=1)


@pytest.mark.parametrize("seed", range(25))
def test_graphs_of_gradients_are_exact(seed):
    points = [Tensor(v) for v in np.random.default_rng(seed).normal(size=2).astype(np.float32)]
    with binding(GraphBinder(Builder())), taping([]):
        graph = make_graph("main", [p.abstract for p in points], random_program(seed))
    arrays = [p.array() for p in points]
    with np.errstate(all="ignore"):
        for each in (graph, *vjp(graph)):
            verify(each)
            text = print_graph(each)
            assert parse(text, each.context) is each
            if [p.type for p in each.params] == [p.abstract for p in points]:  # no residuals of other types
                assert same_bits(shown(compile_pipeline(each), arrays), shown(each, arrays)), text


def shown(graph: Graph, arrays: list[Any]) -> tuple[Any, ...]:
    """The outputs of a run without what loops save for the gradient, which is an object."""
    out = run(graph, *arrays)
    return tuple(v for v in (out if isinstance(out, tuple) else (out,)) if isinstance(v, np.ndarray | bool | int))
