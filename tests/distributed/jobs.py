"""Starts programs on several processes, as users do: ``python -m duograph launch -n N PROGRAM``."""

from __future__ import annotations

import functools
import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from duograph.distributed.launch import find_mpiexec
from tests.children import PATIENCE, start

PROGRAMS = Path(__file__).parent / "programs"
SOURCE = Path(__file__).parents[2] / "src"

needs_mpi = pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None or find_mpiexec() is None, reason="pip install 'duograph[mpi]'"
)


@functools.cache
def refusal_of_the_machine() -> str:
    """Why MPI by itself, without a line of ours, does not run two processes here; empty if it does."""
    program = "from mpi4py import MPI; print(MPI.COMM_WORLD.allreduce(1))"
    what = [str(find_mpiexec()), "-n", "2", sys.executable, "-c", program]
    try:
        done = subprocess.run(what, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (
        ""
        if done.stdout.count("2") == 2 and not done.returncode
        else f"status {done.returncode}: {done.stderr.strip()[-300:]}"
    )


@dataclass
class Job:
    """What a job came to."""

    status: int
    out: str
    err: str


def command(program: str, *arguments: str, count: int = 2, options: tuple[str, ...] = ()) -> list[str]:
    """The command line that starts a program of `PROGRAMS`."""
    launch = [sys.executable, "-m", "duograph", "launch", "-n", str(count), "--timeout", "240", *options]
    return [*launch, str(PROGRAMS / program), *arguments]


def environment() -> dict[str, str]:
    """The variables of a job: the package of this tree, one thread per process."""
    return {**os.environ, "PYTHONPATH": str(SOURCE), "DUOGRAPH_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}


def begin(
    program: str, *arguments: str, count: int = 2, options: tuple[str, ...] = (), **others: Any
) -> subprocess.Popen[str]:
    """Starts a program of `PROGRAMS` on ``count`` processes, which end with this one."""
    what = command(program, *arguments, count=count, options=options)
    return start(what, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **others)


def run(program: str, *arguments: str, count: int = 2, options: tuple[str, ...] = ()) -> Job:
    """Runs a program of `PROGRAMS` on ``count`` processes, and waits for the end."""
    with begin(program, *arguments, count=count, options=options) as process:
        try:
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    return Job(process.returncode, out, err)
