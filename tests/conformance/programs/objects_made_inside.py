"""Objects with slots that the program makes, data that classes hold under names with two underscores, special methods
that are no functions, functions whose parts are replaced: found by the tests of other packages."""

from __future__ import annotations

import copy
import dataclasses
import operator

import duograph as ms
from tests.conformance.harness import T, program

X = T([1.0, 2.0])
CALLS = [([1],), ([1],), ([2],), ([],), ([2],)]


class Slots:
    __slots__ = ("item", "key", "late")
    kind = "a kind"

    def __init__(self, item):
        self.item, self.key = item, self.kind

    def lazy(self):
        try:
            return self.late
        except AttributeError:
            self.late = self.item * 2
            return self.late


class SlotsAndDictionary(Slots):
    __slots__ = ("__dict__",)

    def __init__(self, item):
        super().__init__(item)
        self.other = self.item


@dataclasses.dataclass(slots=True)
class Pair:
    first: object
    second: int = 2


@dataclasses.dataclass(slots=True, frozen=True)
class Frozen:
    first: object


class Linked:
    __slots__ = ("__private", "__dict__", "left", "next")

    def __init__(self, left):
        self.left, self.__private = left, left
        self.next = self

    def shown(self):
        return self.left, self.__private, self.next is self, sorted(vars(self))

    def __repr__(self):
        return f"Linked{self.shown()}"


@program(calls=CALLS, build=True)
def objects_with_slots_leave():
    kept = []

    def made(item):
        one = Pair(X * len(item))
        if item:
            one.second = item[0]
        kept.append(one)
        return one, Frozen(one), Pair(item, 1)

    def f(item):
        one, two, three = ms.jit(made)(item)
        return one.first, one.second, two.first is one, kept[-1] is one, three.first is item, len(kept)

    return f


@program(calls=CALLS)
def an_object_with_slots_and_a_dictionary_leaves(item):
    one = Linked(X * 2)
    one.other = item
    return one


@program(calls=[(X,), (-X,)] * 2)
def slots_that_a_branch_fills(x):
    one = Pair(x)
    if x.sum() > 0:
        one.first = x * 2
    else:
        one.second = 5
    while one.first.sum() < 50:
        one.first = one.first * 2 + 60
    return one


@program(calls=CALLS, captured=False, build=True)
def an_attribute_is_deleted_and_set_again():
    held = SlotsAndDictionary(1)
    held.first, held.second = 1, 2

    def f(item):
        del held.first
        held.first = X * 2
        return list(vars(held))

    return f


@program(calls=CALLS, captured=False, build=True)
def an_object_with_slots_reads_its_class():
    made = []

    def f(item):
        made.append(Slots(item))
        return [one.item for one in made], len(set(map(id, made)))

    return f


@program(calls=CALLS, captured=False)
def an_object_with_slots_is_given(item):
    one = Slots(item)
    return one.lazy(), one.lazy(), one.item, one.key


@program(calls=CALLS, captured=False)
def an_object_with_slots_and_a_dictionary(item):
    one = SlotsAndDictionary(item)
    return one.item, one.other, one.key, one.lazy()


@program(calls=[(X,), (-X,)], choice=True)
def slots_that_are_written_in_a_branch(x):
    one, two = Slots(x), SlotsAndDictionary(x)
    if x.sum() > 0:
        one.item = two.item = x * 2
    return one.item, two.item, two.other, one.key


@program(X, captured=False)
def an_object_with_slots_is_copied(x):
    one = copy.copy(Slots(x))
    return one.item, operator.attrgetter("item")(Slots(x)), {Slots(x).key: 1}


@program(X, captured=False)
def an_object_with_slots_is_a_key(x):
    return [one.item for one in {Slots(x): 1, Slots(x + 1): 2}]


class Registered:
    __registry__: list = []
    __factor__ = 3

    def __twice__(self, x):
        return x * 2


@program(calls=[(X, 3), (X, 3), (X, 5), (X, 5)], captured=False)
def data_of_a_class_under_a_special_name(x, factor):
    Registered.__factor__ = factor
    return x * Registered.__factor__ + Registered().__factor__


@program(calls=[(X,), (X,), (X,)], captured=False, build=True)
def a_list_of_a_class_under_a_special_name():
    class Held:
        __registry__ = []

    def f(x):
        Held.__registry__.append(len(Held.__registry__))
        return x * len(Held.__registry__), Held.__registry__ is Held().__registry__

    return f


@program(calls=[(X, 0), (X, 1), (X, 0), (X, 1)], build=True)
def a_method_under_a_special_name_of_the_object_alone():
    objects = [Registered(), Registered()]
    vars(objects[1])["__twice__"] = lambda x: x * 7

    def f(x, which):
        return objects[which].__twice__(x)

    return f


class Unanswering:
    __iter__ = __reversed__ = __contains__ = __enter__ = __exit__ = None
    __add__ = None
    __len__ = 5

    def __getitem__(self, i):
        return [1, 2][i]


class Other:
    def __radd__(self, other):
        return "added"


def told(action):
    try:
        return str(action())
    except TypeError as error:
        return str(error).replace("'tests.conformance.programs.objects_made_inside.", "'")


@program(X, captured=False)
def special_methods_that_are_none(x):
    one = Unanswering()
    found = [told(lambda: list(iter(one))), told(lambda: 1 in one), told(lambda: list(reversed(one)))]
    found += [told(lambda: one + Other()), told(lambda: len(one)), told(lambda: bool(one))]
    return found, x * 2


@program(X, captured=False)
def a_with_statement_over_none(x):
    try:
        with Unanswering():
            return x
    except TypeError as error:
        return str(error), x * 2


class Entered:
    def __enter__(self):
        return 1


@program(X)
def a_with_statement_without_an_exit(x):
    try:
        with Entered():
            return x
    except TypeError as error:
        return str(error).replace(Entered.__qualname__, "Entered"), x * 2


class MadeByNew:
    def __new__(cls, item):
        made_by_new = object.__new__(cls)
        made_by_new.item = item
        return made_by_new


@program(calls=CALLS, captured=False)
def an_object_made_by_its_new(item):
    return MadeByNew(item).item


@program(X, captured=False)
def code_of_a_function_defined_inside(x):
    def inner(v, k=2):
        return v + k

    before = inner(x), inner.__defaults__
    inner.__defaults__ = (9,)
    between = inner(x)
    inner.__code__ = (lambda v, k=2: v * 7).__code__
    return before, between, inner(x)


@program(X)
def attributes_of_a_function_defined_inside(x):
    def inner(v):
        return v + 1

    inner.calls = 2
    inner.__name__ = "named"
    return inner(x) * inner.calls, inner.__name__


@program(X, captured=False)
def attributes_that_only_captured_functions_have(x):
    def inner(v):
        return v + 1

    inner.source = inner.frame = 2
    return inner(x) * inner.source * inner.frame


@program(calls=[(X, 10**20), (X, 2**63), (X, 3)])
def a_loop_over_more_numbers_than_a_list_has(x, n):
    for i in range(1, n):
        x = x + i
        if i == 3:
            break
    return x


class Settings:
    def __init__(self):
        self.rate, self.names = 2.0, ["a"]


class Loud(Settings):
    def __setattr__(self, name, value):
        NOTED.append(name)
        super().__setattr__(name, value)


class Asked(Settings):
    def __getattr__(self, name):
        NOTED.append(name)
        raise AttributeError(name)


NOTED: list[str] = []
SETTINGS = Settings()


@program(calls=[(X,), (X * -1,), (X,)], SETTINGS=SETTINGS)
def a_shallow_copy_of_what_lies_outside(x):
    mine = copy.copy(SETTINGS)
    mine.rate = mine.rate + 1
    mine.names[0] = "b"
    if x.sum() > 0:
        mine.rate = mine.rate * 2
    return x * mine.rate, SETTINGS.names[0], SETTINGS.rate, mine is SETTINGS, vars(mine)


@program(calls=[(X,), (X,)], NOTED=[], SETTINGS=Loud())
def a_copy_does_not_set_attributes(x):
    return x * copy.copy(SETTINGS).rate, len(NOTED)


@program(calls=[(X,), (X,)], NOTED=[], SETTINGS=Asked(), captured=False)
def a_copy_asks_for_what_makes_one(x):
    return x * copy.copy(SETTINGS).rate, len(NOTED)


@dataclasses.dataclass(frozen=True)
class Span:
    first: object
    last: int = 3

    def __post_init__(self):
        object.__setattr__(self, "size", self.last + 1)


@program(calls=[(X,), (X,)])
def a_replaced_field_of_what_is_made_inside(x):
    span = dataclasses.replace(Span(x), last=5)
    return span.first * span.size, span.last, dataclasses.replace(span, first=1).size


@program(calls=[(X,), (X,)])
def a_replaced_field_that_is_not_there_error(x):
    return dataclasses.replace(Span(x), middle=5)


class Counting(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.number = len(args)
        return made


class Counted(metaclass=Counting):
    def __init__(self, value):
        self.value = value


@program(calls=[(X,), (X,)])
def a_metaclass_that_makes_objects(x):
    made = Counted(x)
    return made.value * made.number


@program(calls=[(X,), (X,)])
def a_metaclass_that_gets_too_much_error(x):
    return Counted(x, 2).value
