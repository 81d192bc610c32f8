"""Finding the operator that made a NaN or an infinity: `check_numerics`.

While it is on, programs run plainly (what compiled code computes is the same, to the bit), every operator in Python,
and the results of each are looked at. The first one with a NaN or an infinity whose operands have none is it; what
comes after only hands it on.

What an operator makes inside of a function of this package may never come out: ``where`` picks the other value. So what
is found inside of a public function (`core.called.between`), or of the gradient rule of an operator, is a suspect
until the function, or the rule, has given its result. The frames between the operator and the user's code say where.

Entries of gradient tapes keep where the operator was called, and in which layer: so is told what its rule makes.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ContextDecorator
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any, Self

import numpy as np

from duograph.base.diagnostics import CODES, Diagnostic, Label
from duograph.base.fork import object_lock
from duograph.base.render import render
from duograph.base.source import Span, is_internal_file, span_of_frame
from duograph.base.tree import leaves
from duograph.core.called import between, redirect_all
from duograph.core.launchable import pause, resume
from duograph.core.op import Op, state

from .observer import frames_from, layer_of
from .tensor import Tensor

__all__ = ["check_everywhere", "check_numerics"]

_CODE = "DG0421"
_logger = logging.getLogger("duograph.numerics")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an operator was called: the user's expression, and the layer."""

    span: Span | None
    layer: str


@dataclass(frozen=True, slots=True)
class Suspect:
    """An operator that made a NaN or an infinity: what it was given, what it gave, and who has called it."""

    name: str
    given: str
    made: str
    origin: Origin
    function: str = ""  # the public function around it
    gradient_of: str = ""  # the operator whose gradient rule it belongs to; `origin` is where that was called

    def diagnostic(self) -> Diagnostic:
        """What is said of it."""
        inside = f" in '{self.function}'" if self.function not in ("", self.name) else ""
        if self.gradient_of:
            message = f"the gradient of '{self.gradient_of}' has {self.made}"
            by = "" if self.name == self.gradient_of else f", which '{self.name}' made of {self.given}"
            label = f"its gradient{by}"
        else:
            message = f"the result of '{self.name}'{inside} has {self.made}"
            label = f"{self.name} of {self.given}"
        place = f" (in the layer '{self.origin.layer}')" if self.origin.layer else ""
        labels = () if self.origin.span is None else (Label(self.origin.span, label),)
        notes = () if labels else (label,)
        return Diagnostic(_CODE, f"{message}, and its operands have none{place}", labels, notes)


class _Inside:
    """A public function or a gradient rule that runs: what was found in it, the operator of the rule, its origin."""

    __slots__ = ("gradient_of", "origin", "suspects")

    def __init__(self, gradient_of: str = "", origin: Any = None) -> None:
        self.gradient_of = gradient_of
        self.origin = origin if isinstance(origin, Origin) else None  # another observer may have seen the forward pass
        self.suspects: list[Suspect] = []


class Checker:
    """What looks at results while it is `state.observer`.

    Args:
        warns: whether it warns, instead of raising.
        infinities: whether infinities count.
    """

    def __init__(self, warns: bool, infinities: bool) -> None:
        self.warns, self.infinities = warns, infinities
        self._told: dict[tuple[Any, ...], None] = {}

    runs_plainly, steps = True, False

    def bind(self, run: Callable[..., Any], op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        out = run(op, operands, attrs)
        self.look(op, operands, out)
        return out

    def look(self, op: Op, operands: Sequence[Any], out: Any, spans: Sequence[Span] = ()) -> None:
        """Is notified of every operator that has run; ``spans``: where it stands, if it is one of a graph."""
        outs = [x for i, x in enumerate(out if isinstance(out, tuple) else (out,)) if i not in op.infinite]
        if op.view or not self.reaches(outs):
            return
        given = [x for x in map(_array, operands) if x is not None]
        if not given or any(self._is_bad(x) for x in given):
            return
        frames = list(frames_from(sys._getframe(1)))
        outermost, rule, function = None, None, ""
        for frame in frames:
            if not is_internal_file(frame.f_code.co_filename):
                break
            if frame.f_code in _BOUNDARIES:
                outermost = frame.f_locals["inside"]
                rule = rule or (outermost if outermost.gradient_of else None)
            elif rule is None:
                function = frame.f_globals.get("public_name", function)
        origin = Origin(spans[0].users, layer_of(frames)) if spans else _origin(frames)
        made = _counted([x for x in map(_array, outs) if x is not None])
        gradient_of = "" if rule is None else rule.gradient_of
        found = Suspect(op.name, ", ".join(map(_described, given)), made, origin, function, gradient_of)
        if outermost is None:
            self.tell(found)
        else:
            outermost.suspects.append(found)

    def reaches(self, result: Any) -> bool:
        """Whether there is a NaN or an infinity in a result."""
        return any(self._is_bad(x) for x in map(_array, leaves(result)) if x is not None)

    def _is_bad(self, array: np.ndarray) -> bool:
        if array.dtype.kind in "biu":
            return False
        with np.errstate(all="ignore"):
            return not np.isfinite(array).all() if self.infinities else bool(np.isnan(array).any())

    def tell(self, found: Suspect) -> None:
        """Raises, or warns once for each operator and line.

        Raises:
            FloatingPointError: unless it is to warn.
        """
        diagnostic = found.diagnostic()
        if not self.warns:
            error = FloatingPointError(diagnostic.message)
            error.add_note(render(Diagnostic(_CODE, CODES[_CODE], diagnostic.labels, diagnostic.notes)))
            raise error
        key = found.name, found.gradient_of, found.origin
        if key not in self._told:
            self._told[key] = None
            _logger.warning(render(diagnostic))

    def begins(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """A program from a file: its graph is run op by op."""

    # -- gradients ---------------------------------------------------------------------------------------------

    def here(self) -> Origin:
        """Where the operator is called that is being recorded."""
        return _origin(list(frames_from(sys._getframe(1))))

    def parts(self, parts: Iterable[Any], gradient_of: str, origin: Any) -> list[Any]:
        """What a gradient rule gives, looked at."""
        inside = _Inside(gradient_of, origin)
        out = list(parts)
        self._judge(inside, out)
        return out

    def pulled(
        self, pull: Callable[..., Sequence[Any]], given: Sequence[Any], gradient_of: str, origin: Any
    ) -> list[Any]:
        """`parts` for what is no single operator."""
        inside = _Inside(gradient_of, origin)
        out = list(pull(*given))
        self._judge(inside, out)
        return out

    def _judge(self, inside: _Inside, out: Any) -> None:
        if inside.suspects and (out is None or self.reaches(out)):
            self.tell(inside.suspects[0])


def _between(target: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Stands between public functions and what they call."""
    checker = state.observer
    if not isinstance(checker, Checker):
        return target(*args, **kwargs)
    inside = _Inside()
    out = target(*args, **kwargs)
    checker._judge(inside, out)
    return out


_BOUNDARIES = (_between.__code__, Checker.parts.__code__, Checker.pulled.__code__)


def _origin(frames: Sequence[FrameType]) -> Origin:
    """Where the user's code is; within a gradient rule, where the operator was called that it is the rule of."""
    for frame in frames:
        if not is_internal_file(frame.f_code.co_filename):
            return Origin(span_of_frame(frame), layer_of(frames))
        inside = frame.f_locals["inside"] if frame.f_code in _BOUNDARIES else None
        if inside is not None and inside.origin is not None:
            return inside.origin  # type: ignore[no-any-return]
    return Origin(None, layer_of(frames))


def _array(value: Any) -> np.ndarray | None:
    """The array of a tensor, that of a whole batch under `vmap`; ``None`` for anything else."""
    while isinstance(value, Tensor):
        value = value._data if isinstance(value._data, np.ndarray) else getattr(value._data, "value", None)
    return value if isinstance(value, np.ndarray) else None


def _counted(arrays: Sequence[np.ndarray]) -> str:
    """How many elements are NaN or infinite."""
    floats = [x for x in arrays if x.dtype.kind not in "biu"]
    nans, infinities = sum(int(np.isnan(x).sum()) for x in floats), sum(int(np.isinf(x).sum()) for x in floats)
    parts = [f"{nans} NaN"] * bool(nans) + [f"{infinities} Inf"] * bool(infinities)
    return f"{' and '.join(parts)} among {sum(x.size for x in floats)} elements"


def _described(array: np.ndarray) -> str:
    """Dtype, shape and range of an operand."""
    shown = f"{array.dtype.name}[{', '.join(map(str, array.shape))}]"
    if not array.size or array.dtype.kind in "bcO":
        return shown
    low, high = float(array.min()), float(array.max())
    return f"{shown} of {low:.4g}" if low == high else f"{shown} from {low:.4g} to {high:.4g}"


# ---- switching it on ------------------------------------------------------------------------------------------------

_lock = object_lock()
_blocks = [0]


def _begin() -> None:
    with _lock:
        _blocks[0] += 1
        pause()
        if _blocks[0] == 1:
            between.fill(lambda target: partial(_between, target))
            redirect_all()


def _end() -> None:
    with _lock:
        _blocks[0] -= 1
        resume()
        if not _blocks[0]:
            between.fill(lambda target: target)
            redirect_all()


class check_numerics(ContextDecorator):
    """Within the block, the first operator that makes a NaN or an infinity out of finite numbers is an error.

    The error names the operator, the line of the program and the layer: of the operator that was called, or, while
    gradients are computed, of the one whose gradient it is. Programs that are compiled run plainly within the block;
    they compute the same, but slower. ``DUOGRAPH_CHECK_NUMERICS=raise`` (or ``warn``) is such a block around a whole
    program, ``jit(check_numerics=True)`` one around the calls of a function.

    Args:
        action (str): ``"raise"``, or ``"warn"`` to log a warning for each such operator and go on. Default:
            ``"raise"``.
        infinities (bool): whether infinities count, or NaN alone. Default: ``True``.

    Returns:
        A context manager, which is also a decorator. It acts on the thread that enters it.

    Raises:
        ValueError: ``action`` is something else.
        TypeError: ``infinities`` is not a bool.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import ops
        >>> with ms.check_numerics():
        ...     try:
        ...         ops.log(ms.Tensor([1.0, -2.0]))
        ...     except FloatingPointError as error:
        ...         print(error)
        the result of 'log' has 1 NaN among 2 elements, and its operands have none
    """

    def __init__(self, action: str = "raise", *, infinities: bool = True) -> None:
        if action not in ("raise", "warn"):
            raise ValueError(f"For 'check_numerics', 'action' must be 'raise' or 'warn', but got {action!r}.")
        if not isinstance(infinities, bool):
            raise TypeError(f"For 'check_numerics', 'infinities' must be a bool, but got {type(infinities).__name__}.")
        self._checker = Checker(action == "warn", infinities)
        self._before: list[Any] = []

    def __enter__(self) -> Self:
        _begin()
        self._before.append(state.observer)
        state.observer = self._checker
        return self

    def __exit__(self, *_: object) -> None:
        state.observer = self._before.pop()
        _end()


def check_everywhere(action: str) -> None:
    """From now on all that this thread, and those that begin later, compute is checked."""
    _begin()
    state.observer = type(state).observer_everywhere = Checker(action == "warn", infinities=True)
