"""Ctrl-C to a whole process at a random moment, from the import on: it ends as Python does, never by a fault."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import Any

from tests.children import start

from .found import found

ENDLESS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
import itertools, sys
import numpy as np
import duograph as ms
from tests.stress.workload import program
r = np.random.default_rng({seed})
for number in itertools.count({seed}):
    p = program(number)
    compiled = ms.jit(p.function)
    for _ in range(4):
        compiled(*p.arguments(r))
"""


def work(r: Any) -> None:
    """One round."""
    for _ in range(2):
        program = ENDLESS.format(seed=int(r.integers(10_000)))
        command = [sys.executable, "-X", "faulthandler", "-c", program]
        process = start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(float(r.uniform(0.2, 2.5)))
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=100)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)
            _, err = process.communicate()
            if "Exception ignored in" in err and "\nKeyboardInterrupt" in err:
                continue  # it came while Python dropped an object, where Python cannot raise it: nobody hears it
            found(f"Ctrl-C was not heard within 100 seconds: {err[-3000:]}")
            continue
        if process.returncode == 1 and "KeyboardInterrupt" in err and "Error calling __set_name__" in err:
            continue  # what is raised while a class is made is another error up to 3.11
        if process.returncode != -signal.SIGINT or "KeyboardInterrupt" not in err:
            found(f"Ctrl-C ended a process with {process.returncode}: {err[-3000:]}")
