"""What kernels and executables return: 0, or the largest failure code that was noted (`docs/native.md`)."""

from __future__ import annotations

INDEX, MEMORY, OVERFLOW, ZERO_DIVISION, ASSERTION, RECURSION, RED_ZONE, TOO_SMALL, HOST = range(1, 10)

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
