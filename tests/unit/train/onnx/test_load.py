"""ONNX files as Cells: those that are exported here, in both modes, and those of PyTorch."""

from pathlib import Path

import numpy as np
import pytest

import duograph as ms
from duograph import nn
from duograph.train.onnx.schema import message, set_attribute
from tests.unit.train.onnx.networks import OPEN, PROGRAMS, inputs_of, leaves, program_of

STORED = np.load(Path(__file__).parent / "torch.npz")
CASES = [(name, False) for name in PROGRAMS] + [(name, True) for name in OPEN]


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("name, open_sizes", CASES)
def test_what_was_exported_is_read(tmp_path, name, open_sizes, mode):
    program, inputs = program_of(name), PROGRAMS[name][1]
    path = str(tmp_path / "x.onnx")
    ms.export(program, *inputs_of(name, open_sizes), file_name=path, file_format="ONNX")
    net = ms.onnx.load(path).set_train(False)
    expected = leaves(program(*inputs))
    flat = [ms.Tensor(array) for array in leaves(inputs)]
    ms.set_context(mode=mode)
    try:
        results = leaves(net(*flat))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected):
        assert result.shape == wanted.shape and result.dtype == wanted.dtype
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("name", ["picture.11", "picture.17", "words.17", "steps.11", "steps.17"])
def test_files_of_pytorch(tmp_path, name, mode):
    path = tmp_path / "x.onnx"
    path.write_bytes(STORED[name].tobytes())
    net = ms.onnx.load(str(path)).set_train(False)
    net_name = name.partition(".")[0]
    x = STORED[f"{net_name}.x"]
    ms.set_context(mode=mode)
    try:
        results = leaves(net(ms.Tensor(x)))
        half = leaves(net(ms.Tensor(x[:1])))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    for i, result in enumerate(results):
        np.testing.assert_allclose(result, STORED[f"{net_name}.{i}"], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(half[0], results[0][:1], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["picture.17", "words.17", "steps.17"])
def test_what_was_read_is_compiled(tmp_path, name):
    path = tmp_path / "x.onnx"
    path.write_bytes(STORED[name].tobytes())
    compiled = ms.jit(ms.onnx.load(str(path)).set_train(False).construct)
    compiled(ms.Tensor(STORED[f"{name.partition('.')[0]}.x"]))
    assert "1 compiled version(s), 0 fallback(s)" in str(compiled.explain())


def test_constants_are_no_parameters(tmp_path):
    net = nn.SequentialCell(nn.LayerNorm((4,)), nn.Dense(4, 2))
    ms.onnx.export(net, ms.ops.ones((3, 4)), file_name=str(tmp_path / "x"))
    read = ms.onnx.load(str(tmp_path / "x.onnx"))
    assert sorted(p.name for p in read.get_parameters()) == ["0.beta", "0.gamma", "1.bias", "1.weight"]


def test_a_network_that_was_read_can_be_trained(tmp_path):
    path = tmp_path / "x.onnx"
    path.write_bytes(STORED["picture.17"].tobytes())
    net = ms.onnx.load(str(path))
    x, labels = ms.Tensor(STORED["picture.x"]), ms.Tensor([0, 2], ms.int32)
    loss, rate = nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.5)
    step = ms.value_and_grad(lambda: loss(net(x), labels), None, net.trainable_params())
    losses = []
    for _ in range(5):
        value, gradients = step()
        rate(gradients)
        losses.append(float(value))
    assert losses[-1] < losses[0]
    with pytest.raises(TypeError, match="takes 1 inputs, but got 2"):
        net(x, x)


# ---- what is refused -------------------------------------------------------------------------------------------------


def model_of(change):
    """A model of one Softmax, changed."""
    model = message("ModelProto")
    model.ir_version = 8
    model.opset_import.add(domain="", version=18)
    graph = model.graph
    node = graph.node.add(op_type="Softmax", name="first")
    node.input.append("x")
    node.output.append("y")
    for field, name in ((graph.input, "x"), (graph.output, "y")):
        field.add(name=name).type.tensor_type.elem_type = 1
    change(model, graph, node)
    return model.SerializeToString()


def _weight(graph, name="w", **fields):
    tensor = graph.initializer.add(name=name, data_type=1)
    tensor.dims.append(2)
    for key, value in fields.items():
        setattr(tensor, key, value)
    return tensor


REFUSED = {
    "operator": (lambda m, g, n: setattr(n, "op_type", "Loupe"), r"the operator Loupe \('first'\) is not read"),
    "domain": (lambda m, g, n: setattr(n, "domain", "com.microsoft"), "of the domain 'com.microsoft'"),
    "setting": (lambda m, g, n: set_attribute(n, "axes", 3), "the setting 'axes'"),
    "input": (lambda m, g, n: n.input.__setitem__(0, "z"), "takes 'z', which nothing has given before"),
    "output": (lambda m, g, n: n.output.__setitem__(0, "z"), "nothing gives the output 'y'"),
    "cycle": (lambda m, g, n: n.input.__setitem__(0, "y"), "takes 'y', which nothing has given before"),
    "twice": (lambda m, g, n: g.node.add(op_type="Relu", input=["x"], output=["y"]), "two values are called 'y'"),
    "count": (lambda m, g, n: n.input.extend(["x"] * 4), "too many positional arguments"),
    "version": (lambda m, g, n: setattr(m.opset_import[0], "version", 5), "version 5"),
    "functions": (lambda m, g, n: m.functions.add(name="f"), "local functions"),
    "external": (lambda m, g, n: _weight(g, data_location=1).external_data.add(value="../../x"), "another file"),
    "short": (lambda m, g, n: _weight(g, raw_data=b"1234"), "does not have the elements"),
    "negative": (lambda m, g, n: _weight(g, raw_data=b"").dims.__setitem__(0, -1), "does not have the elements"),
    "huge": (lambda m, g, n: _weight(g, raw_data=b"").dims.extend([2**40, 2**40]), "does not have the elements"),
    "dtype": (lambda m, g, n: _weight(g, data_type=99), "dtype number 99"),
    "branch": (lambda m, g, n: setattr(n, "op_type", "If"), "does not have the graphs then_branch, else_branch"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_read_is_named(tmp_path, name):
    change, message_ = REFUSED[name]
    path = tmp_path / "odd.onnx"
    path.write_bytes(model_of(change))
    with pytest.raises(ValueError, match=rf"odd\.onnx cannot be read: .*{message_}"):
        ms.onnx.load(str(path))


def test_damaged_files_are_named(tmp_path):
    path = tmp_path / "odd.onnx"
    data = STORED["picture.17"].tobytes()
    for end in range(0, len(data) - 1, 331):
        path.write_bytes(data[:end])
        with pytest.raises(ValueError, match=r"odd\.onnx"):
            ms.onnx.load(str(path))
    for at in range(0, len(data), 173):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x11]) + data[at + 1 :])
        try:
            ms.onnx.load(str(path))
        except ValueError as error:
            assert "odd.onnx" in str(error)
    for name in ("missing.onnx", "."):
        with pytest.raises(ValueError, match="does not exist"):
            ms.onnx.load(str(tmp_path / name))
