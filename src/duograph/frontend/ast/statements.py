"""Statements without loops: assignments, conditionals, exceptions, ``with``, ``match``, imports, definitions."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import itertools
import operator
from typing import Any

from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor

from ..control.paths import Outcome
from ..rules.errors import INTERNAL, Uncapturable
from ..rules.exceptions import check_raised, is_caught_by
from ..rules.facts import MISSING
from ..rules.faults import check_whose
from ..source.scope import contains_yield
from ..values.journals import Journal
from ..values.world import Conflict, Frame
from ..verbs.contexts import CapturedContext
from ..verbs.library import imported
from ..verbs.stacks import protocol_method
from .expressions import Expressions

IN_PLACE = {
    ast.Add: operator.iadd, ast.Sub: operator.isub, ast.Mult: operator.imul, ast.Div: operator.itruediv,
    ast.FloorDiv: operator.ifloordiv, ast.Mod: operator.imod, ast.Pow: operator.ipow, ast.MatMult: operator.imatmul,
    ast.BitAnd: operator.iand, ast.BitOr: operator.ior, ast.BitXor: operator.ixor, ast.LShift: operator.ilshift,
    ast.RShift: operator.irshift,
}  # fmt: skip
NEXT = Outcome("next")
SEQUENCE, MAPPING = 1 << 5, 1 << 6
"""Classes that ``match`` takes for sequences and mappings (`Py_TPFLAGS_SEQUENCE`, `Py_TPFLAGS_MAPPING`)."""


def _leaves_by(body: list[ast.stmt]) -> type[ast.stmt] | None:
    """The kind of statement by which the end of a block leaves it; ``None`` if what follows the block is next."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        kind = _leaves_by(last.body)
        return kind if kind is _leaves_by(last.orelse) else None
    return type(last) if isinstance(last, ast.Return | ast.Break | ast.Continue | ast.Raise) else None


def _asks_choice(node: ast.stmt, frame: Frame) -> bool:
    """Whether a statement may read a variable of which a join has kept both values."""
    chosen = [k for k, v in frame.locals.items() if isinstance(v, Conflict) and v.choice is not None]
    return bool(chosen) and not _names_read(node).isdisjoint(chosen)


def _may_choose(node: ast.stmt) -> bool:
    """Whether a statement assigns what is one of two values, perhaps of different kinds."""
    return (
        isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.IfExp) and not contains_yield(node)
    )


def _names_read(node: ast.stmt) -> frozenset[str]:
    """The names that a simple statement, or the test of an ``if``, reads; none of one that a generator leaves."""
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Assert | ast.Return | ast.If):
        return frozenset()
    if contains_yield(node):
        return frozenset()
    names = [part for part in ast.walk(node.test if isinstance(node, ast.If) else node) if isinstance(part, ast.Name)]
    return frozenset(
        part.id for part in names if not isinstance(part.ctx, ast.Store) or isinstance(node, ast.AugAssign)
    )


class Statements(Expressions):
    """Executes statements in a frame; each gives an `Outcome`."""

    def block(self, body: list[ast.stmt], frame: Frame) -> Outcome:
        """Executes statements in order until one ends the block."""
        for node in body:
            outcome = self.execute(node, frame)
            if outcome.kind != "next":
                return outcome
        return NEXT

    def execute(self, node: ast.stmt, frame: Frame) -> Outcome:
        self.at(node, frame)
        try:
            method = getattr(self, f"exec_{type(node).__name__}", None)
            if method is None:
                raise Uncapturable(f"the statement {type(node).__name__}", self.span(node, frame))
            if _may_choose(node) or (self.session.regions.log.has_choices and _asks_choice(node, frame)):
                return self.session.regions.run(lambda: method(node, frame) or NEXT)  # its paths join again right after
            return method(node, frame) or NEXT
        except Uncapturable as exc:
            if exc.span is None:
                exc.span = self.session.span or self.span(node, frame)
            self.session.leave(exc, frame, node)
            raise
        except Exception as exc:
            self.session.leave(exc, frame, node)
            if exc is not self.session.looked_at:
                self.session.looked_at = exc
                try:
                    check_whose(exc, f"line {node.lineno}")
                except Uncapturable as instead:
                    self.session.leave(instead, frame, node)
                    raise
            raise

    # -- assignment --------------------------------------------------------------------------------------------

    def exec_Expr(self, node: ast.Expr, frame: Frame) -> None:
        self.eval(node.value, frame)

    def exec_Pass(self, node: ast.Pass, frame: Frame) -> None:
        return None

    exec_Global = exec_Nonlocal = exec_Pass

    def exec_Assign(self, node: ast.Assign, frame: Frame) -> None:
        value = self.eval(node.value, frame)
        for target in node.targets:
            self.assign(target, value, frame)

    def exec_AnnAssign(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            self.assign(node.target, self.eval(node.value, frame), frame)
        elif isinstance(node.target, ast.Attribute | ast.Subscript):  # Python looks at its parts, and no further
            self.eval(node.target.value, frame)
            if isinstance(node.target, ast.Subscript):
                self.eval(node.target.slice, frame)

    def assign(self, target: ast.expr, value: Any, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            self.store_name(target.id, value, frame)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, value, frame)
        elif isinstance(target, ast.Attribute):
            obj = self.eval(target.value, frame)
            self.semantics.setattr(obj, target.attr, value)
        elif isinstance(target, ast.Subscript):
            self.put_item(target, value, frame)
        else:
            raise Uncapturable(f"an assignment to {type(target).__name__}", self.span(target, frame))

    def _unpack(self, target: ast.Tuple | ast.List, value: Any, frame: Frame) -> None:
        n = len(target.elts)
        star = next((i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
        iterator = self._unpacked(value)
        wanted = n + 1 if star is None else star  # one more, to see that it is one too many
        values = list(itertools.islice(iterator, wanted))
        if star is None:
            if len(values) != n:
                what = f"not enough values to unpack (expected {n}, got {len(values)})"
                raise ValueError(what if len(values) < n else f"too many values to unpack (expected {n})")
            for t, v in zip(target.elts, values, strict=True):
                self.assign(t, v, frame)
            return
        after = n - star - 1
        values += self.semantics.rest_of(iterator) if len(values) == star else ()
        if len(values) < n - 1:
            raise ValueError(f"not enough values to unpack (expected at least {n - 1}, got {len(values)})")
        for t, v in zip(target.elts[:star], values, strict=False):
            self.assign(t, v, frame)
        middle = values[star : len(values) - after]
        self.assign(target.elts[star].value, self.world.track(middle), frame)  # type: ignore[attr-defined]
        for t, v in zip(target.elts[star + 1 :], values[len(values) - after :], strict=True):
            self.assign(t, v, frame)

    def _unpacked(self, value: Any) -> Any:
        """An iterator over what is unpacked."""
        if not isinstance(value, Tensor) and not hasattr(type(value), "__iter__"):
            if not hasattr(type(value), "__getitem__"):
                kind = value.type.python_type if isinstance(value, Scalar) else type(value)
                raise TypeError(f"cannot unpack non-iterable {kind.__name__} object")
        return self.semantics.iterate(value)

    def exec_AugAssign(self, node: ast.AugAssign, frame: Frame) -> None:
        op = IN_PLACE[type(node.op)]
        target = node.target
        if op is operator.iadd and isinstance(target, ast.Name | ast.Attribute):
            receiver = self.journaled(target, frame)
            if isinstance(receiver, Journal):  # the variable, or attribute, is what it was
                self.session.write(receiver, "extend", (self.eval(node.value, frame),), {})
                return
        if isinstance(target, ast.Name):
            old = self.load_name(target.id, frame)
            new = self._in_place(op, old, node, frame)
            self.store_name(target.id, new, frame)
        elif isinstance(target, ast.Attribute):
            obj, name = self.eval(target.value, frame), target.attr
            new = self._in_place(op, self.semantics.getattr(obj, name), node, frame)
            self.semantics.setattr(obj, name, new)
        else:
            assert isinstance(target, ast.Subscript)
            obj, key = self.unread(target.value, frame), self.eval(target.slice, frame)
            new = self._in_place(op, self.item_of(obj, key), node, frame)
            self.semantics.setitem(obj, key, new)

    def _in_place(self, op: Any, old: Any, node: ast.AugAssign, frame: Frame) -> Any:
        value = self.eval(node.value, frame)
        self.at(node, frame)
        return self.semantics.in_place(op, old, value)

    def exec_Delete(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            self._delete(target, frame)

    def _delete(self, target: ast.expr, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            self.load_name(target.id, frame)
            if target.id in frame.code.names.nonlocals:
                raise Uncapturable("del of a variable of an enclosing function")
            self._unbind(target.id, frame)
        elif isinstance(target, ast.Subscript):
            self.semantics.delitem(self.eval(target.value, frame), self.eval(target.slice, frame))
        elif isinstance(target, ast.Attribute):
            self.semantics.delattr(self.eval(target.value, frame), target.attr)
        else:
            for t in target.elts:  # type: ignore[attr-defined]
                self._delete(t, frame)

    def _unbind(self, name: str, frame: Frame) -> None:
        """Makes a local or global variable unbound, if it is not yet."""
        if name in frame.code.names.globals:
            self.world.overwrite("global", frame.globals, name, MISSING)
        else:
            frame.locals.pop(name, None)

    # -- flow --------------------------------------------------------------------------------------------------

    def exec_If(self, node: ast.If, frame: Frame) -> Outcome:
        truth = self.test(node.test, frame)
        if not isinstance(truth, Scalar):
            return self.block(node.body if truth else node.orelse, frame)
        regions = self.session.regions
        if _leaves_by(node.body) != _leaves_by(node.orelse):  # these would not join: no attempt is needed to learn it
            return self.block(node.body if regions.decide(truth) else node.orelse, frame)
        return regions.branch(truth, lambda: self.block(node.body, frame), lambda: self.block(node.orelse, frame))

    def exec_Return(self, node: ast.Return, frame: Frame) -> Outcome:
        return Outcome("return", None if node.value is None else self.eval(node.value, frame))

    def exec_Break(self, node: ast.Break, frame: Frame) -> Outcome:
        return Outcome("break")

    def exec_Continue(self, node: ast.Continue, frame: Frame) -> Outcome:
        return Outcome("continue")

    def exec_Assert(self, node: ast.Assert, frame: Frame) -> Outcome | None:
        truth = self.test(node.test, frame)

        def fail() -> Outcome:
            raise AssertionError(*([] if node.msg is None else [self.eval(node.msg, frame)]))

        if isinstance(truth, Scalar):
            return self.session.regions.branch(truth, lambda: NEXT, fail)
        return None if truth else fail()

    # -- exceptions --------------------------------------------------------------------------------------------

    def exec_Raise(self, node: ast.Raise, frame: Frame) -> None:
        if node.exc is None:
            current = frame.special.get("exception")
            if current is None:  # the frame that has called this one may handle one
                raise Uncapturable("a raise without an exception, outside of the except clause")
            raise current
        exc = self.eval(node.exc, frame)
        if isinstance(exc, type) and issubclass(exc, BaseException):
            exc = self.calls.call(exc, (), {})
        if not isinstance(exc, BaseException):
            raise TypeError("exceptions must derive from BaseException")
        check_raised(exc)
        if node.cause is not None:
            cause = self.eval(node.cause, frame)
            if isinstance(cause, type) and issubclass(cause, BaseException):
                cause = self.calls.call(cause, (), {})
            if cause is not None and not isinstance(cause, BaseException):
                raise TypeError("exception causes must derive from BaseException")
            exc.__cause__ = cause
            exc.__suppress_context__ = True
        if isinstance(exc, INTERNAL):
            raise Uncapturable("a raise of an internal exception")
        raise exc

    def exec_Try(self, node: ast.Try | ast.TryStar, frame: Frame) -> Outcome:
        try:
            outcome = self._try_except(node, frame)
        except INTERNAL:
            raise
        except Exception as exc:
            final = self.block(node.finalbody, frame)
            if final.kind != "next":
                return final
            raise exc
        final = self.block(node.finalbody, frame)
        return final if final.kind != "next" else outcome

    exec_TryStar = exec_Try

    def _try_except(self, node: ast.Try | ast.TryStar, frame: Frame) -> Outcome:
        self.session.catches, loops = True, self.session.loops
        try:
            outcome = self.block(node.body, frame)
        except INTERNAL:
            raise
        except Exception as exc:
            if isinstance(node, ast.TryStar):
                raise Uncapturable("an exception that except* may catch a part of") from None
            handler = self._handler(node, exc, frame)
            if handler is None:
                raise
            return self._handle(handler, exc, frame)
        if self.session.loops > loops and any(map(_catches_interrupts, node.handlers)):
            reason = "a loop that a tensor ends, whose interruption by Ctrl-C an except clause may catch"
            raise Uncapturable(reason, self.span(node, frame))
        return self.block(node.orelse, frame) if outcome.kind == "next" else outcome

    def _handler(self, node: ast.Try, exc: BaseException, frame: Frame) -> ast.ExceptHandler | None:
        for handler in node.handlers:
            if handler.type is None:
                return handler
            kinds = self.eval(handler.type, frame)
            for kind in kinds if isinstance(kinds, tuple) else (kinds,):
                if not (isinstance(kind, type) and issubclass(kind, BaseException)):
                    raise TypeError("catching classes that do not inherit from BaseException is not allowed")
            if is_caught_by(exc, kinds):
                return handler
        return None

    def _handle(self, handler: ast.ExceptHandler, exc: BaseException, frame: Frame) -> Outcome:
        if handler.name in frame.code.names.nonlocals:
            raise Uncapturable("an except clause that deletes a variable of an enclosing function")
        outer = frame.special.get("exception")
        frame.special["exception"] = exc
        if handler.name:
            self.store_name(handler.name, exc, frame)
        try:
            return self.block(handler.body, frame)
        finally:
            frame.special["exception"] = outer
            if handler.name:
                self._unbind(handler.name, frame)

    def exec_With(self, node: ast.With, frame: Frame, index: int = 0) -> Outcome:
        self.session.catches = True
        if index == len(node.items):
            return self.block(node.body, frame)
        item = node.items[index]
        manager = self.eval(item.context_expr, frame)
        if isinstance(manager, CapturedContext):
            return self._with_captured(manager, node, frame, index)
        enter, leave = (protocol_method(manager, name) for name in ("__enter__", "__exit__"))
        value = self.calls.call(enter, (), {})
        if item.optional_vars is not None:
            self.assign(item.optional_vars, value, frame)
        try:
            outcome = self.exec_With(node, frame, index + 1)
        except INTERNAL:
            raise
        except Exception as exc:
            if self.semantics.as_bool(self.calls.call(leave, (type(exc), exc, exc.__traceback__), {})):
                return NEXT
            raise
        self.calls.call(leave, (None, None, None), {})
        return outcome

    def _with_captured(self, manager: CapturedContext, node: ast.With, frame: Frame, index: int) -> Outcome:
        value = manager.enter()
        target = node.items[index].optional_vars
        if target is not None:
            self.assign(target, value, frame)
        try:
            outcome = self.exec_With(node, frame, index + 1)
        except INTERNAL:
            raise
        except Exception as exc:
            if manager.leave(exc):
                return NEXT
            raise
        manager.leave(None)
        return outcome

    # -- definitions -------------------------------------------------------------------------------------------

    def exec_FunctionDef(self, node: ast.FunctionDef, frame: Frame) -> None:
        decorators = [self.eval(decorator, frame) for decorator in node.decorator_list]
        fn: Any = self.make_function(node, frame, node.name)
        for decorator in reversed(decorators):
            fn = self.calls.call(decorator, (fn,), {})
        self.store_name(node.name, fn, frame)

    def exec_Import(self, node: ast.Import, frame: Frame) -> None:
        for alias in node.names:
            module, top = imported(self.session, alias.name), alias.name.split(".")[0]
            module = module if alias.asname else imported(self.session, top)
            self.store_name(alias.asname or top, module, frame)

    def exec_ImportFrom(self, node: ast.ImportFrom, frame: Frame) -> None:
        package = frame.globals.get("__package__") or None
        name = "." * node.level + (node.module or "")
        full = importlib.util.resolve_name(name, package) if node.level else name
        module = imported(self.session, full)
        for alias in node.names:
            if alias.name == "*":
                raise Uncapturable("from ... import *")
            try:
                value = self.semantics.getattr(module, alias.name)
            except AttributeError:
                value = importlib.import_module(f"{name}.{alias.name}", package)
            self.store_name(alias.asname or alias.name, value, frame)

    # -- match -------------------------------------------------------------------------------------------------

    def exec_Match(self, node: ast.Match, frame: Frame) -> Outcome:
        subject = self.eval(node.subject, frame)
        return self._cases(node.cases, 0, subject, frame)

    def _cases(self, cases: list[ast.match_case], i: int, subject: Any, frame: Frame) -> Outcome:
        for k in range(i, len(cases)):
            case = cases[k]
            if not self.semantics.as_bool(self._matches(case.pattern, subject, frame)):
                continue
            if case.guard is not None and not self.semantics.as_bool(self.test(case.guard, frame)):
                continue
            return self.block(case.body, frame)
        return NEXT

    def _matches(self, pattern: ast.pattern, value: Any, frame: Frame) -> Any:
        match pattern:
            case ast.MatchValue(value=expr):
                return self.semantics.compare(operator.eq, value, self.eval(expr, frame))
            case ast.MatchSingleton(value=constant):
                return self.semantics.same_object(value, constant)
            case ast.MatchAs(pattern=inner, name=name):
                if inner is not None and not self.semantics.as_bool(self._matches(inner, value, frame)):
                    return False
                if name is not None:
                    self.store_name(name, value, frame)
                return True
            case ast.MatchOr(patterns=patterns):
                return any(self.semantics.as_bool(self._matches(p, value, frame)) for p in patterns)
            case ast.MatchSequence(patterns=patterns):
                return self._match_sequence(patterns, value, frame)
            case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
                return self._match_mapping(keys, patterns, rest, value, frame)
            case ast.MatchClass():
                return self._match_class(pattern, value, frame)
        raise Uncapturable(f"the pattern {type(pattern).__name__}")

    def _match_sequence(self, patterns: list[ast.pattern], value: Any, frame: Frame) -> bool:
        if not isinstance(value, list | tuple | range):
            if type(value).__flags__ & SEQUENCE:
                raise Uncapturable(f"a pattern for sequences, and a {type(value).__name__}")
            return False
        values = list(value)
        star = next((i for i, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
        if star is None:
            if len(values) != len(patterns):
                return False
            pairs = list(zip(patterns, values, strict=True))
        else:
            after = len(patterns) - star - 1
            if len(values) < len(patterns) - 1:
                return False
            end = len(values) - after
            pairs = [*zip(patterns[:star], values, strict=False), *zip(patterns[star + 1 :], values[end:], strict=True)]
            name = patterns[star].name  # type: ignore[attr-defined]
            if name:
                self.store_name(name, self.world.track(values[star:end]), frame)
        return all(self.semantics.as_bool(self._matches(p, v, frame)) for p, v in pairs)

    def _match_mapping(self, keys: Any, patterns: Any, rest: Any, value: Any, frame: Frame) -> bool:
        if not isinstance(value, dict):
            if type(value).__flags__ & MAPPING:
                raise Uncapturable(f"a pattern for mappings, and a {type(value).__name__}")
            return False
        names = [self.eval(k, frame) for k in keys]
        if any(n not in value for n in names):
            return False
        if not all(
            self.semantics.as_bool(self._matches(p, value[n], frame)) for n, p in zip(names, patterns, strict=True)
        ):
            return False
        if rest:
            self.store_name(rest, self.world.track({k: v for k, v in value.items() if k not in names}), frame)
        return True

    def _match_class(self, pattern: ast.MatchClass, value: Any, frame: Frame) -> bool:
        cls = self.eval(pattern.cls, frame)
        if not self.calls.call(isinstance, (value, cls), {}):
            return False
        names: list[str] = []
        if pattern.patterns:
            if cls in (bool, int, float, str, bytes, list, tuple, dict, set, frozenset) and len(pattern.patterns) == 1:
                return self.semantics.as_bool(self._matches(pattern.patterns[0], value, frame))
            names = list(self.semantics.getattr(cls, "__match_args__", ()))[: len(pattern.patterns)]
            if len(names) < len(pattern.patterns) or not set(names).isdisjoint(pattern.kwd_attrs):
                # a class that matches itself, or an error
                raise Uncapturable(f"a pattern for {cls.__qualname__} of {len(pattern.patterns)} positions")
        for name, p in zip([*names, *pattern.kwd_attrs], [*pattern.patterns, *pattern.kwd_patterns], strict=True):
            attr = self.semantics.getattr(value, name, MISSING)
            if attr is MISSING or not self.semantics.as_bool(self._matches(p, attr, frame)):
                return False
        return True


def _catches_interrupts(handler: ast.ExceptHandler) -> bool:
    """Whether an ``except`` clause is there for Ctrl-C as well: what a signal handler raises leaves native code as if
    it had come before the call."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in _OF_INTERRUPTS) for kind in kinds)


_OF_INTERRUPTS = ("KeyboardInterrupt", "BaseException")
