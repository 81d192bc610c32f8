"""Constructors from rows: a class lists its settings; `with_settings` makes ``__init__``, signature and docstring.

    @with_settings
    class HuberLoss(LossBase):
        \"\"\"What it computes.\"\"\"

        reduction: Reduction = "mean"
        delta: Above0 = option("where the parabola ends", default=1.0)

An annotation names a `Kind` of the module's (``Above0 = Annotated[float, Kind(...)]``), which knows the words for the
docstring and the check. What stands after ``=`` is the default. Bases that list settings hand theirs on; a class may
give one another default. What the constructor does with the values is the base class's business (``_take_settings``):
as a rule it calls its own ``__init__``, keeps the checked values as attributes, and calls ``_settings_taken``.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar, dataclass_transform

from duograph.base.absent import keyword_instead
from duograph.base.source import PACKAGE_DIR

REQUIRED: Any = inspect.Parameter.empty
Check = Callable[[Any, str, str], Any]
"""``(value, name, owner)``: the value to keep; raises if it is wrong."""


@dataclass(frozen=True)
class Kind:
    """What settings of one kind have in common.

    Attributes:
        words: the type, as docstrings show it.
        check: gives the value to keep; ``None``: any value is right.
        text: the description, where the setting has none of its own.
        kept: whether the value becomes an attribute.
        collects: whether it is the ``**kwargs`` of the constructor.
        fixed: whether it is not a parameter here: what a base leaves open and the class decides.
    """

    words: str
    check: Check | None = None
    text: str = ""
    kept: bool = True
    collects: bool = False
    fixed: bool = False


@dataclass(frozen=True)
class Setting:
    """One setting of a class."""

    kind: Kind
    default: Any = REQUIRED
    text: str = ""
    named: bool = False
    """Whether it is given by name only."""
    after: str = ""
    """The setting of a base that it comes after; otherwise it comes last."""

    def described(self, name: str) -> str:
        """Its line in the docstring."""
        text = f"{self.text or self.kind.text}." if self.text or self.kind.text else ""
        if self.kind.collects:
            return f"    {name}: {text}"
        if self.default is not REQUIRED:
            text = f"{text} Default ``{self.default!r}``.".strip()
        return f"    {name} ({self.kind.words}): {text or 'required.'}"


def option(text: str = "", *, default: Any = REQUIRED, after: str = "") -> Any:
    """A default with a description: stands for the default in the body of a class."""
    return Setting(Kind(""), default, text, after=after)


C = TypeVar("C", bound=type)


@dataclass_transform(field_specifiers=(option,))
def with_settings(cls: C) -> C:
    """Gives ``cls`` the constructor and the docstring that its settings describe."""
    listed = getattr(cls, "_settings", {})
    for name, setting in _own_settings(cls).items():
        at = [*listed].index(setting.after) + 1 if setting.after else len(listed)
        listed = dict([*listed.items()][:at]) | {name: setting} | dict([*listed.items()][at:])
    settings = {name: s for name, s in listed.items() if not (s.kind.fixed and s.default is REQUIRED)}
    cls._settings = settings  # type: ignore[attr-defined]
    cls.__init__ = _constructor(cls, settings)  # type: ignore[misc]
    cls.__doc__ = documented(inspect.cleandoc(cls.__doc__ or ""), settings)
    return cls


def _own_settings(cls: type) -> dict[str, Setting]:
    """The settings that the body of a class lists; they do not stay attributes of the class."""
    known = sys.modules[cls.__module__].__dict__
    found: dict[str, Setting] = {}
    named = False
    for name, annotation in inspect.get_annotations(cls).items():
        if annotation == "KW_ONLY":
            named = True
        if annotation.startswith(("KW_ONLY", "ClassVar")):
            continue
        (kind,) = known[annotation].__metadata__
        given = cls.__dict__.get(name, REQUIRED)
        if name in cls.__dict__:
            delattr(cls, name)
        found[name] = replace(given if isinstance(given, Setting) else Setting(kind, given), kind=kind, named=named)
    return found


def _constructor(cls: Any, settings: dict[str, Setting]) -> Callable[..., None]:
    """``__init__`` with these parameters, as text: so errors of calls read as those of any function."""
    head, star = ["self"], False
    offered = {name: setting for name, setting in settings.items() if not setting.kind.fixed}
    for name, setting in offered.items():
        if setting.named and not star:
            head.append("*")
            star = True
        default = "" if setting.default is REQUIRED else f"=defaults[{name!r}]"
        head.append(f"**{name}" if setting.kind.collects else name + default)
    values = ", ".join(f"{name!r}: " + (name if name in offered else f"defaults[{name!r}]") for name in settings)
    where = f"{cls.__qualname__}.__init__"

    def unknown(names: dict[str, Any]) -> None:
        name = next(iter(names))
        hint = keyword_instead(name, offered)
        raise TypeError(f"{where}() got an unexpected keyword argument {name!r}{hint}")

    space = {"defaults": {n: s.default for n, s in settings.items()}, "settings": settings, "unknown": unknown}
    collects = any(setting.kind.collects for setting in offered.values())
    refused = "" if collects else "unknown(others) if others else "
    parameters = ", ".join(head if collects else [*head, "**others"])
    text = f"def __init__({parameters}): {refused}self._take_settings({{{values}}}, settings)"
    exec(compile(text, f"{PACKAGE_DIR}<{where}>", "exec"), space)  # a file of this package, to tracebacks
    made: Any = space["__init__"]
    made.__module__, made.__qualname__ = cls.__module__, where
    if not collects:
        whole = inspect.signature(made)
        made.__signature__ = whole.replace(parameters=[p for n, p in whole.parameters.items() if n != "others"])
    return made


def keep(owner: Any, given: dict[str, Any], settings: dict[str, Setting]) -> None:
    """Checks the given values, in ``given`` too, and keeps them as attributes of ``owner``."""
    name_of_owner = type(owner).__name__
    for name, setting in settings.items():
        kind = setting.kind
        if kind.check is not None:
            given[name] = kind.check(given[name], name, name_of_owner)
        if kind.kept:
            setattr(owner, name, given[name])


_HEADINGS = ("Args", "Inputs", "Outputs", "Returns", "Raises", "Supported Platforms", "Examples")
_SECTION = re.compile(rf"^({'|'.join(_HEADINGS)}):$", re.MULTILINE)

_REFUSALS = """
    TypeError: an argument has the wrong type.
    ValueError: an argument is out of range."""


def documented(text: str, settings: dict[str, Setting]) -> str:
    """``text`` with the section Args and, where it has none, Raises and Supported Platforms."""
    summary, *rest = _SECTION.split(text)
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    if lines := [s.described(name) for name, s in settings.items() if not s.kind.fixed]:
        sections["Args"] = "\n" + "\n".join(lines)
    if any(setting.kind.check for setting in settings.values()):
        sections.setdefault("Raises", _REFUSALS)
    sections.setdefault("Supported Platforms", "\n    ``CPU``")
    ordered = [f"{heading}:{sections[heading].rstrip()}" for heading in _HEADINGS if heading in sections]
    return "\n\n".join([summary.strip(), *ordered]) + "\n"


Fixed = Annotated[Any, Kind("", fixed=True)]
"""No parameter of this class: has the value that stands here; `absent`: is not there at all."""
absent: Any = REQUIRED

__all__ = ["REQUIRED", "Check", "Fixed", "Kind", "Setting", "absent", "documented", "keep", "option", "with_settings"]
