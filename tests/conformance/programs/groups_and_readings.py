"""``except*``, and statements whose bytecode can be read in more than one way."""

import time

from tests.conformance.harness import T, program

X = T([1.0, -2.0, 3.0])
CALLS = [(X,), (T([-1.0, -2.0, -3.0]),), (T([0.5, 0.5]),), (X,), (T([2.0, 2.0, 2.0]),)]
NUMBER = 0

# except* --------------------------------------------------------------------------------------------------------------


@program(calls=CALLS, grad=0)
def nothing_is_raised(x):
    y = x * 2
    try:
        y = y.tanh() * x
    except* ValueError as e:
        y = len(e.exceptions)
    else:
        y = y + 1
    finally:
        y = y * x
    return y.sum()


@program(calls=CALLS, captured=False)
def parts_of_a_group(x):
    y = x.tanh() * x - x.mean()
    seen = []
    try:
        if x.sum() > 0:
            raise ExceptionGroup("several", [ValueError(1), TypeError(2), ValueError(3)])
        y = y * y - x
    except* ValueError as e:
        seen.append([str(part) for part in e.exceptions])
        y = (y + 1).tanh() * x - y.mean()
    except* TypeError:
        seen.append("type")
        y = (y - 1).tanh() * x - y.mean()
    return y.sum(), seen


@program(calls=CALLS, captured=False)
def a_group_without_its_error(x):
    y = x.tanh() * x - x.mean()
    try:
        time.sleep(0)
        if x.sum() > 0:
            raise OSError("not for you")
        y = y * y + x
    except* (ValueError, TypeError):
        y = y + 1
    return y


@program(calls=CALLS, captured=False)
def a_clause_raises(x):
    y = x.tanh() * x - x.mean()
    e = "outer"
    try:
        try:
            time.sleep(0)
            raise ExceptionGroup("two", [ValueError(1), KeyError(2)])
        except* ValueError as e:
            y = y * 2 + x
        except* KeyError:
            y = y * 3 + x
            del x
            raise TypeError("raised by a clause") from None
    except TypeError as error:
        return y * y.mean(), str(error)
    return x, e


@program(calls=CALLS, captured=False)
def groups_in_a_loop(x):
    for i in range(3):
        try:
            x = x.tanh() * 2 - x.mean()
            time.sleep(0)
            if i == 1:
                raise KeyError(i)
        except* KeyError:
            x = x * x + 1
        else:
            x = x * x - 1
        finally:
            x = x * 0.5 + x.tanh()
    return x


# Readings -------------------------------------------------------------------------------------------------------------


@program(calls=[(X, k) for k in (1, 7, 4, 2)], choice=True)
def cases_of_nothing_but_a_guard(x, k):
    match k:
        case 1:
            y = x
        case _ if k > 5:
            y = x * 2
        case _ if x.sum() > k - 3:
            y = x * 4
        case _:
            y = x * 3
    return y


@program(calls=CALLS)
def a_guard_comes_first(x):
    match x.shape:
        case _ if x.sum() > 3:
            return x * 2
        case [n] if n > 2:
            return x * n
        case m:
            return x, m


@program(calls=CALLS)
def a_loop_with_else_and_break(x):
    for i in range(5):
        x = x * 1.5
        if i == 3:
            break
        if x.sum() > 1:
            continue
        x = x + 1
    else:
        return "else"
    return x, i


@program(calls=CALLS)
def a_loop_that_begins_with_try(x):
    left = [1, 2]
    while True:
        try:
            k = left.pop()
        except IndexError:
            return x
        x = x * k


@program(calls=CALLS)
def finally_behind_a_return_from_a_loop(x):
    found = None
    seen = []
    try:
        for i in range(3):
            found = i
            if x.sum() > i:
                return x * i, seen
    finally:
        if found:
            seen.append(found)
    return None


@program(calls=CALLS, captured=False)
def leaving_through_two_finally_clauses(x):
    seen = []
    for i in range(3):
        try:
            try:
                x = x.tanh() * 2 - x.mean()
                if i == 1:
                    continue
                if i == 2:
                    int("no number")
            finally:
                time.sleep(0)
                x = x + 1
        except ValueError:
            x = x.tanh() * x
            break
        finally:
            seen.append(i)
    return x, seen


@program(calls=CALLS, NUMBER=1)
def names_that_comprehensions_bind(x):
    global NUMBER
    doubled = [NUMBER := i for i in range(3)]
    kept = [y for i in range(3) if (y := x * i).sum() > 1]
    return kept, y, doubled, x * NUMBER, sum((d := i) * d for i in range(3)), d


@program(calls=CALLS)
def names_that_are_stored_twice(x):
    _, _, a = (1, 2, x * 3)
    return [b * a for _, _, b in [(1, 2, x)]], (lambda: None)()
