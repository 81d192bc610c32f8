"""Random graphs as machine code: `scripts/fuzz graphs` runs more of them."""

from __future__ import annotations

import pytest

from tests.properties.native_graphs import Generator, check


@pytest.mark.parametrize("seed", range(40))
def test_machine_code_equals_its_oracles(seed):
    check(seed)


def test_generation_is_reproducible():
    assert Generator(5).graph().nodes[-1].op is Generator(5).graph().nodes[-1].op
