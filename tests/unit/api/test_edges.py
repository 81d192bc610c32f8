"""Operators at their edges, against the truth: numbers that a dtype does not have, sums of half types,
slopes at kinks. That other modes give the same is said by `tests/conformance/programs/edges.py`."""

from __future__ import annotations

import operator
import re
import warnings

import numpy as np
import pytest

import duograph as ms
from duograph import mint, nn, ops
from duograph.core import dtype as dt

INF, NAN = float("inf"), float("nan")
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_numbers_beyond_a_dtype(dtype):
    info = np.iinfo(dtype)
    array = np.array([info.min, 0, 44, info.max], dtype)
    x = ms.Tensor(array)
    numbers = [-1, 44, 300, info.min - 1, info.max + 1, -(2**63), 2**63, 2**70, -(2**70)]
    for _ in range(4):  # from Python, then from native code
        for n in numbers:
            for compare in COMPARISONS:
                assert compare(x, n).asnumpy().tolist() == [compare(int(v), n) for v in array], (compare, n)
            nearest = [min(max(int(v), n), info.max) for v in array]
            assert ops.clamp(x, n).asnumpy().tolist() == ops.maximum(n, x).asnumpy().tolist() == nearest, n
            np.testing.assert_allclose((x / n).asnumpy(), array / float(n), rtol=1e-6)


def test_sums_of_half_types():
    x = ms.Tensor(np.full(70000, 2.0, np.float16))
    assert x.mean() == ops.mean(x) == mint.mean(x) == 2.0
    assert ops.norm(ms.Tensor([300.0] * 3, ms.float16)).item() == np.float16(519.615)
    spread = ms.Tensor([300.0, -300.0] * 10, ms.float16)
    assert spread.std() == ops.std(spread) == 300.0
    assert mint.std(spread).item() == np.float16(307.794)
    assert ms.Tensor([3.0, -3.0] * 40000, ms.float16).var() == 9.0
    assert ops.logsumexp(x, 0).item() == np.float16(2 + np.log(70000))
    row = ms.Tensor([[300.0] * 4], ms.float16)
    assert ops.cosine_similarity(row, row).item() == 1.0
    for mean in (lambda t: t.mean(), ops.mean, ops.amax):
        assert (ms.grad(mean)(x).asnumpy() == np.float16(1 / 70000)).all()


@pytest.mark.parametrize(
    "norm",
    [
        ops.norm, mint.norm, lambda x: x.norm(), lambda x: mint.norm(x, 3), lambda x: mint.norm(x, 0.5),
        lambda x: x.std(),
        mint.std, lambda x: ops.cdist(x[None], x[None]).sum(), lambda x: nn.RMSELoss()(x, x * 1), nn.Norm(),
        lambda x: ops.atan2(x, x).sum(), lambda x: ops.lp_pool1d(x[None, None], 2, 2).sum(),
    ],
)  # fmt: skip
def test_no_slope_at_a_kink(norm):
    assert ms.grad(norm)(ms.Tensor([0.0, 0.0])).asnumpy().tolist() == [0.0, 0.0]


def test_running_logarithms_of_sums():
    x = np.array([0.0, 800.0, -5.0, 790.0])
    assert ops.logcumsumexp(ms.Tensor(x), 0).asnumpy().tolist() == np.logaddexp.accumulate(x).tolist()
    rows = ms.Tensor([-INF, -INF, 1.0, INF, 2.0])
    assert ops.logcumsumexp(rows, 0).asnumpy().tolist() == [-INF, -INF, 1.0, INF, INF]


def test_quantiles_of_infinities():
    x = ms.Tensor([-INF, 1.0, INF])
    assert ops.quantile(x, ms.Tensor([0.0, 0.3, 0.5, 1.0])).asnumpy().tolist() == [-INF, -INF, 1.0, INF]
    assert ops.nanquantile(ms.Tensor([1.0, NAN, 3.0]), 1.0) == 3.0


def test_losses_at_their_edges():
    x, target = ms.Tensor([1.0, 0.5]), ms.Tensor([INF, 1.0])
    for loss in (ops.smooth_l1_loss, lambda x, y: ops.huber_loss(x, y, "none")):
        assert ms.grad(lambda x, loss=loss: loss(x, target).sum())(x).asnumpy().tolist() == [-1.0, -0.5]
    row = ms.Tensor([[1e15, 1e15]])
    assert ops.cosine_similarity(row, row).asnumpy().tolist() == pytest.approx([1.0])
    certain = ms.Tensor([0.0, 1.0], ms.float16)
    assert ops.binary_cross_entropy(certain, certain) == 0.0
    assert ms.grad(lambda x: ops.elu(x).sum())(ms.Tensor([-20.0])).item() == pytest.approx(np.exp(-20.0))


def test_losses_of_two_shapes_warn():
    x, y = ms.Tensor(np.ones((4, 1), np.float32)), ms.Tensor(np.zeros(4, np.float32))
    for loss in (nn.MSELoss(), nn.L1Loss(), ops.mse_loss, ms.jit(nn.SmoothL1Loss()), ms.jit(ops.huber_loss)):
        with pytest.warns(UserWarning, match=r"target size \(\[4\]\) that is different") as found:
            loss(x, y)
        assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.MSELoss()(x, x * 2)


def test_a_missing_return_is_told():
    class Silent(nn.Cell):
        def construct(self, x):
            x * 2

    for differentiate in (ms.grad(Silent()), ms.value_and_grad(Silent()), ops.GradOperation()(Silent())):
        with pytest.warns(UserWarning, match=r"Silent.construct returned None: every gradient is 0"):
            differentiate(ms.Tensor([1.0]))
    with pytest.warns(UserWarning, match=r"returned no Tensor but a float: every gradient is 0"):
        ms.grad(lambda x: float(x.sum()), has_aux=False)(ms.Tensor([1.0]))


@pytest.mark.parametrize("mode", [None, "ast", "bytecode", "trace"])
def test_a_text_has_no_gradient(mode):
    x = ms.Tensor([1.0])

    def text(x):
        return "text"

    transforms = (
        lambda x: ms.grad(text)(x),
        lambda x: ms.value_and_grad(text)(x),
        lambda x: ops.GradOperation()(text)(x),
        lambda x: ms.vjp(text, x),
        lambda x: ms.jvp(text, x, x),
        lambda x: ms.jacrev(text)(x),
        lambda x: ms.jacfwd(text)(x),
    )
    for transform in transforms:
        f = transform if mode is None else ms.jit(transform, capture_mode=mode)
        for _ in range(3):
            with pytest.raises(TypeError, match=r"text returned a str, which has no gradient"):
                f(x)
    assert ms.value_and_grad(lambda x: (x.sum(), "text"), has_aux=True)(x)[0][1] == "text"


@pytest.mark.parametrize("mode", [None, "ast", "bytecode", "trace"])
def test_what_does_not_fit_into_a_part_is_drawn_below_the_line(mode):
    def of_shape(x):
        x[0] = ops.ones((3,))

    def of_type(x):
        x[1] = "text"

    for put, stored in ((of_shape, r"f32\[3\]"), (of_type, "str")):
        f = put if mode is None else ms.jit(put, capture_mode=mode)
        for _ in range(3):
            with pytest.raises((TypeError, ValueError)) as raised:
                f(ops.ones((2, 4)))
            (drawn,) = raised.value.__notes__
            assert re.search(rf"\^ {stored} is put into a part of f32\[2,4\]", drawn)


def test_refusals_say_what_is_wrong():
    with pytest.raises(ValueError, match=r"the 'k' must be in \[1, 2\], but got 3"):
        ops.kthvalue(ms.Tensor([1.0, 2.0]), 3)
    with pytest.raises(TypeError, match="must be a type of {Float32, Float64}, but got Float16"):
        ops.nextafter(ms.Tensor([1.0], dt.float16), ms.Tensor([2.0], dt.float16))


@pytest.mark.parametrize("data", [[1, 2**64 - 1], [[2**63], [-1]], [0, 2**63, -(2**63)]])
@pytest.mark.parametrize("dtype", [dt.uint64, dt.int64, dt.int8, dt.uint32])
def test_ints_of_which_no_dtype_holds_all_wrap_around(data, dtype):
    want = np.array([n % 2**64 for n in np.array(data, object).flat], np.uint64).astype(dtype.numpy)
    made = ms.Tensor(data, dtype)
    assert made.asnumpy().tobytes() == want.tobytes() and made.shape == np.shape(data)
    assert ms.jit(lambda: ms.Tensor(data, dtype))().asnumpy().tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
def test_common_divisors_are_positive(dtype):
    least = np.iinfo(dtype).min
    a, b = np.array([6, least, 3, 7, 12], dtype), np.array([least, 6, least, least, -18], dtype)
    for gcd in (ops.gcd, ms.jit(lambda a, b: ops.gcd(a, b))):
        assert gcd(ms.Tensor(a), ms.Tensor(b)).tolist() == [2, 2, 1, 1, 6]


@pytest.mark.parametrize("module", [ops, mint])
@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_parts_of_nothing(module, shape):
    x = ops.zeros(shape)

    def f(x):
        return module.split(x, 2, -1), module.chunk(x, 3, -1)

    for call in (f, ms.jit(f)):
        assert [[part.shape for part in parts] for parts in call(x)] == [[shape], [shape] * 3]


# ---- losses and norms at their edges --------------------------------------------------------------------------------


def test_an_epsilon_is_there_for_half_types_too():
    nothing = ms.Tensor([[0.0, 0.0]], ms.float16)
    assert (ops.normalize(nothing) == 0).all()
    assert np.isfinite(ops.logit(ms.Tensor([0.0, 1.0], ms.float16), 1e-6).asnumpy()).all()
    assert ops.poisson_nll_loss(nothing, nothing, log_input=False) == 0
    assert ms.grad(lambda x: ops.gaussian_nll_loss(x, x, nothing))(nothing).asnumpy().tolist() == [[0.0, 0.0]]
    large = ms.Tensor([300.0, 400.0], ms.float16)
    np.testing.assert_allclose(nn.DiceLoss()(large, large).asnumpy(), 0, atol=1e-3)


def test_what_is_quite_wrong_has_a_gradient():
    probabilities, target = ms.Tensor([0.0, 1.0, 0.5]), ms.Tensor([1.0, 0.0, 0.5])
    grad = ms.grad(lambda p: ops.binary_cross_entropy(p, target, reduction="sum"))(probabilities)
    np.testing.assert_allclose(grad.asnumpy(), [-1e12, 1e12, 0], rtol=1e-6)


def test_no_rows_have_no_mean_divergence():
    nothing = ms.Tensor(np.zeros((0, 3), np.float32))
    assert np.isnan(ops.kl_div(nothing, nothing, reduction="batchmean").asnumpy())


def test_a_diagonal_is_of_a_square():
    for shape in ((1, 3), (3, 1), (3, 5)):
        with pytest.raises(ValueError, match="label 'i' is repeated|do not broadcast"):
            ops.einsum("ii->i", ms.Tensor(np.ones(shape, np.float32)))


@pytest.mark.parametrize("spectrum", [ops.rfft, ops.fft, lambda x: ops.polar(x, x), lambda x: x.astype(ms.complex64)])
def test_a_gradient_through_complex_numbers_has_the_dtype_of_its_tensor(spectrum):
    x = ms.Tensor([1.0, 2.0, 3.0], ms.bfloat16)
    assert ms.grad(lambda x: ops.real(spectrum(x)).sum())(x).dtype == ms.bfloat16
