"""Code in installed packages: what compiled programs reach is compiled wherever it lies; only effects decide."""

from __future__ import annotations

import importlib
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import duograph as ms
from duograph import Tensor
from duograph.base.config import configure

from .counts import STEADY, Counts, after

PACKAGE = """
import duograph as ms
from duograph import nn, ops

from . import layers
from .layers import act


def plain(x):
    return ops.tanh(x * 3) - x.mean()


@ms.jit
def decorated(x):
    return ops.tanh(x) * 2 + x.mean()


@ms.jit
def calls_what_is_decorated(x):
    return decorated(x) + x.sum() * 2


@ms.jit
def calls_what_is_not(x):
    return plain(x) + x.sum() * 2


@ms.jit
def calls_another_module(x):
    return layers.act(act(x)) + 1


@ms.jit
def defines_a_function(x):
    def scaled(y):
        return y * x.mean()

    return scaled(ops.tanh(x)) + 1


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)

    @ms.jit
    def construct(self, x):
        return ops.relu(self.dense(x)) + x.mean()


class Plain(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(3, 4), nn.Dense(4, 2)

    def construct(self, x):
        return self.second(act(self.first(x))) + layers.scaled(x, 2).mean()
"""
LAYERS = """
import time

from puremaths import Settings, scaled

settings = Settings(gain=2)
calls, history, known = 0, [], {}


def act(x):
    return (x > 0) * x * settings.gain


def counted(x):
    global calls
    calls += 1
    history.append(calls)
    known[calls] = calls * 2
    print("call", calls)
    return x * calls


def checked(x):
    if x.sum() > 6:
        raise ValueError("too large")
    return x + 1


def timed(x):
    y = (x * 2).tanh() * x
    assert time.time() > 0
    return y * y + x
"""
PURE = """
import functools


class Settings:
    def __init__(self, **held):
        object.__setattr__(self, "_held", held)

    def __getattr__(self, name):
        return self._held[name]

    def __setattr__(self, name, value):
        self._held[name] = value


def scaled(x, by):
    return x * by


def twice(fn):
    @functools.wraps(fn)
    def call(*args):
        return fn(fn(*args))

    return call


def shown(x, file):
    file.write("shown")
    return x
"""
X = Tensor([[1.0, 2.0, 3.0]])
DECORATED = (
    "decorated", "calls_what_is_decorated", "calls_what_is_not", "calls_another_module", "defines_a_function",
)  # fmt: skip
FILES = {"mymodels/__init__.py": PACKAGE, "mymodels/layers.py": LAYERS, "puremaths.py": PURE}


def _in_a_folder(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for name in ("mymodels", "puremaths"):  # as `pip install --target` leaves it
        (folder / f"{name}-1.0.dist-info").mkdir()
        (folder / f"{name}-1.0.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: 1.0\n", encoding="utf-8")
    return folder


def _in_a_zip(folder: Path) -> Path:
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "models.zip", "w") as file:
        for name, text in FILES.items():
            file.writestr(name, text)
    return folder / "models.zip"


PLACES: dict[str, Callable[[Path], Path]] = {
    "site-packages": lambda base: _in_a_folder(base / "site-packages"),
    "target": lambda base: _in_a_folder(base / "target"),
    "zip": lambda base: _in_a_zip(base / "site-packages"),
}


@pytest.fixture(params=PLACES)
def installed(request, tmp_path, monkeypatch) -> Iterator[ModuleType]:
    """The package, where `PLACES` puts it."""
    monkeypatch.syspath_prepend(PLACES[request.param](tmp_path))
    names = ("mymodels", "mymodels.layers", "puremaths")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("mymodels")
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", DECORATED)
def test_what_the_package_decorates(installed, name):
    assert after(getattr(installed, name), [(X,)] * 8) == STEADY


def test_a_method_that_the_package_decorates(installed):
    net = installed.Net()
    for _ in range(8):
        net(X)
    told = type(net).construct.explain()
    assert (len(told.versions), len(told.breaks), len(told.fallbacks)) == (1, 0, 0)


def test_what_the_user_compiles(installed):
    assert after(ms.jit(installed.plain), [(X,)] * 8) == STEADY
    assert after(ms.jit(lambda x: installed.plain(x) + 1), [(X,)] * 8) == STEADY
    assert after(ms.jit(lambda x: installed.layers.act(x) + 1), [(X,)] * 8) == STEADY


def test_a_cell_in_graph_mode(installed):
    net = installed.Plain()
    expected = net(X)
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert after(net, [(X,)] * 8) == STEADY
        assert net(X).asnumpy().tobytes() == expected.asnumpy().tobytes()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_what_is_not_written_against_this_package(installed):
    pure = sys.modules["puremaths"]
    assert after(ms.jit(lambda x: pure.scaled(x.tanh(), 3) + 1), [(X,)] * 8) == STEADY

    @ms.jit
    @pure.twice
    def f(x):
        return x * 2 + 1

    assert after(f, [(X,)] * 8) == STEADY
    assert f(X).tolist() == [[7.0, 11.0, 15.0]]


def test_what_the_package_reads_is_guarded(installed):
    f = ms.jit(lambda x: installed.layers.act(x) + 1)
    for gain in (2, 2, 3, 3, 5):
        installed.layers.settings.gain = gain
        assert f(X).tolist() == [[1.0 * gain + 1, 2.0 * gain + 1, 3.0 * gain + 1]]


def test_effects_in_the_package_are_kept(installed, capsys):
    layers = installed.layers
    f = ms.jit(lambda x: layers.counted(x) + 1)
    for i in range(1, 6):
        assert f(X).tolist() == [[i + 1.0, 2.0 * i + 1, 3.0 * i + 1]]
        assert (layers.calls, layers.history) == (i, list(range(1, i + 1)))
        assert layers.known == {n: n * 2 for n in range(1, i + 1)}
    assert capsys.readouterr().out == "".join(f"call {i}\n" for i in range(1, 6))


def test_exceptions_of_the_package(installed):
    f = ms.jit(installed.layers.checked)
    assert f(X).tolist() == [[2.0, 3.0, 4.0]]
    with pytest.raises(ValueError, match="too large"):
        f(X * 2)


def test_a_statement_that_cannot_be_captured_costs_that_statement(installed):
    @ms.jit
    def f(x):
        y = (x * 2).tanh() * x - x.mean()
        z = installed.layers.timed(y)
        return (z * y + x).sum() - z

    counts = after(f, [(X,)] * 8)
    assert counts.segments == 2 and counts.breaks == 1
    assert len(f.explain().segments[0].versions) == 1
    assert "time.time" in f.explain().breaks[0].reason


def test_modules_that_are_ignored(installed):
    with configure(jit_ignore_modules=("mymodels.layers",)):
        f = ms.jit(lambda x: (installed.plain(x) * 2).tanh() + installed.layers.act(x))
        assert after(f, [(X,)] * 4).versions <= 1
        assert "MS_JIT_IGNORE_MODULES names it" in f.explain().breaks[0].reason
        assert after(ms.jit(lambda x: installed.plain(x) + 1), [(X,)] * 4) == STEADY
    with configure(jit_ignore_modules=("mymodels",), jit_modules=("mymodels.layers",)):
        assert after(ms.jit(lambda x: installed.layers.act(x) + 1), [(X,)] * 4) == STEADY


def test_packages_with_machine_code(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    (folder / "fastmaths").mkdir(parents=True)
    (folder / "fastmaths" / "__init__.py").write_text("def scaled(x):\n    return x * 2\n", encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    package, core = importlib.import_module("fastmaths"), ModuleType("fastmaths._core")
    core.__file__ = str(folder / "fastmaths" / f"_core{importlib.machinery.EXTENSION_SUFFIXES[0]}")
    monkeypatch.setitem(sys.modules, "fastmaths", package)
    monkeypatch.setitem(sys.modules, "fastmaths._core", core)
    f = ms.jit(lambda x: package.scaled(x) + 1)
    assert after(f, [(X,)] * 4) == Counts(fallbacks=1, breaks=1)
    assert f.explain().breaks[0].reason.endswith("effects (MS_JIT_MODULES=fastmaths has it compiled)")
    with configure(jit_modules=("fastmaths",)):
        assert after(ms.jit(lambda x: package.scaled(x) + 1), [(X,)] * 4) == STEADY
    vars(package)["ms"] = ms  # it is written against this package, and has machine code besides
    monkeypatch.setitem(sys.modules, "fastmaths.more", ModuleType("fastmaths.more"))
    assert after(ms.jit(lambda x: package.scaled(x) + 1), [(X,)] * 4) == STEADY
