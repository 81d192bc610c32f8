"""HTML for notebooks: what ``_repr_html_`` of tensors, layers and explanations is made of. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["bytes_text", "folded", "text_block", "text_line"]


def text_block(title: str, text: str = "") -> str:
    """A line in bold, if there is one, and below it a text as it is."""
    head = f"<b>{escape(title)}</b>" if title else ""
    return f"<div>{head}<pre>{escape(text)}</pre></div>"


def bytes_text(n: float) -> str:
    """A size in the unit that fits."""
    for unit in ("B", "KiB", "MiB"):
        if n < 1024:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1024
    return f"{n:.1f} GiB"


def text_line(title: str, note: str) -> str:
    """A name, and what is to be said of it."""
    return f"<div style='margin-left: 1.2em'><b>{escape(title)}</b> {escape(note)}</div>"


def folded(title: str, note: str, inside: Iterable[str], is_open: bool) -> str:
    """A line that opens and closes what is inside, HTML already; plain where there is nothing."""
    head, held = f"<b>{escape(title)}</b> {escape(note)}", "".join(inside)
    if not held:
        return text_line(title, note)
    state = " open" if is_open else ""
    return f"<details{state} style='margin-left: 1.2em'><summary>{head}</summary>{held}</details>"
