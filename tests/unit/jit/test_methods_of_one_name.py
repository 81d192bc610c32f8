"""Versions of a method lie with the instance: functions of one name have their own."""

import time

import duograph as ms
from duograph import nn
from duograph.jit import keys

X = ms.Tensor([1.0, 2.0])


class Named:
    @ms.jit
    def scaled(self, x):
        return x * 2


Before = Named


class Named(Named):
    @ms.jit
    def scaled(self, x):
        return x * 5


def test_a_class_and_another_one_of_its_name_that_it_inherits_from():
    made = Named()
    for _ in range(3):
        assert made.scaled(X).tolist() == [5.0, 10.0]
        assert Before.scaled(made, X).tolist() == [2.0, 4.0]
    assert len(Before.scaled.explain().versions) == len(Named.scaled.explain().versions) == 1


def test_a_method_that_is_compiled_again_finds_its_versions():
    def scaled(self, x):
        return x * 3

    holder = Named()
    first, second = ms.jit(scaled), ms.jit(scaled)
    assert first(holder, X).tolist() == second(holder, X).tolist() == [3.0, 6.0]
    assert sum(v["hits"] for v in first.explain().versions) == 2


def test_functions_that_are_made_anew_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(keys, "MOST_METHODS", 4)
    holder = Named()

    def call(k):
        def scaled(self, x):
            return x * k

        return ms.jit(scaled)(holder, X)

    for k in range(20):
        assert call(k).tolist() == [k, 2 * k]
    assert len(vars(holder)["_duograph_versions"]) <= 4


def stepped(x):
    return (x * 2).tanh() * x - x.mean()


def test_two_segments_of_one_line():
    namespace = {"stepped": stepped, "time": time, "nn": nn}
    text = "def construct(self, x): x = stepped(stepped(x)); time.sleep(0); return stepped(stepped(x)) + 1"
    made = compile(f"class Net(nn.Cell):\n  {text}", "<nowhere>", "exec")
    made = made.replace(co_consts=tuple([_without_columns(c) for c in made.co_consts]))
    exec(made, namespace)
    net = namespace["Net"]()
    compiled = ms.jit(net, capture_mode="bytecode")
    for _ in range(5):
        assert compiled(X).tolist() == net(X).tolist()
    assert len(compiled.explain().segments) == 2


def _without_columns(constant):
    if not hasattr(constant, "co_consts"):
        return constant
    parts = tuple([_without_columns(c) for c in constant.co_consts])
    return constant.replace(co_consts=parts, co_linetable=b"", co_filename="<gone>")
