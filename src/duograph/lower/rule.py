"""How a primitive becomes loop IR: the four kinds of `lower` rule, and where they are registered.

    @pointwise("tanh")                       value by value; fused with whatever surrounds it
    def tanh(b, x): ...

    @kernel("sort")                          its own kernel (or several); inputs and outputs are C-contiguous
    def sort(c): ...

    host("cholesky", "LAPACK, through NumPy")    runs its NumPy reference; the reason is listed by a test

Rules live in `lower/rules/`, one file per family, and are loaded when the first op is lowered whose file in `ops` the
family is about; `Op.lower` is filled from here because rules speak loop IR, which stands higher than the ops.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from duograph.base.fork import fork_safe_lock
from duograph.base.imports import import_whole
from duograph.core.op import NO_RULE, Op, get_op, is_declared

from .loop.ir import Value

__all__ = ["Complex", "Host", "Kernel", "Pointwise", "host", "kernel", "pointwise", "rule_of"]


@dataclass(frozen=True)
class Pointwise:
    """An elementwise op: ``function(b, *values, **attrs) -> value`` (or a tuple of values).

    The values are loop IR values, all of the same number of lanes (1 or a vector), one per operand, already broadcast.
    Half types arrive as ``f32`` and the result is rounded to the half type afterwards (``in_float32``), unless
    ``raw_half`` is set (bit operations, casts). Complex operands arrive as `Complex` pairs. Python scalar operands
    arrive as ``i64`` or ``f64`` (bool: ``i64`` 0 or 1) values of one lane.

    With ``wants_types`` the function gets the keywords ``types`` (operand types) and ``out`` (result type); it
    may look at dtypes only, not at shapes.
    """

    function: Callable[..., Any]
    raw_half: bool = False
    wants_types: bool = False
    wide: bool = False  # works in float64 inside, also on float32: prefer short vectors


@dataclass(frozen=True)
class Complex:
    """A complex number as rules see it: two values of one real type."""

    re: Any
    im: Any


Element: TypeAlias = "Value | Complex"
"""One element, or a vector of them, as rules see it."""


@dataclass(frozen=True)
class Kernel:
    """An op with kernels of its own: ``function(c: Lowering) -> None`` adds calls to ``c``.

    ``sinks``: the kernel hands its results to ``c.sink`` and so lets elementwise consumers be fused into it.
    """

    function: Callable[..., None]
    sinks: bool = False


class Refused(Exception):
    """A rule's answer: not for these operands. The op runs its reference then, or a fused group its ops one by one."""


@dataclass(frozen=True)
class Host:
    """An op that runs its NumPy reference, also inside compiled programs, and why."""

    reason: str


def pointwise(name: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers an elementwise rule; also usable as ``pointwise("neg")(lambda b, x: -x)``."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _register(name, Pointwise(function, **options))
        return function

    return register


def kernel(name: str, **options: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Registers a rule that writes its own kernels."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        _register(name, Kernel(function, **options))
        return function

    return register


def host(name: str, reason: str) -> None:
    """Registers that ``name`` stays with NumPy."""
    _register(name, Host(reason))


_early: dict[str, Pointwise | Kernel | Host] = {}  # rules whose module is being loaded, or whose op is not declared
_loaded = False
_loading = fork_safe_lock()


def _register(name: str, rule: Pointwise | Kernel | Host) -> None:
    if is_declared(name) and get_op(name).lower is not NO_RULE:  # another one in its place
        get_op(name).lower = rule
    else:
        _early[name] = rule


def _publish() -> None:
    """Gives ops their rules, when the modules that they are in are whole: other threads look without a lock."""
    for name, rule in list(_early.items()):
        if is_declared(name):
            get_op(name).lower = rule
            _early.pop(name, None)


def load_rules() -> None:
    """Imports every module of `lower.rules`, once, after every module that declares ops."""
    global _loaded
    if _loaded:
        return
    with _loading:  # other threads wait: half of the rules are none
        from duograph import ops

        from . import rules

        for package in (ops, rules):
            for module in pkgutil.iter_modules(package.__path__):
                import_whole(f"{package.__name__}.{module.name}")
        _publish()
        _loaded = True


def _families(op: Op) -> list[str] | None:
    """The modules that may have the rule of ``op``; ``None``: any."""
    from .rules import FAMILIES

    package, _, file = op.module.rpartition(".")
    if package == "duograph.ops":
        return FAMILIES[file].split() if file in FAMILIES else None
    return [] if package.startswith("duograph.") else None  # control flow and its like: executables are built of them


def _load_family(op: Op) -> None:
    families = _families(op)
    if families is None:
        load_rules()
    with _loading:
        _publish()
        for family in families or ():
            if op.lower is NO_RULE:
                import_whole(f"{__package__}.rules.{family}")
                _publish()


def rule_of(op: Op) -> Pointwise | Kernel | Host | None:
    """The rule of ``op``; ``None`` for those that are no computation (control operators) or lack one."""
    if op.lower is NO_RULE:
        _load_family(op)
    return None if op.lower is NO_RULE else op.lower
