"""Names belong to functions as Python's compiler says."""

from __future__ import annotations

import ast
import inspect
import textwrap

import pytest

from duograph.frontend.source.scope import contains_yield, names_of, target_names

SOURCES = [
    "def f(a, /, b, *c, d=1, **e): pass",
    "def f(x):\n for i, (j, *k) in x: pass\n else: z = 1",
    "def f(x):\n import os.path, sys as s\n from a import b as c, d",
    "def f(x):\n with x as y, x as (p, q): pass",
    "def f(x):\n try: pass\n except E as e: pass",
    "def f(x):\n [y for y in x if (w := y)]\n {k: v for k, v in x}\n (z for z in x)",
    "def f(x):\n global g\n g = 1\n def h(): q = 2\n class C: r = 3",
    "def f(x):\n lambda s, t=(u := 3): s\n x.attr = 1\n x[0] = 2\n del y",
    "def f(x):\n match x:\n  case {'k': a, **rest}: pass\n  case [b, *c]: pass\n  case C(d=e) as g: pass",
    "def f(x):\n x += 1\n y: int = 2\n (a, b), c = x",
    "def f(x):\n def g(p=(q := 1)): pass\n @(r := x)\n def h(): pass",
]


@pytest.mark.parametrize("source", SOURCES, ids=lambda s: s.split("\n")[-1].strip())
def test_own_names_are_those_of_the_compiler(source):
    namespace = {}
    exec(source, namespace)
    code = namespace["f"].__code__
    names = names_of(ast.parse(source).body[0])
    hidden = {n for n in code.co_varnames if n.startswith(".")}
    comprehension = {"y", "k", "v", "z"} if "for y in" in source else set()  # Python 3.12 inlines comprehensions
    assert names.own - comprehension == set(code.co_varnames) - hidden - comprehension | set(code.co_cellvars)


def test_an_annotation_makes_a_name_local():
    assert names_of(ast.parse("def f():\n z: int").body[0]).own == {"z"}


def test_nonlocal_and_global():
    source = textwrap.dedent(inspect.getsource(_outer))
    outer = ast.parse(source).body[0]
    inner = outer.body[1]
    names = names_of(inner)
    assert names.nonlocals == {"n"} and names.globals == {"g"} and names.own == {"m"}
    assert names_of(outer).own == {"n", "inner"}


def _outer():
    n = 0

    def inner():
        nonlocal n
        global g
        n = g = m = 1
        return n, g, m

    return inner


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("yield", True),
        ("x = yield from y", True),
        ("for i in x:\n  if i: yield i", True),
        ("def g(): yield", False),
        ("f = lambda: (yield)", False),
        ("return [i for i in x]", False),
    ],
)
def test_generators(source, expected):
    node = ast.parse("def f(x, y):\n " + source.replace("\n", "\n ")).body[0]
    assert names_of(node).is_generator is expected
    assert contains_yield(node.body[0]) is expected


def test_targets():
    target = ast.parse("a, (b, *c), d.e, f[g] = x").body[0].targets[0]
    assert target_names(target) == {"a", "b", "c"}
