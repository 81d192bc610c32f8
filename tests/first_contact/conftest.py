"""What users meet has the settings that users have (`tests/conftest.py` has others)."""

from __future__ import annotations

import pytest

from duograph.jit import policy


@pytest.fixture(autouse=True)
def small_functions_run_op_by_op_under_tapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "FEWEST", 5)
