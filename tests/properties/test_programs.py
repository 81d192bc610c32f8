"""Random programs give the same in every mode; most are captured as a whole."""

from __future__ import annotations

import pytest

from tests.properties.differ import difference
from tests.properties.programs import HEADER, generate


@pytest.mark.parametrize("seed", range(24))
def test_programs(seed):
    check(seed, numeric=False)


@pytest.mark.parametrize("seed", range(100, 106))
def test_programs_with_gradients(seed):
    check(seed, numeric=True)


def check(seed: int, numeric: bool) -> None:
    """Compares two modes with eager: those that differ most, and one of the others by turns."""
    source = generate(seed, numeric)
    other = ("graph", "jit-O0", "interpreter", "bytecode")[seed % 4]
    part, expected, actual, _ = difference(source, seed, ("jit", other))
    assert not part, f"{part}\n{expected}\n{actual}\n{source.removeprefix(HEADER)}"


def test_generation_is_reproducible():
    assert generate(7) == generate(7) != generate(8)
