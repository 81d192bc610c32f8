"""GEMM: every element is one chain of fused multiply-adds, whatever computes it."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import numpy as np
import pytest

from duograph.core import dtype as dt
from duograph.core.dim import Dim, Symbol, evaluate
from duograph.core.kernel import compute_reference
from duograph.core.op import get_op
from duograph.core.types import TensorType
from duograph.lower.gemm import BatchLoop, Matrix, MatrixOutput, gemm_call, kind, lower_matmul
from duograph.lower.loop.interpret import interpret
from duograph.lower.loop.types import NUMPY
from duograph.lower.lowering import Lowering, Operand, Sink, Temporary
from duograph.lower.target import TARGETS, current_target
from duograph.runtime.kernels import single
from duograph.runtime.kernels.kernels import kernel_address
from tests.unit.lower.kernel_checks import BFLOAT16, DTYPES, bits, check_threads, sample
from tests.unit.runtime.processes import SECONDS, python

MATMUL = get_op("matmul")
STORED = list(itertools.product((False, True), repeat=2))  # transpose_a, transpose_b


def product(x: np.ndarray, w: np.ndarray, transpose_a: bool = False, transpose_b: bool = False) -> np.ndarray:
    """The native product; operands are given as multiplied, and stored transposed as asked."""
    stored = [np.ascontiguousarray(a.swapaxes(-1, -2)) if t else a for a, t in ((x, transpose_a), (w, transpose_b))]
    got = single.run_single(MATMUL, stored, {"transpose_a": transpose_a, "transpose_b": transpose_b})
    assert got is not None, "matmul was not computed natively"
    return got


def fma(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """x * y + z of float32, rounded once: in float64 rounded to odd, so that the second rounding is right.

    Targets without such an instruction round the product, too."""
    if not current_target().has_fma:
        return x * y + z
    exact = x.astype(np.float64) * y.astype(np.float64)
    total = exact + z
    back = total - exact
    error = (exact - (total - back)) + (z - back)
    even = (total.view(np.int64) & 1) == 0
    towards = np.nextafter(total, np.copysign(np.inf, error))
    return np.where((error != 0) & even & np.isfinite(total), towards, total).astype(np.float32)


def chain(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The product in float32 as documented."""
    total = np.zeros((len(x), w.shape[1]), np.float32)
    for k in range(x.shape[1]):
        total = fma(x[:, k, None], w[None, k], total)
    return total


def normal(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# ---- the chain ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 3, 5, 7, 8, 11, 12, 13, 17, 23, 29, 40])
@pytest.mark.parametrize("n", [1, 2, 8, 9, 15, 16, 17, 31, 33, 40])
def test_every_element_is_the_documented_chain(m, n):
    for k in (1, 3, 8, 19):
        x, w = normal(m, k, seed=k), normal(k, n, seed=k + 1)
        want = bits(chain(x, w))
        for stored in STORED:
            assert bits(product(x, w, *stored)) == want, (k, stored)


@pytest.mark.parametrize("k", [511, 512, 513, 1024, 2000])
def test_the_chain_goes_on_over_blocks_of_k(k):
    x, w = normal(14, k), normal(k, 35, seed=1)
    want = bits(chain(x, w))
    assert all(bits(product(x, w, *stored)) == want for stored in STORED)


@pytest.mark.parametrize("shape", [(300, 70, 1024), (130, 300, 512), (64, 784, 512), (5, 1100, 2048)], ids=str)
def test_a_part_of_a_product_is_the_product_of_a_part(shape):
    """Other sizes mean other tiles, tasks and packing; a single row and a single column mean another kernel."""
    m, n, k = shape
    x, w = normal(m, k), normal(k, n, seed=1)
    for stored in STORED:
        whole = product(x, w, *stored)
        assert bits(product(x[3:4], w, *stored)) == bits(whole[3:4])
        assert bits(product(x, w[:, 5:6], *stored)) == bits(whole[:, 5:6])
        assert bits(product(x[1:5], w[:, 2:39], *stored)) == bits(whole[1:5, 2:39])


def test_the_transposed_product_has_the_same_bits():
    x, w = normal(45, 70), normal(70, 50, seed=1)
    assert bits(product(w.T.copy(), x.T.copy())) == bits(np.ascontiguousarray(product(x, w).T))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_do_not_count(threads):
    cases = [(normal(200, 600), normal(600, 300, seed=1)), (normal(1, 900), normal(900, 700, seed=2))]
    check_threads(threads, lambda: [product(x, w, *stored) for x, w in cases for stored in STORED])


@pytest.mark.timeout(2 * SECONDS + 60)
def test_the_width_of_vectors_does_not_count():
    program = """
        import hashlib
        from tests.unit.lower.test_gemm import STORED, normal, product
        for m, n, k in [(37, 41, 600), (1, 77, 50), (90, 1, 33)]:
            print([hashlib.sha256(product(normal(m, k), normal(k, n, seed=1), *s)).hexdigest() for s in STORED])
    """
    host = python(program, DUOGRAPH_TARGET="host")
    assert python(program, DUOGRAPH_TARGET="avx2") == host
    assert host.count("'") == 24


@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda t: t.name)
def test_tiles_of_other_processors(target, monkeypatch):
    """Vectors may be of any length everywhere, so this machine can run the tiles of all."""
    cases = [(normal(31, 70, dtype=t), normal(70, 45, dtype=t, seed=1)) for t in (np.float32, np.float64, np.complex64)]
    want = [bits(product(x, w, *stored)) for x, w in cases for stored in STORED]
    monkeypatch.setattr(kind, "current_target", lambda: target)
    monkeypatch.setattr(single, "_singles", {})
    assert kind.kind_of("f32").rows == target.tiles["float32"].rows
    assert [bits(product(x, w, *stored)) for x, w in cases for stored in STORED] == want


# ---- numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (13, 37, 9), (33, 10, 70), (1, 20, 40), (50, 1, 21), (9, 65, 530)], ids=str
)
def test_all_number_types_against_the_reference(dtype, shape):
    m, n, k = shape
    x, w = sample((m, k), dtype), sample((k, n), dtype, seed=1)
    want = compute_reference(MATMUL, [x, w], {"transpose_a": False, "transpose_b": False})
    for stored in STORED:
        got = product(x, w, *stored)
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        if dtype.kind in "biu":
            assert (got == want).all()
            continue
        wide = np.complex128 if dtype.kind == "c" else np.float64
        single = np.float32 if dtype.itemsize == 2 else dtype
        epsilon = np.finfo(single).eps * k + (2.0**-8 if dtype == BFLOAT16 else 2.0**-11 if dtype == np.float16 else 0)
        bound = epsilon * (np.abs(x.astype(wide)) @ np.abs(w.astype(wide))) + 1e-30
        assert (np.abs(got.astype(wide) - x.astype(wide) @ w.astype(wide)) <= bound).all()


@pytest.mark.parametrize("dtype", [np.dtype(np.float16), BFLOAT16], ids=str)
def test_half_types_are_chains_in_float32_rounded_once(dtype):
    x, w = normal(21, 45, dtype=dtype), normal(45, 34, dtype=dtype, seed=1)
    want = bits(chain(x.astype(np.float32), w.astype(np.float32)).astype(dtype))
    assert all(bits(product(x, w, *stored)) == want for stored in STORED)


def test_complex_numbers_are_chains_over_both_parts():
    x, w = ((normal(9, 21, seed=s) + 1j * normal(9, 21, seed=s + 1)).astype(np.complex64) for s in (0, 2))
    w = np.ascontiguousarray(w.T)
    deep = np.ascontiguousarray(x).view(np.float32)  # re im re im
    re = np.stack([w.real, -w.imag], 1).reshape(42, 9)
    im = np.stack([w.imag, w.real], 1).reshape(42, 9)
    want = (chain(deep, re) + 1j * chain(deep, im)).astype(np.complex64)
    assert all(bits(product(x, w, *stored)) == bits(want) for stored in STORED)


def test_integers_wrap():
    x, w = np.full((3, 100), 100, np.int8), np.full((100, 5), 77, np.int8)
    assert (product(x, w) == np.int64(100 * 77 * 100).astype(np.int8)).all()


def test_infinities_and_nan_go_where_they_belong():
    x, w = normal(30, 40), normal(40, 50, seed=1)
    x[3, 5], x[7, 0], x[11, 39], w[2, 9], w[5, 20] = np.inf, np.nan, -np.inf, -np.inf, 0.0
    for stored in STORED:
        with np.errstate(invalid="ignore"):
            want = x.astype(np.float64) @ w.astype(np.float64)
        np.testing.assert_allclose(product(x, w, *stored), want, rtol=1e-4, atol=1e-5)
    assert np.isnan(product(x, w)[7]).all()


def test_sums_start_at_positive_zero():
    assert not np.signbit(product(np.full((4, 3), -0.0, np.float32), np.ones((3, 40), np.float32))).any()


# ---- shapes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape", [(0, 5, 3), (4, 0, 3), (4, 33, 0), (0, 0, 0), (1, 0, 5), (1, 7, 0), (7, 1, 0)], ids=str
)
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.float16, np.complex64], ids=lambda d: d.__name__)
def test_without_elements(shape, dtype):
    m, n, k = shape
    for stored in STORED:
        got = product(np.ones((m, k), dtype), np.ones((k, n), dtype), *stored)
        assert got.shape == (m, n) and got.dtype == dtype and not got.any()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((), (3,)), ((3,), ()), ((4,), (4,)), ((1,), (5,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((2, 1, 4), (3, 1)),
        ((2, 3, 1, 2), (1, 3, 4, 2)), ((0,), (1,)), ((1, 1), (2, 2)), ((3, 1, 2, 1), (1, 2, 1, 3)),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.complex64], ids=lambda d: d.__name__)
@pytest.mark.parametrize("size", [(5, 18, 6), (1, 18, 6), (5, 1, 6)], ids=str)
def test_stacks_broadcast(left, right, dtype, size):
    m, n, k = size
    x, w = normal(*left, m, k).astype(dtype), normal(*right, k, n, seed=1).astype(dtype)
    if dtype == np.complex64:
        x, w = x + 1j * x[..., ::-1], w - 1j * w[..., ::-1]
    batch = np.broadcast_shapes(left, right)
    xs = np.broadcast_to(x, (*batch, m, k)).reshape(-1, m, k)
    ws = np.broadcast_to(w, (*batch, k, n)).reshape(-1, k, n)
    for stored in STORED:
        one_by_one = [product(np.ascontiguousarray(a), np.ascontiguousarray(b)) for a, b in zip(xs, ws, strict=True)]
        want = np.array(one_by_one, dtype).reshape(*batch, m, n)
        assert bits(product(x, w, *stored)) == bits(want)


# ---- lowering -------------------------------------------------------------------------------------------------------

FLOAT32 = dt.float32


def lowered(x: Any, w: Any, out: Any, sink: Any = None) -> Lowering:
    """``matmul`` of these shapes, as stored."""
    ins = [Operand(TensorType(FLOAT32, shape)) for shape in (x, w)]
    c = Lowering(MATMUL, {"transpose_a": False, "transpose_b": False}, ins, [Operand(TensorType(FLOAT32, out))])
    if sink is not None:
        c.sink = sink(c.outs[0])
    lower_matmul(c)
    return c


def run(c: Lowering, ins: list[np.ndarray], outs: list[np.ndarray], sizes: dict[str, int] | None = None) -> None:
    """Calls the machine code on arrays, with the sizes put in for symbols."""
    sizes = sizes or {}
    memory = {id(o): a for o, a in zip([*c.ins, *c.outs], [*ins, *outs], strict=True)}
    for call in c.calls:
        for x in call.buffers:
            if isinstance(x, Temporary):
                memory.setdefault(id(x), np.zeros(value_of(x.count, sizes), NUMPY[x.elem]))
        bufs = (ctypes.c_void_p * len(call.buffers))(*[memory[id(x)].ctypes.data for x in call.buffers])
        words = (ctypes.c_int64 * len(call.dims))(*[value_of(d, sizes) for d in call.dims])
        assert single.KERNEL(kernel_address(call.function))(ctypes.addressof(bufs), ctypes.addressof(words)) == 0


def value_of(number: Any, sizes: dict[str, int]) -> int:
    return evaluate(number, sizes) if isinstance(number, Dim) else number


def test_one_program_serves_all_sizes():
    """Extents are symbols; the numbers are filled in when it runs."""
    batch, m, n, k, heads = (Symbol(name, 1) for name in ("b", "m", "n", "k", "h"))
    c = lowered((batch, heads, m, k), (heads, k, n), (batch, heads, m, n))
    for sizes in ({"b": 2, "h": 3, "m": 5, "n": 40, "k": 7}, {"b": 1, "h": 1, "m": 1, "n": 1, "k": 600}):
        b, h, rows, columns, depth = (sizes[s] for s in "bhmnk")
        x, w = normal(b, h, rows, depth), normal(h, depth, columns, seed=1)
        out = np.full((b, h, rows, columns), np.nan, np.float32)
        run(c, [x, w], [out], sizes)
        assert bits(out) == bits(product(x, w))


def test_a_symbolic_extent_may_turn_out_to_be_one():
    batch, maybe = Symbol("b", 2), Symbol("s", 1)
    c = lowered((batch, 4, 5), (maybe, 5, 6), (batch, 4, 6))
    for stack in (1, 3):
        x, w, out = normal(3, 4, 5), normal(stack, 5, 6, seed=1), np.empty((3, 4, 6), np.float32)
        run(c, [x, w], [out], {"b": 3, "s": stack})
        assert bits(out) == bits(product(x, w))


class Accumulating(Sink):
    """Adds relu(result + bias) to what is in memory: an element that were stored twice would show."""

    key = "accumulating"

    def __init__(self, out: Operand, bias: Operand) -> None:
        super().__init__(out)
        self.buffers = [out, bias]

    def declare(self, b):
        super().declare(b)
        self.bias = b.buffer("bias", "f32")

    def store_row(self, b, row, column, value, mask=None):
        total = value + b.load(self.bias, column, value.type.lanes, mask)
        total = b.select(b.gt(total, 0.0), total, b.const(0.0, total))
        before = b.load(self.buffer, b.add(row, column), value.type.lanes, mask)
        super().store_row(b, row, column, before + total, mask)


@pytest.mark.parametrize("shape", [(50, 70, 600), (13, 33, 5), (1, 90, 40), (40, 1, 30), (3, 5, 0)], ids=str)
def test_epilogues_get_each_element_once(shape):
    m, n, k = shape
    bias = Operand(TensorType(FLOAT32, (n,)))
    c = lowered((m, k), (k, n), (m, n), lambda out: Accumulating(out, bias))
    c.ins.append(bias)
    x, w, offset = normal(m, k), normal(k, n, seed=1), normal(n, seed=2)
    out = np.ones((m, n), np.float32)
    run(c, [x, w, offset], [out])
    total = product(x, w) + offset
    assert bits(out) == bits(1 + np.where(total > 0, total, np.float32(0)))


@pytest.mark.parametrize("dtype", [dt.float32, dt.float16, dt.complex64, dt.int8], ids=str)
@pytest.mark.parametrize("shape", [(14, 35, 9), (3, 70, 5), (1, 20, 11), (6, 1, 9)], ids=str)
def test_no_access_outside_and_the_meaning_of_loop_ir(shape, dtype):
    """The interpreter checks every access, and runs chunks in another order."""
    m, n, k = shape
    x, w = sample((m, k), dtype.numpy), sample((k, n), dtype.numpy, seed=1)
    for stored in STORED:
        arrays = [np.ascontiguousarray(a.T) if t else a for a, t in zip((x, w), stored, strict=True)]
        ins = [Operand(TensorType(dtype, a.shape)) for a in arrays]
        attrs = dict(zip(("transpose_a", "transpose_b"), stored, strict=True))
        c = Lowering(MATMUL, attrs, ins, [Operand(TensorType(dtype, (m, n)))])
        lower_matmul(c)
        out = np.zeros((m, n), dtype.numpy)
        memory = {id(o): a for o, a in zip([*c.ins, *c.outs], [*arrays, out], strict=True)}
        for call in c.calls:
            for buffer in call.buffers:
                if isinstance(buffer, Temporary):
                    memory.setdefault(id(buffer), np.zeros(buffer.count, NUMPY[buffer.elem]))
            assert interpret(call.function, [memory[id(x)] for x in call.buffers], call.dims) == 0
        assert bits(out) == bits(product(x, w))


def test_products_for_other_rules():
    """`gemm_call` on parts of matrices: offsets, a stack, and results in rows that are further apart."""
    x, w = normal(2, 9, 20), normal(30, 25, seed=1)
    types = [Operand(TensorType(FLOAT32, a.shape)) for a in (x, w)]
    out = Operand(TensorType(FLOAT32, (2, 6, 50)))
    c = Lowering(MATMUL, {}, types, [out])
    a, b = Matrix(types[0], 20, offset=2 * 20 + 3), Matrix(types[1], 25, transposed=True, offset=4 * 25 + 1)
    results = MatrixOutput(out, 50, 6 * 50, offset=7)
    gemm_call(c, a, b, results, 6, 18, 12, [BatchLoop(2, 9 * 20, 0)])
    got = np.zeros((2, 6, 50), np.float32)
    run(c, [x, w], [got])
    want = np.zeros_like(got)
    want[:, :, 7:25] = product(np.ascontiguousarray(x[:, 2:8, 3:15]), np.ascontiguousarray(w[4:22, 1:13].T))
    assert bits(got) == bits(want)
