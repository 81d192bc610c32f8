"""Structures in memory: fields with names and types, of CPython's objects and of rows of words of our own.

SIZE = Field("size", "i64", 16)         # an offset in bytes that knows its type
STEP = Struct("step", op="ptr", operands="i64", shape="i64[4]")
f.get(step, STEP.op)                    # in text: a pointer
block[STEP.operands.word] = 3           # in Python
block = [0] * STEP.n_words
"""

from __future__ import annotations

from typing import Any

__all__ = ["Field", "Struct"]


class Field(int):
    """How many bytes a field lies from the start of its structure.

    Attributes:
        type: as LLVM spells it.
        name: for messages.
    """

    type: str
    name: str

    def __new__(cls, name: str, type: str, offset: int) -> Field:
        made = super().__new__(cls, offset)
        made.name, made.type = name, type
        return made

    @property
    def word(self) -> int:
        """The number of its word."""
        return self // 8

    def __str__(self) -> str:
        return int.__repr__(self)

    def __repr__(self) -> str:
        return f"<{self.type} {self.name} at {int(self)}>"


class Struct:
    """A row of words, each a field; ``"i64[4]"`` is four of them, and the field is the first.

    Attributes:
        n_words: its size.
        n_bytes: its size.
    """

    def __init__(self, name: str, **fields: str) -> None:
        self.name, self.fields, self.n_words = name, dict[str, Field](), 0
        for field, declared in fields.items():
            type, _, count = declared.partition("[")
            self.fields[field] = Field(f"{name}.{field}", type, 8 * self.n_words)
            self.n_words += int(count[:-1]) if count else 1
        self.n_bytes = 8 * self.n_words

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__.get("fields", {}).get(name)
        if found is None:
            raise AttributeError(f"{self.__dict__.get('name')} has no field {name}")
        return found
