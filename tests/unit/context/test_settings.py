"""Settings that are accepted without effect: each is checked, kept, given back, and has a reason."""

from __future__ import annotations

import warnings

import pytest

import duograph as ms
import duograph.dataset as ds
from duograph import parallel
from duograph.base import notices
from duograph.base.config import configure
from duograph.context import SWITCHES
from duograph.context.settings import IGNORED, Kept, Setting, parallel_mode

ROWS = [(group, name, row) for group, rows in IGNORED.items() for name, row in rows.items()]


def ask(group: str, name: str) -> object:
    """The value of a setting, through the function of the API."""
    match group:
        case "context":
            return ms.get_context(name)
        case "compilation":
            return ms.JitConfig().jit_config_dict.get(name, IGNORED[group][name].default)
        case "parallel":
            return ms.get_auto_parallel_context(name)
        case "parameter server":
            return ms.get_ps_context(name)
        case "search of strategies":
            return parallel.get_algo_parameters(name)
        case "data pipelines":
            return getattr(ds.config, f"get_{name}")()
    raise AssertionError(group)


@pytest.mark.parametrize(("group", "name", "row"), ROWS, ids=[f"{group}: {name}" for group, name, _ in ROWS])
def test_every_row_is_read_and_says_why_it_has_no_effect(group, name, row):
    assert ask(group, name) == row.default
    assert (
        isinstance(row.default, row.types) or group == "context"
    )  # sizes are given as text, "1GB", and kept as numbers
    assert row.why and row.effect is None


def test_what_the_context_ignores_it_says_once():
    assert all(SWITCHES[name] is row for name, row in IGNORED["context"].items())
    notices.forget()
    try:
        with pytest.warns(UserWarning, match="set_context\\(op_timeout=...\\) has no effect: it tunes hardware"):
            ms.set_context(op_timeout=100)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ms.set_context(op_timeout=200)
        assert ms.get_context("op_timeout") == 200
    finally:
        ms.set_context(op_timeout=900)
        notices.forget()


def test_values_are_kept_all_or_none():
    more = {"device_num": Setting(1, object), "parallel_mode": Setting("stand_alone", object, parallel_mode)}
    kept = Kept("parallel", "For {who}, there is no {name}", more)
    kept.set("set", {"device_num": 8, "parallel_mode": "data_parallel"})
    assert kept.get("get", "device_num") == 8
    with pytest.raises(ValueError, match="'parallel_mode' must be one of"):
        kept.set("set", {"device_num": 4, "parallel_mode": "odd"})
    with pytest.raises(ValueError, match="For set, there is no devices"):
        kept.set("set", {"device_num": 4, "devices": 4})
    with pytest.raises(ValueError, match="For get, there is no devices"):
        kept.get("get", "devices")
    assert kept.get("get", "device_num") == 8
    kept.reset()
    assert kept.get("get", "device_num") == 1


@pytest.mark.parametrize(
    ("setting", "error", "words"),
    [
        (
            lambda: ms.set_auto_parallel_context(devices=2),
            ValueError,
            "'?context.set_auto_parallel_context', the argument devices is not rec",
        ),
        (lambda: ms.get_ps_context("x"), ValueError, "For 'context.get_ps_context', the argument x is not recognized!"),
        (lambda: ms.set_ps_context(enable_ps=True), RuntimeError, "parameter-server training needs several processes"),
        (lambda: parallel.set_algo_parameters(x=1), ValueError, "Set context keyword 'x' is not recognized!"),
        (lambda: parallel.get_algo_parameters("x"), ValueError, "Get context keyword 'x' is not recognized!"),
        (lambda: ds.config.set_prefetch_size("2"), TypeError, "prefetch_size isn't of type int."),
        (lambda: ds.config.set_prefetch_size(True), TypeError, "prefetch_size isn't of type int."),
        (
            lambda: ds.config.set_num_parallel_workers(0),
            ValueError,
            "num_parallel_workers given is not within the required range.",
        ),
        (lambda: ds.config.set_enable_watchdog(1), TypeError, "enable_watchdog must be of type bool."),
    ],
)
def test_words_of_refusals(setting, error, words):
    with pytest.raises(error, match=words):
        setting()


def test_programs_for_other_devices_run_on_the_cpu_if_the_user_says_so():
    with pytest.raises(RuntimeError, match="DUOGRAPH_DEVICE_TARGET=cpu"):
        ms.set_context(device_target="Ascend")
    notices.forget()
    with configure(device_target="cpu"):
        for name in ("Ascend", "GPU"):
            with pytest.warns(UserWarning, match=f"device_target='{name}' has no effect") as said:
                ms.set_context(device_target=name)
                ms.set_device(name, 0)
            assert [w.filename for w in said] == [__file__]
            assert ms.get_context("device_target") == "CPU"
    with pytest.raises(RuntimeError, match="Unsupported device target GPU"):
        ms.set_device("GPU")
