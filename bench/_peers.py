"""Cases in other interpreters, so that peers can be measured in the same rounds as duograph.

`python -m bench --peer mindspore=/path/to/python NAME` starts that Python once per benchmark, as
`python -m bench._peers NAME mindspore`. It imports ``bench.NAME``, calls its ``peer_cases("mindspore")``, prints the
names of the cases as JSON, and then answers each name that it reads with the seconds of one measurement.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]


class PeerDied(Exception):
    """The interpreter of a peer is no more; others go on."""


def start(benchmark: str, package: str, python: str) -> dict[str, Callable[[], float]]:
    """The cases of a peer; none if its interpreter lacks the package or the benchmark has nothing for it."""
    command = [python, "-m", "bench._peers", benchmark, package]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    try:
        process = subprocess.Popen(command, cwd=ROOT, text=True, **pipes)  # type: ignore[call-overload]
    except OSError as error:
        print(f"  ({package} cannot be measured: {error})")
        return {}
    assert process.stdin is not None and process.stdout is not None
    answers, questions = process.stdout, process.stdin
    names = answers.readline()
    if not names:
        process.wait()
        print(f"  ({package} cannot be measured: {python} does not have it, or nothing to compare)")
        return {}

    def measure(name: str) -> float:
        try:
            questions.write(name + "\n")
            questions.flush()
        except OSError:
            raise PeerDied(f"{package} is gone") from None
        answer = answers.readline()
        if not answer:
            raise PeerDied(f"{package} died in {name!r}")
        return float(answer)

    return {_titled(name, package): (lambda name=name: measure(name)) for name in json.loads(names)}


def _titled(name: str, package: str) -> str:
    """``mlp: jit`` of a peer is ``mlp: mindspore jit``."""
    group, colon, case = name.rpartition(": ")
    return f"{group}{colon}{package} {case}"


def serve(benchmark: str, package: str) -> None:
    """The other end. What a peer prints goes to stderr, so that it does not mix with the answers."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    cases = importlib.import_module(f"bench.{benchmark}").peer_cases(package)
    print(json.dumps(list(cases)), file=answers, flush=True)
    for line in sys.stdin:
        print(cases[line.rstrip("\n")](), file=answers, flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
