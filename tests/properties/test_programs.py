"""Random programs give the same in every mode; most are captured as a whole. `scripts/fuzz programs` runs many more."""

from __future__ import annotations

import pytest

from tests.fuzz.farm import modes_of
from tests.fuzz.observe import check
from tests.fuzz.writer import generate

FIRST, COUNT = 9000, 36


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_programs(seed):
    """``jit`` and, by turns, one of the other modes."""
    source = generate(seed)
    found, _ = check(source, modes_of(seed, "turns"))
    assert found is None, f"{found}\n{source}"


def test_most_programs_are_captured():
    """But for those that call something foreign."""
    captured = []
    for source in map(generate, range(FIRST, FIRST + COUNT)):
        body = source.split("def f(")[1]
        if "time.time()" not in body and "opaque(" not in body:
            captured.append(check(source, ["jit"])[1]["jit"].captured)
    assert sum(captured) >= 0.75 * len(captured) - 1
