"""What a compiled function can tell about itself, as data and as text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from duograph.base.failures import Failure
from duograph.base.html import text_block
from duograph.distributed.meeting import figures_of_program
from duograph.frontend.bytecode.instructions import Instruction
from duograph.frontend.load import why_instead
from duograph.frontend.rules.errors import Uncapturable
from duograph.frontend.split.plan import Break
from duograph.ir.executor import TIMED
from duograph.ir.node import Graph
from duograph.ir.printer import print_graph

from .account import PARTS
from .compiled import executables_of, failures_in, refusals_of
from .entries import Entries
from .entry import LEVELS
from .groups import fallback_advice, grouped_guards, grouped_recompiles
from .policy import Comparison
from .telling import advice, instructions_of


def memory_of(graph: Graph) -> str:
    """The memory plan of a graph as a table; empty before it is compiled."""
    return next((x.memory_table() for x in executables_of(graph)), "")


def communication_of(graph: Graph) -> list[str]:
    """What the collectives of a graph came to on this rank, a line for each kind."""
    found = figures_of_program(graph.context)
    return [
        f"{kind}: {f.calls} calls, {f.bytes / 1e6:.2f} MB, {f.seconds * 1e3:.1f} ms, of which {f.waited * 1e3:.1f} "
        f"waiting for other ranks and {f.hidden * 1e3:.1f} hidden by computing"
        for kind, f in sorted(found.items())
    ]


def timed(graph: Graph) -> Sequence[Any]:
    """The events of calls of a graph in the latest profile."""
    found = TIMED.of(graph.context).get(graph)
    return (found() if found is not None else None) or ()


def notes_of(graph: Graph) -> list[str]:
    """What of a compiled graph did not run natively, and why."""
    notes = [n for x in executables_of(graph) for n in x.notes]
    return list(dict.fromkeys([*notes, *[f"no machine code: {f.error}" for f in refusals_of(graph)]]))


def _page() -> Any:
    from . import page  # what it needs is loaded for those who look that closely

    return page


def _compared(comparison: Comparison) -> dict[str, float]:
    if comparison.pays is None or not comparison.plain:
        return {}
    return {"compiled": comparison.compiled * 1e3, "plain": comparison.plain * 1e3}


def _told(compared: dict[str, float]) -> str:
    if not compared:
        return ""
    return f"; a call takes {compared['compiled'] * 1e3:.1f} us, and {compared['plain'] * 1e3:.1f} us as plain Python"


class Explanation:
    """Versions, guards, graphs, fallbacks and recompilations of a compiled function.

    Attributes:
        versions: one dict per compiled version: ``guards``, ``guard_groups`` (a line for each object), ``inputs``,
            ``graph`` (MindIR text), ``captured`` (MindIR text before optimisation), ``paths``, ``runs`` (that were
            recorded; 0: it has all paths of the program),
            ``why_all_paths`` (although runs were to be recorded), ``operations`` (how many the graph has), ``hits``,
            ``plain_runs`` (calls that plain Python answered because the program raised), ``native_calls`` (of the hits,
            those that were served natively), ``why_not_native``, ``op_by_op_on_tapes`` (gradients run it as plain
            Python: it has few ops), ``in_python`` (steps that are not native, and why), ``communication`` (what its
            collectives came to on this rank; `parallel.communication_report` is about all ranks), ``memory`` (the plan
            of its arena, a table), ``capture_ms``, ``compile_ms``, ``compared`` (see below).
        is_cut: whether it runs as compiled segments with plain statements between them, and ``cut_calls``: how many
            calls did.
        breaks: statements that run as plain Python between compiled segments (`frontend.split.plan.Break`), each with
            its ``reason``, ``span``, ``times`` and ``milliseconds``.
        segments: one `Explanation` per segment.
        left_parts: segments, and functions that are called between them, that run as plain Python because that is
            faster, with what their calls take.
        fallbacks: reasons (objects with ``reason``, ``span``, ``rendered``, ``hits`` and ``seconds``) why calls ran as
            plain Python, how often and how long.
        recompiles: per recompilation, which guard of the latest version failed; also where none did, and a native check
            was made anew.
        failures: parts of duograph that failed (`duograph.base.failures.Failure`), each once; Python, NumPy or the
            interpreter did their work.
        captured_from: what the function is captured from: ``"source"`` or ``"bytecode"``.
        static_sizes: dimensions whose sizes vary, and for which there are versions for one size each, with the reason.
        unattempted: calls with new arguments that ran as plain Python because earlier attempts to compile had failed
            for one reason, had given versions that were not used again, or take long (`Attempts.wait`).
        unattempted_ms: the time that these took.
        times: of a function that is cut, the milliseconds that its calls have spent in each of `account.PARTS`, by
            those that were measured; empty if none was yet.
        measured: how many calls were.
        compared: the milliseconds that a call takes compiled, and as plain Python, where calls of both kinds were timed
            to find out what pays; empty if they were not: ``versions[i]["compared"]`` says it of one version.
        compared_calls: calls that plain Python has answered for that.
        advice: what to change, if the function is slow although it is compiled; else empty.
    """

    def __init__(self, function: Any, stores: Sequence[Entries]) -> None:
        self.function = function
        self.versions: list[dict[str, Any]] = []
        self.fallbacks: list[Any] = []
        self.recompiles: list[str] = []
        self.static_sizes: list[str] = []
        self._graphs: list[Graph] = []
        self._levels: list[int] = []
        failures: dict[Failure, None] = dict.fromkeys(function.cut.failures if function.cut is not None else ())
        self.unattempted = sum(store.attempts.unattempted for store in stores)
        self.unattempted_ms = sum(store.seconds for store in stores) * 1e3
        self.advice = advice(function, stores)
        for store in stores:
            self.fallbacks += store.fallbacks
            self.recompiles += store.recompiles
            self.static_sizes += store.sizes.reasons()
            failures.update(dict.fromkeys(store.failures))
            for entry in store.used:
                program, (hits, runs, plain_runs) = entry.program, store.counts_of(entry)
                failures.update(dict.fromkeys([*program.guards.failures, *entry.failures, *failures_in(entry.graph)]))
                self._graphs.append(entry.graph)
                self._levels.append(LEVELS[entry.level])
                self.versions.append(
                    {
                        "guards": [
                            *[str(g) for g in program.guards.guards if not g.is_about_code],
                            *program.relations,
                        ],
                        "guard_groups": grouped_guards(
                            [g for g in program.guards.guards if not g.is_about_code], program.relations
                        ),
                        "inputs": [str(s) for s in program.inputs],
                        "graph": print_graph(entry.graph),
                        "captured": print_graph(program.graph),
                        "paths": len(program.paths),
                        "runs": len(program.recorded.ways) if program.recorded is not None else 0,
                        "why_all_paths": program.unrecorded,
                        "operations": len(entry.graph.nodes),
                        "hits": hits,
                        "plain_runs": plain_runs,
                        "native_calls": hits - runs,
                        "why_not_native": entry.why_not_native,
                        "op_by_op_on_tapes": store.is_small,
                        "in_python": notes_of(entry.graph),
                        "communication": communication_of(entry.graph),
                        "memory": memory_of(entry.graph),
                        "capture_ms": entry.capture_ms,
                        "compile_ms": entry.compile_ms,
                        "compared": _compared(entry.comparison),
                    }
                )

        self.failures = list(failures)
        cut = function.cut
        self.times = cut.account.milliseconds(cut.cause.hits) if cut is not None else {}
        self.measured = cut.account.calls if cut is not None else 0
        self.is_cut = cut is not None and cut.is_of_use
        self.cut_calls = cut.cause.hits if cut is not None and self.is_cut else 0
        self.compared = _compared(function.comparison)
        compared = {id(c): c for c in (function.comparison, *[e.comparison for s in stores for e in s.used])}
        self.compared_calls = sum(comparison.plain_calls for comparison in compared.values())
        self.breaks: list[Break] = cut.reasons if cut is not None else []
        self.left_parts: list[str] = [] if function.is_auxiliary else list(function.left_parts)
        self.segments: list[Explanation] = [part.explain() for part in cut.current] if cut is not None else []

    def save(self, path: str | os.PathLike[str], profile: Any = None) -> None:
        """Writes a page that a browser opens from disk: lines of the source and what they became, graphs after each
        pass, kernels with their code, guards, memory, breaks.

        Args:
            path: where to, as ``report.html``.
            profile: a `duograph.profile` of calls: the page shows the time of lines and kernels, and a timeline.

        Raises:
            OSError: the file cannot be written.
            TypeError: ``profile`` is something else.
        """
        if profile is not None and not hasattr(profile, "events"):
            raise TypeError(f"For 'save', 'profile' must be a duograph.profile, but got {type(profile).__name__}.")
        _page().write_page(path, [self.function], str(self.function), profile=profile)

    @property
    def graphs(self) -> list[Graph]:
        """The optimised graph of each version, `ir.printer.print_graph` of which is ``versions[i]["graph"]``; then
        those of the segments."""
        return [*self._graphs, *[graph for part in self.segments for graph in part.graphs]]

    @property
    def kernels(self) -> list[Any]:
        """The kernels of all versions, and of the segments, in the order of their calls: what each computes, its lines
        and layers, its loop nest and its LLVM text; after a profile, how long it takes."""
        found = zip(self._graphs, self._levels, strict=True)
        own = [kernel for graph, level in found for kernel in _page().kernels_of(graph, level, timed(graph))]
        return [*own, *[kernel for part in self.segments for kernel in part.kernels]]

    @property
    def memory(self) -> list[Any]:
        """What lies where in memory during a call (`runtime.programs.arena.ArenaPlan`: ``size``, and ``blocks`` with
        ``name``, ``nbytes``, ``offset``, ``begin`` and ``end``): for each version, and those of the segments, that
        machine code has run."""
        found = [next(iter(executables_of(graph)), None) for graph in self._graphs]
        own = [executable.build.plan for executable in found if executable is not None]
        return [*own, *[plan for part in self.segments for plan in part.memory]]

    @property
    def timeline(self) -> list[Any]:
        """What the latest `duograph.profile` has recorded of calls of it, and of its segments, in order
        (`profiling.events.Event`: ``kind``, ``name``, ``begin``, ``duration``, ...); empty if that exists no more."""
        own = [event for graph in self._graphs for event in timed(graph)]
        events = [*own, *[event for part in self.segments for event in part.timeline]]
        return sorted(events, key=lambda event: event.begin)

    @property
    def instructions(self) -> list[Instruction]:
        """The bytecode of the function as it is captured from (``MS_JIT_BYTECODE_LOGS=bytecode`` prints it)."""
        return instructions_of(self.function)

    @property
    def captured_from(self) -> str:
        source = self._source()
        return "source" if source is None else source.origin

    def _source(self) -> Any:
        fn = self.function._python
        try:
            return None if fn is None else self.function.load(fn)
        except Uncapturable:
            return None

    def _told_from(self) -> str | None:
        """What there is to say about it; None if it is as it was asked for, or as everywhere."""
        asked, source = self.function.options.capture_mode, self._source()
        wanted = "bytecode" if asked == "bytecode" else "source"
        instead = source is not None and source.origin != wanted
        why = f": {why_instead(self.function._python, source)}" if instead else ""
        if asked == "trace":
            return f", run by run{why}"
        return why if instead or asked == "bytecode" else None

    def _told_times(self) -> str:
        """Where the time goes, as one line."""
        parts = ", ".join(f"{self.times[part]:.1f} ms in {name}" for part, name in PARTS.items() if self.times[part])
        against = _told(self.compared)
        return f"{self.function.cut.cause.hits} calls ({self.measured} of them measured): {parts}{against}"

    @property
    def plain_calls(self) -> int:
        """How many calls plain Python has answered."""
        cause = self.function.cut.cause if self.is_cut else None
        refused = sum(fallback.hits for fallback in self.fallbacks if fallback is not cause)
        return refused + self.unattempted + self.compared_calls

    @property
    def operators(self) -> int:
        """How many operators its versions have run: in each call those of the graph, loops and branches as one."""
        return sum((v["hits"] - v["plain_runs"]) * v["operations"] for v in self.versions)

    def told_fallbacks(self) -> list[str]:
        """Why calls ran as plain Python, what helps, how often and how long. Of a function that is cut, its breaks say
        so, if they are the reason."""
        told = {(b.reason, str(b.span)) for b in self.breaks} if self.is_cut else set()
        lines: list[str] = []
        shown = [f for f in self.fallbacks if (f.reason, str(f.span)) not in told]
        for _, alike in groupby(shown, key=lambda fallback: fallback.rendered):
            found = list(alike)
            rendered = found[0].rendered_cut if self.is_cut else found[0].rendered
            again = [f"({len(found)} times, for other arguments)"] if len(found) > 1 else []
            advised = [f"advice: {said}"] if (said := fallback_advice(found[0])) else []
            lines += [rendered, *again, *advised, *[fallback.account for fallback in found if fallback.seconds]]
        return lines

    def __str__(self) -> str:
        lines = [f"{self.function}: {len(self.versions)} compiled version(s), {len(self.fallbacks)} fallback(s)"]
        told = self._told_from()
        lines += [f"captured from {self.captured_from}{told}"] if told is not None else []
        for i, v in enumerate(self.versions):
            times = f"captured in {v['capture_ms']:.1f} ms, compiled in {v['compile_ms']:.1f} ms"
            lines.append(f"version {i}: {v['hits']} calls, {times}{_told(v['compared'])}")
            lines += [f"  runs recorded: {v['runs']}"] if v["runs"] else []
            lines += [f"  all paths, not single runs: {v['why_all_paths']}"] if v["why_all_paths"] else []
            lines += [f"  calls are dispatched from Python: {v['why_not_native']}"] if v["why_not_native"] else []
            lines += [f"  {note}" for note in v["in_python"]]
            lines += [f"  {told}" for told in v["communication"]]
            lines += [f"  guard: {g}" for g in v["guard_groups"]]
            lines.append(v["graph"])
        if self.function.absent:
            lines.append(f"PIJit under GRAPH_MODE: {self.function.absent} calls as without the decorator")
        lines += self.told_fallbacks()
        lines += [self._told_times()] if self.times else []
        lines += [f"graph break: {b} ({b.account}). {b.hint}" for b in self.breaks]
        lines += [f"segment {part}" for part in self.segments]
        lines += self.left_parts
        lines += [f"recompiled: {reason}" for reason in grouped_recompiles(self.recompiles)]
        lines += [f"a version for each size of {reason}" for reason in self.static_sizes]
        lines += [str(failure) for failure in self.failures]
        if self.unattempted:
            why = "earlier captures failed, were never reused, or took long"
            took = f", {self.unattempted_ms:.1f} ms" if self.unattempted_ms else ""
            lines += [f"{self.unattempted} calls with new arguments ran as plain Python: {why}{took}"]
        if self.advice:
            lines.append(f"advice: {self.advice}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return text_block(*str(self).split("\n", 1))
