"""What random programs are made of: templates of expressions by kind, of statements, and the world around them.

A letter in braces stands for an expression of that kind; an upper-case letter for the *name* of a variable of it:

=====  ==============================  =====  =====================================
``t``  a tensor of any dtype            ``l``  a list that may hold anything
``f``  a floating tensor                ``m``  a list of ints
``i``  an integer tensor                ``d``  a dict with keys ``'a'`` and ``'b'``
``b``  a bool tensor                    ``u``  a tuple
``c``  a complex tensor                 ``e``  a set of ints
``s``  a tensor with one element        ``o``  a `Box`
``n``  a Python int                     ``r``  a Python float
``q``  a condition, Python or tensor    ``z``  a str
=====  ==============================  =====  =====================================

``N`` is a small literal, ``DT`` a dtype, ``any`` something.
"""

# ruff: noqa: E501 - tables of templates read better in rows

from __future__ import annotations

DTYPES = (
    "float32", "float32", "float32", "float64", "float16", "bfloat16", "int64", "int64", "int32", "int16", "int8",
    "uint8", "uint16", "uint32", "uint64", "bool_", "complex64", "complex128",
)  # fmt: skip

WORLD = '''\
import collections
import contextlib
import copy
import dataclasses
import functools
import logging
import math
import random
import sys
import time
import types
import weakref
from decimal import Decimal

import numpy as np

import duograph as ms
from duograph import Parameter, Tensor, nn, ops

COUNT = 0
SCALE = 0.5
NAME = "a"
LOG = []
TABLE = {"a": 1, "hits": 0}
ITEMS = [1, 2, 3]
W = Parameter(Tensor([0.5, -0.25, 1.0]), name="w")
STATE = Tensor([1, 2, 3])
FN = abs


class Quiet:
    """Swallows one class of exceptions, and counts."""

    def __init__(self, swallowed=KeyError):
        self.swallowed, self.entered = swallowed, 0

    def __enter__(self):
        self.entered += 1
        return self

    def __exit__(self, kind, value, trace):
        LOG.append(None if kind is None else kind.__name__)
        return kind is not None and issubclass(kind, self.swallowed)


class Wrong(ValueError):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


class Base:
    factor = 2

    def scaled(self, x):
        return x * self.factor


class Box(Base):
    def __init__(self, value=1):
        self.value = value
        self.state = Tensor([1.0, -1.0])
        self.items = []
        self._hidden = 0

    @property
    def hidden(self):
        return self._hidden + self.value

    @hidden.setter
    def hidden(self, value):
        LOG.append("set")
        self._hidden = value

    def add(self, x, times=1):
        self.value += times
        return x + self.value

    def keep(self, x):
        self.items.append(x)
        return len(self.items)

    def scaled(self, x):
        return super().scaled(x) + 1

    def __getitem__(self, key):
        return self.items[key]

    def __len__(self):
        return len(self.items)

    def __contains__(self, item):
        return item == self.value

    def __call__(self, x):
        return x - self.value


BOX = Box(3)


MODULE = sys.modules.setdefault(__name__, types.ModuleType(__name__))  # where dataclasses look for it


@dataclasses.dataclass(order=MODULE is not None)
class Settings:
    rate: float = 0.5
    steps: int = 2
    names: list = dataclasses.field(default_factory=list)


SETTINGS = Settings(0.25, 3, ["a"])


class Rank:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value

    def __str__(self):
        return f"R{self.value}"


@functools.lru_cache(maxsize=4)
def cached(n):
    return [n, n * 0.5]


RANKS = [Rank(2), Rank(1), Rank(4)]


@dataclasses.dataclass(slots=True)
class Pair:
    first: object
    second: int = 1

    def __repr__(self):
        return f"{self.first!r} {self.second!r}"


class _Told:
    """Where the logger writes to."""

    def write(self, text):
        TOLD.append(text)

    def flush(self):
        pass


def _made_teller():
    made = logging.getLogger(f"{__name__}.teller")
    made.propagate = False
    made.addHandler(logging.StreamHandler(_Told()))
    return made


TOLD = []
_teller = _made_teller()


def registered(fn):
    fn.register(int)(lambda value: value * 2)
    fn.register(list)(lambda value: len(value))
    return fn


sized = registered(functools.singledispatch(lambda value: 1))


class Layer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor([1.5, -0.5]), name="weight")
        self.steps = 0

    def construct(self, x, n=1):
        self.steps += 1
        if x.sum() > n:
            return x * self.weight[0] + n
        return x + self.weight[1]


LAYER = Layer()


class Bend(nn.Cell):
    """A gradient of its own, which reads what may have changed since."""

    def __init__(self):
        super().__init__()
        self.factor = 2
        self.calls = 0

    def construct(self, x):
        return x * self.factor

    def bprop(self, x, out, dout):
        self.calls += 1
        return (dout * (self.factor + COUNT) + x,)


BEND = Bend()
HANDLES = []
REF = weakref.ref(BOX)
OPTIMIZER = nn.Momentum([W], 0.5, 0.9)


def hooked(x, n=1):
    def hook(gradient):
        LOG.append(n)
        return gradient * SCALE + n

    y = x * 2
    y.register_hook(hook)
    return y


def trained(x, n):
    def loss(a):
        return (hooked(a, n) * W[0]).sum() + (W * n).sum()

    value, (gradient,) = ms.value_and_grad(loss, None, [W])(x)
    OPTIMIZER((gradient,))
    return value


def rec(n, x):
    if n <= 0:
        return x
    if n % 2:
        return rec(n - 1, x + n)
    return rec(n - 2, x * 2) - 1


def opaque(value):
    """The very object, after something that no graph does."""
    time.sleep(0)
    return value


def grown(x, w, depth=3):
    """Ends by values, and sees what is outside."""
    if x.abs().sum() > 40 or depth < 1:
        return x if isinstance(w, Parameter) else w
    BOX.value += 1
    y = grown(x * 2 + BOX.value, w, depth - 1 if x.shape[0] > 2 else 3)
    BOX.value -= 1
    return y


def helper(x, n=1, *rest, scale=1):
    if x.sum() > 0.5:
        return x * n + scale
    for _ in range(n % 3):
        x = x * 2
    return -x


def rec_first(x, n=1, *rest, scale=1):
    return rec(n % 4, x)


helper_first = helper


def early(x, n):
    if x.sum() > 3:
        return None
    for a in range(n % 4):
        if a == 2:
            return a
    else:
        if x.max() > 1:
            return 1.5
    return x.sum()


def checked(n):
    LOG.append(n)
    if n > 4:
        raise Wrong(n)
    return n + 1


def gen(x, n):
    for a in range(n % 5):
        try:
            yield x + a
        finally:
            LOG.append(a)
    return


def counter(start):
    total = start

    def step(by=1):
        nonlocal total
        total += by
        return total

    return step


@ms.jit
def inner(x, n):
    LOG.append(n)
    return x * n - 1


@ms.jit
def careful(x, n):
    try:
        return x[n]
    except IndexError:
        return x.sum()
'''

EXPRESSIONS: dict[str, list[str]] = {
    "t": [
        "({t} + {t})", "({t} - {t})", "({t} * {t})", "({t} / {t})", "({t} // {t})", "({t} % {t})", "({t} ** 2)",
        "({t} + {n})", "({n} - {t})", "({t} * {r})", "({t} - {r})", "(-{t})", "abs({t})", "({t} * {n})", "({t} / {n})",
        "({t} // {n})", "({t} % {n})", "({t} ** {n})", "({t} + {q})", "{l}[0]", "{l}[{n}]", "{l}[-1]", "{d}['a']",
        "{d}['b']", "{d}[{z}]", "{d}.get({z}, {t})", "{u}[0]", "({t} if {q} else {t})", "{t}[{n}:]", "{t}[:{n}]",
        "{t}[::2]", "{t}[::-1]", "{t}[...]", "{t}[None]", "{t}[..., {n}]", "{t}[{b}]", "{t}[{i}]", "{t}[{n}:{n}]",
        "{t}[{t} > {n}]", "{t}[int({s}):]", "{t}[: int({s})]", "{t}[{n}]", "{t}[-1]", "{t}[0]", "{t}.T",
        "{t}.reshape(-1)", "{t}.reshape(({n}, -1))", "{t}.expand_dims(0)", "{t}.astype(ms.{DT})", "ops.where({b}, {t}, {t})",
        "ops.where({t} > {n}, {t}, {n})", "ops.maximum({t}, {t})", "ops.minimum({t}, {n})", "ops.concat(({t}, {t}))",
        "ops.stack(({t}, {t}))", "ops.masked_select({t}, {b})", "ops.masked_select({t}, {t} > {n})", "ops.nonzero({t})",
        "ops.gather({t}, {i}, 0)", "ops.unique({t})[0]", "ops.unique({t})[1]", "ops.sort({t})[0]", "ops.flip({t}, (0,))",
        "ops.zeros_like({t})", "ops.ones_like({t})", "{t}.masked_fill({b}, {n})", "{t}.clip({n}, 3)", "{t}.cumsum(0)",
        "{t}.repeat(2)", "ops.tile({t}, (2,))", "ops.arange({n})", "ops.ones({n} % 5)", "ops.full(({n} % 4,), {r})",
        "Tensor([{n}, {n}])", "Tensor({r})", "Tensor({m})", "ops.zeros(({n} % 3, 2))", "ops.reverse({t}, [0])",
        "rec({n} % 6, {t})", "helper({t}, {n})", "helper({t})", "helper({t}, *[{n}], scale={n})", "{o}.scaled({t})",
        "{o}.add({t})", "{o}.add({t}, times={n})", "{o}({t})", "{o}.state", "STATE", "inner({t}, {n})", "careful({t}, {n})",
        "ms.vmap(lambda a: a * {n} + 1)({t})", "ms.vmap(lambda a: ops.where(a > 0, a, {t}.sum()))({t})",
        "ops.stack([a * 2 for a in {t}])", "next(gen({t}, {n}))", "sum(gen({t}, {n}))", "(lambda a, b={n}: a * b)({t})",
        "{t}.copy()", "{t}.view(-1)", "{t}.swapaxes(0, -1)", "ops.topk({t}, {n})[0]", "{t}.max(0)", "{t}.min(0)",
        "{t}.sum(0)", "{t}.sum(-1)", "{t}.mean(0)", "{t}.argmax(0)", "ops.cat([{t}, {t}], 0)", "ops.split({t}, 1)[0]",
        "max([{t}, {t}], key=lambda a: a.sum())", "{t}.flatten()", "(W if {q} else {t})", "(W if {q} else LAYER.weight)", "grown({t}, {t})", "opaque({t})", "grown({t}, W)", "{t}.sum(0, keepdims=True)", "ops.broadcast_to({t}, (2, {n}))", "BEND({t})", "hooked({t}, {n})",
    ],
    "f": [
        "ops.tanh({f})", "ops.sin({f})", "ops.exp(-{f}.abs())", "ops.sqrt({f})", "ops.softmax({f}, -1)", "ops.relu({f})",
        "({f} / {f})", "({f} * {r})", "({f} + {s})", "{i}.astype(ms.float32)", "ops.log({f})", "({f} @ {f}.T)",
        "ms.grad(lambda a: (a * a * {r}).sum())({f})", "ms.grad(lambda a: ops.tanh(a * {t}).sum())({f})",
        "ms.grad(lambda a: helper(a, {n}).sum())({f})", "ms.grad(ms.grad(lambda a: (a ** 3).sum()))({f})",
        "ms.grad(lambda a: ms.grad(lambda b: (b * b * a).sum())({f}).sum())({f})", "ms.value_and_grad(lambda a: (a * {n}).sum())({f})[1]",
        "ms.grad(lambda a: a[{n}:].sum())({f})", "ms.grad(lambda a: ops.masked_select(a, a > {r}).sum())({f})",
        "ms.grad(lambda a: (a * 2 if a.sum() > {n} else -a).sum())({f})", "LAYER({f})", "LAYER({f}, {n})", "(W + {n})",
        "ops.vmap(ms.grad(lambda a: (a * a).sum()))({f})", "ops.matmul({f}, {f})", "ops.cumsum({f}, 0)", "{f}.mean()",
        "ms.grad(lambda a: careful(a, {n}).sum())({f})", "ms.grad(lambda a: inner(a, {n}).sum())({f})", "{f}.std()",
        "ops.rand({n} % 4)", "ops.randn(2)", "ops.dropout({f}, 0.5)", "(W * {f})", "ops.clip({f}, -1, {r})", "{f}.var()",
        "ms.grad(lambda a: BEND(a).sum())({f})", "ms.grad(lambda a: (BEND(a) * {r} + hooked(a, {n})).sum())({f})", "ms.grad(lambda a: (a[0] * W).sum(), None, [W])({f})[0]",
        "ms.grad(lambda a: hooked(a, {n}).sum())({f})", "ms.grad(lambda a: ms.grad(lambda b: (BEND(b) * b).sum())(a).sum())({f})", "trained({f}, {n})",
        "ops.erf({f})", "ops.floor({f})", "ops.round({f})", "{f}.softmax(0)", "ops.logsumexp({f}, 0)", "{f}.prod()",
    ],
    "i": [
        "({i} + {n})", "({i} % 3)", "({i} // 2)", "({i} * {i})", "({i} & 3)", "({i} << 1)", "({i} >> {n})", "{b}.astype(ms.int32)",
        "{t}.argmax()", "ops.abs({i})", "({i} ^ {n})", "ops.arange({n} % 5)", "ops.randint(0, 5, (2,))", "{t}.astype(ms.int64)",
        "ops.argsort({t})", "ops.nonzero({b}).reshape(-1)", "Tensor([{n}, 0])", "ops.bincount({i} % 4)",
    ],
    "b": [
        "({t} > {n})", "({t} > {r})", "({t} == {t})", "({t} != {n})", "({t} <= {t})", "(~{b})", "({b} & {b})", "({b} | {b})",
        "ops.logical_and({b}, {b})", "ops.isnan({f})", "{t}.astype(ms.bool_)", "ops.logical_not({b})", "({b} ^ {b})",
    ],
    "s": [
        "{t}.sum()", "{t}.max()", "{t}.min()", "{t}[0]", "{t}[-1]", "{f}.mean()", "{t}.prod()", "{b}.any()", "{b}.all()",
        "ops.count_nonzero({t})", "({s} + {n})", "({s} * {s})", "({s} if {q} else {s})", "Tensor({n})", "{t}.argmax()",
        "{t}.size * {s}", "{s}.astype(ms.{DT})", "trained({f}, {n})", "trained({f}, {n})", "hooked({s}, {n})",
    ],
    "n": [
        "{N}", "{N}", "({n} + {n})", "({n} - {n})", "({n} * {n})", "({n} // {n})", "({n} % {n})", "({n} << ({n} % 7))",
        "(({n}) ** ({n} % 4))", "len({l})", "{t}.shape[0]", "{t}.ndim", "{t}.size", "int({s})", "int({r})", "{i}.sum().item()",
        "max({n}, {n})", "min({n}, {n})", "abs({n})", "len({z})", "{z}.count('a')", "int({q})", "({n} if {q} else {n})",
        "{o}.value", "{o}.hidden", "COUNT", "TABLE['hits']", "TABLE[{z}]", "[{n}, {n}, 7][{n} % 3]", "sum({m})", "{m}[{n}]",
        "{m}[0]", "sum(range({n} % 6))", "round({r})", "divmod({n}, {n})[0]", "({n} & {n})", "({n} ^ 3)", "({n} >> 1)", "(~{n})",
        "ord({z}[0])", "len({e})", "len({d})", "{u}[1]", "checked({n})", "counter({n})()", "math.floor({r})", "len({o})",
        "FN({n})", "opaque({n})", "{o}.keep({n})", "sum(a for a in {m} if a > {n})", "len([a for a in {l} if a is not None])",
        "(lambda a: a + {n})({n})", "{{1: 2, 3: 4}}.get({n}, {n})", "{{1: 2, 2: 3}}[{n}]", "{t}.shape[{n}]", "len(ITEMS)",
        "ITEMS[{n}]", "sorted({m})[0]", "int('1' * ({n} % 4))", "({n} or {n})", "({n} and {n})",
        "10 ** 18 * {n}", "-{n}", "len({t})", "{t}.nonzero().shape[0]", "len(list(gen({t}, {n})))", "next(iter({m}))", "getattr({t}, 'tag', {n})",
        "dataclasses.replace(SETTINGS, steps={n}).steps", "dataclasses.asdict(SETTINGS)['steps']", "vars(SETTINGS)['steps']", "getattr(REF(), 'value', {n})", "BEND.calls", "sized({n})", "sized({any})",
        "max(RANKS).value", "sorted(RANKS)[0].value", "min(Rank({n}), Rank({n})).value", "math.floor({s})", "math.ceil({r})", "math.isqrt({n} * {n})",
        "{{0: {n}, 1: 2, 2: {n}}}.get(int({s}), {n})", "{{0: 1, 1: {n}, 2: 3}}[int({s})]", "len(ITEMS[:int({s})])", "max([1, 2, 3], key=lambda a: float({s}) * a)", "Pair({t}, {n}).second",
    ],
    "r": [
        "0.5", "1.5", "-0.25", "({r} * {r})", "({r} + {n})", "({n} / {n})", "({r} / {r})", "float({s})", "{f}.sum().item()", "({r} ** 2)",
        "math.sqrt({r})", "min({r}, {r})", "round({r}, 1)", "({r} // {r})", "({r} % {r})", "float({n})", "SCALE", "({r} if {q} else {r})",
        "(2.0 ** {n})", "({r} ** {n})", "math.exp({r})", "math.log({n})", "abs({r})", "-{r}", "({r} - {r})",
        "max({r}, {n})", "float({z} or '2')", "sum([{r}, {r}])", "cached({n})[1]", "float(Decimal({n}) / 4)", "copy.deepcopy(SETTINGS).rate", "globals()['SCALE']",
        "math.sqrt({s} * {s})", "math.exp(-abs(float({s})))", "round(float({s}), 1)", "math.hypot({s}, {r})", "math.atan2({s}, {s})", "dataclasses.astuple(SETTINGS)[0]",
    ],
    "q": [
        "({n} > {n})", "({s} > {n})", "({s} < {s})", "({n} == {n})", "({q} and {q})", "({q} or {q})", "(not {q})", "{b}.any()", "{b}.all()",
        "(0 < {s} < 3)", "({n} < {n} <= {n})", "({z} == {z})", "({n} in (1, 2, 5))", "({z} in TABLE)", "isinstance({any}, Tensor)",
        "({any} is None)", "({r} < {r})", "{z}.startswith('a')", "bool({s})", "({t}.shape[0] > 1)", "bool({l})", "({n} in {e})", "({n} % 2 == 0)",
        "(0 < {t}.sum() < {n} < 5)", "({r} > 0.4)", "any(a > {n} for a in {m})", "all([{q}, {q}])", "({n} in {o})", "({s} != {n})",
        "({t} is {t})", "({z} < {z})", "({s} == {n})", "hasattr({o}, {z})", "({n} in {m})", "({e} <= {{1, 2, 3}})", "(not {l})", "(id({O}) == id({O}))", "(id({T}) in [id({T}), id({O})])", "math.isclose({s}, {r})", "(REF() is {O})", "(REF() is None)", "(id({L}) != id({T}))",
        "isinstance({t}, Parameter)", "{t}.is_contiguous()", "hasattr({t}, 'tag')", "({q} is True)", "(bool({s}) is not False)", "({r} in [math.nan, {r}])", "([{r}] == [{r}])",
        "(SETTINGS < Settings({r}, {n}))", "(SETTINGS >= Settings(SETTINGS.rate, {n}))", "math.isnan({s})", "math.isfinite({r})", "(Rank({n}) < RANKS[0])",
        "(int({s}) in {m})", "(int({s}) not in {{1, 2}})", "(float({s}) in [{r}, {n}])", "(int({s}) in range({n}))", "(Pair({n}) == Pair({n}))",
    ],
    "z": [
        "'a'", "'b'", "'hits'", "NAME", "f'''{{{n}}}'''", "f'''{{{r}:.2f}}'''", "({z} + {z})", "{z}.upper()", "str({n})", "{z}[{n}]", "{z}[:{n}]",
        "('a' if {q} else 'b')", "'-'.join([{z}, {z}])", "f'''{{{s}}}'''", "repr({s})", "{z}.replace('a', 'b')", "'%d' % {n}", "{z} * ({n} % 3)",
        "f'''{{{n}!r}}|{{{z}:>3}}'''", "str({t})", "'{{}}'.format({n})", "chr(97 + {n} % 3)", "str({t}.dtype)", "str({t}.shape)", "min({z}, {z})",
        "({z}).split('-')[0]", "type({t}).__name__", "getattr({t}, 'name', {z})", "', '.join(sorted([{z}, {z}]))", "str({r})", "f'''{{{m}}}'''",
        "'%s %s' % (Rank({n}), {z})", "'{{}}|{{!r:>3}}'.format(Rank({n}), {z})", "f'''{{Rank({n})}}'''",
    ],
    "l": [
        "[{t}, {t}]", "[{t}, {n}]", "[a * 2 for a in {l}]", "{l}[::-1]", "({l} + [{t}])", "list({l})", "[a for a in {l} if {q}]", "[*{l}, {t}]",
        "list(map(lambda a: a + {n}, {l}))", "list(gen({t}, {n}))", "[b for a in ({l}, {l}) for b in a]", "list({u})", "list(zip({m}, {l}))",
        "[{any}, {any}]", "list({d}.values())", "list({t})", "[a + b for a, b in zip({l}, {l})]", "[[{t}], [{n}]]", "{o}.items", "{l}[{n}:]",
        "sorted([float({s}), {r}])", "[{n}, 'a', {t}][:int({s})]", "sorted('ab', key=lambda a: float({s}) * (a < 'b'))", "[{t}, {n}][int({s}):]",
    ],
    "m": ["[{n}, {n}]", "[{n}, {n}, {n}]", "[a + 1 for a in {m}]", "sorted({m})", "list(range({n} % 5))", "{m}[{n}:]", "({m} + [{n}])", "[{n}] * ({n} % 4)",
          "[a for a in {m} if a > {n}]", "ITEMS", "sorted({e})", "list(reversed({m}))", "[a * b for a, b in zip({m}, {m})]", "{i}.reshape(-1).tolist()",
          "list({t}.shape)", "[*{m}, *{m}]", "list(filter(lambda a: a % 2, {m}))"],
    "d": ["{{'a': {t}, 'b': {t}}}", "{{'a': {t}, 'b': {n}}}", "dict({d})", "{{**{d}, {z}: {t}}}", "{{k: a for k, a in {d}.items()}}", "dict(a={t}, b={any})",
          "({d} | {{'b': {t}}})"],
    "u": ["({t}, {n})", "({u} if {q} else {u})", "(*[{t}], {n})", "tuple([{t}, {n}])", "({t}, {n}, {z})", "divmod({n}, {n})", "(({t}, {n}), {n})"],
    "e": ["{{{n}, {n}}}", "({e} | {{{n}}})", "({e} - {{1}})", "set({m})", "{{a % 3 for a in {m}}}", "({e} & {e})"],
    "o": ["BOX", "BOX", "Box({n})", "Box()"],
    "c": ["({c} * {c})", "{f}.astype(ms.complex64)", "({c} + {r})", "({c} + 1j)", "{c}.conj()"],
    "any": ["None", "{t}", "{s}", "{n}", "{r}", "{z}", "({t} if {q} else None)", "({n} if {q} else {r})", "early({t}, {n})", "({s} and {s})", "({s} or {n})",
            "{u}", "({s} if {q} else {n})", "Pair({any})", "Pair({t}, {n})", "({q} and {any})", "({q} or {any})", "{q}", "{m}", "{l}", "{d}", "({n} if {q} else {z})"],
}  # fmt: skip

LEAVES = {
    "t": ["STATE", "Tensor([1.0, 2.0])"], "f": ["Tensor([1.0, -2.0])", "W"], "i": ["STATE", "Tensor([1, 0])"], "b": ["Tensor([True, False])"],
    "s": ["Tensor(2)", "Tensor(0.5)"], "n": ["1", "2", "0", "3"], "r": ["0.5", "-1.5"], "q": ["True", "(COUNT > 1)"], "z": ["'a'", "NAME"],
    "l": ["[1, 2]", "LOG"], "m": ["[1, 2]", "ITEMS"], "d": ["{'a': Tensor([1.0]), 'b': 2}"], "u": ["(Tensor([1.0]), 1)"], "e": ["{1, 2}"],
    "o": ["BOX"], "c": ["Tensor([1j, 2.0])"], "any": ["None", "1"],
}  # fmt: skip

RISKY = [  # may raise, or not: that depends on values
    "{m}[{r}]", "sum([{z}], {z})", "max({n}, {n}, default={n})", "len({n}, {n})", "range({t})", "setattr({any}, 'a', {n})", "iter({n}, {n})",
    "{n} // {n}", "{n} % {n}", "{n} / ({n} - {N})", "1 // ({n} - {N})", "{m}[{n}]", "{d}[{z}]", "TABLE[{z}]", "int({r} * float('nan'))",
    "{z}[{n}]", "1 << ({n} - {N})", "0 ** ({n} - {N})", "0.0 ** {n}", "{t}[{n}]", "{t}[{n}, {n}]", "int({z})", "float({z})", "2.0 ** ({n} * 400)",
    "math.sqrt({r})", "math.log({n} - {N})", "{l}.pop()", "{m}.index({n})", "{e}.remove({n})", "{d}.pop({z})", "(1, 2, 3)[{n}]", "'ab'[{n}]",
    "[{t}, {t}][{n}]", "ops.gather({t}, Tensor([{n}]), 0)", "{t}.reshape(({n}, -1))", "({t} @ {t})", "next(iter({m}))", "getattr({o}, {z})",
    "range(4)[{n}]", "checked({n})", "{t}[int({s})]", "1 >> ({n} - {N})", "{m}.remove({n})", "{n}.bit_length()", "{{1: 2, 2: 3}}[{n}]",
    "{r} // ({n} - {N})", "divmod({n}, {n} - {N})", "pow(2, {n}, {n})", "int({s}) // {n}", "{t}.shape[{n}]", "ops.ones(3)[{n}]", "{z}.index({z})",
    "list(range(0, 5, {n} - {N}))", "ops.ones({n} - {N})", "Tensor([1, 2, 3])[{i}]", "ops.full(({n} - {N},), 1)", "None + {n}", "{u}[{n}]",
    "{s}.item() // {n}", "{t}.sum() // {n}", "({t} + {t})", "LOG[{n}]", "LOG.pop()", "{l}[0] + {l}[1]", "bool({t})", "int({t})",
    "math.floor({r} / ({n} - {N}))", "sum([1 // a for a in {m}])", "max({m})", "min([a for a in {m} if a > {n}])", "round({r} * float('inf'))",
    # attributes of operators: numbers of every kind where an axis, a size or a flag belongs
    "ms.mint.roll({t}, {n}, {n} - {N})", "ms.mint.roll({t}, {r})", "ops.tile({t}, ({n} - {N},))", "ops.gather({t}, {i}, {n} - {N})",
    "ops.cumsum({t}, {n} - {N})", "ms.mint.unique_consecutive({t})", "ms.mint.normal(size=({n} - {N}, 2))", "ops.topk({t}, {n} - {N})[1]",
    "ops.polygamma({n} - {N}, {f})", "ms.mint.histc({f}, {n})", "ops.flip({t}, ({n} - {N},))", "ops.randint(0, {n}, (2,))", "{t}.sum({n} - {N})",
    "ms.mint.diag_embed({t}, {n} - {N})", "ops.sort({t}, {n} - {N})[1]", "ms.mint.randperm({n} - {N})", "ops.concat([{t}, {t}], {n} - {N})",
    "bytes([{n}])", "chr({n} - {N})", "'{{:d}}'.format({r})", "f'''{{{n}:{{{n}}}}}'''", "{n}.to_bytes(1, 'big')", "int({r} * 1e300)", "str({z}, {z})",
    "math.log({s})", "math.sqrt({s})", "math.acos({r})", "math.pow({s}, {r})", "math.fmod({s}, {n})", "math.gamma({s})", "math.isqrt({n})", "round({r}, {n})",
]  # fmt: skip

ASSERTIONS = [
    "assert {q}",
    "assert {q}, {z}",
    "assert {s} > {n}, f'''{{{n}}}'''",
    "assert {n} != {N}",
    "assert not {b}.all()",
]

EXCEPTIONS = ["ZeroDivisionError", "IndexError", "KeyError", "ValueError", "TypeError", "OverflowError", "Exception", "Exception", "Exception",
              "ArithmeticError", "LookupError", "(IndexError, ZeroDivisionError)", "(ValueError, KeyError)", "Wrong", "AssertionError", "RuntimeError"]  # fmt: skip

IN_PLACE = [
    "{T} += {t}", "{T} *= {n}", "{T} -= {r}", "{T}[{n}] = {n}", "{T}[{b}] = {n}", "{T}.add_({n})", "{T}[:{n}] = {n}", "{T}.mul_(2)", "{T}[...] = {t}",
    "{T}[{T} > {n}] = {n}", "{T}[0] += {n}", "{T}[:1].add_({n})", "{T}[-1] = {s}", "{T}[{i}] = {t}", "{T}[::2] = {n}", "{T}.copy_({t})", "{T}.zero_()",
    "{T}.fill_({n})", "{T}[int({s})] = {n}", "{T}[{n}] = {t}", "STATE[{n}] = {n}", "STATE.add_({n})", "W.add_({r})", "ops.assign(W, W * {r})",
    "ops.assign_add(W, W)", "W[0] = {r}", "LAYER.weight.mul_({r})", "ops.assign(LAYER.weight, LAYER.weight + {n})", "{O}.state.add_({n})", "{T} //= {n}", "OPTIMIZER((W * {r},))", "OPTIMIZER((ops.ones_like(W),))",
]  # fmt: skip

CONTAINERS = [
    "TABLE['was'], TABLE['is'] = TABLE.get('is', LOG), TABLE.get('was', ITEMS)", "LOG.append(sum([{r}, {r}, {n}, {r}]))",
    "{L}.append({any})", "{L}.append({t})", "{L}[0] = {t}", "{L}.insert(0, {n})", "{L}.extend([{t}, {n}])", "{L}.reverse()", "{L} += [{t}]", "{L}.pop()",
    "{M}.append({n})", "{M}[{n}] = {n}", "{M}.sort()", "{M}.pop(0)", "{M}[1:] = [{n}]", "del {M}[0]", "{M} += [{n}, {n}]", "{M}.clear()", "{M}[0] += {n}",
    "{D}['a'] = {t}", "{D}[{z}] = {any}", "{D}.update(b={t})", "{D}.setdefault({z}, {t})", "{D}['b'] = {D}['a']", "{D}.pop('a')", "del {D}['b']", "{D}['a'] += {n}",
    "{E}.add({n})", "{E}.discard({n})", "{E} |= {{{n}}}", "{E}.update({m})",
    "LOG.append({n})", "LOG.append({n})", "LOG.append({s})", "LOG.append({z})", "LOG.append({any})", "LOG.append({t})", "LOG[:] = [{n}]", "LOG.clear()",
    "TABLE['hits'] += 1", "TABLE['hits'] += {n}", "TABLE[{z}] = {n}", "TABLE['t'] = {t}", "TABLE[{n}] = {r}", "TABLE.setdefault('l', []).append({n})",
    "ITEMS.append({n})", "ITEMS[{n}] = {n}", "ITEMS.sort(reverse={q})", "ITEMS[:] = ITEMS[::-1]",
    "BOX.value = {n}", "{T}.tag = {n}", "STATE.tag = {n}", "{O}.value += 1", "{O}.state = {t}", "{O}.items.append({any})", "{O}.hidden = {n}", "{O}.extra = {any}", "{O}.items = [{t}]", "{O}.factor = {n}",
    "Box.factor = {n}", "LAYER.steps = {n}", "BEND.factor = {n}", "BEND.factor += 1", "setattr({O}, {z}, {n})", "{O}.keep({t})", "Base.factor += 1", "{O}.state += {n}",
    "COUNT = COUNT + 1", "COUNT += {n}", "SCALE = {r}", "NAME = {z}", "STATE = {t}",
    "SETTINGS.steps = {n}", "SETTINGS.rate = {r}", "SETTINGS.names.append({z})", "RANKS.reverse()", "RANKS[0].value = {n}", "RANKS.sort(key=lambda a: a.value)",
]  # fmt: skip

PRINTS = ["print({n})", "print({s})", "print('v', {t})", "print({z}, {r})", "print({any})", "print({n}, sep='|', end=';')", "print(f'''{{{n}}} {{{s}}}''')", "print({l})",
          "print({q})", "print({m}, {e})", "_teller.warning('%s', {any})", "_teller.warning('%s %s', {s}, {l})", "_teller.info({z})", "_teller.error({z}, extra=None)"]  # fmt: skip

BETWEEN = [  # what happens outside between two calls; n is the number of the call
    "COUNT = n", "SCALE = 0.25 * n", "NAME = 'ab'[n % 2]", "LOG.append(n)", "LOG.clear()", "TABLE['hits'] = n", "TABLE['a'] = n", "TABLE.pop('a', None)",
    "ITEMS.append(n)", "ITEMS[0] = n", "ITEMS.pop()", "W.set_data(W + n)", "STATE = STATE + n", "STATE.add_(n)", "STATE = Tensor([n] * n)", "FN = (abs, len, str, bool)[0 if n < 3 else 3]",
    "BOX.value = n", "BOX.items.append(n)", "BOX.state = Tensor([1.0 * n])", "BOX.factor = n", "Box.factor = n", "Base.factor = n", "BOX = Box(n)", "LAYER.steps = n", "LAYER.weight.set_data(LAYER.weight * n)",
    "BOX.items = [n, n]", "helper = rec_first if n % 2 else helper_first", "BOX.extra = n", "TABLE.setdefault('b', n)", "Box.add = lambda self, x, times=1: x * n", "STATE = STATE.astype(ms.float32)",
    "SETTINGS.steps = n", "SETTINGS.rate = 0.5 * n", "SETTINGS = Settings(0.25, n)", "RANKS[0].value = n", "RANKS.append(Rank(n))", "sized.register(str)(lambda value: 7)",
    "checked = (lambda v: v * n) if n > 2 else checked", "BEND.factor = n", "HANDLES.append(W.register_hook(lambda gradient: gradient * n))",
    "HANDLES.pop().remove()", "REF = weakref.ref(BOX)", "OPTIMIZER = nn.SGD([W], 0.25 * n)",
]  # fmt: skip
