"""Every test of this folder starts, and leaves things, in dynamic mode."""

import mindspore as ms
import pytest


@pytest.fixture(autouse=True)
def dynamic_mode():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)
