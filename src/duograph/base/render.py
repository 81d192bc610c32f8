"""A diagnostic as text, with the user's own lines and carets under them.

The style is rustc's::

    error[DG0412]: matmul: inner dimensions differ, 16 and 8
      --> net.py:27:12
       |
    27 |     return self.w @ h
       |            ^^^^^^   ^ f32[N,8]
       |            |
       |            f32[4,16]
    24 |     h = ops.relu(x @ self.v)
       |         -------------------- `h` made here
    help: transpose `self.w`, or give `self.v` 16 columns

Lines come in the order of the labels, primary ones first. The rightmost label of a line stands beside its markers, the
others hang below. A span of several lines is marked on each of them (its middle left out when there are more than
four), and labelled at its last. A label in another file opens with `::: file:line:col`. Where a source is not
available, its labels become notes.

Columns are measured as a terminal shows them: wide characters take two cells, combining ones none, tabs go to the next
multiple of four.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from duograph.base.diagnostics import Diagnostic, Label
from duograph.base.source import Span, source_file

__all__ = ["render", "render_body"]

_MAX_MARKED_LINES = 4
_TAB = 4

_folder = os.getcwd  # as it is now: what a test puts in its place counts the calls of the program


def render(diagnostic: Diagnostic) -> str:
    """The whole text of a diagnostic; no line ends in blanks, and no newline ends it."""
    head = f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}"
    body = render_body(diagnostic)
    return f"{head}\n{body}" if body else head


def render_body(diagnostic: Diagnostic) -> str:
    """All but the first line: location, source, notes and help."""
    out: list[str] = []
    labels = sorted(diagnostic.labels, key=lambda label: not label.primary)  # stable: primary ones first
    shown = [label for label in labels if _is_available(label.span)]
    hidden = [label for label in labels if not _is_available(label.span)]
    marked = _marked_lines(shown)
    width = max((len(str(line)) for _, line in marked), default=1)
    if labels:
        out.append(f"{' ' * width}--> {_location(labels[0].span)}")
    if shown:
        out += _source_block(marked, width, labels[0].span.file)
    out += [_line_note(label, labels[0]) for label in hidden if label.text]
    out += [_paragraph("note", note) for note in diagnostic.notes]
    if diagnostic.help:
        out.append(_paragraph("help", diagnostic.help))
    return "\n".join(out)


def _paragraph(kind: str, text: str) -> str:
    return f"{kind}: " + text.replace("\n", "\n" + " " * (len(kind) + 2))


def _line_note(label: Label, first: Label) -> str:
    same = label.span.file == first.span.file
    where = f"line {label.span.line}" if same else _location(label.span)
    return f"note: {where}: {label.text}"


def _location(span: Span) -> str:
    name = span.file
    if os.path.isabs(name):
        name = name.removeprefix(_folder() + os.sep)
    return f"{name}:{span.line}:{span.col + 1}"


def _is_available(span: Span) -> bool:
    source = source_file(span.file)
    return source is not None and source.line(span.line) is not None and source.line(span.end_line) is not None


# Lines and their marks -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Mark:
    """One run of `^` or `-` below one line, in cells of the terminal."""

    start: int
    end: int
    primary: bool
    text: str
    col: int  # in characters, for the location line


def _marked_lines(labels: Sequence[Label]) -> dict[tuple[str, int], list[_Mark]]:
    """(file, line) -> marks, in the order in which lines are shown."""
    marked: dict[tuple[str, int], list[_Mark]] = {}
    for label in labels:
        span = label.span
        lines = list(range(span.line, span.end_line + 1))
        if len(lines) > _MAX_MARKED_LINES:
            lines = [lines[0], lines[-1]]
        for number in lines:
            mark = _mark(label, number)
            if mark is not None:
                marked.setdefault((span.file, number), []).append(mark)
    return marked


def _mark(label: Label, number: int) -> _Mark | None:
    span = label.span
    source = source_file(span.file)
    line = (source and source.line(number)) or ""
    blank = len(line) - len(line.lstrip())
    start = span.col if number == span.line else blank
    last = number == span.end_line
    end = span.end_col if last else len(line.rstrip())
    if end <= start and not last and number != span.line:
        return None  # an empty line inside a long span
    first_cell = _cells(line[:start])
    last_cell = max(_cells(line[: max(end, start)]), first_cell + 1)
    return _Mark(first_cell, last_cell, label.primary, label.text if last else "", start)


def _source_block(marked: dict[tuple[str, int], list[_Mark]], width: int, file: str) -> list[str]:
    gutter = " " * width + " |"
    out = [gutter]
    previous: tuple[str, int] | None = None
    for (name, number), marks in marked.items():
        if name != file:
            out += [f"{' ' * width}::: {_location(Span(name, number, marks[0].col, number, 0))}", gutter]
            file = name
        elif previous is not None and number > previous[1] + 1:
            out.append("...")
        previous = (name, number)
        source = source_file(name)
        line = (source and source.line(number)) or ""
        out.append(f"{number:>{width}} | {_expand(line)}".rstrip())
        out += [f"{gutter} {row}" for row in _rows(marks)]
    return out


def _rows(marks: Sequence[_Mark]) -> list[str]:
    """The rows below a line: markers with the rightmost label's text, then the other labels, right to left."""
    cells = [" "] * max(mark.end for mark in marks)
    for mark in sorted(marks, key=lambda mark: mark.primary):  # primary markers on top
        cells[mark.start : mark.end] = ("^" if mark.primary else "-") * (mark.end - mark.start)
    first = "".join(cells)
    hanging = sorted((mark for mark in marks if mark.text), key=lambda mark: mark.start)
    rightmost = hanging[-1] if hanging else None
    if rightmost and all(mark is rightmost or mark.end <= rightmost.start for mark in marks):
        first += " " + rightmost.text.replace("\n", " ")
        hanging.pop()
    rows = [first]
    if hanging:
        rows.append(_pipes(hanging))
    while hanging:
        mark = hanging.pop()
        left = [other for other in hanging if other.start < mark.start]
        rows.append(f"{_pipes(left):<{mark.start}}{mark.text}".replace("\n", " "))
    return rows


def _pipes(marks: Sequence[_Mark]) -> str:
    cells = [" "] * max((mark.start + 1 for mark in marks), default=0)
    for mark in marks:
        cells[mark.start] = "|"
    return "".join(cells)


# Cells of the terminal -----------------------------------------------------------------------------------------------


def _cell_width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _cells(text: str) -> int:
    if text.isascii() and "\t" not in text:
        return len(text)
    count = 0
    for char in text:
        count += _TAB - count % _TAB if char == "\t" else _cell_width(char)
    return count


def _expand(line: str) -> str:
    """The line with tabs as blanks and other control characters as blanks too."""
    out: list[str] = []
    count = 0
    for char in line:
        if char == "\t":
            blanks = _TAB - count % _TAB
            out.append(" " * blanks)
            count += blanks
        else:
            out.append(char if char.isprintable() or _cell_width(char) == 0 else " ")
            count += _cell_width(char)
    return "".join(out)
