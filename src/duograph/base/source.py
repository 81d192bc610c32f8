"""Where code comes from: source texts, and spans in them.

A `Span` names a stretch of source text exactly: a file, and the characters from one position to another. Spans are made
from `ast` nodes (captured code) and from code positions (frames, tracebacks, single instructions: eager errors), and
both underline the same text.

Invariants
    * Lines count from 1, columns count from 0 in **characters** (CPython counts UTF-8 bytes; undone here, once).
      `end_col` is exclusive. What is printed for people (`str(span)`) counts columns from 1.
    * A `Span` is a value: it holds the name of the file, never its text. `source_file(name)` finds the text again.

Sources without a file: a notebook cell and the REPL of 3.13 put their text into `linecache`, which is asked here;
`register_source` adds any other; and `watch_exec` records what the process compiles from strings, so that functions
made by `exec` have a source too (`source_of_code`).

See `diagnostics.py` for what spans are for, and `render.py` for how they are drawn.
"""

from __future__ import annotations
import __future__

import ast
import itertools
import linecache
import os
import sys
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType, TracebackType
from typing import Any

from .tracing import EVENTS, find_tracers, heard

__all__ = [
    "CalledSpan",
    "SourceFile",
    "Span",
    "captured_source",
    "is_internal_file",
    "note_captured",
    "register_source",
    "source_file",
    "source_of_code",
    "span_of_code",
    "span_of_frame",
    "span_of_instruction",
    "span_of_node",
    "user_frame",
    "user_span",
    "watch_exec",
]

PACKAGE_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_DEMO_DIR = os.path.join(PACKAGE_DIR, "demo") + os.sep


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of source text, from (line, col) up to but not including (end_line, end_col)."""

    file: str
    line: int
    col: int
    end_line: int
    end_col: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.col + 1}"

    def union(self, other: Span) -> Span:
        """The smallest span that covers both; they must lie in the same file."""
        if self.file != other.file:
            raise ValueError(f"spans of two files have no union: {self} and {other}")
        start = min((self.line, self.col), (other.line, other.col))
        end = max((self.end_line, self.end_col), (other.end_line, other.end_col))
        return Span(self.file, *start, *end)

    def covers(self, other: Span) -> bool:
        """Whether `other` lies inside this span."""
        return (
            self.file == other.file
            and (self.line, self.col) <= (other.line, other.col)
            and (other.end_line, other.end_col) <= (self.end_line, self.end_col)
        )

    @property
    def users(self) -> Span:
        """The span, or the user's expression that led to it, if it is in this package and that is known."""
        return self

    def text(self) -> str | None:
        """The source text of the span, or None where the source is not available."""
        source = source_file(self.file)
        if source is None or self.end_line > len(source.lines):
            return None
        lines = list(source.lines[self.line - 1 : self.end_line])
        lines[-1] = lines[-1][: self.end_col]
        lines[0] = lines[0][self.col :]
        return "\n".join(lines)


class CalledSpan(Span):
    """A span of code that others have called.

    Attributes:
        caller: the user's expression that led to it, where the span is in this package; else ``None``.
        layer: the layers that it is in, by their names in each other: ``Net.block.fc (Dense)``.
        called_at: the user's call of the function that the user's expression is in, if there is one.
    """

    __slots__ = ("called_at", "caller", "layer")
    caller: Span | None
    layer: str
    called_at: Span | None

    @property
    def users(self) -> Span:
        return self.caller or self

    @classmethod
    def of(cls, span: Span, caller: Span | None, layer: str, called_at: Span | None = None) -> CalledSpan:
        """``span`` with what is known of its call."""
        made = cls(span.file, span.line, span.col, span.end_line, span.end_col)
        object.__setattr__(made, "caller", caller)
        object.__setattr__(made, "layer", layer)
        object.__setattr__(made, "called_at", called_at)
        return made


@dataclass(frozen=True, eq=False)
class SourceFile:
    """The text of one source. `name` is what code objects call it (`co_filename`)."""

    name: str
    text: str
    lines: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Not `splitlines()`: Python's grammar ends a line at \n, \r\n and \r only, never at form feeds or U+2028.
        text = self.text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        object.__setattr__(self, "lines", tuple(lines))

    def line(self, number: int) -> str | None:
        """Line `number` (from 1) without its end, or None if there is no such line."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else None


MOST_REGISTERED, MOST_READ = 4096, 256
"""Sources that are kept, the latest ones: a service may run any number of texts, each under a name of its own."""
_registered: OrderedDict[str, tuple[SourceFile, Any]] = OrderedDict()  # each with its entry in `linecache`
_from_linecache: OrderedDict[str, tuple[list[str], SourceFile]] = OrderedDict()
_captured: OrderedDict[str, SourceFile] = OrderedDict()
_unnamed = itertools.count(1)


def register_source(text: str, name: str | None = None) -> SourceFile:
    """Make `text` known as the source `name`; without a name a fresh `<duograph N>` is taken.

    The text also enters `linecache`, so that tracebacks, `inspect.getsource` and pdb show it.
    """
    if name is None:
        name = f"<duograph {next(_unnamed)}>"
    source = SourceFile(name, text)
    # The modification time None marks a text that is not to be compared with a file.
    entry = linecache.cache[name] = (len(text), None, [line + "\n" for line in source.lines], name)
    _registered.pop(name, None)
    _registered[name] = source, entry
    if len(_registered) > MOST_REGISTERED:
        oldest, (_, its_entry) = _registered.popitem(last=False)
        if linecache.cache.get(oldest) is its_entry:
            del linecache.cache[oldest]
    return source


def note_captured(source: SourceFile) -> None:
    """Functions of ``source`` are compiled: their lines are those of this text, whatever the file becomes."""
    if source.name.startswith("<"):  # others may have that name, too
        return
    _captured.pop(source.name, None)
    _captured[source.name] = source
    if len(_captured) > MOST_READ:
        _captured.popitem(last=False)


def captured_source(name: str) -> SourceFile | None:
    """The source called ``name`` as it was when a function of it was captured last; else as it is."""
    return _captured.get(name) or source_file(name)


def source_file(name: str) -> SourceFile | None:
    """The source called `name`: a registered one, or what `linecache` has or can read; None if there is none."""
    registered = _registered.get(name)
    if registered is not None:
        return registered[0]
    lines = linecache.getlines(name)
    if not lines:
        return None
    cached = _from_linecache.get(name)
    if cached is not None and cached[0] is lines:
        return cached[1]
    source = SourceFile(name, "".join(lines))
    _from_linecache[name] = (lines, source)
    if len(_from_linecache) > MOST_READ:
        _from_linecache.popitem(last=False)
    return source


# Columns -------------------------------------------------------------------------------------------------------------


def _characters(line: str | None, byte_col: int) -> int:
    """The character column of a UTF-8 byte column."""
    if line is None or line.isascii():
        return byte_col
    return len(line.encode()[:byte_col].decode(errors="ignore"))


def _span(file: str, line: int, byte_col: int, end_line: int, end_byte_col: int) -> Span:
    source = source_file(file)
    if source is None:
        return Span(file, line, byte_col, end_line, end_byte_col)
    col = _characters(source.line(line), byte_col)
    end_col = _characters(source.line(end_line), end_byte_col)
    return Span(file, line, col, end_line, end_col)


def _whole_line(file: str, line: int) -> Span:
    source = source_file(file)
    text = (source and source.line(line)) or ""
    start = len(text) - len(text.lstrip())
    return Span(file, line, start, line, max(len(text.rstrip()), start + 1))


def span_of_node(file: str, node: ast.AST, first_line_offset: int = 0, col_offset: int = 0) -> Span:
    """The span of an `ast` node.

    Args:
        file: name of the source, as in `co_filename`.
        node: an expression, statement, argument, ... anything with `lineno`.
        first_line_offset: lines of the file before the text that was parsed.
        col_offset: indentation that was taken away before parsing.
    """
    line: int | None = getattr(node, "lineno", None)
    if line is None:
        raise ValueError(f"an ast node {type(node).__name__} has no position")
    col: int = getattr(node, "col_offset", 0)
    end_line: int = getattr(node, "end_lineno", None) or line
    end_col: int | None = getattr(node, "end_col_offset", None)
    if end_col is None:
        end_col = col + 1
    return _span(
        file,
        line + first_line_offset,
        max(col + col_offset, 0),
        end_line + first_line_offset,
        max(end_col + col_offset, 0),
    )


# Code positions ------------------------------------------------------------------------------------------------------


def span_of_instruction(code: CodeType, offset: int) -> Span:
    """The span of the instruction at byte `offset` of `code`; the whole line where the code has no columns."""
    position = next(itertools.islice(code.co_positions(), max(offset, 0) // 2, None), (None, None, None, None))
    line, end_line, col, end_col = position
    if line is None:
        return _whole_line(code.co_filename, code.co_firstlineno)
    if end_line is None or col is None or end_col is None:
        return _whole_line(code.co_filename, line)
    return _span(code.co_filename, line, col, end_line, end_col)


def span_of_frame(frame_or_tb: FrameType | TracebackType) -> Span:
    """The span of what a frame is executing, or of what a traceback entry was executing when it raised."""
    if isinstance(frame_or_tb, TracebackType):
        return span_of_instruction(frame_or_tb.tb_frame.f_code, frame_or_tb.tb_lasti)
    return span_of_instruction(frame_or_tb.f_code, frame_or_tb.f_lasti)


def span_of_code(code: CodeType) -> Span:
    """The line that defines a function: its `def` (or first decorator) line."""
    return _whole_line(code.co_filename, code.co_firstlineno)


# User frames ---------------------------------------------------------------------------------------------------------


def is_internal_file(name: str) -> bool:
    """Whether a file belongs to this package, and so is ignored in a user's traceback. The demonstration is
    written as users write."""
    return name.startswith(PACKAGE_DIR) and not name.startswith(_DEMO_DIR)


def user_frame(frame: FrameType | None = None) -> FrameType | None:
    """The innermost frame, from `frame` (default: the caller) outwards, that is not code of this package."""
    if frame is None:
        frame = sys._getframe(1)
    while frame is not None and is_internal_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def user_span() -> Span | None:
    """The span of the user's own expression that is being executed, if any."""
    frame = user_frame(sys._getframe(1))
    return None if frame is None else span_of_frame(frame)


# Sources of exec -----------------------------------------------------------------------------------------------------


class _Searched(str):
    """A text that this module compiles to look into it, and so does not remember again."""

    __slots__ = ()


class _ExecText:
    """A text that may hold the source of code objects, with those that it was found to define."""

    __slots__ = ("_defined", "name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self._defined: dict[int, frozenset[CodeType]] = {}  # by the flags of future statements around the text

    def defines(self, code: CodeType) -> bool:
        """Whether compiling the text gives ``code``."""
        if self.text.isascii() and not all(name in self.text for name in _written(code)):  # else it may spell them so
            return False
        flags = _future_flags(code)
        if flags not in self._defined:
            try:
                module = compile(_Searched(self.text), self.name, "exec", flags=flags, dont_inherit=True)
            except (SyntaxError, ValueError):
                self._defined[flags] = frozenset()
            else:
                self._defined[flags] = frozenset(_codes(module))
        return code in self._defined[flags]


_exec_texts: deque[_ExecText] = deque(maxlen=512)
_MAX_TYPED = 500  # lines of the REPL's history that are searched
_MAX_EXEC_TEXT = 1 << 20  # bytes; a longer text is data, not a program
_watching = False


def _audit(event: str, args: tuple[object, ...]) -> None:
    if event != "compile":
        if event in EVENTS:
            heard()
        return
    text, name = args
    if type(text) is _Searched or not isinstance(name, str) or not name.startswith("<") or name.startswith("<frozen"):
        return
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    if isinstance(text, str) and ("def " in text or "lambda" in text) and len(text) <= _MAX_EXEC_TEXT:
        _exec_texts.append(_ExecText(name, text))


def watch_exec() -> None:
    """From now on remember the texts that `exec` and `compile` are given under names like `<string>`, and listen to who
    sets a tracer (`base.tracing`).

    An audit hook sees them; it cannot be removed again, so it is set once, by the front end that needs it. The last 512
    texts with a function in them are kept.
    """
    global _watching
    if not _watching:
        _watching = True
        sys.addaudithook(_audit)
        find_tracers()


def source_of_code(code: CodeType) -> SourceFile | None:
    """The source of a code object, also where several sources share one name (`<string>`).

    A text that `watch_exec` recorded is taken only if compiling it again yields this very code, the newest first. It
    is then registered under the code's own name, unless a different source has that name already: then it is
    returned alone, and spans of that name are without text rather than with a wrong one.
    """
    known = source_file(code.co_filename)
    if known is not None and not code.co_filename.startswith("<"):
        return known
    name = code.co_filename
    candidates = [] if known is None else [_ExecText(name, known.text)]
    candidates += [found for found in reversed(_exec_texts.copy()) if found.name == name]
    candidates += [_ExecText(name, text) for text in _typed_texts(code)]
    for found in candidates:
        if found.defines(code):
            if known is not None and known.text == found.text:
                return known
            if known is None:
                return register_source(found.text, name)
            return SourceFile(name, found.text)
    return None


def _typed_texts(code: CodeType) -> Iterator[str]:
    """Texts that may hold ``code`` and came from the command line (``python -c``) or the keyboard (REPL up to 3.12)."""
    if code.co_filename == "<string>" and "-c" in sys.orig_argv[:-1]:
        yield sys.orig_argv[sys.orig_argv.index("-c") + 1]
    readline = sys.modules.get("readline")
    if code.co_filename != "<stdin>" or readline is None:
        return
    lines = [readline.get_history_item(i + 1) or "" for i in range(readline.get_current_history_length())][-_MAX_TYPED:]
    for start in reversed(range(len(lines))):
        if lines[start][:1].isspace() or not (
            "def " in lines[start] or "lambda" in lines[start] or lines[start][:1] == "@"
        ):
            continue
        for end in range(start + 1, len(lines) + 1):
            if end < len(lines) and lines[end][:1].isspace():
                continue
            yield "\n".join(lines[start:end]) + "\n"
            if end < len(lines) and not lines[start].startswith("@"):
                break


def _written(code: CodeType) -> Iterator[str]:
    """Names that the text of ``code`` must have: compiling a text takes longer than searching it."""
    for name in (code.co_name, *code.co_varnames, *code.co_names):
        if name.isidentifier() and "__" not in name[1:-2]:  # others may be mangled, or made by the compiler
            yield name


def _future_flags(code: CodeType) -> int:
    known = 0
    for name in __future__.all_feature_names:
        known |= getattr(__future__, name).compiler_flag
    return code.co_flags & known


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
