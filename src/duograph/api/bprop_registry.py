"""Users' gradient rules: ``@bprop_getters.register(ops.Mul)``.

A factory gets the Primitive and returns ``bprop(*inputs, out, dout)``. If the class stands for one op, the rule
replaces that op's own, for tape and graph alike, and compiled code becomes invalid; else calls of the class become
functions with a gradient of their own. MindSpore's notebooks use ``P`` and ``binop_grad_common`` without importing
them: a factory that lacks these names gets them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.autodiff.hooks import call_on_gradients
from duograph.core.op import Op, override_bprop, rules_version
from duograph.ops.movement import sum_to
from duograph.tensor.tensor import Tensor

from .primitives import primitive_classes
from .primitives.base import Primitive, custom_rules

Factory = Callable[[Any], Callable[..., Any]]


def binop_grad_common(x: Any, y: Any, dx: Any, dy: Any) -> tuple[Any, Any]:
    """Gradients of a broadcasting operator, summed to the shapes of its operands.

    Args:
        x: first operand.
        y: second operand.
        dx: gradient of the first, of the broadcast shape.
        dy: gradient of the second, of the broadcast shape.

    Returns:
        The two gradients.
    """
    return _summed(dx, x), _summed(dy, y)


def _summed(grad: Any, x: Any) -> Any:
    return sum_to(grad, x.shape) if isinstance(grad, Tensor) and isinstance(x, Tensor) else grad


class _Operators:
    """The namespace ``P``: every Primitive class by name."""

    def __getattr__(self, name: str) -> Any:
        try:
            return primitive_classes()[name]
        except KeyError:
            raise AttributeError(f"there is no primitive {name!r}") from None


P = _Operators()


class BpropRegistry:
    """Gradient factories by Primitive class or name."""

    def __init__(self) -> None:
        self._factories: dict[type, Factory] = {}

    def register(self, prim: Any) -> Callable[[Factory], Factory]:
        """Decorator: registers a factory for a Primitive class, an instance's class, or a class name.

        Args:
            prim: the class, e.g. ``ops.Mul``.

        Returns:
            The decorator.

        Raises:
            TypeError: ``prim`` is none of these.
        """
        cls = self._class_of(prim)

        def decorate(factory: Factory) -> Factory:
            _lend_names(factory)
            self._factories[cls] = factory
            op: Op | None = getattr(cls, "op", None)
            if op is None:
                custom_rules[cls] = factory
                rules_version[0] += 1
            else:
                override_bprop(op, _rule_of(cls, factory))
            return factory

        return decorate

    def unregister(self, prim: Any) -> None:
        """The built-in rule again."""
        cls = self._class_of(prim)
        self._factories.pop(cls, None)
        op: Op | None = getattr(cls, "op", None)
        if op is None:
            custom_rules.pop(cls, None)
            rules_version[0] += 1
        else:
            override_bprop(op, None)

    def get(self, prim: Any, default: Any = None) -> Any:
        """The factory registered for ``prim``."""
        return self._factories.get(self._class_of(prim), default)

    @staticmethod
    def _class_of(prim: Any) -> type:
        if isinstance(prim, str):
            return getattr(P, prim)
        cls = prim if isinstance(prim, type) else type(prim)
        if not issubclass(cls, Primitive):
            raise TypeError(f"For 'bprop_getters.register', a Primitive class is needed, but got {prim!r}.")
        return cls


def _lend_names(factory: Factory) -> None:
    """Puts the names that MindSpore's own files have into the factory's module, unless it has them."""
    names = getattr(factory, "__globals__", None)
    if names is not None:
        names.setdefault("P", P)
        names.setdefault("binop_grad_common", binop_grad_common)


def _rule_of(cls: Any, factory: Factory) -> Callable[..., Any]:
    """The factory as an op's rule."""

    def bprop(ins: Any, out: Any, dout: Any, **attrs: Any) -> Any:
        primitive = cls(**{name: value for name, value in attrs.items() if name in cls.parameters})
        grads = call_on_gradients(factory(primitive), (*ins, out, dout))
        return tuple(grads) if isinstance(grads, tuple | list) else (grads,)

    return bprop


bprop_getters = BpropRegistry()
