"""The limits that the system sets to this process."""

from __future__ import annotations

try:  # not in a function: a fork must not find the import under way in another thread
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

__all__ = ["soft_limit"]


def soft_limit(name: str) -> int | None:
    """A limit of this process, which it may change while it runs.

    Args:
        name: as in `resource`: ``"RLIMIT_AS"``.

    Returns:
        -1 if there is no limit; ``None`` if this system does not tell.
    """
    return None if resource is None else resource.getrlimit(getattr(resource, name))[0]
