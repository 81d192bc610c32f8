"""Special methods that are compiled functions themselves: called by whoever would call the plain ones, as often."""

import dataclasses

import duograph as ms
from duograph import nn
from tests.conformance.harness import T, program

LOG = []
X = [(T([1.0, 2.0]),), (T([-1.0, 3.0]),)]


class Made:
    @ms.jit
    def __init__(self, value, *rest, **named):
        self.value = value
        self.rest, self.named = dict(*rest, **named), len(rest)
        LOG.append("made")


class Derived(Made):
    def __init__(self, value):
        super().__init__(value * 2, {"a": 1}, b=value)
        self.more = 3


@dataclasses.dataclass
class Data:
    value: object

    @ms.jit
    def __post_init__(self):
        self.twice = self.value * 2


class Kind(type):
    @ms.jit
    def __call__(cls, *args):
        made = type.__call__(cls, *args)
        made.kind = "marked"
        return made


class Marked(metaclass=Kind):
    def __init__(self, value):
        self.value = value


class Setting:
    @ms.jit
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        object.__setattr__(self, "latest", name)

    @ms.jit
    def __delattr__(self, name):
        object.__delattr__(self, name)
        object.__setattr__(self, "latest", f"no {name}")


class Dropped:
    @ms.jit
    def __del__(self):
        LOG.append("dropped")


class Guessing:
    @ms.jit
    def __getattr__(self, name):
        if name == "guess":
            return 3
        raise AttributeError(name)


class Told:
    @ms.jit
    def __str__(self):
        LOG.append("text")
        return "told"

    @ms.jit
    def __hash__(self):
        LOG.append("hash")
        return 4

    @ms.jit
    def __eq__(self, other):
        LOG.append("equal")
        return True

    @ms.jit
    def __lt__(self, other):
        LOG.append("less")
        return True

    @ms.jit
    def __index__(self):
        return 2


class Failing(Exception):
    @ms.jit
    def __init__(self, value):
        super().__init__("failing", 1)
        self.value = value


class Net(nn.Cell):
    @ms.jit
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    @ms.jit
    def construct(self, x):
        return x * self.factor


def attributes(value):
    return {name: held for name, held in vars(value).items() if name != "_duograph_versions"}


@program(calls=X, LOG=[], captured=False)
def objects_whose_init_is_compiled(x):
    made = Made(x), Made(x, {"k": x}), Made(x, k=1), Derived(x), Data(x), Marked(x)
    return [attributes(m) for m in made], Net(3)(x), made[0].value * made[3].more


@program(calls=X, LOG=[], grad=0)
def a_gradient_through_a_compiled_init(x):
    return (Made(x).value * Marked(x).value * Data(x).twice).sum()


SETTING = Setting()


@program(calls=X, captured=False)
def attributes_set_by_compiled_methods(x):
    inside = Setting()
    inside.value = x
    inside.other = 2
    del inside.other
    SETTING.value = x * 2
    return attributes(inside), attributes(SETTING)


@program(calls=X, LOG=[], captured=False)
def a_compiled_finalizer(x):
    one = Dropped()
    one = None
    return x * len(LOG), one


@program(calls=X, captured=False)
def a_compiled_getattr(x):
    return x * Guessing().guess, hasattr(Guessing(), "other"), getattr(Guessing(), "none", 5)


@program(calls=X, LOG=[], captured=False)
def compiled_methods_that_native_code_calls(x):
    told = Told()
    texts = str(told), f"{told}", "%s" % told, list(map(str, [told]))  # noqa: UP031
    print(told)
    return x, texts, {told: 1}[Told()], told in [1], sorted([told, Told()])[1] is told, [1, 2, 3][told], max(told, 1)


@program(calls=X)
def an_exception_whose_init_is_compiled_error(x):
    try:
        raise Failing(x)
    except Failing as error:
        first = error.value * 2, error.args
    raise Failing(first)
