"""Tensors and NumPy arrays share memory, and nothing else: shape, dtype and size are everybody's own."""

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops


def _tensors():
    x = Tensor(np.arange(16, dtype=np.float32).reshape(4, 4))
    yield x  # made from an array
    yield x + 1  # by a kernel
    yield ms.jit(lambda x: x * 2)(x)  # by a compiled function
    yield x[1:]  # a view
    yield ops.zeros((4, 4))
    yield ms.Parameter(x)
    yield Tensor(3.0)
    yield ops.broadcast_to(Tensor([1.0, 2.0]), (3, 2))


# NumPy 2.5 warns that arrays should not be given another shape or dtype; it still does it
pytestmark = pytest.mark.filterwarnings("ignore:Setting the (shape|dtype):DeprecationWarning")

ARRAYS = {"asnumpy": lambda t: t.asnumpy(), "numpy": lambda t: t.numpy(), "asarray": np.asarray, "array": np.array}


@pytest.mark.parametrize("make", ARRAYS.values(), ids=ARRAYS)
def test_nothing_done_to_an_array_changes_a_tensor(make):
    for tensor in _tensors():
        before = tensor.shape, tensor.dtype, tensor.asnumpy().copy()
        strides = tensor.asnumpy().strides
        array = make(tensor)
        while isinstance(array, np.ndarray):  # what it is a view of, too
            array.flags.writeable = False
            array.__setstate__((1, (2,), np.dtype(np.int8), False, b"ab")) if array.base is None else None
            if array.flags.c_contiguous and not array.size % 4:
                array.shape = (array.size,)
                array.dtype = np.int8
            array = array.base
        if tensor.asnumpy().flags.c_contiguous:
            with pytest.raises(ValueError, match="resize|own"):
                make(tensor).resize((100,), refcheck=False) if make is not np.array else _cannot_own()
        assert (tensor.shape, tensor.dtype, tensor.asnumpy().strides) == (*before[:2], strides)
        assert np.array_equal(tensor.asnumpy(), before[2])
        assert (tensor + 0).shape == before[0]


@pytest.mark.parametrize("dtype", [np.float32, np.bool_, np.complex64, ms.bfloat16.numpy, ms.float8_e4m3fn.numpy])
def test_arrays_of_every_layout_share_memory(dtype):
    base = np.zeros((4, 6), dtype)
    spaced = np.ndarray((3,), np.complex64, np.zeros(12, np.float32), 0, (12,))  # no whole number of elements apart
    for array in (base, base.T, base[::-1, ::2], base[:0], base[0, :1].reshape(()), spaced):
        shown = ms.from_numpy(array).asnumpy()
        assert (shown.shape, shown.dtype, shown.flags.writeable) == (array.shape, array.dtype, True)
        assert array.size < 2 or (shown.strides == array.strides and np.shares_memory(shown, array))
        shown.flags.writeable = False
        shown.flags.writeable = True


def test_the_array_of_a_read_only_tensor_stays_read_only():
    array = np.zeros(3)
    array.flags.writeable = False
    shown = ms.from_numpy(array).asnumpy()
    with pytest.raises(ValueError, match="WRITEABLE"):
        shown.flags.writeable = True


def _cannot_own():
    raise ValueError("np.array makes a copy, which may be resized")


def test_memory_is_shared_both_ways():
    tensor = Tensor([1.0, 2.0])
    array = tensor.asnumpy()
    array[0] = 5
    assert tensor.asnumpy().tolist() == [5, 2]
    tensor[1] = 7
    assert array.tolist() == [5, 7]
    twin = ms.from_numpy(array)
    twin.add_(1)
    assert tensor.asnumpy().tolist() == [6, 8]


def test_an_array_that_a_tensor_was_made_from_may_be_reshaped():
    array = np.arange(4.0)
    tensor = ms.from_numpy(array)
    array.shape = (2, 2)
    assert tensor.shape == (4,)
    with pytest.raises(ValueError, match="resize"):
        array.resize((1000,))


def test_matrices_and_memory_mapped_arrays(tmp_path):
    matrix = np.array([[1.0, 2.0]]).view(np.matrix)  # the constructor warns
    tensor = ms.from_numpy(matrix)
    assert (tensor * 2).asnumpy().tolist() == [[2.0, 4.0]]
    assert type(tensor.asnumpy()) is np.ndarray
    tensor[0, 0] = 9
    assert matrix[0, 0] == 9
    mapped = np.memmap(tmp_path / "x", dtype=np.float32, mode="w+", shape=(3,))
    tensor = ms.from_numpy(mapped)
    tensor.add_(1)
    del mapped
    assert (tensor * 2).asnumpy().tolist() == [2, 2, 2]
    assert ms.jit(lambda x: x.sum())(tensor) == 3
    del tensor
    assert np.fromfile(tmp_path / "x", np.float32).tolist() == [1, 1, 1]


def test_a_read_only_memory_mapped_array_cannot_be_written(tmp_path):
    np.ones(3, np.float32).tofile(tmp_path / "x")
    tensor = ms.from_numpy(np.memmap(tmp_path / "x", dtype=np.float32, mode="r"))
    assert tensor.sum() == 3

    def write(x):
        x.add_(1)
        return x

    for function in (write, ms.jit(write), ms.jit(write)):
        with pytest.raises(RuntimeError, match="cannot be written"):
            function(tensor)


@pytest.mark.parametrize(
    "array, words",
    [
        (np.ma.array([1.0, 2.0], mask=[0, 1]), "filled"),
        (np.array([1, 2], ">i4"), "byte order"),
        (np.array(["a"]), "dtype"),
        ([1.0], "Expected a NumPy array, but got list"),
    ],
    ids=["masked", "byte order", "text", "list"],
)
def test_what_cannot_be_shared_is_refused_with_the_reason(array, words):
    with pytest.raises(TypeError, match=words):
        ms.from_numpy(array)
