"""Two recordings (`record`) entry by entry: only their files are read, so it does not matter how the trees look."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from tests.replay.record import FAILED

Text = tuple[str, str]
"""Of an entry: digest and title."""


class Recording:
    """What `record.record` has left in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.conditions = (folder / "conditions").read_text(encoding="utf-8")
        place = folder / "entries"
        self.entries: dict[str, list[Text]] = {
            unquote(path.relative_to(place).as_posix()): [
                (digest, title)
                for digest, _, title in (line.partition(" ") for line in path.read_text(encoding="utf-8").splitlines())
            ]
            for path in sorted(place.rglob("*"))
            if path.is_file()
        }

    def text(self, digest: str) -> list[str]:
        """The lines of a text; none of one that could not be written."""
        path = self.folder / "texts" / digest
        return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []

    def failures(self) -> list[str]:
        """Entries that did not run to their end, with the reason."""
        return [
            f"{name}: {title.removeprefix(FAILED)}"
            for name, texts in self.entries.items()
            for _, title in texts
            if title.startswith(FAILED)
        ]


class Comparison:
    """What is different in ``now``.

    Attributes:
        equal, different: names of entries that both have.
        only_base, only_now: names of those that one has.
    """

    def __init__(self, base: Recording, now: Recording) -> None:
        self.base, self.now = base, now
        both = [name for name in now.entries if name in base.entries]
        self.equal = [name for name in both if base.entries[name] == now.entries[name]]
        self.different = [name for name in both if base.entries[name] != now.entries[name]]
        self.only_base = [name for name in base.entries if name not in now.entries]
        self.only_now = [name for name in now.entries if name not in base.entries]
        self._shown: dict[tuple[str, str], str] = {}

    @property
    def is_same(self) -> bool:
        """Whether the trees compile the same texts."""
        return not (self.different or self.only_base or self.only_now)

    def summary(self) -> str:
        """One line of numbers."""
        return (
            f"{len(self.base.entries.keys() | self.now.entries.keys())} entries: {len(self.equal)} equal, "
            f"{len(self.different)} different, {len(self.only_now)} only here, {len(self.only_base)} only there"
        )

    def report(self, most: int = 0) -> Iterator[str]:
        """What is different, as lines: nothing if nothing is.

        Args:
            most: lines of each text; 0: all.
        """
        for name in self.different:
            yield f"==== {name}"
            for lines in self._differences(name):
                yield from lines[:most] if most else lines
                if 0 < most < len(lines):
                    yield f"  ({len(lines) - most} more lines)"
        for name in self.only_now:
            yield f"==== {name}: only here"
        for name in self.only_base:
            yield f"==== {name}: only there"

    def _differences(self, name: str) -> Iterator[list[str]]:
        """Per text that differs, how."""
        there, here = self.base.entries[name], self.now.entries[name]
        if sorted(there) == sorted(here):
            yield ["the same texts in another order:", *_diff([t for _, t in there], [t for _, t in here])]
            return
        for old, new in _pairs(there, here):
            title = (new or old or ("", ""))[1]
            digests = old[0] if old else "", new[0] if new else ""
            first = self._shown.setdefault(digests, name)
            if first != name:  # a kernel that a hundred programs use is shown once
                yield [f"-- {title}: as in {first}"]
                continue
            how = "" if old and new else " (only here)" if new else " (only there)"
            yield [f"-- {title}{how}", *_diff(self.base.text(digests[0]), self.now.text(digests[1]))]


def _pairs(there: Sequence[Text], here: Sequence[Text]) -> Iterator[tuple[Text | None, Text | None]]:
    """The texts that are not in both: those of one title, in their order, are each other's counterparts."""
    lost = [text for text in there if text not in here]
    for new in here:
        if new not in there:
            old = next((text for text in lost if text[1] == new[1]), None)
            if old is not None:
                lost.remove(old)
            yield old, new
    for old in lost:
        yield old, None


def _diff(there: list[str], here: list[str]) -> list[str]:
    return list(difflib.unified_diff(there, here, "there", "here", n=3, lineterm=""))[2:]
