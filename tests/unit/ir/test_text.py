"""Printer and parser are inverse; walking and verifying graphs."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from duograph.core import dtype as dt
from duograph.core.dim import Symbol
from duograph.core.op import _OPS, Op
from duograph.core.types import INT, StackType, TensorType, TupleType
from duograph.debug.opt import declare_ops
from duograph.ir.node import Context
from duograph.ir.parser import parse
from duograph.ir.printer import print_graph
from duograph.ir.verify import IllFormedGraph, verify
from duograph.ir.walk import clone, count_nodes, equal, inline, rebuild, substitute, users
from duograph.ops.arithmetic import add, mul
from tests.unit.ir.test_interpreter import LOOP, SUM_TO

declare_ops()
F32 = TensorType(dt.float32, (2,))


def roundtrip(value):
    """The value of a constant after printing and parsing, in a fresh context."""
    context = Context()
    graph = context.graph("g", (), context.const(value))
    assert parse(print_graph(graph), context) is graph
    return parse(print_graph(graph), table=context.keys).output.value


@pytest.mark.parametrize("dtype", [d for d in dt.DTYPES], ids=str)
def test_arrays_keep_their_bits(dtype):
    rng = np.random.default_rng(0)
    array = np.frombuffer(rng.bytes(24 * dtype.itemsize), dtype.numpy).reshape(2, 3, 4)
    if dtype.is_bool:
        array = rng.integers(0, 2, (2, 3, 4)).astype(bool)
    got = roundtrip(array)
    assert got.dtype == array.dtype and got.shape == array.shape and got.tobytes() == array.tobytes()


NUMBERS = [0.0, -0.0, 0.1, 1e300, 5e-324, math.inf, -math.inf, math.nan, True, False, 3, -(10**30)]


@pytest.mark.parametrize("value", NUMBERS)
def test_numbers(value):
    got = roundtrip(value)
    assert type(got) is type(value)
    assert got == value or (struct.pack("<d", got) == struct.pack("<d", value))


def test_nan_with_payload():
    value = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000123))[0]
    assert struct.pack("<d", roundtrip(value)) == struct.pack("<d", value)


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1, 1), (64,), (65,), (8, 9)])
def test_shapes_of_arrays(shape):
    assert roundtrip(np.ones(shape, np.float32)).shape == shape


def test_opaque_objects_have_keys():
    thing = object()
    assert roundtrip(thing) is thing


@pytest.mark.parametrize(
    "value",
    [
        True, 1, 1.0, -0.0, "it's \n \\ # ü", (), (1,), (1, (2.5, None)), None, ..., dt.bfloat16, F32,
        TupleType((INT, F32)), StackType(F32), 1 + 2j, Symbol("N") * 2 + 1, ValueError,
    ],
    ids=repr,
)  # fmt: skip
def test_attributes(value, monkeypatch):
    any_ = Op("any_attribute", {"infer": lambda *, kind: F32}, "tests")
    monkeypatch.setitem(_OPS, any_.name, any_)
    context = Context()
    output = context.apply(any_, (), {"kind": value})
    graph = context.graph("g", (), output)
    assert parse(print_graph(graph), context) is graph


def test_names_tags_and_ranges():
    context = Context()
    x = context.param("<lambda>.self.w", TensorType(dt.float32, (Symbol("N", 1, 8), 4)))
    graph = context.graph("Net.<locals>.f", (x,), context.apply(add, (x, x), {}, 7))
    text = print_graph(graph)
    assert "dim N = [1, 8]" in text and "add!7" in text
    assert parse(text, context) is graph
    assert equal(parse(text), graph) and not equal(parse(text.replace("add!7", "add!8")), graph)


@pytest.mark.parametrize("name", ["1", "inf", "x y", "it's", "ü", "return", "c"])
def test_names_of_parameters(name):
    context = Context()
    x, y = context.param("x", F32), context.param(name, F32)
    graph = context.graph("g", (x, y), context.apply(mul, (context.apply(add, (x, y), {}), y), {}))
    assert parse(print_graph(graph), context) is graph


@pytest.mark.parametrize("text", [LOOP, SUM_TO])
def test_control_flow(text):
    graph = parse(text)
    again = print_graph(graph)
    assert print_graph(parse(again)) == again
    assert equal(parse(again), graph)
    verify(graph)
    copy = clone(graph, Context())
    verify(copy)
    assert equal(copy, graph) and copy.context is not graph.context and count_nodes(copy) == count_nodes(graph)
    assert rebuild(graph) is graph


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph @g() -> int { return 1", "no end"),
        ("graph @g() -> int { return %0 }", "not defined"),
        ("graph @g() -> int { return 1.0 }", "returns float"),
        ("graph @g() -> f32[2] { return const<f32[2]>[1.0] }", "1 elements"),
        ("graph @g() -> f32[65] { return const<f32[65]>@k9 }", "@k9"),
        ("graph @g() -> wat { return 1 }", "no type 'wat'"),
        ("graph @g(%x: int) -> int { %0 = call(%x, graph=@h) : int return %0 }", "no graph @h"),
        ("hello", "expected 'graph'"),
        ("", "no graph"),
        ("graph @g() -> int { return ? }", "unexpected character"),
    ],
)
def test_text_that_is_wrong(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text)


def test_verifier():
    context, other = Context(), Context()
    x, y = context.param("x", F32), context.param("y", F32)
    with pytest.raises(IllFormedGraph, match="is free"):
        verify(context.graph("g", (x,), context.apply(add, (x, y), {})))
    with pytest.raises(IllFormedGraph, match="another context"):
        verify(context.graph("g", (x,), context.apply(add, (x, other.param("x", F32)), {})))
    tagged = context.graph("g", (x,), context.apply(add, (x, x), {}, 3))
    verify(tagged)
    with pytest.raises(IllFormedGraph, match="tags"):
        verify(tagged, "canonical")
    lying = context.apply(mul, (x, x), {})
    lying.type = TensorType(dt.float32, (3,))
    with pytest.raises(IllFormedGraph, match="its type is"):
        verify(context.graph("g", (x,), lying))


def test_substitute_inline_users():
    context = Context()
    x, y = context.param("x", F32), context.param("y", F32)
    s = context.apply(add, (x, x), {})
    p = context.apply(mul, (s, x), {})
    graph = context.graph("g", (x, y), p)
    assert users(graph)[x] == [s, p]
    assert substitute(graph, {s: y}).output is context.apply(mul, (y, x), {})
    assert inline(graph, [y, x]) is context.apply(mul, (context.apply(add, (y, y), {}), y), {})
    with pytest.raises(TypeError):
        substitute(graph, {s: context.const(1)})
