"""What users write around the numerics, and what it costs: versions, segments, breaks, fallbacks, recompilations.

A number that goes up is a step that became slower; one that goes down is entered here.
"""

from __future__ import annotations

import copy

import pytest

import duograph as ms
from tests.conformance.harness import fresh
from tests.conformance.programs import graph_breaks
from tests.test_tour import ROOT, run_blocks

from . import habits
from .counts import LED_BY_PYTHON, STEADY, Counts, after, counts_of

# fmt: off
HABITS = {
    #                                          versions segments breaks fallbacks recompilations
    habits.a_plain_step:                       Counts(1, 0, 0, 0, 0),
    habits.the_loss_is_kept:                   Counts(1, 0, 0, 0, 0),
    habits.the_loss_is_kept_as_a_number:       Counts(1, 0, 0, 0, 0),
    habits.the_loss_is_printed_now_and_then:   Counts(1, 1, 1, 0, 0),
    habits.the_loss_is_logged:                 Counts(1, 0, 0, 0, 0),
    habits.steps_are_timed:                    Counts(1, 1, 3, 1, 0),  # two clocks, and the list of their differences
    habits.steps_are_counted:                  Counts(2, 0, 0, 0, 1),  # the count becomes an input
    habits.the_last_batch_is_smaller:          Counts(2, 0, 0, 0, 1),  # the size becomes a symbol
    habits.a_batch_is_a_dictionary:            Counts(1, 0, 0, 0, 0),
    habits.the_rate_is_an_argument:            Counts(2, 0, 0, 0, 1),  # the rate becomes an input
    habits.gradients_are_clipped:              Counts(1, 0, 0, 0, 0),
    habits.gradients_are_collected:            Counts(1, 0, 0, 0, 0),
    habits.training_and_testing_take_turns:    Counts(2, 0, 0, 0, 1),
    habits.accuracy_is_counted_by_numpy:       Counts(1, 1, 1, 1, 0),
    habits.the_best_loss_is_kept:              Counts(2, 0, 0, 0, 1),  # the best becomes an input
    habits.a_nan_is_an_error:                  Counts(1, 0, 0, 0, 0),
    habits.arrays_become_tensors_inside:       Counts(1, 0, 0, 0, 0),
    habits.noise_is_added:                     Counts(1, 0, 0, 0, 0),
    habits.a_loop_ends_when_it_converges:      Counts(1, 0, 0, 0, 0),
    habits.settings_stand_in_a_dictionary:     Counts(1, 0, 0, 0, 0),
    habits.settings_stand_in_a_list:           Counts(1, 0, 0, 0, 0),
    habits.words_are_looked_up:                Counts(2, 0, 0, 0, 1),
}
BREAKS = {
    graph_breaks.values_go_from_part_to_part:          Counts(1, 1, 2, 1, 0),  # what is behind is too little
    graph_breaks.a_closure_sees_a_variable_bound_again: Counts(2, 2, 1, 1, 0),
    graph_breaks.a_closure_binds_a_variable:           Counts(5, 1, 1, 1, 4),  # the closure is another in each call
    graph_breaks.a_global_is_written_on_both_sides:    Counts(4, 2, 1, 1, 2),
    graph_breaks.a_deleted_variable:                   Counts(2, 2, 1, 1, 0),
    graph_breaks.two_names_of_one_tensor:              Counts(1, 1, 2, 1, 0),
    graph_breaks.a_view_is_written_behind_the_break:   Counts(3, 3, 2, 1, 0),
    graph_breaks.one_dict_in_two_places:               Counts(3, 3, 2, 1, 0),
    graph_breaks.a_loop_with_continue_and_break:       Counts(4, 2, 1, 1, 2),
    graph_breaks.a_while_loop:                         Counts(4, 2, 1, 1, 2),
    graph_breaks.returns_of_several_kinds:             Counts(2, 2, 1, 1, 0),
    graph_breaks.cases_of_a_match:                     Counts(4, 4, 1, 1, 0),
    graph_breaks.generators_and_comprehensions:        Counts(2, 2, 1, 1, 0),
    graph_breaks.all_clauses_of_a_try:                 Counts(6, 6, 1, 1, 0),
}
TOUR = {
    "compiled": Counts(1, 0, 0, 0, 0),
    "step":     Counts(1, 0, 0, 0, 0),
}
# fmt: on


@pytest.fixture(autouse=True)
def _same_numbers() -> None:
    ms.set_seed(1)


@pytest.mark.parametrize("make", HABITS, ids=lambda make: make.__name__)
def test_a_habit(make):
    program, calls = make()
    compiled = ms.jit(program)
    assert after(compiled, calls) == HABITS[make]
    if HABITS[make] == STEADY:
        (version,) = compiled.explain().versions
        assert version["hits"] - version["native_calls"] == LED_BY_PYTHON


@pytest.mark.parametrize("program", BREAKS, ids=lambda program: program.__name__)
def test_a_graph_break(program, monkeypatch):
    monkeypatch.setattr(graph_breaks, "COUNT", 0)
    monkeypatch.setattr(graph_breaks, "LOG", copy.copy(graph_breaks.LOG))
    assert after(ms.jit(program), [fresh(arguments) for arguments in graph_breaks.CALLS]) == BREAKS[program]


def test_the_functions_of_the_tour():
    names = {"__name__": "tour"}
    run_blocks((ROOT / "docs" / "tour.md").read_text(encoding="utf-8"), "tour.md", names)
    assert {name: counts_of(names[name].explain()) for name in TOUR} == TOUR


def test_every_habit_is_in_the_table():
    functions = [f for f in vars(habits).values() if getattr(f, "__module__", "") == habits.__name__]
    assert list(HABITS) == [f for f in functions if f not in (habits.batches, habits.training)]
