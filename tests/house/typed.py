"""What type checkers know of the public API: mypy reads this file in ``scripts/check``, and `test_stubs` runs it.

A name that became ``Any`` is an error of ``assert_type``; a mistake that is no longer found, an unused ``ignore``.
"""

from __future__ import annotations

from typing import Any, assert_type

import duograph as ms
import duograph.communication as comm
import duograph.dataset as ds
import duograph.numpy as mnp
from duograph import Tensor, mint, nn, ops
from duograph.core.dtype import Float
from duograph.jit.explain import Explanation
from duograph.nn.layer.basic import Dense
from duograph.nn.optim.adam import Adam


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(4, 2)

    @ms.jit
    def construct(self, x: Tensor) -> Tensor:
        return ops.relu(self.fc(x))


@ms.jit(jit_level="O1")
def scaled(x: Tensor, factor: float = 2.0) -> Tensor:
    return x * factor


def known() -> None:
    x = Tensor([[1.0, 2.0, 3.0, 4.0]], ms.float32)
    assert_type(x.sum().reshape((1,)), Tensor)
    assert_type(x + 1, Tensor)
    assert_type(1 / x, Tensor)
    assert_type(x[0], Tensor)
    assert_type(x.T, Tensor)
    assert_type(x.shape, tuple[int, ...])
    assert_type(ops.relu(x), Tensor)
    assert_type(ops.abs(x), Tensor)
    assert_type(ops.split(x, 1), tuple[Tensor, ...])
    assert_type(mint.add(x, x), Tensor)
    assert_type(mnp.ones((2, 3)), Tensor)
    assert_type(ms.float32, Float)
    net = Net()
    assert_type(net.fc, Dense)
    assert_type(nn.Adam(net.trainable_params(), learning_rate=0.1), Adam)
    assert_type(scaled(x), Tensor)
    assert_type(scaled.explain(), Explanation)
    assert_type(ms.value_and_grad(scaled)(x, factor=3.0), tuple[Tensor, Any])
    assert_type(ms.value_and_grad(lambda a: a, sens_param=True)(x, x), tuple[Any, Any])
    assert_type(ms.vmap(scaled, in_axes=(0, None))(x, 2.0), Tensor)
    assert_type(ms.nn.probability.distribution.Normal(0.0, 1.0).log_prob(x), Tensor)
    assert_type(mint.optim.SGD(net.trainable_params(), 0.1).param_groups, list[dict[str, Any]])
    comm.get_rank  # noqa: B018


def pipelines() -> ds.Dataset:
    data = ds.NumpySlicesDataset([1, 2, 3, 4], shuffle=False)
    data = data.map(lambda column: column).shuffle(2).batch(2)
    first, _ = data.split([1, 1])
    data = data + first.repeat(2)
    return data.take(1)


def mistakes(x: Tensor) -> None:
    x.no_such_method()  # type: ignore[attr-defined]
    nn.Dense(4)  # type: ignore[call-arg]
    ops.relu()  # type: ignore[call-arg]
    ops.abs()  # type: ignore[call-arg]
    nn.NoSuchLayer  # type: ignore[attr-defined] # noqa: B018
    ms.no_such_name  # type: ignore[attr-defined] # noqa: B018
    scaled()  # type: ignore[call-arg]
    ms.grad(scaled)(x, "no factor")  # type: ignore[arg-type]
