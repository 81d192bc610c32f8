"""Expressions: each node kind in terms of the verbs."""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable
from typing import Any

from duograph.ops.scalar import Scalar

from ..control.paths import Outcome
from ..rules.errors import INTERNAL, Uncapturable
from ..rules.facts import lookup
from ..source.load import FunctionSource
from ..source.scope import names_of
from ..values.functions import CapturedFunction
from ..values.journals import METHODS, Journal
from ..values.text import GraphText
from ..values.world import Frame
from ..verbs.operands import check_key, check_operand
from ..verbs.special_methods import user_method
from ..verbs.texts import formatted_value
from .annotations import evaluate_annotations
from .comprehensions import Comprehensions
from .names import NameAccess
from .receivers import Receivers

BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}  # fmt: skip
COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
_EVAL: dict[type[ast.expr], Callable[..., Any]] = {}
"""The methods of `Expressions`, as they are met."""
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}


class Expressions(Receivers, NameAccess, Comprehensions):
    """Evaluates expressions in a frame. Mixed into the driver, which has session, semantics, calls and world."""

    session: Any
    semantics: Any
    calls: Any
    world: Any
    budget: Any

    def eval(self, node: ast.expr, frame: Frame) -> Any:
        """The value of an expression."""
        budget = self.budget
        budget.countdown -= 1
        if not budget.countdown:
            budget.check(self.session.builder, len(self.session.inputs))
        kind = type(node)
        method = _EVAL.get(kind)
        if method is None:
            method = getattr(Expressions, f"eval_{kind.__name__}", None)
            if method is None:
                raise Uncapturable(f"the expression {kind.__name__}", self.span(node, frame))
            _EVAL[kind] = method
        try:
            return method(self, node, frame)
        except INTERNAL as exc:
            self.session.leave(exc, frame, node)
            raise

    def at(self, node: ast.AST, frame: Frame) -> None:
        """What is emitted from now on comes from ``node``."""
        self.session.span = self.span(node, frame)

    def span(self, node: ast.AST, frame: Frame) -> Any:
        return frame.code.span(node)

    # -- names -------------------------------------------------------------------------------------------------

    def eval_Constant(self, node: ast.Constant, frame: Frame) -> Any:
        return node.value

    def eval_NamedExpr(self, node: ast.NamedExpr, frame: Frame) -> Any:
        value = self.eval(node.value, frame)
        self.store_name(node.target.id, value, frame)  # a comprehension does not own it: it goes to the function
        return value

    # -- operators ---------------------------------------------------------------------------------------------

    def eval_BinOp(self, node: ast.BinOp, frame: Frame) -> Any:
        a, b = self.eval(node.left, frame), self.eval(node.right, frame)
        self.at(node, frame)
        return self.semantics.binary(BINARY[type(node.op)], a, b)

    def eval_UnaryOp(self, node: ast.UnaryOp, frame: Frame) -> Any:
        value = self.eval(node.operand, frame)
        self.at(node, frame)
        if isinstance(node.op, ast.Not):
            truth = self.semantics.truth(value)
            return truth == False if isinstance(truth, Scalar) else not truth  # type: ignore[comparison-overlap]  # noqa: E712
        return self.semantics.unary(UNARY[type(node.op)], value)

    def eval_Compare(self, node: ast.Compare, frame: Frame) -> Any:
        is_for_none = isinstance(node.ops[0], ast.Is | ast.IsNot) and isinstance(node.comparators[0], ast.Constant)
        left = (self.unread if is_for_none and len(node.ops) == 1 else self.eval)(node.left, frame)
        pairs = list(zip(node.ops, node.comparators, strict=True))

        def chain(i: int, left: Any) -> Any:
            op, right_node = pairs[i]
            right = self.eval(right_node, frame)
            self.at(node, frame)
            result = self._compare_one(op, left, right)
            if i == len(pairs) - 1:
                return result
            return self._short_circuit(self.semantics.truth(result), result, lambda: chain(i + 1, right), on=True)

        return chain(0, left)

    def _compare_one(self, op: ast.cmpop, a: Any, b: Any) -> Any:
        if isinstance(op, ast.Is | ast.IsNot):
            same = self.semantics.same_object(a, b)
            return same if isinstance(op, ast.Is) else self._not(same)
        if isinstance(op, ast.In | ast.NotIn):
            found = self.semantics.contains(b, a)
            return found if isinstance(op, ast.In) else self._not(found)
        return self.semantics.compare(COMPARE[type(op)], a, b)

    @staticmethod
    def _not(truth: Any) -> Any:
        return truth == False if isinstance(truth, Scalar) else not truth  # type: ignore[comparison-overlap]  # noqa: E712

    def _short_circuit(self, truth: Any, value: Any, rest: Callable[[], Any], on: bool) -> Any:
        """``rest()`` if ``truth`` is ``on``, else ``value``."""
        if not isinstance(truth, Scalar):
            return rest() if bool(truth) is on else value
        go = lambda: Outcome("value", rest())  # noqa: E731
        stay = lambda: Outcome("value", value)  # noqa: E731
        return self.session.regions.branch(truth, *((go, stay) if on else (stay, go))).value

    def eval_BoolOp(self, node: ast.BoolOp, frame: Frame) -> Any:
        on = isinstance(node.op, ast.And)

        def chain(i: int) -> Any:
            value = self.eval(node.values[i], frame)
            if i == len(node.values) - 1:
                return value
            return self._short_circuit(self.semantics.truth(value), value, lambda: chain(i + 1), on)

        return chain(0)

    def test(self, node: ast.expr, frame: Frame) -> Any:
        """Truth of an expression in test position: a bool or a bool Scalar (operands need not join as values).

        Where ``a or b`` stops at ``a`` it is true, whatever ``a`` is: if ``b`` is known to be true, so is the whole.
        """
        if isinstance(node, ast.BoolOp):
            on = isinstance(node.op, ast.And)

            def chain(i: int) -> Any:
                truth = self.test(node.values[i], frame)
                if i == len(node.values) - 1:
                    return truth
                return self._short_circuit(truth, not on, lambda: chain(i + 1), on)

            return chain(0)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            truth = self.test(node.operand, frame)
            return truth == False if isinstance(truth, Scalar) else not truth  # type: ignore[comparison-overlap]  # noqa: E712
        value = self.eval(node, frame)
        self.at(node, frame)
        return self.semantics.truth(value)

    def eval_IfExp(self, node: ast.IfExp, frame: Frame) -> Any:
        truth = self.test(node.test, frame)
        if not isinstance(truth, Scalar):
            return self.eval(node.body if truth else node.orelse, frame)
        return self.session.regions.branch(
            truth,
            lambda: Outcome("value", self.eval(node.body, frame)),
            lambda: Outcome("value", self.eval(node.orelse, frame)),
        ).value

    # -- containers --------------------------------------------------------------------------------------------

    def elements(self, nodes: list[ast.expr], frame: Frame, of_set: bool = False) -> list[Any]:
        take = self.semantics.iterate if of_set else self.semantics.listed
        values: list[Any] = []
        for n in nodes:
            if isinstance(n, ast.Starred):
                value = self.eval(n.value, frame)
                if not of_set and not any(lookup(type(value), name) for name in ("__iter__", "__getitem__")):
                    raise Uncapturable("* of an object that is not an iterable")  # in Python's words for what is called
                values.extend(take(value))
            else:
                values.append(self.eval(n, frame))
        return values

    def eval_Tuple(self, node: ast.Tuple, frame: Frame) -> Any:
        return tuple(self.elements(node.elts, frame))

    def eval_List(self, node: ast.List, frame: Frame) -> Any:
        return self.world.track(self.elements(node.elts, frame))

    def eval_Set(self, node: ast.Set, frame: Frame) -> Any:
        values = self.elements(node.elts, frame, of_set=True)
        check_operand(self.session, values)
        return self.world.track(set(values))

    def _pairs(self, mapping: Any) -> list[tuple[Any, Any]]:
        """What ``**mapping`` gives."""
        if isinstance(mapping, dict) and user_method(mapping, "keys") is None:
            return list(mapping.items())
        try:
            keys = self.calls.call(self.semantics.getattr(mapping, "keys"), (), {})
            return [(key, self.semantics.getitem(mapping, key)) for key in self.semantics.iterate(keys)]
        except AttributeError as exc:  # Python raises a TypeError with the name of what is called
            raise Uncapturable("** of an object that is not a mapping") from exc

    def eval_Dict(self, node: ast.Dict, frame: Frame) -> Any:
        made: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                made.update(self._pairs(self.eval(value, frame)))
            else:
                k = self.eval(key, frame)
                check_key(self.session, k)
                made[k] = self.eval(value, frame)
        return self.world.track(made)

    def eval_Subscript(self, node: ast.Subscript, frame: Frame) -> Any:
        obj = self.unread(node.value, frame)
        key = self.eval(node.slice, frame)
        self.at(node, frame)
        return self.item_of(obj, key)

    def eval_Slice(self, node: ast.Slice, frame: Frame) -> Any:
        parts = [None if p is None else self.eval(p, frame) for p in (node.lower, node.upper, node.step)]
        return slice(*parts)

    def eval_Attribute(self, node: ast.Attribute, frame: Frame) -> Any:
        obj = self.eval(node.value, frame)
        self.at(node, frame)
        return self.semantics.getattr(obj, node.attr)

    # -- comprehensions ----------------------------------------------------------------------------------------

    # -- strings -----------------------------------------------------------------------------------------------

    def eval_JoinedStr(self, node: ast.JoinedStr, frame: Frame) -> Any:
        parts = [self.eval(p, frame) for p in node.values]
        if all(isinstance(p, str) for p in parts):
            return "".join(parts)
        flat: list[Any] = []
        for p in parts:
            flat.extend(p.parts if isinstance(p, GraphText) else [p])
        return GraphText(flat)

    def eval_FormattedValue(self, node: ast.FormattedValue, frame: Frame) -> Any:
        value = self.eval(node.value, frame)
        conversion = chr(node.conversion) if node.conversion != -1 else ""
        spec = self.eval(node.format_spec, frame) if node.format_spec is not None else ""
        return formatted_value(self.calls, value, conversion, spec)

    # -- calls and functions -----------------------------------------------------------------------------------

    def eval_Call(self, node: ast.Call, frame: Frame) -> Any:
        is_write = isinstance(node.func, ast.Attribute) and node.func.attr in METHODS
        receiver = self.receiver(node.func.value, frame) if is_write else None  # type: ignore[attr-defined]
        if isinstance(receiver, Journal):
            fn: Any = None
        elif is_write:
            self.at(node.func, frame)
            fn = self.semantics.getattr(receiver, node.func.attr)  # type: ignore[attr-defined]
        else:
            fn = self.eval(node.func, frame)
        args = tuple(self.elements(node.args, frame))
        kwargs: dict[str, Any] = {}
        for k in node.keywords:
            value = self.eval(k.value, frame)
            for name, v in [(k.arg, value)] if k.arg is not None else self._pairs(value):
                if name in kwargs:  # Python raises a TypeError with the name of what is called
                    raise Uncapturable("several values for one keyword argument")
                kwargs[name] = v
        self.at(node, frame)
        if isinstance(receiver, Journal):
            return self.session.write(receiver, node.func.attr, args, kwargs)  # type: ignore[attr-defined]
        if fn is super and not args:
            return self._super(frame)
        self.session.site = node, frame
        result = self.calls.call(fn, args, kwargs)
        self.semantics.note_made(result)
        return result

    def _super(self, frame: Frame) -> Any:
        method = frame
        while method.parent is not None and "__class__" not in method.special:
            method = method.parent
        cls = method.special.get("__class__")
        node_args = method.code.node.args
        first = [*node_args.posonlyargs, *node_args.args]
        if cls is None or not first:
            raise RuntimeError("super(): no arguments")
        return super(cls, self._local(first[0].arg, method, UnboundLocalError))

    def eval_Lambda(self, node: ast.Lambda, frame: Frame) -> Any:
        return self.make_function(node, frame, "<lambda>")

    def make_function(self, node: Any, frame: Frame, name: str) -> CapturedFunction:
        """The function object of a ``def`` or ``lambda``."""
        names = names_of(node)
        frame.captured = True
        outer: Frame | None = frame
        while outer is not None:
            outer.captured = True
            outer = outer.parent
        source = FunctionSource(node, frame.code.file, names, frame.code.postponed)
        module = frame.globals.get("__name__", "__main__")
        qualname = f"{frame.name}.<locals>.{name}"
        signature = self._signature(node, frame)
        evaluate_annotations(self, node, frame)
        fn = CapturedFunction(source, frame, name, signature, self.calls._call_captured, module)
        fn.__qualname__ = qualname
        return fn

    def _signature(self, node: Any, frame: Frame) -> inspect.Signature:
        a = node.args
        positional = [*a.posonlyargs, *a.args]
        defaults = [self.eval(d, frame) for d in a.defaults]
        given = dict(zip([p.arg for p in positional[len(positional) - len(defaults) :]], defaults, strict=True))
        kind = inspect.Parameter
        made = [
            kind(p.arg, kind.POSITIONAL_ONLY if p in a.posonlyargs else kind.POSITIONAL_OR_KEYWORD,
                 default=given.get(p.arg, kind.empty))
            for p in positional
        ]  # fmt: skip
        if a.vararg is not None:
            made.append(kind(a.vararg.arg, kind.VAR_POSITIONAL))
        for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True):
            made.append(kind(p.arg, kind.KEYWORD_ONLY, default=kind.empty if d is None else self.eval(d, frame)))
        if a.kwarg is not None:
            made.append(kind(a.kwarg.arg, kind.VAR_KEYWORD))
        return inspect.Signature(made)

    def eval_Starred(self, node: ast.Starred, frame: Frame) -> Any:
        raise Uncapturable("a starred expression here")

    def assign(self, target: ast.expr, value: Any, frame: Frame) -> None:
        raise NotImplementedError
