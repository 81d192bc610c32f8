"""``import mindspore`` means duograph, and a missing name is told with the nearest one."""

from __future__ import annotations

import importlib
import subprocess
import sys
import types
from types import ModuleType

import pytest

import duograph as ms
from duograph.compat import alias, layout
from tests.children import PATIENCE

SAME = [
    ("mindspore", "Tensor", "duograph.Tensor"),
    ("mindspore.nn", "Cell", "duograph.nn.Cell"),
    ("mindspore.nn.cell", "Cell", "duograph.nn.Cell"),
    ("mindspore.nn.layer.basic", "Dense", "duograph.nn.Dense"),
    ("mindspore.nn.layer", "ReLU", "duograph.nn.ReLU"),
    ("mindspore.nn.optim.momentum", "Momentum", "duograph.nn.Momentum"),
    ("mindspore.nn.wrap.cell_wrapper", "WithLossCell", "duograph.nn.WithLossCell"),
    ("mindspore.ops", "add", "duograph.ops.add"),
    ("mindspore.ops.operations", "Add", "duograph.ops.Add"),
    ("mindspore.ops.operations.math_ops", "Add", "duograph.ops.Add"),
    ("mindspore.ops.functional", "add", "duograph.ops.add"),
    ("mindspore.ops.composite", "GradOperation", "duograph.ops.GradOperation"),
    ("mindspore.ops.primitive", "Primitive", "duograph.ops.Primitive"),
    ("mindspore.ops.auto_generate", "Add", "duograph.ops.Add"),
    ("mindspore.ops.function.math_func", "add", "duograph.ops.add"),
    ("mindspore.common", "Parameter", "duograph.Parameter"),
    ("mindspore.common", "dtype", "duograph.core.dtype"),
    ("mindspore.common.dtype", "float32", "duograph.float32"),
    ("mindspore.common.tensor", "Tensor", "duograph.Tensor"),
    ("mindspore.common.parameter", "ParameterTuple", "duograph.ParameterTuple"),
    ("mindspore.common.initializer", "initializer", "duograph.common.initializer.initializer"),
    ("mindspore.common.api", "jit", "duograph.jit"),
    ("mindspore.common.jit_config", "JitConfig", "duograph.JitConfig"),
    ("mindspore.context", "set_context", "duograph.set_context"),
    ("mindspore.train.serialization", "save_checkpoint", "duograph.save_checkpoint"),
    ("mindspore.communication.management", "init", "duograph.communication.init"),
    ("mindspore.runtime", "synchronize", "duograph.hal.synchronize"),
    ("mindspore.log", "warning", "duograph.log.warning"),
]


@pytest.fixture(autouse=True)
def _alias(monkeypatch):
    """The alias for one test; the process is left without it."""
    monkeypatch.setattr(sys, "meta_path", [f for f in sys.meta_path if not isinstance(f, alias.AliasFinder)])
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "mindspore"}
    for name in before:
        del sys.modules[name]
    ms.install_as_mindspore()
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "mindspore"]:
        del sys.modules[name]
    sys.modules.update(before)


def resolve(path: str):
    module, _, name = path.rpartition(".")
    home = importlib.import_module(module)
    return getattr(home, name)


@pytest.mark.parametrize(("module", "name", "ours"), SAME, ids=lambda value: value)
def test_names_are_our_objects(module, name, ours):
    value = getattr(importlib.import_module(module), name)
    expected = resolve(ours)
    if isinstance(value, ModuleType):
        assert value.float32 is expected.float32
    else:
        assert value is expected


def test_usual_imports():
    namespace: dict = {}
    exec(
        "import mindspore as ms, mindspore.nn as nn, mindspore.ops as ops\n"
        "import mindspore.common.dtype as mstype, mindspore.context as context\n"
        "from mindspore import Tensor, Parameter, nn as n2, ops as o2, context as c2, dtype as d2, jit\n"
        "from mindspore.ops import operations as P, functional as F, composite as C\n"
        "from mindspore.common.api import _pynative_executor, _cell_graph_executor\n"
        "from mindspore.nn import *\n"
        "_pynative_executor.sync()\n",
        namespace,
    )
    assert namespace["n2"] is namespace["nn"] and namespace["mstype"].int32 is ms.int32
    assert namespace["jit"] is ms.jit and namespace["Dense"] is ms.nn.Dense


def test_version():
    import mindspore

    assert mindspore.__version__ == "2.10.0" and ms.__version__ != mindspore.__version__


@pytest.mark.parametrize(
    ("statement", "nearest"),
    [
        ("from mindspore import Tensr", "Tensor"),
        ("from mindspore.nn import Dens", "Dense"),
        ("from mindspore.ops import reluu", "relu"),
        ("import mindspore.comon", "common"),
        ("import mindspore.nn.layr", "layer"),
        ("from mindspore.common.initializer import HeUnifrom", "HeUniform"),
    ],
)
def test_missing_import_names_the_nearest(statement, nearest):
    with pytest.raises(ImportError, match=nearest):
        exec(statement)


def test_missing_attribute_names_the_nearest():
    import mindspore

    with pytest.raises(AttributeError, match=r"mindspore\.foat32.*'float32'"):
        mindspore.foat32
    assert not hasattr(mindspore, "no_such_name_at_all")
    with pytest.raises(AttributeError, match="'value_and_grad'"):
        ms.valu_and_grad


def test_all_known_modules_import():
    for name in sorted(layout.KNOWN):
        importlib.import_module(name)


def test_too_late(monkeypatch):
    monkeypatch.setitem(sys.modules, "mindspore", ModuleType("mindspore"))
    with pytest.raises(RuntimeError, match="too late"):
        ms.install_as_mindspore()


def test_pytest_plugin(tmp_path):
    (tmp_path / "test_it.py").write_text("import mindspore\ndef test(): assert mindspore.Tensor([1.0]).shape == (1,)\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "duograph.compat.pytest_plugin", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_dir_lists_what_getattr_finds():
    import mindspore

    import duograph

    work, seen, wrong = [mindspore, duograph], set(), []
    while work:
        module = work.pop()
        if module.__name__ in seen:
            continue
        seen.add(module.__name__)
        for name in dir(module):
            if not hasattr(module, name):
                wrong.append(f"{module.__name__}.{name}")
                continue
            value = getattr(module, name)
            if isinstance(value, types.ModuleType) and value.__name__.startswith(("mindspore", "duograph")):
                work.append(value)
    assert not wrong
    assert {"mindspore.nn", "mindspore.ops", "mindspore.dataset.vision", "mindspore.mint.nn.functional"} <= seen


def test_modules_that_hold_nothing_say_why():
    module = importlib.import_module("mindspore.hal.contiguous_tensors_handle")
    with pytest.raises(AttributeError, match="there is one device, the CPU"):
        module.combine_tensor_list_contiguous  # noqa: B018


@pytest.mark.parametrize(
    "name", ["HausdorffDistance", "MeanSurfaceDistance", "OcclusionSensitivity", "RootMeanSquareDistance"]
)
@pytest.mark.parametrize("place", ["mindspore.nn.metrics", "mindspore.nn", "mindspore.train"])
def test_metrics_that_are_not_here_say_why(place, name):
    with pytest.raises(NotImplementedError, match=r"derive one from train\.Metric"):
        getattr(importlib.import_module(place), name)()
