"""One network over several processes: layers that are divided among them, or a pipeline of its parts.

    python examples/network_in_pieces.py                                       # one process: the whole network
    python -m duograph launch -n 2 examples/network_in_pieces.py --how divided
    python -m duograph launch -n 4 examples/network_in_pieces.py --how pipeline

All processes see the same batches of the UCI digits. ``divided``: each has a part of the hidden units of every MLP
(`parallel.ColumnParallelDense`, `RowParallelDense`); sums over hidden units have another order than on one process, so
losses agree up to rounding. ``pipeline``: each has some of the blocks (`parallel.Pipeline`), and batches go through in
four pieces; what is computed is, to the bit, what one process computes that goes through the pieces one by one.
"""

import argparse
import gzip
import itertools
from importlib.resources import files

import numpy as np

import duograph as ms
from duograph import Tensor, communication, nn, ops, parallel

BATCH, BLOCKS, WIDTH, PIECES = 64, 4, 32, 4


class Block(nn.Cell):
    """An MLP and what goes around it."""

    def __init__(self, divided):
        super().__init__()
        if divided:
            self.up = parallel.ColumnParallelDense(WIDTH, 4 * WIDTH, gather_output=False)
            self.down = parallel.RowParallelDense(4 * WIDTH, WIDTH)
        else:
            self.up, self.down = nn.Dense(WIDTH, 4 * WIDTH), nn.Dense(4 * WIDTH, WIDTH)

    def construct(self, x):
        return x + self.down(ops.relu(self.up(x)))


def digits():
    """Images and labels."""
    with gzip.open((files("duograph") / "demo" / "optdigits.csv.gz").open("rb")) as file:
        table = np.loadtxt(file, np.float32, delimiter=",")
    np.random.default_rng(0).shuffle(table)
    return table[:, :64] / 16, table[:, 64].astype(np.int32)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--how", choices=("divided", "pipeline"), default="pipeline")
    parser.add_argument("--epochs", type=int, default=4)
    options = parser.parse_args()

    communication.init()
    rank, size = communication.get_rank(), communication.get_group_size()
    ms.set_seed(1)  # the same initial values on all processes
    blocks = [Block(options.how == "divided") for _ in range(BLOCKS)]
    parts = [nn.Dense(64, WIDTH), *blocks, nn.Dense(WIDTH, 10)]
    loss_fn = nn.CrossEntropyLoss()
    images, labels = digits()

    if options.how == "pipeline":
        bounds = [len(parts) * k // size for k in range(size + 1)]
        stages = [nn.SequentialCell(*parts[a:b]) for a, b in itertools.pairwise(bounds)]
        pipe = parallel.Pipeline(stages, loss_fn, PIECES)
        optimizer = nn.Adam(pipe.weights, 3e-3)

        def step(x, y):
            loss, gradients = pipe.gradients(x, y)
            optimizer(gradients)
            return loss

    else:
        net = nn.SequentialCell(*parts)
        optimizer = nn.Adam(net.trainable_params(), 3e-3)
        gradient = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)

        @ms.jit
        def step(x, y):
            loss, gradients = gradient(x, y)
            optimizer(gradients)
            return loss

    losses = []
    for _ in range(options.epochs):
        for at in range(0, 1408, BATCH):
            losses.append(float(step(Tensor(images[at : at + BATCH]), Tensor(labels[at : at + BATCH])).asnumpy()))

    answers = (pipe if options.how == "pipeline" else net)(Tensor(images[1408:1792]))
    if answers is not None and rank == (size - 1 if options.how == "pipeline" else 0):
        right = (answers.asnumpy().argmax(-1) == labels[1408:1792]).mean()
        print(f"{options.how}, {size} processes: loss {losses[-1]!r}, accuracy {right:.4f}")


if __name__ == "__main__":
    main()
