"""Sparse tensors: what does not fit is refused, what fits comes back (in all modes: `steps_and_jacobians`)."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops

INDICES, VALUES = Tensor([[0, 1], [1, 2]]), Tensor([1.0, 2.0])


def test_there_and_back():
    dense = Tensor(np.array([[0, 5, 0], [0, 0, 0], [7, 0, 6]], np.float32))
    coo, csr = dense.to_coo(), dense.to_csr()
    assert coo.dtype is csr.dtype is ms.float32 and coo.size == csr.size == 3 and coo.ndim == csr.ndim == 2
    assert csr.indptr.tolist() == [0, 1, 1, 3] and csr.indices.tolist() == [1, 0, 2]
    for sparse in (coo, csr, coo.to_csr(), csr.to_coo(), ops.dense_to_sparse_csr(dense)):
        assert sparse.to_dense().tolist() == dense.tolist()
    assert coo.astype(ms.int32).to_dense().dtype is ms.int32 and csr.astype(ms.float64).itemsize == 8
    assert ms.COOTensor(Tensor([[1, 1], [0, 1], [1, 0]]), Tensor([1.0, 2.0, 3.0]), (2, 2)).to_csr().values.tolist() == [
        2.0,
        1.0,
        3.0,
    ], "rows in order, columns as they came"


@pytest.mark.parametrize(
    ("kind", "parts", "error", "text"),
    [
        (ms.COOTensor, (INDICES, [1.0, 2.0], (2, 3)), TypeError, "'values' must be a Tensor"),
        (ms.COOTensor, (Tensor([[0.0, 1.0]]), VALUES, (2, 3)), TypeError, "'indices' must be int16"),
        (ms.COOTensor, (INDICES, VALUES, [2, 3]), TypeError, "'shape' must be a tuple"),
        (ms.COOTensor, (INDICES, Tensor([1.0]), (2, 3)), ValueError, r"'indices' must have the shape \(1, 2\)"),
        (ms.COOTensor, (INDICES, VALUES, (2, 3, 4)), ValueError, "'shape'"),
        (ms.CSRTensor, (Tensor([0, 1]), Tensor([1, 2]), VALUES, (2, 3)), ValueError, r"'indptr' .* \(3,\)"),
        (ms.CSRTensor, (Tensor([0, 1, 2]), Tensor([1]), VALUES, (2, 3)), ValueError, "'indices'"),
        (ms.RowTensor, (Tensor([0]), Tensor([[1.0, 2.0]]), (3, 3)), ValueError, r"'values' must have the shape \(3,\)"),
    ],
)
def test_parts_that_do_not_fit(kind, parts, error, text):
    with pytest.raises(error, match=text):
        kind(*parts)


def test_what_becomes_sparse():
    with pytest.raises(ValueError, match="2 dimensions"):
        Tensor([1.0]).to_coo()
    with pytest.raises(TypeError, match="must be a Tensor"):
        ops.dense_to_sparse_coo(3)
