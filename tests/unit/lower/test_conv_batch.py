"""Convolution with images as lanes: to the bit what the kernels with pixels as lanes compute, wherever both can."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.core import dtype as dt
from duograph.core.kernel import compute_reference
from duograph.core.op import get_op
from duograph.core.types import TensorType
from duograph.lower.conv import correlation, parts, weight_grad
from duograph.lower.conv.batch.correlate import NEAR, BatchTile
from duograph.lower.conv.batch.correlation import batch_tile, packed_size
from duograph.lower.conv.batch.outer import BatchOuter
from duograph.lower.conv.batch.weight_grad import BatchWeightGrad
from duograph.lower.loop.interpret import interpret
from duograph.lower.lowering import Lowering, Operand
from duograph.lower.target import current_target
from duograph.runtime.kernels import single
from duograph.runtime.programs.executable import compile_graph
from tests.unit.lower.kernel_checks import BFLOAT16, check_threads
from tests.unit.lower.test_conv import CASES, attrs, block, native, numbers, operands
from tests.unit.runtime.processes import python

LENET = (6, (14, 14), 16, (5, 5), (1, 1), ((0, 0), (0, 0)), (1, 1), 1)
MORE = {
    **{f"{n} images": (n, *LENET) for n in (1, 5, 15, 16, 17, 33)},
    "first layer": (18, 1, (28, 28), 6, (5, 5), (1, 1), ((2, 2), (2, 2)), (1, 1), 1),
    "single taps": (17, 3, (7, 7), 6, (1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    "rows in two segments": (3, 3, (3, 35), 6, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "tiles across segments": (8, 4, (36,), 11, (5,), (1,), ((3, 3),), (1,), 1),
    "a segment of one": (3, 2, (2, 33), 4, (1, 3), (1, 1), ((0, 0), (1, 1)), (1, 1), 1),
    "nothing but padding": (2, 2, (1, 1), 3, (3, 3), (1, 1), ((4, 4), (5, 5)), (1, 1), 1),
    "many channels, strided": (17, 40, (9, 9), 24, (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1), 2),
}
TILES = ((6, 2), (3, 3), (8, 1), (1, 8))


def by_both(call, monkeypatch, tiles=TILES):
    """The result with pixels as lanes; then, by tile, with images as lanes, where that is possible."""
    with monkeypatch.context() as patch:
        patch.setattr(single, "_singles", {})
        patch.setattr(correlation, "suits", lambda *_: False)
        patch.setattr(correlation, "batch_tile", lambda _: None)
        want = native(*call)
        found = []
        for rows, pixels in tiles:
            patch.setattr(single, "_singles", {})
            patch.setattr(correlation, "batch_tile", lambda conv, r=rows, p=pixels: forced(conv, r, p, found))
            before = len(found)
            got = native(*call)
            if len(found) > before:
                found[-1] = got
        return want, found


def forced(conv, rows, pixels, found):
    if conv.depthwise or any(len(phases) > 1 for phases in conv.phases) or not conv.x.shape[0]:
        return None
    tile = BatchTile(rows, min(pixels, conv.phases[2][0].outputs), conv.target.lanes(8 if conv.elem == "f64" else 4))
    if packed_size(conv, tile, 1) > NEAR:
        return None
    found.append(None)
    return tile


def same(want, found, what):
    for got in found:
        assert got.tobytes() == want.tobytes(), what


@pytest.mark.parametrize("case", [*CASES.values(), *MORE.values()], ids=[*CASES, *MORE])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, BFLOAT16], ids=str)
def test_bits_are_those_of_the_other_kernels(case, dtype, monkeypatch):
    for call in operands(case, dtype)[:2]:
        want, found = by_both(call, monkeypatch)
        same(want, found, call[0])
        strided = call[0] == "conv_input_grad" and any(s > 1 for s in case[5])
        depthwise = case[8] == case[1] == case[3] and len(case[2]) < 3
        assert len(found) == (0 if strided or depthwise or not case[0] else len(TILES))


def test_some_are_chosen():
    chosen = {
        call.function.name for case in (MORE["16 images"], FIRST) for o in operands(case) for call in lowered(*o).calls
    }
    assert {"conv_batch", "conv_batch_weight_grad"} <= chosen
    assert batch_tile is correlation.batch_tile


FIRST = (32, *MORE["first layer"][1:])
RULES = {
    "conv": correlation.lower_conv,
    "conv_input_grad": correlation.lower_input_grad,
    "conv_weight_grad": weight_grad.lower_weight_grad,
}


def lowered(name, arrays, how):
    types = [TensorType(dt.float32, a.shape) for a in arrays]
    out = Operand(get_op(name).result_type(tuple(types), how))
    c = Lowering(get_op(name), how, [Operand(t) for t in types], [out])
    RULES[name](c)
    return c


# ---- padding that is left out -------------------------------------------------------------------------------------

PADDED = (17, 2, (6, 5), 5, (3, 3), (1, 1), ((1, 2), (2, 0)), (1, 1), 1)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan], ids=str)
@pytest.mark.parametrize("which", ["image", "weight"])
def test_values_that_are_not_finite(value, which, monkeypatch):
    for name, (x, w), how in operands(PADDED)[:2]:
        x, w = x.copy(), w.copy()
        (x if which == "image" else w)[-1, 1, 0, 1] = value
        want, found = by_both((name, [x, w], how), monkeypatch)
        assert found and np.isnan(want).any() == (which == "weight" or np.isnan(value))
        for got in found:
            np.testing.assert_array_equal(got, want)


def test_products_that_underflow_leave_no_signs(monkeypatch):
    rng = np.random.default_rng(3)
    for scale in (1e-23, 3e-23, 1e-30):  # products of some bits below the smallest number, or of none
        for name, (x, w), how in operands(PADDED)[:2]:
            x, w = ((scale * rng.standard_normal(a.shape)).astype(np.float32) for a in (x, w))
            w[:, :, 0] = 0  # chains that begin with a zero, of either sign
            want, found = by_both((name, [x, -np.abs(w)], how), monkeypatch)
            same(want, found, name)
            assert found and not np.signbit(want[want == 0]).any()


def test_depthwise_results_have_no_negative_zeros():
    x, w = np.full((1, 9, 6, 6), 1e-30, np.float32), np.full((9, 1, 3, 3), -1e-30, np.float32)
    how = attrs((1, 1), ((0, 0), (0, 0)), 9)
    assert not np.signbit(native("conv", [x, w], how)).any()


# ---- gradient in the weight -----------------------------------------------------------------------------------------

WEIGHT_TILES = ((3, 2), (2, 99), (1, 1))
"""Output channels, and rows of ``dout`` that are packed together."""


def weights_by_both(call, monkeypatch, tiles=WEIGHT_TILES):
    """The gradient with channels as lanes; then with images as lanes, where that is possible."""
    with monkeypatch.context() as patch:
        patch.setattr(weight_grad, "suits", lambda *_: False)
        patch.setattr(weight_grad, "batch_weight_grad", lambda *_: None)
        patch.setattr(single, "_singles", {})
        want, found = native(*call), []
        for rows, lines in tiles:
            patch.setattr(single, "_singles", {})
            patch.setattr(weight_grad, "batch_weight_grad", lambda *a, r=rows, n=lines: forced_weights(*a, r, n, found))
            before = len(found)
            got = native(*call)
            if len(found) > before:
                found[-1] = got
        return want, found


def forced_weights(c, axes, groups, inner, count, _tile, rows, lines, found):
    if (inner, count) == (1, 1) or axes[2].kernel > 8 or not c.ins[0].shape[0]:
        return None
    w, lanes = axes[2], current_target().lanes(8 if c.ins[0].elem == "f64" else 4)
    made = BatchWeightGrad(c, axes, groups, inner, count, BatchOuter(rows, w.kernel, w.dilation, w.stride, lanes))
    made.lines = min(made.lines, lines)
    assert made.lines > 0
    found.append(None)
    return made


@pytest.mark.parametrize("case", [*CASES.values(), *MORE.values()], ids=[*CASES, *MORE])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, BFLOAT16], ids=str)
def test_gradients_in_the_weight_have_the_same_bits(case, dtype, monkeypatch):
    call = operands(case, dtype)[2]
    want, found = weights_by_both(call, monkeypatch)
    same(want, found, call[0])
    depthwise = case[8] == case[1] == case[3]
    assert len(found) == (0 if depthwise or not case[0] else len(WEIGHT_TILES))


@pytest.mark.parametrize("which", [0, 1], ids=["image", "dout"])
@pytest.mark.parametrize("value", [np.inf, np.nan], ids=str)
def test_gradients_in_the_weight_of_values_that_are_not_finite(value, which, monkeypatch):
    """An infinite ``dout`` meets the zeros of the padding; an image that does not exist meets nothing."""
    name, arrays, how = operands(PADDED)[2]
    arrays[which][-1, 1, 0, 1] = value
    want, found = weights_by_both((name, arrays, how), monkeypatch)
    assert found and np.isnan(want).any() == (which == 1 or np.isnan(value))
    for got in found:
        np.testing.assert_array_equal(got, want)


def test_sums_over_images_that_underflow_keep_their_signs(monkeypatch):
    name, (x, dout), how = operands(PADDED)[2]
    for scale in (1e-23, 1e-30):
        call = (name, [x * np.float32(scale), -np.abs(dout) * np.float32(scale)], how)
        want, found = weights_by_both(call, monkeypatch)
        same(want, found, name)


# ---- surroundings -------------------------------------------------------------------------------------------------


def force(monkeypatch, rows=6, pixels=2):
    made = []
    monkeypatch.setattr(single, "_singles", {})
    monkeypatch.setattr(correlation, "suits", lambda *_: False)
    monkeypatch.setattr(correlation, "batch_tile", lambda conv: forced(conv, rows, pixels, made))
    monkeypatch.setattr(weight_grad, "suits", lambda *_: False)
    monkeypatch.setattr(weight_grad, "batch_weight_grad", lambda *a: forced_weights(*a, 2, 3, made))
    return made


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_do_not_show(threads, monkeypatch):
    force(monkeypatch)
    calls = operands(MORE["33 images"])
    check_threads(threads, lambda: [native(*call) for call in calls])


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("key", ["17 images", "single taps", "1d", "3d", "groups"])
def test_what_is_done_with_the_results_is_fused(key, plain, monkeypatch):
    if not plain:  # a sink that wants all coordinates, and whose code is long
        monkeypatch.setattr("duograph.lower.fuse.sink.FusingSink.joins", lambda *_: False)
        monkeypatch.setattr("duograph.lower.fuse.sink.BRIEF", 0)
        monkeypatch.setattr(parts, "_functions", parts.Functions())
    calls = operands({**CASES, **MORE}[key])[:2]
    want = [by_both(call, monkeypatch, ())[0] for call in calls]
    made = force(monkeypatch)
    for (name, arrays, how), out in zip(calls, want, strict=True):
        graph = block(name, tuple(TensorType(dt.float32, a.shape) for a in arrays), how)
        bias = numbers((1, out.shape[1], *(1,) * (out.ndim - 2)), np.float32, 4)
        residual = numbers(out.shape, np.float32, 5)
        got = compile_graph(graph, 1).run([*arrays, bias, residual])
        np.testing.assert_array_equal(np.asarray(got), np.maximum(out + bias, np.float32(0)) + residual)
    assert made or key == "3d"


def test_the_loop_ir_itself_says_the_same(monkeypatch):
    """The interpreter of loop IR runs the calls of a small case."""
    force(monkeypatch, 2, 2)
    case = (3, 2, (4, 3), 3, (2, 3), (1, 1), ((1, 0), (1, 1)), (1, 1), 1)
    for name, arrays, how in operands(case):
        c = lowered(name, arrays, how)
        (out,) = c.outs
        memory = {id(o): a for o, a in zip(c.ins, arrays, strict=True)}
        memory[id(out)] = np.zeros(out.shape, np.float32)
        for call in c.calls:
            for buffer in call.buffers:
                if id(buffer) not in memory:
                    memory[id(buffer)] = np.zeros(buffer.count, "i8" if buffer.elem == "i64" else np.float32)
            assert interpret(call.function, [memory[id(m)].reshape(-1) for m in call.buffers], list(call.dims)) == 0
        assert memory[id(out)].tobytes() == native(name, arrays, how).tobytes()


SMALL = {key: MORE[key] for key in ("5 images", "17 images", "nothing but padding", "many channels, strided")}


def check_all():
    """Compares both families in this process; run for other targets and with red zones."""
    with pytest.MonkeyPatch.context() as patch:
        for case in (*SMALL.values(), CASES["3d"], CASES["dilated and strided"]):
            for call in operands(case)[:2]:
                want, found = by_both(call, patch)
                same(want, found, call[0])
                exact = compute_reference(get_op(call[0]), [a.astype(np.float64) for a in call[1]], call[2])
                np.testing.assert_allclose(want, exact, rtol=1e-5, atol=1e-3)
            call = operands(case)[2]
            want, found = weights_by_both(call, patch)
            same(want, found, call[0])
            assert found


@pytest.mark.parametrize(
    "settings", [{"DUOGRAPH_TARGET": "avx2"}, {"DUOGRAPH_TARGET": "baseline"}, {"DUOGRAPH_DEBUG": "1"}]
)
def test_other_targets_and_red_zones(settings):
    if "DUOGRAPH_TARGET" in settings and current_target().name != "x86-64-avx512":
        pytest.skip("needs a machine that runs all of the targets")
    code = "from tests.unit.lower.test_conv_batch import check_all; check_all()"
    python(code, **settings)
