"""Optimizers: three steps against values measured with MindSpore 2.10."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([[1.0, 2.0], [3.0, -4.0]]), name="w")
        self.gamma = Parameter(Tensor([0.5, 0.6]), name="gamma")
        self.bias = Parameter(Tensor([0.1]), name="bias")


CASES = {
    "SGD": (lambda p: nn.SGD(p, 0.1), [1.015, 1.925, 2.835, -4.255, 0.515, 0.525, 0.115]),
    "SGD momentum": (
        lambda p: nn.SGD(p, 0.1, momentum=0.9, dampening=0.2, weight_decay=0.01),
        [1.0391749, 1.8833589, 2.7275429, -4.3880625, 0.54425, 0.49335, 0.1436986],
    ),
    "Momentum": (
        lambda p: nn.Momentum(p, 0.1, 0.9),
        [1.0451499, 1.87685, 2.70855, -4.45975, 0.54515, 0.47685, 0.14515],
    ),
    "Adam": (
        lambda p: nn.Adam(p, 0.1, 0.8, 0.9, 1e-5, weight_decay=0.1, loss_scale=4.0),
        [0.6997753, 1.6995565, 2.6996989, -3.7037861, 0.7244012, 0.3034564, 0.203147],
    ),
    "AdamWeightDecay": (
        lambda p: nn.AdamWeightDecay(p, 0.1, weight_decay=0.1),
        [1.8688724, 0.7336863, 1.6843665, -5.1091433, 1.4085662, -0.6173794, 0.9956034],
    ),
    "RMSProp": (
        lambda p: nn.RMSProp(p, 0.1, 0.9, 0.5, 1e-3, centered=True, weight_decay=0.1),
        [0.9832501, 1.8012301, 2.6334882, -4.19877, 0.5300984, 0.4903547, 0.1248754],
    ),
    "Adagrad": (
        lambda p: nn.Adagrad(p, learning_rate=0.1, weight_decay=0.1),
        [0.9577413, 1.7935885, 2.7736428, -4.2064114, 0.5429965, 0.4359021, 0.1324234],
    ),
    "Rprop": (lambda p: nn.Rprop(p, 0.1), [1.22, 1.636, 2.636, -4.364, 0.72, 0.236, 0.32]),
}


@pytest.mark.parametrize("name", CASES)
def test_three_steps(name):
    make, expected = CASES[name]
    net = Net()
    optimizer = make(net.trainable_params())
    for i in range(3):
        optimizer(
            tuple(
                Tensor(((np.arange(p.size).reshape(p.shape) - 0.5) * 0.3 + i * 0.1).astype(np.float32))
                for p in net.trainable_params()
            )
        )
    found = np.concatenate([p.asnumpy().ravel() for p in net.trainable_params()])
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)
    assert optimizer.global_step.asnumpy().tolist() == [3]


def test_groups():
    net = Net()
    schedule = nn.ExponentialDecayLR(0.1, 0.9, 2)
    optimizer = nn.SGD(
        [
            {"params": [net.w], "lr": 0.5, "weight_decay": 0.1},
            {"params": [net.gamma], "grad_centralization": True},
            {"params": [net.bias], "lr": schedule},
            {"order_params": net.trainable_params()},
        ],
        0.1,
    )
    assert [p.name for p in optimizer.parameters] == ["w", "gamma", "bias"]
    assert [round(float(r), 6) for r in optimizer.get_lr()] == [0.5, 0.1, 0.1]
    assert optimizer.get_lr_parameter(net.bias) is schedule


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda p: nn.SGD([], 0.1), ValueError),
        (lambda p: nn.Adam(3), TypeError),
        (lambda p: nn.SGD(p, -1.0), ValueError),
        (lambda p: nn.Adam(p, beta1=1.5), ValueError),
        (lambda p: nn.Adam(p, beta1=1), TypeError),
        (lambda p: nn.SGD([{"params": [p[0]], "x": 1}], 0.1), KeyError),
        (lambda p: nn.SGD([{"params": [p[0]]}, {"params": [p[0]]}], 0.1), RuntimeError),
    ],
)
def test_bad_arguments(make, error):
    with pytest.raises(error):
        make(Net().trainable_params())


_lion = ops.MultitypeFuncGraph("lion")


@_lion.register("Tensor", "Tensor", "Tensor", "Tensor")
def _lion_step(rate, param, moment, grad):
    moved = ops.assign(param, param - rate * ops.sign(moment * 0.9 + grad * 0.1))
    return ops.depend(ops.assign(moment, moment * 0.99 + grad * 0.01), moved)


class Lion(nn.Optimizer):
    """Written as MindSpore's own optimizers are."""

    def __init__(self, params, learning_rate, loss_scale=1.0):
        super().__init__(learning_rate, params, loss_scale=loss_scale)
        self.moments = self._parameters.clone(prefix="lion", init="zeros")
        self.reciprocal_scale = ms.Tensor(1.0 / loss_scale)

    def construct(self, gradients):
        gradients = self.scale_grad(self.flatten_gradients(gradients))
        rate = self.get_lr()
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        moved = self.hyper_map(ops.partial(_lion, rate), self._parameters, self.moments, gradients)
        return self.broadcast_params(moved) if self.use_parallel else moved


@pytest.mark.parametrize("compiled", [False, True])
def test_optimizers_of_programs_find_what_those_of_mindspore_use(compiled):
    param = ms.Parameter(ms.Tensor([1.0, -2.0]), name="w")
    lion = Lion([param], 0.5, loss_scale=2.0)
    step = ms.jit(lion) if compiled else lion
    for _ in range(3):
        step((ms.Tensor([3.0, -1.0]),))
    np.testing.assert_allclose(param.asnumpy(), [-0.5, -0.5])
    assert int(lion.global_step) == 3 and lion.need_scale and float(lion.reciprocal_scale) == 0.5
    assert lion.optim_filter == (True,) and lion.map_((lambda x: x + 1), (1, 2)) == (2, 3)


def test_of_groups_weight_decay_alone_says_what_decays():
    gamma, w = Parameter(Tensor([1.0, 2.0]), name="bn.gamma"), Parameter(Tensor([1.0, 2.0]), name="w")
    optimizer = nn.SGD([{"params": [gamma], "weight_decay": 0.5}, {"params": [w]}], 0.5)
    optimizer((Tensor([0.0, 0.0]), Tensor([0.0, 0.0])))
    assert (gamma.tolist(), w.tolist()) == ([0.75, 1.5], [1.0, 2.0])
    assert optimizer.decay_flags == (True, False)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_weight_decay_of_a_programs_optimizer_comes_with_the_loss_scale(mode):
    class Own(nn.Optimizer):
        def construct(self, gradients):
            gradients = self.scale_grad(self.decay_weight(gradients))
            for param, gradient in zip(self.parameters, gradients, strict=True):
                ops.assign_sub(param, self.get_lr() * gradient)
            return True

    w = Parameter(Tensor([1.0, 2.0]), name="w")
    optimizer = Own(0.5, [w], 0.5, 1024.0)
    assert (optimizer.weight_decay.item(), optimizer.get_weight_decay().item()) == (512.0, 512.0)
    assert optimizer.ps_parameters == optimizer.cache_enable == optimizer.dynamic_decay_flags == (False,)
    ms.set_context(mode=mode)
    try:
        optimizer((Tensor([0.0, 0.0]),))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert w.tolist() == [0.75, 1.5]


def test_a_schedule_of_rates_has_the_shape_of_the_step():
    optimizer = nn.SGD([Parameter(Tensor([1.0]), name="w")], [0.5, 0.25])
    assert optimizer.learning_rate(Tensor([1], ms.int32))[0].item() == 0.25
    assert optimizer.learning_rate(Tensor(5, ms.int32)).item() == 0.25
    assert optimizer.get_lr().shape == ()
