"""The ``default_factory`` of defaultdicts from outside, which may be code of the user."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ..rules.errors import Uncapturable
from ..rules.policy import is_builtin_class

_factory = vars(defaultdict)["default_factory"]
get_factory, set_factory = _factory.__get__, _factory.__set__


class Factory:
    """Stands for a ``default_factory`` in a shadow: native code that asks for a default must not run the user's."""

    __slots__ = ("function",)

    def __init__(self, function: Any) -> None:
        self.function = function

    @staticmethod
    def of(function: Any) -> Any:
        """``function`` itself if it is a class like ``list``, which anybody may call."""
        is_plain = function is None or is_builtin_class(function)
        return function if is_plain else Factory(function)

    def __call__(self) -> Any:
        raise Uncapturable("native code that asks a defaultdict from outside for what is missing in it")

    def make_python_object(self, collector: Any) -> Any:
        return collector.recipe(self.function)


def factory_of(table: Any) -> Any:
    """The ``default_factory`` of a defaultdict, as the program sees it."""
    found = get_factory(table)
    return found.function if isinstance(found, Factory) else found
