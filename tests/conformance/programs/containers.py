"""Tuples, lists, dicts, sets and classes that hold tensors (syntax notes, sections 1 and 7)."""

import collections
import dataclasses
from typing import NamedTuple

from duograph import ops
from tests.conformance.harness import T, program

X, Y = T([1.0, 2.0]), T([3.0, 4.0])


class Point(NamedTuple):
    a: object
    b: object = 1


Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class State:
    value: object
    count: int = 0

    def next(self, step):
        return State(self.value + step, self.count + 1)


@program(X)
def tuple_operations(x):
    t = (x, 1, "a")
    return t + (2,), t * 2, t[0], t[-1], t[1:], len(t), (1, 2, 1).index(2), "aba".count("a"), t == t


@program((X, (Y, 2)))
def nested_tuple_argument(t):
    a, (b, n) = t
    return a * n + b, t


@program([X, Y])
def list_argument(items):
    return items[0] + items[1], len(items), items


@program({"a": X, "b": 2})
def dict_argument(d):
    return d["a"] * d["b"], d, list(d), sorted(d)


@program(Point(X, 3))
def namedtuple_argument(p):
    return p.a * p.b, p, p._replace(b=2), p._fields


@program(X)
def namedtuple_made_inside(x):
    p = Pair(x, x + 1)
    left, right = p
    return p, left, p.right, Point(x)


@program(State(X))
def dataclass_argument(s):
    return s.value * 2, s.next(1.0), s == s, s.count


@program(X)
def dataclass_made_inside(x):
    s = State(x)
    s.count += 2
    s.value = s.value * s.count
    return s, dataclasses.replace(s, count=0)


@program(X)
def list_build_and_index(x):
    values = [x, x + 1]
    values.append(x * 2)
    values[0] = 5
    values += [1]
    return values, values[1:3], values[-1], [0] * 3, values.index(5)


@program(X)
def list_methods(x):
    a = [3, 1, 2]
    a.append(4)
    a.extend([5, 6])
    a.insert(0, 7)
    a.reverse()
    last = a.pop()
    first = a.pop(0)
    a.remove(3)
    a.sort()
    a[1:2] = [9, 9]
    b = a.copy()
    a.clear()
    return a, b, last, first, b.count(9)


@program(X)
def list_alias(x):
    a = [1]
    b = a
    b.append(x)
    a[0] = 2
    return a, b, a is b


@program(X)
def list_changed_by_callee(x):
    def grow(items):
        items.append(x)

    values = []
    grow(values)
    grow(values)
    return values


@program([1, 2])
def list_argument_is_changed_for_the_caller(values):
    values.append(3)
    values[0] = 10
    return len(values)


@program([X, Y])
def list_of_tensors_is_changed_for_the_caller(values):
    values.append(values[0] + values[1])
    values[0] = values[0] * 2
    return values


@program({"a": X})
def dict_argument_is_changed_for_the_caller(d):
    d["b"] = d["a"] + 1
    del d["a"]
    return d


@program([3, 1, 2])
def returned_argument_is_the_same_object(values):
    values.reverse()
    return values


@program(X)
def dict_methods(x):
    d = {"a": 1, "b": x}
    d["c"] = 3
    d.update(e=5)
    got = d.pop("a"), d.get("zz"), d.get("b"), d.setdefault("f", 6), "c" in d
    return d, got, list(d.keys()), list(d.values()), list(d.items()), len(d)


@program(X)
def dict_keys_of_many_kinds(x):
    return {1: x, (1, 2): 2, None: 3, "s": 4, 2.5: 5, True: 6}


@program(X)
def dict_iteration_order(x):
    d = {"z": 1, "a": 2}
    d["m"] = 3
    out = []
    for k, v in d.items():
        out.append((k, v * 2))
    return out, [k for k in d], dict(reversed(d.items()))


@program(X)
def dict_union(x):
    return {"a": 1} | {"b": x}, {**{"a": 1}, "a": 2}


@program(X)
def default_and_ordered_dicts(x):
    d = collections.defaultdict(list)
    d["a"].append(x)
    d["a"].append(1)
    o = collections.OrderedDict(b=1, a=2)
    o.move_to_end("b")
    return d["a"], o, len(d)


@program(X)
def counter_and_deque(x):
    c = collections.Counter("abca")
    q = collections.deque([1, 2], maxlen=2)
    q.append(3)
    return c["a"], list(q), c.most_common(1)


@program(X)
def sets(x):
    s = {1, 2}
    s.add(3)
    return s, 1 in s, s | {5}, s & {1}, s - {1}, frozenset([1, 2]), len(s), sorted(s)


@program(X)
def range_object(x):
    r = range(2, 10, 3)
    return r, len(r), r[1], list(r), 5 in r


@program(X)
def empty_containers(x):
    return [], (), {}, set(), x[:0]


@program(X)
def nested_containers(x):
    d = {"a": [x, (1, {"b": x * 2})]}
    d["a"][1][1]["b"] = 3
    d["a"].append(d["a"][0] + 1)
    return d


@program(X, grad=0)
def gradient_through_containers(x):
    d = {"a": x * 2, "b": [x, x * x]}
    pair = (d["a"], d["b"][1])
    return pair[0] * pair[1] + d["b"][0]


@program(X)
def slices_of_lists(x):
    a = [0, 1, 2, 3, 4]
    a[::2] = [9, 9, 9]
    del a[1]
    return a, a[::-1], a[-2:], a[slice(1, 3)]


@program(X)
def lists_of_tensors_to_tensor(x):
    rows = []
    for i in range(3):
        rows.append(x * i)
    return ops.stack(rows), ops.concat(rows)


@program(X)
def comparison_of_containers(x):
    return [1, 2] < [1, 3], (1,) + (2,) == (1, 2), {"a": 1} == {"a": 1}, [] == ()


@program(X)
def unpacking(x):
    first, *rest = [1, 2, 3]
    (a, b), c = (1, 2), 3
    *head, tail = "xyz"
    return first, rest, a, b, c, head, tail


@program(X)
def tuple_unpack_error(x):
    a, b = (1, 2, 3)
    return x


@program(X)
def missing_key_error(x):
    return {"a": x}["b"]


@program(X)
def list_index_error(x):
    return [x][3]


class Bag:
    """A container of one's own."""

    def __init__(self):
        self.items = {}

    def __setitem__(self, key, value):
        self.items[key] = value

    def __getitem__(self, key):
        return self.items[key]

    def __len__(self):
        return len(self.items)

    def __contains__(self, key):
        return key in self.items

    def __iter__(self):
        return iter(self.items)


@program(X)
def container_class(x):
    bag = Bag()
    bag["a"] = x
    bag["b"] = bag["a"] + 1
    return len(bag), "a" in bag, list(bag), bag["b"]


@program(X)
def sorting_with_keys(x):
    return sorted([3, 1, 2], reverse=True), sorted(["bb", "a"], key=len), min([3, 1], key=lambda v: -v)
