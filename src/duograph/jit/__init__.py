"""Compilation of Python functions: the decorator `jit` and what it returns."""

from duograph.frontend.capture import install

from .decorator import jit
from .function import JitFunction

install()

__all__ = ["JitFunction", "jit"]
