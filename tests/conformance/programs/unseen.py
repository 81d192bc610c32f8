"""Objects whose class notices that it is looked at: code of ours may not look, in no mode, more often than Python."""

from tests.conformance.harness import T, program

LOG = []
X = T([1.0, 2.0])


class Noting:
    gain = 2

    def __getattribute__(self, name):
        LOG.append(name)
        return object.__getattribute__(self, name)


class Disguised:
    gain = 3

    @property
    def __class__(self):
        LOG.append("class")
        return int


class NotingKind(type):
    def __getattribute__(cls, name):
        LOG.append(name)
        return type.__getattribute__(cls, name)

    def __getattr__(cls, name):
        LOG.append(name)
        raise AttributeError(name)

    def __hash__(cls):
        LOG.append("hash")
        return 1

    __eq__ = type.__eq__


class OfNotingKind(metaclass=NotingKind):
    gain = 5


class Slotted:
    __slots__ = ()

    def __getattr__(self, name):
        LOG.append(name)
        return 7


class NotingNumber(int):
    def __getattr__(self, name):
        LOG.append(name)
        return 11


class Hashed:
    def __call__(self, x):
        return x * 2

    def __hash__(self):
        LOG.append("hash")
        return 1

    def __eq__(self, other):
        LOG.append("eq")
        return self is other


class NotingList(list):
    def __len__(self):
        LOG.append("len")
        return list.__len__(self)

    def __iter__(self):
        LOG.append("iter")
        return list.__iter__(self)

    def __copy__(self):
        LOG.append("copy")
        return self


class NotingTuple(tuple):
    def __len__(self):
        LOG.append("len")
        return tuple.__len__(self)

    def __iter__(self):
        LOG.append("iter")
        return tuple.__iter__(self)


class NotingDict(dict):
    def items(self):
        LOG.append("items")
        return dict.items(self)

    def keys(self):
        LOG.append("keys")
        return dict.keys(self)


class NotingFloat(float):
    def __eq__(self, other):
        LOG.append("eq")
        return float.__eq__(self, other)

    def __hash__(self):
        LOG.append("hash")
        return float.__hash__(self)


noting, disguised, slotted, number, hashed = Noting(), Disguised(), Slotted(), NotingNumber(4), Hashed()


@program(X, LOG=[], captured=False)
def getattribute_of_a_global(x):
    return x * noting.gain


@program(X, LOG=[], captured=False)
def getattribute_of_an_object_that_is_only_compared(x):
    return x if noting is None else x * 2


@program(X, LOG=[], captured=False)
def getattribute_of_an_object_made_inside(x):
    return x * Noting().gain


@program(X, LOG=[], captured=False)
def getattribute_of_an_item(x):
    return [x * o.gain for o in (noting, noting)]


@program(X, LOG=[], captured=False)
def class_that_is_a_property(x):
    return x * disguised.gain if isinstance(disguised, int) else x


@program(X, LOG=[], captured=False)
def metaclass_that_notes_attributes(x):
    return x * OfNotingKind.gain, x * OfNotingKind().gain


@program(X, LOG=[], captured=False)
def getattr_of_an_object_without_a_dictionary(x):
    return x * slotted.gain


@program(X, LOG=[])
def getattr_of_a_number(x):
    return x * number.gain


@program(X, LOG=[])
def hash_of_a_callable_object(x):
    return hashed(x)


a_list, a_tuple, a_dict, a_float = NotingList([2.0]), NotingTuple((2.0,)), NotingDict({0: 2.0}), NotingFloat(2.0)
keyed = {hashed: 2.0}


@program(X, LOG=[], captured=False)
def list_that_notes_how_it_is_read(x):
    return x * a_list[0]


@program(X, LOG=[], captured=False)
def tuple_that_notes_how_it_is_read(x):
    return x * a_tuple[0]


@program(X, LOG=[], captured=False)
def dictionary_that_notes_how_it_is_read(x):
    return x * a_dict[0]


@program(X, LOG=[], captured=False)
def number_that_notes_comparisons(x):
    return x if a_float is None else x * 2


@program(X, LOG=[], captured=False)
def key_that_notes_how_it_is_hashed(x):
    return x * keyed[hashed]
