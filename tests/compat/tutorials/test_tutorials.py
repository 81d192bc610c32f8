"""MindSpore's beginner tutorials run as they are printed.

The files in ``pages`` are the code blocks of a page each, in order; what follows ``# >>`` begins a line that the
page shows as output at this place. What a page takes from elsewhere (data sets, matplotlib, Pillow) is in ``stand_ins``.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.children import PATIENCE

HERE = Path(__file__).parent
TUTORIALS = sorted((HERE / "pages").glob("*.py"))


def test_all_are_here():
    assert len(TUTORIALS) == 10


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial(path, tmp_path):
    # the script is read from another folder: beside each other, `dataset.py` and `train.py` would be modules
    script = tmp_path / "tutorial" / path.name
    script.parent.mkdir()
    script.write_text(path.read_text())
    paths = os.pathsep.join([str(HERE / "stand_ins"), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "duograph", str(script)],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    shown = iter(run.stdout.splitlines())
    for line in path.read_text().splitlines():
        if line.startswith("# >> "):
            wanted = line.removeprefix("# >> ").rstrip()
            assert any(found.startswith(wanted) for found in shown), f"{wanted!r} is not shown (in this order)"
