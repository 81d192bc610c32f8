"""MindSpore's name for duograph: the import alias, the script runner, the pytest plugin."""

from .alias import MINDSPORE_VERSION, install_as_mindspore

__all__ = ["MINDSPORE_VERSION", "install_as_mindspore"]
