"""From LLVM text to running code, as seldom as possible: in memory, on disk, or else compiled.

    linked = load(text, ["kernel"], symbols={"dg_parallel": ...})
    linked = load(merge([text_a, text_b]), ["a", "b"])        # one module: less to compile, faster to link

Texts are the identity: the same text for the same target is the same code. What has been loaded is found again as long
as somebody keeps it; who keeps nothing, keeps no memory.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass

from duograph.base.events import emit
from duograph.lower.target import Target, current_target
from duograph.runtime import diskcache, machine
from duograph.runtime.machine import Linked, LinkError

__all__ = ["Statistics", "load", "merge", "statistics"]


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


_statistics = Statistics()
_lock = threading.Lock()
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
        return _link(_compile(text, target), names, symbols, keep)
    entry = diskcache.entry_name(text, machine.llvm_version(), str(machine.OPTIMISATION), target.key)
    object_code = diskcache.lookup(entry)
    if object_code is not None:
        try:
            return _link(object_code, names, symbols, keep)
        except LinkError as error:
            diskcache.discard(entry, str(error))
    object_code = _compile(text, target)
    linked = _link(object_code, names, symbols, keep)
    diskcache.store(entry, object_code)
    return linked


def _compile(text: str, target: Target) -> bytes:
    start = time.perf_counter()
    object_code = machine.compile_text(text, target)
    seconds = time.perf_counter() - start
    with _lock:
        _statistics.compiled += 1
        _statistics.compile_time += seconds
    emit("compiled", characters=len(text), bytes=len(object_code), seconds=seconds)
    return object_code


def _link(
    object_code: bytes, names: tuple[str, ...], symbols: Mapping[str, int] | None, keep: tuple[object, ...]
) -> Linked:
    start = time.perf_counter()
    linked = machine.link(object_code, names, symbols, keep)
    with _lock:
        _statistics.linked += 1
        _statistics.link_time += time.perf_counter() - start
        _statistics.code_bytes += len(object_code)
    return linked


_ENTITY = re.compile(
    r"""^(?:declare|define)\b[^@\n]*(@[\w.$-]+|@"[^"]*")"""  # a function
    r"""|^([@%!][\w.$-]+|@"[^"]*")\s*="""  # a variable, a type, metadata
    r"""|^attributes\ (\#\d+)"""
)


def merge(texts: Iterable[str]) -> str:
    """Several modules as one text. What they have in common (declarations, constants, helpers) stands once.

    Every top-level entity begins at the start of a line, and a function ends with a line that begins with "}".

    Raises:
        ValueError: two different functions, constants or attributes of one name.
    """
    entities: dict[str, str] = {}
    for text in texts:
        for name, entity in _entities(text):
            there = entities.setdefault(name, entity)
            if there == entity or entity.startswith("declare"):
                continue
            if not there.startswith("declare"):
                raise ValueError(f"two different definitions of {name}")
            entities[name] = entity
    return "\n".join(entities.values()) + "\n"


def _entities(text: str) -> Iterator[tuple[str, str]]:
    lines = iter(text.splitlines())
    for line in lines:
        match = _ENTITY.match(line)
        if match is None:
            if line.startswith(("target ", "source_filename")):
                yield line.split("=")[0], line
            elif line.strip() and not line.startswith(";"):
                raise ValueError(f"not the beginning of a declaration or definition: {line!r}")
            continue
        if line.startswith("define"):
            body = [line]
            while not body[-1].startswith("}"):
                body.append(next(lines))
            line = "\n".join(body)
        yield next(filter(None, match.groups())), line
