"""``mindspore.onnx``: duograph writes no ONNX files."""

from __future__ import annotations

from typing import Any

__all__ = ["export"]


def export(net: Any, *inputs: Any, file_name: str, **kwargs: Any) -> None:
    """ONNX files are not written here.

    Raises:
        NotImplementedError: always; ``duograph.export`` writes a network in duograph's own format.
    """
    raise NotImplementedError(
        f"duograph writes no ONNX files ({file_name!r} was asked for); duograph.export(net, *inputs, file_name=..., "
        "file_format='MINDIR') writes a network that duograph.load reads."
    )
