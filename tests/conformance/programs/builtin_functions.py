"""Builtin functions (syntax notes, section 5)."""

import copy
import math

import numpy as np

from duograph import Tensor
from tests.conformance.harness import T, program

X = T([1.0, -2.0, 3.0])


@program(X)
def numbers(x):
    return abs(-3), divmod(7, 2), pow(2, 5), pow(2, 5, 7), round(2.567, 2), round(2.5), sum([1, 2, 3]), sum([1.5], 2)


@program(X)
def casts(x):
    return (
        int("12"),
        int(2.9),
        float("1.5"),
        bool([]),
        str(12),
        list("ab"),
        tuple([1]),
        dict(a=1),
        set([1]),
        complex(1, 2),
    )


@program(X)
def characters_and_bases(x):
    return chr(97), ord("a"), bin(5), hex(255), oct(8), format(3.14159, ".2f"), repr("a"), ascii("é")


@program(X)
def max_min(x):
    return max(1, 2), min([3, 1]), max("abc"), max([1, -5], key=abs), min([], default=7), max(2.5, 1)


@program(T(2.0), T(3.0), choice=True)
def max_min_of_tensors(x, y):
    return max(x, y), min(x, y)


@program(X)
def all_any(x):
    return all([1, 2]), any([]), all(v > -5 for v in range(3)), any([0, "a"])


@program(X)
def all_any_of_tensor(x):
    return all(x > -5), any(x > 2), (x > 0).all(), (x > 5).any()


@program(X)
def tensor_builtins(x):
    return abs(x), len(x), sum(x), round(x * 1.26), pow(x, 2), isinstance(x, Tensor)


@program(T(2.6), captured=False)
def tensor_to_python(x):
    return int(x), float(x), bool(x), round(x.item())


@program(X)
def types(x):
    return (
        type(1) is int,
        type(x) is Tensor,
        isinstance(1, (int, float)),
        issubclass(bool, int),
        callable(len),
        type("a"),
    )


@program(X)
def iterators(x):
    it = iter([1, 2, 3])
    return next(it), next(it), list(it), next(it, "end"), list(reversed([1, 2])), list(range(3)[::-1])


@program(X)
def iterator_end_error(x):
    return next(iter([]))


@program(X)
def sorted_forms(x):
    return sorted("hello"), sorted([3, 1], reverse=True), sorted({"b": 1, "a": 2}.items(), key=lambda kv: kv[1])


@program(X)
def locals_and_vars(x):
    a = 1
    names = sorted(locals())
    return names, "a" in names


@program(calls=[(X,), (-X,)])
def locals_that_one_path_has(x):
    if x.sum() > 0:
        found = x * 2
    if "found" in locals():
        return found
    return x, sorted(locals())


@program(X, captured=False)
def locals_of_a_closure(x):
    n = 2

    def inner(y):
        return y * n + x, sorted(locals())

    return inner(x)


@program(X, captured=False)
def eval_of_constants(x):
    return eval("1 + 2"), eval("n * 2", {"n": 4})


@program(X, captured=False)
def hash_id_equality(x):
    return hash("a") == hash("a"), id(x) == id(x), hash((1, 2)) == hash((1, 2))


@program(X)
def copy_functions(x):
    a = [1, [2, 3]]
    b, c = copy.copy(a), copy.deepcopy(a)
    a[1].append(4)
    return b, c


@program(X)
def string_methods(x):
    return (
        "a,b".split(","),
        " a ".strip(),
        "-".join(["x", "y"]),
        "abc".replace("b", "z"),
        "abc".find("c"),
        "aB".swapcase(),
    )


@program(X)
def zip_strict_error(x):
    return list(zip([1], [1, 2], strict=True))


@program(X)
def int_of_word_error(x):
    return int("word")


@program(X)
def slice_objects(x):
    s = slice(0, None, 2)
    return x[s], s.start, s.step, [1, 2, 3][s], s.indices(3)


@program(X)
def math_functions(x):
    return (
        math.sqrt(4),
        math.floor(-1.5),
        math.prod([2, 3]),
        math.isnan(math.nan),
        math.log(math.e),
        math.isclose(1, 1.0),
    )


@program(X, captured=False)
def numpy_inside(x):
    a = np.array([1, 2, 3]) + np.array([4, 5, 6])
    print(a)
    return Tensor(a), a.sum(), a.dtype.name, a


@program(X, captured=False)
def numpy_of_tensor(x):
    a = x.asnumpy() * 2
    return Tensor(a) + x, isinstance(a, np.ndarray), float(a[0])


@program(X, captured=False)
def numpy_item_assignment(x):
    a = np.array([1, 2, 3])
    a[0] += 1
    a[1:] *= 2
    return a


@program(X, captured=False)
def numpy_condition(x):
    a = np.array(1)
    if a <= 1:
        a += 1
    return a


@program(X, captured=False)
def scipy_like_function(x):
    q, r = np.linalg.qr(np.eye(2))
    return q.shape, Tensor(r.astype(np.float32)) * 2
