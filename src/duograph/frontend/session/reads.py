"""Which storages the ops of a capture have read, and in which version."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

Version = tuple[Any, int]
"""A storage and the stamp of the latest write to it."""


class Reads:
    """The versions of storages that ops have as operands or results, in the order of the ops.

    They are indexed by storage: a path writes to few, and only the ops that have these are looked at (`overwritten`).
    """

    __slots__ = ("_of_storage", "_storages")

    def __init__(self) -> None:
        self._storages: list[list[Any]] = []  # for each op
        self._of_storage: dict[Any, list[tuple[int, int, int]]] = defaultdict(list)  # the op's tag, place, stamp

    def __len__(self) -> int:
        return len(self._storages)

    def add(self, tag: int, versions: Iterable[Version | None]) -> None:
        """The op with this tag has these operands, and its result; ``None``: what no write can change for gradients."""
        storages = []
        for place, version in enumerate(versions):
            if version is not None:
                self._of_storage[version[0]].append((tag, place, version[1]))
                storages.append(version[0])
        self._storages.append(storages)

    def truncate(self, n: int) -> None:
        """Forgets all ops but the first ``n``."""
        while len(self._storages) > n:
            for storage in self._storages.pop():
                self._of_storage[storage].pop()

    def of(self, storages: Iterable[Any]) -> Iterator[tuple[Any, int, int, int]]:
        """Where these storages were read: each with the op's tag, the place, and the stamp that it had then."""
        for storage in storages:
            for tag, place, stamp in self._of_storage.get(storage, ()):
                yield storage, tag, place, stamp
