"""Python's debugger for runs of graphs: `pdb.Pdb`, with what else a graph can be asked.

The frames are real (`listing.Listing`), so that every command of pdb works in them. What is added goes by the nodes
of the call, which have numbers in the order of the run: ``node``, ``nodes``, ``back``, ``goto``, ``iteration``,
``grad``.
"""

from __future__ import annotations

import bdb
import pdb  # noqa: T100 - this is a debugger
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import numpy as np

from duograph.base.source import is_internal_file
from duograph.base.tracing import has_monitoring_debugger
from duograph.core.op import state
from duograph.ir.interpreter import Step

from .gradients import gradient_of
from .listing import place_of
from .run import Condition, Rewind, Run, Watch, shown

__all__ = ["Debugger", "Quit"]

_LIBRARIES = tuple({sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")})


class Quit(BaseException):
    """The user has quit: no part of this package is to answer in another way."""


class Debugger(pdb.Pdb, Watch):
    """Stops in the frames of runs, and in user code that runs plainly instead.

    Args:
        condition: says of a node that was run why to stop, in words; empty: go on. ``None``: stop at the first line.
        stdin: where commands come from, if not from the terminal.
        stdout: where answers go.
    """

    def __init__(self, condition: Condition | None, stdin: Any = None, stdout: Any = None) -> None:
        super().__init__(stdin=stdin, stdout=stdout, nosigint=True, readrc=stdin is None)
        if stdin is not None:
            self.use_rawinput = False
        self.condition = condition
        self.prompt = "(step) "
        self.runs: list[Run] = []  # those around each other
        self.is_external = False  # another debugger has the frames
        self._waits_for: CodeType | None = None  # until it begins, or a graph does, nothing stops
        self._wanted: int | None = None  # the node that the user wants to stop before
        self._wanted_iteration: tuple[Any, Any, int] | None = None  # loops around the loop, itself, and iteration
        self._leaves = False  # frames are to be left: `Rewind`
        self._seen = 0  # nodes that the condition was asked about

    # -- where to stop -----------------------------------------------------------------------------------------

    def arm(self, code: CodeType | None, caller: FrameType) -> None:
        """Stops at the first line of the next run, or of the function with this code."""
        if self.condition is not None:
            return
        self.reset()
        self._waits_for = code
        frame: FrameType | None = caller
        while frame is not None:
            if not is_internal_file(frame.f_code.co_filename):
                frame.f_trace = self.trace_dispatch
            self.botframe, frame = frame, frame.f_back
        self.set_step()
        self._is_armed = True
        sys.settrace(self.trace_dispatch)

    _is_armed = _is_first = False

    def reset(self) -> None:
        """As in `bdb`, but lines of files that have changed meanwhile stay those that were compiled."""
        self.botframe = None
        self._set_stopinfo(None, None)  # type: ignore[attr-defined]

    def disarm(self) -> None:
        """The call is over."""
        if self._is_armed:  # it has stopped nowhere
            self._is_armed = False
            self.detach()
        self._wanted = self._wanted_iteration = None
        if not self.runs and sys.gettrace() == self.trace_dispatch and self._stops_nowhere():
            sys.settrace(None)

    def detach(self) -> None:
        """Nothing is traced any more, and no frame is held: CPython 3.13 would keep the one that was traced last."""
        sys.settrace(None)
        self.set_continue()
        self.enterframe = None

    def _stops_nowhere(self) -> bool:
        return self.condition is not None and not self.breaks

    def stop_here(self, frame: FrameType) -> bool:
        code = frame.f_code
        is_run = any(code in run.codes for run in self.runs)
        if self._is_armed:
            if not is_run and not self._is_awaited(code):
                return False
            self._is_armed, self._is_first = False, True
        elif not is_run and _is_library(frame):
            return False
        return bool(super().stop_here(frame))

    def _is_awaited(self, code: CodeType) -> bool:
        """Whether a code object is that of the function, also in its form with graph breaks."""
        wanted = self._waits_for
        return wanted is not None and (code.co_filename, code.co_name) == (wanted.co_filename, wanted.co_name)

    def user_call(self, frame: FrameType, argument_list: Any) -> None:
        if self._is_first:  # its first line comes next
            self._is_first = False
        else:
            super().user_call(frame, argument_list)

    def get_stack(self, f: FrameType | None, t: Any) -> tuple[list[tuple[FrameType, int]], int]:
        """The frames, without those of this package."""
        stack, index = super().get_stack(f, t)
        shown = [(i, entry) for i, entry in enumerate(stack) if not is_internal_file(entry[0].f_code.co_filename)]
        if not shown:
            return stack, index
        return [entry for _, entry in shown], max(sum(i <= index for i, _ in shown) - 1, 0)

    def forget(self) -> None:
        """As in `pdb`, which since CPython 3.13 leaves the exception, and so its frames, in the globals of each module
        in which it has stopped: it looks at the frame that was shown last."""
        for frame, _ in getattr(self, "stack", ()):
            frame.f_globals.pop("__pdb_convenience_variables", None)
        super().forget()

    def trace_dispatch(self, frame: FrameType, event: str, arg: Any) -> Any:
        try:
            found = super().trace_dispatch(frame, event, arg)
        except bdb.BdbQuit:
            raise Quit from None
        if self._leaves:
            self._leaves = False
            raise Rewind
        return found

    @contextmanager
    def computing(self, is_python: bool) -> Iterator[None]:
        tracer = sys.gettrace()
        if is_python or not isinstance(getattr(tracer, "__self__", None), bdb.Bdb):  # others want to stay
            yield
            return
        sys.settrace(None)
        try:
            yield
        finally:
            sys.settrace(tracer)

    def before(self, run: Run, frame: FrameType, step: Step) -> None:
        if self._wanted is not None and run.position == self._wanted and run is self.runs[-1]:
            self._wanted = None
            self.stop_at(frame)
        elif self._wanted_iteration is not None:
            self.iteration(run, frame, step)

    def after(self, run: Run, frame: FrameType, step: Step, value: Any, operands: Sequence[Any]) -> bool:
        if self.condition is None or run.position <= self._seen or self._is_left():
            return False
        self._seen = run.position
        why = self.condition(step, value, operands)
        if why:
            self.message(f"node {run.position - 1}, {_described(step)}: {why}")
        return bool(why) and self.stop_at(frame)

    def _is_left(self) -> bool:
        """Whether another debugger had the frames, and wants no more of them."""
        return self.is_external and sys.gettrace() is None and not has_monitoring_debugger()

    def iteration(self, run: Run, frame: FrameType, loop: Step) -> None:
        if self._wanted_iteration is None:
            return
        around, wanted, number = self._wanted_iteration
        loops = run.loops_at(loop.node)
        if len(loops) <= len(around) or loops[: len(around)] != around:
            return
        key, at = loops[len(around)]
        if at >= number and wanted in (None, key):  # of what was unrolled, iterations may be gone
            self._wanted_iteration = None
            self.stop_at(frame)

    def begins(self, run: Run) -> None:
        self.runs.append(run)
        self._seen = 0

    def ends(self) -> None:
        self.runs.pop()
        if self._wanted_iteration is not None:
            self._wanted_iteration = None
            self.message("the loop has ended before that iteration")

    def stop_at(self, frame: FrameType) -> bool:
        """Asks the user now, in ``frame``, which is running; whether the frame is to do so itself, with
        ``breakpoint()``."""
        if self.is_external:
            tracer = getattr(sys.gettrace(), "__self__", None)
            if not isinstance(tracer, bdb.Bdb):
                return True
            tracer.set_trace(frame)
            return False
        outer: FrameType | None = frame
        self.reset()
        while outer is not None:
            if not is_internal_file(outer.f_code.co_filename):
                outer.f_trace = self.trace_dispatch
            self.botframe, outer = outer, outer.f_back
        self.set_step()
        sys.settrace(None)
        self.interaction(frame, None)
        if self.quitting:
            raise Quit
        if self._leaves:
            self._leaves = False
            raise Rewind
        if self.stopframe is not self.botframe or self.breaks or self.stoplineno != -1:
            sys.settrace(self.trace_dispatch)
        return False

    def interaction(self, frame: FrameType | None, tb_or_exc: Any) -> None:
        observer, tapes, binder = state.observer, state.tapes, state.binder
        state.observer, state.tapes, state.binder = None, [], None  # what is tried here is no part of the program
        try:
            super().interaction(frame, tb_or_exc)  # type: ignore[arg-type]
        finally:
            state.observer, state.tapes, state.binder = observer, tapes, binder

    # -- commands ----------------------------------------------------------------------------------------------

    def _run(self) -> Run | None:
        if not self.runs:
            self.error("no graph is running here: it is plain Python, and explain() of the function says why")
            return None
        return self.runs[-1]

    def _number(self, arg: str, default: int | None) -> int | None:
        if not arg and default is not None:
            return default
        try:
            return int(arg)
        except ValueError:
            self.error(f"a number is needed, got {arg!r}")
            return None

    def do_node(self, arg: str) -> bool:
        """node [count]

        Runs as many nodes of the graph (1), also within a line, and stops before the next one.
        """
        run, count = self._run(), self._number(arg, 1)
        return run is not None and count is not None and self._go(run, run.position + count)

    def do_back(self, arg: str) -> bool:
        """back [count]

        Goes back by as many nodes (1): frames and variables are as they were then. Nothing is computed again, and what
        had an effect has it once.
        """
        run, count = self._run(), self._number(arg, 1)
        return run is not None and count is not None and self._go(run, run.position - count)

    def do_goto(self, arg: str) -> bool:
        """goto number

        Goes to the node of the call with this number (``nodes`` lists them), back or on.
        """
        run, number = self._run(), self._number(arg, None)
        return run is not None and number is not None and self._go(run, number)

    def _go(self, run: Run, number: int) -> bool:
        if number < 0:
            self.error("the call begins with node 0")
            return False
        self._wanted = number
        self._leaves = number <= run.position  # it may stand before this very node, which does not come again
        self.set_continue()
        return True

    def do_iteration(self, arg: str) -> bool:
        """iteration number

        Goes to an iteration of the innermost loop that is running, back or on, or of the next one that begins. They are
        counted from 0.
        """
        run, number = self._run(), self._number(arg, None)
        if run is None or number is None:
            return False
        if number < 0:
            self.error("iterations are counted from 0")
            return False
        *around, (key, at) = run.loops or [(None, -1)]
        self._wanted_iteration = tuple(around), key, number
        self._leaves = number <= at
        self.set_continue()
        return True

    def do_nodes(self, arg: str) -> bool:
        """nodes [count]

        Lists the last nodes of the call that have been run (10): number, line, operator and value.
        """
        run, count = self._run(), self._number(arg, 10)
        if run is None or count is None:
            return False
        for at in range(max(0, run.position - count), run.position):
            step, value = run.nodes[at], run.value_at(at)
            self.message(f"{at:>6}  {_described(step)}  {summary(value) if value is not None else 'not kept'}")
        return False

    def do_grad(self, arg: str) -> bool:
        """grad name

        Shows the gradient of the sum of what the call gives, for the value that a variable has now.
        """
        run = self._run()
        if run is not None and self.curframe is not None:
            try:
                self.message(repr(gradient_of(run, arg.strip(), self.curframe.f_code.co_qualname)))
            except Exception as error:  # noqa: BLE001 - told to the user, who goes on
                self.error(str(error))
        return False


def _is_library(frame: FrameType) -> bool:
    """Whether a frame is of this package, or of a library that it calls."""
    name = frame.f_code.co_filename
    if is_internal_file(name) or name.startswith("<frozen "):
        return True
    return name.startswith(_LIBRARIES)


def _described(step: Step) -> str:
    spans = step.node.context.origins.get(step.node, ())
    where = ""
    if spans:
        place = place_of(spans[-1].users)
        where = f", line {place.line}"
    return f"{step.node.op.name} : {step.node.type}{where}"


def summary(value: Any) -> str:
    """A value in a few words, whatever its size."""
    if isinstance(value, tuple):
        return f"({', '.join(map(summary, value))})"
    if not isinstance(value, np.ndarray):
        return repr(value)[:60]
    if value.size <= 6:
        return " ".join(repr(shown(value)).split())[:80]
    return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
