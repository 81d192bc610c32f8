"""Evaluates calls on one of the two frameworks and writes what they give: ``evaluate.py (ms|dg) CALLS OUTPUT``.

A line of a file of calls is an expression (statements may come before it, divided by ``;``) over the names of
`fixtures`. ``{{a|b|}}`` in it stands for several calls, one with each alternative. A ``~`` before a line means that
numbers are random: types, dtypes and shapes are compared alone. This file imports nothing of the tests, because it also
runs under MindSpore's Python.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import re
import sys
import warnings
from typing import Any

import numpy as np


def fixtures() -> dict[str, Any]:
    """The names that calls use: modules, dtypes, and operands made anew for every call."""
    import mindspore as ms
    import mindspore.mint.nn.functional as F
    import mindspore.numpy as mnp
    import mindspore.scipy.linalg as sl
    from mindspore import Parameter, Tensor, mint, nn, ops

    def T(value: Any, dtype: Any = None) -> Any:
        array = np.array(value)
        if dtype is not None:
            return Tensor(array, dtype)
        return Tensor(array.astype(np.float32) if array.dtype == np.float64 else array)

    draw = np.random.RandomState(0)
    return {
        "ms": ms, "ops": ops, "nn": nn, "mint": mint, "np": mnp, "F": F, "sl": sl, "onp": np, "T": T,
        "Tensor": Tensor, "Parameter": Parameter, "f16": ms.float16, "f32": ms.float32, "f64": ms.float64,
        "i32": ms.int32, "i64": ms.int64,
        "V": T([3.0, 1.0, 2.0]), "W": T([1.0, 5.0, -2.0]), "M": T([[3.0, 1.0, 2.0], [0.5, -4.0, 6.0]]),
        "M2": T([[1.0, 2.0, 0.0], [-1.0, 4.0, 2.5]]), "S": T([[4.0, 1.0], [1.0, 3.0]]),
        "S3": T([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]]), "I": T([[3, 1, 2], [0, 4, 6]]),
        "I32": T([[3, 1, 2], [0, 4, 6]], ms.int32), "U8": T([[3, 1, 2], [0, 4, 6]], ms.uint8),
        "K": T([2, 0, 1]), "K32": T([2, 0, 1], ms.int32), "B": T([[True, False, True], [False, False, True]]),
        "NN": T([[1.0, float("nan"), 3.0], [float("inf"), 2.0, -1.0]]), "P": T([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]]),
        "C": T(np.array([[1 + 2j, 3 - 1j], [0.5j, 2]]).astype("complex64")),
        "H": T([[3.0, 1.0, 2.0], [0.5, -4.0, 6.0]], ms.float16),
        "D": T([[3.0, 1.0, 2.0], [0.5, -4.0, 6.0]], ms.float64),
        "X3": T(np.arange(24).reshape(2, 3, 4).astype("f")), "X4": T(draw.randn(2, 4, 6, 6).astype("f")),
        "X5": T(draw.randn(1, 2, 4, 4, 4).astype("f")), "X3r": T(draw.randn(2, 4, 6).astype("f")),
        "LG": T(draw.randn(3, 4).astype("f")), "Y": T([1, 3, 0], ms.int32), "PM": T(draw.rand(3, 4).astype("f")),
    }  # fmt: skip


def expanded(line: str) -> list[str]:
    """Every call that the line stands for."""
    parts = re.split(r"\{\{(.*?)\}\}", line)
    choices = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
    return ["".join(chosen) for chosen in itertools.product(*choices)]


def numbers(array: Any) -> list[Any]:
    flat = np.asarray(array).ravel()[:200]
    if flat.dtype.kind == "c":
        return [[float(x.real), float(x.imag)] for x in flat]
    return [float(x) if flat.dtype.kind in "fiub" else str(x) for x in flat]


def described(value: Any, values: bool) -> list[Any]:
    """What is compared of a result."""
    if type(value).__name__ in ("Tensor", "Parameter"):
        shown = ["Tensor", str(value.dtype), list(value.shape)]
        return [*shown, numbers(value.asnumpy())] if values else shown
    if isinstance(value, list | tuple):
        return ["list" if type(value) is list else "tuple", *[described(x, values) for x in value]]
    if isinstance(value, np.ndarray):
        return ["array", str(value.dtype), list(value.shape), numbers(value)]
    if isinstance(value, bool | int | float | complex | str) or value is None:
        plain = value.item() if isinstance(value, np.generic) else value
        return [type(plain).__name__, plain if isinstance(plain, float) else repr(plain)]
    return ["object"]


def outcome(call: str) -> list[Any]:
    """What a call gives, or ``["raises", class, first line]``."""
    values, call = not call.startswith("~"), call.lstrip("~")
    *before, last = call.split(";")
    space = fixtures()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec("\n".join(part.strip() for part in before), space)
            return described(eval(last.strip(), space), values)
    except Exception as error:  # noqa: BLE001  (whatever a call raises is what is compared)
        return ["raises", type(error).__name__, str(error).strip().split("\n")[0][:160]]


def main(which: str, source: str, target: str) -> None:
    os.environ["GLOG_v"] = "4"
    warnings.simplefilter("ignore")
    if which == "dg":
        import duograph

        duograph.install_as_mindspore()
    import mindspore as ms

    ms.set_context(mode=1, pynative_synchronize=True)
    with open(source, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
    found = {call: outcome(call) for line in lines for call in expanded(line)}
    with open(target, "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
