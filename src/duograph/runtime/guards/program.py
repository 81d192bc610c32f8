"""A small machine that checks guards natively: is the world still as a compiled program assumes it?

The checks of one program are a table of 64-bit words; one native function, compiled once for all programs, walks it and
stops at the first check that fails. A check costs 1 to 30 ns where generated Python takes 50 to 500.

    program = GuardProgram(n_args)
    x = program.arg(0)
    program.tensor(x, Tensor, np.dtype("float32"), (64, 784), contiguous=True)
    net = program.global_(module.__dict__, "net")
    program.is_(net, the_network)
    check = program.function()          # a builtin function: check(*args) -> bool

Words of an instruction: ``operation, target register, first, second``, and two in which the machine remembers what it
found (`guards.text`). Registers hold objects, the first ones the arguments. An exception (an
attribute that is gone) says that a guard does not hold.

**Groups.** All that is assumed of one dictionary, or of one class, is a group: instructions that are skipped as long as
the version of that object is the one for which they held. The versions, and fields of objects that must hold one word
(the code of a function), stand in tables that are compared in a tight loop before anything else: 1 ns per object.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from duograph.base.events import emit
from duograph.base.failures import is_from_outside
from duograph.base.lookup import raw_getattr
from duograph.base.once import once
from duograph.lower.loop.types import float_bits
from duograph.runtime.python import cpython
from duograph.runtime.python.asm import Loaded, Module
from duograph.runtime.python.cpython import Unsupported, address_of, layout
from duograph.tensor.tensor import Tensor

from . import text as guard_text
from .operations import OPERATIONS
from .words import ANY, ENTRY, INSTRUCTION

MOST_REGISTERS = 1 << 17
"""A program of more has no end in sight; the largest networks have some twelve for each Parameter."""

_CODE = {name: i for i, name in enumerate(OPERATIONS)}
_Entry = tuple[int, int, list[int]]
_CALL_PYTHON = frozenset({"attr", "found", "item", "python"})


class GuardProgram:
    """Collects checks; `function` gives the compiled form."""

    def __init__(self, n_args: int) -> None:
        self.n_args = n_args
        self.words: list[int] = []
        self.kept: list[Any] = []  # objects that the table points to
        self.registers = n_args
        self.fields: dict[tuple[int, int], None] = {}  # address of a word of an object, and what must stand there
        self.dictionaries: dict[int, list[int]] = {}  # instructions about one, by its address
        self.classes: dict[int, list[int]] = {}
        self._current = self.words
        self._said: set[tuple[Any, ...]] = set()  # what `_add_about` has added
        self.tables: list[np.ndarray] = []
        self.runs_python = False
        self._function: Any = None

    def copy(self) -> GuardProgram:
        """One that has the same instructions so far, before it is finished."""
        made = copy.copy(self)
        made.words = made._current = self.words[:]
        made.kept, made.tables, made.fields = self.kept[:], self.tables[:], dict(self.fields)
        made._said = set(self._said)
        made.dictionaries = {at: group[:] for at, group in self.dictionaries.items()}
        made.classes = {at: group[:] for at, group in self.classes.items()}
        return made

    def _add(self, operation: str, target: int, first: int = 0, second: int = 0, known: int = -1) -> None:
        assert self._function is None, "the program is finished"
        self._current += [_CODE[operation], target, first, second, known, 0]
        self.runs_python |= operation in _CALL_PYTHON

    def _add_about(self, holder: dict[Any, Any] | type, operation: str, target: int, second: Any) -> None:
        """A check without registers of what ``holder`` holds, unless it has been added before."""
        check = operation, target, id(holder), id(second)
        if check not in self._said:
            self._said.add(check)
            with self.about(holder):
                self._add(operation, target, self._pointer(holder), self._pointer(second))

    @contextmanager
    def about(self, holder: dict[Any, Any] | type) -> Iterator[None]:
        """What is added in the block depends on nothing but what ``holder`` holds: it is skipped until that changes.

        Registers that are loaded in the block have no value outside of it.
        """
        groups, versions = self.dictionaries, layout().has_versions
        if isinstance(holder, type):
            groups, versions = self.classes, layout().has_class_versions
        outside = self._current
        if versions:
            self._current = groups.setdefault(self._pointer(holder), [])
        try:
            yield
        finally:
            self._current = outside

    def _register(self) -> int:
        if self.registers == MOST_REGISTERS:
            raise Unsupported("more values than registers")
        self.registers += 1
        return self.registers - 1

    def _pointer(self, value: Any) -> int:
        self.kept.append(value)
        return id(value)

    # -- values: each gives a register ---------------------------------------------------------------------------

    def arg(self, index: int) -> int:
        """An argument; it is in its register from the beginning."""
        return index

    def const(self, value: Any) -> int:
        self._add("const", r := self._register(), self._pointer(value))
        return r

    def attr(self, base: int, name: str) -> int:
        self._add("attr", r := self._register(), base, self._pointer(name))
        return r

    def item(self, base: int, key: Any) -> int:
        self._add("item", r := self._register(), base, self._pointer(key))
        return r

    def found(self, table: Any, key: int) -> int:
        """An item of an object that is known by identity."""
        self._add("found", r := self._register(), key, self._pointer(table))
        return r

    def at(self, base: int, index: int, kind: type = tuple) -> int:
        """An item of what must be a plain list or tuple, or of this class derived from ``tuple``."""
        self._add("at", r := self._register(), base, index, self._pointer(kind))
        return r

    def own(self, base: int, name: str) -> int:
        """What the object's own dictionary has under a name."""
        self._add("own", r := self._register(), base, self._pointer(name))
        return r

    def member(self, cls: type, name: str) -> int:
        """What a class that is known by identity, or a base of it, defines under a name."""
        self._add("member", r := self._register(), self._pointer(cls), self._pointer(name))
        return r

    def fixed(self, owner: object, offset: int, expected: Any) -> None:
        """A field (offset in bytes) of an object that is known by identity points to this object."""
        self.fields[self._pointer(owner) + offset, self._pointer(expected)] = None

    def unset(self, owner: object, offset: int) -> None:
        """A field of an object that is known by identity is NULL, which Python shows as ``None``."""
        self.fields[self._pointer(owner) + offset, 0] = None

    def own_dictionary(self, owner: Any) -> dict[str, Any]:
        """The dictionary of an object that is known by identity; it must stay this one (``owner.__dict__ = {}``).

        Raises:
            Unsupported: it is not where it should be.
        """
        found = vars(owner)
        self.fields[layout().dictionary_place(owner), self._pointer(found)] = None
        self.kept.append(owner)
        return found

    def empty(self, container: Any) -> None:
        """A dictionary, list or tuple that is known by identity has no items."""
        self.fields[self._pointer(container) + cpython.SIZE, 0] = None

    def cell(self, variable: Any) -> int:
        """What a closure cell holds."""
        return self.field(variable, cpython.HEAD)

    def field(self, owner: object, offset: int) -> int:
        """An object that stands in a field of one that is known by identity (offset in bytes)."""
        self._add("field", r := self._register(), self._pointer(owner), offset)
        return r

    def key(self, base: int, key: str) -> int:
        """An item of what must be a plain dictionary."""
        self._add("key", r := self._register(), base, self._pointer(key))
        return r

    def ordered(self, base: int, key: str) -> int:
        """An item of what must be an ``OrderedDict``."""
        self._add("ordered", r := self._register(), base, self._pointer(key))
        return r

    def lookup(self, namespace: dict[Any, Any], key: Any) -> int:
        """An item of a dictionary that is known by identity."""
        self._add("lookup", r := self._register(), self._pointer(namespace), self._pointer(key))
        return r

    # -- checks --------------------------------------------------------------------------------------------------

    def is_(self, value: int, expected: Any) -> None:
        self._add("is", value, self._pointer(expected))

    def same(self, one: int, two: int) -> None:
        """Two values are one object."""
        self._add("same", one, two)

    def differ(self, one: int, two: int) -> None:
        """Two values are two objects."""
        self._add("differ", one, two)

    def type_(self, value: int, expected: type) -> None:
        self._add("type", value, self._pointer(expected))

    def len_(self, value: int, kind: type, expected: int) -> None:
        """Class and length, of dictionaries, lists, tuples, and what is derived from them and has their ``__len__``."""
        self._add("len", value, expected, self._pointer(kind))

    def equal(self, value: int, expected: Any) -> None:
        """Type and value; for ``int``, ``str``, ``bytes``, ``bool`` and floats (compared by their bits)."""
        if expected is None or type(expected) is bool:
            self.is_(value, expected)
            return
        self.type_(value, type(expected))
        if type(expected) is float:
            self._add("float", value, float_bits(expected))
        else:
            self._add("equal", value, self._pointer(expected))

    def items(self, value: int, expected: tuple[Any, ...]) -> None:
        """A plain list of just these numbers and texts."""
        self._add("items", value, self._pointer(expected))

    def owns(self, value: int, name: str, expected: Any) -> None:
        """The object's own dictionary has this object under a name."""
        self._add("owns", value, self._pointer(expected), self._pointer(name))

    def owns_no(self, value: int, name: str) -> None:
        """The object's own dictionary lacks a name."""
        self._add("owns_no", value, 0, self._pointer(name))

    def apart(self, values: Sequence[int]) -> None:
        """These are all different objects."""
        table = np.array(values, np.int64)
        self.tables.append(table)
        self._add("apart", 0, address_of(table), len(values))

    def keys(self, value: int, expected: Sequence[str]) -> None:
        """A plain dictionary with exactly these keys, in this order."""
        self._add("keys", value, self._pointer(tuple(expected)))

    def absent(self, namespace: dict[Any, Any], key: Any) -> None:
        """``key not in namespace``, a dictionary known by identity."""
        self._add_about(namespace, "absent", 0, key)

    def holds(self, namespace: dict[Any, Any], key: Any, expected: Any) -> None:
        """A dictionary that is known by identity has this object under a key."""
        self._add_about(namespace, "holds", self._pointer(expected), key)

    def overrides(self, namespace: dict[Any, Any], key: Any, expected: Any) -> None:
        """A dictionary that is known by identity has this object under a key, or nothing."""
        self._add_about(namespace, "overrides", self._pointer(expected), key)

    def defines(self, cls: type, name: str, expected: Any) -> None:
        """A class that is known by identity, or the first base that defines a name, defines this object."""
        self._add_about(cls, "defines", self._pointer(expected), name)

    def values(self, namespace: dict[Any, Any], expected: tuple[Any, ...]) -> None:
        """A dictionary that is known by identity holds these objects, in this order."""
        self._add_about(namespace, "values", 0, expected)

    def lacking(self, cls: type, name: str) -> None:
        """Neither a class that is known by identity nor a base of it defines a name."""
        self._add_about(cls, "lacking", 0, name)

    def tensor(
        self, value: int, kind: type, dtype: np.dtype, shape: Sequence[int | None], contiguous: bool | None
    ) -> None:
        """A tensor of exactly this class whose payload is an array of this dtype and shape; ``None``: any. Of class
        ``ndarray``: the array itself."""
        given, dtype = dtype, np.dtype(dtype.type)
        if dtype != given or np.empty(0, dtype).dtype is not dtype:
            raise Unsupported(f"dtype {given} is not a single object")
        extents = [ANY if n is None else n for n in shape]
        whole = ANY if contiguous is None else int(contiguous)
        table = np.array([self._pointer(kind), id(dtype), len(extents), whole, *extents], np.int64)
        self.tables.append(table)
        self.kept.append(dtype)
        self._add("tensor", value, address_of(table))

    def python(self, function: Callable[..., Any]) -> None:
        """``function(*args)`` must be true. What it raises, `function` and compiled calls raise."""
        self._add("python", 0, self._pointer(function))

    def function(self) -> Any:
        """The native function ``check(*args) -> bool``; nothing can be added to the program afterwards.

        Raises:
            Unsupported: this Python cannot be served natively.
        """
        if self._function is None:
            emit("guards", program=self)
            table = self._laid_out().view(_Table)
            table.kept = (self.kept, self.tables, machine_code())
            address = table.kept[2].address("dg_guards")
            doc = "Whether a compiled program is valid for these arguments."
            self._function = cpython.function("check", address, doc, table)
        return self._function

    def _laid_out(self) -> np.ndarray:
        """The words of the program: comparisons of the tables first, groups behind the end."""
        words_of: list[_Entry] = [(at, wanted, []) for at, wanted in self.fields]
        # Of what nothing is asked, as all was asked of what it holds, there is no group: one would begin at `failing`.
        words_of += [(at + cpython.DICT_VERSION, -1, group) for at, group in self.dictionaries.items() if group]
        shorts = [(at + cpython.TYPE_VERSION, -1, group) for at, group in self.classes.items() if group]
        tables = [(name, entries) for name, entries in (("compare", words_of), ("compare_short", shorts)) if entries]
        head = [self.n_args, self.registers, int(self.runs_python)]
        before = len(tables) * INSTRUCTION.n_words
        groups = sum(len(group) + INSTRUCTION.n_words for _, entries in tables for _, _, group in entries if group)
        words = np.zeros(len(head) + before + len(self.words) + 2 * INSTRUCTION.n_words + groups, np.int64)
        words[: len(head)] = head
        place = len(head)
        main = place + before
        words[main : main + len(self.words)] = self.words
        failing = main + len(self.words) + INSTRUCTION.n_words  # "done" is 0
        words[failing] = _CODE["fail"]
        free = failing + INSTRUCTION.n_words

        begin = address_of(words)

        def address(index: int) -> int:
            return begin + 8 * index

        for name, entries in tables:
            table = np.zeros((len(entries) + 1, ENTRY.n_words), np.int64)
            self.tables.append(table)
            start = address_of(table)
            words[place : place + 3] = _CODE[name], 0, start
            place += INSTRUCTION.n_words
            for i, (at, wanted, group) in enumerate(entries):
                table[i] = at, wanted, address(free if group else failing), 0
                if group:
                    settle = _CODE["settle" if name == "compare" else "settle_short"]
                    words[free : free + len(group)] = group
                    free += len(group)
                    words[free : free + 3] = settle, 0, start + 8 * ENTRY.n_words * i
                    free += INSTRUCTION.n_words
            # The last entry never holds: what it compares is its own last word, 0. Its group is the rest.
            table[-1] = start + 8 * (ENTRY.n_words * (len(entries) + 1) - 1), -1, address(place), 0
        return words

    def listing(self) -> str:
        """What was added, one check a line, before it is laid out; addresses are names (`words_without_addresses`)."""
        word, place = words_without_addresses(self.kept, self.tables)
        names = {code: name for name, code in _CODE.items()}
        lines = [f"{self.n_args} arguments, {self.registers} registers"]
        lines += [f"field {place(at)}, {word(wanted)}" for at, wanted in self.fields]
        groups = [
            (f"about {word(holder)}", group) for of in (self.dictionaries, self.classes) for holder, group in of.items()
        ]
        for title, words in (*groups, ("always", self.words)):
            lines.append(f"{title}:")
            for at in range(0, len(words), INSTRUCTION.n_words):
                operation, *operands = words[at : at + 5]
                lines.append(f"  {names[operation]} {', '.join(map(word, operands))}")
        return "\n".join(lines) + "\n"

    def table(self) -> np.ndarray:
        """The words of the finished program."""
        return self.function().__self__  # type: ignore[no-any-return]


def words_without_addresses(
    kept: Sequence[Any], tables: Sequence[np.ndarray] = ()
) -> tuple[Callable[[int], str], Callable[[int], str]]:
    """What says a word of a program in text, and what says an address within an object.

    Addresses of ``kept`` objects become names, with a number where several objects could have it; addresses of tables
    become what is in them.
    """
    objects = {id(value): value for value in kept}
    arrays = {address_of(table): table for table in tables}
    numbers: dict[int, int] = {}

    def word(value: int) -> str:
        if value in arrays:
            return f"[{', '.join(word(int(w)) for w in arrays[value])}]"
        if value not in objects:
            return str(value)
        shown = _name_of(objects[value])
        return shown if shown[0] != "<" else f"{shown[:-1]} {numbers.setdefault(value, len(numbers))}>"

    def place(address: int) -> str:
        around = [at for at, value in objects.items() if at <= address < at + _size_of(value)]
        owner = around[0] if around else min(at for at in objects if at > address)  # what CPython puts before objects
        return f"{word(owner)} {address - owner:+}"

    return word, place


def _size_of(value: Any) -> int:
    """How many bytes lie behind the address of an object; a text has less than its class allows for."""
    return str.__sizeof__(value) if isinstance(value, str) else object.__sizeof__(value)


def _name_of(value: Any) -> str:
    """A value that has a text of its own, or in ``<>`` what kind of object it is."""
    if value is None or type(value) in (int, bool, float, str, bytes):
        return repr(value)
    if type(value) is tuple and all(type(item) is str for item in value):
        return repr(value)
    name = raw_getattr(value, "__qualname__") or (value.get("__name__") if type(value) is dict else None)
    return f"<{type(value).__qualname__} {name}>" if isinstance(name, str) else f"<{type(value).__qualname__}>"


class _Table(np.ndarray):
    """The words, and what must live as long as they do."""

    kept: Any = None


@once
def machine_code() -> Loaded:
    """The machine, compiled or from disk: ``dg_check`` and ``dg_guards``.

    Raises:
        Unsupported: this Python has another layout.
    """
    known = layout()
    objects = {
        "True": True, "False": False, "ndarray": np.ndarray, "list": list, "dict": dict, "float": float,
        "Exception": Exception,
        "judge": is_from_outside, "OrderedDict": OrderedDict,
    }  # fmt: skip
    module = Module("dg_guard_words", objects, slots={"data": known.slot(Tensor, "_data")})
    functions = guard_text.functions(module, known.has_versions, known.has_class_versions)
    return module.load(functions, [f.name for f in functions])
