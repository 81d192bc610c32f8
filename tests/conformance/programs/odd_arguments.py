"""Empty, infinite and far too large arguments of operations (``scripts/fuzz`` and sweeps over all public functions)."""

import duograph as ms
from duograph import mint, ops
from tests.conformance.harness import T, program


def _written_where_nothing_is(x):
    m = x + 0
    m[0:3:-1] *= 3
    n = x * 1
    n[0:0] = n[0:0] * 3
    return (m * -0.0).sum() + (n * -0.0).sum()


@program(T([-0.1, -1.8, -0.0]), grad=0)
def gradient_through_a_write_to_an_empty_slice(x):
    return ms.grad(_written_where_nothing_is)(x) + (x * x).sum()


@program(T([-0.1, -1.8, -0.0]))
def sign_of_a_zero_after_a_write_to_an_empty_slice(x):
    return 1 / ms.grad(_written_where_nothing_is)(x)


NONE = T([])


@program(
    calls=[
        (T([1.0]), T([[0]]), NONE),
        (T([1.0]), T([0]), T([1.0, 2.0])),
        (T([1.0]), NONE.astype(ms.int64), NONE),
        (T([1.0, 2.0]), T([True, False]), T([3.0])),
        (T([1.0, 2.0]), T([True, False, True]), T([3.0])),
    ],
    captured=False,
)
def put_of_more_or_fewer_values_than_places_error(x, i, value):
    return x.index_put([i], value, accumulate=True)


@program(T([1.0]), NONE)
def put_of_no_values_everywhere_error(x, value):
    return x.index_put((), value, accumulate=True)


INF = float("inf")
ENDLESS = T([[-0.25, 0.75, 1.0], [-0.25, 0.5, 1.0], [-INF, -1.0, 0.25], [1.25, -INF, -0.25]], ms.float64)  # for LAPACK


@program(calls=[(ENDLESS,), (T([[1.0, float("nan")]]),), (T([[1.0, 2.0]]),)], captured=False)
def singular_values_of_what_is_not_finite_error(x):
    return ops.svd(x)[0], ops.svd(x, compute_uv=False)


UNKNOWN = T([[float("nan"), 1.0], [1.0, INF]])


@program(calls=[(UNKNOWN, T([[1.0, 2.0], [3.0, 4.0]]), beta) for beta in (0, 0.0, 1, 2, 0.5, 0, 3.0)], grad=1)
def what_zero_multiplies_is_ignored(x, y, beta):
    in_place = (x * 1).addmm_(y, y, beta=beta) if beta == 0 else y
    return mint.addmm(x, y, y, beta=beta), mint.baddbmm(x[None], y[None], y[None], beta=beta, alpha=2), in_place


HALF_KNOWN = T([[[float("nan"), 1.0], [1.0, 1.0]], [[2.0, 0.0], [0.0, 4.0]]], ms.float64)


@program(calls=[(HALF_KNOWN,), (T([[1.0, 2.0], [3.0, 4.0]]),)], grad=0)
def matrices_that_hold_nan(x):
    return ops.det(x), ops.slogdet(x), ops.inverse(x), ops.matrix_power(x, -1)


@program(calls=[(T([[1.0, 2.0], [2.0, 4.0]], ms.float64),), (T([[1.0] * 3] * 3, ms.float64),)])
def curvature_of_determinants_of_singular_matrices(x):
    return ms.grad(lambda x: (ms.grad(ops.det)(x) ** 2).sum())(x)


@program(calls=[(T([[[[1.0, 2.0], [3.0, 4.0]]]]), n) for n in (2, 2**40)], captured=False)
def pictures_larger_than_memory_error(x, n):
    return ops.adaptive_avg_pool2d(x, n)


@program(calls=[(T([90.5, 400.0]), n) for n in (1, 3, 100, 2**40)], captured=False)
def more_terms_than_memory_error(x, p):
    return ops.mvlgamma(x, p)


@program(calls=[(T([[1.0, 4.0, 9.0]]), n) for n in (1, 3, 2**40)], captured=False)
def differences_until_nothing_is_left(x, n):
    return mint.diff(x, n), x.diff(n)


@program(T([]), T([[], []]), T([INF, INF, 2.0, 0.0, INF]), T([1.0, INF, INF, INF, 0.0]))
def sums_of_nothing_and_limits_at_infinity(x, y, a, b):
    return ops.logsumexp(x, 0), ops.logsumexp(y, 1), ops.igamma(a, b), ops.igammac(a, b)


@program(calls=[(T([1, 2], ms.int8), k) for k in (300, -300, 1, 5)])
def bounds_that_the_dtype_lacks(x, k):
    return ms.numpy.maximum(x, k), ms.numpy.minimum(k, x)


@program(calls=[(T([[1.0, 2.0], [2.0, 4.0]]),), (T([[2.0, 0.0], [0.0, 2.0]]),), (T([[0.0, 0.0], [0.0, 0.0]]),)])
def determinant_and_inverse_of_special_matrices(x):
    return ms.grad(ops.det)(x), ms.grad(lambda a: ops.pinv(a).sum())(x), ops.pinv(x).sum() + ops.det(x)


@program(calls=[(T([1.0, 2.0]), k) for k in range(8)], captured=False, build=True)
def slice_of_what_an_iterator_from_outside_gives():
    given = [iter(range(k % 3)) for k in range(8)]

    def f(x, k):
        held = [1, 2, 3]
        held[1:2] = given[k]
        return x * len(held), held, list(given[k])

    return f
