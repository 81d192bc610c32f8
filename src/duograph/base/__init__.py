"""Floor 0: what everything else stands on. Standard library only.

source.py       source texts, and spans in them
diagnostics.py  errors as data, the codes, the exception tree
render.py       a diagnostic as text with carets
config.py       all switches; the only reader of environment variables
failures.py     internal failures: raise, or answer by the reference, count and tell
events.py       stage timers and the event log
ordered.py      ordered sets, worklists, graph orders
tree.py         nested containers: flatten and unflatten
names.py        fresh readable names
"""

from __future__ import annotations

from duograph.base.config import Config, config, configure, refresh_config, set_config
from duograph.base.diagnostics import (
    CaptureError,
    Diagnostic,
    DuographError,
    InternalError,
    Label,
    diagnostic_error,
)
from duograph.base.events import emit, listen, record, stage
from duograph.base.names import NameSupply
from duograph.base.ordered import OrderedSet, Worklist, postorder, topological_sort
from duograph.base.render import render
from duograph.base.source import Span, register_source, source_file, span_of_frame, span_of_node, user_span
from duograph.base.tree import TreeSpec, flatten, map_tree, unflatten

__all__ = [
    "CaptureError",
    "Config",
    "Diagnostic",
    "DuographError",
    "InternalError",
    "Label",
    "NameSupply",
    "OrderedSet",
    "Span",
    "TreeSpec",
    "Worklist",
    "config",
    "configure",
    "diagnostic_error",
    "emit",
    "flatten",
    "listen",
    "map_tree",
    "postorder",
    "record",
    "refresh_config",
    "register_source",
    "render",
    "set_config",
    "source_file",
    "span_of_frame",
    "span_of_node",
    "stage",
    "topological_sort",
    "unflatten",
    "user_span",
]
