"""Programs that run eagerly or are emitted as graphs: control flow as functions, and the comparison of both lives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.autodiff.backward import close_together, inner_scope
from duograph.autodiff.compiled import GraphFunction
from duograph.autodiff.grads import grad
from duograph.autodiff.loops import make_graph
from duograph.autodiff.tape import taping
from duograph.core.op import binding, state
from duograph.core.types import INT
from duograph.ir.builder import Builder
from duograph.ir.control import call_named, cond, scan, while_loop
from duograph.ir.interpreter import run
from duograph.ops.graph_binder import GraphBinder
from duograph.ops.scalar import tensor_item
from duograph.tensor.tensor import Tensor, type_of


def compiled(types: Any, fn: Callable[..., Any]) -> Callable[..., Any]:
    """``fn`` as a graph, called through a `GraphFunction`."""
    binder = GraphBinder(Builder())
    with binding(binder), taping([]):
        graph = make_graph("main", types, fn)
    function = GraphFunction(graph, lambda g, values: run(g, *values))

    def call(*xs: Tensor) -> Any:
        outs = function(xs)
        return outs[0] if len(outs) == 1 else tuple(outs)

    return call


def truth(x: Tensor) -> Any:
    return bool(x.array()) if state.binder is None else tensor_item(x, kind="bool")


def if_(pred: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    if state.binder is None:
        return then() if pred else orelse()
    binder: Any = state.binder
    scopes, outs = [], []
    for make in (then, orelse):
        with inner_scope(binder) as scope:
            outs.append([binder.node_of(make())])
        scopes.append(scope)
    graphs, captures = close_together(scopes, outs)
    return cond(pred, *[binder.wrap(c) for c in captures], then=graphs[0], orelse=graphs[1])[0]


def _emit_loop(carry: Any, types: Any, body: Any, test: Any = None) -> Any:
    binder: Any = state.binder
    params = [binder.builder.param("c", t) for t in types]
    handles = [binder.wrap(p) for p in params]
    scopes, outs = [], []
    for make in (test, body):
        if make is not None:
            with inner_scope(binder) as scope:
                out = make(*(handles if make is body else handles[-len(carry) :]))
                outs.append([binder.node_of(v) for v in out] if isinstance(out, tuple) else binder.node_of(out))
            scopes.append(scope)
    captures: dict[Any, None] = {}
    for scope, nodes in zip(scopes, outs, strict=True):
        captures.update(dict.fromkeys(scope.close("loop", params, nodes)[1]))
    graphs = [s.close("loop", params, n, tuple(captures))[0] for s, n in zip(scopes, outs, strict=True)]
    return graphs, [binder.wrap(c) for c in captures]


def while_(test: Any, body: Any, *carry: Any) -> Any:
    if state.binder is None:
        while test(*carry):
            carry = body(*carry)
        return carry
    graphs, captures = _emit_loop(carry, [type_of(c) for c in carry], body, test)
    return while_loop(*carry, *captures, cond=graphs[0], body=graphs[1], n_carry=len(carry))


def scan_(n: int, body: Any, *carry: Any) -> Any:
    if state.binder is None:
        for i in range(n):
            carry = body(i, *carry)
        return carry
    graphs, captures = _emit_loop(carry, [INT, *[type_of(c) for c in carry]], body)
    return scan(n, *carry, *captures, body=graphs[0], n_carry=len(carry))


def recursive(name: str, types: Any, out_type: Any, body: Any) -> Callable[..., Any]:
    """A recursive function; ``body`` gets the function itself first."""

    def function(*args: Any) -> Any:
        if state.binder is None:
            return body(function, *args)
        binder: Any = state.binder
        functions = binder.builder.context.functions
        if name not in functions:
            functions[name] = None
            functions[name] = make_graph(name, types, lambda *params: body(function, *params))
        return call_named(*args, name=name, type=out_type)

    return function


def bits(result: Any) -> list[tuple[Any, ...]]:
    items = result if isinstance(result, tuple | list) else (result,)
    return [(x.array().dtype, x.array().shape, x.array().tobytes()) for x in items]


def assert_same_bits(fn: Callable[..., Any], *xs: Tensor, order: int = 1) -> None:
    """Values and gradients of eager, of a tape around a graph, and of ``grad`` inside a graph have the same bits."""
    types = [x.abstract for x in xs]
    eager, around, inside = fn, compiled(types, fn), fn
    assert bits(fn(*xs)) == bits(around(*xs))
    positions = tuple(range(len(xs)))
    expected = bits(grad(fn, positions)(*xs))
    assert bits(grad(around, positions)(*xs)) == expected
    whole = lambda *a: list(grad(fn, positions)(*a)) if len(a) > 1 else grad(fn)(*a)  # noqa: E731
    assert bits(compiled(types, whole)(*xs)) == expected
    for _ in range(order):
        eager, around, inside = grad(eager), grad(around), grad(inside)
        expected = bits(eager(*xs))
        assert bits(around(*xs)) == expected
        assert bits(compiled(types, inside)(*xs)) == expected
