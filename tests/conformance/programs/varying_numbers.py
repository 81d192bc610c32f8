"""Numbers that vary from call to call, and so become inputs: what Python, NumPy and ``Tensor`` make of each value."""

import copy
import enum

import numpy as np

import duograph as ms
from duograph import mint, ops
from duograph import numpy as mnp
from tests.conformance.harness import T, program

X = T([1.0, -2.0])
INTS = [(n,) for n in (1, 2, 0, 2**54 + 2**30 + 1, -(2**63), 2**63 - 1, 3)]
LARGE = [(n,) for n in (1, 2, 2**63, 2**64 - 1, 3, -(2**63) - 1, 10**25, 4)]
FLOATS = [(r,) for r in (1.5, 0.1, 1 + 2**-11 + 2**-30, 65519.99999, 1e-46, -2.7, float("inf"), float("nan"), 0.5)]
REAL, WHOLE = (ms.float16, ms.bfloat16, ms.float32, ms.float64), (ms.bool_, ms.int8, ms.uint8, ms.int32, ms.int64)


@program(calls=INTS)
def a_tensor_of_an_int(n):
    """It is rounded once, from an int64."""
    return ms.Tensor(n), [ms.Tensor(n, dtype) for dtype in (*REAL, *WHOLE)]


@program(calls=FLOATS)
def a_tensor_of_a_float(r):
    return ms.Tensor(r), [ms.Tensor(r, dtype) for dtype in (*REAL, *WHOLE)]


@program(calls=[(True,), (False,), (True,)])
def a_tensor_of_a_bool(b):
    return ms.Tensor(b), ms.Tensor([b, True]), ms.Tensor([b, 2]), ms.Tensor([b, 0.5], ms.float16)


@program(calls=LARGE, captured=False)
def a_tensor_of_an_int_that_is_no_int64_error(n):
    """The dtype depends on the value, and so does whether there is a tensor at all."""
    return ms.Tensor(n)


@program(calls=LARGE, captured=False)
def a_tensor_of_a_list_with_an_int_that_is_no_int64_error(n):
    return ms.Tensor([n, 1]), ms.Tensor([n, 1], ms.float32), mnp.array([n, 2])


@program(calls=FLOATS)
def a_tensor_of_a_list_with_a_float(r):
    """A list has one dtype before it has the one that is asked for: here float64."""
    return [ms.Tensor([r, 1], dtype) for dtype in (*REAL, *WHOLE)], ms.Tensor([r, 2**54 + 2**30 + 1])


@program(calls=INTS)
def a_tensor_of_a_list_with_an_int(n):
    rows = [ms.Tensor([n, 1], dtype) for dtype in (*REAL, *WHOLE)]
    return rows, ms.Tensor([n, 0.5]), ms.Tensor([[n], [True]]), ms.Tensor([(n, 1), (2, 3)], ms.float32)


@program(calls=[(X, n) for n in (1, 2, 2**54 + 2**30 + 1)])
def a_tensor_of_a_list_with_tensors(x, n):
    half, byte = x.astype(ms.float16), x.astype(ms.uint8)
    mixed = ms.Tensor([x[0], n]), ms.Tensor([half[0], n]), ms.Tensor([byte[0], n]), ms.Tensor([[x[0], 2], [n, 0.5]])
    return mixed, ms.Tensor([half, half]), ms.Tensor([byte, byte]), ms.Tensor([x[0], n], ms.int32)


@program(calls=[(X, 1), (X, 2), (X, 3)])
def a_tensor_of_a_list_ends_gradients(x, n):
    return ms.grad(lambda a: (ms.Tensor([a[0] * n, n, a[1]]) * 3).sum() + a.sum())(x)


@program(calls=[(X, 1), (X, 2), (X, 3)], captured=False)
def a_tensor_of_a_ragged_list_error(x, n):
    return ms.Tensor([[n], [n, x[0]]])


@program(calls=[(X, n) for n in (1, 0, 3, 2, 2.5, True, 1)])
def an_operator_with_a_list_of_a_tensor_and_a_number(x, n):
    """The number is an element: no operand of its own, which eager launches would take from the call."""
    return x + [x[0], n], [n, 1] + x, x == [n, 1.0], x * 2


@program(calls=[(n,) for n in (1, 2, 3, True)])
def special_methods_of_numbers_by_their_names(n):
    return (3).__add__(n), (3).__eq__(n), (1.5).__lt__(n), int.__sub__(9, n), True.__and__(n), (2).__rpow__(n).real


@program(calls=[(n,) for n in (1, 2, 3)])
def texts_compared_by_their_special_methods(n):
    return "1".__eq__(f"{n}"), str.__ne__("2", f"{n}"), "1" == f"{n}"


@program(calls=[(n, n / 2) for n in (1, 2, 3)])
def copies_of_numbers(n, r):
    kept = [n, (r, n)]
    return copy.copy(n), copy.deepcopy(kept), copy.deepcopy({"a": n}), copy.copy(kept)


@program(calls=[(n,) for n in (1, 2, 3)], captured=False)
def unpacking_what_is_no_iterable(n):
    found = []
    for unpack in (lambda: [*n], lambda: (1, *n), lambda: {*n}, lambda: max(*n), lambda: {**n}, lambda: dict(a=1, **n)):
        try:
            found.append(unpack())
        except TypeError as error:
            found.append(str(error))
    return found


@program(calls=[(n,) for n in (1, 2, 3)], captured=False)
def one_keyword_given_twice_error(n):
    return dict(a=1, **{"a": n})


@program(calls=[(n,) for n in (1, 2, 3)])
def joining_what_is_no_text_error(n):
    return ",".join(["a", n])


class Place(enum.IntEnum):
    FIRST = 1
    SECOND = 2


class Whole(int):
    pass


HALVES = [(n, n / 2) for n in (1, 2, 3, 0)]


@program(calls=HALVES)
def numpy_numbers_give_numpy_numbers(n, r):
    two = np.float64(2.0)
    return n * two, two + n, r - two, n // two, two**n, n < two, two == r, [v * n for v in np.array([0.5, 1.5])]


@program(calls=HALVES, captured=False)
def numpy_integers_give_numpy_integers(n, r):
    return n + np.int64(2), np.int8(2) * n, n == np.int64(2), r + np.float32(1.5), np.bool_(True) + n


@program(calls=HALVES, captured=False)
def a_numpy_zero_divides_without_an_exception(n, r):
    with np.errstate(all="ignore"):
        return (n // np.float64("nan")) % n, np.float64(1.0) / n


@program(calls=[(X,), (-X,)])
def numpy_numbers_on_one_of_two_paths(x):
    a = np.float64(1.0) if x[0] > 0 else 2.0
    b = Whole(3) if x[0] > 0 else 4
    c = Place.FIRST if x[0] > 0 else 2
    return a, b, c, type(b).__name__


@program(calls=[(X,), (X * 9,)], captured=False)
def numpy_numbers_in_a_loop(x):
    total, steps = np.float64(0.0), 0
    while x[0] < 9:
        x, total, steps = x * 2, total + 1.0, steps + np.int64(1)
    return total, steps


@program(calls=HALVES)
def numbers_of_classes_derived_from_pythons(n, r):
    return n + Place.FIRST, Place.SECOND * n, n == Place.FIRST, n + Whole(3), Whole(3) - n, r < Whole(2), n << Whole(1)


def _scaled(x, k):
    return x * (10 if k is Place.FIRST else k) if x.sum() > 50 else _scaled(x * 2, k)


@program(calls=[(X + 3,), (X + 60,)])
def recursion_on_numbers_that_are_equal(x):
    return _scaled(x, 1), _scaled(x, Place.FIRST), _scaled(x, True), _scaled(x, 0.0), _scaled(x, -0.0), _scaled(x, 1.0)


HELD = [1, 2]  # each run sets its own

_X = [T([-1.25, 1.5, -1.25, 0.5]), T([2.25, 2.25, -0.5, 1.75]), T([-1.0, 2.0, 0.25, -2.5])]


@program(
    calls=[(_X[i % 3], n, bool(i % 2)) for i, n in enumerate([4, 10, 2, 5, 3, 4, 7, 9])], HELD=[1, 2], captured=False
)
def a_number_in_a_list_that_one_path_reads_first(x, n, flag):
    if sorted("ab", key=lambda a: float(x.argmax()) * (a < "b")):
        chr(n - 1)
    HELD[0] += flag
    match sorted("ab", key=lambda a: float(T(2)) * (a < "b")):
        case {"a": a}:
            return a
    return flag, HELD[0], x * n


_Y = T([0.75, -0.0, float("inf")])
FACTORS = [(T([1.5, -2.0, 0.0]), k) for k in (2.5, 1.0, 0.5, 1, 3, 0.0, -0.0, float("inf"), float("nan"), True, 1.0)]


@program(calls=FACTORS, grad=0)
def factors_that_may_be_one(x, k):
    """A factor of 1 is no product in eager; one that varies multiplies, which gives the same bits."""
    made = mint.add(x, _Y, alpha=k) + mint.sub(_Y, x, alpha=k) + x.sub(_Y, alpha=k) + x.add(_Y, alpha=k)
    made = made + ops.addcmul(x, x, _Y, value=k) + mint.addcdiv(_Y, x, x + 3, value=k)
    return made, mint.addmm(x[None], x[:, None], _Y[None], beta=k, alpha=k)


@program(calls=[(T([1, 2], ms.int8), T([True, False], ms.bool_), k) for k in (2, 1, 3, 127, 300, 1)], captured=False)
def factors_of_integers(x, y, k):
    return mint.add(x, x, alpha=k), mint.add(x, y, alpha=k), mint.index_add(x, 0, T([1], ms.int32), x[:1], alpha=k)


@program(calls=[call for call in FACTORS if call[1] == call[1]], grad=0)
def limits_of_activations(x, k):
    nn = mint.nn.functional
    made = [nn.hardtanh(x, -k, k), nn.hardshrink(x, k), nn.softshrink(x, k), nn.threshold(x, k, -k)]
    made += [
        ops.clip_by_norm(x, k),
        *ops.clip_by_global_norm((x, x * 2), k),
        nn.softplus(x, k),
        ops.isclose(x, _Y, k, k),
    ]
    made += [ops.isclose(x, _Y, k, k)]
    return made, ops.huber_loss(x, x * 2, delta=k)


FLAGS = [(T([1.0, -2.0]), [n % 3 == 0, n % 2 == 0, n % 5 < 2, n % 7 < 3]) for n in range(12)]


@program(calls=FLAGS, grad=0)
def bools_that_become_inputs(x, flags):
    a, b, c, d = flags
    if a and not b:
        x = x + 1
    elif c:
        x = x.tanh()
    done = ms.Tensor([float(f) for f in flags], ms.float32)
    return x * done[:2] + (a + b), done, int(d), not a, a is True, a == b, f"{c}", [f for f in (a, b) if f is False]


@program(calls=FLAGS, captured=False)
def bools_that_choose_sizes_and_keys(x, flags):
    a, b, c, d = flags
    table = {True: "yes", False: "no"}
    return x[int(a) :], x.sum(keepdim=b), table[c], [1, 2][d], x if a is b else -x, flags.count(True), flags.index(a)


@program(calls=[(n, [n, 2], {"n": n + 0.5, "x": X}) for n in range(6)])
def copies_of_containers_with_numbers(n, row, table):
    deep, flat = copy.deepcopy([table, row, row]), copy.copy(row)
    flat.append(n)
    deep[1].append(n)
    deep[0]["x"] += 1
    return deep, flat, row, table, deep[1] is deep[2], deep[0]["x"] is table["x"], copy.deepcopy((n, 2.0))
