"""Rules: a pattern, and a function from what it captured to the node that takes its place.

    @rule(lambda x: neg(neg(x)))
    def double_negation(x):
        '''-(-x) -> x'''
        return x

The parameters of the function are the captures it wants; the docstring is the law; it returns a node (built by calling
ops), or ``None`` where a side condition does not hold. Laws must hold bit for bit, for every dtype and shape:
`selfcheck.check_rule` tries each rule on programs made from its own pattern.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from duograph.core.op import Op, binding, no_recording
from duograph.ir.node import Apply, Context, Node

from .pattern import PApply, build, variables_of


class Rule:
    """One rewrite rule. Made by `rule`."""

    def __init__(self, pattern: PApply, replace: Callable[..., Any]) -> None:
        self.pattern, self.replace = pattern, replace
        self.name: str = replace.__name__
        self.law = (replace.__doc__ or "").strip()
        if not self.law:
            raise ValueError(f"the rule {self.name} has no docstring, which states its law: 'relu(relu(x)) -> relu(x)'")
        self.wants = list(inspect.signature(replace).parameters)
        if missing := set(self.wants) - {v.name for v in variables_of(pattern)}:
            raise ValueError(f"the rule {self.name} wants {sorted(missing)}, which its pattern does not capture")

    def __repr__(self) -> str:
        return f"<rule {self.name}: {self.law}>"

    def apply(self, node: Apply) -> Node | None:
        """What is to take the place of ``node``, or ``None`` if the rule has nothing to say."""
        captures: dict[str, Any] = {}
        if not self.pattern.match(node, captures):
            return None
        with emitting(node.context):
            new = self.replace(**{name: captures[name] for name in self.wants})
        return new if isinstance(new, Node) else None


class _NodeBinder:
    """Ops called on nodes make nodes of ``context``; numbers become constants."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def bind(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Apply:
        nodes = [o if isinstance(o, Node) else self.context.const(o) for o in operands]
        return self.context.apply(op, tuple(nodes), attrs)


class emitting:
    """Within the block, ops called on nodes make nodes of ``context``."""

    def __init__(self, context: Context) -> None:
        self._managers = (binding(_NodeBinder(context)), no_recording())  # type: ignore[arg-type]

    def __enter__(self) -> None:
        for manager in self._managers:
            manager.__enter__()

    def __exit__(self, *exc: Any) -> None:
        for manager in reversed(self._managers):
            manager.__exit__(*exc)


def rule(description: Callable[..., Any]) -> Callable[[Callable[..., Any]], Rule]:
    """Decorator: the function is the right-hand side of the rule whose left-hand side ``description`` builds."""
    pattern = build(description)
    return lambda replace: Rule(pattern, replace)


class RuleSet:
    """Rules, found by the op at the root of their patterns."""

    def __init__(self, name: str, rules: Iterable[Rule]) -> None:
        self.name = name
        self.rules = tuple(rules)
        self._by_op: dict[Op, list[Rule]] = {}
        for r in self.rules:
            self._by_op.setdefault(r.pattern.op, []).append(r)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def rules_for(self, op: Op) -> list[Rule]:
        """The rules whose pattern has ``op`` at its root."""
        return self._by_op.get(op, [])

    @classmethod
    def of_module(cls, name: str, namespace: dict[str, Any]) -> RuleSet:
        """All rules among the values of ``namespace`` (the ``globals()`` of a module), in order of definition."""
        return cls(name, [value for value in namespace.values() if isinstance(value, Rule)])
