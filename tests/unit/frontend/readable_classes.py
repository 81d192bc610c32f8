"""Readable things: methods that are replaced, classes and what makes them, descriptors."""

from __future__ import annotations

import abc
import dataclasses
import functools
import operator
import typing

from .readable import attribute, item, reads
from .readable_operators import Operand

SCALE = 3.0
scale_changed = item(globals(), "SCALE", 5.0)


# -- methods that are replaced -----------------------------------------------------------------------------------------


class Plain:
    level = 3

    def __init__(self, v=2):
        self.v = v

    def method(self):
        return self.v

    def __add__(self, other):
        return self.v + 1

    def __call__(self):
        return self.v + 1

    def __len__(self):
        return self.v

    def __getitem__(self, key):
        return self.v

    def __iter__(self):
        return iter([self.v])

    def __str__(self):
        return "text"

    @property
    def prop(self):
        return self.v

    @staticmethod
    def static():
        return 2

    @classmethod
    def of_class(cls):
        return 2


class Child(Plain):
    pass


PLAIN, CHILD = Plain(), Child()


@reads(attribute(Plain, "method", lambda self: 9), attribute(PLAIN, "method", lambda: 8))
def method_replaced(x):
    return x * PLAIN.method()


@reads(attribute(Child, "method", lambda self: 9), attribute(Plain, "method", lambda self: 8))
def method_overridden_later(x):
    return x * CHILD.method()


@reads(attribute(Plain, "__add__", lambda self, other: 9), attribute(Child, "__add__", lambda self, other: 9))
def addition_replaced(x):
    return x * (CHILD + 1)


@reads(attribute(Plain, "__call__", lambda self: 9))
def call_replaced(x):
    return x * PLAIN()


@reads(attribute(Plain, "__len__", lambda self: 9))
def length_replaced(x):
    return x * len(PLAIN)


@reads(attribute(Plain, "__getitem__", lambda self, key: 9))
def item_replaced(x):
    return x * PLAIN[0]


@reads(attribute(Plain, "__iter__", lambda self: iter([9])))
def iteration_replaced(x):
    for v in PLAIN:
        x = x * v
    return x


@reads(attribute(Plain, "__str__", lambda self: "other"), attribute(Plain, "__str__", object.__str__))
def text_replaced(x):
    return x, str(PLAIN)[:5], f"{PLAIN}"[:5]


@reads(attribute(Plain, "__bool__", lambda self: False))
def truth_that_appears(x):
    return x * (2 if PLAIN else 1)


@reads(attribute(Plain, "__eq__", lambda self, other: True))
def equality_that_appears(x):
    return x * (2 if PLAIN == 5 else 1)


@reads(attribute(Plain, "__radd__", lambda self, other: 9))
def addition_that_appears(x):
    try:
        return x * (1 + PLAIN)
    except TypeError:
        return x


@reads(attribute(Plain, "__getattr__", lambda self, name: 9))
def getattr_that_appears(x):
    return x * getattr(PLAIN, "nothing", 2)


@reads(attribute(Plain, "__getattribute__", lambda self, name: 9))
def getattribute_that_appears(x):
    return x * PLAIN.v


@reads(attribute(Plain, "__setattr__", lambda self, name, value: None))
def setattr_that_appears(x):
    made = Plain()
    made.v = 5
    return x * made.v


@reads(attribute(Plain, "__contains__", lambda self, v: True))
def contains_that_appears(x):
    return x * (2 if 77 in PLAIN else 1)


@reads(attribute(Plain, "__init__", lambda self, v=2: self.__dict__.update(v=9)))
def init_replaced(x):
    return x * Plain().v


@reads(attribute(Child, "__init__", lambda self, v=2: self.__dict__.update(v=9)))
def init_that_appears(x):
    return x * Child().v


class Bare:
    v = 2


@reads(attribute(Bare, "__init__", lambda self: self.__dict__.update(v=9)))
def init_of_a_bare_class(x):
    return x * Bare().v


@reads(attribute(Bare, "__new__", staticmethod(lambda cls: Plain(7))))
def new_that_appears(x):
    return x * Bare().v


@reads(attribute(Plain, "prop", property(lambda self: 9)), attribute(PLAIN, "v", 7))
def property_replaced(x):
    return x * PLAIN.prop


@reads(attribute(Plain, "v", property(lambda self: 9)))
def property_that_appears(x):
    return x * PLAIN.v


@reads(attribute(Plain, "static", staticmethod(lambda: 9)))
def static_method_replaced(x):
    return x * PLAIN.static() * Plain.static()


@reads(attribute(Plain, "of_class", classmethod(lambda cls: 9)))
def class_method_replaced(x):
    return x * PLAIN.of_class() * Plain.of_class()


@reads(attribute(Plain, "level", 5), attribute(PLAIN, "level", 6), attribute(Child, "level", 7))
def attribute_of_a_class(x):
    return x * PLAIN.level * Plain.level * CHILD.level


@reads(attribute(Child, "__bases__", (Operand,)))
def bases_replaced(x):
    return x * CHILD.method() if hasattr(CHILD, "method") else x


@reads(attribute(CHILD, "__class__", Operand), attribute(CHILD, "__class__", Plain))
def class_of_an_object(x):
    return x * (2 if isinstance(CHILD, Child) else 1)


@reads(attribute(CHILD, "__class__", Operand))
def class_of_an_object_that_is_used(x):
    return x * len(CHILD)


@reads(attribute(CHILD, "__class__", Operand))
def name_of_the_class(x):
    return x, type(CHILD).__name__, CHILD.__class__.__name__


class Meta(type):
    flag = 3

    def __call__(cls, *args):
        made = super().__call__(*args)
        made.w = SCALE
        return made

    def __instancecheck__(cls, obj):
        return SCALE > 4

    def __contains__(cls, v):
        return SCALE > 4

    def __len__(cls):
        return int(SCALE)

    def __getitem__(cls, key):
        return SCALE

    def __iter__(cls):
        return iter([SCALE])

    def __getattr__(cls, name):
        return SCALE

    @property
    def value(cls):
        return SCALE


class Made(metaclass=Meta):
    pass


@reads(scale_changed)
def call_of_a_metaclass(x):
    return x * Made().w


@reads(scale_changed)
def instance_check_of_a_metaclass(x):
    return x * (2 if isinstance(3, Made) else 1)


@reads(scale_changed)
def members_of_a_metaclass(x):
    return x * Made.value * Made.nothing * Made["a"] * len(Made)


@reads(scale_changed)
def iteration_of_a_metaclass(x):
    for v in Made:
        x = x * v
    return x * (2 if 1 in Made else 1)


@reads(attribute(Meta, "flag", 5))
def attribute_of_a_metaclass(x):
    return x * Made.flag


class Hooked(abc.ABC):  # noqa: B024
    @classmethod
    def __subclasshook__(cls, other):
        return SCALE > 4


@reads(scale_changed)
def hook_of_an_abstract_class(x):
    Hooked._abc_registry_clear() if False else None
    return x * (2 if isinstance(3, Hooked) else 1)


@typing.runtime_checkable
class Protocol(typing.Protocol):
    def walk(self): ...


@reads(attribute(Plain, "walk", lambda self: 1))
def protocol_of_a_class(x):
    return x * (2 if isinstance(PLAIN, Protocol) else 1)


class Descriptor:
    def __get__(self, obj, cls=None):
        return SCALE

    def __set__(self, obj, value):
        pass


class Described:
    d = Descriptor()

    @functools.cached_property
    def once(self):
        return SCALE

    def __getattr__(self, name):
        return SCALE


DESCRIBED = Described()


@reads(scale_changed)
def descriptor(x):
    return x * DESCRIBED.d


@reads(scale_changed)
def descriptor_on_the_class(x):
    return x * Described.d


@reads(scale_changed)
def getattr_of_an_object(x):
    return x * DESCRIBED.anything


@reads(scale_changed)
def getattr_by_attrgetter(x):
    return x * operator.attrgetter("anything")(DESCRIBED)


@reads(scale_changed)
def property_by_attrgetter(x):
    return x * operator.attrgetter("d")(DESCRIBED)


@reads(attribute(Descriptor, "__get__", lambda self, obj, cls=None: 9))
def descriptor_replaced(x):
    return x * DESCRIBED.d


class Slotted:
    __slots__ = ("v",)


SLOTTED = Slotted()
SLOTTED.v = 3


@reads(attribute(SLOTTED, "v", 5))
def slot_of_an_object(x):
    return x * SLOTTED.v


@dataclasses.dataclass
class Data:
    a: int = 3
    b: list = dataclasses.field(default_factory=lambda: [SCALE])


DATA = Data()


@reads(attribute(DATA, "a", 5))
def field_of_a_dataclass(x):
    return x * DATA.a


@reads(attribute(DATA, "a", 5))
def dataclass_as_dict(x):
    return x * dataclasses.asdict(DATA)["a"]


@reads(attribute(DATA, "a", 5))
def dataclass_replaced(x):
    return x * dataclasses.replace(DATA, b=3).a


@reads(attribute(DATA, "a", 5))
def dataclass_as_text(x):
    return x, repr(DATA), f"{DATA}", str([DATA])


@reads(attribute(DATA, "a", 5))
def dataclasses_compared(x):
    return x * (2 if DATA == Data(3, DATA.b) else 1), [DATA] == [Data(3, DATA.b)]


@reads(scale_changed)
def default_factory_of_a_dataclass(x):
    return x * Data().b[0]


@reads(attribute(Data, "__dataclass_fields__", {}))
def fields_of_a_dataclass(x):
    return x * (1 + len(dataclasses.fields(Data)))


class Behind:
    def level(self):
        return 2


class InFront(Behind):
    def level(self):
        return super().level() * 3


IN_FRONT = InFront()


@reads(attribute(Behind, "level", lambda self: 7))
def method_behind_super(x):
    return x * IN_FRONT.level()


class Generic:
    def __class_getitem__(cls, key):
        return SCALE


@reads(scale_changed)
def item_of_a_class(x):
    return x * Generic["a"]


class Kept:
    def __init__(self):
        self.level = SCALE


@dataclasses.dataclass
class Holder:
    a: int = 3
    kept: Kept = dataclasses.field(default_factory=Kept)
    names: dict = dataclasses.field(default_factory=dict, kw_only=True)


@reads(scale_changed)
def class_as_a_default_factory(x):
    made = Holder(1)
    made.names["a"] = 2
    return x * made.kept.level * Holder(1, names={}).a * len(made.names)
