"""Logging under MindSpore's names: ``mindspore.log.warning("...")``; the variable ``GLOG_v`` sets the least level.

Levels are MindSpore's numbers: 0 debug, 1 info, 2 warning, 3 error, 4 critical. Lines go to stderr through the
standard logger ``duograph``, to which a program can add handlers of its own.
"""

from __future__ import annotations

from typing import Any

from duograph.base.config import config, set_config
from duograph.base.logs import package_logger

__all__ = ["critical", "debug", "error", "get_level", "get_log_config", "info", "set_level", "warning"]


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs ``msg % args`` at level DEBUG."""
    package_logger().debug(msg, *args, stacklevel=2, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs ``msg % args`` at level INFO."""
    package_logger().info(msg, *args, stacklevel=2, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs ``msg % args`` at level WARNING."""
    package_logger().warning(msg, *args, stacklevel=2, **kwargs)


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs ``msg % args`` at level ERROR."""
    package_logger().error(msg, *args, stacklevel=2, **kwargs)


def critical(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs ``msg % args`` at level CRITICAL."""
    package_logger().critical(msg, *args, stacklevel=2, **kwargs)


def get_level() -> str:
    """The least level that is logged, as MindSpore gives it: the text of its number.

    Examples:
        >>> import duograph as ms
        >>> ms.log.get_level()
        '2'
    """
    return str(config().log_level)


def set_level(level: int) -> None:
    """Sets the least level that is logged, 0 (debug) to 4 (critical)."""
    set_config(log_level=level)
    package_logger()


def get_log_config() -> dict[str, str]:
    """The settings of the log, as MindSpore names them.

    Returns:
        dict, with the keys ``GLOG_v`` and ``GLOG_logtostderr``.
    """
    return {"GLOG_v": get_level(), "GLOG_logtostderr": "1"}
