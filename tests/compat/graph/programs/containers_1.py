"""Lists, dictionaries, tuples, strings, None."""

from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from enum import Enum

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Tensor, jit_class, mutable


def case_in_not_in(jit):
    @jit
    def foo(a, d):
        return a in d, 3 in (1, 2), "k" not in {"k": 1}, "a" in "cat", 2 in [1, 2]

    return foo(2, (1, 2, 3))


def case_is_none(jit):
    @jit
    def foo(x, y=None):
        if y is None:
            return x
        if y is not None and x is not None:
            return x + y
        return y

    return foo(Tensor(1)), foo(Tensor(1), Tensor(2)), foo(None, Tensor(3))


def case_list_append_in_for(jit):
    @jit
    def foo(x):
        l = []
        for i in range(3):
            l.append(x * i)
        return ops.stack(l), l

    return foo(Tensor([1, 2]))


def case_list_methods(jit):
    @jit
    def foo():
        x = [1, 3, 4]
        x.append(2)
        x.insert(0, 9)
        x.extend([7, 8])
        y = x.pop()
        z = x.pop(0)
        x.reverse()
        x.sort()
        n = x.count(3)
        i = x.index(4)
        x.remove(3)
        c = x.copy()
        x.clear()
        return x, c, y, z, n, i

    return foo()


def case_list_getitem_slices(jit):
    @jit
    def foo():
        x = [1, 2, 3, [4, 5], Tensor([1])]
        return x[0], x[-1], x[3][1], x[1:3], x[::-1], x[-3:], x[::2]

    return foo()


def case_list_setitem(jit):
    @jit
    def foo(t):
        x = [1, 2, 3, 4]
        x[0] = t
        x[-1] = (1, 2)
        x[1:3] = [7, 8, 9]
        del x[0]
        return x

    return foo(Tensor([5]))


def case_list_compare(jit):
    @jit
    def foo():
        return [1, 2] == [1, 2], [1, 2] < [1, 3], (1, 2) != (1, 2), (1,) + (2,), [1] + [2], [1] * 3, (0,) * 2

    return foo()


def case_list_comp(jit):
    @jit
    def foo(x):
        a = [i * x for i in range(4) if i % 2 == 1]
        b = [i + j for i in (1, 2) for j in (10, 20)]
        c = {k: v + 1 for k, v in zip(("a", "b"), (1, 2))}
        d = tuple(i for i in range(3))
        e = {i for i in (1, 1, 2)}
        return a, b, c, d, e

    return foo(Tensor([2]))


def case_list_input_mutated(jit):
    @jit
    def foo(l):
        l.append(Tensor([9]))
        l[0] = 7
        return l

    l = [1, 2]
    r = foo(l)
    return r, l, r is l


def case_dict_methods(jit):
    @jit
    def foo(x):
        d = {"a": x, 1: 2}
        d["n"] = 3
        d.update({"m": x * 2})
        g = d.get("zz", 5), d.get("a")
        has = "a" in d
        p = d.pop("n")
        s = d.setdefault("q", 6)
        c = d.copy()
        n = len(d)
        d.clear()
        f = {}.fromkeys(("u", "v"), 1)
        return d, c, g, has, p, s, n, f

    return foo(Tensor([1]))


def case_dict_input_output(jit):
    @jit
    def foo(d):
        d["new"] = d["a"] + 1
        return d

    d = {"a": Tensor([1])}
    r = foo(d)
    return r, d, r is d


def case_tuple_unpack(jit):
    @jit
    def foo(t):
        a, (b, c), *rest = t
        (x, y) = a, b
        [p, q] = [1, 2]
        return a, b, c, rest, x, y, p, q

    return foo((1, (2, Tensor(3)), 4, 5))


def case_tuple_slices(jit):
    @jit
    def foo(t):
        return t[1:], t[:-1], t[::2], t[-1], len(t), t.index(3), t.count(1)

    return foo((1, 2, 3, 1))


def case_none_return(jit):
    @jit
    def foo(x):
        x = x + 1

    return foo(Tensor(1))


def case_none_in_tuple(jit):
    @jit
    def foo(x):
        a = None
        return a, [None, x], {"k": None}, (None,)

    return foo(Tensor(1))


def case_str_methods(jit):
    @jit
    def foo():
        s = "MindSpore"
        return (
            s.upper(),
            s.lower(),
            s[0],
            s[1:4],
            s + "!",
            s * 2,
            s.replace("M", "m"),
            s.split("S"),
            s.startswith("Mi"),
            len(s),
            s.find("S"),
            "-".join(["a", "b"]),
            s.strip("e"),
            s.isalpha(),
            s == "x",
            "a" < "b",
        )

    return foo()


def case_str_format(jit):
    @jit
    def foo(x):
        a = "{} and {}".format(1, "b")
        b = "{1}-{0}".format(1, 2)
        c = "{name:>5}|{v:.2f}".format(name="q", v=3.14159)
        d = "%s %d %.3f" % ("s", 4, 2.5)
        n = 5
        e = f"{n}, {n:03d}, {n!r}, {(1,)}"
        f = f"{x}"
        return a, b, c, d, e, f

    return foo(Tensor([1, 2]))


def case_str_format_tensor_in(jit):
    @jit
    def foo(x):
        return "v: {}".format(x)

    return foo(Tensor([1, 2]))


def case_builtin_zip_enumerate(jit):
    @jit
    def foo(x):
        return (
            tuple(zip((1, 2), "ab", [x, x])),
            tuple(enumerate((5, x), 1)),
            list(reversed([1, 2])),
            sorted([3, 1, 2], reverse=True),
            tuple(enumerate(x)),
        )

    return foo(Tensor([1, 2]))


def case_builtin_tuple_list_dict(jit):
    @jit
    def foo(x):
        return (
            tuple([1, x]),
            list((1, x)),
            tuple(x),
            list(x),
            dict(a=1, b=x),
            dict([("k", 1)]),
            tuple(),
            list(),
            dict(),
            tuple({"a": 1}),
            list("ab"),
        )

    return foo(Tensor([1, 2]))


def case_jit_class_create_cell_list(jit):
    @jit_class
    class InnerNet:
        def __init__(self, val):
            self.number = val

        def act(self, x):
            return x * self.number

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.nets = [InnerNet(1), InnerNet(2), InnerNet(3)]

        def construct(self, x):
            for n in self.nets:
                x = x + n.act(x)
            return x

    return jit(Net())(Tensor(1))


def case_mutable_dict_list(jit):
    @jit
    def foo(d, l):
        return d["a"] + l[1]

    return foo(mutable({"a": Tensor([1.0])}), mutable([Tensor([1.0]), Tensor([5.0])]))


def case_cell_list_index_tensor(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])

        def construct(self, x, i):
            return self.layers[i](x)

    net = jit(Net())
    return [net(Tensor([0.5, -2.0]), Tensor(i, ms.int32)) for i in (0, 1, 2, -1)]


def case_tensor_setitem_slices(jit):
    @jit
    def foo(x, v):
        x[0] = 1
        x[1:] = v
        x[..., 0] = 5
        x[0, 1] += 3
        return x

    return foo(Tensor(np.zeros((3, 2)), ms.float32), Tensor([7.0, 8.0]))


def case_slice_var(jit):
    @jit
    def foo(x, a, b):
        s = slice(a, b)
        return x[s], x[a:b:1], (1, 2, 3, 4)[s]

    return foo(Tensor([1, 2, 3, 4, 5]), 1, 3)


def case_list_index_tensor(jit):
    @jit
    def foo(x, i):
        l = [x, x * 2, x * 3]
        t = (1, 2, 3)
        return l[i], t[i]

    return [foo(Tensor([1.0]), Tensor(i)) for i in (0, 2, -1)]


def case_list_setitem_tensor_index(jit):
    @jit
    def foo(x, i):
        l = [x, x, x]
        l[i] = x + 5
        return l

    return foo(Tensor([1.0]), Tensor(1)), foo(Tensor([1.0]), Tensor(-1))


def case_namedtuple(jit):
    Pt = namedtuple("Pt", ["x", "y"])

    @jit
    def foo(p):
        q = Pt(p.y, p.x + 1)
        return q, q.x, q[1], q._replace(x=3), p._asdict()

    return foo(Pt(Tensor(1), 2))


def case_ordereddict(jit):
    @jit
    def foo(x):
        d = OrderedDict()
        d["a"] = x
        d["b"] = x + 1
        d.move_to_end("a")
        return d, list(d.keys())

    return foo(Tensor(1))


def case_defaultdict_deque(jit):
    @jit
    def foo(x):
        d = defaultdict(list)
        d["a"].append(x)
        q = deque([1, 2], maxlen=2)
        q.append(x)
        return dict(d), list(q), q.popleft()

    return foo(Tensor(1))


def case_dataclass(jit):
    @dataclass
    class D:
        a: int
        b: Tensor = None

        def total(self):
            return self.a + self.b

    @jit
    def foo(d, x):
        e = D(3, x)
        e.a += 1
        return d.total(), e.total(), e.a

    return foo(D(1, Tensor(2)), Tensor(5))


def case_enum(jit):
    class Color(Enum):
        RED = 1
        BLUE = 2

    @jit
    def foo(x, c):
        if c == Color.RED:
            return x
        if c is Color.BLUE:
            return x * c.value
        return -x

    return foo(Tensor(4), Color.RED), foo(Tensor(4), Color.BLUE)


def case_tensor_item_tolist(jit):
    @jit
    def foo(x):
        return x.item(), x[0].item() + 1, x.tolist()

    return foo(Tensor([3.5]))


def case_tensor_tolist_many(jit):
    @jit
    def foo(x):
        return x.tolist(), x.reshape(2, 1).tolist()

    return foo(Tensor([3.5, 1.5]))


def case_dict_comp_nested(jit):
    @jit
    def foo(x):
        d = {"a": {"b": [x, {"c": x * 2}]}}
        d["a"]["b"][1]["c"] = d["a"]["b"][1]["c"] + 1
        d["a"]["n"] = [v for k, v in sorted({"z": 1, "y": 2}.items())]
        return d

    return foo(Tensor(1))


def case_return_types(jit):
    @jit
    def foo(x):
        return 1, 2.5, True, "s", None, (), [], {}, (1, [2, {"k": (3,)}]), x, ms.float32 == ms.float32, 1j

    return foo(Tensor(1))


def case_dict_in_dict_unpack(jit):
    @jit
    def foo(**kw):
        out = 0
        for k in kw:
            out = out + kw[k]
        return out, sorted(kw), {k: v for k, v in kw.items() if k != "a"}

    return foo(a=Tensor(1), b=2)


def case_dict_eq_in(jit):
    @jit
    def foo(d):
        return (
            d == {"a": 1},
            "a" in d.keys(),
            1 in d.values(),
            ("a", 1) in d.items(),
            list(d.items())[0],
            not d,
            bool({}),
        )

    return foo({"a": 1})
