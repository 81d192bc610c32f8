"""Recurrent cells, and whole layers that run them over a sequence. Composites over ops.

Weights are laid out as in MindSpore: ``w_ih`` (gates * hidden, input), ``w_hh`` (gates * hidden, hidden); the gates of
an LSTM are input, forget, cell, output, those of a GRU reset, update, new.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .arithmetic import add, mul, sub
from .attention import linear
from .compare import greater
from .creation import constant_like, iota, zeros_like
from .indexing import gather_elements
from .movement import broadcast_to, expand_dims, flip, reshape
from .select import select
from .slices import concat, split, stack, unstack
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


def cell_step(mode: str, activation: str = "tanh") -> Callable[..., Any]:
    """``step(x, state, *weights) -> state`` of ``"LSTM"``, ``"GRU"`` or ``"RNN"``.

    Raises:
        ValueError: unknown ``mode``.
    """
    if mode == "LSTM":
        return lstm_cell
    if mode == "GRU":
        return gru_cell
    if mode == "RNN":
        return partial(rnn_cell, activation=activation)
    raise ValueError(f"The mode of a recurrent layer must be 'LSTM', 'GRU' or 'RNN', but got {mode}.")


def run_direction(
    mode: str, x: Any, state: Any, weights: tuple[Any, ...], lengths: Any = None, activation: str = "tanh"
) -> tuple[Any, Any]:
    """Runs a cell over ``x`` (T, N, input) from the first step to the last.

    ``lengths`` (N,) says how many steps of each sequence count: behind them the state stays and the output is 0.

    Returns:
        The outputs (T, N, hidden), and the last state.
    """
    step = cell_step(mode, activation)
    outputs = []
    for t, part in enumerate(unstack(x, 0)):
        new = step(part, state, *weights)
        output = new[0] if mode == "LSTM" else new
        if lengths is not None:
            alive = expand_dims(greater(lengths, constant_like(lengths, t)), 1)
            if mode == "LSTM":
                new = tuple(select(alive, a, b) for a, b in zip(new, state, strict=True))
            else:
                new = select(alive, new, state)
            output = select(alive, output, zeros_like(output))
        state = new
        outputs.append(output)
    return stack(*outputs, axis=0), state


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


def recurrent_layers(
    mode: str,
    x: Any,
    state: Any,
    weights: list[tuple[Any, ...]],
    bidirectional: bool = False,
    lengths: Any = None,
    dropout: Callable[[Any], Any] | None = None,
    activation: str = "tanh",
) -> tuple[Any, Any]:
    """A stack of recurrent layers over ``x`` (T, N, input).

    Args:
        mode: ``"LSTM"``, ``"GRU"`` or ``"RNN"``.
        x: the sequence.
        state: initial states (layers * directions, N, hidden); for an LSTM a pair of them.
        weights: ``(w_ih, w_hh, b_ih, b_hh)`` (biases may be missing) of every layer and direction, forward first.
        bidirectional: whether every layer also runs backwards.
        lengths: steps of each sequence that count.
        dropout: applied between layers, if given.
        activation: of ``"RNN"``: ``"tanh"`` or ``"relu"``.

    Returns:
        The outputs of the last layer (T, N, directions * hidden), and all last states in the form of ``state``.
    """
    directions = 2 if bidirectional else 1
    starts = list(zip(*map(_rows, state), strict=True)) if mode == "LSTM" else _rows(state)
    ends: list[Any] = []
    for layer in range(len(weights) // directions):
        outputs = []
        for d in range(directions):
            k = layer * directions + d
            forward = x if d == 0 else reverse_sequence(x, lengths)
            out, end = run_direction(mode, forward, starts[k], weights[k], lengths, activation)
            outputs.append(out if d == 0 else reverse_sequence(out, lengths))
            ends.append(end)
        x = outputs[0] if directions == 1 else concat(*outputs, axis=2)
        if dropout is not None and layer < len(weights) // directions - 1:
            x = dropout(x)
    if mode == "LSTM":
        return x, tuple(stack(*part, axis=0) for part in zip(*ends, strict=True))
    return x, stack(*ends, axis=0)


def _rows(state: Any) -> tuple[Any, ...]:
    return unstack(state, 0)
