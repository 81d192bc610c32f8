"""Classes and functions made by `exec` whose text nobody has kept: what the user has written is interpreted or left to
plain Python, also where it is called as what `dataclasses` generates, or says that it is of the module ``builtins``."""

import sys
import types

import pytest

import duograph as ms
from duograph import Tensor

HEAD = "import collections, dataclasses\nlog = []\n"
METHODS = """
class Value:
    def __init__(self, k):
        log.append("init")
        self.k = k
    def __eq__(self, other):
        log.append("eq")
        return self.k == other.k
    def __lt__(self, other):
        log.append("lt")
        return self.k < other.k
    def __repr__(self):
        log.append("repr")
        return f"<{self.k}>"
    def __hash__(self):
        log.append("hash")
        return 3
    def __setattr__(self, name, value):
        log.append("set")
        object.__setattr__(self, name, value)
    def __delattr__(self, name):
        log.append("delete")
        object.__delattr__(self, name)
a, b = Value(1), Value(2)
def f(x):
    y = (x * 2).tanh() * x
    if a == b:
        y = y + 1
    if a < b:
        y = y * 2
    made = Value(3)
    made.z = 4
    del made.z
    return y + {a: 1}[a], repr(made)
"""
NEW = """
class Value:
    def __new__(cls, k):
        log.append("new")
        made = object.__new__(cls)
        made.k = k
        return made
class Pair(tuple):
    def __new__(cls, *items):
        log.append("pair")
        return tuple.__new__(cls, items)
def f(x):
    return (x * 2).tanh() * Value(3).k + Pair(x, 1)[0]
"""
NUMBERS = """
class Number(int):
    @property
    def p(self):
        log.append("p")
        return len(log)
    def __add__(self, other):
        log.append("add")
        return 7
class Table(dict):
    def __missing__(self, key):
        log.append("missing")
        return 5
number, table = Number(3), Table(a=1)
def f(x):
    return (x * 2).tanh() * x + number.p + (number + 1) + table["a"] + table["b"]
"""
FACTORIES = """
def made():
    log.append("made")
    return 4
class Made:
    def __init__(self):
        log.append("Made")
@dataclasses.dataclass
class Data:
    a: int = dataclasses.field(default_factory=made)
    b: object = dataclasses.field(default_factory=Made)
table = collections.defaultdict(Made)
def f(x):
    table["k"]
    return (x * 2).tanh() * x + Data().a + collections.defaultdict(made)["q"]
"""
GENERATED = """
@dataclasses.dataclass(frozen=True, order=True)
class Data:
    a: int
    b: int = 2
Pair = collections.namedtuple("Pair", "a b", defaults=[3])
def f(x):
    made = Data(1)
    return (x * made.a).tanh() + Pair(1).b + (made < Data(2, 3)) + (made == Data(1)), repr(made), Pair._make([1, 2])
"""


def without_text(code: types.CodeType) -> types.CodeType:
    constants = [without_text(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return code.replace(co_filename="<nowhere>", co_consts=tuple(constants))


def made_of(text: str, way: str) -> dict:
    """The names that ``text`` gives in a bare namespace, or in a module without a file."""
    code = without_text(compile(HEAD + text, "<text>", "exec", dont_inherit=True))
    names: dict = {}
    if way == "module":
        module = sys.modules["made_by_exec"] = types.ModuleType("made_by_exec")
        names = vars(module)
    exec(code, names)
    return names


def outcome(names: dict, f) -> tuple:
    results = [f(Tensor([k, 2.0])) for k in (1.0, -3.0, 5.0) for _ in range(3)]
    return [repr(r) for r in results], names["log"]


@pytest.fixture(autouse=True)
def no_module_stays():
    yield
    sys.modules.pop("made_by_exec", None)


@pytest.mark.parametrize("capture_mode", ["bytecode", "trace"])
@pytest.mark.parametrize("way", ["bare", "module"])
@pytest.mark.parametrize("text", [METHODS, NEW, NUMBERS, FACTORIES, GENERATED])
def test_effects_happen_once(text, way, capture_mode):
    plain, mine = made_of(text, way), made_of(text, way)
    wanted = outcome(plain, plain["f"])
    compiled = ms.jit(mine["f"], capture_mode=capture_mode)
    assert outcome(mine, compiled) == wanted
    explained = compiled.explain()
    assert explained.captured_from == "bytecode"
    assert not explained.failures


@pytest.mark.parametrize("way", ["bare", "module"])
@pytest.mark.parametrize("text", [NEW, GENERATED])
def test_they_are_compiled(text, way):
    compiled = ms.jit(made_of(text, way)["f"], fullgraph=True)
    for _ in range(3):
        compiled(Tensor([1.0, 2.0]))
    assert len(compiled.explain().versions) == 1


CUT = """
import time
class Gain:
    def __init__(self, k):
        self.k = k
gain = Gain(2)
def work(x):
    return ((x * 2).tanh() * x - x.mean()).exp() * x
def f(x):
    y = work(x)
    log.append(time.time() > 0)
    return work(y) * gain.k
"""


@pytest.mark.parametrize("way", ["bare", "module"])
def test_what_they_call_is_no_break(way):
    """The function is cut at the call of the clock, and nowhere else."""
    plain, mine = made_of(CUT, way), made_of(CUT, way)
    compiled = ms.jit(mine["f"])
    assert outcome(mine, compiled) == outcome(plain, plain["f"])
    explained = compiled.explain()
    (found,) = explained.breaks
    assert "time.time" in found.reason
    assert len(explained.segments) == 2
