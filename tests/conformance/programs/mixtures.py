"""Whole little algorithms, in which features meet: the programs that people really write."""

import dataclasses

import numpy as np

import duograph as ms
from duograph import Parameter, Tensor, nn, ops
from tests.conformance.harness import T, program

X, P, N = T([1.0, 2.0]), T([1.0, 2.0, 3.0]), T([-1.0, -2.0, -3.0])
M = T([[2.0, 1.0], [1.0, 3.0]])

HITS, SEEN, BEST = 0, [], {}  # each run sets its own values


@program(T(48), T(36))
def greatest_common_divisor(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@program(M, 5, grad=0)
def matrix_power_by_squaring(m, n):
    result = ops.eye(2)
    while n:
        if n & 1:
            result = result @ m
        m = m @ m
        n >>= 1
    return result


@program(M, T([1.0, 1.0]), grad=0)
def power_iteration(m, v):
    change = v.sum() * 0 + 1
    steps = 0
    while change > 1e-3:
        w = m @ v
        w = w / w.norm()
        change = (w - v).abs().sum()
        v = w
        steps += 1
    return (m @ v) @ v, steps


@program(T([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]]), T(np.eye(3, dtype=np.float32)), grad=(0, 1))
def recurrent_network_by_hand(xs, w):
    h = ops.zeros((3,))
    outputs = []
    for x in xs:
        h = ops.tanh(w @ x + h)
        outputs.append(h)
    return ops.stack(outputs).sum(0) * outputs[-1]


@program(T(np.arange(12, dtype=np.float32).reshape(3, 4) / 10), grad=0)
def attention_by_hand(x):
    scores = x @ x.T / x.shape[-1] ** 0.5
    mask = ops.tril(ops.ones_like(scores))
    scores = ops.where(mask > 0, scores, ops.full_like(scores, -1e9))
    return ops.softmax(scores, -1) @ x


@program(T([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]]))
def k_means(points):
    centres = points[:2]
    for _ in range(4):
        distances = ((points.expand_dims(1) - centres.expand_dims(0)) ** 2).sum(-1)
        labels = distances.argmin(1)
        centres = ops.stack(
            [
                ops.where((labels == k).expand_dims(1), points, ops.zeros_like(points)).sum(0) / (labels == k).sum()
                for k in range(2)
            ]
        )
    return centres, labels


@program(T([3.0, 1.0, 2.0]), grad=0, captured=False)  # which element is compared depends on the values so far
def insertion_sort_functional(x):
    items = [x[i] for i in range(len(x))]
    for i in range(1, len(items)):
        j = i
        while j > 0 and items[j - 1] > items[j]:
            items[j - 1], items[j] = items[j], items[j - 1]
            j -= 1
    return ops.stack(items)


@program(calls=[(P,), (N,)], choice=True)
def nonlocal_in_tensor_branch(x):
    best, count = None, 0

    def offer(v):
        nonlocal best, count
        count += 1
        if best is None or v > best:
            best = v

    for v in x:
        offer(v)
    return best, count


@program(calls=[(P,), (N,)], HITS=0, SEEN=[], BEST={})
def globals_in_tensor_branch(x):
    global HITS
    if x.sum() > 0:
        HITS += 1
        SEEN.append(HITS)
        BEST["x"] = x * 2
    else:
        HITS -= 10
        BEST["x"] = x
        BEST["negative"] = True
    return HITS, len(SEEN), BEST["x"]


@program(X, HITS=0)
def global_in_tensor_loop(x):
    global HITS
    while x.sum() < 20:
        x = x * 2
        HITS += 1
    return x, HITS


class Machine:
    def __init__(self):
        self.state, self.log, self.value = "idle", [], None

    def feed(self, v):
        if v > 2:
            self.state = "high"
        elif v < 0:
            self.state = "low"
            self.log.append("low")
        self.value = v
        return self.state


@program(calls=[(P,), (N,), (T([5.0, -1.0, 1.0]),)], captured=False)
def attributes_in_tensor_branch(x):
    m = Machine()
    states = [m.feed(v) for v in x]
    return states, m.log, m.value


@program(calls=[(P,), (N,)], build=True)
def attributes_of_an_outside_object():
    m = Machine()

    def f(x):
        m.feed(x[0])
        return m.feed(x[2]), list(m.log), x * 2

    return f


@dataclasses.dataclass
class Carry:
    total: object
    steps: int


@program(X, grad=0, captured=False)
def dataclass_carried_through_loop(x):
    c = Carry(x * 0, 0)
    while c.total.sum() < 10:
        c = Carry(c.total + x, c.steps + 1)
    return c.total * c.steps


@program(X)
def tuple_and_dict_carried_through_loop(x):
    s = {"a": x, "n": 0, "pair": (x, x * 2)}
    while s["a"].sum() < 30:
        a, b = s["pair"]
        s["a"] = s["a"] + a
        s["pair"] = (b, a + 1)
        s["n"] += 1
    return s


@program(calls=[(P, 2.0), (P, 100.0)])
def search_with_two_loops(x, target):
    for i in range(3):
        for j in range(3):
            if x[i] * x[j] == target:
                return i, j
    return None


@program(calls=[(P,), (N,)])
def raise_inside_tensor_loop_error(x):
    total = x.sum() * 0
    for i, v in enumerate(x):
        if v < -1:
            raise ArithmeticError(f"item {i}")
        total = total + v
    return total


@program(calls=[(P,), (N,)])
def exception_from_tensor_condition_is_caught(x):
    def check(v):
        if v.sum() < 0:
            raise ValueError("negative")
        return v * 2

    try:
        return check(x), "fine"
    except ValueError as error:
        return x, str(error)
    finally:
        print("checked")


@program(calls=[(P,), (N,)])
def finally_in_tensor_loop(x):
    log = []
    for v in x:
        try:
            if v < 0:
                continue
            log.append("positive")
        finally:
            log.append("end")
    return log


@program(X, build=True)
def gradient_descent_with_parameters():
    w = Parameter(Tensor([0.0, 0.0], ms.float32), name="w")

    def loss(x):
        return ((w - x) ** 2).sum()

    gradient = ms.grad(loss, None, [w])

    def f(x):
        history = []
        for _ in range(5):
            history.append(loss(x))
            (g,) = gradient(x)
            ops.assign_sub(w, 0.1 * g)
        return history, w + 0

    return f


@program(X, build=True)
def gradient_descent_until_converged():
    w = Parameter(Tensor([0.0, 0.0], ms.float32), name="w")

    def loss(x):
        return ((w - x) ** 2).sum()

    step = ms.value_and_grad(loss, None, [w])

    def f(x):
        value, n = loss(x), 0
        while value > 0.05:
            value, (g,) = step(x)
            ops.assign(w, w - 0.2 * g)
            n += 1
        return w + 0, n

    return f


@program(calls=[(T([[1.0, 2.0]]),)] * 2, build=True)
def lstm_cell_steps():
    cell = nn.LSTMCell(2, 3)

    def f(x):
        h = c = ops.zeros((1, 3))
        for _ in range(3):
            h, c = cell(x, (h, c))
        return h, c

    return f


@program(X, grad=0)
def gradient_penalty(x):
    g = ms.grad(lambda v: (v**3).sum())(x)
    return (g.norm() - 1) ** 2


@program(X, grad=0)
def hessian_vector_product(x):
    f = lambda v: (v**4).sum() + v[0] * v[1]
    return ms.grad(lambda v: (ms.grad(f)(v) * x).sum())(x)


@program(T(0.5), grad=0)
def series_until_small(x):
    term, total, n = x * 0 + 1, x * 0, 0
    while term > 1e-4:
        total = total + term
        n += 1
        term = term * x / n
    return total


@program(T([1.0, 4.0, 2.0, 8.0]), grad=0)
def running_maximum(x):
    best = x[0]
    out = []
    for v in x:
        best = v if v > best else best
        out.append(best)
    return ops.stack(out)


def evaluate(tree, x):
    """A little interpreter over nested tuples."""
    match tree:
        case ("add", a, b):
            return evaluate(a, x) + evaluate(b, x)
        case ("mul", a, b):
            return evaluate(a, x) * evaluate(b, x)
        case ("if", c, a, b):
            return evaluate(a, x) if evaluate(c, x).sum() > 0 else evaluate(b, x)
        case "x":
            return x
        case float() | int():
            return tree * ops.ones_like(x)


@program(calls=[(P,), (N,)], grad=0)
def interpreter_over_tuples(x):
    return evaluate(("if", "x", ("mul", "x", ("add", "x", 2.0)), ("mul", ("mul", "x", "x"), "x")), x)


@program(T([2.0, 3.0]), grad=0)
def memoised_recursion(x):
    memo = {}

    def power(n):
        if n not in memo:
            memo[n] = x if n == 1 else power(n - 1) * x
        return memo[n]

    return power(5) + power(3)


@program(X, captured=False)
def generator_with_tensor_condition(x):
    def doubling(v):
        while v.sum() < 30:
            yield v
            v = v * 2

    return [v.sum() for v in doubling(x)]


@program(calls=[(P,), (N,)])
def different_kinds_by_branch(x):
    out = []
    for v in (x, x * 2):
        if v.sum() > 10:
            out.append(("big", v))
        elif v.sum() > 0:
            out.append(v.shape)
        else:
            out.append(None)
    return out


@program(calls=[(P, 1), (P, 2), (N, 1)], grad=0)
def dispatch_table(x, k):
    table = {1: lambda v: v * 2, 2: lambda v: v * v}
    fn = table.get(k, lambda v: v)
    return fn(x) if x.sum() > 0 else fn(-x) + 1


@program(T([1.0, 2.0, 3.0, 4.0]))
def sieve_with_in_place_writes(x):
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if x[j] % (x[i] + 1) == 0:
                x[j] = 0
    return x


@program(T([[1, 1, 0], [0, 1, 1], [1, 0, 1]], ms.int32), 3)
def game_of_life_like(grid, steps):
    for _ in range(steps):
        around = ops.roll(grid, 1, 0) + ops.roll(grid, -1, 0) + ops.roll(grid, 1, 1) + ops.roll(grid, -1, 1)
        grid = ((around == 3) | ((grid == 1) & (around == 2))).astype(ms.int32)
    return grid


@program(X, grad=0)
def mixed_precision(x):
    half = x.astype(ms.float16) * 3
    return (half.astype(ms.float32) + x).sum() * half.max().astype(ms.float32)


@program(T([1.0, -1.0, 0.5]), grad=0)
def zero_and_sign_bits(x):
    y = x * 0.0
    return ops.where(y == 0, 1 / (x - 0.5 + 0.25), x) + (-y) + x**3


@program(calls=[(X,), (X,)], build=True)
def moving_average_in_attribute():
    class Average(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mean = None
            self.count = 0

        def construct(self, x):
            self.mean = x if self.mean is None else self.mean * 0.9 + x * 0.1
            self.count += 1
            return self.mean, self.count

    return Average()


@program(calls=[(T(np.ones((2, 3), np.float32)),), (T(np.ones((4, 3), np.float32)),)], grad=0, build=True)
def residual_mlp_with_two_batch_sizes():
    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm((3,))
            self.dense = nn.Dense(3, 3)

        def construct(self, x):
            return x + ops.gelu(self.dense(self.norm(x)))

    return nn.SequentialCell(*[Block() for _ in range(3)])
