"""Small programs as users write them: what stands around the numerics of a training loop, one habit each.

Each function makes a program and gives what is compiled, and the calls that are made of it, in turn.
`test_habits.py` says what becomes of them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import duograph as ms
from duograph import Tensor, nn, ops

Made = tuple[Callable[..., Any], list[tuple[Any, ...]]]

CALLS = 8
logger = logging.getLogger(__name__)


def batches(rows: int = 4, count: int = CALLS) -> list[tuple[Tensor, Tensor]]:
    """Inputs and labels."""
    rng = np.random.default_rng(0)
    return [
        (Tensor(rng.random((rows, 3), np.float32)), Tensor(rng.integers(0, 2, rows).astype(np.int32)))
        for _ in range(count)
    ]


def training() -> tuple[nn.Cell, Any, Callable[..., Any]]:
    """A network, its optimizer, and the function that gives loss and gradients."""
    net = nn.SequentialCell(nn.Dense(3, 8), nn.ReLU(), nn.Dense(8, 2))
    loss_of, optimizer = nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9)
    net.set_train()
    return net, optimizer, ms.value_and_grad(lambda x, y: loss_of(net(x), y), None, optimizer.parameters)


def a_plain_step() -> Made:
    _, optimizer, gradients = training()

    def step(x, y):
        loss, grads = gradients(x, y)
        optimizer(grads)
        return loss

    return step, batches()


def the_loss_is_kept() -> Made:
    _, optimizer, gradients = training()
    history: list[Tensor] = []

    def step(x, y):
        loss, grads = gradients(x, y)
        optimizer(grads)
        history.append(loss)

    return step, batches()


def the_loss_is_kept_as_a_number() -> Made:
    _, optimizer, gradients = training()
    history: list[float] = []

    def step(x, y):
        loss, grads = gradients(x, y)
        optimizer(grads)
        history.append(float(loss))

    return step, batches()


def the_loss_is_printed_now_and_then() -> Made:
    _, optimizer, gradients = training()

    def step(n, x, y):
        loss, grads = gradients(x, y)
        optimizer(grads)
        if n % 4 == 0:
            print(f"step {n}: loss {loss}")
        return loss

    return step, [(n, *batch) for n, batch in enumerate(batches())]


def the_loss_is_logged() -> Made:
    _, optimizer, gradients = training()

    def step(x, y):
        loss, grads = gradients(x, y)
        optimizer(grads)
        logger.debug("a step")
        return loss

    return step, batches()


def steps_are_timed() -> Made:
    _, optimizer, gradients = training()
    times: list[float] = []

    def step(x, y):
        start = time.perf_counter()
        loss, grads = gradients(x, y)
        optimizer(grads)
        times.append(time.perf_counter() - start)
        return loss

    return step, batches()


def steps_are_counted() -> Made:
    _, optimizer, gradients = training()

    class Trainer:
        def __init__(self):
            self.steps = 0

        def step(self, x, y):
            loss, grads = gradients(x, y)
            optimizer(grads)
            self.steps += 1
            return loss

    return Trainer().step, batches()


def the_last_batch_is_smaller() -> Made:
    _, optimizer, gradients = training()

    def step(x, y):
        loss, grads = gradients(x, y)
        optimizer(grads)
        return loss

    return step, [*batches(count=3), *batches(3, 1)] * 2


def a_batch_is_a_dictionary() -> Made:
    _, optimizer, gradients = training()

    def step(batch):
        assert batch["image"].shape[1] == 3, f"images of {batch['image'].shape}"
        loss, grads = gradients(batch["image"], batch["label"])
        optimizer(grads)
        return {"loss": loss}

    return step, [({"image": x, "label": y},) for x, y in batches()]


def the_rate_is_an_argument() -> Made:
    net, _, gradients = training()

    def step(x, y, rate):
        loss, grads = gradients(x, y)
        for parameter, grad in zip(net.trainable_params(), grads, strict=True):
            parameter.set_data(parameter - rate * grad)
        return loss

    return step, [(*batch, 0.1 * 0.5**n) for n, batch in enumerate(batches())]


def gradients_are_clipped() -> Made:
    _, optimizer, gradients = training()

    def step(x, y):
        loss, grads = gradients(x, y)
        norm = ops.sqrt(sum((g * g).sum() for g in grads))
        if norm > 1:
            grads = [g / norm for g in grads]
        optimizer(grads)
        return loss, norm

    return step, batches()


def gradients_are_collected() -> Made:
    _, optimizer, gradients = training()

    def step(parts):
        total = None
        for x, y in parts:
            _, grads = gradients(x, y)
            total = grads if total is None else [a + b for a, b in zip(total, grads, strict=True)]
        optimizer(total)
        return total[0]

    return step, [(batches(2, 3),) for _ in range(CALLS)]


def training_and_testing_take_turns() -> Made:
    net, _, _ = training()

    class Evaluated(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net, self.dropout = net, nn.Dropout(p=0.5)

        def construct(self, x):
            return self.dropout(self.net(x))

    model = Evaluated()

    def step(is_training, x):
        model.set_train(is_training)
        return model(x)

    return step, [(n % 2 == 0, x) for n, (x, _) in enumerate(batches())]


def accuracy_is_counted_by_numpy() -> Made:
    net, _, _ = training()

    def correct(x, y):
        scores = net(x)
        return (scores.asnumpy().argmax(1) == y.asnumpy()).mean()

    return correct, batches()


def the_best_loss_is_kept() -> Made:
    _, optimizer, gradients = training()
    best = float("inf")

    def step(x, y):
        nonlocal best
        loss, grads = gradients(x, y)
        optimizer(grads)
        if loss.item() < best:
            best = loss.item()
        return best

    return step, batches()


def a_nan_is_an_error() -> Made:
    _, optimizer, gradients = training()

    def step(x, y):
        loss, grads = gradients(x, y)
        if ops.isnan(loss):
            raise ValueError("the loss is NaN")
        optimizer(grads)
        return loss

    return step, batches()


def arrays_become_tensors_inside() -> Made:
    net, _, _ = training()

    def scores(image):
        return net(Tensor(image))

    return scores, [(x.asnumpy(),) for x, _ in batches()]


def noise_is_added() -> Made:
    net, _, _ = training()

    def scores(x):
        return net(x + ops.standard_normal(x.shape) * 0.1)

    return scores, [(x,) for x, _ in batches()]


def a_loop_ends_when_it_converges() -> Made:
    def root(a):
        x, steps = a, 0
        while ops.abs(x * x - a).max() > 1e-5:
            x = (x + a / x) / 2
            steps += 1
        return x, steps

    return root, [(x + 1,) for x, _ in batches()]


SETTINGS = {"scale": 2.0, "classes": 2}
SCALES = [1.0, 2.0]


def settings_stand_in_a_dictionary() -> Made:
    _, optimizer, gradients = training()

    def step(x, y):
        loss, grads = gradients(x * SETTINGS["scale"], y)
        optimizer(grads)
        return loss / SETTINGS["classes"]

    return step, batches()


def settings_stand_in_a_list() -> Made:
    return (lambda x: (x * SCALES[0]).tanh() + SCALES[-1]), [(x,) for x, _ in batches()]


def words_are_looked_up() -> Made:
    known = {"relu": ops.relu, "tanh": ops.tanh}

    def layer(x, name="relu"):
        if name not in known:
            raise KeyError(name)
        return known[name](x * 2) + x.mean()

    return layer, [(x, ("relu", "tanh")[n % 2]) for n, (x, _) in enumerate(batches())]
