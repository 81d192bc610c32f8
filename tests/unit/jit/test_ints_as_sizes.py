"""Ints that shapes depend on (positions, lengths) are sizes of graphs: a version serves all of them."""

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, mint, nn, ops

MODES = ("ast", "bytecode", "trace")
X = Tensor(np.arange(48, dtype=np.float32).reshape(12, 4))


def window(x, n):
    return x[n - 1 : n + 1] * x[n - 1 : n + 1]


def written(x, n):
    y = x * 1
    y[:n] = 3.0
    y[n:] += 1
    return y


def looped(x, n):
    total = x[0]
    for i in range(n):
        total = total + x[i]
    return total


def refused(x, n):
    if n == 5:
        raise ValueError(f"not {n}")
    return x[:n]


ONE_VERSION_FOR_MOST = {
    "head": lambda x, n: x[:n] * 2,
    "tail": lambda x, n: (x[n:] + 1, x[-n:]),
    "window": window,
    "written": written,
    "looped": looped,
    "made": lambda x, n: (ops.zeros((n, 3)), ops.arange(n) * 2, ops.eye(n), ops.full((2, n), 1.5)),
    "joined": lambda x, n: ops.concat((ops.zeros((n, 4)), x), 0),
    "used as a number": lambda x, n: x[:n] * n / (n + 0.5),
    "compared": lambda x, n: x[:n] if n > 3 else x[:n] * 5,
    "returned": lambda x, n: (x[:n], n, x[:n].shape),
    "limited": lambda x, n: (x[: min(n, 5)], x[: max(n, 5)]),
    "rolled": lambda x, n: (ops.roll(x, n, 0), ops.roll(x, (-n, n), (0, 1))),
    "triangles": lambda x, n: (ops.triu(x, n - 4), mint.tril(mint.full((3, 4), 1.5), n - 5)),
    "parts": lambda x, n: (x.narrow(0, n, 1), ops.split(x, [n, 12 - n]), mint.topk(x[:, 0], n)),
}
OTHERS = {
    "error": lambda x, n: ops.zeros((n, 4)) + x,
    "reshaped": lambda x, n: x[:n].reshape(n, 2, 2),
    "told": lambda x, n: (x[:n], str(n), f"{n:03d}", {n: 1}, divmod(n, 3), n // 2, -n, bool(n), type(n)),
    "listed": lambda x, n: (x[:n], list(range(n)), [x[i].sum() for i in range(n)]),
    "repeated": lambda x, n: mint.repeat_interleave(x[:2], n, 0),
    "stepped": lambda x, n: x[::n],
    "item": lambda x, n: x[n],
    "refused": refused,
}
SEQUENCES = [[3, 4, 5, 6, 2, 7], [5, 4, 1, 0, 3, -1, 12, 13, 2], [4, True, 3, 5.0, 2, np.int64(6), 2**40, 7]]


def described(value):
    if isinstance(value, Tensor):
        return str(value.dtype), value.shape, value.asnumpy().tobytes()
    if isinstance(value, tuple | list):
        return type(value), [described(v) for v in value]
    return type(value), repr(value)


def outcome(function, *args):
    try:
        return described(function(*args))
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error).partition("\n")[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [*ONE_VERSION_FOR_MOST, *OTHERS])
def test_ints_of_all_kinds(name, mode):
    plain = ONE_VERSION_FOR_MOST.get(name) or OTHERS[name]
    for numbers in SEQUENCES:
        compiled = ms.jit(plain, capture_mode=mode)
        for n in numbers:
            assert outcome(compiled, X, n) == outcome(plain, X, n), n
        assert not compiled.explain().failures
    if name in ONE_VERSION_FOR_MOST:
        compiled = ms.jit(plain, capture_mode=mode)
        for n in range(2, 11):
            outcome(compiled, X, n)
        assert len(compiled.explain().versions) <= 2


@pytest.mark.parametrize("mode", MODES)
def test_ints_of_attributes_and_globals(mode):
    class State:
        position = 2

    state = State()
    compiled = ms.jit(lambda x: (x[: state.position] * 2, x[state.position :]), capture_mode=mode)
    for n in (2, 3, 4, 0, 5, 12, 6):
        state.position = n
        assert described(compiled(X)) == described((X[:n] * 2, X[n:]))
    assert len(compiled.explain().versions) <= 4


class Attention(nn.Cell):
    """Attention to what a cache holds, as public code of large language models has it."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Dense(8, 8, has_bias=False) for _ in range(3))
        self.keys, self.values = (
            Parameter(ops.zeros((2, 32, 2, 4)), name=name, requires_grad=False) for name in ("keys", "values")
        )
        self.frequencies = Tensor(np.random.default_rng(0).standard_normal((32, 4)).astype(np.float32))

    def construct(self, x, position):
        batch, length, width = x.shape
        q, k, v = (f(x).view(batch, length, 2, 4) for f in (self.query, self.key, self.value))
        turn = self.frequencies[position : position + length][None, :, None]
        self.keys[:batch, position : position + length] = k * turn
        self.values[:batch, position : position + length] = v
        keys, values = self.keys[:batch, : position + length], self.values[:batch, : position + length]
        scores = ops.matmul((q * turn).transpose(0, 2, 1, 3), keys.transpose(0, 2, 3, 1)) / 2
        if length > 1:
            mask = ops.concat((ops.zeros((length, position)), ops.triu(ops.full((length, length), -1e9), 1)), 1)
            scores = scores + mask
        return ops.matmul(ops.softmax(scores, -1), values.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3).reshape(x.shape)


@pytest.mark.parametrize("mode", MODES)
def test_decoding_with_a_position(mode):
    def decoded(compiles):
        ms.set_seed(1)
        net = Attention()
        call = ms.jit(lambda x, n: net(x, n), capture_mode=mode) if compiles else net
        found, x, n = [], Tensor(np.linspace(-1, 1, 80, dtype=np.float32).reshape(2, 5, 8)), 0
        for _ in range(16):
            y = call(x, n)
            found.append(described(y))
            n, x = n + x.shape[1], y[:, -1:]
        return found, call

    (found, call), (want, _) = decoded(True), decoded(False)
    assert found == want
    explained = call.explain()
    assert len(explained.versions) <= 3 and not explained.fallbacks and not explained.failures


@pytest.mark.parametrize("mode", MODES)
def test_two_ints_and_writes_in_place(mode):
    def step(x, a, b):
        y = x * 1
        y[:a] += 1
        x[a:b] *= 2
        return y, ops.zeros((a, b))

    compiled = ms.jit(step, capture_mode=mode)
    for a, b in [(2, 4), (3, 5), (4, 6), (2, 2), (5, 3), (1, 7), (2, 9)]:
        x, same = (Tensor(np.arange(10, dtype=np.float32)) for _ in range(2))
        assert described(compiled(x, a, b)) == described(step(same, a, b)) and described(x) == described(same)
    assert len(compiled.explain().versions) == 2
