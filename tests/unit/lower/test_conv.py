"""Convolution: the documented chains, whatever the tile, the threads, the stride and the rank."""

from __future__ import annotations

import hashlib
import itertools

import numpy as np
import pytest

from duograph.core import dtype as dt
from duograph.core.dim import Symbol
from duograph.core.kernel import compute_reference
from duograph.core.op import get_op
from duograph.core.types import TensorType
from duograph.ir.builder import Builder
from duograph.lower.conv import correlation, weight_grad
from duograph.lower.conv.correlate import Tile
from duograph.lower.fuse.groups import groups
from duograph.lower.lowering import Sink
from duograph.runtime.kernels import single
from duograph.runtime.programs.executable import compile_graph
from tests.unit.lower.kernel_checks import BFLOAT16, check_threads, sample
from tests.unit.runtime.processes import python

# N, C, size, O, kernel, stride, padding, dilation, groups
CASES = {
    "3x3": (2, 5, (9, 11), 7, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "strided": (2, 4, (11, 14), 6, (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1), 1),
    "stride 3 of one axis": (1, 2, (7, 40), 3, (2, 5), (1, 3), ((0, 0), (2, 2)), (1, 1), 1),
    "dilated and strided": (2, 3, (13, 15), 4, (3, 3), (2, 3), ((2, 2), (3, 3)), (2, 2), 1),
    "dilation and stride have a common divisor": (1, 2, (17, 19), 3, (3, 3), (4, 2), ((1, 0), (0, 3)), (2, 4), 1),
    "asymmetric padding": (2, 3, (6, 7), 4, (3, 2), (1, 1), ((2, 0), (0, 3)), (1, 1), 1),
    "more padding than kernel": (1, 2, (4, 4), 3, (2, 2), (1, 1), ((3, 4), (5, 3)), (1, 1), 1),
    "negative padding": (2, 3, (9, 8), 4, (3, 2), (2, 1), ((-2, 1), (1, -1)), (1, 2), 1),
    "groups": (2, 6, (8, 8), 9, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 3),
    "depthwise": (2, 19, (10, 9), 19, (3, 3), (2, 1), ((1, 1), (1, 1)), (1, 1), 19),
    "depthwise with a multiplier": (2, 3, (8, 8), 6, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 3),
    "1x1": (2, 5, (7, 7), 20, (1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    "1x1 strided": (2, 5, (7, 8), 20, (1, 1), (2, 2), ((0, 0), (0, 0)), (1, 1), 1),
    "1d": (3, 4, (50,), 10, (7,), (2,), ((3, 2),), (1,), 1),
    "1d, stride beyond the kernel": (1, 2, (23,), 3, (2,), (5,), ((1, 0),), (1,), 1),
    "3d": (1, 3, (5, 6, 9), 4, (3, 2, 3), (1, 2, 2), ((1, 1), (0, 1), (1, 0)), (1, 1, 2), 1),
    "rows of one": (2, 3, (9, 1), 4, (3, 1), (1, 1), ((1, 1), (0, 0)), (1, 1), 1),
    "kernel as large as the padded image": (2, 3, (3, 4), 5, (5, 6), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "positions do not use up the input": (1, 2, (10, 10), 3, (3, 3), (4, 4), ((0, 0), (0, 0)), (1, 1), 1),
    "LeNet, first layer": (3, 1, (28, 28), 6, (5, 5), (1, 1), ((2, 2), (2, 2)), (1, 1), 1),
    "LeNet, second layer": (3, 6, (14, 14), 16, (5, 5), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    "many channels": (1, 33, (4, 4), 50, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "wide rows": (1, 2, (3, 101), 3, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "empty batch": (0, 3, (5, 5), 4, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
}  # fmt: skip


def operands(case, dtype=np.float32):
    """The three calls of a case: (op, arrays, attributes). Numbers have 12 bits, so that float64 sums are exact."""
    n, c, size, o, kernel, stride, padding, dilation, groups = case
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    x = numbers((n, c, *size), dtype, 1)
    w = numbers((o, c // groups, *kernel), dtype, 2)
    positions = [
        (m + a + b - d * (k - 1) - 1) // s + 1
        for m, k, s, (a, b), d in zip(size, kernel, stride, padding, dilation, strict=True)
    ]
    dout = numbers((n, o, *positions), dtype, 3)
    return [
        ("conv", [x, w], how),
        ("conv_input_grad", [dout, w], {**how, "input_size": size}),
        ("conv_weight_grad", [x, dout], {**how, "kernel_size": kernel}),
    ]


def numbers(shape, dtype, seed):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return sample(shape, dtype, seed) // 16
    values = np.random.default_rng(seed).uniform(0.5, 4, shape) * np.random.default_rng(seed + 9).choice([-1, 1], shape)
    return (np.round(values * 512) / 512).astype(dtype)


def native(name, arrays, how):
    got = single.run_single(get_op(name), arrays, how)
    assert got is not None, f"{name} was not computed natively"
    return got


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=str)
def test_all_three_maps_agree_with_the_reference(case, dtype):
    for name, arrays, how in operands(case, dtype):
        want = compute_reference(get_op(name), [a.astype(np.float64) for a in arrays], how)
        got = native(name, arrays, how)
        assert (got.dtype, got.shape) == (np.dtype(dtype), want.shape)
        scale = max(1.0, float(np.abs(want).max(initial=0)))
        np.testing.assert_allclose(
            got, want, rtol=0, atol=scale * (2e-6 if dtype == np.float32 else 1e-14), err_msg=name
        )


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=str)
def test_half_types_are_rounded_once(dtype):
    for key in ("3x3", "strided", "depthwise", "1x1", "wide rows"):
        for name, arrays, how in operands(CASES[key], dtype):
            wide = native(name, [a.astype(np.float32) for a in arrays], how)
            np.testing.assert_array_equal(native(name, arrays, how), wide.astype(dtype))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8], ids=str)
def test_integers_wrap_around(dtype):
    for key in ("3x3", "strided", "groups", "1d"):
        for name, arrays, how in operands(CASES[key], dtype):
            np.testing.assert_array_equal(native(name, arrays, how), compute_reference(get_op(name), arrays, how))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128], ids=str)
def test_complex_numbers(dtype):
    for key in ("3x3", "strided", "groups", "depthwise", "1x1", "1d", "empty batch"):
        for name, arrays, how in operands(CASES[key]):
            arrays = [a + 1j * numbers(a.shape, np.float64, 20 + k) for k, a in enumerate(arrays)]
            want = compute_reference(get_op(name), arrays, how)
            got = native(name, [a.astype(dtype) for a in arrays], how)
            assert got.dtype == dtype
            scale = max(1.0, float(np.abs(want).max(initial=0)))
            np.testing.assert_allclose(got, want, rtol=0, atol=scale * (2e-6 if dtype == np.complex64 else 1e-14))


# ---- which sums they are --------------------------------------------------------------------------------------------


def fma(x, y, acc):
    """float32 ``x * y + acc`` rounded once: exact in float64 for numbers of few bits."""
    return np.float32(np.float64(x) * np.float64(y) + np.float64(acc))


def chain_of_conv(x, w, how):
    (front, back), (sh, sw), (dh, dw) = how["padding"], how["stride"], how["dilation"]
    padded = np.pad(x, ((0, 0), (0, 0), front, back))
    o, c, kh, kw = w.shape
    oh, ow = (
        (m - d * (k - 1) - 1) // s + 1
        for m, k, s, d in zip(padded.shape[2:], (kh, kw), (sh, sw), (dh, dw), strict=True)
    )
    out = np.zeros((len(x), o, oh, ow), np.float32)
    for ci, i, j in itertools.product(range(c), range(kh), range(kw)):
        part = padded[:, ci, i * dh : i * dh + (oh - 1) * sh + 1 : sh, j * dw : j * dw + (ow - 1) * sw + 1 : sw]
        out = fma(w[None, :, ci, i, j, None, None], part[:, None], out)
    return out


def chain_of_weight_grad(x, dout, how, kernel):
    (front, back), (sh, sw), (dh, dw) = how["padding"], how["stride"], how["dilation"]
    padded = np.pad(x, ((0, 0), (0, 0), front, back))
    total = np.zeros((dout.shape[1], x.shape[1], *kernel), np.float32)
    for image, grad in zip(padded, dout, strict=True):
        acc = np.zeros_like(total)
        for y, z in itertools.product(*map(range, grad.shape[1:])):
            taps = image[
                :, y * sh : y * sh + dh * (kernel[0] - 1) + 1 : dh, z * sw : z * sw + dw * (kernel[1] - 1) + 1 : dw
            ]
            acc = fma(grad[:, y, z][:, None, None, None], taps[None], acc)
        total = total + acc
    return total


def chain_of_input_grad(dout, w, how, size):
    (sh, sw), (dh, dw) = how["stride"], how["dilation"]
    (ph, pw) = (front for front, _ in how["padding"])
    out = np.zeros((dout.shape[0], w.shape[1], *size), np.float32)
    for y, z in itertools.product(*map(range, size)):
        taps = []
        for i, j in itertools.product(*map(range, w.shape[2:])):
            row, column = y + ph - i * dh, z + pw - j * dw
            if row % sh == 0 and column % sw == 0:
                taps.append((row // sh, column // sw, i, j))
        for o in range(w.shape[0]):
            for row, column, i, j in sorted(taps):
                exists = 0 <= row < dout.shape[2] and 0 <= column < dout.shape[3]
                value = dout[:, o, row, column, None] if exists else np.float32(0)
                out[:, :, y, z] = fma(value, w[None, o, :, i, j], out[:, :, y, z])
    return out


@pytest.mark.parametrize("key", ["3x3", "strided", "dilated and strided", "asymmetric padding"])
def test_sums_are_the_documented_chains(key):
    (_, (x, w), how), (_, (dout, _), back), (_, _, forth) = calls = operands(CASES[key])
    found = [native(*call) for call in calls]
    np.testing.assert_array_equal(found[0], chain_of_conv(x, w, how))
    np.testing.assert_array_equal(found[1], chain_of_input_grad(dout, w, how, back["input_size"]))
    np.testing.assert_array_equal(found[2], chain_of_weight_grad(x, dout, how, forth["kernel_size"]))


@pytest.mark.parametrize(
    "key", ["3x3", "strided", "groups", "depthwise", "1x1", "1d", "3d", "LeNet, second layer", "wide rows"]
)
def test_tiles_do_not_show(key, monkeypatch):
    calls = operands(CASES[key])
    want = [native(*call) for call in calls]
    for tile in (Tile(1, 1, 4), Tile(2, 3, 4), Tile(4, 3, 8), Tile(3, 2, 16, 2), Tile(5, 1, 8, 2), Tile(8, 3, 16, 4)):
        monkeypatch.setattr(single, "_singles", {})
        monkeypatch.setattr(correlation, "choose_tile", lambda *_, tile=tile: tile)
        monkeypatch.setattr(weight_grad, "weight_tile", lambda *_, tile=tile: Tile(tile.rows, tile.vectors, tile.lanes))
        for call, result in zip(calls, want, strict=True):
            np.testing.assert_array_equal(native(*call), result, err_msg=f"{call[0]} {tile}")


def test_the_depthwise_kernel_gives_the_same_as_the_general_one(monkeypatch):
    more = {
        "5x5": (2, 9, (9, 33), 9, (5, 5), (1, 1), ((2, 2), (2, 2)), (1, 1), 9),
        "stride 3": (1, 9, (14, 50), 9, (3, 4), (3, 3), ((1, 1), (1, 1)), (1, 1), 9),
        "two rows": (1, 3, (2, 17), 3, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 3),
        "1d": (2, 5, (40,), 5, (3,), (2,), ((1, 1),), (1,), 5),
    }
    for case in (CASES["depthwise"], *more.values()):
        calls = operands(case)[:2]
        found = [native(*call) for call in calls]
        with monkeypatch.context() as patch:
            patch.setattr(single, "_singles", {})
            patch.setattr(correlation.Correlation, "depthwise_form", lambda _: None)
            for call, result in zip(calls, found, strict=True):
                np.testing.assert_array_equal(native(*call), result)


def test_a_sink_that_wants_all_coordinates_gets_the_same(monkeypatch):
    for key in ("1x1", "groups", "strided", "1d", "3d"):
        calls = operands(CASES[key])
        want = [native(*call) for call in calls]
        with monkeypatch.context() as patch:
            patch.setattr(single, "_singles", {})
            patch.setattr(Sink, "joins", lambda *_: False)
            for call, result in zip(calls, want, strict=True):
                np.testing.assert_array_equal(native(*call), result)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_do_not_show(threads):
    calls = [
        call for key in ("LeNet, first layer", "strided", "depthwise", "many channels") for call in operands(CASES[key])
    ]
    check_threads(threads, lambda: [native(*call) for call in calls])


def digest():
    """What the kernels of this process compute, in one word."""
    found = hashlib.sha256()
    for key in ("3x3", "strided", "depthwise", "LeNet, second layer"):
        for call in operands(CASES[key]):
            found.update(native(*call).tobytes())
    return found.hexdigest()


@pytest.mark.parametrize("target", ["avx2"])
def test_targets_with_fma_agree(target):
    from duograph.lower.target import host_target

    if host_target().name != "x86-64-avx512":
        pytest.skip("needs a machine that runs two of the targets")
    code = "from tests.unit.lower.test_conv import digest; print(digest())"
    assert python(code, DUOGRAPH_TARGET=target).strip() == digest()


# ---- in programs ----------------------------------------------------------------------------------------------------


def block(name, types, how):
    """``relu(name(x, w) + bias) + residual`` as a graph."""
    result = get_op(name).result_type(types, how)
    bias = TensorType(dt.float32, (1, result.shape[1], *(1,) * (len(result.shape) - 2)))
    builder = Builder()
    with builder.scope():
        params = [builder.param(f"p{k}", t) for k, t in enumerate((*types, bias, result))]
        node = builder.emit(get_op(name), tuple(params[:2]), how)
        node = builder.emit(get_op("relu"), (builder.emit(get_op("add"), (node, params[2]), {}),), {})
        return builder.graph("block", params, builder.emit(get_op("add"), (node, params[3]), {}))


@pytest.mark.parametrize("batch", [2, Symbol("n", 0, None)], ids=str)
@pytest.mark.parametrize("key", ["3x3", "strided", "1x1", "groups", "LeNet, second layer", "1d", "3d"])
def test_what_is_done_with_the_results_is_fused_and_has_the_same_bits(key, batch):
    n = CASES[key][0]
    for name, arrays, how in operands(CASES[key])[:2]:
        types = tuple(
            TensorType(dt.float32, (batch if k == 0 else a.shape[0], *a.shape[1:])) for k, a in enumerate(arrays)
        )
        graph = block(name, types, how)
        assert [len(group.nodes) for group in groups(graph)] == [4]
        out = native(name, arrays, how)
        bias, residual = (
            numbers((1, out.shape[1], *(1,) * (out.ndim - 2)), np.float32, 4),
            numbers(out.shape, np.float32, 5),
        )
        want = np.maximum(out + bias, np.float32(0)) + residual
        for level in (0, 1):
            got = compile_graph(graph, level).run([*arrays, bias, residual])
            np.testing.assert_array_equal(np.asarray(got), want, err_msg=f"{name} O{level} {n}")


@pytest.mark.parametrize("key", ["3x3", "strided", "1x1", "depthwise", "1d"])
def test_symbolic_extents_have_the_same_bits(key):
    size, kernel = CASES[key][2], CASES[key][4]
    n, spatial = Symbol("n", 0, None), tuple(Symbol(f"s{k}", 1, None) for k in range(len(size)))
    (_, (x, w), how), (_, (dout, _), _), _ = calls = operands(CASES[key])
    image, weight = TensorType(dt.float32, (n, x.shape[1], *spatial)), TensorType(dt.float32, w.shape)
    result = get_op("conv").result_type((image, weight), how)
    builder = Builder()
    with builder.scope():
        params = p, q, r = [builder.param(f"p{k}", t) for k, t in enumerate((image, weight, result))]
        outputs = [
            builder.emit(get_op("conv"), (p, q), how),
            builder.emit(get_op("conv_input_grad"), (r, q), {**how, "input_size": spatial}),
            builder.emit(get_op("conv_weight_grad"), (p, r), {**how, "kernel_size": kernel}),
        ]
        graph = builder.graph("maps", params, outputs)
    found = compile_graph(graph).run([x, w, dout])
    for call, result in zip(calls, found, strict=True):
        np.testing.assert_array_equal(np.asarray(result), native(*call), err_msg=call[0])


# ---- numbers that are none ------------------------------------------------------------------------------------------


def test_nan_stays_in_the_windows_that_see_it():
    x = numbers((1, 1, 9, 21), np.float32, 0)
    x[0, 0, 4, 20] = np.nan
    got = native("conv", [x, numbers((2, 1, 3, 3), np.float32, 1)], attrs((1, 1), ((1, 1), (1, 1))))
    seen = np.zeros((9, 21), bool)
    seen[3:6, 19:21] = True
    np.testing.assert_array_equal(np.isnan(got), np.broadcast_to(seen, (1, 2, 9, 21)))


def test_nan_at_the_end_of_a_row_does_not_reach_gradients_of_other_taps():
    x = numbers((1, 1, 5, 7), np.float32, 0)
    x[0, 0, 2, 6] = np.inf
    dout = numbers((1, 1, 3, 5), np.float32, 1)
    got = native("conv_weight_grad", [x, dout], {**attrs((1, 1), ((0, 0), (0, 0))), "kernel_size": (3, 3)})
    want = np.zeros((3, 3), bool)
    want[:, 2] = True  # only the last column of taps ever meets the last column of the image
    np.testing.assert_array_equal(~np.isfinite(got[0, 0]), want)


def test_padding_takes_part_as_zeros():
    x, w = numbers((1, 1, 4, 4), np.float32, 0), np.full((1, 1, 3, 3), np.inf, np.float32)
    how = attrs((1, 1), ((1, 1), (1, 1)))
    np.testing.assert_array_equal(
        np.isnan(native("conv", [x, w], how)), np.isnan(compute_reference(get_op("conv"), [x, w], how))
    )


def attrs(stride, padding, groups=1):
    return {"stride": stride, "padding": padding, "dilation": (1,) * len(stride), "groups": groups}


def test_random_convolutions():
    rng = np.random.default_rng(7)
    for _ in range(60):
        rank, groups = int(rng.integers(1, 4)), int(rng.integers(1, 3))
        kernel, stride, dilation = (tuple(map(int, rng.integers(1, top, rank))) for top in (5, 4, 3))
        padding = tuple((int(a), int(b)) for a, b in rng.integers(0, 4, (rank, 2)))
        size = tuple(
            max(d * (k - 1) + 1 - a - b, 1) + int(rng.integers(0, 9))
            for k, d, (a, b) in zip(kernel, dilation, padding, strict=True)
        )
        channels, outputs = int(rng.integers(1, 5)) * groups, int(rng.integers(1, 9)) * groups
        case = (2, channels, size, outputs, kernel, stride, padding, dilation, groups)
        for name, arrays, how in operands(case):
            want = compute_reference(get_op(name), [a.astype(np.float64) for a in arrays], how)
            np.testing.assert_allclose(native(name, arrays, how), want, rtol=1e-5, atol=1e-3, err_msg=f"{name} {case}")
