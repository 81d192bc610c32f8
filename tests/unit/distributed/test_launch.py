"""The command line of ``python -m duograph launch``, and how processes learn what has started them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from unittest.mock import Mock

import pytest

from duograph.base.config import config, configure, launched
from duograph.distributed import ending, world
from duograph.distributed.launch import UsageError, _tell, _Watch, find_mpiexec, launch, parse
from tests.children import start


def test_options_stand_in_front_of_the_program():
    made = parse(["-n", "3", "--threads=2", "--timeout", "1.5", "train.py", "-n", "5"])
    assert (made.count, made.threads, made.timeout, made.program) == (3, 2, "1.5", ["train.py", "-n", "5"])


def test_options_of_msrun():
    made = parse("--worker_num=4 --local_worker_num=4 --log_dir=logs --join=True --cluster_time_out=60 a.py".split())
    assert (made.count, made.local, made.log_dir, made.timeout) == (4, 4, "logs", "60")
    words = "--worker_num=2 --master_addr=127.0.0.1 --master_port=8118 --node_rank=0 --bind_core=True --log_dir=logs"
    made = parse([*words.split(), "--worker_log_name={hostname}", "--tail_worker_log=0,1", "a.py"])
    assert (made.count, made.port, made.bind, made.log_name, made.tail) == (2, 8118, True, "{hostname}", [0, 1])


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("-n 2", "no program"),
        ("-n two a.py", "a number of 1 or more"),
        ("-n 0 a.py", "a number of 1 or more"),
        ("--timeout soon a.py", "a number of seconds"),
        ("--join maybe a.py", "True or False"),
        ("--master_port high a.py", "a number of 1 or more"),
        ("--master_addr 192.0.2.1 a.py", "must be this machine"),
        ("--node_rank 1 a.py", "must be 0"),
        ("--tail_worker_log some --log_dir logs a.py", "needs ranks"),
        ("--tail_worker_log 0 a.py", "need --log_dir"),
        ("--rank_table_file t.json a.py", "is not supported: MPI knows the machines"),
        ("--fast a.py", "unknown option --fast"),
        ("-n", "needs a value"),
        ("--worker_num 4 --local_worker_num 2 a.py", "--hosts says where"),
    ],
)
def test_what_makes_no_sense(words, complaint, capsys):
    with pytest.raises(UsageError, match=complaint):
        parse(words.split())
    assert launch(words.split()) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("gone", [[1, 0, 3], [1, 0], []])
def test_the_rank_whose_pipe_was_closed_first_is_named_though_its_process_goes_late(gone, capsys):
    watch = Mock(count=4, vain="", gone=gone, left=[3, 1, 0, 2], in_order=True)
    watch.notes.return_value = {rank: (100 + rank, ending.JOINED) for rank in range(4)}
    assert _tell(9, {101: 9}, watch) == 9
    assert "rank 3 of 4 (process 103) was killed by SIGKILL" in capsys.readouterr().err


def test_no_mpiexec_says_what_to_install(capsys):
    assert find_mpiexec("no-such-mpiexec") is None
    assert launch(["--mpiexec", "no-such-mpiexec", "a.py"]) == 2
    assert "pip install 'duograph[mpi]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rank", "size"),
    [
        ("PMI_RANK", "PMI_SIZE"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ],
)
def test_who_has_started_this_process(rank, size, monkeypatch):
    assert launched() is None
    monkeypatch.setattr(world, "_process", None)
    monkeypatch.setenv(rank, "1")
    monkeypatch.setenv(size, "4")
    assert launched()[1:] == (1, 4)
    with pytest.raises(RuntimeError, match="as rank 1 of 4: it has to call communication.init"):
        world.current()


def test_several_processes_without_mpi_for_python(monkeypatch):
    monkeypatch.setattr(world, "_process", None)
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setitem(__import__("sys").modules, "mpi4py", None)
    with pytest.raises(RuntimeError, match="as rank 0 of 2, but there is no MPI for Python .*pip install 'duograph"):
        world.init()


@pytest.mark.parametrize(
    ("cores", "threads"),
    [
        ([(0, 1, 2, 3)] * 2, [2, 2]),  # both may use all four
        ([(0, 1), (2, 3)], [0, 0]),  # bound: each has its own, all of which it uses
        ([(0, 1, 2, 3), (4, 5), (2, 3)], [2, 0, 1]),
    ],
)
def test_ranks_share_the_cores_of_their_machine(cores, threads, monkeypatch):
    given: dict[int, int] = {}
    monkeypatch.setattr(world, "own_cores", lambda: cores[world.current().rank])
    monkeypatch.setattr(world, "available_cores", lambda: len(cores[world.current().rank]))
    monkeypatch.setattr(world, "set_config", lambda num_threads: given.update({world.current().rank: num_threads}))
    with configure(num_threads=0, omp_num_threads=0):
        unset = config()
    monkeypatch.setattr(world, "config", lambda: unset)
    world.simulate(len(cores), lambda: world._share_cores(world.current()))
    assert [given.get(rank, 0) for rank in range(len(cores))] == threads


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the system does not tell in which order processes end")
def test_who_ends_first_is_known_of_ranks_that_were_seen(tmp_path):
    ranks = [start([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) for _ in range(2)]
    try:
        for rank, process in enumerate(ranks):
            (tmp_path / str(rank)).write_text(f"{process.pid} {ending.JOINING if rank else 'running'}")
        watch, over, job = _Watch(str(tmp_path), 2, 1e3, []), threading.Event(), Mock()
        thread = threading.Thread(target=watch.run, args=(job, over))
        thread.start()
        while not all((tmp_path / ending.seen(rank)).exists() for rank in range(2)):
            time.sleep(0.001)
        for process in reversed(ranks):
            process.kill()
            process.wait()
        over.set()
        thread.join()
    finally:
        for process in ranks:
            process.kill()
            process.communicate()
    assert (watch.gone, watch.in_order) == ([1, 0], True)
    assert not watch.vain, "a rank that waits when the launcher first looks has not waited long"
    assert not job.terminate.called
