"""Tensor methods against NumPy, their many argument forms, conversions, and the Python protocol."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import ops
from duograph.api import tensor_methods
from duograph.api.tensor_methods import Tensor
from duograph.api.tensor_python import from_dlpack, from_numpy, frombuffer, is_tensor, tensor
from duograph.core import dtype as dt

A = np.array([[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32)
B = np.array([[2.0, 1.0, -3.0], [1.0, 0.5, 2.0]], np.float32)
I = np.array([[7, -7, 3], [0, 5, -2]])
M = np.array([[True, False, True], [False, True, True]])

CASES = [
    # (call on x = A, y = B, i = I, m = M), what NumPy says
    ("x + y", A + B),
    ("x - 2", A - 2),
    ("2 - x", 2 - A),
    ("x * y", A * B),
    ("x / y", A / B),
    ("3 / x", 3 / A),
    ("x // y", A // B),
    ("x % 2", A % 2),
    ("x ** 2", A**2),
    ("2 ** x", 2**A),
    ("i // 3", I // 3),
    ("i % 3", I % 3),
    ("i % -3", I % -3),
    ("-x", -A),
    ("+x", A),
    ("abs(x)", abs(A)),
    ("round(x)", np.round(A)),
    ("~m", ~M),
    ("~i", I == 0),
    ("x < y", A < B),
    ("x >= 1", A >= 1),
    ("1 > x", 1 > A),
    ("x == y", A == B),
    ("i != 3", I != 3),
    ("m & m", M),
    ("m | True", M | True),
    ("m ^ m", M ^ M),
    ("i & 3", I & 3),
    ("i | 1", I | 1),
    ("i ^ 5", I ^ 5),
    ("x @ y.T", A @ B.T),
    ("x @ y[0]", A @ B[0]),
    ("x + [1, 2, 3]", A + [1, 2, 3]),
    ("x - (1, 2, 3)", A - [1, 2, 3]),
    ("x + np.float64(2)", A + 2),
    ("i + np.int8(2)", I + 2),
    ("x.sum()", A.sum()),
    ("x.sum(0)", A.sum(0)),
    ("x.sum(axis=1, keepdims=True)", A.sum(1, keepdims=True)),
    ("x.sum(dim=-1, keepdim=True)", A.sum(1, keepdims=True)),
    ("x.sum((0, 1))", A.sum()),
    ("x.sum(0, True)", A.sum(0, keepdims=True)),
    ("x.sum(0, initial=2)", A.sum(0) + 2),
    ("m.sum()", M.sum()),
    ("x.mean()", A.mean()),
    ("x.mean(1, True)", A.mean(1, keepdims=True)),
    ("x.prod(1)", A.prod(1)),
    ("x.std()", A.std()),
    ("x.std(0, 1)", A.std(0, ddof=1)),
    ("x.var(axis=1)", A.var(1)),
    ("x.max()", A.max()),
    ("x.max(axis=0)", A.max(0)),
    ("x.max(0)[0]", A.max(0)),
    ("x.max(0)[1]", A.argmax(0)),
    ("x.min(dim=1)[1]", A.argmin(1)),
    ("x.max(axis=1, keepdims=True)", A.max(1, keepdims=True)),
    ("x.amax(0)", A.max(0)),
    ("x.amin((0, 1))", A.min()),
    ("x.argmax()", A.argmax()),
    ("x.argmax(1)", A.argmax(1)),
    ("x.argmax(axis=0, keepdims=True)", A.argmax(0)[None]),
    ("x.ptp(1)", np.ptp(A, 1)),
    ("m.all()", M.all()),
    ("m.any(0)", M.any(0)),
    ("m.all(axis=1, keep_dims=True)", M.all(1, keepdims=True)),
    ("x.cumsum(1)", A.cumsum(1)),
    ("x.cumprod(0)", A.cumprod(0)),
    ("x.count_nonzero()", np.count_nonzero(A)),
    ("x.trace()", A.trace()),
    ("x.trace(1)", A.trace(1)),
    ("x.diff()", np.diff(A)),
    ("x.diff(axis=0, prepend=y)", np.diff(A, axis=0, prepend=B)),
    ("x.cov()", np.cov(A)),
    ("x.norm()", np.linalg.norm(A)),
    ("x.exp()", np.exp(A)),
    ("x.abs().log()", np.log(abs(A))),
    ("x.abs().sqrt()", np.sqrt(abs(A))),
    ("x.square()", A * A),
    ("x.sin()", np.sin(A)),
    ("x.tanh()", np.tanh(A)),
    ("x.floor()", np.floor(A)),
    ("x.sign()", np.sign(A)),
    ("x.neg()", -A),
    ("x.maximum(y)", np.maximum(A, B)),
    ("x.pow(2)", A**2),
    ("x.clip(-1, 2)", A.clip(-1, 2)),
    ("x.clamp(min=0)", A.clip(0)),
    ("x.add(y, alpha=2)", A + 2 * B),
    ("x.sub(1, alpha=2)", A - 2),
    ("x.div(y)", A / B),
    ("x.mul(2)", A * 2),
    ("x.reshape(3, 2)", A.reshape(3, 2)),
    ("x.reshape((3, -1))", A.reshape(3, 2)),
    ("x.view(6)", A.ravel()),
    ("x.flatten()", A.ravel()),
    ("x.flatten('F')", A.ravel("F")),
    ("x.flatten(0, 1)", A.ravel()),
    ("x.T", A.T),
    ("x.mT", A.T),
    ("x.transpose(1, 0)", A.T),
    ("x.permute((1, 0))", A.T),
    ("x.swapaxes(0, 1)", A.T),
    ("x.moveaxis(0, 1)", A.T),
    ("x.t()", A.T),
    ("x.unsqueeze(1)", A[:, None]),
    ("x.expand_dims(-1)", A[..., None]),
    ("x[None].squeeze()", A),
    ("x[None].squeeze(0)", A),
    ("x.broadcast_to((2, 2, 3))", np.broadcast_to(A, (2, 2, 3))),
    ("x.expand(2, -1, -1)", np.broadcast_to(A, (2, 2, 3))),
    ("x.tile((2,))", np.tile(A, 2)),
    ("x.tile(dims=(2, 1, 1))", np.tile(A, (2, 1, 1))),
    ("x.repeat(2, 2)", np.tile(A, (2, 2))),
    ("x.repeat_interleave(2, 0)", A.repeat(2, 0)),
    ("x.split(2, 1)[1]", A[:, 2:]),
    ("x.split((1, 2), axis=1)[1]", A[:, 1:]),
    ("x.chunk(2, dim=1)[0]", A[:, :2]),
    ("x.unbind(1)[2]", A[:, 2]),
    ("x.narrow(1, 1, 2)", A[:, 1:]),
    ("x.select(0, 1)", A[1]),
    ("x.tensor_split(2, 1)[1]", A[:, 2:]),
    ("x.diagonal()", A.diagonal()),
    ("x.flip(0)", A[::-1]),
    ("x.flip((0, 1))", A[::-1, ::-1]),
    ("x.roll(1, 1)", np.roll(A, 1, 1)),
    ("x.tril()", np.tril(A)),
    ("x.gather(1, Tensor([[0], [2]]))", A[[0, 1], [0, 2]][:, None]),
    ("x.gather(Tensor([0]), 1)", A[:, [0]]),
    ("x.take(Tensor([0, 5]))", A.take([0, 5])),
    ("x.take(Tensor([9]))", A.take([5])),
    ("x.index_select(1, Tensor([2]))", A[:, [2]]),
    ("x.where(m, 0.0)", np.where(M, A, 0)),
    ("x.masked_fill(m, 9.0)", np.where(M, 9, A)),
    ("x.masked_select(m)", A[M]),
    ("x.select(m, y)", np.where(M, A, B)),
    ("x.nonzero()", np.argwhere(A)),
    ("x.sort(1)[0]", np.sort(A, 1)),
    ("x.argsort(0)", A.argsort(0)),
    ("x.topk(2)[0]", -np.sort(-A, 1)[:, :2]),
    ("x.fill(3)", A * 0 + 3),
    ("x.new_zeros(2)", np.zeros(2)),
    ("x.new_ones((2, 1))", np.ones((2, 1))),
    ("x.new_full((2,), 7)", np.full(2, 7)),
    ("x.itemset((0, 1), 9)", np.where([[0, 1, 0], [0, 0, 0]], 9, A)),
    ("x.resize(2, 2)", A.ravel()[:4].reshape(2, 2)),
    ("x.resize(7)", np.append(A, 0)),
    ("x.sum_to_size(1, 3)", A.sum(0, keepdims=True)),
    ("x.index_add(0, Tensor([0, 0]), y)", A + [[*(B[0] + B[1])], [0, 0, 0]]),
    ("x.index_fill(1, Tensor([1]), 5)", np.where([[0, 1, 0]], 5, A)),
    ("x.scatter_add(Tensor([[0, 1], [0, 1]]), Tensor([1., 2.]))", A + [[0, 3, 0], [0, 0, 0]]),
    ("x.searchsorted", None),
    ("x[0].sort()[0].searchsorted(Tensor([0.0]))", [1]),
    ("x.isclose(y)", np.isclose(A, B)),
    ("x.mm(y.T)", A @ B.T),
    ("x.matmul(y.T)", A @ B.T),
    ("x[0].dot(y[0])", A[0] @ B[0]),
    ("x[0].outer(y[0])", np.outer(A[0], B[0])),
    ("i.unique()", np.unique(I)),
    ("i.choose([Tensor([1, 2, 3]), Tensor([4, 5, 6])])", np.choose(I, [[1, 2, 3], [4, 5, 6]], mode="clip")),
    ("x.softmax(-1).sum(1)", [1, 1]),
    ("x.logsumexp(1)", np.log(np.exp(A).sum(1))),
    ("x.view_as(y)", A),
    ("x.expand_as(y)", A),
]


@pytest.mark.parametrize(
    ("call", "expected"), [c for c in CASES if c[1] is not None], ids=lambda v: v if isinstance(v, str) else ""
)
def test_against_numpy(call, expected):
    names = {"x": Tensor(A), "y": Tensor(B), "i": Tensor(I), "m": Tensor(M), "Tensor": Tensor, "np": np}
    out = eval(call, names)
    expected = np.asarray(expected)
    assert isinstance(out, Tensor)
    assert out.shape == expected.shape
    assert out.dtype.is_bool == (expected.dtype == bool)
    np.testing.assert_allclose(out.asnumpy(), expected, rtol=2e-6, atol=1e-6)
    np.testing.assert_array_equal(names["x"].asnumpy(), A)


@pytest.mark.parametrize(
    ("call", "dtype"),
    [
        ("x.float()", "float32"),
        ("x.half()", "float16"),
        ("x.int()", "int32"),
        ("x.long()", "int64"),
        ("x.double()", "float64"),
        ("x.bool()", "bool"),
        ("x.bfloat16()", "bfloat16"),
        ("x.short()", "int16"),
        ("x.byte()", "uint8"),
        ("x.to(dt.int8)", "int8"),
        ("x.astype(float)", "float64"),
        ("x.astype('int')", "int64"),
        ("x.astype(np.float16)", "float16"),
        ("x.type_as(i)", "int64"),
        ("x.to(i)", "int64"),
        ("i + 1.5", "float32"),
        ("i / 2", "float32"),
        ("m + 1", "int64"),
        ("m + m", "bool"),
        ("x + i", "float32"),
        ("x.half() + x.bfloat16()", "float32"),
        ("i.sum()", "int64"),
        ("i.int().sum()", "int64"),
        ("m.sum()", "int64"),
        ("x.half().sum()", "float16"),
        ("x.sum(dtype=dt.float64)", "float64"),
        ("i.mean()", "int64"),
        ("i.std()", "float32"),
        ("x.argmin()", "int32"),
        ("x.argmax()", "int64"),
        ("x.half() * 2.0", "float16"),
        ("i.int() ** 2", "int32"),
    ],
)
def test_result_dtypes(call, dtype):
    names = {"x": Tensor(A), "i": Tensor(I), "m": Tensor(M), "np": np, "dt": dt}
    assert eval(call, names).dtype.name == dtype


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        ("x + 'a'", TypeError, 'Failed calling Add with "Add()(input=Tensor, other=string)".'),
        (
            "x + np.ones(3)",
            TypeError,
            "Failed calling Add with \"Add()(input=Tensor, other=<class 'numpy.ndarray'>)\".",
        ),
        ("x * [1, 2, 3]", TypeError, 'Failed calling Mul with "Mul()(input=Tensor, other=list<int, int, int>)".'),
        ("x + Tensor([1, 2])", ValueError, "For 'AddExt', input.shape and other.shape need to broadcast."),
        ("x < Tensor([1, 2])", ValueError, "For 'Less', input1.shape and input2.shape need to broadcast."),
        ("x @ 1", TypeError, "Failed calling MatMulExt"),
        ("-m", TypeError, "Neg"),
        ("x @ x.astype(dt.float16)", TypeError, "For 'MatMulExt', the type of 'x2' should be same as 'x1'"),
        ("x & x", TypeError, "For primitive[BitwiseAnd], the input argument[x] must be a type of"),
        ("x.reshape(4, 2)", ValueError, "is invalid for input of size 6"),
        ("x.reshape(-1, -1)", ValueError, "only one dimension can be inferred"),
        ("x.sum(5)", ValueError, "For 'sum', the axis must be in [-2,2)"),
        ("x.sum((0, 0))", RuntimeError, "dim=0 appears multiple times in the list of dims"),
        ("x.expand_dims(5)", ValueError, "Dimension out of range (expected to be in range of [-3, 3), but got 5)"),
        ("x.transpose((0,))", ValueError, "For 'Transpose', size of perm should equal to rank of x, but got 1 and 2!"),
        (
            "bool(x)",
            ValueError,
            "The tensor should have only one element, but got 6, more than one element is ambiguous.",
        ),
        ("float(x)", ValueError, "Only one element tensors can be converted to Python scalars"),
        ("x.item()", ValueError, "The tensor should have only one element, but got 6"),
        ("len(Tensor(1))", TypeError, "Not support len of a 0-D tensor"),
        ("iter(Tensor(1))", TypeError, "iteration over a 0-d tensor"),
        ("x.foo", AttributeError, "'Tensor' object has no attribute 'foo'"),
        ("x.register_hook(3)", TypeError, "Expected a callable hook function, but got int."),
        ("x.move_to('GPU')", ValueError, "not available"),
        ("divmod(x, 2)", TypeError, "unsupported operand type(s) for divmod()"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error) as caught:
        eval(call, {"x": Tensor(A), "m": Tensor(M), "Tensor": Tensor, "np": np, "dt": dt})
    assert text in str(caught.value)


def test_python_protocol():
    assert [int(t) for t in Tensor([1, 2])] == [1, 2]
    assert range(5)[Tensor(2)] == 2
    assert [1, 2, 3][Tensor(1)] == 2
    assert list(range(Tensor(3))) == [0, 1, 2]
    assert 1.0 in Tensor([1.0, 2.0])
    assert 3 not in Tensor([1.0, 2.0])
    assert complex(Tensor(1 + 2j)) == 1 + 2j
    assert not Tensor([0.0])
    assert Tensor([[5]]).item() == 5
    assert isinstance(Tensor([True]).item(), bool)
    assert (Tensor(A).item(0, 1), Tensor(A).item(5)) == (-2.0, -1.0)
    assert type(np.array([1.0], np.float32) + Tensor([1.0])) is np.ndarray
    np.testing.assert_array_equal(np.asarray(Tensor(A)), A)
    assert np.asarray(Tensor(A), np.float64).dtype == np.float64


def test_types_and_sizes():
    x = Tensor(A)
    assert (x.shape, x.ndim, x.size, x.itemsize, x.nbytes, x.strides) == ((2, 3), 2, 6, 4, 24, (12, 4))
    assert (x.dim(), x.numel(), x.device, x.has_init, x.is_floating_point(), x.is_complex()) == (
        2,
        6,
        "CPU",
        False,
        True,
        False,
    )


def test_memory_is_shared_with_numpy():
    array = np.ones(2, np.float32)
    shared = from_numpy(array)
    array[0] = 5
    shared[1] = 7
    assert shared.tolist() == array.tolist() == [5, 7]
    x = Tensor(array)
    array[0] = 1
    assert x.tolist() == [5, 7]
    x.asnumpy()[1] = 8
    assert x.tolist() == [5, 8]
    with pytest.raises(TypeError, match=r"Expected a NumPy array"):
        from_numpy([1])
    np.testing.assert_array_equal(frombuffer(b"\x01\x02", dtype=dt.uint8).asnumpy(), [1, 2])


def test_dlpack_both_ways():
    x = Tensor(A)
    assert np.shares_memory(np.from_dlpack(x), x.asnumpy())
    assert np.shares_memory(from_dlpack(A.copy()).asnumpy(), A) is False
    y = from_dlpack(x)
    x[0, 0] = 100
    assert y[0, 0].item() == 100
    assert from_dlpack(x.to_dlpack()).shape == (2, 3)


def test_tensor_function():
    assert tensor([1, 2]).dtype is dt.int64
    assert tensor(1.5).dtype is dt.float32
    assert is_tensor(tensor(1))
    assert not is_tensor(1)


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (True, "bool", ()),
        (1, "int64", ()),
        (1.5, "float32", ()),
        (1j, "complex128", ()),
        ([], "float32", (0,)),
        ([[]], "float32", (1, 0)),
        ([1, 2.5], "float32", (2,)),
        ([True, 1], "int64", (2,)),
        (np.ones(2), "float64", (2,)),
        (np.int32(1), "int32", ()),
        ([np.float64(1)], "float32", (1,)),
        ([np.int32(1)], "int64", (1,)),
        (2**63, "uint64", ()),
        ([Tensor(1), Tensor(2)], "int64", (2,)),
    ],
)
def test_construction(data, dtype, shape):
    t = Tensor(data)
    assert (t.dtype.name, t.shape) == (dtype, shape)


def test_construction_wraps_and_refuses():
    assert Tensor([300], dt.int8).tolist() == [44]
    assert Tensor(-1, dt.uint8).item() == 255
    for data in ([[1, 2], [3]], [1, "a"], [None]):
        with pytest.raises(TypeError, match="that contain unsupported element"):
            Tensor(data)
    for data in ("abc", None, {}, range(3)):
        with pytest.raises(TypeError, match="For 'Tensor', the type of 'input_data' should be one of"):
            Tensor(data)
    with pytest.raises(ValueError, match="'shape' should be set to None"):
        Tensor(3, shape=(2,))


def test_the_table_of_delegated_methods_is_complete():
    assert [name for name in tensor_methods.DELEGATED if not hasattr(Tensor, name)] == []


@pytest.mark.parametrize("compiled", [False, True])
def test_extremes_along_an_axis_with_an_initial_value(compiled):
    """Values and places are those of the elements, each at least (or most) the initial value, as in MindSpore."""
    x = Tensor([[1.0, 5.0, 3.0], [0.0, 1.0, 2.0]])
    where = Tensor([[True, False, True], [True, True, True]])
    for call, values, places in (
        (lambda t: t.max(1, initial=4), [5, 4], [1, 0]),
        (lambda t: t.max(axis=1, return_indices=True, initial=4.0), [5, 4], [1, 0]),
        (lambda t: t.min(dim=1, initial=0.5), [0.5, 0], [0, 0]),
        (lambda t: t.max(axis=1, return_indices=True, initial=0.5, where=where), [3, 2], [2, 2]),
    ):
        found = (ms.jit(call) if compiled else call)(x)
        assert [found[0].tolist(), found[1].tolist()] == [values, places]
    assert x.max(axis=1, initial=4).tolist() == [5, 4]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.max(x, initial=4),
        lambda x: x.chunk(1.5),
        lambda x: x.flatten(None),
        lambda x: x.qr(1),
        lambda x: x.set_const_arg(1),
        lambda x: ops.meshgrid(x[0], indexing=1),
    ],
)
def test_arguments_of_other_types_are_refused(call):
    with pytest.raises(TypeError):
        call(Tensor([[1.0, 2.0], [3.0, 4.0]]))
