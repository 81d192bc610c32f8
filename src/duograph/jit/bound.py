"""Compiled functions as Python has functions: bound to instances, with attributes of the user's."""

from __future__ import annotations

import inspect
import types
from typing import Any

from .explain import Explanation


class GivenAttributes:
    """A part of `JitFunction`: what a program has given to the function, its compiled form has, too."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        fn = vars(self).get("_python")
        if fn is not None and name in vars(fn):
            return vars(fn)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)


class BoundJit:
    """A jitted method bound to its instance."""

    __slots__ = ("__self__", "function")

    def __init__(self, function: Any, obj: Any) -> None:
        self.function, self.__self__ = function, obj

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self.__self__, *args, **kwargs)

    def captured_target(self) -> Any:
        """What a program that is being captured calls instead."""
        return types.MethodType(self.function.fn, self.__self__)

    @property
    def __func__(self) -> Any:
        return self.function

    @property
    def __signature__(self) -> inspect.Signature:  # else that of the function, which has one parameter more
        return inspect.signature(types.MethodType(self.function.fn, self.__self__))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundJit) and other.function is self.function and other.__self__ is self.__self__

    def __hash__(self) -> int:
        return hash((id(self.function), id(self.__self__)))

    def __reduce__(self) -> Any:
        return getattr, (self.__self__, self.function.fn.__name__)

    def explain(self) -> Explanation:
        """`JitFunction.explain` for the versions of this instance."""
        return Explanation(self.function, [self.function._store([self.__self__])])
