"""Exported networks give in onnxruntime what they give here."""

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.train.onnx.schema import message
from tests.unit.train.onnx.networks import OPEN, PROGRAMS, inputs_of, leaves, program_of

CASES = [(name, False) for name in PROGRAMS] + [(name, True) for name in OPEN]
REASON = "onnx and onnxruntime are not installed; test_load.py reads the same files with our own reader"


@pytest.mark.parametrize("name, open_sizes", CASES)
def test_onnxruntime_gives_the_same(tmp_path, name, open_sizes):
    onnx = pytest.importorskip("onnx", reason=REASON)
    runtime = pytest.importorskip("onnxruntime", reason=REASON)
    program = program_of(name)
    path = str(tmp_path / "x.onnx")
    ms.export(program, *inputs_of(name, open_sizes), file_name=path, file_format="ONNX")
    onnx.checker.check_model(onnx.load(path), full_check=True)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(path, options)
    given = {info.name: array for info, array in zip(session.get_inputs(), leaves(PROGRAMS[name][1]))}
    results, expected = session.run(None, given), leaves(program(*PROGRAMS[name][1]))
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected):
        assert result.shape == wanted.shape and result.dtype == wanted.dtype
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=2e-6)


# ---- what has no ONNX form -------------------------------------------------------------------------------------------


def prints(x):
    print(x)
    return x


class Counting(nn.Cell):
    def construct(self, x):
        self.last = x.shape[0]
        return x


REFUSED = {
    "operator": (lambda x: ops.lgamma(x), r"operator lgamma: it has no ONNX form[\s\S]*lambda x: ops\.lgamma"),
    "inverse": (lambda x: ops.inverse(x) + 1, "operator inverse"),
    "random": (lambda x: ops.dropout(x, 0.5, training=True), "operator random"),
    "positions": (lambda x: ops.max_pool2d(x[None, None], 2, return_indices=True), r"result 1 of max_pool"),
    "print": (prints, r"print"),
    "complex": (lambda x: ops.fft(x).real(), r"cannot be exported"),
    "training": (nn.BatchNorm1d(2).set_train(), r"it changes a tensor from outside.*set_train\(False\)"),
    "attribute": (Counting(), r"the attribute Counting\.last"),
    "recursion": (lambda x: prints, r"cannot be exported"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_onnx_cannot_say_names_operator_and_line(tmp_path, name):
    program, message = REFUSED[name]
    with pytest.raises(RuntimeError, match=message) as caught:
        ms.export(program, Tensor([[1.0, 2.0], [3.0, 5.0]]), file_name=str(tmp_path / "x"), file_format="ONNX")
    assert "cannot be exported" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_names_and_open_axes(tmp_path):
    net, x = nn.Dense(3, 2), Tensor(np.ones((4, 3), np.float32))
    path = str(tmp_path / "x.onnx")
    ms.onnx.export(
        net, x, file_name=path, input_names=["in"], output_names=["out"], dynamic_axes={"in": [0]},
        keep_initializers_as_inputs=True,
    )  # fmt: skip
    model = message("ModelProto")
    model.ParseFromString((tmp_path / "x.onnx").read_bytes())
    assert [info.name for info in model.graph.input] == ["in", "weight", "bias"]
    assert [info.name for info in model.graph.output] == ["out"]
    (first, second) = model.graph.input[0].type.tensor_type.shape.dim
    assert first.dim_param and second.dim_value == 3
    assert model.graph.output[0].type.tensor_type.shape.dim[0].dim_param == first.dim_param
    for how, kind in (
        ({"input_names": ["a", "b"]}, ValueError), ({"output_names": []}, ValueError),
        ({"dynamic_axes": {"in": [0]}}, ValueError),
        ({"dynamic_axes": {"no": [0]}, "input_names": ["in"]}, ValueError),
        ({"export_params": False}, NotImplementedError),
    ):  # fmt: skip
        with pytest.raises(kind, match="export"):
            ms.onnx.export(net, x, file_name=path, **how)


def test_equal_programs_are_equal_files(tmp_path):
    net = program_of("resnet")
    for name in ("a", "b"):
        ms.export(net, *inputs_of("resnet", True), file_name=str(tmp_path / name), file_format="ONNX")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
