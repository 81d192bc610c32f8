"""Foreign calls inside expressions become statements of their own, so that the rest of the statement can be compiled.

    y = net(x) * np.float32(noise.draw()) + 1

cannot be captured because of ``noise.draw()``. It is rewritten into

    <a> = net(x)
    <m> = np.float32
    <b> = noise.draw()              plain Python
    y = <a> * <m>(<b>) + 1

where everything that Python evaluates before the foreign call has a variable of its own: in the same order, and with
the value that it had then. Constants, and variables that nothing in between can bind, are read where they are. What
Python evaluates only sometimes (``a if t else b``, ``a and b``) becomes an ``if`` statement, the test of a ``while`` a
``break``. What cannot be put in this form is left as it is, and is plain Python as a whole.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from typing import Any

from .comprehensions import is_worth_a_loop, loop_of
from .flow import Flow
from .foreign import Kinds, works
from .uses import COMPREHENSIONS, FUNCTIONS

Place = tuple[str, int, int, int, int]
Slot = tuple[Any, Any]
"""Where an operand is: a list and an index, or a node and the name of a field."""

PREFIX = "_hoisted_"
"""Of the names of the variables that are made."""


def value_place(node: ast.expr) -> Place:
    """What names an expression that runs as plain Python; no statement has the same."""
    return ("=" + type(node).__name__, node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)


def apart_place(node: ast.stmt) -> Place:
    """What says of a statement that it is plain Python, but what it computes with is not."""
    return ("~" + type(node).__name__, node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)


class CannotHoist(Exception):
    """Something is evaluated before the foreign call that cannot be evaluated apart."""


class Hoister:
    """Rewrites the blocks of one function.

    Args:
        places: of expressions that run as plain Python.
        flow: the data flow of the function as it is.
        unsteady: variables that code elsewhere may bind.
        kinds: what global names stand for.

    Attributes:
        plain: statements made that are plain Python.
        foreign: those of them that are there for one of the ``places``.
        variables: those made.
    """

    def __init__(self, places: frozenset[Place], flow: Flow, unsteady: set[str], kinds: Kinds) -> None:
        self.places, self.flow, self.unsteady, self.kinds = places, flow, unsteady, kinds
        self.plain: set[ast.stmt] = set()
        self.foreign: dict[ast.stmt, Place] = {}
        self.variables: set[str] = set()
        self._steady: frozenset[str] = frozenset()

    def rewritten(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The body of the function, rewritten if there is anything to rewrite."""
        return self.block(body) if any(kind[0] in "=~" for kind, *_ in self.places) else body

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a block, rewritten."""
        return [made for node in body for made in self._statement(node)]

    # -- statements --------------------------------------------------------------------------------------------

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.ClassDef | ast.AsyncFor | ast.AsyncWith):  # the latter stay as they are, as a whole
            return [node]
        if isinstance(node, FUNCTIONS):
            return self._definition(node)
        value = getattr(node, "value", None)
        if apart_place(node) in self.places and isinstance(value, ast.expr):
            self.places |= {value_place(value)}
        if not self._marked(node):
            return [node]
        made = self._with_blocks(node)
        rebound = {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
        self._steady = self.flow.points[node].bound - self.unsteady - rebound
        out: list[ast.stmt] = []
        known = set(self.variables)
        try:
            made = self._header(node, made, out)
            return [*out, made]
        except CannotHoist:
            self.variables = known
            made = self._with_blocks(node)
            self.plain.add(made)
            return [made]

    def _definition(self, node: Any) -> list[ast.stmt]:
        """A function, whose decorators and default values are evaluated where it is made."""
        made = copy.copy(node)
        made.decorator_list, made.args = list(node.decorator_list), copy.copy(node.args)
        made.args.defaults, made.args.kw_defaults = list(node.args.defaults), list(node.args.kw_defaults)
        rows = (made.decorator_list, made.args.defaults, made.args.kw_defaults)
        slots = [(row, i) for row in rows for i in range(len(row)) if row[i] is not None]
        marked = [i for i, slot in enumerate(slots) if self._marked(_get(slot))]
        if not marked:
            return [node]
        self._steady = self.flow.points[node].bound - self.unsteady
        known, out = set(self.variables), list[ast.stmt]()
        try:
            for i, slot in enumerate(slots[: marked[-1] + 1]):
                value = _get(slot)
                _set(slot, self._spill(self._lift(value, out) if i in marked else value, out))
        except CannotHoist:
            self.variables = known
            self.plain.add(node)
            return [node]
        return [*out, made]

    def _with_blocks(self, node: ast.stmt) -> ast.stmt:
        """A copy of a statement, whose blocks are rewritten."""
        made = copy.copy(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(made, name, None)
            if isinstance(block, list):
                setattr(made, name, self.block(block))
        for name in ("handlers", "cases"):
            if hasattr(made, name):
                parts = [copy.copy(part) for part in getattr(made, name)]
                for part in parts:
                    part.body = self.block(part.body)
                setattr(made, name, parts)
        return made

    def _header(self, node: ast.stmt, made: Any, out: list[ast.stmt]) -> ast.stmt:
        """``made`` with what is foreign in its own expressions taken out in front of it."""
        match node:
            case ast.Expr() | ast.Return() | ast.AnnAssign(target=ast.Name()):
                self._root(made, "value", out)
            case ast.Assign():
                self._assign(node, made, out)
            case ast.AugAssign():
                return self._augmented(node, made, out)
            case ast.If() | ast.Assert():
                self._root(made, "test", out, is_test=True)
                if isinstance(node, ast.Assert) and node.msg is not None and self._marked(node.msg):
                    raise CannotHoist
            case ast.While() if self._marked(node.test):
                return self._while(node, made, out)
            case ast.For():
                self._root(made, "iter", out)
            case ast.Match():
                self._root(made, "subject", out)
            case ast.With():
                if any(self._marked(item) for item in node.items):
                    made.items = [copy.copy(item) for item in node.items]
                    self._root(made.items[0], "context_expr", out)
                    self.plain.add(made)
            case ast.Try() | ast.TryStar() | ast.While():
                pass
            case _:
                self.plain.add(made)
        return made

    def _root(self, owner: Any, name: str, out: list[ast.stmt], is_test: bool = False) -> None:
        """Takes out what is foreign in ``owner.name``; if that is the whole of it, ``owner`` is plain Python."""
        value = getattr(owner, name)
        if value is None or not self._marked(value):
            return
        setattr(owner, name, self._lift(value, out, is_test, is_root=True))
        if self._is_cut(value) and not is_worth_a_loop(value, self.kinds):
            self.plain.add(owner)
            self.foreign[owner] = value_place(value)

    def _assign(self, node: ast.Assign, made: ast.Assign, out: list[ast.stmt]) -> None:
        if not any(self._marked(target) for target in node.targets):
            return self._root(made, "value", out)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Attribute | ast.Subscript):
            raise CannotHoist
        value = self._lift(node.value, out) if self._marked(node.value) else node.value
        made.value = self._spill(value, out)
        made.targets = [self._target(target, out)]
        return None

    def _target(self, target: ast.Attribute | ast.Subscript, out: list[ast.stmt]) -> ast.expr:
        """A target, evaluated as far as Python does that before it is assigned to."""
        made = copy.copy(target)
        parts = ["value", "slice"] if isinstance(target, ast.Subscript) else ["value"]
        last = max(i for i, name in enumerate(parts) if self._marked(getattr(target, name)))
        for i, name in enumerate(parts[: last + 1]):
            old = getattr(made, name)
            new = self._lift(old, out) if self._marked(old) else old
            setattr(made, name, self._spill(new, out) if i < last else new)
        return made

    def _augmented(self, node: ast.AugAssign, made: ast.AugAssign, out: list[ast.stmt]) -> ast.stmt:
        target = node.target
        if self._marked(target):
            raise CannotHoist
        if isinstance(target, ast.Name):
            if target.id not in self._steady:
                raise CannotHoist
            self._root(made, "value", out)
            return made
        where = copy.copy(target)  # its owner, its index and its value are looked up first
        where.value = self._spill(target.value, out)
        if isinstance(where, ast.Subscript):
            where.slice = self._spill(where.slice, out)
        read = copy.copy(where)
        read.ctx = ast.Load()
        held = self._temporary(read, out)
        made.target = ast.copy_location(ast.Name(held.id, ast.Store()), target)
        self._root(made, "value", out)
        out.append(made)
        return ast.copy_location(ast.Assign([where], held), node)

    def _while(self, node: ast.While, made: ast.While, out: list[ast.stmt]) -> ast.stmt:
        """``while test`` becomes ``while True`` and a ``break``."""
        if node.orelse:
            raise CannotHoist
        head: list[ast.stmt] = []
        test = self._lift(node.test, head, is_test=True)
        leave = ast.If(ast.copy_location(ast.UnaryOp(ast.Not(), test), node.test), [ast.Break()], [])
        ast.copy_location(leave, node.test)
        ast.copy_location(leave.body[0], node.test)
        made.test = ast.copy_location(ast.Constant(True), node.test)
        made.body = [*head, leave, *made.body]
        self.plain.add(made)
        return made

    # -- expressions -------------------------------------------------------------------------------------------

    def _is_cut(self, node: ast.AST) -> bool:
        return isinstance(node, ast.expr) and value_place(node) in self.places

    def _marked(self, node: ast.AST) -> bool:
        """Whether an expression that is plain Python is in ``node``, evaluated where ``node`` is."""
        return any(self._is_cut(n) for n in evaluated(node))

    def _lift(self, node: ast.expr, out: list[ast.stmt], is_test: bool = False, is_root: bool = False) -> ast.expr:
        """What is left of an expression once all up to its last foreign part has been evaluated."""
        if self._is_cut(node) and is_worth_a_loop(node, self.kinds):
            return self._loop(node, out)
        if isinstance(node, ast.IfExp):
            if self._marked(node.body) or self._marked(node.orelse):
                return self._conditional(node, out, is_test)
        if isinstance(node, ast.BoolOp):
            if any(_is_logic(value) for value in node.values):
                raise CannotHoist  # which of them Python asks whether it is true, and how often, is its compiler's
            if any(self._marked(v) for v in node.values[1:]):
                return self._short_circuit(node, out, is_test)
        has_test = isinstance(node, ast.IfExp) or (is_test and _is_not(node))
        is_cut = self._is_cut(node)
        made = copy.copy(node)
        slots = list(slots_of(made))
        if not is_cut and not any(self._marked(_get(slot)) for slot in slots):
            raise CannotHoist  # it is in a part that Python may not evaluate
        last = self._last(slots, is_cut)
        receiver: ast.expr | None = None
        for i, slot in enumerate(slots[: last + 1]):
            value = _get(slot)
            if self._marked(value):
                value = self._lift(value, out, has_test)
            if i < last or (is_cut and works(value, self.kinds)):
                if isinstance(node, ast.Call) and i == 0 and not is_cut and self._may_be_method(value):
                    value, receiver = self._callee(value, out)
                elif i == last and isinstance(value, ast.Attribute):  # nothing comes between
                    value = copy.copy(value)
                    value.value = self._spill(value.value, out)
                else:
                    kind = self.kinds.root(value) if isinstance(node, ast.Call) and i == 0 else ""
                    value = self._spill(value, out)
                    if kind and isinstance(value, ast.Name):
                        self.kinds.held[value.id] = kind
            _set(slot, value)
        if receiver is not None:
            made.args.insert(0, receiver)  # type: ignore[attr-defined]
        if is_cut and not is_root:
            held = self._temporary(made, out)
            self.plain.add(out[-1])
            self.foreign[out[-1]] = value_place(node)
            return held
        return made

    def _loop(self, node: Any, out: list[ast.stmt]) -> ast.expr:
        """The value of a comprehension, which becomes a loop."""
        first = node.generators[0].iter
        values = self._spill(self._lift(first, out) if self._marked(first) else first, out)
        empty, loop, made = loop_of(node, self._variable, self._hoisted)
        loop.iter = values
        for statement in (empty, loop):
            out.append(_locate(ast.copy_location(statement, node)))
        self.foreign[loop] = value_place(node)
        return ast.copy_location(ast.Name(made, ast.Load()), node)

    def _hoisted(self, statement: ast.stmt, name: str) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        self._root(statement, name, out, is_test=name == "test")
        return [*out, statement]

    def _last(self, slots: list[Slot], is_cut: bool) -> int:
        """The number of the last operand that has to be evaluated early; -1: none."""
        last = -1
        for i, slot in enumerate(slots):
            value = _get(slot)
            if self._marked(value):
                last = i
            elif is_cut and works(value, self.kinds):
                if any(_is_unpacked(slots[k]) for k in range(i + 1)):
                    break
                last = i
        if any(_is_unpacked(slot) for slot in slots[: last + 1]):
            raise CannotHoist
        return last

    def _may_be_method(self, callee: ast.expr) -> bool:
        return isinstance(callee, ast.Attribute) and self.kinds.root(callee) == ""

    def _callee(self, callee: ast.expr, out: list[ast.stmt]) -> tuple[ast.expr, ast.expr]:
        """What is called, and ``*receiver``: a method as a function and the tuple of its object, others with ()."""
        assert isinstance(callee, ast.Attribute)
        looked_up = copy.copy(callee)
        looked_up.value = self._spill(callee.value, out)
        function, owner = self._variable(callee, "f"), self._variable(callee, "o")
        form = ast.Attribute(ast.Name(self.kinds.helper, ast.Load()), "method", ast.Load())
        target = ast.Tuple([ast.Name(function, ast.Store()), ast.Name(owner, ast.Store())], ast.Store())
        made = ast.copy_location(ast.Assign([target], ast.Call(form, [looked_up], [])), callee)
        _locate(made)
        self.plain.add(made)
        out.append(made)
        star = ast.Starred(ast.Name(owner, ast.Load()), ast.Load())
        return _locate(ast.copy_location(ast.Name(function, ast.Load()), callee)), _locate(
            ast.copy_location(star, callee)
        )

    def _spill(self, node: ast.expr, out: list[ast.stmt]) -> ast.expr:
        """An expression with the value that ``node`` has now."""
        match node:
            case ast.Constant():
                return node
            case ast.Name() if node.id in self._steady or node.id in self.variables:
                return node
            case ast.Lambda() if not node.args.defaults and not any(node.args.kw_defaults):
                return node
            case ast.Starred():
                raise CannotHoist
            case ast.FormattedValue():
                text = ast.copy_location(ast.JoinedStr([node]), node)
                return ast.copy_location(ast.FormattedValue(self._temporary(text, out), -1, None), node)
            case ast.Slice():
                made = copy.copy(node)
                for slot in slots_of(made):
                    _set(slot, self._spill(_get(slot), out))
                return made
            case ast.Tuple() if any(isinstance(e, ast.Slice | ast.Starred) for e in node.elts):
                return ast.copy_location(ast.Tuple([self._spill(e, out) for e in node.elts], ast.Load()), node)
        return self._temporary(node, out)

    def _conditional(self, node: ast.IfExp, out: list[ast.stmt], is_test: bool) -> ast.expr:
        """``a if test else b`` as a statement."""
        test = self._lift(node.test, out, is_test=True) if self._marked(node.test) else node.test
        name = self._variable(node)
        branches = [self._branch(part, name, node, is_test) for part in (node.body, node.orelse)]
        out.append(_locate(ast.copy_location(ast.If(test, *branches), node)))
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _short_circuit(self, node: ast.BoolOp, out: list[ast.stmt], is_test: bool) -> ast.expr:
        """``a and b`` as statements; in a test Python asks each value once whether it is true."""
        name = self._variable(node)
        block = out
        for k, value in enumerate(node.values):
            block.extend(self._branch(value, name, value, is_test))
            if k < len(node.values) - 1:
                test: ast.expr = ast.Name(name, ast.Load())
                if isinstance(node.op, ast.Or):
                    test = ast.UnaryOp(ast.Not(), test)
                following: list[ast.stmt] = []
                place = ast.copy_location(ast.If(test, following, []), value)
                block.append(_locate(place))
                block = following
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _branch(self, value: ast.expr, name: str, at: ast.expr, is_test: bool) -> list[ast.stmt]:
        """The statements that bind ``name`` to ``value``."""
        out: list[ast.stmt] = []
        made = ast.Assign([ast.Name(name, ast.Store())], value)
        ast.copy_location(made, value)
        self._root(made, "value", out, is_test)
        if is_test:
            made.value = ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), made.value))
        return [*out, _locate(made)]

    def _temporary(self, node: ast.expr, out: list[ast.stmt]) -> ast.Name:
        """A variable with the value of ``node``."""
        name = self._variable(node)
        made = _locate(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], node), node))
        out.append(made)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _variable(self, node: ast.expr, kind: str = "") -> str:
        """The name of a variable for ``node``: the same whenever the function is cut."""
        name = f"{PREFIX}{kind}{node.lineno}_{node.col_offset}_{node.end_lineno}_{node.end_col_offset}"
        if name in self.variables or name in self.kinds.own:
            raise CannotHoist  # texts with values in them: their parts may all be where the whole is
        self.variables.add(name)
        return name


def evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that are evaluated where ``node`` is: not the blocks of statements, nor what is inside functions."""
    work: list[ast.AST] = [node]
    while work:
        part = work.pop()
        yield part
        if isinstance(part, COMPREHENSIONS):
            work.append(part.generators[0].iter)
        elif not isinstance(part, (*FUNCTIONS, ast.ClassDef)):
            work.extend(ast.iter_child_nodes(part))


def slots_of(node: ast.expr) -> Iterator[Slot]:
    """The operands of an expression, a copy of which ``node`` is, in the order in which Python evaluates them."""
    match node:
        case ast.Call():
            node.args, node.keywords = list(node.args), [copy.copy(k) for k in node.keywords]
            yield node, "func"
            yield from _items(node.args)
            yield from ((k, "value") for k in node.keywords)
        case ast.BinOp():
            yield from ((node, "left"), (node, "right"))
        case ast.Compare():
            node.comparators = list(node.comparators)
            yield from ((node, "left"), (node.comparators, 0))
        case ast.BoolOp():
            node.values = list(node.values)
            yield node.values, 0
        case ast.IfExp():
            yield node, "test"
        case ast.UnaryOp():
            yield node, "operand"
        case ast.Subscript():
            yield from ((node, "value"), (node, "slice"))
        case ast.Slice():
            yield from ((node, name) for name in ("lower", "upper", "step") if getattr(node, name) is not None)
        case ast.Tuple() | ast.List() | ast.Set():
            node.elts = list(node.elts)
            yield from _items(node.elts)
        case ast.Dict():
            node.keys, node.values = list(node.keys), list(node.values)
            for i, key in enumerate(node.keys):
                if key is not None:
                    yield node.keys, i
                yield node.values, i
        case ast.JoinedStr():
            node.values = list(node.values)
            yield from _items(node.values)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            node.generators = [copy.copy(g) for g in node.generators]
            yield node.generators[0], "iter"
        case ast.FormattedValue() | ast.Attribute() | ast.NamedExpr() | ast.Starred() | ast.Await() | ast.YieldFrom():
            yield node, "value"
        case ast.Yield(value=ast.expr()):
            yield node, "value"


def _is_not(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _is_logic(node: ast.expr) -> bool:
    while _is_not(node):
        node = node.operand  # type: ignore[attr-defined]
    return isinstance(node, ast.BoolOp | ast.IfExp) or (isinstance(node, ast.Compare) and len(node.ops) > 1)


def _items(values: list[Any]) -> Iterable[Slot]:
    return ((values, i) for i in range(len(values)))


def _get(slot: Slot) -> Any:
    owner, key = slot
    return owner[key] if isinstance(owner, list) else getattr(owner, key)


def _set(slot: Slot, value: Any) -> None:
    owner, key = slot
    if isinstance(owner, list):
        owner[key] = value
    else:
        setattr(owner, key, value)


def _is_unpacked(slot: Slot) -> bool:
    """Whether an operand is ``*values`` or ``**values``, which Python goes over where it stands."""
    owner, _ = slot
    return isinstance(_get(slot), ast.Starred) or (isinstance(owner, ast.keyword) and owner.arg is None)


def _locate(node: Any) -> Any:
    return ast.fix_missing_locations(node)
