"""`Parameter.set_data` in compiled functions: in place where nobody can tell, other memory where somebody shares it."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn, ops
from tests.unit.jit.native_calls import bits, f32, is_native, led_by_python, warmed


def parameter(*values: float, name: str = "p") -> Parameter:
    return Parameter(f32(*values), name=name)


def address(p: Parameter) -> int:
    return p.array().ctypes.data


def doubling(p: Parameter, **options):
    @ms.jit(**options)
    def double():
        p.set_data(p * 2)

    return double


@pytest.mark.parametrize("options", [{}, {"jit_level": "O0"}, {"backend": "interpreter"}])
def test_an_array_taken_before_keeps_its_contents(options):
    p = parameter(1, 2)
    double = doubling(p, **options)
    for _ in range(5):  # the last ones would be native
        kept, contents = p.asnumpy(), p.asnumpy().tolist()
        double()
        assert kept.tolist() == contents
        assert p.asnumpy().tolist() == [2 * c for c in contents]


@pytest.mark.parametrize("make", [lambda p: p[1:], lambda p: p.value(), lambda p: p.reshape(2, 1), Tensor])
def test_a_view_taken_before_keeps_its_contents(make):
    p = parameter(1, 2)
    double = doubling(p)
    for _ in range(5):
        view = make(p)
        contents = bits(view)
        double()
        assert bits(view) == contents
        view.add_(1.0)  # no longer the memory of the parameter
        assert bits(make(p)) != bits(view)


def test_calls_are_native_and_in_place_when_nobody_shares_the_memory():
    p = parameter(1, 2)
    double = warmed(doubling(p))
    place = address(p)
    assert is_native(double)
    assert address(p) == place
    led_by_python(double)
    assert address(p) == place and p.asnumpy().tolist() == [32, 64]


def test_a_call_is_led_by_python_while_somebody_shares_the_memory():
    p = parameter(1, 2)
    double = warmed(doubling(p))
    kept = p.asnumpy()
    assert not is_native(double)
    assert is_native(double)  # the array has the old memory for itself
    assert kept.tolist() == [8, 16] and p.asnumpy().tolist() == [32, 64]


def test_memory_that_is_not_the_parameters_own():
    source = np.arange(6, dtype=np.float32)
    p = parameter(1, 2, 3)
    p._become(source[3:])  # as after reading a file that is mapped to memory
    doubling(p)()
    assert source.tolist() == [0, 1, 2, 3, 4, 5]
    assert p.asnumpy().tolist() == [6, 8, 10]


def test_an_in_place_write_is_still_seen_by_views():
    p, q = parameter(1, 2), parameter(1, 2, name="q")
    views = p[1:], q[1:]

    @ms.jit
    def step(x):
        ops.assign(p, p + x)
        q.set_data(q + x)

    for _ in range(5):
        step(f32(1, 1))
    assert views[0].asnumpy().tolist() == [7] and views[1].asnumpy().tolist() == [2]


def test_what_was_written_before_is_seen_by_views():
    p = parameter(1, 2)
    view = p.value()

    @ms.jit
    def step():
        p.add_(5.0)
        p.set_data(p * 2)

    step()
    assert view.asnumpy().tolist() == [6, 7] and p.asnumpy().tolist() == [12, 14]
    view = p.value()
    for _ in range(4):
        step()
    assert view.asnumpy().tolist() == [17, 19]


def test_what_is_written_in_place_before_costs_no_native_call():
    """Nobody sees it: weights are clipped or masked after the step of the optimizer."""
    p = parameter(1, 2)

    @ms.jit
    def step(x):
        p.add_(x)
        p.set_data(p * 2)

    warmed(step, f32(1, 1))
    where = address(p)
    expected = [2 * (c + 1) for c in p.asnumpy().tolist()]
    assert is_native(step, f32(1, 1))
    assert p.asnumpy().tolist() == expected and address(p) == where
    view = p[1:]  # sees what is written in place, and not what replaces it
    assert not is_native(step, f32(1, 1))
    assert view.asnumpy().tolist() == [expected[1] + 1]
    assert p.asnumpy().tolist() == [2 * (c + 1) for c in expected]


def test_parameters_that_get_the_same_contents_have_memory_of_their_own():
    p, q = parameter(1, 2), parameter(3, 4, name="q")

    @ms.jit
    def step(x):
        new = p + x
        p.set_data(new)
        q.set_data(new)
        return new

    for _ in range(5):
        kept, new = q.asnumpy(), step(f32(1, 1))
        arrays = [p.asnumpy(), q.asnumpy(), new.asnumpy(), kept]
        assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


class Student(nn.Cell):
    """A network and the moving average of its weights, the teacher."""

    def __init__(self):
        super().__init__()
        self.net = nn.SequentialCell(nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 8))
        self.teacher = nn.SequentialCell(nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 8))
        for net in (self.net, self.teacher):
            for i, p in enumerate(net.get_parameters()):
                p.set_data(Tensor(np.random.default_rng(i).standard_normal(p.shape).astype(np.float32)))

    def construct(self, x):
        return self.net(x)


def learning():
    cell = Student()
    optimizer = nn.Momentum(cell.net.trainable_params(), 0.01, 0.9)
    loss = nn.MSELoss()
    gradients = ms.value_and_grad(lambda x, y: loss(cell.net(x), cell.teacher(x) + y), None, optimizer.parameters)

    def step(x, y):
        value, grads = gradients(x, y)
        optimizer(grads)
        for t, p in zip(cell.teacher.get_parameters(), cell.net.get_parameters(), strict=True):
            t.set_data(t * 0.9 + p * 0.1)
        return value

    return cell, step


def test_a_moving_average_of_weights():
    (one, eager), (two, plain) = learning(), learning()
    batch = Tensor(np.ones((4, 64), np.float32)), Tensor(np.ones((4, 8), np.float32))
    step = ms.jit(plain)
    for _ in range(3):
        assert bits(step(*batch)) == bits(eager(*batch))
    places = [address(p) for p in two.get_parameters()]
    assert is_native(step, *batch)
    eager(*batch)
    for call in (step, lambda *args: led_by_python(step, *args)):
        assert bits(call(*batch)) == bits(eager(*batch))
    assert [bits(p) for p in two.get_parameters()] == [bits(p) for p in one.get_parameters()]
    assert [address(p) for p in two.get_parameters()] == places
    (version,) = step.explain().versions
    assert version["in_python"] == []


def test_calls_need_no_more_memory_than_the_parameters():
    p = Parameter(Tensor(np.ones(1 << 20, np.float32)), name="p")
    step = warmed(doubling(p))
    ms.runtime.reset_peak_memory_stats()
    before = ms.runtime.max_memory_allocated()
    for _ in range(3):
        step()
        led_by_python(step)
    assert ms.runtime.max_memory_allocated() - before < p.nbytes


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_a_parameter_that_is_replaced_on_one_path_only(value):
    def make():
        p = parameter(1, 2)

        def step(x):
            if x.sum() > 0:
                p.set_data(p * 2)
            else:
                p.mul_(3.0)
            return p + x

        return p, step

    (p, eager), (q, step) = make(), make()
    step = ms.jit(step)
    kept = p.value(), q.value()
    for x in (value, -value, value, -value):
        assert bits(step(f32(x, x))) == bits(eager(f32(x, x)))
        assert bits(kept[1]) == bits(kept[0])
    assert step.explain().fallbacks == []


def test_a_shape_that_changes_is_for_plain_python():
    p = parameter(1, 2)

    @ms.jit
    def grow():
        print("growing")
        p.set_data(ops.concat((p, p)))
        return p + 0

    assert grow().asnumpy().tolist() == [1, 2, 1, 2]
    (reason,) = [reason for part in grow.explain().segments for reason in part.fallbacks]
    assert "cannot change inside a graph" in str(reason)


def test_an_attribute_of_a_cell_gets_contents_of_another_dtype():
    class Cell(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = parameter(1, 2)

        def construct(self, x):
            self.w = x
            return self.w + 0

    eager, compiled = Cell(), Cell()
    kept = eager.w.asnumpy(), compiled.w.asnumpy()
    for x in (Tensor([3, 4], ms.int32), f32(5, 6)):  # the first is converted, the second written in place
        assert bits(ms.jit(compiled)(x)) == bits(eager(x))
        assert kept[0].tolist() == kept[1].tolist()
    assert isinstance(compiled.w, Parameter)


def test_a_tensor_attribute_of_an_ordinary_object_takes_the_place_of_a_parameter():
    class Holder:
        pass

    holder = Holder()
    holder.w = p = parameter(1, 2)

    @ms.jit
    def step(x):
        holder.w = x
        return holder.w + 0

    assert step(f32(3, 4)).asnumpy().tolist() == [3, 4]
    assert type(holder.w) is Tensor and p.asnumpy().tolist() == [1, 2]


class Counter(nn.Cell):
    def __init__(self):
        super().__init__()
        self.count = parameter(0, 0)

    def construct(self, x):
        self.count.set_data(self.count + x)
        return self.count * 1


def test_a_graph_that_was_saved_replaces_memory_too(tmp_path):
    ms.export(Counter(), f32(0, 0), file_name=str(tmp_path / "counter"), file_format="MINDIR")
    cell = nn.GraphCell(ms.load(str(tmp_path / "counter.mindir")))
    (count,) = cell.get_parameters()
    kept = count.asnumpy()
    for _ in range(3):
        cell(f32(1, 2))
    assert kept.tolist() == [0, 0] and count.asnumpy().tolist() == [3, 6]
    kept = count.asnumpy()
    ms.jit(lambda x: cell(x))(f32(1, 2))
    assert kept.tolist() == [3, 6] and count.asnumpy().tolist() == [4, 8]


def gradients(p: Parameter):
    def forward(x):
        y = (p * x).sum()
        p.set_data(x * x)
        return y + (p * x).sum()

    return forward


@pytest.mark.parametrize(
    "transform", [lambda f: ms.grad(f), lambda f: ms.jit(ms.grad(f)), lambda f: ms.grad(ms.jit(f))]
)
def test_gradients_take_the_new_contents_for_a_constant(transform):
    p = parameter(5, 7)
    gradient = transform(gradients(p))
    for _ in range(4):
        p.set_data(f32(5, 7))
        assert gradient(f32(2, 3)).asnumpy().tolist() == [5 + 4, 7 + 9]


@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_of_a_parameter_are_those_of_its_first_contents(compiled):
    p = parameter(5, 7)
    gradient = ms.grad(gradients(p), None, weights=[p])
    gradient = ms.jit(gradient) if compiled else gradient
    for _ in range(4):
        (found,) = gradient(f32(2, 3))
        assert found.asnumpy().tolist() == [2, 3]


def test_a_view_of_two_replacements_ago_is_for_plain_python():
    p = parameter(1, 2)

    @ms.jit
    def step():
        p.set_data(p * 2)
        view = p[1:]
        p.set_data(p + 1)
        return view + 0

    assert step().asnumpy().tolist() == [4] and p.asnumpy().tolist() == [3, 5]
    (reason,) = step.explain().fallbacks
    assert "set_data has given its Parameter other memory" in str(reason)
