"""Data-parallel training by `Model`: what ranks agree on."""

from __future__ import annotations

import json

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, communication, nn, ops, parallel
from duograph import dataset as ds
from duograph.distributed.world import simulate
from duograph.train import Callback, CheckpointConfig, EarlyStopping, Model, ModelCheckpoint

ROWS = 32
X = np.random.default_rng(3).standard_normal((ROWS, 4)).astype(np.float32)
Y = (X @ np.array([[1.0], [-2.0], [0.5], [0.0]], np.float32)).astype(np.float32)


@pytest.fixture(autouse=True)
def data_parallel():
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    yield
    ms.reset_auto_parallel_context()


def rows(batch=8, shards=None, shard=0):
    size = communication.get_group_size() if shards is None else shards
    rank = communication.get_rank() if shards is None else shard
    return ds.NumpySlicesDataset((X, Y), ["x", "y"], shuffle=False, num_shards=size, shard_id=rank).batch(batch // size)


def network(seed):
    net = nn.SequentialCell(nn.Dense(4, 6), nn.Tanh(), nn.Dense(6, 1))
    rng = np.random.default_rng(seed)
    for p in net.get_parameters():
        p.set_data(Tensor(rng.standard_normal(p.shape).astype(np.float32)))
    return net


def model(net, **options):
    return Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.05, 0.9), **options)


def weights(net):
    return np.concatenate([p.asnumpy().ravel() for p in net.get_parameters()])


def test_ranks_train_one_network_on_all_rows():
    def program():
        net = network(seed=communication.get_rank())  # different ones, until training begins
        model(net).train(3, rows())
        return weights(net)

    found = simulate(2, program)
    assert np.array_equal(found[0], found[1])
    alone = network(seed=0)
    model(alone).train(3, rows(shards=1))
    np.testing.assert_allclose(found[0], weights(alone), rtol=1e-4, atol=1e-5)


def test_loss_scales_agree_where_one_rank_overflows():
    def program():
        net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
        step = nn.TrainOneStepWithLossScaleCell(
            nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1),
            nn.DynamicLossScaleUpdateCell(2.0**10, 2, 100),
        )  # fmt: skip
        big = 1e38 if communication.get_rank() == 1 else 1.0
        _, overflow, _ = step(Tensor([[big, 1.0]]), Tensor([[0.0]]))
        return bool(overflow.asnumpy()), float(step.scale_sense.asnumpy()), net.weight.asnumpy().tolist()

    assert simulate(2, program) == [(True, 512.0, [[1.0, 1.0]])] * 2


def test_metrics_are_those_of_all_rows():
    metrics = {"mse", "mae", "loss"}
    alone = model(network(seed=1), metrics=metrics).eval(rows(shards=1))
    for found in simulate(2, lambda: model(network(seed=1), metrics=metrics).eval(rows())):
        assert found.keys() == alone.keys()
        for name, value in found.items():
            np.testing.assert_allclose(value, alone[name], rtol=1e-5)


class Largest(nn.Metric):
    """The largest error: no sum."""

    def clear(self):
        self._largest = 0.0

    def update(self, *inputs):
        self._largest = max(self._largest, float(np.abs(inputs[0].asnumpy() - inputs[1].asnumpy()).max()))

    def eval(self):
        return self._largest


class Merged(Largest):
    def merge(self, states):
        self._largest = max(state["_largest"] for state in states)


def test_a_metric_of_the_user_says_how_it_is_merged():
    def program():
        with pytest.raises(NotImplementedError, match="give it a method merge"):
            model(network(seed=1), metrics={"largest": Largest()}).eval(rows())
        return model(network(seed=1), metrics={"largest": Merged()}).eval(rows())["largest"]

    alone = model(network(seed=1), metrics={"largest": Largest()}).eval(rows(shards=1))["largest"]
    assert simulate(2, program) == [alone] * 2


def test_all_ranks_stop_in_the_same_epoch():
    class Count(Callback):
        epochs = 0

        def on_train_epoch_end(self, run_context):
            self.epochs += 1

    def program():
        count = Count()
        worse = Callback()
        worse.on_train_step_end = lambda context: context.original_args().update(
            net_outputs=Tensor(float(communication.get_rank()))
        )
        model(network(seed=1)).train(5, rows(), callbacks=[worse, EarlyStopping("loss", patience=2), count])
        return count.epochs

    assert simulate(2, program) == [3, 3]


def test_a_checkpoint_is_written_by_one_rank(tmp_path, monkeypatch):
    written = []
    save = ms.train.callback.checkpoint.save_checkpoint
    monkeypatch.setattr(
        ms.train.callback.checkpoint, "save_checkpoint",
        lambda network, path, *rest, **named: (written.append(path), save(network, path, *rest, **named)),
    )  # fmt: skip

    def program(folder):
        config = CheckpointConfig(save_checkpoint_steps=4)
        keeper = ModelCheckpoint("net", str(folder()), config)
        net = network(seed=1)
        model(net).train(1, rows(), callbacks=[keeper])
        return keeper.latest_ckpt_file_name, weights(net)

    (name, trained), _ = simulate(2, lambda: program(lambda: tmp_path))
    assert written == [name]
    again = network(seed=9)  # one process goes on where two have been
    assert ms.load_param_into_net(again, ms.load_checkpoint(name))[0] == []
    assert np.array_equal(weights(again), trained)
    written.clear()
    simulate(2, lambda: program(lambda: tmp_path / f"rank_{communication.get_rank()}"))
    assert len(written) == 2, "each rank has a file of its own"


def test_ranks_with_different_numbers_of_batches_do_not_begin():
    def program():
        with pytest.raises(ValueError, match="rank 0 has 4, rank 1 has 2"):
            model(network(seed=1)).train(1, rows(batch=8 if communication.get_rank() == 0 else 16))

    simulate(2, program)


def test_a_rank_that_evaluates_while_others_train_is_told():
    def program():
        trained = model(network(seed=1), metrics={"mse": nn.MSE()})
        trained.train(1, rows())
        trained.eval(rows()) if communication.get_rank() == 0 else trained.train(1, rows())

    with pytest.raises(RuntimeError, match=r"rank 0: .*\(Model.eval\) at .* rank 1: .*\(Model.train\) at"):
        simulate(2, program)


def test_shards_deal_one_order_without_a_seed():
    def numbers(rank):
        dealt = ds.NumpySlicesDataset(np.arange(10), ["n"], num_shards=2, shard_id=rank)
        return [int(row[0].asnumpy()) for row in dealt.create_tuple_iterator(num_epochs=1)]

    assert sorted(numbers(0) + numbers(1)) == list(range(10))


def test_the_size_of_buckets_changes_no_bit():
    def program():
        net = network(seed=1)
        model(net).train(1, rows())
        return weights(net)

    usual = simulate(2, program)[0]
    ms.set_auto_parallel_context(comm_fusion={"allreduce": {"mode": "size", "config": 0.00002}})
    assert np.array_equal(simulate(2, program)[0], usual)


def test_a_timeline_has_all_ranks_on_one_clock(tmp_path):
    def program():
        with parallel.Timeline(str(tmp_path / "trace.json")):
            ops.AllReduce()(Tensor(np.ones(1000, np.float32)))
        return parallel.communication_report()

    report, same = simulate(2, program)
    assert report == same
    assert [line.split()[:4] for line in report.splitlines()[1:] if "all_reduce" in line] == [
        ["0", "all_reduce", "1", "0.00"], ["1", "all_reduce", "1", "0.00"],
    ]  # fmt: skip
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    spans = [e for e in events if e["name"] == "all_reduce"]
    assert sorted(e["pid"] for e in spans) == [0, 1]
    assert all(e["args"]["bytes"] == 4000 and e["ts"] >= 0 for e in spans)
    assert max(e["ts"] for e in spans) <= min(e["ts"] + e["dur"] for e in spans), "they were there together"
