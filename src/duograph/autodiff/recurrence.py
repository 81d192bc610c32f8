"""Recurrent layers over whole sequences: a composite over ops with a gradient of its own.

Only what depends on the state before it is done step by step: the products with the inputs are one matrix product
before the steps, those for the gradients of weights one after them, and the gradient computes the gates of all steps
again by one product, so that nothing but results is kept. (Appleyard, Kociský, Blunsom: *Optimizing Performance of
Recurrent Neural Networks on GPUs*, 2016, sections 3.1 and 3.2.) In a graph the steps are one ``scan``: neither capture
nor compilation grows with the length of a sequence, which need not be known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from duograph.core.op import no_recording
from duograph.core.op import state as thread
from duograph.core.types import INT
from duograph.ir.control import scan
from duograph.ops.arithmetic import add, mul, sub
from duograph.ops.attention import linear
from duograph.ops.cast import cast
from duograph.ops.compare import greater
from duograph.ops.creation import constant_like, full, iota, zeros_like
from duograph.ops.linalg import matmul
from duograph.ops.movement import expand_dims, reduce_sum, reshape
from duograph.ops.rnn import ACTIVATIONS, reverse_sequence
from duograph.ops.scalar import dim_size
from duograph.ops.select import select
from duograph.ops.slices import concat, dynamic_slice, dynamic_update, slice_axis, split, stack, unstack
from duograph.ops.unary import sigmoid, tanh
from duograph.tensor.tensor import type_of

from .custom import identity_with
from .loops import make_graph
from .vmap import BatchBinder

State = tuple[Any, ...]
"""The hidden state (N, hidden); of an LSTM the cell state, too."""


class _Unit(NamedTuple):
    """The part of a recurrent cell that is not a matrix product.

    ``forward(x, h, state)``: the next state, of ``x`` and ``h``, the products of the input and of the hidden state.
    ``prepare(x, h, states)``: what the gradient needs, for all steps at once.
    ``backward(prepared, state, dstate)``: gradients of ``x``, of ``h``, and of the state but for what flows through
    the product. ``is_apart``: those of ``x`` and ``h`` are not the same.
    """

    forward: Callable[[Any, Any, State], State]
    prepare: Callable[[Any, Any, State], tuple[Any, ...]]
    backward: Callable[[Sequence[Any], Sequence[Any], State], tuple[Any, Any, State]]
    is_apart: bool = False


def _parts(x: Any, count: int) -> Any:
    axis = len(x.shape) - 1
    return split(x, (x.shape[axis] // count,) * count, axis)


def _but(x: Any) -> Any:
    """``1 - x``."""
    return sub(constant_like(x, 1), x)


def _through_sigmoid(dout: Any, out: Any) -> Any:
    return mul(dout, mul(out, _but(out)))


def _through_tanh(dout: Any, out: Any) -> Any:
    return mul(dout, _but(mul(out, out)))


# ---- long short-term memory -----------------------------------------------------------------------------------------


def _lstm_gates(x: Any, h: Any) -> tuple[Any, ...]:
    i, f, g, o = _parts(add(x, h), 4)
    return sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)


def _lstm_forward(x: Any, h: Any, state: State) -> State:
    i, f, g, o = _lstm_gates(x, h)
    c = add(mul(f, state[1]), mul(i, g))
    return mul(o, tanh(c)), c


def _lstm_prepare(x: Any, h: Any, states: State) -> tuple[Any, ...]:
    i, f, g, o = _lstm_gates(x, h)
    return i, f, g, o, tanh(add(mul(f, states[1]), mul(i, g)))


def _lstm_backward(prepared: Sequence[Any], state: Sequence[Any], dstate: State) -> tuple[Any, Any, State]:
    i, f, g, o, out = prepared
    dh, dc = dstate
    dc = add(dc, _through_tanh(mul(dh, o), out))
    gates = (
        _through_sigmoid(mul(dc, g), i),
        _through_sigmoid(mul(dc, state[1]), f),
        _through_tanh(mul(dc, i), g),
        _through_sigmoid(mul(dh, out), o),
    )
    dx = concat(*gates, axis=len(i.shape) - 1)
    return dx, dx, (None, mul(dc, f))


# ---- gated recurrent unit -------------------------------------------------------------------------------------------


def _gru_gates(x: Any, h: Any) -> tuple[Any, ...]:
    x_r, x_z, x_n = _parts(x, 3)
    h_r, h_z, h_n = _parts(h, 3)
    reset, update = sigmoid(add(x_r, h_r)), sigmoid(add(x_z, h_z))
    return reset, update, tanh(add(x_n, mul(reset, h_n))), h_n


def _gru_forward(x: Any, h: Any, state: State) -> State:
    _, update, new, _ = _gru_gates(x, h)
    return (add(new, mul(update, sub(state[0], new))),)


def _gru_prepare(x: Any, h: Any, states: State) -> tuple[Any, ...]:
    return _gru_gates(x, h)


def _gru_backward(prepared: Sequence[Any], state: Sequence[Any], dstate: State) -> tuple[Any, Any, State]:
    reset, update, new, h_n = prepared
    (dh,) = dstate
    dn = _through_tanh(mul(dh, _but(update)), new)
    dr = _through_sigmoid(mul(dn, h_n), reset)
    dz = _through_sigmoid(mul(dh, sub(state[0], new)), update)
    axis = len(new.shape) - 1
    return concat(dr, dz, dn, axis=axis), concat(dr, dz, mul(dn, reset), axis=axis), (mul(dh, update),)


# ---- plain recurrent cell -------------------------------------------------------------------------------------------


def _plain(activation: str) -> _Unit:
    function = ACTIVATIONS[activation]

    def prepare(x: Any, h: Any, states: State) -> tuple[Any, ...]:
        return (function(add(x, h)),)

    def backward(prepared: Sequence[Any], state: Sequence[Any], dstate: State) -> tuple[Any, Any, State]:
        (new,), (dh,) = prepared, dstate
        if activation == "tanh":
            dx = _through_tanh(dh, new)
        else:
            dx = select(greater(new, zeros_like(new)), dh, zeros_like(dh))
        return dx, dx, (None,)

    return _Unit(prepare, prepare, backward)


def _unit(mode: str, activation: str) -> _Unit:
    """
    Raises:
        ValueError: unknown ``mode``.
    """
    if mode == "LSTM":
        return _Unit(_lstm_forward, _lstm_prepare, _lstm_backward)
    if mode == "GRU":
        return _Unit(_gru_forward, _gru_prepare, _gru_backward, is_apart=True)
    if mode == "RNN":
        return _plain(activation)
    raise ValueError(f"The mode of a recurrent layer must be 'LSTM', 'GRU' or 'RNN', but got {mode}.")


# ---- steps ----------------------------------------------------------------------------------------------------------


Step = Callable[[State, Sequence[Any], Sequence[Any]], tuple[State, Sequence[Any]]]


def over_rows(
    step: Step,
    state: State,
    rows: Sequence[Any],
    constants: Sequence[Any],
    made: Sequence[Any],
    backwards: bool = False,
) -> tuple[State, list[Any]]:
    """``state, outs = step(state, rows[t], constants)`` for each step t: what JAX calls ``scan``.

    Args:
        step: gets the state, a row of each of ``rows``, and ``constants``; gives the next state and rows of results.
        state: tensors.
        rows: tensors (T, ...).
        constants: tensors that all steps read.
        made: shape and dtype of the rows that each step gives.
        backwards: from the last step to the first.

    Returns:
        The last state, and the results (T, ...).
    """
    steps = rows[0].shape[0]
    if thread.binder is None or isinstance(thread.binder, BatchBinder) or steps == 1:
        parts = list(zip(*[unstack(r, 0) for r in rows], strict=True))
        outs = []
        for part in reversed(parts) if backwards else parts:
            state, out = step(state, part, constants)
            outs.append(out)
        columns = zip(*reversed(outs) if backwards else outs, strict=True)
        return state, [stack(*column, axis=0) for column in columns]

    n, m, k = len(state), len(made), len(rows)
    results = [full(shape=(steps, *shape), value=0, dtype=dtype) for shape, dtype in made]

    def body(t: Any, *values: Any) -> list[Any]:
        before, buffers, inputs, fixed = values[:n], values[n : n + m], values[n + m : n + m + k], values[n + m + k :]
        at = dim_size(inputs[0], axis=0) - 1 - t if backwards else t
        part = [reshape(dynamic_slice(x, at, axes=(0,), sizes=(1,)), shape=x.shape[1:]) for x in inputs]
        after, out = step(before, part, fixed)
        written = [
            dynamic_update(b, reshape(o, shape=(1, *o.shape)), at, axes=(0,)) for b, o in zip(buffers, out, strict=True)
        ]
        return [*after, *written]

    operands = (*state, *results, *rows, *constants)
    graph = make_graph("steps", [INT, *map(type_of, operands)], body)
    trips = steps if isinstance(steps, int) else dim_size(rows[0], axis=0)
    found = scan(trips, *operands, body=graph, n_carry=n + m)
    return tuple(found[:n]), list(found[n:])


def _run(unit: _Unit, x: Any, state: State, product: Sequence[Any], alive: Any) -> tuple[list[Any], State]:
    """The states after each step, each (T, N, hidden), the hidden ones 0 where a step does not count; the last one."""

    def step(state: State, rows: Sequence[Any], product: Sequence[Any]) -> tuple[State, Sequence[Any]]:
        new = unit.forward(rows[0], linear(state[0], *product), state)
        if alive is None:
            return new, new
        out = select(rows[1], new[0], constant_like(new[0], 0))
        new = tuple(select(rows[1], a, b) for a, b in zip(new, state, strict=True))
        return new, (out, *new[1:])

    rows = [x] if alive is None else [x, alive]
    last, outs = over_rows(step, state, rows, product, [(s.shape, s.dtype) for s in state])
    return outs, last


def _gradients(
    unit: _Unit, x: Any, state: State, product: Sequence[Any], alive: Any, outs: Sequence[Any], douts: Sequence[Any]
) -> list[Any]:
    """Gradients of ``x``, ``state`` and ``product``, given the results of `_run` and their cotangents."""
    n, steps = len(state), x.shape[0]
    before = tuple(
        concat(expand_dims(first, 0), slice_axis(later, 0, 0, steps - 1), axis=0)
        for first, later in zip(state, outs, strict=False)
    )
    prepared = unit.prepare(x, linear(before[0], *product), before)
    p = len(prepared)

    def step(dstate: State, rows: Sequence[Any], constants: Sequence[Any]) -> tuple[State, Sequence[Any]]:
        dnew = tuple(add(a, b) for a, b in zip(dstate, rows[p + n : p + 2 * n], strict=True))
        dx, dh, rest = unit.backward(rows[:p], rows[p : p + n], dnew)
        if alive is not None:
            nothing = constant_like(dx, 0)
            dx, dh = select(rows[-1], dx, nothing), select(rows[-1], dh, nothing) if unit.is_apart else None
            rest = tuple(
                select(rows[-1], nothing if r is None else r, stays)
                for r, stays in zip(rest, (dstate[0], *dnew[1:]), strict=True)
            )
        through = matmul(dh if unit.is_apart else dx, constants[0])
        dbefore = through if rest[0] is None else add(through, rest[0])
        return (dbefore, *rest[1:]), (dx, dh) if unit.is_apart else (dx,)

    rows = [*prepared, *before, *douts[:n], *([] if alive is None else [alive])]
    made = [(x.shape[1:], x.dtype)] * (2 if unit.is_apart else 1)
    dstate, (dx, *dh) = over_rows(step, tuple(douts[n:]), rows, product[:1], made, backwards=True)
    flat = _flat(dh[0] if dh else dx)
    dproduct = [matmul(flat, _flat(before[0]), transpose_a=True), reduce_sum(flat, axis=(0,))]
    return [dx, *dstate, *dproduct[: len(product)]]


def _flat(x: Any) -> Any:
    """(T, N, width) as (T * N, width)."""
    return reshape(x, shape=(x.shape[0] * x.shape[1], x.shape[2]))


def run_direction(
    mode: str, x: Any, state: State, weights: tuple[Any, ...], lengths: Any = None, activation: str = "tanh"
) -> tuple[Any, State]:
    """Runs a cell over ``x`` (T, N, input) from the first step to the last.

    Args:
        mode: ``"LSTM"``, ``"GRU"`` or ``"RNN"``.
        x: the sequences.
        state: the first hidden state (N, hidden), and for an LSTM the cell state.
        weights: ``w_ih`` (gates * hidden, input), ``w_hh`` (gates * hidden, hidden), ``b_ih`` and ``b_hh``, which may
            be ``None`` or missing.
        lengths: (N,) how many steps of each sequence count: behind them the state stays and the output is 0.
        activation: of ``"RNN"``: ``"tanh"`` or ``"relu"``.

    Returns:
        The outputs (T, N, hidden), and the last state.

    Raises:
        ValueError: unknown ``mode``, or a sequence without steps.
    """
    unit, (w_ih, w_hh, b_ih, b_hh, *_) = _unit(mode, activation), (*weights, None, None)
    steps, batch = x.shape[:2]
    if steps == 0:
        raise ValueError(f"For '{mode}', the input must have at least one step, but got the shape {tuple(x.shape)}.")
    gates = linear(x, w_ih, b_ih)
    product = [w_hh] if b_hh is None else [w_hh, b_hh]
    alive = None
    if lengths is not None:
        at = iota(shape=(steps, batch), axis=0, dtype=lengths.dtype)
        alive = expand_dims(greater(expand_dims(lengths, 0), at), 2)
    if isinstance(thread.binder, BatchBinder) or (thread.binder is None and not thread.tapes):
        outs, last = _run(unit, gates, state, product, alive)
        return outs[0], last
    with no_recording():
        outs, last = _run(unit, gates, state, product, alive)
    n = len(state)
    inputs = [gates, *state, *product, *([] if alive is None else [alive])]

    def pull(inputs: Sequence[Any], outs: Sequence[Any], douts: Sequence[Any]) -> list[Any]:
        x, first, fixed = inputs[0], tuple(inputs[1 : n + 1]), inputs[n + 1 : n + 1 + len(product)]
        counts = None if alive is None else inputs[-1]
        found = _gradients(unit, x, first, fixed, counts, outs, douts)
        return found if alive is None else [*found, None]

    outs = identity_with(inputs, [*outs, *last], pull, is_pure=True)
    out = cast(outs[0], dtype=outs[0].dtype)  # a copy: the gradient reads the other one, whatever is written to this
    return out, tuple(outs[n:])


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
    starts = list(zip(*[unstack(s, 0) for s in (state if mode == "LSTM" else (state,))], strict=True))
    ends: list[State] = []
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
    last = tuple(stack(*part, axis=0) for part in zip(*ends, strict=True))
    return x, last if mode == "LSTM" else last[0]
