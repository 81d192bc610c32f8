import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from duograph.core import dtype as dt


def test_names_and_printed_forms():
    assert (dt.float32.name, str(dt.float32), repr(dt.float32)) == ("float32", "Float32", "mindspore.float32")
    assert [str(d) for d in (dt.bool_, dt.uint8, dt.bfloat16, dt.complex64)] == [
        "Bool",
        "UInt8",
        "BFloat16",
        "Complex64",
    ]
    assert (repr(dt.bool_), repr(dt.string), repr(dt.int_), repr(dt.tensor_type)) == (
        "mindspore.bool", "mindspore.string_", "mindspore.int", "mindspore.tensor",
    )  # fmt: skip


@pytest.mark.parametrize("d", dt.DTYPES, ids=str)
def test_interned_immutable_and_pickled_to_itself(d):
    assert pickle.loads(pickle.dumps(d)) is d
    assert copy.deepcopy(d) is d
    assert dt.DTYPES[d.index] is d
    assert sum((d.is_bool, d.is_integer, d.is_floating, d.is_complex)) == 1
    with pytest.raises(AttributeError):
        d.name = "other"


@pytest.mark.parametrize("d", dt.DTYPES, ids=str)
def test_as_dtype_round_trips(d):
    for spelling in (d, d.numpy, d.numpy.type, d.name, str(d)):
        assert dt.as_dtype(spelling) is d


def test_as_dtype_of_python_types_and_aliases():
    assert [dt.as_dtype(t) for t in (bool, int, float, complex)] == [dt.bool_, dt.int64, dt.float64, dt.complex128]
    assert dt.as_dtype("half") is dt.float16
    assert dt.as_dtype("bool_") is dt.bool_
    assert dt.as_dtype(ml_dtypes.bfloat16) is dt.bfloat16


@pytest.mark.parametrize("bad", ["abc", None, 3, str, object, dt.float_, np.dtype("U3")], ids=repr)
def test_as_dtype_refuses(bad):
    with pytest.raises(TypeError, match="For 'Cast', the input 'dtype' should be mindspore dtype, but got"):
        dt.as_dtype(bad, "Cast")


def test_dtype_of_values():
    values = (True, 1, 1.5, 1j, np.float64(1), np.zeros(1, ">f4"), np.ones(1, ml_dtypes.bfloat16), np.True_)
    expected = [dt.bool_, dt.int64, dt.float32, dt.complex128, dt.float64, dt.float32, dt.bfloat16, dt.bool_]
    assert [dt.dtype_of(v) for v in values] == expected
    with pytest.raises(TypeError):
        dt.dtype_of("text")


def test_promotion_is_symmetric_idempotent_and_absorbs_bool():
    for a in dt.DTYPES:
        assert dt.promote_types(a, a) is a
        assert dt.promote_types(a, dt.bool_) is a
        for b in dt.DTYPES:
            assert dt.promote_types(a, b) is dt.promote_types(b, a)


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        ("int8", "uint8", "int16"), ("int64", "uint8", "int64"), ("int64", "float16", "float16"),
        ("float16", "bfloat16", "float32"), ("int32", "bfloat16", "bfloat16"), ("float64", "complex64", "complex128"),
        ("float32", "complex64", "complex64"), ("uint16", "int8", "int32"), ("uint64", "int64", "int64"),
    ],
)  # fmt: skip
def test_promotion_examples(a, b, result):
    assert dt.promote_types(dt.as_dtype(a), dt.as_dtype(b)).name == result


def test_python_numbers_are_weak():
    rows = {
        "bool": "bool int64 float32 complex64", "int8": "int8 int8 float32 complex64",
        "uint64": "uint64 uint64 float32 complex64", "float16": "float16 float16 float16 complex64",
        "bfloat16": "bfloat16 bfloat16 bfloat16 complex64", "float64": "float64 float64 float64 complex128",
        "complex64": "complex64 complex64 complex64 complex64",
    }  # fmt: skip
    for name, results in rows.items():
        got = [dt.promote_scalar(dt.as_dtype(name), t).name for t in (bool, int, float, complex)]
        assert got == results.split()
    with pytest.raises(TypeError):
        dt.promote_scalar(dt.float32, str)


def test_true_division():
    kept = {
        dt.float16,
        dt.bfloat16,
        dt.float32,
        dt.float64,
        dt.complex64,
        dt.complex128,
        dt.float8_e4m3fn,
        dt.float8_e5m2,
    }
    for d in dt.DTYPES:
        assert dt.true_divide_dtype(d) is (d if d in kept else dt.float32)


def test_kinds():
    assert dt.Int(8) is dt.int8
    assert dt.Float(16) is dt.float16
    assert dt.Int() is dt.int_
    assert isinstance(dt.uint8, dt.UInt)
    with pytest.raises(TypeError):
        dt.Float(17)


def test_issubclass():
    true = [
        (dt.int8, dt.int_),
        (dt.bool_, dt.number),
        (dt.bfloat16, dt.float_),
        (dt.TensorType(dt.int8), dt.tensor_type),
    ]
    false = [
        (dt.uint8, dt.int_),
        (dt.list_, dt.number),
        (dt.float32, dt.float16),
        (dt.tensor_type, dt.float32),
        (3, dt.number),
    ]
    assert all(dt.issubclass_(a, b) for a, b in true)
    assert not any(dt.issubclass_(a, b) for a, b in false)


def test_tensor_type():
    t = dt.TensorType(dt.float32)
    assert t is dt.tensor_type[dt.float32] is pickle.loads(pickle.dumps(t))
    assert (str(t), repr(t), t.element_type()) == ("Tensor[Float32]", "mindspore.tensor[float32]", dt.float32)
    assert dt.TensorType() is dt.tensor_type


def test_mindspore_helpers():
    assert dt.dtype_to_nptype(dt.float32) is np.float32
    assert [dt.dtype_to_pytype(t) for t in (dt.uint8, dt.bfloat16, dt.string)] == [int, float, str]
    assert [dt.pytype_to_dtype(t) for t in (float, np.int8, list, type(None))] == [
        dt.float64,
        dt.int8,
        dt.list_,
        dt.type_none,
    ]
    assert dt.get_py_obj_dtype(1) is dt.int64
    with pytest.raises(
        NotImplementedError, match=r"The python type <class 'dict'> cannot be converted to MindSpore type\."
    ):
        dt.pytype_to_dtype(dict)
    with pytest.raises(KeyError):
        dt.dtype_to_nptype(dt.string)


def test_complex_parts():
    assert (dt.float64.to_complex(), dt.bfloat16.to_complex(), dt.complex64.to_real()) == (
        dt.complex128,
        dt.complex64,
        dt.float32,
    )
    with pytest.raises(TypeError, match="Cannot convert type int32 to complex type"):
        dt.int32.to_complex()
