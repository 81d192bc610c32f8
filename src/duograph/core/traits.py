"""What a module says of its functions and classes to those that cannot know it: capture, and messages of layers.

Capture (`frontend`) stands below most modules whose functions it meets, so it knows none of them by name. A module, or
a package for all in it, says in ``__capture__`` how its functions are to be treated; the nearest word counts:

    __capture__ = Traits(rules=True, methods=("layer", "loss", "optim"))

Where nothing is said, functions may read or set anything.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

__all__ = ["NOTHING", "Traits", "said_of", "traits_of"]

_OURS = f"{__name__.split('.')[0]}."


@dataclass(frozen=True)
class Traits:
    """What is said of the functions of one module, or of all modules of a package.

    Attributes:
        rules: functions depend on nothing but their arguments and the state that capture tracks: all, or those with
            these names, in whichever class.
        not_rules: functions, and classes with all their methods, that are none although ``rules`` is true.
        by_facts: rules that look at nothing of a Cell but what a guard tells of each that is called (its ``to_float``).
        readers: functions that read a switch: allowed, with a guard that asks them again at every call.
        captured: functions with these names are interpreted like the user's.
        methods: modules and packages in this one whose methods are interpreted like the user's.
        settings: methods that walk over Cells or set their switches are interpreted.
        settled: what classes define is put in place while programs run, and never replaced by users.
        layers: classes are layers, whose errors name the layer.
        program: it is a program as a user writes it, and is captured as one.
    """

    rules: bool | tuple[str, ...] = False
    not_rules: tuple[str, ...] = ()
    by_facts: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    captured: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    settings: bool = False
    settled: bool = False
    layers: bool = False
    program: bool = False

    def is_rule(self, name: str) -> bool:
        """Whether the function with the qualified name ``name`` is a rule."""
        if isinstance(self.rules, tuple):
            return name.rpartition(".")[2] in self.rules
        return self.rules and name.split(".", maxsplit=1)[0] not in self.not_rules

    def interprets(self, inside: str) -> bool:
        """Whether methods are interpreted of the module that is called ``inside`` in the package that says this."""
        return inside.split(".", maxsplit=1)[0] in self.methods


NOTHING = Traits()


def said_of(module: Any) -> tuple[Traits, str]:
    """What was said of a module of this package, and the module's name within the package that said it."""
    package, inside = module, ""
    while isinstance(package, str) and f"{package}.".startswith(_OURS):
        found = vars(sys.modules[package]).get("__capture__") if package in sys.modules else None
        if found is not None:
            return found, inside
        package, _, last = package.rpartition(".")
        inside = f"{last}.{inside}" if inside else last
    return NOTHING, ""


def traits_of(module: Any) -> Traits:
    """What was said of a module; nothing of modules of other packages."""
    return said_of(module)[0]
