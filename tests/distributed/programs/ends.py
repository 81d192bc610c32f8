"""Ways in which a job ends badly; the argument says which."""

import os
import signal
import sys
import time

import numpy as np

from duograph import Tensor, communication, ops
from duograph.base.config import config, configure
from duograph.mint import distributed as dist

how = sys.argv[1]
if how == "before init" and os.environ.get("PMI_RANK") == "1":
    raise ValueError("this rank has no data")
if how == "all before init":
    raise ValueError("no rank has data")
if how == "gone before init" and os.environ.get("PMI_RANK") == "1":
    os._exit(0)
communication.init()
rank = communication.get_rank()
x = Tensor(np.ones(3, np.float32))
if how == "shapes":
    ops.AllReduce()(Tensor(np.ones(3 + rank, np.float32)))
elif how == "operations":
    (ops.AllReduce() if rank else ops.AllGather())(x)
elif how == "leaves early":
    for _ in range(5 - 2 * rank):
        ops.AllReduce()(x)
elif how == "raises" and rank == 1:
    raise ValueError("this rank has no data")
elif how == "killed":
    with open("/proc/self/maps" if sys.platform == "linux" else os.devnull) as maps:
        shared = [line.split(None, 5)[5].strip() for line in maps if "/mpich_shm_" in line]
    assert not any(map(os.path.exists, shared)), "names of shared memory would outlive the ranks"
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
elif how == "exits" and rank == 1:
    os._exit(0)
elif how == "forgets":
    dist.all_reduce(Tensor(np.ones(3 + rank, np.float32)), async_op=True)
    sys.exit()
elif how == "receives" and rank == 0:
    dist.recv(Tensor(np.zeros(2, np.float32)), 1)
elif how == "receives":
    sys.exit()
elif how == "stranger":
    name = dist.new_group([0])
    ops.AllReduce(group=name)(x)
elif how == "waits":
    os.write(1, f"{config().comm_timeout}\n".encode())
    if rank == 1:
        time.sleep(600)
    with configure(comm_timeout=0.5):  # of this call, whose other rank never comes
        ops.AllReduce()(x)
elif how == "interrupted":
    os.write(1, b"ready\n")
ops.AllReduce()(x)
time.sleep(600 if how == "interrupted" else 0)
