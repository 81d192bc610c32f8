"""Targets: the rows of the table, the choice of one, and code that keeps to it."""

import dataclasses
import os
import re

import numpy as np
import pytest

from duograph.base.config import configure
from duograph.core.dtype import float32
from duograph.core.op import get_op
from duograph.core.types import TensorType
from duograph.lower.target import TARGETS, current_target, host_target, target_named
from duograph.runtime.kernels.single import lower_op
from duograph.runtime.machine.code import load
from duograph.runtime.machine.llvm import compile_text
from duograph.runtime.pool.text import pool_module
from tests.unit.runtime.native import call
from tests.unit.runtime.processes import python

MULTIPLY_ADD = """
declare <8 x float> @llvm.fmuladd.v8f32(<8 x float>, <8 x float>, <8 x float>)
define i32 @multiply_add(ptr %bufs, ptr %dims) nounwind {
  %x = load ptr, ptr %bufs
  %b1 = getelementptr ptr, ptr %bufs, i64 1
  %y = load ptr, ptr %b1
  %v = load <8 x float>, ptr %x, align 4
  %w = load <8 x float>, ptr %y, align 4
  %r = call <8 x float> @llvm.fmuladd.v8f32(<8 x float> %v, <8 x float> %w, <8 x float> splat (float 1.0))
  store <8 x float> %r, ptr %x, align 4
  ret i32 0
}
"""


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_tile_fits_the_registers(target):
    """Accumulators, one row of B, and a register for an element of A."""
    for dtype, tile in target.tiles.items():
        lanes = target.lanes(np.dtype(dtype).itemsize)
        assert tile.columns % lanes == 0
        vectors = tile.columns // lanes
        assert tile.rows * vectors + vectors + 1 <= target.vector_registers


def test_the_host_is_the_default():
    assert current_target() == host_target()
    assert host_target().name in TARGETS
    assert host_target().features


def test_a_lesser_target_can_be_chosen():
    if host_target().arch != "x86-64":
        pytest.skip("x86 only")
    with configure(target="baseline"):
        target = current_target()
    assert (target.vector_bits, target.has_fma, target.cpu) == (128, False, "x86-64")


def test_a_target_the_host_cannot_run_is_refused():
    with configure(target="neon" if host_target().arch == "x86-64" else "avx2"):
        with pytest.raises(ValueError, match=rf"this machine runs {host_target().name} and less"):
            current_target()


@pytest.mark.parametrize("rule", ["map", "sum"])
def test_the_code_of_a_target_is_not_that_of_another(rule):
    """One process may compile for several: what vectors suit is decided for each."""
    if host_target().arch != "x86-64":
        pytest.skip("x86 only")
    name, attrs = {"map": ("exp", {}), "sum": ("reduce_sum", {"axis": (1,), "keep_dims": False})}[rule]

    def function():
        return lower_op(get_op(name), [TensorType(float32, (8, 1000))], attrs).calls[0].function

    with configure(target="host"):
        here = function()
    with configure(target="baseline"):
        there = function()
    with configure(target="host"):
        assert function() is here is not there


def _library_calls(object_code: bytes) -> bool:
    return b"fmaf" in object_code


def test_baseline_code_has_no_fma():
    """`llvm.fmuladd` is two instructions there; `llvm.fma` would be a library call for each lane."""
    if host_target().arch != "x86-64":
        pytest.skip("x86 only")
    with configure(target="baseline"):
        target = current_target()
        linked = load(MULTIPLY_ADD, ["multiply_add"])
    object_code = compile_text(MULTIPLY_ADD, target)
    # No VEX or EVEX prefix that begins an AVX instruction on the registers used here, no call.
    text = object_code[64 : object_code.index(b"\xc3", 64)]
    assert not re.search(rb"[\xc4\xc5\x62][\x00-\xff]{3}", text)
    assert not _library_calls(object_code)
    assert _library_calls(compile_text(MULTIPLY_ADD.replace("fmuladd", "fma"), target))
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=8).astype(np.float32) for _ in range(2))
    expected = (x * y).astype(np.float32) + np.float32(1)
    assert call(linked, "multiply_add", [x, y], [0]) == 0
    np.testing.assert_array_equal(x, expected)


def test_every_row_compiles_the_pool():
    """Also for the other architecture: machine code is made, if not run."""
    for target in TARGETS.values():
        for threaded in (True, False):
            module, functions = pool_module(target, threaded)
            assert compile_text(module.text(functions), target)


def test_names_and_keys():
    assert target_named("avx2") is target_named("x86-64-avx2")
    one = target_named("avx2")
    assert one.key != dataclasses.replace(one, features="-f16c").key


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_waits_for_who_asks_llvm_about_the_processor():
    """llvmlite holds a lock of its own meanwhile, which nobody would give back in the child."""
    program = """
        import os, threading, time, types, warnings
        from duograph.lower import target

        warnings.simplefilter("ignore", DeprecationWarning)  # 3.12: of a fork beside a thread that is just ending
        asked, answered = threading.Event(), []

        def features():
            asked.set()
            time.sleep(0.3)
            answered.append(1)
            return Features()

        binding = types.SimpleNamespace(get_host_cpu_features=features, get_host_cpu_name=str)
        target.import_whole = lambda name: binding

        class Features(dict):
            def flatten(self):
                return ""

        threading.Thread(target=target.host_target).start()
        asked.wait()
        child = os.fork()
        if child == 0:
            os._exit(len(answered))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert python(program) == "1\n"
