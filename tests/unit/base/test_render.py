"""Snapshots of rendered diagnostics."""

import textwrap

import pytest

from duograph.base.diagnostics import Diagnostic, Label
from duograph.base.render import render
from duograph.base.source import Span, register_source, source_file

NET = "\n" * 21 + textwrap.dedent(
    """\
    class Net:
        def construct(self, x):
            h = ops.relu(x @ self.v)

            # a comment
            return self.w @ h
    """
)


def at(name, piece, nth=0):
    """The span of the nth occurrence of `piece` in the source `name`; `piece` may have several lines."""
    text = source_file(name).text
    start = -1
    for _ in range(nth + 1):
        start = text.index(piece, start + 1)
    end = start + len(piece)
    line, end_line = text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1
    return Span(name, line, start - text.rfind("\n", 0, start) - 1, end_line, end - text.rfind("\n", 0, end) - 1)


@pytest.fixture(autouse=True)
def net():
    register_source(NET, "net.py")


def check(diagnostic, expected):
    assert render(diagnostic) == textwrap.dedent(expected).strip("\n")


def test_two_labels_on_a_line_and_an_earlier_line():
    check(
        Diagnostic(
            "DG0412",
            "matmul: inner dimensions differ, 16 and 8",
            (
                Label(at("net.py", "ops.relu(x @ self.v)"), "`h` made here", primary=False),
                Label(at("net.py", "self.w"), "f32[4,16]"),
                Label(at("net.py", "h", 1), "f32[N,8]"),
            ),
            help="transpose `self.w`, or give `self.v` 16 columns",
        ),
        """
        error[DG0412]: matmul: inner dimensions differ, 16 and 8
          --> net.py:27:16
           |
        27 |         return self.w @ h
           |                ^^^^^^   ^ f32[N,8]
           |                |
           |                f32[4,16]
        24 |         h = ops.relu(x @ self.v)
           |             -------------------- `h` made here
        help: transpose `self.w`, or give `self.v` 16 columns
        """,
    )


def test_no_labels():
    check(
        Diagnostic("DG0601", "unknown option 'x'", notes=("one", "two\nlines"), help="leave it out"),
        """
        error[DG0601]: unknown option 'x'
        note: one
        note: two
              lines
        help: leave it out
        """,
    )


def test_three_labels_hang_right_to_left():
    name = register_source("where(cond, a, b)\n", "w.py").name
    check(
        Diagnostic(
            "DG0410",
            "shapes differ",
            (
                Label(at(name, "cond"), "bool[2]"),
                Label(at(name, "a"), "f32[3]", primary=False),
                Label(at(name, "b"), "f32[4]", primary=False),
            ),
            severity="warning",
        ),
        """
        warning[DG0410]: shapes differ
         --> w.py:1:7
          |
        1 | where(cond, a, b)
          |       ^^^^  -  - f32[4]
          |       |     |
          |       |     f32[3]
          |       bool[2]
        """,
    )


def test_nested_spans_and_marks_without_text():
    name = register_source("y = f(g(x))\n", "n.py").name
    check(
        Diagnostic(
            "DG0102",
            "cannot be captured",
            (
                Label(at(name, "f(g(x))"), "in this call", primary=False),
                Label(at(name, "g(x)"), "this one"),
                Label(at(name, "y"), primary=False),
            ),
        ),
        """
        error[DG0102]: cannot be captured
         --> n.py:1:7
          |
        1 | y = f(g(x))
          | -   --^^^^-
          |     | |
          |     | this one
          |     in this call
        """,
    )


def test_lines_further_down_are_set_apart():
    check(
        Diagnostic(
            "DG0102",
            "no",
            (Label(at("net.py", "class Net"), "a"), Label(at("net.py", "return"), "b", primary=False)),
        ),
        """
        error[DG0102]: no
          --> net.py:22:1
           |
        22 | class Net:
           | ^^^^^^^^^ a
        ...
        27 |         return self.w @ h
           |         ------ b
        """,
    )


def test_span_of_several_lines():
    name = register_source("z = call(a,\n         b)  # end\n", "m.py").name
    check(
        Diagnostic("DG0102", "no", (Label(at(name, "call(a,\n         b)"), "here"),)),
        """
        error[DG0102]: no
         --> m.py:1:5
          |
        1 | z = call(a,
          |     ^^^^^^^
        2 |          b)  # end
          |          ^^ here
        """,
    )


def test_long_span_shows_its_ends():
    check(
        Diagnostic("DG0102", "no", (Label(at("net.py", NET.strip()), "all of it"),)),
        """
        error[DG0102]: no
          --> net.py:22:1
           |
        22 | class Net:
           | ^^^^^^^^^^
        ...
        27 |         return self.w @ h
           |         ^^^^^^^^^^^^^^^^^ all of it
        """,
    )


def test_two_files():
    name = register_source("w = Parameter(ones)\n", "other.py").name
    check(
        Diagnostic(
            "DG0412",
            "no",
            (Label(at("net.py", "self.w"), "used here"), Label(at(name, "ones"), "made here", primary=False)),
        ),
        """
        error[DG0412]: no
          --> net.py:27:16
           |
        27 |         return self.w @ h
           |                ^^^^^^ used here
          ::: other.py:1:15
           |
         1 | w = Parameter(ones)
           |               ---- made here
        """,
    )


def test_source_not_available():
    check(
        Diagnostic(
            "DG0104",
            "no source",
            (Label(Span("<stdin>", 3, 4, 3, 9), "asked here"), Label(Span("<gone>", 1, 0, 1, 2), "from here")),
        ),
        """
        error[DG0104]: no source
         --> <stdin>:3:5
        note: line 3: asked here
        note: <gone>:1:1: from here
        """,
    )


def test_wide_characters_and_tabs():
    name = register_source("\tx = '日本' + y\n", "wide.py").name
    assert render(Diagnostic("DG0401", "no", (Label(at(name, "y"), "str"),))) == (
        "error[DG0401]: no\n --> wide.py:1:13\n  |\n1 |     x = '日本' + y\n  |                  ^ str"
    )


def test_empty_span_still_has_a_caret():
    name = register_source("a b\n", "e.py").name
    assert render(Diagnostic("DG0102", "no", (Label(Span(name, 1, 3, 1, 3)),))).endswith("1 | a b\n  |    ^")


def test_files_below_the_working_directory_are_relative(tmp_path, monkeypatch):
    path = tmp_path / "sub" / "f.py"
    path.parent.mkdir()
    path.write_text("x\n")
    monkeypatch.chdir(tmp_path)
    assert " --> sub/f.py:1:1\n" in render(Diagnostic("DG0102", "no", (Label(Span(str(path), 1, 0, 1, 1)),)))
