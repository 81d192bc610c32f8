"""In-place writes under `vmap`: the bits of a loop over the batch, in every nesting with `jit`, `grad` and `vmap`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops

X = np.random.RandomState(0).rand(3, 4, 5).astype(np.float32) + 0.5

FORMS = {
    "integers": "y[0] = 1.0; y[1] = 2.0",
    "rows": "y[1] = y[2] * 2; y[2] = y[1] + 1",
    "slices": "y[:, 1:3] = 5.0; y[0:2] = y[2:4]",
    "steps": "y[:, ::2] = y[:, 0:3] * 3; y[1] *= 2",
    "lists": "y[[0, 2]] = 7.0; y[[1]] = y[[0]]",
    "masks": "y[y > 1.0] = 0.0; y[y < 0.7] = 2.0",
    "new axes": "y[None, 0] = 3.0; y[..., 0] = 4.0",
    "pairs": "y[0, 1] = 1.0; y[0, 1] += 2.0",
    "index tensors": "y[Tensor([0, 1]), Tensor([2, 3])] = 9.0; y[Tensor([0, 1])] += 1.0; y[Tensor(2)] = 1.0",
    "a chain of views": "v = y[1:]; w = v[:, 2:]; w *= 2; w[0] = 1.0; v += 1",
    "reshaped": "v = y.reshape(20); v[3] = 9.0; v[4:6] = 8.0",
    "transposed": "v = y.T; v[0] = 2.0; v[1] *= 3.0",
    "narrowed": "v = y.narrow(1, 1, 2); v += 1; v.zero_()",
    "split": "a, b = y.split(2); a += 1; b *= 2; a[0] = 3.0",
    "unbound": "a, b, c, d = y.unbind(0); a += 1; b[0] = 5.0",
    "chunks": "a, b = y.chunk(2, 1); a *= 2; b[...] = 1.0",
    "augmented": "y += 1; y *= 2; y -= 0.5; y /= 3",
    "arithmetic": "y.add_(1.0); y.add_(y); y.mul_(2.0); y.sub_(1.0); y.div_(2.0)",
    "fill": "y.fill_(2.0); y[0].zero_()",
    "copy": "y.copy_(y * 2); y[0].copy_(y[1])",
    "masked_fill_": "y.masked_fill_(y > 1, 0.0)",
    "index_add_": "y.index_add_(0, Tensor([1, 3]), y[0:2] * 1)",
    "tensors made inside": "z = ops.zeros((4, 5)); z[0] = y[1]; z[1] += 1.0; z[:, 1] = y[:, 0]; y += z",
    "a list of them": "z = [ops.zeros(5) for _ in range(4)]; z[0] += y[0]; z[1][2] = y[1, 1]; y = ops.stack(z)",
    "a loop": "\n    for i in range(4):\n        y[i] = y[i] * i\n        y[i, 0] += 1",
    "swapped": "y[0], y[1] = y[1] * 1, y[0] * 1",
}


def function(form: str) -> Callable[[Tensor], Tensor]:
    namespace: dict[str, Callable[[Tensor], Tensor]] = {}
    exec(f"def f(x):\n    y = x * 1\n    {FORMS[form]}\n    return y\n", {"ops": ops, "Tensor": Tensor}, namespace)
    return namespace["f"]


@pytest.mark.parametrize("form", FORMS)
def test_values_are_those_of_a_loop(form: str) -> None:
    f = function(form)
    want = np.stack([f(Tensor(row)).asnumpy() for row in X])
    turned = Tensor(np.ascontiguousarray(X.transpose(1, 0, 2)))
    for got in (
        ms.vmap(f)(Tensor(X)),
        ms.jit(ms.vmap(f))(Tensor(X)),
        ms.vmap(ms.jit(f))(Tensor(X)),
        ms.vmap(f, in_axes=1, out_axes=1)(turned).asnumpy().transpose(1, 0, 2),
        ms.vmap(ms.vmap(f))(Tensor(np.stack([X + 1, X])))[1],
    ):
        np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("form", FORMS)
def test_gradients_are_those_of_a_loop(form: str) -> None:
    f = function(form)

    def loss(x: Tensor) -> Tensor:
        return (f(x) ** 2).sum()

    want = np.stack([ms.grad(loss)(Tensor(row)).asnumpy() for row in X])
    for got in (
        ms.vmap(ms.grad(loss))(Tensor(X)),
        ms.grad(lambda x: ms.vmap(loss)(x).sum())(Tensor(X)),
        ms.jit(ms.vmap(ms.grad(loss)))(Tensor(X)),
    ):
        np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)  # sums over a batch have another order
