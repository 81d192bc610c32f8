"""Records what this tree compiles: ``python -m tests.replay.record FOLDER [PATTERN...]``.

    FOLDER/entries/<name>     per entry its texts in order: "<digest> <title>"
    FOLDER/texts/<digest>     each different text once
    FOLDER/conditions         written at the end: what recordings must have in common to be compared

The recorder is part of the tree that it records and uses that tree's own names, so that recordings of trees whose
modules lie elsewhere can be compared (`compare`). It listens to the events of the compiler (`base/events.py`) and turns
them into texts: graphs at the end of each stage and as they are lowered, loop IR and LLVM text of kernels, the LLVM
text of launcher, guards, calls and pool, the checks of each guard program and the plan of each native call.

What may differ between two equal trees is not in the texts: addresses have names, source lines of nodes are left out,
and the hashes in symbols are counted within each text, so that a change of one kernel is not one of all its callers.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from duograph.base.cores import available_cores
from duograph.base.events import Event, listen
from duograph.ir.printer import print_graph
from duograph.lower.emit.functions import emit_functions
from duograph.lower.loop.ir import Function
from duograph.lower.target import current_target
from duograph.runtime.kernels import kernels

Entry = Callable[[], Any]
FORMAT = 1
"""Of recordings. Trees with different ones cannot be compared: change it only together with what is recorded."""

FAILED = "failed: "
"""How the title of a text begins that says why an entry did not run to its end."""

SECONDS = 600
"""After which an entry is given up: it is recorded as such."""

_HASH = re.compile(r"(?<=_)[0-9a-f]{24}\b")


def without_hashes(text: str) -> str:
    """``text`` with the hashes in symbols as numbers, in order of first appearance."""
    numbers: dict[str, str] = {}
    return _HASH.sub(lambda found: numbers.setdefault(found[0], str(len(numbers))), text)


class Recorder:
    """A listener that keeps the texts of one entry."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines: dict[str, None] = {}  # in order, each once: caches may ask for a kernel once or twice
        self._kinds: dict[str, Callable[..., None]] = {
            "graph": self._graph,
            "executable": self._executable,
            "kernels": self._kernels,
            "native text": self._native_text,
            "guards": self._guards,
            "native call": self._native_call,
        }

    def __call__(self, event: Event) -> None:
        if event.kind in self._kinds:
            self._kinds[event.kind](**event.data)

    def add(self, title: str, text: str) -> str:
        """Keeps a text; its digest."""
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        path = self.folder / "texts" / digest
        if not path.exists():
            _write(path, text)
        self.lines[f"{digest} {title}"] = None
        return digest

    def _graph(self, stage: str, graph: Any) -> None:
        self.add(f"MindIR: {stage} {graph.name}", print_graph(graph, "mindir", origins=False))

    def _executable(self, graph: Any, level: int) -> None:
        self._graph(f"executable, level {level},", graph)

    def _kernels(self, functions: Iterable[Function]) -> None:
        found: dict[str, Function] = {}
        work = list(functions)[::-1]
        while work:
            function = work.pop()
            if function.symbol not in found:
                found[function.symbol] = function
                known = [kernels.known(symbol) for symbol in function.callees]
                work += [f for f in (*function.linked.values(), *known) if f is not None][::-1]
        for symbol, function in found.items():
            title = f"kernel: {_HASH.sub('', symbol).rstrip('_')}"
            done = self.folder / "symbols" / symbol  # the symbol says all of the loop IR: one entry makes the text
            if done.exists():
                self.lines[f"{done.read_text()} {title}"] = None
                continue
            text = f"{function.text}\n\n{emit_functions([function], current_target())}\n"
            _write(done, self.add(title, without_hashes(text)))

    def _native_text(self, names: Sequence[str], text: str) -> None:
        self.add(f"native text: {', '.join(names[:3])}", without_hashes(text))

    def _guards(self, program: Any) -> None:
        self.add("guards", program.listing())

    def _native_call(self, plan: Any) -> None:
        self.add("native call", plan.listing())


def _write(path: Path, text: str) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def record(folder: Path, patterns: Sequence[str], jobs: int | None = None) -> None:
    """Runs each entry that contains one of the patterns in a child of this process, several at a time.

    The children are forks: modules are imported and the machines of the process (launcher, guards, calls) are made
    once, by the entry "start". Each child begins with no other code than that.
    """
    for name in ("entries", "texts", "symbols"):
        (folder / name).mkdir(parents=True)
    entries: dict[str, Entry] = {}

    def start() -> None:
        from tests.replay import corpus

        entries.update(corpus.entries())
        corpus.start()

    _write(_place(folder, "start"), _texts(folder, start))
    gc.freeze()  # what is here now is nobody's garbage: pages that the collector does not touch stay shared
    waiting = [name for name in entries if not patterns or any(re.search(p, name) for p in patterns)][::-1]
    running: dict[int, str] = {}
    while waiting or running:
        while waiting and len(running) < (jobs or available_cores()):
            name = waiting.pop()
            child = os.fork()
            if not child:
                _child(folder, name, entries[name])
            running[child] = name
        child, status = os.wait()
        name = running.pop(child)
        if status:
            why = f"status {os.waitstatus_to_exitcode(status)}"
            _write(_place(folder, name), f"{'-' * 16} {FAILED}{why}\n")
    _write(folder / "conditions", conditions(patterns))


def conditions(patterns: Sequence[str]) -> str:
    """What texts depend on besides the tree."""
    found = {
        "format": FORMAT, "Python": sys.version, "NumPy": np.__version__, "target": current_target().key,
        "cores": available_cores(), "entries": " ".join(patterns) or "all",
    }  # fmt: skip
    return "".join(f"{name}: {value}\n" for name, value in found.items())


def _child(folder: Path, name: str, entry: Entry) -> None:
    status = 1
    try:
        signal.alarm(SECONDS)
        _write(_place(folder, name), _texts(folder, entry))
        status = 0
    except BaseException:  # noqa: BLE001 - nothing of the parent's may run here
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _texts(folder: Path, entry: Entry) -> str:
    """The contents of the file of an entry that is run now."""
    recorder = Recorder(folder)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), listen(recorder):
        try:
            entry()
        except Exception as error:  # noqa: BLE001 - an entry that fails is a text like others
            recorder.add(f"{FAILED}{type(error).__name__}", f"{error}\n")
    return "".join(f"{line}\n" for line in recorder.lines)


def _place(folder: Path, name: str) -> Path:
    path = folder / "entries" / quote(name, safe=" ,=/")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2:])
