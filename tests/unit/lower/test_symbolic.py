"""Kernels for sizes that are only known at run time: rules must not look at the values of symbolic dimensions.

Every size of the operands is replaced by a symbol (equal sizes by one symbol) when the op is lowered; then the numbers
are put in, and the result must be that of the reference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import duograph.ops.banded
import duograph.ops.ctc
import duograph.ops.decoding
import duograph.ops.ranges
import duograph.ops.windows  # noqa: F401
from duograph.core import dtype as dt
from duograph.core.dim import Symbol, evaluate
from duograph.core.kernel import compute_reference
from duograph.core.op import get_op
from duograph.core.types import TensorType, TupleType, scalar_type
from duograph.runtime.kernels.single import lower_op
from tests.unit.lower.kernel_checks import run_lowered, same, sample

# 2 stays a number: rows of coordinates have a known length
SYMBOLS = {n: Symbol(f"s{n}", 0, None) for n in range(3, 200)}
VALUES = {symbol: n for n, symbol in SYMBOLS.items()}


def symbolic(value: Any, key: str) -> Any:
    """A shape with its sizes as symbols."""
    if key in ("shape", "size", "n", "m", "extent", "num_segments", "steps", "depth"):
        if isinstance(value, tuple):
            return tuple(SYMBOLS.get(n, n) for n in value)
        return SYMBOLS.get(value, value)
    return value


def run(name: str, arrays: list[Any], attrs: dict[str, Any], keep: tuple[str, ...]) -> Any:
    """The result of kernels that were lowered for symbolic sizes."""
    op = get_op(name)
    types = [
        TensorType(dt.from_numpy(a.dtype), symbolic(a.shape, "shape")) if isinstance(a, np.ndarray) else scalar_type(a)
        for a in arrays
    ]
    held = {k: v if k in keep else symbolic(v, k) for k, v in attrs.items()}
    lowered = lower_op(op, types, held)
    assert lowered is not None
    outs = [np.empty([evaluate(n, VALUES) for n in o.shape], o.dtype.numpy) for o in lowered.outs]
    run_lowered(lowered, arrays, outs, VALUES)
    return tuple(outs) if isinstance(op.result_type(tuple(types), held), TupleType) else outs[0]


X = sample((3, 5, 4), "f4")
I = np.array([2, 0, -1, 1, 2, 1])
CASES: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("reshape", [X], {"shape": (15, 4)}),
    ("transpose", [X], {"perm": (2, 0, 1)}),
    ("transpose", [X], {"perm": (0, 2, 1)}),
    ("transpose", [sample((70, 90), "f8")], {"perm": (1, 0)}),
    ("broadcast_to", [sample((3, 1, 4), "i2")], {"shape": (2, 3, 5, 4)}),
    ("flip", [X], {"axes": (0, 2)}),
    ("roll", [X], {"shifts": (1, -2), "axes": (0, 1)}),
    ("tile", [X], {"multiples": (2, 1, 3)}),
    ("repeat_interleave", [X], {"repeats": 3, "axis": 1}),
    ("strided_slice", [X], {"slices": ((1, None, None), (None, None, -2), (-3, -1, None))}),
    ("slice_update", [X, X[1:, ::-2]], {"slices": ((1, None, None), (None, None, -2))}),
    ("dynamic_slice", [X, 1, 2], {"axes": (0, 1), "sizes": (2, 1)}),
    ("dynamic_update", [X, X[:2, :1] + 1, -2, 2], {"axes": (0, 1)}),
    ("range_update", [X, sample((3, 2, 4), "f4", 1), 1, 3], {"axis": 1, "step": 1}),
    ("concat", [X, X + 1, X + 2], {"axis": 1}),
    ("pad", [X], {"padding": ((1, 2), (0, 0), (0, 3)), "mode": "constant", "value": 2.0}),
    ("pad", [X], {"padding": ((1, 2), (0, 0), (0, 3)), "mode": "reflect", "value": 0}),
    ("pad_adjoint", [X], {"padding": ((0, 0), (1, 1), (0, 0)), "mode": "replicate", "shape": (3, 3, 4)}),
    ("diagonal", [X], {"offset": 1, "axis1": 0, "axis2": 2}),
    ("diagonal_update", [X, sample((5, 3), "f4", 1)], {"offset": 1, "axis1": 0, "axis2": 2}),
    ("tril", [X], {"diagonal": 1}),
    ("triu", [X], {"diagonal": -1}),
    ("sliding_window", [X], {"axis": 1, "size": 3, "step": 2, "dilation": 1}),
    ("sliding_window_sum", [X], {"axis": 1, "extent": 9, "size": 4, "step": 1, "dilation": 1}),
    ("full", [], {"shape": (3, 4), "value": 2, "dtype": dt.float16}),
    ("arange", [], {"start": 1, "step": 2, "size": 7, "dtype": dt.int32}),
    ("linspace", [], {"start": 0.0, "stop": 1.0, "steps": 7, "dtype": dt.float32}),
    ("eye", [], {"n": 3, "m": 5, "dtype": dt.float32}),
    ("iota", [], {"shape": (3, 5), "axis": 1, "dtype": dt.int64}),
    ("one_hot", [I], {"depth": 4, "dtype": dt.float32}),
    ("gather", [X, I], {"axis": 0}),
    ("gather", [X, I], {"axis": 2}),
    ("gather_elements", [X, np.abs(X).astype(np.int64) % 3], {"axis": 0}),
    ("gather_nd", [X, np.stack([I, I], -1)], {}),
    ("advanced_get", [X, I, I], {"spec": ("index", (1, None, 2), "index")}),
    ("advanced_get", [X, I], {"spec": (-1, "index")}),
    ("advanced_put", [X, sample((6, 2), "f4"), I, I], {"spec": ("index", (1, None, 2), "index"), "reduction": "add"}),
    ("advanced_put", [X, sample((), "f4"), I], {"spec": ("index",), "reduction": "none"}),
    ("index_add", [X, I, sample((6, 5, 4), "f4")], {"axis": 0}),
    ("scatter_elements", [X, np.abs(X).astype(np.int64) % 3, X], {"axis": 1, "reduction": "add"}),
    ("scatter_nd_update", [X, np.stack([I, I], -1), sample((6, 4), "f4")], {"reduction": "max"}),
    ("unsorted_segment", [sample((6, 4), "f2"), I], {"num_segments": 3, "reduction": "sum"}),
    ("cumsum", [X], {"axis": 1, "exclusive": False, "reverse": True}),
    ("linear_scan", [X, X], {"axis": 0, "reverse": False}),
    ("cummax", [X], {"axis": 2}),
    ("sort", [X], {"axis": 1, "descending": True, "index_dtype": dt.int32}),
    ("topk", [X], {"k": 2, "axis": 2, "largest": True, "index_dtype": dt.int32}),
    ("searchsorted", [np.sort(X[0, :, 0]), X], {"right": True, "dtype": dt.int64}),
    ("random_bits", [3, 4], {"shape": (7, 9)}),
    ("random_permutation", [3, 4], {"n": 77, "dtype": dt.int64}),
    ("histogram", [X], {"bins": 4, "low": 0.0, "high": 0.0}),
    ("no_repeat_ngram", [np.array([[1, 2, 1]]), sample((1, 5), "f4")], {"size": 2}),
]  # fmt: skip


@pytest.mark.parametrize("name, arrays, attrs", CASES, ids=[f"{k}-{name}" for k, (name, _, _) in enumerate(CASES)])
def test_sizes_known_at_run_time(name, arrays, attrs):
    want = compute_reference(get_op(name), arrays, attrs)
    # windows and n-grams have sizes of their own, which are numbers
    keep = () if name == "arange" else ("size",)
    got = run(name, [np.ascontiguousarray(a) if isinstance(a, np.ndarray) else a for a in arrays], attrs, keep)
    pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
    for g, w in pairs:
        same(name, g, w, attrs)
