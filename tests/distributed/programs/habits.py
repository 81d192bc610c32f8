"""A program as MindSpore's tutorials of distributed training have it, under their names."""

import sys

import mindspore as ms
import mindspore.communication.comm_func as comm_func
import mindspore.mint.distributed as dist
import numpy as np
from mindspore import Tensor, context, nn, ops
from mindspore.communication import GlobalComm, create_group, get_group_size, get_rank, init, release
from mindspore.communication.management import get_local_rank, get_local_rank_size
from mindspore.nn.wrap.grad_reducer import DistributedGradReducer
from mindspore.ops import ReduceOp

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)  # before `init`
init("mccl")
rank, size = get_rank(), get_group_size()
context.set_auto_parallel_context(device_num=size, global_rank=rank)
ms.set_seed(1)
assert sys.stdout.line_buffering, "what a rank prints is shown before it ends"
assert (get_local_rank(), get_local_rank_size(), GlobalComm.INITED) == (rank, size, True)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.all_reduce = ops.AllReduce(ReduceOp.SUM, group=GlobalComm.WORLD_COMM_GROUP)
        self.dense = nn.Dense(3, 2, "ones", has_bias=False)

    def construct(self, x):
        return self.all_reduce(self.dense(x))


assert Net()(Tensor(np.ones((2, 3)), ms.float32)).asnumpy().tolist() == [[6.0, 6.0]] * 2

net = nn.SequentialCell(nn.Flatten(), nn.Dense(16, 8, weight_init="normal"), nn.ReLU(), nn.Dense(8, 4))
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.SGD(net.trainable_params(), 1e-2)


def forward(data, target):
    logits = net(data)
    return loss_fn(logits, target), logits


grad_fn = ms.value_and_grad(forward, None, net.trainable_params(), has_aux=True)
grad_reducer = DistributedGradReducer(optimizer.parameters)
rng = np.random.RandomState(rank)
for _ in range(3):
    data, target = Tensor(rng.randn(8, 4, 4), ms.float32), Tensor(rng.randint(0, 4, 8), ms.int32)
    (loss, _), grads = grad_fn(data, target)
    grads = grad_reducer(grads)
    optimizer(grads)

ms.set_context(mode=ms.PYNATIVE_MODE)
rows = [(rng.randn(4, 4).astype(np.float32), np.int32(rng.randint(4))) for _ in range(16)]
dataset = ms.dataset.GeneratorDataset(rows, ["x", "y"], shuffle=False, num_shards=size, shard_id=rank).batch(4)
model = ms.Model(net, loss_fn, optimizer, metrics={"acc": nn.Accuracy()}, amp_level="O2")
model.train(1, dataset, callbacks=[ms.LossMonitor(2)])
accuracy = model.eval(dataset)["acc"]

out, handle = comm_func.all_gather_into_tensor(Tensor([1.0 * rank]), async_op=True)
handle.wait()
assert out.asnumpy().tolist() == list(range(size))
dist.init_process_group()
largest = Tensor([float(rank)])
handle = dist.all_reduce(largest, op=ReduceOp.MAX, async_op=True)
if handle:
    handle.wait()
assert largest.asnumpy().tolist() == [size - 1]
create_group("all of them", list(range(size)))
dist.barrier(group="all of them")
release()
init()
total = ops.AllReduce()(Tensor([float(sum(p.asnumpy().sum() for p in net.get_parameters()))]))
print(f"weights {total.asnumpy()[0] / size}, accuracy {accuracy}\n", end="", flush=True)
