"""`scripts/replay` finds what is planted, and nothing where only modules have moved."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.children import PATIENCE
from tests.replay import __main__ as replay
from tests.replay.compare import Comparison, Recording
from tests.replay.record import FAILED, Recorder, without_hashes

# The comparer, on recordings written by hand -------------------------------------------------------------------------


def recording(folder: Path, **entries: dict[str, str]) -> Recording:
    """A recording with these texts, by entry and title."""
    for name in ("texts", "entries"):
        (folder / name).mkdir(parents=True)
    (folder / "conditions").write_text("")
    for name, texts in entries.items():
        recorder = Recorder(folder)
        for title, text in texts.items():
            recorder.add(title, text)
        (folder / "entries" / name).write_text("".join(f"{line}\n" for line in recorder.lines))
    return Recording(folder)


def report(there: Recording, here: Recording, most: int = 0) -> list[str]:
    return list(Comparison(there, here).report(most))


def test_equal_recordings_give_no_output(tmp_path):
    texts = {"MindIR: f": "a\nb\n", "kernel: k": "c\n"}
    there, here = recording(tmp_path / "there", f=texts), recording(tmp_path / "here", f=texts)
    assert report(there, here) == []
    assert Comparison(there, here).summary() == "1 entries: 1 equal, 0 different, 0 only here, 0 only there"


def test_a_text_that_changed_is_shown_as_a_diff_once(tmp_path):
    old, new = {"graph": "g\n", "kernel: k": "a\nb\n"}, {"graph": "g\n", "kernel: k": "a\nc\n"}
    there, here = recording(tmp_path / "there", f=old, g=old), recording(tmp_path / "here", f=new, g=new)
    assert report(there, here) == [
        "==== f", "-- kernel: k", "@@ -1,2 +1,2 @@", " a", "-b", "+c", "==== g", "-- kernel: k: as in f",
    ]  # fmt: skip
    assert report(there, here, most=3)[:4] == ["==== f", "-- kernel: k", "@@ -1,2 +1,2 @@", " a"]
    assert report(there, here, most=3)[4] == "  (2 more lines)"


def test_texts_and_entries_that_one_tree_has(tmp_path):
    there = recording(tmp_path / "there", f={"kernel: k": "a\n"}, lost={})
    here = recording(tmp_path / "here", f={"guards": "b\n"}, made={})
    assert report(there, here) == [
        "==== f", "-- guards (only here)", "@@ -0,0 +1 @@", "+b", "-- kernel: k (only there)", "@@ -1 +0,0 @@", "-a",
        "==== made: only here", "==== lost: only there",
    ]  # fmt: skip
    assert Comparison(there, here).summary() == "3 entries: 0 equal, 1 different, 1 only here, 1 only there"


def test_another_order_is_a_difference(tmp_path):
    there = recording(tmp_path / "there", f={"a": "1\n", "b": "2\n"})
    here = recording(tmp_path / "here", f={"b": "2\n", "a": "1\n"})
    assert report(there, here)[:2] == ["==== f", "the same texts in another order:"]


def test_what_failed_in_both_trees_has_not_been_compared(tmp_path, capsys):
    texts = {f"{FAILED}ValueError": "why\n"}
    there, here = recording(tmp_path / "there", f=texts), recording(tmp_path / "here", f=texts)
    with pytest.raises(replay.Impossible, match="1 of 1 entries failed"):
        replay.compare(there, here, 0)
    assert "f: ValueError" in capsys.readouterr().err


def test_recordings_of_different_conditions_are_not_compared(tmp_path):
    there, here = recording(tmp_path / "there"), recording(tmp_path / "here")
    there.conditions = "Python: another\n"
    with pytest.raises(replay.Impossible, match="Python: another"):
        replay.compare(there, here, 0)


def test_hashes_are_counted_within_a_text():
    one, two = "0123456789abcdef01234567", "89abcdef0123456789abcdef"
    assert without_hashes(f"@k_add_{two} @k_mul_{one} @k_add_{two}") == "@k_add_0 @k_mul_1 @k_add_0"


# Whole trees ----------------------------------------------------------------------------------------------------------

FEW = ["^programs/branches/(return|if_int)", "^ops/softmax$"]


def tree(folder: Path) -> Path:
    """A copy of this tree, as far as it is needed to record it."""
    for name in ("src", "tests", "bench"):
        shutil.copytree(replay.ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def move(folder: Path, old: str, new: str) -> None:
    """Moves a module of ``duograph``, as an editor does it: the file, and the name wherever it is imported."""
    package = folder / "src" / "duograph"
    target = package / f"{new.replace('.', '/')}.py"
    target.parent.mkdir(exist_ok=True)
    (target.parent / "__init__.py").touch()
    (package / f"{old.replace('.', '/')}.py").rename(target)
    (parent, _, was), (room, _, name) = old.rpartition("."), new.rpartition(".")
    for path in [*folder.rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        made = (
            re.sub(rf"from \.{was} import", f"from duograph.{new} import", text)
            if path.parent.name == parent.rpartition(".")[2]
            else text
        )
        made = made.replace(f"from duograph.{old} import", f"from duograph.{new} import")
        if path == target:
            made = re.sub(r"from \.([\w.]+) import", rf"from duograph.{parent}.\1 import", made)
        if made != text:
            path.write_text(made, encoding="utf-8")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return replay.recorded(replay.ROOT, tmp_path_factory.mktemp("base") / "there", FEW)


@pytest.mark.timeout(1200)  # two trees, compiled with no cache
def test_a_moved_module_gives_no_output(base, tmp_path, capsys):
    here = tree(tmp_path / "tree")
    move(here, "runtime.guards.operations", "runtime.checks.operations")
    move(here, "lower.emit.values", "lower.emission.values")
    assert replay.compare(base, replay.recorded(here, tmp_path / "here", FEW), 0) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert int(shown.err.split()[0]) >= 5  # entries


@pytest.mark.timeout(1200)  # two trees, compiled with no cache
def test_planted_changes_are_found(base, tmp_path, capsys):
    here = tree(tmp_path / "tree")
    for name, old, new in (
        ("lower/emit/functions.py", "store i32 0, ptr %status", "store i32 0,  ptr %status"),
        ("runtime/python/asm.py", '*texts, block, ""])', '*texts, block, "; planted", ""])'),
        ("passes/pipelines.py", "(SIMPLIFY, ANCHORS, OVERLAP)", "(ANCHORS, OVERLAP)"),
    ):
        path = here / "src" / "duograph" / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name} has changed: plant another fault"
        path.write_text(text.replace(old, new), encoding="utf-8")
    assert replay.compare(base, replay.recorded(here, tmp_path / "here", FEW), 0) == 1
    shown = capsys.readouterr().out
    assert "+  store i32 0,  ptr %status" in shown
    assert "-- native text: dg_check" in shown and "+; planted" in shown
    assert "-- MindIR: optimised" in shown


def test_a_base_without_recorder_is_refused(tmp_path, monkeypatch, capsys):
    def git(*arguments: str) -> None:
        name = ["-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", "-C", tmp_path, *name, *arguments], check=True, capture_output=True, timeout=PATIENCE)

    git("init", "-q")
    (tmp_path / "file").write_text("text")
    git("add", "file")
    git("commit", "-q", "-m", "a tree of before")
    monkeypatch.setattr(replay, "ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["replay", "HEAD"])
    assert replay.main() == 2
    assert "cannot record itself" in capsys.readouterr().err
