"""``mindspore.profiler``: what its options do or are told not to do, and steps that are profiled by request."""

import json
import warnings

import numpy as np
import pytest

import duograph as ms
from duograph import dataset as ds
from duograph import nn, ops, profiler
from duograph.base import notices
from duograph.profiler import _ExperimentalConfig


@pytest.fixture
def told():
    """Notices are given once in a process: here, anew."""
    notices.forget()
    yield
    notices.forget()


def test_what_changes_nothing_is_told_once(told):
    with pytest.warns(UserWarning, match="'l2_cache' of 'profile' has no effect: there is no accelerator") as found:
        profiler.profile(l2_cache=True)
    assert found[0].filename == __file__
    with pytest.warns(UserWarning, match="'host_sys' of 'profile' has no effect"):
        profiler.profile(experimental_config=_ExperimentalConfig(host_sys=[profiler.HostSystem.CPU]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        profiler.profile(l2_cache=True)
        profiler.profile(
            profiler_level=profiler.ProfilerLevel.Level0,
            activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU],
            with_stack=True,
            export_type=[profiler.ExportType.Text],
            experimental_config=_ExperimentalConfig(),
        )


def test_what_is_not_known_or_wrong():
    with pytest.warns(UserWarning, match="'outputpath' is not known and ignored. Did you mean 'output_path'"):
        profiler.profile(outputpath="x")
    for wrong in ({"schedule": 3}, {"on_trace_ready": "x"}, {"experimental_config": 3}):
        with pytest.raises(TypeError, match=next(iter(wrong))):
            profiler.profile(**wrong)


def test_a_worker_has_a_folder_of_its_own(tmp_path):
    ready = profiler.tensorboard_trace_handler(str(tmp_path), worker_name="one")
    with profiler.profile(on_trace_ready=ready) as recorded:
        ops.ones((2, 2)) + 1
        recorded.step()
        recorded.add_metadata_json("sizes", "[2, 2]")
    assert {path.name for path in (tmp_path / "one").iterdir()} == {"profile.json", "profile.txt", "trace.json"}
    told = json.loads((tmp_path / "one" / "profile.json").read_text())
    assert len(told["step_seconds"]) == 1 and told["metadata"] == {"sizes": [2, 2]}


def steps_of(folder):
    return {
        path.name: len(json.loads((path / "profile.json").read_text())["step_seconds"]) for path in folder.iterdir()
    }


def test_steps_are_profiled_by_request(tmp_path):
    asked, out = tmp_path / "asked", tmp_path / "out"
    net = nn.Dense(3, 2)
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    data = ds.NumpySlicesDataset((np.ones((8, 3), np.float32), np.ones((8, 2), np.float32)), ["x", "y"]).batch(2)
    model.train(1, data, callbacks=[profiler.DynamicProfilerMonitor(str(asked), str(out))])
    file = asked / "profiler_config.json"
    assert json.loads(file.read_text()) == {"start_step": -1, "stop_step": -1} and not out.exists()
    file.write_text('{"start_step": 2, "stop_step": 3, "profile_memory": true}')
    model.train(1, data, callbacks=[profiler.DynamicProfilerMonitor(str(asked), str(out))])
    assert steps_of(out) == {"rank0_start2_stop3": 2}
    file.write_text('{"start_step": 4, "stop_step": 9}')
    monitor = profiler.DynamicProfilerMonitor(str(asked), str(out))
    for _ in range(9):
        net(ops.ones((1, 3)))
        monitor.step()
    assert steps_of(out) == {"rank0_start2_stop3": 2, "rank0_start4_stop9": 6}


@pytest.mark.parametrize("text", ["{", '{"start_step": 3}', '{"start_step": 3, "stop_step": 1}', "[]"])
def test_a_request_that_cannot_be_read_is_told(tmp_path, text):
    (tmp_path / "profiler_config.json").write_text(text)
    with pytest.warns(UserWarning, match="profiler_config.json is not used"):
        profiler.DynamicProfilerMonitor(str(tmp_path)).step()
    with pytest.raises(ValueError, match="'poll_interval' must be at least 1"):
        profiler.DynamicProfilerMonitor(str(tmp_path), poll_interval=0)
    with pytest.raises(TypeError, match="'cfg_path' must be a str"):
        profiler.DynamicProfilerMonitor(None)
