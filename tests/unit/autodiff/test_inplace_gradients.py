"""In-place methods that are the only readers of the value they replace have the gradients of the ordinary functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops

X = Tensor(np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]], np.float32))
W = Tensor(np.array([[1.5, 0.5, 2.0], [-3.0, 0.75, 1.0]], np.float32))

FORMS: dict[str, tuple[Callable[..., Tensor], Callable[..., Tensor]]] = {
    "abs_": (lambda y, w: y.abs_(), lambda y, w: y.abs()),
    "pow_": (lambda y, w: y.pow_(3), lambda y, w: y.pow(3)),
    "mul_": (lambda y, w: y.mul_(w), lambda y, w: y * w),
    "div_": (lambda y, w: y.div_(w), lambda y, w: y / w),
    "remainder_": (lambda y, w: y.remainder_(w), lambda y, w: ops.remainder(y, w)),
    "clamp_": (lambda y, w: y.clamp_(-1.0, 1.0), lambda y, w: y.clamp(-1.0, 1.0)),
    "clamp_ by tensors": (lambda y, w: y.clamp_(w, None), lambda y, w: y.clamp(w, None)),
    "sin_": (lambda y, w: y.sin_(), lambda y, w: y.sin()),
    "relu_": (lambda y, w: y.relu_(), lambda y, w: ops.relu(y)),
    "several": (lambda y, w: y.sigmoid_().mul_(w).abs_(), lambda y, w: (y.sigmoid() * w).abs()),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_view", [False, True])
def test_gradients_are_those_of_the_function(form: str, is_view: bool) -> None:
    in_place, function = FORMS[form]

    def writes(x: Tensor, w: Tensor) -> Tensor:
        y = x * 1.0
        in_place(*(t[0] if is_view else t for t in (y, w)))
        return (y * y).sum()

    def computes(x: Tensor, w: Tensor) -> Tensor:
        y = ops.stack([function(x[0], w[0]), x[1]]) if is_view else function(x, w)
        return (y * y).sum()

    want = [g.asnumpy() for g in ms.grad(computes, (0, 1))(X, W)]
    compiled = [ms.grad(ms.jit(writes), (0, 1)), ms.jit(ms.grad(writes, (0, 1)))]
    eager = [g.asnumpy() for g in ms.grad(writes, (0, 1))(X, W)]
    for got, wanted in zip(eager, want, strict=True):
        np.testing.assert_array_equal(got, wanted)
    for gradient in compiled:
        for _ in range(3):
            for got, bits in zip(gradient(X, W), eager, strict=True):
                np.testing.assert_array_equal(got.asnumpy(), bits)


def test_a_value_that_something_else_has_read_is_lost() -> None:
    def f(x: Tensor) -> Tensor:
        y = x * 1.0
        z = y * y
        y.abs_()
        return z.sum()

    for gradient in (ms.grad(f), ms.grad(ms.jit(f)), ms.jit(ms.grad(f))):
        with pytest.raises(RuntimeError, match="modified in place"):
            gradient(X)
