"""Runs the files of calls on both frameworks and prints what differs and is not known: see `scripts/compare`."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TOLERANCE = 1e-4


def same(x: Any, y: Any) -> bool:
    """Equality, of floats within `TOLERANCE`."""
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, float) and isinstance(y, float):
        if math.isnan(x) or math.isnan(y) or math.isinf(x) or math.isinf(y):
            return x == y or (math.isnan(x) and math.isnan(y))
        return abs(x - y) <= TOLERANCE * max(1.0, abs(x), abs(y))
    return bool(x == y)


def kind_of(theirs: list[Any], ours: list[Any]) -> str:
    """``""`` where the two agree; what only duograph can do agrees, too."""
    if theirs[0] == "raises":
        return "" if ours[0] != "raises" or ours[1] == theirs[1] else "class of the exception"
    if ours[0] == "raises":
        return "missing" if "duograph has no" in ours[2] else "only MindSpore"
    return "" if same(theirs, ours) else "differs"


def known() -> dict[str, str]:
    """Beginnings of calls whose difference is known, with the reason."""
    lines = (HERE / "known.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split("  # ", 1) for line in lines if line.strip() and not line.startswith("#")]
    return {start.strip(): reason for start, reason in rows}


def main(python: str, *names: str) -> int:
    """``python``: an interpreter that has MindSpore; ``names``: files of calls, all by default."""
    families = sorted(path.stem for path in (HERE / "calls").glob("*.txt"))
    reasons, found = known(), 0
    for name in names or families:
        source = HERE / "calls" / f"{name}.txt"
        with tempfile.TemporaryDirectory() as folder:
            results = {}
            for which, interpreter in (("ms", python), ("dg", sys.executable)):
                target = Path(folder) / which
                clean = {k: v for k, v in os.environ.items() if which == "dg" or k != "PYTHONPATH"}
                command = [interpreter, str(HERE / "evaluate.py"), which, str(source), str(target)]
                subprocess.run(command, check=True, env=clean, cwd=folder)
                results[which] = json.loads(target.read_text(encoding="utf-8"))
        kinds = {call: kind_of(theirs, results["dg"][call]) for call, theirs in results["ms"].items()}
        new = [c for c, kind in kinds.items() if kind not in ("", "missing") and not any(map(c.startswith, reasons))]
        for call in new:
            print(f"{kinds[call]}: {call}")
            print(f"    MindSpore {json.dumps(results['ms'][call])[:160]}")
            print(f"    duograph  {json.dumps(results['dg'][call])[:160]}")
        agreed = sum(kind == "" for kind in kinds.values())
        print(f"{name}: {len(kinds)} calls, {agreed} agree, {len(new)} differ and are not known", flush=True)
        found += len(new)
    return min(found, 1)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: scripts/compare PYTHON-WITH-MINDSPORE [FAMILY ...]")
    sys.exit(main(*sys.argv[1:]))
