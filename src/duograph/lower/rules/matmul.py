"""Products of matrices."""

from __future__ import annotations

from ..gemm import lower_matmul
from ..rule import kernel

kernel("matmul", sinks=True)(lower_matmul)
