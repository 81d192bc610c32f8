"""A module imports only from its own or lower floors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house.imports import FLOORS, ROOMS, SOURCE, TOP, cycles, floor, import_graph, modules, violations


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


def test_no_cycles_inside_a_floor():
    assert not cycles()


def test_the_package_was_read():
    assert "duograph.base.render" in modules()
    seen = {(item.importer, item.target, item.when) for item in import_graph()}
    assert ("duograph.base.render", "duograph.base.diagnostics", "load") in seen
    assert ("duograph.base.diagnostics", "duograph.base.render", "call") in seen


def test_floor_of_modules():
    assert [floor(f"duograph.{name}") for name in FLOORS] == list(FLOORS.values())
    assert floor("duograph.ops.kernels.unary") == 3
    assert floor("duograph") == floor("duograph.nn.layer") == floor("duograph.context") == TOP


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
    assert found.startswith("duograph.core.dtype:") and "floor 1 imports from floor" in found
    (root / "core" / "dtype.py").unlink()
    assert not violations(root)


def test_rooms_have_floors_of_their_own(tmp_path):
    files = {"runtime/pool/pool.py": "import duograph.runtime.launch.key", "runtime/launch/key.py": ""}
    assert violations(plant(tmp_path, files)) == [
        "duograph.runtime.pool.pool:1 imports duograph.runtime.launch.key: inside runtime, pool lies below launch"
    ]


def test_every_folder_of_a_part_with_rooms_is_one():
    for name, rooms in ROOMS.items():
        assert set(rooms) == {path.name for path in (SOURCE / name).iterdir() if (path / "__init__.py").exists()}


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
