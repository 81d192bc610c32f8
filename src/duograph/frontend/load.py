"""Where the tree of a function comes from: its source, or its bytecode.

Both give the same kind of tree, which one driver interprets. What was asked for is preferred; where that is not to be
had (no text, another text than it was made from, bytecode that was not understood), the other one serves.
"""

from __future__ import annotations

import types
from collections.abc import Callable

from .bytecode.load import load_recovered
from .rules.errors import Uncapturable
from .source.load import FunctionSource, load_function

Load = Callable[[types.FunctionType], FunctionSource]


def from_source(fn: types.FunctionType) -> FunctionSource:
    """The tree of ``fn`` from its source; from its bytecode if there is no text that it was made from."""
    return _first(fn, load_function, load_recovered)


def from_bytecode(fn: types.FunctionType) -> FunctionSource:
    """The tree of ``fn`` from its bytecode; from its source if the bytecode was not understood."""
    return _first(fn, load_recovered, load_function)


def _first(fn: types.FunctionType, load: Load, other: Load) -> FunctionSource:
    try:
        return load(fn)
    except Uncapturable as exc:
        try:
            return other(fn)
        except Uncapturable as second:
            raise Uncapturable(f"{exc.reason}; {second.reason}", exc.span) from exc


def why_instead(fn: types.FunctionType, source: FunctionSource) -> str:
    """Why the tree of ``fn`` does not come from where ``source`` does not come from."""
    try:
        (load_recovered if source.origin == "source" else load_function)(fn)
    except Uncapturable as exc:
        return exc.reason
    return ""


LOADERS: dict[str, Load] = {"ast": from_source, "bytecode": from_bytecode, "trace": from_source}
"""By ``capture_mode``."""
