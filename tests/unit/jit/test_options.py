"""`jit`'s options: every value that is allowed, every value that is not, and how older forms are read."""

from __future__ import annotations

import pytest

import duograph as ms
from duograph import Tensor
from duograph.base import notices
from duograph.jit.options import JitOptions

X = Tensor([1.0, 2.0])


def shown(value):
    """The name of a case: without addresses, which differ from one test process to the next."""
    return str(value).split(" at 0x")[0]


def double(x):
    return x * 2


def options(**given):
    return ms.jit(double, **given).options


DEFAULT = JitOptions()


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({}, "jit_level", ""),
        ({"jit_level": "O0"}, "jit_level", "O0"),
        ({"jit_level": ""}, "jit_level", ""),
        ({"dynamic": 1}, "dynamic", 1),
        ({}, "strict", None),
        ({"fullgraph": True}, "strict", True),
        ({"fullgraph": False}, "strict", None),
        ({"backend": "ms_backend"}, "backend", "ms_backend"),
        ({"backend": "interpreter"}, "backend", "interpreter"),
        ({"input_signature": X}, "signature", (X,)),
        ({"input_signature": (X, X)}, "signature", (X, X)),
        ({"jit_config": ms.JitConfig(jit_level="O0")}, "jit_level", "O0"),
        ({"jit_config": ms.JitConfig(jit_syntax_level="STRICT")}, "strict", True),
        ({"jit_config": ms.JitConfig(jit_syntax_level="LAX"), "fullgraph": False}, "strict", False),
        ({"jit_config": {"jit_level": "O0", "print_after_all": False}}, "jit_level", "O0"),
    ],
    ids=shown,
)
def test_what_options_mean(given, field, value):
    assert getattr(options(**given), field) == value
    if "input_signature" not in given:
        assert ms.jit(double, **given)(X).tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    "accepted",
    [
        {"exec_order": "bfs"}, {"exec_order": "dfs"}, {"disable_format_transform": True}, {"infer_boost": "on"},
        {"auto_offload": True}, {"jit_config": {"max_inline_depth": 3}},
    ],
    ids=shown,
)  # fmt: skip
def test_accepted_without_effect_is_told_once(accepted):
    notices.forget()
    with pytest.warns(UserWarning, match="no effect"):
        assert options(**accepted) == DEFAULT
    assert options(**accepted) == DEFAULT


@pytest.mark.parametrize("older", [{"hash_args": double}, {"compile_once": True}], ids=shown)
def test_older_arguments_say_what_is_so_anyway(older):
    assert options(**older) == DEFAULT


def test_misspelt_settings_are_told_or_refused():
    with pytest.raises(ValueError, match="'jit_config' has no setting 'jit_levle'. Did you mean 'jit_level'"):
        options(jit_config={"jit_levle": "O0"})
    with pytest.raises(ValueError, match="'jit_config' has no setting 'nonsense_option'"):
        options(jit_config={"nonsense_option": 3})
    with pytest.warns(UserWarning, match="'exc_mod' is not known and ignored. Did you mean 'exc_mode'"):
        ms.JitConfig(exc_mod="sink")


def test_the_level_of_the_context_is_that_of_functions_without_one():
    def program(x):
        return (x + 1) * 2 - 1 * x

    def nodes(**given):
        compiled = ms.jit(program, **given)
        assert compiled(X).tolist() == [3.0, 4.0]
        return compiled.explain().versions[0]["graph"].count(" = ")

    few, many = nodes(), nodes(jit_level="O0")
    ms.set_context(jit_level="O0")
    try:
        assert nodes() == many != few == nodes(jit_level="O1")
    finally:
        ms.set_context(jit_level="")
    ms.set_context(jit_config={"jit_level": "O0"})
    try:
        assert nodes() == many
    finally:
        ms.set_context(jit_config={})
    assert nodes() == few


@pytest.mark.parametrize(
    "setting", [{"max_call_depth": 50}, {"ascend_config": {"precision_mode": "must_keep_origin_dtype"}}], ids=shown
)
def test_switches_of_the_context_without_effect_are_told_once(setting):
    notices.forget()
    before = {name: ms.get_context(name) for name in setting}
    with pytest.warns(UserWarning, match="no effect"):
        ms.set_context(**setting)
    ms.set_context(**setting)
    ms.set_context(**before)


def test_the_recursion_limit_has_no_effect():
    notices.forget()
    with pytest.warns(UserWarning, match="set_recursion_limit.*no effect"):
        ms.set_recursion_limit(20)
    ms.set_recursion_limit()


def test_what_is_so_anyway_needs_no_notice():
    ms.set_context(deterministic="ON", pynative_synchronize=True, check_bprop=True)
    ms.set_context(deterministic="OFF", pynative_synchronize=False, check_bprop=False)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"capture_mode": "AST"}, ValueError),
        ({"capture_mode": None}, ValueError),
        ({"mode": "ast"}, ValueError),
        ({"jit_level": "O3"}, ValueError),
        ({"jit_level": "o1"}, ValueError),
        ({"jit_level": 0}, ValueError),
        ({"dynamic": 2}, ValueError),
        ({"dynamic": True}, ValueError),
        ({"dynamic": "1"}, ValueError),
        ({"fullgraph": 1}, TypeError),
        ({"fullgraph": "yes"}, TypeError),
        ({"fullgraph": None}, TypeError),
        ({"backend": "cuda"}, RuntimeError),
        ({"backend": None}, RuntimeError),
        ({"exec_order": "random"}, ValueError),
        ({"disable_format_transform": 1}, TypeError),
        ({"infer_boost": "maybe"}, ValueError),
        ({"jit_config": 5}, TypeError),
    ],
    ids=shown,
)
def test_wrong_values_name_the_option(wrong, error):
    name = "backend" if "backend" in wrong else next(iter(wrong))
    with pytest.raises(error, match=name):
        ms.jit(double, **wrong)


def test_a_misspelt_option_is_corrected():
    with pytest.warns(UserWarning, match="jit_levle.*Did you mean 'jit_level'"):
        ms.jit(double, jit_levle="O0")
    with pytest.warns(UserWarning, match="no_such_option"):
        assert ms.jit(double, no_such_option=1)(X).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("target", [5, "f", None.__class__, int], ids=str)
def test_what_cannot_be_compiled(target):
    with pytest.raises(TypeError):
        ms.jit(target)


def test_callables_without_a_function():
    class Callable:
        def __init__(self):
            self.k = 3

        def __call__(self, x):
            return x * self.k

    f = Callable()
    compiled = ms.jit(f)
    assert compiled(X).tolist() == [3.0, 6.0]
    f.k = 4
    assert compiled(X).tolist() == [4.0, 8.0]


def test_jit_config_of_a_cell_changes_its_versions():
    net = ms.nn.ReLU()
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net(X)
        net.set_jit_config(ms.JitConfig(jit_level="O0"))
        assert net(X).tolist() == [1.0, 2.0]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, ""),
        ({"mode": "PSJit"}, ""),
        ({"capture_mode": "bytecode"}, "captured from bytecode"),
        ({"capture_mode": "trace"}, "captured from source, run by run"),
        ({"mode": "PIJit"}, "captured from bytecode"),
    ],
    ids=shown,
)
def test_explain_tells_how_functions_are_captured(given, told):
    f = ms.jit(double, **given)
    f(X)
    assert f.explain().captured_from == ("bytecode" if "bytecode" in told else "source")
    assert [line for line in str(f.explain()).splitlines() if line.startswith("captured from")] == (
        [told] if told else []
    )


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
def test_loops_are_unrolled_where_that_is_asked_for(mode):
    def f(x):
        for i in range(50):
            x = x * 1.01 + i
        return x

    graphs = []
    for unrolling in (False, True):
        compiled = ms.jit(f, capture_mode=mode, jit_config={"loop_unrolling": unrolling})
        assert compiled(X).tolist() == f(X).tolist()
        graphs.append(compiled.explain().versions[0]["graph"])
    assert ["while_loop" in graph for graph in graphs] == [True, False]
