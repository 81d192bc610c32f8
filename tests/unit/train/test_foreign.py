"""PyTorch's files, read without PyTorch: its own results, every kind of tensor, and what is refused."""

import io
import json
import pickle
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops, train

DATA = Path(__file__).parent / "data"


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, pad_mode="pad", padding=1, has_bias=True)
        self.bn = nn.BatchNorm2d(4)
        self.conv1d = nn.Conv1d(4, 4, 3, pad_mode="pad", padding=1, has_bias=True)
        self.act = nn.PReLU()
        self.norm = nn.LayerNorm((4,), epsilon=1e-5)
        self.lstm = nn.LSTM(4, 3, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(6, 3, batch_first=True)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.fc = nn.Dense(3, 2)
        self.embedding = nn.Embedding(5, 4)

    def construct(self, x, ids):
        x = self.act(self.bn(self.conv(x)))
        x = ops.transpose(self.conv1d(x.reshape((2, 4, 9))), (0, 2, 1))
        x = self.norm(x) + self.embedding(ids)
        x = self.attention(x, x, x, need_weights=False)[0]
        return self.fc(self.gru(self.lstm(x)[0])[0])


@pytest.mark.parametrize("name", ["net.pth", "net_legacy.pth"])
@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_a_network_computes_what_pytorch_computed(name, mode):
    values = train.load_torch(str(DATA / name))
    x, ids, output = (values.pop(key) for key in ("input.x", "input.ids", "output"))
    net = Net().set_train(False)
    report = train.load_torch_into_net(net, values, strict_load=True)
    assert report.complete()
    assert report.loaded["bn.moving_mean"] == "bn.running_mean"
    assert report.loaded["embedding.embedding_table"] == "embedding.weight"
    ms.set_context(mode=mode)
    try:
        result = net(x, ids.astype(ms.int32))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    np.testing.assert_allclose(result.asnumpy(), output.asnumpy(), rtol=1e-5, atol=1e-6)


def test_kinds_of_tensors_and_values():
    values = train.load_torch(str(DATA / "kinds.pt"))
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    expected = [base, base.T, base[1:, ::2], base[2], np.empty((0, 3), np.float32), np.float32(2.5)]
    assert all(np.array_equal(a.asnumpy(), b) for a, b in zip(values["views"], expected, strict=True))
    assert np.array_equal(values["parameter"].asnumpy(), base)
    assert np.array_equal(values["repeated"].asnumpy(), base[:1].repeat(3, 0))
    for kind, tensor in values["dtypes"].items():
        assert str(tensor.dtype).lower() == kind
        assert tensor.astype(ms.float32).tolist() == ([0, 1, 1] if kind == "bool" else [0, 1, 2])
    assert values["float8"].dtype is ms.float8_e4m3fn
    assert values["float8"].astype(ms.float32).tolist() == [1, -2]
    assert values["plain"] == (1, 2.5, "text", None, True, [2**70], {"k": b"bytes"}, {1, 2}, 1 + 2j)
    assert (values["size"], values["device"], values["numpy"]) == ((4, 6), "cpu", 11.5)


def test_parameters_in_a_larger_checkpoint_and_other_names():
    class Two(nn.Cell):
        def __init__(self):
            super().__init__()
            self.head = nn.Dense(2, 2)

    file = str(DATA / "checkpoint.pt")
    whole = train.load_torch(file)
    assert whole["epoch"] == 3
    assert whole["optimizer"]["param_groups"][0]["betas"] == (0.9, 0.999)
    net = nn.Dense(2, 2)
    assert train.load_torch_into_net(net, file).complete()
    assert np.array_equal(net.weight.asnumpy(), whole["state_dict"]["module.weight"].asnumpy())
    for names in (lambda name: f"head.{name}", {"weight": "head.weight", "bias": "head.bias"}):
        two = Two()
        assert train.load_torch_into_net(two, file, names).loaded == {"head.weight": "weight", "head.bias": "bias"}
    report = train.load_torch_into_net(Two(), {"a.fc.weight": net.weight, "a.fc.bias": net.bias}, {"a.fc": "head"})
    assert report.complete()


def test_what_does_not_fit_is_reported_and_left_alone():
    net = nn.SequentialCell(nn.Dense(2, 3), nn.BatchNorm1d(3))
    before = net[0].weight.asnumpy().copy()
    values = {
        "0.weight": ops.ones((4, 2)), "0.bias": Tensor([1, 2, 3], ms.int32), "1.weight": ops.ones((3,)) * 7,
        "1.num_batches_tracked": Tensor(3), "head.weight": ops.ones((1,)),
    }  # fmt: skip
    with pytest.raises(RuntimeError, match=r"head\.weight"):
        train.load_torch_into_net(net, values, strict_load=True)
    assert net[1].gamma.tolist() == [1, 1, 1]
    report = train.load_torch_into_net(net, values)
    assert report.loaded == {"1.gamma": "1.weight"}
    assert report.missing == ["1.moving_mean", "1.moving_variance", "1.beta"]
    assert report.unused == ["head.weight"]
    assert set(report.mismatched) == {"0.weight", "0.bias"}
    assert "0.weight has the shape (4, 2), the parameter (3, 2)" in str(report)
    assert np.array_equal(net[0].weight.asnumpy(), before)
    assert net[1].gamma.tolist() == [7, 7, 7]


def test_safetensors_and_their_index(tmp_path):
    numpy = pytest.importorskip("safetensors.numpy", reason="the safetensors library is not installed")
    weight, bias = np.arange(6, dtype=np.float32).reshape(3, 2), np.arange(3, dtype=np.float32)
    numpy.save_file({"weight": weight}, tmp_path / "a.safetensors")
    numpy.save_file({"bias": bias}, tmp_path / "b.safetensors")
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"weight": "a.safetensors", "bias": "b.safetensors"}}))
    net = nn.Dense(2, 3)
    assert train.load_torch_into_net(net, str(index), strict_load=True).complete()
    assert np.array_equal(net.weight.asnumpy(), weight)
    for name, message in (
        ("../a.safetensors", "leaves its folder"), ("/etc/passwd", "leaves its folder"),
        ("c.safetensors", "c.safetensors"), ("b.safetensors", "do not have 'weight'"),
    ):  # fmt: skip
        index.write_text(json.dumps({"weight_map": {"weight": name}}))
        with pytest.raises(ValueError, match=message):
            train.load_torch(str(index))


# ---- what is refused -------------------------------------------------------------------------------------------------


class _Call:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def _archive(path, data, storages=(), compress=zipfile.ZIP_STORED, extra=()):
    with zipfile.ZipFile(path, "w", compress) as archive:
        archive.writestr("a/data.pkl", data)
        for name, content in (*((f"a/data/{i}", s) for i, s in enumerate(storages)), *extra):
            archive.writestr(name, content)
    return str(path)


def _named(module, name):
    return b"c" + module.encode() + b"\n" + name.encode() + b"\n"


def _tensor(sizes, strides, count, offset=0, key="0", kind="FloatStorage"):
    """The pickle of one tensor."""

    def plain(value):
        return pickle.dumps(value, 2)[2:-1]

    storage = b"(" + plain("storage") + _named("torch", kind) + plain(key) + plain("cpu") + plain(count) + b"tQ"
    head = b"\x80\x02" + _named("torch._utils", "_rebuild_tensor_v2") + b"("
    return head + storage + plain(offset) + plain(sizes) + plain(strides) + plain(False) + plain(None) + b"tR."


def test_pickles_with_code_are_refused_and_nothing_runs(tmp_path):
    import os

    marker = tmp_path / "executed"
    for call in (
        _Call(os.system, f"touch {marker}"), _Call(eval, f"open({str(marker)!r}, 'w')"),
        _Call(exec, f"open({str(marker)!r}, 'w')"), _Call(getattr, "text", "upper"),
    ):  # fmt: skip
        for protocol in range(6):
            data = pickle.dumps({"weight": call}, protocol)
            path = _archive(tmp_path / "code.pt", data)
            with pytest.raises(ValueError, match=r"code\.pt.*it has (an object of|the instruction)"):
                train.load_torch(path)
    legacy = b"".join(pickle.dumps(v, 2) for v in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
    (tmp_path / "code.pth").write_bytes(legacy + pickle.dumps(_Call(os.system, f"touch {marker}"), 2))
    with pytest.raises(ValueError, match=r"posix\.system"):
        train.load_torch(str(tmp_path / "code.pth"))
    assert not marker.exists()


def test_a_whole_module_is_refused_by_name():
    with pytest.raises(
        ValueError, match=r"module\.pt cannot be read: it has an object of torch\.nn\.modules\.linear\.Linear"
    ):
        train.load_torch(str(DATA / "module.pt"))


REFUSED = {
    "beyond": (_tensor((5,), (1,), 4), "reaches to element 4"),
    "offset": (_tensor((4,), (1,), 4, offset=2), "reaches to element 5"),
    "negative": (_tensor((2,), (-1,), 4), "strides"),
    "huge": (_tensor((2**40, 2**40), (0, 0), 4), "many times the memory"),
    "sizes": (_tensor((2, 2), (1,), 4), "damaged pickle"),
    "count": (_tensor((2,), (1,), 2**50), "storage 0 has 16 bytes"),
    "part": (_tensor((2,), (1,), 4, key="../../data.pkl"), "no item named"),
    "kind": (_tensor((2,), (1,), 4, kind="QInt8Storage"), "QInt8Storage"),
    "end": (b"\x80\x02}", "before seeing STOP"),
    "stack": (b"\x80\x02\x85.", "damaged pickle"),
    "memo": (b"\x80\x02h\x05.", "damaged pickle"),
    "length": (b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b"x.", "damaged pickle"),
    "put": (b"\x80\x02}r" + struct.pack("<I", 2**32 - 1) + b".", None),
    "key": (b"\x80\x02}" + b")" + b"\x85" * 200_000 + b"Ns.", "key or member"),
    "nested": (b"\x80\x02]" + b"\x85" * 200_000 + b".", "nested too deeply"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_damage_that_lies_about_sizes(tmp_path, name):
    data, message = REFUSED[name]
    path = _archive(tmp_path / "x.pt", data, [np.arange(4, dtype=np.float32).tobytes()])
    if message is None:
        assert train.load_torch(path) == {}
        return
    with pytest.raises(ValueError, match=message):
        train.load_torch(path)


def test_ordered_dicts_of_python_2(tmp_path):
    head = b"\x80\x02ccollections\nOrderedDict\n(]"
    path = _archive(tmp_path / "x.pt", head + b"](X\x01\x00\x00\x00kK\x05eatR.")
    assert train.load_torch(path) == {"k": 5}
    path = _archive(tmp_path / "x.pt", head + b"](K\x01K\x05eatR.")
    with pytest.raises(ValueError, match="keys are not strings"):
        train.load_torch(path)


def test_archives_that_are_none_of_torch(tmp_path):
    bomb = _archive(tmp_path / "bomb.pt", b"\x80\x02}" + b"0" * 10_000_000, compress=zipfile.ZIP_DEFLATED)
    for path, message in (
        (bomb, "compressed"),
        (_archive(tmp_path / "script.pt", b"\x80\x02}.", extra=[("a/constants.pkl", b"")]), "TorchScript"),
        (_archive(tmp_path / "big.pt", b"\x80\x02}.", extra=[("a/byteorder", b"big")]), "byte order"),
    ):
        with pytest.raises(ValueError, match=message):
            train.load_torch(path)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("other.txt", b"")
    (tmp_path / "other.pt").write_bytes(buffer.getvalue())
    (tmp_path / "text.pt").write_text("hello")
    (tmp_path / "empty.pt").write_bytes(b"")
    for name in ("other.pt", "text.pt", "empty.pt", "missing.pt"):
        with pytest.raises(ValueError, match=name):
            train.load_torch(str(tmp_path / name))


@pytest.mark.parametrize("name", ["net.pth", "net_legacy.pth", "kinds.pt"])
def test_truncated_and_flipped_files_are_errors_or_values(tmp_path, name):
    data = (DATA / name).read_bytes()
    path = tmp_path / name
    for end in range(0, len(data), 97):
        path.write_bytes(data[:end])
        with pytest.raises(ValueError, match=name):
            train.load_torch(str(path))
    for at in range(0, len(data), 61):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x24]) + data[at + 1 :])
        try:
            train.load_torch(str(path))
        except ValueError:
            pass


def test_reading_imports_no_module_that_a_file_names(tmp_path):
    (tmp_path / "evil.py").write_text("raise SystemExit('imported')")
    path = _archive(tmp_path / "x.pt", b"\x80\x02cevil\nThing\n)R.")
    program = f"from duograph import train\ntry:\n    train.load_torch({path!r})\nexcept ValueError as e:\n    print(e)"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "evil.Thing" in done.stdout
    assert done.returncode == 0


def test_files_of_an_installed_torch(tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed; stored files of it are read above")
    module = torch.nn.Linear(3, 2)
    torch.save(module.state_dict(), tmp_path / "x.pt")
    net = nn.Dense(3, 2)
    train.load_torch_into_net(net, str(tmp_path / "x.pt"), strict_load=True)
    assert np.array_equal(net.weight.asnumpy(), module.weight.detach().numpy())
