"""Programs on two processes: the bits of one process that simulates them, and how jobs end."""

from __future__ import annotations

import ast
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from duograph.distributed.world import simulate
from tests.children import PATIENCE

from .jobs import begin, needs_mpi, refusal_of_the_machine, run
from .programs import same

pytestmark = needs_mpi
PIECES = Path(__file__).parents[2] / "examples" / "network_in_pieces.py"


@pytest.fixture(scope="module", autouse=True)
def _this_machine_runs_mpi() -> None:
    if why := refusal_of_the_machine():
        pytest.skip(f"MPI alone does not run two processes on this machine: {why}")


@pytest.fixture
def nothing_is_left():
    """Of the memory that MPI shares. Jobs that others run meanwhile take theirs away soon."""

    def names():
        return {*Path("/dev/shm").glob("mpich_shm_*")}

    before = names()
    yield
    end = time.monotonic() + PATIENCE / 4
    while names() - before and time.monotonic() < end:
        time.sleep(0.05)
    assert not names() - before


@pytest.fixture(scope="module")
def results():
    """What each of two processes has computed, by part."""
    job = run("same.py")
    assert job.status == 0, job.err
    lines = dict(line.split(": ", 1) for line in job.out.splitlines() if line.startswith("rank "))
    return [ast.literal_eval(lines[f"rank {rank}"]) for rank in range(2)]


def test_processes_compute_what_threads_do(results):
    assert simulate(2, same.everything) == results


def test_ranks_agree_where_they_must(results):
    assert results[0]["training"] != results[1]["training"], "each has its own losses"
    assert results[0]["later"] == results[1]["later"], "reduced tensors are the same everywhere"


def test_a_program_in_mindspores_habits(tmp_path):
    msrun = "--worker_num=2 --local_worker_num=2 --master_addr=127.0.0.1 --master_port=8118 --join=True"
    logs = ("--log_dir", str(tmp_path), "--tail_worker_log=-1", "--worker_log_name=rank")
    job = run("habits.py", options=(*msrun.split(), *logs))
    assert job.status == 0, job.err
    assert job.out.count("\n") == sum((tmp_path / f"rank_{rank}.log").read_text().count("\n") for rank in range(2))
    first, second = [line for line in job.out.splitlines() if line.startswith("weights")]
    assert first == second
    assert job.out.count("epoch: 1 step: 2, loss is") == 2


def said(how, count):
    """What the example prints: the loss and the accuracy."""
    job = run(str(PIECES), "--how", how, "--epochs", "1", count=count)
    assert job.status == 0, job.err
    words = job.out.split()
    return float(words[words.index("loss") + 1].rstrip(",")), float(words[-1])


@pytest.mark.parametrize(("how", "count"), [("divided", 2), ("pipeline", 4)])
def test_a_network_in_pieces_learns_what_a_whole_one_does(how, count):
    whole = said(how, 1)
    assert said(how, count) == (whole if how == "pipeline" else pytest.approx(whole, rel=1e-4))


ENDS = {
    "shapes": "do not do the same. rank 0: all_reduce of float32 (3,), sum at ends.py:25 (call 3 of the group); "
    "rank 1: all_reduce of float32 (4,), sum at ends.py:25 (call 3 of the group)",
    "operations": "do not do the same. rank 0: all_gather of float32 (3,) at ends.py:27 (call 3 of the group); rank 1",
    "forgets": "do not do the same. rank 0: all_reduce of float32 (3,), sum at ends.py:42 (call 3 of the group); ",
    "leaves early": "a rank has ended its program while others go on in the group 'world'",
    "receives": "rank 1 has ended, while rank 0 waits in receive of float32 (2,) from rank 1",
    "raises": "ValueError: this rank has no data",
    "before init": "ValueError: this rank has no data",
    "all before init": "ValueError: no rank has data",
    "stranger": "rank 1 is not in the group 'group_0.0', which has the ranks [0]",
}


@pytest.mark.usefixtures("nothing_is_left")
@pytest.mark.parametrize("how", ENDS)
def test_a_job_ends_with_one_error(how):
    job = run("ends.py", how)
    assert job.status != 0
    assert ENDS[how] in job.err, job.err
    assert job.err.count("Traceback") == (how != "forgets"), job.err
    assert "BAD TERMINATION" not in job.out, job.out
    if how == "before init":
        assert "the job was ended by rank 1" in job.err, job.err


def test_a_rank_that_is_killed_is_named():
    job = run("ends.py", "killed")
    assert job.status != 0
    assert "rank 1 of 2" in job.err, job.err
    assert "was killed by SIGKILL" in job.err, job.err
    assert not job.out.strip(), job.out


LEAVES = {
    "gone before init": "rank 0 of 2 waited 3",
    "exits": "has left without ending communication",
}


@pytest.mark.usefixtures("nothing_is_left")
@pytest.mark.parametrize("how", LEAVES)
def test_a_rank_that_leaves_without_a_word_is_named(how):
    job = run("ends.py", how)
    assert job.status != 0
    assert LEAVES[how] in job.err, job.err
    assert "rank 1" in job.err, job.err


def test_a_rank_that_waits_in_vain_names_the_other():
    job = run("ends.py", "waits", options=("--timeout", "200"))
    assert job.status != 0
    assert job.out.split() == ["200.0"] * 2
    assert "nothing has come from rank 1" in job.err, job.err


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_ranks_end_with_the_command_that_started_them(ending):
    if ending == signal.SIGKILL and sys.platform != "linux":
        pytest.skip("needs the death signal of parents")
    with begin("ends.py", "interrupted") as process:
        assert process.stdout is not None
        for _ in range(2):
            assert process.stdout.readline() == "ready\n"
        process.send_signal(ending)
        _, errors = process.communicate(timeout=PATIENCE)  # to the end of the pipes, which all of them hold
    assert process.returncode != 0
    assert ("the job was ended by SIGTERM" in errors) == (ending == signal.SIGTERM)


@pytest.mark.timed
def test_control_c_ends_all_ranks():
    process = begin("ends.py", "interrupted", start_new_session=True)
    try:
        assert process.stdout is not None
        for _ in range(2):
            assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, errors = process.communicate(timeout=PATIENCE)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    with pytest.raises(ProcessLookupError):
        while True:  # nobody is left, at last
            os.killpg(process.pid, 0)
            time.sleep(0.01)
