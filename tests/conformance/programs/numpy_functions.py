"""NumPy's functions of Tensors give NumPy's results; format specifications show a number."""

import numpy as np

from tests.conformance.harness import T, program

X = T([[1.0, 2.0], [3.0, 4.5]])


@program(X, captured=False)
def reductions(x):
    return (
        np.mean(x),
        np.sum(x),
        np.std(x),
        np.max(x),
        np.min(x, axis=0),
        np.argmax(x),
        np.sum(x, axis=1, keepdims=True),
    )


@program(X, captured=False)
def shapes(x):
    return np.reshape(x, (4,)), np.concatenate([x, x]), np.transpose(x), np.allclose(x, x), np.clip(x, 2, 3)


@program(X, captured=False)
def number_in_text(x):
    return f"{x.sum():.3f}", f"{x.mean():>10.2e}", f"{x.sum() > 3}", f"{x[0, 1].astype('int32'):04d}", f"{x[0]}"


@program(X, captured=False)
def several_numbers_in_text_error(x):
    return f"{x:.3f}"


@program(X, captured=False)
def to_a_tensor_error(x):
    return np.sum(x, axis=0, out=x[0])
