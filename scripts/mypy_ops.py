"""A mypy plugin that knows what `@primitive class matmul: ...` declares: `matmul` is an `Op`, not a class.

The type system cannot say that a class decorator returns something else than the class. Here the name is given the
type `Op`, and the rules in the class body (`infer`, `bprop`, ...), which take no `self`, are treated as static methods.

mypy finds the functions that it checks by way of the names of a module. As the name no longer means the class, the
class gets another one, which only mypy knows, before the bodies of functions are checked.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy.nodes import ARG_STAR, ARG_STAR2, GDEF, ClassDef, Decorator, FuncDef, SymbolTableNode, Var
from mypy.plugin import ClassDefContext, FunctionContext, FunctionSigContext, Plugin
from mypy.types import AnyType, CallableType, FunctionLike, Type, TypeOfAny

_declared: set[str] = set()
OP = "duograph.core.op.Op"
DECORATOR = "duograph.core.op.primitive"


def _declare(context: ClassDefContext) -> bool:
    for statement in context.cls.defs.body:
        function = statement.func if isinstance(statement, Decorator) else statement
        if isinstance(function, FuncDef):
            function.is_static = True
    op = context.api.named_type_or_none(OP)
    if op is None:
        return False
    variable = Var(context.cls.name, op)
    variable._fullname = context.cls.fullname
    variable.is_ready = True
    context.api.globals[context.cls.name] = SymbolTableNode(GDEF, variable)  # type: ignore[attr-defined]
    _declared.add(context.cls.fullname)
    return True


def _any_call(context: FunctionSigContext) -> FunctionLike:
    """Within its own module the name was bound before the plugin could change it: calls are then not checked."""
    unknown = AnyType(TypeOfAny.special_form)
    fallback = context.api.named_generic_type("builtins.function", [])
    return CallableType([unknown, unknown], [ARG_STAR, ARG_STAR2], [None, None], unknown, fallback)


def _check_rules(context: FunctionContext) -> Type:
    """At the decorator's call, which comes before function bodies; while mypy asks `_declare` it walks the names."""
    if isinstance(context.context, ClassDef):
        cls = context.context
        names = context.api.tree.names  # type: ignore[attr-defined]
        names[f"{cls.name}-redef"] = SymbolTableNode(GDEF, cls.info)  # mypy's spelling of a second definition
    return context.default_return_type


class OpsPlugin(Plugin):
    """Looks out for the decorator."""

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """mypy asks this about every call of a function, those of decorators included."""
        return _check_rules if fullname == DECORATOR else None

    def get_class_decorator_hook_2(self, fullname: str) -> Callable[[ClassDefContext], bool] | None:
        """mypy asks this about every class decorator."""
        return _declare if fullname == DECORATOR else None

    def get_function_signature_hook(self, fullname: str) -> Callable[[FunctionSigContext], FunctionLike] | None:
        """mypy asks this about every call of a function or class."""
        return _any_call if fullname in _declared else None


def plugin(version: str) -> type[Plugin]:
    """mypy's entry point."""
    return OpsPlugin
