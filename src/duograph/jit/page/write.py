"""Writes the page."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from importlib import resources
from typing import Any

from duograph.base.files import write_file

from .collect import collected
from .measured import measured

ASSETS = "duograph.jit.page"


def write_page(
    path: str | os.PathLike[str], functions: Sequence[Any], title: str, headline: str = "", profile: Any = None
) -> None:
    """Writes the page of compiled functions.

    Args:
        path: where to.
        functions: the compiled functions.
        title: of the page.
        headline: one sentence about all of them.
        profile: a `duograph.profile` of calls of them; ``None``: nothing was measured.

    Raises:
        OSError: the file cannot be written.
    """
    data = {**collected(functions), "headline": headline}
    if profile is not None:
        data["profile"] = measured(profile)
    write_file(path, page(data, title).encode())


def page(data: dict[str, Any], title: str) -> str:
    """The page as text; nothing that a program says in ``data`` is markup or script in it."""
    text = _asset("page.html")
    parts = {
        "title": html.escape(title),
        "style": _asset("page.css"),
        "dagre": _asset("dagre.min.js"),
        "script": _asset("page.js"),
        # `<` never begins a tag, or ends the element that the data stands in
        "data": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    }
    for name, part in parts.items():
        text = text.replace(f"<!-- {name} -->", part, 1)
    return text


def _asset(name: str) -> str:
    return resources.files(ASSETS).joinpath("assets", name).read_text(encoding="utf-8")
