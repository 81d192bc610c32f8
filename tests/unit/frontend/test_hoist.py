"""Random functions, cut at random expressions: skeleton and segments do what the function does, in its order.

Segments run as the Python functions that they are, so that nothing but the rewriting is tested.
"""

import ast
import random
import textwrap

import pytest

from duograph.frontend.source.load import FunctionSource
from duograph.frontend.source.scope import names_of
from duograph.frontend.split.build import build_function
from duograph.frontend.split.hoist import apart_place, value_place
from duograph.frontend.split.plan import COMPILED, place_of, plan_cuts
from duograph.jit.cuts import CompiledForm

PRELUDE = """
def told(value, *more, **named):
    global G
    LOG.append(value)
    G += 1
    if value == 7:
        raise ValueError("seven")
    return value

class Thing:
    def __init__(self):
        self.n = 1

    def m(self, *values):
        LOG.append(("m", len(values)))
        self.n += 1
        return sum(v for v in values if isinstance(v, int)) % 11

    def __bool__(self):
        LOG.append("asked")
        return self.n % 2 == 0
"""


class Form:
    unbound = NameError
    method = staticmethod(CompiledForm.method)

    def __call__(self, fn):
        return fn


class Programs:
    """A grammar."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        return self.random.choice(choices)()

    def number(self, depth):
        if depth <= 0:
            return self.random.choice(["a", "b", "c", "G", "o.n", str(self.random.randrange(9))])
        e = lambda: self.number(depth - 1)  # noqa: E731
        i = lambda: e().replace("d := ", "")  # noqa: E731 - inside of comprehensions
        return self.pick(
            lambda: f"told({e()})",
            lambda: f"told({e()}, {e()}, k={e()})",
            lambda: f"o.m({e()}, {e()})",
            lambda: f"({e()} + {e()})",
            lambda: f"({e()} * {e()} % 13)",
            lambda: f"({e()} if {self.test(depth - 1)} else {e()})",
            lambda: f"({e()} and {e()})",
            lambda: f"({e()} or {e()} or {e()})",
            lambda: f"[{e()}, {e()}, {e()}][{e()} % 3]",
            lambda: f"len(f'{{told({self.number(0)})}}-{{{self.number(0)}!r:>3}}')",
            lambda: f"sum([{self.number(0)} for _ in range(told({self.number(0)}) % 3)])",
            lambda: f"sum([{i()} + v for v in range({i()} % 3) if told(v) % 2 < 2])",
            lambda: f"len({{told(v): {i()} for v in range({i()} % 3)}})",
            lambda: f"(lambda v: v + {e()})({e()})",
            lambda: f"told(*[{e()}, {e()}], {e()})",
            lambda: f"(d := {e()})",
            lambda: f"{{1: {e()}, {e()}: 2}}.get({e()}, 3)",
            lambda: f"-{e()}",
            lambda: f"len([1, 2, 3, 4][{e()} % 3:{e()}])",
        )

    def test(self, depth):
        e = lambda: self.number(depth - 1)  # noqa: E731
        return self.pick(
            lambda: f"{e()} > {e()}",
            lambda: f"not {e()}",
            lambda: f"{e()} < {e()} <= {e()}",
            lambda: f"o and {e()}",
            lambda: f"(o or {e()} > 3) and not o",
        )

    def block(self, depth, loops=True):
        lines = [self.statement(depth) for _ in range(self.random.randrange(1, 4))]
        return textwrap.indent("\n".join(lines), "    ")

    def statement(self, depth):
        e = lambda: self.number(2)  # noqa: E731
        choices = [
            lambda: f"a = {e()}",
            lambda: f"b, c = {e()}, {e()}",
            lambda: f"a += {e()}",
            lambda: f"o.n += {e()}",
            lambda: f"x[{e()} % 3] += {e()}",
            lambda: f"x[{e()} % 3] = {e()}",
            lambda: f"c = x[told(1)] = {e()}",
            lambda: e(),
            lambda: f"assert {self.test(2)} or True, {e()}",
            lambda: f"x.append({e()})",
            lambda: f"def h(v, w={e()}, *, u={e()}):\n    return told(v) + w + u\na = h({e()})",
        ]
        if depth > 0:
            inner = lambda: self.block(depth - 1)  # noqa: E731
            choices += [
                lambda: f"if {self.test(2)}:\n{inner()}\nelif {self.test(1)}:\n{inner()}",
                lambda: f"for b in range({e()} % 4):\n{inner()}",
                lambda: f"n = 0\nwhile n < 3 and ({self.test(1)} or told(n) < 5):\n    n += 1\n{inner()}",
                lambda: f"try:\n{inner()}\nexcept ValueError as e:\n    LOG.append(str(e))\nfinally:\n{inner()}",
                lambda: f"if {self.test(1)}:\n    return {e()}, x",
            ]
        return self.pick(*choices)

    def function(self):
        body = self.block(2) + "\n" + self.block(2)
        closure = "    def g():\n        nonlocal c\n        c += 1\n        return told(c)\n    b = g()\n"
        head = "def f(a, b, x):\n    c, d, n, o = 1, 0, 0, Thing()\n"
        made = head + (closure if self.random.random() < 0.3 else "") + body + "\n    return a, b, c, d, o.n, x\n"
        return made


def outcome(fn, space):
    space["G"], space["LOG"] = 1, []
    try:
        result = fn(2, 5, [1, 2, 3])
    except Exception as error:  # noqa: BLE001 - what a program raises is part of its outcome
        result = type(error).__name__, str(error)
    return result, space["G"], space["LOG"]


@pytest.mark.parametrize("seed", range(6))
def test_cut_functions_do_what_the_functions_do(seed):
    programs = Programs(seed)
    for number in range(12):
        text = programs.function()
        node = ast.parse(text).body[0]
        source = FunctionSource(node, "example.py", names_of(node))
        space = {}
        exec(PRELUDE + text, space)
        expected = outcome(space["f"], space)
        expressions = [
            n for n in ast.walk(node) if isinstance(n, ast.Call | ast.BinOp | ast.Compare | ast.ListComp | ast.DictComp)
        ]
        chosen = programs.random.sample(expressions, min(len(expressions), programs.random.randrange(1, 6)))
        statements = [n for n in ast.walk(node) if isinstance(n, ast.stmt) and n is not node]
        places = {value_place(n) for n in chosen} | {place_of(n) for n in programs.random.sample(statements, 1)}
        places |= {apart_place(n) for n in programs.random.sample(statements, 1)}
        plan = plan_cuts(source, frozenset(places), lambda name: "foreign" if name in ("told", "len", "sum") else "")
        held = {s.name: build_function(s.node, source, space["f"], {}, "part") for s in plan.segments}
        made = build_function(plan.skeleton, source, space["f"], {COMPILED: Form(), **held}, "f")
        assert outcome(made, space) == expected, (
            f"seed {seed}, {number}:\n{text}\n{ast.unparse(ast.fix_missing_locations(plan.skeleton))}"
        )
