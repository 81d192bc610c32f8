"""Operators (syntax notes, section 2)."""

import duograph as ms
from duograph import ops
from tests.conformance.harness import T, program

X, Y = T([1.0, -2.0, 3.0]), T([0.5, 4.0, -1.0])
A, B = T([[1.0, 2.0], [3.0, 4.0]]), T([[0.5, -1.0], [2.0, 0.0]])
I, J = T([7, -7, 5]), T([2, 2, -3])


@program(X, Y, grad=(0, 1))
def arithmetic(x, y):
    return x + y - x * y / (y * y + 1)


@program(I, J)
def integer_division(x, y):
    return x // y, x % y, x / y, x // 3, -7 // J, x % -3


@program(X, Y)
def float_division(x, y):
    return x // y, x % y, x / 0, 1 / x, 5 % y, 5 // y


@program(T([1.0, 2.0, 3.0]), T([0.5, 2.0, -1.0]), grad=(0, 1))
def powers(x, y):
    return x**2 + x**y + 2**x + x**0.5


@program(A, B, grad=(0, 1))
def matmul_operator(a, b):
    return a @ b + (a @ b).T


@program(T([1, 2, 3], ms.int32), T([3, 1, 2], ms.int32))
def bitwise(a, b):
    return a & b, a | b, a ^ b, a & 1, 1 | a


@program(T([True, False]), T([True, True]))
def logical_on_masks(a, b):
    return a & b, a | b, a ^ b, ~a


@program(X, Y)
def comparisons(x, y):
    return x < y, x <= 1, x > y, x >= -2.0, x == y, x != y, 1 < x


@program(X, None)
def comparison_with_other_things(x, nothing):
    return x == nothing, x != nothing, x == "a", x is None, x is not None


@program(X, grad=0)
def unary(x):
    return -x + +x * 2 + abs(x)


@program(X, 1.0, 2.0)
def chained_comparison(x, low, high):
    return low < high < 3, 0 < x.shape[0] < 5, low < high > 5


@program(T(2.0))
def chained_comparison_of_tensors(x):
    return 1 < x < 3


@program(T(2.0), choice=True)
def chained_comparison_in_condition(x):
    if 1 < x < 3:
        return x
    return -x


@program(X)
def identity(x):
    y = x
    z = x + 0
    return x is y, x is z, x is not z, y is x


@program(X)
def membership_by_identity(x):
    other = x + 1
    return any(x is item for item in [other, x])


@program(T(2.0), T(3.0))
def membership_of_tensor(x, y):
    return x in [y, x], x not in [y], 3.0 in [1.0, 2.0]


@program(X)
def membership_of_constants(x):
    return 1 in (1, 2), "b" in "abc", "k" in {"k": 1}, None not in [1], (1, 2) in [(1, 2)]


@program(T(2.0), T(0.0), choice=True)
def and_or_give_values(x, y):
    return x and y, x or y, y and 5, y or 5, not x, not y


@program(X)
def and_or_on_python_values(x):
    return 0 or x, None or "d", 1 and x * 2, [] or [1], not [], () and x


@program(X)
def short_circuit(x):
    seen = []

    def note(value):
        seen.append(value)
        return value

    note(0) and note(1)
    note(2) or note(3)
    return seen, x


@program(T([1.0, 2.0]))
def truth_of_many_elements_error(x):
    return x and 5


@program(X)
def augmented_assignment_rebinds(x):
    y = x
    y += 1
    y *= 2
    y -= 0.5
    y /= 2
    return x, y, x is y


@program(T([3, 5]))
def augmented_other_operators(x):
    x //= 2
    x **= 2
    x %= 3
    return x


@program(X)
def augmented_dtype_change(x):
    n = ms.Tensor([1, 2])
    n += 1.5
    return n


@program(X, grad=0)
def ternary_on_constant(x):
    return x * 2 if x.ndim == 1 else x * 3


@program(calls=[(X,), (-X,)], grad=0)
def ternary_on_tensor(x):
    return x * 2 if x.sum() > 0 else x * 3


@program(X)
def walrus(x):
    if (n := x.shape[0]) > 2:
        x = x * n
    return [m := n + 1, m * 2], x


@program(X)
def starred_displays(x):
    t = (1, 2)
    d = {"a": x}
    return [*t, 3, *t], (*t, *"ab"), {**d, "b": 2}, {*t, 5}


@program(X, [4, 5])
def tensor_with_sequence(x, values):
    return x[:2] + values, x[:2] + (1, 2)


@program(X, "a")
def tensor_plus_string_error(x, s):
    return x + s


@program(X, T([1.0, 2.0]))
def shapes_do_not_broadcast_error(x, y):
    return x + y


@program(T([[1.0, 2.0]]), T([[1.0, 2.0]]))
def matmul_shapes_error(x, y):
    return ops.matmul(x, y)


@program(T([1.0, 2.0]), T([[1.0], [2.0]]), grad=(0, 1))
def broadcasting(x, y):
    return x * y + y


@program(T([0.5, 1.0]), grad=0)
def function_chain(x):
    return ops.exp(x).log().sin() + ops.tanh(x) * ops.sqrt(x) - ops.sigmoid(x) / ops.relu(x)


@program(T([[1.0, 2.0], [3.0, 4.0]]), grad=0)
def reductions(x):
    return x.sum(0) * x.mean(1) + x.max() - x.min() + x.prod()


@program(X)
def comparison_of_strings_and_tuples(x):
    return "a" < "b", (1, 2) < (1, 3), [1] == [1], x.shape == (3,), x.dtype == ms.float32


class Reflecting:
    def __radd__(self, other):
        return "added"

    def __rmod__(self, other):
        return "rest"

    def __rlshift__(self, other):
        return "shifted"

    def __gt__(self, other):
        return "less"

    def __eq__(self, other):
        return "equal"

    __hash__ = None


REFLECTING = Reflecting()


@program(X, captured=False)
def reflected_operators_of_an_object(x):
    said = [1 + REFLECTING, (1, 2) == REFLECTING, 1 < REFLECTING]
    for compute in (
        lambda: x + REFLECTING,
        lambda: x % REFLECTING,
        lambda: x << REFLECTING,
        lambda: x < REFLECTING,
        lambda: x == REFLECTING,
    ):
        try:
            said.append(compute())
        except TypeError:
            said.append("refused")
    return said
