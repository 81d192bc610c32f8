"""One round of each kind of stress; `scripts/stress` is the long form."""

import os
import signal
import subprocess
import sys

import pytest

from tests.stress.__main__ import KINDS, ROOT, run_kind

SETTLED = ("full", "stacks")
"""Kinds whose rounds do the same each time. In the others threads meet, and signals come, as it happens."""


@pytest.mark.parametrize("kind", [k if k in SETTLED else pytest.param(k, marks=pytest.mark.timed) for k in KINDS])
def test_nothing_is_found(kind):
    assert run_kind(kind, seed=1000, rounds=1) == []


PARENT = """
import sys
from tests.children import start
start([sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(400)"]).wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs the death signal of parents")
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_children_end_with_a_parent_that_is_killed(ending):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        parent.send_signal(ending)
        assert parent.communicate(timeout=240)[0] == "", "the pipe closes when the child is gone, too"
