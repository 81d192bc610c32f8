"""The executor objects of ``mindspore.common.api``."""

import pytest

import duograph as ms
from duograph import Tensor
from duograph.compat.executors import _pynative_executor


def _constant(fn):
    """As packages of others write it."""

    def wrapper(*args):
        _pynative_executor.set_enable_grad(False)
        outputs = fn(*args)
        _pynative_executor.set_enable_grad(True)
        return outputs

    return wrapper


@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["dynamic", "jit"])
def test_what_is_not_recorded_is_a_constant(wrap):
    doubled = _constant(lambda x: x * 2)
    gradient = wrap(ms.grad(wrap(lambda x: doubled(x) * x)))
    for _ in range(2):
        assert gradient(Tensor([3.0])).asnumpy().tolist() == [6.0]
    assert _pynative_executor.enable_grad()


def test_the_switch_is_no_counter():
    try:
        _pynative_executor.set_enable_grad(False)
        _pynative_executor.set_enable_grad(False)
        assert not _pynative_executor.enable_grad()
    finally:
        _pynative_executor.set_enable_grad(True)
    assert _pynative_executor.enable_grad()
    _pynative_executor.set_enable_grad(True)
    assert ms.grad(lambda x: x * x)(Tensor([3.0])).asnumpy().tolist() == [6.0]
