"""One process: what it gives is what it gets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .transport import DONE, Bytes, Pending, Transport

__all__ = ["Alone"]


class Alone:
    """The transport of a group of one rank."""

    rank = 0
    size = 1

    def __init__(self) -> None:
        self._mail: list[tuple[int, Bytes]] = []

    def exchange(self, frame: Bytes, frames: Bytes) -> Pending:
        frames[0] = frame
        return DONE

    def all_gather(self, part: Bytes, whole: Bytes) -> Pending:
        whole[...] = part
        return DONE

    def all_to_all(self, parts: Bytes, given: Bytes, sizes: Sequence[int], back: Sequence[int]) -> Pending:
        given[...] = parts
        return DONE

    def broadcast(self, data: Bytes, root: int) -> Pending:
        return DONE

    def gather(self, part: Bytes, whole: Bytes | None, root: int) -> Pending:
        assert whole is not None
        whole[...] = part
        return DONE

    def scatter(self, whole: Bytes | None, part: Bytes, root: int) -> Pending:
        part[...] = whole
        return DONE

    def send(self, data: Bytes, to: int, tag: int) -> Pending:
        self._mail.append((tag, data.copy()))
        return DONE

    def probe(self, source: int, tag: int) -> tuple[int, int] | None:
        return next(((0, data.size) for t, data in self._mail if t == tag), None)

    def receive(self, data: Bytes, source: int, tag: int) -> Pending:
        k = next(k for k, (t, _) in enumerate(self._mail) if t == tag)
        data[...] = self._mail.pop(k)[1]
        return DONE

    def own_order(self, data: np.ndarray, op: str) -> Pending | None:
        return DONE

    def split(self, ranks: Sequence[int], number: int) -> Transport:
        return Alone()

    def ended(self, ranks: Sequence[int]) -> list[int]:
        return []

    def answer(self) -> None:
        """Nobody asks."""

    def abort(self, status: int) -> None:
        """There is nobody else: the process ends as any other."""

    def close(self) -> None:
        self._mail.clear()
