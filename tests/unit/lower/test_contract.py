"""Contraction: sums of products become fused multiply-adds, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.lower.contract import contracted
from duograph.lower.loop import Builder
from duograph.lower.loop.interpret import interpret
from duograph.lower.loop.verify import verify


def kernel(write):
    """A function of x, y, z over 16 lanes."""
    b = Builder("f")
    x, y, z, out = (b.buffer(n, "f32") for n in ("x", "y", "z", "out"))
    b.store(out, 0, write(*[b.load(v, 0, 16) for v in (x, y, z)]))
    return b.finish()


@pytest.mark.parametrize(
    ("write", "exact"),
    [
        (lambda x, y, z: x * y + z, lambda x, y, z: x * y + z),
        (lambda x, y, z: z + x * y, lambda x, y, z: x * y + z),
        (lambda x, y, z: x * y - z, lambda x, y, z: x * y - z),
        (lambda x, y, z: z - x * y, lambda x, y, z: z - x * y),
    ],
)
def test_one_rounding(write, exact):
    f = verify(contracted(kernel(write)))
    assert "fma" in f.text and "mul" not in f.text
    rng = np.random.default_rng(0)
    x, y, z, out = (rng.standard_normal(16).astype(np.float32) for _ in range(4))
    interpret(f, [x, y, z, out])
    assert (out == exact(*[v.astype(np.float64) for v in (x, y, z)]).astype(np.float32)).all()


def test_a_product_that_is_used_twice_stays():
    def write(x, y, z):
        p = x * y
        return p * (p + z)

    assert "fma" not in contracted(kernel(write)).text


def test_the_original_is_not_changed():
    f = kernel(lambda x, y, z: x * y + z)
    before = f.text
    contracted(f)
    f._text = None
    assert f.text == before
