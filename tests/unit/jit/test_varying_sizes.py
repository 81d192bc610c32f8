"""Sizes that vary: how many versions there are, which, what stays static and why, and what must not be taken for one.

That the bits are eager's for all sizes is shown by ``tests/conformance/programs/varying_sizes.py``.
"""

from __future__ import annotations

import dataclasses
import inspect
import types

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn, ops
from tests.conformance.programs import varying_sizes

SIZES = (32, 16, 8, 31, 5, 64, 7, 1, 2, 33)


def rows(n, columns=8):
    return Tensor(np.random.default_rng(n).standard_normal((n, columns)).astype(np.float32))


WEIGHT = rows(8)


def versions(compiled):
    return len(compiled.explain().versions)


def same(compiled, plain, *args):
    wanted = plain(*args)
    assert compiled(*args).asnumpy().tobytes() == wanted.asnumpy().tobytes()


def test_the_second_size_makes_a_version_for_all():
    f = lambda x: ops.softmax(ops.matmul(x, WEIGHT), -1)  # noqa: E731
    compiled = ms.jit(f)
    for n in SIZES:
        same(compiled, f, rows(n))
    assert versions(compiled) == 2
    guards = compiled.explain().versions[1]["guards"] + compiled.explain().versions[0]["guards"]
    assert "x: Tensor float32[any, 8]" in guards and "x: Tensor float32[32, 8]" in guards


@dataclasses.dataclass
class Batch:
    rows: Tensor
    scale: float = 2.0


@pytest.mark.parametrize(
    ("make", "read"),
    [
        (Batch, lambda b: b.rows * b.scale),
        (lambda x: Batch(x, 1.0 + x.shape[0]), lambda b: b.rows * b.scale),
        (lambda x: types.SimpleNamespace(rows=x), lambda b: b.rows * 2),
        (lambda x: {"batch": Batch(x), "more": [x]}, lambda b: b["batch"].rows - b["more"][0] * 2),
        (lambda x: [Batch(x), Batch(x * 2)], lambda b: b[0].rows + b[1].rows),
    ],
    ids=["dataclass", "number", "namespace", "nested", "list"],
)
def test_objects_made_anew_with_other_sizes_have_a_version_for_all(make, read):
    f = lambda b: ops.softmax(ops.matmul(read(b), WEIGHT), -1)  # noqa: E731
    compiled = ms.jit(f)
    for n in SIZES:
        same(compiled, f, make(rows(n)))
    assert versions(compiled) == 2
    assert len(compiled.explain().recompiles) <= 2


def test_where_each_size_makes_a_version_attempts_become_rare():
    f = lambda x: ops.stack([row.sum() * len(x) for row in x])  # noqa: E731
    compiled = ms.jit(f)
    for n in range(2, 42):
        same(compiled, f, rows(n))
    assert compiled.explain().static_sizes and compiled.stats["captures"] <= 13
    assert compiled.explain().unattempted >= 27


def test_objects_with_one_tensor_in_two_places_are_told_apart():
    f = lambda a, b: a.rows * 2 + b.rows  # noqa: E731
    compiled = ms.jit(f)
    for n in (3, 4, 5, 6):
        x = rows(n)
        same(compiled, f, Batch(x), Batch(x))
        same(compiled, f, Batch(x), Batch(rows(n)))


def test_a_call_without_elements_has_a_version_of_its_own():
    compiled = ms.jit(lambda x: x * 2)
    for n in (3, 4, 0, 5, 0):
        same(compiled, lambda x: x * 2, rows(n))
    assert versions(compiled) == 3


def test_sizes_that_varied_together_and_then_do_not():
    f = lambda x, y: ops.concat((x, y), 0)  # noqa: E731
    compiled = ms.jit(f)
    for a, b in ((3, 3), (4, 4), (5, 5), (5, 6), (7, 5), (9, 9)):
        same(compiled, f, rows(a), rows(b))
    assert versions(compiled) == 3


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        ms.set_seed(1)
        self.a, self.b = nn.Dense(8, 16), nn.Dense(16, 3)

    def construct(self, x):
        return self.b(ops.relu(self.a(x)))


def test_training_on_ten_batch_sizes_compiles_twice_and_is_native():
    batches = [(rows(n), Tensor(np.arange(n, dtype=np.int32) % 3)) for n in SIZES]
    weights = []
    for compile_it in (False, True):
        net = Net()
        optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
        gradient = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, optimizer.parameters)  # noqa: B023

        def step(x, y):
            loss, grads = gradient(x, y)  # noqa: B023
            optimizer(grads)  # noqa: B023
            return loss

        run = ms.jit(step) if compile_it else step
        losses = [run(*batch).asnumpy().tobytes() for batch in batches * 2]
        weights.append((losses, [p.asnumpy().tobytes() for p in net.trainable_params()]))
    assert weights[0] == weights[1]
    assert versions(run) == 2
    assert [v["why_not_native"] for v in run.explain().versions] == ["", ""]
    assert max(v["native_calls"] for v in run.explain().versions) > 10


def test_gradients_taken_outside_of_a_compiled_cell():
    net, plain = Net(), Net()
    compiled = ms.jit(net)
    for n in SIZES:
        results = []
        for f, owner in ((compiled, net), (plain, plain)):
            loss, grads = ms.value_and_grad(lambda x: (f(x) ** 2).mean(), None, owner.trainable_params())(rows(n))  # noqa: B023
            results.append([loss.asnumpy().tobytes(), *[g.asnumpy().tobytes() for g in grads]])
        assert results[0] == results[1], n
    assert versions(compiled) == 2


def test_a_cache_that_grows_from_nothing():
    class Decoder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cache = []

        def construct(self, x):
            k = x * 2
            if self.cache:
                k = ops.cat([self.cache[0], k], 0)
            self.cache = [k]
            return ops.matmul(ops.softmax(ops.matmul(x, k.T), -1), k)

    compiled, plain = ms.jit(Decoder()), Decoder()
    for i in range(12):
        same(compiled, plain, rows(i + 1)[:1] * 1)
    assert versions(compiled) == 3  # no cache, one row of it, any number


def decoded(source, target):
    context, outs = source.sum(0), []
    for t in range(target.shape[0]):
        context = ops.tanh(context + target[t])
        outs.append(context)
    return ops.stack(outs)


def test_a_list_with_an_element_for_each_step_is_one_version():
    compiled = ms.jit(decoded)
    for n, steps in [(9, 4), (5, 3), (7, 4), (6, 3), (12, 3), (3, 14), (8, 5), (9, 40), (20, 4)]:
        same(compiled, decoded, rows(n), rows(steps))
    assert versions(compiled) == 2


def test_a_list_whose_elements_have_a_gradient_is_made_by_an_unrolled_loop():
    compiled = ms.jit(decoded)
    for steps in (4, 5, 6, 7):
        same(compiled, decoded, rows(3), rows(steps))
    for steps in (4, 5, 4, 5):
        expected = ms.grad(lambda s, t: decoded(s, t).sum(), (0, 1))(rows(3), rows(steps))
        for one, other in zip(ms.grad(lambda s, t: compiled(s, t).sum(), (0, 1))(rows(3), rows(steps)), expected):
            np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())
    made = compiled.explain().versions
    assert len(made) == 2 and not any(v["plain_runs"] or "while_loop" in v["graph"] for v in made)


def test_a_loop_that_must_be_unrolled_leaves_the_other_sizes_open():
    def f(source, target):
        context, outs = source.sum(0), {}
        for t in range(target.shape[0]):
            context = ops.tanh(context + target[t])
            outs[t] = context
        return ops.stack(list(outs.values()))

    compiled = ms.jit(f)
    for n, steps in [(9, 4), (5, 3), (7, 4), (6, 3), (12, 3), (3, 4), (8, 5), (9, 5), (20, 4)]:
        same(compiled, f, rows(n), rows(steps))
    assert versions(compiled) == 4  # the first one, and for each number of steps one for all sources
    (reason,) = compiled.explain().static_sizes
    assert reason.startswith("target.shape[0]: a loop")


def test_the_place_is_told_where_the_number_is_needed():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.known = {}

        def construct(self, x):
            self.known[x.shape[0]] = 1  # not the call that has led here
            return x * 2

    net = Net()
    compiled = ms.jit(ms.value_and_grad(lambda x: net(x).sum()))
    step = ms.jit(lambda x: compiled(x))
    for n in range(2, 9):
        step(rows(n))
    line = inspect.getsourcelines(Net.construct)[1] + 1
    (reason,) = step.explain().static_sizes
    assert f"the value of this int is only known at run time at {__file__}:{line}:" in reason


def test_what_needs_the_number_of_rows_stays_static_and_is_not_tried_again():
    f = lambda x: ops.stack([row * 2 for row in x])  # noqa: E731
    compiled = ms.jit(f)
    for n in (2, 3, 4, 5, 6):
        same(compiled, f, rows(n))
    assert versions(compiled) == 5
    assert len(compiled.explain().static_sizes) == 1
    assert "a version for each size of x.shape[0]: " in str(compiled.explain())


@pytest.mark.parametrize(
    "function, shape",
    [
        (varying_sizes.shapes_as_a_whole, (-1, 6)),
        (varying_sizes.losses_that_divide_by_an_extent, (-1, 6)),
        (varying_sizes.distributions_of_what_varies(), (-1, 6)),
        (varying_sizes.windows_that_pad_to_the_same_extent(), (1, 2, -1, 8)),
        (varying_sizes.recurrence_along_what_is_pooled(), (1, 2, 8, -1)),
    ],
)
def test_what_asks_for_sizes_as_numbers_has_a_version_for_all(function, shape):
    compiled = ms.jit(function)
    for n in (5, 7, 9, 12):
        x = ops.ones([n if extent == -1 else extent for extent in shape])
        compiled(*[x] * function.__code__.co_argcount)
    assert len(compiled.explain().versions) == 2
    assert not compiled.explain().static_sizes


@pytest.mark.parametrize("how", ["enable_dynamic", "above jit", "set_inputs", "signature"])
def test_sizes_that_are_declared_need_one_version(how):
    def body(x):
        return x * 2 + 1

    placeholder = Tensor(shape=[None, 8], dtype=ms.float32)
    if how == "enable_dynamic":
        compiled = ms.jit(ms.enable_dynamic(x=placeholder)(body))
    elif how == "above jit":
        compiled = ms.enable_dynamic(x=placeholder)(ms.jit(body))
    elif how == "signature":
        compiled = ms.jit(body, input_signature=placeholder)
    else:
        net = Net()
        net.set_inputs(placeholder)
        compiled, body = ms.jit(net), Net()
    for n in SIZES:
        same(compiled, body, rows(n))
    assert versions(compiled) == 1


def test_attributes_of_the_users_own_are_seen_and_set():
    def f(x):
        y = x * x.tag
        x.seen = 7
        return y

    compiled = ms.jit(f)
    for n in (3, 4, 5, 5, 5):
        x = rows(n)
        x.tag = n
        assert compiled(x).tolist() == (x * n).tolist()
        assert x.seen == 7


def test_parameters_are_not_taken_for_tensors_of_varying_size():
    compiled = ms.jit(lambda x: (isinstance(x, Parameter), x.name, x * 2))
    for n in (2, 3, 4, 5):
        assert compiled(Parameter(rows(n), name=f"p{n}"))[:2] == (True, f"p{n}")


def test_one_object_or_two():
    compiled = ms.jit(lambda x, y: (x is y, x + y))
    for n, m, wanted in (
        (3, None, False),
        (4, None, False),
        (5, None, False),
        (5, 5, True),
        (6, 6, True),
        (7, None, False),
    ):
        x = rows(n)
        assert compiled(x, x if m else rows(n))[0] is wanted


def test_memory_that_is_written_and_shown_by_a_tensor_of_varying_size():
    def f(x, p):
        p.add_(1.0)
        return x * 2

    compiled = ms.jit(f)
    weights = [rows(10), rows(10)]
    for n, shares in ((3, False), (4, False), (5, False), (6, False), (7, False), (7, True), (6, True), (8, False)):
        results = []
        for g, p in zip((f, compiled), weights, strict=True):
            x = p[:n] if shares else Tensor.from_numpy(np.ones((10, 8), np.float32)[:n])  # memory of somebody else's
            results.append((g(x, p).asnumpy().tobytes(), p.asnumpy().tobytes()))
        assert results[0] == results[1], (n, shares)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 64, 257])
def test_roll_of_what_may_be_empty(n):
    compiled = ms.jit(lambda x: ops.roll(x, 1, 0), input_signature=Tensor(shape=[None, 8], dtype=ms.float32))
    for _ in range(3):
        same(compiled, lambda x: ops.roll(x, 1, 0), rows(n))


@pytest.mark.parametrize("sizes", [(1, 3, 5, 1, 2), (2, 1, 2, 3), (3, 4, 5, 2, 1)])
def test_what_one_program_has_assumed_the_next_one_assumes_too(sizes):
    """Both have a symbol for the size: the type of the result is known then, and what it assumes must not be lost."""
    for _ in range(2):
        compiled = ms.jit(lambda x: x.masked_fill(Tensor([True, False]), 2))
        for n in sizes:
            x = Tensor(np.ones((2, n), np.float32))
            if n < 3:
                assert compiled(x).tolist() == [[2, 1], [2, 1]]
            else:
                with pytest.raises(ValueError, match="need to broadcast"):
                    compiled(x)


def test_dimensions_that_are_marked_need_one_version():
    def body(xs, w):
        return (xs[0] * 2 + xs[0].mean()).sum() * w

    compiled = ms.jit(body)
    first = rows(2)
    ms.mark_dynamic(first, -first.ndim)
    same(compiled, body, [first], Tensor([1.0, 2.0]))
    for n in SIZES:
        same(compiled, body, [rows(n)], Tensor([1.0, 2.0]))
    assert versions(compiled) == 1


@pytest.mark.parametrize("dims, error", [(2, ValueError), (-3, ValueError), ("a", TypeError), (True, TypeError)])
def test_dimensions_that_a_tensor_lacks_cannot_be_marked(dims, error):
    with pytest.raises(error, match="For 'mark_dynamic'"):
        ms.mark_dynamic(Tensor([[1.0, 2.0]]), dims)


@pytest.mark.parametrize("where", [0, "a", (1, "b")], ids=str)
def test_dimensions_are_marked_of_tensors_in_containers(where):
    path = where if isinstance(where, tuple) else (where,)

    def nested(x):
        for key in reversed(path):
            x = {key: x} if isinstance(key, str) else [1.0] * key + [x]
        return x

    def body(held):
        for key in path:
            held = held[key]
        return held * 2 + held.mean()

    compiled = ms.jit(body)
    first = rows(2)
    ms.mark_dynamic(first, 0)
    same(compiled, body, nested(first))
    for n in SIZES:
        same(compiled, body, nested(rows(n)))
    assert versions(compiled) == 1


def test_sizes_of_parameters_cannot_be_marked():
    with pytest.raises(TypeError, match="must be a Tensor, but got Parameter"):
        ms.mark_dynamic(ms.Parameter(rows(2), name="w"), 0)


def test_a_symbol_stands_for_a_size_that_varies():
    compiled = ms.jit(
        lambda x: x * 2 + x.mean(), input_signature=Tensor(shape=[ms.Symbol(max=64), 3], dtype=ms.float32)
    )
    assert [compiled(ops.ones((n, 3))).shape for n in (2, 5)] == [(2, 3), (5, 3)] and versions(compiled) == 1
