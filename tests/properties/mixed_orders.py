"""Random gradients of order 1 to 3 through parts that are compiled one by one, against the program without compilation.

A program has small functions and Cells with writes in place, views, branches and loops; gradients of them inside of
each other, also below ``vmap``; and a tower of gradients on top. Each of these parts is wrapped by a name, ``P0``,
``P1``, ..., which is the identity in the reference; a mode decides, part by part, what it is. Results, exceptions, and
what the program left in its arguments and Parameters must be equal to the last bit.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import duograph as ms

HEAD = """import duograph as ms
from duograph import Parameter, Tensor, nn, ops
"""

COMPILED: dict[str, Callable[[Any], Any]] = {
    "plain": lambda fn: fn,
    "jit": ms.jit,
    "O0": lambda fn: ms.jit(fn, jit_level="O0"),
    "interpreter": lambda fn: ms.jit(fn, backend="interpreter"),
}
MOST_PARTS = 99
MODES = ("jit", "outermost", "O0", "interpreter", "mixed", "mixed", "graph", "graph mixed")


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.parts = 0
        self.callables: list[str] = []  # functions of two tensors of shape (3,) that give one
        self.fresh = 0

    def part(self, text: str) -> str:
        """``text``, wrapped as a part."""
        self.parts += 1
        return f"P{self.parts - 1}({text})"

    def name(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    def value(self, known: list[str]) -> str:
        """A tensor of shape (3,)."""
        rng, a, b = self.rng, self.rng.choice(known), self.rng.choice(known)
        simple = [f"{a} * {b}", f"{a} * {b}", f"{a} + {b}", f"{a} - {b}", f"ops.tanh({a})", f"ops.sin({a}) * {b}",
                  f"{a} * {rng.choice([2, 0.5, -1.5])}", f"{a}.copy()", f"{a}", f"{a} * {b}.sum()",
                  f"ops.concat([{a}[1:], {b}[:1]])", f"{a}.reshape(3, 1).reshape(3)", f"{a}[::-1] * {b}",
                  f"ops.select({a} > {b}, {a} * {a}, {b})"]  # fmt: skip
        if self.callables and rng.random() < 0.35:
            fn = rng.choice(self.callables)
            return rng.choice([
                f"{fn}({a}, {b})", f"{fn}({a}, {b})", f"ms.grad({fn})({a}, {b})",
                f"ms.grad({self.part(fn)}, 1)({a}, {b})", f"{self.part(f'ms.grad({fn})')}({a}, {b})",
                f"ms.vmap(ms.grad({fn}))(ops.stack([{a}, {b}]), ops.stack([{b}, {b}]))[0]",
                f"ms.vjp({fn}, {a}, {b})[1]({b})[0]",
            ])  # fmt: skip
        return rng.choice(simple)

    def write(self, known: list[str]) -> str:
        """A write in place."""
        rng, a, b, c = self.rng, *(self.rng.choice(known[-4:]) for _ in range(3))
        i = rng.randrange(3)
        return rng.choice([
            f"{a}[{i}] = {b}[{rng.randrange(3)}]", f"{a}[:2] = {b}[1:] * {c}[:2]", f"{a} += {b}", f"{a}.mul_({b})",
            f"{a} *= 0.5", f"{a}[{i}] += 1", f"{a}[1:].add_({b}[:2])", f"{a}.reshape(3, 1)[{i}] = {b}[{i}] * 2",
            f"{a}[:] = {b}",
        ])  # fmt: skip

    def block(self, known: list[str], length: int, depth: int, indent: str) -> list[str]:
        rng, lines = self.rng, []
        for _ in range(length):
            kind = rng.random()
            if kind < 0.5:
                value, name = self.value(known), self.name()
                lines.append(f"{indent}{name} = {value}")
                known.append(name)
            elif kind < 0.58:
                name = self.name()
                lines.append(f"{indent}{name} = {rng.choice(known)}.copy()")
                known.append(name)
                lines.append(indent + self.write(known))
            elif kind < 0.75:
                lines.append(indent + self.write(known))
            elif depth and kind < 0.9:
                test = f"{rng.choice(known)}.sum() > {rng.choice([-1, 0, 1])}"
                name = self.name()
                lines.append(f"{indent}{name} = {rng.choice(known)} * 1")
                known.append(name)
                lines.append(f"{indent}if {test}:")
                lines += self.block([*known], 2, depth - 1, indent + "    ")
                lines.append(f"{indent}    {name} = {self.value(known)}")
                if rng.random() < 0.6:
                    lines.append(f"{indent}else:")
                    lines += self.block([*known], 1, depth - 1, indent + "    ") or [f"{indent}    {name} *= 2"]
            elif depth:
                name = self.name()
                lines.append(f"{indent}{name} = {rng.choice(known)} * 0.5")
                known.append(name)
                n = rng.choice([2, 3, 12])
                lines.append(f"{indent}for _ in range({n}):" if n != 12 else f"{indent}while {name}.sum() < 9:")
                lines.append(f"{indent}    {name} = {name} * {rng.choice(known)} + {rng.choice([4, 8])}")
                lines += self.block([*known], 1, 0, indent + "    ") if rng.random() < 0.5 else []
        return lines

    def function(self, name: str, length: int) -> list[str]:
        known = ["x", "y"]
        lines = self.block(known, length, 2, "    ")
        result = " + ".join(self.rng.sample(known, 2))
        return [f"def {name}(x, y):", *lines, f"    return {result}", ""]

    def cell(self, name: str) -> list[str]:
        known = ["x", "y", "self.weight"]
        lines = self.block(known, 2, 1, "        ")
        result = " * ".join(self.rng.sample(known, 2))
        return [
            f"class {name}(nn.Cell):",
            "    def __init__(self):",
            "        super().__init__()",
            "        self.weight = Parameter(Tensor([0.5, -1.5, 2.0]), name='weight')",
            "    def construct(self, x, y):",
            *lines,
            f"        return {result}",
            f"{name.lower()} = {name}()",
            "CELLS.append(" + name.lower() + ")",
            "",
        ]

    def program(self) -> str:
        rng, lines = self.rng, [HEAD, "CELLS = []"]
        for i in range(rng.randrange(1, 4)):
            if rng.random() < 0.4:
                lines += self.cell(f"Cell{i}")
                self.callables.append(f"cell{i}")
            else:
                lines += self.function(f"f{i}", rng.randrange(1, 4))
                lines.append(f"f{i} = {self.part(f'f{i}')}")
                self.callables.append(f"f{i}")
        lines += self.function("core", rng.randrange(2, 6))
        inner = self.part("core")
        for order in range(rng.randrange(1, 4)):
            lines.append(f"g{order} = {self.part(f'ms.grad({inner}, (0, 1))')}")
            lines.append(f"def total{order}(x, y):")
            lines.append(f"    g, h = g{order}(x, y)")
            known = ["x", "y", "g", "h"]
            lines += self.block(known, rng.randrange(2), 1, "    ")
            lines.append(f"    return g * {rng.choice(known)} + h * {rng.choice([0.5, 'h'])}")
            inner = self.part(f"total{order}")
        lines.append(f"f = WHOLE({inner})")
        return "\n".join(lines) + "\n"


def generate(seed: int) -> str:
    """The program of ``seed``."""
    return Writer(seed).program()


def run(source: str, seed: int, mode: str) -> list[Any]:
    """What two calls of the program show when its parts are compiled as ``mode`` says."""
    rng = random.Random(f"{seed} {mode}")
    name = f"<mixed {seed} {mode} {rng.random()}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)

    def choice(part: int | None) -> str:
        if mode in ("plain", "graph") or (mode == "outermost" and part is not None):
            return "plain"
        return rng.choice([*COMPILED]) if "mixed" in mode else "jit" if mode == "outermost" else mode

    space: dict[str, Any] = {f"P{i}": COMPILED[choice(i)] for i in range(MOST_PARTS)}
    space |= {"WHOLE": COMPILED[choice(None)], "__name__": name}
    ms.set_context(mode=ms.GRAPH_MODE if mode.startswith("graph") else ms.PYNATIVE_MODE)
    seen = []
    try:
        exec(compile(source, name, "exec"), space)  # noqa: S102 - written above
        for first in ([0.5, -1.0, 1.5], [0.25, -2.0, -0.75], [0.5, -1.0, 1.5]):
            x, y = ms.Tensor(first, ms.float32), ms.Tensor([1.0, 0.5, -0.5], ms.float32)
            try:
                out = space["f"](x, y).asnumpy()
                seen.append(("result", out.dtype.str, out.shape, bits(out)))
            except Exception as error:  # noqa: BLE001 - compared
                seen.append(("raised", type(error).__name__))
            seen.append(tuple(bits(t.asnumpy()) for t in (x, y, *[c.weight for c in space["CELLS"]])))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
        del linecache.cache[name]
    return seen


def bits(array: np.ndarray) -> bytes:
    """The bits of an array; every NaN is the same one."""
    return np.where(np.isnan(array), np.nan, array).tobytes()


def check(seed: int, modes: tuple[str, ...] = MODES) -> str | None:
    """What differs, if anything does, in one of the modes."""
    source = generate(seed)
    expected = run(source, seed, "plain")
    for i, mode in enumerate(modes):
        found = run(source, seed + 1000003 * i if "mixed" in mode else seed, mode)
        if found != expected:
            k = next(k for k, (a, b) in enumerate(zip(expected, found, strict=True)) if a != b)
            what = "arguments after call" if k % 2 else "call"
            return f"seed {seed}, {mode}, {what} {k // 2}: plain {shown(expected[k])}, here {shown(found[k])}\n{source}"
    return None


def shown(part: Any) -> str:
    """An outcome to read."""
    if part[0] == "result":
        return str(np.frombuffer(part[3], part[1]))
    return str(part if part[0] == "raised" else [np.frombuffer(p, np.float32) for p in part])
