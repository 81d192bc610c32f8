"""Runs literate tests. A fenced block is input or expectation, by the words behind its language:

    ```python                          code; the namespace of the section has ms, nn, ops, np, Tensor, Parameter
    ```text                            expected: what the code before printed
    ```mindir in                       a graph; from here on the graph of the section
    ```mindir after(drop_tags, fold)   expected: that graph after these passes
    ```mindir capture(f, f32[3])       expected: the program that `jit` captures of `f` for such arguments
    ```mindir optimised(f, f32[3])     expected: the same after all passes
    ```mindir grad(f, f32[3])          expected: `optimised(ms.grad(f), f32[3])`
    ```error f(f32[3])                 expected: class and text of the error, the same in dynamic mode and compiled
    ```mindspore                       expected: the graph of the section in MindSpore's look
    ```diagnostic                      expected: the error of the `mindir in` or `python` block before

What `capture` is given is any expression: ``capture(ms.grad(f), f32[3])``. Expectations are compared as text.
"""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import duograph.jit  # noqa: F401 - the ops of captured programs can be named in graphs
from duograph.base.source import register_source
from duograph.core.types import ScalarType, TensorType
from duograph.debug.opt import read as read_graph
from duograph.debug.opt import run_named
from duograph.ir.parser import parse
from duograph.ir.printer import print_graph

_FENCE = re.compile(r"^```(\w+)[ ]*(.*?)[ ]*$")


@dataclass
class Block:
    """A fenced block: its language, the words behind it, its text, and the lines of the file it takes (from, to)."""

    language: str
    words: str
    text: str
    first: int
    last: int


@dataclass
class Section:
    """What stands under one heading."""

    title: str
    line: int
    blocks: list[Block] = field(default_factory=list)


def read(path: Path) -> list[Section]:
    """The sections of a document that have blocks."""
    sections = [Section(path.stem, 1)]
    lines = path.read_text(encoding="utf-8").split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        fence = _FENCE.match(line)
        if fence:
            end = next(i for i in range(number + 1, len(lines)) if lines[i].startswith("```"))
            text = "\n".join(lines[number + 1 : end]) + "\n"
            sections[-1].blocks.append(Block(fence[1], fence[2], text, number + 1, end))
            number = end
        elif line.startswith("#"):
            sections.append(Section(line.lstrip("# "), number + 1))
        number += 1
    return [s for s in sections if s.blocks]


def check(section: Section) -> None:
    """Compares every expectation of a section with what comes out."""
    for block, got in outcomes(section):
        assert got.rstrip("\n").splitlines() == block.text.rstrip("\n").splitlines(), (
            f"```{block.language} {block.words} in line {block.first}"
        )


def rewrite(path: Path, title: str) -> None:
    """Puts what comes out in the place of the expectations of one section."""
    section = next(s for s in read(path) if s.title == title)
    lines = path.read_text(encoding="utf-8").split("\n")
    for block, got in reversed(outcomes(section)):
        lines[block.first : block.last] = got.rstrip("\n").split("\n")
    path.write_text("\n".join(lines), encoding="utf-8")


def outcomes(section: Section) -> list[tuple[Block, str]]:
    """What comes out for every block of a section that is an expectation."""
    found: list[tuple[Block, str]] = []
    namespace = _names()
    printed = io.StringIO()
    graph: Any = None
    error: Exception | None = None
    blocks = section.blocks
    for i, block in enumerate(blocks):
        fails = i + 1 < len(blocks) and blocks[i + 1].language == "diagnostic"
        match block.language, block.words:
            case "python", _:
                with contextlib.redirect_stdout(printed):
                    error = _attempt(lambda b=block: _execute(b.text, namespace), fails)
            case "text", _:
                found.append((block, printed.getvalue()))
                printed = io.StringIO()
            case "error", words:
                found.append((block, _error(words, namespace)))
            case "mindir", "in":
                made: list[Any] = []
                error = _attempt(lambda b=block, m=made: m.append(read_graph(b.text)), fails)
                graph = made[0] if made else None
            case "mindspore", _:
                found.append((block, print_graph(graph, style="mindspore")))
            case "diagnostic", _:
                assert error is not None, "there was no error"
                found.append((block, re.sub(r"<duograph \d+>", "<mindir>", str(error))))
            case "mindir", words if words.startswith("after("):
                result = graph
                for name in words[len("after(") : -1].split(","):
                    result = run_named(name.strip(), result)
                found.append((block, print_graph(result)))
            case "mindir", words:
                found.append((block, print_graph(_captured(words, namespace))))
            case _:
                continue
    return found


def _names() -> dict[str, Any]:
    import duograph as ms

    return {"ms": ms, "nn": ms.nn, "ops": ms.ops, "np": np, "Tensor": ms.Tensor, "Parameter": ms.Parameter}


def _error(words: str, namespace: dict[str, Any]) -> str:
    """Class and text of what a call raises; compiled, it must be the same class and message."""
    match = re.fullmatch(r"(\w+)\((.*)\)", words)
    assert match, f"unknown block: error {words}"
    jit, function = namespace["ms"].jit, namespace[match[1]]
    raised = []
    for fn in (function, jit(function)):
        with contextlib.redirect_stdout(io.StringIO()):
            error = _attempt(lambda f=fn: f(*[_sample(text) for text in _split(match[2]) if text]), True)
        assert error is not None, f"{words} raised nothing"
        raised.append(error)
    classes = [next(c for c in type(e).__mro__ if c.__module__ == "builtins") for e in raised]
    assert classes[0] is classes[1], f"{classes[0].__name__} in dynamic mode, {classes[1].__name__} compiled"
    assert raised[0].args == raised[1].args, f"{raised[0].args} in dynamic mode, {raised[1].args} compiled"
    return f"{classes[0].__name__}: {_shown(raised[0])}"


def _shown(error: Exception) -> str:
    return str(error) if not isinstance(error, KeyError) else str(error.args[0])


def _execute(text: str, namespace: dict[str, Any]) -> None:
    source = register_source(text, "example.py")
    exec(compile(text, source.name, "exec"), namespace)


def _attempt(action: Any, fails: bool) -> Exception | None:
    try:
        action()
    except Exception as error:
        if not fails:
            raise
        return error
    return None


def _captured(words: str, namespace: dict[str, Any]) -> Any:
    """The graph for ``capture(expression, type, ...)`` or ``optimised(...)``."""
    import duograph as ms

    match = re.fullmatch(r"(capture|optimised|grad)\((.*)\)", words)
    assert match, f"unknown block: mindir {words}"
    expression, *types = _split(match[2])
    target = eval(expression, namespace)
    fn = ms.jit(ms.grad(target) if match[1] == "grad" else target)
    fn(*[_sample(text) for text in types])
    (entry,) = fn._own.compiled
    return entry.program.graph if match[1] == "capture" else entry.graph


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def _sample(text: str) -> Any:
    """A value of the type that ``text`` names."""
    import duograph as ms

    type_ = parse(f"graph @t(%x: {text}) -> {text} {{ return %x }}").params[0].type
    if isinstance(type_, TensorType):
        return ms.Tensor(np.ones(type_.shape, type_.dtype.numpy))
    assert isinstance(type_, ScalarType)
    return type_.python_type(1)
