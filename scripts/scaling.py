"""Writes `docs/scaling.md` and its plots: how data-parallel training scales, measured here and predicted.

    python scripts/scaling.py

It runs `examples/many_processes.py` and `examples/scaling.py` on 1, 2 and 4 processes, and gives what the second has
measured to the model of `duograph.distributed.cost`. The plots are SVG, drawn by `plot`.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from duograph.distributed.cost import Links, Training

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "scaling.md"
IMAGES = ROOT / "docs" / "images"
RANKS = [2**k for k in range(13)]
SIZES = ((256, 64), (512, 128), (1024, 128), (1024, 512))
"""Widths and rows of the networks that are measured."""
CLUSTER = {"latency": 2e-6, "bandwidth": 12e9}
"""What a cluster's network gives each process: 100 Gbit/s."""
PUBLISHED = (
    # name, bytes of gradients, images per second, images in a step, processors, bytes per second, efficiency
    ("Inception V3, Horovod", 95e6, 142, 64, 512, 3.1e9, 0.90),
    ("VGG-16, Horovod", 553e6, 154, 64, 512, 3.1e9, 0.68),
    ("ResNet-50, Goyal et al.", 102e6, 219, 32, 256, 6.25e9, 0.90),
)
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")


def _run(processes: int, example: str, *options: str) -> str:
    program = [str(ROOT / "examples" / example), *options]
    command = [sys.executable, "-m", "duograph", "launch", "-n", str(processes), "--threads", "1", *program]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=dict(os.environ)).stdout


def measured(processes: int, width: int, rows: int, folder: str) -> dict[str, Any]:
    """What `examples/scaling.py` finds."""
    file = Path(folder) / f"{processes}-{width}-{rows}.json"
    _run(processes, "scaling.py", "--width", str(width), "--rows", str(rows), "--json", str(file))
    return dict(json.loads(file.read_text()))


def trained(processes: int, network: str) -> str:
    """A row of the table of `examples/many_processes.py`: its accuracy and the time of a step."""
    told = _run(processes, "many_processes.py", "--network", network)
    found = re.search(r"accuracy ([\d.]+), ([\d.]+) ms per step", told)
    assert found is not None, told
    return f"| {network} | {processes} | {found[1]} | {found[2]} |"


def plot(title: str, x_label: str, y_label: str, lines: dict[str, list[tuple[float, float]]], dots: Any = ()) -> str:
    """An SVG with logarithmic x; ``lines`` by name, ``dots`` are (name, x, y)."""
    width, height, left, bottom, top, right = 720, 360, 60, 50, 40, 190
    points = [p for line in lines.values() for p in line] + [(x, y) for _, x, y in dots]
    low, high = (f(math.log2(x) for x, _ in points) for f in (min, max))
    most = max(y for _, y in points) * 1.05

    def at(x: float, y: float) -> tuple[float, float]:
        across = (math.log2(x) - low) / (high - low) * (width - left - right)
        return left + across, height - bottom - y / most * (height - bottom - top)

    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
        '<g font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{left}" y="20" font-size="14">{title}</text>',
        f'<text x="{(width - right + left) / 2}" y="{height - 10}" text-anchor="middle">{x_label}</text>',
        f'<text x="15" y="{height / 2}" text-anchor="middle" transform="rotate(-90 15 {height / 2})">{y_label}</text>',
    ]
    for k in range(math.ceil(low), math.floor(high) + 1, max(1, round((high - low) / 6))):
        x, y = at(2.0**k, 0)
        text.append(f'<path d="M{x:.1f} {top}V{y:.1f}" stroke="#ddd"/>')
        text.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{2.0**k:g}</text>')
    for k in range(6):
        x, y = at(2.0**low, most * k / 5)
        text.append(f'<path d="M{x:.1f} {y:.1f}H{width - right}" stroke="#ddd"/>')
        text.append(f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{most * k / 5:.3g}</text>')
    for k, (name, line) in enumerate(lines.items()):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*p) for p in line))
        colour, row = COLOURS[k % len(COLOURS)], top + 10 + 18 * k
        text.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        text.append(f'<path d="M{width - right + 12} {row}h18" stroke="{colour}" stroke-width="2"/>')
        text.append(f'<text x="{width - right + 36}" y="{row + 4}">{name}</text>')
    for k, (name, x, y) in enumerate(dots):
        across, up = at(x, y)
        row, colour = top + 10 + 18 * (k + len(lines)), COLOURS[(k + len(lines)) % len(COLOURS)]
        text.append(f'<circle cx="{across:.1f}" cy="{up:.1f}" r="5" fill="{colour}"/>')
        text.append(f'<circle cx="{width - right + 21}" cy="{row}" r="5" fill="{colour}"/>')
        text.append(f'<text x="{width - right + 36}" y="{row + 4}">{name}</text>')
    return "\n".join([*text, "</g></svg>", ""])


def published() -> list[tuple[str, int, float, float]]:
    """Name, processors, published efficiency, and that of the model."""
    found = []
    for name, nbytes, speed, images, processors, bandwidth, efficiency in PUBLISHED:
        network = Training(nbytes, 1 / speed, bucket=64 << 20)
        links = Links(5e-6, 2e-6, bandwidth, 200e9, 200e9)
        found.append((name, processors, efficiency, network.efficiency(links, processors, images)))
    return found


def main() -> None:
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        found = [measured(n, *size, folder) for size in SIZES for n in (1, 2, 4)]
    networks = "\n".join(trained(n, network) for network in ("digits", "gpt") for n in (1, 2, 4))
    rows = []
    for told in found:
        links, network = Links(*told["links"]), Training(*told["network"])
        predicted = network.step(links, told["ranks"], told["rows"])
        rows.append((told["ranks"], told["width"], told["rows"], told["seconds"] * 1e3, predicted * 1e3))
    chosen = next(t for t in found if (t["ranks"], t["width"], t["rows"]) == (2, *SIZES[2]))
    network, here = Training(*chosen["network"]), Links(*chosen["links"])
    links = dataclasses.replace(here, **CLUSTER)
    IMAGES.mkdir(exist_ok=True)
    efficiency = {
        f"{n} rows": [(r, network.efficiency(links, r, n) * 100) for r in RANKS] for n in (32, 128, 512, 2048)
    }
    (IMAGES / "scaling-efficiency.svg").write_text(
        plot("Efficiency of a data-parallel step, by rows on each rank", "ranks", "per cent", efficiency)
    )
    buckets = {
        f"{r} ranks": [
            (mib, dataclasses.replace(network, bucket=mib * 2**20).communication(links, r) * 1e3)
            for mib in (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64)
        ]
        for r in (16, 256, 1024, 4096)
    }
    (IMAGES / "scaling-buckets.svg").write_text(
        plot("Communication of a step, by size of the buckets", "MiB of a bucket", "ms", buckets)
    )
    shards = {
        name: [(r, network.step(links, r, 128, shards) * 1e3) for r in RANKS]
        for name, shards in (("all states everywhere", False), ("states in shards", True))
    }
    (IMAGES / "scaling-shards.svg").write_text(plot("A step of 128 rows, with Adam", "ranks", "ms", shards))
    width, count = SIZES[2]
    steps = [(n, ms) for n, w, r, ms, _ in rows if (w, r) == (width, count)]
    model = [(n, ms) for n, w, r, _, ms in rows if (w, r) == (width, count)]
    (IMAGES / "scaling-measured.svg").write_text(
        plot(
            f"A step of {count} rows, width {width}, on two cores",
            "processes",
            "ms",
            {"measured": steps, "predicted": model},
        )
    )
    PAGE.write_text(page(rows, network, links, load, networks))
    print(f"{PAGE.relative_to(ROOT)} and its plots are written")


def page(rows: list[Any], network: Training, links: Links, load: float, networks: str) -> str:
    """The text of the page."""
    table = "\n".join(f"| {n} | {w}, {r} | {ms:.1f} | {model:.1f} |" for n, w, r, ms, model in rows)
    compared = "\n".join(f"| {name} | {n} | {told:.0%} | {model:.0%} |" for name, n, told, model in published())
    ninety = ", ".join(f"{network.rows_for(links, r)} on {r:,}" for r in (16, 256, 4096))
    best = {
        r: min((2**k for k in range(7)), key=lambda m, r=r: dataclasses.replace(
            network, bucket=m * 2**20).communication(links, r))
        for r in (16, 256, 1024, 4096)
    }  # fmt: skip
    sizes = ", ".join(f"{mib} MiB for {r:,}" for r, mib in best.items())
    if len({*best.values()}) == 1:
        sizes = f"{best[16]} MiB for any number of"
    saved = network.step(links, 16, 128) - network.step(links, 16, 128, shards=True)
    return f"""# How data-parallel training scales

This page and its plots are written by `python scripts/scaling.py`, which runs `examples/many_processes.py` and
`examples/scaling.py` on 1, 2 and 4 processes and gives what the second measures to the model in
`duograph.distributed.cost`. [distributed.md](distributed.md) says what the model is made of.

## Two networks

The digits (an MLP of 7,210 weights) and a small GPT, 64 rows a step for all processes together, one thread per process:
the accuracy is the same. Four processes share two cores here; a step of the digits is over before ranks have met.

| network | processes | accuracy | ms per step |
| --- | --- | --- | --- |
{networks}

## Measured here

MLPs of five layers, one thread per process, on a machine of {os.cpu_count()} cores, whose load when this began was
{load:.1f} (what else runs makes all figures larger, and those of several processes most).

| processes | width, rows | measured ms | predicted ms |
| --- | --- | --- | --- |
{table}

![measured and predicted](images/scaling-measured.svg)

Each process measures how fast it computes while the others do, too. The model leaves out what overlaps, and that
processes disturb each other, which short steps of more processes than free cores come to.

## Predicted, for 1 to 4,096 ranks

A network of {network.parameters / 1e6:.1f} MB, {network.row * 1e6:.0f} us a row, on links of
{links.latency * 1e6:.0f} us and {links.bandwidth / 1e9:.0f} GB/s for each rank.

![efficiency](images/scaling-efficiency.svg)
![buckets](images/scaling-buckets.svg)
![shards](images/scaling-shards.svg)

## Compared with what others have published

The model with figures of these systems: bytes of gradients, images per second of one processor (P100, TensorFlow's
published benchmarks), and the network. It has no overlap of communication and computing, which all of them
have: so it is below what they found, most where communication is most of the step.

| network | processors | published efficiency | model |
| --- | --- | --- | --- |
{compared}

Horovod: Sergeev and Del Balso, [1802.05799](https://arxiv.org/abs/1802.05799), and its
[benchmarks](https://github.com/horovod/horovod/blob/master/docs/benchmarks.rst): four P100 a server, 25 Gbit/s.
Goyal et al., [1706.02677](https://arxiv.org/abs/1706.02677): from 8 to 256 P100, 50 Gbit/s.

## What follows

* **Batch on each rank.** For 90 % of the speed of one process the network above needs these rows:
  {ninety} ranks. It is the first thing to change.
* **Buckets** (`comm_fusion`). The best sizes for this network, if nothing overlaps:
  {sizes} ranks. Each bucket costs a message to each rank. Smaller ones begin earlier, and hide better.
* **Shards** (`enable_parallel_optimizer`) pay where moving the parameters takes longer than gathering them: here they
  {"save" if saved > 0 else "cost"} {abs(saved) * 1e3:.1f} of {network.step(links, 16, 128) * 1e3:.1f} ms on 16 ranks.
  Where memory is short they always do.
"""


if __name__ == "__main__":
    main()
