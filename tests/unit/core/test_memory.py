"""Results for which there is no memory: in compiled code, too, and where nobody reads them."""

from __future__ import annotations

import sys

import pytest

from tests.seeds.conftest import run_python

PROGRAM = """
import os, resource
import duograph as ms
from duograph import ops


@ms.jit
def unused(x, n):
    ops.zeros((n,), ms.float32)
    return x * 2


x = ms.Tensor([1.0])
print(unused(x, 8).tolist())
# Half of what it will ask for, besides what threads and libraries have, which is more with more cores.
statm = "/proc/self/statm"
pages = int(open(statm).read().split()[0]) if os.path.exists(statm) else 0
limit = pages * resource.getpagesize() + (3 << 30)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    unused(x, (6 << 30) // 4)
except MemoryError as error:
    print("MemoryError", unused.explain().fallbacks[0])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such limits")
def test_the_limit_of_the_process_counts():
    done = run_python("-c", PROGRAM).stdout
    assert done.splitlines()[0] == "[2.0]"
    assert "MemoryError there is no memory for 6 GiB, the result of 'full'" in done
