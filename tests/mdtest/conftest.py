"""Markdown files as tests: each heading with blocks under it is one test. `--golden` rewrites what is expected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mdtest.runner import Section, check, read, rewrite


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="rewrite the expectations of the literate tests")


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> pytest.Collector | None:
    if file_path.suffix != ".md" or file_path.name == "README.md":
        return None
    return Document.from_parent(parent, path=file_path)


class Document(pytest.File):
    """One Markdown file."""

    def collect(self) -> Iterator[pytest.Item]:
        for section in read(self.path):
            yield Literate.from_parent(self, name=section.title, section=section)


class Literate(pytest.Item):
    """One section."""

    def __init__(self, section: Section, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self.section = section

    def runtest(self) -> None:
        if self.config.getoption("--golden", default=False):
            rewrite(self.path, self.section.title)
        else:
            check(self.section)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.section.line - 1, self.section.title
