"""Writes to the outside world are replayed in program order."""

import pytest

import duograph as ms
from duograph import Parameter, nn, ops
from tests.unit.frontend.cases import Cases, name_of, tensor

case = Cases()
P = tensor([1.0, 2.0])
N = tensor([-1.0, -2.0])
LOG = []
G = 0


class Prop:
    def __init__(self):
        self.n = 0
        self.items = []

    @property
    def next(self):
        self.n += 1
        self.items.append(self.n)
        return self.n

    def __getattr__(self, name):
        if name.startswith("dyn_"):
            return len(name)
        raise AttributeError(name)


@case(*[(P,), (P,), (N,)], build=True)
def property_side_effects():
    p = Prop()

    def f(x):
        a = p.next
        b = p.next
        return x * a + b, p.dyn_abc, hasattr(p, "zzz"), list(p.items), p.n

    return f


@case(*[(P,), (P,), (N,)], build=True)
def class_attr_written():
    class K2:
        count = 0

    def f(x):
        K2.count += 1
        if x.sum() > 0:
            K2.count += 10
        return x * K2.count

    return f


@case(*[(P,), (P,)], build=True)
def class_attr_dict_written():
    class K3:
        table = {}

    def f(x):
        K3.table["a"] = K3.table.get("a", 0) + 1
        return x * K3.table["a"]

    return f


def _bump():
    global G
    G = G + 1
    return G


@case(*[(P,), (N,), (P,)], G=0)
def global_from_called(x):
    a = _bump()
    if x.sum() > 0:
        _bump()
    return x * G + a


@case()
def print_in_loops(x):
    i = 0
    while x.abs().sum() < 20:
        print("at", i, x, f"{x.sum()}", [x, i])
        x = x * 2
        i += 1
        if i > 2:
            print("stop", i, end="!\n", sep="|")
            break
    if i == 3:
        raise ValueError(f"after {i}")


class Counter:
    def __init__(self):
        self.n = 0


@case(build=True)
def param_write_then_error():
    p = Parameter(tensor([1.0, 1.0]), name="p")
    c = Counter()

    def f(x):
        try:
            return g(x)
        except ValueError as e:
            return str(e), p * 1, c.n

    @ms.jit
    def g(x):
        c.n += 1
        ops.assign_add(p, x)
        if p.sum() > 3:
            raise ValueError("too much")
        ops.assign_add(p, x)
        return p

    return f


@case(LOG=[])
def global_list_of_tensors(x):
    LOG.append(x)
    LOG[0].add_(1)
    return LOG[0] is x, LOG


@case(*[(P,), (N,), (P,)], G=P)
def global_tensor_rebound(x):
    global G
    if x.sum() > 0:
        G = G + x
    else:
        G = G * x
    return G


@case(*[(P, {"a": P, "b": [1, P]}), (N, {"a": N, "b": [1, N]})])
def nested_args(x, d):
    d["b"].append(x)
    d["b"][1] = d["b"][1] + 1
    d["a"].add_(5)
    d["c"] = d.pop("a")
    if x.sum() > 0:
        d["b"][0] += 1
    return d["b"]


class Attr:
    def __init__(self):
        self.k = 1
        self.t = P


@case(*[(P,)] * 6, build=True)
def attr_counter():
    a = Attr()

    def f(x):
        a.k += 1
        a.t = a.t * a.k
        return a.t + a.k

    return f


@case(*[(P,)] * 5, G=0)
def global_counter(x):
    global G
    G += 1
    return x * G, G


@case(*[(P,)] * 5, build=True)
def cell_counter():
    n = 0
    t = P

    def f(x):
        nonlocal n, t
        n += 1
        t = t + n
        return t * n

    return f


@case(*[(P,)] * 5, build=True)
def list_counter():
    n = [0]

    def f(x):
        n[0] += 1
        return x * n[0]

    return f


@case(*[(P,)] * 5, build=True)
def list_grower():
    n = []

    def f(x):
        n.append(x * len(n))
        return sum(n, x)

    return f


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(tensor([1.0, 2.0]), name="w")
        self.count = Parameter(tensor(0), name="count", requires_grad=False)
        self.hist = []

    def construct(self, x):
        self.count += 1
        self.w[0] = self.w[1] + x[0]
        self.hist.append(self.w.sum())
        if self.count > 2:
            self.w.mul_(0.5)
            self.count = self.count * 0
        return (self.w * x).sum()


@case(*[(P,)] * 4, build=True)
def cell_state():
    net = Net()

    def f(x):
        y = net(x)
        return y, net.w, net.count, net.hist

    return f


@case(*[(P,), (N,), (P,)], build=True)
def cell_graph_itself():
    return Net()


@case(LOG=[])
def effects_in_grad(x):
    def f(v):
        LOG.append(v * 1)
        print("in", v)
        return (v * v).sum()

    return ms.grad(f)(x)


class CB(nn.Cell):
    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        if x.sum() > 0:
            return (dout * 7,)
        return (dout * 5,)


@case()
def custom_bprop_cell(x):
    class_ = None
    return CB()(x), ms.grad(CB())(x)


@case()
def value_and_grad_aux(x):
    def f(v):
        y = (v * v).sum()
        LOG.append(1)
        return y, v * 2

    (a, b), g = ms.value_and_grad(f, 0, None, has_aux=True)(x)
    LOG.clear()
    return a, b, g


def switched(how):
    """A network whose training flag a function switches off and on, and what is left of it after each call."""
    net = nn.SequentialCell(nn.Dense(2, 2, weight_init="ones", has_bias=False), nn.Dropout(p=0.5))

    def f(x, last):
        net.set_train(False)
        quiet = net(x)
        net.set_train(last)
        net.set_grad(not last)
        return quiet

    compiled = ms.jit(f) if how == "jit" else f
    seen = []
    for last in (True, True, False, True, False, False):
        net.set_train(not last)  # what a call writes has to be written by every call
        value = compiled(tensor([[1.0, 2.0]]), last)
        seen.append((value.asnumpy().tolist(), net.training, net[1].training, net.phase, net.requires_grad))
    return seen, compiled


def test_settings_of_cells_are_written_by_every_call():
    expected, _ = switched("plain")
    seen, compiled = switched("jit")
    assert seen == expected
    report = compiled.explain()
    assert not report.fallbacks and len(report.versions) <= 4


@pytest.mark.parametrize("case", case, ids=name_of)
def test_compiled_is_plain(case):
    case.check()
