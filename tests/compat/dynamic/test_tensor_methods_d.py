"""Methods of Tensor, as MindSpore 2.10 has them."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from tests.compat.dynamic.support import fails, same

T = Tensor

x23 = lambda: T(np.arange(6).reshape(2, 3).astype(np.float32))

x234 = lambda: T(np.arange(24).reshape(2, 3, 4).astype(np.float32))


def test_index_fill():
    same(x23().index_fill(1, T([0], ms.int32), T(9.0)), ("Float32", [[9.0, 1.0, 2.0], [9.0, 4.0, 5.0]]))
    same(x23().index_add(1, T([0], ms.int32), T([[1.0], [1.0]])), ("Float32", [[1.0, 1.0, 2.0], [4.0, 4.0, 5.0]]))


def test_flatten_start():
    same(
        x234().flatten(start_dim=1),
        (
            "Float32",
            [
                [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0],
                [12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0],
            ],
        ),
    )
    same(x234().flatten("F").shape, (24,))
    same(x234().flatten(order="C").shape, (24,))


def test_resize():
    same(x23().resize(2, 2), ("Float32", [[0.0, 1.0], [2.0, 3.0]]))
    same(x23().resize((3, 3)), ("Float32", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [0.0, 0.0, 0.0]]))


def test_lerp():
    same(T([1.0]).lerp(T([3.0]), 0.5), ("Float32", [2.0]))
    same(T([1.0]).lerp(T([3.0]), T([0.5])), ("Float32", [2.0]))
    same(T([1.0]).hypot(T([2.0])), ("Float32", [2.236068]))
    same(T([1.0]).xlogy(T([2.0])), ("Float32", [0.6931472]))
    same(T([1.0, 2]).heaviside(T([1.0])), ("Float32", [1.0, 1.0]))
    same(T([4]).gcd(T([6])), ("Int64", [2]))
    same(T([4]).lcm(T([6])), ("Int64", [12]))
    same(T([1.0]).logaddexp(T([2.0])), ("Float32", [2.313261]))


def test_deg():
    same(T([180.0]).deg2rad(), ("Float32", [3.141593]))
    same(T([3.14]).rad2deg(), ("Float32", [179.9088]))
    same(T([1.5]).frac(), ("Float32", [0.5]))
    same(T([1.0]).digamma(), ("Float32", [-0.5772159]))
    same(T([0.5]).lgamma(), ("Float32", [0.5723649]))
    same(T([1.0, -1]).signbit(), ("Bool", [False, True]))
    same(T([1.0]).sinc(), ("Float32", [-2.782753e-08]))
    same(T([1.0]).copysign(-1.0), ("Float32", [-1.0]))
    same(T([0.3]).logit(), ("Float32", [-0.8472978]))
    same(T([0.3]).xdivy(T([0.3])), ("Float32", [1.0]))


def test_allclose():
    same(ops.isclose(T([1.0]), T([1.0])), ("Bool", [True]))
    same(T([1.0]).allclose(T([1.0])), True)


def test_contiguous():
    x = x23()
    same(x.is_contiguous(), True)
    same(x.T.is_contiguous(), False)
    same(x.T.contiguous().is_contiguous(), True)
    same(x.stride(), [3, 1])
    same(x.storage_offset(), 0)
    same(x.dim(), 2)
    same(x.numel(), 6)
    fails(lambda: x.element_size(), AttributeError, "'Tensor' object has no attribute 'element_size'")


def test_iter():
    same([r for r in x23()], [("Float32", [0.0, 1.0, 2.0]), ("Float32", [3.0, 4.0, 5.0])])
    same(len(x23()), 2)
    same(1.0 in x23(), True)
    same(list(T([1, 2])), [("Int64", 1), ("Int64", 2)])
    same([int(v) for v in T([3, 4])], [3, 4])


def test_bytes():
    same(T.from_numpy(np.ones(2)), ("Float64", [1.0, 1.0]))
    same(x23().asnumpy(), ("float32", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], "numpy"))
    same(x23().numpy(), ("float32", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], "numpy"))


def test_flush():
    x = T([1.0])
    x.flush_from_cache()
    same(x, ("Float32", [1.0]))


def test_assign_value():
    x = x23()
    x.assign_value(T(np.zeros((2, 3), np.float32)))
    same(x, ("Float32", [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))


def test_str():
    same(str(x23()), "[[0. 1. 2.]\n [3. 4. 5.]]")
    same(str(T(1)), "1")
    same(str(T([True])), "[ True]")
    same(repr(T([1, 2])), "Tensor(shape=[2], dtype=Int64, value= [1, 2])")
    same(f"{T(2.5)}", "2.5")


def test_tensor_from_tensor():
    x = x23()
    same(T(x), ("Float32", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
    same(T(x, ms.int32), ("Int32", [[0, 1, 2], [3, 4, 5]]))
    same(T(1, dtype=ms.float16), ("Float16", 1.0))
    same(T((1, 2)), ("Int64", [1, 2]))
    same(T([[1, 2], [3, 4]], ms.float32), ("Float32", [[1.0, 2.0], [3.0, 4.0]]))
    same(T(np.ones(2), ms.int8), ("Int8", [1, 1]))
    same(T(True), ("Bool", True))
    same(T(1.5), ("Float32", 1.5))
    same(ms.tensor([1, 2]), ("Int64", [1, 2]))
    same(ms.tensor(1.0, ms.int32), ("Int32", 1))


def test_err_shape():
    same(T(shape=(2,), dtype=ms.float32), ("Float32", [0.0, 0.0]))


def test_err_both():
    fails(
        lambda: T([1], shape=(2,), init=1),
        ValueError,
        "When initializing a tensor with 'input_data', 'shape' should be set to None.But got shape:",
    )


def test_err_dtype():
    fails(lambda: T([1, 2], dtype="abc"), TypeError, "For 'Tensor', the 'dtype' should be one of")


def test_err_idx():
    fails(lambda: x23()[2], IndexError, "index 2 is out of bounds for dimension with size 2")


def test_err_idx2():
    fails(lambda: x23()[0, 3], IndexError, "index 3 is out of bounds for dimension with size 3")


def test_err_reshape():
    fails(
        lambda: x23().reshape(4, 2), ValueError, "proposed_shape '[const vector]{4, 2}' is invalid for input of size 6"
    )


def test_err_transpose():
    same(x23().transpose(0, 0), ("Float32", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))


def test_err_swap():
    fails(lambda: x23().swapaxes(0, 5), ValueError, "The 'axis' must be in the range of [-2, 2), but got 5.")


def test_err_argmax():
    fails(lambda: x23().argmax(axis=4), ValueError, "For primitive[Argmax], the axis must be in [-2,2), but got 4.")


def test_err_item():
    fails(
        lambda: x23().item(),
        ValueError,
        "The tensor should have only one element, but got 6, more than one element is ambiguous.",
    )


def test_err_resize():
    same(x23().resize(-1), ("Float32", [0.0, 1.0, 2.0, 3.0, 4.0]))


def test_err_take():
    fails(
        lambda: x23().take(T([1]), mode="abc"),
        ValueError,
        "For 'Tensor.take', the argument 'mode' should be one of in ['raise', 'wrap', 'clip'], but ",
    )


def test_err_expand():
    fails(
        lambda: x23().broadcast_to((5, 3)),
        ValueError,
        "For 'BroadcastTo', in order to broadcast, each dimension pair must be equal or input dimen",
    )


def test_err_view():
    fails(lambda: x23().view(7), ValueError, "proposed_shape '[const vector]{7}' is invalid for input of size 6")


def test_err_choose():
    same(T([0, 5]).choose([1, 2]), ("Int64", [1, 2]))
