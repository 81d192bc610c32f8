"""Items, keys, parts and orders that numbers of tensors choose."""

import enum
import logging
import warnings

from tests.conformance.harness import T, program

CALLS = [(T([1.0, 2.0, 3.0]),), (T([3.0, -1.0, 7.0]),), (T([-4.0, 1.0, 1.0]),), (T([0.0, -0.0, float("nan")]),)] * 2
NAMES = ["a", "b", "c"]


@program(calls=CALLS, NAMES=[*"abc"])
def a_part_of_a_list(x):
    n = int(x.argmax()) - 1
    return x + len(NAMES[:n]), NAMES[0]


@program(calls=CALLS)
def parts_of_texts(x):
    n = int(x.argmax()) - 1
    return x * 2, "abc"[:n], "ab"[-n:]


@program(calls=CALLS, captured=False, NAMES=[*"abcdef"])
def parts_of_long_lists(x):
    n = int(x.argmax()) - 1
    return x * 2 - x, NAMES[n:], "a longer text"[n:], NAMES[-2 : int(x.argmin())], (*NAMES,)[n:n]


@program(calls=CALLS)
def a_part_is_used(x):
    layers = [x * 2, x * 3, x * 4]
    return sum(layers[: int(x.argmax()) + 1])


@program(calls=CALLS, choice=True)
def keys(x):
    k = int(x.argmax())
    table = {0: x * 2, 1: x * 3}
    return table.get(k, x), {2: "two"}.get(k), {0: 1.5, 2: 2.5, 1: 0.5}[k] * x, k in table


@program(calls=CALLS)
def a_key_that_is_missing(x):
    try:
        return {2: x, 0: x * 2}[int(x.argmax())]
    except KeyError as error:
        return x * 100, error.args


@program(calls=CALLS)
def a_missing_key_is_an_error(x):
    return {2: x * 3}[int(x.argmax())]


class Colour(enum.Enum):
    RED = 0
    GREEN = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 0
    HIGH = 2


@program(calls=CALLS)
def members_of_enumerations(x):
    colour = Colour(int(x.argmax()))
    y = x * 2 if colour is Colour.RED else x * (colour.value + 1)
    try:
        return y, colour, Level(int(x.argmax()))
    except ValueError:
        return y - 1, colour.name


@program(calls=CALLS)
def among_others(x):
    k, r = int(x.argmax()), float(x[0])
    y = x * 2 if k in [0, 2] else x * 3
    if k not in {1, "a"}:
        y = y + 1
    return y, r in (1, 2.5), r in [r], k in range(1, 3), 1 in [r, 2], k in (), True in [k], k in {0: 1, None: 2}


@program(calls=CALLS)
def orders(x):
    numbers = [float(v) for v in x]
    named = dict(zip("abc", numbers, strict=True))
    return sorted(numbers), max(named, key=named.get), max(numbers[0], 1, 2.5)


@program(calls=CALLS)
def orders_by_keys(x):
    named = {"a": float(x[0]), "b": float(x[1])}
    held = [float(x[0]), float(x[2])]
    held.sort(reverse=True)
    return sorted("ab", key=lambda k: named[k], reverse=True), held, min([1, 2], key=lambda i: named["a"] - i)


@program(calls=CALLS, captured=False)
def a_loop_that_tells_what_it_does(x):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        x = _told(x.abs() + 1)
    return x, [str(one.message) for one in told]


def _told(x):
    while x.sum() < 50:
        x = x * 2
        warnings.warn("doubled", stacklevel=1)
        logging.getLogger("duograph.tests").debug("sum %s", x.sum())
    return x
