"""Primitive classes: calls, attributes, and gradients that users register."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from duograph.ops._grad.grad_base import binop_grad_common, bprop_getters

import duograph as ms
import duograph.ops as package
from duograph import Tensor, ops

X = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
IMAGE = Tensor(np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4))

CASES = [
    (lambda: ops.Add()(Tensor([1]), 2), [3], "Int64"),
    (lambda: ops.MatMul(transpose_b=True)(X, X), X.asnumpy() @ X.asnumpy().T, "Float32"),
    (lambda: ops.ReduceSum(keep_dims=True)(X, 1), X.asnumpy().sum(1, keepdims=True), "Float32"),
    (lambda: ops.ReduceSum()(Tensor([1, 2], ms.int32)), 3, "Int32"),
    (lambda: ops.Argmax()(X), [3, 3, 3], "Int32"),
    (lambda: ops.Concat(1)((X, X)), np.concatenate((X.asnumpy(),) * 2, 1), "Float32"),
    (lambda: ops.Softmax(axis=0)(Tensor([0.0, 0.0])), [0.5, 0.5], "Float32"),
    (lambda: ops.Squeeze(0)(Tensor([[1, 2]])), [1, 2], "Int64"),
    (lambda: ops.CumSum(exclusive=True)(Tensor([1.0, 2.0]), 0), [0, 1], "Float32"),
    (lambda: ops.OneHot()(Tensor([0, 1]), 2, Tensor(1.0), Tensor(0.0)), [[1, 0], [0, 1]], "Float32"),
    (lambda: ops.Gather()(X, Tensor([1]), 0), X.asnumpy()[[1]], "Float32"),
    (lambda: ops.MaxPool(2, 2)(IMAGE), IMAGE.asnumpy()[:, :, 1::2, 1::2], "Float32"),
    (lambda: ops.Pad(((1, 1), (0, 0)))(X), np.pad(X.asnumpy(), ((1, 1), (0, 0))), "Float32"),
    (lambda: ops.L2Loss()(Tensor([3.0, 4.0])), 12.5, "Float32"),
    (lambda: ops.StridedSlice()(X, (0, 0), (2, 4), (1, 2)), X.asnumpy()[:2, ::2], "Float32"),
]


@pytest.mark.parametrize(("call", "want", "dtype"), CASES)
def test_values_and_dtypes(call, want, dtype):
    got = call()
    assert str(got.dtype) == dtype
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)


def test_several_results():
    index, value = ops.ArgMaxWithValue(axis=1)(X)
    assert (index.asnumpy().tolist(), value.asnumpy().tolist()) == ([3, 3, 3], [3, 7, 11])
    out, mask = ops.Dropout(keep_prob=1.0)(X)
    assert (out.asnumpy() == X.asnumpy()).all() and (mask.asnumpy() == 1).all()


def test_attributes_and_repr():
    prim = ops.ReduceSum(True)
    assert repr(prim) == "Prim[ReduceSum]<keep_dims=True, skip_mode=False>"
    assert (prim.name, prim.keep_dims, prim.attrs["skip_mode"]) == ("ReduceSum", True, False)
    assert prim.add_prim_attr("note", 1).attrs["note"] == 1
    assert ops.Add() != ops.Add()
    assert len({prim, ops.Add()}) == 2
    assert repr(ops.Add().shard(((1, 1),))) == "Prim[Add]<in_strategy=((1, 1),), out_strategy=None>"


def test_wrong_constructor_arguments():
    with pytest.raises(TypeError):
        ops.Add(1)
    with pytest.raises(TypeError, match="'out_channel' must be int"):
        ops.Conv2D("a", 3)
    with pytest.raises(ValueError, match="pad_mode"):
        ops.Conv2D(1, 3, pad_mode="foo")
    with pytest.raises(TypeError, match="axis"):
        ops.Softmax(axis="a")


def test_all_classes_without_required_parameters_can_be_made():
    from duograph.api.primitives import primitive_classes
    from duograph.api.primitives.base import REQUIRED

    for name, cls in primitive_classes().items():
        assert getattr(ops, name) is cls
        if REQUIRED not in getattr(cls, "parameters", {"func": REQUIRED}).values():  # `Custom` has a constructor
            assert cls().name == name


@pytest.fixture
def registered():
    classes = []
    yield lambda cls: classes.append(cls) or bprop_getters.register(cls)
    for cls in classes:
        bprop_getters.unregister(cls)


def test_registered_gradient_replaces_that_of_the_op(registered):
    @registered(ops.Mul)
    def get_bprop_mul(self):
        mul = P.Mul()  # noqa: F821 - the registry lends this name, as MindSpore's notebooks expect

        def bprop(x, y, out, dout):
            return binop_grad_common(x, y, mul(mul(y, dout), 100.0), mul(x, dout))

        return bprop

    x, y = Tensor(np.ones((2, 3), np.float32)), Tensor([1.0, 2.0, 3.0])
    dx, dy = ms.grad(lambda a, b: a * b, (0, 1))(x, y)
    assert dx.asnumpy().tolist() == [[100, 200, 300]] * 2
    assert dy.asnumpy().tolist() == [2, 2, 2]


def test_registered_gradient_of_a_composite_class(registered):
    @registered(ops.ReduceSum)
    def get_bprop(self):
        return lambda x, axis, out, dout: (ops.ones_like(x) * 7, axis)

    assert ms.grad(lambda x: ops.ReduceSum()(x, 0))(Tensor([1.0, 2.0])).asnumpy().tolist() == [7, 7]
    assert ms.grad(lambda x: ops.sum(x, 0))(Tensor([1.0, 2.0])).asnumpy().tolist() == [1, 1]


def test_modules_that_share_a_name_with_a_function_are_listed():
    from pathlib import Path

    from duograph.api.public_ops import names

    own = {p.stem for p in Path(package.__file__).parent.glob("*.py")}
    assert own & set(names()) == package.IN_FRONT
    assert not any(isinstance(getattr(ops, name), ModuleType) for name in package.IN_FRONT)
