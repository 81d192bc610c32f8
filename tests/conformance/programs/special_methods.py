"""Code of the user that Python calls by itself: special methods, descriptors, keys; how often, in which order, on what.

Most objects here live outside. ``Change`` is an argument that changes the world between two calls.
"""

import collections
import dataclasses
import functools
import itertools
import json
import operator
import types

import duograph as ms
from tests.conformance.harness import T, program

LOG = []
X = T([1.0, 2.0])


class Change:
    """An argument; when it is copied for a call, just before it, it makes ``target.name`` be ``value``."""

    def __init__(self, target, name, value):
        self.target, self.name, self.value = target, name, value

    def __deepcopy__(self, memo):
        setattr(self.target, self.name, self.value)
        return None


def changes(target, name, *values):
    """Calls with the tensor `X`, one for each value that ``target.name`` has then."""
    return [(X, Change(target, name, value)) for value in values]


# -- special methods that are no functions -----------------------------------------------------------------------------


class Answer:
    def __init__(self, value):
        self.value = value

    def __call__(self, *args):
        LOG.append(len(args))
        return self.value


class OfObjects:
    __len__ = Answer(3)
    __neg__ = Answer(4)
    __add__ = Answer(5)
    __getitem__ = Answer(6)
    __init__ = Answer(None)


class OfMethods:
    size = 2

    @classmethod
    def __len__(cls):
        LOG.append("len")
        return cls.size

    @staticmethod
    def __iter__():
        LOG.append("iter")
        return iter([1, 2])

    @staticmethod
    def __contains__(value):
        LOG.append("contains")
        return True

    @staticmethod
    def __eq__(other):
        LOG.append("eq")
        return True


class OfPartialMethod:
    def set(self, value):
        LOG.append("set")
        self.value = value

    __init__ = functools.partialmethod(set, 7)


class OfCompiled:
    @ms.jit
    def __add__(self, x):
        return x + 3


of_objects, of_methods, of_compiled = OfObjects(), OfMethods(), OfCompiled()


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def special_methods_that_are_objects(x):
    return x * len(of_objects), x * -of_objects, x * (of_objects + 1), x * of_objects[0]


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def init_that_is_an_object(x):
    OfObjects()
    return x * 2


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def init_that_is_a_partial_method(x):
    return x * OfPartialMethod().value


@program(calls=changes(OfMethods, "size", 2, 3), LOG=[], captured=False)
def length_that_is_a_class_method(x, change):
    return x * len(of_methods)


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def special_methods_that_are_static(x):
    return [x * v for v in of_methods], 3 in of_methods, of_methods == 4


@program(calls=[(X,)] * 3, captured=False)
def special_method_that_is_compiled(x):
    return of_compiled + x


# -- operators ---------------------------------------------------------------------------------------------------------


class Base:
    def __add__(self, other):
        LOG.append("add")
        return 2

    def __lt__(self, other):
        LOG.append("lt")
        return True

    def __eq__(self, other):
        LOG.append("eq")
        return NotImplemented

    __hash__ = object.__hash__


class Derived(Base):
    def __radd__(self, other):
        LOG.append("radd")
        return 5

    def __gt__(self, other):
        LOG.append("gt")
        return False


class Silent(Base):
    def __radd__(self, other):
        return NotImplemented

    def __ne__(self, other):
        LOG.append("ne")
        return False


class OneSided:
    def __add__(self, other):
        LOG.append("add")
        return NotImplemented

    def __radd__(self, other):
        LOG.append("radd")
        return 3


class Other:
    def __ne__(self, other):
        LOG.append("other ne")
        return False


class Whole(int):
    def __radd__(self, other):
        LOG.append("radd")
        return 50


class Number(int):
    pass


@program(calls=[(X,)] * 3, LOG=[])
def reflected_method_of_a_derived_class_comes_first(x):
    return x * (Base() + Derived()), x * (Derived() + Base()), x * (Base() + Silent()), x * (1 + Whole(2))


@program(calls=[(X,)] * 3, LOG=[])
def comparison_of_a_derived_class_comes_first(x):
    return x, Base() < Derived(), Derived() < Base(), Base() != Silent()


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def reflected_method_of_the_same_class_error(x):
    return x * (OneSided() + OneSided())


@program(calls=[(X,)] * 3, LOG=[])
def inherited_ne_asks_eq(x):
    return x, Base() != Other()


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def sibling_of_a_number(x):
    return x * (Number(3) + Whole(4)), x * (True + Whole(4))


@functools.total_ordering
class Ordered:
    def __lt__(self, other):
        LOG.append("lt")
        return True

    def __eq__(self, other):
        LOG.append("eq")
        return False

    __hash__ = None


class Below:
    def __le__(self, other):
        LOG.append("le")
        return False


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def comparison_by_total_ordering_comes_first(x):
    return x, Ordered() >= Below()


# -- keys and other callables ------------------------------------------------------------------------------------------


class Signed:
    sign = 1

    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value * Signed.sign < other.value * Signed.sign


class Key:
    def __call__(self, *values):
        LOG.append(values)
        return -values[0]


class Noted:
    def __init__(self, *values):
        LOG.append(values)
        self.values = values


class Sized:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        LOG.append(self.n)
        return self.n


def _compare(a, b):
    LOG.append((a, b))
    return b - a


def _minus(factor, value):
    LOG.append(value)
    return -factor * value


key, outer_key, partial_key = Key(), functools.cmp_to_key(_compare), functools.partial(_minus, 2)
sized = [Sized(3), Sized(1)]


@program(calls=changes(Signed, "sign", 1, -1), captured=False)
def keys_of_the_user_are_compared(x, change):
    values = [3, 1, 2]
    values.sort(key=lambda v: Signed(v))
    return x * sorted([3, 1, 2], key=lambda v: Signed(v))[0], values, min([3, 1], key=Signed)


@program(calls=[(X,)] * 3, LOG=[])
def keys_that_are_objects(x):
    values = [1, 3, 2]
    values.sort(key=key)
    return x * sorted([1, 3, 2], key=key)[0], values, max([1, 2], key=key), min([1, 2], key=key)


@program(calls=[(X,)] * 3, LOG=[])
def keys_that_are_partial(x):
    return x * sorted([1, 3, 2], key=partial_key)[0], max([1, 2], key=partial_key)


@program(calls=[(X,)] * 3, LOG=[])
def keys_that_are_built_in(x):
    return x * sorted(sized, key=len)[0].n, sorted(["b", "A"], key=str.lower), max(sized, key=len).n


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def key_from_cmp_to_key_outside(x):
    return x * sorted([1, 3, 2], key=outer_key)[0]


@program(calls=[(X,)] * 3, LOG=[])
def key_from_cmp_to_key(x):
    return x * sorted([1, 3, 2], key=functools.cmp_to_key(_compare))[0]


@program(calls=[(X,)] * 3, LOG=[])
def itertools_of_objects_and_classes(x):
    groups = [(k, list(g)) for k, g in itertools.groupby([1, 1, 2], key=key)]
    sums = list(itertools.accumulate([1, 2], key))
    return x, groups, sums, [n.values for n in itertools.starmap(Noted, [(1,), (2,)])]


@program(calls=[(X,)] * 3, LOG=[])
def default_factory_that_is_a_class(x):
    held = collections.defaultdict(Noted)
    made = collections.defaultdict(lambda: [x]), collections.defaultdict(int, zip("ab", [1, 2], strict=True))
    made[0][1].append(x)
    made[1]["z"] += 1
    return x * (1 + len(held[1].values)), len(held), held.default_factory is Noted, made[0][1], dict(made[1])


@program(X)
def wrappers_of_functions_made_inside(x):
    def plus_one(fn):
        @functools.wraps(fn)
        def wrapper(*args):
            return fn(*args) + 1

        return wrapper

    @plus_one
    def triple(y):
        return y * 3

    return triple(x), triple.__wrapped__(x), triple.__name__


@dataclasses.dataclass
class Pair:
    a: int = 1
    b: int = 2


class MakesDict:
    def __call__(self, items):
        LOG.append("dict")
        return dict(items)


class Encoder(json.JSONEncoder):
    def default(self, o):
        LOG.append("default")
        return 3


make_dict = MakesDict()


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def dict_factory_of_asdict(x):
    return x, dataclasses.asdict(Pair(), dict_factory=make_dict)


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def class_of_an_encoder(x):
    return x, json.dumps({"a": 1j}, cls=Encoder)


@program(X)
def functions_in_containers_stay_what_they_are(x):
    found = []
    found.append(_compare)
    found.append(Noted)
    return x, found[0] is _compare, found[1] is Noted


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def itemgetter_of_an_object(x):
    return x, operator.itemgetter(Index())([1, 2])


class Acts:
    gain = 3

    def __call__(self, x):
        LOG.append("acts")
        return (x * x * self.gain).sum()


acts = Acts()


@program(calls=changes(Acts, "gain", 3, 4), LOG=[])
def objects_that_can_be_called_stay_what_they_are(x, change):
    held = dict(a=acts, b=_compare), collections.OrderedDict(a=acts)
    bound = functools.partial(lambda a, b: b.gain, 1, acts)
    first = next(itertools.repeat(acts))
    same = [o is acts for o in (held[0]["a"], held[1]["a"], first)]
    return x * bound(), same, held[0]["b"] is _compare, ms.grad(acts)(x)


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def iterator_of_a_sequence_has_a_hint(x):
    return x, list(iter(sequence))


class Items:
    def __len__(self):
        LOG.append("len")
        return 2

    def __getitem__(self, i):
        LOG.append(i)
        return [4, 5][i]


sequence = Items()


@program(calls=[(X,)] * 3, LOG=[])
def sequence_without_iter(x):
    return x, list(sequence), [v for v in sequence]


# -- getters -----------------------------------------------------------------------------------------------------------


class Gain:
    gain = 2

    def __init__(self):
        self.own = 4

    @property
    def noted(self):
        LOG.append("noted")
        return 3

    def method(self, n=1):
        LOG.append("method")
        return n + self.gain


module = types.ModuleType("module")
module.gain = 2
get_gain, call_method = operator.attrgetter("gain"), operator.methodcaller("method", n=3)
gain = Gain()


@program(calls=changes(Gain, "gain", 2, 5))
def attrgetter_of_a_class(x, change):
    return x * get_gain(Gain)


@program(calls=changes(module, "gain", 2, 5))
def attrgetter_of_a_module(x, change):
    return x * get_gain(module)


@program(calls=changes(Gain, "gain", 2, 5), captured=False)
def format_of_an_attribute(x, change):
    return x, "{0.gain} {1:{0.gain}}".format(Gain, 7)


@program(calls=[(X,)] * 3, LOG=[])
def attrgetter_of_a_property(x):
    return x * operator.attrgetter("noted")(gain), operator.attrgetter("noted", "own.real")(gain)


@program(calls=changes(Gain, "gain", 2, 5), LOG=[])
def methodcaller_of_the_user(x, change):
    return x * call_method(gain), operator.methodcaller("method", 2)(Gain())


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def format_of_a_property(x):
    return x, "{0.noted} {g.own}".format(Gain(), g=gain)


# -- hashes, indices, lengths ------------------------------------------------------------------------------------------


class Hashed:
    def __hash__(self):
        LOG.append("hash")
        return 1

    def __eq__(self, other):
        LOG.append("eq")
        return True


class Index:
    def __index__(self):
        LOG.append("index")
        return 1


class Long:
    def __init__(self, *values):
        self.values = values

    def __iter__(self):
        LOG.append("iter")
        return iter(self.values)

    def __len__(self):
        LOG.append("len")
        return len(self.values)


class NoLength(Long):
    def __len__(self):
        LOG.append("no len")
        raise TypeError


class Hinting:
    def __iter__(self):
        return iter([1, 2])

    def __length_hint__(self):
        LOG.append("hint")
        return 2


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def dictionary_of_an_iterator(x):
    return x * len(dict(zip([Hashed(), Hashed()], [1, 2], strict=True)))


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def update_from_an_iterator(x):
    held = {}
    held.update(zip([Hashed(), Hashed()], [1, 2], strict=True))
    return x * len(held)


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def set_updated_from_a_generator(x):
    held = set()
    held.update(v for v in [Hashed(), Hashed()])
    return x * len(held), len(dict.fromkeys(v for v in [Hashed(), Hashed()]))


@program(calls=[(X,)] * 3)
def dictionaries_of_plain_iterators(x):
    held = dict(zip("ab", [gain, gain], strict=True))
    held.update((k, gain) for k in "cd")
    kinds = {1}
    kinds.update(v for v in (1, 2))
    return x * len(held), kinds, collections.Counter(v for v in "abca"), dict.fromkeys(iter("ab"), 0)


@program(calls=[(X,)] * 3, LOG=[])
def iterator_that_fails_in_the_middle(x):
    held = {}

    def pairs():
        yield 1, 2
        raise ValueError("no more")

    try:
        held.update(pairs())
    except ValueError as e:
        LOG.append(str(e))
    return x, held


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def index_of_the_user(x):
    values = [1, 2, 3]
    popped = values.pop(Index())
    values.insert(Index(), 7)
    turned = collections.deque(values)
    turned.rotate(Index())
    return x * popped, values, turned


@program(calls=[(X,)] * 3, LOG=[])
def list_asks_for_the_length(x):
    c = Long(1, 2)
    values = []
    values.extend(c)
    return x, list(c), tuple(c), [*c, 3], {*c}, set(c), sorted(c), max(*c), values, list(NoLength(4))


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def length_hints(x):
    values = []
    values.extend(Hinting())
    return x, list(Hinting()), [*Hinting()], values


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def slice_set_to_an_object(x):
    values = [1, 2, 3]
    values[0:1] = Long(7, 8)
    return x, values


# -- dataclasses -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Posted:
    a: int = 1

    def __post_init__(self):
        LOG.append(self.a)


@dataclasses.dataclass
class SetsItself:
    a: int = 1

    def __setattr__(self, name, value):
        LOG.append(name)
        object.__setattr__(self, name, value)


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def replace_runs_post_init(x):
    return x * dataclasses.replace(Posted(), a=7).a


@program(calls=[(X,)] * 3)
def replace_of_a_plain_dataclass(x):
    return x * dataclasses.replace(Pair(), a=7).a


@program(calls=[(X,)] * 3, LOG=[], captured=False)
def generated_init_calls_setattr(x):
    return x * SetsItself(4).a


# -- what is read beside attributes ------------------------------------------------------------------------------------


class Callable:
    def __call__(self):
        return 1

    def method(self):
        return 1

    number = property(lambda self: 2)


class Matched:
    __match_args__ = ("a",)

    def __init__(self):
        self.a, self.b = 1, 2


class Users(collections.UserList):
    pass


class UsersDict(collections.UserDict):
    pass


class UsersBytes(bytearray):
    pass


maybe_callable, matched = Callable(), Matched()
users, users_dict, users_bytes = Users([1, 2]), UsersDict({"a": 1}), UsersBytes(b"ab")


def _call(self):
    return 1


@program(calls=changes(Callable.method, "value", 1) + changes(Callable, "absent", 3))
def callable_objects(x, change):
    return x if callable(maybe_callable) else x * 3, callable(matched)


@program(calls=changes(Callable, "number", property(lambda self: 2), property(lambda self: 7)))
def property_of_a_class_and_its_function(x, change):
    return x * Callable.number.fget(maybe_callable)


@program(calls=changes(Matched, "__match_args__", ("a",), ("b",)))
def match_arguments_that_change(x, change):
    match matched:
        case Matched(v):
            return x * v
    return x


@program(calls=changes(users, "data", [1, 2], [4], []), captured=False)
def contents_of_a_user_list(x, change):
    return x * len(users), [x * v for v in users], bool(users)


@program(calls=changes(users_dict, "data", {"a": 1}, {"b": 1}), captured=False)
def contents_of_a_user_dict(x, change):
    return x if "b" in users_dict else x * 2


@program(X)
def user_lists_made_inside(x):
    values = Users([1, 2])
    return x * len(values), [x * v for v in values]
