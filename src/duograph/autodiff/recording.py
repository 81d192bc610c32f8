"""Loads the rules by which tapes record control ops (`tape.RULES`). Whoever records or differentiates for a user
imports this module; what differentiates graphs stands below it, as the rules themselves do that."""

from . import control, loops, recursion

__all__ = ["control", "loops", "recursion"]
