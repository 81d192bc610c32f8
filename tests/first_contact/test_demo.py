"""The first command of the README: it shows compiled steps, and fails if one is not compiled."""

from __future__ import annotations

import re

import pytest

from .counts import child

STEP = re.compile(r"^(jit|graph) step (compiled|NOT COMPILED as a whole): (.*)$", re.MULTILINE)
WHOLE = "1 version(s), 0 break(s), 0 fallback(s), 0 recompilation(s), {0} of {0} steps"


def test_both_networks_are_trained_by_compiled_steps():
    done = child("-m", "duograph", "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    mlp, cnn = WHOLE.format(220), WHOLE.format(132)
    assert STEP.findall(done.stdout) == [
        ("jit", "compiled", mlp), ("graph", "compiled", mlp), ("jit", "compiled", cnn), ("graph", "compiled", cnn),
    ]  # fmt: skip
    assert done.stdout.count("the same bits in all modes") == 2


PLANT = """
import time
import duograph as ms
from duograph.demo import digits

class Watched(ms.nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x):
        {statement}
        return self.net(x)

mlp, epochs = digits.NETWORKS["mlp"]
digits.NETWORKS["mlp"] = (lambda: Watched(mlp()), epochs)
raise SystemExit(digits.main(["--network", "mlp", "--epochs", "1"]))
"""


def test_a_step_that_calls_what_nobody_knows_fails_the_demo():
    done = child("-c", PLANT.format(statement="time.sleep(0)"))
    assert done.returncode == 1, done.stdout + done.stderr
    steps = STEP.findall(done.stdout)
    assert [(mode, verdict) for mode, verdict, _ in steps] == [
        ("jit", "NOT COMPILED as a whole"), ("graph", "NOT COMPILED as a whole"),
    ]  # fmt: skip
    assert all("a call of time.sleep, which is not known to be free of effects" in counts for _, _, counts in steps)


def test_without_the_plant_it_does_not_fail():
    done = child("-c", PLANT.format(statement="pass"))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("network", ["mlp", "cnn"])
def test_a_step_that_nothing_compiles_fails_the_demo(network):
    done = child("-m", "duograph", "demo", "--network", network, "--epochs", "1", MS_JIT="0")
    assert done.returncode == 1, done.stdout + done.stderr
    assert ("jit", "NOT COMPILED as a whole", WHOLE.format(22).replace("1", "0", 1).replace("22", "0", 1)) in (
        STEP.findall(done.stdout)
    )
