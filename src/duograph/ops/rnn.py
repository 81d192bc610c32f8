"""Recurrent cells, and whole layers that run them over a sequence. Composites over ops.

Weights are laid out as in MindSpore: ``w_ih`` (gates * hidden, input), ``w_hh`` (gates * hidden, hidden); the gates of
an LSTM are input, forget, cell, output, those of a GRU reset, update, new.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arithmetic import add, mul, sub
from .attention import linear
from .compare import greater
from .creation import constant_like, iota
from .indexing import gather_elements
from .movement import broadcast_to, expand_dims, flip, reshape
from .select import select
from .slices import split
from .unary import relu, sigmoid, tanh

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {"tanh": tanh, "relu": relu}


def rnn_cell(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None, activation: str = "tanh") -> Any:
    """``activation(x @ w_ih^T + b_ih + h @ w_hh^T + b_hh)``."""
    return ACTIVATIONS[activation](add(linear(x, w_ih, b_ih), linear(h, w_hh, b_hh)))


def lstm_cell(
    x: Any, state: tuple[Any, Any], w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> tuple[Any, Any]:
    """The next hidden state and cell state of a long short-term memory."""
    h, c = state
    gates = add(linear(x, w_ih, b_ih), linear(h, w_hh, b_hh))
    hidden = w_hh.shape[1]
    i, f, g, o = split(gates, (hidden,) * 4, len(gates.shape) - 1)
    new_c = add(mul(sigmoid(f), c), mul(sigmoid(i), tanh(g)))
    return mul(sigmoid(o), tanh(new_c)), new_c


def gru_cell(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """The next hidden state of a gated recurrent unit."""
    hidden = w_hh.shape[1]
    axis = len(x.shape) - 1
    x_r, x_z, x_n = split(linear(x, w_ih, b_ih), (hidden,) * 3, axis)
    h_r, h_z, h_n = split(linear(h, w_hh, b_hh), (hidden,) * 3, axis)
    reset, update = sigmoid(add(x_r, h_r)), sigmoid(add(x_z, h_z))
    new = tanh(add(x_n, mul(reset, h_n)))
    return add(new, mul(update, sub(h, new)))


def reverse_sequence(x: Any, lengths: Any = None) -> Any:
    """``x`` (T, N, ...) with the order of steps reversed; within ``lengths`` (N,) if given, the rest stays."""
    if lengths is None:
        return flip(x, axes=(0,))

    steps, n = x.shape[:2]
    at = iota(shape=(steps, n), axis=0, dtype=lengths.dtype)
    last = broadcast_to(expand_dims(sub(lengths, constant_like(lengths, 1)), 0), shape=(steps, n))
    source = select(greater(at, last), at, sub(last, at))
    shape = tuple(x.shape)
    source = broadcast_to(reshape(source, shape=(steps, n, *(1,) * (len(shape) - 2))), shape=shape)
    return gather_elements(x, source, axis=0)
