"""Fusion: what is computed together, that every schedule is one, and that fused and unfused bits are equal."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.autodiff.grads import grad
from duograph.autodiff.loops import make_graph
from duograph.autodiff.tape import taping
from duograph.core import dtype as dt
from duograph.core.dim import Symbol
from duograph.core.op import binding, get_op
from duograph.core.types import TensorType
from duograph.ir.builder import Builder
from duograph.ir.node import Apply, Graph
from duograph.lower.cost import MOST_CODE, op_size
from duograph.lower.fuse.alike import Alike
from duograph.lower.fuse.fusion import lower_group
from duograph.lower.fuse.groups import Group, groups
from duograph.ops.activation import gelu
from duograph.ops.graph_binder import GraphBinder
from duograph.ops.norm import batch_norm_training, layer_norm
from duograph.passes.pipelines import compile_pipeline
from duograph.runtime.pool import pool
from duograph.runtime.programs.executable import Executable
from tests.unit.lower.kernel_checks import bits


def op(name: str):
    return get_op(name)


def f32(*shape) -> TensorType:
    return TensorType(dt.float32, shape)


def graph_of(types, fn) -> Graph:
    """``fn`` of tensors as an optimised graph."""
    with binding(GraphBinder(Builder())), taping([]):
        graph = make_graph("main", types, fn)
    return compile_pipeline(graph)


def shown(found: list[Group]) -> str:
    """Groups as text: kind, ops in program order, and how many results are written."""
    lines = []
    for group in found:
        names = [n.op.name for n in sorted(group.nodes, key=lambda n: n.serial)]
        if names in (["make_tuple"], ["full"]):
            continue
        kind = (
            "alone "
            if not group.is_fused
            else "kernel"
            if group.root
            else "reduce"
            if group.axes is not None
            else "map   "
        )
        lines.append(f"{kind} {' '.join(names)} -> {len(group.stores)}")
    return "\n".join(lines)


def is_schedule(graph: Graph, found: list[Group]) -> None:
    """Asserts that everything a group reads was written before, and the results are."""
    written = set()

    def available(node) -> bool:
        if not isinstance(node, Apply) or node in written:
            return True
        looked_through = node.op.name in ("full", "broadcast_to", "reshape", "transpose", "identity", "stop_gradient")
        return looked_through and all(available(o) for o in node.operands)

    for group in found:
        for node in group.inputs:
            assert available(node), f"{group} reads {node!r} too early"
        written |= set(group.stores)
    assert available(graph.output)


def both_ways(graph: Graph, *arrays: np.ndarray) -> None:
    """Asserts that level 0 and level 1 give the same bits on 1, 2 and 4 threads."""
    want = None
    for level in (0, 1):
        executable = Executable(graph, level)
        assert not executable.notes
        for threads in (1, 2, 4):
            pool.set_threads(threads)
            out = executable.run([a.copy() for a in arrays])
            found = [bits(x) for x in (out if isinstance(out, tuple) else (out,))]
            want = want or found
            assert found == want, f"level {level}, {threads} threads"
    pool.refresh()


def normal(*shape, dtype=np.float32) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


# ---- programs -------------------------------------------------------------------------------------------------------


def attention(q, k, v):
    scores = op("matmul")(q, op("transpose")(k, perm=(0, 2, 1)))
    return op("matmul")(op("softmax")(scores * 0.125, axis=2), v)


def adam(p, g, m, v):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * (g * g)
    return [p - 0.001 * m / (op("sqrt")(v) + 1e-8), m, v]


def mlp_gradients(x, w, b, w2):
    def loss(w, b, w2):
        hidden = op("relu")(op("matmul")(x, w) + b)
        return op("reduce_sum")(op("square")(op("matmul")(hidden, w2)), axis=(0, 1))

    return list(grad(loss, (0, 1, 2))(w, b, w2))


def variance(x):
    centred = x - op("reduce_mean")(x, axis=(1,), keep_dims=True)
    return op("reduce_mean")(centred * centred, axis=(1,))


def layer_norm_gradients(x, g, b):
    def loss(x, g, b):
        return op("reduce_sum")(op("sin")(layer_norm(x, (96,), g, b)), axis=(0, 1))

    return list(grad(loss, (0, 1, 2))(x, g, b))


def sums_next_to_constants(x, y):
    """A constant has the shape of the loops and yet is the same for all elements: results that are computed from it
    and from sums are one per sum, and must be written for each element."""
    ones, wide = (op("full")(shape=s, value=1.5, dtype=dt.float32) for s in ((5,), (6, 7)))
    total = op("reduce_sum")(x * x, axis=(0,))
    rows = op("reduce_sum")(y, axis=(1,), keep_dims=True)
    return [ones + total, op("tanh")(wide * rows), wide - op("reduce_max")(y, axis=(0,)), wide + total]


def masked_pool_gradient(x, dout, kernel=2):
    """What max pooling after relu gives back to a bias: the masked gradient is written for others as well."""
    how = {"kernel": (kernel, kernel), "stride": (2, 2), "padding": ((0, 0), (0, 0)), "dilation": (1, 1)}

    def loss(x):
        values, _ = op("max_pool")(op("relu")(x), **how, ceil_mode=kernel == 2)
        return op("reduce_sum")(values * dout, axis=(0, 1, 2, 3))

    dx = grad(loss)(x)
    return [dx, op("reduce_sum")(dx, axis=(0, 2, 3))]


def overlapping_pool_gradient(x, dout):
    return masked_pool_gradient(x, dout, kernel=3)


def long_chain(x):
    """So many functions one after the other that several vectors are computed side by side."""
    for _ in range(3):
        x = op("sigmoid")(op("tanh")(x * 2.0 + 0.1) * 0.9)
    return x


def sums_of_long_chain(x):
    y = long_chain(x)
    return [op("reduce_sum")(y, axis=(1,)), op("reduce_max")(y * y, axis=(1,)), op("reduce_sum")(y, axis=(0,))]


def cross_entropy(x, y):
    logs = op("log_softmax")(x, axis=1)
    return op("neg")(op("reduce_mean")(op("reduce_sum")(logs * y, axis=(1,)), axis=(0,)))


POOL_GRADIENT = """\
map    relu -> 1
alone  max_pool -> 1
alone  tuple_get -> 1
kernel greater scatter_planes select -> 1
reduce reduce_sum -> 1"""

PROGRAMS = {
    "chain": ([f32(30, 40), f32(40), f32(40)], lambda x, w, b: gelu(x * w + b),
        "map    mul add gelu -> 1"),
    "bias and activation": ([f32(20, 30), f32(30, 50), f32(50)], lambda x, w, b: op("relu")(op("matmul")(x, w) + b),
        "kernel matmul add relu -> 1"),
    "residual": ([f32(20, 30), f32(30, 50), f32(20, 50)], lambda x, w, y: op("matmul")(x, w) + op("tanh")(y),
        "kernel matmul tanh add -> 1"),
    "softmax of a product": ([f32(2, 8, 16)] * 3, attention,
        "alone  transpose -> 1\nalone  matmul -> 1\nreduce mul softmax -> 1\nalone  matmul -> 1"),
    "layer norm": ([f32(50, 96), f32(96), f32(96)], lambda x, g, b: layer_norm(x, (96,), g, b),
        "reduce standardize mul add -> 1"),
    "layer norm of what is computed": ([f32(50, 96), f32(50, 96)], lambda x, y: layer_norm(x * y, (96,)),
        "reduce mul standardize -> 1"),
    "variance": ([f32(50, 96)], variance, "reduce reduce_mean sub mul reduce_mean -> 1"),
    "batch norm": ([f32(8, 16, 6, 6), f32(16), f32(16)], lambda x, g, b: list(batch_norm_training(x, g, b)),
        "reduce reduce_mean sub mul reduce_mean add rsqrt mul mul add -> 3\nalone  reshape -> 1\nalone  reshape -> 1"),
    "rows and columns of one sum": ([f32(24, 24)], lambda x: x - op("reduce_sum")(x, axis=(1,)),
        "reduce reduce_sum -> 1\nmap    sub -> 1"),
    "optimiser": ([f32(50, 70)] * 4, adam,
        "map    mul mul add mul mul mul add mul sqrt add div sub -> 3"),
    "siblings": ([f32(300, 40)], lambda x: [op("reduce_sum")(x, axis=(0,)), op("reduce_sum")(x * x, axis=(0,))],
        "reduce reduce_sum mul reduce_sum -> 2"),
    "results of a reduction": ([f32(30, 40)], lambda x: op("sqrt")(op("reduce_sum")(x * x, axis=(1,)) + 1.0),
        "reduce mul reduce_sum add sqrt -> 1"),
    "loss": ([f32(30, 10), f32(30, 10)], cross_entropy, None),
    "gradients of a perceptron": ([f32(64, 32), f32(32, 48), f32(48), f32(48, 10)], mlp_gradients, None),
    "gradients of layer norm": ([f32(64, 96), f32(96), f32(96)], layer_norm_gradients, None),
    "half": ([TensorType(dt.float16, (40, 50))], lambda x: op("softmax")(op("exp")(x) * x, axis=1), None),
    "views": ([f32(6, 4, 5), f32(4, 6, 5)], lambda x, y: op("transpose")(op("relu")(x), perm=(1, 0, 2)) * y,
        "map    relu mul -> 1"),
    "columns whose rows are uneven": ([f32(20, 6, 7), f32(6, 1)], lambda x, y: op("reduce_sum")(x * y, axis=(0,)),
        "reduce mul reduce_sum -> 1"),
    "rows that are uneven": ([f32(20, 6, 7), f32(6, 1)], lambda x, y: op("reduce_sum")(x * y, axis=(1, 2)),
        "reduce mul reduce_sum -> 1"),
    "gradient of max pooling": ([f32(2, 3, 9, 20), f32(2, 3, 5, 10)], masked_pool_gradient,
        POOL_GRADIENT),
    "gradient of max pooling, windows overlap": ([f32(2, 3, 9, 21), f32(2, 3, 4, 10)], overlapping_pool_gradient,
        POOL_GRADIENT),
    "long chain": ([f32(5003)], long_chain,
        "map    mul add tanh mul sigmoid mul add tanh mul sigmoid mul add tanh mul sigmoid -> 1"),
    "long chain in rows": ([f32(7, 83), f32(83)], lambda x, y: long_chain(x + y), None),
    "long chain of doubles": ([TensorType(dt.float64, (3, 101))], long_chain, None),
    "long chain of halves": ([TensorType(dt.float16, (3, 101))], long_chain, None),
    "sums of a long chain": ([f32(9, 4500)], sums_of_long_chain, None),
    "sums of a long chain of doubles": ([TensorType(dt.float64, (9, 45))], sums_of_long_chain, None),
    "sums next to constants": ([f32(5), f32(6, 7)], sums_next_to_constants, None),
    "used twice": ([f32(40)], lambda x: [op("exp")(x), op("exp")(x) * 2.0],
        "map    exp mul -> 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_groups_and_bits(name):
    types, fn, text = PROGRAMS[name]
    graph = graph_of(types, fn)
    found = groups(graph)
    is_schedule(graph, found)
    if text is not None:
        assert shown(found) == text
    both_ways(graph, *[normal(*t.shape, dtype=t.dtype.numpy) for t in types])


def test_level_0_fuses_nothing():
    graph = graph_of([f32(30), f32(30)], lambda x, y: op("exp")(x + y))
    assert shown(groups(graph, 0)) == "alone  add -> 1\nalone  exp -> 1"


def test_every_group_becomes_kernels():
    for types, fn, _ in PROGRAMS.values():
        for group in groups(graph_of(types, fn)):
            assert not group.is_fused or lower_group(group).calls


def test_symbolic_batch():
    n = Symbol("n")
    graph = graph_of([f32(n, 96), f32(96), f32(96)], layer_norm_gradients)
    found = groups(graph)
    is_schedule(graph, found)
    executables = [Executable(graph, level) for level in (0, 1)]
    for size in (1, 2, 50):
        arrays = [normal(size, 96), normal(96), normal(96) + 1]
        exact = Executable(graph_of([f32(size, 96), f32(96), f32(96)], layer_norm_gradients))
        outs = [[bits(x) for x in e.run(arrays)] for e in (*executables, exact)]
        assert outs[0] == outs[1] == outs[2]


@pytest.mark.parametrize("size", [1, 2, 40])
def test_constants_of_unknown_sizes_next_to_sums(size):
    n = Symbol("n")

    def program(x):
        ones = op("full")(shape=(n, 3), value=1.0, dtype=dt.float32)
        return [ones * op("reduce_sum")(x, axis=(0, 1), keep_dims=True), op("reduce_sum")(x, axis=(0,)) - ones]

    executables = [Executable(graph_of([f32(n, 3)], program), level) for level in (0, 1)]
    want, found = ([bits(x) for x in e.run([normal(size, 3)])] for e in executables)
    assert want == found


@pytest.mark.parametrize("size", [1, 2, 20])
def test_what_differs_along_an_extent_that_may_be_1(size):
    """Where the extent is 1, another kernel runs, whose loops of (4, 3, 1) over axes (0, 2) are (4, 3) over axis 0: `y`
    is the same for all of its elements, and results from it are still written for each of them."""
    n = Symbol("n")

    def program(x, y):
        wide = op("broadcast_to")(y, shape=(4, 3, n))
        total = op("reduce_sum")(x, axis=(0, 2), keep_dims=True)
        return [op("exp")(wide) * total, total + op("reduce_sum")(op("tanh")(wide), axis=(0, 2), keep_dims=True)]

    executables = [Executable(graph_of([f32(4, 3, n), f32(1, 1, n)], program), level) for level in (0, 1)]
    want, found = ([bits(x) for x in e.run([normal(4, 3, size), normal(1, 1, size)])] for e in executables)
    assert want == found


# ---- any program ----------------------------------------------------------------------------------------------------

UNARY = ["exp", "neg", "tanh", "relu", "abs", "sqrt"]
BINARY = ["add", "mul", "sub", "maximum"]


def test_what_is_kept_for_later_does_not_lie_in_a_result_that_is_written_already():
    """The sigmoid only leads to the tanh, which is kept; the difference is a result before the sums begin."""

    def program(x, y):
        difference = op("sub")(op("tanh")(op("sigmoid")(x)), y)
        return [op("log_softmax")(difference, axis=0), difference]

    both_ways(graph_of([f32(5), f32(5)], program), normal(5), normal(5))


def test_chains_of_thousands_of_operators():
    """Whoever looks along a chain does so without recursion."""

    def program(x):
        total = op("reduce_sum")(x, axis=(0,))
        for i in range(1500):
            x = op(("tanh", "relu", "neg")[i % 3])(x)
        return [x, op("reduce_sum")(x, axis=(0,)), total]

    graph = graph_of([f32(4)], program)
    is_schedule(graph, groups(graph))


@pytest.mark.parametrize("shape", [(7, 300), (3, 4517), (5, 21), (260, 3)])
def test_a_kernel_has_no_more_code_than_some(shape):
    """What is larger is divided; the bodies of loops are then written once, for whole vectors and for the rest."""

    def program(x):
        for name in ("tanh", "exp", "sin", "sigmoid", "erf") * 5:
            x = op(name)(x) * 0.5
        return [x, op("reduce_sum")(x, axis=(1,)), op("reduce_max")(op("cos")(x), axis=(0,))]

    graph = graph_of([f32(*shape)], program)
    found = groups(graph)
    is_schedule(graph, found)
    assert len([g for g in found if g.is_fused]) > 1
    assert all(g.code < MOST_CODE + op_size("erf") for g in found)
    both_ways(graph, normal(*shape))


@pytest.mark.parametrize("seed", range(12))
def test_code_that_is_written_once_gives_the_same_bits(seed, monkeypatch):
    types = [f32(24, 24), f32(24), f32(24, 1), f32(1, 24), f32()]
    arrays = [normal(*t.shape) for t in types]
    longer = [f32(37, 4133), f32(37, 1)]
    ran = [
        (graph_of(types, random_program(np.random.default_rng(seed))), arrays),
        (
            graph_of(longer, lambda x, y: op("reduce_sum")(op("exp")(x * y), axis=(1,))),
            [normal(*t.shape) for t in longer],
        ),
    ]

    def results() -> list[list[bytes]]:
        outs = [Executable(graph, 1).run([a.copy() for a in given]) for graph, given in ran]
        return [[bits(x) for x in (out if isinstance(out, tuple) else (out,))] for out in outs]

    expected = results()
    monkeypatch.setattr("duograph.lower.pointwise.LARGE", 0)
    monkeypatch.setattr("duograph.lower.reduce.rows.LARGE", 0)
    assert results() == expected


def random_program(rng: np.random.Generator):
    """A program over matrices, rows, columns and numbers that broadcast against each other."""
    steps = int(rng.integers(4, 25))
    choices = rng.random((steps, 4))

    def program(*inputs):
        values = [
            *inputs,
            *[op("full")(shape=s, value=v, dtype=dt.float32) for s, v in (((24, 24), 0.5), ((24,), -1.5))],
        ]
        for a, b, c, d in choices:
            x, y = values[int(a * len(values))], values[int(b * len(values))]
            if c < 0.3:
                values.append(op(UNARY[int(d * len(UNARY))])(x))
            elif c < 0.65:
                values.append(op(BINARY[int(d * len(BINARY))])(x, y))
            elif c < 0.8 and len(x.shape) == 2:
                values.append(op("reduce_sum")(x, axis=(int(d * 2),), keep_dims=True))
            elif c < 0.85 and len(x.shape) == 2:
                values.append(op("reduce_max")(x, axis=(int(d * 2),), keep_dims=d < 0.5))
            elif c < 0.9 and len(x.shape) == 2:
                values.append(op("softmax")(x, axis=int(d * 2)))
            elif c < 0.95 and tuple(x.shape) == (24, 24):
                values.append(op("matmul")(x, x))
            elif len(x.shape) == 2:
                values.append(op("transpose")(x, perm=(1, 0)))
        return values[-4:]

    return program


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed):
    types = [f32(24, 24), f32(24), f32(24, 1), f32(1, 24), f32()]
    graph = graph_of(types, random_program(np.random.default_rng(seed)))
    found = groups(graph)
    is_schedule(graph, found)
    for group in found:
        if group.is_fused:
            assert lower_group(group).calls
    both_ways(graph, *[normal(*t.shape) for t in types])


def described(lowering):
    """All that is known of kernel calls: code by its hash, and what memory and numbers stand for."""
    names = {id(x): ("operand", x.type, x.ref, repr(x.value)) for x in (*lowering.ins, *lowering.outs)}

    def of(x):
        if hasattr(x, "ref"):
            return names.get(id(x), (x.type, x.ref, repr(x.value)))
        return (x.elem, x.count) if hasattr(x, "count") else x

    calls = [(c.function.symbol, [*map(of, c.buffers)], [*map(of, c.dims)], c.inplace) for c in lowering.calls]
    return [*map(of, lowering.ins)], [*map(of, lowering.outs)], calls


def layers(x, w, b):
    """Some that are alike, and some that differ in one constant, shape, order of operands, or type."""
    for scale in (2.0, 2.0, -0.0, 0.0, 2.0, 2.0):
        x = op("tanh")(op("sin")(x + w) * op("exp")(b) * scale + x)
        x = op("matmul")(x, x, transpose_a=False, transpose_b=True)
    y = op("transpose")(x, perm=(1, 0))
    found = [x * y + x, y * x + y, x * y + y, x - y, y - x, x * x - x, x * x - y]
    return [*found, *[op("reduce_sum")(f, axis=(k % 2,), keep_dims=False) for k, f in enumerate(found)]]


def test_groups_that_are_alike_are_lowered_once():
    graph = graph_of([f32(8, 8), f32(8), f32(8)], layers)
    lowered = []

    def lower(group):
        lowered.append(group)
        return lower_group(group)

    alike, fused = Alike(lower), [group for group in groups(graph) if group.is_fused]
    for group in fused:
        assert described(alike.lower(group)) == described(lower_group(group))
    assert len(lowered) == len(fused) - 2  # the last two layers
