"""Instructions that make statements: what is stored, deleted, returned, raised, imported, or thrown away."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from ..rules.errors import Uncapturable
from .flow import Flow
from .guesses import Hopeless
from .instructions import IMPLIED, Instruction
from .stack import (
    DELETE,
    STORE,
    Body,
    Class,
    Function,
    InPlace,
    Marker,
    NotStraight,
    Stack,
    Straight,
    bare,
    is_amid,
    is_none,
)

_THROWN_AWAY = ("iterator", "iterated", "exited", "entered", "exception", "exit", "previous", "module")


@dataclass(slots=True, eq=False)
class Unpack:
    """A value that is being unpacked, and the targets that are known so far."""

    value: Any
    targets: list[ast.expr | None]
    made: Instruction
    star: int | None


class Stores(Straight):
    """Statements without flow."""

    flow: Flow

    def __init__(self, functions: Any) -> None:
        super().__init__(functions)
        self.gathered: list[tuple[Any, ast.expr]] = []  # of ``a, b = x, y``, which CPython stores one by one

    # -- targets ---------------------------------------------------------------------------------------------------

    def _store_name(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        if made.op == "STORE_GLOBAL":
            self.globals.add(made.arg)
        elif made.op == "STORE_DEREF" and made.arg in self.functions.free:
            self.nonlocals.add(made.arg)
        value = stack[-1] if stack else None
        if isinstance(value, Marker) and value.kind == "saved":
            stack.pop()  # after a comprehension: the variable is what it was
            return
        self._store(self.put(ast.Name(made.arg, STORE), made.position), made, stack, out)

    do_STORE_FAST = do_STORE_DEREF = do_STORE_GLOBAL = do_STORE_NAME = _store_name

    def do_STORE_ATTR(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        obj = self.pop(stack)
        self._store(self.put(ast.Attribute(obj, made.arg, STORE), made.position), made, stack, out)

    def do_STORE_SUBSCR(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        key, obj = self.pop(stack), self.pop(stack)
        self._store(self.put(ast.Subscript(obj, key, STORE), made.position), made, stack, out)

    def do_STORE_SLICE(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        obj, *parts = self.take(3, stack)
        target = self.put(ast.Subscript(obj, self._slice(parts, made), STORE), made.position)
        self._store(target, made, stack, out)

    def _unpack(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        if made.op == "UNPACK_EX":
            before, after = made.arg & 255, made.arg >> 8
            record = Unpack(stack.pop(), [None] * (before + 1 + after), made, before)
        else:
            record = Unpack(stack.pop(), [None] * made.arg, made, None)
        for i in reversed(range(len(record.targets))):
            self.push(Marker("unpacked", (record, i)), made, stack)

    do_UNPACK_SEQUENCE = do_UNPACK_EX = _unpack

    def _store(self, target: ast.expr, made: Instruction, stack: Stack, out: Body | None) -> None:
        value: Any = stack.pop()
        if out is None and not any(value is other for other in stack):
            raise NotStraight
        if isinstance(value, Marker) and value.kind == "unpacked":
            record, i = value.value
            if i == record.star:
                target = ast.copy_location(ast.Starred(target, STORE), target)
            record.targets[i] = target
            if None in record.targets:
                return
            whole = self.put(ast.Tuple(record.targets, STORE), record.made.position)
            stack.append(record.value)
            self._store(whole, record.made, stack, out)
            return
        if isinstance(value, Marker) and value.kind == "imported":
            source, name = value.value
            assert isinstance(target, ast.Name)
            alias = ast.alias(name, None if target.id == name else target.id)
            source.value[2].append(ast.copy_location(alias, target))
            return
        if isinstance(value, Marker) and value.kind == "module":
            self._import(value, target, made, stack, out)
            return
        if any(value is other for other in stack):
            self.targets.setdefault(id(value), (value, []))[1].append(target)
            return
        self._stored(value, target, made, stack, out)

    def _stored(self, value: Any, target: ast.expr, made: Instruction, stack: Stack, out: Body | None) -> None:
        if out is None:
            raise NotStraight
        if self.gathered or is_amid(stack):
            self.gathered.append((value, target))
            if is_amid(stack):
                return
            pairs = sorted(self.gathered, key=lambda p: self.serial[id(p[0])][1])
            self.gathered = []
            names = ast.copy_location(ast.Tuple([t for _, t in pairs], STORE), pairs[0][1])
            values = ast.copy_location(ast.Tuple([self.named(v) for v, _ in pairs], ast.Load()), pairs[0][0])
            self.statement(ast.Assign([names], values), made, stack, out)
            return
        targets = [*self.targets.pop(id(value), (None, []))[1], target]
        if isinstance(value, InPlace):
            self.statement(self._augmented(value, target), made, stack, out)
            return
        decorators, inner = [], value
        while isinstance(inner, ast.Call) and len(inner.args) == 1 and not inner.keywords:
            decorators.append(inner.func)
            inner = inner.args[0]
        if isinstance(inner, Function) and isinstance(target, ast.Name) and inner.code.co_name == target.id:
            inner.decorators = decorators
            self.statement(self.functions.definition(inner, self), made, stack, out)
            return
        if isinstance(inner, Class) and isinstance(target, ast.Name) and inner.name == target.id:
            out.append(self.functions.class_(inner, decorators))
            return
        self.statement(ast.Assign(targets, value), made, stack, out)

    def _augmented(self, value: Any, target: Any) -> ast.AugAssign:
        old = value.left
        same = type(old) is type(target) and (isinstance(old, ast.Name) or bare(old.value) is bare(target.value))
        if isinstance(old, ast.Name):
            same = same and old.id == target.id
        elif isinstance(old, ast.Attribute):
            same = same and old.attr == target.attr
            target = ast.copy_location(ast.Attribute(old.value, old.attr, STORE), target)
        elif isinstance(old, ast.Subscript):
            same = same and _same_key(old.slice, target.slice)
            target = ast.copy_location(ast.Subscript(old.value, old.slice, STORE), target)
        if not same:
            raise Uncapturable("an operation in place whose result is stored elsewhere")
        return ast.AugAssign(target, value.op, value.right)

    # -- deletion --------------------------------------------------------------------------------------------------

    def _delete_name(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        if made.op == "DELETE_GLOBAL":
            self.globals.add(made.arg)
        elif made.op == "DELETE_DEREF" and made.arg in self.functions.free:
            self.nonlocals.add(made.arg)
        target = self.put(ast.Name(made.arg, DELETE), made.position)
        self.statement(ast.Delete([target]), made, stack, out)

    do_DELETE_FAST = do_DELETE_DEREF = do_DELETE_GLOBAL = do_DELETE_NAME = _delete_name

    def do_DELETE_ATTR(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        target = self.put(ast.Attribute(self.pop(stack), made.arg, DELETE), made.position)
        self.statement(ast.Delete([target]), made, stack, out)

    def do_DELETE_SUBSCR(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        key, obj = self.pop(stack), self.pop(stack)
        target = self.put(ast.Subscript(obj, key, DELETE), made.position)
        self.statement(ast.Delete([target]), made, stack, out)

    # -- the rest --------------------------------------------------------------------------------------------------

    def do_POP_TOP(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        if not stack:
            raise Uncapturable("a stack without a value")
        value = stack[-1]
        if isinstance(value, Marker) and value.kind == "unpacked":
            name = self._stored_next(made)
            return self._store(self.put(ast.Name(name, STORE), made.position), made, stack, out)
        if isinstance(value, Marker):
            stack.pop()
            if value.kind == "import":
                name, level, names = value.value
                self.statement(ast.ImportFrom(name or None, names, level), made, stack, out)
            elif value.kind == "subject":  # of a ``match``, behind the guard of a case
                raise NotStraight
            elif value.kind not in _THROWN_AWAY:
                raise Uncapturable(f"{value.kind} is thrown away")
            return None
        value = self.pop(stack)
        return self.statement(ast.Expr(value), made, stack, out)

    def _stored_next(self, made: Instruction) -> str:
        """The variable of ``_, _ = pair``, of whose stores 3.12 leaves the last."""
        while made.op == "POP_TOP":
            made = self.flow.instructions[made.next[0]]
        if made.op != "STORE_FAST":
            raise Uncapturable("unpacked is thrown away")
        return str(made.arg)

    def do_SPIN(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        if out is None:  # it is a loop
            raise NotStraight

    do_NOP = do_SPIN

    def do_RETURN_VALUE(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        value = self.pop(stack)
        if made.arg == IMPLIED:
            value = None  # nothing is written there
        self.statement(ast.Return(value), made, stack, out)

    def do_RAISE_VARARGS(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        parts = self.take(made.arg, stack)
        raised: Any = parts[0] if parts else None
        call = raised if isinstance(raised, ast.Call) else None
        kind = raised if call is None else call.func
        if isinstance(kind, Marker) and kind.kind == "AssertionError":  # its test may be constant, or a branch
            wrong = ast.copy_location(ast.Constant(False), raised)
            return self.statement(ast.Assert(wrong, None if call is None else call.args[0]), made, stack, out)
        return self.statement(ast.Raise(*parts), made, stack, out)

    def do_IMPORT_NAME(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        level, names = self.take(2, stack)
        if is_none(names):
            self.push(Marker("module", (made.arg, level.value)), made, stack)
        elif "*" in names.value:
            raise Hopeless("import *")
        else:
            self.push(Marker("import", (made.arg, level.value, [])), made, stack)

    def do_IMPORT_FROM(self, made: Instruction, stack: Stack, out: Body | None) -> None:
        source: Any = stack[-1]
        if source.kind == "module":
            name, level = source.value
            self.push(Marker("module", (name, level)), made, stack)
        else:
            self.push(Marker("imported", (source, made.arg)), made, stack)

    def _import(self, value: Any, target: Any, made: Instruction, stack: Stack, out: Body | None) -> None:
        name, _ = value.value
        if "." in name and target.id == name.split(".")[0]:
            alias = ast.alias(name)
        else:
            alias = ast.alias(name, None if target.id == name else target.id)
        self.statement(ast.Import([ast.copy_location(alias, target)]), made, stack, out)


def _same_key(a: Any, b: Any) -> bool:
    if isinstance(a, ast.Slice) and isinstance(b, ast.Slice):
        pairs = ((a.lower, b.lower), (a.upper, b.upper), (a.step, b.step))
        return all(bare(x) is bare(y) for x, y in pairs)
    return bare(a) is bare(b)
