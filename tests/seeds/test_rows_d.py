"""Rows D1 to D5: `JitConfig`."""

from __future__ import annotations

import pytest

import duograph as ms
from duograph import JitConfig, Tensor, nn

X = Tensor([1.0, 2.0])


@pytest.mark.filterwarnings("ignore:.*no effect")
def test_d1_both_spellings():
    assert JitConfig(exec_mode="no_sink").jit_config_dict == JitConfig(exc_mode="no_sink").jit_config_dict


@pytest.mark.parametrize(
    "options",
    [
        *({"jit_level": level} for level in ("", "O0", "O1", "O2")),
        *({"exc_mode": mode} for mode in ("auto", "sink", "no_sink")),
        *({"jit_syntax_level": level} for level in ("", "STRICT", "LAX")),
        {"infer_boost": "on"},
        {"debug_level": "DEBUG"},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:.*no effect")
def test_d2_values(options):
    JitConfig(**options)


@pytest.mark.parametrize(
    "wrong",
    [{"jit_level": "O7"}, {"exc_mode": "maybe"}, {"jit_syntax_level": "HARD"}, {"infer_boost": "x"}],
    ids=str,
)
def test_d2_wrong_values(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        JitConfig(**wrong)


def test_d3_a_cell_takes_a_config():
    class Net(nn.Cell):
        def construct(self, x):
            return x * 2

    net = Net()
    ms.set_context(mode=ms.GRAPH_MODE)
    first = net(X)
    net.set_jit_config(JitConfig(jit_level="O0"))
    assert net(X).asnumpy().tobytes() == first.asnumpy().tobytes()


def test_d3_a_jit_function_takes_a_config():
    f = ms.jit(lambda x: x * 2, jit_config=JitConfig(jit_level="O0"))
    assert f(X).asnumpy().tolist() == [2.0, 4.0]


def unsupported(x):
    """Needs the interpreter: the result of a Python library on a run-time value."""
    return Tensor(x.asnumpy() * 2)


def test_d4_strict_rejects_what_lax_interprets():
    assert ms.jit(unsupported)(X).asnumpy().tolist() == [2.0, 4.0]
    strict = ms.jit(unsupported, jit_config=JitConfig(jit_syntax_level="STRICT"))
    with pytest.raises(Exception, match="asnumpy") as caught:
        strict(X)
    assert "test_rows_d.py" in str(caught.value)


def test_d4_constants():
    assert (ms.STRICT, ms.LAX) == (0, 2)
    assert ms.get_context("jit_syntax_level") == ms.LAX


def test_d5_strict_never_alters():
    result = ms.jit(lambda x: {"a": x, "b": [x, (1,)]}, fullgraph=True)(X)
    assert type(result) is dict and type(result["b"]) is list and result["b"][1] == (1,)
