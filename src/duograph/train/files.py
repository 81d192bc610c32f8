"""Writing files so that a crash never leaves half of one behind."""

from __future__ import annotations

import os
from pathlib import Path


def write_file(path: str, data: bytes) -> None:
    """Writes a file in one move; folders are made as needed."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.{os.getpid()}.part")
    temporary.write_bytes(data)
    temporary.replace(target)
