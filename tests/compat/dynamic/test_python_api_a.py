"""Tensor and Cell as Python objects; errors, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.common.dtype as mstype
import numpy as np
from mindspore import Parameter, Tensor

from tests.compat.dynamic.support import fails, same

T = Tensor


def test_dtype1():
    same(str(mstype.float32), "Float32")
    same(mstype.float32 == ms.float32, True)
    same(mstype.dtype_to_nptype(ms.float16), "class float16")
    same(mstype.dtype_to_pytype(ms.int32), "class int")
    same(mstype.pytype_to_dtype(int), "Int64")
    same(mstype.pytype_to_dtype(np.float32), "Float32")
    same(mstype.get_py_obj_dtype(1), "Int64")
    same(mstype.issubclass_(ms.float32, mstype.float_), True)
    same(hash(ms.float32) == hash(mstype.float32), True)
    same(ms.float32 in (ms.int8, ms.float32), True)
    same(ms.bool_, "Bool")
    same(mstype.dtype_to_nptype(ms.bfloat16), "class bfloat16")
    same(mstype.dtype_to_pytype(ms.bool_), "class bool")
    fails(
        lambda: mstype.pytype_to_dtype("a"),
        TypeError,
        "For 'pytype_to_dtype', the argument 'obj' must be a python type object,such as int, float,",
    )
    fails(lambda: mstype.dtype_to_nptype("a"), KeyError, "'a'")


def test_dtype2():
    same(mstype.bool_, "Bool")
    same(mstype.complex64, "Complex64")
    same(mstype.tensor_type(ms.float32) if callable(mstype.tensor_type) else mstype.tensor_type, "Tensor")
    same(mstype.int_type, ("Int8", "Int16", "Int32", "Int64"))
    same(mstype.uint_type, ("UInt8", "UInt16", "UInt32", "UInt64"))


def test_tensor_ut():
    same(T(np.ones((2, 3))).dtype, "Float64")
    same(T(1).shape, ())
    same(T([[1, 2], [3, 4]]).asnumpy(), ("int64", [[1, 2], [3, 4]], "numpy"))
    same(T(T([1.0])), ("Float32", [1.0]))
    same(T(np.array(1.5)), ("Float64", 1.5))
    same(T((1, 2.0)), ("Float32", [1.0, 2.0]))
    same(T([1, 2.5, True]), ("Float32", [1.0, 2.5, 1.0]))
    same(T(3.0, ms.int32), ("Int32", 3))
    same(T([True], ms.float32), ("Float32", [1.0]))
    same(T(np.array([1, 2], np.uint16)), ("UInt16", [1, 2]))
    same(T([]), ("Float32", []))
    same(T([[], []]), ("Float32", [[], []]))
    fails(
        lambda: T("a"),
        TypeError,
        "For 'Tensor', the type of 'input_data' should be one of '['TensorPy', 'Tensor', 'ndarray',",
    )
    fails(
        lambda: T(None),
        TypeError,
        "For 'Tensor', the type of 'input_data' should be one of '['TensorPy', 'Tensor', 'ndarray',",
    )
    fails(
        lambda: T({}),
        TypeError,
        "For 'Tensor', the type of 'input_data' should be one of '['TensorPy', 'Tensor', 'ndarray',",
    )
    fails(lambda: T([1, "a"]), TypeError, "For Tensor, the input_data is [1, 'a'] that contain unsupported element.")
    fails(
        lambda: T([[1], [1, 2]]),
        TypeError,
        "For Tensor, the input_data is [[1], [1, 2]] that contain unsupported element.",
    )
    fails(
        lambda: T(object()),
        TypeError,
        "For 'Tensor', the type of 'input_data' should be one of '['TensorPy', 'Tensor', 'ndarray',",
    )
    fails(lambda: T(1, "float32"), TypeError, "For 'Tensor', the 'dtype' should be one of")
    fails(lambda: T(1, int), TypeError, "For 'Tensor', the 'dtype' should be one of")
    fails(lambda: T(np.ones(2), np.float32), TypeError, "For 'Tensor', the 'dtype' should be one of")


def test_tensor_prop():
    t = T(np.ones((2, 3), np.float32))
    same(t.shape, (2, 3))
    same(t.dtype, "Float32")
    same(t.ndim, 2)
    same(t.size, 6)
    same(t.itemsize, 4)
    same(t.nbytes, 24)
    same(t.strides, (12, 4))
    same(t.T.shape, (3, 2))
    same(t.has_init, False)
    same(t.device, "CPU")
    same(t.parent_tensor_, None)
    same(t.H.shape, (3, 2))
    same(t.mT.shape, (3, 2))
    same(t.real().dtype, "Float32")
    same(t.data is t, False)


def test_tensor_setdtype():
    def program():
        t = T(np.ones((2, 3), np.float32))
        t.dtype = ms.int32
        return t

    fails(program, AttributeError, "property 'dtype' of 'Tensor' object has no setter")


def test_tensor_attr():
    t = T([1.0])
    t.foo = 3
    same(t.foo, 3)


def test_tensor_hash():
    a, b = (T([1.0]), T([1.0]))
    same(len({a, b}), 2)
    same({a: 1}[a], 1)
    same(a is b, False)
    same(hash(a) == hash(b), False)


def test_tensor_pickle():
    import copy
    import pickle

    t = T([1.0, 2.0])
    p = Parameter(t, name="p")
    same(pickle.loads(pickle.dumps(t)), ("Float32", [1.0, 2.0]))
    same(copy.deepcopy(t), ("Float32", [1.0, 2.0]))
    same(copy.copy(t), ("Float32", [1.0, 2.0]))
    same(copy.deepcopy(p), ("Float32", [1.0, 2.0]))
    same(copy.deepcopy(p).name, "p")
    same(pickle.loads(pickle.dumps(p)).name, "p")


def test_tensor_cmp():
    a = T([1.0, 2.0])
    same(a == T([1.0, 3.0]), ("Bool", [True, False]))
    same(a == 1, ("Bool", [True, False]))
    same(a != None, True)  # noqa: E711
    same(a == None, False)  # noqa: E711
    same(a == "a", False)
    same(a == [1.0, 2.0], False)
    same(a == np.array([1.0, 2.0]), False)
    same(1 < a, ("Bool", [False, True]))
    same(a is not None, True)
    same(a == (1.0, 2.0), False)
    same(bool(T([1.0]) == T([1.0])), True)


def test_tensor_bool():
    same(bool(T(1)), True)
    same(bool(T([0])), False)
    fails(
        lambda: bool(T([1, 2])),
        ValueError,
        "The tensor should have only one element, but got 2, more than one element is ambiguous.",
    )
    same(not T(0), True)
    same(T(True) and 1, 1)
    fails(
        lambda: bool(T([])),
        ValueError,
        "The tensor should have only one element, but got 0, more than one element is ambiguous.",
    )


def test_tensor_np():
    same(np.array(T([1.0, 2.0])), ("float32", [1.0, 2.0], "numpy"))
    same(np.asarray(T([1, 2])), ("int64", [1, 2], "numpy"))
    same(np.add(np.ones(2), T([1.0, 2.0]).asnumpy()), ("float64", [2.0, 3.0], "numpy"))
    same([1, 2][T(1)], 2)
    same(np.ones(3)[T(1)], 1.0)
    same(np.allclose(T([1.0]), T([1.0])), True)
