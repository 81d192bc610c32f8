"""Programs about operators at their edges: half types that overflow, gradients at 0, NaN among what is ordered."""

import duograph as ms
from duograph import mint, nn, ops
from tests.conformance.harness import T, program

NAN, INF = float("nan"), float("inf")
_LARGE = T([[300.0, -300.0, 200.0], [300.0, 300.0, 300.0]], ms.float16)


@program(calls=[(_LARGE,), (T([[3e18, 1.0], [2e18, 0.5]], ms.bfloat16),), (T([[3.0, -4.0], [0.0, 1.0]]),)], grad=0)
def sums_of_squares_of_large_numbers_in_half_types(x):
    spread = x.std(1) + mint.std(x, 1) + ops.std_mean(x, 1)[0]
    size = ops.norm(x, dim=1) + nn.Norm(1)(x) + ops.logsumexp(x, 1) + ops.rms_norm(x, x[0] * 0 + 1)[0][:, 0]
    return (
        spread * 0.01 + size + ops.cosine_similarity(x, x[:1] * 1) + x.mean(1) + ops.triplet_margin_loss(x, x, -x, 9.0)
    )


@program(
    calls=[(T([[0.0, -0.0], [3.0, 4.0]]),), (T([[0.0, 0.0]], ms.float16),), (T([[2.0, 2.0], [0.0, 1.0]]),)], grad=0
)
def norms_and_deviations_at_their_kinks(x):
    norms = ops.norm(x, dim=1) + mint.norm(x, 3, 1) + mint.norm(x, 0.5, 1) + ops.clip_by_norm(x, 1.0)[:, 0]
    return norms + x.std(1) + mint.std(x, 1) + ops.cdist(x, x).sum(1) + nn.RMSELoss()(x, x)


@program(calls=[(T([1.0, NAN, 3.0, NAN]),), (T([NAN, 2.0, 3.0], ms.float16),), (T([3.0, 1.0, 2.0]),)], grad=0)
def nan_is_the_largest_number(x):
    top, at = ops.topk(x, 2)
    low, first = mint.topk(x, 2, largest=False)
    down, order = ops.sort(x, descending=True)
    middle, place = ops.median(x)
    return (top * at + low * first).sum() + (down * order).sum() + middle * place + ops.nanmedian(x)[0]


@program(
    calls=[(T([0.0, 200.0, -5.0, 201.0]),), (T([-INF, -INF, 3.0, INF, 4.0]),), (T([1.0, 2.0], ms.float16),)], grad=0
)
def running_logarithms_of_sums(x):
    return ops.logcumsumexp(x, 0), ops.CumulativeLogsumexp(True, True)(x, T(0)), ops.logaddexp(x, x[::-1])


@program(
    calls=[(T([3.0, 1.0, INF]), T([0.25, 1.0])), (T([-INF, 1.0, INF]), T([0.0, 0.3])), (T([NAN, 1.0, 5.0]), T([0.7]))]
)
def quantiles_between_infinities(x, q):
    return ops.quantile(x, q), ops.nanquantile(x, q), ops.cov(x[None]), x.var(ddof=4), mint.std(x[:0])


@program(calls=[(T([0.0, 0.0, 1.0]), T([0.0, -0.0, 2.0])), (T([0.0, 2.0]), T([-1.0, 0.0]))], grad=(0, 1))
def gradients_where_formulas_divide_by_zero(x, y):
    return ops.atan2(x, y) + x**y + ops.elu(y * 20) + ops.amax(x * 0)


@program(calls=[(T([0.0, INF, NAN]),), (T([-INF, NAN], ms.float16),)], grad=0)
def gradients_of_the_power_that_is_one(x):
    return x**0, x ** T(0.0, x.dtype)


@program(calls=[(T([1, 200], ms.uint8), n) for n in (3, -3, 300, 2**40, 3, -3)])
def quotients_by_numbers_beyond_the_dtype(x, n):
    return x / n, n / x, ops.atan2(x, n), mint.div(x, n), x / 2**70, ops.xlogy(x, 300)
