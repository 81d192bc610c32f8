"""Small programs that must do compiled what they do in plain Python; the test files of this folder declare them."""

from __future__ import annotations

import contextlib
import copy
import io
import sys
from collections.abc import Callable
from typing import Any

import duograph as ms
from tests.conformance.harness import describe, fresh


def tensor(data: Any, dtype: Any = None) -> Any:
    return ms.Tensor(data, dtype)


POSITIVE, NEGATIVE = (tensor([1.0, 2.0]),), (tensor([-1.0, -2.0]),)


class Case:
    """A program and its calls: all calls go to one callable, in order."""

    def __init__(
        self, fn: Callable[..., Any], calls: tuple[Any, ...], captured: bool, build: bool, grad: Any, watched: Any
    ) -> None:
        self.fn, self.calls, self.captured, self.build, self.grad, self.globals = (
            fn, calls, captured, build, grad, watched,
        )  # fmt: skip

    def run(self, transform: Callable[[Any], Any]) -> tuple[list[Any], list[str]]:
        """Everything that can be seen of a run, and why it fell back to Python."""
        names = vars(sys.modules[self.fn.__module__])
        before = {name: names.get(name) for name in self.globals}
        names.update(copy.deepcopy(self.globals))
        ms.set_seed(3)
        seen, printed = [], io.StringIO()
        try:
            fn = transform(self.fn() if self.build else self.fn)
            with contextlib.redirect_stdout(printed):
                for args in self.calls:
                    mine = fresh(args)
                    seen.append((attempt(fn, mine), describe(mine)))
                    if self.grad is not None:
                        seen.append(attempt(ms.grad(fn, self.grad), fresh(args)))
            seen += [printed.getvalue(), describe(ms.get_rng_state()), *[describe(names[n]) for n in self.globals]]
        finally:
            names.update(before)
        explain = getattr(fn, "explain", None)
        return seen, [str(f) for f in explain().fallbacks] if explain is not None else []

    def check(self) -> None:
        expected, _ = self.run(lambda fn: fn)
        actual, fallbacks = self.run(ms.jit)
        assert actual == expected
        if self.captured:
            assert not fallbacks, fallbacks


class Cases(list):
    """The decorator that declares cases, and the list of them."""

    def __call__(
        self, *calls: tuple[Any, ...], captured: bool = True, build: bool = False, grad: Any = None, **watched: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declares a case.

        Args:
            calls: argument tuples.
            captured: whether it must be compiled as a whole.
            build: the function takes nothing and makes the callable.
            grad: positions to differentiate as well.
            watched: values of global names before each run; compared afterwards.
        """

        def declare(fn: Callable[..., Any]) -> Callable[..., Any]:
            self.append(Case(fn, calls or (POSITIVE, NEGATIVE), captured, build, grad, watched))
            return fn

        return declare


def attempt(fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        return describe(fn(*args))
    except Exception as error:  # noqa: BLE001 - whatever a program raises is part of what is seen
        return ("raised", type(error).__name__, str(error))


def name_of(case: Case) -> str:
    return case.fn.__name__
