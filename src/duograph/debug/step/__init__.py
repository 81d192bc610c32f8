"""`step`: compiled functions run node by node under the lines of the program, in Python's debugger."""

from __future__ import annotations

import bdb
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ContextDecorator
from typing import Any, Self

from duograph.base.tracing import has_monitoring_debugger, tracer_of
from duograph.core.launchable import pause, resume
from duograph.core.op import Op, state
from duograph.ir.executor import ObservedExecutor
from duograph.ir.memo import Memo
from duograph.ir.node import Graph
from duograph.jit.signature import SUBJECT
from duograph.tensor.observer import is_layer

from ..hunt.replay import has_effects
from .conditions import Differs, condition_of
from .debugger import Debugger, Quit
from .listing import Listing
from .run import Run

__all__ = ["step"]

_LISTINGS: Memo[tuple[Graph, tuple[str, ...]], Listing] = Memo("graphs as Python code")


class step(ContextDecorator):
    """Within the block, compiled functions run under the debugger, node by node, at the lines of the program.

    What runs is the optimised graph: values are those that it computes, variables have their names in the program as
    far as they are still computed, and results are the same, to the bit. All commands of pdb work, and breakpoints
    (``break file:line``); in addition there are ``node [n]`` (runs n nodes, also within a line), ``nodes [n]`` (lists
    those that were run), ``back [n]`` and ``goto n`` (to any node of the call, also an earlier one), ``iteration k``
    (of the loop that is running, or begins next; those that were unrolled count) and ``grad name`` (the gradient of the
    sum of the call's results, for the value that a variable has now). Functions that do not compile stop at their first
    line, as plain Python. Where another debugger traces the thread already, as in an editor (debugpy), the frames are
    for it: it stops at its own breakpoints, and at what ``when`` says.

    Args:
        when (Union[str, tuple, Callable], optional): what to stop at: ``None``: the first line of each call;
            ``"nan"``: the first operator that makes a NaN or an infinity of finite numbers; ``(low, high)``: the first
            that leaves this range; ``"differs"``: the first with another value than the expression has in eager mode;
            a function of the operator's name and its value that says whether. Default: ``None``.
        keep (int): bytes of values of a call that are kept for going back; older ones are computed again when they are
            needed. Default: ``1 << 30``.
        stdin (file, optional): where commands come from. Default: the terminal.
        stdout (file, optional): where answers go. Default: ``sys.stdout``.

    Returns:
        A context manager, which is also a decorator. It acts on the thread that enters it.

    Raises:
        ValueError: ``when`` is something else, or ``keep`` negative.
        RuntimeError: the numbers of this thread are checked (`check_numerics`), or it is profiled.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import io
        >>> import duograph as ms
        >>> from duograph import debug
        >>> @ms.jit
        ... def f(x):
        ...     y = x * 2
        ...     return y + 1
        >>> with debug.step(stdin=io.StringIO("p x\\ncontinue\\n"), stdout=io.StringIO()):
        ...     print(f(ms.Tensor([1.0, 2.0])))
        [3. 5.]
    """

    def __init__(self, when: Any = None, *, keep: int = 1 << 30, stdin: Any = None, stdout: Any = None) -> None:
        if not isinstance(keep, int) or keep < 0:
            raise ValueError(f"For 'step', 'keep' must be a number of bytes, but got {keep!r}.")
        self._condition = condition_of(when)
        self._keep, self._files = keep, (stdin, stdout)
        self._before: list[Any] = []

    def __enter__(self) -> Self:
        if state.observer is not None:
            raise RuntimeError("this thread is stepped through, profiled, or its numbers are checked already")
        pause()
        self._before.append(state.observer)
        state.observer = _Stepper(Debugger(self._condition, *self._files), self._keep)
        return self

    def __exit__(self, *_: object) -> None:
        debugger = state.observer.debugger
        state.observer = self._before.pop()
        resume()
        if sys.gettrace() == debugger.trace_dispatch:
            debugger.detach()


class _Stepper:
    """What a thread tells of its compiled functions while it is `state.observer` (`tensor.observer.Observer`)."""

    runs_plainly, steps = False, True

    def __init__(self, debugger: Debugger, keep: int) -> None:
        self.debugger, self._keep = debugger, keep
        self._led: list[Any] = []
        self._given: tuple[Sequence[str], Mapping[str, Any]] = (), {}

    # -- dynamic mode ------------------------------------------------------------------------------------------

    def bind(self, run: Callable[..., Any], op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        return run(op, operands, attrs)

    def here(self) -> Any:
        return None

    def parts(self, parts: Iterable[Any], gradient_of: str, origin: Any) -> list[Any]:
        return list(parts)

    def pulled(
        self, pull: Callable[..., Sequence[Any]], given: Sequence[Any], gradient_of: str, origin: Any
    ) -> list[Any]:
        return list(pull(*given))

    # -- compiled functions ------------------------------------------------------------------------------------

    def leads(self, function: Any) -> bool:
        """Whether it is to lead this call of a compiled function (it calls the function again)."""
        return not self._led or self._led[-1] is not function

    def lead(self, function: Any, code: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The answer of a compiled ``function``, whose own ``code`` runs if it is plain Python that answers."""
        debugger = self.debugger
        tracer = sys.gettrace()
        is_traced = bool(tracer and tracer != debugger.trace_dispatch and tracer_of(code))
        debugger.is_external = is_traced or has_monitoring_debugger()
        self._led.append(function)
        try:
            if not debugger.is_external and not debugger.runs and tracer is None:
                debugger.arm(code, sys._getframe(2))
            return function(*args, **kwargs)
        except Quit:
            raise bdb.BdbQuit from None
        finally:
            self._led.pop()
            debugger.disarm()

    def begins(self, names: Sequence[str], values: Sequence[Any]) -> None:
        given = dict(zip(names, values, strict=False))
        if SUBJECT in given:  # a Cell, or a function, that knows itself
            subject = given.pop(SUBJECT)
            given = {"self": subject, **given} if is_layer(subject) else given
        self._given = tuple(given), given

    def executor(self, native: Any) -> Any:
        return ObservedExecutor(self, native)

    def run(self, native: Any, graph: Graph, values: Sequence[Any], level: int, *_: Any) -> Any:
        """The value of the graph's output, stepped through."""
        (names, given), self._given = self._given, ((), {})
        if level > 1 and has_effects(graph):
            self.debugger.message(
                f"@{graph.name} is not stepped through: it has effects, and O2 rounds otherwise than its nodes do"
            )
            return native.run(graph, values, level, None, True)
        known = _LISTINGS.of(graph.context)
        key = graph, tuple(names)
        if key not in known:
            known[key] = Listing(graph, names)
        if not known[key].has_lines:  # the program raises for all such arguments, or gives constants
            return native.run(graph, values, level, None, True)
        run = Run(graph, values, known[key], dict(given), self.debugger, self._keep)
        condition = self.debugger.condition
        if isinstance(condition, Differs):
            condition.begins(graph, values)
            if condition.why_not:
                self.debugger.message(f"@{graph.name} is not compared with eager mode: {condition.why_not}")
        self.debugger.begins(run)
        try:
            fn = getattr(self._led[-1], "fn", None) if self._led else None
            result = run.start(dict(getattr(fn, "__globals__", ())))
        finally:
            self.debugger.ends()
        return native.run(graph, values, level, None, True) if level > 1 else result
