"""Functions of the captured program: closures made by it, and how arguments bind to parameters."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import types
from collections.abc import Callable
from typing import Any

from duograph.base.weak import WeakTable

from ..rules.errors import Uncapturable
from .world import Frame


class CapturedFunction:
    """A ``def`` or ``lambda`` that was executed during capture: code, defaults, and the frame it closes over.

    It can be called by library code too (``map``, ``sorted(key=...)``); the call is interpreted. What it is made of is
    no part of its dictionary, which ``functools.wraps`` copies to other functions.
    """

    __slots__ = ("__dict__", "__weakref__", "frame", "run", "signature", "source")
    runs_user_code = True

    def __init__(
        self, source: Any, frame: Frame, name: str, signature: inspect.Signature, run: Callable[..., Any], module: str
    ) -> None:
        self.source = source
        self.frame = frame
        self.signature = signature
        self.run = run
        self.__name__ = name
        self.__qualname__ = name
        self.__module__ = module
        self.__doc__ = _docstring(source.node)

    @property
    def __signature__(self) -> inspect.Signature:
        return self.signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(self, args, kwargs)

    def __get__(self, obj: Any, cls: Any = None) -> Any:
        return self if obj is None else types.MethodType(self, obj)

    def __repr__(self) -> str:
        return f"<captured function {self.__qualname__}>"

    def make_python_object(self, collector: Any) -> Any:
        raise Uncapturable(f"the function {self.__qualname__!r} defined inside leaves the compiled function")


_NOT_THERE = frozenset({
    *("__code__", "__defaults__", "__kwdefaults__", "__closure__", "__globals__", "__builtins__", "__annotations__"),
    *("__type_params__", *CapturedFunction.__slots__[2:]),
})  # fmt: skip
"""Attributes of functions that a captured one does not have, and such as it alone has."""


def check_function_attribute(fn: CapturedFunction, name: str) -> None:
    """Refuses to read or set what Python's functions hold and those of a captured program do not."""
    if name in _NOT_THERE:
        raise Uncapturable(f"the attribute {name!r} of the function {fn.__qualname__!r} defined inside")


def _docstring(node: Any) -> str | None:
    """What the compiler makes the ``__doc__`` of a function: CPython 3.13 takes indentation away, ``-OO`` all of it."""
    if isinstance(node, ast.Lambda) or sys.flags.optimize >= 2:
        return None
    text = ast.get_docstring(node, clean=False)
    if text is None or "\n" not in text:
        return text
    namespace: dict[str, Any] = {}
    exec(compile(repr(text), "<docstring>", "exec"), namespace)
    return str(namespace["__doc__"])


CapturedFunction.__name__ = "function"  # messages of Python's own errors name the class


def bind(signature: inspect.Signature, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Parameter values for a call of the function of that qualified name; `TypeError` with Python's own wording."""
    rest, keywords = _keywords_with_names_of_positions(signature, kwargs)
    try:
        bound = signature.bind(*args, **rest)
    except TypeError:
        bound = None
    if bound is None:
        _blank(signature, name)(*args, **kwargs)
        raise Uncapturable(f"a call of {name} with arguments that inspect does not take")
    bound.apply_defaults()
    if keywords:
        known = bound.arguments[keywords]
        bound.arguments[keywords] = {k: v for k, v in kwargs.items() if k not in rest or k in known}
    return dict(bound.arguments)


def _blank(signature: inspect.Signature, name: str) -> Callable[..., None]:
    """A function that takes the same arguments and does nothing with them: it raises what Python does."""
    parameters = [
        p.replace(annotation=p.empty, default=p.default if p.default is p.empty else None)
        for p in signature.parameters.values()
    ]
    plain = signature.replace(parameters=parameters, return_annotation=signature.empty)
    namespace: dict[str, Any] = {}
    exec(f"def blank{plain}: pass", namespace)
    made: types.FunctionType = namespace["blank"]
    made.__qualname__ = name
    return made


def _keywords_with_names_of_positions(signature: inspect.Signature, kwargs: dict[str, Any]) -> tuple[Any, str]:
    """``kwargs`` without those that have the name of a positional-only parameter and so belong to ``**keywords``; and
    the name of that, or nothing if there are none. `Signature.bind` has them wrong, each version in its own way."""
    if not kwargs:
        return kwargs, ""
    parameters = signature.parameters.values()
    names = {p.name for p in parameters if p.kind is p.POSITIONAL_ONLY} & kwargs.keys()
    keywords = next((p.name for p in parameters if p.kind is p.VAR_KEYWORD), "")
    if not names or not keywords:
        return kwargs, ""
    return {k: v for k, v in kwargs.items() if k not in names}, keywords


_signatures: WeakTable[types.CodeType, inspect.Signature] = WeakTable()


def signature_of(fn: types.FunctionType) -> inspect.Signature:
    """The signature of the function itself (never of what it wraps), without annotations; remembered per code where
    there are no defaults."""
    if fn.__defaults__ or fn.__kwdefaults__:
        return inspect.Signature.from_callable(_bare(fn), follow_wrapped=False)
    found = _signatures.get(fn.__code__)
    if found is None:
        found = _signatures[fn.__code__] = inspect.Signature.from_callable(_bare(fn), follow_wrapped=False)
    return found


def _bare(fn: types.FunctionType) -> types.FunctionType:
    """``fn`` without what is written to its attributes; annotations may be objects of the user."""
    bare = types.FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    bare.__kwdefaults__ = fn.__kwdefaults__
    return bare


def named(made: Any, qualname: str) -> Any:
    """The generator ``made``, with the name that Python gives to one of the function ``qualname``."""
    qualname = name_of(qualname)
    made.__name__, made.__qualname__ = qualname.rpartition(".")[2], qualname
    return made


def name_of(qualname: str) -> str:
    """The name of a function, of which a frame may run a part: ``f[3:5]``."""
    return re.sub(r"\[[^\]]*\]", "", qualname) if "[" in qualname else qualname
