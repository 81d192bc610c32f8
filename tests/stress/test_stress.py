"""A few seconds of each kind of stress; `scripts/stress` is the long form."""

import pytest

from tests.stress.__main__ import KINDS, run_kind


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_found(kind):
    assert run_kind(kind, seconds=3, seed=1000) == []
