"""Settings for all tests: property tests try the same examples in every run, so that a run can be repeated.

Internal failures raise, whatever test they happen in (`duograph.base.failures`).

`pytest --hypothesis-profile=search` tries new ones; `scripts/fuzz` searches for longer.
"""

import atexit
import gc
import os

# Before the package is loaded; child processes inherit it.
os.environ.setdefault("DUOGRAPH_FAILURES", "raise")
os.environ.setdefault("DUOGRAPH_CAPTURE_SECONDS", "60")  # a busy machine must not decide what is captured
os.environ.setdefault("DUOGRAPH_COMPARE", "0")  # nor whether it runs: what is compiled is tested

import warnings  # noqa: E402
from collections.abc import Iterator  # noqa: E402

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

from duograph.jit import policy, shared, telling  # noqa: E402

policy.FEWEST = 0  # small functions are compiled under tapes, too: tests of that are small

_slow = [HealthCheck.too_slow]  # is about the machine
settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=_slow)
settings.register_profile("search", deadline=None, suppress_health_check=_slow)
settings.load_profile("repeatable")


@pytest.fixture
def answering() -> Iterator[list[warnings.WarningMessage]]:
    """The policy that users have: internal failures are answered by the reference. Gives the warnings of them; other
    warnings are errors, as everywhere."""
    from duograph.base.config import set_config
    from duograph.base.failures import InternalFailureWarning, forget_failures

    set_config(failures="answer")
    forget_failures()
    try:
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always", InternalFailureWarning)
            yield given
    finally:
        set_config(failures="raise")
        forget_failures()


@pytest.fixture(autouse=True)
def versions_of_its_own() -> None:
    """A test that is run for several parameters compiles its inner functions each time: what another one has compiled
    for the same code (`jit.shared`) serves nobody here, and warns anew."""
    shared.forget()
    telling.forget_told()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests marked ``timed`` never share the machine with other workers: only ``-n 0`` runs them."""
    if hasattr(config, "workerinput"):
        items[:] = [item for item in items if item.get_closest_marker("timed") is None]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """What earlier tests have left is out of the collector's sight: a collection in this test looks at, and runs the
    finalizers of, nothing but what this test makes."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Collects what this test has made, so that an exception of its finalizers is its own failure.

    The hook of pytest that reports such exceptions runs after this one (both are ``trylast``, that of pytest is older).
    """
    gc.collect()
    if nextitem is None or nextitem.path != item.path:
        gc.unfreeze()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Of the two collections that pytest ends with, the second finds nothing: what tests have left is hidden from it,
    and shown again to that of the interpreter's end."""
    gc.freeze()
    atexit.register(gc.unfreeze)
