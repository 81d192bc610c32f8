"""The configuration: from the environment, from code, for a block."""

import importlib
import threading

import pytest

from duograph.base.config import (
    VARIABLES,
    Config,
    config,
    configure,
    refresh_config,
    reset_config,
    set_config,
)

config_module = importlib.import_module("duograph.base.config")


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    for variable in VARIABLES:
        monkeypatch.delenv(variable.environment, raising=False)
    reset_config()
    yield
    monkeypatch.undo()
    reset_config()


def test_defaults():
    assert config() == Config()
    assert {variable.field for variable in VARIABLES} == set(Config.__dataclass_fields__)


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("MS_JIT", "0", "jit", False),
        ("MS_DEV_SAVE_GRAPHS", "3", "save_graphs", 3),
        ("MS_DEV_SAVE_GRAPHS_PATH", "/tmp/x", "save_graphs_path", "/tmp/x"),
        ("MS_DEV_JIT_SYNTAX_LEVEL", "0", "jit_syntax_level", 0),
        ("MS_DEV_JIT_SYNTAX_LEVEL", "", "jit_syntax_level", None),
        ("MS_COMPILER_CACHE_ENABLE", "1", "compiler_cache", True),
        ("MS_COMPILER_CACHE_PATH", "c", "compiler_cache_path", "c"),
        ("MS_JIT_MODULES", "vmap, numpy.ma,", "jit_modules", ("vmap", "numpy.ma")),
        ("MS_JIT_IGNORE_MODULES", "a", "jit_ignore_modules", ("a",)),
        ("MS_JIT_BYTECODE_LOGS", "guard, graph_break", "bytecode_logs", ("guard", "graph_break")),
        ("DUOGRAPH_JIT_LEVEL", "O0", "jit_level", "O0"),
        ("GLOG_v", "0", "log_level", 0),
        ("DUOGRAPH_DUMP", "PASS", "dump", "pass"),
        ("DUOGRAPH_VERIFY", "node", "verify", "node"),
    ],
)
def test_environment(monkeypatch, name, text, field, value):
    monkeypatch.setenv(name, text)
    assert getattr(refresh_config(), field) == value
    monkeypatch.delenv(name)
    assert refresh_config() == Config()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("MS_JIT", "maybe", "0 or 1"),
        ("MS_DEV_SAVE_GRAPHS", "4", "an integer from 0 to 3"),
        ("MS_DEV_SAVE_GRAPHS", "x", "an integer from 0 to 3"),
        ("DUOGRAPH_DUMP", "some", "one of off, pass, rule, all"),
        ("DUOGRAPH_JIT_LEVEL", "O7", "O0, O1 or O2"),
        ("MS_DEV_JIT_SYNTAX_LEVEL", "3", r"0 \(STRICT\)"),
    ],
)
def test_wrong_environment(monkeypatch, name, text, expected):
    monkeypatch.setenv(name, text)
    with pytest.raises(ValueError, match=f"{name}='{text}': expected {expected}") as caught:
        refresh_config()
    assert caught.value.code == "DG0604"


def test_refresh_leaves_what_code_has_set(monkeypatch):
    set_config(save_graphs=2, jit=False)
    monkeypatch.setenv("MS_DEV_SAVE_GRAPHS", "1")
    assert refresh_config().save_graphs == 1
    assert not config().jit
    assert refresh_config() is refresh_config()


def test_configure_nests_and_ends():
    with configure(save_graphs=1) as outer:
        assert outer.save_graphs == 1
        with configure(dump="all"):
            assert (config().save_graphs, config().dump) == (1, "all")
            set_config(log_level=4, save_graphs=3)
            assert (config().save_graphs, config().log_level) == (1, 4)
        assert config().dump == "off"
    assert (config().save_graphs, config().log_level) == (3, 4)
    with pytest.raises(KeyError), configure(jit=False):
        raise KeyError
    assert config().jit


def test_configure_is_for_one_thread():
    seen = []
    with configure(jit=False):
        thread = threading.Thread(target=lambda: seen.append(config().jit))
        thread.start()
        thread.join()
    assert seen == [True]


@pytest.mark.parametrize(
    ("changes", "builtin", "code", "words"),
    [
        ({"save_graph": 1}, AttributeError, "DG0601", "unknown option 'save_graph'"),
        ({"save_graphs": True}, ValueError, "DG0602", "save_graphs=True: expected an integer from 0 to 3"),
        ({"save_graphs_path": 3}, ValueError, "DG0602", "expected a path"),
        ({"jit_modules": 3}, ValueError, "DG0602", "names of modules"),
        ({"dump": None}, ValueError, "DG0602", "expected one of"),
        ({"jit_syntax_level": False}, ValueError, "DG0602", "STRICT"),
    ],
)
def test_wrong_changes(changes, builtin, code, words):
    for change in (set_config, configure):
        with pytest.raises(builtin, match=words) as caught:
            with change(**changes):
                pass
        assert caught.value.code == code
    assert config() == Config()


def test_values_from_code(tmp_path):
    with configure(jit_syntax_level="lax", jit_modules=["a"], save_graphs_path=tmp_path, jit_level="O0", jit=1):
        now = config()
        assert now.jit_syntax_level == 2 and now.jit_modules == ("a",) and now.save_graphs_path == str(tmp_path)
        assert now.jit_level == "O0" and now.jit is True


def test_the_environment_is_known_before_the_configuration_is(monkeypatch):
    """Another thread that finds a configuration compares the environment with what was read for it."""
    visible = []

    class Watched(dict):
        def update(self, *args):
            visible.append(config_module._process)
            super().update(*args)

    monkeypatch.setattr(config_module, "_seen", Watched())
    monkeypatch.setattr(config_module, "_process", None)
    reset_config()
    assert visible == [None] and config_module._seen
