"""Stress: threads, forks, signals, kill -9, full disks, small stacks, on a machine that is busy.

    python -m tests.stress --seconds 60                      # each kind for a minute
    python -m tests.stress --kinds threads forks --seed 5 --rounds 1 --load 0
    python -m tests.stress --python 3.12 --seconds 300

A kind is a number of rounds; each is a process of its own with a seed, which is printed with whatever it finds. The
exit status is 1 if anything was found: a round that says so, dies by a signal, or does not end.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.children import start

from .found import FOUND

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("threads", "forks", "interrupts", "control_c", "killed", "full", "stacks")
TIMEOUT = 270
"""Seconds that a round may take by the clock. One that hangs tells where it stands before that (`found.HANGS`)."""
PRINTED = 12_000
"""Characters that are kept of what a round printed: a deep stack is some 6,000."""
BUSY = "while True: pass"


def run_kind(
    kind: str, seed: int, rounds: int = 1 << 30, seconds: float = math.inf, python: str = sys.executable
) -> list[str]:
    """So many rounds of one kind, or until the time is over; what they found."""
    findings: list[str] = []
    end, done = time.monotonic() + seconds, 0
    with tempfile.TemporaryDirectory() as cache:
        while done < rounds and (done == 0 or time.monotonic() < end):
            findings += [f"{kind}, seed {seed + done}: {text}" for text in _round(kind, seed + done, cache, python)]
            done += 1
    print(f"{kind}: {done} rounds from seed {seed}, {len(findings)} findings", flush=True)
    return findings


def _round(kind: str, seed: int, cache: str, python: str) -> list[str]:
    path = os.pathsep.join([str(ROOT), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "DUOGRAPH_FAILURES": "raise"}
    environment["DUOGRAPH_CACHE_DIR"] = os.path.join(cache, str(seed % 3))
    command = [python, "-m", "tests.stress.rounds", kind, str(seed)]
    process = start(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        output, _ = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        return [f"did not end within {TIMEOUT} s: {output[-PRINTED:]}"]
    findings = [text for text in output.split(FOUND)[1:] if text]
    if process.returncode != 0:
        findings.append(f"ended with {process.returncode}: {output[-PRINTED:]}")
    elif findings and not output.startswith(FOUND):
        findings.append(f"the round printed before: {output.split(FOUND)[0][-PRINTED:]}")  # where a killed child stood
    return findings


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="scripts/stress", description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=20, help="for each kind")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1_000_000, help="of the first round")
    parser.add_argument("--rounds", type=int, default=1 << 30, help="at most, of each kind")
    parser.add_argument("--load", type=int, default=3, help="busy processes beside")
    parser.add_argument("--python", default="", help="3.11, 3.12, 3.13 or a path. Default: this one")
    options = parser.parse_args()
    python = options.python or sys.executable
    if python[:2] == "3.":
        python = str(Path(sys.executable).parents[2] / f".venv-{python}" / "bin" / "python")
    load = [start([sys.executable, "-c", BUSY]) for _ in range(options.load)]
    findings: list[str] = []
    try:
        for kind in options.kinds:
            findings += run_kind(kind, options.seed, options.rounds, options.seconds, python)
    finally:
        for process in load:
            process.kill()
    for text in findings:
        print(f"---- {text}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
