"""Gradients of order 1 to 3 in any mixture of compiled parts: the bits of the program that is not compiled."""

from __future__ import annotations

import pytest

from .mixed_orders import MODES, check


@pytest.mark.parametrize("seed", range(32))
def test_mixed_orders(seed):
    """A few programs, each in two of the modes; `check` with many seeds finds more."""
    found = check(seed, (MODES[seed % len(MODES)], MODES[(3 * seed + 1) % len(MODES)]))
    assert found is None, found


FOUND = [(2, "jit"), (9, "jit"), (36, "jit"), (58, "graph"), (59, "graph"), (139, "jit"), (157, "graph"), (51, "jit"),
         (51, "interpreter"), (1037, "jit")]  # fmt: skip
"""Zeros where a path did not write an argument; "modified in place" for ops that had the tags of others; zeros where a
branch was recorded anew for each path; a constant and a sum as one number, written for one element only."""


@pytest.mark.parametrize(("seed", "mode"), FOUND)
def test_found(seed, mode):
    """What differed once."""
    found = check(seed, (mode,))
    assert found is None, found
