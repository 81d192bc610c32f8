"""What CI runs on which CPython: everything on one, and on the others what the interpreter can change.

Every folder and file directly below ``tests`` and ``tests/unit`` has a row; `tests/gate/test_gate.py` keeps that true.
"""

from __future__ import annotations

import ast
import pathlib
import zlib

PYTHONS = ("3.11", "3.12", "3.13")
WHOLE = PYTHONS[0]
"""Runs every test, the check, and the tests marked ``timed``."""

EVERY_PYTHON = {
    "tests/conformance": "each program in every mode: bytecode, frames, exceptions",
    "tests/errors": "tracebacks and carets",
    "tests/first_contact": "what users meet first",
    "tests/seeds": "capture of the seeds' programs",
    "tests/test_tiny.py": "all layers at once",
    "tests/test_tour.py": "the tour's programs",
    "tests/unit/base": "frames, tracebacks, forks, weak references",
    "tests/unit/debug": "stepping: frames, trace functions, pdb",
    "tests/unit/frontend": "capture from source and bytecode, guards",
    "tests/unit/jit": "versions, graph breaks, native calls",
    "tests/unit/runtime": "layout of CPython's objects, launch and calls, guard machine",
    "tests/unit/test_alarms.py": "signals, and in which function they are heard",
}
"""Run on every CPython, and why."""

ONE_PYTHON = {
    "tests/compare": "tables that are compared with MindSpore",
    "tests/compat": "MindSpore's own tests",
    "tests/distributed": "processes that communicate",
    "tests/fuzz": "a command; samples are in properties",
    "tests/gate": "this runner",
    "tests/house": "rules of the text; part of scripts/check",
    "tests/mdtest": "graphs and texts",
    "tests/ops": "kernels against references",
    "tests/properties": "random graphs and programs",
    "tests/replay": "the recorder of what is compiled",
    "tests/site": "pages of the documentation",
    "tests/stress": "a command, with timed samples",
    "tests/unit/api": "functions over ops",
    "tests/unit/autodiff": "gradients of graphs and tapes",
    "tests/unit/compat": "names of MindSpore",
    "tests/unit/context": "settings",
    "tests/unit/core": "types and dims",
    "tests/unit/dataset": "pipelines",
    "tests/unit/distributed": "groups of processes",
    "tests/unit/ir": "graphs",
    "tests/unit/lower": "loop IR and LLVM text",
    "tests/unit/mint": "PyTorch's signatures",
    "tests/unit/nn": "layers and optimizers",
    "tests/unit/numpy": "NumPy's functions on tensors",
    "tests/unit/passes": "passes over graphs",
    "tests/unit/profiling": "where time and memory go",
    "tests/unit/rewrite": "patterns",
    "tests/unit/tensor": "storage and views",
    "tests/unit/test_growth.py": "what a leak is measured by",
    "tests/unit/train": "models and files",
    "tests/zero_change": "a command",
}
"""Run on `WHOLE` alone: text, arrays and machine code that are the same under every interpreter."""

ONE_PYTHON_FILES = {
    "tests/conformance/test_files.py": "MindIR files of programs",
    "tests/conformance/test_planted_faults.py": "that the harness finds faults",
    "tests/errors/test_native_bad_input.py": "damaged caches, processors, threads",
    "tests/unit/base/test_public.py": "public names and who lends them",
    "tests/unit/jit/test_breaks.py": "a page of reasons, captured from source",
    "tests/unit/jit/test_comparing.py": "decisions on times that the tests make up",
    "tests/unit/jit/test_dropped_functions.py": "machine code that is given back",
    "tests/unit/jit/test_float8.py": "a storage format",
    "tests/unit/jit/test_levels.py": "bits of kernels",
    "tests/unit/jit/test_page.py": "HTML",
    "tests/unit/jit/test_policy.py": "decisions on events that the tests make up",
    "tests/unit/runtime/test_arena.py": "plans of memory",
    "tests/unit/runtime/test_code.py": "from text to code",
    "tests/unit/runtime/test_diskcache.py": "files",
    "tests/unit/runtime/test_donation.py": "buffers of kernels",
    "tests/unit/runtime/test_executable_control.py": "control flow in machine code",
    "tests/unit/runtime/test_kernels.py": "kernels",
    "tests/unit/runtime/test_machine.py": "LLVM",
    "tests/unit/runtime/test_many_kernels.py": "kernels",
    "tests/unit/runtime/test_module_text.py": "text of modules",
    "tests/unit/runtime/test_packs.py": "kernels",
    "tests/unit/runtime/test_pool.py": "the thread pool",
    "tests/unit/runtime/test_target.py": "processors",
    "tests/unit/runtime/test_verifier.py": "LLVM's verifier",
}
"""Files in folders of `EVERY_PYTHON` that only `WHOLE` runs: no object of CPython is read or made there by us."""

SHARED = ("tests/first_contact", "tests/seeds", "tests/unit/base", "tests/unit/debug", "tests/unit/frontend",
          "tests/unit/jit", "tests/unit/runtime")  # fmt: skip
"""Folders of `EVERY_PYTHON` whose tests 3.12 and 3.13 share out, case by case: each runs on `WHOLE` and on one other.

So most of a table (values that are read, guards of each class, ops that are launched) meets one newer CPython, and each
of these meets half of every table. (The folder *conformance* has shares of its own, by mode.)
"""

UNSHARED = {
    "tests/unit/base/test_fork.py": "locks of the interpreter",
    "tests/unit/base/test_hints.py": "texts of TypeError",
    "tests/unit/base/test_source.py": "positions in code objects, frames and tracebacks",
    "tests/unit/base/test_tracebacks.py": "carets, and frames that are left out",
    "tests/unit/base/test_weak.py": "weak references",
    "tests/unit/debug/test_step_frames.py": "frames, loops in bytecode, trace functions",
    "tests/unit/frontend/test_bad_input.py": "frames, `exec`, depth of recursion",
    "tests/unit/frontend/test_bytecode.py": "instructions, line by line",
    "tests/unit/frontend/test_dropped.py": "when objects are finalized",
    "tests/unit/frontend/test_lost_text.py": "instructions of code without a source",
    "tests/unit/frontend/test_order_of_sets.py": "layout of sets",
    "tests/unit/frontend/test_scope.py": "which names a code object has",
    "tests/unit/frontend/test_split.py": "code objects of segments",
    "tests/unit/jit/test_frames.py": "frames of callers",
    "tests/unit/jit/test_native_call.py": "vectorcall, tuples of arguments, type slots",
    "tests/unit/jit/test_native_threads.py": "thread states",
    "tests/unit/jit/test_report.py": "instructions as text",
    "tests/unit/jit/test_tracers.py": "trace functions, `sys.monitoring`",
    "tests/unit/runtime/test_asm.py": "offsets in objects",
    "tests/unit/runtime/test_cpython.py": "layout of objects",
    "tests/unit/runtime/test_guard_machine.py": "dictionaries, types and their versions",
    "tests/unit/runtime/test_interrupts.py": "pending calls and signals",
    "tests/unit/runtime/test_launch.py": "vectorcall, references",
    "tests/unit/runtime/test_memory.py": "allocation of objects",
}
"""Files in folders of `SHARED` that every CPython runs whole, and what in them it can change."""

IN_CHECK = "tests/house"
"""Run by ``scripts/check``."""

PARTS = {
    "conformance": ("tests/conformance",),
    "lower": ("tests/unit/lower", "tests/unit/ir", "tests/unit/passes", "tests/unit/rewrite"),
    "frontend": ("tests/unit/frontend", "tests/unit/debug", "tests/seeds", "tests/mdtest"),
    "jit": ("tests/unit/jit", "tests/unit/autodiff"),
    "errors": ("tests/errors", "tests/unit/nn", "tests/unit/train", "tests/unit/context"),
    "runtime": ("tests/unit/runtime",),
    "users": ("tests/unit/compat", "tests/first_contact", "tests/test_tour.py", "tests/test_tiny.py", "tests/site"),
    "ops": ("tests/ops", "tests/unit/core", "tests/unit/tensor"),
    "properties": ("tests/properties", "tests/replay", "tests/fuzz", "tests/stress", "tests/zero_change"),
    "processes": ("tests/distributed", "tests/unit/distributed", "tests/unit/dataset", "tests/unit/profiling"),
    "names": ("tests/compat", "tests/compare", "tests/unit/api", "tests/unit/mint", "tests/unit/numpy"),
    "base": ("tests/unit/base", "tests/unit/test_alarms.py", "tests/unit/test_growth.py", "tests/gate"),
}
"""The suite in runs of pytest of their own, two at a time, the longest first: what a process has run before a test is
the same each time, and only the files of a part are collected by it."""


def suite(version: str) -> dict[str, list[str]]:
    """For each part of a CPython's suite the arguments of pytest."""
    ignored = () if version == WHOLE else tuple(ONE_PYTHON_FILES)
    chosen = {
        part: [row for row in rows if version == WHOLE or row in EVERY_PYTHON] for part, rows in PARTS.items()
    }  # fmt: skip
    share = [f"--share={version}"] if version != WHOLE else []
    return {
        part: [
            *rows,
            *share,
            *[f"--ignore={file}" for file in ignored if file.startswith(tuple(f"{r}/" for r in rows))],
        ]
        for part, rows in chosen.items()
        if rows
    }


def is_run(test: str, version: str) -> bool:
    """Whether a test (the id that pytest gives it) is in a CPython's share."""
    file = test.partition("::")[0]
    if version == WHOLE or file in UNSHARED or not file.startswith(tuple(f"{row}/" for row in SHARED)):
        return True
    others = [one for one in PYTHONS if one != WHOLE]
    # Not every second: of a test with two modes, each would have one of them.
    return others[zlib.crc32(test.encode()) % len(others)] == version


def timed(root: pathlib.Path) -> list[str]:
    """The files with tests marked ``timed``."""
    return [str(f.relative_to(root)) for f in sorted((root / "tests").rglob("test_*.py")) if _has_mark(f, "timed")]


def _has_mark(file: pathlib.Path, name: str) -> bool:
    text = file.read_text(encoding="utf-8")
    return f"mark.{name}" in text and any(
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "mark"
        for node in ast.walk(ast.parse(text))
    )
