"""One program, many lives: runs a program in a mode and writes down everything that can be observed.

A program is a plain function with arguments, declared by `program` (see ``programs/``)::

    @program(T([1.0, -2.0]))
    def relu_by_hand(x):
        return x if x.sum() > 0 else -x

`run` gives an `Outcome`: results with types and bits, the exception, printed text, the arguments and watched globals
afterwards, the state of the random generator, and gradients. Two modes agree if their outcomes are equal.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
import itertools
import re
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import duograph as ms
from duograph import nn
from duograph.base.config import set_config
from duograph.nn.graph_mode import compiled_cell

PROGRAMS: list[Program] = []

set_config(failures="raise")  # a broken part of duograph would be answered by another one, and nobody would notice


@dataclasses.dataclass(frozen=True)
class Program:
    """A function, and how to call it.

    Attributes:
        build: makes the callable, once for each run.
        calls: the argument lists; the same callable is called with each of them in turn.
        grad: positions of the arguments to differentiate, or None.
        captured: it must be compiled as a whole, without falling back to Python.
        choice: a tensor's value decides which of several tensors is the result. Compiled code then gives a copy of it:
            the bits are compared, but not whether the result is the same object or memory as an argument.
        globals: global names of the program's module, with their values before the run; compared afterwards.
    """

    name: str
    build: Callable[[], Callable[..., Any]]
    calls: Sequence[tuple[Any, ...]]
    grad: int | tuple[int, ...] | None
    captured: bool
    choice: bool
    globals: dict[str, Any]
    module: str


def program(
    *args: Any,
    calls: Sequence[tuple[Any, ...]] | None = None,
    grad: int | tuple[int, ...] | None = None,
    captured: bool = True,
    choice: bool = False,
    build: bool = False,
    **globals_: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares a program.

    Args:
        args: arguments of the only call.
        calls: argument lists of several calls.
        grad: positions to differentiate.
        captured: False for programs that may need the Python interpreter.
        choice: the result is one of several tensors, by a tensor's value.
        build: the function takes no arguments and returns the callable; for Cells and closures.
        globals_: values of global names before the run.
    """

    def declare(fn: Callable[..., Any]) -> Callable[..., Any]:
        make = fn if build else (lambda: fn)
        name = f"{fn.__module__.rpartition('.')[2]}:{fn.__name__}"
        PROGRAMS.append(Program(name, make, calls or [args], grad, captured, choice, globals_, fn.__module__))
        return fn

    return declare


def T(data: Any, dtype: Any = None) -> Any:
    """A tensor: float32 or int64 unless said otherwise."""
    return ms.Tensor(data, dtype)


# Modes ----------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Mode:
    """A way to run programs.

    Attributes:
        transform: turns a callable into another.
        graph_mode: whether the context is to be in GRAPH_MODE.
        rounds: how often all calls of a program are made, one after the other, by the same callable.
        native: machine code must have led the calls in the end, or there is a reason why Python has. (That no kernel
            is missing is looked after by the policy for internal failures: they raise.)
        share: the Python that runs the whole suite (`tests.gate.plan`), and each other one, runs one in so many
            programs in this mode, ``shift`` after the first. With 3, the three Pythons together run all of them.
            "native" does what "jit" does, three times: who runs all of the one runs none (0) of the other. Machine
            code, levels, the interpreter of graphs and GRAPH_MODE do not depend on the Python, and what does is in
            "bytecode", which runs all, and half in "jit" and "native".
    """

    name: str
    transform: Callable[[Any], Any]
    graph_mode: bool = False
    rounds: int = 1
    native: bool = False
    share: tuple[int, int] = (1, 1)
    shift: int = 0


class _Wrapped(nn.Cell):
    """A Cell whose construct is a given function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


EAGER = Mode("eager", lambda fn: fn)

MODES = [
    Mode("jit", ms.jit, share=(0, 2), shift=1),
    Mode("jit-O0", lambda fn: ms.jit(fn, jit_level="O0"), share=(3, 3)),
    Mode("bytecode", lambda fn: ms.jit(fn, capture_mode="bytecode")),
    Mode("trace", lambda fn: ms.jit(fn, capture_mode="trace"), share=(3, 3)),
    Mode("interpreter", lambda fn: ms.jit(fn, backend="interpreter"), share=(3, 3)),
    Mode("native", lambda fn: ms.jit(fn, backend="native"), rounds=3, native=True, share=(1, 2)),
    Mode("graph", lambda fn: fn if isinstance(fn, nn.Cell) else _Wrapped(fn), graph_mode=True, share=(3, 3)),
]


# Outcomes -------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Outcome:
    """What one run showed. `fallbacks` is no part of the comparison."""

    results: list[Any]
    gradients: list[Any]
    printed: str
    arguments: list[Any]
    globals: dict[str, Any]
    random: Any
    fallbacks: list[str] = dataclasses.field(default_factory=list, compare=False)


def run(program: Program, mode: Mode) -> Outcome:
    """Runs all calls of the program in the mode, then its gradients."""
    module = sys.modules[program.module]
    before = {name: vars(module).get(name) for name in program.globals}
    vars(module).update(copy.deepcopy(program.globals))
    ms.set_seed(3)
    ms.set_context(mode=ms.GRAPH_MODE if mode.graph_mode else ms.PYNATIVE_MODE)
    printed = io.StringIO()
    results, gradients, arguments = [], [], []
    try:
        fn = mode.transform(program.build())
        with contextlib.redirect_stdout(printed):
            for args in [*program.calls] * mode.rounds:
                mine = fresh(args)
                results.append(attempt(fn, mine, program.choice))
                arguments.append(describe(mine))
            if program.grad is not None:
                for args in program.calls:
                    gradients.append(attempt(ms.grad(fn, program.grad), fresh(args), program.choice))
        random = describe(ms.get_rng_state())
        watched = {name: describe(vars(module)[name]) for name in program.globals}
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
        vars(module).update(before)
    explain = compiled_cell(fn).explain if mode.graph_mode else getattr(fn, "explain", None)
    report = explain() if explain is not None else None
    fallbacks = [str(reason) for reason in report.fallbacks] if report is not None else []
    if report is not None and mode.native:
        fallbacks += [reason for version in report.versions for reason in led_by_python(version)]
    return Outcome(results, gradients, printed.getvalue(), arguments, watched, random, fallbacks)


def led_by_python(version: dict[str, Any]) -> Iterator[str]:
    """Why calls of a compiled version were not native, if it is for no good reason."""
    why, calls = version["why_not_native"], version["hits"] - version["plain_runs"]
    if re.match(r"\w+(Error|Exception)\b", why):
        yield f"calls cannot be native: {why}"
    if not why and calls > 2 and not version["native_calls"]:  # the first compiles, the second prepares
        yield f"{calls} calls of a version were led by Python, without a reason"


def attempt(fn: Callable[..., Any], args: tuple[Any, ...], choice: bool) -> Any:
    """The description of the result with its ties to the arguments, or of the exception."""
    try:
        result = fn(*args)
        return describe(result), [] if choice else ties(result, args)
    except RecursionError:  # its text depends on where exactly the stack ended
        return ("raised", "RecursionError")
    except Exception as error:  # noqa: BLE001 - whatever a program raises is part of its outcome
        # Python's text says what it was doing when the stack ended, which depends on how deep the stack was before.
        text = "" if isinstance(error, RecursionError) else str(error)
        return ("raised", type(error).__name__, text)


def ties(result: Any, args: Any) -> list[tuple[int, str, int]]:
    """Which tensors of the result are tensors of the arguments, or show the same memory, or each other."""
    mine, theirs = list(tensors(result)), list(tensors(args))
    found = []
    for i, a in enumerate(mine):
        for j, b in enumerate([*theirs, *mine[:i]]):
            if a is b:
                found.append((i, "is", j))
            elif np.shares_memory(a.asnumpy(), b.asnumpy()):
                found.append((i, "shares memory with", j))
    return found


def tensors(value: Any) -> Iterator[Any]:
    """The tensors in nested containers."""
    if isinstance(value, ms.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors(item)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))


def fresh(value: Any) -> Any:
    """A copy of arguments that shares no storage with them."""
    if isinstance(value, ms.Tensor) and type(value) is ms.Tensor:
        return ms.Tensor(value.asnumpy().copy(), value.dtype)
    if type(value) in (tuple, list):
        return type(value)(fresh(item) for item in value)
    if type(value) is dict:
        return {key: fresh(item) for key, item in value.items()}
    return value if callable(value) or isinstance(value, type) else copy.deepcopy(value)


class Bits:
    """The bits of an array, which are compared; its numbers are written out only for the reader of a failure."""

    __slots__ = ("bits", "dtype", "objects", "shape")

    def __init__(self, array: np.ndarray | np.generic) -> None:
        self.bits, self.dtype, self.shape = array.tobytes(), array.dtype, array.shape
        self.objects = str(array) if array.dtype.hasobject else ""  # the bits are addresses

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bits) and (self.bits, self.objects) == (other.bits, other.objects)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        numbers = np.ndarray(self.shape, self.dtype, self.bits) if not self.objects else self.objects
        return f"{np.array2string(np.asarray(numbers), threshold=20)} {self.bits!r}"


def describe(value: Any) -> Any:
    """A value as plain data that compares equal exactly if type, dtype, shape and bits are."""
    if isinstance(value, ms.Tensor):
        array = value.asnumpy()
        return (type(value).__name__, str(value.dtype), tuple(value.shape), Bits(array))
    if isinstance(value, np.ndarray | np.generic):
        return (type(value).__name__, str(value.dtype), value.shape, Bits(value))
    if isinstance(value, float):
        return ("float", value.hex())
    if isinstance(value, dict):
        return (type(value).__name__, [(describe(key), describe(item)) for key, item in value.items()])
    if isinstance(value, list | tuple):
        return (type(value).__name__, [describe(item) for item in value])
    if isinstance(value, set | frozenset):
        return (type(value).__name__, sorted(map(repr, value)))
    if isinstance(value, int | str | bytes | complex | range | slice | type(None) | type(...)):
        return (type(value).__name__, repr(value))
    if isinstance(value, types.GeneratorType):
        return ("generator", _given(value))
    if isinstance(value, type) or callable(value):
        return ("callable", getattr(value, "__name__", type(value).__name__))
    if hasattr(value, "__dict__"):
        return (type(value).__name__, describe(vars(value)))
    return (type(value).__name__, repr(value))


def _given(generator: Any) -> list[Any]:
    """What a generator gives, and how it ends."""
    given: list[Any] = []
    try:
        for item in itertools.islice(generator, 20):
            given.append(describe(item))
    except Exception as error:  # noqa: BLE001 - whatever a program raises is part of its outcome
        given.append(("raised", type(error).__name__))
    return given
