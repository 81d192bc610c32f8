"""The picture of the page that ``explain`` writes, as a browser shows it.

    python scripts/site_pictures.py            # writes docs/images/page.png
    python scripts/site_pictures.py FILE

`scripts/site` makes the one of the site with it, where there is a Chromium; those of `docs/scaling.md` come from
`scripts/scaling.py`, which measures for minutes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SWITCHES = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync "
    "--disable-component-update --hide-scrollbars --window-size=1200,720 --virtual-time-budget=4000"
)
SHOWN = "#f=2&v=0&t=1&s=-1&d=1"
"""The first part of the second function, its first version, the tab of the graph, after the last pass."""

PROGRAM = """\
import duograph as ms
from duograph import nn, ops


class Block(nn.Cell):
    def __init__(self, size):
        super().__init__()
        self.norm = nn.LayerNorm((size,))
        self.up, self.down = nn.Dense(size, 2 * size), nn.Dense(2 * size, size)

    def construct(self, x):
        h = ops.gelu(self.up(self.norm(x)))
        return x + self.down(h)


net = nn.SequentialCell([Block(32), nn.Dense(32, 10)])
optimizer = nn.Adam(net.trainable_params(), 1e-3)


def loss_of(x, y):
    return ops.cross_entropy(net(x), y)


@ms.jit
def step(x, y):
    loss, grads = ms.value_and_grad(loss_of, None, optimizer.parameters)(x, y)
    optimizer(grads)
    return loss


@ms.jit
def evaluate(x, y):
    logits = net(x)
    hits = (logits.argmax(1) == y).float().mean()
    open("hits.txt", "a").write(f"{float(hits)}\\n")
    return ops.softmax(logits)


x, y = ops.randn(16, 32), ops.randint(0, 10, (16,)).int()
for _ in range(5):
    step(x, y)
    evaluate(x, y)
"""


def browser() -> str | None:
    """The Chromium of this machine."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def page_picture(out: Path) -> None:
    """Writes the picture.

    Raises:
        FileNotFoundError: there is no Chromium.
        subprocess.CalledProcessError: the program or the browser has failed.
    """
    found = browser()
    if found is None:
        raise FileNotFoundError("chromium")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "network.py").write_text(PROGRAM, encoding="utf-8")
        explain = [sys.executable, "-m", "duograph", "explain", "--html", "page.html", "network.py"]
        subprocess.run(explain, cwd=place, check=True, capture_output=True, timeout=300)
        shot = [found, *SWITCHES.split(), f"--user-data-dir={place / 'profile'}", f"--screenshot={place / 'page.png'}"]
        subprocess.run(
            [*shot, f"file://{place / 'page.html'}{SHOWN}"], check=True, stderr=subprocess.DEVNULL, timeout=300
        )
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(place / "page.png", out)


if __name__ == "__main__":
    page_picture(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs" / "images" / "page.png")
