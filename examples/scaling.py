"""How a data-parallel step scales: measured on the processes at hand, predicted for up to 4,096.

    python -m duograph launch -n 2 examples/scaling.py
    python -m duograph launch -n 4 examples/scaling.py --width 1024 --latency 2e-6 --bandwidth 12e9

Each process measures what it computes alone (two batch sizes: seconds per row, and the rest) and what the links between
the processes cost; the model (`duograph.distributed.cost`) makes a step of these, which is then compared with the step
that is taken together. With ``--latency`` and ``--bandwidth`` the table is of another network between the machines.
"""

import argparse
import dataclasses
import json
import math
import pathlib
import time

import numpy as np

import duograph as ms
from duograph import Tensor, communication, nn
from duograph.distributed import world
from duograph.distributed.cost import Links, Training, measure
from duograph.distributed.world import WORLD

RANKS = (1, 2, 4, 8, 16, 64, 256, 1024, 4096)


def seconds(step, *args, steps=15):
    """The quickest of some calls, after those that compile: what else the machine does only adds to it."""
    for _ in range(4):
        step(*args)
    found = []
    for _ in range(steps):
        world.current().all.barrier()
        start = time.perf_counter()
        step(*args).asnumpy()
        found.append(time.perf_counter() - start)
    return min(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--rows", type=int, default=64, help="of the batch, on each process")
    parser.add_argument("--latency", type=float, help="seconds of a message between machines")
    parser.add_argument("--bandwidth", type=float, help="bytes per second between machines")
    parser.add_argument("--json", help="a file for what was measured")
    options = parser.parse_args()

    communication.init()
    rank, size = communication.get_rank(), communication.get_group_size()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    layers = [nn.Dense(options.width, options.width, activation="relu") for _ in range(options.layers)]
    net = nn.SequentialCell(*layers, nn.Dense(options.width, 1))
    optimizer = nn.Adam(net.trainable_params(), 1e-3)
    reducer = nn.DistributedGradReducer(net.trainable_params())
    gradient = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)

    @ms.jit
    def backward(x):
        loss, gradients = gradient(x)
        return loss + sum(g.sum() for g in gradients)

    @ms.jit
    def alone(x):
        loss, gradients = gradient(x)
        optimizer(gradients)
        return loss

    @ms.jit
    def together(x):
        loss, gradients = gradient(x)
        optimizer(reducer(gradients))
        return loss

    def batch(rows):
        return Tensor(np.random.default_rng(rank).standard_normal((rows, options.width)).astype(np.float32))

    part, whole = batch(max(1, options.rows // 8)), batch(options.rows)
    few, many = seconds(backward, part), seconds(backward, whole)
    row = max((many - few) / (whole.shape[0] - part.shape[0]), 1e-9) if whole.shape[0] > part.shape[0] else many
    moving = max(seconds(alone, whole) - many, 0.0)
    nbytes = sum(p.nbytes for p in net.trainable_params())
    network = Training(nbytes, row, max(many - row * options.rows, 0.0), moving)
    links = measure(world.current().group(WORLD)) if size > 1 else Links(0.0, 0.0, math.inf, math.inf)
    taken = seconds(together, whole)
    if rank:
        return
    if options.json:
        told = {
            "ranks": size, "width": options.width, "rows": options.rows, "seconds": taken,
            "links": dataclasses.astuple(links), "network": dataclasses.astuple(network),
        }  # fmt: skip
        pathlib.Path(options.json).write_text(json.dumps(told))
    if size == 1:
        print(
            f"step of {options.rows} rows on one process: {taken * 1e3:.2f} ms. Links are between processes:", end=" "
        )
        print("python -m duograph launch -n 2 examples/scaling.py")
        return
    print(f"links: {links.call * 1e6:.0f} us a call, {links.latency * 1e6:.1f} us a message,", end=" ")
    print(f"{links.bandwidth / 1e9:.2f} GB/s, sums {links.sums / 1e9:.2f} GB/s")
    print(f"network: {nbytes / 1e6:.1f} MB, {row * 1e6:.0f} us a row, {network.fixed * 1e3:.2f} ms a step,", end=" ")
    print(f"{moving * 1e3:.2f} ms Adam")
    predicted = network.step(links, size, options.rows)
    print(f"step of {options.rows} rows on {size} processes: {taken * 1e3:.2f} ms, predicted {predicted * 1e3:.2f} ms")
    links = dataclasses.replace(
        links, latency=options.latency or links.latency, bandwidth=options.bandwidth or links.bandwidth
    )
    print(f"\n{'ranks':>6} {'step ms':>9} {'efficiency':>11} {'with shards':>12} {'rows for 90 %':>14}")
    for ranks in RANKS:
        print(
            f"{ranks:>6} {network.step(links, ranks, options.rows) * 1e3:>9.2f} "
            f"{network.efficiency(links, ranks, options.rows):>11.0%} "
            f"{network.step(links, ranks, options.rows, shards=True) * 1e3:>9.2f} ms "
            f"{network.rows_for(links, ranks):>14}"
        )


if __name__ == "__main__":
    main()
