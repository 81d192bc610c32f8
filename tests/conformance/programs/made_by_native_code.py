"""Containers that native code makes and that are written on some paths only: each path starts from what was made."""

from __future__ import annotations

import collections
import copy
import dataclasses
import random
import types

from tests.conformance.harness import T, program

BOTH = [(T([1.0, 2.0]),), (T([-1.0, -2.0]),), (T([3.0, -1.0]),)]


@dataclasses.dataclass
class Record:
    first: object
    seen: list = dataclasses.field(default_factory=list)
    counts: dict = dataclasses.field(default_factory=dict)
    names: set = dataclasses.field(default_factory=set)


@dataclasses.dataclass(slots=True)
class Slotted:
    seen: list = dataclasses.field(default_factory=list)


@program(calls=BOTH)
def a_field_with_a_factory(x):
    record = Record(x)
    if x.sum() > 0:
        record.seen.append(x)
        record.counts["positive"] = 1
        record.names.add("p")
    return record.seen, record.counts, record.names


@program(calls=BOTH)
def a_field_with_a_factory_and_a_slot(x):
    record = Slotted()
    if x.sum() > 0:
        record.seen.append(x * 2)
    return record.seen


@program(calls=BOTH)
def a_field_on_paths_that_do_not_join(x):
    record = Record(x)
    if x.sum() > 0:
        record.seen.append(x)
        what = 1
    else:
        record = dataclasses.replace(record, first=x * 2)
        record.seen.append(x)
        what = "negative"
    record.seen.append(what)
    return record.first, record.seen, what


@program(calls=BOTH)
def a_list_that_a_defaultdict_makes(x):
    groups = collections.defaultdict(list)
    if x.sum() > 0:
        groups["positive"].append(x)
    return dict(groups), len(groups)


@program(calls=BOTH)
def defaultdicts_in_an_unrolled_loop(x):
    groups = collections.defaultdict(list)
    counts = collections.defaultdict(int)
    members = collections.defaultdict(set)
    for k in range(2):
        if x[k] > 0:
            groups["positive"].append(k)
            counts["positive"] += 1
            members[k].add("p")
    return dict(groups), dict(counts), dict(members)


@program(calls=BOTH)
def a_defaultdict_in_a_defaultdict(x):
    tree = collections.defaultdict(lambda: collections.defaultdict(int))
    if x[0] > 0:
        tree["a"]["b"] += 2
    if x[1] > 0:
        tree["a"]["c"] += 3
    return {key: dict(value) for key, value in tree.items()}


@program(calls=BOTH)
def counters_and_ordered_dicts(x):
    counter = collections.Counter("aab")
    order = collections.OrderedDict(a=[1], b=[2])
    if x.sum() > 0:
        counter["a"] += 5
        counter.update("c")
        order.move_to_end("a")
        order["b"].append(3)
    return dict(counter), list(order.items())


@program(calls=BOTH)
def copies_of_containers(x):
    deep = copy.deepcopy({"a": [1], "b": {"c": [2]}})
    shallow = copy.copy([[1], [2]])
    if x.sum() > 0:
        deep["b"]["c"].append(x)
        shallow[0].append(2)
        shallow.append([3])
    return deep, shallow


@program(calls=BOTH)
def containers_that_functions_of_the_library_make(x):
    fromkeys = dict.fromkeys("ab", [])
    rows = list(map(list, [(1,), (2,)]))
    words = {"k": "a b".split()}
    space = types.SimpleNamespace(c=list(), d=dict(a=[]))
    queue = collections.deque([[1], [2]])
    if x.sum() > 0:
        fromkeys["a"].append(1)
        rows[1].append(x)
        words["k"].append("c")
        space.c.append(x)
        space.d["a"].append(2)
        queue[0].append(5)
        queue.appendleft([0])
    return fromkeys, rows, words, space.c, space.d, list(queue)


@program(calls=BOTH)
def a_list_that_setdefault_makes(x):
    known = {}
    for k in range(2):
        if x[k] > 0:
            known.setdefault("k", []).append(k)
            known.setdefault(k, {})["n"] = x[k]
    return known


@program(calls=BOTH, grad=0)
def gradients_of_what_is_collected(x):
    parts = collections.defaultdict(list)
    for k in range(2):
        parts["all"].append(x[k] * (k + 1))
        if x[k] > 0:
            parts["positive"].append(x[k] * x[k])
    return sum(parts["all"]) + sum(parts["positive"])


class Plain:
    def __init__(self):
        self.a = []
        self.b = {"k": []}


@program(calls=BOTH)
def copies_of_objects(x):
    space = copy.deepcopy(types.SimpleNamespace(a=types.SimpleNamespace(b=[])))
    objects = copy.deepcopy([Plain(), Plain()])
    shallow = copy.copy(types.SimpleNamespace(a=[], t=x))
    space.a.z = 3
    if x.sum() > 0:
        space.a.b.append(1)
        objects[0].a.append(x)
        objects[1].b["k"].append(1)
        shallow.a.append(shallow.t)
        shallow.t = shallow.t * 2
    return space.a.b, vars(space.a), objects[0].a, objects[1].b, shallow.a, shallow.t


@program(calls=BOTH)
def draws_on_one_of_two_paths(x):
    generator = random.Random(3)
    drawn = []
    if x.sum() > 0:
        what = [5]
        drawn.append(generator.randint(0, 100))
    else:
        what = "n"
    drawn.append(generator.choice([1, 2, 3]))
    return what, drawn


@program(calls=BOTH)
def draws_of_a_function_that_returns_early(x):
    generator = random.Random(3)
    drawn = []

    def draw(y):
        drawn.append(generator.randint(0, 100))
        if y.sum() > 0:
            return y
        drawn.append(generator.gauss(0, 1))
        return [y]

    return draw(x), draw(x * 2), drawn


@program(calls=BOTH, captured=False)
def notes_on_one_of_two_paths(x):
    error = ValueError("a")
    error.add_note("0")
    if x.sum() > 0:
        error.add_note("p")
        what = [5]
    else:
        what = "n"
    error.add_note("1")
    return what, error.__notes__


@program(calls=BOTH, captured=False)
def notes_of_an_exception_that_is_raised(x):
    notes = []
    for k in range(2):
        try:
            if x[k] > 0:
                raise ValueError(k)
        except ValueError as error:
            error.add_note("seen")
            notes.append(list(error.__notes__))
    return notes
