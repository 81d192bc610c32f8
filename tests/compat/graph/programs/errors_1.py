"""What goes wrong: exceptions of the program, wrong arguments, shapes, names."""

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import mindspore.ops.operations as P
import numpy as np
from mindspore import Tensor, jit_class, mutable
from mindspore.ops import GradOperation


def case_assert(jit):
    @jit
    def foo(x):
        assert x > 0
        assert isinstance(x, Tensor), "must be tensor"
        return x

    return foo(Tensor(1))


def case_assert_fail(jit):
    @jit
    def foo(x):
        assert x in [2, 3, 4], f"x is {x}"
        return x

    return foo(1)


def case_assert_tensor_fail(jit):
    @jit
    def foo(x):
        assert x > 5, "too small"
        return x

    return foo(Tensor(1))


def case_raise_value_error(jit):
    @jit
    def foo(x):
        if x == 1:
            raise ValueError("x should not be 1.")
        return x

    return foo(1)


def case_raise_with_var(jit):
    @jit
    def foo(x, y):
        if x > 10:
            raise ValueError(f"The input can not be {y}.")
        return x

    return foo(Tensor(11), 5)


def case_raise_tensor_text(jit):
    @jit
    def foo(x):
        if x > 10:
            raise RuntimeError("value is", x)
        return x

    return foo(Tensor(11))


def case_raise_no_arg(jit):
    @jit
    def foo(x):
        raise ValueError

    return foo(Tensor(11))


def case_raise_custom(jit):
    class MyError(Exception):
        pass

    @jit
    def foo(x):
        if x > 1:
            raise MyError("mine")
        return x

    return foo(Tensor(11))


def case_raise_not_taken(jit):
    @jit
    def foo(x):
        if x > 10:
            raise ValueError("no")
        return x

    return foo(Tensor(1))


def case_raise_in_while(jit):
    @jit
    def foo(x):
        while x < 10:
            x = x + 1
            if x > 5:
                raise StopIteration("five")
        return x

    return foo(Tensor(1))


def case_raise_from(jit):
    @jit
    def foo(x):
        try:
            if x > 0:
                raise ValueError("a")
        except ValueError as e:
            raise TypeError("b") from e
        return x

    return foo(Tensor(1))


def case_try_except(jit):
    @jit
    def foo(x):
        try:
            y = x / 0
        except ZeroDivisionError:
            y = -1
        finally:
            z = 5
        return y, z

    return foo(3)


def case_builtin_int_float_bool(jit):
    @jit
    def foo(x):
        return (
            int(x),
            float(x),
            bool(x),
            int("12"),
            int(3.9),
            float("1.5"),
            int("0x1A", 16),
            bool(0),
            bool([]),
            bool("s"),
            int(),
            float(),
            bool(),
        )

    return foo(Tensor([2.7], ms.float32))


def case_getattr_missing(jit):
    class Net(nn.Cell):
        def construct(self, x):
            return getattr(self, "nothing")

    return jit(Net())(Tensor([1, 2]))


def case_jit_class_error_cell(jit):
    @jit_class
    class Net(nn.Cell):
        def construct(self, x):
            return x

    return 1


def case_jit_class_error_fn(jit):
    @jit_class
    def func(x):
        return x

    return 1


def case_mutable_errors(jit):
    out = []
    for v in ({1, 2}, "abc"):
        try:
            mutable(v)
            out.append("ok")
        except TypeError as e:
            out.append("TypeError")
    try:
        mutable(2, True)
    except TypeError:
        out.append("TypeError2")
    return out


def case_custom_bprop_none_missing(jit):
    class Mul(nn.Cell):
        def construct(self, x, y):
            return x * y

        def bprop(self, x, y, out, dout):
            return x

    net = Mul()

    @jit
    def foo(x, y):
        return GradOperation(get_all=True)(net)(x, y)

    return foo(Tensor([2.0]), Tensor([3.0]))


def case_bprop_bad_args(jit):
    class Mul(nn.Cell):
        def construct(self, x, y):
            return x * y

        def bprop(self, x, y, out):
            return x, y

    net = Mul()

    @jit
    def foo(x, y):
        return GradOperation(get_all=True)(net)(x, y)

    return foo(Tensor([2.0]), Tensor([3.0]))


def case_grad_errors(jit):
    def fn(x):
        return x * 2

    @jit
    def foo(x):
        return ms.grad(fn, 5)(x)

    return foo(Tensor([1.0]))


def case_grad_position_type_error(jit):
    def fn(x):
        return x * 2

    return ms.grad(fn, "a")(Tensor([1.0]))


def case_grad_op_type_errors(jit):
    out = []
    for kw in (dict(get_all=1), dict(get_by_list="a"), dict(sens_param=3)):
        try:
            GradOperation(**kw)
            out.append("ok")
        except TypeError as e:
            out.append(str(e))
    return out


def case_jit_config_errors(jit):
    out = []
    for kw in (dict(jit_level="O5"), dict(exc_mode="x"), dict(jit_syntax_level="y"), dict(jit_level=3)):
        try:
            ms.JitConfig(**kw)
            out.append("ok")
        except Exception as e:
            out.append([type(e).__name__, str(e)])
    return out


def case_cell_wrong_args(jit):
    class Net(nn.Cell):
        def construct(self, x, y):
            return x + y

    return jit(Net())(Tensor(1))


def case_cell_too_many_args(jit):
    class Net(nn.Cell):
        def construct(self, x):
            return x

    return jit(Net())(Tensor(1), Tensor(2))


def case_no_construct(jit):
    class Net(nn.Cell):
        pass

    return jit(Net())(Tensor(1))


def case_undefined_name(jit):
    @jit
    def foo(x):
        return x + undefined_thing

    return foo(Tensor(1))


def case_undefined_local(jit):
    @jit
    def foo(x):
        if x is None:
            y = 1
        return y

    return foo(Tensor(1))


def case_undefined_local_branch(jit):
    @jit
    def foo(x):
        if x > 3:
            y = 1
        return y

    return foo(Tensor(1))


def case_attr_missing(jit):
    class Net(nn.Cell):
        def construct(self, x):
            return self.nope + x

    return jit(Net())(Tensor(1))


def case_tensor_attr_missing(jit):
    @jit
    def foo(x):
        return x.shap

    return foo(Tensor(1))


def case_shape_mismatch(jit):
    @jit
    def foo(x, y):
        return x + y

    return foo(Tensor(np.ones((2, 3)), ms.float32), Tensor(np.ones((4,)), ms.float32))


def case_matmul_mismatch(jit):
    @jit
    def foo(x, y):
        return P.MatMul()(x, y)

    return foo(Tensor(np.ones((2, 3)), ms.float32), Tensor(np.ones((4, 2)), ms.float32))


def case_type_error_add_str(jit):
    @jit
    def foo(x):
        return x + "a"

    return foo(1)


def case_tuple_index_error(jit):
    @jit
    def foo(x):
        return (1, 2)[5]

    return foo(1)


def case_dict_key_error(jit):
    @jit
    def foo(x):
        return {"a": 1}["b"]

    return foo(1)


def case_div_zero(jit):
    @jit
    def foo(x):
        return 1 / x, 2 % x

    return foo(0)


def case_call_non_callable(jit):
    @jit
    def foo(x):
        y = 3
        return y(x)

    return foo(0)


def case_unpack_error(jit):
    @jit
    def foo(x):
        a, b = x
        return a

    return foo((1, 2, 3))


def case_tensor_if_ambiguous(jit):
    @jit
    def foo(x):
        if x:
            return x
        return -x

    return foo(Tensor([1, 2]))


def case_not_iterable(jit):
    @jit
    def foo(x):
        for i in x:
            pass
        return x

    return foo(3)


def case_type_of_for_tensor0d(jit):
    @jit
    def foo(x):
        for i in x:
            pass
        return x

    return foo(Tensor(3))


def case_index_tensor_out_of_range(jit):
    @jit
    def foo(x, i):
        return (x, x)[i]

    return foo(Tensor([1.0]), Tensor(4))


def case_bad_mode(jit):
    @jit
    def foo(x, mode):
        if mode == "relu":
            return ops.relu(x)
        raise ValueError(f"bad mode {mode!r}")

    return foo(Tensor([-1.0]), "x")
