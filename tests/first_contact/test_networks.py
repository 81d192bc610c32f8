"""The networks of ``bench/`` come to their steady state: one version that native code calls, within 25 steps.

They are those of the benchmarks, with narrower layers: what is compiled, and how often, does not depend on widths.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import duograph as ms
from bench import _mindspore_steps, _problems
from bench._workloads import digits_batch, digits_networks, graph_mode, seed_networks, training_cell, training_step

from .counts import LED_BY_PYTHON, STEADY, Counts, after, counts_of

STEPS = 25
NARROW = {
    "HEADS": 4, "SEQUENCE": 8, "VOCABULARY": 50, "WIDTH": 32, "TIME": 4, "HIDDEN": 16, "FEATURES": 8, "CHANNELS": 8,
}  # fmt: skip

TRAINED = {
    "MLP": STEADY,
    "small MLP": STEADY,
    "LeNet": STEADY,
    "ResNet block": STEADY,
    "GPT, 2 layers": STEADY,
    "LSTM": STEADY,
}
DIGITS = {
    "mlp": STEADY,
    "cnn": STEADY,
}
CALLED = {
    "five layers": STEADY,
    "mul": STEADY,
    "loop": STEADY,
    "mixed": STEADY,
    "gradient": STEADY,
}


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, size in NARROW.items():
        monkeypatch.setattr(_problems, name, size)
        monkeypatch.setattr(_mindspore_steps, name, size, raising=False)
    ms.set_seed(1)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def check(compiled, batch, expected: Counts) -> None:
    """Makes the steps, and counts what was compiled and who led the calls."""
    assert after(compiled, [batch] * STEPS) == expected
    (version,) = compiled.explain().versions
    assert (version["hits"], version["plain_runs"], version["native_calls"]) == (STEPS, 0, STEPS - LED_BY_PYTHON)
    assert version["in_python"] == [] and version["why_not_native"] == ""


def test_the_tables_name_every_network():
    assert list(TRAINED) == list(_problems.PROBLEMS)
    assert list(DIGITS) == list(digits_networks(ms))
    assert list(CALLED) == list(seed_networks(ms))


@pytest.mark.parametrize("name", TRAINED)
def test_a_training_step(name):
    step, batch, _ = _mindspore_steps.step(ms, name)
    check(ms.jit(step), batch, TRAINED[name])


@pytest.mark.parametrize("name", DIGITS)
def test_a_training_step_on_digits(name):
    check(ms.jit(training_step(ms, digits_networks(ms)[name]())), digits_batch(ms), DIGITS[name])


@pytest.mark.parametrize("name", DIGITS)
def test_a_training_cell_on_digits_in_graph_mode(name):
    cell, batch = training_cell(ms, digits_networks(ms)[name]()), digits_batch(ms)
    with graph_mode(ms):
        check(cell, batch, DIGITS[name])


@pytest.mark.parametrize("name", CALLED)
def test_a_network_of_the_seed_documents(name):
    build, inputs = seed_networks(ms)[name]
    check(ms.jit(build()), inputs, CALLED[name])


def test_a_second_kind_of_batch_costs_one_version():
    """What the numbers above would be if a step did not come to rest: two, and one recompilation."""
    compiled = ms.jit(training_step(ms, digits_networks(ms)["mlp"]()))
    images, labels = digits_batch(ms)
    assert after(compiled, [(images, labels)] * 3 + [(images[:48], labels[:48])] * 3) == Counts(2, recompilations=1)
    assert counts_of(compiled.explain()) != STEADY
