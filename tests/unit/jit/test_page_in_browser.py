"""The page of what was compiled, used in a real browser: clicks, keys, search, large graphs.

Needs the extra ``browser`` (Playwright) and a Chromium of the distribution, which it drives without a download."""

from __future__ import annotations

import shutil

import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.jit.page import page
from tests.children import PATIENCE

sync_api = pytest.importorskip("playwright.sync_api")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium")
MARK = "<b>&amp;</script>"


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 3)

    def construct(self, x):
        x = -(-ops.relu(self.fc(x)))
        if x.sum() > 0:
            x = x - x.mean()
        return x


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of a network, with a profile; two versions of a function, and two segments of another one."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    net = Net()

    @ms.jit
    def step(x):
        y = net(x)
        open("/dev/null").close()  # <b>&amp;</script>
        y = ops.exp(y * 2 + 1)
        return y.sum() * ops.tanh(y - y.mean())

    for n in (2, 2, 3):
        step(ops.ones((n, 4)))
    with ms.profile() as profile:
        step(ops.ones((2, 4)))
    step.explain().save(path, profile=profile)
    return path


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as driver:
        try:
            made = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        except sync_api.Error as error:
            pytest.skip(f"Chromium does not start: {error}")
        yield made
        made.close()


@pytest.fixture
def opened(browser):
    """Opens a page, in whose life nothing may fail, or ask for anything but the file."""
    faults, tabs = [], []

    def open_file(path, **settings):
        tab = browser.new_page(viewport={"width": 1400, "height": 900}, **settings)
        tabs.append(tab)
        tab.set_default_timeout(PATIENCE * 1000)
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("console", lambda message: faults.append(message.text))
        tab.on("request", lambda request: None if request.url == f"file://{path}" else faults.append(request.url))
        tab.goto(f"file://{path}")
        return tab

    yield open_file
    for tab in tabs:
        tab.close()
    assert not faults


def large(nodes):
    """The data of one function whose graph has so many nodes: three strands with a constant now and then."""
    at = [["/p.py", 1]]
    rows = [
        {"id": i, "name": f"%{i}", "op": f"op{i % 7}", "type": "f32[4]", "attrs": "", "in": [], "at": at, "layer": "",
         "from": [] if i % 10 == 9 else [max(-1, i - 3), max(-1, i - 1 - i % 5)], "new": False}
        for i in range(nodes)
    ]  # fmt: skip
    rows[nodes // 2]["at"] = [["/p.py", 2]]
    graph = {"name": "f", "params": [{"id": -1, "name": "%x", "type": "f32[4]"}], "nodes": rows}
    graph |= {"result": nodes - 1, "output": f"%{nodes - 1}"}
    version = {
        "hits": 1, "native_calls": 1, "capture_ms": 1.0, "compile_ms": 1.0, "why_not_native": "", "kernels": [],
        "guards": [], "inputs": [], "memory": None,
        "stages": [{"name": "captured", "rules": [], "gone": 0, "graphs": [graph]}],
    }  # fmt: skip
    function = {
        "name": "f", "file": "/p.py", "line": 1, "from": "source", "advice": "", "versions": [version],
        "recompiles": [], "failures": [], "fallbacks": [], "breaks": [], "segments": [],
    }  # fmt: skip
    lines = [[1, "def f(x):", "compiled"], [2, "    return x", "compiled"]]
    return {"functions": [function], "sources": {"/p.py": lines}, "code": {}, "headline": ""}


def test_tabs_by_clicks_and_keys(opened, report):
    tab = opened(report)
    names = tab.get_by_role("tab").all_inner_texts()
    assert names == ["Summary", "Graph", "Kernels", "Guards", "Memory", "Breaks", "Timeline"]
    for number, name in enumerate(names, 1):
        tab.keyboard.press(str(number))
        assert tab.locator("[role=tab][aria-selected=true]").inner_text() == name
        tab.get_by_role("tab", name="Summary").click()
        tab.get_by_role("tab", name=name).click()
        assert tab.locator("#pane").inner_text().strip() or tab.locator("#pane canvas").count()


def test_text_of_programs_is_text(opened, report):
    tab = opened(report)
    assert tab.locator(f".row.python:has-text('{MARK}')").count() == 1
    assert tab.locator("b", has_text="&").count() == 0


def test_lines_nodes_and_kernels_lead_to_each_other(opened, report):
    tab = opened(report)
    tab.locator("#functions button", has_text="[").first.click()
    tab.get_by_role("tab", name="Graph").click()
    line = tab.locator(".row.compiled", has_text="ops.relu(self.fc(x))")
    line.click()
    chosen = tab.locator("#pane .node.chosen")
    assert chosen.count() > 0 and "relu" in "".join(chosen.all_inner_texts())
    tab.locator("#pane .node", has_text="relu").first.click()
    assert "relu" in tab.locator(".row.chosen").inner_text()
    tab.get_by_role("tab", name="Kernels").click()
    kernel = tab.locator("#pane details.chosen").first
    kernel.locator("summary").first.click()
    kernel.get_by_text("LLVM text").wait_for()  # what is in it is made when it opens
    kernel.locator("a").first.click()
    assert tab.locator(".row.chosen").count() == 1


def test_the_slider_and_arrows_go_through_the_passes(opened, report):
    tab = opened(report)
    tab.locator("#functions button", has_text="[").first.click()
    tab.get_by_role("tab", name="Graph").click()
    slider = tab.get_by_label("Pass", exact=True)
    last = int(slider.get_attribute("max"))
    assert last > 0
    tab.locator("#pane").click(position={"x": 5, "y": 5})
    for _ in range(last):
        tab.keyboard.press("ArrowLeft")
    assert "captured" in tab.locator(".bar").inner_text()
    assert "neg(" in tab.locator("#pane").inner_text()
    slider.fill(str(last))
    assert "neg(" not in tab.locator("#pane").inner_text() and "relu(" in tab.locator("#pane").inner_text()


def test_search_leaves_what_has_the_word(opened, report):
    tab = opened(report)
    tab.locator("#functions button", has_text="[").first.click()
    tab.get_by_role("tab", name="Graph").click()
    before = tab.locator("#pane .node").count()
    tab.keyboard.press("/")
    tab.keyboard.type("relu")
    assert 2 < tab.locator("#pane .node").count() < before
    tab.keyboard.press("Escape")
    assert tab.locator("#pane .node").count() == before


def test_the_slowest_lines_are_named_first(opened, report):
    tab = opened(report)
    tab.locator("#functions button", has_text="[").first.click()
    tab.locator("#pane td a[href], #pane td a", has_text="test_page_in_browser.py").first.click()
    assert tab.locator(".row.chosen").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_modes(opened, report, scheme):
    """The contrast of text is at least 4.5, as WCAG AA asks."""
    tab = opened(report, color_scheme=scheme)
    ground, *inks = tab.evaluate("""() => {
        const style = getComputedStyle(document.documentElement);
        return ["--ground", "--text", "--faint", "--link"].map(name => style.getPropertyValue(name).trim());
    }""")

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), parts, strict=True))

    assert (luminance(ground) < 0.1) == (scheme == "dark")
    for ink in inks:
        dim, bright = sorted((luminance(ground), luminance(ink)))
        assert (bright + 0.05) / (dim + 0.05) >= 4.5


@pytest.mark.parametrize("nodes", [300, 5000])
def test_a_graph_is_drawn_as_far_as_it_is_in_sight(opened, tmp_path, nodes):
    path = tmp_path / "large.html"
    path.write_text(page(large(nodes), "large"))
    tab = opened(path)
    tab.get_by_role("tab", name="Graph").click()
    assert tab.locator("#pane .node").count() == nodes + 2
    tab.get_by_role("button", name="draw", exact=True).click()
    boxes = tab.locator(".drawing .box")
    boxes.first.wait_for()
    assert 0 < boxes.count() <= 300
    tab.locator(".row", has_text="return x").click()  # its node lies in the middle of the graph
    chosen = tab.locator(".drawing .box.chosen")
    chosen.wait_for()
    inside, outside = chosen.bounding_box(), tab.locator(".drawing").bounding_box()
    assert outside["x"] <= inside["x"] <= outside["x"] + outside["width"]
    assert outside["y"] <= inside["y"] <= outside["y"] + outside["height"]
    tab.keyboard.press("-")
    assert tab.locator(".drawing svg").get_attribute("viewBox")
    overlaps = tab.evaluate("""() => {
        const boxes = [...document.querySelectorAll(".drawing .box")].map(b => b.getBoundingClientRect());
        return boxes.some((a, i) => boxes.some((b, j) => i < j &&
            a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1));
    }""")
    assert not overlaps


def test_functions_that_never_compiled_failed_or_recompiled(opened, tmp_path):
    @ms.jit
    def never(x):
        yield x

    list(never(Tensor([1.0])))
    never.explain().save(tmp_path / "never.html")
    assert "nothing was compiled" in opened(tmp_path / "never.html").locator("#pane").inner_text()
    often = ms.jit(lambda x, name: (x * 2, name.upper()))
    for i in range(30):
        often(Tensor([1.0]), f"name {i}")
    often.explain().save(tmp_path / "often.html")
    assert "'name " in opened(tmp_path / "often.html").locator("#pane pre").first.inner_text()
