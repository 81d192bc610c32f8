"""Texts that a tensor chooses: one value, as long as nobody asks what it says."""

import collections
import dataclasses
import itertools
import types

import duograph as ms
from duograph import ops
from tests.conformance.harness import T, program

CALLS = [(T([1.0, 2.0, 3.0]),), (T([-1.0, -2.0, 3.0]),), (T([7.0, -2.0, 0.0]),), (T([-1.0, -2.0, -3.0]),)] * 2


@program(calls=CALLS, grad=0)
def a_text_is_returned(x):
    state = "high" if x.sum() > 0 else "low"
    return (x * x).sum(), state


@program(calls=CALLS)
def a_text_is_made_of_many(x):
    text, letters = "", []
    for i in range(3):
        letter = "a" if x[i] > 0 else "b"
        if x[i] > 5:
            letter = "c"
        text = text + letter
        letters.append(letter)
    return x * 2, text, f"<{text}>", "-".join(letters), {"letters": letters}


@program(calls=CALLS, STATE={"now": "none"}, captured=False)  # it begins with another one in each round
def a_text_is_kept(x):
    STATE["now"] = "low" if x.sum() > 0 else "high"
    return x * 2, [STATE["now"], "x" if x[0] > 0 else "y"]


@program(calls=CALLS)
def a_text_is_asked_what_it_says(x):
    state = "high" if x.sum() > 0 else "low"
    y = x * 2
    if state == "high":
        y = y + 1
    factors = {"low": 1.5, "high": 2.5}
    return y * factors[state], {state: len(state)}, state.upper(), state in ("low", "other")


@program(calls=CALLS)
def a_text_names_a_function(x):
    return getattr(ops, "tanh" if x.sum() > 0 else "exp")(x)


@program(calls=CALLS)
def an_empty_text_is_false(x):
    text = "" if x.sum() > 0 else "b"
    return x * 2 if text else x * 3


@program(calls=CALLS, captured=False)
def texts_are_the_same_object(x):
    one = "first" if x.sum() > 0 else "second"
    two = "third" if x[0] > 0 else one
    three = one if x[1] > 0 else two
    return x, one, two, three, one is three, one is None, isinstance(one, str), type(two) is str


@program(calls=CALLS)
def a_text_is_raised_error(x):
    what = "positive" if x.sum() > 0 else "negative"
    if x[0] > 5:
        raise ValueError(f"{what}: {what}")
    return x * 2, what


@program(calls=CALLS, captured=False)
def a_loop_chooses_a_text(x):
    text = "none"
    while x.sum() < 10:
        x = x + 1
        text = "some" if x[0] > 3 else "few"
    return x, text


@program(calls=CALLS, captured=False)
def a_text_or_none(x):
    note = None if x.sum() > 0 else "note"
    return x * 2 if note is None else x * 3, note


class Report:
    level = "unknown"


@program(calls=CALLS)
def a_text_is_an_attribute(x):
    report = Report()
    report.level = "a" if x.sum() > 0 else "b"
    return ms.ops.relu(x), report.level, report


@dataclasses.dataclass
class Pair:
    first: object
    second: object = 1


def raised(error):
    try:
        raise error
    except Exception as caught:  # noqa: BLE001 - any of them has a text
        return str(caught), repr(caught)


NUMBERS = [(T([1.0, -2.0]), n) for n in (2, 3, 2, 4, 3, 5)]


@program(calls=NUMBERS, captured=False)
def texts_of_what_holds_numbers(x, n):
    held = types.SimpleNamespace(a=n), collections.deque([n]), collections.ChainMap({"a": n}), itertools.count(n)
    shown = [str(v) for v in held], f"{Pair(Pair(n))}", f"{[Pair(n)]}", str(types.MappingProxyType({"a": n}))
    return x * n, shown, raised(ValueError(("a", [n]))), raised(AssertionError(Pair(n))), raised(KeyError(("k", n)))


@program(calls=NUMBERS, captured=False)
def texts_of_what_holds_tensors(x, n):
    held = collections.deque([x * n]), types.SimpleNamespace(a=[x]), Pair(x.sum())
    return [f"{v}" for v in held], raised(ValueError([x])), raised(ValueError(Pair(x + n)))
