"""Variables of a cut function that functions and classes made in it declare: they are the skeleton's own.

`time.sleep(0)` stands for whatever has effects that nobody knows.
"""

import time

from tests.conformance.harness import T, program

X = T([1.0, 2.0, 3.0])
CALLS = [(X, 0), (X, 1), (X, 2), (T([-1.0, -2.0, -3.0]), 0)]


@program(calls=CALLS, captured=False)
def declared_nonlocal_and_never_named(x, k):
    """Found by fuzzing: the segment with the function had no such variable."""
    y, unused = x * 2 + x.mean() - 1, 0
    time.sleep(0)
    if k:

        def made():
            nonlocal unused
            return x * 3

        y = made() * y + x.mean()
    return y * k + x


@program(calls=CALLS, captured=False)
def declared_nonlocal_two_functions_deep(x, k):
    y, unused = x * 2 + x.mean() - 1, 0
    time.sleep(0)
    if k:

        def outer():
            def inner():
                nonlocal unused
                unused = 1
                return x * k

            return inner()

        y = outer() * y + x.mean()
    time.sleep(0)
    return y * k + x, unused


@program(calls=CALLS, captured=False)
def declared_nonlocal_by_a_class(x, k):
    y = x * 2 + x.mean() - 1
    time.sleep(0)
    y = y * k + x.mean() - 1

    class Counted:
        nonlocal k
        k = k + 5
        gain = k

    y = y * k + x.mean() * Counted.gain
    time.sleep(0)
    return x * k + y * 2
