"""Python syntax and builtins under jit, as MindSpore 2.10 has them."""

import numpy as np
from mindspore import Tensor, jit, mutable

from tests.compat.dynamic.support import fails, same

T = Tensor


@jit
def f_np_array():
    x = np.array([1, 2, 3])
    return Tensor(x)


@jit
def f_np2():
    x = np.array([1.0, 2])
    y = np.array([3.0, 4.0])
    return (Tensor(x + y), Tensor(np.add(x, y)), Tensor(x > 1))


@jit
def f_np3():
    x = np.array([[1, 2], [3, 4]])
    return (Tensor(x.T), x.shape, Tensor(x.sum()), Tensor(x[0]), Tensor(np.where(x > 2, x, 0)))


@jit
def f_np_ret():
    return np.array([1, 2])


@jit
def f_asnumpy(x):
    y = x.asnumpy()
    return Tensor(y * 2)


@jit
def f_asnumpy2(x):
    y = np.sum(x.asnumpy())
    return Tensor(y)


@jit
def f_listapp():
    x = [1, 2]
    x.append(3)
    return x


@jit
def f_list_clear():
    x = [3, 1, 2]
    x.clear()
    return x


@jit
def f_list_set():
    x = [3, 1, 2]
    x[0] = 10
    x[1:3] = [7, 8]
    return x


@jit
def f_list_arg(x):
    x.append(4)
    return x


@jit
def f_list_tensor(a):
    x = [a, a + 1]
    x[0] = a * 3
    x.append(a)
    return x


@jit
def f_list_slice():
    x = [1, 2, 3, 4, 5]
    return (x[1:3], x[::2], x[-1], x[::-1], x + [6], x * 2, 3 in x, len(x))


@jit
def f_list_comp(x):
    return ([i * x for i in range(3) if i != 1], [a + b for a, b in zip([1, 2], [3, 4])], [len(s) for s in ("a", "bb")])


@jit
def f_dict():
    d = {"a": 1, "b": 2}
    d["c"] = 3
    return d


@jit
def f_dict2():
    d = {"a": 1, "b": 2}
    return (list(d.keys()), tuple(d.values()), d.get("a"), d.get("z", 9), d.get("q"), "a" in d, len(d), list(d.items()))


@jit
def f_dict4(x):
    d = {"a": x, "b": (x, 2)}
    d["a"] = x + 1
    return d


def f_dict_loop(x):
    d = {"a": x, "b": x * 2}
    r = 0
    for k, v in d.items():
        r = r + v
    for k in d:
        r = r + d[k]
    return r


@jit
def f_dict_has(d):
    return (
        d.has_key("a") if hasattr(d, "has_key") else "a" in d,
        d.fromkeys(["a", "b"], 1) if hasattr(d, "fromkeys") else 0,
    )


@jit
def f_dict_clear():
    d = {"a": 1}
    d.clear()
    e = dict(a=1, b=2)
    g = dict([("x", 1)])
    return (d, e, g)


@jit
def f_dict_in(d):
    return d["a"] * d["b"]


@jit
def f_tuple():
    x = (1, 2, 3, 2)
    return (
        x + (4,),
        x * 2,
        x.index(2),
        x.count(2),
        x[1:],
        x[-1],
        len(x),
        2 in x,
        x == (1, 2, 3, 2),
        x < (2,),
        tuple(reversed(x)) if False else 0,
    )


@jit
def f_tuple_err():
    x = (1, 2)
    x[0] = 3
    return x


@jit
def f_star(*args, **kw):
    return args[0] + args[1] + kw["z"]


@jit
def f_default(x, y=2, *, z=3):
    return x + y + z


@jit
def f_if(x):
    if x > 0:
        return x * 2
    return x - 1


@jit
def f_ifelse(x, y):
    if x > y:
        z = x
        w = 1
    elif x == y:
        z = x + y
        w = 2
    else:
        z = y
        w = 3
    return (z, w)


@jit
def f_while(x):
    i = T(0)
    while i < 5:
        x = x + i
        i = i + 1
    return x


@jit
def f_while_break(x):
    i = T(0)
    while i < 10:
        i += 1
        if i == 3:
            continue
        if i > 5:
            break
        x = x + i
    return (x, i)


@jit
def f_for_t(x):
    s = T(0.0)
    for r in x:
        s = s + r.sum()
    for i, r in enumerate(x):
        s = s + r[0] * i
    return s


@jit
def f_while_const():
    i = 0
    s = 0
    while i < 4:
        s += i
        i += 1
    return s


@jit
def f_nestedfn(x):

    def inner(y):
        return y * x

    g = lambda z: inner(z) + 1
    return g(x)


@jit
def f_ternary(x):
    return x + 1 if x > 0 else x - 1


@jit
def f_assert(x):
    assert x.shape == (2,), "bad"
    return x


@jit
def f_raise(x):
    if x.shape[0] > 1:
        raise ValueError("The shape is %s" % 3)
    return x


@jit
def f_raise2(x):
    if x > 0:
        raise ValueError("x is positive")
    return x


@jit
def f_isin(x):
    return (
        isinstance(x, Tensor),
        isinstance(1, int),
        isinstance((1,), (tuple, list)),
        isinstance([1], list),
        isinstance("a", str),
        isinstance(1.0, float),
    )


@jit
def f_builtins():
    return (
        max(1, 2),
        min([3, 1]),
        sum([1, 2, 3]),
        abs(-3),
        len("abc"),
        round(3.6),
        int(3.7),
        float(2),
        bool(0),
        str(12),
        pow(2, 3),
        divmod(7, 2) if False else 0,
        all([True, False]),
        any([True, False]),
    )


@jit
def f_builtins2(x):
    return (max(x), min(x), sum(x), abs(x), len(x), int(x[0]), float(x[1]), bool(x[0]), all(x > 0), any(x > 2))


@jit
def f_filter():
    return (
        list(filter(lambda x: x > 1, [1, 2, 3])),
        list(map(lambda x, y: x + y, [1, 2], [3, 4])),
        tuple(map(lambda x: x * 2, (1, 2))),
    )


def f_zip2():
    r = []
    for a, b in zip((1, 2), (3, 4)):
        r.append(a * b)
    for i, (a, b) in enumerate(zip((1, 2), (3, 4))):
        r.append(i + a + b)
    return r


@jit
def f_str():
    s = "abc"
    return (
        s + "d",
        s * 2,
        s[0],
        s[1:],
        len(s),
        s.upper(),
        "%d-%s" % (1, "a"),
        "{} {}".format(1, "b"),
        f"{s}x",
        s in "xabc",
        s.find("c"),
        s.split("b"),
        s.replace("a", "z"),
        s == "abc",
        ",".join(["1", "2"]),
    )


@jit
def f_bool(x, y):
    return (x and y, x or y, not x)


@jit
def f_is(x):
    return (x is None, x is not None, 1 == 1 if False else 0)


@jit
def f_cmp(x):
    return (1 < x < 3, x != 2, x in (1, 2), x not in [1, 2])


def test_np_array():
    same(f_np_array(), ("Int64", [1, 2, 3]))


def test_np2():
    same(f_np2(), (("Float64", [4.0, 6.0]), ("Float64", [4.0, 6.0]), ("Bool", [False, True])))


def test_np3():
    same(f_np3(), (("Int64", [[1, 3], [2, 4]]), (2, 2), ("Int64", 10), ("Int64", [1, 2]), ("Int64", [[0, 0], [3, 4]])))


def test_np_ret():
    same(f_np_ret(), ("int64", [1, 2], "numpy"))


def test_asnumpy():
    same(f_asnumpy(T([1.0, 2.0])), ("Float32", [2.0, 4.0]))


def test_asnumpy2():
    same(f_asnumpy2(T([1.0, 2.0])), ("Float32", 3.0))


def test_listapp():
    same(f_listapp(), [1, 2, 3])


def test_list_clear():
    same(f_list_clear(), [])


def test_list_set():
    same(f_list_set(), [10, 7, 8])


def test_list_arg():
    l = [1, 2]
    r = f_list_arg(l)
    same(r, [1, 2, 4])


def test_list_tensor():
    same(f_list_tensor(T(1.0)), [("Float32", 3.0), ("Float32", 2.0), ("Float32", 1.0)])


def test_list_slice():
    same(
        f_list_slice(),
        ([2, 3], [1, 3, 5], 5, [5, 4, 3, 2, 1], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 1, 2, 3, 4, 5], True, 5),
    )


def test_list_comp():
    same(f_list_comp(T(2.0)), ([("Float32", 0.0), ("Float32", 4.0)], [4, 6], [1, 2]))


def test_dict():
    same(f_dict(), {"a": 1, "b": 2, "c": 3})


def test_dict2():
    same(f_dict2(), (["a", "b"], (1, 2), 1, 9, None, True, 2, [("a", 1), ("b", 2)]))


def test_dict4():
    same(f_dict4(T(1.0)), {"a": ("Float32", 2.0), "b": (("Float32", 1.0), 2)})


def test_dict_loop():
    same(jit(f_dict_loop)(T(1.0)), ("Float32", 6.0))
    same(f_dict_loop(T(1.0)), ("Float32", 6.0))


def test_dict_has():
    same(f_dict_has({"a": 1}), (True, {"a": 1, "b": 1}))


def test_dict_clear():
    same(f_dict_clear(), ({}, {"a": 1, "b": 2}, {"x": 1}))


def test_dict_in():
    same(f_dict_in({"a": T(2.0), "b": T(3.0)}), ("Float32", 6.0))
    same(f_dict_in(mutable({"a": T(2.0), "b": T(3.0)})), ("Float32", 6.0))


def test_tuple():
    same(f_tuple(), ((1, 2, 3, 2, 4), (1, 2, 3, 2, 1, 2, 3, 2), 1, 2, (2, 3, 2), 2, 4, True, True, True, 0))


def test_tuple_err():
    fails(lambda: f_tuple_err(), TypeError, "'tuple' object does not support item assignment")


def test_star():
    same(f_star(T(1.0), T(2.0), z=T(3.0)), ("Float32", 6.0))


def test_default():
    same(f_default(T(1.0)), ("Float32", 6.0))
    same(f_default(T(1.0), 5), ("Float32", 9.0))
    same(f_default(T(1.0), z=7), ("Float32", 10.0))
    same(f_default(x=T(1.0), y=T(2.0)), ("Float32", 6.0))


def test_if():
    same(f_if(T(1.0)), ("Float32", 2.0))
    same(f_if(T(-1.0)), ("Float32", -2.0))


def test_ifelse():
    same(f_ifelse(T(1.0), T(2.0)), (("Float32", 2.0), 3))
    same(f_ifelse(T(2.0), T(2.0)), (("Float32", 4.0), 2))
    same(f_ifelse(T(3.0), T(2.0)), (("Float32", 3.0), 1))


def test_while():
    same(f_while(T(1)), ("Int64", 11))


def test_while_break():
    same(f_while_break(T(1)), (("Int64", 13), ("Int64", 6)))


def test_for_t():
    same(f_for_t(T([[1.0, 2.0], [3.0, 4.0]])), ("Float32", 13.0))


def test_while_const():
    same(f_while_const(), 6)


def test_nestedfn():
    same(f_nestedfn(T(3.0)), ("Float32", 10.0))


def test_ternary():
    same(f_ternary(T(1.0)), ("Float32", 2.0))
    same(f_ternary(T(-1.0)), ("Float32", -2.0))


def test_assert():
    same(f_assert(T([1.0, 2.0])), ("Float32", [1.0, 2.0]))


def test_raise():
    same(f_raise(T([1.0])), ("Float32", [1.0]))


def test_raise2():
    same(f_raise2(T(-1.0)), ("Float32", -1.0))
    fails(lambda: f_raise2(T(1.0)), ValueError, "x is positive")


def test_isin():
    same(f_isin(T(1.0)), (True, True, True, True, True, True))


def test_builtins():
    same(f_builtins(), (2, 1, 6, 3, 3, 4, 3, 2.0, False, "12", 8, 0, False, True))


def test_builtins2():
    same(
        f_builtins2(T([1.0, 2.0, 3.0])),
        (
            ("Float32", 3.0),
            ("Float32", 1.0),
            ("Float32", 6.0),
            ("Float32", [1.0, 2.0, 3.0]),
            3,
            1,
            2.0,
            True,
            True,
            True,
        ),
    )


def test_filter():
    same(f_filter(), ([2, 3], [4, 6], (2, 4)))


def test_zip():
    same(jit(f_zip2)(), [3, 8, 4, 7])


def test_str():
    same(
        f_str(), ("abcd", "abcabc", "a", "bc", 3, "ABC", "1-a", "1 b", "abcx", True, 2, ["a", "c"], "zbc", True, "1,2")
    )


def test_bool():
    same(f_bool(True, False), (False, True, False))
    same(f_bool(1, 0), (0, 1, False))


def test_is():
    same(f_is(None), (True, False, 0))
    same(f_is(T(1)), (False, True, 0))


def test_cmp():
    same(f_cmp(2), (True, False, True, False))
    same(f_cmp(5), (False, True, False, True))
