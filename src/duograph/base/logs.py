"""The logger of the package: its level, its topics, and where its lines go if nobody has said so.

It is prepared by whoever logs under MindSpore's names (`log`), and at the start by those who asked for more or less
than warnings (``GLOG_v``) or for topics (``DUOGRAPH_LOGS=breaks,recompiles``); for all others it is the standard logger
that it is, with warnings and errors: ``logging.getLogger("duograph").setLevel("INFO")`` asks for more. A topic is a
logger below it: ``logging.getLogger("duograph.breaks")``.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

from .config import config, launched

__all__ = ["package_logger", "topic"]

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)

_FORMAT = "[%(levelname)s] DUOGRAPH(%(process)d{rank}):%(asctime)s [%(filename)s:%(lineno)d] %(message)s"


class _Stderr(logging.StreamHandler[Any]):
    """Writes to whatever ``sys.stderr`` is at the moment, so that redirection works."""

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, value: Any) -> None:
        """The stream cannot be set."""


def package_logger() -> logging.Logger:
    """The logger ``duograph``, with the level that is set and, if nobody has given it one, a handler."""
    logger = logging.getLogger("duograph")
    if not logger.handlers:
        handler = _Stderr()
        job = launched()
        rank = f", rank {job[1]}" if job is not None and job[2] > 1 else ""
        handler.setFormatter(logging.Formatter(_FORMAT.format(rank=rank)))
        logger.addHandler(handler)
        logger.propagate = False
    logger.setLevel(_LEVELS[config().log_level])
    return logger


def topic(name: str) -> logging.Logger:
    """The logger of a topic, which says everything if `DUOGRAPH_LOGS` names it."""
    logger, package = logging.getLogger(f"duograph.{name}"), logging.getLogger("duograph")
    if package.level == logging.NOTSET:  # a program whose own logs begin at INFO has not asked for kernels
        package.setLevel(logging.WARNING)
    wanted = config().logs
    if config().log_level != 2 or wanted:
        package_logger()
    if name in wanted or "all" in wanted:
        logger.setLevel(logging.DEBUG)
    return logger
