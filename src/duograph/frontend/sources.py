"""Sources: how to reach an outside value from the arguments of a call, and guards: what was assumed of it.

    Source ::= Arg(i) | Pinned(object) | Attr(base, name) | Item(base, key) | Global(dict, name) | CellVar(cell)
    Guard  ::= (Source, check, expected)

Guards of one capture are compiled into one Python function with shared sub-expressions; a second, interpretive path
answers which guard failed and why (`first_miss`).
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from duograph.base.failures import Failure, internal_failure, is_from_outside
from duograph.core.op import value_key
from duograph.tensor.tensor import Tensor

from .exact import are_same_keys
from .policy import is_user_class

if TYPE_CHECKING:
    from .native_guards import Translator

HEAP_TYPE = 1 << 9
"""A class that was made by Python code (`Py_TPFLAGS_HEAPTYPE`): its attributes can be set."""


class Source(NamedTuple):
    """One step of the way to a value; ``base`` is the way so far. (A tuple: a capture makes and hashes hundreds.)"""

    kind: str  # arg, pinned, attr, item, global, cell
    base: Any
    key: Any = None

    def load(self, args: Sequence[Any]) -> Any:
        """The value that this source has now."""
        match self.kind:
            case "arg":
                return args[self.key]
            case "pinned":
                return self.base.value
            case "attr":
                return getattr(self.base.load(args), self.key)
            case "item":
                return self.base.load(args)[self.key]
            case "global":
                return self.base.value[self.key]
        return self.base.value.cell_contents

    def __str__(self) -> str:
        match self.kind:
            case "arg":
                return str(self.base)
            case "pinned":
                value = self.base.value
                if isinstance(value, dict) and "__builtins__" in value:
                    return "globals"
                return f"<{getattr(value, '__name__', type(value).__name__)}>"
            case "attr":
                return f"{self.base}.{self.key}"
            case "item":
                return f"{self.base}[{self.key!r}]"
            case "global":
                return f"global {self.key}"
        return f"closure variable {self.key}"


class Pin:
    """Holds an object by identity (hash and equality of a Source must not look inside)."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pin) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def arg(index: int, name: str) -> Source:
    return Source("arg", name, index)


def pinned(value: Any) -> Source:
    return Source("pinned", Pin(value))


def attr(base: Source, name: str) -> Source:
    return Source("attr", base, name)


def item(base: Source, key: Any) -> Source:
    return Source("item", base, key)


def global_(namespace: dict[str, Any], name: str) -> Source:
    return Source("global", Pin(namespace), name)


def cell(variable: Any, name: str) -> Source:
    return Source("cell", Pin(variable), name)


_OF_CODE = ("__code__", "__defaults__", "__kwdefaults__")
_SIZED = (list, tuple, dict, set, frozenset)
_UNREADABLE = (AttributeError, KeyError, IndexError, TypeError, ValueError)
"""What reading a source raises that is not there any more, or holds something else."""


def _is_missing(error: Exception) -> bool:
    """No: the guard does not hold. An exception of a signal handler says nothing of guards."""
    if is_from_outside(error):
        raise error
    return False


class Guard(NamedTuple):
    """An assumption: ``check`` is one of `CHECKS`."""

    source: Source
    check: str
    expected: Any

    def holds(self, args: Sequence[Any]) -> bool:
        try:
            expected = self.expected.value if isinstance(self.expected, _Key) else self.expected
            return bool(CHECKS[self.check](self.source.load(args), expected))
        except _UNREADABLE as error:
            return _is_missing(error)

    @property
    def is_about_code(self) -> bool:
        """Whether it only says that functions and classes are what they were; `Explanation` leaves that out."""
        if self.check == "type":
            return bool(self.source.kind == "pinned")
        return self.check in ("defines", "values") or (self.source.kind == "attr" and self.source.key in _OF_CODE)

    def __str__(self) -> str:
        expected = self.expected.value if isinstance(self.expected, Pin | _Key) else self.expected
        match self.check:
            case "tensor":
                return f"{self.source}: {_facts_text(expected)}"
            case "is":
                return f"{self.source} is {_short(expected)}"
            case "equal":
                return f"{self.source} == {_short(expected)}"
            case "type":
                return f"type({self.source}) is {expected.__name__}"
            case "no item" | "no attribute" | "no own attribute" | "no value":
                return f"{self.source} has no {expected!r}"
            case "len":
                return f"len({self.source}) == {expected}"
            case "values":
                return f"{self.source} has {len(expected)} items"
            case "kind of":
                return f"{expected[0].value.__name__} is {'a' if expected[1] else 'no'} {self.source}"
            case "gives":
                return f"{self.source}({', '.join(map(_short, expected[0]))}) == {_short(expected[1])}"
            case "defines":
                name, raw = expected
                return f"{self.source}.{name} is {_short(raw.value)}" if raw.value else f"{self.source} has no {name!r}"
        return f"{self.check} of {self.source}: {_short(expected)}"

    def describe(self, args: Sequence[Any]) -> str:
        """Why this guard fails for ``args``, for the recompile log."""
        try:
            value = self.source.load(args)
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as exc:
            return f"{self.source} cannot be read any more: {exc}"
        actual = tensor_facts(value) if self.check == "tensor" and issubclass(type(value), Tensor) else value
        expected = self.expected.value if isinstance(self.expected, Pin | _Key) else self.expected
        match self.check:
            case "no item" | "no attribute" | "no own attribute" | "no value":
                return f"{self.source} had no {expected!r}, now it has"
            case "len":
                actual = len(value) if type(value) in _SIZED else _told(value)  # no code of the user's is asked
                return f"length of {self.source} was {expected}, is {actual}"
            case "values":
                return f"{self.source} has other items"
            case "kind of":
                return f"{expected[0].value.__name__} was registered with {self.source}, or is not any more"
            case "gives":
                return f"{self.source}({', '.join(map(_short, expected[0]))}) was {_told(expected[1])}"
            case "defines":
                return f"{self.source}.{expected[0]} was another object ({_told(expected[1].value)})"
            case "is":
                return f"{self.source} was another object ({_told(expected)}), is {_told(actual)}"
            case "tensor":
                return f"{self.source} was {_facts_text(expected)}, is {_facts_text(actual)}"
        return f"{self.source} was {_told(expected)}, is {_told(actual)}"


def _short(value: Any) -> str:
    if isinstance(value, types.FunctionType):
        text = f"function {value.__qualname__}"
    else:
        text = f"that of {value.co_qualname}" if isinstance(value, types.CodeType) else _shown(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # a number of more digits than Python writes
        return f"a very large {type(value).__name__}"


def _told(value: Any) -> str:
    """`_short` in the middle of a call: whatever the user's ``__repr__`` does, the program has not asked for it."""
    return _short(value) if _is_ours_to_print(value) else f"a {type(value).__qualname__} object"


def _is_ours_to_print(value: Any) -> bool:
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return all(_is_ours_to_print(v) for v in value)
    if kind is dict:
        return all(_is_ours_to_print(v) for pair in value.items() for v in pair)
    return issubclass(kind, type) or not is_user_class(kind)


def _facts_text(facts: Any) -> str:
    if type(facts) is not tuple or len(facts) != 5:
        return _told(facts)
    kind, dtype, shape, contiguous, _ = facts
    return f"{kind.__name__} {dtype}{list(shape)}" + ("" if contiguous else " (not contiguous)")


def tensor_facts(t: Tensor) -> tuple[Any, ...]:
    """What a compiled program depends on of an input tensor."""
    data = t._data
    grad = getattr(t, "requires_grad", None)
    return (type(t), data.dtype, data.shape, data.flags.c_contiguous, grad if type(t) is not Tensor else None)


_HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")


def cell_facts(cell: Any) -> tuple[Any, ...]:
    """What the call of a Cell depends on besides ``construct``: its hooks and its computing dtype."""
    held = vars(cell)
    hooks = tuple([tuple(held[name]) for name in _HOOKS]) if cell._has_hooks() else ()
    return (hooks, held.get("_mixed_dtype"), id(held["construct"]) if "construct" in held else 0)


def lookup(cls: type, name: str, default: Any = None) -> Any:
    """The class attribute ``name`` without binding it, or ``default``."""
    for base in cls.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return default


def lacks(obj: Any, name: str) -> bool:
    """Whether neither ``obj`` nor its class holds ``name`` (what its ``__getattr__`` would say does not count)."""
    own = getattr(obj, "__dict__", ())
    return name not in own and not any(name in vars(base) for base in type(obj).__mro__)


def has_pattern(value: Any, kind: Any, dtype: Any, shape: tuple[Any, ...]) -> bool:
    """Whether ``value`` is a tensor of this dtype and of this shape, where ``None`` is any extent."""
    if type(value) is not kind or value._data.dtype != dtype or len(value._data.shape) != len(shape):
        return False
    return all(want is None or want == n for want, n in zip(shape, value._data.shape, strict=True))


def is_link(link: Any, op: Any, attrs: dict[str, Any]) -> bool:
    """Whether a view was made by ``op(..., **attrs)``."""
    return link is not None and link.op is op and link.attrs == attrs


def _is_tensor(value: Any, facts: Any) -> bool:
    return type(value) is facts[0] and not value.is_symbolic and tensor_facts(value) == facts


def _same(value: Any, expected: Any) -> bool:
    return type(value) is type(expected) and value_key(value) == value_key(expected)


CHECKS: dict[str, Callable[[Any, Any], bool]] = {
    "tensor": _is_tensor,
    "pattern": lambda value, expected: has_pattern(value, *expected),
    "cell": lambda value, expected: cell_facts(value) == expected,
    "equal": _same,
    "is": lambda value, pin: value is pin.value,
    "same object": lambda value, other: value is other,
    "type": lambda value, kind: type(value) is kind,
    "len": lambda value, n: len(value) == n,
    "keys": are_same_keys,
    "view": lambda link, made: is_link(link, *made),
    "elements": are_same_keys,
    "no item": lambda value, key: key not in value,
    "no attribute": lambda value, name: not hasattr(value, name),
    "no own attribute": lacks,
    "values": lambda value, pin: tuple(map(id, value.values())) == tuple(map(id, pin.value)),
    "kind of": lambda cls, found: issubclass(found[0].value, cls) is found[1],
    "gives": lambda fn, found: _same(fn(*found[0]), found[1]),
    "defines": lambda cls, found: lookup(cls, found[0]) is found[1].value,
    "no value": lambda value, name: name not in vars(value),
}


class GuardSet:
    """The guards of one compiled entry, in order of capture, without repetition."""

    def __init__(self) -> None:
        self._guards: dict[Guard, None] = {}
        self.same_objects: dict[tuple[Source, Source], None] = {}
        self.other_objects: dict[tuple[Source, Source], None] = {}
        """Pairs of sources of different objects: what the program writes into one does not show in the other."""
        self._check: Callable[..., bool] | None = None
        self.failures: list[Failure] = []

    def add(self, source: Source, check: str, expected: Any) -> None:
        try:
            self._guards[Guard(source, check, expected)] = None
        except TypeError:  # it cannot be hashed
            self._guards[Guard(source, check, _Key(expected))] = None

    @property
    def guards(self) -> list[Guard]:
        return list(self._guards)

    def check(self, args: Sequence[Any]) -> bool:
        """Whether the entry is valid for these arguments; one native function, or a generated one."""
        if self._check is None:
            return self._first_check(args)
        try:
            return self._check(*args)
        except _UNREADABLE as error:
            return _is_missing(error)

    def _first_check(self, args: Sequence[Any]) -> bool:
        """Checks one by one; when all guards hold, their present values tell how to check them natively.

        Many versions are never used again: nothing is generated for them.
        """
        from duograph.runtime.cpython import Unsupported

        if not all(guard.holds(args) for guard in self._guards):
            return False
        if any(one.load(args) is not two.load(args) for one, two in self.same_objects):
            return False
        if any(one.load(args) is two.load(args) for one, two in self.other_objects):
            return False
        try:
            self._check = self.translated(args).program.function()
        except Unsupported:
            self._check = self._generated()
        except MemoryError:  # no room for code now: one by one, and the next call tries again
            return True
        except Exception as error:  # noqa: BLE001 - the policy
            self.failures.append(internal_failure("a guard", "its native form", error))
            self._check = self._generated()
        return True

    def _generated(self) -> Callable[..., bool]:
        generated = compile_guards(self.guards, list(self.same_objects), list(self.other_objects))
        return lambda *a: generated(a)

    def translated(self, args: Sequence[Any]) -> Translator:
        """The guards as a program of the guard machine, not finished: more can be loaded in it.

        Args:
            args: arguments for which all guards hold.

        Raises:
            Unsupported: native code cannot be used in this Python.
        """
        from .native_guards import translated

        return translated(self.guards, list(self.same_objects), list(self.other_objects), args, self._judged)

    def _judged(self, check: Callable[..., bool]) -> Callable[..., bool]:
        """``check`` for native code, which raises whatever comes out of it: the rest is answered here."""

        def judged(*args: Any) -> bool:
            try:
                return check(args)
            except _UNREADABLE as error:
                return _is_missing(error)
            except Exception as error:  # noqa: BLE001 - the policy
                self.failures.append(internal_failure("a guard", "its generated form", error))
                return False

        return judged

    def first_miss(self, args: Sequence[Any]) -> tuple[Guard | None, str]:
        """The first guard that fails and the reason in words."""
        for guard in self._guards:
            if not guard.holds(args):
                return guard, guard.describe(args)
        for one, two in self.same_objects:
            if one.load(args) is not two.load(args):
                return None, f"{one} and {two} were the same tensor"
        for one, two in self.other_objects:
            if one.load(args) is two.load(args):
                return None, f"{one} and {two} were different objects"
        return None, str(self.failures[-1]) if self.failures else "inputs share memory in another way"


class _Key:
    """An unhashable expected value (a list of keys, a set) as part of a guard."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.value == self.value

    def __hash__(self) -> int:
        return 0

    def __iter__(self) -> Any:
        return iter(self.value)


def compile_guards(
    guards: list[Guard], same: list[tuple[Source, Source]], other: list[tuple[Source, Source]]
) -> Callable[[Sequence[Any]], bool]:
    """One Python function that is true if all guards hold. Values reached by several guards are loaded once."""
    constants: dict[str, Any] = {"facts": tensor_facts, "key": value_key, "cell": cell_facts,
        "pattern": has_pattern, "same_keys": are_same_keys,
                                 "lacks": lacks, "lookup": lookup, "same": _same, "is_link": is_link}  # fmt: skip
    names: dict[Source, str] = {}
    lines: list[str] = []

    def constant(value: Any) -> str:
        name = f"k{len(constants)}"
        constants[name] = value
        return name

    def load(source: Source) -> str:
        if source in names:
            return names[source]
        match source.kind:
            case "arg":
                text = f"a[{source.key}]"
            case "pinned":
                text = constant(source.base.value)
            case "attr":
                text = f"{load(source.base)}.{source.key}"
                if not source.key.isidentifier():
                    text = f"getattr({load(source.base)}, {source.key!r})"
            case "item":
                text = f"{load(source.base)}[{constant(source.key)}]"
            case "global":
                text = f"{constant(source.base.value)}[{source.key!r}]"
            case _:
                text = f"{constant(source.base.value)}.cell_contents"
        if source.kind == "pinned":
            names[source] = text
            return text
        names[source] = name = f"v{len(names)}"
        lines.append(f"{name} = {text}")
        return name

    for g in guards:
        value = load(g.source)
        expected = g.expected.value if isinstance(g.expected, Pin | _Key) else g.expected
        match g.check:
            case "is" | "type":
                left = value if g.check == "is" else f"type({value})"
                test = f"{left} is {constant(expected)}"
            case "len":
                test = f"len({value}) == {expected}"
            case "keys" | "elements":
                test = f"same_keys({value}, {constant(list(expected))})"
            case "no item":
                test = f"{constant(expected)} not in {value}"
            case "no attribute":
                test = f"not hasattr({value}, {constant(expected)})"
            case "no value":
                test = f"{constant(expected)} not in {value}.__dict__"
            case "no own attribute":
                test = f"lacks({value}, {constant(expected)})"
            case "values":
                test = f"tuple(map(id, {value}.values())) == {constant(tuple(map(id, expected)))}"
            case "kind of":
                test = f"issubclass({constant(expected[0].value)}, {value}) is {expected[1]}"
            case "gives":
                test = f"same({value}(*{constant(expected[0])}), {constant(expected[1])})"
            case "defines":
                test = f"lookup({value}, {constant(expected[0])}) is {constant(expected[1].value)}"
            case "view":
                test = f"is_link({value}, *{constant(expected)})"
            case "pattern":
                test = f"pattern({value}, *{constant(expected)})"
            case "cell":
                test = f"cell({value}) == {constant(expected)}"
            case "tensor":
                test = f"type({value}) is {constant(expected[0])} and facts({value}) == {constant(expected)}"
            case _:
                simple = type(expected) in (int, str, bytes)
                right = (
                    f"{value} == {constant(expected)}" if simple else f"key({value}) == {constant(value_key(expected))}"
                )
                test = f"type({value}) is {constant(type(expected))} and {right}"
        lines.append(f"if not ({test}): return False")
    for one, two in same:
        lines.append(f"if {load(one)} is not {load(two)}: return False")
    for one, two in other:
        lines.append(f"if {load(one)} is {load(two)}: return False")
    body = "\n    ".join([*lines, "return True"])
    namespace = constants
    exec(f"def check(a):\n    {body}\n", namespace)
    return namespace["check"]
