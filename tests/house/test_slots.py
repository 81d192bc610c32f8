"""What a layer leaves open for a higher one is a `Slot`, and all of them stand in one table of the documentation."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.children import PATIENCE
from tests.house.imports import SOURCE, modules, nodes, parsed

TABLE = re.findall(
    r"^\| `([\w.]+)` \| (`[\w/`, .]+`) \|", (SOURCE.parents[1] / "docs" / "architecture.md").read_text(), re.MULTILINE
)
FILLERS = {name: sorted(re.findall(r"`([\w/]+\.py)`", fillers)) for name, fillers in TABLE}
"""Name of a slot -> files that fill it, as `docs/architecture.md` says."""


def having(root: Path, *words: str) -> Iterator[tuple[str, Path, ast.Module]]:
    """The modules whose text has one of the words."""
    for module, path in modules(root).items():
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in words):
            yield module, path, parsed(text)


@cache
def declared(root: Path) -> list[tuple[str, str]]:
    """Module and variable of each slot, and the name that it has been given."""
    found = []
    for module, _, tree in having(root, "Slot", "Listeners"):
        for node in tree.body:
            target = node.target if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [None])[0]
            call = getattr(node, "value", None)
            if isinstance(call, ast.Call) and ast.unparse(call.func) in ("Slot", "_Slot", "Listeners"):
                assert isinstance(target, ast.Name)
                found.append((f"{module}.{target.id}".partition(".")[2], ast.literal_eval(call.args[0])))
    return found


def filled(root: Path, names: set[str]) -> dict[str, list[str]]:
    """Name of a slot -> files that fill it."""
    by_last = {name.rpartition(".")[2]: name for name in names}
    assert len(by_last) == len(names), "two slots of one name: make this test look at modules, too"
    found: dict[str, list[str]] = {name: [] for name in names}
    for _, path, tree in having(root, *by_last):
        for node in nodes(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("fill", "add")
            ):
                slot = ast.unparse(node.func.value).rpartition(".")[2]
                file = path.relative_to(root).as_posix()
                if slot in by_last and file not in found[by_last[slot]]:
                    found[by_last[slot]].append(file)
    return {name: sorted(files) for name, files in found.items()}


def holes(root: Path) -> list[str]:
    """Places for functions of others that are no slots: lists of callables, and attributes that other modules write."""
    wrong = []
    known = {module.rpartition(".")[2] for module in modules(root)}
    for module, path in modules(root).items():
        tree = parsed(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.AnnAssign) and re.match(
                r"list\[Callable|Callable.*\| None$", ast.unparse(node.annotation)
            ):
                wrong.append(f"{module}:{node.lineno} {ast.unparse(node.target)} should be a Slot or Listeners")
        imported = {
            (alias.asname or alias.name)
            for node in nodes(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
            if alias.name.rpartition(".")[2] in known
            and alias.name != (getattr(node, "module", "") or "").rpartition(".")[2]  # a thing called like its module
        }
        for node in nodes(tree):
            targets = node.targets if isinstance(node, ast.Assign) else []
            for target in targets:
                if isinstance(target, ast.Attribute) and ast.unparse(target.value) in imported:
                    wrong.append(f"{module}:{node.lineno} writes {ast.unparse(target)}, which is another module's")
    return wrong


def test_a_slot_is_called_after_its_place():
    found = declared(SOURCE)
    assert [name for name, _ in found] == [name for _, name in found]


def test_the_table_lists_all_slots_and_who_fills_them():
    assert filled(SOURCE, {name for name, _ in declared(SOURCE)}) == FILLERS


def test_nothing_else_is_left_open():
    assert not holes(SOURCE)


def test_all_of_them_are_filled_once_an_op_has_run():
    program = """
import duograph as ms
ms.Tensor(1.0) + 1
ms.ops.add
import duograph.nn.graph_mode, duograph.base.slot
print(*sorted(duograph.base.slot.SLOTS))
for slot in duograph.base.slot.SLOTS.values():
    is_filled = getattr(slot, "value", None) is not None or getattr(slot, "functions", ())
    assert slot.name == "core.kernel.at_first_native" or is_filled, slot
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == sorted(FILLERS)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("hooks: list[Callable[[], None]] = []", "a:1 hooks should be a Slot or Listeners"),
        ("hook: Callable[[], None] | None = None", "a:1 hook should be a Slot or Listeners"),
        ("from duograph import b\nb.hook = print", "a:2 writes b.hook, which is another module's"),
    ],
)
def test_a_planted_hole_is_found(tmp_path, text, complaint):
    root = tmp_path / "duograph"
    root.mkdir()
    (root / "a.py").write_text(text)
    (root / "b.py").write_text("")
    assert holes(root) == [f"duograph.{complaint}"]
