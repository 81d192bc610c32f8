"""The three levels of optimisation: O0 and O1 have the bits of eager, O2 may differ in the last ones."""

from __future__ import annotations

import numpy as np

import duograph as ms
from duograph import Tensor, ops


def program(x, y, z):
    return (ops.tanh(x) * y + z) * z - x * y


def test_levels():
    rng = np.random.default_rng(0)
    args = [Tensor(rng.standard_normal(1000).astype(np.float32)) for _ in range(3)]
    eager = program(*args).asnumpy()
    exact = [ms.jit(program, jit_level=level)(*args).asnumpy() for level in ("O0", "O1")]
    assert all(made.tobytes() == eager.tobytes() for made in exact)
    relaxed = ms.jit(program, jit_level="O2")(*args).asnumpy()
    np.testing.assert_allclose(relaxed, eager, rtol=1e-4, atol=1e-6)
    assert relaxed.tobytes() != eager.tobytes()  # products were contracted
