"""Programs about odd operands and attributes, which a sweep over all operators found to differ between modes."""

import numpy as np

import duograph as ms
from duograph import mint, ops
from tests.conformance.harness import T, program

X = T([1.0, -2.0, 3.0])


@program(calls=[(X, np.int64(1)), (X, np.int64(-1)), (X, 2.5), (X, 1), (X, None)], captured=False)
def sizes_and_places_that_are_numbers_of_numpy_or_none_at_all_error(x, k):
    return mint.roll(x, k, 0), ops.diag(x[:2]), mint.diag_embed(x, k)


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
