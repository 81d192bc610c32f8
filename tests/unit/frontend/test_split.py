"""A function that is cut, as text: what stays in the skeleton, what becomes segments, and which variables they hand on.

`plain()` marks the statements that cannot be captured.
"""

import ast
import textwrap

import pytest

from duograph.frontend.ast.load import FunctionSource
from duograph.frontend.ast.scope import names_of
from duograph.frontend.split.plan import Plan, border_before, can_be_cut, place_of, plan_cuts


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
    return plan_cuts(source, frozenset(places), lambda name: name == "helper")


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


@pytest.mark.parametrize("looks", ["locals()", "sys._getframe()", "eval('x')", "sys.exc_info()", "e.__traceback__"])
def test_functions_that_look_at_their_frame_are_not_cut(looks):
    assert not can_be_cut(source_of(f"def f(x):\n    y = {looks}\n    return x"))


def test_generators_are_not_cut():
    assert not can_be_cut(source_of("def f(x):\n    yield x"))
