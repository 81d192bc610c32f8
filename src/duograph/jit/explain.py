"""What a compiled function can tell about itself, as data and as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.base.failures import Failure
from duograph.frontend.split.plan import Break
from duograph.ir.node import Graph
from duograph.ir.printer import print_graph

from .compiled import executables_of, failures_in, refusals_of
from .entries import Entries


def memory_of(graph: Graph) -> str:
    """The memory plan of a graph as a table; empty before it is compiled."""
    return next((x.memory_table() for x in executables_of(graph)), "")


def notes_of(graph: Graph) -> list[str]:
    """What of a compiled graph did not run natively, and why."""
    notes = [n for x in executables_of(graph) for n in x.notes]
    return list(dict.fromkeys([*notes, *[f"no machine code: {f.error}" for f in refusals_of(graph)]]))


class Explanation:
    """Versions, guards, graphs, fallbacks and recompilations of a compiled function.

    Attributes:
        versions: one dict per compiled version: ``guards``, ``inputs``, ``graph`` (MindIR text), ``captured`` (MindIR
            text before optimisation), ``hits``, ``plain_runs`` (calls that plain Python
            answered because the program raised), ``native_calls`` (of the hits, those that no Python has led),
            ``why_not_native``, ``op_by_op_on_tapes`` (gradients run it as plain Python: it has few ops), ``in_python``
            (steps that are not native, and why), ``memory`` (the plan of its arena, a table), ``capture_ms``,
            ``compile_ms``.
        breaks: statements that run as plain Python between compiled segments (`frontend.split.plan.Break`), each with
            its ``reason`` and ``span``.
        segments: one `Explanation` per segment.
        fallbacks: reasons (objects with ``reason``, ``span`` and ``rendered``) why calls ran as plain Python.
        recompiles: per recompilation, which guard of the latest version failed.
        failures: parts of duograph that failed (`duograph.base.failures.Failure`), each once; Python, NumPy or the
            interpreter did their work.
        captured_from: how functions are captured: ``"source"``, whatever ``capture_mode`` was asked for.
        static_sizes: dimensions whose sizes vary, and for which there are versions for one size each, with the reason.
        unattempted: calls with new arguments that ran as plain Python because earlier attempts to compile had failed
            for one reason, or had given versions that were not used again (`Entries.is_resting`).
    """

    def __init__(self, function: Any, stores: Sequence[Entries]) -> None:
        self.function = function
        self.captured_from = "source"
        self.versions: list[dict[str, Any]] = []
        self.fallbacks: list[Any] = []
        self.recompiles: list[str] = []
        self.static_sizes: list[str] = []
        failures: dict[Failure, None] = {}
        self.unattempted = sum(store.unattempted for store in stores)
        for store in stores:
            self.fallbacks += store.fallbacks
            self.recompiles += store.recompiles
            self.static_sizes += store.sizes.reasons()
            failures.update(dict.fromkeys(store.failures))
            for entry in store.compiled:
                program = entry.program
                failures.update(dict.fromkeys([*program.guards.failures, *entry.failures, *failures_in(entry.graph)]))
                self.versions.append(
                    {
                        "guards": [str(g) for g in program.guards.guards if not g.is_about_code],
                        "inputs": [str(s) for s in program.inputs],
                        "graph": print_graph(entry.graph),
                        "captured": print_graph(program.graph),
                        "paths": len(program.paths),
                        "hits": entry.hits,
                        "plain_runs": entry.plain_runs,
                        "native_calls": entry.hits - entry.runs,
                        "why_not_native": entry.why_not_native,
                        "op_by_op_on_tapes": store.is_small,
                        "in_python": notes_of(entry.graph),
                        "memory": memory_of(entry.graph),
                        "capture_ms": entry.capture_ms,
                        "compile_ms": entry.compile_ms,
                    }
                )

        self.failures = list(failures)
        cut = function.cut
        self.breaks: list[Break] = list(cut.breaks.values()) if cut is not None else []
        self.segments: list[Explanation] = [part.explain() for part in cut.current] if cut is not None else []

    def __str__(self) -> str:
        lines = [f"{self.function}: {len(self.versions)} compiled version(s), {len(self.fallbacks)} fallback(s)"]
        asked = self.function.options.capture_mode
        if asked != "ast":
            lines.append(f"captured from {self.captured_from}: capture_mode {asked!r} is accepted and means the same")
        for i, v in enumerate(self.versions):
            times = f"captured in {v['capture_ms']:.1f} ms, compiled in {v['compile_ms']:.1f} ms"
            lines.append(f"version {i}: {v['hits']} calls, {times}")
            lines += [f"  calls are led by Python: {v['why_not_native']}"] if v["why_not_native"] else []
            lines += [f"  {note}" for note in v["in_python"]]
            lines += [f"  guard: {g}" for g in v["guards"]]
            lines.append(v["graph"])
        lines += [f.rendered for f in self.fallbacks]
        lines += [f"graph break: {b}" for b in self.breaks]
        lines += [f"segment {part}" for part in self.segments]
        lines += [f"recompiled: {reason}" for reason in self.recompiles]
        lines += [f"a version for each size of {reason}" for reason in self.static_sizes]
        lines += [str(failure) for failure in self.failures]
        if self.unattempted:
            why = "earlier captures failed or were never reused"
            lines += [f"{self.unattempted} calls with new arguments ran as plain Python: {why}"]
        return "\n".join(lines)

    __repr__ = __str__
