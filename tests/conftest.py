"""Settings for all tests: property tests try the same examples in every run, so that a run can be repeated.

Internal failures raise, whatever test they happen in (`duograph.base.failures`).

`pytest --hypothesis-profile=search` tries new ones; `scripts/fuzz` searches for longer.
"""

import os

os.environ.setdefault("DUOGRAPH_FAILURES", "raise")  # before the package is loaded; other processes inherit it

import warnings  # noqa: E402
from collections.abc import Iterator  # noqa: E402

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from duograph.jit import entry  # noqa: E402

entry.FEWEST = 0  # small functions are compiled under tapes, too: tests of that are small

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile("repeatable")


@pytest.fixture
def answering() -> Iterator[list[warnings.WarningMessage]]:
    """The policy that users have: internal failures are answered by the reference. Gives the warnings."""
    from duograph.base.config import set_config
    from duograph.base.failures import forget_failures

    set_config(failures="answer")
    forget_failures()
    try:
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            yield given
    finally:
        set_config(failures="raise")
        forget_failures()
