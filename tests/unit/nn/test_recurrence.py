"""Recurrent layers have a gradient of their own: that of their cells step by step, in every mode and at every order."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.nn.graph_mode import compiled_cell

CELLS = {
    "lstm": (nn.LSTM, nn.LSTMCell, {}),
    "gru": (nn.GRU, nn.GRUCell, {}),
    "tanh": (nn.RNN, nn.RNNCell, {}),
    "relu": (nn.RNN, nn.RNNCell, {"nonlinearity": "relu"}),
}
LENGTHS = [None, [5, 0, 3]]
STEPS, BATCH, WIDTH, HIDDEN = 5, 3, 4, 2


def drawn(*shape):
    return Tensor(np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32))


def made(name, bias=True):
    layer, cell, settings = CELLS[name]
    whole = layer(WIDTH, HIDDEN, has_bias=bias, **settings)
    single = cell(WIDTH, HIDDEN, has_bias=bias, **settings)
    for one, other in zip(single.trainable_params(), whole.trainable_params(), strict=True):
        one.set_data(other.value())
    return whole, single


def by_steps(cell, x, lengths):
    zero = ops.zeros((x.shape[1], HIDDEN))
    state, outs = ((zero, zero) if isinstance(cell, nn.LSTMCell) else zero), []
    for t in range(x.shape[0]):
        new = cell(x[t], state)
        out = new[0] if isinstance(new, tuple) else new
        if lengths is not None:
            counts = (lengths > t).expand_dims(1)
            if isinstance(new, tuple):
                new = tuple(ops.where(counts, a, b) for a, b in zip(new, state, strict=True))
            else:
                new = ops.where(counts, new, state)
            out = ops.where(counts, out, ops.zeros_like(out))
        state = new
        outs.append(out)
    return ops.stack(outs), state


def flat(value):
    return [x for v in value for x in flat(v)] if isinstance(value, tuple | list) else [value.asnumpy()]


def loss_of(result):
    out, last = result
    lasts = last if isinstance(last, tuple) else (last,)
    return (out * out * out).sum() + sum(x.sum() for x in lasts)


@pytest.mark.parametrize("lengths", LENGTHS, ids=["whole", "lengths"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", list(CELLS))
def test_values_and_gradients_are_those_of_the_cell(name, bias, lengths):
    layer, cell = made(name, bias)
    x, counts = drawn(STEPS, BATCH, WIDTH), None if lengths is None else Tensor(np.array(lengths, np.int32))

    def whole(x):
        return loss_of(layer(x, None, counts))

    def single(x):
        return loss_of(by_steps(cell, x, counts))

    found = ms.value_and_grad(whole, 0, layer.trainable_params())
    expected = flat(ms.value_and_grad(single, 0, cell.trainable_params())(x))
    dynamic = flat(found(x))
    for a, b in zip(dynamic, expected, strict=True):
        np.testing.assert_allclose(a, b.reshape(a.shape), rtol=1e-4, atol=1e-5)
    compiled = ms.value_and_grad(ms.jit(whole), 0, layer.trainable_params())
    for step in (ms.jit(found), compiled):
        assert [v.tobytes() for v in flat(step(x))] == [v.tobytes() for v in dynamic]


@pytest.mark.parametrize("name", list(CELLS))
def test_gradients_of_gradients(name):
    layer, cell = made(name)
    x = drawn(3, BATCH, WIDTH)

    def second(function):
        first = ms.grad(function)
        return ms.grad(lambda x: (first(x) ** 2).sum())

    found = second(lambda x: loss_of(layer(x)))
    dynamic = found(x).asnumpy()
    expected = second(lambda x: loss_of(by_steps(cell, x, None)))(x).asnumpy()
    np.testing.assert_allclose(dynamic, expected, rtol=1e-3, atol=1e-4)
    assert ms.jit(found)(x).asnumpy().tobytes() == dynamic.tobytes()


@pytest.mark.parametrize("name", list(CELLS))
def test_results_may_be_written_to(name):
    layer, cell = made(name)

    def changed(result):
        out, last = result
        out[1:, 0] = 2.0
        return loss_of((out * 3, last))

    x = drawn(STEPS, BATCH, WIDTH)
    found = ms.grad(lambda x: changed(layer(x)))
    expected = ms.grad(lambda x: changed(by_steps(cell, x, None)))(x).asnumpy()
    np.testing.assert_allclose(found(x).asnumpy(), expected, rtol=1e-3, atol=1e-5)
    assert ms.jit(found)(x).asnumpy().tobytes() == found(x).asnumpy().tobytes()


@pytest.mark.parametrize("name", ["lstm", "gru"])
def test_vmap(name):
    layer, _ = made(name)
    x = drawn(BATCH, STEPS, 2, WIDTH)

    def gradient(x):
        return ms.grad(lambda x: loss_of(layer(x)))(x)

    each = [gradient(x[i]).asnumpy() for i in range(BATCH)]
    np.testing.assert_allclose(ops.vmap(gradient)(x).asnumpy(), each, rtol=1e-4, atol=1e-5)


def test_sequences_of_any_length_take_two_versions():
    layer, _ = made("lstm")
    step = ms.jit(ms.value_and_grad(lambda x: loss_of(layer(x)), 0, layer.trainable_params()))
    dynamic = ms.value_and_grad(lambda x: loss_of(layer(x)), 0, layer.trainable_params())
    for steps in (7, 4, 2, 30, 9, 3):
        x = drawn(steps, BATCH, WIDTH)
        assert [v.tobytes() for v in flat(step(x))] == [v.tobytes() for v in flat(dynamic(x))]
    assert len(step.explain().versions) == 2


def test_capture_does_not_grow_with_the_number_of_steps():
    layer, _ = made("gru")
    sizes = []
    for steps in (4, 400):
        step = ms.jit(ms.grad(lambda x: loss_of(layer(x))))
        step(drawn(steps, 1, WIDTH))
        sizes.append(sum(len(list(g.nodes)) for g in step.explain().graphs))
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("name", ["lstm", "gru", "tanh"])
def test_a_sequence_without_steps(name):
    layer, _ = made(name)
    for function in (layer, ms.jit(lambda x: layer(x))):
        with pytest.raises(ValueError, match="must have at least one step"):
            function(ops.zeros((0, BATCH, WIDTH)))


class _Scored(nn.Cell):
    """A recurrent net with, or without, a loop that depends on data behind it."""

    def __init__(self, loops):
        super().__init__()
        self.lstm, self.dense, self.loops = nn.LSTM(WIDTH, HIDDEN), nn.Dense(HIDDEN, 2), loops
        for p in self.trainable_params():
            p.set_data(drawn(*p.shape))

    def construct(self, x, state, n):
        out, (h, c) = self.lstm(x, state)
        z = self.dense(out)
        if self.loops:
            i = 0
            while i < n:
                z, i = z * 0.5 + (h * c).sum(), i + 1
        return z, h, c


def _untouched(net, x, state, n):
    z, h, _ = net(x, state, n)
    return (z * z).sum() + h.sum()


def _state_written(net, x, state, n):
    own = state[0] * 1, state[1] * 1
    z, h, _ = net(x, own, n)
    own[0].add_(1)
    return (z * z).sum() + h.sum()


def _result_written(net, x, state, n):
    z, h, c = net(x, state, n)
    c[:] = 2
    return (z * z).sum() + (h * c).sum()


def _weight_written(net, x, state, n):
    z, *_ = net(x, state, n)
    net.lstm.trainable_params()[1][0] = 1.0
    again, h, _ = net(x, state, n)
    return (z * again).sum() + h.sum()


def _second_order(net, x, state, n):
    return (ms.grad(lambda x: _untouched(net, x, state, n))(x) ** 2).sum()


@pytest.mark.parametrize("loops", [False, True], ids=["straight", "loops"])
@pytest.mark.parametrize("loss", [_untouched, _state_written, _result_written, _weight_written, _second_order])
def test_gradients_outside_of_compiled_nets(loss, loops):
    """Tapes outside take the gradient of the compiled call, whatever is written between it and the gradient."""

    def results(mode):
        ms.set_context(mode=mode)
        net, found = _Scored(loops), []
        state = drawn(1, BATCH, HIDDEN), drawn(1, BATCH, HIDDEN)
        for steps, n in ((5, 3), (7, 0), (5, 0), (6, 2)):
            gradient = ms.value_and_grad(lambda x, n=n: loss(net, x, state, Tensor(n)), 0, net.trainable_params())
            try:
                found.append([x.tobytes() for x in flat(gradient(drawn(steps, BATCH, WIDTH)))])
            except RuntimeError as error:
                found.append(str(error))
        return found, net

    try:
        compiled, net = results(ms.GRAPH_MODE)
        if loss is _untouched:
            versions = compiled_cell(net).explain().versions
            assert len(versions) == 2
            assert sum(v["plain_runs"] for v in versions) == 0
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert compiled == results(ms.PYNATIVE_MODE)[0]


MODES = ["ast", "bytecode", "trace"]


@pytest.mark.parametrize("mode", MODES)
def test_gradients_where_a_layer_after_it_keeps_running_means(mode):
    """What a recurrent layer's gradient reads is not what the program has changed since."""

    def trained(compiled):
        ms.set_seed(5)
        layer, norm = nn.GRU(WIDTH, HIDDEN, bidirectional=True), nn.BatchNorm1d(2 * HIDDEN)
        norm.set_train()
        weights = [*layer.trainable_params(), *norm.trainable_params()]
        derivative = ms.value_and_grad(lambda x: (norm(layer(x)[0].reshape(-1, 2 * HIDDEN)) ** 3).sum(), None, weights)

        def step(x):
            return (*derivative(x), norm.moving_mean * 1)

        step = ms.jit(step, capture_mode=mode, fullgraph=True) if compiled else step
        return [[t.asnumpy().tobytes() for t in (v, *g, m)] for v, g, m in (step(drawn(STEPS, BATCH, WIDTH)),) * 2]

    assert trained(compiled=True) == trained(compiled=False)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("before", ["lstm", "bprop"])
def test_a_loop_after_it_that_ends_by_values(mode, before):
    """The loop is captured once per path, with what comes before it, which must come out the same each time."""

    class Tripled(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return (dout * 3,)

    layer = nn.LSTM(WIDTH, HIDDEN) if before == "lstm" else Tripled()

    def decoded(x):
        x = layer(x)
        x, outs = x[0] if isinstance(x, tuple) else x, []
        while True:
            x = ops.tanh(x * 2 + 0.5)
            outs.append(x.mean(0))
            if x.mean() > 0.8 or len(outs) == 4:
                return ops.stack(outs)

    compiled = ms.jit(decoded, capture_mode=mode, fullgraph=True)
    for scale in (1, -2, 5):
        x = drawn(STEPS, BATCH, WIDTH) * scale
        assert compiled(x).asnumpy().tobytes() == decoded(x).asnumpy().tobytes()
        if before == "bprop":
            assert (ms.grad(lambda x: compiled(x).sum())(x) == ms.grad(lambda x: decoded(x).sum())(x)).all()
