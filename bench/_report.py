"""The tables that people read: ``docs/benchmarks.md``, and a summary between two marks of the README."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- benchmarks: written by scripts/bench --report -->", "<!-- end of benchmarks -->"
PEERS = ("torch", "jax", "mindspore")
SUMMARY = ("training", "programs", "layers", "calls", "cold_start")
"""Benchmarks whose tables together are the README's."""

Results = dict[str, dict[str, list[float]]]


def _rows(seconds: dict[str, list[float]]) -> dict[str, dict[str, list[float]]]:
    """Group -> case -> seconds per round: ``MLP: torch eager`` is the case ``torch eager`` of ``MLP``."""
    rows: dict[str, dict[str, list[float]]] = {}
    for name, values in seconds.items():
        group, colon, case = name.rpartition(": ")
        rows.setdefault(group if colon else name, {})[case if colon else "time"] = values
    return rows


def _ratio(mine: list[float], other: list[float]) -> float:
    """Median over rounds of other / mine: rounds are interleaved, so a slow moment of the machine hits both."""
    return statistics.median(b / a for a, b in zip(mine, other, strict=True))


def _table(seconds: dict[str, list[float]], words: Callable[[float], str]) -> list[str]:
    """One row per group: duograph's times, then for every peer how many times as long it takes."""
    rows = _rows(seconds)
    own = list(dict.fromkeys(c for cases in rows.values() for c in cases if not c.startswith(PEERS)))
    peers = list(dict.fromkeys(c for cases in rows.values() for c in cases if c.startswith(PEERS)))
    lines = [
        f"| | {' | '.join([f'duograph {c}' for c in own] + [f'{c} takes' for c in peers])} |",
        f"| --- |{' ---: |' * (len(own) + len(peers))}",
    ]
    for group, cases in rows.items():
        mine = next((cases[c] for c in own if c in cases), None)
        cells = [words(statistics.median(cases[c])) if c in cases else "" for c in own]
        cells += [f"×{_ratio(mine, cases[c]):.2f}" if c in cases and mine else "" for c in peers]
        lines.append(f"| {group} | {' | '.join(cells)} |")
    return lines


def write_report(results: Results, machine: str, words: Callable[[float], str]) -> None:
    """Writes both files.

    Args:
        results: seconds per round of every case of every benchmark.
        machine: where and when.
        words: a time as text.
    """
    parts = [
        "# Benchmarks",
        "",
        f"Written by `scripts/bench --report`. {machine}.",
        "",
        "Medians of interleaved rounds; ×2.00 means that the other takes twice as long as duograph's first column.",
    ]
    for name, seconds in results.items():
        parts += ["", f"## {name}", "", *_table(seconds, words)]
    (ROOT / "docs/benchmarks.md").write_text("\n".join(parts) + "\n", encoding="utf-8")
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    summary = {case: values for name in SUMMARY for case, values in results.get(name, {}).items()}
    if BEGIN in text and summary:
        before, _, rest = text.partition(BEGIN)
        _, _, after = rest.partition(END)
        shown = [BEGIN, "", *_table(summary, words), "", f"{machine}. More: docs/benchmarks.md.", "", END]
        readme.write_text(before + "\n".join(shown) + after, encoding="utf-8")
