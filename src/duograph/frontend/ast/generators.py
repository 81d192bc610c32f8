"""Generator functions: a statement that yields is executed inside a real Python generator, all others as usual."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import Any

from duograph.ops.scalar import Scalar

from ..control.paths import Outcome
from ..rules.errors import INTERNAL, Uncapturable
from ..source.scope import contains_yield
from ..values.world import Frame
from ..verbs.contexts import CapturedContext
from ..verbs.stacks import protocol_method
from .statements import NEXT


class _Stopped(BaseException):
    """Carries StopIteration of the program through generators of ours, which would make a RuntimeError of it."""

    def __init__(self, exc: StopIteration) -> None:
        super().__init__(exc)
        self.exc = exc


class _Carrying:
    """Within the block, StopIteration becomes `_Stopped`."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, exc: BaseException | None, trace: Any) -> None:
        if isinstance(exc, StopIteration):
            raise _Stopped(exc)


_CARRYING = _Carrying()
_PASSING = (Exception, GeneratorExit, _Stopped)
"""What a ``yield`` or what follows it may raise: `GeneratorExit` is Python's, by ``close()``."""


def run_generator(driver: Any, body: list[ast.stmt], frame: Frame) -> Generator[Any, Any, Any]:
    """The generator of a call of a generator function."""
    frame.captured = True
    driver.world.push(frame)
    try:
        outcome = yield from _block(driver, body, frame)
    except _Stopped as stopped:
        exc = stopped.exc
    except Exception as error:
        driver.session.own_error = error
        raise
    else:
        return outcome.value if outcome.kind == "return" else None
    raise exc


def _block(driver: Any, body: list[ast.stmt], frame: Frame) -> Generator[Any, Any, Outcome]:
    for node in body:
        with _CARRYING:
            outcome = (
                (yield from _statement(driver, node, frame)) if contains_yield(node) else driver.execute(node, frame)
            )
        if outcome.kind != "next":
            return outcome
    return NEXT


def _statement(driver: Any, node: ast.stmt, frame: Frame) -> Generator[Any, Any, Outcome]:
    with _CARRYING:
        match node:
            case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
                yield from _yield(driver, node.value, frame)
                return NEXT
            case ast.Assign(value=ast.Yield() | ast.YieldFrom()):
                value = yield from _yield(driver, node.value, frame)
                for target in node.targets:
                    driver.assign(target, value, frame)
                return NEXT
            case ast.If():
                truth = driver.test(node.test, frame)
                if isinstance(truth, Scalar):
                    raise Uncapturable("a yield inside a tensor-dependent branch")
                return (yield from _block(driver, node.body if truth else node.orelse, frame))
            case ast.For() | ast.While():
                return (yield from _loop(driver, node, frame))
            case ast.With() if len(node.items) == 1:
                return (yield from _with(driver, node, frame))
            case ast.Try():
                return (yield from _try(driver, node, frame))
    raise Uncapturable(f"a yield inside {type(node).__name__}", driver.span(node, frame))


def _yield(driver: Any, node: Any, frame: Frame) -> Generator[Any, Any, Any]:
    with _CARRYING:
        if isinstance(node, ast.YieldFrom):
            return (yield from driver.semantics.iterate(driver.eval(node.value, frame)))
        return (yield None if node.value is None else driver.eval(node.value, frame))


def _loop(driver: Any, node: ast.For | ast.While, frame: Frame) -> Generator[Any, Any, Outcome]:
    for _ in _passes(driver, node, frame):
        outcome = yield from _block(driver, node.body, frame)
        if outcome.kind == "break":
            return NEXT
        if outcome.kind == "return":
            return outcome
    return (yield from _block(driver, node.orelse, frame))


def _passes(driver: Any, node: ast.For | ast.While, frame: Frame) -> Iterator[None]:
    """Once for each pass of a loop."""
    with _CARRYING:
        if isinstance(node, ast.For):
            for value in driver.semantics.iterate(driver.eval(node.iter, frame)):
                driver.assign(node.target, value, frame)
                yield
            return
        while True:
            truth = driver.test(node.test, frame)
            if isinstance(truth, Scalar):
                raise Uncapturable("a yield inside a loop whose end depends on tensor values")
            if not truth:
                return
            yield


def _with(driver: Any, node: ast.With, frame: Frame) -> Generator[Any, Any, Outcome]:
    item = node.items[0]
    driver.session.catches = True
    with _CARRYING:
        manager = driver.eval(item.context_expr, frame)
        if isinstance(manager, CapturedContext):
            raise Uncapturable("a yield inside a context of a generator", driver.span(node, frame))
        enter, leave = (protocol_method(manager, name) for name in ("__enter__", "__exit__"))
        value = driver.calls.call(enter, (), {})
        if item.optional_vars is not None:
            driver.assign(item.optional_vars, value, frame)
        try:
            with _unfinished(driver, node, frame):
                outcome = yield from _block(driver, node.body, frame)
        except INTERNAL:
            raise
        except _PASSING as passing:
            exc = _passing(driver, passing)
        else:
            driver.calls.call(leave, (None, None, None), {})
            return outcome

        def handle() -> Outcome | None:
            told = (type(exc), exc, exc.__traceback__)
            return NEXT if driver.semantics.as_bool(driver.calls.call(leave, told, {})) else None

        return _handled(driver, exc, handle)


def _passing(driver: Any, exc: BaseException) -> BaseException:
    """The exception of the program. Nothing of a generator runs that is thrown away after the capture."""
    if driver.session.is_over:
        raise exc
    return exc.exc if isinstance(exc, _Stopped) else exc


def _handled(driver: Any, exc: BaseException, handle: Callable[[], Outcome | None]) -> Outcome:
    """What ``handle`` gives while ``exc``, and no exception of ours, is being handled; raises ``exc`` if nothing.

    A generator must end by `GeneratorExit`, as a ``yield from`` of ours always does: the program is refused if it is
    to go on.
    """
    context = exc.__context__
    try:
        raise exc
    except type(exc):
        exc.__context__ = context
        outcome = handle()
        if outcome is None:
            raise
        if isinstance(exc, GeneratorExit):
            driver.session.unfinished.add(exc)
            raise
        return outcome


@contextlib.contextmanager
def _unfinished(driver: Any, node: ast.stmt, frame: Frame) -> Iterator[None]:
    """While its block is executed, ``node`` has something left to do, also if the generator is dropped half-way."""
    key = (id(frame), id(node))
    driver.session.unfinished.add(key)
    try:
        yield
    finally:
        driver.session.unfinished.discard(key)


def _handle(driver: Any, node: ast.Try, exc: BaseException, frame: Frame) -> Outcome | None:
    """Runs the ``except`` clause for ``exc``, if there is one."""
    handler = driver._handler(node, exc, frame)
    return None if handler is None else driver._handle(handler, exc, frame)


def _try(driver: Any, node: ast.Try, frame: Frame) -> Generator[Any, Any, Outcome]:
    if any(isinstance(n, ast.Return | ast.Break | ast.Continue) for part in node.finalbody for n in ast.walk(part)):
        raise Uncapturable("a finally clause of a generator that is left", driver.span(node, frame))
    driver.session.catches = True
    with _CARRYING:
        try:
            try:
                with _unfinished(driver, node, frame):
                    outcome = yield from _block(driver, node.body, frame)
            except INTERNAL:
                raise
            except _PASSING as passing:
                exc: BaseException | None = _passing(driver, passing)
            else:
                exc = None
            if exc is not None:
                outcome = _handled(driver, exc, partial(_handle, driver, node, exc, frame))
            elif outcome.kind == "next":
                with _unfinished(driver, node, frame):
                    outcome = yield from _block(driver, node.orelse, frame)
        finally:
            if not driver.session.is_over:  # else it is thrown away after the capture
                final = driver.block(node.finalbody, frame)
        return final if final.kind != "next" else outcome
