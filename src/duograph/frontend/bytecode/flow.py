"""The flow of a function: its instructions without the copies that the compiler made, in order, with their loops.

The compiler copies: the test of a loop stands before and behind its body, a short end of a function at each place that
jumps to it. Copies are equal instructions of one place in the source that lead to equal ones; they become one again.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable
from typing import Any

from ..rules.errors import Uncapturable
from .depth import depths
from .instructions import IMPLIED, NOWHERE, Instruction, decode

_LEAVES = {"POP_TOP", "SWAP", "POP_EXCEPT"}
"""What takes from the stack where a ``finally`` clause is left: the exception, the value that was to be returned."""
_PAIRED = {"LOAD_FAST"}
"""What 3.13 makes one instruction of with another: then it may have no place of its own."""


class Flow:
    """``instructions`` by index, 0 is the entry; ``order``: places in reverse postorder; ``loops``: the places of the
    loop that begins at a place, itself among them."""

    def __init__(self, code: types.CodeType) -> None:
        self.instructions = _merged(decode(code, with_heads=True))
        self.order: dict[int, int] = {}
        self.loops: dict[int, set[int]] = {}
        self.before: list[set[int]] = [set() for _ in self.instructions]
        for i, made in enumerate(self.instructions):
            for n in made.next:
                self.before[n].add(i)
        self.depth = depths(self.instructions)
        self._outer: dict[int, int | None] = {}
        self._walk()

    def successors(self, i: int) -> list[int]:
        """What may come after ``i``: the handler of exceptions, too."""
        made = self.instructions[i]
        return [*made.next, *([made.handler[0]] if made.handler is not None else [])]

    def handler(self, i: int) -> int | None:
        """Where the handler of ``try`` or ``with`` around ``i`` begins; those that only tidy up are no statement's."""
        made = self.instructions[i]
        if made.handler is None:
            return None
        h = made.handler[0]
        if h not in self._outer:
            self._outer[h] = h if self.instructions[h].op == "PUSH_EXC_INFO" else self.handler(h)
        return self._outer[h]

    def handlers(self, i: int) -> list[int]:
        """The handlers around ``i``, from inside to outside."""
        found = []
        h = self.handler(i)
        while h is not None and h not in found:
            found.append(h)
            h = self.handler(h)
        return found

    def reach(self, start: int, ends: Iterable[int], inside: Iterable[int]) -> set[int]:
        """All places that can be reached from ``start``; not past ``ends``, nor into one of the handlers ``inside``."""
        ends, inside = set(ends), set(inside)
        seen: set[int] = set()
        work = [start]
        while work:
            i = work.pop()
            if i in seen:
                continue
            seen.add(i)
            if i in ends:
                continue
            work.extend(self.instructions[i].next)
            h = self.handler(i)
            if h is not None and h not in inside:
                work.append(h)
        return seen

    def behind_name(self, i: int) -> int:
        """Behind ``name = None; del name``, with which CPython ends an ``except`` clause that has a name."""
        at = self.instructions
        if at[i].op == "LOAD_CONST" and at[i].arg is None and at[i].next:
            store = at[at[i].next[0]]
            if store.op.startswith("STORE_") and store.next:
                delete = at[store.next[0]]
                if delete.op == store.op.replace("STORE", "DELETE") and delete.arg == store.arg:
                    return delete.next[0]
        return i

    def behind_final(self, handler: int, i: int) -> int | None:
        """Where code goes on behind the copy of a ``finally`` clause that begins at ``i``; None if all its paths leave
        it (``return``, ``break``, ``raise``)."""
        at = self.instructions
        final = at[handler].next[0]
        found: set[int] = set()
        seen: set[tuple[int, int]] = set()
        around = self.handlers(handler)
        work = [(final, i)]
        while work:
            pair = work.pop()
            if pair in seen or pair[0] == pair[1]:
                continue
            seen.add(pair)
            a, b = at[pair[0]], at[pair[1]]
            if a.op == "RERAISE" and self.depth[pair[0]] == self.depth[final]:
                found.add(pair[1])
            elif a.op == b.op and _may_be_copies(a, b):
                work.extend(zip(a.next, b.next, strict=True))
                inner, other = self.handler(pair[0]), self.handler(pair[1])
                if inner is not None and other is not None and inner not in around:  # of a statement in the clause
                    work.append((inner, other))
            elif a.op in _LEAVES:  # what lies on the stack is another thing in each copy
                work.append((a.next[0], pair[1]))
            elif b.op in _LEAVES:
                work.append((pair[0], b.next[0]))
            else:
                raise Uncapturable("a finally clause that is compiled in different ways")
        ends = sorted(found)
        if not all(self._is_copy(ends[0], other) for other in ends[1:]):
            raise Uncapturable("a finally clause that goes on in different ways")
        return ends[0] if ends else None

    def _is_copy(self, i: int, k: int) -> bool:
        """Whether two places are one end of the function, which has another line wherever it follows something else."""
        while i != k:
            a, b = self.instructions[i], self.instructions[k]
            if (
                (a.op, a.arg) != (b.op, b.arg)
                or a.handler != b.handler
                or len(a.next) != len(b.next)
                or len(a.next) > 1
            ):
                return False
            if not a.next:
                break
            i, k = a.next[0], b.next[0]
        return True

    def _walk(self) -> None:
        """Depth first: an edge to a place that is still being visited closes a loop."""
        entered: set[int] = {0}
        active: set[int] = {0}
        back: list[tuple[int, int]] = []
        post: list[int] = []
        stack = [(0, iter(self.successors(0)[::-1]))]
        while stack:
            i, rest = stack[-1]
            for n in rest:
                if n in active:
                    back.append((i, n))
                elif n not in entered:
                    entered.add(n)
                    active.add(n)
                    stack.append((n, iter(self.successors(n)[::-1])))
                    break
            else:
                stack.pop()
                active.discard(i)
                post.append(i)
        self.order = {i: k for k, i in enumerate(reversed(post))}
        preds: dict[int, set[int]] = {}
        for i in self.order:
            for n in self.successors(i):
                preds.setdefault(n, set()).add(i)
        for source, head in back:
            body = self.loops.setdefault(head, {head})
            work = [source]
            while work:
                i = work.pop()
                if i not in body:
                    body.add(i)
                    work.extend(preds.get(i, ()))


def _merged(made: list[Instruction]) -> list[Instruction]:
    """One instruction for all that are equal and lead to equal ones."""
    for i in _implied(made):
        made[i].position = NOWHERE
        if made[i].op == "RETURN_VALUE":
            made[i].arg = IMPLIED
    for i in _of_clauses(made):
        made[i].position = NOWHERE
    for m in made:
        if m.op in ("RERAISE", "POP_EXCEPT"):  # they end a clause, behind each of its ends
            m.position = NOWHERE
    first: dict[Any, int] = {}
    owners = _owners(made)
    labels = [(*_label(m), d, owners.get(i)) for i, (m, d) in enumerate(zip(made, depths(made), strict=True))]
    classes = [first.setdefault(label, len(first)) for label in labels]
    count = len(first)
    while count < len(made):
        first = {}
        refined = []
        for i, m in enumerate(made):
            handler = None if m.handler is None else classes[m.handler[0]]
            key = (classes[i], tuple(classes[n] for n in m.next), handler)
            refined.append(first.setdefault(key, len(first)))
        classes = refined
        if len(first) == count:
            break
        count = len(first)
    if count == len(made):
        return made
    chosen: dict[int, int] = {}
    kept: list[Instruction] = []
    for i, c in enumerate(classes):
        if c not in chosen:
            chosen[c] = len(kept)
            kept.append(made[i])
    renumbered = []
    for one in kept:
        told = one.handler
        if told is not None:
            told = (chosen[classes[told[0]]], told[1], told[2])
        renumbered.append(
            Instruction(
                one.op,
                one.arg,
                one.position,
                tuple(chosen[classes[n]] for n in one.next),
                told,
                one.continues,
                one.is_first,
            )
        )
    return renumbered


def _owners(made: list[Instruction]) -> dict[int, Any]:
    """Of the instructions that end a handler: which handler, by its place in the source if that is known."""
    found: dict[int, Any] = {}
    for begin, m in enumerate(made):
        if m.op != "PUSH_EXC_INFO":
            continue
        place = made[m.next[0]].position
        seen: set[int] = set()
        work = [m.next[0]]
        while work:
            i = work.pop()
            if i in seen:
                continue
            seen.add(i)
            if made[i].op in ("POP_EXCEPT", "RERAISE"):
                found[i] = begin if place[0] is None else place
            else:
                work += made[i].next
    return found


def _may_be_copies(a: Instruction, b: Instruction) -> bool:
    """Whether two instructions of one kind are from one place in the source, as far as that is known."""
    return len(a.next) == len(b.next) and (a.position == b.position or NOWHERE in (a.position, b.position))


def _of_clauses(made: list[Instruction]) -> set[int]:
    """The instructions that end an ``except`` clause: their place is that of what comes before, too."""
    found: set[int] = set()
    for i, m in enumerate(made):
        if m.op.startswith("DELETE_") and i > 1 and made[i - 1].op.startswith("STORE_") and made[i - 1].arg == m.arg:
            if made[i - 2].op == "LOAD_CONST" and m.position == made[i - 1].position == made[i - 2].position:
                found |= {i - 2, i - 1, i}
        elif m.op == "LIST_APPEND" and made[m.next[0]].op in ("PREP_RERAISE_STAR", "CALL_INTRINSIC_2"):
            found.add(i)
    return found


def _label(made: Instruction) -> Any:
    arg = made.arg if made.op != "LOAD_CONST" else (type(made.arg), repr(made.arg))
    handler = None if made.handler is None else made.handler[1:]
    position = NOWHERE if made.op in _PAIRED and sys.version_info >= (3, 13) else made.position
    return made.op, arg, position, handler


def _implied(made: list[Instruction]) -> set[int]:
    """The instructions of ``return None`` at the end of a function, where no statement says so: their place is that of
    what comes before."""
    before: dict[int, list[int]] = {}
    for i, m in enumerate(made):
        for n in m.next:
            before.setdefault(n, []).append(i)
    found = set()
    for i, m in enumerate(made):
        if m.op == "LOAD_CONST" and m.arg is None and made[m.next[0]].op == "RETURN_VALUE":
            places = {made[b].position for b in before.get(i, ())}
            if m.position[0] is None or m.position in places or not before.get(i):
                found |= {i, m.next[0]}
    return found
