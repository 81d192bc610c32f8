"""What PIJit says: ``print_after_all`` on standard output, ``MS_JIT_BYTECODE_LOGS`` on stderr, and as objects."""

import time

import pytest

import duograph as ms
from duograph import Tensor
from duograph.base.config import configure

REPORT = {"print_after_all": True}


def test_the_graph_is_printed_once_per_capture(capsys):
    f = ms.jit(lambda x: x + x, jit_config=REPORT)
    for _ in range(2):
        f(ms.Tensor([1.0]))
    text = capsys.readouterr().out
    assert "<lambda>" in text
    assert text.count("1 compiled version") == 1
    assert "add" in text


def test_the_reason_of_a_fallback_is_printed(capsys):
    def through_numpy(x):
        return ms.Tensor(x.asnumpy() + 1)

    ms.jit(through_numpy, mode="PIJit", jit_config=REPORT)(ms.Tensor([1.0]))
    text = capsys.readouterr().out
    assert "through_numpy" in text
    assert "asnumpy()" in text
    assert "test_report.py" in text


def test_without_it_nothing_is_printed(capsys):
    ms.jit(lambda x: x + x)(ms.Tensor([1.0]))
    assert capsys.readouterr().out == ""


# -- what is captured from bytecode tells --------------------------------------------------------------------------


def told(capsys, kinds: str, **options) -> str:
    def f(x):
        y = (x * 2).tanh() * x - x.mean()
        time.sleep(0)
        return (y * y + x).sum() - y

    with configure(bytecode_logs=kinds):
        compiled = ms.jit(f, **options)
        for _ in range(3):
            compiled(Tensor([1.0, 2.0]))
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("guard", "x: Tensor float32[2]"),
        ("graph_break", "a call of time.sleep, which is not known to be free of effects"),
        ("graph", "tanh("),
        ("bytecode", "LOAD_FAST 'x'"),
    ],
)
def test_logs_of_bytecode_have_kinds(capsys, kind, text):
    only, everything = told(capsys, kind, capture_mode="bytecode"), told(capsys, "all", mode="PIJit")
    assert f"[{kind}] <jit " in only
    assert text in only
    assert text in everything
    assert not any(f"[{other}] " in only for other in {"guard", "graph_break", "graph", "bytecode"} - {kind})


def test_nobody_else_tells(capsys):
    assert told(capsys, "all") == told(capsys, "", capture_mode="bytecode") == ""


def test_unknown_kinds_are_refused():
    with pytest.raises(ValueError, match="some of bytecode, guard, graph_break"), configure(bytecode_logs="guards"):
        pass


def test_the_same_as_objects():
    @ms.jit(capture_mode="bytecode")
    def f(x):
        y = (x * 2).tanh() * x - x.mean()
        time.sleep(0)
        return (y * y + x).sum() - y

    for _ in range(3):
        f(Tensor([1.0, 2.0]))
    f(Tensor([1.0, 2.0, 3.0]))
    told = f.explain()
    assert told.instructions[0].op == "LOAD_FAST"
    assert [b.reason for b in told.breaks] == ["a call of time.sleep, which is not known to be free of effects"]
    stats = f.stats
    assert stats["breaks"] == 1
    assert stats["captures"] == 5  # the function once, its two segments twice
    assert stats["guard_checks"] >= 8
    assert 0 < stats["guard_misses"] < stats["guard_checks"]


# -- PIJit under GRAPH_MODE and within PSJit -----------------------------------------------------------------------


def test_under_graph_mode_pijit_counts_as_absent():
    @ms.jit(mode="PIJit", fullgraph=True)
    def f(x):
        time.sleep(0)
        return x * 2

    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert f(Tensor([1.0])).item() == 2.0
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert f.stats["captures"] == 0
    assert "PIJit under GRAPH_MODE: 1 calls as without the decorator" in str(f.explain())
    with pytest.raises(RuntimeError, match="time"):
        f(Tensor([1.0]))


def test_within_psjit_pijit_is_part_of_it():
    inner = ms.jit(lambda x: x * 2, mode="PIJit")

    @ms.jit(mode="PSJit", fullgraph=True)
    def f(x):
        return inner(x) + 1

    assert f(Tensor([1.0])).item() == 3.0
    assert inner.stats["captures"] == 0
    assert "mul" in f.explain().versions[0]["graph"]
