"""Symbolic dimensions: integers that are not known yet.

An extent is an `int` or a `Dim`. A `Dim` is kept in one normal form and interned, so structural equality is identity:

    Dim   ::= const + coef * factor * ... + ...         a polynomial (`Sum`); a lone factor stands for itself
    factor::= Symbol(name, lo, hi)                      a whole number in [lo, hi], both ends included
            | Atom("//" | "%", lhs, rhs)                floor division and modulo with Python's meaning
            | Atom("min" | "max", arg, arg, ...)

Arithmetic that cancels gives a plain `int` back. Comparison is three-valued: `definitely_le(a, b)` is True, False or
None, and `==` asks only "the same expression?". `<` and `bool(dim)` raise: *unknown is never guessed*; who needs
an answer records an assumption. What is printed is a Python expression; `parse_dim` reads it back to the same object.

Soundness of every law here: wherever the expression is defined (no division by zero), the normal form is defined too
and has the same value. The test evaluates random expressions at random points.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from duograph.base.fork import fork_safe_lock

Extent: TypeAlias = "int | Dim"
Monomial: TypeAlias = "tuple[Dim, ...]"

_INTERN: WeakValueDictionary[tuple[Any, ...], Dim] = WeakValueDictionary()
_LOCK = fork_safe_lock()


LONGEST = 10_000
"""Characters of the text of an extent. What a recursion makes of sizes may grow by a factor at each step."""

MOST_RESULTS = 4096
"""Results of one operation that are remembered: a program computes the same few sizes at each of its steps."""


class UnknownSizeError(TypeError):
    """The value of a symbolic dimension was asked for."""


class OtherSizeError(UnknownSizeError):
    """A size that a shape rule took to be equal to another is not: what was captured for that is of no use."""


class Dim:
    """A symbolic extent; immutable, interned, hashable. `lo` and `hi` (maybe infinite) bound its value."""

    __slots__ = ("__weakref__", "hi", "lo", "text")
    lo: float
    hi: float
    text: str

    @staticmethod
    def kept_text(text: str) -> str:
        """``text``, of an extent that is to be made.

        Raises:
            UnknownSizeError: it is longer than `LONGEST`.
        """
        if len(text) > LONGEST:
            raise UnknownSizeError("a size is computed from others in more steps than can be followed")
        return text

    def __add__(self, other: Extent) -> Extent:
        return _combine(self, other, 1)

    def __sub__(self, other: Extent) -> Extent:
        return _combine(self, other, -1)

    def __rsub__(self, other: Extent) -> Extent:
        return _combine(-self, other, 1)

    def __neg__(self) -> Extent:
        return _combine(0, self, -1)

    def __mul__(self, other: Extent) -> Extent:
        return _multiply(self, other)

    def __floordiv__(self, other: Extent) -> Extent:
        return _floordiv(self, other)

    def __rfloordiv__(self, other: Extent) -> Extent:
        return _floordiv(other, self)

    def __mod__(self, other: Extent) -> Extent:
        return _mod(self, other)

    def __rmod__(self, other: Extent) -> Extent:
        return _mod(other, self)

    __radd__ = __add__
    __rmul__ = __mul__

    def __bool__(self) -> bool:
        raise UnknownSizeError(
            f"the truth of the symbolic dimension {self} is not known; use definitely_eq and its siblings"
        )

    def _no_value(self, *_: object) -> Any:
        raise UnknownSizeError(f"the size {self} is only known at run time")

    __lt__ = __le__ = __gt__ = __ge__ = __index__ = __int__ = _no_value

    def __setattr__(self, key: str, value: object) -> None:
        raise AttributeError("a Dim is immutable")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Dim({self.text})"


class Symbol(Dim):
    """A free whole number in `[lo, hi]`; `hi=None` means unbounded. The same name and range are the same symbol."""

    __slots__ = ("name",)
    name: str

    def __new__(cls, name: str, lo: int = 0, hi: int | None = None) -> Symbol:
        if not name.isidentifier() or name in ("min", "max"):
            raise ValueError(f"{name!r} is not a name for a symbolic dimension")
        top = math.inf if hi is None else hi
        if lo > top:
            raise ValueError(f"symbolic dimension {name}: empty range [{lo}, {hi}]")
        return _intern(cls, ("sym", name, lo, top), lo, top, lambda: name, name=name)  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        return Symbol, (self.name, self.lo, None if self.hi == math.inf else self.hi)


class Atom(Dim):
    """`op` applied to operands, when nothing simpler is known: `//`, `%`, `min`, `max`."""

    __slots__ = ("args", "op")
    op: str
    args: tuple[Extent, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return _OPERATIONS[self.op], self.args


class Sum(Dim):
    """`const + sum(coef * product(monomial))`; at least one monomial, no coefficient 0."""

    __slots__ = ("const", "terms")
    const: int
    terms: tuple[tuple[Monomial, int], ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_terms, (self.const, dict(self.terms))


def _intern(cls: type, key: tuple[Any, ...], lo: float, hi: float, text: Callable[[], str], **fields: object) -> Any:
    with _LOCK:
        found = _INTERN.get(key)
        if found is None:
            found = object.__new__(cls)
            fields.update(lo=lo, hi=hi, text=Dim.kept_text(text()))
            for name, value in fields.items():
                object.__setattr__(found, name, value)
            _INTERN[key] = found
    return found


_counters: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)


def fresh_symbol(prefix: str = "s", lo: int = 0, hi: int | None = None) -> Symbol:
    """A symbol whose name, `prefix` and a number, was not handed out before in this process."""
    return Symbol(f"{prefix}{next(_counters[prefix])}", lo, hi)


# ---- the polynomial normal form -------------------------------------------------------------------------------------


def _terms(x: Extent) -> tuple[int, dict[Monomial, int]]:
    if isinstance(x, Sum):
        return x.const, dict(x.terms)
    if isinstance(x, Dim):
        return 0, {(x,): 1}
    return operator.index(x), {}


def by_name(x: Extent) -> tuple[str | int, ...]:
    """The place of ``x`` among others, as a key for `sorted`: numbers in names by value, so that ``n9`` comes before
    ``n10`` as ``n8`` before ``n9``: how many sizes a process has named before must not change what it builds."""
    return _words(str(x))


@functools.lru_cache(4096)
def _words(text: str) -> tuple[str | int, ...]:
    return tuple([int(word) if k % 2 else word for k, word in enumerate(re.split(r"(\d+)", text))])


def _order(x: Extent) -> tuple[Any, ...]:
    return by_name(x), *bounds(x)


def _from_terms(const: int, terms: dict[Monomial, int]) -> Extent:
    kept = [(mono, coef) for mono, coef in terms.items() if coef]
    if not kept:
        return const
    if const == 0 and len(kept) == 1 and kept[0][1] == len(kept[0][0]) == 1:
        return kept[0][0][0]
    kept.sort(key=lambda item: (-len(item[0]), [_order(f) for f in item[0]]))
    ranges = [_corners(_times, (coef, coef), _monomial_bounds(mono)) for mono, coef in kept]
    lo, hi = (const + sum(ends) for ends in zip(*ranges, strict=True))
    lo, hi = _tightened(lo, hi, const, dict(kept))
    frozen = tuple(kept)
    return _intern(Sum, ("sum", const, frozen), lo, hi, lambda: _show_sum(const, frozen), const=const, terms=frozen)  # type: ignore[no-any-return]


def _tightened(lo: float, hi: float, const: int, terms: dict[Monomial, int]) -> tuple[float, float]:
    """Bounds of a sum, where its one ``max`` or ``min`` says more: ``max(a, b) + r`` is at least ``a + r``, of which
    parts may cancel (what ``pad_mode="same"`` adds to an extent, and the extent)."""
    choices = [mono for mono in terms if any(map(_is_choice, mono))]
    if len(terms) == 1 or len(choices) != 1 or len(choices[0]) != 1:
        return lo, hi
    (choice,) = choices[0]
    assert isinstance(choice, Atom)
    if any(_is_choice(f) for arg in choice.args for mono in _terms(arg)[1] for f in mono):
        return lo, hi  # there would be a sum for each way through them
    coef = terms[choices[0]]
    rest = _from_terms(const, {m: c for m, c in terms.items() if m != choices[0]})
    ends = [bounds(rest + coef * arg) for arg in choice.args]
    if (choice.op == "max") is (coef > 0):
        return max(lo, *[end[0] for end in ends]), hi
    return lo, min(hi, *[end[1] for end in ends])


def _is_choice(x: Dim) -> bool:
    return isinstance(x, Atom) and x.op in ("max", "min")


def _combine(a: Extent, b: Extent, sign: int) -> Extent:
    return _sum(_exact(a), _exact(b), sign)


def _multiply(a: Extent, b: Extent) -> Extent:
    return _product(_exact(a), _exact(b))


def _exact(x: Extent) -> Extent:
    return x if isinstance(x, Dim) else operator.index(x)


@functools.lru_cache(MOST_RESULTS)
def _sum(a: Extent, b: Extent, sign: int) -> Extent:
    const, terms = _terms(a)
    const_b, terms_b = _terms(b)
    for mono, coef in terms_b.items():
        terms[mono] = terms.get(mono, 0) + sign * coef
    return _from_terms(const + sign * const_b, terms)


@functools.lru_cache(MOST_RESULTS)
def _product(a: Extent, b: Extent) -> Extent:
    const_a, terms_a = _terms(a)
    const_b, terms_b = _terms(b)
    out: dict[Monomial, int] = defaultdict(int)
    for mono_a, coef_a in [((), const_a), *terms_a.items()]:
        for mono_b, coef_b in [((), const_b), *terms_b.items()]:
            out[tuple(sorted(mono_a + mono_b, key=_order))] += coef_a * coef_b
    return _from_terms(out.pop((), 0), dict(out))


# ---- bounds ---------------------------------------------------------------------------------------------------------


def _times(x: float, y: float) -> float:
    return 0 if x == 0 or y == 0 else x * y


def _monomial_bounds(mono: Monomial) -> tuple[float, float]:
    total: tuple[float, float] = (1, 1)
    for factor, run in itertools.groupby(mono):
        power: tuple[float, float] = (1, 1)
        for i, _ in enumerate(run, 1):
            lo, hi = _corners(_times, power, (factor.lo, factor.hi))
            power = (max(lo, 0), hi) if i % 2 == 0 else (lo, hi)
        total = _corners(_times, total, power)
    return total


def _corners(f: Callable[[float, float], float], x: tuple[float, float], y: tuple[float, float]) -> tuple[float, float]:
    values = [f(a, b) for a in x for b in y]
    return min(values), max(values)


def _quotient(x: float, y: float) -> float:
    """`x // y` for y > 0, either of them infinite."""
    if math.isinf(x):
        return x
    if math.isinf(y):
        return 0 if x >= 0 else -1
    return x // y


def bounds(x: Extent) -> tuple[float, float]:
    """The least and greatest value `x` can take, as far as interval arithmetic sees."""
    return (x.lo, x.hi) if isinstance(x, Dim) else (x, x)


# ---- division, modulo, min, max -------------------------------------------------------------------------------------


def _atom(op: str, args: tuple[Extent, ...], lo: float, hi: float) -> Extent:
    if lo == hi:
        return int(lo)
    return _intern(Atom, (op, *args), lo, hi, lambda: _show_atom(op, args), op=op, args=args)  # type: ignore[no-any-return]


def _floordiv(a: Extent, b: Extent) -> Extent:
    if not isinstance(b, Dim):
        b = operator.index(b)
        if b == 0:
            raise ZeroDivisionError("integer division or modulo by zero")
        return _divide_by_int(a, b) if b > 0 else _divide_by_int(-a, -b)
    if b.lo >= 1:
        exact = exact_quotient(a, b)
        return exact if exact is not None else _atom("//", (a, b), *_corners(_quotient, bounds(a), bounds(b)))
    return _atom("//", (a, b), -math.inf, math.inf)


def _divide_by_int(a: Extent, d: int) -> Extent:
    """`a // d`: what d divides leaves the quotient, common factors cancel, nested divisions join."""
    const, terms = _terms(a)
    quotient = _from_terms(const // d, {m: c // d for m, c in terms.items() if c % d == 0})
    rest = {m: c for m, c in terms.items() if c % d}
    const %= d
    common = math.gcd(d, *rest.values())
    inner = _from_terms(const // common, {m: c // common for m, c in rest.items()})
    d //= common
    const_in, terms_in = _terms(inner)
    nested = _from_terms(0, terms_in)
    if isinstance(nested, Atom) and nested.op == "//" and isinstance(divisor := nested.args[1], int):
        numerator = nested.args[0]
        return quotient + _divide_by_int(numerator + const_in * divisor, d * divisor)
    lo, hi = (_quotient(end, d) for end in bounds(inner))
    return quotient + (inner if d == 1 else _atom("//", (inner, d), lo, hi))


def exact_quotient(a: Extent, b: Dim) -> Extent | None:
    """`a / b`, provided b is not 0, if b is one term that divides every term of a, or a is a whole multiple of b."""
    const, terms = _terms(a)
    const_b, terms_b = _terms(b)
    mono_b, coef_b = next(iter(terms_b.items()))
    if len(terms_b) == 1 and const_b == 0:
        out: dict[Monomial, int] = {}
        for mono, coef in [*terms.items(), *([((), const)] if const else [])]:
            left = list(mono)
            for factor in mono_b:
                if factor not in left:
                    return None
                left.remove(factor)
            if coef % coef_b:
                return None
            out[tuple(left)] = coef // coef_b
        return _from_terms(out.pop((), 0), out)
    ratio = terms.get(mono_b, 0) // coef_b
    return ratio if _combine(a, _multiply(ratio, b), -1) == 0 else None


def _mod(a: Extent, b: Extent) -> Extent:
    if not isinstance(b, Dim):
        b = operator.index(b)
        if b == 0:
            raise ZeroDivisionError("integer division or modulo by zero")
        if b < 0:
            return -_mod(-a, -b)
        const, terms = _terms(a)
        a = _from_terms(const % b, {m: c % b for m, c in terms.items()})
    (lo_a, hi_a), (lo_b, hi_b) = bounds(a), bounds(b)
    if lo_b < 1:
        return _atom("%", (a, b), -math.inf, math.inf)
    if lo_a >= 0 and hi_a < lo_b:
        return a
    if isinstance(b, Dim) and exact_quotient(a, b) is not None:
        return 0
    return _atom("%", (a, b), 0, min(hi_b - 1, hi_a) if lo_a >= 0 else hi_b - 1)


def dim_min(*args: Extent) -> Extent:
    """The least of the extents."""
    return _extreme("min", args)


def dim_max(*args: Extent) -> Extent:
    """The greatest of the extents."""
    return _extreme("max", args)


def _extreme(op: str, args: tuple[Extent, ...]) -> Extent:
    below = definitely_le if op == "min" else (lambda x, y: definitely_le(y, x))
    kept: list[Extent] = []
    flat = [y for x in args for y in (x.args if isinstance(x, Atom) and x.op == op else (x,))]
    for arg in flat:
        if any(below(other, arg) for other in kept):
            continue
        kept = [*(other for other in kept if not below(arg, other)), arg]
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=_order)
    pick = min if op == "min" else max
    return _atom(op, tuple(kept), pick(bounds(x)[0] for x in kept), pick(bounds(x)[1] for x in kept))


_OPERATIONS: dict[str, Callable[..., Extent]] = {"//": _floordiv, "%": _mod, "min": dim_min, "max": dim_max}


def ceil_div(a: Extent, b: Extent) -> Extent:
    """`a / b` rounded up."""
    return -((-a) // b)


# ---- questions ------------------------------------------------------------------------------------------------------


def known_eq(a: Extent, b: Extent) -> bool:
    """Whether `a` and `b` are equal, where that decides what the program is.

    Raises:
        UnknownSizeError: for some values of their symbols they are, for others not.
    """
    equal = definitely_eq(a, b)
    if equal is None:
        raise UnknownSizeError(f"whether the size {a} is {b} is only known at run time")
    return equal


def definitely_eq(a: Extent, b: Extent) -> bool | None:
    """Whether `a` and `b` are equal for all values of their symbols (True), for none (False), or unknown (None)."""
    difference = a - b
    if not isinstance(difference, Dim):
        return difference == 0
    if difference.lo > 0 or difference.hi < 0:
        return False
    const, terms = _terms(difference)
    if const % math.gcd(*terms.values()):
        return False
    without_mod = _rewrite(difference, lambda s: s, {**_OPERATIONS, "%": lambda a, b: a - b * _floordiv(a, b)})
    return True if without_mod == 0 else None


def definitely_le(a: Extent, b: Extent) -> bool | None:
    """Whether `a <= b` always (True), never (False), or unknown (None)."""
    lo, hi = bounds(b - a)
    return True if lo >= 0 else False if hi < 0 else None


def definitely_lt(a: Extent, b: Extent) -> bool | None:
    """Whether `a < b` always (True), never (False), or unknown (None)."""
    return definitely_le(a + 1, b)


@functools.lru_cache(MOST_RESULTS)
def symbols_of(x: Extent) -> frozenset[Symbol]:
    """The symbols that occur in `x`."""
    found: set[Symbol] = set()
    _rewrite(x, lambda s: found.add(s) or s, dict.fromkeys(_OPERATIONS, lambda *args: args[0]))  # type: ignore[func-returns-value]
    return frozenset(found)


def _rewrite(x: Extent, symbol: Callable[[Symbol], Extent], operations: Mapping[str, Callable[..., Extent]]) -> Extent:
    if isinstance(x, Symbol):
        return symbol(x)
    if isinstance(x, Atom):
        return operations[x.op](*(_rewrite(arg, symbol, operations) for arg in x.args))
    if isinstance(x, Sum):
        total: Extent = x.const
        for mono, coef in x.terms:
            total = total + coef * math.prod(_rewrite(f, symbol, operations) for f in mono)
        return total
    return x


def substitute(x: Extent, mapping: Mapping[Symbol, Extent]) -> Extent:
    """`x` with symbols replaced, in normal form again."""
    return _rewrite(x, lambda s: mapping.get(s, s), _OPERATIONS)


_PYTHON: dict[str, Callable[..., Any]] = {"//": operator.floordiv, "%": operator.mod, "min": min, "max": max}


def evaluate(x: Extent, env: Mapping[Any, int]) -> int:
    """The value of `x`, with `env` from symbols or their names to integers; `KeyError` for a symbol it lacks."""
    return _rewrite(x, lambda s: env[s] if s in env else env[s.name], _PYTHON)  # type: ignore[return-value]


# ---- text -----------------------------------------------------------------------------------------------------------


def _show_sum(const: int, terms: tuple[tuple[Monomial, int], ...]) -> str:
    parts = []
    for mono, coef in terms:
        product = "*".join(f"({f})" if isinstance(f, Atom) and f.op in ("//", "%") else str(f) for f in mono)
        sign = "-" if coef < 0 else "+"
        alone = coef == 1 and len(mono) == 1
        parts.append(sign + (str(mono[0]) if alone else product if abs(coef) == 1 else f"{abs(coef)}*{product}"))
    return "".join(parts).removeprefix("+") + (f"{const:+d}" if const else "")


def _show_atom(op: str, args: tuple[Extent, ...]) -> str:
    if op in ("min", "max"):
        return f"{op}({','.join(map(str, args))})"
    shown = [f"({x})" if isinstance(x, Sum) or (isinstance(x, Atom) and x.op in ("//", "%")) else str(x) for x in args]
    return f"{shown[0]}{op}{shown[1]}"


_BINARY: dict[type, Callable[[Any, Any], Extent]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


def parse_dim(text: str, symbols: Mapping[str, Symbol] | None = None) -> Extent:
    """Read what `str` printed. Names are looked up in `symbols`; any other name is `Symbol(name)`."""

    known = symbols or {}

    def build(node: ast.expr) -> Extent:
        match node:
            case ast.Constant(value=int(value)):
                return value
            case ast.Name(id=name):
                return known[name] if name in known else Symbol(name)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return _BINARY[type(op)](build(left), build(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -build(operand)
            case ast.Call(func=ast.Name(id=("min" | "max") as name), args=args, keywords=[]):
                return _extreme(name, tuple(map(build, args)))
        raise ValueError(f"not a dimension: {text!r}")

    return build(ast.parse(text, mode="eval").body)
