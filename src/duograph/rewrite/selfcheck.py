"""Checks a rule by machine: its own pattern makes the programs it is tried on.

For every combination of dtypes and shapes that type-checks, the pattern is built with parameters in the place of its
variables, the rule is applied, and both programs are run on random values mixed with NaN, infinities, both zeros and
extremes. Types and *bits* must agree.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dtype import DType
from duograph.core.types import ScalarType, TensorType, Type
from duograph.ir.interpreter import run
from duograph.ir.node import Apply, Context, Node, Param
from duograph.ir.printer import print_graph

from .pattern import AttrVar, Filled, Known, Number, PApply, Var, _fits, variables_of
from .rule import Rule

DTYPES = (
    dt.bool_, dt.int8, dt.int32, dt.int64, dt.uint8, dt.float16, dt.bfloat16, dt.float32, dt.float64, dt.complex64,
)  # fmt: skip
SHAPES = ((), (1,), (3,), (2, 3), (4, 1), (0,), (1, 3))
_PAIR_SHAPES = ((), (1,), (3,), (2, 3), (0,))
_TRIPLE_SHAPES = ((), (2, 3))
MAX_PROGRAMS = 4000


@dataclass(frozen=True)
class Counterexample:
    """A program on which a rule is wrong."""

    rule: Rule
    before: str
    after: str
    args: tuple[Any, ...]
    why: str

    def __str__(self) -> str:
        shown = ", ".join(repr(a) for a in self.args)
        return f"{self.rule.name}: {self.rule.law}\n{self.why}\non ({shown})\n{self.before}\nbecomes\n{self.after}"


@dataclass
class Report:
    """What a check did: on how many programs the rule applied, and where it was wrong."""

    applied: int = 0
    counterexamples: list[Counterexample] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self.counterexamples = []


def check_rule(rule: Rule, seed: int = 0, dtypes: Sequence[DType] = DTYPES, limit: int = MAX_PROGRAMS) -> Report:
    """Tries ``rule`` on programs made from its pattern; stops at the first counterexample."""
    report = Report()
    rng = np.random.default_rng(seed)
    for program in itertools.islice(_programs(rule.pattern, dtypes), limit):
        context = Context()
        built = _build(rule.pattern, program, context)
        if not isinstance(built, Apply):
            continue
        new = rule.apply(built)
        if new is None:
            continue
        report.applied += 1
        wrong = _compare(rule, built, new, rng)
        if wrong is not None:
            report.counterexamples.append(wrong)
            return report
    return report


def _programs(pattern: PApply, dtypes: Sequence[DType]) -> Iterator[dict[str, Any]]:
    """Choices of a type per variable and a value per attribute; most do not type-check and are dropped later."""
    variables = {v.name: v for v in variables_of(pattern)}
    numbers = [v for v in variables.values() if isinstance(v, Number)]
    tensors = [v for v in variables.values() if isinstance(v, Var) and not isinstance(v, Number)]
    attrs = [v for v in variables.values() if isinstance(v, AttrVar)]
    named: list[Any] = [*numbers, *attrs]
    shapes = SHAPES if len(tensors) < 2 else _PAIR_SHAPES if len(tensors) == 2 else _TRIPLE_SHAPES
    for dtype in dtypes if tensors else dtypes[:1]:
        kinds = [(dt.bool_,) if _is_condition(pattern, v) else (dtype,) for v in tensors]
        for chosen in itertools.product(*[list(itertools.product(k, shapes)) for k in kinds]):
            kinds_of = [[ScalarType(k) for k in v.kinds] for v in numbers]
            for values in itertools.product(*kinds_of, *[a.samples for a in attrs]):
                program: dict[str, Any] = {v.name: TensorType(*c) for v, c in zip(tensors, chosen, strict=True)}
                program.update({v.name: value for v, value in zip(named, values, strict=True)})
                yield program


def _is_condition(pattern: PApply, variable: Var) -> bool:
    """Whether a variable is the condition of a `select`: a bool, whatever the dtype of the rest."""
    found = False

    def visit(p: Any) -> None:
        nonlocal found
        if isinstance(p, PApply):
            found = found or (p.op.name == "select" and variable in variables_of(p.operands[0]))
            for o in p.operands:
                visit(o)

    visit(pattern)
    return found


def _build(pattern: Any, program: dict[str, Any], context: Context) -> Node | None:
    """The pattern as a node; ``None`` where it does not type-check."""
    if isinstance(pattern, Filled | Known):
        type_ = program[pattern.name]
        values = [v for v in getattr(pattern, "values", (1,)) if _fits(v, type_.dtype.numpy)]
        if not values:
            return None
        return context.const(np.full(type_.shape, values[sum(type_.shape) % len(values)], type_.dtype.numpy))
    if isinstance(pattern, Var):
        return context.param(pattern.name, program[pattern.name])
    if not isinstance(pattern, PApply):
        return context.const(pattern)
    operands = [_build(o, program, context) for o in pattern.operands]
    if any(o is None for o in operands):
        return None
    attrs = {k: program[v.name] if isinstance(v, AttrVar) else v for k, v in pattern.attrs.items()}
    try:
        return context.apply(pattern.op, tuple(operands), attrs)  # type: ignore[arg-type]
    except (TypeError, ValueError, IndexError):  # this choice of types is no program
        return None


def _compare(rule: Rule, before: Apply, after: Node, rng: np.random.Generator) -> Counterexample | None:
    context = before.context
    params = sorted(_params(before) | _params(after), key=lambda p: p.serial)
    old = context.graph("before", tuple(params), before)
    new = context.graph("after", tuple(params), after)

    def wrong(why: str, args: tuple[Any, ...] = ()) -> Counterexample:
        return Counterexample(rule, print_graph(old), print_graph(new), args, why)

    if before.type != after.type:
        return wrong(f"the type changes from {before.type} to {after.type}")
    for _ in range(2):
        args = tuple(random_value(p.type, rng) for p in params)
        try:
            x = run(old, *args)
        except (TypeError, ValueError, IndexError, OverflowError, MemoryError):  # no valid program: wrong attributes
            return None
        y = run(new, *args)
        if not same_bits(x, y):
            return wrong(f"{x!r} becomes {y!r}", args)
    return None


def _params(node: Node) -> set[Param]:
    found: set[Param] = set()
    seen: set[Node] = set()
    work = [node]
    while work:
        n = work.pop()
        if n in seen:
            continue
        seen.add(n)
        if isinstance(n, Apply):
            work.extend(n.operands)
        elif isinstance(n, Param):
            found.add(n)
    return found


_SPECIAL = (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-40, 3e38, 0.5)


def random_value(type: Type, rng: np.random.Generator) -> Any:
    """A random value of ``type``, special values and extremes included."""
    if isinstance(type, ScalarType):
        return {"bool": bool, "int": int, "float": float}[type.kind](rng.integers(-3, 4))
    assert isinstance(type, TensorType), type
    dtype, shape = type.dtype, tuple(n for n in type.shape if isinstance(n, int))
    if dtype.is_bool:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.is_integer:
        info = np.iinfo(dtype.numpy)
        extremes = np.array([info.min, info.max, 0, 1], dtype.numpy)
        small = rng.integers(0 if info.min == 0 else -5, 6, shape).astype(dtype.numpy)
        return np.where(rng.random(shape) < 0.3, rng.choice(extremes, shape), small).astype(dtype.numpy)
    with np.errstate(all="ignore"):
        parts = [
            np.where(rng.random(shape) < 0.5, rng.choice(np.array(_SPECIAL), shape), rng.standard_normal(shape))
            for _ in range(2 if dtype.is_complex else 1)
        ]
        if not dtype.is_complex:
            return np.asarray(parts[0], dtype.numpy)
        out = np.empty(shape, dtype.numpy)
        out.real, out.imag = parts
        return out


def same_bits(x: Any, y: Any) -> bool:
    """Whether two values have the same types, shapes and bits."""
    if isinstance(x, tuple):
        return isinstance(y, tuple) and len(x) == len(y) and all(map(same_bits, x, y))
    if isinstance(x, np.ndarray):
        return isinstance(y, np.ndarray) and x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    if isinstance(x, float) and isinstance(y, float):
        return np.float64(x).tobytes() == np.float64(y).tobytes()
    return type(x) is type(y) and (x is y or bool(x == y))
