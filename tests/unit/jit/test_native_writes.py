"""Native calls that write: parameters and optimiser state, in-place arguments, versions of storages, shared memory."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn, ops
from tests.unit.jit.native_calls import bits, f32, is_native, led_by_python, python_within, warmed

RNG = np.random.default_rng(0)
INPUT = Tensor(RNG.standard_normal((4, 3)).astype(np.float32))
TARGET = Tensor(RNG.standard_normal((4, 2)).astype(np.float32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(3, 5), nn.Dense(5, 2)
        for i, p in enumerate(self.trainable_params()):
            p.set_data(Tensor(np.random.default_rng(i).standard_normal(p.shape).astype(np.float32)))

    def construct(self, x):
        return self.second(ops.relu(self.first(x)))


def training(optimizer=nn.Adam):
    """A network, its optimizer, and the function that takes one step."""
    net = Net()
    optimizer = optimizer(net.trainable_params(), 0.01)
    loss = nn.MSELoss()
    gradients = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)

    def step(x, y):
        value, grads = gradients(x, y)
        optimizer(grads)
        return value

    return net, optimizer, step


@pytest.mark.parametrize("optimizer", [nn.SGD, nn.Momentum, nn.Adam, nn.AdamWeightDecay])
def test_a_training_step_updates_in_place_and_to_the_bit(optimizer):
    make = (lambda p, rate: nn.Momentum(p, rate, 0.9)) if optimizer is nn.Momentum else optimizer
    (_, one, eager), (_, two, plain) = training(make), training(make)
    step = ms.jit(plain)
    for _ in range(3):
        assert bits(step(INPUT, TARGET)) == bits(eager(INPUT, TARGET))
    arrays = [p.asnumpy().ctypes.data for p in two.get_parameters()]
    assert is_native(step, INPUT, TARGET)
    eager(INPUT, TARGET)
    for _ in range(3):
        assert bits(led_by_python(step, INPUT, TARGET)) == bits(eager(INPUT, TARGET))
        assert bits(step(INPUT, TARGET)) == bits(eager(INPUT, TARGET))
    states = [[bits(p) for p in o.get_parameters()] for o in (one, two)]
    assert states[0] == states[1]
    assert [p.asnumpy().ctypes.data for p in two.get_parameters()] == arrays


def test_a_step_goes_on_with_replaced_parameters():
    (net_one, _, eager), (net_two, _, plain) = training(), training()
    step = warmed(ms.jit(plain), INPUT, TARGET)
    warmed(eager, INPUT, TARGET)
    for net in (net_one, net_two):
        net.first.weight.set_data(Tensor(np.full((5, 3), 0.5, np.float32)))
        net.second.bias.add_(1.0)
    for _ in range(3):
        assert bits(step(INPUT, TARGET)) == bits(eager(INPUT, TARGET))
    assert is_native(step, INPUT, TARGET)


def swap(a, b):
    """Each gets the other's contents."""
    kept = a + 0.0
    a.copy_(b)
    b.copy_(kept)
    return kept


def test_inputs_that_are_outputs_of_each_other():
    a, b = f32(1.0, 2.0), f32(3.0, 4.0)
    compiled = warmed(ms.jit(swap), f32(0.0, 0.0), f32(0.0, 0.0))
    assert is_native(compiled, a, b)
    assert a.asnumpy().tolist() == [3.0, 4.0] and b.asnumpy().tolist() == [1.0, 2.0]


def test_one_tensor_given_twice_is_another_program():
    a = f32(1.0, 2.0)
    compiled = warmed(ms.jit(swap), f32(0.0, 0.0), f32(0.0, 0.0))
    compiled(a, a)
    assert a.asnumpy().tolist() == [1.0, 2.0]


def added(a, b):
    a.add_(b)
    return a * b


def test_views_of_what_is_written():
    """Tensors that show each other's memory are not taken for strangers."""

    def run(function):
        out = []
        for _ in range(4):
            base = f32(1.0, 2.0, 3.0, 4.0)
            out += [bits(function(base[:2], base[2:])), bits(function(base[:3], base[1:])), bits(base)]
        return out

    compiled = warmed(ms.jit(added), f32(1.0, 2.0), f32(1.0, 2.0))
    assert run(compiled) == run(added)


def test_arrays_that_overlap_without_anybody_saying_so():
    """A program reads all its inputs before it writes any, whoever runs it."""
    memory = np.arange(6, dtype=np.float32)
    compiled = warmed(ms.jit(added), f32(1.0, 2.0, 3.0, 4.0), f32(1.0, 2.0, 3.0, 4.0))

    def run(*args):
        memory[:] = range(6)
        a, b = Tensor.from_numpy(memory[:4]), Tensor.from_numpy(memory[1:5])
        return [bits(call(a, b)) for call in args], memory.tobytes()

    assert run(compiled, compiled) == run(
        lambda a, b: led_by_python(compiled, a, b), lambda a, b: led_by_python(compiled, a, b)
    )


def test_what_cannot_be_written_is_an_error():
    compiled = warmed(ms.jit(added), f32(1.0, 2.0), f32(1.0, 2.0))
    row = ops.broadcast_to(f32(1.0), (2,))
    with pytest.raises(RuntimeError, match="broadcast view"):
        compiled(row, f32(1.0, 2.0))


def test_a_tape_notices_that_a_value_was_overwritten():
    p = f32(1.0, 2.0)
    compiled = warmed(ms.jit(lambda p: p.add_(1.0)), f32(1.0, 2.0))
    stamp = p._version
    assert is_native(compiled, p)
    assert p._version != stamp
    assert bits(ms.grad(lambda x: (x * p).sum())(f32(1.0, 1.0))) == bits(p)


def test_partial_writes_after_a_native_one():
    """The list of partial writes does not forget that all was written natively before."""
    from duograph.tensor.eager import EAGER

    p = f32(1.0, 2.0, 3.0)
    head, tail = p[:1], p[2:]
    before = p._version
    compiled = warmed(ms.jit(lambda p: p.add_(1.0)), f32(0.0, 0.0, 0.0))
    assert is_native(compiled, p)
    native = p._version
    head.add_(1.0)
    assert EAGER.overwritten(tail, before)
    assert not EAGER.overwritten(tail, native)
    assert EAGER.overwritten(p, native)


def test_results_and_attributes_besides_writes():
    class Holder:
        last = None

    holder = Holder()
    p = Parameter(f32(1.0, 2.0), name="p")

    def function(x):
        p.add_(x)
        holder.last = x + 1.0
        return {"p": p, "sum": p.sum()}

    compiled = warmed(ms.jit(function), f32(1.0, 1.0))
    assert is_native(compiled, f32(1.0, 1.0))
    assert p.asnumpy().tolist() == [5.0, 6.0]
    out = compiled(f32(2.0, 2.0))
    assert out["p"] is p and float(out["sum"]) == 15.0 and holder.last.asnumpy().tolist() == [3.0, 3.0]


def test_writes_that_depend_on_the_way_taken():
    def function(p, x):
        if x.sum() > 0:
            p.add_(x)
            return p
        p.mul_(x)
        return x, p

    compiled = warmed(ms.jit(function), f32(1.0, 2.0), f32(1.0, 1.0))
    eager, native = f32(1.0, 2.0), f32(1.0, 2.0)
    for x in (f32(1.0, 1.0), f32(-1.0, -2.0), f32(3.0, 1.0)):
        assert is_native(compiled, f32(0.0, 0.0), x)
        assert bits(compiled(native, x)) == bits(function(eager, x))
    assert bits(native) == bits(eager)
    assert compiled(native, f32(1.0, 1.0)) is native


# -- whole training steps ----------------------------------------------------------------------------------------------

OPTIMIZERS = {
    "SGD": lambda p: nn.SGD(p, nn.exponential_decay_lr(0.1, 0.9, 20, 2, 1), momentum=0.9, nesterov=True),
    "Momentum": lambda p: nn.Momentum(p, nn.CosineDecayLR(0.01, 0.1, 9), 0.9),
    "RMSProp": lambda p: nn.RMSProp(p, 0.01, centered=True),
    "Adam": lambda p: nn.Adam([{"params": p[:1], "lr": 0.1}, {"params": p[1:]}], 0.01, loss_scale=64.0),
    "AdamWeightDecay": lambda p: nn.AdamWeightDecay(p, nn.WarmUpLR(0.01, 4), weight_decay=0.01),
    "Lamb": lambda p: nn.Lamb(p, 0.01),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_training_step_runs_no_python(name):
    """Forward, loss, gradients, clipping and optimizer, and the guards on the lists of Parameters in it."""
    net = nn.SequentialCell([nn.Dense(3, 5), nn.Tanh(), nn.Dense(5, 2)])
    optimizer = OPTIMIZERS[name](net.trainable_params())
    gradients = ms.value_and_grad(lambda x: (net(x) ** 2).mean() * 64.0, None, net.trainable_params())

    @ms.jit
    def step(x):
        loss, grads = gradients(x)
        optimizer(ops.clip_by_global_norm(grads, 1.0))
        return loss

    x = Tensor(np.ones((4, 3), np.float32))
    assert python_within(warmed(step, x), x) == []
