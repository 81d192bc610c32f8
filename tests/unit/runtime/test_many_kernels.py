"""Programs with very many kernels: the small ones are compiled with less effort, and give the same bits."""

import importlib

import numpy as np

import duograph as ms
from duograph import Tensor, ops

kernels = importlib.import_module("duograph.runtime.kernels.kernels")


def test_small_kernels_of_an_unrolled_program_are_compiled_quickly(monkeypatch):
    efforts = []
    compile_parts = kernels.code.compile_parts

    def noted(parts, target, optimisation=1):
        efforts.append(optimisation)
        return compile_parts(parts, target, optimisation)

    monkeypatch.setattr(kernels.code, "compile_parts", noted)
    monkeypatch.setattr(kernels.packs, "find", lambda *_: [])  # nothing is taken from the disk, nor put there
    monkeypatch.setattr(kernels.packs, "keep", lambda *_: None)
    monkeypatch.setattr(kernels, "MANY", 40)

    def f(x, y):
        parts = [ops.exp(x * (0.5 + k)) - ops.tanh(x / (k + 1)) + (x > k) for k in range(50)]
        halves = [y.astype(ms.float16) * (k + 0.25) // 3 for k in range(10)]
        return ops.concat(parts), ops.stack(halves).sum(0), ops.matmul(x.reshape(5, 7), x.reshape(7, 5))

    r = np.random.default_rng(0)
    x, y = Tensor(r.normal(size=35).astype(np.float32)), Tensor(r.integers(-9, 9, 35).astype(np.int16))
    for got, want in zip(ms.jit(f)(x, y), f(x, y), strict=True):
        assert got.asnumpy().tobytes() == want.asnumpy().tobytes()
    assert 0 in efforts
    assert 1 in efforts
