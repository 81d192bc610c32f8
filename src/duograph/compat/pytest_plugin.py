"""``pytest -p duograph.compat.pytest_plugin``: tests that import mindspore run on duograph."""

from __future__ import annotations

from .alias import install_as_mindspore

install_as_mindspore()
