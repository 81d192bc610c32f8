"""What kernels and executables return: 0, or the largest failure code that was noted (`docs/native.md`)."""

from __future__ import annotations

INDEX, MEMORY, OVERFLOW, ZERO_DIVISION, ASSERTION, RECURSION, RED_ZONE, TOO_SMALL, HOST = range(1, 10)

EXCUSED = (MEMORY, OVERFLOW, ASSERTION, RECURSION)
"""Limits and assumptions of native code that the interpreter does not have: it repeats the call, and may find nothing
wrong. After any other status it raises what the user is to see."""

MEANING = {
    INDEX: "an index is out of range",
    MEMORY: "out of memory",
    OVERFLOW: "a number does not fit into 64 bits",
    ZERO_DIVISION: "division by zero",
    ASSERTION: "an assertion failed",
    RECURSION: "the recursion is too deep for native code",
    RED_ZONE: "code has written where it must not",
    TOO_SMALL: "the arena is too small",
    HOST: "a step that runs in Python raised",
}
"""Codes in words, for notes and for `explain`."""

REPEATABLE = (INDEX, OVERFLOW, ZERO_DIVISION, ASSERTION, RECURSION)
"""What plain Python may answer as well as the interpreter."""


class NotRepeated(Exception):
    """A call noted a failure, and nobody has repeated it yet.

    Args:
        what: the failure in words.
        excused: whether the repetition need not raise.
    """

    def __init__(self, what: str, excused: bool) -> None:
        super().__init__(what)
        self.excused = excused
