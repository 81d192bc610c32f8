"""float8 is a storage format: memory of compiled programs like any other, and NumPy computes with it."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor
from duograph.core import dtype as dt
from duograph.core.op import get_op
from duograph.core.types import TensorType
from duograph.runtime.kernels.single import lower_op

REASON = "float8 is a storage format: NumPy computes with it"
NUMBERS = Tensor(np.linspace(0, 3, 7, dtype=np.float32))


def until_large(x):
    while x.astype(ms.float32).sum() < 100:
        x = (x.astype(ms.float32) * 2).astype(x.dtype)
    return x


PROGRAMS = {
    "casts": lambda x: ((x.astype(ms.float32) * 2).astype(x.dtype).astype(ms.float32) + 1).sum(),
    "given back": lambda x: (x, x.astype(ms.float32)),
    "chosen": lambda x: x if x.astype(ms.float32).sum() > 3 else x[::-1],
    "loop": until_large,
}


@pytest.mark.parametrize("dtype", [ms.float8_e4m3fn, ms.float8_e5m2], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_give_what_eager_gives_and_say_why_numpy_computes(name, dtype, caplog):
    program, x = PROGRAMS[name], NUMBERS.astype(dtype)
    compiled = ms.jit(program)
    for _ in range(2):
        made, wanted = compiled(x), program(x)
        for a, b in zip(*[v if isinstance(v, tuple) else (v,) for v in (made, wanted)], strict=True):
            assert a.dtype is b.dtype and a.asnumpy().tobytes() == b.asnumpy().tobytes()
    (version,) = compiled.explain().versions
    assert f"cast runs in Python: {REASON}" in version["in_python"]
    assert not caplog.records


def test_single_operators_have_no_kernel():
    assert lower_op(get_op("cast"), [TensorType(dt.float8_e5m2, (3,))], {"dtype": dt.float32}) is None
