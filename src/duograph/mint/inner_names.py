"""MindSpore's inner names of the functions of ``mint``, which ``duograph.ops`` shows: ``add_ext`` is ``mint.add``."""

from __future__ import annotations

from typing import Any

from duograph import mint
from duograph.mint.nn import functional

VIEWS = ("narrow", "broadcast_to", "chunk", "split", "unsqueeze")


def inner_names() -> dict[str, Any]:
    """The functions by inner name."""
    return {
        **{f"{name}_ext": getattr(mint, name) for name in mint.__all__},
        **{f"{name}_ext": getattr(functional, name) for name in functional.__all__},
        **{f"{name}_view": getattr(mint, name) for name in VIEWS},
        **{f"{name}_ext_view": getattr(mint, name) for name in ("transpose", "select")},
        **{f"inplace_{name}": getattr(functional, f"{name}_") for name in ("elu", "hardtanh", "threshold")},
    }
