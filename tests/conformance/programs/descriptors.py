"""Descriptors, properties and ``super()``: who is asked for an attribute, how often, and what it says now."""

import enum
import functools
import operator
import types

from tests.conformance.harness import T, program
from tests.conformance.programs.special_methods import changes

LOG = []
X = T([1.0, 2.0])


class Noting:
    """A descriptor that has no ``__set__``."""

    def __get__(self, obj, kind=None):
        LOG.append("get")
        return 3


class Parent:
    level = 1
    items = [1]
    noting = Noting()

    @property
    def size(self):
        LOG.append("size")
        return self.level

    @classmethod
    def made(cls):
        return cls.level


class Child(Parent):
    level = 4

    @property
    def size(self):
        return super().size + 1

    @property
    def noting(self):
        return super().noting

    def levels(self):
        return super().level, super().made(), super().items

    def absent(self):
        return super().absent


class OddProperty(property):
    def __get__(self, obj, kind=None):
        LOG.append("odd")
        return 1


def _plus(n, obj):
    return obj.a + n


class Properties:
    def __init__(self):
        self.a = 3

    odd = OddProperty(lambda self: 100)
    by_getter = property(operator.attrgetter("a"))
    by_partial = property(functools.partial(_plus, 2))
    noting = Noting()

    @types.DynamicClassAttribute
    def dynamic(self):
        LOG.append("dynamic")
        return self.a

    @property
    def read_only(self):
        LOG.append("read")
        return 1

    @functools.cached_property
    def cached(self):
        LOG.append("cached")
        return self.a

    @property
    def deletable(self):
        LOG.append("deletable")
        return 1

    @deletable.deleter
    def deletable(self):
        LOG.append("deleted")


class Kind(type):
    @property
    def kind(cls):
        LOG.append("kind")
        return 5

    def method(cls):
        return 2

    def __instancecheck__(cls, obj):
        LOG.append("check")
        return Kind.answer

    answer = True


class OfKind(metaclass=Kind):
    pass


class DerivedOfKind(OfKind):
    pass


class Colour(enum.Enum):
    RED = 1

    @enum.property
    def warmth(self):
        LOG.append("warmth")
        return self.value + 1


child, of_kind = Child(), DerivedOfKind()


@program(calls=changes(Parent, "level", 1, 6), LOG=[])
def super_reads_a_property(x, change):
    return x * child.size


@program(calls=changes(Parent, "level", 1, 6), LOG=[])
def super_reads_a_descriptor_and_data(x, change):
    return x * child.noting, child.levels()


@program(calls=[(X,)] * 2)
def super_has_no_such_attribute_error(x):
    return x * child.absent()


@program(calls=[(X,)] * 3, LOG=[])
def descriptor_of_a_class(x):
    return x * Parent.noting


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def property_of_a_metaclass(x):
    return x * OfKind.kind


@program(calls=changes(Kind, "method", lambda cls: 2, lambda cls: 3))
def method_of_a_metaclass(x, change):
    return x * OfKind.method()


@program(calls=changes(Kind, "answer", True, False), LOG=[])
def instancecheck_of_an_instance_of_a_derived_class(x, change):
    return x * 2 if isinstance(of_kind, OfKind) else x, isinstance(x.sum().item(), OfKind), isinstance(OfKind(), OfKind)


@program(calls=[(X,)] * 3, LOG=[])
def attributes_by_descriptors_of_the_library(x):
    p = Properties()
    p.a += 1
    return x * p.dynamic, p.cached, p.cached, Colour.RED.warmth, Colour.RED.value


@program(calls=[(X,)] * 3, LOG=[])
def property_with_another_getter(x):
    p = Properties()
    p.a += 1
    return x * p.odd, p.by_getter, p.by_partial


@program(calls=[(X,)] * 3, LOG=[])
def set_over_a_descriptor_does_not_read_it(x):
    p = Properties()
    p.noting = 8
    return x * p.noting


@program(calls=[(X,)] * 3, LOG=[])
def set_of_a_read_only_property(x):
    p = Properties()
    try:
        p.read_only = 3
    except AttributeError:
        LOG.append("no")
    return x


properties = Properties()


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def set_of_a_read_only_property_outside(x):
    try:
        properties.read_only = 3
    except AttributeError:
        LOG.append("no")
    return x


class SetsByName:
    @property
    def size(self):
        return 1

    @size.setter
    def size(self, value):
        LOG.append(value)

    def __setattr__(self, name, value):
        LOG.append(name)
        super().__setattr__(name, value)


sets_by_name = SetsByName()


@program(calls=[(X,)] * 3, LOG=[])
def setattr_of_the_user_comes_before_properties(x):
    SetsByName().size = 3
    sets_by_name.size = 4
    return x


@program(calls=[(X,)] * 3, LOG=[])
def delete_by_a_property(x):
    del properties.deletable
    return x


class Stored:
    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, value):
        LOG.append(value)
        self._size = value


class StoredMore(Stored):
    @property
    def size(self):
        return super().size

    @size.setter
    def size(self, value):
        super(StoredMore, type(self)).size.fset(self, value + 1)


stored = StoredMore()


@program(calls=[(X,)] * 3, LOG=[])
def setter_of_the_parent(x):
    mine = StoredMore()
    mine.size, stored.size = 3, 4
    return x * mine.size, stored.size
