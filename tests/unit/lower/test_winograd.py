"""Winograd's algorithm for 3x3 convolutions: the documented sums, and the direct ones where these are not finite."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from duograph.core import dtype as dt
from duograph.core.dim import Symbol
from duograph.core.kernel import compute_reference
from duograph.core.op import get_op
from duograph.core.types import TensorType
from duograph.ir.builder import Builder
from duograph.lower.conv import correlation, weight_grad
from duograph.lower.conv.winograd import forward, grad
from duograph.lower.conv.winograd.sums import SECTION, SumTile
from duograph.lower.conv.winograd.tiles import Form
from duograph.lower.loop.interpret import interpret
from duograph.lower.loop.ir import Function
from duograph.lower.loop.types import NUMPY
from duograph.lower.lowering import Temporary
from duograph.lower.target import host_target
from duograph.runtime.kernels import single
from duograph.runtime.kernels.single import lower_op
from duograph.runtime.programs.executable import compile_graph
from tests.unit.lower.kernel_checks import BFLOAT16, check_threads
from tests.unit.lower.test_conv import attrs, block, fma, native, numbers, operands
from tests.unit.runtime.processes import python

# N, C, size, O, kernel, stride, padding, dilation, groups
CASES = {
    "plain": (2, 16, (8, 10), 16, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "odd sizes": (3, 17, (7, 9), 19, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "no padding": (2, 16, (6, 21), 33, (3, 3), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    "more padding than the kernel": (1, 16, (4, 5), 16, (3, 3), (1, 1), ((4, 3), (2, 5)), (1, 1), 1),
    "asymmetric": (2, 20, (5, 6), 18, (3, 3), (1, 1), ((2, 0), (0, 1)), (1, 1), 1),
    "groups": (2, 48, (6, 6), 54, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 3),
    "one result": (1, 16, (3, 3), 16, (3, 3), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    "rows of one": (2, 16, (9, 1), 16, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "wide": (1, 16, (3, 75), 16, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "several sections": (5, 16, (12, 13), 40, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "many channels": (1, 130, (4, 4), 150, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "empty batch": (0, 16, (5, 5), 16, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
}  # fmt: skip


def of_each_kind(keys=CASES):
    return [call for key in keys for call in operands(CASES[key])]


def direct(monkeypatch, *call):
    """What the direct algorithm gives."""
    with monkeypatch.context() as patch:
        patch.setattr(single, "_singles", {})
        for module in (correlation, weight_grad):
            patch.setattr(module, "suits", lambda *_: False)
        return native(*call)


# ---- which sums they are --------------------------------------------------------------------------------------------


def along(transform, values, axes):
    """``transform`` of the first of two axes, then of the second."""
    for axis in axes:
        values = np.stack(transform(*np.moveaxis(values, axis, 0)), axis)
    return values


def see(d0, d1, d2, d3):
    return d0 - d2, d1 + d2, d2 - d1, d1 - d3


def weigh(g0, g1, g2):
    half = np.float32(0.5)
    return g0, half * ((g0 + g2) + g1), half * ((g0 + g2) - g1), g2


def make(m0, m1, m2, m3):
    return (m0 + m1) + m2, (m1 - m2) - m3


def tiles_of(x, padding, size):
    """What the tiles of a result of ``size`` see, transformed: (n, c, tile row, tile column, 4, 4)."""
    high, wide = (-(-m // 2) for m in size)
    (top, _), (left, _) = padding
    padded = np.zeros((*x.shape[:2], 2 * high + 2 + abs(top), 2 * wide + 2 + abs(left)), np.float32)
    for y in range(x.shape[2]):
        for z in range(x.shape[3]):
            if 0 <= y + top < padded.shape[2] and 0 <= z + left < padded.shape[3]:
                padded[:, :, y + top, z + left] = x[:, :, y, z]
    windows = np.lib.stride_tricks.sliding_window_view(padded, (4, 4), (2, 3))
    return along(see, windows[:, :, : 2 * high : 2, : 2 * wide : 2], (4, 5))


def documented(x, w, padding, size, groups):
    """The algorithm for ``out[n, o] = sum of w[o, c] * x[n, c]``."""
    v, u = tiles_of(x, padding, size), along(weigh, w, (2, 3))
    inner, count = w.shape[1], w.shape[0] // groups
    m = np.zeros((x.shape[0], w.shape[0], *v.shape[2:]), np.float32)
    for g in range(groups):
        rows = slice(g * count, (g + 1) * count)
        for c in range(inner):
            m[:, rows] = fma(u[None, rows, c, None, None], v[:, None, g * inner + c], m[:, rows])
    y = along(make, m, (4, 5))
    whole = y.transpose(0, 1, 2, 4, 3, 5).reshape(*y.shape[:2], 2 * y.shape[2], 2 * y.shape[3])
    return whole[:, :, : size[0], : size[1]]


def documented_weight_grad(x, dout, padding, groups):
    n, o, high, wide = dout.shape
    v = tiles_of(x, padding, (high, wide)).transpose(0, 2, 3, 1, 4, 5)
    whole = np.zeros((n, o, high + high % 2, wide + wide % 2), np.float32)
    whole[:, :, :high, :wide] = dout
    y = whole.reshape(n, o, -(-high // 2), 2, -(-wide // 2), 2).transpose(0, 2, 4, 1, 3, 5)
    w = along(lambda y0, y1: (y0, y0 + y1, y0 - y1, -y1), y, (4, 5))
    v, w = v.reshape(-1, groups, x.shape[1] // groups, 4, 4), w.reshape(-1, groups, o // groups, 4, 4)
    total = np.zeros((groups, o // groups, x.shape[1] // groups, 4, 4), np.float32)
    for first in range(0, len(v), SECTION):
        acc = np.zeros_like(total)
        for t in range(first, min(first + SECTION, len(v))):
            acc = fma(v[t][:, None], w[t][:, :, None], acc)
        total = total + acc

    def gather(m0, m1, m2, m3):
        half = np.float32(0.5)
        return m0 + half * (m1 + m2), half * (m1 - m2), half * (m1 + m2) + m3

    raw = along(gather, total.reshape(o, -1, 4, 4), (2, 3))
    return np.where(live_taps(x.shape[2:], padding, (high, wide)), raw, np.float32(0))


def live_taps(size, padding, positions):
    """Which taps (kh, kw) see the image in some window."""

    def along(n, front, count):
        return [any(0 <= q + k - front < n for q in range(count)) for k in range(3)]

    rows, columns = (along(n, front, m) for n, (front, _), m in zip(size, padding, positions, strict=True))
    return np.outer(rows, columns)


@pytest.mark.parametrize("key", CASES)
def test_sums_are_the_documented_ones(key):
    (_, (x, w), how), (_, (dout, _), back), (_, _, forth) = calls = operands(CASES[key])
    found = [native(*call) for call in calls]
    groups, padding = how["groups"], how["padding"]
    np.testing.assert_array_equal(found[0], documented(x, w, padding, dout.shape[2:], groups))
    turned = w.reshape(groups, -1, *w.shape[1:]).transpose(0, 2, 1, 3, 4)[..., ::-1, ::-1]
    turned = turned.reshape(x.shape[1], -1, 3, 3)
    other = [(2 - front, 0) for front, _ in padding]
    np.testing.assert_array_equal(found[1], documented(dout, turned, other, back["input_size"], groups))
    np.testing.assert_array_equal(found[2], documented_weight_grad(x, dout, padding, groups))
    assert forth["kernel_size"] == (3, 3)


@pytest.mark.parametrize("key", CASES)
def test_errors_are_like_those_of_direct_sums(key, monkeypatch):
    """Chains are a ninth as long as those of the direct algorithm, which makes up for the transforms (decision 0011 has
    figures). Root mean squares, relative to the result."""
    rng = np.random.default_rng(3)
    for name, arrays, how in operands(CASES[key]):
        arrays = [rng.standard_normal(a.shape).astype(np.float32) for a in arrays]
        exact = compute_reference(get_op(name), [a.astype(np.float64) for a in arrays], how)
        if not exact.size:
            continue
        size = np.sqrt(np.mean(exact**2)) or 1.0
        error, usual = (
            float(np.sqrt(np.mean((got - exact) ** 2)) / size)
            for got in (native(name, arrays, how), direct(monkeypatch, name, arrays, how))
        )
        assert error < max(4e-7, 1.7 * usual), (name, error, usual)


def test_which_convolutions_they_are():
    """Dtype, kernel and channels decide; batch, size of the image, target and mode do not."""
    usual = attrs((1, 1), ((1, 1), (1, 1)))
    assert forward.suits("f32", 16, 16, (3, 3), usual)
    assert not forward.suits("f64", 16, 16, (3, 3), usual)
    assert not forward.suits("f32", 15, 16, (3, 3), usual)
    assert not forward.suits("f32", 16, 15, (3, 3), usual)
    assert not forward.suits("f32", 16, 16, (3, 5), usual)
    assert not forward.suits("f32", 16, 16, (3,), attrs((1,), ((1, 1),)))
    assert not forward.suits("f32", 16, 16, (3, 3), attrs((1, 2), ((1, 1), (1, 1))))
    assert not forward.suits("f32", 16, 16, (3, 3), {**usual, "dilation": (2, 1)})
    with pytest.raises(forward.UnknownAlgorithm):
        forward.suits("f32", 16, Symbol("c", 1, None), (3, 3), usual)
    assert not forward.suits("f32", 3, Symbol("c", 1, None), (3, 3), usual)


# ---- what does not show ---------------------------------------------------------------------------------------------


def test_blocks_of_tiles_do_not_show(monkeypatch):
    calls = of_each_kind(["odd sizes", "groups", "several sections", "wide"])
    want = [native(*call) for call in calls]
    forms = [
        (Form(48, 8, 3, 16), SumTile(8, 3, 16)),
        (Form(48, 4, 3, 8, 8), SumTile(4, 3, 8)),
        (Form(32, 8, 2, 16, 8, True), SumTile(16, 1, 16)),
        (Form(16, 4, 2, 8, 16, True), SumTile(5, 2, 8)),
        (Form(48, 4, 3, 4), SumTile(3, 1, 4)),
    ]
    for form, tile in forms:
        monkeypatch.setattr(single, "_singles", {})
        monkeypatch.setattr(forward, "choose_form", lambda *_, form=form: form)
        monkeypatch.setattr(grad, "choose_sum_tile", lambda *_, tile=tile: tile)
        for call, result in zip(calls, want, strict=True):
            np.testing.assert_array_equal(native(*call), result, err_msg=f"{call[0]} {form} {tile}")


def test_cuts_of_the_work_do_not_show(monkeypatch):
    calls = of_each_kind(["groups", "several sections", "many channels"])
    want = [native(*call) for call in calls]
    for together, splits, parts in ((1, 1, 1), (2, 3, 5), (1, 16, 16)):
        monkeypatch.setattr(single, "_singles", {})
        monkeypatch.setattr(forward, "schedule", lambda *_, cuts=(together, splits, parts): cuts)
        monkeypatch.setattr(grad, "TOGETHER", (16 * together, 8))
        monkeypatch.setattr(grad, "most_slots", lambda slots=parts: slots)
        for call, result in zip(calls, want, strict=True):
            np.testing.assert_array_equal(native(*call), result, err_msg=call[0])


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_do_not_show(threads):
    calls = of_each_kind(["odd sizes", "several sections", "many channels"])
    check_threads(threads, lambda: [native(*call) for call in calls])


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=str)
def test_half_types_are_rounded_once(dtype):
    for key in ("odd sizes", "groups", "several sections"):
        for name, arrays, how in operands(CASES[key], dtype):
            wide = native(name, [a.astype(np.float32) for a in arrays], how)
            np.testing.assert_array_equal(native(name, arrays, how), wide.astype(dtype))


@pytest.mark.parametrize("batch", [2, Symbol("n", 0, None)], ids=str)
@pytest.mark.parametrize("key", ["plain", "no padding", "groups"])
def test_what_is_done_with_the_results_is_fused_and_has_the_same_bits(key, batch):
    for name, arrays, how in operands(CASES[key])[:2]:
        types = tuple(
            TensorType(dt.float32, (batch if k == 0 else a.shape[0], *a.shape[1:])) for k, a in enumerate(arrays)
        )
        graph = block(name, types, how)
        out = native(name, arrays, how)
        bias, residual = numbers((1, out.shape[1], 1, 1), np.float32, 4), numbers(out.shape, np.float32, 5)
        want = np.maximum(out + bias, np.float32(0)) + residual
        for level in (0, 1):
            got = compile_graph(graph, level).run([*arrays, bias, residual])
            np.testing.assert_array_equal(np.asarray(got), want, err_msg=f"{name} O{level}")


@pytest.mark.parametrize("key", ["plain", "odd sizes", "several sections", "empty batch"])
def test_symbolic_extents_have_the_same_bits(key):
    calls = operands(CASES[key])
    for call, result in zip(calls, with_symbolic_extents(calls), strict=True):
        np.testing.assert_array_equal(result, native(*call), err_msg=call[0])


def with_symbolic_extents(calls):
    """The results of the three maps, compiled for any batch and any size."""
    (_, (x, w), how), (_, (dout, _), _), _ = calls
    n, size = Symbol("n", 0, None), (Symbol("h", 1, None), Symbol("w", 1, None))
    image, weight = TensorType(dt.float32, (n, x.shape[1], *size)), TensorType(dt.float32, w.shape)
    result = get_op("conv").result_type((image, weight), how)
    builder = Builder()
    with builder.scope():
        params = p, q, r = [builder.param(f"p{k}", t) for k, t in enumerate((image, weight, result))]
        outputs = [
            builder.emit(get_op("conv"), (p, q), how),
            builder.emit(get_op("conv_input_grad"), (r, q), {**how, "input_size": size}),
            builder.emit(get_op("conv_weight_grad"), (p, r), {**how, "kernel_size": (3, 3)}),
        ]
        graph = builder.graph("maps", params, outputs)
    return [np.asarray(result) for result in compile_graph(graph).run([x, w, dout])]


def test_channels_that_are_not_known_do_not_change_the_algorithm():
    (name, (x, w), how), *_ = operands(CASES["plain"])
    channels = Symbol("c", 1, None), Symbol("o", 1, None)
    builder = Builder()
    with builder.scope():
        types = [TensorType(dt.float32, shape) for shape in ((2, channels[0], 8, 10), (channels[1], channels[0], 3, 3))]
        params = [builder.param(f"p{k}", t) for k, t in enumerate(types)]
        graph = builder.graph("map", params, builder.emit(get_op(name), tuple(params), how))
    got = compile_graph(graph).run([x, w])
    np.testing.assert_array_equal(np.asarray(got), native(name, [x, w], how))


# ---- zeros ----------------------------------------------------------------------------------------------------------

# Some taps of these kernels see padding in every window.
DEAD = {
    "last row": (8, 16, (2, 7), 16, (3, 3), (1, 1), ((0, 3), (1, 1)), (1, 1), 1),
    "first row": (2, 17, (2, 6), 19, (3, 3), (1, 1), ((3, 0), (1, 1)), (1, 1), 1),
    "last column": (2, 16, (6, 1), 16, (3, 3), (1, 1), ((1, 1), (0, 2)), (1, 1), 1),
    "first row and last two columns": (1, 16, (2, 1), 40, (3, 3), (1, 1), ((3, 0), (0, 4)), (1, 1), 1),
    "images of one row": (2, 48, (1, 21), 54, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 3),
    "images of one pixel": (40, 16, (1, 1), 16, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "several sections": (5, 16, (1, 75), 24, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
}  # fmt: skip


def noise(shape, dtype=np.float32, seed=5):
    """Numbers whose sums are rounded."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def noisy(case, dtype=np.float32):
    """The three calls of a case, with `noise`."""
    return [
        (name, [noise(a.shape, dtype, k) for k, a in enumerate(arrays)], how) for name, arrays, how in operands(case)
    ]


def assert_positive_zeros(array):
    np.testing.assert_array_equal(array, 0)
    assert not np.signbit(array.astype(np.float32)).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float16, BFLOAT16], ids=str)
@pytest.mark.parametrize("key", DEAD)
def test_taps_that_see_only_padding_have_no_gradient(key, dtype):
    """Rounding errors would do harm there: Adam divides by the size of gradients, and makes whole steps of them."""
    _, _, (name, (x, dout), how) = noisy(DEAD[key], dtype)
    live = live_taps(x.shape[2:], how["padding"], dout.shape[2:])
    found = native(name, [x, dout], how)
    assert not live.all()
    assert_positive_zeros(found[..., ~live])
    assert np.count_nonzero(found[..., live]) > 0.99 * found[..., live].size


@pytest.mark.parametrize("key", DEAD)
def test_nor_have_they_if_sizes_are_symbolic(key):
    calls = noisy(DEAD[key])
    (_, (x, w), how), (_, (dout, _), back), (_, _, forth) = calls
    calls = [("conv", [x, w], how), ("conv_input_grad", [dout, w], back), ("conv_weight_grad", [x, dout], forth)]
    *_, found = with_symbolic_extents(calls)
    assert_positive_zeros(found[..., ~live_taps(x.shape[2:], how["padding"], dout.shape[2:])])
    np.testing.assert_array_equal(found, native(*calls[2]))


@pytest.mark.parametrize("key", DEAD)
def test_such_taps_are_as_in_the_direct_algorithm_if_gradients_are_not_finite(key, monkeypatch):
    """There zeros of the padding meet infinities and NaN of ``dout``, but not those of the image."""
    _, _, (name, (x, dout), how) = noisy(DEAD[key])
    dead = ~live_taps(x.shape[2:], how["padding"], dout.shape[2:])
    for value in (np.nan, np.inf, 3e38):
        broken = dout.copy()
        broken[0, 3, -1, -1] = value
        found = native(name, [x, broken], how)[..., dead]
        np.testing.assert_array_equal(found, direct(monkeypatch, name, [x, broken], how)[..., dead])
        assert np.isnan(found[3]).all() == (value != 3e38)
        assert_positive_zeros(np.delete(found, 3, axis=0))
        broken = x.copy()
        broken[0, 3, -1, -1] = value
        assert_positive_zeros(native(name, [broken, dout], how)[..., dead])


@pytest.mark.parametrize("padding", [((3, 4), (5, 3)), ((0, 5), (4, 0)), ((1, 1), (1, 1))], ids=str)
def test_windows_of_zeros_give_zeros(padding):
    """Forward and in the gradient in the input, if weights are finite; and if they are not, as directly."""
    for name, (x, w), how in noisy((2, 16, (9, 11), 17, (3, 3), (1, 1), padding, (1, 1), 1))[:2]:
        x[:, :, 2:7, 1:6] = 0
        seen = compute_reference(get_op(name), [(x != 0).astype(np.float64), np.ones(w.shape)], how)
        found = native(name, [x, w], how)
        assert (seen == 0).any()
        assert_positive_zeros(found[seen == 0])
        assert np.count_nonzero(found[seen > 0]) > 0.99 * np.count_nonzero(seen)


def test_what_no_window_sees_has_no_gradient():
    """Negative padding crops the image."""
    dout, w = noise((2, 17, 6, 9)), noise((17, 16, 3, 3))
    how = {**attrs((1, 1), ((-2, 1), (2, -3))), "input_size": (9, 12)}
    found = native("conv_input_grad", [dout, w], how)
    assert_positive_zeros(found[:, :, :2])
    assert_positive_zeros(found[:, :, :, 9:])
    assert np.count_nonzero(found[:, :, 2:, :9]) == 2 * 16 * 7 * 9


# ---- numbers that are none ------------------------------------------------------------------------------------------


def spoiled(array, values):
    """``array`` with ``values`` here and there."""
    array = array.copy()
    places = np.random.default_rng(11).choice(array.size, len(values), replace=False)
    array.reshape(-1)[places] = values
    return array


@pytest.mark.parametrize("key", ["plain", "odd sizes", "groups", "wide", "several sections", "asymmetric"])
def test_what_is_not_finite_is_what_the_direct_algorithm_gives(key, monkeypatch):
    values = [np.nan, np.inf, -np.inf, 3e38, -3e38]
    for name, arrays, how in operands(CASES[key]):
        for k in range(2):
            broken = [spoiled(a, values) if j == k else a for j, a in enumerate(arrays)]
            got, want = native(name, broken, how), direct(monkeypatch, name, broken, how)
            lost = ~np.isfinite(want)
            assert lost.any()
            np.testing.assert_array_equal(np.isfinite(got), ~lost, err_msg=name)
            np.testing.assert_array_equal(got[lost], want[lost], err_msg=name)


def test_nothing_overflows_on_the_way():
    """Sums of tiles are up to four times as large as what they are made of; the result is what it would have been."""
    x, w = np.full((1, 16, 8, 8), 3e38, np.float32), np.zeros((16, 16, 3, 3), np.float32)
    w[:, 0, 1, 1] = 1
    how = attrs((1, 1), ((1, 1), (1, 1)))
    np.testing.assert_array_equal(native("conv", [x, w], how), np.full((1, 16, 8, 8), 3e38, np.float32))
    got = native("conv_weight_grad", [x, np.ones((1, 16, 8, 8), np.float32) / 128], {**how, "kernel_size": (3, 3)})
    assert np.isfinite(got).all()


def test_all_of_it_may_be_nan():
    for name, arrays, how in of_each_kind(["plain", "several sections"]):
        assert np.isnan(native(name, [np.full_like(arrays[0], np.nan), arrays[1]], how)).all()


# ---- elsewhere ------------------------------------------------------------------------------------------------------


def digest():
    """What the kernels of this process compute, in one word."""
    found = hashlib.sha256()
    for name, arrays, how in of_each_kind(["odd sizes", "groups", "wide", "several sections", "many channels"]):
        found.update(native(name, arrays, how).tobytes())
        found.update(np.nan_to_num(native(name, [spoiled(arrays[0], [np.inf]), arrays[1]], how), nan=7).tobytes())
    return found.hexdigest()


@pytest.mark.skipif(host_target().name != "x86-64-avx512", reason="needs a machine that runs two of the targets")
def test_targets_with_fma_agree():
    code = "from tests.unit.lower.test_winograd import digest; print(digest())"
    assert python(code, DUOGRAPH_TARGET="avx2").strip() == digest()


@pytest.mark.skipif(host_target().arch != "x86-64", reason="a target of x86-64")
def test_the_target_without_fma():
    """Its sums are rounded twice; all else holds."""
    tests = "not_finite or symbolic or blocks or errors"
    options = [__file__, "-q", "-x", "-p", "no:xdist", "-k", tests]
    code = f"import pytest; raise SystemExit(pytest.main({options!r}))"
    assert " passed" in python(code, DUOGRAPH_TARGET="baseline")


def test_red_zones_stay_red():
    code = (
        "from tests.unit.lower import test_winograd as t\n"
        "t.test_symbolic_extents_have_the_same_bits('odd sizes')\n"
        "t.test_symbolic_extents_have_the_same_bits('several sections')\n"
        "t.test_what_is_done_with_the_results_is_fused_and_has_the_same_bits('groups', 2)\n"
    )
    python(code, DUOGRAPH_DEBUG="1")


@pytest.mark.parametrize("number", range(3))
def test_the_interpreter_of_loop_ir_gives_the_same(number):
    """Every access of the kernels stays in its buffer, whatever the order of their chunks."""
    case = (1, 16, (3, 5), 17, (3, 3), (1, 1), ((1, 1), (0, 1)), (1, 1), 1)
    name, arrays, how = operands(case)[number]
    types = [TensorType(dt.float32, a.shape) for a in arrays]
    lowered = lower_op(get_op(name), types, get_op(name).complete_attrs(how))
    assert lowered is not None
    memory = {id(x): a for x, a in zip(lowered.ins, arrays, strict=True)}
    out = memory[id(lowered.outs[0])] = np.zeros(tuple(map(int, lowered.outs[0].shape)), np.float32)
    for call in lowered.calls:
        for x in call.buffers:
            if isinstance(x, Temporary) and id(x) not in memory:
                memory[id(x)] = np.zeros(int(x.count), NUMPY[x.elem])  # type: ignore[call-overload]
        assert interpret(call.function, [memory[id(x)] for x in call.buffers], call.dims, linked(call.function)) == 0
    np.testing.assert_array_equal(out, native(name, arrays, how))


def linked(function: Function) -> dict[str, Function]:
    """What ``function`` calls, and what that calls."""
    found = dict(function.linked)
    for other in function.linked.values():
        found |= linked(other)
    return found
