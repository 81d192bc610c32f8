"""Objects whose ``__getattribute__`` only reads, and gives attributes other names: configurations are such."""

import copy

from duograph import nn, ops
from tests.conformance.harness import T, program

X = T([1.0, -2.0, 3.0])


class Renamed:
    attribute_map: dict = {}

    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        if name in super().__getattribute__("attribute_map"):
            name = super().__getattribute__("attribute_map")[name]
        super().__setattr__(name, value)

    def __getattribute__(self, name):
        if name != "attribute_map" and name in super().__getattribute__("attribute_map"):
            name = super().__getattribute__("attribute_map")[name]
        return super().__getattribute__(name)


class Config(Renamed):
    model = "small"
    attribute_map = {"hidden_size": "width", "layers": "depth"}  # noqa: RUF012

    @property
    def is_deep(self):
        return self.layers > 1

    def heads(self, each=2):
        return self.hidden_size // each


class Prefixed:
    def __init__(self):
        self.gain = 3

    def __getattribute__(self, name):
        if name.startswith("my_"):
            name = name[3:]
        return object.__getattribute__(self, name)


class Layered(Config):
    extra = "gain"

    def __getattribute__(self, name):
        if name == "more":
            return super().__getattribute__("gain")
        return super().__getattribute__(name)

    def __getattr__(self, name):
        return len(name)


CONFIG = Config(width=4, depth=2, scale=None)
OTHER = Config(width=6, depth=1, scale=2.0)
PREFIXED = Prefixed()
LAYERED = Layered(width=2, depth=3, gain=5)
HELD = {"config": CONFIG, "all": [CONFIG, OTHER]}


@program(X)
def a_configuration_that_renames(x):
    y = x * CONFIG.hidden_size + CONFIG.width
    if CONFIG.is_deep:
        y = y - CONFIG.heads()
    for _ in range(CONFIG.layers):
        y = y + 1
    return y if CONFIG.scale is None else y * CONFIG.scale, CONFIG.model


@program(calls=[(X, CONFIG), (X, OTHER), (X, CONFIG), (X, copy.copy(OTHER))])
def configurations_as_arguments(x, config):
    scale = 1 if config.scale is None else config.scale
    return x * scale + config.heads(each=3), hasattr(config, "missing"), getattr(config, "none", 7)


@program(X)
def configurations_in_containers(x):
    total = sum(c.hidden_size * c.layers for c in HELD["all"])
    return x * total, HELD["config"] is HELD["all"][0]


@program(X)
def a_prefix_that_is_cut_off(x):
    return x * PREFIXED.my_gain + PREFIXED.gain


@program(X)
def two_readers_and_a_getattr(x):
    return x * LAYERED.more + LAYERED.hidden_size, LAYERED.missing, LAYERED.gain


class _Net(nn.Cell):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.bias = ops.zeros(config.hidden_size - 1)

    def construct(self, x):
        if self.config.is_deep:
            x = x * self.config.layers
        return x + self.bias


NET = _Net(CONFIG)


@program(X)
def a_configuration_that_a_cell_holds(x):
    return NET(x)


@program(X, captured=False)
def a_configuration_that_is_written(x):
    config = OTHER
    before = config.hidden_size
    config.hidden_size = before + 1
    y = x * config.width
    config.hidden_size = before
    return y, config.hidden_size, vars(config)["width"]


@program(X)
def a_missing_attribute_error(x):
    return x * CONFIG.nothing


@program(calls=[(X, 1), (X, 2), (X, 3)], captured=False)
def a_configuration_whose_table_changes(x, n):
    CONFIG.width = 4 + n
    first = x * CONFIG.hidden_size
    Config.attribute_map = {"hidden_size": "depth" if n == 2 else "width", "layers": "depth"}
    second = x * CONFIG.hidden_size
    Config.attribute_map = {"hidden_size": "width", "layers": "depth"}
    CONFIG.width = 4
    return first, second
