"""What `scripts/ulp` runs."""

from __future__ import annotations

import argparse
import csv
import platform
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

import duograph  # noqa: F401  (declares the ops)
from tests.unit.lower import ulps

DOCUMENT = Path("docs/maths.md")
MARKS = "<!-- measured by scripts/ulp -->", "<!-- end of the measurements -->"
SPECIAL_MARKS = "<!-- measured by scripts/ulp --special -->", "<!-- end of the special functions -->"
BINARY = ("pow", "atan2", "hypot", "xlogy")


def special_reference(name: str) -> Any:
    """A float64 reference, good enough for float32."""
    from scipy import special

    return {
        "erf": special.erf, "erfc": special.erfc, "erfinv": special.erfinv, "lgamma": special.gammaln,
        "digamma": special.psi, "normal_cdf": special.ndtr, "gelu": lambda x: x * special.ndtr(x),
    }[name]  # fmt: skip


def errors(name: str, real: type) -> tuple[float, tuple[Any, ...]]:
    """The largest error, and where."""
    found = []
    if name in BINARY:
        found = [ulps.worst(name, ulps.pairs(name, real, 200_000, seed)) for seed in range(5)]
    elif name in ulps.SPECIAL:
        if real is np.float64:
            x, exact = ulps.golden()[name]
            return max(ulps.worst(name, (x[part],), exact[part]) for part in (x >= 0, x < 0))
        reference = special_reference(name)
        for x in ulps.every_float32():
            x = x[np.isfinite(x) & (np.abs(x) > 1e-38)]
            if name in ("lgamma", "digamma"):
                x = x[(np.abs(x) < 1e6) & ((x > 0) | (x != np.floor(x)))]
            with np.errstate(all="ignore"):
                exact = reference(x.astype(np.float64))
            if x.size:
                found.append(ulps.worst(name, (x,), exact))
    else:
        blocks = ulps.every_float32() if real is np.float32 else (ulps.points(real, 100_000, s) for s in range(5))
        found = [ulps.worst(name, (x,)) for x in blocks]
        found.append(ulps.worst(name, (ulps.points(real, 50_000, 99),)))
    return max(found)


def speed(name: str, real: type) -> float:
    """Nanoseconds per element of a warm array of 16384, everything included, on one thread if one is set."""
    rng = np.random.default_rng(0)
    x = [rng.uniform(0.1, 0.9, 1 << 14).astype(real) for _ in range(2 if name in BINARY else 1)]
    best = float("inf")
    for _ in range(60):
        start = time.perf_counter()
        ulps.native(name, *x)
        best = min(best, time.perf_counter() - start)
    return best / x[0].size * 1e9


def table(names: list[str]) -> list[str]:
    """Lines of the table."""
    lines = [
        "| function | float32: max ulp | at | ns | float64: max ulp | at | ns |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    print(*lines, sep="\n")
    for name in names:
        cells = [f"`{name}`"]
        for real in (np.float32, np.float64):
            error, at = errors(name, real)
            cells += [f"{error:.2f}", ", ".join(f"{v:.7g}" for v in at), f"{speed(name, real):.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def write(lines: list[str], marks: tuple[str, str]) -> None:
    """Puts a table into the document, between two marks."""
    begin, end = marks
    text = DOCUMENT.read_text()
    when = f"Measured on {time.strftime('%Y-%m-%d')}, {platform.machine()}, {_processor()}, one thread:"
    block = "\n".join([begin, when, "", *lines, end])
    DOCUMENT.write_text(re.sub(f"{re.escape(begin)}.*{re.escape(end)}", lambda _: block, text, flags=re.DOTALL))


def _processor() -> str:
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return found[1].strip() if found else platform.processor()


# ---- the table of special values ------------------------------------------------------------------------------------


def write_golden(count: int = 60) -> None:
    """Arguments and results (as sums of two floats) of the special functions, in hexadecimal."""
    import mpmath as mp

    from scripts.measure_special import log_gamma, normal_cdf

    mp.mp.prec = 300
    rng = np.random.default_rng(2)
    u = rng.uniform
    near = {
        "erf": [u(-6, 6, count), u(-1.1, 1.1, count)],
        "erfc": [u(-6, 27.2, 2 * count), u(0.4, 1.2, count)],
        "erfinv": [u(-1, 1, count), 1 - np.exp(u(-36, 0, count)), np.exp(u(-36, 0, count)) - 1],
        "lgamma": [
            u(0, 10, count),
            np.exp(u(-40, 40, count)),
            1 + u(-0.1, 0.1, count),
            2 + u(-0.1, 0.1, count),
            u(-20, 0, count),
        ],
        "digamma": [u(0, 12, count), np.exp(u(-40, 40, count)), u(1.4, 1.5, 50), u(-20, 0, count)],
        "normal_cdf": [u(-37.5, 8, 2 * count), u(-1.5, 1.5, count)],
        "gelu": [u(-38.6, 8, 2 * count), u(-1.5, 1.5, count), u(-14.5, -12, count)],
    }

    exact = {
        "erf": mp.erf, "erfc": mp.erfc, "erfinv": mp.erfinv, "lgamma": log_gamma, "digamma": mp.digamma,
        "normal_cdf": normal_cdf, "gelu": lambda x: x * normal_cdf(x),
    }  # fmt: skip
    with ulps.GOLDEN.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for name, parts in near.items():
            for x in np.concatenate(parts).tolist():
                value = exact[name](mp.mpf(x))
                high = float(value)
                writer.writerow([name, x.hex(), high.hex(), float(value - mp.mpf(high)).hex()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="functions to look at; all, written to docs/maths.md, if none")
    parser.add_argument("--golden", action="store_true", help="write the table of special values anew")
    parser.add_argument("--special", action="store_true", help="measure special functions")
    options = parser.parse_args()
    if options.golden:
        write_golden()
        return
    if options.special:
        from scripts import measure_special

        write(measure_special.table(), SPECIAL_MARKS)
        return
    lines = table(options.names or [*ulps.REFERENCE, *ulps.SPECIAL])
    if not options.names:
        write(lines, MARKS)


if __name__ == "__main__":
    main()
