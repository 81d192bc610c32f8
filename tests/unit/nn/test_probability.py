"""`nn.probability`: against scipy's distributions, in every mode to the bit, with gradients, samples and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import duograph as ms
from duograph import nn
from duograph.nn.probability import bijector as msb
from duograph.nn.probability import distribution as msd

X = [-1.5, 0.0, 0.25, 0.8, 1.0, 2.0, 3.5, 30.0]
K = [-1, 0, 1, 2, 3, 7]

LINES = {
    "Normal": (msd.Normal, (0.5, 2.0), stats.norm(0.5, 2.0), X),
    "Uniform": (msd.Uniform, (-1.0, 3.0), stats.uniform(-1.0, 4.0), X),
    "Exponential": (msd.Exponential, (1.5,), stats.expon(scale=1 / 1.5), X),
    "Cauchy": (msd.Cauchy, (0.5, 2.0), stats.cauchy(0.5, 2.0), X),
    "Logistic": (msd.Logistic, (0.5, 2.0), stats.logistic(0.5, 2.0), X),
    "Gamma": (msd.Gamma, ([3.0], [2.0]), stats.gamma(3.0, scale=0.5), X),
    "Beta": (msd.Beta, ([2.0], [3.0]), stats.beta(2.0, 3.0), [-0.5, 0.0, 0.25, 0.9, 1.0, 1.5]),
    "HalfNormal": (msd.HalfNormal, (0.5, 2.0), stats.halfnorm(0.5, 2.0), X),
    "Laplace": (msd.Laplace, (0.5, 2.0), stats.laplace(0.5, 2.0), X),
    "StudentT": (msd.StudentT, (3.0, 0.5, 2.0), stats.t(3.0, 0.5, 2.0), X),
    "LogNormal": (msd.LogNormal, (0.5, 0.75), stats.lognorm(0.75, scale=math.exp(0.5)), X),
    "Gumbel": (msd.Gumbel, (0.5, 2.0), stats.gumbel_r(0.5, 2.0), X),
    "Bernoulli": (msd.Bernoulli, (0.3,), stats.bernoulli(0.3), K),
    "Geometric": (msd.Geometric, (0.3,), stats.geom(0.3, loc=-1), K),
    "Poisson": (msd.Poisson, ([2.5],), stats.poisson(2.5), K),
}
"""Name: the class, its parameters, the same distribution of scipy, and values."""
OF_SCIPY = {"cdf": "cdf", "log_cdf": "logcdf", "survival_function": "sf", "log_survival": "logsf"}
DENSITIES_ALONE = ("HalfNormal", "Laplace", "StudentT")
"""MindSpore has no more of them."""


def values_of(name):
    values = LINES[name][3]
    return np.array(values, np.int32 if values is K else np.float32)


@pytest.mark.parametrize("name", LINES)
def test_densities_and_tails_are_those_of_scipy(name):
    kind, parameters, other, _ = LINES[name]
    x = values_of(name)
    mine = kind(*parameters)
    of = "pmf" if x.dtype == np.int32 else "pdf"
    expected = {"prob": getattr(other, of)(x), "log_prob": getattr(other, f"log{of}")(x)}
    if name not in (*DENSITIES_ALONE, "Beta"):
        expected |= {function: getattr(other, theirs)(x) for function, theirs in OF_SCIPY.items()}
    for function, value in expected.items():
        got = getattr(mine, function)(ms.Tensor(x)).asnumpy()
        assert got.dtype == np.float32
        with np.errstate(divide="ignore"):
            # a logarithm of a tail that was computed as the complement is as good as the tail itself in float32
            close = np.isclose(got, value, rtol=3e-5, atol=1e-6) | np.isclose(
                np.exp(got), np.exp(value), rtol=0, atol=3e-7 if function.startswith("log_") else 0
            )
        assert close.all(), (function, got, value)


@pytest.mark.parametrize("name", [n for n in LINES if n not in DENSITIES_ALONE])
def test_figures_are_those_of_scipy(name):
    kind, parameters, other, _ = LINES[name]
    mine = kind(*parameters)
    if name == "Cauchy":
        for function in ("mean", "sd", "var"):
            with pytest.raises(ValueError, match=f"{function} is undefined for Cauchy distribution"):
                getattr(mine, function)()
    else:
        np.testing.assert_allclose(mine.mean().asnumpy().reshape(()), other.mean(), rtol=1e-5)
        np.testing.assert_allclose(mine.sd().asnumpy().reshape(()), other.std(), rtol=1e-5)
        np.testing.assert_allclose(mine.var().asnumpy().reshape(()), other.var(), rtol=1e-5)
    if name != "Poisson":
        np.testing.assert_allclose(mine.entropy().asnumpy().reshape(()), other.entropy(), rtol=1e-5)
    if name == "Uniform":  # all values are as likely
        return
    at_mode = mine.prob(mine.mode())
    assert (mine.prob(ms.Tensor(values_of(name))) <= at_mode * (1 + 1e-6)).all()


OTHERS = {
    "Normal": (0.0, 1.0), "Uniform": (-2.0, 4.0), "Exponential": (0.5,), "Cauchy": (0.0, 1.0), "Gamma": (2.0, 1.0),
    "Beta": (3.0, 2.0), "LogNormal": (0.0, 1.0), "Gumbel": (0.0, 3.0), "Bernoulli": (0.6,), "Geometric": (0.6,),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_divergence_is_the_mean_difference_of_the_log_densities(name):
    kind, parameters, other, _ = LINES[name]
    mine = kind(*parameters)
    b = [ms.Tensor([v]) for v in OTHERS[name]]
    if name in ("Bernoulli", "Geometric"):
        k = np.arange(2 if name == "Bernoulli" else 400)
        weights, points = other.pmf(k), k
    else:
        quantiles = (np.arange(200_000) + 0.5) / 200_000
        points, weights = other.ppf(quantiles), np.full(200_000, 1 / 200_000)
    at = ms.Tensor(points.astype(np.float32))
    difference = (mine.log_prob(at) - mine.log_prob(at, *b)).asnumpy().astype(np.float64)
    got = mine.kl_loss(name, *b).asnumpy()
    np.testing.assert_allclose(got.reshape(()), np.sum(weights * difference), rtol=2e-3, atol=1e-4)
    np.testing.assert_array_equal(
        mine.cross_entropy(name, *b).asnumpy(), (mine.kl_loss(name, *b) + mine.entropy()).asnumpy()
    )
    assert mine.kl_loss(name, *b, *[ms.Tensor([v]) for v in OTHERS[name]]).asnumpy() == pytest.approx(0, abs=1e-6)
    with pytest.raises(ValueError, match="Expected dist input is"):
        mine.kl_loss("Other", *b)


@pytest.mark.parametrize("name", [n for n in LINES if n not in DENSITIES_ALONE])
def test_samples_have_the_distribution(name):
    kind, parameters, other, values = LINES[name]
    mine = kind(*parameters, seed=7)
    drawn = mine.sample((4000,))
    assert drawn.dtype == mine.dtype
    assert drawn.shape == (4000, *mine.batch_shape)
    np.testing.assert_array_equal(drawn.asnumpy(), mine.sample((4000,)).asnumpy())
    found = drawn.asnumpy().astype(np.float64).ravel()
    if values is K:
        assert found.mean() == pytest.approx(other.mean(), abs=5 * other.std() / 60)
    else:
        assert stats.kstest(found, other.cdf).pvalue > 1e-4
    ms.set_seed(3)
    first = kind(*parameters).sample((2,)).asnumpy()
    assert not np.array_equal(first, kind(*parameters).sample((2,)).asnumpy()) or values is K


class Net(nn.Cell):
    def __init__(self, kind, parameters, function):
        super().__init__()
        self.of = kind(*parameters)
        self.function = function

    def construct(self, x):
        return self.of(self.function, x)


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("function", ["prob", "log_prob", "cdf", "log_survival"])
def test_compiled_calls_and_gradients_have_the_bits_of_eager_ones(name, function):
    if name in (*DENSITIES_ALONE, "Beta") and function not in ("prob", "log_prob"):
        with pytest.raises(NotImplementedError, match=f"{function} is not implemented for {name} distribution"):
            LINES[name][0](*LINES[name][1])(function, ms.Tensor([1.0]))
        return
    kind, parameters, _, _ = LINES[name]
    x = ms.Tensor(values_of(name).astype(np.float32))
    net = Net(kind, parameters, function)

    def whole(x):
        return net(x)

    np.testing.assert_array_equal(ms.jit(whole, fullgraph=True)(x).asnumpy(), net(x).asnumpy())
    slope = ms.grad(whole)(x)
    np.testing.assert_array_equal(ms.jit(ms.grad(whole), fullgraph=True)(x).asnumpy(), slope.asnumpy())
    if name not in ("Gamma", "Beta"):  # at the border of its range log(x) has none
        assert np.isfinite(slope.asnumpy()).all(), slope


@pytest.mark.parametrize("name", [n for n in LINES if n not in DENSITIES_ALONE])
def test_compiled_samples_have_the_bits_of_eager_ones(name):
    kind, parameters, _, _ = LINES[name]
    of = kind(*parameters)
    ms.set_seed(5)
    eager = of.sample((2, 3)).asnumpy()
    ms.set_seed(5)
    np.testing.assert_array_equal(ms.jit(lambda: of.sample((2, 3)), fullgraph=True)().asnumpy(), eager)


def test_tails_far_out_keep_their_digits():
    x = ms.Tensor([-9.5, -10.5, -15.0, -40.0, -1e4])
    expected = stats.norm.logcdf(x.asnumpy())
    np.testing.assert_allclose(msd.Normal(0.0, 1.0).log_cdf(x).asnumpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(msd.Normal(0.0, 1.0).log_survival(-x).asnumpy(), expected, rtol=1e-6)
    slope = ms.grad(msd.Normal(0.0, 1.0).log_cdf)(x).asnumpy()
    np.testing.assert_allclose(slope, np.exp(stats.norm.logpdf(x.asnumpy()) - expected), rtol=2e-3)
    np.testing.assert_allclose(msd.Cauchy(0.0, 1.0).cdf(ms.Tensor([-1e6])).asnumpy(), [1e-6 / math.pi], rtol=1e-6)


def test_gradients_reach_parameters():
    mean = ms.Parameter(ms.Tensor([1.0, 2.0]), name="mean")
    sd = ms.Parameter(ms.Tensor([0.5]), name="sd")

    class Likelihood(nn.Cell):
        def __init__(self):
            super().__init__()
            self.normal = msd.Normal(mean, sd)

        def construct(self, x):
            return -self.normal.log_prob(x).sum()

    net = Likelihood()
    assert [p.name for p in net.trainable_params()] == ["normal._mean_value", "normal._sd_value"]
    x = ms.Tensor([0.0, 1.0])
    step = ms.value_and_grad(net, None, net.trainable_params())
    loss, (of_mean, of_sd) = step(x)
    np.testing.assert_allclose(of_mean.asnumpy(), [4.0, 4.0])
    np.testing.assert_allclose(of_sd.asnumpy(), [-12.0], rtol=1e-6)
    compiled, slopes = ms.jit(step)(x)
    np.testing.assert_array_equal(compiled.asnumpy(), loss.asnumpy())
    np.testing.assert_array_equal(slopes[1].asnumpy(), of_sd.asnumpy())


def test_parameters_of_a_call_broadcast_and_leave_the_distribution_alone():
    normal = msd.Normal(3.0, 4.0)
    value = ms.Tensor([1.0, 2.0, 3.0])
    mean, sd = ms.Tensor([1.0]), ms.Tensor([1.0, 1.5, 2.5])
    expected = stats.norm([1.0], [1.0, 1.5, 2.5]).pdf([1.0, 2.0, 3.0])
    np.testing.assert_allclose(normal.prob(value, mean, sd).asnumpy(), expected, rtol=1e-5)
    np.testing.assert_array_equal(
        normal.prob(value, sd=sd, mean=mean).asnumpy(), normal.prob(value, mean, sd).asnumpy()
    )
    assert normal.mean(mean, sd).shape == (3,)
    assert normal.sample((2, 3), mean, sd).shape == (2, 3, 3)
    assert normal.mean() == 3.0
    assert normal.get_dist_args(mean)[0] is mean
    assert normal.get_dist_type() == "Normal"
    assert msd.Bernoulli(0.5).mean(probs1=ms.Tensor([0.25])) == 0.25
    assert normal.kl_loss("Normal", mean, sd, mean_a=mean, sd_a=sd).tolist() == [0.0, 0.0, 0.0]
    half = msd.Normal(ms.Tensor([1.0], ms.float16), ms.Tensor([2.0], ms.float16), dtype=ms.float16)
    assert half.prob(ms.Tensor([1.0], ms.float16)).dtype == ms.float16
    assert msd.Normal([0.0], [1.0], dtype=ms.float64).sample().dtype == ms.float64
    assert msd.Normal(0.0, [1.0, 2.0]).batch_shape == (2,)
    assert msd.Normal(0.0).batch_shape is None
    assert msd.Normal(0.0, 1.0).is_scalar_batch
    assert repr(msd.Normal(0.0, 1.0)) == "Normal(mean = 0.0, sd = 1.0)"


@pytest.mark.parametrize(
    ("use", "error", "said"),
    [
        (lambda: msd.Normal(0.0, -1.0), ValueError, "the 'sd' must be greater than 0, but got -1.0"),
        (lambda: msd.Normal(0.0, 1.0, dtype=ms.int32), TypeError, "'dtype' must be a float type"),
        (lambda: msd.Normal(True, 1.0), TypeError, "'mean' must be a number"),
        (lambda: msd.Normal(0.0, 1.0, seed=-1), ValueError, "seed"),
        (lambda: msd.Normal(ms.Tensor([1.0]), np.ones(1, np.float16)), TypeError, "same dtype"),
        (lambda: msd.Normal(0.0, 1.0).prob(1.0), TypeError, "should be a Tensor"),
        (lambda: msd.Normal().prob(ms.Tensor(1.0)), TypeError, "'mean' must be given"),
        (lambda: msd.Normal(0.0, 1.0).prob(ms.Tensor(1.0), var=ms.Tensor(1.0)), TypeError, "but got 'var'"),
        (lambda: msd.Normal(0.0, 1.0).sample([2]), TypeError, "should be a tuple"),
        (lambda: msd.Normal(0.0, 1.0)("median"), NotImplementedError, "median is not implemented"),
        (lambda: msd.Uniform(1.0, 1.0), ValueError, "'low' must be less than 'high'"),
        (lambda: msd.Bernoulli(1.5), ValueError, r"in range of \(0, 1\)"),
        (lambda: msd.Categorical([0.3, 0.3]), ValueError, "sum to 1"),
        (lambda: msd.Categorical(0.3), ValueError, "rank of at least 1"),
        (lambda: msd.Poisson([0.0]), ValueError, "greater than 0"),
        (lambda: msb.ScalarAffine(0.0), ValueError, "must not be 0"),
        (lambda: msb.PowerTransform(-1.0), ValueError, "not be negative"),
        (lambda: msb.Softplus(2), TypeError, "of a float type"),
        (lambda: msb.Exp().forward(ms.Tensor([1])), TypeError, "a float type"),
        (lambda: msb.Exp()("middle", ms.Tensor([1.0])), ValueError, "Invalid name 'middle'"),
        (lambda: msb.Invert(3), TypeError, "must be a Bijector"),
        (lambda: msd.TransformedDistribution(msd.Normal(), msd.Normal()), TypeError, "must be a Bijector"),
        (lambda: msd.TransformedDistribution(msb.Exp(), msd.Normal(0.0, 1.0)).mean(), ValueError, "non-linear"),
    ],
)
def test_refusals_say_why(use, error, said):
    with pytest.raises(error, match=said):
        use()


def test_categorical():
    probabilities = [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]
    of = msd.Categorical(ms.Tensor(probabilities), seed=3)
    classes = np.array(probabilities)
    value = ms.Tensor([0, 2])
    np.testing.assert_allclose(of.prob(value).asnumpy(), [0.2, 0.1], rtol=1e-6)
    np.testing.assert_allclose(of.cdf(ms.Tensor([1, 1])).asnumpy(), [0.5, 0.9], rtol=1e-6)
    np.testing.assert_allclose(of.prob(ms.Tensor([-1, 3])).asnumpy(), [0.0, 0.0])
    np.testing.assert_allclose(of.prob(ms.Tensor([[0], [1], [2]])).asnumpy(), classes.T, rtol=1e-6)
    np.testing.assert_allclose(of.mean().asnumpy(), (classes * [0, 1, 2]).sum(-1, keepdims=True), rtol=1e-6)
    np.testing.assert_allclose(of.var().asnumpy().ravel(), [0.61, 0.45], rtol=1e-5)
    np.testing.assert_array_equal(of.mode().asnumpy(), [2, 0])
    np.testing.assert_allclose(of.entropy().asnumpy(), stats.entropy(classes, axis=1), rtol=1e-6)
    uniform = ms.Tensor([1 / 3, 1 / 3, 1 / 3])
    np.testing.assert_allclose(
        of.kl_loss("Categorical", uniform).asnumpy(), stats.entropy(classes.T, [[1 / 3]] * 3), rtol=1e-5
    )
    drawn = of.sample((5000,))
    assert drawn.shape == (5000, 2)
    assert drawn.dtype == ms.int32
    counts = np.stack([(drawn.asnumpy() == k).mean(0) for k in range(3)], -1)
    np.testing.assert_allclose(counts, classes, atol=0.03)
    np.testing.assert_array_equal(ms.jit(of.log_prob, fullgraph=True)(value).asnumpy(), of.log_prob(value).asnumpy())
    of_probabilities = ms.grad(lambda p: of.log_prob(value, p).sum())(ms.Tensor(probabilities))
    np.testing.assert_allclose(of_probabilities.asnumpy(), [[5, 0, 0], [0, 0, 10]], rtol=1e-6)


BIJECTORS = {
    "Exp": (msb.Exp(), [-1.0, 0.0, 2.0]),
    "PowerTransform": (msb.PowerTransform([0.0, 0.5, 2.0]), [-0.25, 0.0, 2.0]),
    "ScalarAffine": (msb.ScalarAffine(-2.0, 1.0), [-1.0, 0.0, 2.0]),
    "Softplus": (msb.Softplus(1.5), [-3.0, 0.0, 15.0]),
    "GumbelCDF": (msb.GumbelCDF(0.5, 2.0), [-1.0, 0.0, 2.0]),
    "Invert": (msb.Invert(msb.Softplus(1.5)), [0.25, 1.0, 15.0]),
}


@pytest.mark.parametrize("name", BIJECTORS)
def test_bijectors_and_their_slopes(name):
    of, values = BIJECTORS[name]
    x = ms.Tensor(values)
    y = of.forward(x)
    np.testing.assert_allclose(of.inverse(y).asnumpy(), values, rtol=1e-4, atol=1e-6)
    for function, at in (("forward", x), ("inverse", y)):
        slope = ms.grad(lambda v: of(function, v).sum())(at).asnumpy()
        got = of(f"{function}_log_jacobian", at) * ms.Tensor([1.0, 1.0, 1.0])
        np.testing.assert_allclose(got.asnumpy(), np.log(np.abs(slope)), rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(
            ms.jit(lambda v: of(function, v), fullgraph=True)(at).asnumpy(), of(function, at).asnumpy()
        )


def test_transformed_distributions():
    log_normal = msb.Exp()(msd.Normal(0.5, 0.75))
    assert isinstance(log_normal, msd.TransformedDistribution)
    x = ms.Tensor([0.5, 1.0, 4.0])
    other = stats.lognorm(0.75, scale=math.exp(0.5))
    np.testing.assert_allclose(log_normal.prob(x).asnumpy(), other.pdf(x.asnumpy()), rtol=1e-5)
    np.testing.assert_allclose(log_normal.cdf(x).asnumpy(), other.cdf(x.asnumpy()), rtol=1e-5)
    np.testing.assert_array_equal(ms.jit(log_normal.prob)(x).asnumpy(), log_normal.prob(x).asnumpy())
    of_call = log_normal.prob(x, ms.Tensor([0.0]), ms.Tensor([1.0]))
    np.testing.assert_allclose(of_call.asnumpy(), stats.lognorm(1.0).pdf(x.asnumpy()), rtol=1e-5)
    seeded = msd.TransformedDistribution(msb.Exp(), msd.Normal(0.0, 1.0, seed=4), seed=9)
    again = msd.LogNormal(0.0, 1.0, seed=9)
    np.testing.assert_array_equal(seeded.sample((5,)).asnumpy(), again.sample((5,)).asnumpy())
    assert seeded.distribution.seed == 9
    line = msd.TransformedDistribution(msb.ScalarAffine([2.0, 3.0], 1.0), msd.Uniform(0.0, 1.0))
    np.testing.assert_array_equal(line.mean().asnumpy(), [2.0, 2.5])
    assert line.broadcast_shape == (2,)
    assert (line.batch_shape, line.is_linear_transformation) == ((), True)


def test_own_distributions_in_the_manner_of_mindspore():
    class Triangle(msd.Distribution):
        def __init__(self, width=None, seed=None, dtype=ms.float32, name="Triangle"):
            param = dict(locals())
            param["param_dict"] = {"width": width}
            super().__init__(seed, dtype, name, param)
            self._width = self._add_parameter(width, "width")

        def _prob(self, value, width=None):
            value = self._check_value(value, "value")
            width = self._check_param_type(width)
            return (1 - (value / width).abs()) / width

        def _mean(self, width=None):
            return self._check_param_type(width) * 0

    triangle = Triangle(2.0)
    assert triangle.prob(ms.Tensor([0.0])).tolist() == [0.5]
    assert triangle.log_prob(ms.Tensor([0.0]), ms.Tensor([4.0])).tolist() == [pytest.approx(math.log(0.25))]
    assert triangle.mean() == 0
    with pytest.raises(NotImplementedError, match="sd is not implemented for Triangle distribution"):
        triangle.sd()
