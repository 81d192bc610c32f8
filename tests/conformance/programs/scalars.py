"""Numbers, booleans, None, strings and other constants beside tensors (syntax notes, section 1)."""

import cmath
import enum
import math

import numpy as np

import duograph as ms
from duograph import ops
from tests.conformance.harness import T, program

X = T([1.0, 2.0, 3.0])


@program(X)
def int_and_float_constants(x):
    return x * 2 + 1.5 - 3, 2**10, 7 // 2, 7 % 3, -7 // 2, -7 % 3, 2**-1


@program(X)
def big_integers_stay_python_integers(x):
    return 2**70, 10**18 * 100, (1 << 80) - 1


@program(X)
def bool_arithmetic(x):
    return True + True, -True, ~1, True * 3, x * True


@program(X, 5)
def int_argument(x, n):
    return x * n, n // 2, n % 2 == 1, n << 2, n & 4, n | 2, n ^ 7, ~n


@program(X, 2.5)
def float_argument(x, a):
    return x * a, a // 2, divmod(a, 2), round(a), math.floor(a)


@program(X, True)
def bool_argument(x, flag):
    return (x + 1 if flag else x - 1), not flag


@program(X, None)
def none_argument(x, y):
    return x if y is None else y, y


@program(calls=[(X, ms.mutable(2)), (X, ms.mutable(3))])
def mutable_int(x, n):
    return x * n, n + 1, n - 1, n * n, n // 2, n % 2, n**2, n > 2, n << 1


@program(X)
def complex_literal(x):
    return (1 + 2j) * 2, abs(3 + 4j), cmath.sqrt(-1)


@program(X, "ab")
def str_operations(x, s):
    return s + "c", s * 2, "a" in s, s[::-1], s.upper(), "%s-%d" % (s, 3), "{}:{:>4}".format(s, 1), len(s), s < "b"


@program(X, "max")
def str_selects(x, how):
    if how == "max":
        return x.max()
    return x.min()


@program(X)
def fstring_format(x):
    value = 3.14159
    return f"{value:.2f} {value!r} {x.shape} {x.ndim:03d} {'t'!r:>5}", f"{x.dtype}"


@program(X, captured=False)
def fstring_of_tensor(x):
    return f"{x + 1}"


@program(X)
def bytes_constant(x):
    return b"ab" + b"c", b"ab"[0]


@program(X)
def none_ellipsis_slice(x):
    cut = slice(1, None)
    return None, ..., cut, x[cut], x[..., None].shape


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


@program(X, Colour.RED)
def enum_identity(x, colour):
    return x + 1 if colour is Colour.RED else x, colour.value, colour.name, colour == Colour.BLUE


@program(X, Level.HIGH)
def int_enum(x, level):
    return x * level, level + 1, level > Level.LOW


@program(X)
def dtype_objects(x):
    y = x.astype(ms.float16)
    return y.dtype == ms.float16, x.dtype != y.dtype, y, x.dtype, ms.int32


@program(X, ms.int32)
def dtype_argument(x, dtype):
    return ops.cast(x, dtype), dtype == ms.int32


@program(X, grad=0)
def tensor_attributes(x):
    return x.reshape(x.size, 1) * x.ndim * x.shape[0] * len(x)


@program(T(3.0), captured=False)
def item_and_casts(x):
    return x.item(), float(x), int(x), bool(x), x.tolist()


@program(T([[1.0, 2.0], [3.0, 4.0]]), grad=0)
def unpacking_rows(x):
    a, b = x
    (c, d), _ = x
    return a * 2 + b, c, d


@program(T([[1.0, 2.0], [3.0, 4.0]]), grad=0)
def iteration_over_rows(x):
    total = 0
    for row in x:
        total = total + row * row.sum()
    return total


@program(X)
def tensors_made_inside(x):
    return ms.Tensor([1, 2, 3]) + x, ms.Tensor(1.5), ms.tensor([1, 2], ms.int32), ops.zeros((2, 2)), ops.ones_like(x)


@program(X, captured=False)
def tensor_made_of_items(x):
    return ms.Tensor([x[0].item(), 2.0])


@program(X)
def special_values(x):
    return x * float("inf"), x * math.nan, x * -0.0, x / 0, -x / 0.0, ms.Tensor(float("-inf"))


@program(T([1, 2, 3], ms.int32), T([1.5, 2.5, 3.5], ms.float16))
def promotion(a, b):
    return a + b, a / 2, a * 1.5, b + 1, a > b, a // 2, a**2


@program(T([1, 200], ms.uint8), T([-1, 5], ms.int8))
def promotion_of_small_integers(a, b):
    return a + b, a * 2, a + a, b - 300


@program(T([True, False]))
def bool_tensor_arithmetic(m):
    return m + 1, m * 2.5, ~m, m & True, m | False, m ^ True, m.astype(ms.int32).sum()


@program(X, captured=False)
def numpy_scalar(x):
    return x * np.float32(2), np.int64(3) * 2, x + np.float64(1)


@program(X)
def math_on_constants(x):
    return x * math.sqrt(2.0) + math.pi, math.ceil(1.2), math.gcd(12, 18), math.inf


@program(T(7), grad=None)
def int_tensor_arithmetic(n):
    return n // 2, n % 4, n**2, -n, n / 2, n * 1.5, divmod(int(10), 3)


class Half:
    def __rdivmod__(self, other):
        return other / 2, 0

    def __divmod__(self, other):
        return 2 / other, 1


@program(calls=[(T([4.0, 2.0]),), (T([1.0, 2.0]),)], captured=False)
def divmod_of_numbers_and_others(x):
    number, told = x.sum().item(), []
    for a, b in ((number, x), (x, number), (int(number), x), (number, "a"), (x, x), (number, Half()), (Half(), number)):
        try:
            told.append(divmod(a, b))
        except TypeError as error:
            told.append(str(error))
    return x * 1, told


@program(calls=[(T([4.0, 2.0]),), (T([1.0, 2.0]),)], captured=False)
def divmod_of_a_number_and_a_tensor_error(x):
    divmod(x.sum().item(), x)
    return x * 1


@program(calls=[(T([[1.5, 2.5, -3.0], [4.0, 5.0, 6.0]]), i) for i in (0, 1, -1, 2, 0)])
def elements_by_their_positions(x, i):
    small = T([True, False])
    parts = x.item(i), x.item(1, i), x.item((0, -1)), x.item([1, 0]), x[0].item(i), x.astype(ms.int32).item(i) * 2
    return parts, small.item(1), x[1, 1].item(), x * x.item(i)


@program(calls=[(T([[1.5, 2.5], [4.0, 5.0]]), i) for i in (0, 4, -5, 1)], captured=False)
def an_element_that_is_not_there_error(x, i):
    return x.item(i)
