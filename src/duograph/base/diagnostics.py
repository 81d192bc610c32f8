"""Errors as data: what a diagnostic is, the codes there are, and the exceptions that carry one.

A `Diagnostic` is a code, one sentence, labelled spans of the user's own source, notes, and perhaps help. Text is made
from it elsewhere, in one place (`render.py`). Errors of operators and layers keep class and text of MindSpore's, with
the drawing in a note (`core/errors.py`); the exceptions here carry it themselves.

The exceptions::

    Exception
    └── DuographError             everything raised on purpose by this package; has `.diagnostic`
        ├── CaptureError          source that cannot be captured (yet)
        ├── InternalError         a fault of this package: says so, and names the stage it happened in
        └── TypeError, ValueError, IndexError, RuntimeError, ...
                                  made by `diagnostic_error`: each is *also* the builtin class of that name, which is
                                  what eager Python (and MindSpore) would raise; `except TypeError` catches it

`str(error)` is the message, then the drawn source; `error.args` is the message alone. Both keep MindSpore's wording
where its tests look for it.

Codes are `DGxxyy`: xx is the category (`CATEGORIES`), yy counts within it. Every code is listed in `CODES`; a
`Diagnostic` with another one is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import TracebackType

from duograph.base.source import Span, is_internal_file

__all__ = [
    "CATEGORIES",
    "CODES",
    "CaptureError",
    "Diagnostic",
    "DuographError",
    "InternalError",
    "Label",
    "category",
    "diagnostic_error",
    "without_internal_frames",
]

CATEGORIES = {
    "DG01": "capture",
    "DG04": "types and shapes",
    "DG06": "context and configuration",
    "DG07": "intermediate representation",
    "DG09": "internal",
}

CODES = {
    # Capture
    "DG0102": "a statement or expression cannot be captured",
    "DG0104": "a fallback to Python is needed where it is forbidden (STRICT or fullgraph=True)",
    # Types and shapes
    "DG0401": "dtypes cannot be combined",
    "DG0402": "an operator does not support this dtype",
    "DG0403": "wrong number or names of arguments",
    "DG0404": "wrong type of an argument",
    "DG0405": "wrong value of an argument",
    "DG0410": "shapes cannot be broadcast together",
    "DG0411": "an axis is out of range",
    "DG0412": "inner dimensions of a product differ",
    "DG0413": "a reshape does not keep the number of elements",
    "DG0414": "an index is out of range",
    "DG0416": "wrong number of dimensions",
    "DG0417": "shapes differ where they must be equal",
    "DG0420": "a tensor of several elements has no truth value or scalar value",
    "DG0421": "an operator made a NaN or an infinity of finite numbers",
    # Context and configuration
    "DG0601": "unknown option",
    "DG0602": "wrong value of an option",
    "DG0604": "wrong value of an environment variable",
    # Intermediate representation
    "DG0701": "text that is not MindIR",
    "DG0702": "an ill-formed graph",
    "DG0703": "a graph breaks the contract of its stage",
    "DG0705": "unknown operator",
    # Internal
    "DG0901": "internal error",
}


def category(code: str) -> str:
    """The category of a code, in words."""
    return CATEGORIES[code[:4]]


@dataclass(frozen=True, slots=True)
class Label:
    """Words at a stretch of source. Primary (`^^^`): what is wrong. Secondary (`---`): what else matters."""

    span: Span
    text: str = ""
    primary: bool = True


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error, warning or reason, as data.

    Attributes:
        code: a key of `CODES`.
        message: one sentence, with the shapes and dtypes in it; no full stop at its end.
        labels: spans of user source, the primary one first.
        notes: further facts, a sentence each.
        help: what to do about it.
        severity: "error", "warning" or "note".
    """

    code: str
    message: str
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    severity: str = field(default="error", kw_only=True)

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"unknown diagnostic code {self.code!r}; list it in duograph.base.diagnostics.CODES")
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "notes", tuple(self.notes))

    @property
    def span(self) -> Span | None:
        """Where it happened: the span of the first primary label, else of the first label."""
        for label in self.labels:
            if label.primary:
                return label.span
        return self.labels[0].span if self.labels else None

    def with_label(self, span: Span | None, text: str = "", primary: bool = True) -> Diagnostic:
        """This diagnostic with one more label; unchanged if `span` is None."""
        return self if span is None else replace(self, labels=(*self.labels, Label(span, text, primary)))

    def __str__(self) -> str:
        from duograph.base.render import render

        return render(self)


class DuographError(Exception):
    """Everything this package raises on purpose.

    Args:
        diagnostic: what happened; or just a message, which then has no code and no labels.
    """

    def __init__(self, diagnostic: Diagnostic | str) -> None:
        self.diagnostic = diagnostic if isinstance(diagnostic, Diagnostic) else None
        super().__init__(diagnostic.message if isinstance(diagnostic, Diagnostic) else diagnostic)

    @property
    def code(self) -> str | None:
        """The diagnostic's code."""
        return self.diagnostic.code if self.diagnostic is not None else None

    def __str__(self) -> str:
        if self.diagnostic is None:
            return str(self.args[0])
        from duograph.base.render import render_body

        head = f"{self.diagnostic.message} [{self.diagnostic.code}]"
        body = render_body(self.diagnostic)
        return f"{head}\n{body}" if body else head

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.diagnostic or self.args[0],)


class CaptureError(DuographError):
    """A program, or a part of it, cannot be captured as a graph. Outside STRICT it becomes a fallback."""


class InternalError(DuographError):
    """A fault of this package, never of the user's program.

    Args:
        message: what went wrong.
        stage: where: a stage or pass of the compiler.
        labels: the user's code that was being compiled.
    """

    def __init__(self, message: Diagnostic | str, *, stage: str | None = None, labels: tuple[Label, ...] = ()) -> None:
        if isinstance(message, str):
            where = f" in {stage}" if stage else ""
            note = "this is a fault of duograph, not of your program; please report it with this text"
            message = Diagnostic("DG0901", f"internal error{where}: {message}", labels, (note,))
        super().__init__(message)


def diagnostic_error(exc_class: type[Exception], diagnostic: Diagnostic) -> DuographError:
    """An exception that is an instance of `exc_class` and carries `diagnostic`.

    Args:
        exc_class: the class eager Python raises: TypeError, ValueError, IndexError, ...; or a DuographError.
        diagnostic: what happened.

    Returns:
        The exception, to be raised by the caller (`raise diagnostic_error(TypeError, ...)`).
    """
    if issubclass(exc_class, DuographError):
        return exc_class(diagnostic)
    made = _classes.get(exc_class)
    if made is None:
        made = _classes[exc_class] = _both(exc_class)
    return made(diagnostic)


_classes: dict[type[Exception], type[DuographError]] = {}


def _both(exc_class: type[Exception]) -> type[DuographError]:
    """The class that is both a DuographError and `exc_class`; it goes by the name of the latter."""

    def reduce(self: DuographError) -> tuple[object, ...]:
        return diagnostic_error, (exc_class, self.diagnostic)

    return type(
        exc_class.__name__,
        (DuographError, exc_class),
        {"__module__": exc_class.__module__, "__doc__": exc_class.__doc__, "__reduce__": reduce},
    )


def without_internal_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without this package's own frames (all of them, if there are no others)."""
    entries = []
    entry = traceback
    while entry is not None:
        if not is_internal_file(entry.tb_frame.f_code.co_filename):
            entries.append(entry)
        entry = entry.tb_next
    if not entries:
        return traceback
    kept = None
    for entry in reversed(entries):
        kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept
