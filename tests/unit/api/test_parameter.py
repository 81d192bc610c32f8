"""Parameter and ParameterTuple; copies, pickles, identity of Tensors."""

from __future__ import annotations

import copy
import pickle
import weakref

import numpy as np
import pytest

from duograph.api.tensor_methods import Tensor
from duograph.core import dtype as dt
from duograph.tensor.parameter import Parameter, ParameterTuple


def test_a_parameter_copies_its_input():
    x = Tensor([1.0, 2.0])
    p = Parameter(x, name="w")
    x[0] = 9
    assert p.asnumpy().tolist() == [1, 2]
    q = Parameter(p)
    p[1] = 7
    assert q.asnumpy().tolist() == [1, 2]
    assert p.tolist() == [1, 7]


def test_attributes_and_repr():
    p = Parameter(Tensor([1.0, 2.0]), name="w")
    assert repr(p) == str(p) == "Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)"
    assert not p.has_default_name
    p.name, p.requires_grad = "v", False
    assert (p.name, p.requires_grad, p.layerwise_parallel, p.parallel_optimizer) == ("v", False, False, True)
    assert p.comm_fusion == 1
    p.comm_fusion = 2
    assert p.comm_fusion == 2
    unnamed = Parameter(Tensor([1.0]))
    assert unnamed.has_default_name
    assert unnamed.name.startswith("Parameter#")
    assert type(p + 1) is Tensor
    assert type(p[0]) is Tensor


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(3, dt.int32), (1.5, dt.float32), ([1, 2], dt.int64), ([1.0], dt.float32), (np.ones(2), dt.float64)],
)
def test_dtype_of_the_initial_value(value, dtype):
    assert Parameter(value, "a").dtype is dtype


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Parameter(True), ValueError, "Parameter data can not be `bool`"),
        (lambda: Parameter((1, 2)), TypeError, "The type of the argument 'default_input' must be in"),
        (lambda: Parameter("a"), TypeError, "For 'Tensor', the type of 'input_data'"),
        (lambda: Parameter(1.0, name=3), ValueError, "The type of the Parameter's name should be 'string' or 'None'"),
        (lambda: Parameter(1.0, "w", 1), TypeError, "The argument `requires_grad` must be bool type"),
        (lambda: Parameter(1.0, "w").set_data([1.0]), TypeError, "Parameter data must be"),
        (lambda: ParameterTuple((Parameter(1.0), Tensor(1.0))), TypeError, "should be 'Parameter' collection"),
    ],
)
def test_refusals(make, error, text):
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)


def test_set_data_keeps_the_dtype_and_leaves_old_views_alone():
    p = Parameter(Tensor([1.0, 2.0], dt.float16), "h")
    old = p.value()
    assert p.set_data(Tensor([3.0, 4.0, 5.0])) is p
    assert p.dtype is dt.float16
    assert p.tolist() == [3, 4, 5]
    assert old.tolist() == [1, 2]
    p.set_data(7)
    assert p.shape == ()
    p.data = Tensor([1, 1])
    assert p.tolist() == [1, 1]


def test_value_and_data_share_storage():
    p = Parameter(Tensor([1.0, 2.0]), "p")
    v, d = p.value(), p.data
    assert type(v) is Tensor
    p[0] = 5
    d[1] = 6
    assert v.tolist() == d.tolist() == p.tolist() == [5, 6]


def test_clone_and_tuple():
    p = Parameter(Tensor([1.0, 2.0]), "p", requires_grad=False)
    c = p.clone()
    p[0] = 9
    assert (c.name, c.requires_grad, c.tolist()) == ("p", False, [1, 2])
    assert p.clone("zeros").tolist() == [0, 0]
    with pytest.raises(ValueError, match="its name 'p' already exists"):
        ParameterTuple([p, c])
    c.name = "c"
    both = ParameterTuple([p, c])
    assert isinstance(both, tuple)
    assert [q.name for q in both.clone("m")] == ["m.p", "m.c"]
    assert both.clone("m", init="ones")[0].tolist() == [1, 1]


def test_copies_and_pickles():
    p = Parameter(Tensor([1.0, 2.0]), "p", requires_grad=False)
    for twin in (copy.deepcopy(p), pickle.loads(pickle.dumps(p)), copy.copy(p)):
        assert type(twin) is Parameter
        assert (twin.name, twin.requires_grad, twin.tolist()) == ("p", False, [1, 2])
    shallow, deep = copy.copy(p), copy.deepcopy(p)
    p[0] = 3
    assert shallow.tolist() == [3, 2]
    assert deep.tolist() == [1, 2]
    t = Tensor([1.5], dt.bfloat16)
    again = pickle.loads(pickle.dumps(t))
    assert again.dtype is dt.bfloat16
    assert again.float().tolist() == [1.5]


def test_deepcopy_keeps_what_is_shared():
    p = Parameter(Tensor([1.0]), "p")
    net = {"a": p, "b": [p], "view": p.value()}
    twin = copy.deepcopy(net)
    assert twin["a"] is twin["b"][0]
    twin["a"][0] = 5
    assert twin["view"].tolist() == [5]
    assert p.tolist() == [1]


def test_identity():
    x = Tensor([1.0])
    assert len({x: 1, Tensor([1.0]): 2}) == 2
    assert weakref.ref(x)() is x
    assert (x == None) is False  # noqa: E711
    assert (x != "a") is True
    assert (x == [1.0]) is False
