"""The pipelines, on one screen.

canonicalise   captured (gradients expanded) -> canonical: no tags, no marks, no needless tuples
optimise(0)    nothing: the program as it was written
optimise(1)    everything exact
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from duograph.ir.memo import Memo
from duograph.ir.node import Graph

from .anchors import Anchors
from .canonicalise import DropTags
from .dump import Dumper
from .fold import Fold
from .inline import Inline
from .manager import PASSES, ApplyRules, Pipeline, Repeat, register
from .overlap import Overlap
from .registered import RegisteredPass, registered, with_registered
from .simplify import arith, movement, scalars
from .simplify.control import Control
from .simplify.tuples import Tuples

DROP_TAGS = register(DropTags())
INLINE = register(Inline())
FOLD = register(Fold())
ARITH = register(ApplyRules("arith", arith.RULES))
MOVEMENT = register(ApplyRules("movement", movement.RULES))
SCALARS = register(ApplyRules("scalars", scalars.RULES))
TUPLES = register(Tuples())
CONTROL = register(Control())
SIMPLIFY = register(Repeat("simplify", (INLINE, TUPLES, CONTROL, FOLD, ARITH, MOVEMENT, SCALARS)))

ANCHORS = register(Anchors(Repeat("unanchored", (TUPLES, CONTROL))))
"""After all that drops results."""

OVERLAP = register(Overlap())
"""Last: what it makes has no gradient."""

RULE_SETS = (arith.RULES, movement.RULES, movement.MARKS, scalars.RULES)
"""Every rule there is; the tests check each of them by machine."""

CANONICALISE = Pipeline("canonicalise", (DROP_TAGS, TUPLES), stage="canonical")
OPTIMISE = {
    0: Pipeline("optimise0", (), stage="canonical"),
    1: Pipeline("optimise1", (SIMPLIFY, ANCHORS, OVERLAP), stage="canonical"),
}


def canonicalise(graph: Graph, dumper: Dumper | None = None) -> Graph:
    """``graph`` in canonical form. Gradients must have been expanded."""
    return CANONICALISE.run(graph, dumper)


def optimise(graph: Graph, level: int = 1, dumper: Dumper | None = None, added: Sequence[RegisteredPass] = ()) -> Graph:
    """A canonical graph made cheaper without a change of any bit (but for what ``added`` passes change); level 0 leaves
    it alone."""
    pipeline = OPTIMISE[min(level, max(OPTIMISE))]
    if added and level:
        pipeline = replace(pipeline, passes=with_registered(pipeline.passes, added))
    return pipeline.run(graph, dumper)


def compile_program(graph: Graph, level: int = 1, dumper: Dumper | None = None) -> Graph:
    """`compile_pipeline` for programs that users compile, and their gradients: with the passes of users."""
    return compile_pipeline(graph, level, dumper, registered())


def compile_pipeline(
    graph: Graph, level: int = 1, dumper: Dumper | None = None, added: Sequence[RegisteredPass] = ()
) -> Graph:
    """What every graph goes through before it is executed: captured ones, those that gradients take apart into forward
    and backward, those of fused eager calls. Stages are dumped at ``save_graphs`` 1."""
    dumper = Dumper() if dumper is None else dumper
    before = graph
    dumper.stage("bootstrap", graph)
    graph = canonicalise(graph, dumper)
    dumper.stage("canonical", graph)
    graph = optimise(graph, level, dumper, added)
    dumper.stage("optimised", graph)
    BEFORE.of(graph.context)[graph] = before
    return graph


BEFORE: Memo[Graph, Graph] = Memo("graphs before their passes")
"""Of optimised graphs: what `compile_pipeline` was given."""


_OPTIMISED: Memo[tuple[Graph, int], Graph] = Memo("simplified forward and backward graphs")


def optimised(graph: Graph, level: int) -> Graph:
    """What `compile_program` makes of ``graph``, remembered: of forward and backward graphs, which come back."""
    known = _OPTIMISED.of(graph.context)
    found = known.get((graph, level))
    if found is None:
        found = known[graph, level] = compile_program(graph, level)
    return found


__all__ = [
    "CANONICALISE",
    "OPTIMISE",
    "PASSES",
    "RULE_SETS",
    "canonicalise",
    "compile_pipeline",
    "compile_program",
    "optimise",
    "optimised",
]
