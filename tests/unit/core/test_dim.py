import copy
import math
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duograph.core.dim import (
    Dim,
    Symbol,
    UnknownSizeError,
    bounds,
    by_name,
    ceil_div,
    definitely_eq,
    definitely_le,
    definitely_lt,
    dim_max,
    dim_min,
    evaluate,
    fresh_symbol,
    parse_dim,
    substitute,
    symbols_of,
)  # fmt: skip

N, M, K = Symbol("N"), Symbol("M", 1), Symbol("K", 2, 9)
NAMES = {s.name: s for s in (N, M, K)}
POINT = st.fixed_dictionaries({N: st.integers(0, 40), M: st.integers(1, 40), K: st.integers(2, 9)})
BINARY = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "//": lambda a, b: a // b,
    "%": lambda a, b: a % b, "min": dim_min, "max": dim_max,
}  # fmt: skip
PLAIN = {**BINARY, "min": min, "max": max}

LEAVES = st.one_of(st.integers(-6, 6), st.sampled_from([N, M, K]))
TREES = st.recursive(LEAVES, lambda t: st.tuples(st.sampled_from(list(BINARY)), t, t), max_leaves=9)


def build(tree):
    return BINARY[tree[0]](build(tree[1]), build(tree[2])) if isinstance(tree, tuple) else tree


def value(tree, env):
    if isinstance(tree, tuple):
        return PLAIN[tree[0]](value(tree[1], env), value(tree[2], env))
    return env[tree] if isinstance(tree, Symbol) else tree


def built(tree):
    try:
        return build(tree)
    except ZeroDivisionError:
        return None


@settings(max_examples=600, deadline=None)
@given(TREES, POINT)
def test_the_normal_form_keeps_the_value_and_its_bounds(tree, env):
    dim = built(tree)
    try:
        expected = value(tree, env)
    except ZeroDivisionError:
        return
    assert dim is not None
    assert evaluate(dim, env) == expected
    assert evaluate(dim, {s.name: v for s, v in env.items()}) == expected
    lo, hi = bounds(dim)
    assert lo <= expected <= hi
    assert substitute(dim, env) == expected


@settings(max_examples=300, deadline=None)
@given(TREES)
def test_what_is_printed_parses_back_to_the_same_object(tree):
    dim = built(tree)
    if isinstance(dim, Dim):
        assert parse_dim(str(dim), NAMES) is dim
        assert pickle.loads(pickle.dumps(dim)) is dim
        assert copy.deepcopy(dim) is dim
        assert symbols_of(dim) <= {N, M, K}


@settings(max_examples=300, deadline=None)
@given(TREES, TREES, POINT)
def test_comparisons_never_lie(left, right, env):
    a, b = built(left), built(right)
    try:
        x, y = value(left, env), value(right, env)
    except ZeroDivisionError:
        return
    assert definitely_eq(a, b) in (None, x == y)
    assert definitely_le(a, b) in (None, x <= y)
    assert definitely_lt(a, b) in (None, x < y)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("N+N+1", "2*N+1"), ("N-N", "0"), ("3-N", "-N+3"), ("(2*N+1)//2", "N"), ("(4*N+2)//6", "(2*N+1)//3"),
        ("N//2//3", "N//6"), ("(N//2+1)//2", "(N+2)//4"), ("2*(N//2)", "2*(N//2)"), ("(5*N+7)%4", "(N+3)%4"),
        ("K//16", "0"), ("K%10", "K"), ("N*M//M", "N"), ("(N*M+3*M)//M", "N+3"), ("N*M%M", "0"), ("N//N", "N//N"),
        ("(K+1)//(K+1)", "1"), ("(N+1)*(M+1)", "M*N+M+N+1"), ("min(N,N+1)", "N"), ("min(K,20)", "K"),
        ("max(3,min(K,4))", "max(3,min(4,K))"),
        ("max(N,-2)", "N"), ("N//-2", "(-N)//2"), ("-(N//2)", "-(N//2)"),
    ],
)  # fmt: skip
def test_normal_form(text, normal):
    assert str(parse_dim(text, NAMES)) == normal


def test_interned_and_immutable():
    assert Symbol("N") is N
    assert Symbol("N", 1) is not N
    assert N + M is M + N
    assert hash(2 * N + 1) == hash(1 + N * 2)
    assert (N + 1, 4) == (1 + N, 4)
    assert N != 3
    with pytest.raises(AttributeError):
        N.name = "other"


def test_unknown_is_never_guessed():
    assert definitely_eq(N, N) is True
    assert definitely_eq(N, 4) is None
    assert definitely_eq(N, -1) is False
    assert definitely_eq(2 * N, 2 * M + 1) is False
    assert definitely_eq(N // 4 * 4 + N % 4, N) is True
    assert definitely_le(N, N + M) is True
    assert definitely_lt(N, N) is False
    assert definitely_lt(K, 10) is True
    with pytest.raises(TypeError, match="truth of the symbolic dimension N"):
        bool(N)
    with pytest.raises(TypeError):
        N < 3  # noqa: B015


def test_fresh_symbols_differ():
    first, second = fresh_symbol("batch"), fresh_symbol("batch", lo=2)
    assert first is not second
    assert first.name != second.name
    assert second.lo == 2


def test_order_does_not_depend_on_how_many_symbols_there_are():
    """Names end in numbers that grow with the process: the tenth symbol comes after the ninth."""
    for first, second in ((8, 9), (9, 10), (99, 100)):
        a, b = Symbol(f"n{first}"), Symbol(f"n{second}")
        assert str(b + a) == f"n{first}+n{second}"
        assert str(b * a) == f"n{first}*n{second}"
        assert sorted([b, a], key=by_name) == [a, b]


def test_ceil_div():
    assert [evaluate(ceil_div(N, 4), {N: n}) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]


@pytest.mark.parametrize("bad", ["N**2", "f(N)", "N/2", "1.5"])
def test_parse_refuses(bad):
    with pytest.raises(ValueError, match="not a dimension"):
        parse_dim(bad)


@pytest.mark.parametrize("make", [lambda: Symbol("1x"), lambda: Symbol("min"), lambda: Symbol("N", 3, 2)])
def test_symbol_refuses(make):
    with pytest.raises(ValueError):
        make()


def test_division_by_zero():
    with pytest.raises(ZeroDivisionError):
        N // 0
    with pytest.raises(ZeroDivisionError):
        N % 0


def test_bounds_of_an_extent_with_what_pads_it_to_whole_windows():
    size = Symbol("n", 1)
    whole = -2 * ((-size) // 2)
    assert bounds(dim_max(whole - size, 0) + size) == (2, math.inf)
    assert bounds(7 - size - dim_max(whole - size, 0)) == (-math.inf, 5)
    assert bounds(dim_min(9 - size, 0) + size) == (-math.inf, 9)


def test_sizes_of_too_many_steps_are_not_followed():
    """Each step names the one before several times: the text would be longer than memory."""
    size = Symbol("n", 0)
    with pytest.raises(UnknownSizeError, match="in more steps"):
        for k in range(40):
            size = dim_max(size - dim_min(size, k + 1), (size + k) // 2)
