"""Sizes that differ from call to call: the second one makes a version for all, which must give eager's bits for each.

Sizes are such that kernels have work left over: 1, powers of two and their neighbours, primes, and none at all.
"""

import time

import numpy as np

import duograph as ms
from duograph import mint, nn, ops
from duograph.nn.probability.distribution import Categorical, Normal
from tests.conformance.harness import T, program

SIZES = (5, 7, 3, 33, 1, 64, 65, 7, 0, 16, 31, 130, 2)


def matrix(rows, columns=6, seed=0):
    drawn = np.random.default_rng(seed * 1000 + rows).standard_normal((rows, columns))
    return T(drawn.astype(np.float32))


ROWS = [(matrix(n),) for n in SIZES]
SQUARES = [(matrix(n), matrix(n, seed=1)) for n in SIZES]
W, B = matrix(6, 5, 2), matrix(1, 5, 3)[0]
GAIN = matrix(1, 6, 4)[0]


@program(calls=ROWS)
def elementwise(x):
    return ops.tanh(x * 2 + 1), x > 0, x.astype(ms.float16) * 3


@program(calls=ROWS)
def dense(x):
    return ops.relu(ops.matmul(x, W) + B)


@program(calls=ROWS)
def products_whose_inner_size_varies(x):
    return ops.matmul(x.T, x), ops.matmul(x, x.T)


@program(calls=ROWS)
def sums_along_what_varies(x):
    return x.sum(), x.sum(0), x.sum(1), x.mean(0), x.mean()


@program(calls=[(matrix(n),) for n in SIZES if n])
def extremes_along_what_varies(x):
    return x.max(), x.max(0), x.argmax(0), ops.cumsum(x, 0), x.prod(0)


@program(calls=ROWS)
def softmax_both_ways(x):
    return ops.softmax(x, 0), ops.softmax(x, 1), ops.log_softmax(x, -1)


@program(calls=ROWS)
def normalised(x):
    return ops.layer_norm(x, (6,), GAIN, GAIN)


@program(calls=ROWS)
def rows_by_number(x):
    return ops.gather(W, ops.abs(x[:, 0]).astype(ms.int32), 0), x[1:], x[:2], x[::2], x[None]


@program(calls=ROWS)
def put_together(x):
    return ops.concat((x, x * 2), 0), ops.stack((x, x)), ops.tile(x, (2, 1)), ops.roll(x, 1, 0), x.flip(0)


@program(calls=ROWS)
def padding_that_depends_on_sizes(x):
    n = x.shape[0]
    whole = ops.pad(x, (0, 0, 0, (-n) % 4)).reshape(-1, 4, x.shape[1]).sum(1)
    return whole, ops.pad(x, (1, n % 2, n // 2, 0), value=3.0), ops.pad(x, (0, 0, -(n // 2), 1)), ops.pad(x, (n, n))


@program(calls=SQUARES)
def two_that_vary_together(x, y):
    return x + y, (x * y).sum(1), ops.matmul(x, y.T)


@program(calls=[(matrix(a), matrix(b)) for a, b in ((3, 3), (4, 4), (5, 1), (1, 5), (1, 1), (6, 6), (7, 1))])
def one_that_becomes_1_and_is_spread(x, y):
    return x + y, y * x


@program(calls=[(matrix(a), matrix(b)) for a, b in ((3, 3), (4, 4), (2, 3), (5, 5))])
def two_that_do_not_fit_error(x, y):
    return x + y


@program(calls=[(matrix(a), matrix(b)) for a, b in ((3, 3), (4, 4), (5, 6), (6, 5), (5, 5), (0, 3))])
def two_that_varied_together_at_first(x, y):
    return ops.concat((x, y), 0), x.shape[0] - y.shape[0]


@program(calls=ROWS)
def shape_as_numbers(x):
    return x * x.shape[0], sum(x.shape), len(x), x.size, f"{x.shape[0]} rows", x.reshape(-1).shape


@program(calls=ROWS)
def decisions_about_sizes(x):
    if x.shape[0] == 1:
        return x * 10
    return x * 2 if x.shape[0] > 10 else x * 3


@program(calls=[(matrix(n),) for n in (2, 3, 4, 1, 5, 0)])
def loops_over_rows(x):
    total = ops.zeros((6,))
    for i in range(x.shape[0]):
        total = total + x[i] * i
    return total, [row.sum() for row in x]


@program(calls=[([matrix(n), matrix(n + 1)],) for n in (2, 3, 4, 7)])
def lists_of_tensors(items):
    items.append(items[0] * 2)
    return ops.concat(items, 0)


@program(calls=[({"x": matrix(n), "y": matrix(3)},) for n in (2, 3, 4, 7)])
def dicts_of_tensors(batch):
    return {"x": batch["x"] * 2, "y": batch["y"] + batch["x"].sum()}


@program(calls=SQUARES, grad=0)
def gradient_of_a_mean(x, y):
    return (ops.relu(ops.matmul(x, W)) ** 2).mean() + (x * y).sum()


@program(calls=ROWS)
def gradient_inside(x):
    return ms.grad(lambda w: (ops.softmax(ops.matmul(x, w), -1) ** 2).mean())(W)


@program(calls=[(matrix(a), matrix(b)) for a, b in ((3, 3), (4, 4), (5, 1), (1, 5), (6, 6))], grad=(0, 1))
def gradient_of_what_is_spread(x, y):
    return (x * y).sum()


def same_twice(n):
    x = matrix(n)
    return x, x


@program(calls=[*SQUARES[:3], same_twice(7), same_twice(9), *SQUARES[:3]])
def one_tensor_twice(x, y):
    return x is y, [x] == [x], x * y


def with_its_base(n):
    base = matrix(10)
    return base[:n], base


@program(calls=[(matrix(3), matrix(10)), (matrix(4), matrix(10)), with_its_base(4), with_its_base(5)])
def writes_that_a_view_of_varying_size_sees(x, base):
    base.add_(1.0)
    return x * 2


@program(calls=[(matrix(n),) for n in (3, 4, 5, 5)])
def writes_to_what_varies(x):
    x[0] = 5.0
    return x.sum()


@program(calls=[(matrix(3),), (matrix(4),), (matrix(5).reshape(-1),), (matrix(6).T,), (matrix(7).T,), (matrix(8),)])
def other_ranks_and_layouts(x):
    return x * 2, x.shape


@program(calls=[(matrix(n), k) for n, k in ((3, 1), (4, 2), (5, 3), (5, 7))])
def a_number_that_varies_with_it(x, k):
    return x * k + x.shape[0], k + 1


@program(calls=[(matrix(n),) for n in (3, 4, 5, 6)], build=True)
def a_cache_that_grows():
    class Decoder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.key = nn.Dense(6, 6, weight_init="ones")

        def construct(self, x, cache):
            k = self.key(x)
            cache = ops.concat((cache, k), 0)
            return ops.matmul(ops.softmax(ops.matmul(x, cache.T), -1), cache), cache

    step = ms.jit(Decoder())

    def run(x):
        cache, out = x[:1] * 0, x
        for i in range(x.shape[0]):
            out, cache = step(x[i : i + 1], cache)
        return out, cache

    return run


CORNERS = [(matrix(a, b),) for a, b in ((3, 4), (4, 4), (5, 4), (1, 4), (4, 1), (4, 4), (2, 6), (1, 1), (6, 2))]


@program(calls=CORNERS)
def written_through_what_may_be_a_view(x):
    y = x * 2
    turned, columns, front = y.T.reshape(-1), y[:, ::2].reshape((1, -1)), y[:, :-1].flatten()
    turned[0] = 70.0
    columns += 1
    front *= 2
    return y * 1, turned * 1, columns * 1, front * 1


@program(calls=CORNERS)
def written_below_what_may_be_a_view(x):
    y = x * 2
    reversed_, square, last = y.T.reshape(-1), y.T.reshape(y.shape), y.expand_dims(0).swapaxes(0, -1).ravel()
    y += 1
    return reversed_ * 1, square * 1, last * 1


@program(calls=CORNERS)
def pairs_of_a_size_that_may_be_odd(x):
    y = (x * 2)[:, ::2]
    z = y.reshape(-1)
    z[0] = 9.0
    return y * 1, y.is_contiguous(), x.T.is_contiguous(), x.T.contiguous() is x


@program(calls=CORNERS)
def strides_of_what_varies(x):
    return x.stride(), x.T.stride()


@program(calls=CORNERS)
def what_may_be_a_view_of_the_argument(x):
    return x.T.reshape(-1), x


@program(calls=CORNERS)
def what_may_be_a_view_after_a_loop(x):
    y = x * 1
    z = y.T.reshape(-1)
    while y.sum() < 40:
        y += 1.5
        z = z + y.T.reshape(-1)
        z[0] = 2.0
    return y * 1, z * 1


@program(calls=[(matrix(a, b),) for a, b in ((4, 3), (4, 5), (4, 1), (4, 2))])
def rows_of_nothing(x):
    y = x[:, :-1]
    return y.reshape((-1, y.shape[-1])) * 2


@program(calls=[(T(np.ones((3, a, b), np.float32)),) for a, b in ((3, 4), (5, 4), (1, 4), (4, 1))])
def a_copy_within_vmap(x):
    def row(r):
        y = r * 2
        z = y.T.reshape(-1)
        z += 1
        return y * 1

    return ops.vmap(row)(x)


@program(
    calls=[(T([1.0, 2.0, 3.0]),), (T([1.0, 2.0]),), (T([-1.0, -2.0, 0.0, 4.0]),), (T([-5.0, 2.0]),)], captured=False
)
def chosen_before_a_break_and_written_behind_it(x):
    """Found by fuzzing: what stands for an argument of any size was taken for a tensor of the program's own."""
    y = x if x.sum() > 0 else x * 2
    time.sleep(0)
    y.add_(1.0)
    return x, y


@program(
    calls=[
        (T(np.ones((3, m), np.float32)), n)
        for m, n in [(5, 2), (6, 3), (7, 4), (0, -1), (0, 2), (6, -1), (9, -2), (3, 2)]
    ]
)
def so_many_copies_as_numbers_say_error(x, n):
    ops.tile(x, (n,))
    return n


@program(calls=[(T([[4, -3], [0, 3]]),), (T([[-3]]),), (T([[1, 2, 3], [-3, 4, 5], [1, 2, 3]]),), (T([[7]]),)])
def branch_that_gives_nothing_of_a_size_error(x):
    """Found by fuzzing: a `cond` whose results are undefined was taken for what finds the sizes that it names."""
    if x.argmax():
        x.shape[T(2)]
        x = x + x
    return x


TABLE = matrix(66, seed=5)
LOWER = T(np.tril(np.ones((66, 66), bool)))


@program(calls=ROWS)
def as_many_rows_of_a_table_error(x):
    return x + TABLE[: x.shape[0]]


@program(calls=[(matrix(n),) for n in SIZES if n < 65])
def rows_of_a_table_at_places_made_of_sizes(x):
    n = x.shape[0]
    return TABLE[n - 1 : n], TABLE[n:], TABLE[-n:], TABLE[: n // 2], TABLE[n // 3 : n : 2], TABLE[::-1][: n + 1]


@program(
    calls=[
        (matrix(n), matrix(k, seed=1)) for n, k in ((5, 2), (7, 1), (3, 1), (33, 4), (1, 1), (60, 5), (64, 1), (0, 2))
    ]
)
def attention_of_the_latest(kept, latest):
    keys = ops.concat((kept, latest), 0)
    n, k = keys.shape[0], latest.shape[0]
    scores = (latest @ keys.T).masked_fill(~LOWER[n - k : n, :n], float("-inf"))
    return ops.softmax(scores, -1) @ keys, keys


@program(calls=[(matrix(n),) for n in SIZES if n < 65])
def writes_to_as_many_rows(x):
    n = x.shape[0]
    y = TABLE * 1
    y[:n] = x
    y[n // 2 : n] *= 2
    y[-n:, 0] = 1
    return y, ms.grad(lambda t: (t[:n] * x).sum() + (t[n:] ** 2).sum())(TABLE)


@program(calls=[(matrix(n), k) for n, k in zip(SIZES, (0, 3, -5, 7, 1, 2, 2, 9, 4, -1, 30, 6, 2))])
def places_from_a_number_on(x, k):
    n = x.shape[0]
    places = ops.arange(k, k + n)
    return places, ops.arange(k, k + 3, dtype=ms.int8), ops.arange(k + n, 2 * n + k + 1), TABLE[places % 66] + x


@program(calls=[(T([1.0]), a, b) for a, b in ((0, 3), (2, 4), (5, 5), (7, 6), (3, 9), (-4, 0))])
def places_between_numbers_error(x, a, b):
    return ops.arange(a, b) * x.astype(ms.int64)


@program(calls=ROWS)
def segments_as_many_as_there_are_rows(x):
    n = x.shape[0]
    places = ops.arange(n) // 2 - 1
    summed = ops.unsorted_segment_sum(x, places, n)
    return (
        summed,
        ms.grad(lambda t: (ops.unsorted_segment_max(t, places, n) * t).sum())(x),
        ops.sequence_mask(T([2]), n),
    )


@program(calls=[(matrix(n).reshape(n, 3, 2),) for n in SIZES if n], build=True)
def layers_that_count_the_batch():
    norm, recurrent = nn.BatchNorm1d(6), nn.LSTM(2, 3)
    norm.set_train()
    for i, weight in enumerate(recurrent.get_parameters()):
        weight.set_data(matrix(*weight.shape, seed=i) if weight.ndim == 2 else matrix(1, *weight.shape, seed=i)[0])

    def step(x):
        out, (h, c) = recurrent(x.swapaxes(0, 1))
        return norm(x.reshape(-1, 6)), norm.moving_variance * 1, out, h, c

    return step


SMALL = [(matrix(n),) for n in (6, 7, 4, 3, 2, 1, 5)]


@program(calls=SMALL)
def reflection_of_more_than_there_is_error(x):
    return ops.pad(x.T, (2, 3), "reflect")


@program(calls=SMALL)
def circular_padding_with_more_than_there_is_error(x):
    return ms.grad(lambda t: (ops.pad(t.T[None], (1, 3), "circular") ** 2).sum())(x)


@program(calls=SMALL)
def nothing_is_replicated_error(x):
    return ops.pad(x[2:].T[None], (1, 1), "replicate")


@program(calls=SMALL)
def windows_of_which_one_may_be_empty_error(x):
    y = x.T[None, None]
    return ops.max_pool2d(y, (1, 2), (1, 1), (0, 1), (1, 4), return_indices=True)


@program(calls=[(matrix(n), matrix(m, seed=1)) for n, m in ((5, 5), (7, 7), (3, 5), (4, 1), (1, 4), (6, 6))])
def contents_of_a_tensor_of_another_size_error(x, y):
    z = x * 1
    z.copy_(y)
    part = x[1:] * 2
    part.copy_(y[1:])
    return z, part


SIGNS = (([1.0, -1.0], [-2.0, 2.0]), ([1.0, 2.0], [3.0, 4.0]), ([1.0, 2.0, -1.0], [3.0, 4.0, 5.0]))


@program(calls=[(T(x), T(y)) for x, y in SIGNS], captured=False)
def contents_of_a_size_that_data_decide_error(x, y):
    some = x[x > 0] * 1
    some.copy_(y[y > 0])
    return some


LENGTHS = ((3, 3), (5, 5), (1, 4), (2, 3), (4, 1))


@program(
    calls=[(matrix(3 * n).reshape(3, n, 6), T(np.arange(m, dtype=np.int32) % 3 + 1)) for n, m in LENGTHS], build=True
)
def lengths_of_other_sequences_error():
    recurrent = nn.LSTM(6, 2)
    for i, weight in enumerate(recurrent.get_parameters()):
        weight.set_data(matrix(*weight.shape, seed=i) if weight.ndim == 2 else matrix(1, *weight.shape, seed=i)[0])
    return lambda x, lengths: recurrent(x, None, lengths)[0]


@program(calls=[(matrix(n), matrix(m, seed=1)) for n, m in ((5, 5), (7, 7), (3, 4), (33, 33), (2, 9), (6, 6), (0, 0))])
def shapes_as_a_whole(x, y):
    n = x.shape[0]
    return (
        x.shape == y.shape, x.shape != y.shape, [n, "a"] == [n, "b"], (n, None) == (n, 1), x.shape == x.shape[:1],
        (n, [1]) != (y.shape[0], [1]), list(x.shape) == x.shape, x * 2 if tuple(x.shape) == tuple(y.shape) else y.sum(),
        x if x.shape == (7, 6) else x.T,
    )  # fmt: skip


@program(calls=[(matrix(n),) for n in SIZES if n])
def losses_that_divide_by_an_extent(x):
    wide, p = x.T, ops.softmax(x, -1)
    return (
        ops.kl_div(ops.log_softmax(x, -1), p, "batchmean"),
        ops.cross_entropy(wide, ops.zeros(6, ms.int32), label_smoothing=0.25),
        ops.cross_entropy(wide, p.T, label_smoothing=0.25),
        ops.multilabel_margin_loss(wide, ops.zeros(wide.shape, ms.int32)),
        ms.grad(lambda t: ops.kl_div(t, p, "batchmean"))(x),
    )


@program(calls=[(matrix(n),) for n in SIZES if n], build=True)
def distributions_of_what_varies():
    categorical, normal = Categorical(), Normal(0.0, 1.0)

    def log_probs(x):
        p = ops.softmax(x, -1)
        return categorical.log_prob(ops.arange(x.shape[0]) % 6, p), categorical.entropy(p), normal.log_prob(x, x, p)

    return log_probs


@program(calls=[(matrix(n, 16).reshape(1, 2, n, 8),) for n in (5, 7, 1, 2, 12, 33)], build=True)
def windows_that_pad_to_the_same_extent():
    pools = nn.MaxPool2d(3, 2, pad_mode="same"), nn.AvgPool2d(3, 2, pad_mode="same")
    wider = nn.Conv2dTranspose(2, 3, 3, 2, pad_mode="same", weight_init=matrix(6, 9).reshape(2, 3, 3, 3))

    def windows(x):
        return (
            *(pool(x) for pool in pools), wider(x),
            ms.grad(lambda t: (wider(t) ** 2).sum() + (pools[0](t) * 3).sum())(x),
        )  # fmt: skip

    return windows


@program(calls=[(matrix(n, 16).reshape(1, 2, 8, n),) for n in (5, 7, 1, 2, 12)], build=True)
def recurrence_along_what_is_pooled():
    pool, layer = nn.MaxPool2d(2, 2, pad_mode="same"), nn.GRU(8, 3)
    for i, weight in enumerate(layer.get_parameters()):
        weight.set_data(matrix(*weight.shape, seed=i) if weight.ndim == 2 else matrix(1, *weight.shape, seed=i)[0])

    def read(x):
        return layer(pool(x).reshape(1, 8, -1).transpose(2, 0, 1))[0]

    return lambda x: (read(x), ms.grad(lambda t: (read(t) ** 2).sum())(x))


@program(calls=[(matrix(n, 3),) for n in (4, 6, 7, 1, 9)], build=True)
def statistics_that_layers_of_mint_keep():
    layers = [mint.nn.BatchNorm1d(3, momentum=share).set_train() for share in (0.1, None)]
    mean, variance = ops.zeros(3), ops.ones(3)

    def normalised(x):
        outs = [layer(x) for layer in layers]
        outs.append(mint.nn.functional.batch_norm(x, mean, variance, training=True))
        return outs, mean + 0, variance + 0, [(layer.running_mean + 0, layer.running_var + 0) for layer in layers]

    return normalised


@program(calls=[(matrix(*shape),) for shape in ((3, 3), (4, 4), (6, 3), (1, 3), (5, 5), (3, 6))])
def diagonals_of_what_is_no_square(x):
    try:
        return mint.einsum("ii->i", x), mint.einsum("ii", x)
    except ValueError as error:
        return str(error)


@program(
    calls=[
        (matrix(1, n).reshape(1, 1, n), matrix(1, k, 1).reshape(1, 1, k)) for n, k in ((9, 3), (12, 4), (14, 5), (9, 2))
    ]
)
def kernels_of_convolutions_that_vary(x, w):
    def adjoint(y):
        return mint.nn.functional.conv1d(y, w, padding=1, stride=2).sum()

    return ms.grad(adjoint)(x), ms.grad(lambda y: (ms.grad(adjoint)(y) ** 2).sum() + (y * y).sum())(x)


@program(calls=[(matrix(1, n)[0],) for n in (4, 6, 7, 1)], grad=0)
def powers_that_fall_from_a_size(x):
    return ops.vander(x / 3), ops.fftfreq(x.shape[0], dtype=ms.float64)


@program(calls=[(matrix(4, 3 * n).reshape(3, 4, n),) for n in (6, 8, 7, 9)], build=True)
def gradients_of_strides_that_pad_to_the_same_extent():
    layer = nn.Conv1d(4, 3, 3, stride=2, pad_mode="same", weight_init=matrix(3, 12).reshape(3, 4, 1, 3))
    weights = list(layer.get_parameters())
    return lambda x: (ms.grad(lambda y: (layer(y) ** 2).sum(), 0, weights)(x), layer(x))
