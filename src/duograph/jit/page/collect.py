"""What the page shows of compiled functions, as plain data: sources, versions, graphs after each pass, kernels, memory.

Nothing of it is recorded while programs run: captured graphs are kept, and passes and lowering, which are functions of
the graph, run once more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from duograph.base.events import Event, listen
from duograph.base.source import Span, captured_source
from duograph.ir.node import Apply, Const, Graph
from duograph.ir.printer import all_graphs, node_names, unique_names
from duograph.ir.text import attr_text, const_text, name_text
from duograph.passes.dump import Dumper
from duograph.passes.pipelines import compile_program

from ..compiled import executables_of
from ..entry import LEVELS
from .kernels import kernels_of, layer_of_node, spans_of

Json = dict[str, Any]
AROUND = 6
"""This many lines are shown before and after those that something is known about."""


MOST_CODE = 4 << 20
"""Characters of loop IR and LLVM text; kernels after that are without: browsers are to open the page at once."""


def collected(functions: Sequence[Any]) -> Json:
    """All that the page shows of compiled functions (`JitFunction`, bound ones too)."""
    sources = _Sources()
    parts = {id(part) for f in functions for part in _parts(f)}
    made = [_function(f, sources) for f in functions if id(f) not in parts]
    return {"functions": made, "sources": sources.shown(), "code": sources.code}


def _parts(function: Any) -> Sequence[Any]:
    """The compiled functions between the statements at which a function is cut."""
    cut = getattr(function, "function", function).cut  # of a bound one
    return cut.current if cut is not None else ()


class _Sources:
    """Lines of files, and what became of each: ``compiled``, ``folded``, ``python`` or ``plain``."""

    ORDER = ("plain", "folded", "compiled", "python")

    def __init__(self) -> None:
        self.code: dict[str, Json] = {}  # loop IR and LLVM text of kernels: equal layers share them
        self._kinds: dict[str, dict[int, str]] = defaultdict(dict)

    def note(self, file: str, line: int, kind: str) -> None:
        """The line is at least of this kind."""
        old = self._kinds[file].get(line, "plain")
        self._kinds[file][line] = max(old, kind, key=self.ORDER.index)

    def shown(self) -> Json:
        """Number, text and kind of the lines of each file, with some lines around them; None: lines are left out."""
        files: Json = {}
        for file, kinds in sorted(self._kinds.items()):
            source = captured_source(file)
            lines = source.lines if source is not None else ()
            wanted = sorted(
                {n for line in kinds for n in range(line - AROUND, line + AROUND + 1) if 0 < n <= len(lines)}
            )
            rows: list[Any] = []
            for before, number in zip([0, *wanted], wanted, strict=False):
                if number != before + 1:
                    rows.append(None)
                rows.append([number, lines[number - 1], kinds.get(number, "")])
            files[file] = rows
        return files


def _function(function: Any, sources: _Sources) -> Json:
    explanation = function.explain()
    inner = getattr(function, "function", function)  # of a bound one
    code = getattr(getattr(inner.fn, "__func__", inner.fn), "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)
    for _, _, number in code.co_lines() if code is not None else ():
        if number:
            sources.note(file, number, "plain")
    entries = [entry for store in inner._stores() for entry in store.used]
    for found in explanation.breaks:
        _note(sources, [found.span], "python")
    for fallback in explanation.fallbacks:
        _note(sources, [fallback.span] if fallback.span is not None else [], "python")
    return {
        "name": getattr(inner.fn, "__qualname__", str(inner.fn)),
        "file": file,
        "line": line,
        "from": explanation.captured_from,
        "advice": explanation.advice,
        "versions": [
            _version(entry, told, sources) for entry, told in zip(entries, explanation.versions, strict=False)
        ],
        "breaks": [
            {"line": _place(b.span), "reason": str(b.reason), "times": b.times, "ms": round(b.milliseconds, 3)}
            for b in explanation.breaks
        ],
        "fallbacks": [
            {
                "line": _place(f.span),
                "reason": str(f.reason),
                "times": f.hits,
                "ms": round(f.seconds * 1e3, 3),
                "text": f.rendered,
            }
            for f in explanation.fallbacks
        ],
        "recompiles": list(explanation.recompiles),
        "failures": [str(f) for f in explanation.failures],
        "segments": [_function(part, sources) for part in _parts(function)],
    }


def _place(span: Span | None) -> Json | None:
    return None if span is None else {"file": span.file, "line": span.line}


def _note(sources: _Sources, spans: Iterable[Span], kind: str) -> None:
    for span in spans:
        sources.note(span.file, span.line, kind)


def _version(entry: Any, told: Json, sources: _Sources) -> Json:
    captured, final = entry.program.graph, entry.graph
    for graph, kind in ((captured, "folded"), (final, "compiled")):
        for part in all_graphs(graph):
            for node in part.nodes:
                _note(sources, spans_of(node), kind)
    executable = next(iter(executables_of(final)), None)
    level = executable.level if executable is not None else 1
    kept = ("guards", "inputs", "hits", "native_calls", "plain_runs", "why_not_native", "in_python", "paths", "runs")
    return {
        **{name: told[name] for name in kept},
        "capture_ms": round(told["capture_ms"], 2),
        "compile_ms": round(told["compile_ms"], 2),
        "stages": _stages(captured, final, entry),
        "kernels": _kernels(final, level, sources.code) if executable is not None else [],
        "memory": _memory(executable),
    }


class _Recorder(Dumper):
    """Keeps the graphs that a compilation goes through, and the rules that fired on the way to each."""

    def __init__(self) -> None:
        super().__init__(level=0)
        self.graphs: list[tuple[str, Graph]] = []
        self.fired: list[Counter[tuple[str, str]]] = []
        self._now: Counter[tuple[str, str]] = Counter()

    def hear(self, event: Event) -> None:
        """Counts a rule of this thread's compilation."""
        if event.kind == "rewrite":
            self._now[event.data["rule"], event.data["law"]] += 1

    def write(self, name: str, graph: Graph) -> None:
        self.graphs.append((name, graph))
        self.fired.append(self._now)
        self._now = Counter()


def _stages(captured: Graph, final: Graph, entry: Any) -> list[Json]:
    """The captured graph, and what each pass that changed it made of it; the last is what runs."""
    recorder = _Recorder()
    with listen(recorder.hear):
        compile_program(captured, LEVELS[entry.level], recorder)
    stages = [("captured", captured), *recorder.graphs]
    fired = [Counter(), *recorder.fired, Counter()]
    if stages[-1][1] is not final:
        stages.append(("what runs", final))
    before: Counter[Any] = Counter()
    made: list[Json] = []
    for (name, graph), rules in zip(stages, fired, strict=False):
        looks = Counter(_look(node) for part in all_graphs(graph) for node in part.nodes)
        made.append(
            {
                "name": name,
                "graphs": _graphs(graph, looks - before if made else Counter()),
                "gone": (before - looks).total(),
                "rules": [[rule, law, count] for (rule, law), count in rules.most_common()],
            }
        )
        before = looks
    return made


def _look(node: Apply) -> Any:
    """What makes a node the same to the reader, though a pass has written it anew."""
    return node.op.name, str(node.type), tuple(spans_of(node))


def _graphs(graph: Graph, new: Counter[Any]) -> list[Json]:
    """The graph and what it refers to; ``new``: how many nodes of each look the pass before had not."""
    parts = all_graphs(graph)
    titles = unique_names(parts)

    def title(part: Graph) -> str:
        return name_text(titles.get(part, part.name))

    made = []
    for part in parts:
        names = node_names(part)
        rows = []
        for node in part.nodes:
            look = _look(node)
            is_new = new[look] > 0
            new[look] -= 1
            operands = [(o, const_text(o) if isinstance(o, Const) else names.get(o, "?")) for o in node.operands]
            attrs = ", ".join(f"{k}={attr_text(v, node.context, title)}" for k, v in node.attrs.items())
            rows.append(
                {
                    "id": node.serial,
                    "name": names[node],
                    "op": node.op.name,
                    "in": [text for _, text in operands],
                    "from": [o.serial for o, _ in operands if not isinstance(o, Const)],
                    "attrs": attrs,
                    "type": str(node.type),
                    "at": [[s.file, s.line] for s in spans_of(node)],
                    "layer": layer_of_node(node),
                    "new": is_new,
                }
            )
        output = part.output
        made.append(
            {
                "name": title(part),
                "params": [{"id": p.serial, "name": names[p], "type": str(p.type)} for p in part.params],
                "nodes": rows,
                "output": const_text(output) if isinstance(output, Const) else names.get(output, "?"),
                "result": None if isinstance(output, Const) else output.serial,
            }
        )
    return made


def _kernels(graph: Graph, level: int, code: dict[str, Json]) -> list[Json]:
    """The kernel calls of a graph, in order: which nodes and lines are in each; their code goes into ``code``."""
    found: list[Json] = []
    for kernel in kernels_of(graph, level):
        if not kernel.reason and kernel.name not in code and sum(c["size"] for c in code.values()) < MOST_CODE:
            loops, llvm = kernel.loops, kernel.llvm
            code[kernel.name] = {"loops": loops, "llvm": llvm, "size": len(loops) + len(llvm)}
        lines = dict.fromkeys((s.file, s.line) for s in kernel.spans)
        found.append(
            {
                "name": kernel.name, "nodes": [node.serial for node in kernel.nodes], "ops": list(kernel.operators),
                "at": [list(line) for line in lines], "bytes": kernel.bytes, "flops": kernel.flops,
                **({"reason": kernel.reason} if kernel.reason else {}),
            }
        )  # fmt: skip
    return found


def _memory(executable: Any) -> Json | None:
    """Where values lie in the arena, from when to when."""
    if executable is None:
        return None
    plan = executable.build.plan
    blocks = [
        {"name": b.name, "bytes": b.nbytes, "from": b.begin, "to": b.end, "at": b.offset}
        for b in plan.blocks
        if isinstance(b.nbytes, int)
    ]
    return {"size": plan.size, "blocks": blocks, "table": plan.table()}
