"""What functions of one LLVM text have in common: declarations, constants, attributes."""

from __future__ import annotations

from duograph.lower.loop.ir import Block, Buffer, Value
from duograph.lower.target import Target


class Module:
    """A text under construction.

    Attributes:
        defined: text of each function, by symbol.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self.defined: dict[str, str] = {}
        self.declares: dict[str, None] = {}
        self.words: list[int] = []
        self.places: dict[tuple[int, ...], int] = {}  # of tables among the words

    def declare(self, text: str) -> None:
        """Something outside that is called; only declared if it is not defined here after all."""
        self.declares[text] = None

    def constant(self, words: tuple[int, ...]) -> str:
        """A read-only table of 8-byte words; all of them are parts of one, because each variable takes LLVM time."""
        place = self.places.get(words)
        if place is None:
            place = self.places[words] = len(self.words)
            self.words += words
        return f"getelementptr (i64, ptr @words, i64 {place})" if place else "@words"

    def text(self) -> str:
        """The module."""
        declares = [d for d in self.declares if not any(f"@{name}(" in d for name in self.defined)]
        words = ", ".join([f"i64 {word}" for word in self.words])
        globals_ = [f"@words = private unnamed_addr constant [{len(self.words)} x i64] [{words}]"] if words else []
        legal = f' "min-legal-vector-width"="{self.target.vector_bits}"' if self.target.vector_bits > 256 else ""
        attributes = f"attributes #0 = {{ nounwind{legal} }}"
        return "\n".join([*globals_, *declares, *self.defined.values(), attributes]) + "\n"


def captured(region: Block, known: set[int]) -> list[Value | Buffer]:
    """What a region uses of its surroundings."""
    inside: set[int] = {a.id for a in region.args}
    used: dict[int, Value | Buffer] = {}

    def visit(block: Block) -> None:
        inside.update(a.id for a in block.args)
        for instr in block.instrs:
            for x in instr.operands:
                if not (isinstance(x, Value) and x.const is not None):
                    used[x.id] = x
            inside.update(r.id for r in instr.results)
            for inner in instr.regions:
                visit(inner)
        for x in block.yields:
            if x.const is None:
                used[x.id] = x

    visit(region)
    return [x for id_, x in used.items() if id_ not in inside and id_ in known]
