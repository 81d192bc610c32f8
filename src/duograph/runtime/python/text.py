"""The text of one LLVM function while it is written: values that know their type, memory, control flow.

What a value is checked against is in `Text.fits`. A value that is a new reference (``new``) must be stored, returned or
taken by a callee. `asm` has what is missing here: calls, and what a function shares with others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from duograph.runtime.machine.llvm import TextError

from .structs import Field

__all__ = ["Label", "Operand", "Shared", "Text", "Value", "Variable", "plain", "spelled", "type_of"]


class Value:
    """A value of one function: the text that names it, its type, and whether it is a reference to release.

    Attributes:
        is_new: a reference that belongs to this function until it is stored, returned, released or taken by a callee.
    """

    __slots__ = ("function", "is_new", "text", "type")

    def __init__(self, function: Text, type: str, text: str, is_new: bool = False) -> None:
        self.function, self.type, self.text, self.is_new = function, type, text, is_new

    def __str__(self) -> str:
        return self.text

    def _binary(self, op: str, other: Value | int) -> Value:
        if self.type == "ptr" or (isinstance(other, Value) and other.type != self.type):
            raise TextError(f"{self.function.name}: {op} of {self.type} and {type_of(other)}")
        return self.function.emit(self.type, f"{op} {self.type} {self}, {other}")

    def __add__(self, other: Value | int) -> Value:
        if self.type == "ptr":
            return self.function.emit("ptr", f"getelementptr i8, ptr {self}, i64 {other}")
        return self._binary("add", other)

    def __sub__(self, other: Value | int) -> Value:
        return self._binary("sub", other)

    def __mul__(self, other: Value | int) -> Value:
        return self._binary("mul", other)

    def __and__(self, other: Value | int) -> Value:
        return self._binary("and", other)

    def __or__(self, other: Value | int) -> Value:
        return self._binary("or", other)

    def __xor__(self, other: Value | int) -> Value:
        return self._binary("xor", other)

    def __lshift__(self, other: Value | int) -> Value:
        return self._binary("shl", other)

    def __rshift__(self, other: Value | int) -> Value:
        return self._binary("lshr", other)

    def _compared(self, how: str, other: Value | int | None) -> Value:
        if isinstance(other, Value) and other.type != self.type:
            raise TextError(f"{self.function.name}: {self.type} compared with {other.type}")
        null = self.type == "ptr" and (other is None or (isinstance(other, int) and other == 0))
        return self.function.emit("i1", f"icmp {how} {self.type} {self}, {'null' if null else other}")

    def eq(self, other: Value | int | None) -> Value:
        return self._compared("eq", other)

    def ne(self, other: Value | int | None) -> Value:
        return self._compared("ne", other)

    def gt(self, other: Value | int) -> Value:
        """Signed comparison."""
        return self._compared("sgt", other)

    def lt(self, other: Value | int) -> Value:
        """Signed comparison."""
        return self._compared("slt", other)

    def above(self, other: Value | int) -> Value:
        """Unsigned comparison."""
        return self._compared("ugt", other)

    def below(self, other: Value | int) -> Value:
        """Unsigned comparison."""
        return self._compared("ult", other)

    def at_most(self, other: Value | int) -> Value:
        """Signed comparison."""
        return self._compared("sle", other)

    def over(self, other: Value) -> Value:
        """Signed quotient, towards zero."""
        return self._binary("sdiv", other)

    def rest(self, other: Value) -> Value:
        """What `over` leaves."""
        return self._binary("srem", other)

    def modulo(self, other: Value) -> Value:
        """Unsigned remainder."""
        return self._binary("urem", other)

    def to(self, type: str) -> Value:
        """The same bits or number in another type: integers extend with zeros."""
        if type == self.type:
            return self
        if "ptr" in (type, self.type):
            how = "ptrtoint" if self.type == "ptr" else "inttoptr"
        elif "double" in (type, self.type):
            how = "bitcast"
        else:
            how = "zext" if int(type[1:]) > int(self.type[1:]) else "trunc"
        return self.function.emit(type, f"{how} {self.type} {self} to {type}")


Operand = Value | int | None
"""What calls and stores take: a value, a number, or null."""


class Variable:
    """A place on the stack for one value."""

    def __init__(self, function: Text, type: str) -> None:
        self.function, self.type = function, type
        self.place = function.space(f"{type}", 1)

    def get(self) -> Value:
        return self.function.load(self.type, self.place)

    def take(self) -> Value:
        """The reference that was set, which the function owns."""
        return self.function.take(self.place)

    def set(self, value: Operand) -> None:
        self.function.store(value, self.place, type=self.type)


class Shared:
    """A place in memory that threads share. The order of an access is LLVM's; ``""``: it is not atomic."""

    def __init__(self, function: Text, type: str, pointer: Value) -> None:
        self.function, self.type, self.pointer = function, type, pointer
        self._end = f", align {4 if type == 'i32' else 8}"

    def _spelled(self, value: Operand) -> str:
        self.function.fits(value, self.type, str(self.pointer))
        return f"{self.type} {spelled(value, self.type)}"

    def at(self, offset: Value | int) -> Shared:
        """What lies so many bytes behind it."""
        return Shared(self.function, self.type, self.pointer + offset)

    def get(self, order: str = "") -> Value:
        how = f"load atomic {self.type}" if order else f"load {self.type}"
        return self.function.emit(self.type, f"{how}, ptr {self.pointer} {order}".rstrip() + self._end)

    def set(self, value: Operand, order: str = "") -> None:
        how = "store atomic" if order else "store"
        self.function.line(f"{how} {self._spelled(value)}, ptr {self.pointer} {order}".rstrip() + self._end)

    def change(self, op: str, value: Operand, order: str) -> Value:
        """Adds to it, or what ``op`` says; gives what it was."""
        return self.function.emit(self.type, f"atomicrmw {op} ptr {self.pointer}, {self._spelled(value)} {order}")

    def replace(self, expected: Operand, value: Operand, order: str) -> Value:
        """Whether it was as expected, and so became ``value``."""
        pair = f"{self._spelled(expected)}, {self._spelled(value)} {order} monotonic"
        found = self.function.emit("pair", f"cmpxchg ptr {self.pointer}, {pair}")
        return self.function.emit("i1", f"extractvalue {{ {self.type}, i1 }} {found}, 1")


class Label:
    """A place to go to, with values that each way there brings along (LLVM's phi nodes, as MLIR writes them)."""

    def __init__(self, function: Text, name: str, types: Sequence[str]) -> None:
        self.function, self.name = function, name
        self.values = [Value(function, plain(t), f"%{name}.{k}", t == "new") for k, t in enumerate(types)]
        self.ways: list[tuple[str, tuple[Operand, ...]]] = []

    def __str__(self) -> str:
        return self.name

    def come(self, values: Sequence[Operand]) -> None:
        """Notes a way here from the block that is being written."""
        if len(values) != len(self.values):
            raise TextError(f"{self.function.name}: {len(values)} values for {len(self.values)} of {self.name}")
        for mine, brought in zip(self.values, values, strict=True):
            self.function.fits(brought, "steal" if mine.is_new else mine.type, f"label {self.name}")
            if mine.is_new and isinstance(brought, Value):
                self.function.spend(brought)
        self.ways.append((self.function.block, tuple(values)))

    def phis(self) -> list[str]:
        """What begins its block."""
        texts = []
        for k, mine in enumerate(self.values):
            ways = ", ".join(f"[ {spelled(values[k], mine.type)}, %{block} ]" for block, values in self.ways)
            texts.append(f"  {mine} = phi {mine.type} {ways}")
        return texts


class Text:
    """A function under construction.

    Args:
        result: its type; ``"new"``: a reference that the caller owns, or null.
        name: its symbol.
        params: types and names; a ``steal`` is a reference that the function takes.
        linkage: ``""`` makes its address known outside (``is_exported``).
    """

    def __init__(self, result: str, name: str, params: Sequence[tuple[str, str]], linkage: str) -> None:
        self.result, self.name, self.block = result, name, "entry"
        self.is_exported = not linkage
        self._new: dict[str, str] = {}  # references nobody has done anything with: their text, and where they are from
        self._args = {n: self._value(t, f"%{n}", f"the parameter {n}") for t, n in params}
        listed = ", ".join(f"{plain(t)} %{n}" for t, n in params)
        self._head = f"define {linkage} {plain(result)} @{name}({listed}) nounwind {{".replace("  ", " ")
        self._spaces: list[str] = []
        self._lines: list[str | Label] = []
        self._count = 0

    def arg(self, name: str) -> Value:
        return self._args[name]

    # -- instructions ------------------------------------------------------------------------------------------

    def _value(self, type: str, text: str, source: str) -> Value:
        is_new = type in ("new", "steal")
        if is_new:
            self._new[text] = source
        return Value(self, plain(type), text, is_new)

    def _name(self, stem: str = "v") -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def line(self, text: str) -> None:
        self._lines.append("  " + text)

    def emit(self, type: str, text: str) -> Value:
        value = Value(self, type, f"%{self._name()}")
        self.line(f"{value} = {text}")
        return value

    def const(self, type: str, number: int) -> Value:
        return Value(self, type, "null" if type == "ptr" and not number else str(number))

    def symbol(self, name: str) -> Value:
        """The address of a definition."""
        return Value(self, "ptr", f"@{name}")

    def select(self, condition: Value, yes: Value, no: Operand) -> Value:
        self.fits(no, yes.type, "select")
        return self.emit(yes.type, f"select i1 {condition}, {yes.type} {yes}, {yes.type} {spelled(no, yes.type)}")

    def space(self, type: str, count: int, align: int = 8) -> Value:
        """Uninitialised memory on the stack, for the whole run of the function."""
        value = Value(self, "ptr", f"%{self._name('s')}")
        self._spaces.append(f"  {value} = alloca {type}, i64 {count}, align {align}")
        return value

    def row(self, type: str, count: Value) -> Value:
        """Uninitialised memory on the stack, as much as is needed: threads may have small stacks."""
        return self.emit("ptr", f"alloca {type}, i64 {count}, align 8")

    def variable(self, type: str, initial: Operand = None) -> Variable:
        made = Variable(self, type)
        if initial is not None:
            made.set(initial)
        return made

    def _at(self, pointer: Value, offset: Value | int) -> Value:
        if pointer.type != "ptr":
            raise TextError(f"{self.name}: {pointer.type} as an address")
        return pointer + offset if isinstance(offset, Value) or offset else pointer

    def load(self, type: str, pointer: Value, offset: Value | int = 0) -> Value:
        """What stands in memory; an object is borrowed from there."""
        return self.emit(type, f"load {type}, ptr {self._at(pointer, offset)}, align {4 if type == 'i32' else 8}")

    def take(self, pointer: Value, offset: Value | int = 0) -> Value:
        """The reference that stands in memory, which from now on belongs to the function."""
        loaded = self.load("ptr", pointer, offset)
        return self._value("new", loaded.text, f"what stands at {pointer}")

    def store(self, value: Operand, pointer: Value, offset: Value | int = 0, type: str = "i64") -> None:
        """Writes to memory, which owns a new reference from now on."""
        place = self._at(pointer, offset)
        if isinstance(value, Value):
            type = value.type
            self.spend(value)
        self.line(f"store {type} {spelled(value, type)}, ptr {place}, align {4 if type == 'i32' else 8}")

    def get(self, pointer: Value, field: Field) -> Value:
        """A field of a structure."""
        return self.load(field.type, pointer, int(field))

    def set(self, pointer: Value, field: Field, value: Operand) -> None:
        """Writes a field of a structure."""
        self.fits(value, field.type, field.name)
        self.store(value, pointer, int(field), field.type)

    def spend(self, value: Value) -> None:
        if value.is_new:
            self._new.pop(value.text, None)

    def fits(self, value: Operand, type: str, where: str) -> None:
        """Checks that a value may stand where ``type`` is wanted.

        Raises:
            TextError: it may not.
        """
        wanted = plain(type)
        if isinstance(value, Value):
            good = value.type == wanted and (type != "steal" or value.is_new)
        else:
            good = (value is None or value == 0) if wanted == "ptr" else isinstance(value, int)
        if not good:
            what = f"the borrowed {value}" if isinstance(value, Value) and value.type == wanted else type_of(value)
            raise TextError(f"{self.name}: {what} where {where} wants {type}")

    # -- control -----------------------------------------------------------------------------------------------

    def label(self, stem: str = "l", *types: str) -> Label:
        """A place to go to, and the types of the values that are brought there."""
        return Label(self, self._name(stem), types)

    def place(self, label: Label, *values: Operand) -> list[Value]:
        """Code goes on at ``label``; what came before falls through to it, with ``values``."""
        if not self._ended():
            self.goto(label, *values)
        self._begin(label)
        self._new.update({value.text: f"label {label}" for value in label.values if value.is_new})
        return label.values

    def _begin(self, label: Label) -> None:
        self._lines += [f"{label}:", label]
        self.block = label.name

    def goto(self, label: Label, *values: Operand) -> None:
        label.come(values)
        self.line(f"br label %{label}")

    def goto_unless(self, condition: Value, label: Label, *values: Operand) -> None:
        """Goes to ``label`` if the condition does not hold."""
        rest = self.label()
        label.come(values)
        rest.come(())
        self.line(f"br i1 {condition}, label %{rest}, label %{label}")
        self._begin(rest)

    def goto_if(self, condition: Value, label: Label, *values: Operand) -> None:
        """Goes to ``label`` if the condition holds."""
        rest = self.label()
        label.come(values)
        rest.come(())
        self.line(f"br i1 {condition}, label %{label}, label %{rest}")
        self._begin(rest)

    def switch(self, value: Value, cases: Sequence[Label], otherwise: Label) -> None:
        """Goes to the label of the number that ``value`` is."""
        for label in (*cases, otherwise):
            label.come(())
        table = " ".join(f"{value.type} {k}, label %{label}" for k, label in enumerate(cases))
        self.line(f"switch {value.type} {value}, label %{otherwise} [ {table} ]")

    def ret(self, value: Operand = None) -> None:
        if self.result == "void":
            self.line("ret void")
            return
        type = plain(self.result)
        self.fits(0 if value is None and type != "ptr" else value, type, "its result")
        if isinstance(value, Value):
            if self.result == "new" and not value.is_new:
                raise TextError(f"{self.name} returns {value}, which it has only borrowed")
            self.spend(value)
        self.line(f"ret {type} {spelled(value, type)}")

    def _ended(self) -> bool:
        last = self._lines[-1] if self._lines else "entry"
        return isinstance(last, str) and last.split()[0] in ("br", "ret", "switch", "unreachable")

    @contextmanager
    def if_(self, condition: Value) -> Iterator[None]:
        """The block runs if the condition holds."""
        inside, after = self.label(), self.label()
        self.line(f"br i1 {condition}, label %{inside}, label %{after}")
        self._begin(inside)
        yield
        if not self._ended():
            self.line(f"br label %{after}")
        self._begin(after)

    @contextmanager
    def times(self, count: Value | int) -> Iterator[Value]:
        """The block runs for 0, 1, ... count - 1."""
        index = self.variable("i64", 0)
        head, body, after = self.label(), self.label(), self.label()
        self.place(head)
        i = index.get()
        self.line(f"br i1 {self.emit('i1', f'icmp slt i64 {i}, {count}')}, label %{body}, label %{after}")
        self._begin(body)
        yield i
        index.set(i + 1)
        self.line(f"br label %{head}")
        self._begin(after)

    def text(self) -> str:
        """The finished function.

        Raises:
            TextError: it forgets a reference.
        """
        if self._new:
            forgotten = ", ".join(f"{text} ({source})" for text, source in self._new.items())
            raise TextError(f"{self.name} does nothing with the references {forgotten}")
        if not self._ended():
            self.line("unreachable")
        lines = [part for x in self._lines for part in ([x] if isinstance(x, str) else x.phis())]
        return "\n".join([self._head, "entry:", *self._spaces, *lines, "}"])


def plain(type: str) -> str:
    return "ptr" if type in ("new", "steal") else type


def type_of(value: Operand) -> str:
    return value.type if isinstance(value, Value) else "ptr" if value is None else "i64"


def spelled(value: Operand, type: str) -> str:
    return "null" if value is None or (type == "ptr" and isinstance(value, int) and value == 0) else str(value)
