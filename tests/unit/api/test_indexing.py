"""Indexing against NumPy: values, shapes, aliasing, and MindSpore's errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duograph.api.tensor_methods import Tensor
from duograph.core import dtype as dt


@st.composite
def shape_and_index(draw, advanced=True):
    """A shape and a NumPy index for it; lists and arrays stand for advanced indices."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    block = draw(st.sampled_from([(2,), (3,), (2, 1), (1,), ()]))
    index: list = []
    ellipsis = draw(st.booleans())
    for n in shape[: draw(st.integers(0, len(shape)))]:
        kinds = ["int", "slice", "new", "true", "array", "list", "mask"] if advanced else ["int", "slice", "new"]
        kind = draw(st.sampled_from(kinds))
        if kind == "int":
            index.append(draw(st.integers(-n, n - 1)))
        elif kind == "slice":
            bound = st.none() | st.integers(-n - 2, n + 2)
            index.append(slice(draw(bound), draw(bound), draw(st.sampled_from([None, 1, 2, -1, -2, 3]))))
        elif kind == "array" or (kind == "list" and not block):
            size = int(np.prod(block))
            values = draw(st.lists(st.integers(-n, n - 1), min_size=size, max_size=size))
            index.append(np.array(values, np.int64).reshape(block))
        elif kind == "list":
            index.append([draw(st.integers(-n, n - 1)) for _ in range(block[-1])])
        elif kind == "mask":
            mask = np.zeros(n, bool)
            mask[draw(st.lists(st.integers(0, n - 1), max_size=n))] = True
            index.append(
                mask if mask.sum() in (1, block[-1] if block else 1) or not any_advanced(index) else slice(None)
            )
        elif kind == "true":
            index += [True, draw(st.sampled_from([slice(None), draw(st.integers(-n, n - 1))]))]
        else:
            index += [None, draw(st.integers(-n, n - 1))]
    used = sum(i is not None and i is not True for i in index)
    if ellipsis and used < len(shape):  # an empty one separates advanced indices in NumPy
        index.insert(draw(st.integers(0, len(index))), Ellipsis)
    return shape, tuple(index)


def any_advanced(index):
    return any(isinstance(i, np.ndarray | list) for i in index)


def as_index(index):
    """The same index with arrays as Tensors (lists stay)."""
    return tuple(Tensor(i) if isinstance(i, np.ndarray) else i for i in index)


def numpy_takes(array, index):
    try:
        array[index]
    except IndexError:
        return False
    return True


@settings(max_examples=400, deadline=None)
@given(shape_and_index())
def test_get_is_numpys(case):
    shape, index = case
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    if not numpy_takes(array, index):
        with pytest.raises((IndexError, ValueError)):
            Tensor(array)[as_index(index)]
        return
    got = Tensor(array)[as_index(index)]
    assert got.shape == array[index].shape
    np.testing.assert_array_equal(got.asnumpy(), array[index])


@settings(max_examples=400, deadline=None)
@given(shape_and_index(), st.sampled_from(["number", "full", "row", "one"]))
def test_set_is_numpys(case, kind):
    shape, index = case
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    if not numpy_takes(array, index):
        return
    part = array[index]
    flat = -np.arange(1, part.size + 1, dtype=np.float32).reshape(part.shape)
    value = {"number": 7.5, "full": flat, "row": flat[(0,) * (part.ndim - 1)] if part.size and part.ndim else 3.0}.get(
        kind, np.full((1,) * part.ndim, 2.5, np.float32)
    )
    tensor = Tensor(array)
    array[index] = value
    tensor[as_index(index)] = Tensor(value) if isinstance(value, np.ndarray) else value
    np.testing.assert_array_equal(tensor.asnumpy(), array)


@settings(max_examples=200, deadline=None)
@given(shape_and_index(advanced=False))
def test_basic_indexing_aliases_both_ways(case):
    shape, index = case
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    if not numpy_takes(array, index):
        return
    tensor = Tensor(array)
    view = tensor[index]
    seen = array[index if Ellipsis in index else (*index, ...)]
    view[...] = -1
    seen[...] = -1
    np.testing.assert_array_equal(tensor.asnumpy(), array)
    tensor[...] = Tensor(np.full(shape, 5, np.float32))
    assert (view.asnumpy() == 5).all()


def test_advanced_indexing_copies():
    x = Tensor([1.0, 2.0, 3.0])
    for y in (x[[0]], x[Tensor([0])], x[x > 2], x[Tensor(0)]):
        y[...] = 9
    np.testing.assert_array_equal(x.asnumpy(), [1, 2, 3])


def test_writes_go_through_chains_of_views():
    x = Tensor(np.zeros((2, 3, 4), np.float32))
    y = x[0]
    y[0] = 9
    x[1][0] = 7
    x[1].T[3] = 5
    x[0][1:][0][::2] += 1
    expected = np.zeros((2, 3, 4), np.float32)
    expected[0, 0], expected[1, 0] = 9, 7
    expected[1, :, 3] = 5
    expected[0, 1, ::2] += 1
    np.testing.assert_array_equal(x.asnumpy(), expected)


def test_value_is_cast_to_the_tensors_dtype():
    x = Tensor([1, 2, 3])
    x[0] = 9.7
    x[1:] = Tensor([True, False])
    assert x.dtype is dt.int64
    assert x.tolist() == [9, 1, 0]
    b = Tensor([300], dt.int8)
    b[0] = 200
    assert b.tolist() == [-56]


def test_lists_with_structure_are_tuples():
    a = np.arange(24).reshape(2, 3, 4)
    x = Tensor(a)
    np.testing.assert_array_equal(x[[[0, 1], [1, 0]]].asnumpy(), a[[0, 1], [1, 0]])
    np.testing.assert_array_equal(x[[slice(0, 1), 0]].asnumpy(), a[0:1, 0])
    np.testing.assert_array_equal(x[[Tensor(0), Tensor(1)]].asnumpy(), a[0, 1])


def test_masked_assignment_of_several_values():
    x = Tensor([1.0, -2.0, -3.0, 4.0])
    x[x < 0] = Tensor([10.0, 20.0])
    assert x.tolist() == [1, 10, 20, 4]
    y = Tensor(np.ones((2, 3), np.float32))
    y[Tensor([[True, False, True], [False, True, False]])] = 0
    assert y.tolist() == [[0, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (2, IndexError, "index 2 is out of bounds for dimension with size 2"),
        ((0, 0), IndexError, "too many indices for tensor of dimension1"),
        (1.5, IndexError, "Only support integers, slices"),
        ("a", IndexError, "Unsupported Python object type received: <class 'str'>"),
        ((..., ...), IndexError, "An index can only have a single ellipsis"),
        (False, IndexError, "the value only support 'True'"),
        (slice(0, 1.5), RuntimeError, "Slice index type must be int, tensor or none."),
        (slice(None, None, 0), ValueError, "'strides' cannot contain 0"),
        ([5], IndexError, "index 5 is out of bounds for dimension with size 2"),
    ],
)
def test_wrong_indices(index, error, text):
    with pytest.raises(error) as caught:
        Tensor([1.0, 2.0])[index]
    assert text in str(caught.value)


def test_wrong_assignments():
    x = Tensor([1.0, 2.0])
    with pytest.raises(IndexError, match="Index 5 is out of bounds for axis 0 with size 2"):
        x[5] = 1.0
    with pytest.raises(ValueError, match="For 'BroadcastTo'"):
        x[:] = Tensor([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="Cannot iterate over a scalar tensor"):
        Tensor(1.0)[0]
    with pytest.raises(TypeError, match="only support 'Tensor', 'number', 'list' and 'tuple'"):
        x[0] = "a"
