"""From LLVM text to running code, as seldom as possible: in memory, on disk, or else compiled.

    linked = load(text, ["kernel"], symbols={"dg_parallel": ...})
    linked = load(merge([text_a, text_b]), ["a", "b"])        # one module: less to compile, faster to link

Texts are the identity: the same text for the same target is the same code. What has been loaded is found again as long
as there is a reference to it, and unmapped when the last one goes.
"""

from __future__ import annotations

import hashlib
import itertools
import struct
import time
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from duograph.base.cores import available_cores
from duograph.base.events import emit
from duograph.base.failures import internal_failure
from duograph.base.fork import fork_safe_lock
from duograph.lower.target import Target, current_target

from . import diskcache, llvm
from .llvm import Linked
from .modules import merge, split

__all__ = ["Statistics", "compile_parts", "link", "load", "merge", "packed", "statistics", "unpacked", "useful_parts"]


@dataclass(slots=True)
class Statistics:
    """How often, and for how many seconds.

    Attributes:
        shared: found in memory.
        compiled: made by LLVM.
        compile_time: seconds of it.
        linked: loaded into memory.
        link_time: seconds of it.
        code_bytes: size of the object code that was loaded.
    """

    shared: int = 0
    compiled: int = 0
    compile_time: float = 0.0
    linked: int = 0
    link_time: float = 0.0
    code_bytes: int = 0


PART = 20_000
"""Characters of text for each further thread that compiles: about 30 ms of work."""

_statistics = Statistics()
_lock = fork_safe_lock()
_loaded: weakref.WeakValueDictionary[tuple[object, ...], Linked] = weakref.WeakValueDictionary()


def statistics() -> dict[str, float]:
    """The figures of this process so far (see `Statistics`), those of the disk cache with `disk_` before their name."""
    return {**asdict(_statistics), **{f"disk_{name}": count for name, count in diskcache.counters().items()}}


def load(
    text: str,
    names: Iterable[str],
    symbols: Mapping[str, int] | None = None,
    target: Target | None = None,
    keep: tuple[object, ...] = (),
) -> Linked:
    """The code of a text, ready to run.

    Args:
        text: an LLVM module.
        names: functions whose addresses are wanted.
        symbols: addresses of what the text calls but does not define (`pool.symbols()`, other code's addresses).
        target: processor. Default: `current_target()`.
        keep: objects that must live as long as the code.

    Raises:
        TextError: LLVM does not accept the text.
        LinkError: a symbol is missing.
    """
    names = tuple(names)
    target = target or current_target()
    emit("native text", names=names, text=text)
    digest = hashlib.sha256(text.encode()).digest()
    identity = (digest, target.key, names, tuple(sorted((symbols or {}).items())))
    found = _loaded.get(identity)
    if found is not None:
        _statistics.shared += 1
        return found
    linked = _from_disk(text, target, names, symbols, keep)
    with _lock:
        return _loaded.setdefault(identity, linked)


def _from_disk(
    text: str, target: Target, names: tuple[str, ...], symbols: Mapping[str, int] | None, keep: tuple[object, ...]
) -> Linked:
    """The code as an earlier process left it, or newly compiled and left for later ones."""
    if diskcache.folder() is None:
        return link(_compile(text, target), names, symbols, keep)
    entry = diskcache.entry_name(text, llvm.code_generator_key(), target.key)
    content = diskcache.lookup(entry)
    if content is not None:
        try:
            return link(unpacked(content), names, symbols, keep)
        except Exception as error:  # noqa: BLE001 - the policy; the file had the right checksum
            internal_failure("the code cache", entry, error)
            diskcache.discard(entry, str(error))
    objects = _compile(text, target)
    linked = link(objects, names, symbols, keep)
    diskcache.store(entry, packed(objects))
    return linked


def packed(objects: list[bytes]) -> bytes:
    """Objects in a cache entry: their number, their lengths, the objects."""
    return struct.pack(f"<I{len(objects)}I", len(objects), *map(len, objects)) + b"".join(objects)


def unpacked(content: bytes) -> list[bytes]:
    """The objects that `packed` has put together.

    Raises:
        struct.error: too short.
    """
    (number,) = struct.unpack_from("<I", content)
    lengths = struct.unpack_from(f"<{number}I", content, 4)
    ends = itertools.accumulate(lengths, initial=4 + 4 * number)
    return [content[start:end] for start, end in itertools.pairwise(ends)]


def _compile(text: str, target: Target) -> list[bytes]:
    return compile_parts(split(text, useful_parts(len(text))), target)


def useful_parts(characters: int) -> int:
    """In how many parts to compile so much text: each costs a millisecond of its own, so small texts stay whole."""
    return max(1, min(available_cores(), characters // PART))


def compile_parts(parts: list[str], target: Target, optimisation: int = llvm.OPTIMISATION) -> list[bytes]:
    """Object code of several texts, made side by side and counted as one compilation."""
    start = time.perf_counter()
    objects = llvm.compile_texts(parts, target, optimisation)
    seconds = time.perf_counter() - start
    with _lock:
        _statistics.compiled += 1
        _statistics.compile_time += seconds
    emit("compiled", characters=sum(map(len, parts)), bytes=sum(map(len, objects)), parts=len(parts), seconds=seconds)
    return objects


def link(
    objects: list[bytes], names: tuple[str, ...], symbols: Mapping[str, int] | None, keep: tuple[object, ...] = ()
) -> Linked:
    """`machine.link`, counted."""
    start = time.perf_counter()
    linked = llvm.link(objects, names, symbols, keep)
    with _lock:
        _statistics.linked += 1
        _statistics.link_time += time.perf_counter() - start
        _statistics.code_bytes += sum(map(len, objects))
    return linked
