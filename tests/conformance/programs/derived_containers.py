"""Classes derived from containers: their attributes, items that are attributes, methods that C code calls; dataclasses
whose fields are set by code of the user."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, deque
from typing import Any

from tests.conformance.harness import T, program

CALLS = [(T([1.0, 2.0]),), (T([-5.0, 1.0]),)] * 2


class Rows(list):
    def __init__(self, *rows):
        super().__init__(*rows)
        self.title = "rows"


class Table(dict):
    pass


class Recent(deque):
    pass


class Config(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class Told(OrderedDict):
    """Counts what is done to its items."""

    def __setitem__(self, key, value):
        COUNTS.append(key)
        super().__setitem__(key, value)

    def __getitem__(self, key):
        COUNTS.append("get")
        return super().__getitem__(key)


class Output(OrderedDict):
    def __post_init__(self):
        for field in dataclasses.fields(self):
            if getattr(self, field.name) is not None:
                self[field.name] = getattr(self, field.name)

    def __getitem__(self, key):
        return dict(self.items())[key] if isinstance(key, str) else tuple(self[k] for k in self)[key]

    def __setattr__(self, name, value):
        if name in self.keys() and value is not None:
            super().__setitem__(name, value)
        super().__setattr__(name, value)

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)


@dataclasses.dataclass
class Hidden(Output):
    state: Any = None
    loss: Any = None


class Doubling:
    def __set_name__(self, owner, name):
        self.name = f"_{name}"

    def __get__(self, instance, owner=None):
        return 1 if instance is None else instance.__dict__[self.name]

    def __set__(self, instance, value):
        instance.__dict__[self.name] = value * 2


class Noted:
    def __setattr__(self, name, value):
        COUNTS.append(name)
        object.__setattr__(self, name, value)


@dataclasses.dataclass
class Settings(Noted):
    rate: Any
    start: dataclasses.InitVar[int] = 4
    steps: int = Doubling()
    seen: list = dataclasses.field(default_factory=lambda: [1])
    late: int = dataclasses.field(init=False, default=9)
    named: int = dataclasses.field(kw_only=True, default=1)

    def __post_init__(self, start):
        self.begun = start + 1


@program(calls=CALLS)
def attributes_of_derived_containers(x):
    rows, table, recent = Rows([x, x * 2]), Table(a=x), Recent([1], 2)
    rows.best = table.parent = x * 3
    recent.rows = rows
    if x.sum() > 0:
        rows.title = "positive"
        rows.append(x)
    else:
        table.title = "negative"
        table["b"] = x
    return rows, table, recent, rows.best + 1, hasattr(table, "best"), getattr(table, "title", None), recent.rows.title


@program(calls=CALLS, build=True)
def items_that_are_attributes():
    config = Config(width=2, scale=T([3.0, 1.0]))

    def f(x):
        made = Config(x=x, n=1)
        made.y = x * config.width
        made["z"] = made.x + made["y"]
        config.width += made.n
        config["last"] = x * 3
        return made.z * config.scale, sorted(made), made, len(config), config.last, hasattr(config, "first")

    return f


@program(calls=CALLS, COUNTS=[], captured=False)
def methods_that_code_in_c_calls(x):
    one = Told()
    one.update(a=x)
    one.setdefault("b", 2)
    one["c"] = 3
    two = one.copy()
    return list(two), one["a"], len(one), list(one.items())[0][1]


@program(calls=CALLS)
def fields_that_are_items(x):
    one = Hidden(x * 2)
    one.loss = x.sum()
    one["loss"] = one.loss + 1
    return one, one[0], one["state"], list(one), Hidden(), Hidden(x, loss=1)["loss"]


@program(calls=CALLS, COUNTS=[])
def fields_that_code_sets(x):
    one, two = Settings(x), Settings(x, 1, 2, [3], named=5)
    return vars(one), one.steps, two.steps, two.seen, vars(two)


@program(calls=CALLS)
def arguments_that_a_dataclass_does_not_take(x):
    try:
        return Settings()
    except TypeError as error:
        return x, str(error)


COUNTS: list[Any] = []
