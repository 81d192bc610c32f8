"""Comprehensions and generator expressions, each with a frame of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from ..rules.errors import Uncapturable
from ..source.load import FunctionSource
from ..source.scope import Names, target_names
from ..values.functions import named
from ..values.world import Frame
from ..verbs.operands import check_key, check_operand


class Comprehensions:
    """Evaluates comprehensions. A part of the driver."""

    session: Any
    world: Any
    semantics: Any
    calls: Any
    budget: Any
    eval: Any
    assign: Any

    def _comprehension_frame(self, node: Any, frame: Frame) -> Frame:
        names = Names(own=set().union(*(target_names(g.target) for g in node.generators)))
        source = FunctionSource(frame.code.node, frame.code.file, names, frame.code.postponed)
        inner = Frame(frame.name, source, frame.globals, frame)
        inner.special, inner.function = frame.special, type(node)
        frame.captured = True
        return inner

    def _enter_comprehension(self, node: Any, frame: Frame) -> tuple[Frame, Iterator[Any]]:
        """The frame of a comprehension, and what its first ``for`` goes over."""
        if any(generator.is_async for generator in node.generators):
            raise Uncapturable("an asynchronous comprehension")
        inner = self._comprehension_frame(node, frame)
        first = self.semantics.iterate(self.eval(node.generators[0].iter, frame))
        self.world.push(inner)
        inner.captured = True
        return inner, first

    def _passes(self, generator: ast.comprehension, value: Any, inner: Frame) -> bool:
        """Assigns the next value of a ``for``; whether it passes the conditions."""
        self.assign(generator.target, value, inner)
        return all(self.semantics.as_bool(self.eval(c, inner)) for c in generator.ifs)

    def _comprehend(self, node: Any, frame: Frame, add: Callable[[Frame], None]) -> None:
        """Calls ``add`` for each element of a list, set or dict. No generator does it: StopIteration of the program
        would come out of one as a RuntimeError."""
        inner, first = self._enter_comprehension(node, frame)

        def level(i: int, values: Iterator[Any]) -> None:
            for value in values:
                if not self._passes(node.generators[i], value, inner):
                    continue
                if i + 1 < len(node.generators):
                    level(i + 1, self.semantics.iterate(self.eval(node.generators[i + 1].iter, inner)))
                else:
                    add(inner)

        level(0, first)

    def eval_ListComp(self, node: ast.ListComp, frame: Frame) -> Any:
        made: list[Any] = []
        self._comprehend(node, frame, lambda f: made.append(self.eval(node.elt, f)))
        return self.world.track(made)

    def eval_SetComp(self, node: ast.SetComp, frame: Frame) -> Any:
        made: set[Any] = set()

        def add(inner: Frame) -> None:
            value = self.eval(node.elt, inner)
            check_operand(self.session, value)
            made.add(value)

        self._comprehend(node, frame, add)
        return self.world.track(made)

    def eval_DictComp(self, node: ast.DictComp, frame: Frame) -> Any:
        made: dict[Any, Any] = {}

        def add(inner: Frame) -> None:
            key, value = self.eval(node.key, inner), self.eval(node.value, inner)
            check_key(self.session, key)
            made[key] = value

        self._comprehend(node, frame, add)
        return self.world.track(made)

    def eval_GeneratorExp(self, node: ast.GeneratorExp, frame: Frame) -> Any:
        inner, first = self._enter_comprehension(node, frame)

        def level(i: int, values: Iterator[Any]) -> Iterator[Any]:
            for value in values:
                if not self._passes(node.generators[i], value, inner):
                    continue
                if i + 1 < len(node.generators):
                    yield from level(i + 1, self.semantics.iterate(self.eval(node.generators[i + 1].iter, inner)))
                else:
                    yield self.eval(node.elt, inner)

        def all_levels() -> Iterator[Any]:
            try:
                yield from level(0, first)
            except Exception as error:
                self.session.own_error = error
                raise

        made = named(all_levels(), f"{frame.name}.<locals>.<genexpr>")
        self.semantics.note_made(made)
        return made
