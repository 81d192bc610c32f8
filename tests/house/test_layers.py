"""A module imports only from its own or lower layers."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from duograph.base.fork import _IMPORTED_LATE
from tests.house.imports import (
    INDENTED,
    LAYERS,
    SOURCE,
    SUBPACKAGES,
    TOP,
    circles,
    cycles,
    import_graph,
    indented,
    layer,
    links,
    modules,
    names_of_higher_layers,
    nodes,
    parsed,
    unassigned,
    violations,
)


def plant(tmp_path: Path, files: dict[str, str]) -> Path:
    """A small package with these files; returns its root."""
    root = tmp_path / "duograph"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_no_import_goes_up():
    assert not violations()


def test_no_string_names_a_module_of_a_higher_layer():
    assert not names_of_higher_layers()


def test_every_part_has_a_layer():
    assert not unassigned()


def test_no_links():
    assert not links()


def test_no_cycles_inside_a_layer():
    assert not cycles()


def test_no_circle_is_longer_than_a_file_and_its_neighbour():
    assert not circles()


def test_imports_in_functions_get_fewer():
    """More than `INDENTED` says: import at the top of the file. Fewer: lower the number, so that it stays."""
    assert indented() == {part: number for part, (number, _) in INDENTED.items()}


def test_a_fork_waits_for_what_functions_import():
    """An import that another thread has begun would stay locked in the child for ever."""
    late = set()
    for path in sorted(SOURCE.rglob("*.py")):
        for function in nodes(parsed(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                for node in ast.walk(function):
                    if isinstance(node, ast.Import):
                        late |= {(alias.name.split(".")[0], path.name) for alias in node.names}
                    elif isinstance(node, ast.ImportFrom) and not node.level:
                        late.add(((node.module or "").split(".")[0], path.name))
    assert late
    assert [item for item in sorted(late) if not item[0].startswith(_IMPORTED_LATE)] == []


def test_the_package_was_read():
    assert "duograph.base.render" in modules()
    seen = {(item.importer, item.target, item.when) for item in import_graph()}
    assert ("duograph.base.render", "duograph.base.diagnostics", "load") in seen
    assert ("duograph.base.diagnostics", "duograph.base.render", "call") in seen


def test_layer_of_modules():
    assert [layer(f"duograph.{name}") for name in LAYERS] == list(LAYERS.values())
    assert layer("duograph.ops.kernels.unary") == 3
    assert layer("duograph.nn.layer") == 10
    assert layer("duograph") == layer("duograph.compat.alias") == TOP


@pytest.mark.parametrize(
    "statement",
    [
        "import duograph.ops.unary",
        "from duograph.ops import unary",
        "from duograph.ops.unary import relu",
        "from duograph import ops",
        "from ..ops import unary",
        "from .. import ops",
        "def f():\n    from duograph.ops.unary import relu",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from duograph.ops.unary import relu",
        "try:\n    import duograph.ops\nexcept ImportError:\n    pass",
        "import duograph",
    ],
)
def test_planted_violation_is_caught(tmp_path, statement):
    files = {"__init__.py": "", "core/dtype.py": statement, "ops/__init__.py": "", "ops/unary.py": ""}
    root = plant(tmp_path, files)
    (found,) = violations(root)
    assert found.startswith("duograph.core.dtype:") and "layer 1 imports from layer" in found
    (root / "core" / "dtype.py").unlink()
    assert not violations(root)


def test_subpackages_have_layers_of_their_own(tmp_path):
    files = {"runtime/pool/pool.py": "import duograph.runtime.launch.key", "runtime/launch/key.py": ""}
    assert violations(plant(tmp_path, files)) == [
        "duograph.runtime.pool.pool:1 imports duograph.runtime.launch.key: inside runtime, pool lies below launch"
    ]


def test_everything_in_a_part_with_subpackages_has_a_layer():
    for name, subpackages in SUBPACKAGES.items():
        folders = {path.parent.name for path in (SOURCE / name).glob("*/__init__.py")}
        files = {path.stem for path in (SOURCE / name).glob("[!_]*.py")}
        assert set(subpackages) == folders | files


@pytest.mark.parametrize(
    ("importer", "imported"),
    [("api", "nn"), ("nn", "mint"), ("nn", "train"), ("context", "nn"), ("mint", "train"), ("train", "compat")],
)
def test_planted_violation_between_upper_layers_is_caught(tmp_path, importer, imported):
    files = {f"{importer}/a.py": f"from duograph.{imported} import b", f"{imported}/b.py": ""}
    (found,) = violations(plant(tmp_path, files))
    assert found.startswith(f"duograph.{importer}.a:1 imports duograph.{imported}.b")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('TABLES = "duograph.nn.optim"', 1),
        ('def f():\n    return import_module("duograph.nn")', 2),
        ('def f(name):\n    """Doc."""\n    return f"duograph.nn.{name}"', 3),
        ('LAYERS = ("duograph.ops.", "duograph.nn.")', 1),
    ],
)
def test_planted_string_is_caught(tmp_path, text, line):
    root = plant(tmp_path, {"api/a.py": text, "nn/b.py": '"""Knows duograph.train."""\nBELOW = "duograph.api.a"'})
    assert names_of_higher_layers(root) == [f"duograph.api.a:{line} names duograph.nn, of layer 10, in a string"]


def test_a_part_without_layer_is_found(tmp_path):
    assert unassigned(plant(tmp_path, {"core/a.py": "", "helpers.py": "", "utils/b.py": ""})) == ["helpers", "utils"]


def test_planted_link_is_found(tmp_path):
    root = plant(tmp_path, {"core/a.py": ""})
    (root / "core" / "b.py").symlink_to("a.py")
    assert links(root) == ["core/b.py"]


def test_siblings_do_not_know_each_other(tmp_path):
    files = {"ir/node.py": "import duograph.tensor.tensor", "tensor/tensor.py": "import duograph.core.dtype"}
    assert violations(plant(tmp_path, files)) == [
        "duograph.ir.node:1 imports duograph.tensor.tensor: the siblings ir and tensor do not know each other"
    ]


def test_planted_cycle_is_caught(tmp_path):
    files = {
        "core/a.py": "from duograph.core import b",
        "core/b.py": "from duograph.core.c import f",
        "core/c.py": "import duograph.core.a",
        "core/d.py": "def g():\n    import duograph.core.e",
        "core/e.py": "import duograph.core.d",
    }
    assert cycles(plant(tmp_path, files)) == [["duograph.core.a", "duograph.core.b", "duograph.core.c"]]


@pytest.mark.parametrize(
    "last",
    [
        "import duograph.core.a",
        "def f():\n    from duograph.core import a",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import A",
    ],
)
def test_planted_circle_is_caught(tmp_path, last):
    """However a file closes a circle of three; two neighbours are none."""
    files = {
        "core/a.py": "from duograph.core import b",
        "core/b.py": "def f():\n    from .c import g",
        "core/c.py": last,
        "ir/d.py": "import duograph.ir.e",
        "ir/e.py": "def g():\n    import duograph.ir.d",
    }
    root = plant(tmp_path, files)
    assert circles(root) == [["duograph.core.a", "duograph.core.b", "duograph.core.c"]]
    (root / "core" / "c.py").write_text("")
    assert not circles(root)


def test_planted_imports_in_functions_are_counted(tmp_path):
    """Those of the package, in methods and nested functions, too; not those at the top or for types."""
    files = {
        "__init__.py": "def __getattr__(name):\n    from . import core",
        "core/__init__.py": "",
        "core/a.py": "import duograph.core.b\ndef f():\n    import numpy\n    from .b import one, two",
        "core/b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import f",
        "ir/c.py": "class C:\n    def f(self):\n        def g():\n            import duograph.core.a",
    }
    assert indented(plant(tmp_path, files)) == {"": 1, "core": 2, "ir": 1}
