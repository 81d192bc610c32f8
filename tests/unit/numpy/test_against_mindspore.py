"""Functions of ``numpy`` that lay out, count and compare: the same values, shapes and dtypes as MindSpore 2.10, in both
modes. What it gave stands in `mindspore.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as onp  # noqa: ICN001 - MindSpore programs call its own functions `np`
import pytest

import duograph as ms
from duograph import numpy as np

EXPECTED = json.loads((Path(__file__).parent / "mindspore.json").read_text())
CASES = {
    "aa1": lambda: np.apply_along_axis(np.diag, -1, np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]])),
    "aa2": lambda: np.apply_along_axis(lambda v: v.sum(), 0, np.array([[1.0, 2, 3], [4, 5, 6]])),
    "ao": lambda: np.apply_over_axes(np.sum, np.arange(10).reshape(2, 5).astype("float32"), axes=0),
    "ao2": lambda: np.apply_over_axes(np.sum, np.arange(24).reshape(2, 3, 4).astype("float32"), axes=(0, 2)),
    "equiv": lambda: (np.array_equiv([0, 1, 2], [[0, 1, 2], [0, 1, 2]]), np.array_equiv([0, 1], [[0, 1, 2]])),
    "str": lambda: np.array_str(np.arange(5)),
    "diag_indices": lambda: np.diag_indices(5, 3),
    "divmod": lambda: np.divmod(np.array([1, 2, 3, 4, 5]), 1.5),
    "divmod2": lambda: np.divmod(np.array([-1.5, 2, 3.0]), np.array([2.0, -1, 0.7])),
    "dsplit": lambda: np.dsplit(np.arange(6).reshape((1, 2, 3)).astype("float32"), 3),
    "hsplit": lambda: np.hsplit(np.arange(6).reshape((2, 3)).astype("float32"), 3),
    "hsplit2": lambda: np.hsplit(np.arange(8).reshape((2, 4)).astype("float32"), (1, 3)),
    "vsplit": lambda: np.vsplit(np.arange(9).reshape((3, 3)).astype("float32"), 3),
    "ediff": lambda: np.ediff1d(np.array([1, 3, -1, 0, 4])),
    "ediff2": lambda: np.ediff1d(np.array([1, 3, -1, 0, 4]), to_end=np.array([9]), to_begin=np.array([7, 8])),
    "geom": lambda: np.geomspace(1, 256, num=9),
    "geom2": lambda: np.geomspace(1, 256, num=8, endpoint=False),
    "hist": lambda: np.histogram([1, 2, 1], bins=[0, 1, 2, 3]),
    "hist2": lambda: np.histogram(np.arange(4), bins=np.arange(5), density=True),
    "hist3": lambda: np.histogram(np.array([0.0, 0.5, 1.0, 1.0, 3.0]), bins=4),
    "hist4": lambda: np.histogram(np.array([0.0, 0.5, 1.0, 1.0, 3.0]), bins=3, range=(0.0, 2.0)),
    "hist5": lambda: np.histogram(
        np.array([0.0, 0.5, 1.0, 1.0, 3.0]), bins=3, weights=np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    ),
    "h2d": lambda: np.histogram2d(np.arange(5), np.arange(2, 7), bins=(2, 3)),
    "hdd": lambda: np.histogramdd(np.arange(15).reshape(5, 3), bins=(2, 3, 4)),
    "hbe": lambda: np.histogram_bin_edges(np.array([0, 0, 0, 1, 2, 3, 3, 4, 5]), bins=2),
    "hbe2": lambda: np.histogram_bin_edges(np.array([2.0, 2.0]), bins=2),
    "in1d": lambda: (
        np.in1d(np.array([0, 1, 2, 5, 0]), [0, 2]),
        np.in1d(np.array([0, 1, 2, 5, 0]), [0, 2], invert=True),
    ),
    "indices": lambda: np.indices((2, 3)),
    "indices2": lambda: np.indices((2, 3), sparse=True),
    "inter": lambda: np.intersect1d([1, 3, 4, 3], [3, 1, 2, 1]),
    "inter2": lambda: np.intersect1d(np.array([1, 3, 4, 3]), np.array([3, 1, 2, 1]), return_indices=True),
    "mgrid": lambda: np.mgrid[0:5, 0:3],
    "mgrid2": lambda: np.mgrid[-1:1:5j],
    "mgrid3": lambda: np.mgrid[0:4:2, 0:1:3j],
    "ogrid": lambda: np.ogrid[0:5, 0:5],
    "ogrid2": lambda: np.ogrid[-1:1:5j],
    "nancumsum": lambda: [np.nancumsum(np.array([[1, 2], [3, onp.nan]]), axis=a) for a in (None, 0, 1)],
    "nanmax": lambda: [np.nanmax(np.array([[1, 2], [3, onp.nan]]), axis=a) for a in (None, 0, 1)],
    "nanmin": lambda: [np.nanmin(np.array([[1, 2], [3, onp.nan]]), axis=a) for a in (None, 0, 1)],
    "nanstd": lambda: [np.nanstd(np.array([[1, onp.nan], [3, 4]]), axis=a) for a in (None, 0, 1)],
    "nanvar": lambda: [
        np.nanvar(np.array([[1, onp.nan], [3, 4]]), axis=a, ddof=d) for a in (None, 0, 1) for d in (0, 1)
    ],
    "polyadd": lambda: np.polyadd([1, 2], [9, 5, 4]),
    "polysub": lambda: np.polysub([2, 10, -2], [3, 10, -4]),
    "polymul": lambda: np.polymul([3, 1, 2], [2, 5]),
    "polyval": lambda: np.polyval([3.0, 0.0, 1.0], 5.0),
    "polyval2": lambda: np.polyval(np.array([3.0, 0.0, 1.0]), np.array([1.0, 2.0])),
    "polyder": lambda: [np.polyder([1, 1, 1, 1], m) for m in (0, 1, 2)],
    "polyint": lambda: [np.polyint([1, 1, 1]), np.polyint([1, 1, 1], 2), np.polyint([6.0, 1.0], m=2, k=[5, 3])],
    "rmi": lambda: np.ravel_multi_index(np.array([[3, 6, 6], [4, 5, 1]]), (7, 6)),
    "rmi2": lambda: np.ravel_multi_index((3, 1, 4, 1), (6, 7, 8, 9)),
    "rmi3": lambda: [np.ravel_multi_index(np.array([[3, 8, -6], [4, 5, 1]]), (7, 6), mode=m) for m in ("clip", "wrap")],
    "rmi4": lambda: np.ravel_multi_index(np.array([[3, 6, 6], [4, 5, 1]]), (7, 6), order="F"),
    "unravel": lambda: [np.unravel_index([22, 41, 37], (7, 6)), np.unravel_index([31, 41, 13], (7, 6), order="F")],
    "roll": lambda: [np.rollaxis(np.ones((2, 3, 4)), a, s).shape for a in (0, 1, 2, -1) for s in (0, 1, 2, 3)],
    "setdiff": lambda: np.setdiff1d(np.array([1, 2, 3, 2, 4, 1]), np.array([3, 4, 5, 6])),
    "setdiff2": lambda: np.setdiff1d(np.array([4, 1, 2]), np.array([3, 4, 5, 6]), assume_unique=True),
    "tril": lambda: [np.tril_indices(3), np.tril_indices(3, 1, 4), np.triu_indices(3), np.triu_indices(4, -1, 3)],
    "from": lambda: [np.tril_indices_from(np.ones((3, 3))), np.triu_indices_from(np.ones((3, 4)), 1)],
}


def described(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [described(v) for v in value]
    if isinstance(value, ms.Tensor):
        return [str(value.dtype).lower(), list(value.shape), value.asnumpy().tolist()]
    return repr(value)


@pytest.mark.parametrize("name", CASES)
def test_as_mindspore(name):
    found = json.loads(json.dumps(described(CASES[name]())))
    assert repr(found) == repr(EXPECTED[name])


@pytest.mark.parametrize("name", CASES)
def test_compiled_is_the_same(name):
    case = CASES[name]
    compiled = ms.jit(lambda: case())
    for _ in range(2):
        assert repr(described(compiled())) == repr(described(case()))


@pytest.mark.parametrize("bins", [1, 3, 4, 7, 10, (3, 5)])
def test_every_point_lies_in_a_bin(bins):
    points = onp.random.default_rng(0).normal(size=(50, 2)).astype(onp.float32)
    for k in range(2):
        if isinstance(bins, int):
            found, edges = np.histogram(ms.Tensor(points[:, k]), bins)
            assert found.sum() == 50 and edges[-1] == points[:, k].max()
    found, _ = np.histogramdd(ms.Tensor(points), bins)
    assert onp.array_equal(found.asnumpy(), onp.histogramdd(points, bins)[0])


def test_as_numpy_where_inputs_are_unusual():
    assert onp.isnan(np.nanvar([1.0, onp.nan], ddof=1).asnumpy())
    assert onp.isnan(np.nanstd(ms.Tensor([onp.nan, onp.nan]), ddof=1).asnumpy())
    ends = 1.0, [10.0, 20.0]
    for num in (1, 5):
        assert onp.allclose(np.geomspace(*ends, num=num).asnumpy(), onp.geomspace(*ends, num=num))
    assert np.polyint([6.0], 2, 3).asnumpy().tolist() == onp.polyint([6.0], 2, 3).tolist()
    large = onp.array([[70000], [70001]])
    assert np.ravel_multi_index(large, (80000, 80000)).asnumpy() == onp.float32(5600070001)
    empty = np.intersect1d(onp.zeros(0, onp.float32), [1.0], return_indices=True)
    assert [part.shape for part in empty] == [(0,)] * 3


def test_gradients_pass_nan_by():
    x = ms.Tensor([1.0, onp.nan, 3.0])
    assert ms.grad(np.nanvar)(x).asnumpy().tolist() == [-1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: np.polyder([1, 2], -1), ValueError, "'m' must be at least 0"),
        (lambda: np.rollaxis(np.ones((2, 3)), 2), ValueError, "out of range"),
        (lambda: np.ravel_multi_index(np.array([[9], [0]]), (3, 3), mode="raise"), ValueError, "outside of 'dims'"),
        (lambda: np.unravel_index([1], (2, 2), order="A"), ValueError, "'order' must be"),
        (lambda: np.geomspace(0, 2), ValueError, "same sign"),
        (lambda: np.histogram([1.0], weights=[1.0, 2.0]), ValueError, "'weights' must have the shape"),
        (lambda: np.histogram([1.0], bins=[0.0, 2.0, 1.0]), ValueError, "edges that go up"),
        (lambda: np.geomspace([1.0], [2.0], axis=2), ValueError, "axis"),
        (lambda: np.histogram_bin_edges([1.0], bins="auto"), TypeError, "rules have no names"),
        (lambda: np.hsplit(np.ones(3), 3), ValueError, "at least 2 dimensions"),
        (lambda: np.tril_indices_from(np.ones(3)), ValueError, "2 dimensions"),
        (lambda: np.mgrid[1], TypeError, "indexed by slices"),
    ],
)
def test_bad_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()
