"""The documents here are literate tests; see `tests/mdtest/runner.py`."""

from tests.mdtest.conftest import pytest_collect_file as pytest_collect_file
