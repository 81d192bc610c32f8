"""What ranks compute together: run on processes, and on threads of one process, for the same bits.

As a program it prints the digest of everything, one line per rank.
"""

import hashlib

import numpy as np

import duograph as ms
from duograph import Tensor, communication, nn, ops
from duograph.communication import comm_func
from duograph.mint import distributed as dist


def numbers(n, *place):
    """Numbers whose sum depends on the order."""
    rng = np.random.default_rng([7, *place])
    return (rng.standard_normal(n) * 10.0 ** rng.integers(-3, 4, n)).astype(np.float32)


def collectives(rank, size):
    """Every collective, on small and large operands."""
    for n in (1, 5 * size, 4096 * size, 100_003):
        x = Tensor(numbers(n, rank))
        yield from (ops.AllReduce(op)(x) for op in ("sum", "max", "min", "prod"))
        yield ops.AllReduce()(Tensor(numbers(n, rank), ms.float16))
        yield ops.AllReduce()(Tensor(np.arange(n) * (rank + 1), ms.int64))
        yield ops.Broadcast(size - 1)((x,))[0]
        yield ops.AllGather()(x)
        yield ops.Reduce(0)(x)
        yield comm_func.gather_into_tensor(x, 0)
        if n % size == 0:
            yield ops.ReduceScatter()(x)
            yield ops.AlltoAll(size, 0, 0)(x)
            yield comm_func.scatter_tensor(x, size - 1)


def messages(rank, size):
    """A ring, and exchanges whose order does not fit."""
    x = Tensor(numbers(50_000, rank))
    dist.send(x, (rank + 1) % size, tag=3)
    got = Tensor(np.zeros(50_000, np.float32))
    assert dist.recv(got, (rank - 1) % size, tag=3) == (rank - 1) % size
    yield got
    peer = (rank + 1) % size, (rank - 1) % size
    yield comm_func.batch_isend_irecv(
        [comm_func.P2POp("irecv", got, peer[1], tag=5), comm_func.P2POp("isend", x, peer[0], tag=5)]
    )[0]
    parts = [Tensor(numbers(rank + to + 1, rank, to)) for to in range(size)]
    out = [Tensor(np.zeros(rank + source + 1, np.float32)) for source in range(size)]
    dist.all_to_all(out, parts)
    yield from out


def uneven(rank, size):
    """Exchanges of different sizes, means, and their gradients."""
    rows = [r + 1 for r in range(size)]
    whole = Tensor(np.zeros(sum(rows), np.float32))
    dist.all_gather_into_tensor_uneven(whole, Tensor(numbers(rank + 1, rank)), rows)
    yield whole
    part = Tensor(np.zeros(rank + 1, np.float32))
    dist.reduce_scatter_tensor_uneven(part, Tensor(numbers(sum(rows), rank)), rows)
    yield part
    sizes = [rank + to + 1 for to in range(size)]
    x = Tensor(numbers(sum(sizes), rank))

    def f(x):
        return (ops.AlltoAllV()(x, sizes, sizes) ** 2).sum() + (ops.AllReduce("avg")(x[:1]) * x[0]).sum()

    gradient = ms.grad(f)(x)
    assert np.array_equal(ms.jit(ms.grad(f))(x).asnumpy(), gradient.asnumpy())
    yield gradient
    words = ["", 0]
    dist.send_object_list(["of", rank], (rank + 1) % size)
    assert dist.recv_object_list(words, (rank - 1) % size) == 0
    assert words == ["of", (rank - 1) % size]


def mail(rank, size):
    """Messages that were asked for in another order than they come, with a collective in between."""
    following, before = (rank + 1) % size, (rank - 1) % size
    got = [Tensor(np.zeros(n, np.float32)) for n in (70_000, 3)]
    handles = [dist.irecv(x, before, tag=k) for k, x in enumerate(got)]
    dist.isend(Tensor(numbers(3, rank)), following, tag=1)
    yield ops.AllReduce()(Tensor(numbers(2000, rank)))
    assert handles[1].wait()
    dist.send(Tensor(numbers(70_000, rank)), following, tag=0)
    assert handles[0].wait()
    yield from got


def objects(rank, size):
    """Python objects, of different sizes."""
    found = [None] * size
    dist.all_gather_object(found, {"rank": rank, "text": "x" * 1000 * rank})
    assert [item["rank"] for item in found] == list(range(size))
    assert [len(item["text"]) for item in found] == [1000 * r for r in range(size)]
    words = [f"of {rank}", rank]
    dist.broadcast_object_list(words, size - 1)
    assert words == [f"of {size - 1}", size - 1]
    mine = [None]
    dist.scatter_object_list(mine, [10 * r for r in range(size)], 0)
    assert mine == [10 * rank]
    return ()


def later(rank, size):
    """Asynchronous calls, with synchronous ones in between."""
    tensors = [Tensor(numbers(10_000 * (k + 1), rank, k)) for k in range(4)]
    handles = [dist.all_reduce(t, async_op=True) for t in tensors]
    yield ops.AllReduce()(Tensor(numbers(10, rank)))
    assert all(handle.wait() for handle in handles)
    yield from tensors


def groups(rank, size):
    """Groups of some ranks, in an order of their own."""
    if size < 2:
        return
    name = dist.new_group([1, 0])
    if rank < 2:
        assert communication.get_rank(name) == 1 - rank
        yield ops.AllGather(group=name)(Tensor([float(rank)]))
    assert dist.get_world_size(name) == (2 if rank < 2 else -1)


def program(x):
    """A function with several collectives, on a path that depends on data that all ranks share."""
    total = ops.AllReduce()(x * 2)
    if total.sum() > 0:
        total = total - ops.AllReduce("max")(x)
    return (ops.AllGather()(total * x) ** 2).sum()


def modes(rank, size):
    """Values in all modes."""
    x = Tensor(numbers(6, rank))
    value = program(x)
    assert np.array_equal(ms.jit(program)(x).asnumpy(), value.asnumpy())
    yield value
    yield ms.grad(lambda x: (ops.AllReduce()(x * x) * x).sum())(x)
    yield ms.jit(ms.grad(lambda x: (ops.AllReduce()(x * x) * x).sum()))(x)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3)
        self.norm = nn.SyncBatchNorm(4)
        self.last = nn.Dense(4 * 36, 3)

    def construct(self, x):
        return self.last(ops.relu(self.norm(self.first(x))).reshape(x.shape[0], -1))


def training(rank, size):
    """Steps of data-parallel training by hand, dynamic and compiled."""
    for compiled in (False, True):
        rng = np.random.default_rng(5)
        net, loss = Net(), nn.CrossEntropyLoss()
        net.set_train()
        for p in net.get_parameters():
            p.set_data(Tensor(rng.standard_normal(p.shape).astype(np.float32) * 0.1 + (rank if size > 1 else 0)))
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        reducer = nn.DistributedGradReducer(net.get_parameters(), mean=True)  # all begin with what rank 0 has
        gradient = ms.value_and_grad(lambda x, y, net=net: loss(net(x), y), None, optimizer.parameters)

        def step(x, y):
            value, grads = gradient(x, y)
            optimizer(reducer.reduced(grads))
            return value

        step = ms.jit(step) if compiled else step
        for k in range(3):
            x = Tensor(np.random.default_rng([k, rank]).standard_normal((4, 1, 6, 6)).astype(np.float32))
            yield step(x, Tensor(np.arange(4) % 3, ms.int32))
        yield from net.get_parameters()


def everything():
    """Digests of all results of this rank, by part."""
    communication.init()
    rank, size = communication.get_rank(), communication.get_group_size()
    found = {}
    for part in (collectives, messages, uneven, mail, objects, later, groups, modes, training):
        digest = hashlib.sha256()
        for value in part(rank, size):
            digest.update(np.ascontiguousarray(value.asnumpy()).tobytes())
        found[part.__name__] = digest.hexdigest()[:12]
    return found


if __name__ == "__main__":
    result = everything()
    print(f"rank {communication.get_rank()}: {result}\n", end="", flush=True)
