"""LLVM text written by hand and checked while it is: what native code around CPython is made of (kernels are loop IR).

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
error, and so it is with *memory*, which threads of native code share. So is a new reference (``new``) that is neither
stored, returned nor released, and a release of what is borrowed.
Nothing is optimised: what stands here is what runs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from duograph.runtime.machine import code
from duograph.runtime.machine.llvm import Linked, TextError

from . import capi
from .capi import Signature
from .structs import Field
from .text import Label, Operand, Shared, Text, Value, Variable, plain, spelled, type_of

__all__ = ["Function", "Label", "Loaded", "Memory", "Module", "Operand", "TextError", "Value", "Variable"]


class Memory(NamedTuple):
    """Memory that only native code sees, zero at the start; ``length`` None: it lies in another module."""

    type: str
    length: int | None = 1
    align: int = 8

    def spelled(self, name: str) -> str:
        """Its definition, as LLVM text."""
        if self.length is None:
            return f"@{name} = external global {self.type}"
        type = f"[{self.length} x {self.type}]" if self.length > 1 else self.type
        return f"@{name} = internal global {type} zeroinitializer, align {self.align}"


class Module:
    """Functions that are compiled together, and the block of words that they share with Python.

    Args:
        symbol: name of the block.
        objects: words that hold the address of an object each; the objects live as long as the code.
        numbers: words that hold a number from the start.
        state: words that start at zero: counters, and what is written later (`Loaded.set`).
        slots: fields of our own classes, by the names that the text has for them.
        imports: functions of other modules: name -> signature.
        memory: variables that Python does not see.
    """

    def __init__(
        self,
        symbol: str,
        objects: Mapping[str, object] | None = None,
        numbers: Mapping[str, int] | None = None,
        state: Iterable[str] = (),
        slots: Mapping[str, Field] | None = None,
        imports: Mapping[str, str] | None = None,
        memory: Mapping[str, Memory] | None = None,
    ) -> None:
        self.symbol, self.memory = symbol, dict(memory or {})
        self.objects, self.numbers = dict(objects or {}), dict(numbers or {})
        self.slots = dict(slots or {})
        names = [*self.objects, *self.numbers, *state]
        self.index = {name: k for k, name in enumerate(names)}
        if len(self.index) < len(names):
            raise TextError(f"{symbol}: the same word twice")
        self.imports = {name: Signature.parse(text) for name, text in (imports or {}).items()}
        self.used: set[str] = set()
        self.c_functions: set[str] = set()
        self.calls: list[tuple[Function, str, str, tuple[Operand, ...]]] = []

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
        for caller, name, result, args in self.calls:
            if name not in known:
                raise TextError(f"{caller.name} calls {name}, which nobody defines")
            caller.check_call(name, known[name], result, args)
            if any(isinstance(a, int) and p == "i32" for p, a in zip(known[name].params, args, strict=True)):
                raise TextError(f"{caller.name}: {name} wants i32, and a number is i64")
        texts = [f.text() for f in functions]
        unused = {*self.index, *self.memory} - self.used
        if unused:
            raise TextError(f"{self.symbol}: nobody uses {', '.join(sorted(unused))}")
        declared = [f"declare {s.spelled(name)}" for name, s in self.imports.items()]
        declared += [capi.declaration(name) for name in sorted(self.c_functions)]
        block = f"@{self.symbol} = global [{max(1, len(self.index))} x i64] zeroinitializer, align 64"
        memory = [place.spelled(name) for name, place in self.memory.items()]
        return "\n".join([*memory, *declared, *texts, block, ""])

    def load(
        self, functions: Sequence[Function], names: Sequence[str], symbols: Mapping[str, int] | None = None
    ) -> Loaded:
        """The code, ready to run, for ever.

        Args:
            functions: all of the module.
            names: those whose addresses are wanted.
            symbols: addresses of ``imports``, and of memory in other modules.

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


class Function(Text):
    """A function of a module under construction.

    Args:
        result: its type; ``"new"``: a reference that the caller owns, or null.
        name: its symbol.
        params: ``"ptr a, i64 n"``; a ``steal`` is a reference that the function takes.
        module: where it belongs.
        linkage: ``""`` makes its address known outside.
    """

    def __init__(self, result: str, name: str, params: str, module: Module, linkage: str = "internal") -> None:
        parts = [(p.split()[0], p.split()[1]) for p in params.split(",") if p.strip()]
        super().__init__(result, name, parts, linkage)
        self.signature, self.module = Signature(result, tuple([t for t, _ in parts])), module

    def slot(self, name: str) -> Field:
        """A slot of one of our own classes.

        Raises:
            TextError: the module has none of this name.
        """
        found = self.module.slots.get(name)
        if found is None:
            raise TextError(f"{self.module.symbol} knows no slot {name!r}")
        return found

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

    def memory(self, name: str) -> Shared:
        """Memory of the module.

        Raises:
            TextError: the module has none of this name.
        """
        found = self.module.memory.get(name)
        if found is None:
            raise TextError(f"{self.module.symbol} has no memory {name!r}")
        self.module.used.add(name)
        return Shared(self, found.type, self.symbol(name))

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

    def replace(self, pointer: Value, field: Field, value: Value) -> None:
        """Writes a reference to a field, and releases the one that stood there, after that."""
        before = self.take(pointer, int(field))
        self.set(pointer, field, value)
        self.release(before)

    # -- calls -------------------------------------------------------------------------------------------------

    def call(self, result: str, name: str, *args: Operand) -> Value:
        """Calls a function of this module, or an imported one. Plain ints are i64."""
        self.module.calls.append((self, name, result, args))
        return self._call(plain(result), result, f"@{name}", name, [(type_of(a), a) for a in args])

    def call_at(self, signature: str, address: Value, *args: Operand) -> Value:
        """Calls the function of a signature that lies at an address."""
        wanted = Signature.parse(signature)
        self.check_call(signature, wanted, wanted.result, args)
        pairs = [(plain(p), a) for p, a in zip(wanted.params, args, strict=True)]
        return self._call(wanted.called(), wanted.result, str(address), signature, pairs)

    def api(self, name: str, *args: Operand) -> Value:
        """Calls a C function or an intrinsic of LLVM (`capi`)."""
        wanted = capi.signature(name)
        self.check_call(name, wanted, wanted.result, args)
        types = [*map(plain, wanted.params), *map(type_of, args[len(wanted.params) :])]
        self.module.c_functions.add(name)
        callee = f"@{capi.spelled(name)}"
        return self._call(wanted.called(), wanted.result, callee, name, list(zip(types, args, strict=True)))

    def check_call(self, name: str, wanted: Signature, result: str, args: Sequence[Operand]) -> None:
        """Checks a call against the signature of what is called, which takes the references that it says it takes.

        Raises:
            TextError: it does not fit.
        """
        if result != wanted.result:
            raise TextError(f"{self.name}: {name} gives {wanted.result}, and not {result}")
        if len(args) < len(wanted.params) or (len(args) > len(wanted.params) and not wanted.is_variadic):
            raise TextError(f"{self.name}: {len(args)} arguments for the {len(wanted.params)} of {name}")
        for k, arg in enumerate(args):
            type = wanted.params[k] if k < len(wanted.params) else type_of(arg)
            self.fits(arg, type, name)
            if type == "steal" and isinstance(arg, Value):
                self.spend(arg)

    def _call(self, how: str, result: str, callee: str, name: str, args: list[tuple[str, Operand]]) -> Value:
        text = f"call {how} {callee}({', '.join(f'{t} {spelled(a, t)}' for t, a in args)})"
        if result == "void":
            self.line(text)
            return self.const("i64", 0)
        return self._value(result, self.emit(plain(result), text).text, name)
