"""Built-in functions and the standard library."""

import functools
import itertools
import math
import operator

import mindspore.nn as nn
import numpy as np
from mindspore import Tensor


def case_isinstance(jit):
    @jit
    def foo(x, l, t, d, s):
        return (
            isinstance(x, Tensor),
            isinstance(l, list),
            isinstance(t, (list, tuple)),
            isinstance(d, dict),
            isinstance(s, str),
            isinstance(1, int),
            isinstance(1.0, float),
            isinstance(True, bool),
            (None is None),
            isinstance(True, int),
        )

    return foo(Tensor(1), [1], (1,), {"a": 1}, "s")


def case_builtin_len(jit):
    @jit
    def foo(x, l):
        return len(x), len(l), len((1, 2)), len({"a": 1}), len("abc")

    return foo(Tensor(np.ones((3, 2))), [1, 2, 3])


def case_builtin_sum(jit):
    @jit
    def foo(x):
        return sum([1, 2, 3]), sum((x, x), x), sum(x), sum([x, x]), sum([1, 2], 10)

    return foo(Tensor([1, 2, 3]))


def case_builtin_max_min(jit):
    @jit
    def foo(x, y):
        return (
            max(1, 2, 3),
            min([4, 2, 8]),
            max(x),
            min(x),
            max(x[0], y),
            max("abc"),
            max((1, 5), key=lambda v: -v),
            max([], default=3),
        )

    return foo(Tensor([1, 2, 3]), Tensor(2))


def case_builtin_round_pow_abs(jit):
    @jit
    def foo(x):
        return (
            round(2.567, 1),
            round(2.5),
            round(-3.6),
            round(5, -1),
            pow(2, 3),
            pow(2.0, -1),
            pow(x, 2),
            abs(-3),
            abs(x),
            abs(-2.5),
            divmod(7, 2),
            pow(2, 5, 7),
        )

    return foo(Tensor([-1, 2]))


def case_builtin_round_tensor(jit):
    @jit
    def foo(x):
        return round(x)

    return foo(Tensor([1.5, 2.6, -0.4]))


def case_builtin_all_any(jit):
    @jit
    def foo(x):
        return all([1, 2]), any([0, 0]), all(x), any(x), all(()), any("a"), all({"a": 1}), all([x[1], 1])

    return foo(Tensor([0, 1]))


def case_builtin_range(jit):
    @jit
    def foo():
        return (
            tuple(range(5)),
            list(range(1, 10, 3)),
            [i for i in range(5, 0, -2)],
            range(3)[1],
            len(range(7)),
            3 in range(5),
        )

    return foo()


def case_builtin_map(jit):
    @jit
    def foo(x):
        def add(a, b):
            return a + b

        r = map(add, (1, x), (3, 4))
        s = tuple(map(lambda v: v * 2, [1, 2]))
        return tuple(r), s, list(map(str, (1, 2)))

    return foo(Tensor(2))


def case_builtin_filter(jit):
    @jit
    def foo():
        return list(filter(lambda v: v > 1, (1, 2, 3))), tuple(filter(None, [0, 1, "", "a"]))

    return foo()


def case_builtin_str(jit):
    @jit
    def foo(x):
        return str(1), str(1.5), str(True), str((1, 2)), str([1]), str(None), str("s"), str(x), str({"a": 1}), str()

    return foo(Tensor([1, 2]))


def case_builtin_type(jit):
    @jit
    def foo(x):
        return type(x) is Tensor, type(1) == int, type((1,)) is tuple, type("s").__name__, type([]) == list

    return foo(Tensor([1, 2]))


def case_builtin_ord_chr_bin(jit):
    @jit
    def foo():
        return ord("a"), chr(98), bin(5), hex(255), oct(8), hash(1), callable(len), ascii("x"), repr("q")

    return foo()


def case_builtin_super(jit):
    class A(nn.Cell):
        def construct(self, x):
            return x + 1

        def helper(self, x):
            return x * 10

    class B(A):
        def construct(self, x):
            y = super().construct(x)
            return y * 2 + super(B, self).helper(x)

    return jit(B())(Tensor(3))


def case_math(jit):
    @jit
    def foo(x):
        return math.sqrt(4), math.pi, math.floor(2.7), math.log(math.e), math.inf, x * math.cos(0)

    return foo(Tensor([1.0]))


def case_operator_itertools(jit):
    @jit
    def foo(x):
        return (
            operator.add(x, 1),
            operator.itemgetter(1)([1, x]),
            list(itertools.chain([1], [2, x])),
            functools.reduce(operator.mul, [1, 2, 3]),
            list(itertools.product([1, 2], "a")),
            list(itertools.accumulate([1, 2, 3])),
        )

    return foo(Tensor([1.0]))


def case_numpy_inside(jit):
    @jit
    def foo():
        a = np.array([1, 2, 3])
        b = Tensor(a + 1)
        return b, np.sum(a), a.tolist(), np.prod((2, 3))

    return foo()


def case_sorted_key(jit):
    @jit
    def foo(x):
        l = [(2, "b"), (1, "a")]
        l.sort(key=lambda t: t[0])
        return sorted([3, 1, 2], key=lambda v: -v), l, max(l, key=lambda t: t[1]), list(map(lambda t: t[0] * x, l))

    return foo(Tensor(2))
