"""Programs in the style of MindSpore's test-suite: every mode does what eager Python does, to the bit.

``answers.json`` holds what MindSpore 2.10 itself answered (CPU), where its answer is the one to give.
"""

from __future__ import annotations

import json

import pytest

from tests.compat.graph.harness import FOLDER, close, programs, run

PROGRAMS = dict(programs())
ANSWERS = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))

LEFT_TO_PYTHON = {"grad_while_if_break": "the order of a sum of gradients depends on data"}
"""Programs that no graph repeats to the bit, and why: second derivatives of loops that may end early (decision 0020)."""


@pytest.mark.parametrize("mode", ["jit", "graph"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_equals_eager(name, mode):
    eager, compiled = run(PROGRAMS[name], "eager"), run(PROGRAMS[name], mode)
    fallbacks = compiled.pop("fallbacks")
    eager.pop("fallbacks")
    assert compiled == eager
    if name in LEFT_TO_PYTHON:
        assert all(LEFT_TO_PYTHON[name] in reason for reason in fallbacks) and fallbacks
    elif eager["raised"] is None:
        assert not fallbacks


@pytest.mark.parametrize("name", ANSWERS)
def test_equals_mindspore(name):
    outcome = run(PROGRAMS[name], "eager")
    assert outcome["raised"] is None, outcome["raised"]
    assert close(outcome["value"], ANSWERS[name]), outcome["value"]


def test_fallbacks_are_noticed():
    def program(jit):
        @jit
        def foo(x):
            return x.asnumpy().sum()

        from mindspore import Tensor

        return foo(Tensor([1]))

    assert run(program, "jit")["fallbacks"]
    assert not run(program, "eager")["fallbacks"]
