"""Containers and constants from outside that are equal, and are not the same: aliases, keys, attributes, history.

The first call captures; a later one brings, or finds, what ``==`` does not tell from it.
"""

import collections
import enum
import heapq
import operator
import weakref

from tests.conformance.harness import T, program

P = T([1.0])
LOG: list = []
TABLE: dict = {}


class Holder:
    def __init__(self, **values):
        vars(self).update(values)


class Items(list):
    pass


class Table(dict):
    pass


class Name(str):
    pass


def _pair(kind, same):
    """A deque (which is copied as a whole) of two equal containers, or of one of them twice."""
    one = kind([1])
    return collections.deque([one, one if same else kind([1])])


# -- aliases -------------------------------------------------------------------------------------------------------


@program(calls=[(P, _pair(list, False)), (P, _pair(list, True)), (P, _pair(list, False))])
def a_list_that_is_appended_to_is_the_other_one(x, pair):
    pair[0].append(5)
    return x * len(pair[1])


@program(calls=[(P, _pair(list, False)), (P, _pair(list, True))])
def a_list_is_the_other_one_for_a_moment(x, pair):
    pair[0].append(5)
    n = len(pair[1])
    pair[0].pop()
    return x * n


@program(calls=[(P, _pair(list, False)), (P, _pair(list, True))])
def a_heap_is_the_other_one_for_a_moment(x, pair):
    heapq.heappush(pair[0], 0)
    n = len(pair[1])
    heapq.heappop(pair[0])
    return x * n


@program(calls=[(P, _pair(set, False)), (P, _pair(set, True))])
def a_set_that_is_added_to_is_the_other_one(x, pair):
    pair[0].add(5)
    return x * len(pair[1])


@program(calls=[(P, _pair(Items, False)), (P, _pair(Items, True))])
def a_list_of_a_class_is_the_other_one(x, pair):
    pair[0][0] = 7
    return x * pair[1][0]


@program(calls=[(P, _pair(dict.fromkeys, False)), (P, _pair(dict.fromkeys, True))])
def a_dict_that_is_written_to_is_the_other_one(x, pair):
    pair[0][1] = 3
    return x * (pair[1][1] or 1)


@program(calls=[(P, _pair(list, False)), (P, _pair(list, True)), (P, _pair(list, False))])
def equal_lists_are_one_object_or_two(x, pair):
    return x * 2 if pair[0] is pair[1] else x


@program(calls=[(P, "use"), (P, "join"), (P, "use"), (P, "use")], ONE=[1], TWO=[1])
def a_global_list_becomes_the_other_one(x, what):
    global ONE
    if what == "join":
        ONE = TWO  # noqa: F821
        return x
    ONE.append(5)
    return x * len(TWO)  # noqa: F821


# -- keys and elements ---------------------------------------------------------------------------------------------


@program(calls=[(P, {1: "a"}), (P, {True: "a"}), (P, {1.0: "a"}), (P, {1: "a"})])
def equal_keys_of_several_types(x, table):
    return x, list(table), [type(k).__name__ for k in table]


@program(calls=[(P, {0.0: 1}), (P, {-0.0: 1})])
def keys_that_differ_in_their_sign(x, table):
    return x, list(table)


@program(calls=[(P, {(1, 2): 1}), (P, {(True, 2): 1}), (P, {(1, 2.0): 1}), (P, {(1, 2): 1})])
def equal_keys_in_tuples(x, table):
    return x * table[1, 2], list(table)


@program(calls=[(P, {Name("a"): 1}), (P, {"a": 1}), (P, {Name("a"): 1})])
def keys_of_a_class_of_strings(x, table):
    return x, [type(k).__name__ for k in table]


@program(calls=[(P, {1}), (P, {True}), (P, {1.0})])
def equal_elements_of_several_types(x, values):
    return x, [type(v).__name__ for v in values]


@program(calls=[(P, {0, 8}), (P, {8, 0}), (P, {0, 8})])
def equal_sets_in_another_order(x, values):
    return x, list(values)


@program(calls=[(P, {1, 8, 0, 16}), (P, {16, 8, 0, 1})], captured=True)
def the_order_of_a_set_that_something_is_taken_from(x, values):
    values.discard(8)
    return x, list(values)


@program(P, {1, 2}, captured=True)
def a_set_from_outside_is_added_to_more_than_once(x, values):
    values.add(7)
    values.add(9)
    return x * len(values) * (9 in values)


@program(P, {1, 2}, captured=False)
def the_order_of_a_set_that_has_been_added_to(x, values):
    values.add(8)
    values.add(16)
    return x, list(values)


@program(calls=[(P, "pop"), (P, "pop"), (P, "fill"), (P, "pop")], captured=False, NUMBERS={1, 2, 3})
def a_set_from_outside_chooses(x, what):
    if what == "fill":
        NUMBERS.update({1, 2, 3})  # noqa: F821
        return x
    return x * NUMBERS.pop()  # noqa: F821


@program(calls=[(P, range(0)), (P, range(5, 5)), (P, range(3)), (P, range(0, 3, 1))])
def equal_ranges(x, numbers):
    return x, numbers.start, numbers.stop, numbers


@program(calls=[(P, slice(1, 2)), (P, slice(True, 2)), (P, slice(1, 2))])
def equal_slices(x, part):
    return x, part.start, type(part.start).__name__


@program(P, {1, 2}, {1: "a"})
def an_element_and_a_key_become_equal_ones(x, values, table):
    values.remove(1)
    values.add(True)
    table[True] = table.pop(1)
    return x, list(table)


@program(calls=[(P,), (-P,)])
def equal_constants_on_two_paths(x):
    if x.sum() > 0:
        part, numbers, table = slice(1, 2), range(0), {1: 2}
    else:
        part, numbers, table = slice(True, 2), range(5, 5), {True: 2}
    return x, type(part.start).__name__, numbers.start, list(table)


@program(calls=[(P,), (-P,)])
def equal_sets_in_another_order_on_two_paths(x):
    values = set()
    if x.sum() > 0:
        values.add(8)
        values.add(0)
    else:
        values.add(0)
        values.add(8)
    return x, list(values)


# -- attributes ----------------------------------------------------------------------------------------------------


def _with(value, **attributes):
    vars(value).update(attributes)
    return value


@program(calls=[(P, _with(Items([1]), k=k)) for k in (2, 3, 2)])
def attributes_of_a_list(x, values):
    return x * values.k


@program(calls=[(P, _with(Table(a=1), k=2)), (P, _with(Table(a=1), k=3)), (P, Table(a=1))])
def attributes_of_a_dict(x, table):
    return x * getattr(table, "k", 9)


@program(calls=[(P, _with(Items([1]), k=[2])), (P, _with(Items([1]), k=[2]))])
def a_list_that_a_list_has_as_attribute(x, values):
    values.k.append(3)
    return x * len(values.k)


@program(P, "again", captured=False, KEPT=_with(Items([1]), k=2))
def an_attribute_of_a_list_is_set(x, what):
    r = x * KEPT.k  # noqa: F821
    KEPT.k += 1  # noqa: F821
    return r, KEPT.k  # noqa: F821


@program(calls=[(P, _with(Name("a"), k=k)) for k in range(3)], captured=False)
def attributes_of_equal_strings(x, name):
    return x * name.k, name == "a"


@program(calls=[(P,), (-P,)], build=True)
def equal_strings_with_attributes_on_two_paths():
    one, two = _with(Name("a"), k=1), _with(Name("a"), k=2)
    return lambda x: x * (one if x.sum() > 0 else two).k


class Points(tuple):
    def __new__(cls, first, second):
        return super().__new__(cls, (first, second))


@program(calls=[(P,), (-P,)], choice=True)
def tuples_of_a_class_on_two_paths(x):
    points = Points(x + 2, x + 1) if x.sum() > 0 else Points(x * 3, x * 2)
    return points[0] + points[1], points


class Point(collections.namedtuple("Point", "x y")):
    def total(self):
        return self.x + self.y


@program(calls=[(P, Point(1, 2)), (P, _with(Point(1, 2), z=3)), (P, _with(Point(1, 2), z=4)), (P, Point(1, 2))])
def attributes_of_equal_tuples(x, point):
    return x * point.total() * getattr(point, "z", 1)


class Settings(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


@program(calls=[(P,), (P,), (P,)], build=True)
def a_dict_whose_attributes_are_its_items():
    settings = Settings(rate=1)

    def step(x):
        settings.rate = settings.rate + 1
        return x * settings.rate

    return step


class Sized(dict):
    def __init__(self, **values):
        super().__init__(**values)
        self.size = len(values)


@program(calls=[(P,), (-P,)], captured=False)
def an_attribute_of_a_dict_on_two_paths(x):
    table = Sized(a=1)
    if x.sum() > 0:
        table.size = 5
    return x * table.size, table


@program(calls=[(P, collections.deque([1, 2], maxlen=n)) for n in (2, 5, None, 2)])
def the_length_that_a_deque_may_have(x, queue):
    queue.append(3)
    return x * len(queue), queue.maxlen


# -- code of the user ----------------------------------------------------------------------------------------------


class Noting(list):
    def append(self, value):
        LOG.append(value)
        super().append(value)


class NotingTable(dict):
    def __setitem__(self, key, value):
        LOG.append(key)
        super().__setitem__(key, value)


class NotingTuple(tuple):
    def __new__(cls, first, second):
        LOG.append(first)
        return super().__new__(cls, (first, second))


@program(calls=[(P,), (P,)], build=True, LOG=[])
def containers_that_note_how_they_are_filled():
    one, two, three = Noting([1]), NotingTable(a=1), NotingTuple([3], 4)
    return lambda x: (x * (len(one) + len(two) + len(three[0])), len(LOG))


def _counted():
    LOG.append("made")
    return len(LOG)


@program(calls=[(P, k) for k in "abca"], LOG=[], MADE=collections.defaultdict(_counted))
def the_factory_of_a_defaultdict_is_the_users(x, key):
    return x * MADE[key]  # noqa: F821


def _factory(n):
    return lambda: n


@program(calls=[(P, collections.defaultdict(_factory(n))) for n in (1, 2, 3)])
def equal_defaultdicts_with_several_factories(x, table):
    return x * table["q"]


@program(calls=[(P, k) for k in "aba"], captured=False, LOG=[], MADE=collections.defaultdict(_counted))
def native_code_asks_a_defaultdict_for_what_is_missing(x, key):
    value = operator.itemgetter(key)(MADE)  # noqa: F821
    MADE.clear()  # noqa: F821
    return x * value


@program(P, captured=False)
def a_defaultdict_that_is_returned_has_its_factory(x):
    table = collections.defaultdict(lambda: 3)
    table["a"] = x
    return table, table.default_factory()


class Colour(enum.Enum):
    RED = 1
    BLUE = 2

    def __init__(self, value):
        LOG.append(value)
        self.extra = value


@program(calls=[(P, 1), (P, 2), (P, 1)], LOG=[])
def a_member_of_an_enumeration_is_looked_up(x, value):
    return x * Colour(value).extra, len(LOG), Colour(value) is Colour.RED


# -- identity ------------------------------------------------------------------------------------------------------


@program(calls=[(P, "use"), (P, "part"), (P, "use")], captured=False, FIRST=(1, 2), SECOND=None)
def equal_tuples_are_one_object_or_two(x, what):
    global SECOND
    if what == "part" or SECOND is None:
        SECOND = tuple([1, 2]) if what == "part" else FIRST  # noqa: F821
    return x, FIRST is SECOND  # noqa: F821


@program(P, KEPT=([1], 2))
def a_tuple_that_is_returned_holds_what_it_held(x):
    KEPT[0].append(3)  # noqa: F821
    return x * len(KEPT[0]), KEPT  # noqa: F821


# -- dictionaries of objects ---------------------------------------------------------------------------------------


@program(calls=[(P,), (P,)], captured=False, THING=Holder(a=1))
def the_dictionary_of_an_object_is_updated(x):
    THING.__dict__.update(a=THING.a + 1)  # noqa: F821
    return x * THING.a  # noqa: F821


@program(calls=[(P,), (P,)], captured=False, THING=Holder(a=1))
def a_new_item_of_the_dictionary_of_an_object(x):
    THING.__dict__["b"] = 3  # noqa: F821
    return x * THING.b  # noqa: F821


@program(calls=[(P,), (P,)], captured=False, THING=Holder(a=1))
def the_dictionary_of_an_object_after_a_write(x):
    THING.a += 1  # noqa: F821
    return x * THING.__dict__["a"]  # noqa: F821


@program(calls=[(P,), (P,)], captured=False, THING=Holder(a=1))
def the_dictionary_of_an_object_before_a_write(x):
    held = THING.__dict__  # noqa: F821
    THING.a += 1  # noqa: F821
    return x * held["a"]


@program(calls=[(P,), (P,)], THING=Holder(a=3))
def the_dictionary_of_an_object_is_read(x):
    return x * THING.__dict__["a"], list(THING.__dict__)  # noqa: F821


def _counting(x):
    return x


@program(calls=[(P,), (P,)], captured=False, COUNT=0)
def the_globals_of_a_function(x):
    global COUNT
    COUNT += 1
    return x * _counting.__globals__["COUNT"]


# -- what is told when it is dropped -------------------------------------------------------------------------------


class Dying:
    def __del__(self):
        LOG.append("dead")


@program(P, build=True, captured=False, LOG=[])
def the_last_object_of_a_list_is_dropped():
    held = [Dying()]

    def drop(x):
        held.clear()
        LOG.append("after")
        return x * LOG.index("dead") if "dead" in LOG else x * 7

    return drop


@program(P, build=True, captured=False, LOG=[])
def an_attribute_lets_go_of_an_object_that_holds_one():
    holder = Holder(inner=Holder(items=[Dying()]))

    def drop(x):
        holder.inner = None
        LOG.append("after")
        return x * LOG.index("after")

    return drop


class Slots:
    __slots__ = ("value",)


@program(P, build=True, captured=False, LOG=[])
def a_slot_lets_go_of_an_object():
    holder = Slots()
    holder.value = Dying()

    def drop(x):
        holder.value = None
        LOG.append("after")
        return x * LOG.index("after")

    return drop


@program(P, build=True, captured=False, LOG=[])
def a_weak_reference_tells_of_an_object_that_is_dropped():
    table = {"a": Holder()}
    reference = weakref.ref(table["a"], lambda _: LOG.append("dead"))

    def drop(x):
        del table["a"]
        LOG.append("after")
        return x * LOG.index("after"), reference() is None

    return drop


# A tensor decides which of two containers a name means, and another name means one of them. Found by fuzzing: paths
# joined in a third container, and what was done to that was not done to the ones that have other names.

DECIDED = [(T([0.5, 1.0]), [T([0.5, 9.0]), P]), (T([18.0, 1.0]), [T([18.0, 9.0]), P])]


@program(calls=DECIDED)
def an_argument_or_a_new_list_is_written(x, xs):
    if xs[0].sum() > 10:
        xs = [a + 1 for a in xs]
    xs[0] = x
    return xs


@program(calls=DECIDED)
def an_argument_or_a_new_list_grows(x, xs):
    while xs[0].sum() < 10:
        xs = [a + 1 for a in xs]
    xs.append(x)
    return 1


@program(calls=DECIDED)
def a_list_with_two_names_or_a_new_one(x, xs):
    ys = [x]
    zs = ys
    if xs[0].sum() > 10:
        ys = [x + 1]
    ys[0] = x * 5
    return ys, zs, ys is zs


@program(calls=DECIDED)
def a_dict_with_two_names_in_a_loop(x, xs):
    d = e = {"a": x}
    for _ in range(3):
        if xs[0].sum() > 10:
            d = {"a": x + 1}
        d["a"] = d["a"] * 5
    return d, e


@program(calls=DECIDED)
def a_dict_in_a_tuple_or_a_new_one(x, xs):
    a = {"k": x}
    b = (a, 1)
    while x.sum() < 10:
        a = {"k": a["k"] + 1}
        x = x * 2
    a["k"] = x * 7
    return a, b


@program(calls=DECIDED)
def a_list_in_a_list_or_a_new_one(x, xs):
    a = [[x], [x + 1]]
    b = a[0]
    if x.sum() > 3:
        a[0] = [x * 2]
    a[0].append(x)
    return len(b), len(a[0])


@program(calls=DECIDED)
def a_list_in_two_tuples_or_a_new_one(x, xs):
    t = u = ([x], 2)
    if x.sum() > 3:
        t = ([x * 2], 2)
    t[0].append(x)
    return len(u[0]), len(t[0])


@program(calls=DECIDED)
def a_callee_gives_its_list_back_or_a_new_one(x, xs):
    def pick(v):
        return [v[0] + 1] if v[0].sum() > 3 else v

    a = [x]
    c = pick(a)
    c[0] = x * 3
    return a, c


@program(P, captured=False)
def tensors_that_are_made_inside_as_keys(x):
    """Found by fuzzing: the key of the capture, which has no value, stood in the dictionary of every call."""
    return {x + 1: 2, "a": {(x * 2, 1): x}}


@program(calls=[(P,), (P,)], captured=False, TABLE={})
def a_dictionary_from_outside_gets_tensors_as_keys(x):
    TABLE[max(x, x + 1)] = x * 2
    return [k * 2 for k in TABLE]
