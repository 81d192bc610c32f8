"""Compiled loop IR on disk, found by symbols.

What is compiled together is one entry of the disk cache: a *pack*. Symbols are hashes of loop IR, so symbols, target
and code generator decide what a pack contains: to find it, no LLVM text is written. Besides, each function of a pack
has an entry that names the pack: a program that has changed a little finds all but the changed kernels in the packs of
the program as it was.

    pack        "P", length of the head, head, objects; head: lines with the names, an empty one, lines with the imports
    reference   "R", name of the entry of the pack
"""

from __future__ import annotations

import functools
import hashlib
import struct
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from duograph.base.failures import internal_failure
from duograph.lower import emit
from duograph.lower.loop import types
from duograph.lower.target import Target
from duograph.runtime.machine import code, diskcache, llvm

__all__ = ["Pack", "find", "keep", "reject"]


@dataclass(frozen=True, eq=False)
class Pack:
    """Object code of functions.

    Attributes:
        names: symbols of the functions, in order.
        imports: what they call besides.
    """

    names: tuple[str, ...]
    imports: tuple[str, ...]
    objects: list[bytes]


def _never(_: str) -> bool:
    return False


def find(symbols: Collection[str], target: Target, is_known: Callable[[str], bool] = _never) -> list[Pack]:
    """Packs with as many of ``symbols`` as there are, and with what those packs import that is not known."""
    if diskcache.folder() is None:
        return []
    exact = _content(_entry(symbols, target))
    packs = [exact] if isinstance(exact, Pack) else []
    covered = {name for pack in packs for name in pack.names}
    wanted = [*sorted(s for s in symbols if s not in covered), *_unknown(packs, is_known)]
    while wanted:
        symbol = wanted.pop()
        if symbol in covered:
            continue
        covered.add(symbol)
        content = _content(_entry([symbol], target))
        if isinstance(content, str):
            content = _content(content)
        if isinstance(content, Pack):
            packs.append(content)
            covered.update(content.names)
            wanted += _unknown([content], is_known)
    return packs


def keep(pack: Pack, target: Target) -> None:
    """Leaves a pack for later processes."""
    if diskcache.folder() is None:
        return
    entry = _entry(pack.names, target)
    if diskcache.store(entry, _packed(pack)) and len(pack.names) > 1:
        for name in pack.names:
            diskcache.store(_entry([name], target), b"R" + entry.encode())


def reject(pack: Pack, target: Target, reason: str) -> None:
    """Notes that a pack cannot be linked."""
    diskcache.discard(_entry(pack.names, target), reason)


def _unknown(packs: Iterable[Pack], is_known: Callable[[str], bool]) -> list[str]:
    return [symbol for pack in packs for symbol in pack.imports if not is_known(symbol)]


def _entry(symbols: Collection[str], target: Target) -> str:
    return diskcache.entry_name("\n".join(sorted(symbols)), _generator(), target.key)


@functools.cache
def _generator() -> str:
    """What turns loop IR into object code."""
    digest = hashlib.sha256()
    emitters = sorted(name for name in list(sys.modules) if name.startswith(f"{emit.__name__}."))
    for name in (*emitters, types.__name__):
        spec = sys.modules[name].__spec__
        digest.update(spec.loader.get_data(spec.origin))  # type: ignore[union-attr]
    return f"{digest.hexdigest()}\n{llvm.code_generator_key()}"


def _packed(pack: Pack) -> bytes:
    head = ("\n".join(pack.names) + "\n\n" + "\n".join(pack.imports)).encode()
    return b"P" + struct.pack("<I", len(head)) + head + code.packed(pack.objects)


def _content(entry: str) -> Pack | str | None:
    """A pack, or the entry where it is."""
    content = diskcache.lookup(entry)
    if content is None:
        return None
    if content[:1] == b"R":
        return content[1:].decode()
    try:
        (length,) = struct.unpack_from("<I", content, 1)
        names, imports = content[5 : 5 + length].decode().split("\n\n")
        return Pack(tuple(names.split("\n")), tuple(imports.split()), code.unpacked(content[5 + length :]))
    except Exception as error:  # noqa: BLE001 - the policy; the file had the right checksum
        internal_failure("the code cache", entry, error)
        diskcache.discard(entry, str(error))
        return None
