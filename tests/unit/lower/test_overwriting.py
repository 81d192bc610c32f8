"""Results in the memory of an operand: updates of a base that nobody needs any more cost only the update."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from duograph.core import dtype as dt
from duograph.core.kernel import compute_reference
from duograph.core.op import get_op
from duograph.core.types import TensorType, scalar_type
from duograph.runtime.kernels.single import lower_op
from duograph.runtime.programs.emit import may_overwrite
from tests.unit.lower.kernel_checks import run_lowered, same, sample

X = sample((6, 5), "f4")
ROWS = np.array([1, -1, 1])
NEW = sample((3, 5), "f4", 1)
CASES: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("slice_update", [X, NEW], {"slices": ((1, None, 2),)}),
    ("dynamic_update", [X, NEW, -3], {"axes": (0,)}),
    ("diagonal_update", [X, sample((5,), "f4", 1)], {"offset": 0, "axis1": 0, "axis2": 1}),
    ("index_add", [X, ROWS, NEW], {"axis": 0}),
    ("scatter_elements", [X, np.abs(NEW).astype(np.int64), NEW], {"axis": 0, "reduction": "mul"}),
    ("scatter_nd_update", [X, ROWS[:, None], NEW], {"reduction": "none"}),
    ("advanced_put", [X, NEW[0], ROWS], {"spec": ("index",), "reduction": "none"}),
    ("tril", [X], {"diagonal": 1}),
    ("cumsum", [X], {"axis": 0, "exclusive": False, "reverse": True}),
    ("linear_scan", [X, X + 1], {"axis": 1, "reverse": False}),
    ("reshape", [X], {"shape": (30,)}),
]


def types_of(arrays: list[Any]) -> list[Any]:
    return [
        TensorType(dt.from_numpy(a.dtype), a.shape) if isinstance(a, np.ndarray) else scalar_type(a) for a in arrays
    ]


@pytest.mark.parametrize("name, arrays, attrs", CASES, ids=[name for name, _, _ in CASES])
def test_the_first_operand_may_be_overwritten(name, arrays, attrs):
    op = get_op(name)
    want = compute_reference(op, arrays, attrs)
    lowered = lower_op(op, types_of(arrays), attrs)
    assert lowered is not None and may_overwrite(lowered, lowered.ins[0], lowered.outs[0])
    base, *rest = (np.array(a) if isinstance(a, np.ndarray) else a for a in arrays)
    run_lowered(lowered, [base, *rest], [base])
    same(name, base.reshape(want.shape), want, attrs)


def test_what_is_read_elsewhere_is_not_overwritten():
    for name, arrays, attrs in [
        ("slice_update", [X, X], {"slices": ()}),
        ("cumsum", [X], {"axis": 0, "exclusive": True, "reverse": False}),
        ("flip", [X], {"axes": (0,)}),
        ("transpose", [X], {"perm": (1, 0)}),
    ]:
        lowered = lower_op(get_op(name), types_of(arrays), attrs)
        assert lowered is not None
        assert not may_overwrite(lowered, lowered.ins[-1], lowered.outs[0])
