"""Numbers of NumPy's that vary from call to call: operators of tensors take them for Python's, nobody else does."""

import numpy as np

import duograph as ms
from duograph import Tensor, ops
from tests.conformance.harness import T, program

X = T([1.0, -2.0])
REALS = [
    (X, kind(value))
    for kind in (np.float32, np.float64, np.float16)
    for value in (0.5, 1.5, 0.1, -0.0, float("inf"), float("nan"), 3.0, 4.0)
]
WHOLE = [
    (X, kind(value)) for kind in (np.int64, np.int32, np.int8, np.uint8, np.uint64) for value in (1, 2, 0, 120, 3, 4)
]
LARGE = [(X, np.uint64(n)) for n in (1, 2, 2**63, 2**64 - 1, 3)]
ORDINARY = (np.float32(1), np.float64(2), np.int64(3), 4.0, np.float32(5), np.bool_(True), 6, np.float32(7))
MIXED = [(X, n) for n in ORDINARY]


@program(calls=REALS + WHOLE, grad=0)
def a_number_is_an_operand(x, n):
    y = (x * n + n).tanh() - n
    return (y / (ops.ones((2,)) + n) + x**2).sum() + ops.maximum(x, n).mean()


@program(calls=MIXED)
def a_number_of_any_class_is_an_operand(x, n):
    return x * n, x == n, x != n, x.masked_fill(x > 0, n), ops.where(x > n, x, n), x.clamp(max=n), ops.pow(x, n)


@program(calls=REALS + WHOLE)
def a_number_becomes_a_tensor(x, n):
    made = [Tensor(n), Tensor([n, 1.5]), Tensor(n, ms.float32), Tensor(n, ms.float16)]
    return made, x + Tensor(n).astype(ms.float32)


@program(calls=LARGE, captured=False)
def a_number_that_is_no_int64_becomes_a_tensor(x, n):
    return Tensor(n), x * 2


@program(calls=LARGE)
def a_number_that_is_no_int64_becomes_a_tensor_of_another_dtype(x, n):
    """Found by fuzzing: it went through an int64."""
    return [Tensor(n, dtype) for dtype in (ms.float16, ms.bfloat16, ms.float32, ms.float64, ms.bool_, ms.int8)], x * 2


@program(calls=REALS + WHOLE)
def a_number_is_handed_on(x, n):
    kept = {"n": n, "both": (n, [n])}
    return n, kept, x * n, n is n, n is None


@program(calls=MIXED, captured=False)
def a_number_is_asked_what_it_is(x, n):
    told = isinstance(n, float), isinstance(n, np.floating), type(n).__name__, isinstance(n, (int, np.integer))
    return told, x * float(n) + int(n)


@program(calls=[(x, n) for x, n in REALS if n == n], captured=False)
def a_number_computes_as_numpy_does(x, n):
    y = (x * n).tanh() + x
    k = n * np.float32(0.1) + n / 3 if n != 0 else -n
    return (y * k + x).sum(), k, type(k).__name__, f"{n:.3}", str(n), n > 0.1, {n: 1}


@program(calls=REALS, captured=False)
def a_number_comes_out_of_a_tensor(x, n):
    y = (x * n).tanh() * x
    top = np.max(y.asnumpy())
    z = (y * top + x).tanh() * top
    return z, top


@program(calls=[(X,)] * 6, RATE=np.float32(1.0), SETTINGS={"rate": np.float32(0.5)}, captured=False)
def numbers_stand_outside(x):
    global RATE
    y = x * RATE * SETTINGS["rate"]
    RATE = RATE * np.float32(1.5)
    SETTINGS["rate"] = SETTINGS["rate"] + np.float32(1)
    return (y + SETTINGS["rate"]).sum(), RATE


@program(calls=MIXED, captured=False)
def a_number_is_printed(x, n):
    print(n, [n, {"n": n}], x * n)
    if x.sum() > n:
        print("less", (n,))
    return x * n
