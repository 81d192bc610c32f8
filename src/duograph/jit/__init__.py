"""Compilation of Python functions: the decorator `jit` and what it returns."""

from duograph.core.traits import Traits
from duograph.frontend.capture import install

from .decorator import jit
from .extras import Symbol, constexpr, enable_dynamic, jit_class, mark_dynamic, ms_function
from .function import JitFunction

install()

__capture__ = Traits(rules=True)

__all__ = ["JitFunction", "Symbol", "constexpr", "enable_dynamic", "jit", "jit_class", "mark_dynamic", "ms_function"]
