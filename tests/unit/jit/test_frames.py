"""Functions that look at who has called them find what they would find without the decorator."""

from __future__ import annotations

import inspect
import sys
import time
import traceback

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


def raises_in_a_segment(x):
    y = (x * 2).tanh() + x.mean()
    time.sleep(0)
    z = y * x + 1
    if z.sum() > 2:
        raise ValueError(x.shape)
    return z - y


def is_caught_between_segments(x, said):
    try:
        time.sleep(0)
        z = (x * 2).tanh() + x.mean()
        if z.sum() > 2:
            raise ValueError(x.shape)
        time.sleep(0)
    except ValueError as error:
        said(error)
        z = x * 3 - x.mean()
        raise error
    return z


class Leaving:
    def __init__(self, said):
        self.said = said

    def __enter__(self):
        return 2

    def __exit__(self, kind, error, trace):
        self.said(error)


def leaves_a_block(x, said):
    with Leaving(said) as k:
        time.sleep(0)
        z = (x * k).tanh() + x.mean()
        return z + raises_in_a_segment(z * x)


def recursive(x, n):
    y = (x * 2).tanh() + x.mean()
    time.sleep(0)
    if n == 0:
        return raises_in_a_segment(y * x)
    return recursive(x, n - 1) + y * x - n


def lines(error):
    """The frames of this file, but for the one that caught the error."""
    found = [(one.name, one.lineno) for one in traceback.extract_tb(error.__traceback__) if one.filename == __file__]
    return [one for one in found if one[0] != "lines_of_call"]


def lines_of_call(fn, args):
    told = []
    if "said" in inspect.signature(fn).parameters:
        args = (*args, lambda error: told.append(lines(error)))
    try:
        fn(*args)
    except ValueError as error:
        told.append(lines(error))
    return told


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize(
    ("fn", "more"),
    [(raises_in_a_segment, ()), (is_caught_between_segments, ()), (leaves_a_block, ()), (recursive, (2,))],
)
def test_a_function_that_is_cut_has_one_frame_in_tracebacks(fn, more, mode):
    compiled = ms.jit(fn, capture_mode=mode)
    for value in (9.0, -1.0, 9.0, 9.0, -1.0, 9.0):
        x = Tensor([value, 3.0])
        assert lines_of_call(compiled, (x, *more)) == lines_of_call(fn, (x, *more))
    assert compiled.explain().breaks


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
