"""Threads with little stack: kernels run, or never meet a stack that is too small; compilation too."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

import duograph as ms
from duograph import Tensor, nn, ops

from .found import check, found, guarded
from .workload import agree, program

SIZES = (64, 96, 128, 256)


def _works(r: Any) -> list[Any]:
    n = int(r.choice([3, 33, 129, 300]))
    a = Tensor(r.normal(size=(n, n)).astype(r.choice(["float32", "float64", "float16"])))
    z = Tensor((r.normal(size=(n, 40)) + 1j).astype(np.complex64))
    image = Tensor(r.normal(size=(2, 8, 20, 20)).astype(np.float32))
    conv, dense = nn.Conv2d(8, 16, int(r.choice([1, 3, 5]))), nn.Dense(n, 65)
    long = Tensor(r.normal(size=70_000).astype(np.float32))
    return [
        lambda: ops.matmul(a, a), lambda: ops.matmul(z.T, z), lambda: ops.sort(long)[0], lambda: ops.topk(long, 50)[0],
        lambda: ops.softmax(a, -1), lambda: conv(image), lambda: ops.fft(long[:4096]), lambda: long.sum(),
        lambda: ops.cumsum(long, 0), lambda: ms.grad(lambda x: conv(x).sum())(image), lambda: ops.erf(long),
        lambda: dense(ops.cast(a, ms.float32)), lambda: ops.max_pool2d(image, 2), lambda: ops.unique(long)[0],
        lambda: ops.einsum("ij,kj->ik", a, a), lambda: ops.conv1d(image[0], Tensor(np.ones((4, 20, 3), np.float32))),
    ]  # fmt: skip


def work(r: Any) -> None:
    """One round."""
    works = _works(r)
    fresh = program(int(r.integers(10_000)))
    args = fresh.arguments(r)
    kib = int(r.choice(SIZES))
    before = bool(r.integers(2))  # the main thread has met the kernels
    expected = [_bits(f) for f in works] if before else []
    answers: dict[int, Any] = {}
    order = [int(i) for i in r.permutation(len(works))]

    def caller() -> None:
        with guarded(f"a thread with {kib} KiB"):
            for k in order:
                answers[k] = _bits(works[k])
            agree(ms.jit(fresh.function)(*args), fresh.function(*args), f"{fresh.name} differs ({kib} KiB)")
            for k in order[:4]:
                check(_bits(ms.jit(works[k])) == answers[k], f"work {k} differs if compiled ({kib} KiB)")

    was = threading.stack_size(kib * 1024)
    try:
        thread = threading.Thread(target=caller)
        thread.start()
    finally:
        threading.stack_size(was)
    thread.join()
    for k, f in enumerate(works):
        if k not in answers:
            found(f"work {k} did not end with {kib} KiB of stack")
        elif answers[k] != (expected[k] if before else _bits(f)):
            found(f"work {k} differs with {kib} KiB of stack")


def _bits(f: Any) -> Any:
    return f().asnumpy().tobytes()
