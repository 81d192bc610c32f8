"""Steps that are done after a run (`verbs.deferred`), as values of the program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .recipe import Constant


class Step:
    """A step, which is the same object each time that its place in the program is come to."""

    def make_python_object(self, collector: Any) -> Any:
        return Constant(self)


@dataclass(frozen=True)
class OnPath(Step):
    """A step that is done if the path has been taken that it is on."""

    step: Callable[..., Any]

    def __call__(self, is_taken: bool, *args: Any) -> None:
        if is_taken:
            self.step(*args)
