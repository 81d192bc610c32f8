"""A few seconds of each kind of stress; `scripts/stress` is the long form."""

import os
import signal
import subprocess
import sys

import pytest

from tests.stress.__main__ import KINDS, ROOT, run_kind


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_found(kind):
    assert run_kind(kind, seconds=3, seed=1000) == []


PARENT = """
import sys
from tests.children import start
start([sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(60)"]).wait()
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
        assert parent.communicate(timeout=30)[0] == "", "the pipe closes when the child is gone, too"
