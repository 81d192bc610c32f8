"""Inference graphs from the ``.mindir`` files that MindSpore writes."""

from .load import is_foreign, read

__all__ = ["is_foreign", "read"]
