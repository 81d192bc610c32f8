"""What straight-line instructions do, as syntax: a stack of expressions, and the statements that take from it.

Each instruction is one small method. Expressions get the place in the source that the instruction has, which is that of
the syntax it was compiled from.
"""

from __future__ import annotations

import ast
from typing import Any

from ..rules.errors import Uncapturable
from .guesses import Hopeless
from .instructions import Instruction, Position

BINARY = (
    ast.Add, ast.BitAnd, ast.FloorDiv, ast.LShift, ast.MatMult, ast.Mult, ast.Mod, ast.BitOr, ast.Pow, ast.RShift,
    ast.Sub, ast.Div, ast.BitXor,
)  # fmt: skip
"""By the argument of ``BINARY_OP``; in place: 13 more."""
COMPARE = {"<": ast.Lt, "<=": ast.LtE, "==": ast.Eq, "!=": ast.NotEq, ">": ast.Gt, ">=": ast.GtE}
UNARY = {
    "UNARY_NOT": ast.Not, "UNARY_NEGATIVE": ast.USub, "UNARY_INVERT": ast.Invert, "UNARY_POSITIVE": ast.UAdd,
}  # fmt: skip
LOAD, STORE, DELETE = ast.Load(), ast.Store(), ast.Del()


class Marker(ast.expr):
    """What lies on the stack and is not a value of the program's syntax."""

    _fields = ("kind", "value")

    def __init__(self, kind: str, value: Any = None) -> None:
        super().__init__()
        self.kind = kind
        self.value: Any = value


class InPlace(ast.BinOp):
    """``a += b`` before it is stored."""


class Function(ast.expr):
    """A function that was made of a code object."""

    _fields = ("code",)

    def __init__(self, code: Any) -> None:
        super().__init__()
        self.code = code
        self.defaults: Any = None
        self.kwdefaults: Any = None
        self.annotations: Any = None
        self.decorators: list[ast.expr] = []


class Class(ast.expr):
    """A class that was made of a code object."""

    _fields = ("bases", "keywords")

    def __init__(self, code: Any, name: str, bases: list[ast.expr], keywords: list[ast.keyword]) -> None:
        super().__init__()
        self.code, self.name, self.bases, self.keywords = code, name, bases, keywords


class NotStraight(Exception):
    """The instruction makes a statement, and an expression was wanted."""


Stack = list[ast.expr]
Body = list[ast.stmt]


def is_amid(stack: Stack) -> bool:
    """Whether values of a statement that is half done lie on the stack; what a comprehension puts back is none."""
    last = next((v for v in reversed(stack) if not (isinstance(v, Marker) and v.kind == "saved")), None)
    return last is not None and not isinstance(last, Marker)


class Straight:
    """Executes instructions on a stack of expressions; `out` gets the statements."""

    def __init__(self, functions: Any) -> None:
        self.functions = functions  # makes syntax of code objects: `functions.py`
        self.targets: dict[int, tuple[ast.expr, list[ast.expr]]] = {}  # by expression: where it is stored besides
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.imported: set[str] = set()  # names whose attributes are called as those of modules
        self.serial: dict[int, tuple[ast.expr, int]] = {}
        self.line = 1
        self.left = 0  # instructions that may still be read: code between branches is read once for each guess

    def step(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.left -= 1
        if self.left < 0:
            raise Uncapturable("code whose structure is too large")
        method = getattr(self, "do_" + made.op, None)
        if method is None and out is None:
            raise NotStraight
        if method is None:
            is_read_elsewhere = made.op.startswith(("MATCH_", "GET_LEN", "CHECK_", "WITH_", "PREP_"))
            raise (Uncapturable if is_read_elsewhere else Hopeless)(f"the instruction {made.op}")
        if made.position[0] is not None:
            self.line = made.position[0]
        method(made, stack, out)

    # -- places and the stack --------------------------------------------------------------------------------------

    def put(self, node: Any, position: Position) -> Any:
        line, end, column, end_column = position
        node.lineno = line if line is not None else self.line
        node.end_lineno = max(end if end is not None else node.lineno, node.lineno)
        node.col_offset = column if column is not None else 0
        node.end_col_offset = end_column if end_column is not None else node.col_offset
        return node

    def push(self, node: Any, made: Instruction, stack: Stack) -> None:
        stack.append(self.numbered(self.put(node, made.position)))

    def numbered(self, node: Any) -> Any:
        """``node`` as the value that was computed last."""
        self.serial[id(node)] = (node, len(self.serial))
        return node

    def pop(self, stack: Stack) -> Any:
        """A value that is used: where it is also stored, it is a ``:=``."""
        if not stack:
            raise Uncapturable("a stack without a value")
        value = stack.pop()
        if isinstance(value, Marker) and value.kind in ("cell", "closure"):  # 3.13: it may be a plain variable
            return self._variables(value)
        return self.named(value)

    def named(self, value: Any) -> Any:
        """``value`` with the ``:=`` that store it besides."""
        for target in self.targets.pop(id(value), (None, ()))[1]:
            if not isinstance(target, ast.Name):
                raise Uncapturable("a value that is stored and used")
            value = ast.copy_location(ast.NamedExpr(target, value), value)
        return value

    def _variables(self, value: Any) -> ast.expr:
        if value.kind == "cell":
            return ast.copy_location(ast.Name(value.value, LOAD), value)
        return ast.copy_location(ast.Tuple([self._variables(v) for v in value.value], LOAD), value)

    def take(self, n: int, stack: Stack) -> list[Any]:
        return [self.pop(stack) for _ in range(n)][::-1]

    def statement(self, node: ast.stmt, made: Instruction, stack: Stack, out: Body | None) -> None:
        """Statements come where nothing is half done: what lies on the stack belongs to statements around."""
        if out is None:
            raise NotStraight
        if is_amid(stack):
            raise Uncapturable("a statement in the middle of an expression")
        out.append(self.put(node, made.position))

    # -- values ----------------------------------------------------------------------------------------------------

    def do_LOAD_CONST(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.push(ast.Constant(made.arg), made, stack)

    def _name(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        if made.arg == ".0":
            return self.push(Marker("iterated", None), made, stack)
        return self.push(ast.Name(made.arg, LOAD), made, stack)

    do_LOAD_FAST = do_LOAD_DEREF = do_LOAD_GLOBAL = do_LOAD_NAME = do_LOAD_CLASSDEREF = _name

    def do_SETUP_ANNOTATIONS(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        pass  # of a class with annotations, which tell

    def do_LOAD_BUILD_CLASS(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.push(Marker("class", None), made, stack)

    def do_LOAD_CLOSURE(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.push(Marker("cell", made.arg), made, stack)

    def do_LOAD_FAST_AND_CLEAR(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.push(Marker("saved", made.arg), made, stack)

    def do_MAKE_CELL(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        pass  # of a variable of a comprehension: its functions tell

    def do_PUSH_NULL(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.push(Marker("null", None), made, stack)

    def do_LOAD_ATTR(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.push(ast.Attribute(self.pop(stack), made.arg, LOAD), made, stack)

    def do_LOAD_METHOD(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.do_LOAD_ATTR(made, stack, out)
        self.push(Marker("self", None), made, stack)

    def do_LOAD_SUPER_ATTR(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        name, is_method, has_arguments = made.arg
        function, *arguments = self.take(3, stack)
        call = self.put(ast.Call(function, arguments if has_arguments else [], []), made.position)
        self.push(ast.Attribute(call, name, LOAD), made, stack)
        if is_method:
            self.push(Marker("self", None), made, stack)

    def do_BINARY_OP(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        left, right = self.take(2, stack)
        n = len(BINARY)
        kind = InPlace if made.arg >= n else ast.BinOp
        self.push(kind(left, BINARY[made.arg % n](), right), made, stack)

    def _unary(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.push(ast.UnaryOp(UNARY[made.op](), self.pop(stack)), made, stack)

    do_UNARY_NOT = do_UNARY_NEGATIVE = do_UNARY_INVERT = do_UNARY_POSITIVE = _unary

    def _compare(self, op: ast.cmpop, made: Instruction, stack: Stack) -> None:
        left, right = self.take(2, stack)
        self.push(ast.Compare(left, [op], [right]), made, stack)

    def do_COMPARE_OP(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self._compare(COMPARE[made.arg](), made, stack)

    def do_IS_OP(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self._compare(ast.IsNot() if made.arg else ast.Is(), made, stack)

    def do_CONTAINS_OP(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self._compare(ast.NotIn() if made.arg else ast.In(), made, stack)

    def do_BINARY_SUBSCR(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        value, key = self.take(2, stack)
        self.push(ast.Subscript(value, key, LOAD), made, stack)

    def _slice(self, parts: list[Any], made: Instruction) -> ast.Slice:
        parts = [None if is_none(p) else p for p in parts]
        return self.put(ast.Slice(*parts), made.position)

    def do_BUILD_SLICE(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        parts = self.take(made.arg, stack)
        self.push(self._slice(parts, made), made, stack)

    def do_BINARY_SLICE(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        value, *parts = self.take(3, stack)
        self.push(ast.Subscript(value, self._slice(parts, made), LOAD), made, stack)

    def do_BUILD_TUPLE(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        last = stack[len(stack) - made.arg :]
        if last and all(isinstance(p, Marker) and p.kind == "cell" for p in last):
            del stack[-made.arg :]
            return self.push(Marker("closure", last), made, stack)
        parts = self.take(made.arg, stack)
        return self.push(ast.Tuple(parts, LOAD), made, stack)

    def do_BUILD_LIST(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.push(ast.List(self.take(made.arg, stack), LOAD), made, stack)

    def do_BUILD_SET(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.push(ast.Set(self.take(made.arg, stack)), made, stack)

    def do_BUILD_MAP(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        parts = self.take(2 * made.arg, stack)
        self.push(ast.Dict(parts[::2], parts[1::2]), made, stack)

    def do_BUILD_CONST_KEY_MAP(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        keys = self.pop(stack)
        names: list[ast.expr | None] = [ast.copy_location(ast.Constant(k), keys) for k in keys.value]
        self.push(ast.Dict(names, self.take(made.arg, stack)), made, stack)

    def do_LIST_EXTEND(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        value = self.pop(stack)
        held: Any = stack[-made.arg]
        display: Any = value.value if isinstance(value, ast.Constant) else ()
        if len(display) > 2 and not held.elts:  # of constants
            more: list[ast.expr] = [ast.copy_location(ast.Constant(v), value) for v in display]
        else:
            more = [ast.copy_location(ast.Starred(value, LOAD), value)]
        self._more(stack, more)

    do_SET_UPDATE = do_LIST_EXTEND

    def do_LIST_APPEND(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        """Of a list that is written down, or of a comprehension: then a marker is in its place."""
        if made.arg > 1:
            return self.statement(ast.Expr(Marker("element", self.pop(stack))), made, stack, out)
        return self._more(stack, [self.pop(stack)])

    def _more(self, stack: Stack, more: list[ast.expr]) -> None:
        """A list, tuple or set with more elements: another node, because code may be looked at twice."""
        held: Any = stack[-1]
        elements = [*held.elts, *more]
        new: Any = ast.Set(elements) if isinstance(held, ast.Set) else ast.List(elements, LOAD)
        stack[-1] = ast.copy_location(new, held)
        self.serial[id(new)] = (new, self.serial[id(held)][1])

    do_SET_ADD = do_LIST_APPEND

    def do_MAP_ADD(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        key, value = self.take(2, stack)
        if made.arg > 1:
            return self.statement(ast.Expr(Marker("element", (key, value))), made, stack, out)
        return self._items(stack, [key], [value])

    def _items(self, stack: Stack, keys: list[Any], values: list[Any]) -> None:
        held: Any = stack[-1]
        new: Any = ast.Dict([*held.keys, *keys], [*held.values, *values])
        stack[-1] = ast.copy_location(new, held)
        self.serial[id(new)] = (new, self.serial[id(held)][1])

    def do_DICT_UPDATE(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        value = self.pop(stack)
        is_written = isinstance(value, ast.Dict) and all(isinstance(k, ast.Constant) for k in value.keys)
        if is_written and made.op == "DICT_MERGE" and self._is_open(stack[-1]):  # keywords of a call
            self._items(stack, value.keys, value.values)
        else:
            self._items(stack, [None], [value])

    def _is_open(self, held: Any) -> bool:
        """Whether what follows in a call of ``**others`` can be a keyword that is written there."""
        return bool(held.keys) and held.keys[-1] is None

    do_DICT_MERGE = do_DICT_UPDATE

    def do_LIST_TO_TUPLE(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        value = self.pop(stack)
        self.push(ast.Tuple(value.elts, LOAD), made, stack)

    def do_FORMAT_VALUE(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        conversion, has_spec = made.arg
        spec = self._spec(self.pop(stack)) if has_spec else None
        self._formatted(self.pop(stack), {0: -1, 1: 115, 2: 114, 3: 97}[conversion], spec, made, stack)

    def do_CONVERT_VALUE(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.push(Marker("converted", ({1: 115, 2: 114, 3: 97}[made.arg], self.pop(stack))), made, stack)

    def do_FORMAT_SIMPLE(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        conversion, value = _converted(self.pop(stack))
        self._formatted(value, conversion, None, made, stack)

    def do_FORMAT_WITH_SPEC(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        spec = self._spec(self.pop(stack))
        conversion, value = _converted(self.pop(stack))
        self._formatted(value, conversion, spec, made, stack)

    def _spec(self, node: ast.expr) -> ast.JoinedStr:
        if isinstance(node, ast.JoinedStr):
            return node
        return ast.copy_location(ast.JoinedStr([node]), node)

    def _formatted(self, value: Any, conversion: int, spec: Any, made: Instruction, stack: Stack) -> None:
        part = self.put(ast.FormattedValue(value, conversion, spec), made.position)
        self.push(ast.JoinedStr([part]), made, stack)

    def do_BUILD_STRING(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        parts: list[ast.expr] = []
        for part in self.take(made.arg, stack):
            parts += part.values if isinstance(part, ast.JoinedStr) and len(part.values) == 1 else [part]
        self.push(ast.JoinedStr(parts), made, stack)

    # -- calls -----------------------------------------------------------------------------------------------------

    def do_CALL(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        count, names = made.arg
        values = self.take(count, stack)
        b, a = stack.pop(), self.pop(stack)
        if isinstance(a, Marker) and a.kind == "null":
            function = self._used(b)
        else:
            function = a
            if not (isinstance(b, Marker) and b.kind in ("null", "self")):
                stack.append(b)
                values.insert(0, self.pop(stack))
        is_method = isinstance(b, Marker) and b.kind == "self"
        if not is_method and isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            self.imported.add(function.value.id)
        if isinstance(function, Marker) and function.kind == "exit":
            return self.push(Marker("exited", None), made, stack)
        if isinstance(function, Function) and function.code.co_name != "<lambda>":
            return self.push(self.functions.comprehension(function, values, made, self), made, stack)
        positional = values[: len(values) - len(names)]
        keywords = [
            ast.copy_location(ast.keyword(n, v), v) for n, v in zip(names, values[len(positional) :], strict=True)
        ]
        if isinstance(function, Marker) and function.kind == "class":
            body, name, *bases = positional
            if not isinstance(body, Function) or not isinstance(name, ast.Constant):
                raise Uncapturable("a class statement of an unknown form")
            return self.push(Class(body.code, str(name.value), bases, keywords), made, stack)
        return self.push(ast.Call(function, positional, keywords), made, stack)

    def _used(self, value: Any) -> Any:
        return self.pop([value])

    def do_CALL_FUNCTION_EX(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        keywords = []
        if made.arg & 1:
            given = self.pop(stack)
            for key, value in zip(given.keys, given.values, strict=True):
                name = None if key is None else key.value
                keywords.append(ast.copy_location(ast.keyword(name, value), value))
        rest = self.pop(stack)
        b = stack.pop()
        if isinstance(b, Marker) and b.kind == "null":
            function = self.pop(stack)
        else:
            function = self._used(b)
            stack.pop()
        if isinstance(rest, ast.Tuple):
            arguments = rest.elts
        elif isinstance(rest, ast.Constant):
            values: Any = rest.value
            arguments = [ast.copy_location(ast.Constant(v), rest) for v in values]
        else:
            arguments = [ast.copy_location(ast.Starred(rest, LOAD), rest)]
        self.push(ast.Call(function, arguments, keywords), made, stack)

    def do_MAKE_FUNCTION(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        node = Function(self.pop(stack).value)
        flags = made.arg or 0
        for flag in (8, 4, 2, 1):
            if flags & flag:
                self._attribute(node, flag, self.pop(stack))
        self.push(node, made, stack)

    def do_SET_FUNCTION_ATTRIBUTE(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        node, value = self.pop(stack), self.pop(stack)
        self._attribute(node, made.arg, value)
        self.push(node, made, stack)

    def _attribute(self, node: Any, flag: int, value: Any) -> None:
        if flag == 1:
            node.defaults = value
        elif flag == 2:
            node.kwdefaults = value
        elif flag == 4:
            node.annotations = value

    # -- order on the stack ----------------------------------------------------------------------------------------

    def do_COPY(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        stack.append(stack[-made.arg])

    def do_SWAP(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        stack[-1], stack[-made.arg] = stack[-made.arg], stack[-1]

    def do_GET_ITER(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.push(Marker("iterator", self.pop(stack)), made, stack)

    def do_YIELD_VALUE(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        value = self.pop(stack)
        self.push(ast.Yield(None if is_none(value) else value), made, stack)

    def do_YIELD_FROM(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.push(ast.YieldFrom(self.pop(stack)), made, stack)

    def do_LOAD_ASSERTION_ERROR(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.push(Marker("AssertionError", None), made, stack)

    def do_BEFORE_WITH(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        self.push(Marker("exit", self.pop(stack)), made, stack)
        self.push(Marker("entered", None), made, stack)


def is_none(node: Any) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def bare(node: Any) -> Any:
    """The value of ``name := value``, which goes on without the name."""
    while isinstance(node, ast.NamedExpr):
        node = node.value
    return node


def _converted(node: Any) -> tuple[int, Any]:
    if isinstance(node, Marker) and node.kind == "converted":
        return node.value
    return -1, node


def without_exception(stack: Stack) -> Stack:
    """The stack when an exception has been dealt with."""
    top: Any = stack[-1] if stack else None
    if not isinstance(top, Marker) or top.kind != "previous":
        raise Uncapturable("an except clause of an unknown form")
    return stack[:-1]
