"""Many programs in worker processes: a program that kills its process or never ends is a finding, not the end."""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

WAIT = 300.0
"""Seconds by the clock after which a worker is given up."""
MEMORY = 8 << 30
"""Bytes that a worker may take."""
FRESH = 150
"""Programs after which a worker is replaced by a fresh one."""
ROTATING = ("O0", "bytecode", "trace", "interpreter", "graph")


def modes_of(seed: int, modes: str) -> list[str]:
    """The modes for a seed: ``jit`` and one of the others in turn, all, or those that are named."""
    if modes == "turns":
        return ["jit", ROTATING[seed % len(ROTATING)]]
    return ["jit", *ROTATING] if modes == "all" else modes.split(",")


# In the worker --------------------------------------------------------------------------------------------------------


def worker() -> None:
    """Reads requests, one line of JSON each, and answers them."""
    from .observe import check
    from .writer import generate

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        seed, modes = json.loads(line)
        start = time.process_time()
        answer: dict[str, Any] = {"seed": seed}
        source = generate(seed)
        out.write(json.dumps({"source": source}) + "\n")
        out.flush()
        found, runs = check(source, modes)
        first = runs.get(modes[0])
        eager = runs["eager"]
        answer["captured"] = bool(first and first.captured)
        answer["reasons"] = first.reasons if first else []
        answer["ended"] = sum(part == "result" for part, _, _ in eager.shown)
        answer["seconds"] = time.process_time() - start
        answer["found"] = None
        if found is not None:
            answer["found"] = {"kind": found.kind, "mode": found.mode, "text": str(found), "sign": sign(found)}
        out.write(json.dumps(answer) + "\n")
        out.flush()


def sign(found: Any) -> str:
    """A finding's class: equal for findings that most probably have one cause."""
    have, want = found.actual, found.expected
    text = ""
    if found.part in ("internal", "escaped", "slow", "crash"):
        text = re.sub(r"\d+|'[^']*'|0x\w+", "_", str(have))[:100]
    elif isinstance(have, tuple) and have and have[0] in ("raised", "result"):
        text = f"{have[0]} {have[1] if have[0] == 'raised' else ''}"
    elif found.part == "raised":
        text = f"{want} -> {have}"
    return f"{re.sub(r'outside .*', 'outside', found.part)}: {text}".strip()


# In the parent --------------------------------------------------------------------------------------------------------


class Worker:
    """A worker process, started when it is needed."""

    def __init__(self, python: str) -> None:
        self.python = python
        self.process: subprocess.Popen[bytes] | None = None
        self.answered = 0

    def ask(self, seed: int, modes: list[str]) -> dict[str, Any]:
        """The answer to a seed; what happened, if there is none."""
        if self.process is None or self.answered >= FRESH:
            self.stop()
            command = [self.python, "-m", "tests.fuzz", "worker"]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            threading.Thread(target=self._drain, args=(self.process,), daemon=True).start()
            self.answered = 0
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps([seed, modes]).encode() + b"\n")
            self.process.stdin.flush()
            source = self._line().get("source", "")
        except (OSError, EOFError):
            return self._lost(seed, "", "crash")
        except TimeoutError:
            return self._lost(seed, "", "slow")
        try:
            answer = self._line()
        except EOFError:
            return self._lost(seed, source, "crash")
        except TimeoutError:
            return self._lost(seed, source, "slow")
        self.answered += 1
        return {**answer, "source": source}

    def _drain(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr is not None
        self.tail: collections.deque[bytes] = collections.deque(maxlen=20)
        for line in process.stderr:
            self.tail.append(line)

    def _line(self) -> dict[str, Any]:
        assert self.process is not None and self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], WAIT)[0]:
            raise TimeoutError
        line = self.process.stdout.readline()
        if not line:
            raise EOFError
        return json.loads(line)  # type: ignore[no-any-return]

    def _lost(self, seed: int, source: str, kind: str) -> dict[str, Any]:
        assert self.process is not None
        if kind == "slow":
            self.process.send_signal(signal.SIGKILL)
        code = self.process.wait()
        self.process = None
        what = "by the clock" if kind == "slow" else signal.Signals(-code).name if code < 0 else f"status {code}"
        if kind == "crash" and code >= 0:
            what += ": " + b"".join(list(self.tail)[-3:]).decode(errors="replace")
        found = {"kind": kind, "mode": "?", "text": f"{kind}: {what}", "sign": f"{kind}: {what[:80]}"}
        return {
            "seed": seed,
            "source": source,
            "captured": False,
            "reasons": [],
            "ended": 0,
            "seconds": 0.0,
            "found": found,
        }

    def stop(self) -> None:
        """Ends the process."""
        if self.process is not None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def small(python: str, path: Path, modes: list[str], effort: int) -> tuple[str, str]:
    """The shrunk program of a file, and what differs; shrunk in a process of its own."""
    command = [python, "-m", "tests.fuzz", "shrink", str(path), "--modes", ",".join(modes), "--effort", str(effort)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout:
        return path.read_text(encoding="utf-8"), f"(not shrunk: {done.stderr.strip().splitlines()[-1:]})"
    first, _, rest = done.stdout.partition("\n")
    return rest, first


def programs(options: argparse.Namespace) -> int:
    """Generates, compares, shrinks, reports; the number of findings."""
    end = time.monotonic() + options.seconds
    counts: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    signs: collections.Counter[str] = collections.Counter()
    lock = threading.Lock()
    following = iter(range(options.first, options.first + options.count))
    options.out.mkdir(parents=True, exist_ok=True)

    def serve() -> None:
        one = Worker(options.python)
        while time.monotonic() < end:
            with lock:
                seed = next(following, None)
            if seed is None:
                break
            modes = modes_of(seed, options.modes)
            answer = one.ask(seed, modes)
            found = answer["found"]
            with lock:
                counts["programs"] += 1
                counts["captured"] += answer["captured"]
                counts["results"] += bool(answer["ended"])
                reasons.update({re.sub(r"'[^']*'|\d+|\bv_\b", "_", reason): 1 for reason in answer["reasons"]})
                if found is None:
                    continue
                if any(re.search(pattern, found["text"] + found["sign"]) for pattern in options.ignore):
                    counts["ignored"] += 1
                    continue
                counts["findings"] += 1
                signs[found["sign"]] += 1
                number = signs[found["sign"]]
            path = options.out / f"p{seed}.py"
            head = f"# seed {seed}, {found['text']}".replace("\n", " ") + "\n"
            path.write_text(head + answer["source"], encoding="utf-8")
            if number <= options.shrink:
                source, text = small(
                    options.python, path, modes if found["mode"] == "?" else [found["mode"]], options.effort
                )
                path.write_text(f"# seed {seed}, {text or found['text']}\n{source}", encoding="utf-8")
                shown = source[source.find("def between") :] if len(source) > 3000 else source
                with lock:
                    print(f"==== seed {seed}: {text}\n{shown}", flush=True)
            else:
                print(f"==== seed {seed}: {found['text']}", flush=True)
        one.stop()

    threads = [threading.Thread(target=serve) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = max(1, counts["programs"])
    shares = {name: f"{100 * counts[name] / total:.0f} %" for name in ("captured", "results")}
    print(
        f"{counts['programs']} programs from seed {options.first}, {shares['captured']} captured as a whole, "
        f"{shares['results']} with results, {counts['findings']} differ, {counts['ignored']} of known classes"
    )
    for sign_, count in signs.most_common():
        print(f"{count:5} {sign_}")
    print("not captured:")
    for reason, count in reasons.most_common(options.reasons):
        print(f"{count:5} {reason}")
    return counts["findings"]
