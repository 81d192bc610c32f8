"""Gradients of complex functions: the conjugate of the derivative times the cotangent, as MindSpore."""

# Tables read better with long rows.
# ruff: noqa: E501
from __future__ import annotations

import numpy as np
import pytest

import duograph.tensor.eager  # noqa: F401 (installs the eager binder)
from duograph.autodiff.backward import backpropagate
from duograph.autodiff.tape import Tape, taping
from duograph.ops import arithmetic as ar
from duograph.ops import complex as co
from duograph.ops import cumulative as cu
from duograph.ops import movement
from duograph.ops import power as pw
from duograph.ops import reduce as rd
from duograph.ops import unary as un
from duograph.tensor.tensor import Tensor

Z = np.array([[0.6 + 0.7j, -0.4 + 1.1j], [1.2 - 0.3j, 0.5 + 0.2j]])
W = np.array([[1.0 - 0.5j, 0.3 + 0.2j], [-0.7 + 1.0j, 0.4 - 0.9j]])

UNARY = [
    "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "sigmoid", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh",
]  # fmt: skip
FUNCTIONS = {
    **{name: getattr(un, name) for name in UNARY},
    "square": ar.square, "reciprocal": ar.reciprocal, "neg": ar.neg, "conj": ar.conj, "abs": ar.abs_, "real": co.real,
    "imag": co.imag, "angle": co.angle,
    "mul": lambda z: ar.mul(z, Tensor(W)), "div": lambda z: ar.div(Tensor(W), z),
    "add": lambda z: ar.add(z, Tensor(W)), "sub": lambda z: ar.sub(Tensor(W), z),
    "pow": lambda z: pw.pow_(z, Tensor(W)), "pow exponent": lambda z: pw.pow_(Tensor(W), z),
    "prod": lambda z: rd.reduce_prod(z, axis=(1,)), "cumprod": lambda z: cu.cumprod(z, axis=1),
    "sum": lambda z: movement.reduce_sum(z, axis=(0,)), "sign": lambda z: ar.mul(ar.abs_(z), co.real(z)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient(name: str) -> None:
    f = FUNCTIONS[name]

    def loss(z: np.ndarray) -> float:
        out = f(Tensor(z)).array()
        return float(np.sum(out.real * 0.8 + out.imag * 0.3))

    x = Tensor(Z)
    with taping([tape := Tape()]):
        variable = tape.watch(x)
        out = f(x)
        seed = tape.variable(out)
    cotangent = np.full(out.shape, 0.8 + 0.3j) if out.dtype.is_complex else np.full(out.shape, 0.8)
    (got,) = backpropagate(tape, [(seed, Tensor(cotangent))], [variable])
    want = np.zeros_like(Z)
    for place in np.ndindex(Z.shape):
        for unit in (1.0, 1j):
            high, low = Z.copy(), Z.copy()
            high[place] += 1e-6 * unit
            low[place] -= 1e-6 * unit
            want[place] += unit * (loss(high) - loss(low)) / 2e-6
    np.testing.assert_allclose(got.array(), want, rtol=1e-6, atol=1e-7)
