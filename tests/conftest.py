"""Settings for all tests: property tests try the same examples in every run, so that a run can be repeated.

Internal failures raise, whatever test they happen in (`duograph.base.failures`).

`pytest --hypothesis-profile=search` tries new ones; `scripts/fuzz` searches for longer.
"""

import gc
import os

os.environ.setdefault("DUOGRAPH_FAILURES", "raise")  # before the package is loaded; other processes inherit it

import warnings  # noqa: E402
from collections.abc import Iterator  # noqa: E402

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from duograph.jit import entry, shared  # noqa: E402

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


@pytest.fixture(autouse=True)
def versions_of_its_own() -> None:
    """A test that is run for several parameters compiles its inner functions each time: what another one has compiled
    for the same code (`jit.shared`) serves nobody here."""
    shared.forget()


@pytest.fixture(autouse=True, scope="module")
def what_other_files_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Out of the sight of the collector, in files that call it: after thousands of tests (compiled functions, examples
    of hypothesis) one full collection takes a second, and tests of what is given back make hundreds. In other files it
    would cost: the collector judges by what it sees how often all of it is looked through."""
    calls_it = hasattr(request.module, "gc") or hasattr(request.module, "growth")
    if calls_it:
        gc.collect()
        gc.freeze()
    yield
    if calls_it:
        gc.unfreeze()
