"""Processes as ``srun --mpi=pmi2`` starts them: without a launcher of MPI, with their ranks in variables, and a socket
for each through which MPI learns of the others. Slurm understands the first version of PMI, too."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading

from tests.children import PATIENCE, start

from .jobs import environment, needs_mpi

PROGRAM = """
import duograph as ms
from duograph import communication, ops
communication.init()
print("rank", communication.get_rank(), "sum", ops.AllReduce()(ms.Tensor([communication.get_rank() + 1.0])))
"""


class Server:
    """What tells ``size`` processes of each other, in the words of PMI-1."""

    def __init__(self, size: int) -> None:
        self._size, self._waiting, self._lock = size, [], threading.Lock()
        self._known = {"PMI_process_mapping": f"(vector,(0,1,{size}))"}

    def serve(self, end: socket.socket) -> None:
        with end, end.makefile() as lines:
            for line in lines:
                self._answer(end, line.strip())

    def _answer(self, end: socket.socket, line: str) -> None:
        words = dict(word.split("=", 1) for word in line.split() if "=" in word)
        key, command = words.get("key", ""), words["cmd"]
        if command == "put":
            self._known[key] = line.partition(" value=")[2]
        if command == "barrier_in":
            with self._lock:
                self._waiting.append(end)
                if len(self._waiting) == self._size:
                    for one in self._waiting:
                        one.sendall(b"cmd=barrier_out rc=0\n")
                    self._waiting = []
            return
        found = f"rc=0 msg=success value={self._known[key]}" if key in self._known else "rc=-1 msg=no value=no"
        answers = {
            "init": "response_to_init pmi_version=1 pmi_subversion=1 rc=0",
            "get_maxes": "maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024",
            "get_appnum": "appnum rc=0 appnum=0",
            "get_universe_size": "universe_size rc=0 size=-1",
            "get_my_kvsname": "my_kvsname rc=0 kvsname=job",
            "put": "put_result rc=0 msg=success",
            "get": f"get_result {found}",
            "finalize": "finalize_ack rc=0",
        }
        end.sendall(f"cmd={answers[command]}\n".encode())


def begin(rank: int, size: int, *ends: int, **more: str) -> subprocess.Popen[str]:
    """A process of a step of Slurm."""
    variables = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank),
                 "SLURM_NTASKS": str(size), "SLURM_STEP_NUM_TASKS": str(size), **more}  # fmt: skip
    return start(
        [sys.executable, "-c", PROGRAM],
        env=environment() | variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=ends,
    )  # fmt: skip


@needs_mpi
def test_processes_that_pmi_tells_of_each_other_are_a_job():
    server, ranks = Server(2), []
    for rank in range(2):
        ours, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            told = {"PMI_FD": str(number), "PMI_RANK": str(rank), "PMI_SIZE": "2", "PMI_JOBID": "7.0"}
            ranks.append(begin(rank, 2, number, **told))
        threading.Thread(target=server.serve, args=(ours,), daemon=True).start()
    try:
        for rank, process in enumerate(ranks):
            out, err = process.communicate(timeout=PATIENCE)
            assert (process.returncode, out) == (0, f"rank {rank} sum [3.]\n"), err
    finally:
        for process in ranks:
            process.kill()


@needs_mpi
def test_without_it_each_says_so_and_leaves_nothing():
    with begin(1, 2) as process:
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    assert "srun says that this is rank 1 of 2, but MPI knows 1 ranks" in err and "pmi2" in err
    assert not os.path.exists(f"/dev/shm/mpich_shm_{process.pid:x}_0")
