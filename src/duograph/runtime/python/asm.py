"""Writing functions of LLVM text by hand: what the CPython launchers are made of (kernels are loop IR).

    f = Function("i64", "sum", "ptr data, i64 n", words)
    total = f.variable("i64", 0)
    with f.times(f.arg("n")) as i:
        total.set(total.get() + f.load("i64", f.arg("data") + i * 8))
    f.ret(total.get())

Values know their type, pointers are added to in bytes. Nothing is optimised, what stands here is what runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class Value:
    """A value of one function: the text that names it, and its type."""

    __slots__ = ("function", "text", "type")

    def __init__(self, function: Function, type: str, text: str) -> None:
        self.function, self.type, self.text = function, type, text

    def __str__(self) -> str:
        return self.text

    def _binary(self, op: str, other: Value | int) -> Value:
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
        if self.type == "ptr" and (other is None or (isinstance(other, int) and other == 0)):
            other_text = "null"
        else:
            other_text = str(other)
        return self.function.emit("i1", f"icmp {how} {self.type} {self}, {other_text}")

    def eq(self, other: Value | int | None) -> Value:
        return self._compared("eq", other)

    def ne(self, other: Value | int | None) -> Value:
        return self._compared("ne", other)

    def gt(self, other: Value | int) -> Value:
        """Signed comparison."""
        return self._compared("sgt", other)

    def above(self, other: Value | int) -> Value:
        """Unsigned comparison."""
        return self._compared("ugt", other)

    def to(self, type: str) -> Value:
        """The same bits or number in another type: integers extend with zeros."""
        if type == self.type:
            return self
        if "ptr" in (type, self.type):
            how = "ptrtoint" if self.type == "ptr" else "inttoptr"
        else:
            how = "zext" if int(type[1:]) > int(self.type[1:]) else "trunc"
        return self.function.emit(type, f"{how} {self.type} {self} to {type}")


class Variable:
    """A cell on the stack."""

    def __init__(self, function: Function, type: str) -> None:
        self.function, self.type = function, type
        self.place = function.space(f"{type}", 1)

    def get(self) -> Value:
        return self.function.load(self.type, self.place)

    def set(self, value: Value | int) -> None:
        self.function.store(value, self.place, type=self.type)


class Words:
    """The block of words that a module shares with Python: constants, addresses and figures, by name."""

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol
        self.index: dict[str, int] = {}

    def at(self, name: str) -> int:
        """Offset of a word in bytes; a new name gets the next word."""
        return 8 * self.index.setdefault(name, len(self.index))

    def text(self) -> str:
        """The definition; to be written after all functions."""
        return f"@{self.symbol} = global [{max(1, len(self.index))} x i64] zeroinitializer, align 64"


class Function:
    """The text of one function under construction."""

    def __init__(self, result: str, name: str, params: str, words: Words, linkage: str = "internal") -> None:
        self.result, self.name, self.words = result, name, words
        parts = [p.split() for p in params.split(",") if p.strip()]
        self._args = {n: Value(self, t, f"%{n}") for t, n in parts}
        listed = ", ".join(f"{t} %{n}" for t, n in parts)
        self._head = f"define {linkage} {result} @{name}({listed}) nounwind {{".replace("  ", " ")
        self._spaces: list[str] = []
        self._lines: list[str] = []
        self._count = 0

    def arg(self, name: str) -> Value:
        return self._args[name]

    # -- instructions ------------------------------------------------------------------------------------------

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

    def space(self, type: str, count: int, align: int = 8) -> Value:
        """Uninitialised memory on the stack, for the whole run of the function."""
        value = Value(self, "ptr", f"%{self._name('s')}")
        self._spaces.append(f"  {value} = alloca {type}, i64 {count}, align {align}")
        return value

    def variable(self, type: str, initial: Value | int | None = None) -> Variable:
        made = Variable(self, type)
        if initial is not None:
            made.set(initial)
        return made

    def load(self, type: str, pointer: Value, offset: Value | int = 0) -> Value:
        place = pointer + offset if isinstance(offset, Value) or offset else pointer
        return self.emit(type, f"load {type}, ptr {place}, align {4 if type == 'i32' else 8}")

    def store(self, value: Value | int, pointer: Value, offset: Value | int = 0, type: str = "i64") -> None:
        place = pointer + offset if isinstance(offset, Value) or offset else pointer
        if isinstance(value, Value):
            type = value.type
        text = "null" if type == "ptr" and isinstance(value, int) else str(value)
        self.line(f"store {type} {text}, ptr {place}, align {4 if type == 'i32' else 8}")

    def word(self, name: str, type: str = "ptr") -> Value:
        """A word of the shared block."""
        return self.load(type, self.word_place(name))

    def word_place(self, name: str) -> Value:
        return Value(self, "ptr", f"getelementptr (i8, ptr @{self.words.symbol}, i64 {self.words.at(name)})")

    def bump(self, name: str, by: Value | int = 1) -> Value:
        """Adds to a word of the shared block; gives what it was."""
        before = self.word(name, "i64")
        self.store(before + by, self.word_place(name))
        return before

    def call(self, result: str, callee: str | Value, *args: Value | int | tuple[str, Any]) -> Value:
        """Calls a function of this module by name, or an address. Plain ints are i64."""
        texts = []
        for a in args:
            if isinstance(a, Value):
                texts.append(f"{a.type} {a}")
            elif isinstance(a, tuple):
                texts.append(f"{a[0]} {a[1]}")
            else:
                texts.append(f"i64 {a}")
        target = callee if isinstance(callee, Value) else f"@{callee}"
        text = f"call {result} {target}({', '.join(texts)})"
        if result == "void":
            self.line(text)
            return self.const("i64", 0)
        return self.emit(result, text)

    def api(self, result: str, name: str, *args: Value | int | tuple[str, Any]) -> Value:
        """Calls a function of the C API, whose address stands in the shared block."""
        return self.call(result, self.word(name), *args)

    # -- control -----------------------------------------------------------------------------------------------

    def label(self, stem: str = "l") -> str:
        return self._name(stem)

    def place(self, label: str) -> None:
        """Code goes on at ``label``; what came before falls through to it."""
        if not self._ended():
            self.line(f"br label %{label}")
        self._lines.append(f"{label}:")

    def goto(self, label: str) -> None:
        self.line(f"br label %{label}")

    def goto_if(self, condition: Value, label: str) -> None:
        rest = self.label()
        self.line(f"br i1 {condition}, label %{label}, label %{rest}")
        self._lines.append(f"{rest}:")

    def ret(self, value: Value | int | None = None) -> None:
        if self.result == "void":
            self.line("ret void")
            return
        text = "null" if self.result == "ptr" and not isinstance(value, Value) else str(value)
        self.line(f"ret {self.result} {text}")

    def _ended(self) -> bool:
        last = self._lines[-1].split() if self._lines else ["entry"]
        return last[0] in ("br", "ret", "unreachable")

    @contextmanager
    def if_(self, condition: Value) -> Iterator[None]:
        """The block runs if the condition holds."""
        inside, after = self.label(), self.label()
        self.line(f"br i1 {condition}, label %{inside}, label %{after}")
        self._lines.append(f"{inside}:")
        yield
        if not self._ended():
            self.line(f"br label %{after}")
        self._lines.append(f"{after}:")

    @contextmanager
    def times(self, count: Value | int) -> Iterator[Value]:
        """The block runs for 0, 1, ... count - 1."""
        index = self.variable("i64", 0)
        head, body, after = self.label(), self.label(), self.label()
        self.place(head)
        i = index.get()
        self.line(f"br i1 {self.emit('i1', f'icmp slt i64 {i}, {count}')}, label %{body}, label %{after}")
        self._lines.append(f"{body}:")
        yield i
        index.set(i + 1)
        self.line(f"br label %{head}")
        self._lines.append(f"{after}:")

    def text(self) -> str:
        """The finished function."""
        if not self._ended():
            self.line("unreachable")
        return "\n".join([self._head, "entry:", *self._spaces, *self._lines, "}"])


def module(functions: Sequence[Function], words: Words, declarations: Sequence[str] = ()) -> str:
    """The functions and their shared block as one module."""
    return "\n".join([*declarations, *[f.text() for f in functions], words.text(), ""])


__all__ = ["Function", "Value", "Variable", "Words", "module"]
