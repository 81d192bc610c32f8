"""``mindspore.version``: the version whose public API duograph follows."""

from .alias import MINDSPORE_VERSION

__version__ = version = MINDSPORE_VERSION
