"""Containers and objects of every kind."""

import collections
import copy
import dataclasses
import enum
import functools
import json

import pytest

import duograph as ms
from duograph import Tensor
from duograph.base import source
from tests.unit.frontend.cases import Cases, name_of, tensor

case = Cases()
P = tensor([1.0, 2.0])
N = tensor([-1.0, -2.0])


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object
    b: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Point:
    a: object
    b: int = 2
    c: list = dataclasses.field(default_factory=list)


@case()
def dataclasses_in_branches(x):
    p = Point(x)
    q = Frozen(x, [1])
    if x.sum() > 0:
        p.a = p.a * 2
        p.b += 1
        p.c.append(x)
    else:
        p = dataclasses.replace(p, b=7)
        p.c.append(x)
    return p.a * p.b, p.c, q.a, q.b, p


@case()
def list_of_tensors_in(x):
    a = [x, x * 2]
    return x in a, a.index(x)


@case(captured=False)
def list_methods(x):
    a = [3, 1, 2]
    if x.sum() > 0:
        a.sort()
    else:
        a.sort(key=lambda v: -v)
    a.reverse()
    a.insert(0, 9)
    a.remove(2)
    return a, a.index(9), a.count(1), x


@case(captured=False)
def nested_native_containers(x):
    d = json.loads('{"a": [1], "b": {"c": []}}')
    if x.sum() > 0:
        d["a"].append(2)
        d["b"]["c"].append(1)
    else:
        d["a"].append(3)
    return d, x


@case(captured=False)
def deepcopied(x):
    a = [[x], {"k": [1]}]
    b = copy.deepcopy(a)
    c = copy.copy(a)
    if x.sum() > 0:
        b[0].append(1)
        c[1]["k"].append(5)
        b[0][0].add_(5)
    else:
        b[1]["k"].append(2)
    return a, b, c


class MyList(list):
    def __init__(self, *a):
        super().__init__(*a)
        self.tag = 0

    def append(self, v):
        self.tag += 1
        super().append(v)


@case(captured=False)
def list_subclass(x):
    m = MyList([x])
    if x.sum() > 0:
        m.append(x)
    else:
        m.append(1)
        m.append(2)
        m.tag += 10
    return list(m), m.tag, len(m)


class MyDict(dict):
    def __setitem__(self, k, v):
        super().__setitem__(k, (v, 1))

    def __missing__(self, k):
        return k * 2


@case(captured=False)
def dict_subclass(x):
    m = MyDict()
    m["a"] = x
    if x.sum() > 0:
        m["b"] = 2
    else:
        m["b"] = 3
    return dict(m), m["zz"]


@case(*[(P, MyDict(a=1)), (N, MyDict(a=1))], captured=False)
def dict_subclass_arg(x, m):
    m["b"] = x
    return m["b"], m["q"]


@case()
def defaultdicts(x):
    d = collections.defaultdict(list)
    d["a"].append(x)
    if x.sum() > 0:
        d["b"].append(1)
    else:
        d["a"].append(2)
        d["b"].append(3)
    c = collections.Counter("aab")
    c["a"] += 1
    o = collections.OrderedDict(b=1, a=2)
    o.move_to_end("b")
    return dict(d), c, o, c.most_common(1)


@case(*[(P, collections.defaultdict(list)), (N, collections.defaultdict(list, a=[1]))])
def defaultdict_arg(x, d):
    d["a"].append(x)
    d["b"]
    return len(d)


class E(enum.Enum):
    A = 1
    B = 2


@case(*[(P, E.A), (P, E.B), (N, E.A)])
def enums(x, e):
    if e is E.A:
        return x * e.value
    return x + e.value, e


NT = collections.namedtuple("NT", "a b")


@case(*[(NT(P, 1),), (NT(N, 2),), (NT(P, 2),)])
def namedtuples(t):
    if t.a.sum() > 0:
        t = t._replace(a=t.a * 2)
    u = NT(*t)
    return t, u.b, u


@case(captured=False)
def deque_in_branches(x):
    d = collections.deque([1])
    if x.sum() > 0:
        d.append(2)
    else:
        d.append(3)
        d.append(4)
    return list(d), x


@case(captured=False, build=True)
def deque_outside():
    d = collections.deque([1])

    def f(x):
        d.append(len(d))
        return list(d), x * len(d)

    return f


class Slots:
    __slots__ = ("v", "n")

    def __init__(self, v):
        self.v = v
        self.n = 0


@case(captured=False)
def slots_in_branches(x):
    s = Slots(x)
    if x.sum() > 0:
        s.v = s.v * 2
        s.n = 5
    else:
        s.n = 6
    return s.v, s.n


@case(*[(P,), (P,), (N,)], captured=False, build=True)
def slots_outside():
    s = Slots(P)

    def f(x):
        s.n += 1
        s.v = x * s.n
        return s.v

    return f


@case()
def slices_of_lists(x):
    l = [x, 1, 2, 3, x * 2]
    del l[1:3]
    l[::2] = [0, 0]
    m = l * 2
    m.extend(l[::-1])
    return l, m, m.pop(), m[1:3], m


@case()
def match_stmt(x):
    def f(v):
        match v:
            case {"k": [a, *rest]} if len(rest) > 1:
                return a * 2, rest
            case (1 | 2) as n:
                return n, x
            case [Tensor() as t]:
                return t
            case _:
                return None

    return f({"k": [x, 1, 2]}), f(2), f([x]), f("z"), f({"k": [1]})


@case(*[(tensor(3),), (tensor(7),)])
def match_tensor(x):
    match x:
        case 3:
            return x * 2
        case 7:
            return x - 1


@case()
def string_ops(x):
    s = "%d items %s" % (3, "a")
    t = "{:>5}|{!r}".format(2, "b")
    if x.sum() > 0:
        s += "!"
    return s, t, s.split(), ",".join(map(str, range(3))), x.shape, f"{x.shape} {x.dtype}", str(x)


@case(captured=False)
def text_compare(x):
    return str(x.sum()) == "3.0", x


class CP:
    def __init__(self, v):
        self.v = v
        self.calls = 0

    @functools.cached_property
    def big(self):
        self.calls += 1
        return self.v * 10


@case(*[(P,), (N,), (P,)], captured=False, build=True)
def cached_prop_outside():
    c = CP(3)

    def f(x):
        return x * c.big + c.big, c.calls

    return f


@case(*[(P,), (N,), (P,)], captured=False)
def cached_prop_inside(x):
    c = CP(x)
    if x.sum() > 0:
        return c.big + c.big, c.calls
    return c.calls, c.v


@pytest.mark.parametrize("case", case, ids=name_of)
def test_compiled_is_plain(case):
    case.check()


def test_frozen_dataclasses_of_which_only_some_text_is_known(monkeypatch):
    """So many texts are remembered: that of ``__setattr__`` may be known of another class, when the class's own are
    forgotten."""
    kept = [entry for entry in source._exec_texts if "FrozenInstanceError" in entry.text]
    monkeypatch.setattr(source, "_exec_texts", collections.deque(kept))

    @ms.jit
    def doubled(x):
        return Frozen(x * 2, [1]).a

    exec("import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass Other:\n    a: int\n    b: int\n", {})
    source._exec_texts = collections.deque(x for x in source._exec_texts if "FrozenInstanceError" in x.text)
    assert doubled(ms.Tensor([1.0])).asnumpy().tolist() == [2.0]
    assert not doubled.explain().fallbacks
