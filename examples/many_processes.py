"""Two networks on one to many processes: digits, and a small GPT that reads a text.

    python examples/many_processes.py                                             # one process
    python -m duograph launch -n 4 examples/many_processes.py --network gpt
    srun -n 8 python -m duograph examples/many_processes.py                       # Slurm

The whole batch has the same size on any number of processes; each takes its part of it. The order of sums over rows
differs with the number of processes, so accuracies are the same up to rounding; for one number of processes everything
is the same to the bit.
"""

import argparse
import gzip
import time
from importlib.resources import files

import numpy as np

import duograph as ms
from duograph import Tensor, communication, nn, ops
from duograph import dataset as ds

BATCH = 64


class Block(nn.Cell):
    """Attention to what came before, and two layers."""

    def __init__(self, width, heads, length):
        super().__init__()
        self.first, self.second = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.heads = heads
        self.mask = Tensor(np.triu(np.full((length, length), -1e9, np.float32), 1))

    def construct(self, x):
        n, length, width = x.shape
        parts = self.qkv(self.first(x)).reshape(n, length, 3, self.heads, width // self.heads).transpose(2, 0, 3, 1, 4)
        q, k, v = parts[0], parts[1], parts[2]
        weights = ops.softmax(ops.matmul(q, k.swapaxes(-1, -2)) / (width // self.heads) ** 0.5 + self.mask)
        x = x + self.out(ops.matmul(weights, v).swapaxes(1, 2).reshape(n, length, width))
        return x + self.down(ops.gelu(self.up(self.second(x))))


class GPT(nn.Cell):
    def __init__(self, words=64, length=32, width=64, heads=4, blocks=2):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = ms.Parameter(Tensor(np.random.default_rng(0).normal(0, 0.02, (length, width)).astype(np.float32)))
        self.blocks = nn.SequentialCell(*[Block(width, heads, length) for _ in range(blocks)])
        self.head = nn.Dense(width, words)

    def construct(self, ids):
        x = self.head(self.blocks(self.words(ids) + self.places))
        return x.reshape(-1, x.shape[-1])


def digits():
    """The UCI digits, 1,797 images, and a network that reads them."""
    with gzip.open((files("duograph") / "demo" / "optdigits.csv.gz").open("rb")) as file:
        table = np.loadtxt(file, np.float32, delimiter=",")
    np.random.default_rng(0).shuffle(table)
    images, labels = table[:, :64] / 16, table[:, 64].astype(np.int32)
    net = nn.SequentialCell(nn.Dense(64, 96), nn.ReLU(), nn.Dense(96, 10))
    return net, (images[:1408], labels[:1408]), (images[1408:1792], labels[1408:1792]), 10


def text():
    """A text whose next letter follows from the two before, and a GPT that finds out how."""
    rng = np.random.default_rng(0)
    rule = rng.integers(0, 64, (64, 64))
    letters = np.zeros((1024, 33), np.int32)
    letters[:, :2] = rng.integers(0, 64, (1024, 2))
    for i in range(2, 33):
        letters[:, i] = rule[letters[:, i - 1], letters[:, i - 2] % 2]
    return GPT(), (letters[:896, :-1], letters[:896, 1:]), (letters[896:, :-1], letters[896:, 1:]), 6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", choices=("digits", "gpt"), default="digits")
    parser.add_argument("--epochs", type=int, default=0)
    options = parser.parse_args()

    communication.init()
    rank, size = communication.get_rank(), communication.get_group_size()
    ms.set_seed(1)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    net, train, test, epochs = digits() if options.network == "digits" else text()

    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Adam(net.trainable_params(), 3e-3)
    reducer = nn.DistributedGradReducer(optimizer.parameters)
    gradient = ms.value_and_grad(lambda x, y: loss_fn(net(x), y.reshape(-1)), None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        loss, grads = gradient(x, y)
        optimizer(reducer(grads))
        return loss

    rows = ds.NumpySlicesDataset(train, ["x", "y"], num_shards=size, shard_id=rank).batch(
        BATCH // size, drop_remainder=True
    )
    times = []
    for _ in range(options.epochs or epochs):
        for x, y in rows.create_tuple_iterator(num_epochs=1):
            start = time.perf_counter()
            step(x, y)
            times.append(time.perf_counter() - start)

    mine = slice(rank * len(test[0]) // size, (rank + 1) * len(test[0]) // size)
    answers = net(Tensor(test[0][mine])).asnumpy().argmax(-1)
    right = ops.AllReduce()(
        Tensor([int((answers == test[1][mine].reshape(-1)).sum()), answers.size], ms.int32)
    ).asnumpy()
    if rank == 0:
        accuracy = right[0] / right[1]
        print(f"{options.network}, {size} processes: accuracy {accuracy:.4f}, {1e3 * np.median(times):.2f} ms per step")


if __name__ == "__main__":
    main()
