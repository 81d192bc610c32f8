"""Functions that call themselves."""

import pytest

from tests.unit.frontend.cases import Cases, name_of, tensor

case = Cases()


@case(
    (
        tensor(5),
        tensor([1.0]),
    )
)
def recursion_several(n, x):
    def rec(n, x, y):
        if n <= 0:
            return x + y
        return rec(n - 1, x * 2, y + n)

    return rec(n, x, x * 0)


@case((tensor(6),), captured=False)
def recursion_tuple(n):
    def rec(n, a, b):
        if n <= 0:
            return a, b
        return rec(n - 1, b, a + b)

    return rec(n, n * 0, n * 0 + 1)


@case((tensor(6),))
def recursion_mutual(n):
    def even(n):
        if n == 0:
            return True
        return odd(n - 1)

    def odd(n):
        if n == 0:
            return False
        return even(n - 1)

    return even(n), odd(n)


@case(*[(tensor(4), tensor(2.0)), (tensor(0), tensor(2.0))], grad=1)
def grad_recursion(n, x):
    def power(n, x):
        if n <= 0:
            return x * 0 + 1
        return x * power(n - 1, x)

    return power(n, x)


@pytest.mark.parametrize("case", case, ids=name_of)
def test_compiled_is_plain(case):
    case.check()
