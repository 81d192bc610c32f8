"""Two processes of one thread: sums over ranks against mpi4py alone, training steps against PyTorch's DDP on gloo.

Each measurement is a job of its own, started as its package starts jobs (``python -m duograph launch``, or processes
that find each other by an address); it gives the median of its calls.
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
SUMS = {"sum of 4 numbers": 4, "sum of 4 MiB": 1 << 20}
STEPS = ("MLP", "GPT, 2 layers")


def cases() -> dict[str, Callable[[], float]]:
    """duograph in eager mode and in a compiled function, and mpi4py."""
    found: dict[str, Callable[[], float]] = {}
    for name in SUMS:
        for how in ("mpi4py", "eager", "jit"):
            found[f"{name}: {how}"] = partial(_launched, how, name)
    return found | {f"{name}: jit": partial(_launched, "jit", name) for name in STEPS}


def peer_cases(package: str) -> dict[str, Callable[[], float]]:
    """PyTorch's gloo and DDP."""
    if package != "torch":
        return {}
    __import__("torch")
    sums = {f"{name}: gloo": partial(_joined, name) for name in SUMS}
    return sums | {f"{name}: DDP": partial(_joined, name) for name in STEPS}


def _launched(how: str, name: str) -> float:
    job = [sys.executable, "-m", "duograph", "launch", "-n", "2", "--threads", "1", "-m", "bench.ranks", how, name]
    return float(subprocess.run(job, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()[-1])


def _joined(name: str) -> float:
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
    where = {"MASTER_ADDR": "localhost", "MASTER_PORT": str(port), "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    ranks = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.ranks", "torch", name], cwd=ROOT, env={**os.environ, **where, "RANK": str(r)},
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        for r in range(2)
    ]  # fmt: skip
    told = [rank.communicate()[0] for rank in ranks]
    return float(told[0].split()[-1])


# ---- on each rank ----------------------------------------------------------------------------------------------------


def _times(name: str) -> int:
    return 2000 if SUMS.get(name, 1 << 20) < 1 << 16 else 30


def _median(call: Callable[[], Any], together: Callable[[], Any], times: int) -> float:
    """Of single calls, since who shares the machine takes the processor away for some milliseconds now and then."""
    found = []
    for i in range(times + 15):
        if i % 15 == 0:
            together()
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return statistics.median(found[15:])


def _mpi4py(name: str) -> float:
    from mpi4py import MPI

    mine, all_of = np.ones(SUMS[name], np.float32), np.empty(SUMS[name], np.float32)
    return _median(lambda: MPI.COMM_WORLD.Allreduce(mine, all_of), MPI.COMM_WORLD.Barrier, _times(name))


def _duograph(how: str, name: str) -> float:
    import duograph as ms
    from bench import _mindspore_steps
    from duograph import communication, nn, ops
    from duograph.distributed import world

    communication.init()
    together = world.current().all.barrier
    if name in SUMS:
        operand = ops.ones(SUMS[name])

        def total(x: Any) -> Any:
            return ops.AllReduce()(x)

        call = ms.jit(total) if how == "jit" else total
        return _median(lambda: call(operand).asnumpy(), together, _times(name))
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    train_step, batch, _ = _mindspore_steps.step(ms, name, nn.DistributedGradReducer)
    step = ms.jit(train_step)
    return _median(lambda: step(*batch).asnumpy(), together, _times(name))


def _torch(name: str) -> float:
    import torch
    from torch import distributed

    from bench import _torch_steps

    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    if name in SUMS:
        operand = torch.ones(SUMS[name])
        return _median(lambda: distributed.all_reduce(operand), distributed.barrier, _times(name))
    step = _torch_steps.step(torch, name, False, torch.nn.parallel.DistributedDataParallel)
    return _median(step, distributed.barrier, _times(name))


def main(how: str, name: str) -> None:
    """One rank of a job; the first one tells the seconds."""
    seconds = {"mpi4py": _mpi4py, "torch": _torch}.get(how, partial(_duograph, how))(name)
    if os.environ.get("RANK", os.environ.get("PMI_RANK", "0")) == "0":
        print(seconds, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
