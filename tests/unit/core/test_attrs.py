"""Attributes of operators: every name has a kind, and what is not of its kind never reaches a rule."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, mint, ops
from duograph.core.attrs import AXES, FLAGS, NUMBERS, OPTIONAL, PLAIN, SINGLE, WHOLE
from duograph.core.op import all_ops, attrs_key, get_op, value_key
from duograph.core.types import TensorType


def test_the_name_of_every_attribute_has_one_kind():
    names = {name for op in all_ops().values() for name in op.attr_defaults}
    tables = (WHOLE, FLAGS, NUMBERS, PLAIN)
    assert names - frozenset().union(*tables) == set()
    assert all(sum(name in table for table in tables) == 1 for name in names)
    assert AXES <= WHOLE
    assert SINGLE <= WHOLE
    assert OPTIONAL <= WHOLE


def test_numbers_of_numpy_become_pythons():
    attrs = {"axis": (np.int64(0), True), "keep_dims": np.bool_(True)}
    get_op("reduce_sum").result_type((TensorType(ms.float32, (2, 3)),), attrs)
    assert attrs == {"axis": (0, 1), "keep_dims": True}
    assert [type(a) for a in attrs["axis"]] == [int, int]
    assert type(attrs["keep_dims"]) is bool


def test_keys_tell_numbers_apart_that_compare_equal():
    values = [0, 0.0, -0.0, False, 0j, complex(0.0, -0.0), np.int64(0), np.float64(0)]
    assert len({value_key(v) for v in values}) == len(values)
    assert attrs_key({"value": 1j}) == attrs_key({"value": complex(0, 1)})


X = [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: mint.roll(x, 2.5, 0), TypeError),
        (lambda x: mint.histc(x, 0.5), TypeError),
        (lambda x: mint.randperm(2.0), TypeError),
        (lambda x: ops.polygamma((), x), TypeError),
        (lambda x: ops.polygamma(-1, x), ValueError),
        (lambda x: ops.polygamma(2**40, x), ValueError),
        (lambda x: mint.nn.functional.one_hot(x.long(), 2.5), TypeError),
        (lambda x: mint.randperm(3, dtype=ms.complex64), TypeError),
        (lambda x: mint.normal(size=(-1, 0)), ValueError),
        (lambda x: ops.tile(x, (0, -1)), ValueError),
        (lambda x: ops.gather(x.expand_dims(0), Tensor([[[0, 1], [1, 0]]]), -2, -1), ValueError),
        (lambda x: mint.nn.functional.threshold_(x.astype(ms.uint8), -2, 1), OverflowError),
        (lambda x: ops.fft(x[:, :0]), ValueError),
        (lambda x: ops.adaptive_max_pool2d(x.reshape(1, 1, 2, 2)[:, :, :0], 2), ValueError),
    ],
)
def test_what_no_kernel_could_take_raises_in_every_mode(call, error, compiled):
    with pytest.raises(error):
        (ms.jit(call) if compiled else call)(Tensor(X, ms.float32))


def test_signs_of_complex_zeros_are_no_matter_of_what_was_computed_before():
    x = Tensor(np.array([complex(-0.0, -0.0)]))
    signs = [np.signbit((x + complex(-0.0, zero)).asnumpy().imag).tolist() for zero in (-0.0, 0.0, -0.0)]
    assert signs == [[True], [False], [True]]


def test_runs_of_one_element():
    assert mint.unique_consecutive(Tensor([7])).tolist() == [7]


@pytest.mark.parametrize("flag", [2, -1, "RIGHT_LEFT", 0.5, ()])
def test_what_is_no_flag_is_none(flag):
    """Numbers and words were taken for ``True``, which hid that an operator used a flag's name for something else."""
    with pytest.raises(TypeError, match="must be True or False"):
        get_op("reduce_sum").result_type((TensorType(ms.float32, (2, 3)),), {"axis": (0,), "keep_dims": flag})
