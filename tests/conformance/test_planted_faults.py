"""The table can fail: a fault in a mode's own part makes programs of the table differ in that mode.

Each fault is planted where only some modes pass by; the modes that do not are still right with it.
"""

# ruff: noqa: E501 - a table

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import pkgutil

import pytest

from duograph.autodiff.compiled import GraphFunction
from duograph.base.failures import InternalFailure
from duograph.base.weak import WeakTable
from duograph.frontend.bytecode import load as bytecode
from duograph.frontend.bytecode import stack
from duograph.frontend.control import regions
from duograph.frontend.guards.native import Translator
from duograph.frontend.programs.program import Program
from duograph.ir import interpreter
from duograph.jit import native_call as native_call_module
from duograph.jit import running
from duograph.jit.decorator import compiled
from duograph.lower import ops as lower_ops
from duograph.nn import graph_mode
from duograph.ops.arithmetic import add, sub
from duograph.passes import pipelines
from duograph.passes.manager import ApplyRules, Pipeline
from duograph.rewrite.rule import RuleSet, rule
from duograph.runtime.programs import steps
from duograph.tensor.tensor import Tensor
from tests.conformance import programs
from tests.conformance.harness import EAGER, MODES, PROGRAMS, run
from tests.conformance.test_conformance import PARTS

for _info in pkgutil.iter_modules(programs.__path__):
    importlib.import_module(f"{programs.__name__}.{_info.name}")

NAMED = {program.name: program for program in PROGRAMS}
MODE = {mode.name: mode for mode in MODES}


def wrong(mode: str, name: str) -> set[str]:
    """What the table finds wrong with a program in a mode."""
    program = NAMED[name]
    expected = run(program, dataclasses.replace(EAGER, rounds=MODE[mode].rounds))
    try:
        actual = run(program, MODE[mode])
    except InternalFailure:
        return {"internal"}
    found = {part for part in PARTS if getattr(actual, part) != getattr(expected, part)}
    return found | ({"fallbacks"} if program.captured and actual.fallbacks else set())


def turned_round(step):
    """A step of a subtraction with its inputs in another order."""
    if step is not None and any(node.op is sub for node in step.nodes) and len(step.inputs) == 2:
        first, second = step.inputs
        if first.type == second.type:
            step.inputs = (second, first)
    return step


@rule(lambda x, y: sub(x, y))
def difference_is_sum(x, y):
    """x - y -> x + y: false"""
    return add(x, y)


WRONG_RULE = ApplyRules("planted", RuleSet("planted", [difference_is_sum]))


def a_wrong_rule(plant):
    plant.setitem(pipelines.OPTIMISE, 1, Pipeline("optimise1", (pipelines.SIMPLIFY, WRONG_RULE), stage="canonical"))


def a_wrong_fused_kernel(plant):
    right = steps._fused
    plant.setattr(steps, "_fused", lambda *given: turned_round(right(*given)))


def a_wrong_step(plant):
    right = steps.single_steps
    plant.setattr(steps, "single_steps", lambda graph: [turned_round(step) for step in right(graph)])


def a_wrong_reference(plant):
    right = interpreter.compute
    plant.setattr(
        interpreter, "compute", lambda op, values, attrs: right(op, values[::-1] if op is sub else values, attrs)
    )


def a_rule_that_fails(plant):
    def fails(c, rule):
        raise KeyError("planted")

    plant.setattr(lower_ops, "lower_pointwise", fails)


def a_fuser_that_fails(plant):
    def fails(group):
        raise KeyError("planted")

    plant.setattr(steps, "lower_group", fails)


def a_launcher_that_fails(plant):
    def fails(entry, level, args, parameters):
        raise KeyError("planted")

    plant.setattr(native_call_module, "native_call", fails)


def calls_that_stay_in_python(plant):
    plant.setattr(native_call_module, "native_call", lambda *_: None)


def a_guard_left_out(plant):
    right = Translator.check
    plant.setattr(Translator, "check", lambda self, guard: guard.check == "equal" or right(self, guard))


def an_effect_twice(plant):
    right = Program.conclude

    def conclude(self, path, run, *rest):
        for source, contents in path.containers:
            contents.fill(source.load(run.args), run)
            held = source.load(run.args)
            if isinstance(held, list):
                held += held[-1:]
        return right(self, dataclasses.replace(path, containers=[]), run, *rest)

    plant.setattr(Program, "conclude", conclude)


def effects_repeated_after_an_exception(plant):
    plant.setattr(running, "withheld", lambda texts: contextlib.nullcontext())


def a_random_counter_that_stays(plant):
    right = Program.finish

    def finish(self, args, outputs, generator):
        offset = generator.offset
        result = right(self, args, outputs, generator)
        generator.offset = offset
        return result

    plant.setattr(Program, "finish", finish)


def a_gradient_twice(plant):
    right = GraphFunction.__call__

    def call(self, values):
        return [o + o if isinstance(o, Tensor) else o for o in right(self, values)]

    plant.setattr(GraphFunction, "__call__", call)


def hooks_left_out(plant):
    plant.setattr(graph_mode, "cell_function", lambda cell, options, plain: compiled(cell.construct, options))


def bytecode_misread(plant):
    """An operator is taken for another one, and nobody compares what was read with what is there."""
    plant.setattr(stack, "BINARY", (stack.BINARY[10], *stack.BINARY[1:10], stack.BINARY[0], *stack.BINARY[11:]))
    plant.setattr(bytecode, "difference", lambda ours, other: None)
    plant.setattr(bytecode, "_recovered", WeakTable())


def a_decision_without_a_guard(plant):
    """A run that is recorded decides, and later calls are not asked whether they would, too."""
    right = regions.Regions.decide

    def decide(self, pred):
        recorder = self.recording
        return right(self, pred) if recorder is None else recorder.decision(self.current.taken, pred)

    plant.setattr(regions.Regions, "decide", decide)


@pytest.mark.parametrize(
    ("fault", "program", "part", "caught", "missed"),
    [
        (a_wrong_rule, "operators:arithmetic", "results", "jit native graph interpreter", "jit-O0"),
        (
            a_wrong_fused_kernel,
            "mixtures:gradient_descent_with_parameters",
            "results",
            "jit native graph",
            "jit-O0 interpreter",
        ),
        (bytecode_misread, "operators:arithmetic", "results", "bytecode", "jit jit-O0 interpreter native graph"),
        (
            a_decision_without_a_guard,
            "branches:if_tensor",
            "results",
            "trace",
            "jit jit-O0 bytecode interpreter native graph",
        ),
        (a_wrong_step, "operators:arithmetic", "results", "jit-O0", "interpreter"),
        (a_wrong_reference, "operators:arithmetic", "results", "interpreter", "jit jit-O0 native graph"),
        (a_rule_that_fails, "operators:arithmetic", "internal", "jit-O0", "interpreter"),
        (
            a_fuser_that_fails,
            "mixtures:gradient_descent_with_parameters",
            "internal",
            "jit native graph",
            "interpreter jit-O0",
        ),
        (a_launcher_that_fails, "operators:arithmetic", "internal", "native", "jit interpreter"),
        (calls_that_stay_in_python, "operators:arithmetic", "fallbacks", "native", "jit interpreter graph"),
        (a_guard_left_out, "recompilation:new_strings", "results", "native interpreter jit-O0", ""),
        (
            an_effect_twice,
            "effects:writes_before_conditional_error",
            "globals",
            "jit jit-O0 interpreter native graph",
            "",
        ),
        (
            effects_repeated_after_an_exception,
            "exceptions:prints_in_a_loop_before_an_error",
            "printed",
            "jit jit-O0 interpreter native graph",
            "",
        ),
        (a_random_counter_that_stays, "transforms:dropout_is_random_but_the_same", "random", "jit interpreter", ""),
        (a_gradient_twice, "transforms:second_order_around", "gradients", "jit jit-O0 native graph", ""),
        (hooks_left_out, "cells:forward_hook_of_the_cell_itself", "results", "graph", "jit jit-O0 interpreter native"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_planted_fault_is_caught(monkeypatch, fault, program, part, caught, missed):
    fault(monkeypatch)
    for mode in caught.split():
        assert part in wrong(mode, program), mode
    for mode in missed.split():
        assert not wrong(mode, program), mode
