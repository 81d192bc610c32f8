"""The small modules of the surface: log, hal, communication of one process."""

from __future__ import annotations

import pytest

import duograph as ms
from duograph import communication, hal, log
from duograph.base.config import configure
from duograph.base.logs import package_logger


def test_log_levels(capsys):
    assert log.get_level() == "2"
    log.info("not %s", "shown")
    log.warning("shown %d", 1)
    log.error("also")
    text = capsys.readouterr().err
    assert "shown 1" in text and "also" in text and "not" not in text and "test_modules.py" in text
    with configure(log_level=0):
        log.debug("now")
    assert "now" in capsys.readouterr().err
    package_logger()  # a logger has the level that was set when it was last asked for


def test_one_process():
    communication.init()
    assert (communication.get_rank(), communication.get_group_size()) == (0, 1)
    communication.create_group("mine", [0])
    assert communication.get_process_group_ranks("mine") == [0]
    communication.destroy_group("mine")
    with pytest.raises(ValueError, match="mine"):
        communication.get_rank("mine")
    with pytest.raises(ValueError, match="one process"):
        communication.create_group("two", [0, 1])
    with pytest.raises(RuntimeError, match="hccl"):
        communication.init("hccl")
    with pytest.raises(TypeError):
        communication.init(3)


def test_streams_and_events():
    start, end = hal.Event(enable_timing=True), hal.Event(enable_timing=True)
    with hal.StreamCtx(hal.Stream()) as nothing:
        start.record()
        end.record()
        assert nothing is None and hal.current_stream() is not hal.default_stream()
    assert hal.current_stream() is hal.default_stream()
    assert start.elapsed_time(end) >= 0
    with pytest.raises(RuntimeError, match="enable_timing"):
        hal.Event().elapsed_time(end)
    assert hal.device_count() == 1 and hal.is_available("CPU") and not hal.is_available("GPU")
    assert ms.runtime is hal


def test_run_check(capsys):
    ms.run_check()
    assert "correct" in capsys.readouterr().out
