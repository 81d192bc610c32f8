"""`compare`: a function in eager mode against each way of compiling it, and the first statement that differs.

Results are compared bit by bit. Where they differ, the calls of graphs are looked at one after the other: the graph as
it was captured, run op by op; the optimised one, run op by op; and its machine code, for ever longer parts of it. The
first value that eager mode does not have at the same line, or machine code not for the same node, is told.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from duograph.base.config import configure
from duograph.base.source import Span, is_internal_file
from duograph.base.tree import leaves
from duograph.core.launchable import pause, resume
from duograph.core.op import Op, state
from duograph.ir.interpreter import Interpreter
from duograph.ir.node import Apply, Graph
from duograph.jit.bound import BoundJit
from duograph.jit.decorator import jit
from duograph.jit.function import JitFunction
from duograph.passes.pipelines import BEFORE
from duograph.runtime.programs.executable import Executable
from duograph.tensor.eager import write
from duograph.tensor.observer import frames_from, is_layer
from duograph.tensor.random import default_generator
from duograph.tensor.tensor import Tensor, wrap

from .replay import has_effects, same_bits

__all__ = ["Comparison", "Difference", "compare"]

MODES, LEVELS = ("ast", "bytecode", "trace"), ("O0", "O1", "O2")
Key = tuple[str, int, str, str, tuple[int, ...]]


@dataclass(frozen=True)
class Difference:
    """Where compiled code first has another value than eager mode.

    Attributes:
        what: what was compared.
        span: the user's expression; ``None``: it is not known.
        operator: what gave the value; empty: only the results were compared.
        stage: who is to blame: ``capture``, ``passes`` or ``machine code``.
    """

    what: str
    span: Span | None = None
    operator: str = ""
    stage: str = ""

    def __str__(self) -> str:
        if self.span is None:
            return self.what
        text = self.span.text()
        place = f"{self.span.file}:{self.span.line}: {text or self.operator}"
        return f"{place} ({self.operator}, by {self.stage}): {self.what}"


class Comparison:
    """What `compare` has found.

    Attributes:
        rows: mode and level, and the first difference; ``None``: none.
    """

    def __init__(self, rows: Mapping[tuple[str, str], Difference | None]) -> None:
        self.rows = dict(rows)

    @property
    def equal(self) -> bool:
        """Whether no result differs in any bit."""
        return not any(self.rows.values())

    def __str__(self) -> str:
        if self.equal:
            return "equal to the bit"
        return "\n".join(f"{mode} {level}: {found or 'equal to the bit'}" for (mode, level), found in self.rows.items())

    __repr__ = __str__


def compare(
    fn: Callable[..., Any],
    /,
    *args: Any,
    modes: Iterable[str] = MODES,
    levels: Iterable[str] = LEVELS,
    **kwargs: Any,
) -> Comparison:
    """Runs a function in eager mode and compiled in several ways, and says where the results first differ.

    The function runs three times for each mode and level. Tensors, Parameters and random numbers are each time as they
    were before; other effects (printing, lists that grow) happen as often.

    Args:
        fn (Callable): a function or Cell, compiled or not.
        args (tuple): arguments of the call.
        modes (Iterable[str]): capture modes. Default: all, ``("ast", "bytecode", "trace")``.
        levels (Iterable[str]): levels of optimisation. Default: all, ``("O0", "O1", "O2")``. At ``O2`` last bits may
            differ, where a product and a sum are rounded once.
        kwargs (dict): further arguments of the call.

    Returns:
        Comparison, which prints as the first difference for each mode and level, or as ``equal to the bit``.

    Raises:
        TypeError: ``fn`` is not callable.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import debug, ops
        >>> print(debug.compare(lambda x: ops.relu(x) + 1, ms.Tensor([1.0, -2.0])))
        equal to the bit
    """
    plain = _plain(fn)
    if not callable(plain):
        raise TypeError(f"For 'compare', 'fn' must be callable, but got {type(fn).__name__}.")
    kept = _State(plain, args, kwargs)
    eager = _Eager()
    with observed(eager), configure(jit=False):
        want = kept.result(plain)
    rows: dict[tuple[str, str], Difference | None] = {}
    for mode in modes:
        for level in levels:
            compiled = jit(plain, capture_mode=mode, jit_level=level)
            found = [kept.result(compiled) for _ in range(2)]  # the second one may be native
            bad = next((x for x in found if not x.is_like(want)), None)
            rows[mode, level] = None if bad is None else _located(kept, compiled, eager, bad.against(want))
    return Comparison(rows)


def _plain(fn: Any) -> Any:
    """What runs if nothing is compiled."""
    if isinstance(fn, BoundJit):
        return fn.function.fn.__get__(fn.__self__)
    if isinstance(fn, JitFunction):
        return fn.plain or fn.fn
    return fn


# ---- running --------------------------------------------------------------------------------------------------------


class _Result:
    """What a call has given or raised, and what it has left in tensors."""

    def __init__(self, value: Any, error: Exception | None, left: Sequence[np.ndarray]) -> None:
        self.value = [x.asnumpy() if isinstance(x, Tensor) else x for x in leaves(value)]
        self.error, self.left = error, left

    def is_like(self, other: _Result) -> bool:
        return not self.against(other)

    def against(self, other: _Result) -> str:
        """How it differs; empty: in nothing."""
        mine, theirs = [f"{type(r.error).__name__}: {r.error}" if r.error else "" for r in (self, other)]
        if mine != theirs:
            return f"it raises {mine or 'nothing'}, eager mode {theirs or 'nothing'}"
        if not same_bits(self.value, other.value):
            return f"the result is {_most(self.value, other.value)}"
        return "" if same_bits(list(self.left), list(other.left)) else "what is written to tensors differs"


def _most(mine: Sequence[Any], theirs: Sequence[Any]) -> str:
    for x, y in zip(mine, theirs, strict=False):
        if not same_bits(x, y):
            return _difference(x, y)
    return "of another structure"


def _difference(x: Any, y: Any) -> str:
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        return f"{x!r}, in eager mode {y!r}"
    if x.shape != y.shape or x.dtype != y.dtype:
        return f"{x.dtype}{list(x.shape)}, in eager mode {y.dtype}{list(y.shape)}"
    x, y = [np.ascontiguousarray(v).reshape(-1) for v in (x, y)]
    size = x.itemsize
    places = np.nonzero((x.view(np.uint8).reshape(-1, size) != y.view(np.uint8).reshape(-1, size)).any(axis=1))[0]
    at = int(places[0])
    return f"another one in {len(places)} of {x.size} elements, first {x[at]!r} at {at}, in eager mode {y[at]!r}"


class _State:
    """The arguments of a call, and the tensors that it may write to."""

    def __init__(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args, self.kwargs = args, kwargs
        code = getattr(getattr(fn, "__func__", fn), "__code__", None)
        names = getattr(getattr(fn, "__func__", fn), "__globals__", {})
        held = [fn, getattr(fn, "__self__", None), *leaves((args, kwargs))]
        held += [cell.cell_contents for cell in getattr(fn, "__closure__", None) or () if _is_filled(cell)]
        held += [names[name] for name in code.co_names if name in names] if code is not None else []
        self.tensors: dict[int, tuple[Tensor, np.ndarray]] = {}
        for value in leaves(held):
            for tensor in _tensors_of(_plain(value) if isinstance(value, JitFunction) else value):
                self.tensors.setdefault(id(tensor), (tensor, tensor.array().copy()))
        generator = default_generator()
        self._random = generator.initial_seed(), generator.offset

    def restore(self) -> None:
        for tensor, before in self.tensors.values():
            if not same_bits(tensor.array(), before):
                write(tensor, wrap(before.copy()))
        default_generator().offset = self._random[1]

    def result(self, fn: Callable[..., Any]) -> _Result:
        """What a call from the state of the beginning gives."""
        self.restore()
        try:
            value, error = fn(*self.args, **self.kwargs), None
        except Exception as raised:  # noqa: BLE001 - is compared
            value, error = None, raised
        found = _Result(value, error, [tensor.array().copy() for tensor, _ in self.tensors.values()])
        self.restore()
        return found


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _tensors_of(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif is_layer(value):
        yield from value.get_parameters()


# ---- finding the statement ------------------------------------------------------------------------------------------


@contextmanager
def observed(observer: Any) -> Iterator[None]:
    """Within the block, ``observer`` is told of what this thread computes."""
    before, state.observer = state.observer, observer
    pause()
    try:
        yield
    finally:
        state.observer = before
        resume()


class _Observer:
    """Looks at everything and changes nothing (`tensor.observer.Observer`)."""

    runs_plainly = steps = False

    def bind(self, run: Callable[..., Any], op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        return run(op, operands, attrs)

    def begins(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Graphs are seen when they run."""

    def here(self) -> Any:
        return None

    def parts(self, parts: Iterable[Any], gradient_of: str, origin: Any) -> list[Any]:
        return list(parts)

    def pulled(
        self, pull: Callable[..., Sequence[Any]], given: Sequence[Any], gradient_of: str, origin: Any
    ) -> list[Any]:
        return list(pull(*given))

    def look(self, op: Op, operands: Sequence[Any], out: Any, spans: Sequence[Span] = ()) -> None:
        """Graphs that run op by op."""


class _Eager(_Observer):
    """Keeps the bits of all that eager mode computes, by line, operator, dtype and shape."""

    runs_plainly = True

    def __init__(self) -> None:
        self.values: dict[Key, set[bytes]] = {}

    def bind(self, run: Callable[..., Any], op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        out = run(op, operands, attrs)
        for frame in frames_from(sys._getframe(1)):
            if not is_internal_file(frame.f_code.co_filename):
                for value in out if isinstance(out, tuple) else (out,):
                    if isinstance(value, Tensor) and isinstance(value._data, np.ndarray):
                        key = _key(frame.f_code.co_filename, frame.f_lineno, op, value._data)
                        self.values.setdefault(key, set()).add(value._data.tobytes())
                break
        return out


def _key(file: str, line: int, op: Op, value: np.ndarray) -> Key:
    return file, line, op.name, value.dtype.str, value.shape


class _Calls(_Observer):
    """Keeps what graphs are called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[Graph, list[Any], int, list[Any]]] = []

    def executor(self, executor: Any) -> Any:
        self._executor = executor
        return self

    def prepare(self, graph: Graph, level: int = 1, donate: Any = None) -> None:
        self._executor.prepare(graph, level, donate)

    def run(self, graph: Graph, values: Sequence[Any], level: int = 1, donate: Any = None, repeat: bool = True) -> Any:
        given = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
        result = self._executor.run(graph, values, level, donate, repeat)
        kept = [v.copy() if isinstance(v, np.ndarray) else v for v in leaves(result)]
        self.calls.append((graph, given, level, kept))
        return result


def _located(kept: _State, compiled: Callable[..., Any], eager: _Eager, what: str) -> Difference:
    """The first statement of a call of ``compiled`` that differs."""
    seen = _Calls()
    with observed(seen):
        kept.result(compiled)
    for graph, values, level, result in seen.calls:
        before = BEFORE.of(graph.context).get(graph, graph)
        if has_effects(graph):
            return Difference(f"{what}; @{graph.name} has effects and is not run in parts")
        captured, optimised = _Looker(eager.values), _Looker(eager.values)
        as_captured = list(leaves(captured.run(before, values)))
        as_optimised = list(leaves(optimised.run(graph, values)))
        n = min(len(as_captured), len(as_optimised))  # a last output that keeps what may raise is dropped
        if not same_bits(as_optimised, result):
            found = _in_machine_code(graph, values, level)
            if found is not None:
                return _told(found[0], "machine code", found[1])
            return Difference(f"{what}; the machine code of @{graph.name} differs")
        if not same_bits(as_captured[:n], as_optimised[:n]):
            against = _Looker(captured.values)
            against.run(graph, values)
            looker, stage = against, "passes"
        else:
            looker, stage = captured, "capture"
        if looker.found is not None:
            return _told(looker.found, stage, looker.difference)
    return Difference(what)


class _Looker(Interpreter):
    """Looks for the first value that ``known`` does not have, and notes all."""

    def __init__(self, known: dict[Key, set[bytes]]) -> None:
        self.known = known
        self.values: dict[Key, set[bytes]] = {}
        self.found: Apply | None = None
        self.difference = ""

    def run_node(self, node: Apply, operands: list[Any]) -> Any:
        value = super().run_node(node, operands)
        spans = node.context.origins.get(node, ())
        if isinstance(value, np.ndarray) and spans and operands:
            users = spans[-1].users
            key = _key(users.file, users.line, node.op, value)
            self.values.setdefault(key, set()).add(value.tobytes())
            known = self.known.get(key)
            if self.found is None and known and value.tobytes() not in known:
                self.found = node
                theirs = np.frombuffer(next(iter(known)), value.dtype).reshape(value.shape)
                self.difference = _difference(value, theirs)
        return value


def _in_machine_code(graph: Graph, values: Sequence[Any], level: int) -> tuple[Apply, str] | None:
    """The first node whose value is another one in machine code, where it is compiled with all that it needs."""
    nodes = [n for n in graph.nodes if n.operands and n.context.origins.get(n)]
    for node in nodes:
        part = graph.context.graph(graph.context.fresh_name(graph.name), graph.params, node)
        mine = Executable(part, level).run([v.copy() if isinstance(v, np.ndarray) else v for v in values])
        theirs = Interpreter().run(part, values)
        if not same_bits(mine, theirs):
            return node, _most(list(leaves(mine)), list(leaves(theirs)))
    return None


def _told(node: Apply, stage: str, what: str) -> Difference:
    spans = node.context.origins.get(node, ())
    return Difference(what, spans[-1].users if spans else None, node.op.name, stage)
