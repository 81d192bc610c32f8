"""Everything that a run of a program shows, in one mode, and the first thing in which two modes differ.

A program is the text of a module with ``inputs()`` (the arguments of each call), ``between(n)`` (what happens outside
before call ``n``) and the function ``f``. Each mode imports its own copy. What is compared: results and their types
and bits, classes of exceptions, printed text, arguments and the module's variables after every call, which objects
are the same, the state of all random generators, and gradients of the compiled function.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import io
import itertools
import os
import random
import re
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import duograph as ms
from duograph import nn
from duograph.base.config import configure
from duograph.base.failures import InternalFailure, collected
from duograph.nn.graph_mode import compiled_cell
from duograph.tensor.tensor import SymbolicValueError

from .clock import TooSlow, limited

SLOW = 5.0
"""Seconds of processor time that a call may take."""
STOP = 20.0
"""Seconds of processor time after which a mode is stopped."""

_serial = itertools.count()
_folder = tempfile.TemporaryDirectory(prefix="fuzz")


class Wrapped(nn.Cell):
    """A Cell whose construct is a given function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def construct(self, *args: Any) -> Any:
        return self.function(*args)


MODES: dict[str, Callable[[Any], Any]] = {
    "eager": lambda fn: fn,
    "jit": ms.jit,
    "O0": lambda fn: ms.jit(fn, jit_level="O0"),
    "bytecode": lambda fn: ms.jit(fn, capture_mode="bytecode"),
    "trace": lambda fn: ms.jit(fn, capture_mode="trace"),
    "interpreter": lambda fn: ms.jit(fn, backend="interpreter"),
    "graph": Wrapped,
}


@dataclasses.dataclass
class Finding:
    """One difference.

    Attributes:
        mode: which mode differs from eager.
        part: in what: ``result``, ``raised``, ``arguments``, ``outside``, ``printed``, ``random``, ``same objects``,
            ``gradient``, ``slow``, ``internal`` (a failure of the compiler that it has noted), ``escaped``, ``crash``.
        call: the number of the call.
        expected: what eager mode shows.
        actual: what the mode shows.
    """

    mode: str
    part: str
    call: int
    expected: Any
    actual: Any

    @property
    def kind(self) -> str:
        """What shrinking keeps."""
        return " ".join(
            [self.part, *(str(v[0]) for v in (self.expected, self.actual) if isinstance(v, tuple) and v)][:3]
        )

    def __str__(self) -> str:
        return f"{self.mode}, call {self.call}, {self.part}: eager {_short(self.expected)}, here {_short(self.actual)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 300 else text[:300] + "..."


# Descriptions ---------------------------------------------------------------------------------------------------------


def describe(value: Any, seen: tuple[int, ...] = ()) -> Any:
    """A value as plain data that is equal exactly if types, dtypes, shapes and bits are; every NaN is one NaN."""
    if id(value) in seen:
        return ("cycle", len(seen) - seen.index(id(value)))
    inside = (*seen, id(value))
    if isinstance(value, ms.Tensor):
        try:
            array = value.asnumpy()
        except SymbolicValueError:  # `vmap` has left one of its own in a list: there is nothing in it to compare
            return (type(value).__name__, str(value.dtype), "traced")
        tag = getattr(value, "tag", None)  # which programs set
        return (type(value).__name__, str(value.dtype), *_array(array), *([] if tag is None else [describe(tag)]))
    if isinstance(value, np.ndarray | np.generic):
        return (type(value).__name__, str(value.dtype), *_array(np.asarray(value)))
    if isinstance(value, float):
        return ("float", repr(value))
    if isinstance(value, dict):
        return (type(value).__name__, [(describe(k, inside), describe(v, inside)) for k, v in value.items()])
    if isinstance(value, list | tuple):
        return (type(value).__name__, [describe(v, inside) for v in value])
    if isinstance(value, set | frozenset):
        return (type(value).__name__, sorted(map(repr, value)))
    if isinstance(value, int | str | bytes | complex | range | slice | type(None) | type(...)):
        return (type(value).__name__, repr(value))
    if isinstance(value, type):
        names = {k: v for k, v in vars(value).items() if not k.startswith("__")}
        return ("class", value.__name__, describe({k: v for k, v in names.items() if not callable(v)}, inside))
    if isinstance(value, nn.Cell):
        names = {k: v for k, v in vars(value).items() if not k.startswith("_") and not callable(v)}
        return (type(value).__name__, describe(names, inside), describe(list(value.get_parameters()), inside))
    if callable(value) and not hasattr(type(value), "items"):
        return ("callable", getattr(value, "__name__", type(value).__name__))
    if isinstance(value, BaseException):
        return (type(value).__name__,)
    if hasattr(value, "__dict__") and not isinstance(value, types.GeneratorType):
        return (type(value).__name__, describe(vars(value), inside))
    if hasattr(value, "__slots__"):
        return (type(value).__name__, [describe(getattr(value, n, None), inside) for n in type(value).__slots__])
    return (type(value).__name__,)


def _array(array: Any) -> tuple[Any, ...]:
    shown = np.array2string(array, threshold=20)
    if array.dtype.kind in "fcV":
        wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
        if np.isnan(wide).any():
            if array.dtype.kind == "c":
                parts = np.stack([np.where(np.isnan(p), np.nan, p) for p in (wide.real, wide.imag)])
                return array.shape, shown, parts.tobytes()
            return array.shape, shown, np.where(np.isnan(wide), np.nan, wide).tobytes()
    return array.shape, shown, array.tobytes()


def identities(roots: list[Any]) -> set[tuple[str, str]]:
    """Which tensors and containers below ``roots`` are the same objects."""
    first: dict[int, str] = {}
    keep: list[Any] = []
    pairs: set[tuple[str, str]] = set()

    def visit(value: Any, path: str) -> None:
        inner = getattr(value, "__dict__", None) if type(value).__name__ == "Box" else None
        if inner is None and not isinstance(value, ms.Tensor | list | dict | tuple):
            return
        if not isinstance(value, tuple):  # equal tuples are as good as the same one
            keep.append(value)
            if id(value) in first:
                pairs.add((first[id(value)], path))
                return
            first[id(value)] = path
        if isinstance(value, ms.Tensor):
            return
        items = (inner or value).items() if inner is not None or isinstance(value, dict) else enumerate(value)
        for key, item in items:
            visit(item, f"{path}.{key if isinstance(key, int | str) else '?'}")

    for at, root in enumerate(roots):
        visit(root, str(at))
    return pairs


def closure(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """All pairs that follow from ``pairs``."""
    groups: list[set[str]] = []
    for pair in pairs:
        touched = [g for g in groups if g & set(pair)]
        groups = [g for g in groups if g not in touched] + [set(pair).union(*touched)]
    return {(a, b) for g in groups for a in g for b in g}


# Runs -----------------------------------------------------------------------------------------------------------------


def load(source: str) -> Any:
    """The source as a fresh module, from a file, so that functions have sources."""
    path = Path(_folder.name) / f"program{os.getpid()}_{next(_serial)}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def outside(module: Any) -> dict[str, Any]:
    """The module's variables that can change."""
    kinds = (types.ModuleType, types.FunctionType)
    names = sorted(n for n, v in vars(module).items() if not n.startswith("_") and not isinstance(v, kinds))
    held = {n: vars(module)[n] for n in names if getattr(vars(module)[n], "__module__", None) != "builtins"}
    return {
        n: v for n, v in held.items() if n not in ("Tensor", "Parameter", "f") and type(v).__name__ != "JitFunction"
    }


@dataclasses.dataclass
class Run:
    """What one mode showed, as (part, call, description), and what the compiler says about it."""

    shown: list[tuple[str, int, Any]]
    captured: bool = True
    reasons: list[str] = dataclasses.field(default_factory=list)
    internal: list[str] = dataclasses.field(default_factory=list)


def observe(source: str, name: str) -> Run:
    """Runs all calls of a program in a mode."""
    module = load(source)
    run = Run([])
    show = run.shown.append
    ms.set_seed(3)
    random.seed(3)
    np.random.seed(3)
    ms.set_context(mode=ms.GRAPH_MODE if name == "graph" else ms.PYNATIVE_MODE)
    printed = io.StringIO()
    fn: Any = None
    failures: list[Any] = []
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            stack.enter_context(np.errstate(all="ignore"))
            stack.enter_context(contextlib.redirect_stdout(printed))
            stack.enter_context(limited(STOP))
            failures = stack.enter_context(collected())
            if name == "eager":
                stack.enter_context(configure(jit=False))
            fn = MODES[name](module.f)
            for call, args in enumerate(module.inputs()):
                if call:
                    with contextlib.suppress(Exception):  # e.g. a list that is empty by now
                        module.between(call)
                printed.seek(0)
                printed.truncate()
                start = time.process_time()
                result = None
                try:
                    result = fn(*args)
                    shown = ("result", call, describe(result))
                except Exception as error:  # noqa: BLE001 - whatever a program raises is part of what it shows
                    shown = ("raised", call, type(error).__name__)
                took = time.process_time() - start
                show(("printed", call, re.sub(r"0x[0-9a-f]{6,}|program\d+_\d+", "", printed.getvalue())))
                show(shown)
                show(("arguments", call, describe(args)))
                world = outside(module)
                for key, value in world.items():
                    show((f"outside {key}", call, describe(value)))
                show(("same objects", call, identities([args, result, *world.values()])))
                show(
                    (
                        "random",
                        call,
                        describe([ms.get_rng_state(), repr(random.getstate()), repr(np.random.get_state()[1:])]),
                    )
                )
                if took > SLOW:
                    show(("slow", call, round(took, 1)))
            _gradients(module, fn, show)
    except TooSlow:
        show(("slow", -1, f"stopped after {STOP} s"))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
        sys.modules.pop(module.__name__)
    run.internal = [str(failure) for failure in failures]
    _explained(fn, name, run)
    return run


def _explained(fn: Any, name: str, run: Run) -> None:
    explain = compiled_cell(fn).explain if name == "graph" else getattr(fn, "explain", None)
    if explain is None:
        return
    report = explain()
    run.reasons = [str(one.reason) for one in report.fallbacks]
    run.captured = not run.reasons and bool(report.versions)


def _gradients(module: Any, fn: Any, show: Callable[[Any], None]) -> None:
    """Gradients around the function, for the first floating argument."""
    for call in (0, 1):
        args = module.inputs()[call : call + 1]
        if not args:
            return
        at = next((n for n, a in enumerate(args[0]) if isinstance(a, ms.Tensor) and "Float" in str(a.dtype)), None)
        if at is None:
            return
        try:
            shown = describe(ms.grad(lambda *a: _total(fn(*a)), at)(*args[0]))
        except Exception as error:  # noqa: BLE001 - part of what it shows
            shown = type(error).__name__
        show(("gradient", call, shown))


def _total(value: Any) -> Any:
    total = ms.Tensor(0.0)
    for tensor in _tensors(value):
        if "Float" in str(tensor.dtype):
            total = total + tensor.astype(ms.float32).sum()
    return total


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, ms.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)


def difference(expected: Run, actual: Run, mode: str) -> Finding | None:
    """The first thing in which two runs differ."""
    slow = {(part, call): v for part, call, v in expected.shown if part == "slow"}
    if slow:
        return None
    for (part, call, want), (other, number, have) in itertools.zip_longest(
        expected.shown, actual.shown, fillvalue=("nothing", -1, None)
    ):
        if other == "slow":
            return Finding(mode, "slow", number, "", have)
        if part == "same objects" == other and closure(have) <= closure(want):  # a choice by value gives a copy
            continue
        if (part, call, want) != (other, number, have):
            return Finding(
                mode, part if part != "nothing" else other, call, want, (other, have) if other != part else have
            )
    if actual.internal:
        return Finding(mode, "internal", -1, "", actual.internal[0])
    return None


def check(source: str, modes: list[str]) -> tuple[Finding | None, dict[str, Run]]:
    """The first finding of a program, and the runs."""
    runs = {"eager": observe(source, "eager")}
    for mode in modes:
        try:
            runs[mode] = observe(source, mode)
        except InternalFailure as error:
            return Finding(mode, "internal", -1, "", str(error)), runs
        except Exception as error:  # noqa: BLE001 - an escape from the machinery is a finding like any other
            return Finding(mode, "escaped", -1, "", f"{type(error).__name__}: {error}"), runs
        found = difference(runs["eager"], runs[mode], mode)
        if found is not None and not _counts_frames(source, runs["eager"]):
            return found, runs
    return None, runs


def _counts_frames(source: str, eager: Run) -> bool:
    """Whether plain Python itself shows something else a few frames deeper: a recursion that the stack ends, and what
    it has done by then."""

    def deeper(frames: int) -> Run:
        return deeper(frames - 1) if frames else observe(source, "eager")

    return difference(eager, deeper(11), "eager") is not None
