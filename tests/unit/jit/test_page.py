"""The page of what was compiled: its data, and that a browser shows it."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys

import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.jit.page import collected, page
from tests.children import PATIENCE

MARK = "</script><b>&amp;"


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 3)

    def construct(self, x):
        x = ops.relu(self.fc(x)) * 1.0
        if x.sum() > 0:
            x = x - x.mean()
        return x


def run_all():
    net = Net()

    @ms.jit
    def step(x):
        y = net(x)
        open("/dev/null").close()  # </script><b>&amp;
        y = ops.exp(y * 2 + 1)
        y = ops.tanh(y - y.mean())
        return y.sum() * y

    for n in (2, 2, 3):
        step(ops.ones((n, 4)))
    return step


def functions_in(data):
    for f in data["functions"]:
        yield f
        yield from functions_in({"functions": f["segments"]})


def test_rules_that_fired_are_told():
    @ms.jit
    def f(x):
        return -(-x) * 1.0 + x

    f(Tensor([1.0, 2.0]))
    (version,) = collected([f])["functions"][0]["versions"]
    rules = [rule for stage in version["stages"] for rule in stage["rules"]]
    assert version["stages"][0]["rules"] == []
    assert all(law and count > 0 for _, law, count in rules)
    assert any("neg" in law or "-" in law for _, law, _ in rules)


def test_every_reference_is_to_something():
    data = collected([run_all()])
    found = list(functions_in(data))
    assert len(found) > 1
    versions = [v for f in found for v in f["versions"]]
    assert versions
    for version in versions:
        assert [s["name"] for s in version["stages"]][0] == "captured"
        for stage in version["stages"]:
            for graph in stage["graphs"]:
                ids = {n["id"] for n in (*graph["params"], *graph["nodes"])}
                assert all({*n["from"]} <= ids for n in graph["nodes"])
                assert graph["result"] is None or graph["result"] in ids
        final = {n["id"] for g in version["stages"][-1]["graphs"] for n in g["nodes"]}
        for kernel in version["kernels"]:
            assert {*kernel["nodes"]} <= final
            assert data["code"][kernel["name"]]["loops"]
            assert "define" in data["code"][kernel["name"]]["llvm"]
        assert version["memory"]["size"] >= 0


def test_lines_say_what_became_of_them():
    data = collected([run_all()])
    kinds = {text.strip(): kind for row in data["sources"][__file__] if row for _, text, kind in [row] if text.strip()}
    assert kinds["x = ops.relu(self.fc(x)) * 1.0"] == "compiled"
    assert kinds[f'open("/dev/null").close()  # {MARK}'] == "python"
    assert kinds["return y.sum() * y"] == "compiled"
    assert kinds["self.fc = nn.Dense(4, 3)"] == ""


def test_a_line_that_passes_have_removed_is_folded():
    @ms.jit
    def f(x):
        y = -(-x)
        return y + 1

    for _ in range(3):
        f(Tensor([1.0, 2.0]))
    data = collected([f])
    assert {row[1].strip(): row[2] for row in data["sources"][__file__] if row}["y = -(-x)"] == "folded"


def test_what_never_compiled_is_shown_with_its_reason():
    @ms.jit
    def f(x):
        yield x

    list(f(Tensor([1.0])))
    text = page({**collected([f]), "headline": ""}, "f")
    assert len(text) < 2 * 2**20


def test_nothing_that_a_program_says_is_markup(tmp_path):
    step = run_all()
    step.explain().save(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    inside = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)[1]
    data = json.loads(inside)
    assert any(MARK in row[1] for row in data["sources"][__file__] if row)
    assert "<!-- " not in text.replace("<!-- -->", "")
    assert len(text) < 2 * 2**20
    assert page({"functions": [], "sources": {}, "code": {}, "headline": ""}, MARK).count("<b>") == 0


def test_what_was_measured_stands_beside_lines_and_kernels(tmp_path):
    step = run_all()
    with ms.profile() as profile:
        step(ops.ones((2, 4)))
    step.explain().save(tmp_path / "report.html", profile=profile)
    text = (tmp_path / "report.html").read_text()
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)[1])
    shown = data["profile"]
    kernels = [
        k["name"] for f in functions_in(data) for v in f["versions"] for k in v["kernels"] if k["name"] in data["code"]
    ]
    assert shown["kernels"] and set(shown["kernels"]) <= set(kernels)
    lines = {number for file, rows in data["sources"].items() if file == __file__ for number, *_ in filter(None, rows)}
    assert set(map(int, shown["lines"][__file__])) & lines
    assert len(shown["spans"]) == len(profile.events) and not shown["left"]
    assert all(len(shown["rows"]) > s[0] and len(shown["names"]) > s[1] for s in shown["spans"])
    assert all(len(s) == 4 or s[4] < len(shown["files"]) for s in shown["spans"])
    nodes = [
        n for f in functions_in(data) for v in f["versions"] for g in v["stages"][-1]["graphs"] for n in g["nodes"]
    ]
    assert {"Net", "Net.fc (Dense)"} <= {n["layer"] for n in nodes}


def test_a_profile_is_one(tmp_path):
    with pytest.raises(TypeError, match=r"'profile' must be a duograph\.profile, but got int"):
        run_all().explain().save(tmp_path / "report.html", profile=3)


def test_the_command_writes_it(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import duograph as ms\nf = ms.jit(lambda x: x + 1)\nf(ms.Tensor([1.0]))\n")
    command = [sys.executable, "-m", "duograph", "explain", "--html", str(tmp_path / "a.html"), str(program)]
    command[4:4] = ["--profile", "--trace", str(tmp_path / "trace.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert "1 call ran compiled code" in (tmp_path / "a.html").read_text()
    assert "kernels of 1 calls of compiled functions" in done.stderr and "program.py:2" in done.stderr
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    del command[4:7]
    command[5] = str(tmp_path / "program.py" / "b.html")
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert "is not written" in done.stderr
    assert "Traceback" not in done.stderr


BROWSER = shutil.which("chromium")


@pytest.mark.skipif(BROWSER is None, reason="no Chromium")
@pytest.mark.parametrize("tab", range(7))
def test_a_browser_shows_it(tmp_path, tab):
    path = tmp_path / "report.html"
    step = run_all()
    with ms.profile() as profile:
        step(ops.ones((2, 4)))
    step.explain().save(path, profile=profile)
    switches = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"
    command = [
        BROWSER, *switches.split(), "--disable-component-update", "--enable-logging=stderr", "--dump-dom",
        f"--user-data-dir={tmp_path}/profile", "--virtual-time-budget=3000", f"file://{path}#f=1&v=0&t={tab}&s=-1&d=1",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "CONSOLE" not in done.stderr, done.stderr
    dom = done.stdout.partition("<main>")[2]
    wanted = ["captured from", "<svg", "k_", "type", "arena of", "everything was compiled", "<canvas"][tab]
    assert wanted in dom
    assert 'class="row compiled' in dom
    assert MARK not in dom


def test_a_page_has_no_more_code_than_browsers_open_at_once(monkeypatch):
    collect = importlib.import_module("duograph.jit.page.collect")
    whole = collected([run_all()])
    assert len(whole["code"]) > 1
    monkeypatch.setattr(collect, "MOST_CODE", 1)
    data = collected([run_all()])
    assert len(data["code"]) == 1
    assert [len(v["kernels"]) for f in functions_in(data) for v in f["versions"]] == [
        len(v["kernels"]) for f in functions_in(whole) for v in f["versions"]
    ]


def test_kernels_are_objects():
    net = nn.SequentialCell([nn.Dense(4, 3), nn.ReLU()])
    step = ms.jit(net)
    step(ops.ones((2, 4)))
    told = step.explain()
    kernels = told.kernels
    assert {"matmul", "relu"} <= {name for kernel in kernels for name in kernel.operators}
    assert {layer for kernel in kernels for layer in kernel.layers} == {
        "SequentialCell.0 (Dense)", "SequentialCell.1 (ReLU)",
    }  # fmt: skip
    first = kernels[0]
    assert first.name in first.llvm and "define" in first.llvm and first.loops and not first.reason
    (graph,) = told.graphs
    assert set(first.nodes) <= set(graph.nodes)
    assert kernels[0].seconds is None and told.timeline == []
    (plan,) = told.memory
    assert plan.size >= 0 and all(block.end >= block.begin for block in plan.blocks)
    with ms.profile() as before:
        step(ops.ones((2, 4)))
    with ms.profile() as profile:
        step(ops.ones((2, 4)))
        step(ops.ones((2, 4)))
    timeline = step.explain().timeline
    assert timeline == [event for event in profile.events if event.kind in ("call", "kernel")] and before.events
    assert sum(event.kind == "call" for event in timeline) == 2
    assert all(kernel.seconds > 0 for kernel in step.explain().kernels)
    del profile
    assert step.explain().timeline == []
    never = ms.jit(lambda x: x).explain()
    assert never.graphs == never.kernels == never.memory == never.timeline == []
    cut = run_all().explain()
    assert len(cut.graphs) == sum(len(part.graphs) for part in cut.segments) > 1 and len(cut.kernels) > 1
