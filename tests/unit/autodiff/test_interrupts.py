"""Ctrl-C at any moment: what was going on is over, and nothing of it stays behind."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import ops
from duograph.core.op import state
from tests.unit.alarms import alarm, interrupted_at_each_call

X = ms.Tensor(np.ones(4, np.float32))
gradient, second = ms.grad(lambda x: ops.relu(x * x).sum()), ms.grad(lambda x: ms.grad(ops.sin)(x).sum())


def without_gradient():
    with ms.no_grad():
        return X * X


WORK = {
    "gradient": lambda: gradient(X),
    "second gradient": lambda: second(X),
    "jvp": lambda: ms.jvp(ops.sin, X, X),
    "no_grad": without_gradient,
    "vmap": lambda: ms.vmap(ops.sin)(X),
}


@pytest.mark.parametrize("name", WORK)
def test_the_dispatch_state_is_what_it_was_wherever_it_comes(name):
    work = WORK[name]
    expected = [str(work()) for _ in range(4)]
    moments = 0
    for has_ended in interrupted_at_each_call(work):
        assert has_ended
        assert (state.tapes, state.binder, state.detached) == ([], None, 0)
        moments += 1
    assert moments >= 10
    assert str(work()) == expected[0]


@pytest.mark.timed  # moments between those, too
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # in callbacks of weak references
@pytest.mark.parametrize("name", WORK)
def test_the_dispatch_state_is_what_it_was(name):
    work = WORK[name]
    expected = work()

    with alarm() as clock:
        for attempt in range(150):  # moments of different lengths, so that every part of the work is met
            clock.interrupts(work, after=5e-4 + attempt % 97 * 1.37e-6, within=2e-3)
    assert (state.tapes, state.binder, state.detached) == ([], None, 0)
    assert str(work()) == str(expected)
