"""Programs that random testing (``scripts/fuzz``) found to differ between modes; made small, then fixed."""

import duograph as ms
from duograph import ops
from tests.conformance.harness import T, program

X, P = T([1.0, -2.0, 3.0]), T([1.0, 2.0])


@program(X, [T([1.0]), T([-1.0])])
def effects_after_paths_that_join_late(x, xs):
    n = len([a for a in xs if a.sum() > 0])
    print((x > 0).sum())
    return x * n


def _asserting(x, y):
    assert x.max() > -1, "p"
    return (y * y).mean() + x.sum()


@program(P, X)
def gradient_of_a_function_with_an_assert(x, y):
    return ms.grad(_asserting, (0, 1))(x, y)
