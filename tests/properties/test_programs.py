"""Random programs give the same in every mode; most are captured as a whole. `scripts/fuzz programs` runs many more."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from tests.fuzz import observe
from tests.fuzz.farm import modes_of
from tests.fuzz.writer import generate

FIRST, COUNT = 9036, 36


@pytest.fixture(scope="module", autouse=True)
def _time_is_no_finding() -> Iterator[None]:
    """Here only what has no end is stopped; `scripts/fuzz` says what takes long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observe, "SLOW", 200.0)
        patch.setattr(observe, "STOP", 200.0)
        yield


source_of = functools.cache(generate)


@functools.cache
def checked(seed: int) -> tuple[observe.Finding | None, dict[str, observe.Run]]:
    """``jit`` and, by turns, one of the other modes; for whichever test asks first."""
    return observe.check(source_of(seed), modes_of(seed, "turns"))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_programs(seed):
    found, _ = checked(seed)
    assert found is None, f"{found}\n{source_of(seed)}"


def test_most_programs_are_captured():
    """But for those that call something foreign."""
    captured = []
    for seed in range(FIRST, FIRST + COUNT):
        body = source_of(seed).split("def f(")[1]
        if "time.sleep(0)" not in body and "opaque(" not in body:
            captured.append(checked(seed)[1]["jit"].captured)
    assert sum(captured) >= 0.5 * len(captured)  # 60 % of many more are
