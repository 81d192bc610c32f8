"""Readable things: variables, containers, iterators, texts."""

from __future__ import annotations

import array
import collections
import dataclasses
import functools
import io
import itertools
import operator
import os
import types

from duograph import Tensor

from .readable import MISSING, attribute, calling, item, reads

NUMBER, TEXT, FLAG, NOTHING = 3, "abc", True, None


@reads(item(globals(), "NUMBER", 5), item(globals(), "NUMBER", 3.0), item(globals(), "NUMBER", True))
def number(x):
    return x * NUMBER


@reads(item(globals(), "TEXT", "abcdef"))
def text(x):
    return x * len(TEXT)


@reads(item(globals(), "FLAG", False))
def flag(x):
    return x * 2 if FLAG else x


@reads(item(globals(), "NOTHING", 5))
def nothing(x):
    return x * 2 if NOTHING is None else x


@reads(item(globals(), "APPEARS", 5))
def name_that_appears(x):
    try:
        return x * APPEARS  # noqa: F821
    except NameError:
        return x


@reads(item(globals(), "len", lambda v: 9))
def builtin_that_is_shadowed(x):
    return x * len((1, 2))


def helper(v):
    return v * 2


@reads(item(globals(), "helper", lambda v: v * 5))
def function_replaced(x):
    return helper(x)


def _closed():
    variable = 3

    def fn(x):
        return x * variable

    def change(value):
        nonlocal variable
        variable = value

    return fn, change


closed_over, change_closed = _closed()
reads(calling(lambda: change_closed(5), lambda: change_closed(3)))(closed_over)

LIST = [1, 2, 3]
NESTED = {"a": [1, {"b": (2, [3])}]}
SET = {1, 2}
FROZEN = frozenset([1, 2])
DEQUE = collections.deque([1, 2])
COUNTER = collections.Counter("aab")
ORDERED = collections.OrderedDict(a=1, b=2)
DEFAULT = collections.defaultdict(int, a=1)
CHAIN = collections.ChainMap({"a": 1}, {"b": 2})
USER_DICT = collections.UserDict(a=1)
USER_LIST = collections.UserList([1, 2])
BYTES = bytearray(b"abc")
MEMORY = memoryview(BYTES)
NUMBERS = array.array("d", [1.0, 2.0])
VIEW = NESTED.items()
VALUES = DEFAULT.values()
KEYS = DEFAULT.keys()


@reads(item(LIST, 0, 5), calling(lambda: LIST.append(4), lambda: LIST.pop()))
def items_of_a_list(x):
    return x * sum(LIST) * len(LIST)


@reads(item(NESTED["a"][1]["b"][1], 0, 7))
def nested_item(x):
    return x * NESTED["a"][1]["b"][1][0]


@reads(calling(lambda: SET.add(9), lambda: SET.discard(9)))
def elements_of_a_set(x):
    return x * len(SET) * (2 if 9 in SET else 1)


@reads(item(globals(), "FROZEN", frozenset([1, 2, 9])))
def elements_of_a_frozen_set(x):
    return x * len(FROZEN)


@reads(calling(lambda: DEQUE.append(5), lambda: DEQUE.pop()))
def items_of_a_deque(x):
    return x * sum(DEQUE)


@reads(calling(lambda: COUNTER.update("a"), lambda: COUNTER.subtract("a")))
def counts(x):
    return x * COUNTER["a"] * COUNTER["zzz" if False else "a"], COUNTER.most_common(1)


@reads(item(COUNTER, "new", 4))
def count_that_appears(x):
    return x * (1 + COUNTER["new"])


@reads(calling(lambda: ORDERED.move_to_end("a"), lambda: ORDERED.move_to_end("b")))
def order_of_a_dict(x):
    return x * next(iter(ORDERED.values()))


@reads(item(DEFAULT, "a", 7))
def item_of_a_default_dict(x):
    return x * DEFAULT["a"]


@reads(item(CHAIN.maps[0], "a", 7))
def item_of_a_chain_of_maps(x):
    return x * CHAIN["a"]


@reads(item(CHAIN.maps[0], "c", 7))
def length_of_a_chain_of_maps(x):
    return x * len(CHAIN)


@reads(item(USER_DICT, "a", 7))
def item_of_a_user_dict(x):
    return x * USER_DICT["a"]


@reads(calling(lambda: USER_LIST.append(7), lambda: USER_LIST.pop()))
def items_of_a_user_list(x):
    return x * len(USER_LIST)


@reads(item(BYTES, 0, 77))
def bytes_that_change(x):
    return x * BYTES[0]


@reads(item(BYTES, 0, 77))
def bytes_in_builtins(x):
    return x * sum(BYTES), max(BYTES), bytes(BYTES), list(BYTES), BYTES == b"abc"


@reads(item(BYTES, 0, 77))
def bytes_contain(x):
    return x * (2 if 77 in BYTES else 1)


@reads(calling(lambda: BYTES.__setitem__(0, 77), lambda: BYTES.__setitem__(0, 97)))
def bytes_by_methods(x):
    return x, BYTES.find(b"b"), BYTES.decode(), BYTES.hex()


@reads(item(BYTES, 0, 77))
def memory(x):
    return x * MEMORY[0], bytes(MEMORY), MEMORY.tolist()


@reads(item(NUMBERS, 0, 77.0))
def numbers_of_an_array(x):
    return x * NUMBERS[0] * sum(NUMBERS)


@reads(item(NUMBERS, 0, 77.0))
def numbers_as_a_list(x):
    return x * len(NUMBERS), NUMBERS.tolist(), 77.0 in NUMBERS


@reads(item(NUMBERS, 0, 77.0))
def numbers_as_a_tensor(x):
    return x * Tensor(list(NUMBERS)).sum()


@reads(item(NESTED, "new", 7))
def view_of_a_dict(x):
    n = 0
    for _ in VIEW:
        n += 1
    return x * n * len(VIEW)


@reads(item(DEFAULT, "a", 7), item(DEFAULT, "new", 7))
def values_of_a_dict(x):
    return x * sum(VALUES) * len(KEYS), "new" in KEYS, list(VALUES)


ITERATOR = iter([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20] * 10)


@reads(calling(lambda: next(ITERATOR)))
def remaining_length(x):
    return x * operator.length_hint(ITERATOR)


def generate():
    yield from range(1000)


GENERATOR = generate()


@reads(calling(lambda: next(GENERATOR)))
def state_of_a_generator(x):
    return x * (1 if GENERATOR.gi_frame is None else GENERATOR.gi_frame.f_lasti)


ZIPPED = list(zip([1, 2], [[3], [4]], strict=True))


@reads(calling(lambda: ZIPPED[0][1].append(9), lambda: ZIPPED[0][1].pop()))
def list_in_a_tuple_in_a_list(x):
    return x * sum(len(v) for _, v in ZIPPED)


TUPLE = ([1], {"a": 2})


@reads(item(TUPLE[0], 0, 5), item(TUPLE[1], "a", 5))
def list_in_a_tuple(x):
    return x * TUPLE[0][0] * TUPLE[1]["a"]


class Point(collections.namedtuple("Point", "a b")):
    @property
    def total(self):
        return self.a + NUMBER


POINT = Point([1], 2)


@reads(item(POINT.a, 0, 5))
def list_in_a_named_tuple(x):
    return x * POINT.a[0]


@reads(item(globals(), "NUMBER", 5))
def property_of_a_named_tuple(x):
    return x * Point(1, 2).total


@dataclasses.dataclass(frozen=True)
class Frozen:
    values: list


FROZEN_DATA = Frozen([1])


@reads(item(FROZEN_DATA.values, 0, 5))
def list_in_a_frozen_dataclass(x):
    return x * FROZEN_DATA.values[0]


PARTIAL = functools.partial(helper, v=[1])


@reads(item(PARTIAL.keywords, "v", 7))
def keyword_of_a_partial(x):
    return x * PARTIAL.keywords["v"] if isinstance(PARTIAL.keywords["v"], int) else x


def with_mutable_default(x, held=[2]):  # noqa: B006
    return x * held[0]


@reads(item(with_mutable_default.__defaults__[0], 0, 5))
def list_as_a_default(x):
    return with_mutable_default(x)


with_mutable_default.note = 2


@reads(attribute(with_mutable_default, "note", 5))
def attribute_of_a_function(x):
    return x * with_mutable_default.note


SPACE = types.SimpleNamespace(a=types.SimpleNamespace(b=2))


@reads(attribute(SPACE.a, "b", 5))
def nested_namespace(x):
    return x * SPACE.a.b


@reads(attribute(SPACE, "c", 5))
def text_of_a_namespace(x):
    return x, str(SPACE)


@reads(attribute(SPACE, "c", 5))
def namespaces_compared(x):
    return x * (2 if types.SimpleNamespace(a=SPACE.a) == SPACE else 1)


FORMAT, WIDTH = "{:>5}", 5


@reads(item(globals(), "FORMAT", "{:>9}"))
def format_of_a_number(x):
    return x, FORMAT.format(3)


@reads(item(globals(), "WIDTH", 9))
def width_of_a_number(x):
    return x, f"{3:>{WIDTH}}"


@reads(item(NESTED, "a", 7))
def item_by_format(x):
    return x, "{0[a]}".format(NESTED)  # noqa: UP030, UP032


@reads(item(NESTED, "a", 7))
def item_by_format_map(x):
    return x, "{a}".format_map(NESTED)


class Named:
    value = 2


NAMED = Named()


@reads(attribute(NAMED, "value", 5))
def attribute_by_format(x):
    return x, "{0.value}".format(NAMED)  # noqa: UP030, UP032


@reads(item(NESTED, "b", 7))
def item_by_percent(x):
    return x, "%(a)s" % NESTED, len("%s" % NESTED)  # noqa: UP031


@reads(item(NESTED, "b", 7))
def item_by_itemgetter(x):
    return x * len(operator.itemgetter("a")(NESTED)) * operator.contains(NESTED, "b")


CYCLE = itertools.cycle([1, 2])
REPEAT = itertools.repeat([2])


@reads(calling(lambda: next(CYCLE)))
def text_of_a_cycle(x):
    return x * len(repr(CYCLE)[:6])


STREAM = io.BytesIO(b"abcdef")


@reads(calling(lambda: STREAM.seek(0), lambda: STREAM.seek(3)))
def contents_of_a_stream(x):
    return x * len(STREAM.getbuffer())


@reads(calling(lambda: STREAM.write(b"xx")))
def iteration_of_a_stream(x):
    return x * len(STREAM.getvalue())


@reads(item(LIST, 1, 7))
def item_by_literal_of_a_dict(x):
    return x * {**NESTED, "c": LIST}["c"][1]


@reads(item(NESTED, "d", 7))
def unpacked_dict(x):
    return x * len({**NESTED})


@reads(item(NESTED, "d", 7))
def dict_given_as_keywords(x):
    return x * len(dict(**NESTED)) * len(dict(NESTED)) * len(NESTED.copy()) * len(NESTED | {})


@reads(item(LIST, 1, 7))
def unpacked_list(x):
    return x * max(*LIST)


@reads(item(LIST, 1, 7))
def sliced_list(x):
    return x * LIST[1:][0] * LIST[-2]


@reads(item(LIST, 1, 7))
def chained_lists(x):
    return x * sum(itertools.chain(LIST, [1])) * len(list(itertools.accumulate(LIST)))


@reads(item(LIST, 1, 7))
def accumulated_list(x):
    return x * list(itertools.accumulate(LIST))[-1] * list(itertools.product(LIST, LIST))[4][0]


@reads(item(LIST, 1, 7))
def list_in_a_generator(x):
    return x * sum(v * 2 for v in LIST)


@reads(item(globals(), "LIST", MISSING))
def global_that_goes(x):
    try:
        return x * len(LIST)
    except NameError:
        return x


COUNTING = itertools.count(3)


@reads(calling(lambda: next(COUNTING)))
def text_of_an_iterator(x):
    return x, repr(COUNTING)


@reads(item(os.environ, "READABLE", "7"))
def item_that_is_missing(x):
    try:
        return x, os.environ["READABLE"]
    except KeyError:
        return x
