"""`ms.profile`: what was computed where, in dynamic mode and in compiled functions; results stay as they are."""

from __future__ import annotations

import gc
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops, profiling
from duograph.base import notices
from duograph.core.launchable import is_paused
from duograph.core.op import state
from duograph.profiling.events import Place

X = np.linspace(-2, 2, 48, dtype=np.float32).reshape(6, 8)


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(8, 4)
        self.out = nn.SequentialCell([nn.ReLU(), nn.Dense(4, 1)])

    def construct(self, x: Tensor) -> Tensor:
        h = ops.tanh(self.fc(x))
        return self.out(h)


def line_of(function: Any, text: str) -> int:
    """The number of the line of a function of this file that has this text."""
    lines = Path(__file__).read_text().split("\n")
    first = function.__code__.co_firstlineno
    return next(n for n in range(first, len(lines) + 1) if text in lines[n - 1])


def names(p: ms.profile, kind: str) -> list[str]:
    return [event.name for event in p.events if event.kind == kind]


def test_operators_of_dynamic_mode_with_their_lines_and_layers():
    net = Net()
    with ms.profile() as p:
        net(Tensor(X))
    (tanh,) = [event for event in p.events if event.name == "tanh"]
    assert tanh.places == (Place(__file__, line_of(Net.construct, "ops.tanh"), "Net"),)
    assert tanh.moved == 2 * 6 * 4 * 4 and tanh.made == 6 * 4 * 4
    (relu,) = [event for event in p.events if event.name == "relu"]
    assert relu.places == (Place(__file__, line_of(Net.construct, "self.out(h)"), "Net.out.0 (ReLU)"),)
    assert {row.key for row in p.layers} >= {"Net", "Net.fc (Dense)", "Net.out.0 (ReLU)", "Net.out.1 (Dense)"}


def test_gradient_rules_belong_to_the_lines_of_the_forward_pass():
    def f(x: Tensor) -> Tensor:
        y = ops.sin(x)
        return (y * y).sum()

    expected = ms.grad(f)(Tensor(X)).asnumpy()
    with ms.profile() as p:
        found = ms.grad(f)(Tensor(X)).asnumpy()
    assert np.array_equal(found, expected)
    backward = [event for event in p.events if event.gradient_of == "sin"]
    assert "cos" in [event.name for event in backward]
    assert {event.places[0].line for event in backward} == {line_of(f, "ops.sin(x)")}


def test_kernels_of_a_compiled_function_with_lines_and_layers():
    net = Net()
    step = ms.jit(net)
    for _ in range(5):
        expected = step(Tensor(X))
    with ms.profile() as p:
        for _ in range(3):
            found = step(Tensor(X))
    assert np.array_equal(found.asnumpy(), expected.asnumpy())
    assert len(names(p, "call")) == 3 and names(p, "operator") == []
    kernels = [event for event in p.events if event.kind == "kernel"]
    assert kernels and not len(kernels) % 3
    computed = {name for event in kernels for name in event.operators}
    assert {"matmul", "tanh", "relu"} <= computed
    layers = {place.layer for event in kernels for place in event.places}
    assert {"Net", "Net.fc (Dense)", "Net.out.1 (Dense)"} <= layers
    assert {place.file for event in kernels for place in event.places} == {__file__}
    calls = [event for event in p.events if event.kind == "call"]
    inside = [any(c.begin <= k.begin and k.begin + k.duration <= c.begin + c.duration for c in calls) for k in kernels]
    assert all(inside)


def test_a_training_step_is_recorded_and_gives_the_same_bits():
    def trained(profiled: bool) -> list[np.ndarray]:
        ms.set_seed(3)
        net = Net()
        optimizer = nn.Adam(net.trainable_params(), learning_rate=0.05)
        grads = ms.value_and_grad(lambda x: ops.square(net(x)).mean(), None, optimizer.parameters)

        @ms.jit
        def step(x: Tensor) -> Tensor:
            loss, g = grads(x)
            optimizer(g)
            return loss

        for k in range(6):
            if profiled and k >= 2:
                with ms.profile():
                    step(Tensor(X))
            else:
                step(Tensor(X))
        assert not step.explain().fallbacks
        return [p.asnumpy().copy() for p in net.trainable_params()]

    for a, b in zip(trained(False), trained(True), strict=True):
        assert np.array_equal(a, b)


def test_loops_and_branches_count_each_run_of_a_kernel():
    @ms.jit
    def f(x: Tensor) -> Tensor:
        n = Tensor(0)
        while x.sum() < 100:
            x = ops.exp(x * 0.01) + x
            n = n + 1
        return n

    times = int(f(Tensor(X)).asnumpy())
    assert times > 2
    with ms.profile() as p:
        f(Tensor(X))
    assert sum("exp" in event.operators for event in p.events if event.kind == "kernel") == times


def test_what_is_cut_has_both():
    log: list[str] = []

    @ms.jit
    def f(x: Tensor) -> Tensor:
        y = ops.tanh(x) * 2
        log.append(f"{float(y.sum()):.3f}")
        return ops.sqrt(ops.abs(y)) + 1

    for _ in range(4):
        f(Tensor(X))
    with ms.profile() as p:
        f(Tensor(X))
    assert len(log) == 5 and len(set(log)) == 1
    computed = {name for event in p.events for name in event.operators}
    assert {"tanh", "sqrt"} <= computed


def test_memory_is_that_of_the_lines():
    def f(x: Tensor) -> Tensor:
        big = ops.tile(x, (100, 1))
        small = big.sum()
        del big
        return small

    with ms.profile() as p:
        kept = f(Tensor(X))
        gc.collect()
    assert p.memory is not None
    at_peak = {place.line: size for place, size in p.memory.at_peak.items() if place is not None}
    assert at_peak[line_of(f, "ops.tile")] >= 100 * X.nbytes and p.memory.peak >= 100 * X.nbytes
    held = {place.line: size for place, size in p.memory.held.items() if place is not None}
    assert held[line_of(f, "ops.tile")] == 0 and held[line_of(f, "big.sum()")] == kept.nbytes


def test_the_thread_that_entered_is_recorded_and_no_other():
    def other() -> None:
        ops.cosh(Tensor(X))

    with ms.profile() as p:
        ops.sinh(Tensor(X))
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert names(p, "operator") == ["sinh"]


def test_an_exception_ends_it_and_is_the_users():
    with pytest.raises(ValueError, match="mine"), ms.profile() as p:
        ops.sinh(Tensor(X))
        raise ValueError("mine")
    assert state.observer is None and not is_paused()
    ops.cosh(Tensor(X))
    assert names(p, "operator") == ["sinh"]
    with pytest.raises(ValueError, match=r"shape|broadcast"), p:
        Tensor(X) + Tensor(X[:, :3])
    assert state.observer is None and names(p, "operator") == ["sinh"]


def test_it_goes_on_when_it_is_entered_again_and_is_a_decorator():
    p = ms.profile(memory=False)

    @p
    def f() -> Tensor:
        return ops.sinh(Tensor(X))

    f()
    f()
    assert names(p, "operator") == ["sinh", "sinh"] and p.operators[0].calls == 2
    with pytest.raises(ValueError, match="memory was not followed"):
        p.table("memory")
    with pytest.raises(RuntimeError, match="start"):
        p.stop()


def test_numbers_are_checked_within_a_profile():
    with ms.profile() as p, pytest.raises(FloatingPointError), ms.check_numerics():
        ops.log(Tensor([-1.0]))
    assert state.observer is None and names(p, "operator") == []


def test_tables_and_the_file(tmp_path):
    net = Net()
    step = ms.jit(net)
    for _ in range(3):
        step(Tensor(X))
    with ms.profile() as p:
        step(Tensor(X))
        ops.sinh(Tensor(X))
        p.mark("here")
    text = str(p)
    for part in ("compiled functions", "ops.tanh(self.fc(x))", "matmul", "at the most"):
        assert part in text
    assert len(p.table("operator", limit=1).splitlines()) == 3
    with pytest.raises(ValueError, match="'by' must be one of"):
        p.table("colour")
    p.save(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    shown = [event for event in events if event["ph"] != "M"]
    assert len(shown) == len(p.events) and {"call", "kernel", "operator", "mark"} <= {e["cat"] for e in shown}
    assert all(event["ts"] >= 0 and event["dur"] >= 0 for event in shown)
    (sinh,) = [event for event in shown if event["name"] == "sinh"]
    assert sinh["args"]["line"] == [f"{__file__}:{line_of(test_tables_and_the_file, 'ops.sinh')}"]


def test_mindspores_profiler_is_a_front(tmp_path):
    from duograph.device import profiler

    schedule = profiler.schedule(wait=1, active=2)
    recorded = profiler.Profiler(schedule=schedule, output_path=str(tmp_path), profile_memory=True)
    for _ in range(3):
        ops.sinh(Tensor(X))
        number = profiler.mstx.range_start("part")
        profiler.mstx.range_end(number)
        recorded.step()
    recorded.analyse()
    assert names(recorded.recorded, "operator") == ["sinh", "sinh"]
    assert names(recorded.recorded, "mark").count("part") == 2
    assert len(json.loads((tmp_path / "profile.json").read_text())["step_seconds"]) == 2
    assert "sinh" in (tmp_path / "profile.txt").read_text() and (tmp_path / "trace.json").exists()
    assert state.observer is None


def test_profiles_that_end_in_another_order_or_thread_record_no_more():
    first, second = ms.profile().start(), ms.profile().start()
    first.stop()
    ops.sinh(Tensor(X))
    second.stop()
    assert state.observer is None and not is_paused()
    assert names(first, "operator") == [] and names(second, "operator") == ["sinh"]
    elsewhere = ms.profile().start()
    thread = threading.Thread(target=elsewhere.stop)
    thread.start()
    thread.join()
    compiled = ms.jit(lambda x: ops.sinh(x) + 1)
    for _ in range(4):
        compiled(Tensor(X))
    profiling.mark("after")
    assert elsewhere.events == [] and state.observer is None and not is_paused()


def test_what_checks_numbers_is_not_profiled():
    with ms.check_numerics(), pytest.raises(RuntimeError, match="numbers are checked"), ms.profile():
        pass
    assert state.observer is None and not is_paused()


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_gradients_of_compiled_calls(mode):
    """Of Cells that graph mode compiles, and of functions that are compiled, in what is not."""
    ms.set_context(mode=mode)
    try:
        net = Net()
        compiled = ms.jit(lambda x: ops.square(net(x)))
        grads = ms.value_and_grad(lambda x: compiled(x).mean() + net(x).sum(), 0, net.trainable_params())

        def bits() -> list[bytes]:
            value, (first, others) = grads(Tensor(X))
            return [t.asnumpy().tobytes() for t in (value, first, *others)]

        for _ in range(4):
            expected = bits()
        with ms.profile() as p:
            found = bits()
        assert found == expected and names(p, "call")
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_gradients_whose_forward_pass_another_observer_has_seen():
    with ms.profile():
        _, pull = ms.vjp(lambda x: ops.sqrt(ops.relu(x)), Tensor([0.0, 1.0]))
    with ms.check_numerics(), pytest.raises(FloatingPointError, match="sqrt"):
        pull(Tensor([1.0, 1.0]))
    with ms.check_numerics():
        _, pull = ms.vjp(ops.sin, Tensor([0.0, 1.0]))
    with ms.profile() as p:
        pull(Tensor([1.0, 1.0]))
    assert "cos" in names(p, "operator")


def test_bad_arguments():
    with pytest.raises(TypeError, match="'memory' must be a bool"):
        ms.profile(memory="yes")  # type: ignore[arg-type]


def test_settings_for_accelerators_are_taken():
    from duograph.device import profiler

    chosen = profiler._ExperimentalConfig(
        profiler_level=profiler.ProfilerLevel.Level1,
        aic_metrics=profiler.AicoreMetrics.PipeUtilization,
        export_type=[profiler.ExportType.Text],
        host_sys=[profiler.HostSystem.CPU],
    )
    notices.forget()
    with pytest.warns(UserWarning) as found:
        recorded = profiler.profile(activities=[profiler.ProfilerActivity.CPU], experimental_config=chosen)
    assert len([str(w.message) for w in found if "has no effect" in str(w.message)]) == 3
    with recorded:
        ms.ops.exp(ms.Tensor([1.0]))
        recorded.step()
    assert len(recorded.steps) == 1 and chosen.data_simplification


def test_kernels_of_operators_are_made_by_the_compiler():
    x = ms.Tensor(X[:3, :5] * 0.25)
    with ms.profile() as p:
        ops.erfinv(x)
        ops.erfinv(x)
    (made,) = [event for event in p.events if event.name == "kernel of erfinv"]
    first, second = [event for event in p.events if event.name == "erfinv"]
    assert made.kind == "stage" and first.begin <= made.begin and made.begin + made.duration <= second.begin
