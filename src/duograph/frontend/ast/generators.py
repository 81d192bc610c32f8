"""Generator functions: a statement that yields is executed inside a real Python generator, all others as usual."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Generator, Iterator
from typing import Any

from duograph.ops.scalar import Scalar

from ..contexts import CapturedContext
from ..errors import INTERNAL, Uncapturable
from ..paths import Outcome
from ..world import Frame
from .scope import contains_yield
from .statements import NEXT


def run_generator(driver: Any, body: list[ast.stmt], frame: Frame) -> Generator[Any, Any, Any]:
    """The generator of a call of a generator function."""
    frame.captured = True
    driver.world.push(frame)
    outcome = yield from _block(driver, body, frame)
    return outcome.value if outcome.kind == "return" else None


def _block(driver: Any, body: list[ast.stmt], frame: Frame) -> Generator[Any, Any, Outcome]:
    for node in body:
        outcome = (yield from _statement(driver, node, frame)) if contains_yield(node) else driver.execute(node, frame)
        if outcome.kind != "next":
            return outcome
    return NEXT


def _statement(driver: Any, node: ast.stmt, frame: Frame) -> Generator[Any, Any, Outcome]:
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
    if isinstance(node, ast.YieldFrom):
        return (yield from driver.semantics.iterate(driver.eval(node.value, frame)))
    return (yield None if node.value is None else driver.eval(node.value, frame))


def _loop(driver: Any, node: ast.For | ast.While, frame: Frame) -> Generator[Any, Any, Outcome]:
    def values() -> Any:
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

    for _ in values():
        outcome = yield from _block(driver, node.body, frame)
        if outcome.kind == "break":
            return NEXT
        if outcome.kind == "return":
            return outcome
    return (yield from _block(driver, node.orelse, frame))


def _with(driver: Any, node: ast.With, frame: Frame) -> Generator[Any, Any, Outcome]:
    item = node.items[0]
    manager = driver.eval(item.context_expr, frame)
    if isinstance(manager, CapturedContext):
        raise Uncapturable("a yield inside a context of a generator", driver.span(node, frame))
    enter, leave = (driver._special(manager, name) for name in ("__enter__", "__exit__"))
    value = driver.calls.call(enter, (), {})
    if item.optional_vars is not None:
        driver.assign(item.optional_vars, value, frame)
    try:
        with _unfinished(driver, node, frame):
            outcome = yield from _block(driver, node.body, frame)
    except INTERNAL:
        raise
    except Exception as exc:
        if driver.semantics.as_bool(driver.calls.call(leave, (type(exc), exc, exc.__traceback__), {})):
            return NEXT
        raise
    driver.calls.call(leave, (None, None, None), {})
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


def _try(driver: Any, node: ast.Try, frame: Frame) -> Generator[Any, Any, Outcome]:
    if any(isinstance(n, ast.Return | ast.Break | ast.Continue) for part in node.finalbody for n in ast.walk(part)):
        raise Uncapturable("a finally clause of a generator that is left", driver.span(node, frame))
    try:
        try:
            with _unfinished(driver, node, frame):
                outcome = yield from _block(driver, node.body, frame)
        except INTERNAL:
            raise
        except Exception as exc:
            handler = driver._handler(node, exc, frame)
            if handler is None:
                raise
            outcome = driver._handle(handler, exc, frame)
        else:
            if outcome.kind == "next":
                with _unfinished(driver, node, frame):
                    outcome = yield from _block(driver, node.orelse, frame)
    finally:
        if not driver.session.is_over:  # else it is thrown away after the capture
            final = driver.block(node.finalbody, frame)
    return final if final.kind != "next" else outcome
