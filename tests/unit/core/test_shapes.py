import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duograph.core.dim import Symbol, dim_min, evaluate
from duograph.core.shapes import (
    broadcast_shapes,
    conv_output_size,
    infer_reshape,
    normalize_axes,
    normalize_axis,
    normalize_permutation,
    numel,
    reduced_shape,
    same_padding,
    slice_length,
    slice_range,
)

N, M, P, SOME = Symbol("N"), Symbol("M"), Symbol("P", 2), Symbol("SOME", 1)
SHAPES = st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=4).map(tuple)
BOUND = st.none() | st.integers(-9, 9)
STEP = st.integers(-4, 4).filter(bool)


@given(st.lists(SHAPES, min_size=1, max_size=3))
def test_broadcasting_of_ints_is_numpys(shapes):
    try:
        expected = np.broadcast_shapes(*shapes)
    except ValueError:
        with pytest.raises(ValueError, match="need to broadcast"):
            broadcast_shapes(*shapes)
    else:
        assert broadcast_shapes(*shapes) == expected


def test_broadcast_message_is_mindspores():
    with pytest.raises(ValueError) as caught:
        broadcast_shapes((2,), (3,), op="AddExt")
    assert str(caught.value) == (
        "For 'AddExt', input.shape and other.shape need to broadcast. The value of input.shape[1] or other.shape[1] "
        "must be 1 or -1 when they are not the same, but got input.shape = [2] and other.shape = [3]"
    )


@pytest.mark.parametrize(
    ("a", "b", "result", "assumed"),
    [
        ((N, 3), (3,), (N, 3), []),
        ((N,), (1,), (N,), []),
        ((N,), (4,), (4,), [(N, 4)]),
        ((4,), (N,), (4,), [(4, N)]),
        ((N,), (M,), (N,), [(N, M)]),
        ((N,), (P,), (P,), [(N, P)]),
        ((2, N), (N,), (2, N), []),
    ],
)
def test_broadcasting_of_dims(a, b, result, assumed):
    seen = []
    assert broadcast_shapes(a, b, assume=lambda x, y: seen.append((x, y))) == result
    assert seen == assumed


def test_broadcast_message_points_at_the_last_axis_that_differs():
    with pytest.raises(ValueError, match=r"The value of input.shape\[2\] or other.shape\[2\] must be 1"):
        broadcast_shapes((2, 3), (3, 2))


def test_broadcasting_refuses_what_cannot_be():
    with pytest.raises(ValueError, match=r"input.shape = \[P\+3\] and other.shape = \[2\]"):
        broadcast_shapes((P + 3,), (2,))


def test_axes():
    assert normalize_axis(-1, 3) == 2
    assert normalize_axis(np.int64(1), 3) == 1
    assert [normalize_axis(a, 0) for a in (0, -1)] == [0, 0]
    assert normalize_axes(None, 2) == normalize_axes((), 2) == (0, 1)
    assert normalize_axes((-1, 0), 3) == (0, 2)
    assert normalize_axes(0, 0) == ()
    assert normalize_permutation((-1, 0, 1), 3) == (2, 0, 1)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: normalize_axis(3, 1, "Sum"), ValueError, "For primitive[Sum], the axis must be in [-1,1), but got 3."),
        (lambda: normalize_axis("a", 1), TypeError, "must be int, but got 'str'"),
        (lambda: normalize_axis(True, 2), TypeError, "must be int, but got 'bool'"),
        (lambda: normalize_axes((0, -2), 2), ValueError, "must be unique"),
        (lambda: normalize_permutation((0,), 2), ValueError, "should equal to rank of x, but got 1 and 2!"),
        (lambda: normalize_permutation((0, 0), 2), ValueError, "perms should all be unique dim"),
        (lambda: infer_reshape((6,), (4, 2)), ValueError,
         "proposed_shape '[const vector]{4, 2}' is invalid for input of size 6"),
        (lambda: infer_reshape((6,), (-1, 4)), ValueError,
         "proposed_shape '[const vector]{-1, 4}' is invalid for input of size 6"),
        (lambda: infer_reshape((6,), (-1, -1)), ValueError, "only one dimension can be inferred"),
        (lambda: infer_reshape((6,), (-2, -3)), ValueError, "is invalid for input"),
        (lambda: infer_reshape((2,), (0, -1)), ValueError, "is invalid for input"),
        (lambda: infer_reshape((P, 2), (1,)), ValueError, "is invalid for input of size 2*P"),
        (lambda: slice_length(3, 0, 1, 0), ValueError, "slice step cannot be zero"),
        (lambda: slice_length(3, N - 1, None), ValueError, "the sign of the slice bound N-1 is not known"),
    ],
)  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


@given(SHAPES, st.booleans(), st.data())
def test_reduced_shape_is_numpys(shape, keep, data):
    axes = data.draw(st.none() | st.sets(st.sampled_from(range(len(shape)))).map(tuple) if shape else st.none())
    expected = np.zeros(shape).sum(axis=axes or None, keepdims=keep).shape
    assert reduced_shape(shape, axes, keep) == expected


@given(st.integers(0, 9), BOUND, BOUND, STEP)
def test_slices_are_pythons(n, start, stop, step):
    expected = range(n)[start:stop:step]
    assert slice_length(n, start, stop, step) == len(expected)
    if len(expected):
        assert slice_range(n, start, stop, step)[0] == expected[0]


@given(st.integers(0, 9), BOUND, BOUND, STEP)
def test_symbolic_slices_have_the_same_value(n, start, stop, step):
    first, length = (evaluate(d, {N: n}) for d in slice_range(N, start, stop, step))
    expected = range(n)[start:stop:step]
    assert length == len(expected)
    if length:
        assert first == expected[0]


@given(st.integers(1, 12), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2), st.integers(1, 2))
def test_conv_output_counts_windows(size, kernel, stride, pad, dilation):
    reach = dilation * (kernel - 1) + 1
    padded = size + 2 * pad
    count = len(range(0, padded - reach + 1, stride))
    if padded >= reach:
        assert conv_output_size(size, kernel, stride, (pad, pad), dilation) == count
        assert evaluate(conv_output_size(N, kernel, stride, (pad, pad), dilation), {N: size}) == count


@given(st.integers(1, 12), st.integers(1, 5), st.integers(1, 3), st.integers(1, 2))
def test_same_padding_gives_one_window_per_stride(size, kernel, stride, dilation):
    front, back = same_padding(size, kernel, stride, dilation)
    assert 0 <= back - front <= 1
    if front + back:
        assert conv_output_size(size, kernel, stride, (front, back), dilation) == -(-size // stride)
    assert tuple(evaluate(d, {N: size}) for d in same_padding(N, kernel, stride, dilation)) == (front, back)


def test_ceil_mode():
    assert conv_output_size(5, 2, 2) == 2
    assert conv_output_size(5, 2, 2, ceil_mode=True) == 3
    assert conv_output_size(2, 1, 2, ceil_mode=True) == 1


@pytest.mark.parametrize(
    ("shape", "new", "result"),
    [
        ((2, 3), (-1,), (6,)),
        ((0, 3), (3, 0), (3, 0)),
        ((0, 3), (-1, 3), (0, 3)),
        ((0, 3), (0, -1), (0, 0)),
        ((SOME, 4, 3), (SOME, -1), (SOME, 12)),
        ((N, 4), (-1, 2), (2 * N, 2)),
        ((N, M, 4), (-1, 4), (N * M, 4)),
        ((N, 4), (2, -1), (2, 2 * N)),
        ((2 * N,), (N, 2), (N, 2)),
    ],
)
def test_reshape(shape, new, result):
    seen = []
    assert infer_reshape(shape, new, assume=lambda x, y: seen.append((x, y))) == result
    assert not seen


def test_reshape_takes_what_it_divides_by_for_more_than_nothing():
    seen = []
    assert infer_reshape((N, 4, 3), (N, -1), assume=lambda x, y: seen.append((x, y))) == (N, 12)
    assert infer_reshape((N, M, 4), (N * M, -1), assume=lambda x, y: seen.append((x, y))) == (N * M, 4)
    assert seen == [(dim_min(N, 1), 1), (dim_min(N * M, 1), 1)]


def test_reshape_records_what_it_takes_for_granted():
    seen = []
    assert infer_reshape((N,), (3, -1), assume=lambda x, y: seen.append((x, y))) == (3, N // 3)
    assert infer_reshape((N, 2), (8,), assume=lambda x, y: seen.append((x, y))) == (8,)
    assert seen == [(3 * (N // 3), N), (8, 2 * N)]


def test_numel():
    assert numel(()) == 1
    assert numel((2, N, 3)) == 6 * N
