"""What goes wrong: exceptions of the program, wrong arguments, shapes, names."""

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import mindspore.ops.operations as P
import numpy as np
from mindspore import Tensor
from mindspore.ops import constexpr


def case_try_tensor(jit):
    @jit
    def foo(x):
        try:
            if x > 0:
                raise ValueError("pos")
            y = x
        except ValueError as e:
            y = x * 10
        else:
            y = y + 1
        finally:
            y = y + 100
        return y

    return foo(Tensor(1)), foo(Tensor(-1))


def case_list_remove_missing(jit):
    @jit
    def foo():
        l = [1, 2]
        l.remove(5)
        return l

    return foo()


def case_list_pop_empty(jit):
    @jit
    def foo():
        l = []
        return l.pop()

    return foo()


def case_list_append_two_args(jit):
    @jit
    def foo():
        l = []
        l.append(1, 2)
        return l

    return foo()


def case_list_index_str(jit):
    @jit
    def foo():
        l = [1, 2]
        return l["a"]

    return foo()


def case_tuple_setitem(jit):
    @jit
    def foo():
        t = (1, 2)
        t[0] = 3
        return t

    return foo()


def case_range_errors(jit):
    @jit
    def foo():
        return list(range(1, 5, 0))

    return foo()


def case_range_float(jit):
    @jit
    def foo():
        return list(range(1.5))

    return foo()


def case_len_int(jit):
    @jit
    def foo(x):
        return len(x)

    return foo(3)


def case_len_0d(jit):
    @jit
    def foo(x):
        return len(x)

    return foo(Tensor(3))


def case_int_str_error(jit):
    @jit
    def foo():
        return int("abc")

    return foo()


def case_float_tuple_error(jit):
    @jit
    def foo():
        return float((1, 2))

    return foo()


def case_bool_tensor_error(jit):
    @jit
    def foo(x):
        return bool(x)

    return foo(Tensor([1, 2]))


def case_int_tensor_error(jit):
    @jit
    def foo(x):
        return int(x)

    return foo(Tensor([1, 2]))


def case_abs_str(jit):
    @jit
    def foo():
        return abs("a")

    return foo()


def case_sum_str(jit):
    @jit
    def foo():
        return sum(["a", "b"])

    return foo()


def case_max_empty(jit):
    @jit
    def foo():
        return max([])

    return foo()


def case_max_mixed(jit):
    @jit
    def foo():
        return max(1, "a")

    return foo()


def case_isinstance_bad(jit):
    @jit
    def foo(x):
        return isinstance(x, 3)

    return foo(1)


def case_zip_ints(jit):
    @jit
    def foo():
        return list(zip(1, 2))

    return foo()


def case_map_not_callable(jit):
    @jit
    def foo():
        return list(map(3, [1]))

    return foo()


def case_missing_method(jit):
    @jit
    def foo(x):
        return x.foo_bar(1)

    return foo(Tensor([1]))


def case_compare_str_int(jit):
    @jit
    def foo():
        return "a" < 1

    return foo()


def case_in_int(jit):
    @jit
    def foo(x):
        return 1 in x

    return foo(3)


def case_neg_list(jit):
    @jit
    def foo(x):
        return -x

    return foo([1])


def case_none_add(jit):
    @jit
    def foo(x, y):
        return x + y

    return foo(Tensor(1), None)


def case_none_attr(jit):
    @jit
    def foo(x):
        return x.shape

    return foo(None)


def case_cell_construct_args_mismatch(jit):
    class Net(nn.Cell):
        def construct(self, x, *, y):
            return x + y

    return jit(Net())(Tensor(1), Tensor(2))


def case_cell_unexpected_kwarg(jit):
    class Net(nn.Cell):
        def construct(self, x):
            return x

    return jit(Net())(Tensor(1), z=3)


def case_no_super_init(jit):
    class Net(nn.Cell):
        def __init__(self):
            self.a = nn.ReLU()

        def construct(self, x):
            return self.a(x)

    return jit(Net())(Tensor(1))


def case_constexpr_raise(jit):
    @constexpr
    def check(n):
        if n > 2:
            raise ValueError("bad n")
        return n

    @jit
    def foo(x):
        return check(x.shape[0])

    return foo(Tensor([1, 2, 3]))


def case_assert_tuple_msg(jit):
    @jit
    def foo(x):
        assert x.shape == (2,), ("shape", x.shape)
        return x

    return foo(Tensor([1, 2, 3]))


def case_assert_in_while(jit):
    @jit
    def foo(x):
        while x < 5:
            assert x != 3
            x = x + 1
        return x

    return foo(Tensor(1))


def case_raise_nested_fn(jit):
    def check(x, n):
        if n == 1:
            raise IndexError("index bad")
        return x

    class Net(nn.Cell):
        def construct(self, x, n):
            y = check(x, n)
            return y + 1

    return jit(Net())(Tensor(1), 1)


def case_raise_key_type(jit):
    out = []
    for e in (
        KeyError,
        TypeError,
        IndexError,
        NotImplementedError,
        RuntimeError,
        ArithmeticError,
        AttributeError,
        NameError,
        OverflowError,
        AssertionError,
    ):

        @jit
        def foo(x):
            if x > 0:
                raise e("text")
            return x

        try:
            foo(Tensor(1))
            out.append("none")
        except Exception as err:
            out.append([type(err).__name__, str(err)])
    return out


def case_raise_list_tuple_text(jit):
    @jit
    def foo(x):
        if x > 0:
            raise ValueError("vals", [1, 2], (x, 3))
        return x

    return foo(Tensor(1))


def case_raise_fstring_shape(jit):
    @jit
    def foo(x):
        if x.ndim != 2:
            raise ValueError(f"For 'foo', x must be 2D, but got {x.ndim}D of shape {x.shape}, {x.dtype}.")
        return x

    return foo(Tensor([1.0]))


def case_raise_percent(jit):
    @jit
    def foo(x):
        raise TypeError("got %s and %d" % ("a", 3))

    return foo(Tensor(1))


def case_except_else_order(jit):
    @jit
    def foo(x):
        l = []
        try:
            l.append(1)
            {}["k"]
        except (KeyError, IndexError) as e:
            l.append(str(e))
        finally:
            l.append("f")
        return l, x

    return foo(Tensor(1))


def case_index_error(jit):
    @jit
    def foo(x):
        return x[5]

    return foo(Tensor([1, 2]))


def case_index_too_many(jit):
    @jit
    def foo(x):
        return x[0, 0]

    return foo(Tensor([1, 2]))


def case_setitem_shape_error(jit):
    @jit
    def foo(x):
        x[0:2] = Tensor([1.0, 2.0, 3.0])
        return x

    return foo(Tensor([1.0, 2.0, 3.0, 4.0]))


def case_reshape_error(jit):
    @jit
    def foo(x):
        return x.reshape(3, 3)

    return foo(Tensor([1.0, 2.0, 3.0, 4.0]))


def case_concat_error(jit):
    @jit
    def foo(x, y):
        return ops.concat((x, y), 0)

    return foo(Tensor(np.ones((2, 3)), ms.float32), Tensor(np.ones((2, 2)), ms.float32))


def case_op_type_error(jit):
    @jit
    def foo(x):
        return P.ReLU()(x)

    return foo("a")


def case_softmax_axis(jit):
    @jit
    def foo(x):
        return P.Softmax(axis=5)(x)

    return foo(Tensor([[1.0]]))
