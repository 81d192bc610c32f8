"""What a pass is, and how pipelines of passes run.

A pass is a small frozen dataclass with a ``name`` and ``run(graph) -> graph``; its fields are its options. It gets a
valid graph and gives a valid one; what it does not change stays the same object, which tells everyone that nothing
happened. A `Pipeline` runs passes in order; each is timed (``base.events``: stage ``pass <name>``), its result dumped
when it changed something (`dump.py`), and verified according to the switch ``verify`` (`DUOGRAPH_VERIFY`): after each
pass, or at the border of the stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from duograph.base.config import config
from duograph.base.events import emit, stage
from duograph.ir.node import Graph
from duograph.ir.verify import verify
from duograph.rewrite.driver import rewrite
from duograph.rewrite.rule import RuleSet

from .dump import Dumper


@runtime_checkable
class Pass(Protocol):
    """Anything with a name that turns a graph into an equivalent one."""

    @property
    def name(self) -> str: ...

    def run(self, graph: Graph) -> Graph: ...


@dataclass(frozen=True)
class ApplyRules:
    """Applies rule sets to a fixpoint."""

    name: str
    rules: RuleSet

    def run(self, graph: Graph) -> Graph:
        return rewrite(graph, self.rules)


@dataclass(frozen=True)
class Repeat:
    """Runs passes in turn until none of them changes anything (or ``limit`` rounds: then it is good enough)."""

    name: str
    passes: tuple[Pass, ...]
    limit: int = 10

    def run(self, graph: Graph) -> Graph:
        for _ in range(self.limit):
            before = graph
            for p in self.passes:
                graph = run_pass(p, graph)
            if graph is before:
                break
        return graph


@dataclass(frozen=True)
class Pipeline:
    """Passes in order. ``stage``: the contract that the result keeps (`ir/verify.py`)."""

    name: str
    passes: tuple[Pass, ...]
    stage: str = "captured"

    def run(self, graph: Graph, dumper: Dumper | None = None) -> Graph:
        """``graph`` after all passes; ``dumper`` writes what changes to files, as far as its level asks."""
        for p in self.passes:
            new = run_pass(p, graph, self.stage if p is self.passes[-1] else "captured")
            if dumper is not None and new is not graph:
                dumper.write(f"{self.name}_{p.name}", new)
            graph = new
        if config().verify == "stage":
            verify(graph, self.stage, after=f"pipeline {self.name}")
        return graph


def run_pass(p: Pass, graph: Graph, contract: str = "captured") -> Graph:
    """Runs one pass: timed, announced as an event ``pass``, and verified if every pass is to be."""
    with stage(f"pass {p.name}", graph=graph.name):
        new = p.run(graph)
    emit("pass", name=p.name, before=graph, after=new, changed=new is not graph)
    if config().verify in ("pass", "node"):
        verify(new, contract, after=f"pass {p.name}")
    return new


PASSES: dict[str, Pass] = {}
"""Every pass that can be asked for by name (`python -m duograph opt --passes`)."""


def register(p: Pass) -> Pass:
    """Makes a pass known by its name."""
    PASSES[p.name] = p
    return p


def pass_named(name: str) -> Pass:
    """The pass called ``name``."""
    if name not in PASSES:
        raise ValueError(f"there is no pass {name!r}; there are {', '.join(sorted(PASSES))}")
    return PASSES[name]
