"""Optimizer states dealt over ranks (ZeRO 1): the bits of training without, a part of the memory, whole files."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, communication, nn, ops, parallel
from duograph import dataset as ds
from duograph.distributed.world import simulate
from duograph.experimental import optim as new_optim
from duograph.nn.optim.shards import StateElsewhere
from duograph.train import CheckpointConfig, Model, ModelCheckpoint

X = np.random.default_rng(3).standard_normal((24, 4)).astype(np.float32)
Y = (X @ np.array([[1.0], [-2.0], [0.5], [0.0]], np.float32)).astype(np.float32)


@pytest.fixture(autouse=True)
def data_parallel():
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    yield
    ms.reset_auto_parallel_context()


def network():
    net = nn.SequentialCell(nn.Dense(4, 6), nn.Tanh(), nn.LayerNorm((6,)), nn.Dense(6, 1))
    rng = np.random.default_rng(5)
    for p in net.get_parameters():
        p.set_data(Tensor(rng.standard_normal(p.shape).astype(np.float32)))
    return net


def groups(net):
    first, *rest = net.trainable_params()
    return [{"params": [first], "lr": 0.01, "weight_decay": 0.1}, {"params": rest}]


OPTIMIZERS = {
    "Adam": lambda net: nn.Adam(net.trainable_params(), 0.05, use_amsgrad=True),
    "groups": lambda net: nn.AdamWeightDecay(groups(net), 0.05, weight_decay=0.01),
    "Momentum": lambda net: nn.Momentum(net.trainable_params(), nn.ExponentialDecayLR(0.1, 0.5, 2), 0.9),
    "Lamb": lambda net: nn.Lamb(net.trainable_params(), 0.05),
    "LARS": lambda net: nn.LARS(nn.Momentum(net.trainable_params(), 0.05, 0.9)),
    "ASGD": lambda net: nn.ASGD(net.trainable_params(), 0.05),
    "experimental AdamW": lambda net: new_optim.AdamW(net.trainable_params(), lr=0.05),
    "experimental SGD in groups": lambda net: new_optim.SGD(groups(net), lr=0.05, momentum=0.9),
}


def train(make, shards, compiled=False, steps=4):
    """What the ranks have after some steps, and how many bytes of states each keeps."""
    ms.set_auto_parallel_context(enable_parallel_optimizer=shards)
    net = network()
    optimizer = make(net)
    reducer = nn.DistributedGradReducer(net.trainable_params())
    rank, size = communication.get_rank(), communication.get_group_size()

    def step(x, y):
        loss, gradients = ms.value_and_grad(lambda x, y: nn.MSELoss()(net(x), y), None, net.trainable_params())(x, y)
        optimizer(reducer(gradients))
        return loss

    step = ms.jit(step) if compiled else step
    mine = slice(rank, None, size)
    for _ in range(steps):
        step(Tensor(X[mine]), Tensor(Y[mine]))
    states = {id(p): p for p in optimizer.get_parameters()}
    states = [p for p in states.values() if all(p is not q for q in net.get_parameters())]
    return [p.asnumpy().tobytes() for p in net.get_parameters()], sum(p.nbytes for p in states)


@pytest.mark.parametrize("compiled", [False, True], ids=["dynamic", "compiled"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_bits_are_those_without_shards(name, compiled):
    whole = simulate(3, lambda: train(OPTIMIZERS[name], False))
    dealt = simulate(3, lambda: train(OPTIMIZERS[name], True, compiled))
    assert all(bits == whole[0][0] for bits, _ in (*whole, *dealt))


def test_each_rank_keeps_a_part():
    whole = simulate(3, lambda: train(OPTIMIZERS["Adam"], False))
    dealt = simulate(3, lambda: train(OPTIMIZERS["Adam"], True))
    assert max(nbytes for _, nbytes in dealt) < 0.7 * whole[0][1], "the largest of the parameters has half the elements"
    assert sum(nbytes for _, nbytes in dealt) < 1.1 * whole[0][1]


def test_parameters_of_several_types_and_without_shards():
    def program():
        ms.set_auto_parallel_context(
            enable_parallel_optimizer=True, comm_fusion={"allreduce": {"mode": "size", "config": 1e-5}}
        )
        weights = [
            Parameter(Tensor(np.arange(6), ms.float32), name="a"),
            Parameter(Tensor(np.arange(3), ms.float16), name="b"),
            Parameter(Tensor(np.zeros((0, 4)), ms.float32), name="empty"),
            Parameter(Tensor(2.0), name="number"),
            Parameter(Tensor([1.0, 2.0]), name="everywhere", parallel_optimizer=False),
        ]
        optimizer = nn.Adagrad(weights, accum=0.5, learning_rate=0.1)
        for _ in range(3):
            optimizer([ops.ones_like(w) for w in weights])
        owners = [isinstance(state, StateElsewhere) for state in optimizer.accum]
        return [w.asnumpy().tolist() for w in weights], owners

    found = simulate(2, program)
    assert found[0][0] == found[1][0]
    assert all(a != b for a, b in zip(found[0][1][:4], found[1][1][:4], strict=True)), "each state has one keeper"
    assert not found[0][1][4] and not found[1][1][4]


def rows():
    size, rank = communication.get_group_size(), communication.get_rank()
    return ds.NumpySlicesDataset((X, Y), ["x", "y"], shuffle=False, num_shards=size, shard_id=rank).batch(12 // size)


def run(folder, size, epochs, start=None, shards=True):
    """Trains on ``size`` ranks; the bits of the weights."""

    def program():
        ms.set_auto_parallel_context(enable_parallel_optimizer=shards)
        net = network()
        optimizer = nn.Adam(net.trainable_params(), 0.05)
        model = Model(net, nn.MSELoss(), optimizer)
        if start is not None:
            values = ms.load_checkpoint(start)
            assert not ms.load_param_into_net(net, values)[0]
            assert not ms.load_param_into_net(optimizer, values)[0]
        config = CheckpointConfig(save_checkpoint_steps=2, keep_checkpoint_max=1)
        model.train(epochs, rows(), ModelCheckpoint("net", str(folder), config))
        return [p.asnumpy().tobytes() for p in net.get_parameters()]

    return simulate(size, program) if size > 1 else [program()]


@pytest.mark.parametrize("later", [2, 1])
def test_checkpoints_are_whole_and_start_any_number_of_ranks(tmp_path, later):
    straight = run(tmp_path / "all", 2, 4)
    run(tmp_path / "first", 2, 2)
    (file,) = (tmp_path / "first").glob("*.ckpt")
    again = run(tmp_path / "then", later, 2, start=str(file))
    if later == 2:
        assert again == straight
    else:
        got, wanted = (np.concatenate([np.frombuffer(w, np.float32) for w in r[0]]) for r in (again, straight))
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_saving_by_hand_takes_all_ranks(tmp_path):
    def program():
        ms.set_auto_parallel_context(enable_parallel_optimizer=True)
        net = network()
        optimizer = nn.Adam(net.trainable_params(), 0.05)
        optimizer([ops.ones_like(p) for p in net.trainable_params()])
        with pytest.raises(ValueError, match="parallel.gathered_states"):
            ms.save_checkpoint(optimizer, str(tmp_path / f"part{communication.get_rank()}"))
        whole = parallel.gathered_states(optimizer)
        ms.save_checkpoint(whole, str(tmp_path / f"rank{communication.get_rank()}"))

    simulate(2, program)
    first, second = (ms.load_checkpoint(str(tmp_path / f"rank{rank}.ckpt")) for rank in range(2))
    assert first.keys() == second.keys()
    moments = [name for name in first if name.startswith("moment1")]
    assert len(moments) == 6
    for name in moments:
        assert first[name].asnumpy().all() and np.array_equal(first[name].asnumpy(), second[name].asnumpy())


def test_an_overflow_skips_the_step_on_all_ranks():
    def program(shards):
        ms.set_auto_parallel_context(enable_parallel_optimizer=shards)
        net = network()
        optimizer = nn.Adam(net.trainable_params(), 0.05)
        manager = nn.DynamicLossScaleUpdateCell(2.0**4, 2, 2)
        cell = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, nn.MSELoss()), optimizer, manager)
        cell.set_train()
        rank = communication.get_rank()
        told = []
        for k in range(4):
            x = X[rank::2] * (np.float32(np.inf) if k == 1 and rank == 1 else 1)
            _, overflow, scale = cell(Tensor(x), Tensor(Y[rank::2]))
            told.append((bool(overflow), float(scale)))
        return told, [p.asnumpy().tobytes() for p in net.get_parameters()]

    whole, dealt = (simulate(2, lambda s=shards: program(s)) for shards in (False, True))
    assert whole == dealt
    assert [overflow for overflow, _ in whole[0][0]] == [False, True, False, False]


def test_states_are_dealt_where_training_is_data_parallel():
    def program():
        ms.set_auto_parallel_context(parallel_mode="stand_alone", enable_parallel_optimizer=True)
        with pytest.raises(RuntimeError, match="For 'Adam', enable_parallel_optimizer deals states over"):
            nn.Adam(network().trainable_params())

    simulate(2, program)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", enable_parallel_optimizer=True)
    assert nn.Adam(network().trainable_params()).shards is None, "there is one process"
