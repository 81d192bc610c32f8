"""Budgets of compile time and call time: figures in ``budgets.json``, which a command compares (`scripts/budgets`).

A workload gives figures of one fresh process: times of the stages of a first call and of later calls, and counts that
are the same every time (Python calls of a compilation, characters of LLVM text). Times of different machines, or of one
machine at different hours, say nothing about each other. So the commit whose figures were recorded is measured again,
turn by turn with the working tree, and what is compared is the median of the ratios of neighbouring measurements.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench._mindspore_steps import step
from bench._workloads import digits_batch, digits_networks, per_call, seed_networks, tensor, training_step

ROOT = Path(__file__).parents[1]
FILE = ROOT / "bench" / "budgets.json"
ALLOWED = {"ms": 1.05, "us": 1.05, "calls": 1.02, "characters": 1.02}
"""By the unit of a figure, which is its last word: how much larger than the base's it may be."""

Figures = dict[str, float]


# What is measured -----------------------------------------------------------------------------------------------------


def workloads(ms: Any) -> dict[str, Callable[[], Figures]]:
    """By name; each is run in a process of its own that has compiled nothing before."""
    networks, digits = seed_networks(ms), digits_networks(ms)
    vectors = [tensor(ms, 8, seed=k) for k in range(50)]

    def chain(x: Any, y: Any) -> Any:
        for _ in range(4):
            x = ms.ops.tanh(x * y + 1.0)
        return x

    def mixed(x: Any, y: Any) -> Any:
        a = x * y + 1.0
        b = ms.ops.relu(a) - y
        c = ms.ops.sigmoid(b) * a
        d = ms.ops.exp(c).sum()
        e = (a + d).mean()
        return ms.ops.tanh(b) * e + ms.ops.sqrt(ms.ops.abs(c))

    def roots(x: Any) -> Any:
        y = x * 0 + 50.0
        while (ms.ops.abs(y * y * y - x) / x).max() > 1e-5:
            y = y - (y * y * y - x) / (3 * y * y)
        return (y * 2.0 if y.mean() > 3.0 else y - 1.0).sum()

    def total(*args: Any) -> Any:
        out = args[0] + 1.0
        for x in args[1:]:
            out = out + x
        return out

    def seed(name: str) -> tuple[Any, tuple[Any, ...]]:
        build, inputs = networks[name]
        return build(), inputs

    first: dict[str, Callable[[], tuple[Any, tuple[Any, ...]]]] = {
        "first call, 12 ops": lambda: ((lambda x, y: chain(x, y)), tuple(vectors[:2])),
        "first call, mixed ops": lambda: ((lambda x, y: mixed(x, y)), tuple(vectors[:2])),
        "first call, Newton": lambda: ((lambda x: roots(x)), (vectors[0] + 1.0,)),
        "first call, Newton, from bytecode": lambda: ((lambda x: roots(x)), (vectors[0] + 1.0,)),
        "first call, five layers": lambda: seed("five layers"),
        "first call, digits mlp step": lambda: (training_step(ms, digits["mlp"]()), digits_batch(ms)),
        "first call, digits cnn step": lambda: (training_step(ms, digits["cnn"]()), digits_batch(ms)),
        "first call, GPT step": lambda: step(ms, "GPT, 2 layers")[:2],
    }
    calls: dict[str, Callable[[], Callable[[], Any]]] = {
        "call, 1 tensor": lambda: _call(ms, total, vectors[:1]),
        "call, 10 tensors": lambda: _call(ms, total, vectors[:10]),
        "call, 50 tensors": lambda: _call(ms, total, vectors),
        "call, digits mlp step": lambda: _call(ms, training_step(ms, digits["mlp"]()), digits_batch(ms)),
        "eager, a + b": lambda: lambda: vectors[0] + vectors[1],
        "eager, 12 ops": lambda: lambda: chain(*vectors[:2]),
    }
    return {
        **{name: (lambda name=name, make=make: _first_call(ms, make, name)) for name, make in first.items()},
        **{name: (lambda make=make: _later_calls(make())) for name, make in calls.items()},
    }


def _call(ms: Any, function: Callable[..., Any], args: Any) -> Callable[[], Any]:
    compiled, args = ms.jit(function), tuple(args)
    return lambda: compiled(*args)


def _later_calls(call: Callable[[], Any]) -> Figures:
    case = per_call(call)
    return {"us": min(case() for _ in range(5)) * 1e6}  # whoever shares the machine only ever adds to a time


def _first_call(ms: Any, make: Callable[[], tuple[Any, tuple[Any, ...]]], name: str) -> Figures:
    from duograph.base.events import record

    function, args = make()
    how = {"capture_mode": "bytecode"} if name.endswith("bytecode") else {}
    compiled = ms.jit(function, **how)
    with record() as log:
        compiled(*args)
    stats, made = compiled.stats, log.of_kind("compiled")
    again, count = ms.jit(make()[0], **how), 0

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    again.prepare(*args)
    sys.setprofile(None)
    return {
        "capture ms": stats["capture_ms"],
        "compile ms": stats["compile_ms"],  # passes, lowering and LLVM
        "LLVM ms": 1e3 * sum(e.data["seconds"] for e in made),
        "LLVM characters": sum(e.data["characters"] for e in made),
        "Python calls": count,
    }


def serve() -> None:
    """Answers each line of input, the name of a workload, with a line of its figures."""
    import duograph as ms

    known = workloads(ms)
    ms.jit(lambda x: x + 1)(ms.Tensor([1.0]))  # what a process compiles once is no part of a workload
    gc.collect()
    gc.freeze()
    print(json.dumps([*known, ms.__file__]), flush=True)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            print(json.dumps(known[line.strip()]()), flush=True)
            os._exit(0)
        os.waitpid(child, 0)


# How it is compared ---------------------------------------------------------------------------------------------------


class Tree:
    """The package of a folder, ready to run workloads: they are of this tree, and use the public names only."""

    def __init__(self, folder: Path) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": f"{folder}/src",
            "MS_COMPILER_CACHE_ENABLE": "0",
            "PYTHONHASHSEED": "0",
        }
        environment.pop("DUOGRAPH_CACHE_DIR", None)
        command = [sys.executable, "-m", "bench._budgets", "serve"]
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        *self.names, file = self._answer()
        assert Path(file).is_relative_to(folder), f"{file} is not the package of {folder}"

    def figures(self, name: str) -> Figures:
        """One measurement."""
        assert self._process.stdin is not None
        print(name, file=self._process.stdin, flush=True)
        return self._answer()

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


def machine() -> str:
    """Where figures come from."""
    model = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "")
    name = model.partition(":")[2].strip() or platform.machine()
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"


def git(*arguments: str) -> bytes:
    """What a git command says."""
    return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True).stdout


def lay_out(commit: str, folder: Path) -> Path:
    """The package of a commit."""
    subprocess.run(["tar", "-x", "-C", folder], input=git("archive", commit, "src"), check=True)
    return folder


def is_here(commit: str) -> bool:
    """Whether the history of what is checked out has a commit."""
    command = ["git", "-C", ROOT, "merge-base", "--is-ancestor", commit, "HEAD"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def why_not_recorded() -> str:
    """Why figures of what is checked out would be those of no commit, or of one that will be lost; \"\" if not."""
    if git("status", "--porcelain", "--", "src", "bench", f":!{FILE.relative_to(ROOT)}").strip():
        return "src or bench differ from the commit that is checked out: commit them first"
    if subprocess.run(["git", "-C", ROOT, "symbolic-ref", "-q", "HEAD"], check=False, capture_output=True).returncode:
        return "no branch is checked out: its commit would be on none"
    return ""


def record(rounds: int) -> int:
    """Measures the commit that is checked out, and writes the figures, to be committed by themselves: a commit that is
    amended later is another one."""
    if why := why_not_recorded():
        print(f"not recorded: {why}", file=sys.stderr)
        return 2
    commit = git("rev-parse", "HEAD").decode().strip()
    tree = Tree(ROOT)
    measured = {name: [tree.figures(name) for _ in range(rounds)] for name in tree.names}
    tree.close()
    figures = {
        name: {key: round(min(f[key] for f in found), 3) for key in found[0]} for name, found in measured.items()
    }
    recorded = {"commit": commit, "machine": machine(), "allowed": ALLOWED, "figures": figures}
    FILE.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")
    return 0


def compare(base: str, rounds: int, only: str) -> int:
    """Prints each figure as recorded, of the base, and now; 1 if one is over its budget."""
    recorded = json.loads(FILE.read_text(encoding="utf-8"))
    base = base or recorded["commit"]
    if not is_here(base):
        print(f"the history of what is checked out has no commit {base}: name another base", file=sys.stderr)
        return 2
    print(f"recorded: {recorded['commit'][:10]} on {recorded['machine']}\nbase {base[:10]} and now: {machine()}")
    print(f"{'':<40}{'recorded':>12}{'base':>12}{'now':>12}   now / base")
    over = 0
    with tempfile.TemporaryDirectory(prefix="duograph-budgets-") as folder:
        trees = Tree(lay_out(base, Path(folder))), Tree(ROOT)
        for name in trees[1].names:
            if only not in name or name not in trees[0].names:
                continue
            # Turn by turn, and who begins alternates: a slow moment of the machine hits both.
            pairs = [
                [tree.figures(name) for tree in trees[:: 1 - 2 * (k % 2)]][:: 1 - 2 * (k % 2)] for k in range(rounds)
            ]
            for key in pairs[0][1]:
                figures = [[f[key] for f in side] for side in zip(*pairs, strict=True)]
                ratio, is_over = verdict(*figures, recorded["allowed"][key.split()[-1]])
                over += is_over
                known = recorded["figures"].get(name, {}).get(key)
                shown = [f"{known:12.2f}" if known is not None else " " * 12, *[f"{min(f):12.2f}" for f in figures]]
                print(
                    f"{name + ': ' + key:<40}{''.join(shown)}   x {ratio:.3f}{' OVER' if is_over else ''}", flush=True
                )
        for tree in trees:
            tree.close()
    print(f"{over} over their budget")
    return int(over > 0)


def verdict(base: list[float], now: list[float], allowed: float) -> tuple[float, bool]:
    """The median of the ratios, and whether it is over the budget: three quarters of the ratios, and the ratio of the
    least figures, must say so too, since one slow moment of the machine is no change of the code."""
    ratios = sorted(n / b if b else 1.0 for b, n in zip(base, now, strict=True))
    return statistics.median(ratios), ratios[len(ratios) // 4] > allowed and min(now) > allowed * min(base)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="scripts/budgets", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("serve", help="(for this program itself)")
    written = commands.add_parser("record", help="measures the commit that is checked out and writes budgets.json")
    compared = commands.add_parser("compare", help="measures the working tree and a base, turn by turn")
    compared.add_argument("base", nargs="?", default="", help="a commit; default: the one that was recorded")
    compared.add_argument("--only", default="", help="a part of the names of workloads")
    for command in (written, compared):
        command.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    match options.command:
        case "serve":
            serve()
            return 0
        case "record":
            return record(options.rounds)
        case _:
            return compare(options.base, options.rounds, options.only)


if __name__ == "__main__":
    sys.exit(main())
