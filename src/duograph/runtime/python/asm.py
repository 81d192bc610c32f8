"""Writing LLVM text by hand, checked while it is written: what native code around CPython is made of (kernels are loop IR).

    m = Module("dg_words", objects={"None": None}, state=["calls"])
    f = Function("new", "dg_pair", "ptr a, ptr b", m)
    made = f.api("PyTuple_New", 2)
    with f.if_(made.eq(None)):
        f.ret(None)
    f.store(f.hold(f.arg("a")), made, TUPLE_ITEMS)
    f.store(f.hold(f.arg("b")), made, TUPLE_ITEMS + 8)
    f.bump("calls")
    f.ret(made)
    linked = m.load([f], ["dg_pair"])

Values know their type; pointers are added to in bytes. A call has to fit the signature of what it calls: C functions
have theirs in `capi`, functions of other modules in ``imports``, those of this module in their definitions. A *word* is
a field of the block that the code shares with Python; one that nobody declares, or declares and nobody uses, is an
error. So is a new reference (``new``) that is neither stored, returned nor released, and a release of what is borrowed.
Nothing is optimised: what stands here is what runs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from duograph.runtime.machine import code
from duograph.runtime.machine.llvm import Linked, TextError

from . import capi
from .capi import Signature
from .structs import Field

__all__ = ["Function", "Label", "Loaded", "Module", "Operand", "TextError", "Value", "Variable"]


class Value:
    """A value of one function: the text that names it, its type, and whether it is a reference to give back.

    Attributes:
        is_new: a reference that belongs to this function until it is stored, returned, released or taken by a callee.
    """

    __slots__ = ("function", "is_new", "text", "type")

    def __init__(self, function: Function, type: str, text: str, is_new: bool = False) -> None:
        self.function, self.type, self.text, self.is_new = function, type, text, is_new

    def __str__(self) -> str:
        return self.text

    def _binary(self, op: str, other: Value | int) -> Value:
        if isinstance(other, Value) and other.type != self.type:
            raise TextError(f"{self.function.name}: {op} of {self.type} and {other.type}")
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

    def __init__(self, function: Function, type: str) -> None:
        self.function, self.type = function, type
        self.place = function.space(f"{type}", 1)

    def get(self) -> Value:
        return self.function.load(self.type, self.place)

    def take(self) -> Value:
        """The reference that was set, which the function owns."""
        return self.function.take(self.place)

    def set(self, value: Operand) -> None:
        self.function.store(value, self.place, type=self.type)


class Label:
    """A place to go to, with values that each way there brings along (LLVM's phi nodes, as MLIR writes them)."""

    def __init__(self, function: Function, name: str, types: Sequence[str]) -> None:
        self.function, self.name = function, name
        self.values = [Value(function, type, f"%{name}.{k}") for k, type in enumerate(types)]
        self.ways: list[tuple[str, tuple[Operand, ...]]] = []

    def __str__(self) -> str:
        return self.name

    def come(self, values: Sequence[Operand]) -> None:
        """Notes a way here from the block that is being written."""
        if len(values) != len(self.values):
            raise TextError(f"{self.function.name}: {len(values)} values for {len(self.values)} of {self.name}")
        for mine, brought in zip(self.values, values, strict=True):
            self.function.fits(brought, mine.type, f"label {self.name}")
        self.ways.append((self.function.block, tuple(values)))

    def phis(self) -> list[str]:
        """What begins its block."""
        texts = []
        for k, mine in enumerate(self.values):
            ways = ", ".join(f"[ {_spelled(values[k], mine.type)}, %{block} ]" for block, values in self.ways)
            texts.append(f"  {mine} = phi {mine.type} {ways}")
        return texts


class Module:
    """Functions that are compiled together, and the block of words that they share with Python.

    Args:
        symbol: name of the block.
        objects: words that hold the address of an object each; the objects live as long as the code.
        numbers: words that hold a number from the start.
        state: words that start at zero: counters, and what is written later (`Loaded.set`).
        imports: functions of other modules: name -> signature.
        definitions: lines of text besides the functions, as LLVM spells them.
    """

    def __init__(
        self,
        symbol: str,
        objects: Mapping[str, object] | None = None,
        numbers: Mapping[str, int] | None = None,
        state: Iterable[str] = (),
        imports: Mapping[str, str] | None = None,
        definitions: Sequence[str] = (),
    ) -> None:
        self.symbol, self.definitions = symbol, list(definitions)
        self.objects, self.numbers = dict(objects or {}), dict(numbers or {})
        names = [*self.objects, *self.numbers, *state]
        self.index = {name: k for k, name in enumerate(names)}
        if len(self.index) < len(names):
            raise TextError(f"{symbol}: the same word twice")
        self.imports = {name: Signature.parse(text) for name, text in (imports or {}).items()}
        self.used: set[str] = set()
        self.c_functions: set[str] = set()
        self.calls: list[tuple[str, str, str, tuple[Value | int | None, ...]]] = []

    def at(self, name: str) -> int:
        """Offset of a word in bytes.

        Raises:
            TextError: it was not declared.
        """
        if name not in self.index:
            raise TextError(f"{self.symbol} has no word {name!r}")
        self.used.add(name)
        return 8 * self.index[name]

    def text(self, functions: Sequence[Function]) -> str:
        """The functions and their block as LLVM text.

        Raises:
            TextError: a call does not fit its callee, or a word is of no use.
        """
        known = {**self.imports, **{f.name: f.signature for f in functions}}
        texts = [f.text() for f in functions]  # which notes the calls
        for caller, name, result, args in self.calls:
            if name not in known:
                raise TextError(f"{caller} calls {name}, which nobody defines")
            _check_call(caller, name, known[name], result, args)
        unused = set(self.index) - self.used
        if unused:
            raise TextError(f"{self.symbol}: nobody uses {', '.join(sorted(unused))}")
        declared = [f"declare {s.spelled(name)}" for name, s in self.imports.items()]
        declared += [capi.declaration(name) for name in sorted(self.c_functions)]
        block = f"@{self.symbol} = global [{max(1, len(self.index))} x i64] zeroinitializer, align 64"
        return "\n".join([*self.definitions, *declared, *texts, block, ""])

    def load(
        self, functions: Sequence[Function], names: Sequence[str], symbols: Mapping[str, int] | None = None
    ) -> Loaded:
        """The code, ready to run, for ever.

        Args:
            functions: all of the module.
            names: those whose addresses are wanted.
            symbols: addresses of ``imports`` and of names in ``definitions``.

        Raises:
            TextError: see `text`.
            LinkError: a symbol is missing.
            Unsupported: this Python lacks a C function.
        """
        addresses = {**(symbols or {}), **capi.symbols(self.c_functions)}
        linked = code.load(self.text(functions), [*names, self.symbol], symbols=addresses)
        linked.make_immortal()
        return Loaded(self, linked)


class Loaded:
    """A module in memory: addresses of its functions, and its words."""

    def __init__(self, module: Module, linked: Linked) -> None:
        self.index, self.linked, self.kept = module.index, linked, list(module.objects.values())
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.kept))  # calls may come until the very end of the process
        self.block = linked.address(module.symbol)
        for name, value in module.objects.items():
            self.set(name, id(value))
        for name, number in module.numbers.items():
            self.set(name, number)

    def address(self, name: str) -> int:
        """Where a function is."""
        return self.linked.address(name)

    def word(self, name: str) -> int:
        """Where a word is."""
        return self.block + 8 * self.index[name]

    def set(self, name: str, value: int) -> None:
        """Writes a word."""
        ctypes.c_int64.from_address(self.word(name)).value = value

    def get(self, name: str) -> int:
        """Reads a word."""
        return ctypes.c_int64.from_address(self.word(name)).value

    def set_object(self, name: str, value: object) -> None:
        """Writes the address of an object, which is kept."""
        self.kept.append(value)
        self.set(name, id(value))


class Function:
    """The text of one function under construction.

    Args:
        result: its type; ``"new"``: a reference that the caller owns, or null.
        name: its symbol.
        params: ``"ptr a, i64 n"``; a ``steal`` is a reference that the function takes.
        module: where it belongs.
        linkage: ``""`` makes its address known outside.
    """

    def __init__(self, result: str, name: str, params: str, module: Module, linkage: str = "internal") -> None:
        parts = [p.split() for p in params.split(",") if p.strip()]
        self.signature = Signature(result, tuple([t for t, _ in parts]))
        self.result, self.name, self.module, self.block = result, name, module, "entry"
        self._new: dict[str, str] = {}  # references nobody has done anything with: their text, and where they are from
        self._args = {n: self._value(t, f"%{n}", f"the parameter {n}") for t, n in parts}
        listed = ", ".join(f"{_plain(t)} %{n}" for t, n in parts)
        self._head = f"define {linkage} {_plain(result)} @{name}({listed}) nounwind {{".replace("  ", " ")
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
        return Value(self, _plain(type), text, is_new)

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
        return self.emit(yes.type, f"select i1 {condition}, {yes.type} {yes}, {yes.type} {_spelled(no, yes.type)}")

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
            self._spend(value)
        self.line(f"store {type} {_spelled(value, type)}, ptr {place}, align {4 if type == 'i32' else 8}")

    def get(self, pointer: Value, field: Field) -> Value:
        """A field of a structure."""
        return self.load(field.type, pointer, field.offset)

    def set(self, pointer: Value, field: Field, value: Operand) -> None:
        """Writes a field of a structure."""
        self.fits(value, field.type, field.name)
        self.store(value, pointer, field.offset, field.type)

    def word(self, name: str, type: str = "ptr") -> Value:
        """A word of the shared block."""
        return self.load(type, self.word_place(name))

    def word_place(self, name: str) -> Value:
        module = self.module
        return Value(self, "ptr", f"getelementptr (i8, ptr @{module.symbol}, i64 {module.at(name)})")

    def set_word(self, name: str, value: Operand, type: str = "i64") -> None:
        self.store(value, self.word_place(name), type=type)

    def bump(self, name: str, by: Value | int = 1) -> Value:
        """Adds to a word of the shared block; gives what it was."""
        before = self.word(name, "i64")
        self.store(before + by, self.word_place(name))
        return before

    # -- references --------------------------------------------------------------------------------------------

    def hold(self, value: Value) -> Value:
        """A reference of our own to a borrowed object."""
        self.api("Py_IncRef", value)
        return self._value("new", value.text, "hold")

    def release(self, value: Value) -> None:
        """Gives a reference back, to an object.

        Raises:
            TextError: it is borrowed.
        """
        self.api("Py_DecRef", value)

    def drop(self, value: Value) -> None:
        """`release`, if it is not null."""
        with self.if_(value.ne(None)):
            self.release(value)

    def _spend(self, value: Value) -> None:
        if value.is_new:
            self._new.pop(value.text, None)

    def fits(self, value: Operand, type: str, where: str) -> None:
        """Checks that a value may stand where ``type`` is wanted.

        Raises:
            TextError: it may not.
        """
        _check_type(self.name, value, type, where)

    # -- calls -------------------------------------------------------------------------------------------------

    def call(self, result: str, name: str, *args: Operand) -> Value:
        """Calls a function of this module, or an imported one. Plain ints are i64."""
        self.module.calls.append((self.name, name, result, args))
        return self._call(_plain(result), result, f"@{name}", name, [(_type_of(a), a) for a in args])

    def call_at(self, signature: str, address: Value, *args: Operand) -> Value:
        """Calls the function of a signature that lies at an address."""
        wanted = Signature.parse(signature)
        _check_call(self.name, signature, wanted, wanted.result, args)
        pairs = [(_plain(p), a) for p, a in zip(wanted.params, args, strict=True)]
        return self._call(wanted.called(), wanted.result, str(address), signature, pairs)

    def api(self, name: str, *args: Operand) -> Value:
        """Calls a function of the C API (`capi`)."""
        wanted = capi.signature(name)
        _check_call(self.name, name, wanted, wanted.result, args)
        types = [*map(_plain, wanted.params), *["ptr"] * (len(args) - len(wanted.params))]
        self.module.c_functions.add(name)
        for param, arg in zip(wanted.params, args, strict=False):
            if param == "steal" and isinstance(arg, Value):
                self._spend(arg)
        return self._call(wanted.called(), wanted.result, f"@c_{name}", name, list(zip(types, args, strict=True)))

    def _call(self, spelled: str, result: str, callee: str, name: str, args: list[tuple[str, Operand]]) -> Value:
        for _, arg in args:
            if isinstance(arg, Value) and name in self.module.imports:
                self._spend(arg)
        text = f"call {spelled} {callee}({', '.join(f'{t} {_spelled(a, t)}' for t, a in args)})"
        if result == "void":
            self.line(text)
            return self.const("i64", 0)
        return self._value(result, self.emit(_plain(result), text).text, name)

    # -- control -----------------------------------------------------------------------------------------------

    def label(self, stem: str = "l", *types: str) -> Label:
        """A place to go to, and the types of the values that are brought there."""
        return Label(self, self._name(stem), types)

    def place(self, label: Label, *values: Operand) -> list[Value]:
        """Code goes on at ``label``; what came before falls through to it, with ``values``."""
        if not self._ended():
            self.goto(label, *values)
        self._begin(label)
        return label.values

    def _begin(self, label: Label) -> None:
        self._lines += [f"{label}:", label]
        self.block = label.name

    def goto(self, label: Label, *values: Operand) -> None:
        label.come(values)
        self.line(f"br label %{label}")

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
        type = _plain(self.result)
        self.fits(0 if value is None and type != "ptr" else value, type, "its result")
        if isinstance(value, Value):
            if self.result == "new" and not value.is_new:
                raise TextError(f"{self.name} returns {value}, which it has only borrowed")
            self._spend(value)
        self.line(f"ret {type} {_spelled(value, type)}")

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


def _plain(type: str) -> str:
    return "ptr" if type in ("new", "steal") else type


def _type_of(value: Operand) -> str:
    return value.type if isinstance(value, Value) else "ptr" if value is None else "i64"


def _spelled(value: Operand, type: str) -> str:
    return "null" if value is None or (type == "ptr" and isinstance(value, int) and value == 0) else str(value)


def _check_type(caller: str, value: Operand, type: str, where: str) -> None:
    wanted = _plain(type)
    if isinstance(value, Value):
        good = value.type == wanted and (type != "steal" or value.is_new)
    else:
        good = (value is None or value == 0) if wanted == "ptr" else isinstance(value, int)
    if not good:
        what = f"the borrowed {value}" if isinstance(value, Value) and value.type == wanted else _type_of(value)
        raise TextError(f"{caller}: {what} where {where} wants {type}")


def _check_call(caller: str, name: str, wanted: Signature, result: str, args: Sequence[Operand]) -> None:
    if result != wanted.result:
        raise TextError(f"{caller}: {name} gives {wanted.result}, and not {result}")
    if len(args) < len(wanted.params) or (len(args) > len(wanted.params) and not wanted.is_variadic):
        raise TextError(f"{caller}: {len(args)} arguments for the {len(wanted.params)} of {name}")
    for k, arg in enumerate(args):
        _check_type(caller, arg, wanted.params[k] if k < len(wanted.params) else "ptr", name)
