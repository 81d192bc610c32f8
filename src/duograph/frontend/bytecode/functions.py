"""Functions as syntax: from a code object to ``def``, ``lambda`` or a comprehension."""

from __future__ import annotations
import __future__

import ast
import inspect
import sys
import types
from typing import Any

from ..rules.errors import Uncapturable
from .classes import as_annotated, class_statement, private_prefix
from .guarded import Guarded
from .guesses import Guesses
from .instructions import Instruction, as_written
from .stack import Body, Class, Marker
from .tidy import generators_of, without_last

_SHARED = ("_DEREF", "_CLOSURE", "_CLASSDEREF")
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


class Functions:
    """What makes syntax of the code objects inside of one function."""

    def __init__(self, code: types.CodeType, guesses: Guesses, private: str = "") -> None:
        self.code = code
        self.guesses = guesses
        self.private = private  # what stands in front of private names: the class around, if its statement comes back
        self.free = set(code.co_freevars)
        self.imported: set[str] = set()
        self.unreached: Body = []

    def note(self, reader: Any, made: Instruction) -> None:
        """The name of an ``except`` clause is a variable like those that are stored."""
        if made.op == "STORE_GLOBAL":
            reader.globals.add(made.arg)
        elif made.op == "STORE_DEREF" and made.arg in self.free:
            reader.nonlocals.add(made.arg)

    def body(self) -> Body:
        """The statements of the function."""
        reader = Guarded(self.code, self)
        try:
            body = without_last(reader.function(), ast.Return)
        except Uncapturable:
            self.guesses.line = self.guesses.line or reader.line
            raise
        finally:
            self.guesses.steps += reader.steps + reader.most - reader.left
        self.imported |= reader.imported
        self.unreached = unreached(self.code, reader.flow.instructions)
        declared: Body = []
        if reader.globals:
            declared.append(
                reader.put(ast.Global(sorted(reader.globals)), (self.code.co_firstlineno, None, None, None))
            )
        if reader.nonlocals:
            declared.append(
                reader.put(ast.Nonlocal(sorted(reader.nonlocals)), (self.code.co_firstlineno, None, None, None))
            )
        finish = _Finish(self)
        return [*declared, *(finish.visit(n) for n in body)]

    def tree(self, function: Any = None) -> Any:
        """The whole function: ``def`` or ``lambda``."""
        code = self.code
        arguments = arguments_of(code, function, self.private)
        if code.co_name == "<lambda>":
            nothing = ast.Constant(None, lineno=code.co_firstlineno, col_offset=0)
            made: Any = ast.Lambda(arguments, _value(self.body() or [ast.Return(nothing)]))
            made.lineno, made.col_offset = code.co_firstlineno, made.body.col_offset
            made.end_lineno, made.end_col_offset = made.body.end_lineno, made.body.end_col_offset
            return made
        body = self.body()
        line = code.co_firstlineno
        place: dict[str, Any] = {"lineno": line, "col_offset": 0, "end_lineno": line, "end_col_offset": 0}
        body = [*self.unreached, *body]
        if code.co_consts and isinstance(code.co_consts[0], str):  # where a docstring is; else ``None`` is there
            body = [ast.Expr(ast.Constant(code.co_consts[0], **place), **place), *body]
        if not body:
            body = [ast.Pass(**place)]
        more: dict[str, Any] = {"type_params": []} if sys.version_info >= (3, 12) else {}
        returns = _annotations(function).get("return")
        return ast.FunctionDef(code.co_name, arguments, body, [], returns, **more, **place)

    def definition(self, function: Any, reader: Any) -> ast.stmt:
        """The ``def`` statement of a function that is stored under its own name."""
        inner = Functions(function.code, self.guesses, self.private)
        node = inner.tree(function)
        self.imported |= inner.imported
        finish = _Finish(self)
        node.decorator_list = [finish.visit(d) for d in function.decorators]
        return node

    def class_(self, made: Class, decorators: list[ast.expr]) -> ast.stmt:
        """The ``class`` statement of a class that is stored under its own name."""
        inner = Functions(made.code, self.guesses, private_prefix(made.name))
        body = inner.body()
        self.imported |= inner.imported
        finish = _Finish(self)
        finish.generic_visit(made)
        return class_statement(made, body, [finish.visit(d) for d in decorators])

    def lambda_(self, function: Any) -> ast.expr:
        if function.code.co_name != "<lambda>":
            raise Uncapturable(f"the function {function.code.co_name} is used without being stored")
        inner = Functions(function.code, self.guesses, self.private)
        node = inner.tree(function)
        self.imported |= inner.imported
        return node

    def comprehension(self, function: Any, values: list[Any], made: Instruction, reader: Any) -> ast.expr:
        """A call of the function that CPython makes of a comprehension."""
        code = function.code
        if code.co_name not in _COMPREHENSIONS or len(values) != 1 or not isinstance(values[0], Marker):
            raise Uncapturable(f"a call of {code.co_name}, which is made in its place")
        inner = Functions(code, self.guesses, self.private)
        body = inner.body()
        self.imported |= inner.imported
        for declared in body:  # what ``:=`` binds in the function around
            if isinstance(declared, ast.Global):
                reader.globals |= set(declared.names)
            elif isinstance(declared, ast.Nonlocal):
                reader.nonlocals |= self.free & set(declared.names)
        body = [n for n in body if not isinstance(n, ast.Global | ast.Nonlocal)]
        found: Any
        match body:
            case [ast.For() as loop]:
                clauses, element = generators_of(loop, loop.body)
                found = ast.GeneratorExp(element, clauses)
            case [ast.Return(value=ast.ListComp() | ast.SetComp() | ast.DictComp() as found)]:
                clauses = found.generators
            case _:
                raise Uncapturable("a comprehension of an unknown form")
        clauses[0].iter = values[0].value
        return reader.put(found, made.position)


def arguments_of(code: types.CodeType, function: Any, private: str) -> ast.arguments:
    """The parameters of a code object; the defaults are those of the function that was made of it."""
    line = code.co_firstlineno
    place = {"lineno": line, "col_offset": 0, "end_lineno": line, "end_col_offset": 0}
    names = [ast.arg(as_written(n, private), None, None, **place) for n in code.co_varnames]
    n, k = code.co_argcount, code.co_kwonlyargcount
    positional, only = names[:n], names[n : n + k]
    rest = names[n + k :]
    vararg = rest.pop(0) if code.co_flags & 4 else None
    kwarg = rest.pop(0) if code.co_flags & 8 else None
    defaults: list[Any] = []
    by_name: dict[str, Any] = {}
    if function is not None:
        finish = _Finish(None)
        defaults = [finish.visit(d) for d in _parts(function.defaults)]
        keywords = function.kwdefaults
        if keywords is not None:
            by_name = {
                as_written(key.value, private): finish.visit(v)
                for key, v in zip(keywords.keys, keywords.values, strict=True)
            }
        for parameter in names:
            parameter.annotation = _annotations(function).get(parameter.arg)
    m = code.co_posonlyargcount
    return ast.arguments(
        positional[:m], positional[m:], vararg, only, [by_name.get(a.arg) for a in only], kwarg, defaults
    )


def unreached(code: types.CodeType, made: list[Instruction]) -> Body:
    """``if 0: ...`` for what only statements say that the compiler has dropped, as nothing leads there: which names are
    variables, which are shared, that it is a generator."""
    stored = {m.arg for m in made if m.op.startswith(("STORE_", "DELETE_"))}
    used = {m.arg for m in made if m.op == "LOAD_CLOSURE"}
    parameters = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    texts = [f"lambda: {n}" for n in code.co_cellvars if n not in used]
    texts += [f"{n} = 0" for n in code.co_varnames[parameters:] if n not in stored]
    shared = [n for n in code.co_freevars if n != "__class__"]  # of ``super()``
    texts += [n for n in shared if not any(m.arg == n and m.op.endswith(_SHARED) for m in made)]
    if code.co_flags & inspect.CO_GENERATOR and not any(m.op.startswith("YIELD_") for m in made):
        texts.append("yield")
    if not texts:
        return []
    line = code.co_firstlineno
    (found,) = ast.parse("if 0: " + "; ".join(texts)).body
    for node in ast.walk(found):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
    return [found]


def _parts(node: Any) -> list[Any]:
    if node is None:
        return []
    if isinstance(node, ast.Constant):
        values: Any = node.value
        return [ast.copy_location(ast.Constant(v), node) for v in values]
    return list(node.elts)


def _annotations(function: Any) -> dict[str, Any]:
    """The annotations of a function by the names of its parameters; ``return``: of its result."""
    parts = _parts(None if function is None else function.annotations)
    found = {name.value: value for name, value in zip(parts[::2], parts[1::2], strict=True)}
    if function is not None and function.code.co_flags & __future__.annotations.compiler_flag:
        return {name: as_annotated(text) for name, text in found.items()}
    return found


def _value(body: Body) -> ast.expr:
    """The expression whose value these statements return."""
    match body:
        case [ast.Return(value=ast.expr() as value)]:
            return value
        case [ast.If(orelse=[]) as branch, *rest] if rest:
            return ast.copy_location(ast.IfExp(branch.test, _value(branch.body), _value(rest)), branch.test)
        case [ast.If() as branch]:
            return ast.copy_location(ast.IfExp(branch.test, _value(branch.body), _value(branch.orelse)), branch.test)
    raise Uncapturable("a lambda of an unknown form")


class _Finish(ast.NodeTransformer):
    """Functions that are left are lambdas; markers that are left are something that was not understood."""

    def __init__(self, functions: Functions | None) -> None:
        self.functions = functions

    def visit_Function(self, node: Any) -> Any:
        owner = self.functions if self.functions is not None else Functions(node.code, Guesses({}))
        return owner.lambda_(node)

    def visit_Class(self, node: Any) -> Any:
        raise Uncapturable(f"the class {node.name} is used without being stored")

    def visit_Marker(self, node: Any) -> Any:
        if node.kind == "iterated":  # the iterator of a comprehension, which its call replaces
            return node
        raise Uncapturable(f"an expression of an unknown form ({node.kind})")

    def visit_InPlace(self, node: Any) -> Any:
        raise Uncapturable("an operation in place whose result is stored elsewhere")
