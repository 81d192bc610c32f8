"""Spans say the same whether they come from ast nodes, frames or tracebacks."""

import ast
import linecache
import sys
import textwrap
import threading

import pytest

from duograph.base import source
from duograph.base.source import (
    SourceFile,
    Span,
    register_source,
    source_file,
    source_of_code,
    span_of_code,
    span_of_frame,
    span_of_instruction,
    span_of_node,
    user_frame,
    user_span,
    watch_exec,
)


def test_span_prints_columns_from_one():
    assert str(Span("a.py", 3, 4, 3, 9)) == "a.py:3:5"


def test_union_and_covers():
    a, b = Span("a.py", 3, 4, 3, 9), Span("a.py", 2, 8, 3, 5)
    both = a.union(b)
    assert both == Span("a.py", 2, 8, 3, 9)
    assert both.covers(a) and both.covers(b) and not a.covers(both)
    with pytest.raises(ValueError, match="two files"):
        a.union(Span("b.py", 1, 0, 1, 1))


def test_text_of_span_over_lines():
    name = register_source("first line\nsecond line\nthird").name
    assert Span(name, 1, 6, 3, 3).text() == "line\nsecond line\nthi"
    assert Span(name, 2, 0, 2, 6).text() == "second"
    assert Span(name, 9, 0, 9, 6).text() is None
    assert Span("<nowhere>", 1, 0, 1, 6).text() is None


def test_lines_end_as_python_says():
    assert SourceFile("s", "a\r\nb\rc\x0cd\u2028e\n").lines == ("a", "b", "c\x0cd\u2028e")
    assert SourceFile("s", "").lines == ()


def test_source_file_of_this_file():
    here = source_file(__file__)
    assert here is not None and here is source_file(__file__)
    assert here.line(1).startswith('"""Spans say')
    assert here.line(0) is None and here.line(10**6) is None
    assert source_file("/no/such/file.py") is None


def test_register_source_is_seen_by_linecache():
    made = register_source("x = 1\ny = 2\n")
    linecache.checkcache()
    assert linecache.getline(made.name, 2) == "y = 2\n"
    assert source_file(made.name) is made
    assert register_source("x").name != made.name


def test_linecache_entries_are_sources_and_follow_changes(tmp_path):
    path = tmp_path / "cell.py"
    path.write_text("a = 1\n")
    assert source_file(str(path)).text == "a = 1\n"
    path.write_text("a = 2222\n")
    linecache.checkcache(str(path))
    assert source_file(str(path)).text == "a = 2222\n"


def test_span_of_node_in_a_dedented_function():
    text = "class C:\n    def f(self):\n        return 'é' + self.value\n"
    name = register_source(text).name
    lines = text.splitlines(keepends=True)[1:]
    tree = ast.parse(textwrap.dedent("".join(lines)))
    (node,) = (n for n in ast.walk(tree) if isinstance(n, ast.Attribute))
    span = span_of_node(name, node, first_line_offset=1, col_offset=4)
    assert span.text() == "self.value"
    assert span.line == 3


def test_span_of_node_without_position_or_source():
    with pytest.raises(ValueError, match="no position"):
        span_of_node("x.py", ast.Load())
    node = ast.parse("a + b").body[0].value
    assert span_of_node("<gone>", node) == Span("<gone>", 1, 0, 1, 5)


def test_span_of_frame_and_user_span():
    span = span_of_frame(sys._getframe())
    assert span.text() == "span_of_frame(sys._getframe())"
    assert user_span().text() == "user_span()"
    assert user_frame() is sys._getframe()


def test_frame_traceback_and_node_agree():
    name = register_source("def f(x):\n    ß = 'ü'; return (ß +\n        x.missing)\n").name
    namespace = {}
    exec(compile(source_file(name).text, name, "exec"), namespace)
    with pytest.raises(AttributeError) as caught:
        namespace["f"](1)
    from_traceback = span_of_frame(caught.tb.tb_next)
    (node,) = (n for n in ast.walk(ast.parse(source_file(name).text)) if isinstance(n, ast.Attribute))
    assert from_traceback == span_of_node(name, node)
    assert from_traceback.text() == "x.missing"


def test_code_without_columns_gives_the_line():
    name = register_source("def f():\n    return g()   \n").name
    namespace = {}
    exec(compile(source_file(name).text, name, "exec"), namespace)
    code = namespace["f"].__code__
    assert span_of_code(code).text() == "def f():"
    bare = code.replace(co_linetable=b"")
    assert span_of_instruction(bare, 4).line == 1


def test_user_frame_skips_this_package():
    inside = compile("def call(f):\n    return f()\n", source.PACKAGE_DIR + "somewhere.py", "exec")
    namespace = {}
    exec(inside, namespace)
    got = namespace["call"](lambda: user_frame(sys._getframe(1)))
    assert got is sys._getframe()


def test_exec_sources_are_found_by_their_code():
    watch_exec()
    one, two = {}, {}
    exec("def f(x):\n    return x + 1\n", one)
    exec("\ndef f(x):\n    return x + 2\n", two)
    assert source_of_code(two["f"].__code__).text == "\ndef f(x):\n    return x + 2\n"
    assert source_of_code(one["f"].__code__).text == "def f(x):\n    return x + 1\n"
    assert source_of_code(two["f"].__code__).text == "\ndef f(x):\n    return x + 2\n"
    assert source_of_code(test_exec_sources_are_found_by_their_code.__code__) is source_file(__file__)


def test_exec_sources_are_found_while_other_threads_make_some():
    source.watch_exec()
    code = compile("def f():\n    return 'searched'\n", "<of this thread>", "exec")
    stop = threading.Event()

    def others():
        while not stop.is_set():
            compile("def g(): pass", "<of another thread>", "exec")

    maker = threading.Thread(target=others)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    maker.start()
    try:
        for _ in range(5000):
            source.source_of_code(code.replace(co_filename="<nowhere>"))
    finally:
        stop.set()
        maker.join()
        sys.setswitchinterval(interval)


def test_exec_source_that_is_gone():
    code = compile("lambda: 41 + 1", "<nowhere to be found>", "eval")
    source._exec_texts.clear()
    assert source_of_code(code) is None
