"""Reads the text of loop IR back: ``parse_function(f.text).text == f.text``."""

from __future__ import annotations

import re
import struct
from typing import Any

from .builder import Builder
from .ir import Block, Buffer, Function, Instr, Value
from .types import I64, VType, parse_vtype

_TOKEN = re.compile(r"\w+=\([^)]*\)|\([^)]*\)(?::\w+)?|\S+")
_PARAMETER = re.compile(r"([&%]\d+) (\w*): (\w+)")
_TYPED = re.compile(r"([&%]\d+): (\w+)")


class LoopSyntaxError(ValueError):
    """The text is no loop IR; the message names the line."""


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self.lines = [line.strip() for line in text.splitlines() if line.strip()]
        self.at = 0
        self.builder = Builder(name)
        self.known: dict[str, Value | Buffer] = {}

    def error(self, message: str) -> LoopSyntaxError:
        line = self.lines[self.at - 1] if self.at else ""
        return LoopSyntaxError(f"line {self.at}: {message}: {line}")

    def next(self) -> str:
        if self.at >= len(self.lines):
            raise self.error("the text ends inside a block")
        self.at += 1
        return self.lines[self.at - 1]

    def function(self) -> Function:
        head = self.next()
        if not (head.startswith("func(") and head.endswith(") {") and ";" in head):
            raise self.error("expected 'func(buffers; dims) {'")
        buffers, dims = head[len("func(") : -len(") {")].split(";")
        for label, name, elem in _PARAMETER.findall(buffers):
            self.known[label] = self.builder.buffer(name, elem)
        for label, name, elem in _PARAMETER.findall(dims):
            self.known[label] = self.builder.dim(name, elem)
        made = self.builder.function
        if self.block(made.body) != "}" or self.at != len(self.lines):
            raise self.error("expected the end")
        return made

    def block(self, block: Block) -> str:
        """Fills ``block``; the line that ended it."""
        while True:
            line = self.next()
            if line in ("}", "} {"):
                return line
            if line.startswith("args "):
                block.args = tuple([self.define(*found) for found in _TYPED.findall(line)])  # type: ignore[misc]
            elif line == "yield" or line.startswith("yield "):
                block.yields = tuple([self.operand(t, block) for t in _TOKEN.findall(line)[1:]])  # type: ignore[misc]
            else:
                self.instr(line, block)

    def instr(self, line: str, block: Block) -> None:
        head, equals, rest = line.partition(" = ")
        defined = _TYPED.findall(head) if equals and head[0] in "&%" else []
        tokens = _TOKEN.findall(rest if defined else line)
        opens = tokens[-1] == "{"
        op, tokens = tokens[0], tokens[1 : len(tokens) - opens]
        attrs: dict[str, Any] = {}
        while tokens and re.match(r"[a-z_]+=", tokens[0]):
            key, _, value = tokens.pop(0).partition("=")
            attrs[key] = _attribute(key, value)
        operands = tuple([self.operand(t, block) for t in tokens])
        regions: list[Block] = []
        while opens:
            regions.append(Block())
            opens = self.block(regions[-1]) == "} {"
        results = tuple([self.define(label, type) for label, type in defined])
        if op in ("store", "scatter", "copy", "atomic_add"):
            operands[0].written = True  # type: ignore[union-attr]
        block.instrs.append(Instr(op, operands, attrs, results, tuple(regions)))

    def define(self, label: str, type: str) -> Value | Buffer:
        if label in self.known:
            raise self.error(f"{label} is defined twice")
        id_ = self.builder._id()
        made: Value | Buffer
        made = Buffer(id_, type) if label[0] == "&" else Value(id_, parse_vtype(type), self.builder)
        self.known[label] = made
        return made

    def operand(self, token: str, block: Block) -> Value | Buffer:
        if token[0] in "&%":
            if token not in self.known:
                raise self.error(f"{token} is not defined")
            return self.known[token]
        text, _, type = token.rpartition(":") if ":" in token else (token, "", "")
        vtype = parse_vtype(type) if type else I64
        value: Any
        if text.startswith("("):
            value = tuple([_number(t.strip(), vtype) for t in text[1:-1].split(",") if t.strip()])
        else:
            value = _number(text, vtype)
        made = Value(self.builder._id(), vtype, self.builder, value)
        block.instrs.append(Instr("const", (), {"value": value}, (made,)))
        return made


def _number(text: str, type: VType) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("0x"):
        return struct.unpack("<d", struct.pack("<Q", int(text, 16)))[0]
    return float(text) if type.is_float else int(text)


def _attribute(key: str, value: str) -> Any:
    if value.startswith("("):
        return tuple([int(v) for v in value[1:-1].split(",") if v])
    return value if key in ("pred", "elem", "function", "name") else int(value)


def parse_function(text: str, name: str = "kernel") -> Function:
    """The function that ``text`` describes.

    Args:
        text: what `Function.text` gave.
        name: what the function is called.

    Raises:
        LoopSyntaxError: the text is no loop IR.
    """
    return _Parser(text, name).function()
