"""Hooks of mkdocs: pages that are made (the reference, cases of errors), and lists of files in the navigation."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
from site_pictures import browser, page_picture

ROOT = Path(__file__).parents[1]
MODULES = {
    "duograph": "what programs begin with: jit, gradients, settings, checkpoints",
    "duograph.Tensor": "methods of tensors",
    "duograph.ops": "operators as functions",
    "duograph.nn": "layers, losses and optimizers",
    "duograph.nn.Cell": "methods of networks and layers",
    "duograph.mint": "functions with PyTorch's signatures",
    "duograph.mint.nn": "layers with PyTorch's signatures",
    "duograph.mint.nn.functional": "their functions",
    "duograph.mint.optim": "optimizers with PyTorch's signatures",
    "duograph.dataset": "pipelines of data",
    "duograph.dataset.vision": "transforms of images",
    "duograph.dataset.text": "transforms of text",
    "duograph.train": "Model, callbacks, metrics",
    "duograph.amp": "mixed precision",
    "duograph.communication": "several processes",
    "duograph.debug": "stepping, comparing",
    "duograph.passes": "passes of one's own",
    "duograph.numpy": "NumPy's functions on tensors",
}
CASES = re.compile(r"\]\(\.\./(tests/[\w/]+\.md)(#[\w-]+)?\)")
"""Links from pages to files of tests, which are pages of the site, too."""


def on_config(config: Any) -> Any:
    """Folders in the navigation stand for their pages, in the order of their names."""
    config["nav"] = _expanded(config["nav"], Path(config["docs_dir"]))
    return config


def _expanded(items: list[Any], docs: Path) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if isinstance(item, dict):
            ((title, below),) = item.items()
            below = [below] if isinstance(below, str) else below
            found.append({title: _expanded(below, docs)})
        elif item == "reference/":
            found += ["reference/index.md", *[f"reference/{module}.md" for module in MODULES]]
        elif item.endswith("/"):
            folder = docs / item if (docs / item).is_dir() else ROOT / item
            pages = sorted(folder.glob("*.md"), key=lambda page: (page.stem != "README", page.stem))
            found += [f"{item}{page.name}" for page in pages]
        else:
            found.append(item)
    return found


def on_post_build(config: Any) -> None:
    """The picture of a page of `explain` is that of now, where there is a browser."""
    if browser() is not None:
        page_picture(Path(config["site_dir"]) / "images" / "page.png")


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages that are made."""
    lines = ["# Reference", "", "What is public, by module, with executed examples.", ""]
    for module, text in MODULES.items():
        lines.append(f"* [{module}]({module}.md): {text}")
        files.append(File.generated(config, f"reference/{module}.md", content=_reference(module, text)))
    files.append(File.generated(config, "reference/index.md", content="\n".join(lines)))
    for folder in ("errors", "mdtest"):
        for page in sorted((ROOT / "tests" / folder).glob("*.md")):
            shown = page.read_text(encoding="utf-8").replace("```error ", "```text title=")
            files.append(File.generated(config, f"tests/{folder}/{page.name}", content=_titled(shown)))
    return files


def _titled(text: str) -> str:
    return re.sub(r"```text title=(.*)", r'```text title="\1"', text)


def _reference(module: str, text: str) -> str:
    """The page of a module. What it has is asked of the module itself: many of the names are made by tables."""
    around, _, last = module.rpartition(".")
    owner: Any = (
        getattr(importlib.import_module(around), last) if last[0].isupper() else importlib.import_module(module)
    )
    names = getattr(owner, "__all__", None) or [name for name in dir(owner) if not name.startswith("_")]
    lines = [f"# {module}", "", f"{text[0].upper()}{text[1:]}.", ""]
    for name in sorted(set(names), key=str.lower):
        value = getattr(owner, name, None)
        doc = inspect.getdoc(value) if callable(value) and not inspect.ismodule(value) else None
        if doc:
            lines += [f"## {name}", "", "```python", f"{module}.{name}{_signature(value)}", "```", "", *_described(doc)]
    return "\n".join(lines)


def _signature(value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return re.sub(
        r"<[\w.]*\b(\w+) [^>]*>", r"\1", str(signature.replace(parameters=bare, return_annotation=signature.empty))
    )


def _described(doc: str) -> list[str]:
    """A docstring as Markdown, section by section."""
    lines: list[str] = []
    for section in griffe.Docstring(doc).parse("google", warnings=False):
        match section.kind.value:
            case "text":
                lines += [section.value, ""]
            case "examples":
                for kind, text in section.value:
                    lines += ["```pycon", text, "```", ""] if kind.value == "examples" else [text, ""]
            case "admonition":
                title = section.title or section.value.kind
                if title != "Supported Platforms":  # there is one
                    lines += [f"**{title}**", "", section.value.description, ""]
            case kind if isinstance(section.value, list):
                lines += [f"**{section.title or kind.capitalize()}**", "", *map(_item, section.value), ""]
    return lines


def _item(item: Any) -> str:
    """An argument, a result or an error."""
    name, kind = getattr(item, "name", ""), str(getattr(item, "annotation", "") or "")
    head = f"`{name}`" if name else f"`{kind}`" if kind else ""
    told = f" ({kind})" if name and kind else ""
    return f"* {head}{told}: " * bool(head) + ("" if head else "* ") + " ".join(item.description.split())


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to files of tests lead to their pages."""
    up = "../" * page.file.src_uri.count("/")
    return CASES.sub(lambda m: f"]({up}{m[1]}{m[2] or ''})", markdown)
