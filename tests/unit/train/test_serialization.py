"""Checkpoints: what is written is read, in both formats."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn
from duograph.train.serialization import _load_dismatch_prefix_params


@pytest.mark.parametrize("file_format", ["ckpt", "safetensors"])
def test_round_trip(tmp_path, file_format):
    net = nn.Dense(2, 3)
    path = tmp_path / f"net.{file_format}"
    ms.save_checkpoint(net, str(path), append_dict={"epoch": 3, "note": "héllo"}, format=file_format)
    loaded = ms.load_checkpoint(str(path), format=file_format)
    assert np.array_equal(loaded["weight"].asnumpy(), net.weight.asnumpy())
    assert loaded["epoch"].asnumpy() == 3
    assert loaded["note"] == "héllo"
    other = nn.Dense(2, 3)
    missing, unused = ms.load_param_into_net(other, loaded)
    assert missing == []
    assert sorted(unused) == ["epoch", "note"]
    assert np.array_equal(other.bias.asnumpy(), net.bias.asnumpy())


def test_half_types_survive(tmp_path):
    path = str(tmp_path / "x.ckpt")
    ms.save_checkpoint([{"name": "x", "data": Tensor([1.5, 2.5], ms.bfloat16)}], path)
    assert ms.load_checkpoint(path)["x"].dtype is ms.bfloat16


def test_errors(tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        ms.load_checkpoint(str(tmp_path / "nothing.ckpt"))
    bad = tmp_path / "bad.ckpt"
    bad.write_text("this is not a checkpoint")
    with pytest.raises(ValueError):
        ms.load_checkpoint(str(bad))
    with pytest.raises(RuntimeError, match="same shape"):
        ms.load_param_into_net(
            nn.Dense(3, 3), {"weight": ms.Parameter(Tensor(np.ones((3, 2), np.float32)), name="weight")}
        )


@pytest.mark.parametrize(("have", "new"), [("float32", "float16"), ("float32", "float64"), ("int32", "int64")])
def test_numbers_of_one_kind_are_converted_unless_loading_is_strict(have, new):
    net = nn.Cell()
    net.w = ms.Parameter(Tensor(np.zeros(2, have)), name="w")
    values = {"w": ms.Parameter(Tensor(np.array([1, 2], new)), name="w")}
    with pytest.raises(RuntimeError, match="same type"):
        ms.load_param_into_net(net, values, strict_load=True)
    assert net.w.asnumpy().tolist() == [0, 0]
    assert ms.load_param_into_net(net, values) == ([], [])
    assert net.w.asnumpy().tolist() == [1, 2] and net.w.asnumpy().dtype == have


def test_parameters_that_are_not_loaded_are_told(capsys):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.backbone = nn.Dense(2, 3)

    net, layer = Net(), nn.Dense(2, 3)
    assert ms.load_param_into_net(layer, nn.Dense(2, 3).parameters_dict()) == ([], [])
    assert capsys.readouterr().err == ""
    missing, unused = ms.load_param_into_net(layer, net.parameters_dict())
    assert missing == [] and unused == ["backbone.weight", "backbone.bias"]
    assert "remove parameter prefix name: backbone., continue to load" in capsys.readouterr().err
    assert np.array_equal(layer.weight.asnumpy(), net.backbone.weight.asnumpy())
    missing = ["weight", "bias"]
    _load_dismatch_prefix_params(layer, {"backbone.bias": net.backbone.bias}, missing, False)
    assert missing == ["weight", "bias"], "the first of the names says which prefix it is"
    capsys.readouterr()
    missing, unused = ms.load_param_into_net(layer, {"other.name": net.backbone.weight})
    text = capsys.readouterr().err
    assert missing == ["weight", "bias"] and unused == ["other.name"]
    assert "2 parameters in the 'net' are not loaded" in text and "['weight', 'bias']" in text
