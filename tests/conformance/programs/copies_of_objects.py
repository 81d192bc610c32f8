"""Deep copies of objects from outside: each object once, with what it has now."""

import copy
import dataclasses
import enum

import numpy as np

import duograph as ms
from duograph import Tensor
from tests.conformance.harness import T, program

CALLS = [(T([1.0, -2.0, 3.0]),), (T([2.0, 1.0, 0.5]),), (T([-1.0, -2.0, -3.0]),)]


class Cfg:
    def __init__(self):
        self.a = 1
        self.l = [1, [2, 3]]
        self.t = Tensor([1.0, 2.0, 3.0])
        self.sub = None
        self.d = {"k": (1, [2])}

    def scaled(self, x):
        return x * self.a


C = Cfg()
C.sub = Cfg()
C.sub.back = C
C.shared = C.l


@dataclasses.dataclass
class DC:
    rate: float = 0.5
    names: list = dataclasses.field(default_factory=list)


D = DC(0.25, ["a", "b"])


@program(calls=CALLS)
def a_dataclass(x):
    d = copy.deepcopy(D)
    d.names.append("c")
    return x * d.rate, d.names, D.names, type(d).__name__


@program(calls=CALLS)
def objects_that_hold_each_other(x):
    c = copy.deepcopy(C)
    c.l.append(5)
    c.t += 1
    c.sub.a = 7
    return (
        c.scaled(x) + c.t,
        c.shared,
        C.l,
        C.t * 1,
        c.sub.back is c,
        c.sub.t is c.t,
        c.shared is c.l,
        c.d["k"],
        C.sub.a,
    )


@program(calls=CALLS)
def copies_that_leave(x):
    c = copy.deepcopy(C)
    c.sub.back = None
    c.sub.sub = None
    return x * 1, [c.l is c.shared, c.sub.l, c.l]


@program(calls=CALLS)
def objects_in_a_list(x):
    held = copy.deepcopy([D, D, {"d": D}, 3])
    held[0].rate = 9
    return x * held[1].rate, held[2]["d"] is held[0], D.rate, held[3]


class Own:
    def __init__(self):
        self.n = 1

    def __deepcopy__(self, memo):
        o = Own()
        o.n = self.n + 1
        return o


O = Own()


@program(calls=CALLS, captured=False)
def a_class_that_copies_itself(x):
    return x * copy.deepcopy(O).n, O.n


class Holds:
    pass


H = Holds()
H.o = O


@program(calls=CALLS, captured=False)
def an_object_that_holds_such_a_one(x):
    return x * copy.deepcopy(H).o.n


class Prop:
    def __init__(self):
        self.__dict__["v"] = 3

    @property
    def v(self):
        return self.__dict__["v"] * 2

    @v.setter
    def v(self, n):
        self.__dict__["v"] = n


PR = Prop()


@program(calls=CALLS, captured=False)
def an_object_with_a_property(x):
    return x * copy.deepcopy(PR).v, copy.copy(PR).v


class SetA:
    def __init__(self):
        self.n = 1

    def __setattr__(self, k, v):
        object.__setattr__(self, k, v * 2)


S = SetA()


@program(calls=CALLS)
def an_object_whose_attributes_are_doubled(x):
    return x * copy.deepcopy(S).n


class Slot:
    __slots__ = ("n", "__dict__")

    def __init__(self):
        self.n = 1
        self.m = 2


SL = Slot()


@program(calls=CALLS, captured=False)
def an_object_with_slots(x):
    s = copy.deepcopy(SL)
    return x * s.n * s.m


class State:
    def __init__(self):
        self.n = 1

    def __getstate__(self):
        return {"n": 9}


ST = State()


@program(calls=CALLS, captured=False)
def an_object_that_gives_a_state(x):
    return x * copy.deepcopy(ST).n


class E(enum.Enum):
    A = 1


HH = Holds()
HH.e = E.A
HH.f = len
HH.g = lambda v: v
HH.c = Cfg
HH.s = {1, 2}
HH.n = np.arange(3)


@program(calls=CALLS, captured=False)
def an_object_with_a_set_and_an_array(x):
    h = copy.deepcopy(HH)
    return x * len(h.s), h.e is E.A, h.f is len


H2 = Holds()
H2.e = E.A
H2.f = len
H2.g = lambda v: v * 2
H2.c = Cfg
H2.ms = ms.float32
H2.t = (1, "a")


@program(calls=CALLS, captured=False)
def an_object_with_members_and_functions(x):
    h = copy.deepcopy(H2)
    return h.g(x), h.e is E.A, h.c is Cfg, h.g is H2.g, h.t is H2.t, h.ms


class Cnt(dict):
    pass


H3 = Holds()
H3.d = Cnt(a=1)
H3.d.tag = 4


@program(calls=CALLS, captured=False)
def an_object_with_a_derived_dictionary(x):
    h = copy.deepcopy(H3)
    return x * h.d["a"] * h.d.tag


@program(calls=CALLS, captured=False)
def an_object_that_is_written_before(x):
    D.rate += 1
    d = copy.deepcopy(D)
    d.rate += 1
    D.rate -= 1
    return x * d.rate


@program(calls=CALLS)
def objects_of_arguments(x):
    def h(d):
        e = copy.deepcopy(d)
        e.rate *= 2
        return e.rate

    return x * h(DC(0.5)), x * h(D)


@program(calls=CALLS, captured=False)
def a_copy_with_a_memo(x):
    m = {}
    d = copy.deepcopy(D, m)
    return x * d.rate, len(m) > 0
