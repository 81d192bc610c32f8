"""The site: every page is in the navigation, and every link leads somewhere. (mkdocs is not needed for that.)"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "notes" not in page.parts)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)")
GENERATED = {"reference/index.md"}


def navigation() -> set[str]:
    """The pages that mkdocs.yml names, by themselves or with their folder."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    entries = re.findall(r"([\w./-]+(?:\.md|/))$", text, re.MULTILINE)
    found: set[str] = set()
    for entry in entries:
        folder = DOCS / entry
        found |= {str(page.relative_to(DOCS)) for page in folder.glob("*.md")} if entry.endswith("/") else {entry}
    return found


def test_every_page_is_in_the_navigation():
    assert navigation() == {str(page.relative_to(DOCS)) for page in PAGES}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in LINK.findall(text):
        assert target in GENERATED or (page.parent / target).exists(), target


def test_headings_that_are_linked_to_exist():
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#\s:]*\.md)#([^)]+)\)", page.read_text(encoding="utf-8")):
            headings = re.findall(r"^#+ (.*)$", (page.parent / target).read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\s-]", "", h).strip().lower().replace(" ", "-") for h in headings}
            assert anchor in slugs, f"{page.name}: {target}#{anchor}"


@pytest.mark.skipif(not any(map(shutil.which, ("chromium", "chromium-browser"))), reason="no Chromium")
def test_the_picture_of_a_page_is_made(tmp_path):
    command = [sys.executable, str(ROOT / "scripts" / "site_pictures.py"), str(tmp_path / "a" / "page.png")]
    subprocess.run(command, check=True, timeout=300)
    made = (tmp_path / "a" / "page.png").read_bytes()
    assert made[:8] == b"\x89PNG\r\n\x1a\n" and made[16:24] == bytes([0, 0, 4, 176, 0, 0, 2, 208])  # 1200 x 720


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="the extra 'docs' is not installed")
def test_it_builds(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=300)
    assert "Softmax" in (tmp_path / "reference" / "duograph.nn.html").read_text(encoding="utf-8")
