"""Functions that look at who has called them find what they would find without the decorator."""

from __future__ import annotations

import inspect
import sys

import pytest

import duograph as ms
from duograph import Tensor
from duograph.jit.frames import REASON


def module_of_caller():
    return sys._getframe(1).f_globals["__name__"], sys._getframe(1).f_code.co_name


def own_and_caller():
    return [found.function for found in inspect.stack()[:2]]


def caller(n):
    frame = inspect.currentframe()
    return frame.f_back.f_code.co_name if n == 0 else (caller(n - 1), frame.f_lineno)


def raises(x):
    raise ValueError(sys._getframe().f_code.co_name)


class Level:
    @ms.jit
    def name(self, level=1):
        return sys._getframe(level).f_code.co_name, self


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize(("fn", "args"), [(module_of_caller, ()), (own_and_caller, ()), (caller, (0,)), (caller, (2,))])
def test_the_caller_is_the_caller(fn, args, mode):
    compiled = ms.jit(fn, capture_mode=mode)
    for _ in range(3):
        assert compiled(*args) == fn(*args)
    (fallback,) = compiled.explain().fallbacks
    assert (fallback.reason, fallback.hits) == (REASON, 3)


def test_methods():
    level = Level()
    assert level.name() == ("test_methods", level)
    assert Level.name(level) == ("test_methods", level)
    assert Level.name.explain().fallbacks and level.name.explain().fallbacks


def test_tracebacks_have_the_frames_of_the_program_alone():
    with pytest.raises(ValueError, match="raises") as told:
        ms.jit(raises)(Tensor([1.0]))
    assert [one.name for one in told.traceback] == ["test_tracebacks_have_the_frames_of_the_program_alone", "raises"]


def test_a_captured_program_that_calls_one_is_cut():
    reads = ms.jit(module_of_caller)

    def f(x):
        y = (x * 2).tanh() * x
        name = reads()[0]
        return (y * y + x).sum(), name

    compiled, x = ms.jit(f), Tensor([1.0, 2.0])
    for _ in range(3):
        assert compiled(x)[0].tolist() == f(x)[0].tolist()
        assert compiled(x)[1] == __name__


def test_fullgraph_is_an_error():
    with pytest.raises(RuntimeError, match="_getframe"):
        ms.jit(raises, fullgraph=True)(Tensor([1.0]))
