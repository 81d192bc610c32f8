"""A function that is cut, as text: what stays in the skeleton, what becomes segments, and which variables they hand on.

`plain()` marks the statements that cannot be captured.
"""

import ast
import inspect
import re
import sys
import textwrap
import types

import pytest

from duograph import ops
from duograph.frontend.source.load import FunctionSource
from duograph.frontend.source.scope import names_of
from duograph.frontend.split.hoist import value_place
from duograph.frontend.split.plan import Plan, border_before, can_be_cut, exits_of, place_of, plan_cuts


def source_of(text: str) -> FunctionSource:
    node = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(node, ast.FunctionDef)
    return FunctionSource(node, "example.py", names_of(node))


def cut(text: str, *borders: int) -> Plan:
    source = source_of(text)
    statements = [n for n in ast.walk(source.node) if isinstance(n, ast.stmt) and n is not source.node]
    simple = [n for n in statements if not hasattr(n, "body")]
    places = {place_of(n) for n in simple if "plain()" in ast.unparse(n)}
    places |= {border_before(n) for n in statements if n.lineno in borders}
    return plan_cuts(source, frozenset(places), lambda name: "" if name == "helper" else "foreign")


def skeleton(text: str) -> str:
    return "\n".join(ast.unparse(ast.fix_missing_locations(cut(text).skeleton)).splitlines()[1:])


def test_segments_read_what_they_need_and_give_what_is_read_later():
    plan = cut("""
        def f(x, w):
            y = x * w
            unused = y + 1
            z = y + 2
            plain()
            return z * x
        """)
    first, second = plan.segments
    assert (first.parameters, first.results) == (("x", "w"), ("z",))
    assert (second.parameters, second.results) == (("x", "z"), ())


def test_blocks_are_cut_and_headers_stay():
    text = """
        def f(x):
            for i in range(3):
                x = x * i
                plain()
                x = x + 1
            return x + 2
        """
    assert skeleton(text) == textwrap.indent(textwrap.dedent("""\
        for i in range(3):
            x = .segment0(x, i)
            plain()
            x = .segment1(x)
        return .segment2(x)"""), "    ")  # fmt: skip


def test_a_segment_that_may_return_says_whether_it_has():
    plan = cut("""
        def f(x):
            if x.sum() > 0:
                return x
            y = x * 2
            plain()
            return y
        """)
    assert ".result = .segment0(x)" in ast.unparse(plan.skeleton)
    assert ast.unparse(plan.segments[0].node.body[0]) == "if x.sum() > 0:\n    return (True, x)"
    assert ast.unparse(plan.segments[0].node.body[-1]) == "return (False, y)"


def test_what_a_handler_reads_is_bound_at_its_own_statement():
    plan = cut("""
        def f(x):
            try:
                a = x + 1
                b = a * 2
                plain()
            except Error:
                return a
        """)
    assert [s.results for s in plan.segments] == [("a",), ()]


def test_what_a_closure_shares_is_bound_in_the_skeleton():
    text = """
        def f(x):
            n = x + 0
            def g():
                return n
            plain()
            n = x + 1
            return g() + x
        """
    assert "n = x + 0" in skeleton(text) and "n = x + 1" in skeleton(text) and "def g" in skeleton(text)


def test_what_a_closure_binds_is_read_in_the_skeleton():
    text = """
        def f(x):
            n = 0
            def g():
                nonlocal n
                n += 1
            plain()
            y = g() + n
            return y + x
        """
    assert "y = g() + n" in skeleton(text)


def test_a_variable_that_may_be_unbound_is_asked_for_first():
    text = """
        def f(x):
            if x:
                y = x + 1
            plain()
            return x + y
        """
    made = skeleton(text)
    assert "except .compiled.unbound:" in made and "return .segment" in made and "return x + y" in made


def test_a_border_parts_a_segment():
    text = """
        def f(x):
            y = x + 1
            z = y + 2
            w = z + 3
            plain()
            return w
        """
    assert [len(s.run) for s in cut(text).segments] == [3]
    assert [len(s.run) for s in cut(text, 4).segments] == [1, 2]


def test_statements_that_compute_nothing_are_left_alone():
    text = """
        def f(x):
            a = 1
            plain()
            b = a
            return b
        """
    assert cut(text).segments == []


def test_functions_of_the_user_are_compiled_where_the_skeleton_calls_them():
    text = """
        def f(x):
            y = helper(x) + plain()
            return other(y)
        """
    assert ".compiled(helper)(x) + plain()" in skeleton(text)


class Holder:
    __slots__ = ("currentframe",)
    eval = exec_ = print_exc = 2.0


OUTSIDE = {
    "ops": ops, "stack": ops.stack, "vars": len, "inspect": inspect, "sys": sys, "other": inspect, "get": sys._getframe,
    "held": Holder(), "space": types.SimpleNamespace(dir=1, locals=2, exc_info=3, tb_frame=4), "e": None,
}  # fmt: skip


@pytest.mark.parametrize(
    "looks",
    [
        *("locals()", "sys._getframe()", "eval('x')", "sys.exc_info()", "e.__traceback__", "unknown.print_exc()"),
        *("inspect.stack()", "other.stack()", "other", "get()", "late()", "[dir() for a in x]", "lambda: locals()"),
        *("x.tb_frame", "x.currentframe()", "held.currentframe", "(inspect or x).stack()", "eval('a', x)", "dir(*x)"),
        *("eval('a', None)", "eval(*x, {})", "eval('a', {'b': locals()})", "exec('a = 1')", "map(eval, x)"),
    ],
)
def test_functions_that_look_at_their_frame_are_not_cut(looks):
    source = source_of(f"def f(x):\n    from not_loaded import set_trace as late\n    y = {looks}\n    return x")
    assert not can_be_cut(source, OUTSIDE)


@pytest.mark.parametrize(
    "body",
    [
        "import inspect as i; y = i.stack()",
        "from inspect import stack as s; y = s()",
        "import not_loaded; y = not_loaded.set_trace()",
        "y = locals\n    def locals_of(locals): return locals",
        "class C:\n        from inspect import stack\n        y = stack()",
    ],
)
def test_nor_those_that_import_what_looks(body):
    assert not can_be_cut(source_of(f"def f(x):\n    {body}\n    return x"), OUTSIDE)


@pytest.mark.parametrize(
    "call",
    [
        *("ops.stack([x])", "stack([x])", "x.eval()", "x.stack().dir", "vars(x)", "held.eval", "held.print_exc"),
        *("space.dir + space.locals", "space.exc_info", "space.tb_frame", "dict(stack=1, dir=2)['dir']", "sys.path"),
        *("[dir for dir in x]", "[locals(a) for locals in x for a in x]", "lambda dir, *exec: dir(exec)"),
        *("inspect.signature(f)", "not_held.eval", "x[0].stack", "dir(x)", "eval('a', {'a': x})"),
        *("eval('a', dict(a=x), x)", "exec('a = 1', globals())"),
    ],
)
def test_functions_that_call_a_namesake_of_what_looks_at_frames_are_cut(call):
    assert can_be_cut(source_of(f"def f(x):\n    y = {call}\n    return x"), OUTSIDE)


@pytest.mark.parametrize(
    "body",
    [
        "dir = 2.0; y = dir * x",
        "stack = [x]; y = ops.stack(stack)",
        "eval = len; y = eval(x)",
        "for locals in x: y = locals",
        "from os.path import dirname as dir; y = dir('a')",
        "import os; y = x.stack",
        "def vars(dir): return dir\n    y = vars(x)",
    ],
)
def test_so_are_those_that_bind_such_names(body):
    assert can_be_cut(source_of(f"def f(x):\n    {body}\n    return x"), {"ops": ops})


def test_generators_are_cut_where_they_yield():
    source = source_of("def f(x):\n    got = yield x * 2\n    return got + x")
    plan = plan_cuts(source, frozenset(value_place(node) for node, _ in exits_of(source)), lambda name: "")
    assert can_be_cut(source, {}) and len(plan.segments) == 2
    assert "got = (yield _hoisted" in ast.unparse(ast.fix_missing_locations(plan.skeleton))


# Breaks inside expressions ------------------------------------------------------------------------------------------


KINDS = {"plain": "foreign", "np": "foreign", "ops": "module", "helper": ""}


def hoisted(text: str) -> str:
    """The function cut at its calls of ``plain``, with short names for what is hoisted."""
    source = source_of(text)
    calls = [n for n in ast.walk(source.node) if isinstance(n, ast.Call) and ast.unparse(n.func) == "plain"]
    plan = plan_cuts(source, frozenset(map(value_place, calls)), lambda name: KINDS.get(name, ""))
    body = plan.skeleton
    body.body = [n for k in body.body for n in whole(k, plan)]
    lines = ast.unparse(ast.fix_missing_locations(body)).splitlines()[1:]
    made = textwrap.dedent("\n".join(line for line in lines if not line.endswith("= None")))
    for i, name in enumerate(dict.fromkeys(re.findall(r"_hoisted_\w+", made))):
        made = made.replace(name, f"t{i}")
    return made


def whole(node: ast.stmt, plan: Plan):
    """Statements of the skeleton, with segments as the statements that they are made of."""
    call = getattr(node, "value", None)
    name = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
    segment = next((s for s in plan.segments if s.name == name), None)
    return segment.run if segment is not None else [node]


@pytest.mark.parametrize(
    "before, after",
    [
        ("y = ops.tanh(x) * plain() + x", "t0 = ops.tanh(x)\nt1 = plain()\ny = t0 * t1 + x"),
        ("y = x * plain(x.mean())", "t0 = plain\nt1 = x.mean()\nt2 = t0(t1)\ny = x * t2"),
        ("plain('mean', x.mean())", "t0 = plain\nt1 = x.mean()\nt0('mean', t1)"),
        ("y = [x + 1, plain(), x + 2]", "t0 = x + 1\nt1 = plain()\ny = [t0, t1, x + 2]"),
        ("y = x if plain() else x + 1", "t0 = plain()\ny = x if t0 else x + 1"),
        ("y = x[0, plain():2] + 1", "t0 = plain()\ny = x[0, t0:2] + 1"),
        ("x += plain() * x", "t0 = plain()\nx += t0 * x"),
        ("y = x.clamp(plain(), 2)", "t0, t1 = .compiled.method(x.clamp)\nt2 = plain()\ny = t0(*t1, t2, 2)"),
        ("y = ops.clamp(x, plain())", "t0 = ops.clamp\nt1 = plain()\ny = t0(x, t1)"),
        ("y = (lambda: plain())() + x * 2", "y = (lambda: plain())() + x * 2"),
        ("y = helper(*x, plain())", "y = .compiled(helper)(*x, plain())"),
    ],
)
def test_what_is_evaluated_before_a_foreign_call_is_a_statement(before, after):
    assert hoisted(f"def f(x):\n    {before}\n    return y\n") == f"{after}\nreturn y"


def test_a_part_that_may_not_be_evaluated_becomes_a_branch():
    made = hoisted("def f(x):\n    y = x.mean() > 0 and plain()\n    return y\n")
    assert made == "t0 = x.mean() > 0\nif t0:\n    t0 = plain()\ny = t0\nreturn y"


def test_a_test_of_a_while_becomes_a_break():
    made = hoisted("def f(x):\n    while x.mean() > plain():\n        x = x * 2\n    return x\n")
    assert made.startswith("while True:\n    t0 = ") and "if not t0 > t1:\n        break" in made


def test_variables_that_others_may_bind_are_read_in_time():
    made = hoisted("""
        def f(x):
            k = 1
            def g():
                nonlocal k
                k = plain()
            y = k * plain() + x
            return y
        """)
    assert "t0 = k\n" in made and "y = t0 * t1 + x" in made


def test_what_a_loop_binds_is_not_read_before_it():
    plan = cut("""
        def f(x, ws):
            plain()
            for w in ws:
                x = x * w
            return x + 1
        """)
    assert plan.segments[0].parameters == ("x", "ws")
