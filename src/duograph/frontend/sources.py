"""Sources: how to reach an outside value from the arguments of a call, and guards: what was assumed of it.

    Source ::= Arg(i) | Pinned(object) | Attr(base, name) | Item(base, key) | Global(dict, name) | CellVar(cell)
    Guard  ::= (Source, check, expected)

Guards of one capture are compiled into one Python function with shared sub-expressions; a second, interpretive path
answers which guard failed and why (`first_miss`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from duograph.core.op import value_key
from duograph.tensor.tensor import Tensor

if TYPE_CHECKING:
    from .native_guards import Translator


@dataclass(frozen=True, slots=True)
class Source:
    """One step of the way to a value; ``base`` is the way so far."""

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


@dataclass(frozen=True, slots=True)
class Guard:
    """An assumption: ``check`` is one of `CHECKS`."""

    source: Source
    check: str
    expected: Any

    def holds(self, args: Sequence[Any]) -> bool:
        try:
            expected = self.expected.value if isinstance(self.expected, _Key) else self.expected
            return bool(CHECKS[self.check](self.source.load(args), expected))
        except (AttributeError, KeyError, IndexError, TypeError, ValueError):
            return False

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
        return f"{self.check} of {self.source}: {_short(expected)}"

    def describe(self, args: Sequence[Any]) -> str:
        """Why this guard fails for ``args``, for the recompile log."""
        try:
            value = self.source.load(args)
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as exc:
            return f"{self.source} cannot be read any more: {exc}"
        actual = tensor_facts(value) if self.check == "tensor" and isinstance(value, Tensor) else value
        expected = self.expected.value if isinstance(self.expected, Pin | _Key) else self.expected
        match self.check:
            case "no item" | "no attribute" | "no own attribute" | "no value":
                return f"{self.source} had no {expected!r}, now it has"
            case "len":
                return f"length of {self.source} was {expected}, is {len(value)}"
            case "is":
                return f"{self.source} was another object ({_short(expected)}), is {_short(actual)}"
            case "tensor":
                return f"{self.source} was {_facts_text(expected)}, is {_facts_text(actual)}"
        return f"{self.source} was {_short(expected)}, is {_short(actual)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _facts_text(facts: Any) -> str:
    if not isinstance(facts, tuple) or len(facts) != 5:
        return _short(facts)
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


def lacks(obj: Any, name: str) -> bool:
    """Whether neither ``obj`` nor its class holds ``name`` (what its ``__getattr__`` would say does not count)."""
    own = getattr(obj, "__dict__", ())
    return name not in own and not any(name in vars(base) for base in type(obj).__mro__)


def has_pattern(value: Any, kind: Any, dtype: Any, shape: tuple[Any, ...]) -> bool:
    """Whether ``value`` is a tensor of this dtype and of this shape, where ``None`` is any extent."""
    if type(value) is not kind or value._data.dtype != dtype or len(value._data.shape) != len(shape):
        return False
    return all(want is None or want == n for want, n in zip(shape, value._data.shape, strict=True))


def _is_tensor(value: Any, facts: Any) -> bool:
    return isinstance(value, Tensor) and not value.is_symbolic and tensor_facts(value) == facts


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
    "keys": lambda value, keys: list(value) == list(keys),
    "elements": lambda value, elements: value == elements,
    "no item": lambda value, key: key not in value,
    "no attribute": lambda value, name: not hasattr(value, name),
    "no own attribute": lacks,
    "no value": lambda value, name: name not in vars(value),
}


class GuardSet:
    """The guards of one compiled entry, in order of capture, without repetition."""

    def __init__(self) -> None:
        self._guards: dict[Guard, None] = {}
        self.same_objects: dict[tuple[Source, Source], None] = {}
        self._check: Callable[..., bool] | None = None

    def add(self, source: Source, check: str, expected: Any) -> None:
        self._guards[Guard(source, check, _Key(expected) if not _hashable(expected) else expected)] = None

    @property
    def guards(self) -> list[Guard]:
        return list(self._guards)

    def check(self, args: Sequence[Any]) -> bool:
        """Whether the entry is valid for these arguments; one native function, or a generated one."""
        if self._check is None:
            return self._first_check(args)
        try:
            return self._check(*args)
        except (AttributeError, KeyError, IndexError, TypeError, ValueError):
            return False

    def _first_check(self, args: Sequence[Any]) -> bool:
        """Checks one by one; when all guards hold, their present values tell how to check them natively.

        Many versions are never used again: nothing is generated for them.
        """
        from duograph.runtime.cpython import Unsupported

        if not all(guard.holds(args) for guard in self._guards):
            return False
        if any(one.load(args) is not two.load(args) for one, two in self.same_objects):
            return False
        try:
            self._check = self.translated(args).program.function()
        except Unsupported:
            generated = compile_guards(self.guards, list(self.same_objects))
            self._check = lambda *a: generated(a)
        return True

    def translated(self, args: Sequence[Any]) -> Translator:
        """The guards as a program of the guard machine, not finished: more can be loaded in it.

        Args:
            args: arguments for which all guards hold.

        Raises:
            Unsupported: native code cannot be used in this Python.
        """
        from .native_guards import translated

        return translated(self.guards, list(self.same_objects), args)

    def first_miss(self, args: Sequence[Any]) -> tuple[Guard | None, str]:
        """The first guard that fails and the reason in words."""
        for guard in self._guards:
            if not guard.holds(args):
                return guard, guard.describe(args)
        for one, two in self.same_objects:
            if one.load(args) is not two.load(args):
                return None, f"{one} and {two} were the same tensor"
        return None, "inputs share memory in another way"


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


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def compile_guards(guards: list[Guard], same: list[tuple[Source, Source]]) -> Callable[[Sequence[Any]], bool]:
    """One Python function that is true if all guards hold. Values reached by several guards are loaded once."""
    constants: dict[str, Any] = {"Tensor": Tensor, "facts": tensor_facts, "key": value_key, "cell": cell_facts,
        "pattern": has_pattern,
                                 "lacks": lacks}  # fmt: skip
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
            case "keys":
                test = f"list({value}) == {constant(list(expected))}"
            case "elements":
                test = f"{value} == {constant(expected)}"
            case "no item":
                test = f"{constant(expected)} not in {value}"
            case "no attribute":
                test = f"not hasattr({value}, {constant(expected)})"
            case "no value":
                test = f"{constant(expected)} not in {value}.__dict__"
            case "no own attribute":
                test = f"lacks({value}, {constant(expected)})"
            case "pattern":
                test = f"pattern({value}, *{constant(expected)})"
            case "cell":
                test = f"cell({value}) == {constant(expected)}"
            case "tensor":
                test = f"isinstance({value}, Tensor) and facts({value}) == {constant(expected)}"
            case _:
                simple = type(expected) in (int, str, bytes)
                right = (
                    f"{value} == {constant(expected)}" if simple else f"key({value}) == {constant(value_key(expected))}"
                )
                test = f"type({value}) is {constant(type(expected))} and {right}"
        lines.append(f"if not ({test}): return False")
    for one, two in same:
        lines.append(f"if {load(one)} is not {load(two)}: return False")
    body = "\n    ".join([*lines, "return True"])
    namespace = constants
    exec(f"def check(a):\n    {body}\n", namespace)
    return namespace["check"]
