"""Changes to functions of the conformance table: what makes a mutant of a program."""

from __future__ import annotations

import ast
import copy
import dataclasses
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

Change = Callable[["Site", random.Random], None]

# Where a change can be made -------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Site:
    """A function of the table that is being changed.

    Attributes:
        function: its definition.
        others: definitions of other programs, whose statements may be taken.
    """

    function: ast.FunctionDef
    others: list[ast.FunctionDef]

    def blocks(self) -> list[list[ast.stmt]]:
        """All lists of statements, those of inner functions included."""
        return list(_blocks(self.function))

    def expressions(self) -> list[tuple[Any, str, int | None]]:
        """Where an expression is read, as (parent, field, index)."""
        return [place for statement in self.function.body for place in _places(statement)]

    def names(self) -> list[str]:
        """Names that the function and its inner ones have of their own."""
        found = {a.arg for n in ast.walk(self.function) if isinstance(n, ast.arguments) for a in _all_arguments(n)}
        found |= {n.id for n in ast.walk(self.function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return sorted(found) or ["x"]


def _all_arguments(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from filter(None, (arguments.vararg, arguments.kwarg))


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for child in ast.walk(node):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(child, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _places(node: ast.AST) -> Iterator[tuple[Any, str, int | None]]:
    """Expressions below ``node``; not those of patterns, of the parts of a text, and of targets."""
    if isinstance(node, ast.JoinedStr | ast.pattern):
        return
    for field, value in ast.iter_fields(node):
        items = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, item in items:
            if isinstance(item, ast.expr) and not isinstance(getattr(item, "ctx", ast.Load()), ast.Store | ast.Del):
                yield node, field, index
            if isinstance(item, ast.AST):
                yield from _places(item)


def _get(place: tuple[Any, str, int | None]) -> ast.expr:
    parent, field, index = place
    value = getattr(parent, field)
    return value if index is None else value[index]


def _put(place: tuple[Any, str, int | None], new: ast.expr) -> None:
    parent, field, index = place
    if index is None:
        setattr(parent, field, new)
    else:
        getattr(parent, field)[index] = new


# Changes --------------------------------------------------------------------------------------------------------------

BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.BitAnd, ast.BitOr)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
CONSTANTS = (0, 1, -1, 2, 3, 0.5, True, None, "a", float("inf"), 10**20)

STATEMENTS = """
print({v})
{v} = {v} + 1
{v} += 1
{v} = {w}
{v}, {w} = {w}, {v}
{v}.add_(1)
{v}[0] = 0
{v}[-1] += {w}
{v} = [{v}, {w}]
{v} = ({v},) * 2
{v}.append({w})
{v}.extend([{w}])
{v}.pop()
{v} = {{"a": {v}, "b": {w}}}
{v} = {v}[{w}]
{v} = {v}[{v} > 0]
{v} = {v}.reshape(3, 1)
{v} = {v}.reshape(-1)
{v} = {v}.astype(ms.float16)
{v} = {v}.astype(ms.int32)
{v} = {v}.asnumpy()
{v} = float({v}.sum())
{v} = int({v}.sum())
{v} = bool({v}.sum() > 0)
{v} = str({v})
{v} = len({v})
{v} = list({v})
{v} = sum({v})
{v} = max({v}, {w})
{v} = sorted([{v}, {w}], key=lambda q_: float(q_.sum()))
{v} = [q_ * 2 for q_ in {v}]
{v} = [q_ for q_ in {v} if q_ > 0]
{v} = {{q_: {w} for q_ in range(2)}}
{v} = (lambda q_: q_ * {w})({v})
{v} = (lambda: {v})
{v} = {v} if {w}.sum() > 0 else {w}
{v} = {v} and {w}
{v} = not {v}
{v} = f"{{{v}}}"
{v} = ms.grad(lambda q_: (q_ * q_).sum())({v})
{v} = ms.value_and_grad(lambda q_: (q_ * {w}).sum())({v})[0]
{v} = ms.jit(lambda q_: q_ + 1)({v})
{v} = ms.vmap(lambda q_: q_ * {w})({v})
{v} = ms.ops.nonzero({v}).reshape(-1)
{v} = ms.ops.unique({v})[0]
{v} = ms.ops.cat([{v}, {w}])
{v} = ms.ops.stack([{v}, {w}])
{v} = ms.ops.rand(2)
{v} = {v}.T
{v}.zero_()
{v} = ms.Parameter({v})
{v} = ms.Tensor({w})
{v}.extra_ = {w}
{v} = {v}.extra_
{v} = getattr({v}, "shape", {w})
del {v}
return {v}
return {v}, {w}
raise ValueError("x")
assert {v} is not None, "none"
assert {v}.sum() > 0
global G_
G_ = {v}
yield {v}
pass
if {v}.sum() > 0: {w} = {w} * 2
if {v}.sum() > 0: return {w}
if {v}.sum() > 0: raise KeyError("y")
if {v}: {w} = 1
for i_ in range(3): {v} = {v} * 1.5
for i_ in {v}: {w} = {w} + i_
for i_, j_ in enumerate([{v}, {w}]): print(i_, j_)
while {v}.sum() < 10: {v} = {v} + 5
while {v} < 4: {v} += 1
break
continue
"""

WRAPPERS = """
if {v}.sum() > 0:
    BODY
===
if {v}.sum() > 0:
    BODY
else:
    {w} = 0
===
if {v}.sum() > 0:
    pass
else:
    BODY
===
for i_ in range(2):
    BODY
===
for i_ in range(3):
    if {v}.sum() > 3:
        break
    BODY
===
while {v}.sum() < 6:
    BODY
    {v} = {v} + 2
===
while True:
    BODY
    break
===
try:
    BODY
except Exception as e_:
    print(type(e_).__name__)
===
try:
    BODY
except (ValueError, TypeError):
    {v} = {w}
else:
    {w} = {v}
===
try:
    BODY
finally:
    print("finally")
===
with contextlib.suppress(Exception):
    BODY
===
with contextlib.nullcontext({v}) as c_:
    BODY
===
def g_({v}={v}):
    BODY
    return {v}
{w} = g_()
===
def g_():
    nonlocal {v}
    BODY
g_()
===
class C_:
    def __call__(self, {v}):
        BODY
        return {v}
{v} = C_()({v})
===
match {v}:
    case [a_, *b_]:
        {w} = a_
    case _:
        BODY
"""


def _filled(template: str, site: Site, choose: random.Random) -> list[ast.stmt]:
    names = site.names()
    return ast.parse(template.strip("\n").format(v=choose.choice(names), w=choose.choice(names))).body


def _a_block(site: Site, choose: random.Random) -> tuple[list[ast.stmt], int]:
    block = choose.choice(site.blocks())
    return block, choose.randrange(len(block))


def add(site: Site, choose: random.Random) -> None:
    """A new statement."""
    block, at = _a_block(site, choose)
    block[at:at] = _filled(choose.choice(STATEMENTS.strip().splitlines()), site, choose)


def wrap(site: Site, choose: random.Random) -> None:
    """A statement, or all from it on, becomes the body of another."""
    block, at = _a_block(site, choose)
    end = at + 1 if choose.random() < 0.6 else len(block)
    new = _filled(choose.choice(WRAPPERS.split("===")), site, choose)
    for inner in itertools.chain([new], _blocks(ast.Module(new, []))):
        for n, statement in enumerate(inner):
            if (
                isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Name)
                and statement.value.id == "BODY"
            ):
                inner[n : n + 1] = block[at:end]
                block[at:end] = new
                return


def remove(site: Site, choose: random.Random) -> None:
    """A statement is gone."""
    block, at = _a_block(site, choose)
    block[at] = ast.Pass()


def double(site: Site, choose: random.Random) -> None:
    """A statement stands a second time somewhere."""
    block, at = _a_block(site, choose)
    there, place = _a_block(site, choose)
    there.insert(place, copy.deepcopy(block[at]))


def exchange(site: Site, choose: random.Random) -> None:
    """Two neighbours are exchanged."""
    block, at = _a_block(site, choose)
    if at:
        block[at - 1], block[at] = block[at], block[at - 1]


def borrow(site: Site, choose: random.Random) -> None:
    """Statements of another program, whose names become names of this one."""
    other = choose.choice(site.others)
    block = choose.choice(list(_blocks(other)))
    first = choose.randrange(len(block))
    taken = copy.deepcopy(block[first : first + choose.randint(1, 3)])
    names = site.names()
    inner = Site(other, []).names()
    becomes = {name: choose.choice(names) for name in inner if choose.random() < 0.7}
    for node in ast.walk(ast.Module(taken, [])):
        if isinstance(node, ast.Name):
            node.id = becomes.get(node.id, node.id)
    here, at = _a_block(site, choose)
    here[at:at] = taken


def other_operator(site: Site, choose: random.Random) -> None:
    """Another binary operator, or another comparison."""
    found = [n for n in ast.walk(site.function) if isinstance(n, ast.BinOp | ast.AugAssign | ast.Compare)]
    if found:
        node = choose.choice(found)
        if isinstance(node, ast.Compare):
            node.ops[choose.randrange(len(node.ops))] = choose.choice(COMPARISONS)()
        else:
            node.op = choose.choice(BINARY)()


def other_constant(site: Site, choose: random.Random) -> None:
    """Another constant."""
    found = [p for p in site.expressions() if isinstance(_get(p), ast.Constant)]
    if found:
        _put(choose.choice(found), ast.Constant(choose.choice(CONSTANTS)))


def other_expression(site: Site, choose: random.Random) -> None:
    """An expression is replaced by another one of the function, or made part of a new one."""
    places = site.expressions()
    if not places:
        return
    at = choose.choice(places)
    old = _get(at)
    if choose.random() < 0.5:
        _put(at, copy.deepcopy(_get(choose.choice(places))))
        return
    v = choose.choice(site.names())
    template = choose.choice(
        (
            "(OLD if {v}.sum() > 0 else {v})",
            "(OLD and {v})",
            "[OLD][0]",
            "(lambda: OLD)()",
            "(-OLD)",
            "(OLD + {v})",
            "(OLD, {v})",
            "OLD.sum()",
            "OLD[0]",
            "{v}",
            "(q_ := OLD)",
            "[OLD for i_ in range(2)]",
            "float(OLD)",
            "print(OLD)",
            "(OLD < {v} < 3)",
        )
    ).format(v=v)
    new = ast.parse(template, mode="eval").body
    if isinstance(new, ast.Name) and new.id == "OLD":
        return
    for place in [(new, f, None) for f in new._fields] + list(_places(new)):
        inner = getattr(place[0], place[1], None) if place[2] is None else _get(place)
        if isinstance(inner, ast.Name) and inner.id == "OLD":
            _put(place, old)
    _put(at, new)


CHANGES: tuple[Change, ...] = (
    add, add, add, wrap, wrap, remove, double, exchange, borrow, borrow,
    other_operator, other_constant, other_expression, other_expression,
)  # fmt: skip
