"""Pages of the documentation that show graphs are literate tests, too; `scripts/golden` rewrites them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mdtest.runner import check, read, rewrite

ROOT = Path(__file__).parents[2]
PAGES = ("capture.md", "distributed.md", "extending.md")
SECTIONS = [(ROOT / "docs" / page, section) for page in PAGES for section in read(ROOT / "docs" / page)]


@pytest.mark.parametrize(("page", "section"), SECTIONS, ids=lambda value: getattr(value, "title", None))
def test_page(page, section, request):
    if request.config.getoption("--golden", default=False):
        rewrite(page, section.title)
    else:
        check(section)


def test_the_index_of_errors_is_complete():
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "tests" / "errors").glob("*.md")):
        assert f"(../tests/errors/{path.name})" in text, path.name
