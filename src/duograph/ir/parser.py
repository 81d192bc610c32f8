"""Reads what `printer.print_graph` wrote, back to the very same objects.

    parse(print_graph(g), g.context) is g

In another context the result is an equal graph (`walk.equal`) instead. Text refers to large arrays and opaque objects
by keys (``@k3``), which are looked up in ``table``, by default the one of the context. Errors are diagnostics that show
the line of the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from duograph.base.diagnostics import Diagnostic, DuographError, diagnostic_error
from duograph.base.source import Span, register_source
from duograph.core.dim import Extent, Symbol, parse_dim
from duograph.core.op import all_ops
from duograph.core.types import BOOL, FLOAT, INT, OBJECT, TOKEN, StackType, TensorType, TupleType, Type

from .node import Apply, Const, Context, Graph, Node
from .text import DTYPE_OF_NAME, element_from, float_from
from .walk import retyped

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+|\#[^\n]*)
      | (?P<string>'(?:[^'\\\n]|\\.)*')
      | (?P<number>-?(?:0x[0-9a-f]+(?:\.[0-9a-f]*)?(?:p[+-]?\d+)?|\d+(?:\.\d*)?(?:e[+-]?\d+)?|inf\b|nan\b))
      | (?P<bits>bits\(0x[0-9a-f]+\))
      | (?P<word>[A-Za-z_][\w.]*)
      | (?P<sign>->|\.\.\.|[%@(){}\[\]<>,:=!*+/-])""",
    re.VERBOSE | re.ASCII,
)

_SCALARS: dict[str, Type] = {"bool": BOOL, "int": INT, "float": FLOAT, "token": TOKEN, "object": OBJECT}


def parse(text: str, context: Context | None = None, table: Mapping[str, Any] | None = None) -> Graph:
    """The first graph of ``text``, with those it refers to.

    Args:
        text: MindIR, as printed.
        context: where the nodes are made; default: a new one.
        table: the large constants and opaque objects that the text refers to by key; default: the context's.

    Raises:
        DuographError: the text is no MindIR (DG0701), names an unknown op (DG0705), or a graph in it is ill-formed
            (DG0702; then the error is also of the class that the op's type rule raises).
    """
    context = context or Context()
    return _Parser(text, context, context.keys if table is None else table).module()


class _Token:
    __slots__ = ("end", "kind", "start", "text")

    def __init__(self, kind: str, text: str, start: int) -> None:
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)


class _Parser:
    """Recursive descent; a graph is built when it is first referred to, so order in the text does not matter."""

    def __init__(self, text: str, context: Context, table: Mapping[str, Any]) -> None:
        self.text, self.context, self.table = text, context, table
        self.ops = all_ops()
        self.symbols: dict[str, Symbol] = {}
        self.bodies: dict[str, int] = {}  # graph name -> position of its header in the tokens
        self.done: dict[str, Graph] = {}
        self.open: dict[str, Graph] = {}  # graphs whose body is being read: what a recursive call refers to
        self.tokens = self._tokens()
        self.position = 0
        self.values: dict[str | int, Node] = {}
        self.recursive: set[str] = set()  # graphs that are referred to from inside themselves

    # -- tokens ------------------------------------------------------------------------------------------------

    def _tokens(self) -> list[_Token]:
        tokens, position = [], 0
        while position < len(self.text):
            match = _TOKEN.match(self.text, position)
            if match is None:
                self._fail_at(position, position + 1, f"unexpected character {self.text[position]!r}")
            if match.lastgroup != "space":
                tokens.append(_Token(str(match.lastgroup), match.group(), position))
            position = match.end()
        tokens.append(_Token("end", "", len(self.text)))
        return tokens

    @property
    def token(self) -> _Token:
        return self.tokens[self.position]

    def next(self) -> _Token:
        token = self.tokens[self.position]
        self.position += 1
        return token

    def at(self, text: str) -> bool:
        token = self.tokens[self.position]
        return token.text == text and token.kind != "string"

    def accept(self, text: str) -> bool:
        if self.at(text):
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.fail(f"expected {text!r}, got {self.token.text!r}")

    def word(self, what: str) -> str:
        token = self.next()
        if token.kind == "string":
            return _string(token.text)
        if token.kind != "word" and token.text not in ("inf", "nan"):
            self.fail(f"expected {what}, got {token.text!r}", token)
        return token.text

    def fail(self, message: str, token: _Token | None = None, code: str = "DG0701") -> NoReturn:
        token = token or self.token
        self._fail_at(token.start, token.end, message, code)

    def _fail_at(
        self, start: int, end: int, message: str, code: str = "DG0701", kind: type[Exception] = ValueError
    ) -> NoReturn:
        raise diagnostic_error(kind, Diagnostic(code, message).with_label(self._span(start, end)))

    def _span(self, start: int, end: int) -> Span:
        source = register_source(self.text)
        line, last = self.text.count("\n", 0, start) + 1, self.text.count("\n", 0, end) + 1
        col, end_col = start - self.text.rfind("\n", 0, start) - 1, end - self.text.rfind("\n", 0, end) - 1
        return Span(source.name, line, col, last, max(end_col, col + 1) if last == line else end_col)

    # -- graphs ------------------------------------------------------------------------------------------------

    def module(self) -> Graph:
        entry = self._scan_headers()
        return self.graph(entry)

    def _scan_headers(self) -> str:
        """Finds where each graph starts and reads the ranges of dimensions; gives the name of the first graph."""
        entry = ""
        while self.token.kind != "end":
            token = self.next()
            if token.text == "dim":
                name = self.word("a dimension")
                self.expect("=")
                self.expect("[")
                lo = self.next().text
                self.expect(",")
                hi = self.next().text
                self.expect("]")
                self.symbols[name] = Symbol(name, int(lo), None if hi == "inf" else int(hi))
            elif token.text == "graph":
                self.expect("@")
                where, name = self.token, self.word("a name of a graph")
                if name in self.bodies:
                    self.fail(f"graph @{name} is defined twice", where)
                self.bodies[name] = self.position
                entry = entry or name
                while not self.at("return"):
                    if self.next().kind == "end":
                        self.fail(f"graph @{name} has no 'return'", token)
                while not self.accept("}"):
                    if self.next().kind == "end":
                        self.fail(f"graph @{name} has no end", token)
            else:
                self.fail(f"expected 'graph' or 'dim', got {token.text!r}", token)
        if not entry:
            self.fail("there is no graph in this text")
        return entry

    def graph(self, name: str) -> Graph:
        """The graph called ``name``, built now if it has not been."""
        found = self.done.get(name) or self.open.get(name)
        if found is not None:
            return found
        if name not in self.bodies:
            self.fail(f"there is no graph @{name}", self.tokens[self.position - 1])
        outer = self.position, self.values
        self.position, self.values = self.bodies[name], {}
        params = []
        self.expect("(")
        while not self.accept(")"):
            self.expect("%")
            param_name = self.word("a name of a parameter")
            self.expect(":")
            param = self.context.param(param_name, self.type())
            self.values[param_name] = param
            params.append(param)
            if not self.at(")"):
                self.expect(",")
        self.expect("->")
        result = self.type()
        self.expect("{")
        # Stands for the graph while its body refers to it; if nothing does, the interned graph takes its place.
        placeholder = Graph(self.context, name, tuple(params), self.context.param("recursive result", result))
        self.open[name] = placeholder
        while not self.accept("return"):
            self.node()
        where = self.token
        output = self.operand()
        if output.type != result:
            self.fail(f"@{name} returns {output.type}, its header says {result}", where, "DG0702")
        self.expect("}")
        del self.open[name]
        if name in self.recursive:
            placeholder.output = output
            graph = placeholder
        else:
            graph = self.context.graph(name, tuple(params), output)
        self.done[name] = graph
        self.position, self.values = outer
        return graph

    def node(self) -> None:
        """``%0 = op!tag(operands, name=attribute) : type``"""
        self.expect("%")
        name = self.value_name()
        self.expect("=")
        start = self.token
        op = self.ops.get(self.word("an op"))
        if op is None:
            self.fail(f"there is no op {start.text!r}", start, "DG0705")
        tag = int(self.next().text) if self.accept("!") else 0
        operands: list[Node] = []
        attrs: dict[str, Any] = {}
        self.expect("(")
        while not self.accept(")"):
            if self.token.kind == "word" and self.tokens[self.position + 1].text == "=":
                key = self.next().text
                self.expect("=")
                attrs[key] = self.attribute()
            elif attrs:
                self.fail("operands stand before attributes")
            else:
                operands.append(self.operand())
            if not self.at(")"):
                self.expect(",")
        self.expect(":")
        type_start = self.token
        declared = self.type()
        wanted = len(op.operand_names)
        if len(operands) < wanted or (len(operands) > wanted and not op.variadic):
            self.fail(f"{op.name} takes {len(op.operand_names)} operands, got {len(operands)}", start, "DG0702")
        try:
            node = self.context.apply(op, tuple(operands), op.complete_attrs(attrs), tag)
        except DuographError:
            raise
        except Exception as error:  # noqa: BLE001  (a type rule may raise whatever eager users are to see)
            self._fail_at(start.start, type_start.start, f"{op.name}: {error}", "DG0702", type(error))
        if isinstance(node, Apply):
            node = retyped(node, declared)  # the rule has invented names for sizes that the text calls otherwise
        if node.type != declared:
            end = self.tokens[self.position - 1].end
            self._fail_at(type_start.start, end, f"{op.name} gives {node.type}, not {declared}", "DG0702")
        self.values[name] = node

    # -- values ------------------------------------------------------------------------------------------------

    def value_name(self) -> str | int:
        """What stands behind ``%``: the number of a node, or the name of a parameter (``'1'`` is a name)."""
        token = self.token
        if token.kind == "number" and token.text.isdigit():
            return int(self.next().text)
        return self.word("a number or name")

    def operand(self) -> Node:
        if self.accept("%"):
            token, name = self.token, self.value_name()
            if name not in self.values:
                self.fail(f"%{name} is not defined here", token)
            return self.values[name]
        if self.at("const"):
            return self.constant()
        value = self.attribute()
        if type(value) not in (bool, int, float):
            self.fail("an operand is a value of the graph, a number or const<...>", self.tokens[self.position - 1])
        return self.context.const(value)

    def constant(self) -> Const:
        self.expect("const")
        self.expect("<")
        type_ = self.type()
        self.expect(">")
        if self.accept("@"):
            return self.context.const(self.keyed())
        if not isinstance(type_, TensorType):
            self.fail(f"a constant of type {type_} stands in the table: @key")
        flat: list[Any] = []
        self.elements(type_.dtype.numpy, flat)
        shape = [n for n in type_.shape if isinstance(n, int)]
        if len(shape) < type_.ndim or len(flat) != math.prod(shape):
            self.fail(f"{len(flat)} elements for {type_}", self.tokens[self.position - 1])
        return self.context.const(np.array(flat, type_.dtype.numpy).reshape(shape))

    def elements(self, dtype: np.dtype, flat: list[Any]) -> None:
        """The elements of an array constant, in row-major order."""
        if self.accept("["):
            while not self.accept("]"):
                self.elements(dtype, flat)
                if not self.at("]"):
                    self.expect(",")
        elif self.accept("c"):
            self.expect("(")
            part = np.dtype(f"f{dtype.itemsize // 2}")
            real = self.number(part)
            self.expect(",")
            z = np.empty((), dtype)
            z.real, z.imag = real, self.number(part)
            self.expect(")")
            flat.append(z[()])
        else:
            flat.append(self.number(dtype))

    def number(self, dtype: np.dtype) -> Any:
        token = self.next()
        try:
            return element_from(token.text, dtype)
        except ValueError:
            self.fail(f"{token.text!r} is not an element of dtype {dtype}", token)

    def keyed(self) -> Any:
        token = self.next()
        if token.text not in self.table:
            self.fail(f"nothing is known under the key @{token.text}", token)
        return self.table[token.text]

    def attribute(self) -> Any:
        token = self.token
        if token.kind == "string":
            return _string(self.next().text)
        if token.kind in ("number", "bits"):
            self.next()
            is_int = re.fullmatch(r"-?\d+", token.text) is not None
            return int(token.text) if is_int else float_from(token.text)
        if self.accept("("):
            return self._tuple(self.attribute)
        if self.accept("{"):
            return self.extent("}")
        if self.accept("..."):
            return Ellipsis
        if self.accept("@"):
            name = self.word("a name of a graph")
            graph = self.graph(name)
            if name in self.open:
                self.recursive.add(name)
            return graph
        return self._word_attribute(self.word("a value"), token)

    def _word_attribute(self, word: str, token: _Token) -> Any:
        simple = {"true": True, "false": False, "none": None}
        if word in simple:
            return simple[word]
        if word in DTYPE_OF_NAME:
            return DTYPE_OF_NAME[word]
        if word == "obj":
            self.expect("@")
            return self.keyed()
        if word == "type":
            self.expect("<")
            type_ = self.type()
            self.expect(">")
            return type_
        if word != "c":
            self.fail(f"unknown value {word!r}", token)
        self.expect("(")
        return complex(*self._tuple(self.attribute))

    def _tuple(self, item: Callable[[], Any]) -> tuple[Any, ...]:
        items = []
        while not self.accept(")"):
            items.append(item())
            if not self.at(")"):
                self.expect(",")
        return tuple(items)

    # -- types -------------------------------------------------------------------------------------------------

    def type(self) -> Type:
        if self.accept("("):
            return TupleType(self._tuple(self.type))
        token, word = self.token, self.word("a type")
        if word in DTYPE_OF_NAME and self.accept("["):
            shape: list[Extent] = []
            while not self.accept("]"):
                shape.append(self.extent(",]"))
            return TensorType(DTYPE_OF_NAME[word], tuple(shape))
        if word == "stack":
            self.expect("<")
            item = self.type()
            self.expect(">")
            return StackType(item)
        if word not in _SCALARS:
            self.fail(f"there is no type {word!r}", token)
        return _SCALARS[word]

    def extent(self, stops: str) -> Extent:
        """A dimension, up to one of ``stops`` outside of parentheses; the first of them is eaten."""
        start, depth = self.token, 0
        while depth or self.token.text not in stops:
            if self.token.kind == "end":
                self.fail("a dimension does not end", start)
            depth += {"(": 1, ")": -1}.get(self.next().text, 0)
        end = self.tokens[self.position - 1].end
        if len(stops) == 1 or self.token.text == stops[0]:
            self.next()
        try:
            return parse_dim(self.text[start.start : end], self.symbols)
        except (ValueError, SyntaxError):
            self._fail_at(start.start, max(end, start.end), f"no dimension: {self.text[start.start : end]!r}")


def _string(literal: str) -> str:
    if not literal.startswith("'"):
        return literal
    return literal[1:-1].replace("\\'", "'").encode("ascii", "backslashreplace").decode("unicode_escape")
