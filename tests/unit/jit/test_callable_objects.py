"""`jit` of callable objects that are no functions: what they hold is looked after as what a function finds outside."""

from __future__ import annotations

import functools
import weakref

import pytest

import duograph as ms
from duograph import Tensor

MODES = [None, "ast", "bytecode", "trace"]


def scaled(held, a, b=1.0, *, c=0.0):
    held.calls += 1
    return a * b * held.gain + c


class Held:
    gain, calls = 2.0, 0


def _compiled(fn, mode):
    return fn if mode is None else ms.jit(fn, capture_mode=mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("is_nested", [False, True])
def test_partials_that_change(mode, is_nested):
    held, x = Held(), Tensor(1.0)
    partial = functools.partial(scaled, held, c=10.0)
    partial.name = "scaled"  # so that a partial of it stays one
    compiled = _compiled(functools.partial(partial) if is_nested else partial, mode)
    seen = [compiled(x).item(), compiled(x).item()]
    partial.keywords["c"] = 20.0
    seen += [compiled(x).item(), compiled(x).item()]
    partial.keywords["b"] = 3.0
    held.gain = 5.0
    seen += [compiled(x).item(), compiled(x).item()]
    del partial.keywords["c"]
    seen += [compiled(x).item(), compiled(x).item()]
    partial.__setstate__((scaled, (held,), {"c": x}, {"name": "scaled"}))
    seen += [compiled(x).item(), compiled(x).item()]
    assert seen == [12.0, 12.0, 22.0, 22.0, 35.0, 35.0, 15.0, 15.0, 6.0, 6.0]
    assert held.calls == 10


@pytest.mark.parametrize("mode", MODES)
def test_a_weak_proxy_whose_object_is_gone(mode):
    held, x = Held(), Tensor(1.0)
    proxy = weakref.proxy(held)
    compiled = _compiled(lambda x: x * proxy.gain, mode)
    assert [compiled(x).item(), compiled(x).item()] == [2.0, 2.0]
    held.gain = 4.0
    assert [compiled(x).item(), compiled(x).item()] == [4.0, 4.0]
    del held
    for _ in range(2):
        with pytest.raises(ReferenceError, match="no longer exists"):
            compiled(x)


class WithPartialMethods:
    gain = 2.0

    def scale(self, x, a, b=1.0):
        return x * a * self.gain + b

    tripled = functools.partialmethod(scale, 3.0)
    raised = functools.partialmethod(scale, a=1.0, b=10.0)


@pytest.mark.parametrize("mode", MODES)
def test_partial_methods(mode):
    held, x = WithPartialMethods(), Tensor(1.0)
    inside = _compiled(lambda x: held.raised(x) + held.tripled(x, 0.0), mode)
    outside = _compiled(held.raised, mode)
    seen = []
    for held.gain in (2.0, 2.0, 3.0):
        seen += [inside(x).item(), outside(x).item()]
    assert seen == [18.0, 12.0, 18.0, 12.0, 22.0, 13.0]
