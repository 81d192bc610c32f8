"""What the operations of the guard machine do, each a function that writes its part of ``dg_check`` (`guards.text`).

A part goes on at ``m.next`` (the check holds), at ``m.fail``, or with an object: at ``m.taken`` if that is borrowed, at
``m.got`` if it is new. To add an operation, write its function here, and the method of `GuardProgram` that uses it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from duograph.runtime.python.asm import Function, Label, Value
from duograph.runtime.python.cpython import (
    ARRAY_DTYPE,
    ARRAY_FLAGS,
    ARRAY_RANK,
    ARRAY_SHAPE,
    C_CONTIGUOUS,
    DICT_VERSION,
    DTYPE_CHARS,
    DTYPE_CLASS,
    FLOAT_VALUE,
    LIST_ITEMS,
    SIZE,
    TUPLE_ITEMS,
    TYPE,
    TYPE_VERSION,
)  # fmt: skip
from duograph.runtime.python.structs import Field

from .words import ANY, ENTRY, INSTRUCTION, PROGRAM, TENSOR

EQUAL = 2
"""``Py_EQ``."""


@dataclass
class GuardCode:
    """The function ``dg_check``, where it has read an instruction.

    Attributes:
        versions: whether dictionaries have versions.
        class_versions: whether classes have.
        pc: address of the instruction.
        operands: its target, first and second word.
        target: place of the register that the instruction is about.
        base: place of the register that its first operand numbers.
        position: a scratch word, and ``found`` another.
        entries: go on with an entry of a table of words, by their type.
        loop: reads the instruction at an address.
        next: reads the instruction that follows.
        fail: a check does not hold.
        taken: the target gets a borrowed object.
        got: the target gets a new reference, or null after an error.
    """

    f: Function
    versions: bool
    class_versions: bool
    pc: Value
    operands: tuple[Value, Value, Value]
    target: Value
    base: Value
    position: Value
    found: Value
    entries: dict[str, Label]
    loop: Label
    next: Label
    fail: Label
    taken: Label
    got: Label

    @property
    def first(self) -> Value:
        """The first operand, a pointer."""
        return self.operands[1].to("ptr")

    @property
    def second(self) -> Value:
        """The second operand, a pointer."""
        return self.operands[2].to("ptr")

    def register(self) -> Value:
        """The object in the target."""
        return self.f.load("ptr", self.target)

    def check(self, condition: Value) -> None:
        """Goes on if it holds, else at ``fail``."""
        self.f.goto_unless(condition, self.fail)

    def holds_if(self, condition: Value) -> None:
        """The end of a part that is one check."""
        self.check(condition)
        self.f.goto(self.next)

    def version(self, holder: Value, field: Field) -> Value:
        """The version of a dictionary or class; classes that have none have 0."""
        return self.f.get(holder, field).to("i64")

    def unless_known(self, holder: Value, field: Field, gives: bool = False) -> Value:
        """Goes on only if the memory of the instruction is about another state of ``holder``; its version now.

        Args:
            holder: a dictionary or class.
            field: where its version is.
            gives: whether the memory holds the object that was found.
        """
        f, now = self.f, self.version(holder, field)
        if self.versions if field is DICT_VERSION else self.class_versions:
            other = f.label("other")
            f.goto_unless(now.eq(f.get(self.pc, INSTRUCTION.version)), other)
            if gives:
                f.goto(self.taken, f.get(self.pc, INSTRUCTION.value))
            else:
                f.goto(self.next)
            f.place(other)
        return now

    def remember(self, now: Value, found: Value | None = None) -> None:
        """The end of a look-up: what it found is known as long as the version is ``now``."""
        f = self.f
        f.set(self.pc, INSTRUCTION.version, now)
        if found is None:
            f.goto(self.next)
        else:
            f.set(self.pc, INSTRUCTION.value, found)
            f.goto(self.taken, found)

    def class_version(self, holder: Value) -> Value:
        """The version of a class after a look-up, which may be what gave it one; -1 if it has none."""
        again = self.version(holder, TYPE_VERSION)
        return self.f.select(again.eq(0), self.f.const("i64", -1), again)


OPERATIONS: dict[str, Callable[[GuardCode], None]] = {}
"""All, by name; an operation's number is its place."""


def operation(part: Callable[[GuardCode], None]) -> Callable[[GuardCode], None]:
    """Adds an operation."""
    OPERATIONS[part.__name__.rstrip("_")] = part
    return part


@operation
def done(m: GuardCode) -> None:
    """The end: all guards hold."""
    m.f.ret(1)


@operation
def fail(m: GuardCode) -> None:
    """A guard that never holds."""
    m.f.goto(m.fail)


# ---- loading a register ---------------------------------------------------------------------------------------------


@operation
def const(m: GuardCode) -> None:
    m.f.store(m.first, m.target)
    m.f.goto(m.next)


@operation
def attr(m: GuardCode) -> None:
    m.f.goto(m.got, m.f.api("PyObject_GetAttr", m.f.load("ptr", m.base), m.second))


@operation
def item(m: GuardCode) -> None:
    m.f.goto(m.got, m.f.api("PyObject_GetItem", m.f.load("ptr", m.base), m.second))


@operation
def found(m: GuardCode) -> None:
    """An item of a known object, for the key in a register."""
    m.f.goto(m.got, m.f.api("PyObject_GetItem", m.second, m.f.load("ptr", m.base)))


@operation
def at(m: GuardCode) -> None:
    """An item of a plain list, or of a tuple of the class that stands in the version."""
    f, base, index = m.f, m.f.load("ptr", m.base), m.operands[2]
    kind, element = f.get(base, TYPE), f.label("element", "ptr")
    m.check(index.lt(f.get(base, SIZE)))
    f.goto_if(kind.eq(f.get(m.pc, INSTRUCTION.version).to("ptr")), element, base + TUPLE_ITEMS)
    m.check(kind.eq(f.word("list")))
    (items,) = f.place(element, f.get(base, LIST_ITEMS))
    f.goto(m.taken, f.load("ptr", items, index * 8))


@operation
def field(m: GuardCode) -> None:
    """A word of a known object."""
    found = m.f.load("ptr", m.first, m.operands[2])
    m.check(found.ne(None))
    m.f.goto(m.taken, found)


# ---- tables of words, groups ----------------------------------------------------------------------------------------


def _compare(m: GuardCode, type: str) -> None:
    """Goes through a table of words of ``type``, to the group of the first that is another."""
    f, entry, other = m.f, m.entries[type], m.f.label("other")
    (at,) = f.place(entry, m.first)
    now = f.load(type, f.get(at, ENTRY.address)).to("i64")
    f.goto_unless(now.eq(f.get(at, ENTRY.word)), other)
    f.goto(entry, at + ENTRY.n_bytes)
    f.place(other)
    f.set(at, ENTRY.place, now)
    f.goto(m.loop, f.get(at, ENTRY.group))


@operation
def compare(m: GuardCode) -> None:
    _compare(m, "i64")


@operation
def compare_short(m: GuardCode) -> None:
    """Words of 32 bits: versions of classes."""
    _compare(m, "i32")


@operation
def settle(m: GuardCode) -> None:
    """The end of a group: the new word is the one that is well; goes on with the next entry."""
    m.f.set(m.first, ENTRY.word, m.f.get(m.first, ENTRY.place))
    m.f.goto(m.entries["i64"], m.first + ENTRY.n_bytes)


@operation
def settle_short(m: GuardCode) -> None:
    """The same for a class, to which the look-ups of the group may have given a version; 0 is none."""
    f = m.f
    now = f.load("i32", f.get(m.first, ENTRY.address)).to("i64")
    f.set(m.first, ENTRY.word, f.select(now.eq(0), f.const("i64", -1), now))
    f.goto(m.entries["i32"], m.first + ENTRY.n_bytes)


# ---- looking up -----------------------------------------------------------------------------------------------------


def _lookup(m: GuardCode, dictionary: Value) -> None:
    """The item of a dictionary, remembered."""
    now = m.unless_known(dictionary, DICT_VERSION, gives=True)
    found = m.f.api("PyDict_GetItemWithError", dictionary, m.second)
    m.check(found.ne(None))
    m.remember(now, found)


def _own_dictionary(m: GuardCode, owner: Value) -> Value:
    """The dictionary of an object, or NULL: some objects have none before their first attribute."""
    place = m.f.api("_PyObject_GetDictPtr", owner)
    m.check(place.ne(None))
    return m.f.load("ptr", place)


@operation
def lookup(m: GuardCode) -> None:
    """In a known dictionary."""
    _lookup(m, m.first)


@operation
def key(m: GuardCode) -> None:
    """In a register that must be a plain dictionary."""
    dictionary = m.f.load("ptr", m.base)
    m.check(m.f.get(dictionary, TYPE).eq(m.f.word("dict")))
    _lookup(m, dictionary)


@operation
def ordered(m: GuardCode) -> None:
    """In a register that must be an ``OrderedDict``."""
    dictionary = m.f.load("ptr", m.base)
    m.check(m.f.get(dictionary, TYPE).eq(m.f.word("OrderedDict")))
    _lookup(m, dictionary)


@operation
def own(m: GuardCode) -> None:
    """In the dictionary of an object."""
    dictionary = _own_dictionary(m, m.f.load("ptr", m.base))
    m.check(dictionary.ne(None))
    _lookup(m, dictionary)


@operation
def member(m: GuardCode) -> None:
    """In a known class or a base of it."""
    f = m.f
    m.unless_known(m.first, TYPE_VERSION, gives=True)
    found = f.api("_PyType_Lookup", m.first, m.second)
    m.check(found.ne(None))
    m.remember(m.class_version(m.first), found)


@operation
def owns(m: GuardCode) -> None:
    """The dictionary of an object holds this under that key."""
    dictionary = _own_dictionary(m, m.register())
    m.check(dictionary.ne(None))
    now = m.unless_known(dictionary, DICT_VERSION)
    m.check(m.f.api("PyDict_GetItemWithError", dictionary, m.second).eq(m.first))
    m.remember(now)


@operation
def owns_no(m: GuardCode) -> None:
    """The dictionary of an object lacks a key."""
    dictionary = _own_dictionary(m, m.register())
    m.f.goto_if(dictionary.eq(None), m.next)  # as that of most tensors in CPython 3.13
    now = m.unless_known(dictionary, DICT_VERSION)
    m.check(m.f.api("PyDict_Contains", dictionary, m.second).eq(0))
    m.remember(now)


@operation
def holds(m: GuardCode) -> None:
    """A known dictionary holds this under that key."""
    now = m.unless_known(m.first, DICT_VERSION)
    m.check(m.f.api("PyDict_GetItemWithError", m.first, m.second).eq(m.operands[0].to("ptr")))
    m.remember(now)


@operation
def overrides(m: GuardCode) -> None:
    """A known dictionary holds this under that key, or nothing."""
    f, known = m.f, m.f.label("known")
    now = m.unless_known(m.first, DICT_VERSION)
    found = f.api("PyDict_GetItemWithError", m.first, m.second)
    f.goto_if(found.eq(m.operands[0].to("ptr")), known)
    m.check(found.eq(None))
    m.check(f.api("PyErr_Occurred").eq(None))
    f.place(known)
    m.remember(now)


@operation
def absent(m: GuardCode) -> None:
    """A known dictionary lacks a key."""
    now = m.unless_known(m.first, DICT_VERSION)
    m.check(m.f.api("PyDict_Contains", m.first, m.second).eq(0))
    m.remember(now)


@operation
def defines(m: GuardCode) -> None:
    """A known class, or the first base that has the name, defines this under it."""
    m.unless_known(m.first, TYPE_VERSION)
    m.check(m.f.api("_PyType_Lookup", m.first, m.second).eq(m.operands[0].to("ptr")))
    m.remember(m.class_version(m.first))


@operation
def lacking(m: GuardCode) -> None:
    """Neither a known class nor a base of it has the name."""
    m.unless_known(m.first, TYPE_VERSION)
    m.check(m.f.api("_PyType_Lookup", m.first, m.second).eq(None))
    m.remember(m.class_version(m.first))


@operation
def keys(m: GuardCode) -> None:
    """A plain dictionary has exactly the keys of a tuple, in its order."""
    f, dictionary = m.f, m.register()
    m.check(f.get(dictionary, TYPE).eq(f.word("dict")))
    now = m.unless_known(dictionary, DICT_VERSION)
    wanted = f.get(m.first, SIZE)
    m.check(f.get(dictionary, SIZE).eq(wanted))
    f.store(0, m.position)
    with f.times(wanted) as i:
        f.api("PyDict_Next", dictionary, m.position, m.found, None)
        found, want, same = f.load("ptr", m.found), f.load("ptr", m.first + TUPLE_ITEMS, i * 8), f.label("same")
        f.goto_if(found.eq(want), same)
        m.check(f.get(found, TYPE).eq(f.get(want, TYPE)))
        m.check(f.api("PyObject_RichCompareBool", found, want, EQUAL).eq(1))
        f.place(same)
    m.remember(now)


@operation
def values(m: GuardCode) -> None:
    """A known dictionary has exactly the values of a tuple, in its order."""
    f = m.f
    now = m.unless_known(m.first, DICT_VERSION)
    wanted = f.get(m.second, SIZE)
    m.check(f.get(m.first, SIZE).eq(wanted))
    f.store(0, m.position)
    with f.times(wanted) as i:
        f.api("PyDict_Next", m.first, m.position, None, m.found)
        m.check(f.load("ptr", m.found).eq(f.load("ptr", m.second + TUPLE_ITEMS, i * 8)))
    m.remember(now)


# ---- comparing a register -------------------------------------------------------------------------------------------


@operation
def is_(m: GuardCode) -> None:
    m.holds_if(m.register().eq(m.first))


@operation
def same(m: GuardCode) -> None:
    m.holds_if(m.register().eq(m.f.load("ptr", m.base)))


@operation
def differ(m: GuardCode) -> None:
    m.holds_if(m.register().ne(m.f.load("ptr", m.base)))


@operation
def apart(m: GuardCode) -> None:
    """Registers, whose numbers stand in a table, that are all different objects."""
    f, numbers = m.f, m.first
    registers = m.f.arg("registers")
    with f.times(m.operands[2]) as i:
        one = f.load("ptr", registers, f.load("i64", numbers, i * 8) * 8)
        with f.times(i) as k:
            m.check(one.ne(f.load("ptr", registers, f.load("i64", numbers, k * 8) * 8)))
    f.goto(m.next)


@operation
def type_(m: GuardCode) -> None:
    m.holds_if(m.f.get(m.register(), TYPE).eq(m.first))


@operation
def len_(m: GuardCode) -> None:
    """An object of a class, of so many items."""
    f, value = m.f, m.register()
    m.check(f.get(value, TYPE).eq(m.second))
    m.holds_if(f.get(value, SIZE).eq(m.operands[1]))


@operation
def equal(m: GuardCode) -> None:
    f, value = m.f, m.register()
    f.goto_if(value.eq(m.first), m.next)
    m.holds_if(f.api("PyObject_RichCompareBool", value, m.first, EQUAL).eq(1))


@operation
def items(m: GuardCode) -> None:
    """A list of just the numbers and texts of a tuple: the same objects, or of the same classes and bits."""
    f, value, wanted = m.f, m.register(), m.first
    m.check(f.get(value, TYPE).eq(f.word("list")))
    count = f.get(wanted, SIZE)
    m.check(f.get(value, SIZE).eq(count))
    held = f.get(value, LIST_ITEMS)
    with f.times(count) as i:
        mine, other = f.load("ptr", held, i * 8), f.load("ptr", wanted + i * 8, TUPLE_ITEMS)
        with f.if_(mine.ne(other)):
            kind = f.get(mine, TYPE)
            m.check(kind.eq(f.get(other, TYPE)))
            with f.if_(kind.eq(f.word("float"))):
                m.check(f.get(mine, FLOAT_VALUE).eq(f.get(other, FLOAT_VALUE)))
            with f.if_(kind.ne(f.word("float"))):
                m.check(f.api("PyObject_RichCompareBool", mine, other, EQUAL).eq(1))
    f.goto(m.next)


@operation
def float_(m: GuardCode) -> None:
    """A float of these bits."""
    m.holds_if(m.f.get(m.register(), FLOAT_VALUE).eq(m.operands[1]))


@operation
def tensor(m: GuardCode) -> None:
    """A tensor of a class, dtype, rank, contiguity and extents."""
    f, value, want = m.f, m.register(), m.first
    m.check(f.get(value, TYPE).eq(f.get(want, TENSOR.type)))
    found, is_array = f.variable("ptr", value), f.label("is_array")
    f.goto_if(f.get(value, TYPE).eq(f.word("ndarray")), is_array)
    found.set(f.get(value, f.slot("data")))
    m.check(found.get().ne(None))
    m.check(f.get(found.get(), TYPE).eq(f.word("ndarray")))
    f.place(is_array)
    data = found.get()
    dtype, wanted_dtype, same = f.get(data, ARRAY_DTYPE), f.get(want, TENSOR.dtype), f.label("same_dtype")
    f.goto_if(dtype.eq(wanted_dtype), same)
    m.check(f.get(dtype, DTYPE_CLASS).eq(f.get(wanted_dtype, DTYPE_CLASS)))  # of an array that was pickled
    m.check(f.get(dtype, DTYPE_CHARS).eq(f.get(wanted_dtype, DTYPE_CHARS)))
    f.place(same)
    rank = f.get(data, ARRAY_RANK).to("i64")
    m.check(rank.eq(f.get(want, TENSOR.rank)))
    contiguous, wanted = (f.get(data, ARRAY_FLAGS) & C_CONTIGUOUS).to("i64"), f.get(want, TENSOR.contiguous)
    m.check(contiguous.eq(wanted) | wanted.eq(ANY))
    shape = f.get(data, ARRAY_SHAPE)
    with f.times(rank) as axis:
        extent, asked = f.load("i64", shape, axis * 8), f.load("i64", want + TENSOR.shape, axis * 8)
        m.check(extent.eq(asked) | asked.eq(ANY))
    f.goto(m.next)


@operation
def python(m: GuardCode) -> None:
    """A Python function says so of the arguments."""
    f = m.f
    answer = f.api("PyObject_Vectorcall", m.first, f.arg("args"), f.get(f.arg("program"), PROGRAM.args), None)
    m.check(answer.ne(None))
    is_true = f.api("PyObject_IsTrue", answer)
    f.release(answer)
    m.holds_if(is_true.eq(1))
