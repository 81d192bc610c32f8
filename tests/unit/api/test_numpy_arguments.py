"""Arguments of ``duograph.numpy`` and what MindSpore 2.10 gives for them: values, dtypes, errors."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, jit
from duograph import numpy as mnp
from duograph.scipy import linalg

M = Tensor(np.float32([[3, 1, 2], [0.5, -4, 6]]))
N = Tensor(np.float32([[1, 2, 0], [-1, 4, 2.5]]))
V = Tensor(np.float32([3, 1, 2]))
I = Tensor(np.array([[3, 1, 2], [0, 4, 6]]))  # noqa: E741
U8, HALF = Tensor(np.uint8([3, 1])), Tensor(np.float16([3, 1]))
NAN = float("nan")

CASES = [
    ("cross", lambda: mnp.cross(M, N), [[-4, 2, 5], [-34, -7.25, -2]], "Float32"),
    ("cross axisc", lambda: mnp.cross(M, N, axisc=0), [[-4, -34], [2, -7.25], [5, -2]], "Float32"),
    ("cross axisa, axisb", lambda: mnp.cross(M.T, N, axisa=0, axisb=1), [[-4, 2, 5], [-34, -7.25, -2]], "Float32"),
    ("cross in the plane", lambda: mnp.cross([[1, 2], [3, 4]], [[4, 5], [6, 7]]), [-3, -3], "Int32"),
    ("cross 2 x 3", lambda: mnp.cross([[1, 2], [3, 4]], [[4, 5, 1], [6, 7, 2]]), [[2, -1, -3], [8, -6, -3]], "Int32"),
    ("cross 3 x 2", lambda: mnp.cross([4, 5, 1], [1, 2]), [-2, 1, 3], "Int32"),
    ("linspace of tensors", lambda: mnp.linspace(Tensor([1.0, 2.0]), 5, 3), [[1, 2], [3, 3.5], [5, 5]], "Float32"),
    ("linspace axis", lambda: mnp.linspace([0, 10], 10, 3, axis=-1), [[0, 5, 10], [10, 10, 10]], "Float32"),
    ("linspace open", lambda: mnp.linspace([0, 10], 4, 2, endpoint=False), [[0, 10], [2, 7]], "Float32"),
    ("linspace step", lambda: mnp.linspace(0, 10, 5, retstep=True)[1], 2.5, "Float32"),
    ("logspace", lambda: mnp.logspace(0, Tensor([1.0, 2.0]), 3, base=4), [[1, 1], [2, 4], [4, 16]], "Float32"),
    ("logspace axis", lambda: mnp.logspace([0, 0], [1, 2], 3, base=4, axis=1), [[1, 2, 4], [1, 4, 16]], "Float32"),
    ("array_equal", lambda: mnp.array_equal([1.0, NAN], [1.0, NAN]), False, "Bool"),
    ("array_equal of NaN", lambda: mnp.array_equal([1.0, NAN], [1.0, NAN], equal_nan=True), True, "Bool"),
    ("take_along_axis", lambda: mnp.take_along_axis(M, Tensor([[0, 1, 0]]), 1), [[3, 1, 3], [0.5, -4, 0.5]], "Float32"),
    ("take_along_axis 0", lambda: mnp.take_along_axis(M, Tensor([[1]]), 0), [[0.5, -4, 6]], "Float32"),
    ("take", lambda: mnp.take(V, Tensor([-1, -3, -9, 5])), [2, 3, 3, 2], "Float32"),
    ("unique", lambda: mnp.unique(Tensor([[3, 1], [2, 3]])), [3, 1, 2], "Int64"),
    ("unique inverse", lambda: mnp.unique(Tensor([[3.0, 1], [2, 3]]), True)[1], [0, 1, 2, 0], "Int32"),
    ("sum of bool", lambda: mnp.sum([True, True, False]), 2, "Int64"),
    ("cumsum of bool", lambda: mnp.cumsum([True, True, False]), [1, 2, 2], "Int32"),
    ("cumprod of uint8", lambda: mnp.cumprod(U8), [3, 3], "UInt32"),
    ("argmin", lambda: mnp.argmin(M, 1), [1, 1], "Int32"),
    ("searchsorted", lambda: mnp.searchsorted([1, 2, 3], [2.5]), [2], "Int32"),
    ("clip keeps integers", lambda: mnp.clip(I, 0.5, 2.5), [[2, 1, 2], [0, 2, 2]], "Int64"),
    ("uint8 and an int", lambda: mnp.subtract(U8, 3), [0, -2], "Int32"),
    ("float16 and a float", lambda: mnp.add(HALF, 2.5), [5.5, 3.5], "Float32"),
    ("float16 and an int", lambda: mnp.add(HALF, 2), [5, 3], "Float16"),
    ("maximum of an int tensor", lambda: mnp.maximum(I, 2.5), [[3, 2, 2], [2, 4, 6]], "Int64"),
    ("float_power", lambda: mnp.float_power(I, 2), [[9, 1, 4], [0, 16, 36]], "Float32"),
    ("ceil of integers", lambda: mnp.ceil([1, 2]), [1, 2], "Float32"),
    ("diff", lambda: mnp.diff(M, prepend=1.0), [[2, -2, 1], [-0.5, -4.5, 10]], "Float32"),
    ("roll", lambda: mnp.roll(M, 1, axis=(0, 1)), [[6, 0.5, -4], [2, 3, 1]], "Float32"),
    ("roll twice", lambda: mnp.roll(M, (1, 1), axis=1), [[1, 2, 3], [-4, 6, 0.5]], "Float32"),
    ("trapz of lists", lambda: mnp.trapz([1, 2, 4], x=[0, 1, 3]), 7.5, "Float32"),
    ("vander", lambda: mnp.vander([1, 2, 3], 3, True), [[1, 1, 1], [1, 2, 4], [1, 3, 9]], "Int32"),
    ("bincount", lambda: mnp.bincount(Tensor([2, 0, 1]), length=2), [1, 1], "Float32"),
    ("asfarray", lambda: mnp.asfarray([1, 2], dtype=ms.float16), [1, 2], "Float16"),
    ("cov", lambda: mnp.cov(V, fweights=[1, 2, 1]), 0.9166667, "Float32"),
    ("cov of columns", lambda: mnp.cov(V, y=[1.0, 5.0, -2.0], rowvar=False), [[1, -2], [-2, 12.333333]], "Float32"),
    ("cov dtype", lambda: mnp.cov(M, dtype=ms.float64), [[1, 2.25], [2.25, 25.083334]], "Float64"),
    ("block_diag", lambda: linalg.block_diag(Tensor([[1, 2]]), Tensor([[0.5]])), [[1, 2, 0], [0, 0, 0.5]], "Float32"),
    ("negative(a=)", lambda: mnp.negative(a=V), [-3, -1, -2], "Float32"),
    ("inner(a=, b=)", lambda: mnp.inner(a=V, b=V), 14, "Float32"),
    ("concatenate(arrays=)", lambda: mnp.concatenate(arrays=[[1], [2]]), [1, 2], "Int32"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "values", "dtype"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_values(call, values, dtype):
    out = call()
    assert str(out.dtype) == dtype
    assert out.shape == np.shape(values)
    assert np.allclose(out.asnumpy(), values, rtol=1e-5)


PADS = [
    ("constant", {"constant_values": ((4, 6),)}, [4, 4, 3, 1, 2, 6, 6, 6]),
    ("edge", {}, [3, 3, 3, 1, 2, 2, 2, 2]),
    ("reflect", {}, [2, 1, 3, 1, 2, 1, 3, 1]),
    ("reflect", {"reflect_type": "odd"}, [4, 5, 3, 1, 2, 3, 1, -1]),
    ("symmetric", {}, [1, 3, 3, 1, 2, 2, 1, 3]),
    ("symmetric", {"reflect_type": "odd"}, [5, 3, 3, 1, 2, 2, 3, 1]),
    ("wrap", {}, [1, 2, 3, 1, 2, 3, 1, 2]),
    ("linear_ramp", {"end_values": ((4, 6),)}, [4, 3.5, 3, 1, 2, 10 / 3, 14 / 3, 6]),
    ("mean", {"stat_length": (2, 1)}, [2, 2, 3, 1, 2, 2, 2, 2]),
    ("median", {}, [2, 2, 3, 1, 2, 2, 2, 2]),
    ("maximum", {"stat_length": 2}, [3, 3, 3, 1, 2, 2, 2, 2]),
    ("minimum", {}, [1, 1, 3, 1, 2, 1, 1, 1]),
    ("empty", {}, [0, 0, 3, 1, 2, 0, 0, 0]),
]


@pytest.mark.parametrize(("mode", "options", "values"), PADS)
def test_pad(mode, options, values):
    def fn(x):
        return mnp.pad(x, (2, 3), mode, **options)

    assert np.allclose(fn(V).asnumpy(), values)
    assert np.array_equal(jit(fn)(V).asnumpy(), fn(V).asnumpy())


def test_pad_of_integers_drops_what_is_behind_the_point():
    assert mnp.pad([1, 2], (0, 2), "mean").asnumpy().tolist() == [1, 2, 1, 1]


@pytest.mark.parametrize("mode", ["linear_ramp", "maximum", "symmetric", "wrap", "edge"])
def test_pad_of_a_matrix_is_numpys(mode):
    x = np.array([[1, 2], [3, 6]])
    expected = np.pad(x, ((1, 2), (0, 3)), mode)
    assert np.array_equal(mnp.pad(Tensor(x), ((1, 2), (0, 3)), mode).asnumpy(), expected)


def test_meshgrid():
    x, y = mnp.meshgrid(V, Tensor([7.0, 8.0]), sparse=True)
    assert (x.shape, y.shape) == ((1, 3), (2, 1))
    x, y, z = mnp.meshgrid(V, Tensor([7.0, 8.0]), Tensor([1.0]), sparse=True, indexing="ij")
    assert (x.shape, y.shape, z.shape) == ((3, 1, 1), (1, 2, 1), (1, 1, 1))
    assert isinstance(mnp.meshgrid(V, V), list)
    with pytest.raises(ValueError, match="indexing"):
        mnp.meshgrid(V, V, sparse=True, indexing="yx")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: mnp.cross([1, 2, 3, 4], [1, 2, 3]), ValueError),
        (lambda: mnp.linspace(0, 1, 0, endpoint=False), ValueError),
        (lambda: mnp.pad(V, 1, "nope"), ValueError),
        (lambda: mnp.pad(V, 1, "constant", fill=3), ValueError),
        (lambda: mnp.pad(V, -1), ValueError),
        (lambda: mnp.take(V, 0, mode="raise"), NotImplementedError),
        (lambda: mnp.take_along_axis(M, Tensor([0]), 0), ValueError),
    ],
)
def test_refused(call, error):
    with pytest.raises(error):
        call()


def test_random_without_a_shape_is_one_number_in_a_vector():
    assert mnp.rand().shape == mnp.randn().shape == mnp.randint(5).shape == (1,)


def test_positions_give_a_list_and_parts_a_tuple():
    assert isinstance(mnp.split(V, [1]), list)
    assert isinstance(mnp.split(V, 3), tuple)
