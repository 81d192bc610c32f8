"""What a compiled program returns: identities, aliases, shared and outside objects, and objects it made."""

from __future__ import annotations

import collections
import dataclasses

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn, ops


@dataclasses.dataclass
class Pair:
    a: object
    b: object


Named = collections.namedtuple("Named", "a b")
MODES = pytest.mark.parametrize("transform", [lambda f: f, ms.jit], ids=["plain", "jit"])


def x():
    return Tensor([1.0, 2.0, 3.0])


@MODES
def test_arguments_are_returned_as_they_are(transform):
    t, items, obj = x(), [1], Pair(1, 2)
    f = transform(lambda t, items, obj, n: (t, items, obj, n, f, len))
    got = f(t, items, obj, None)
    assert got[0] is t and got[1] is items and got[2] is obj and got[3] is None and got[4] is f and got[5] is len


@MODES
def test_returned_views_are_views(transform):
    t = x()

    def f(t):
        y = t * 2
        return t[1:], y, y[:2], y.reshape(3, 1)

    of_argument, y, part, column = transform(f)(t)
    t[1] = 50
    assert of_argument.tolist() == [50.0, 3.0]
    part.add_(100)
    assert y.tolist() == [102.0, 104.0, 6.0] and column.tolist() == [[102.0], [104.0], [6.0]]


@MODES
def test_results_do_not_share_memory_unless_they_did(transform):
    t = x()
    copied, same = transform(lambda t: (t + 0, t.reshape(3)))(t)
    copied.add_(1)
    assert t.tolist() == [1.0, 2.0, 3.0]
    same.add_(1)
    assert t.tolist() == [2.0, 3.0, 4.0]


@MODES
def test_one_object_twice_is_one_object(transform):
    def f(t):
        shared = [t * 2]
        ring = {"self": None, "list": shared}
        ring["self"] = ring
        return shared, (shared, shared[0]), ring

    shared, pair, ring = transform(f)(x())
    assert pair[0] is shared and pair[1] is shared[0] and ring["self"] is ring and ring["list"] is shared


@MODES
def test_fresh_objects_on_every_call(transform):
    f = transform(lambda t: ([t + 1], Pair(t + 1, [])))
    one, two = f(x()), f(x())
    assert one[0] is not two[0] and one[1] is not two[1] and one[1].b is not two[1].b


@MODES
def test_kinds_of_containers(transform):
    def f(t):
        d = collections.defaultdict(list)
        d["a"].append(t)
        return (
            d,
            collections.OrderedDict(b=t, a=1),
            Named(t, 2),
            Pair(t, {3}),
            collections.deque([t], maxlen=2),
            {4: (t,)},
        )

    default, ordered, named, pair, queue, plain = transform(f)(x())
    assert type(default) is collections.defaultdict and default["new"] == []
    assert list(ordered) == ["b", "a"] and type(ordered) is collections.OrderedDict
    assert type(named) is Named and named.b == 2 and type(pair) is Pair and pair.b == {3}
    assert queue.maxlen == 2 and type(plain[4]) is tuple


@MODES
def test_parameters_and_cells_made_inside(transform):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(Tensor([2.0]), name="p")

        def construct(self, t):
            return self.p * t

    def f(t):
        p = Parameter(t * 2, name="made", requires_grad=False)
        net = Net()
        return p, net(t), net

    p, y, net = transform(f)(x())
    assert isinstance(p, Parameter) and p.name == "made" and not p.requires_grad and p.tolist() == [2.0, 4.0, 6.0]
    assert y.tolist() == [2.0, 4.0, 6.0] and net.p.name.endswith("p") and net(x()).tolist() == y.tolist()


@MODES
def test_bound_methods_and_partials(transform):
    class Scale:
        def __init__(self, k):
            self.k = k

        def apply(self, t):
            return t * self.k

    assert transform(lambda t: Scale(t).apply)(x())(Tensor([2.0])).tolist() == [2.0, 4.0, 6.0]


@MODES
def test_numbers_stay_numbers(transform):
    n, b, f, s = transform(lambda t: (int(t.sum()), bool(t.sum() > 0), float(t[0]), f"{int(t.sum())}!"))(x())
    assert (type(n), n, type(b), b, type(f), f, s) == (int, 6, bool, True, float, 1.0, "6!")


@MODES
def test_constants_of_the_program_are_not_shared_with_the_user(transform):
    f = transform(lambda t: (t, Tensor([1.0, 1.0]), ops.ones((2,))))
    for _ in range(3):
        _, a, b = f(x())
        a.add_(1)
        b.add_(1)
        assert a.tolist() == b.tolist() == [2.0, 2.0]


@MODES
def test_numpy_results(transform):
    f = transform(lambda t: (np.arange(3), t))
    one, _ = f(x())
    one[0] = 7
    assert f(x())[0].tolist() == [0, 1, 2]


@MODES
def test_iterators_as_results(transform):
    f = transform(lambda t: (t * k for k in range(2)))
    for _ in range(2):
        assert [y.tolist() for y in f(x())] == [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]
