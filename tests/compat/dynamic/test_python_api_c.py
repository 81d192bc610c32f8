"""Tensor and Cell as Python objects; errors, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import pytest
from mindspore import Parameter, ParameterTuple, Tensor, context
from mindspore.ops.composite import GradOperation

from tests.compat.dynamic.support import fails, same

T = Tensor


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.d = nn.Dense(3, 2, "ones")
        self.r = nn.ReLU()

    def construct(self, x):
        return self.r(self.d(x))


def test_sens_tuple():
    g = GradOperation(sens_param=True)

    def f(x):
        return (x * x, x * 3)

    same(g(f)(T(2.0), (T(1.0), T(10.0))), ("Float32", 34.0))
    same(GradOperation()(f)(T(2.0)), ("Float32", 7.0))


def test_second():
    g = GradOperation()
    same(g(g(lambda x: x * x * x))(T(2.0)), ("Float32", 12.0))
    same(g(g(g(lambda x: ops.sin(x))))(T(1.0)), ("Float32", -0.5403023))
    same(
        GradOperation(get_all=True)(GradOperation(get_all=True)(lambda x, y: x * x * y))(T(2.0), T(3.0)),
        (("Float32", 10.0), ("Float32", 4.0)),
    )


def test_nograd_out():
    with pytest.warns(UserWarning, match="no Tensor but a int"):
        same(ms.grad(lambda x: 3)(T(1.0)), ("Float32", 0.0))
    same(ms.grad(lambda x: T(5.0))(T(1.0)), ("Float32", 0.0))
    with pytest.warns(UserWarning, match="returned None"):
        same(ms.grad(lambda x: None)(T(1.0)), ("Float32", 0.0))
    same(ms.grad(lambda x: x > 1)(T(2.0)), ("Float32", 0.0))
    same(ms.grad(lambda x: (x, 3))(T(2.0)), ("Float32", 1.0))
    same(ms.grad(lambda x: [x, x * 2])(T(2.0)), ("Float32", 3.0))
    same(ms.grad(lambda x: {"a": x * 2})(T(2.0)), ("Float32", 2.0))
    same(ms.grad(lambda x: x)(T([1, 2])), ("Int64", [1, 1]))


def test_grad_inplace():
    def f(x):
        y = x * 1
        y[0] = 0
        y += 2
        return (y * y).sum()

    def g(x):
        x = x * 2
        x.add_(1)
        return x.sum()

    same(ms.grad(f)(T([1.0, 2.0])), ("Float32", [0.0, 8.0]))


def test_flags():
    n = Net()
    n.add_flags(a=True)
    n.set_grad()
    n.set_train()
    n.add_flags_recursive(b=1)
    same(n.get_flags(), {"a": True, "training": True, "b": 1})
    same(n.requires_grad, True)
    same(n.training, True)
    same(n.d.get_flags(), {"training": True, "b": 1})


def test_context_err():
    fails(
        lambda: context.set_context(mode=9),
        ValueError,
        "For 'context.set_context', the argument 'mode' should be context.GRAPH_MODE (0) or context",
    )
    fails(
        lambda: context.set_context(device_target="a"),
        ValueError,
        "For 'context.set_context', the argument 'device_target' must be one of ['CPU', 'GPU', 'Asc",
    )
    fails(
        lambda: context.set_context(abc=1),
        ValueError,
        "For 'context.set_context', the keyword argument abc is not recognized! For detailed usage ",
    )
    fails(
        lambda: context.get_context("abc"),
        ValueError,
        "For 'context.get_context', the argument abc is not recognized! For detailed usage of 'get_",
    )
    fails(
        lambda: context.set_context(device_id=-1),
        ValueError,
        "For 'context.set_context', the argument 'device_id' must be in range [0, 4095], but got -1",
    )
    fails(
        lambda: context.set_context(save_graphs="a"),
        TypeError,
        "The parameter 'save_graphs' must be (<class 'bool'>, <class 'int'>), but got <class 'str'>",
    )
    fails(
        lambda: context.set_context(max_call_depth=0),
        ValueError,
        "For 'context.set_context', the argument 'max_call_depth' must be greater than 0, but got 0",
    )
    fails(
        lambda: context.set_context(mode="a"),
        TypeError,
        "The parameter 'mode' must be <class 'int'>, but got <class 'str'>",
    )
    fails(
        lambda: ms.set_context(jit_syntax_level=9),
        ValueError,
        "For 'jit_syntax_level', the value should be context.STRICT or context.LAX, but got 9.",
    )
    same(context.get_auto_parallel_context("parallel_mode"), "stand_alone")


def test_save():
    import os
    import tempfile

    d = tempfile.mkdtemp()
    f = os.path.join(d, "a.ckpt")
    n = Net()
    ms.save_checkpoint(n, f)
    p = ms.load_checkpoint(f)
    r = ms.load_param_into_net(n, p)
    same(sorted(p), ["d.bias", "d.weight"])
    same(r, ([], []))
    fails(lambda: ms.load_checkpoint("nope.ckpt"), ValueError, "For 'load_checkpoint', the checkpoint file:")
    fails(
        lambda: ms.load_param_into_net(1, p),
        TypeError,
        "For 'load_param_into_net', the argument 'net' should be a Cell, but got <class 'int'>.",
    )
    fails(
        lambda: ms.load_param_into_net(n, 1),
        TypeError,
        "For 'load_param_into_net', the argument 'parameter_dict' should be a dict, but got <class ",
    )


def test_cell_list_param():
    class N(nn.Cell):
        def __init__(self):
            super().__init__()
            self.ps = ParameterTuple([Parameter(T([1.0]), name=f"p{i}") for i in range(2)])
            self.lst = [Parameter(T([1.0]), name="l")]

        def construct(self, x):
            return x + self.ps[0]

    n = N()
    same([p.name for p in n.get_parameters()], ["p0", "p1"])
    same(n(T([1.0])), ("Float32", [2.0]))


def test_ops_err():
    fails(
        lambda: ops.concat((T([1.0]), T([[1.0]]))),
        ValueError,
        "For primitive[Concat], element rank must be same(shapes are",
    )
    fails(lambda: ops.relu("a"), TypeError, 'Failed calling ReLU with "ReLU()(input=string)".')
    fails(
        lambda: ops.matmul(T([1.0]), 2),
        TypeError,
        'Failed calling matmul with "matmul()(input=Tensor, other=int)".',
    )
    fails(
        lambda: ops.reshape(T([1.0]), (3,)),
        ValueError,
        "proposed_shape '[const vector]{3}' is invalid for input of size 1",
    )
    fails(lambda: ops.add(T([1.0])), TypeError, "add() missing 1 required positional argument: 'other'")
    fails(
        lambda: ops.zeros(-1),
        ValueError,
        "For primitive[Zeros], the the 0th dimension of input shape must be greater than or equal t",
    )
    fails(
        lambda: ops.softmax(T([1.0]), 5), ValueError, "For primitive[Softmax], the axis must be in [-1,1), but got 5."
    )
    fails(
        lambda: ops.transpose(T([1.0]), (0, 1)),
        ValueError,
        "For 'Transpose', size of perm should equal to rank of x, but got 2 and 1!",
    )
    fails(
        lambda: ops.split(T([1.0, 2.0]), 0),
        ValueError,
        "For split, the value of 'split_size_or_sections' must be more than zero, but got 0.",
    )
    fails(
        lambda: ops.gather(T([1.0]), T([5]), 0),
        RuntimeError,
        "For 'Gather', the 'input_indices' should be in the range [0, 1), but got 5",
    )
    same(ops.clip_by_value(T([1.0]), 3, 1), ("Float32", [1.0]))
    fails(
        lambda: ops.clip_by_value(T([1.0])),
        ValueError,
        "For 'clip_by_value', at least one of 'clip_value_min' or 'clip_value_max' must not be None",
    )
    fails(lambda: ops.cumsum(T([1.0]), 4), ValueError, "For primitive[CumSum], the axis must be in [-1,1), but got 4.")
    fails(lambda: ops.mean("a"), TypeError, "Failed calling mean with")
