"""Numbers made of sizes, as arguments of operators: one version serves all sizes, whether they fit or are errors."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, mint, nn, ops

MODES = ("ast", "bytecode", "trace")


def mask(x):
    n = x.shape[0]
    return ops.softmax(x @ x.T + mint.triu(mint.full((n, n), float("-inf")), diagonal=1), -1)


def window(x):
    n = x.shape[0]
    return x.narrow(0, 1, n - 2), ops.split(x, [2, n - 2])[1], ops.cat([x, -x]).split(n)[1], ops.cat([x, -x]).chunk(2)


def written(x):
    y = x * 1
    y.narrow(0, 1, x.shape[0] - 1).add_(1.0)
    return y


def slope(function):
    return lambda x: ms.grad(lambda x: (function(x) * function(x)).sum())(x)


FUNCTIONS = {
    "triangles": lambda x: (ops.triu(x, x.shape[0] - 2), mint.tril(x, 3 - x.shape[0]), mask(x)),
    "a triangle of what is known": lambda x: ops.triu(mint.full((4, 4), 2.5), x.shape[0] - 3) + x.sum(),
    "roll": lambda x: (
        ops.roll(x, x.shape[0] // 2, 0),
        ops.roll(x, (1 - x.shape[0], 1), (0, 1)),
        ops.roll(x, x.shape[0]),
    ),
    "parts": window,
    "the first half": lambda x: mint.chunk(x, 2, 0)[0],
    "written": written,
    "best": lambda x: mint.topk(x[:, 0], min(4, x.shape[0])),
    "padded or cut to a length": lambda x: ops.pad(x, (0, 0, 0, 5 - x.shape[0]), value=1.5),
    "another axis": lambda x: ops.pad(x, (0, 8 - x.shape[0])),
    "repeated": lambda x: mint.repeat_interleave(x, x.shape[0], 0),
    "classes": lambda x: mint.nn.functional.one_hot((x[0] > 0).astype(ms.int64), x.shape[0]),
    "drawn": lambda x: (x[mint.randperm(x.shape[0])], x[ops.randint(0, x.shape[0], (4,))]),
    "drawn by weight": lambda x: ops.multinomial(ops.softmax(x[:, 0], 0), x.shape[0]),
    "slope of roll": slope(lambda x: ops.roll(x, x.shape[0] - 1, 0) + x),
    "slope of triu": slope(lambda x: ops.triu(x, x.shape[0] - 4)),
    "slope of pad": slope(lambda x: ops.pad(x, (0, 0, 0, 5 - x.shape[0]))),
    "slope of topk": slope(lambda x: ops.topk(x[:, 1], min(4, x.shape[0]))[0]),
    "slope of narrow": slope(lambda x: x.narrow(0, 1, x.shape[0] - 2)),
    "slope of repeats": slope(lambda x: mint.repeat_interleave(x, x.shape[0], 0)),
}


def rows(n):
    return Tensor(np.random.default_rng(n).standard_normal((n, 5)).astype(np.float32))


def described(value):
    if isinstance(value, Tensor):
        return str(value.dtype), value.shape, value.asnumpy().tobytes()
    return [described(v) for v in value]


def outcome(function, x):
    ms.set_seed(1)
    try:
        return described(function(x))
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error).partition("\n")[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_sizes_as_arguments(name, mode):
    plain = FUNCTIONS[name]
    for sizes in [(4, 5, 3, 6, 1, 2, 9, 20, 7), (2, 1, 3, 20, 5)]:
        compiled = ms.jit(plain, capture_mode=mode)
        for n in sizes:
            assert outcome(compiled, rows(n)) == outcome(plain, rows(n)), n
        assert not compiled.explain().failures
    compiled = ms.jit(plain, capture_mode=mode)
    for n in (3, 4, 5, 6, 7):
        compiled(rows(n))
    assert len(compiled.explain().versions) <= 2
    assert not compiled.explain().static_sizes


def test_a_network_that_doubles_and_pads_serves_all_images():
    """The way up of a U-Net: transposed convolution, padding to what skips it."""
    up = nn.Conv2dTranspose(2, 2, 2, 2, pad_mode="valid")

    def f(x):
        y = up(ops.max_pool2d(x, 2))
        down, right = x.shape[2] - y.shape[2], x.shape[3] - y.shape[3]
        return ops.cat([x, ops.pad(y, (right // 2, right - right // 2, down // 2, down - down // 2))], 1)

    compiled = ms.jit(f)
    for n in (8, 6, 7, 9, 5):
        x = Tensor(np.random.default_rng(n).standard_normal((1, 2, n, n)).astype(np.float32))
        assert described(compiled(x)) == described(f(x))
    assert len(compiled.explain().versions) <= 2
