"""Random programs give the same in every mode; most are captured as a whole. `scripts/fuzz programs` runs many more."""

from __future__ import annotations

import pytest

from tests.fuzz.farm import modes_of
from tests.fuzz.observe import check
from tests.fuzz.writer import generate

FIRST, COUNT = 9000, 36
captured: list[bool] = []


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_programs(seed):
    """``jit`` and, by turns, one of the other modes."""
    source = generate(seed)
    found, runs = check(source, modes_of(seed, "turns"))
    assert found is None, f"{found}\n{source}"
    captured.append(runs["jit"].captured)


def test_most_programs_are_captured():
    """Of those that were run here (all, or what was asked for)."""
    assert sum(captured) >= 0.75 * len(captured) - 1
