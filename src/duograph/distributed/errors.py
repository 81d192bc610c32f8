"""What goes wrong between ranks.

CommunicationError(RuntimeError)        ranks do not fit together, or one is gone
  CommunicationTimeout                  a rank has waited for others for too long
"""

from __future__ import annotations

__all__ = ["CommunicationError", "CommunicationTimeout"]


class CommunicationError(RuntimeError):
    """Ranks do not do the same thing, or one of them is gone.

    Attributes:
        speaker: the lowest world rank that has this same error; it alone needs to print it. ``None``: unknown.
    """

    def __init__(self, message: str, speaker: int | None = None) -> None:
        super().__init__(message)
        self.speaker = speaker


class CommunicationTimeout(CommunicationError):
    """A rank has waited for others for longer than `DUOGRAPH_COMM_TIMEOUT` seconds."""
