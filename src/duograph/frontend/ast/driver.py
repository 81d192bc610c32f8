"""The source driver: interprets a function's syntax tree over the values of a capture session."""

from __future__ import annotations

import ast
from typing import Any

from ..control.paths import Outcome
from ..load import Load
from ..rules.errors import Uncapturable
from ..session.session import Session
from ..source.load import FunctionSource
from ..values.functions import named
from ..values.world import Frame
from ..verbs.calls import Calls
from ..verbs.semantics import Semantics
from .generators import run_generator
from .loops import Loops


class AstDriver(Loops):
    """Sequences the verbs over statements and expressions; one per session."""

    def __init__(self, session: Session, load: Load) -> None:
        self.session = session
        self.world = session.world
        self.budget = session.log.budget
        self.semantics = Semantics(session)
        self.calls = Calls(session, self.semantics, self.run_body, load)

    def run_body(self, source: FunctionSource, frame: Frame) -> Any:
        """The result of a function whose parameters are bound in ``frame``."""
        node = source.node
        if isinstance(node, ast.Lambda):
            return self.session.regions.run(lambda: Outcome("return", self.eval(node.body, frame))).value
        if isinstance(node, ast.AsyncFunctionDef):
            raise Uncapturable(f"{frame.name} is asynchronous")
        if source.names.is_generator:
            return named(run_generator(self, node.body, frame), frame.name)

        def body() -> Outcome:
            outcome = self.block(node.body, frame)
            return outcome if outcome.kind == "return" else Outcome("return", None)

        return self.session.regions.run(body).value
