"""Patterns of ``match``: what is asked of a value, from the instructions on the way to where it matches.

CPython asks for one thing after the other and jumps away at the first that is not so. On the way that does not jump,
the stack holds *pieces* of the value; what is asked of them, and the names that they get, is the pattern.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from .flow import Flow
from .instructions import NOWHERE, Instruction, Position
from .stack import LOAD, is_none


class Piece:
    """The value that is matched, or a part of it."""


class NoPattern(Exception):
    """This is not how patterns are compiled."""


@dataclass(slots=True, eq=False)
class Length:
    """How many items a piece has, less a number."""

    of: Piece
    less: int = 0


@dataclass(slots=True, eq=False)
class Fact:
    """What is asked of a piece: ``kind`` is value, is, sequence, length, items, item, mapping, keys,
    rest, class, or."""

    kind: str
    piece: Piece
    told: Any = None


@dataclass(slots=True, eq=False)
class Way:
    """How far a pattern has been read.

    Attributes:
        at: the place.
        stack: pieces, and what is being made of them.
        facts: what was asked.
        passed: the places of the pattern.
        fails: where it goes on if the first thing that is asked is not so.
    """

    at: int
    stack: list[Any]
    facts: list[Fact] = field(default_factory=list)
    passed: list[int] = field(default_factory=list)
    fails: int | None = None
    is_stored: bool = False

    def branch(self) -> Way:
        return Way(self.at, list(self.stack), [], [], None, self.is_stored)


class Patterns:
    """Reads the patterns of one function.

    Args:
        flow: of the function.
    """

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.names: dict[Piece, list[str]] = {}
        self._steps = 0
        self._position = NOWHERE  # of the pattern

    def case(self, i: int) -> tuple[Way, Piece, bool]:
        """The pattern that begins at ``i``, with the value on top of the stack.

        Returns:
            How far it goes, the piece that is the whole value, and whether that is still on the stack, for others.

        Raises:
            NoPattern: it is none.
        """
        root = Piece()
        way = Way(i, [root])
        self._position = self.flow.instructions[i].position
        self._step(way)
        is_copied = way.stack == [root, root]
        while way.stack:
            if is_copied and way.stack == [root] and self._is_for_others(way, i):
                return way, root, True
            self._step(way)
        return way, root, False

    def _is_for_others(self, way: Way, begin: int) -> bool:
        """Whether the value is left for other cases, after its copy was matched."""
        if self.flow.instructions[way.at].op.startswith("STORE_"):
            return False
        return way.fails is None or self.flow.depth[way.fails] == self.flow.depth[begin]

    def _is_copy(self, i: int) -> bool:
        made = self.flow.instructions[i]
        return made.op == "COPY" and made.arg == 1

    def _is_of_next(self, position: Position) -> bool:
        """Whether a ``_`` is written there, in a line behind the pattern, as far as that is known."""
        last, (line, _, column, end) = self._position[1], position
        return last is not None and line is not None and line > last and (end or 0) - (column or 0) == 1

    def behind_pops(self, i: int) -> int:
        """Where code goes on at ``i`` that throws away what a pattern has left on the stack: not the value itself, as
        ``case _ if ...`` does, which is written behind it."""
        at = self.flow.instructions
        while at[i].op == "POP_TOP" and not self._is_of_next(at[i].position):
            i = at[i].next[0]
        return i

    # -- one instruction -------------------------------------------------------------------------------------------

    def _step(self, way: Way) -> None:
        self._steps += 1
        if self._steps > 10_000:
            raise NoPattern
        made = self.flow.instructions[way.at]
        if self._is_copy(way.at) and isinstance(way.stack[-1], Piece) and self._alternatives(way):
            return
        method = getattr(self, "do_" + made.op, None)
        if method is None or (way.is_stored and not made.op.startswith(("STORE_", "POP_TOP"))):
            raise NoPattern
        way.passed.append(way.at)
        try:
            following = method(way, made)
        except IndexError:
            raise NoPattern from None
        if following is None:
            if len(made.next) != 1:
                raise NoPattern
            following = made.next[0]
        way.at = following

    def _alternatives(self, way: Way) -> bool:
        """Reads ``a | b | c``, if that begins here: each begins with a copy, and all lead to one place."""
        places, depth = [way.at], self.flow.depth[way.at]
        first = self._tried(way.branch(), set())
        if first is None or first.fails is None:
            return False
        ends, found = set(first.passed[1:]) | {first.at}, [first]
        while found[-1].fails is not None:
            place = found[-1].fails
            if not self._is_copy(place) or self.flow.depth[place] != depth or place in places:
                break
            places.append(place)
            other = way.branch()
            other.at = place
            tried = self._tried(other, ends)
            if tried is None or tried.at not in ends:
                break
            ends = {tried.at}
            found.append(tried)
        if len(found) < 2:
            return False
        (end,) = ends
        again = self._tried(way.branch(), ends)
        assert again is not None
        found[0] = again
        for other in found[1:]:
            if len(other.stack) != len(again.stack):
                return False
        way.facts.append(
            Fact("or", way.stack[-1], [(w.facts, dict(zip(w.stack, again.stack, strict=True))) for w in found])
        )
        for one in found:
            way.passed += one.passed
        way.fails = found[-1].fails if way.fails is None else way.fails
        way.stack, way.at = list(again.stack), end
        return True

    def _tried(self, way: Way, ends: set[int]) -> Way | None:
        """One alternative, up to one of ``ends``, or as far as it is a pattern."""
        base = len(way.stack)
        way.passed.append(way.at)
        way.stack.append(way.stack[-1])
        way.at = self.flow.instructions[way.at].next[0]
        known = {piece: list(names) for piece, names in self.names.items()}
        try:
            while way.at not in ends and len(way.stack) >= base and not way.is_stored:
                self._step(way)
        except NoPattern:
            pass
        self.names = known
        return way if len(way.passed) > 1 else None

    # -- what is asked ---------------------------------------------------------------------------------------------

    def do_BRANCH(self, way: Way, made: Instruction) -> int:
        asked = way.stack.pop()
        if not isinstance(asked, tuple):
            raise NoPattern
        fact, is_so = asked
        if fact is not None:
            way.facts.append(fact)
        yes, no = made.next if is_so else made.next[::-1]
        if way.fails is None:
            way.fails = self.behind_pops(no)
        return yes

    def do_COMPARE_OP(self, way: Way, made: Instruction) -> None:
        value, piece = way.stack.pop(), way.stack.pop()
        if isinstance(piece, Length) and made.arg in ("==", ">=") and isinstance(value, ast.Constant):
            way.stack.append((Fact("length", piece.of, (made.arg == "==", value.value)), True))
        elif isinstance(piece, Piece) and isinstance(value, ast.expr) and made.arg == "==":
            way.stack.append((Fact("value", piece, value), True))
        else:
            raise NoPattern

    def do_IS_OP(self, way: Way, made: Instruction) -> None:
        value, piece = way.stack.pop(), way.stack.pop()
        if isinstance(piece, Fact) and is_none(value):  # the attributes or values that were found
            way.stack.append((piece, bool(made.arg)))
        elif isinstance(piece, Piece) and isinstance(value, ast.Constant) and not made.arg:
            way.stack.append((Fact("is", piece, value.value), True))
        else:
            raise NoPattern

    def _kind(self, way: Way, made: Instruction) -> None:
        if not isinstance(way.stack[-1], Piece):
            raise NoPattern
        way.stack.append((Fact("sequence" if made.op == "MATCH_SEQUENCE" else "mapping", way.stack[-1]), True))

    do_MATCH_SEQUENCE = do_MATCH_MAPPING = _kind

    def do_MATCH_CLASS(self, way: Way, made: Instruction) -> None:
        names, kind, piece = way.stack.pop(), way.stack.pop(), way.stack.pop()
        if not (isinstance(names, ast.Constant) and isinstance(kind, ast.expr) and isinstance(piece, Piece)):
            raise NoPattern
        way.stack.append(Fact("class", piece, (kind, made.arg, names.value, [])))

    def do_MATCH_KEYS(self, way: Way, made: Instruction) -> None:
        keys, piece = way.stack[-1], way.stack[-2]
        if not isinstance(piece, Piece) or not isinstance(keys, ast.Tuple | ast.Constant):
            raise NoPattern
        if isinstance(keys, ast.Constant):
            values: Any = keys.value
            keys = ast.Tuple([ast.copy_location(ast.Constant(k), keys) for k in values], LOAD)
        way.stack.append(Fact("keys", piece, (keys.elts, [])))

    def do_GET_LEN(self, way: Way, made: Instruction) -> None:
        if not isinstance(way.stack[-1], Piece):
            raise NoPattern
        way.stack.append(Length(way.stack[-1]))

    # -- pieces ----------------------------------------------------------------------------------------------------

    def do_UNPACK_SEQUENCE(self, way: Way, made: Instruction) -> None:
        held = way.stack.pop()
        parts = [Piece() for _ in range(made.arg)]
        if isinstance(held, Fact):
            held.told[-1].extend(parts)
        elif isinstance(held, Piece) and any(f.kind == "sequence" and f.piece is held for f in way.facts):
            way.facts.append(Fact("items", held, (parts, None)))
        elif not isinstance(held, ast.expr):  # the keys that are no part of ``**rest``
            raise NoPattern
        way.stack += parts[::-1]

    def do_UNPACK_EX(self, way: Way, made: Instruction) -> None:
        held = way.stack.pop()
        if not isinstance(held, Piece) or not any(f.kind == "sequence" and f.piece is held for f in way.facts):
            raise NoPattern
        before = made.arg & 255
        parts = [Piece() for _ in range(before + 1 + (made.arg >> 8))]
        way.facts.append(Fact("items", held, (parts, before)))
        way.stack += parts[::-1]

    def do_BINARY_OP(self, way: Way, made: Instruction) -> None:
        number, held = way.stack.pop(), way.stack.pop()
        less: Any = getattr(number, "value", None)
        if not isinstance(held, Length) or type(less) is not int:
            raise NoPattern
        way.stack.append(Length(held.of, less))

    def do_BINARY_SUBSCR(self, way: Way, made: Instruction) -> None:
        key, held = way.stack.pop(), way.stack.pop()
        index = -key.less if isinstance(key, Length) else getattr(key, "value", None)
        if not isinstance(held, Piece) or type(index) is not int:
            raise NoPattern
        part = Piece()
        way.facts.append(Fact("item", held, (index, part)))
        way.stack.append(part)

    def do_BUILD_MAP(self, way: Way, made: Instruction) -> None:
        way.stack.append(Piece())

    def do_DICT_UPDATE(self, way: Way, made: Instruction) -> None:
        source = way.stack.pop()
        way.facts.append(Fact("rest", source, way.stack[1 - made.arg - 1]))

    def do_DELETE_SUBSCR(self, way: Way, made: Instruction) -> None:
        del way.stack[-2:]

    def do_COPY(self, way: Way, made: Instruction) -> None:
        way.stack.append(way.stack[-made.arg])

    def do_SWAP(self, way: Way, made: Instruction) -> None:
        way.stack[-1], way.stack[-made.arg] = way.stack[-made.arg], way.stack[-1]

    def do_POP_TOP(self, way: Way, made: Instruction) -> None:
        way.stack.pop()

    def _store(self, way: Way, made: Instruction) -> None:
        piece = way.stack.pop()
        if not isinstance(piece, Piece):
            raise NoPattern
        self.names.setdefault(piece, []).append(made.arg)
        way.is_stored = True

    do_STORE_FAST = do_STORE_DEREF = do_STORE_GLOBAL = _store

    # -- values that are compared ----------------------------------------------------------------------------------

    def _push(self, way: Way, made: Instruction, node: ast.expr) -> None:
        line, end, column, end_column = made.position
        node.lineno, node.col_offset = line or 1, column or 0
        node.end_lineno, node.end_col_offset = end or node.lineno, end_column or 0
        way.stack.append(node)

    def do_LOAD_CONST(self, way: Way, made: Instruction) -> None:
        self._push(way, made, ast.Constant(made.arg))

    def _name(self, way: Way, made: Instruction) -> None:
        self._push(way, made, ast.Name(made.arg, LOAD))

    do_LOAD_FAST = do_LOAD_DEREF = do_LOAD_GLOBAL = _name

    def do_LOAD_ATTR(self, way: Way, made: Instruction) -> None:
        value = way.stack.pop()
        if not isinstance(value, ast.expr):
            raise NoPattern
        self._push(way, made, ast.Attribute(value, made.arg, LOAD))

    def do_BUILD_TUPLE(self, way: Way, made: Instruction) -> None:
        parts = way.stack[len(way.stack) - made.arg :]
        if not all(isinstance(p, ast.expr) for p in parts):
            raise NoPattern
        del way.stack[len(way.stack) - made.arg :]
        self._push(way, made, ast.Tuple(parts, LOAD))

    # -- the pattern -----------------------------------------------------------------------------------------------

    def pattern(self, piece: Piece, facts: list[Fact]) -> Any:
        """What is asked of a piece, as syntax.

        Raises:
            NoPattern: no pattern asks for this.
        """
        mine = [f for f in facts if f.piece is piece]
        found = self._asked(mine, facts) if mine else None
        names = self.names.get(piece, ())
        for name in names:
            found = ast.MatchAs(found, name)
        return found if found is not None else ast.MatchAs(None, None)

    def _asked(self, mine: list[Fact], facts: list[Fact]) -> Any:
        told = {f.kind: f.told for f in mine}
        match mine[0].kind:
            case "value":
                return ast.MatchValue(told["value"])
            case "is":
                return ast.MatchSingleton(told["is"])
            case "or":
                return ast.MatchOr([self._alternative(mine[0].piece, *one) for one in told["or"]])
            case "class":
                kind, n, names, parts = told["class"]
                made = [self.pattern(p, facts) for p in parts]
                if len(made) != n + len(names):
                    raise NoPattern
                return ast.MatchClass(kind, made[:n], list(names), made[n:])
            case "mapping":
                keys, parts = told.get("keys", ([], []))
                rest = self.names.get(told["rest"], [None])[0] if "rest" in told else None
                return ast.MatchMapping(list(keys), [self.pattern(p, facts) for p in parts], rest)
            case "sequence":
                return ast.MatchSequence(self._items(mine, told, facts))
        raise NoPattern

    def _alternative(self, piece: Piece, facts: list[Fact], same: dict[Any, Piece]) -> Any:
        for mine, other in same.items():
            if isinstance(mine, Piece) and other in self.names and mine is not piece:
                self.names[mine] = self.names[other]
        outer = self.names.pop(piece, None)
        try:
            return self.pattern(piece, facts)
        finally:
            if outer is not None:
                self.names[piece] = outer

    def _items(self, mine: list[Fact], told: dict[str, Any], facts: list[Fact]) -> list[Any]:
        if "items" in told:
            parts, star = told["items"]
            made = [self.pattern(p, facts) for p in parts]
            if star is not None:
                made[star] = ast.MatchStar(self.names.get(parts[star], [None])[0])
            return made
        if "length" not in told:
            return [ast.MatchStar(None)]
        is_exact, n = told["length"]
        made = [ast.MatchAs(None, None) for _ in range(n)]
        items = dict(f.told for f in mine if f.kind == "item")
        for index, part in items.items():
            made[index] = self.pattern(part, facts)
        if not is_exact:
            made.insert(max((i + 1 for i in items if i >= 0), default=0), ast.MatchStar(None))
        return made
