"""Handwritten digits: one program in three lives, with the same bits in each.

Two small networks learn to read 8x8 images of digits: once dynamically, once with the training step under `ms.jit`,
once in graph mode. Losses and trained weights are then compared byte by byte, and the steps asked what was compiled.

    python -m duograph demo
    python examples/digits.py --network cnn --epochs 3
"""

import argparse
import gzip
import hashlib
import statistics
import time
from importlib.resources import files

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import duograph as ms
from duograph import Tensor, nn

BATCH = 64


def load_digits():
    """The UCI digits, 1,797 images: four fifths to learn from, the rest to test on, split with a fixed seed."""
    with gzip.open((files("duograph") / "demo" / "optdigits.csv.gz").open("rb")) as file:
        table = np.loadtxt(file, np.float32, delimiter=",")
    np.random.default_rng(0).shuffle(table)
    images, labels = table[:, :64].reshape(-1, 1, 8, 8) / 16, table[:, 64].astype(np.int32)
    cut = len(table) * 4 // 5
    return (images[:cut], labels[:cut]), (images[cut:], labels[cut:])


def mlp():
    return nn.SequentialCell(nn.Flatten(), nn.Dense(64, 96), nn.ReLU(), nn.Dense(96, 10))


def cnn():
    return nn.SequentialCell(
        nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Flatten(), nn.Dense(64, 10),
    )  # fmt: skip


NETWORKS = {"mlp": (mlp, 10), "cnn": (cnn, 6)}  # network, epochs


def training_step(network, mode):
    """A function from images and labels to the loss, which also updates the weights."""
    loss_function = nn.CrossEntropyLoss()
    optimizer = nn.Adam(network.trainable_params(), learning_rate=1e-2)
    if mode == "graph":
        ms.set_context(mode=ms.GRAPH_MODE)
        return nn.TrainOneStepCell(nn.WithLossCell(network, loss_function), optimizer).set_train()

    def forward(images, labels):
        return loss_function(network(images), labels)

    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(images, labels):
        loss, gradients = value_and_grad(images, labels)
        optimizer(gradients)
        return loss

    network.set_train()
    return ms.jit(step) if mode == "jit" else step


def train(name, mode, data, epochs):
    """Trains from the same first weights with the same batches in every mode.

    Returns:
        The network, the step, losses and times.
    """
    ms.set_seed(7)
    build, default_epochs = NETWORKS[name]
    network, (images, labels) = build(), data
    step = training_step(network, mode)
    rng = np.random.default_rng(1)
    orders = [rng.permutation(len(labels)) for _ in range(epochs or default_epochs)]
    batches = [order[i : i + BATCH] for order in orders for i in range(0, len(order) - BATCH + 1, BATCH)]
    losses, times = [], []
    for batch in track(batches, f"{name}, {mode:7}"):
        x, y = Tensor(images[batch]), Tensor(labels[batch])
        start = time.perf_counter()
        loss = step(x, y)
        losses.append(loss.asnumpy())
        times.append(time.perf_counter() - start)
    return network, step, np.array(losses), times


def compiled_as(step, calls):
    """What so many calls of a compiled step became, in counts.

    Returns:
        Whether one version has answered all of them, and the counts; else also why.
    """
    told = step.explain()
    served = sum(version["hits"] - version["plain_runs"] for version in told.versions)
    counts = len(told.versions), len(told.breaks), len(told.fallbacks), len(told.recompiles)
    text = "{} version(s), {} break(s), {} fallback(s), {} recompilation(s)".format(*counts)
    text += f", {served} of {calls} steps"
    reasons = [*told.fallbacks, *told.breaks, *told.recompiles]
    return (*counts, served) == (1, 0, 0, 0, calls), f"{text}: {reasons[0]}" if reasons else text


def accuracy(network, data):
    images, labels = data
    network.set_train(False)
    return float((network(Tensor(images)).asnumpy().argmax(1) == labels).mean())


def sha256(*arrays):
    return hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest()


def main(arguments=None):
    parser = argparse.ArgumentParser(
        "python -m duograph demo", description="Train on handwritten digits in three modes and compare the bits."
    )
    parser.add_argument("--network", choices=NETWORKS, help="only this network (default: both)")
    parser.add_argument("--epochs", type=int, help="passes over the training data (default: 10 for mlp, 6 for cnn)")
    options = parser.parse_args(arguments)
    console, (training, test), good = Console(), load_digits(), True
    for name in [options.network] if options.network else NETWORKS:
        table = Table(
            "mode",
            "test",
            "last loss",
            "first step",
            "step",
            "losses",
            "weights",
            title=f"{name}: accuracy, time, sha256",
        )
        hashes, told = set(), []
        for mode in ("dynamic", "jit", "graph"):
            network, step, losses, times = train(name, mode, training, options.epochs)
            correct = accuracy(network, test)
            ms.set_context(mode=ms.PYNATIVE_MODE)
            bits = sha256(losses), sha256(*(p.asnumpy() for p in network.get_parameters()))
            hashes.add(bits)
            if mode != "dynamic":
                is_whole, counts = compiled_as(step, len(times))
                told.append(f"{mode} step {'compiled' if is_whole else 'NOT COMPILED as a whole'}: {counts}")
                good &= is_whole
            first, later = times[0] * 1e3, statistics.median(times[1:]) * 1e3
            table.add_row(
                mode,
                f"{correct:.2%}",
                f"{losses[-1]:.7f}",
                f"{first:.0f} ms",
                f"{later:.2f} ms",
                *(b[:8] for b in bits),
            )
            good &= correct >= 0.96 or options.epochs is not None
        console.print(table)
        for line in told:
            console.print(line, markup=False, soft_wrap=True)
        console.print(
            "losses and weights:", "the same bits in all modes" if len(hashes) == 1 else "DIFFERENT BITS", "\n"
        )
        good &= len(hashes) == 1
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
