"""What stands where in a guard program: `guards.program` writes it, the code of `guards.text` reads it."""

from __future__ import annotations

from duograph.runtime.python.structs import Struct

PROGRAM = Struct("program", args="i64", registers="i64", runs_python="i64")
"""What a program begins with: whether Python may run while it is checked; instructions follow."""

INSTRUCTION = Struct(
    "instruction", operation="i64", target="i64", first="i64", second="i64", version="i64", value="ptr"
)
"""Operation, target register, two operands. The last two are a memory: what a dictionary (or class) gave for a key is
known as long as its version is the same."""

ENTRY = Struct("entry", address="ptr", word="i64", group="ptr", place="i64")
"""Of a table that ``compare`` goes through: address of a word, what stood there when all was well, the instruction to
go on with if something else does, and a place for that."""

TENSOR = Struct("tensor", type="ptr", dtype="ptr", rank="i64", contiguous="i64", shape="i64")
"""What ``tensor`` compares with; `ANY` for contiguity or an extent."""

ANY = -1
"""An extent, or a contiguity, that may be anything."""
