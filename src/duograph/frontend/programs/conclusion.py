"""What is left to do when native code has run a path (`Program.conclude`), as one Python function written for it.

Recipes are a small language, and going through them takes longer than what they make: a dataclass with three tensors, a
counter that goes up, a list that gets one more item. What is not known here goes through them still.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from duograph.core.dim import Symbol
from duograph.ir.interpreter import resolved

from ..rules.facts import MISSING
from ..rules.written import Written
from ..values.recipe import (
    OPERANDS,
    Additions,
    Called,
    Chosen,
    Constant,
    Container,
    Output,
    Outside,
    Part,
    Recipe,
    Text,
    View,
)
from ..values.world import new_tuple
from .program import Path, Program, set_outside

Conclusion = Callable[[Sequence[Any], Sequence[Any]], Any]


class _Unknown(Exception):
    """A recipe that is not written here."""


def conclusion(program: Program, path: Path, views: Mapping[int, int], is_final: bool = True) -> Conclusion:
    """``(args, outputs) -> result`` of a path whose tensors have been written.

    Args:
        program: that of the path.
        path: may be one of several.
        views: leaves that are views, by the id of their recipes: they follow the ``outputs`` of all paths.
        is_final: see `Program.conclude`.
    """
    made: list[Conclusion] = []  # most paths are never taken

    def conclude(args: Sequence[Any], outputs: Sequence[Any]) -> Any:
        if not made:
            made.append(_written(program, path, views, is_final))
        return made[0](args, outputs)

    return conclude


def _written(program: Program, path: Path, views: Mapping[int, int], is_final: bool) -> Conclusion:
    if path.kind == "return":
        try:
            return _Conclusion(program, path, views).function(is_final)
        except _Unknown:
            pass
    count = path.first + path.count
    return lambda args, outputs: program.conclude(path, program.run_of(args, outputs[path.first : count]), is_final)


class _Conclusion:
    def __init__(self, program: Program, path: Path, views: Mapping[int, int]) -> None:
        self.program, self.path, self._views = program, path, views
        self.written = Written()
        self._made: dict[int, str] = {}
        self._open: set[int] = set()

    def function(self, is_final: bool) -> Conclusion:
        """In the order of `Program.conclude`: all is made before anything is written."""
        path, written = self.path, self.written
        result = self.of(path.value)
        filled = [(contents, *self._contents(source, contents)) for source, contents in path.containers]
        values = [None if recipe is None else self.of(recipe) for _, _, _, recipe in path.attributes]
        owners = [
            self.of(owner) if isinstance(owner, Outside) else written.constant(owner)
            for _, owner, _, _ in path.attributes
        ]
        make, written.lines = written.lines, ["try:"]
        written.lines += [f"    {line}" for line in make or ["pass"]]
        unfinished = written.constant(self.program.unfinished)
        written.lines += ["except Exception as error:", f"    raise {unfinished}(error, {is_final}) from error"]
        for contents, target, items in filled:
            self._fill(contents, target, items)
        for (kind, _, name, _), owner, value in zip(path.attributes, owners, values, strict=True):
            what = written.constant(MISSING) if value is None else value
            line = f"{written.constant(set_outside)}({kind!r}, {owner}, {name!r}, {what})"
            if kind == "attr" and value is not None:
                plain = written.constant(object.__setattr__)
                line = f"{plain}({owner}, {name!r}, {what}) if type({owner}).__setattr__ is {plain} else {line}"
            written.lines.append(line)
        written.lines.append(f"return {result}")
        return written.function("a, o")

    def of(self, recipe: Recipe) -> str:
        """What names the value of a recipe, which is made once."""
        found = self._made.get(id(recipe))
        if found is None:
            if id(recipe) in self._open:  # it holds itself
                raise _Unknown
            self._open.add(id(recipe))
            found = self._made[id(recipe)] = self._write(recipe)
        return found

    def _write(self, recipe: Recipe) -> str:
        written = self.written
        match recipe:
            case Output():
                return f"o[{self.path.first + recipe.index}]"
            case Constant():
                return written.constant(recipe.value)
            case Outside():
                return written.load(recipe.source)
            case Chosen(numbers=numbers):
                number, value = self.of(recipe.number), self.of(recipe.value)
                options = [f"{self.of(option)} if {number} == {k} else" for k, option in zip(numbers, recipe.options)]
                return written.variable(" ".join([*options, value]))
            case Text():
                parts = [
                    repr(p) if isinstance(p, str) else f"{written.constant(p[0])}({self.of(p[1])})"
                    for p in recipe.parts
                ]
                return written.variable(f"''.join([{', '.join(parts)}])")
            case Called():
                return written.variable(f"{written.constant(recipe.function)}({self._all(recipe.items)})")
            case View() if id(recipe) in self._views:
                return f"o[{self._views[id(recipe)]}]"
            case View(op=op, attrs=attrs):
                parent, known = self.of(recipe.parent), written.constant(attrs)
                if recipe.symbols:
                    known = f"{written.constant(resolved)}({known}, {self._sizes(recipe, parent)})"
                return written.variable(f"{written.constant(op)}({parent}, **{known})")
            case Part(bounds=bounds):
                return written.variable(
                    f"{written.constant(recipe.of)}({self.of(recipe.parent)}, [{self._all(bounds)}])"
                )
            case Container() if type(recipe) is Container:
                return self._container(recipe)
        raise _Unknown

    def _sizes(self, view: View, parent: str) -> str:
        """The sizes that it depends on, by their symbols."""
        found = dict.fromkeys(view.symbols, "")
        for symbol, source, axis in self.program.symbols:
            if found.get(symbol) == "":
                found[symbol] = f"{self.written.load(source)}.shape[{axis}]"
        for axis, dim in enumerate(view.type.shape if view.type is not None else ()):
            if isinstance(dim, Symbol) and found.get(dim) == "":
                found[dim] = f"{parent}.shape[{axis}]"
        return f"{{{', '.join(f'{self.written.constant(s)}: {size}' for s, size in found.items())}}}"

    def _container(self, recipe: Container) -> str:
        written, kind = self.written, recipe.kind
        if kind is tuple:
            items = self._all(recipe.items)
            return written.variable(f"({items},)" if items else "()")
        if issubclass(kind, tuple):
            return written.variable(
                f"{written.constant(new_tuple)}({written.constant(kind)}, [{self._all(recipe.items)}])"
            )
        if kind is list:
            return written.variable(f"[{self._all(recipe.items)}]")
        if kind is set and not recipe.names:
            return written.variable(f"set([{self._all(recipe.items)}])")
        if recipe.blank is None or recipe.factory is not None or recipe.names or recipe.is_own_dictionary:
            raise _Unknown
        if kind is dict:
            keys = [written.constant(key) for key in recipe.keys or ()]
            pairs = ", ".join([f"{key}: {self.of(item)}" for key, item in zip(keys, recipe.items, strict=True)])
            return written.variable(f"{{{pairs}}}")
        made = self._made[id(recipe)] = written.variable(f"{written.constant(recipe.blank)}()")
        if issubclass(kind, list | dict | set | frozenset) or recipe.keys is None:
            written.lines.append(f"{written.constant(recipe.fill)}({made}, [{self._all(recipe.items)}])")
        else:
            held = [(written.constant(key), self.of(item)) for key, item in zip(recipe.keys, recipe.items, strict=True)]
            own = written.variable(f"{made}.__dict__")
            written.lines += [f"{own}[{key}] = {item}" for key, item in held]
        return made

    def _all(self, recipes: Sequence[Recipe]) -> str:
        return ", ".join([self.of(r) for r in recipes])

    # -- containers of the outside -------------------------------------------------------------------------------------

    def _contents(self, source: Any, contents: Container) -> tuple[str, list[str]]:
        return self.written.load(source), [self.of(item) for item in contents.items]

    def _fill(self, contents: Container, target: str, items: list[str]) -> None:
        written = self.written
        if type(contents) is not Additions:
            written.lines.append(f"{written.constant(contents.fill)}({target}, [{', '.join(items)}])")
            return
        at = 0
        while at < len(items):
            verb = contents.items[at]
            if not isinstance(verb, Constant):
                raise _Unknown
            name, condition, operands = verb.value, "", items[at + 1 : at + 1 + OPERANDS[verb.value]]
            at += 1 + len(operands)
            if name == "when":
                inner = contents.items[at - 2]
                if not isinstance(inner, Constant) or inner.value == "when":  # on a path of a path
                    raise _Unknown
                name, condition, operands = inner.value, f"if {operands[0]}: ", [f"*{operands[2]}"]
            method = written.constant(getattr(contents.kind, name))
            written.lines.append(f"{condition}{method}({', '.join([target, *operands])})")
