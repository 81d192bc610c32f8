"""Random programs: text is exact, and passes keep every bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from duograph.base.config import configure
from duograph.core import dtype as dt
from duograph.core.types import BOOL, INT, TensorType, TupleType
from duograph.debug.opt import declare_ops
from duograph.ir.control import cond, make_tuple, scan, tuple_get
from duograph.ir.interpreter import Interpreter, run
from duograph.ir.node import Context, Graph
from duograph.ir.parser import parse
from duograph.ir.printer import print_graph
from duograph.ir.verify import verify
from duograph.ir.walk import clone, equal
from duograph.ops.arithmetic import add, maximum, mul, neg, sub
from duograph.ops.cast import cast, stop_gradient
from duograph.ops.compare import less
from duograph.ops.movement import reshape, transpose
from duograph.ops.select import select
from duograph.passes.pipelines import compile_pipeline
from duograph.rewrite.selfcheck import random_value, same_bits

declare_ops()
F = TensorType(dt.float32, (2, 2))
_CONSTANTS = (0.0, -0.0, 1.0, np.nan, np.inf, 2.5)


def _body(draw, context: Context, name: str, tensors: list, depth: int, tag: list[int]) -> list:
    """Some random nodes on f32[2,2] values; gives all values there are."""
    values = list(tensors)

    def emit(op, *operands, **attrs):
        tag[0] += 1
        return context.apply(op, operands, attrs, tag[0] if draw(st.booleans()) else 0)

    def pick():
        return values[draw(st.integers(0, len(values) - 1))]

    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.integers(0, 8 if depth else 6))
        if kind == 0:
            values.append(emit(draw(st.sampled_from([add, mul, sub, maximum])), pick(), pick()))
        elif kind == 1:
            values.append(emit(draw(st.sampled_from([neg, stop_gradient])), pick()))
        elif kind == 2:
            shape = draw(st.sampled_from([(), (2,), (2, 2)]))
            const = context.const(np.full(shape, draw(st.sampled_from(_CONSTANTS)), np.float32))
            values.append(emit(draw(st.sampled_from([add, mul, sub])), pick(), const))
        elif kind == 3:
            values.append(emit(transpose, pick(), perm=draw(st.sampled_from([(0, 1), (1, 0)]))))
        elif kind == 4:
            values.append(emit(reshape, emit(reshape, pick(), shape=(4,)), shape=(2, 2)))
        elif kind == 5:
            values.append(emit(select, emit(less, pick(), pick()), pick(), pick()))
        elif kind == 6:
            values.append(emit(cast, emit(cast, pick(), dtype=dt.float64), dtype=dt.float32))
        else:
            args = [pick() for _ in range(draw(st.integers(1, 3)))]
            n = len(args)
            if kind == 7:
                graphs = [_graph(draw, context, f"{name}.{b}", n, n, depth - 1, tag, ()) for b in ("then", "orelse")]
                pred = context.param("p", BOOL) if depth == 2 else context.const(draw(st.booleans()))
                node = emit(cond, pred, *args, then=graphs[0], orelse=graphs[1])
            else:
                n_carry = draw(st.integers(1, n))
                lead = (context.param(context.fresh_name("i"), INT),)
                body = _graph(draw, context, f"{name}.body", n, n_carry, depth - 1, tag, lead)
                count = context.param("n", INT) if depth == 2 else context.const(draw(st.integers(0, 2)))
                node = emit(scan, count, *args, body=body, n_carry=n_carry)
            assert isinstance(node.type, TupleType)
            values.append(emit(tuple_get, node, index=draw(st.integers(0, len(node.type.items) - 1))))
    return values


def _graph(draw, context: Context, name: str, n_params: int, n_results: int, depth: int, tag: list[int], lead) -> Graph:
    params = [context.param(context.fresh_name("a"), F) for _ in range(n_params)]
    values = _body(draw, context, name, params, depth, tag)
    results = [values[draw(st.integers(0, len(values) - 1))] for _ in range(n_results)]
    return context.graph(context.fresh_name(name), (*lead, *params), context.apply(make_tuple, tuple(results), {}))


@st.composite
def programs(draw) -> Graph:
    """A graph of (p: bool, n: int, x: f32[2,2], y: f32[2,2])."""
    context = Context()
    p, n, x, y = context.param("p", BOOL), context.param("n", INT), context.param("x", F), context.param("y", F)
    values = _body(draw, context, "main", [x, y], 2, [0])
    results = tuple(values[-draw(st.integers(1, 3)) :])
    return context.graph("main", (p, n, x, y), context.apply(make_tuple, results, {}))


@settings(max_examples=60, deadline=None)
@given(programs())
def test_text_is_exact(graph):
    text = print_graph(graph)
    assert parse(text, graph.context) is graph
    other = parse(text)
    assert equal(other, graph) and equal(clone(graph, Context()), graph)
    verify(graph)


class Observed(Interpreter):
    def run_node(self, node, operands):
        return super().run_node(node, operands)


@settings(max_examples=60, deadline=None)
@given(programs(), st.integers(0, 2**32 - 1))
def test_passes_keep_every_bit(graph, seed):
    rng = np.random.default_rng(seed)
    with configure(verify="pass"):
        optimised = compile_pipeline(graph)
    for p in (False, True):
        args = (p, int(rng.integers(0, 4)), random_value(F, rng), random_value(F, rng))
        want = run(graph, *args)
        assert same_bits(run(optimised, *args), want), print_graph(graph) + print_graph(optimised)
        assert same_bits(Observed().run(graph, args), want)
