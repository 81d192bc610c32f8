"""Readable things: enums, containers of classes of the user, callbacks, Cells and Parameters."""

from __future__ import annotations

import collections
import enum
import functools
import json
import operator

from duograph import Tensor, nn

from .readable import attribute, calling, item, reads
from .readable_classes import PLAIN
from .readable_operators import PAIR

SCALE = 3.0
scale_changed = item(globals(), "SCALE", 5.0)


class Settings:
    """An object whose dictionary is replaced as a whole."""


SETTINGS = Settings()
SETTINGS.scale = 3.0
settings_replaced = calling(
    lambda: setattr(SETTINGS, "__dict__", {"scale": 5.0}), lambda: setattr(SETTINGS, "__dict__", {"scale": 3.0})
)


class Activated(nn.Cell):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def construct(self, x):
        return self.act(x)


ACTIVATED = Activated()
cells_replaced = item(vars(ACTIVATED), "_cells", {"act": nn.Tanh()})


@reads(cells_replaced)
def sub_cell_of_a_replaced_table(x):
    return ACTIVATED(x)


@reads(settings_replaced)
def attribute_of_a_replaced_dictionary(x):
    return x * SETTINGS.scale


@reads(settings_replaced)
def missing_attribute_of_a_replaced_dictionary(x):
    return x * getattr(SETTINGS, "other", 2.0)


@reads(calling(lambda: setattr(SETTINGS, "__dict__", {"scale": 3.0, "other": 5.0})))
def attribute_that_a_replaced_dictionary_has(x):
    return x * getattr(SETTINGS, "other", 2.0)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2

    @property
    def shade(self):
        return SCALE

    @classmethod
    def _missing_(cls, value):
        return cls.RED if SCALE > 4 else cls.BLUE


@reads(scale_changed)
def property_of_an_enum(x):
    return x * Colour.RED.shade


@reads(scale_changed)
def missing_member_of_an_enum(x):
    return x * Colour(77).value


@reads(attribute(Colour.RED, "_value_", 9))
def value_of_an_enum(x):
    return x * Colour.RED.value


class Missing(dict):
    def __missing__(self, key):
        return SCALE


MISSED = Missing()


@reads(scale_changed)
def missing_item(x):
    return x * MISSED["nothing"]


@reads(scale_changed)
def missing_item_of_a_made_one(x):
    return x * Missing()["nothing"]


DEFAULTS = collections.defaultdict(lambda: SCALE)


@reads(scale_changed)
def default_of_a_made_dict(x):
    made = collections.defaultdict(lambda: SCALE)
    return x * made["nothing"]


def give():
    return SCALE


@reads(scale_changed)
def default_by_a_named_function(x):
    made = collections.defaultdict(give)
    made["a"] += 1
    return x * made["a"]


class Counted(int):
    def __add__(self, other):
        return SCALE


NUMBER = Counted(3)


@reads(scale_changed)
def number_of_a_class(x):
    return x * (NUMBER + 1)


class Text(str):
    def __len__(self):
        return int(SCALE)


TEXT = Text("abc")


@reads(scale_changed)
def text_of_a_class(x):
    return x * len(TEXT)


class Items(list):
    def __len__(self):
        return int(SCALE)

    def __getitem__(self, key):
        return SCALE


ITEMS = Items([1, 2])


@reads(scale_changed)
def list_of_a_class(x):
    return x * len(ITEMS) * ITEMS[0]


@reads(attribute(ITEMS, "note", 4))
def attribute_of_a_list(x):
    return x * getattr(ITEMS, "note", 2)


def by_key(v):
    return v.v if SCALE > 4 else -v.v


@reads(scale_changed)
def sorted_by_a_function(x):
    return x * next(iter(sorted(PAIR, key=by_key))).v


@reads(scale_changed)
def sorted_by_a_partial(x):
    return x * next(iter(sorted([1, 2], key=functools.partial(lambda s, v: v * (SCALE - 4), 1))))


@reads(scale_changed)
def sorted_by_a_comparison(x):
    return x * next(iter(sorted([1, 2], key=functools.cmp_to_key(lambda a, b: (a - b) * (SCALE - 4)))))


@reads(scale_changed)
def largest_by_a_callable_object(x):
    class Key:
        pass

    return x * max([1, 2], key=KEY)


class Key:
    def __call__(self, v):
        return v * (SCALE - 4)


KEY = Key()


@reads(scale_changed)
def encoded_by_a_function(x):
    return x, json.dumps({"a": PLAIN}, default=lambda v: SCALE)


@reads(scale_changed)
def substituted_by_a_function(x):
    import re

    return x, re.sub("a", lambda m: str(SCALE), "banana")


@reads(scale_changed)
def callable_iterator(x):
    for v in iter(lambda: SCALE, 5.0):
        return x * v
    return x


PARTIAL = functools.partial(operator.mul, 3)


@reads(calling(lambda: PARTIAL.__setstate__((operator.mul, (5,), {}, {})),
               lambda: PARTIAL.__setstate__((operator.mul, (3,), {}, {}))))  # fmt: skip
def contents_of_a_partial(x):
    return x * PARTIAL(2)


class Net(nn.Cell):
    factor = 2

    def __init__(self):
        super().__init__()
        self.config = {"a": [1, 2]}
        self.dense = nn.Dense(2, 2, weight_init="ones")

    def construct(self, x):
        return x * self.factor * self.config["a"][1]


NET = Net()


@reads(attribute(NET, "factor", 5), attribute(Net, "factor", 4), item(NET.config["a"], 1, 7))
def attribute_of_a_cell(x):
    return NET(x)


@reads(attribute(Net, "construct", lambda self, x: x * 9))
def construct_replaced(x):
    return NET(x)


@reads(attribute(Net, "__call__", lambda self, x: x * 9))
def call_of_a_cell_replaced(x):
    return NET(x)


@reads(attribute(nn.Dense, "construct", lambda self, x: x * 9))
def construct_of_a_layer_replaced(x):
    return NET.dense(x)


@reads(attribute(nn.Dense, "__call__", lambda self, x: x * 9), attribute(nn.Cell, "__call__", lambda self, x: x * 8))
def call_of_a_layer_replaced(x):
    return NET.dense(x)


@reads(attribute(NET, "dense", nn.Dense(2, 2, weight_init="zeros")))
def layer_replaced(x):
    return NET.dense(x)


@reads(calling(lambda: NET.set_train(True), lambda: NET.set_train(False)))
def training_of_a_cell(x):
    return x * (2 if NET.training else 1)


@reads(attribute(NET.dense.weight, "requires_grad", False))
def flag_of_a_parameter(x):
    return x * (2 if NET.dense.weight.requires_grad else 1)


@reads(attribute(NET.dense.weight, "requires_grad", False))
def trainable_parameters(x):
    return x * (1 + len(NET.trainable_params()))


@reads(attribute(NET.dense.weight, "name", "other"))
def name_of_a_parameter(x):
    return x, NET.dense.weight.name


@reads(attribute(NET.dense.weight, "note", 4))
def attribute_of_a_parameter(x):
    return x * getattr(NET.dense.weight, "note", 2)


TENSOR = Tensor([1.0, 2.0])


@reads(attribute(TENSOR, "note", 4))
def attribute_of_a_tensor(x):
    return x * getattr(TENSOR, "note", 2)


@reads(attribute(Tensor, "mine", 4))
def attribute_of_the_class_of_tensors(x):
    return x * getattr(Tensor, "mine", 2)


@reads(attribute(Tensor, "mine", lambda self: self * 3))
def method_of_tensors_that_appears(x):
    return x.mine() if hasattr(x, "mine") else x


@reads(attribute(Tensor, "abs", lambda self: self * 3))
def method_of_tensors_replaced(x):
    return x.abs()


@reads(attribute(Tensor, "__add__", lambda self, other: self * 3))
def operator_of_tensors_replaced(x):
    return x + 1


LAYERS, CHAIN = nn.CellList([nn.ReLU()]), nn.SequentialCell([nn.ReLU()])


@reads(calling(lambda: LAYERS.append(nn.Sigmoid()), lambda: LAYERS.__delitem__(1)))
def cells_of_a_list(x):
    for layer in LAYERS:
        x = layer(x)
    return x * len(LAYERS), LAYERS[-1](x)


@reads(calling(lambda: CHAIN.append(nn.Sigmoid()), lambda: CHAIN.__delitem__(1)))
def cells_of_a_sequence(x):
    return CHAIN(x)


@reads(calling(lambda: NET.insert_child_to_cell("more", nn.Dense(1, 1)), lambda: delattr(NET, "more")))
def children_of_a_cell(x):
    return x * len(NET.name_cells()), [name for name, _ in NET.cells_and_names()]
