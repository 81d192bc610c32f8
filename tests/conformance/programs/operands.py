"""Programs about odd operands and attributes, which a sweep over all operators found to differ between modes."""

import numpy as np

import duograph as ms
from duograph import mint, ops
from tests.conformance.harness import T, program

X = T([1.0, -2.0, 3.0])


@program(calls=[(X, np.int64(1)), (X, np.int64(-1)), (X, 2.5), (X, 1), (X, None)], captured=False)
def sizes_and_places_that_are_numbers_of_numpy_or_none_at_all_error(x, k):
    return mint.roll(x, k, 0), ops.diag(x[:2]), mint.diag_embed(x, k)


@program(calls=[(T(3.0), 1), (T(3.0), 0), (T(3.0), 1)])
def a_scalar_that_is_rolled(x, n):
    return mint.roll(x, n, -1), ops.roll(x, n, 0), ops.roll(x, n)


@program(calls=[(X, 2), (X, -1), (X, 0), (X, 2)], captured=False)
def sizes_that_become_negative_error(x, n):
    return ops.tile(x, (n,)), mint.normal(size=(n, 2)).shape


@program(calls=[(T([1, 2, 3], ms.uint8), 1.0), (T([1, 2, 3], ms.uint8), float("nan"))], captured=False)
def a_float_that_no_integer_is(x, s):
    return mint.nn.functional.threshold(x, 1, s)


@program(calls=[(T([1.0]),), (X,), (T([2.0, 2.0]),)], captured=False)
def runs_of_equal_elements_of_which_nobody_asks(x):
    mint.unique_consecutive(x)
    return x + 1


@program(calls=[(T([0.5, -0.0], ms.float16),), (T(2.0, ms.float16),)])
def functions_that_half_precision_has_no_instructions_for(x):
    return ops.bessel_i1(x), ops.bessel_i1e(x)


_SMALL = (
    T([0, 1, 200, 255], ms.uint8),
    T([-128, -1, 127], ms.int8),
    T([0, 2**63, 2**64 - 1], ms.uint64),
    T([-(2**63), 44]),
)


@program(calls=[(x, n) for x in _SMALL for n in (44, -1, 300, -300, 2**40, -(2**63), 44, 300)])
def comparisons_with_numbers_beyond_the_dtype(x, n):
    return x < n, n <= x, x > n, n >= x, x == n, x != n


@program(calls=[(x, n) for x in _SMALL for n in (44, -1, 300, -300, 2**40, 44, 300)])
def limits_beyond_the_dtype(x, n):
    return ops.clamp(x, n, 300), ops.clamp(x, -1, n), ops.maximum(x, n), ops.fmin(n, x), ops.clip_by_value(x, n)


@program(calls=[(x,) for x in _SMALL])
def comparisons_with_numbers_beyond_every_dtype(x):
    return x < 2**70, x > -(2**70), x == 2**64, ops.not_equal(x, -(2**65)), ops.clamp(x, -(2**70), 2**70)
