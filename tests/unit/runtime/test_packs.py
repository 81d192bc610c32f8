"""Kernels are compiled together, once, and found again by later processes."""

from __future__ import annotations

import json

import pytest

from duograph.base.config import configure
from duograph.base.failures import failure_counts
from duograph.lower.target import current_target
from duograph.runtime.kernels import packs
from duograph.runtime.kernels.packs import Pack
from duograph.runtime.machine import diskcache
from tests.unit.runtime.processes import SECONDS, python

TARGET = current_target()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path):
    with configure(cache_dir=str(tmp_path)):
        yield


def names(found):
    return sorted(name for pack in found for name in pack.names)


def test_a_pack_is_found_by_all_its_symbols_and_by_each_of_them():
    packs.keep(Pack(("a", "b"), ("c",), [b"code", b"more"]), TARGET)
    (whole,) = packs.find(["b", "a"], TARGET, is_known={"c"}.__contains__)
    assert (whole.names, whole.imports, whole.objects) == (("a", "b"), ("c",), [b"code", b"more"])
    assert names(packs.find(["b"], TARGET, is_known={"c"}.__contains__)) == ["a", "b"]
    assert packs.find(["d"], TARGET) == []


def test_what_a_pack_imports_is_found_with_it():
    packs.keep(Pack(("a",), ("b",), [b"1"]), TARGET)
    packs.keep(Pack(("b", "c"), (), [b"2"]), TARGET)
    assert names(packs.find(["a"], TARGET)) == ["a", "b", "c"]
    assert names(packs.find(["a"], TARGET, is_known={"b"}.__contains__)) == ["a"]


def test_programs_that_overlap_share_packs():
    packs.keep(Pack(("a", "b"), (), [b"1"]), TARGET)
    packs.keep(Pack(("c",), (), [b"2"]), TARGET)
    assert names(packs.find(["a", "c", "new"], TARGET)) == ["a", "b", "c"]


def test_a_damaged_pack_is_a_miss(tmp_path, answering):
    packs.keep(Pack(("a",), (), [b"code"]), TARGET)
    (file,) = tmp_path.glob("*.o")
    file.write_bytes(file.read_bytes()[:-1])
    assert packs.find(["a"], TARGET) == []
    assert not failure_counts()
    diskcache.store(file.stem, b"P\xff\xff")  # whole, and no pack: that is ours
    assert packs.find(["a"], TARGET) == [] and list(failure_counts()) == ["the code cache"]


def test_without_a_cache_there_are_no_packs():
    with configure(compiler_cache=False):
        packs.keep(Pack(("a",), (), [b"code"]), TARGET)
        assert packs.find(["a"], TARGET) == []


SETUP = """
import hashlib, json
import numpy as np
import duograph as ms
from duograph import nn, ops
from duograph.runtime.kernels import kernels
from duograph.runtime.machine import code

def report(**results):
    digest = {name: hashlib.sha256(np.asarray(value).tobytes()).hexdigest() for name, value in results.items()}
    compiled = code.statistics()["compiled"]
    print(json.dumps({"compiled": compiled, "functions": sorted([*kernels._provided, *kernels._code]), "bits": digest}))

class Layer(nn.Cell):
    def __init__(self, seed):
        super().__init__()
        rng = np.random.default_rng(seed)
        self.dense = nn.Dense(8, 8, weight_init=ms.Tensor(rng.standard_normal((8, 8)).astype(np.float32)))
        self.norm = nn.LayerNorm((8,))
    def construct(self, x):
        return x + self.norm(ops.gelu(self.dense(x)))

def trained(n_layers):
    net = nn.SequentialCell([Layer(seed) for seed in range(n_layers)])
    net.set_train()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    gradients = ms.value_and_grad(lambda x: net(x).mean(), None, optimizer.parameters)
    @ms.jit
    def step(x):
        loss, grads = gradients(x)
        optimizer(grads)
        return loss
    x = ms.Tensor(np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8))
    return [float(step(x)) for _ in range(3)]
"""


def run(program, cache):
    return json.loads(python(SETUP + program, DUOGRAPH_CACHE_DIR=str(cache)))


@pytest.mark.timeout(2 * SECONDS + 60)
def test_a_second_process_compiles_nothing_and_gives_the_same_bits(tmp_path):
    first, second = (run("report(losses=trained(2))", tmp_path) for _ in range(2))
    assert first["compiled"] > 0
    assert second["compiled"] == 0
    assert first["bits"] == second["bits"]


@pytest.mark.timeout(2 * SECONDS + 60)
def test_equal_layers_share_their_kernels(tmp_path):
    """With three layers more, only the program itself is new."""
    three = run("report(losses=trained(3))", tmp_path)
    six = run("report(losses=trained(6))", tmp_path)
    (new,) = set(six["functions"]) - set(three["functions"])
    assert new.startswith("k_step")
    assert six["compiled"] == 1


LOOPS = """
@ms.jit
def counted(x, n):
    for i in range(n):
        x = ops.tanh(x) * 0.5 + i
    return x

@ms.jit
def conditional(x, n):
    i = ms.Tensor(0)
    while i < n:
        x = ops.tanh(x) * 0.5 + i
        i = i + 1
    return x

x = ms.Tensor(np.ones(5, np.float32))
report(counted=counted(x, TIMES).asnumpy(), conditional=conditional(x, ms.Tensor(TIMES)).asnumpy())
"""


@pytest.mark.timeout(2 * SECONDS + 60)
def test_what_is_compiled_does_not_depend_on_the_number_of_iterations(tmp_path):
    few, many = (run(LOOPS.replace("TIMES", str(times)), tmp_path / str(times)) for times in (100, 400))
    assert len(few["functions"]) == len(many["functions"])
    assert few["compiled"] == many["compiled"]
