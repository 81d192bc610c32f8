"""Recurrent cells and layers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated, Any

from duograph.autodiff.recurrence import recurrent_layers
from duograph.common.initializer import Uniform, initializer
from duograph.core import dtype as dt
from duograph.core.dim import definitely_eq
from duograph.core.shapes import taken_equal
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.nn.kinds import Dtype, Flag, PositiveInt
from duograph.nn.settings import Kind, option, with_settings
from duograph.ops import rnn
from duograph.ops.creation import full
from duograph.ops.movement import transpose
from duograph.ops.scalar import extent_of
from duograph.tensor.parameter import Parameter, ParameterTuple
from duograph.tensor.tensor import Tensor

from .basic import Dropout

_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


_NONLINEARITIES = ("tanh", "relu")
_nonlinearity = checks.that(checks.same, lambda x: x in _NONLINEARITIES, f"be in {list(_NONLINEARITIES)}, but got {{}}")
_dropout = checks.that(checks.a_number, lambda p: 0 <= p < 1, "be a number in range [0, 1), but got {}")
Nonlinearity = Annotated[str, Kind("str", _nonlinearity, '``"tanh"`` or ``"relu"``')]
Share = Annotated[float, Kind("float", _dropout, "between layers")]
UnkeptSize = Annotated[int, Kind("int", checks.positive_int, "extent of the input", kept=False)]


@with_settings
class _RecurrentCell(Cell):
    """One step: weights ``weight_ih`` and ``weight_hh`` and their biases, uniform within ``1 / sqrt(hidden_size)``."""

    input_size: PositiveInt = option("extent of the input")
    hidden_size: PositiveInt = option("extent of the state")
    has_bias: Flag = True
    dtype: Dtype = dt.float32

    gates = 1

    def _settings_taken(self, given):
        init, rows = Uniform(1 / math.sqrt(self.hidden_size)), self.gates * self.hidden_size
        self.bias_ih = self.bias_hh = None
        shapes = {"weight_ih": (rows, self.input_size), "weight_hh": (rows, self.hidden_size)}
        if self.has_bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        for name, shape in shapes.items():
            setattr(self, name, Parameter(initializer(init, shape, given["dtype"]), name=name))

    def _weights(self) -> tuple[Any, ...]:
        return tuple(self.in_use(w) for w in (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh))

    def _check_state(self, x: Tensor, *states: Tensor) -> None:
        _check_shapes(self.cls_name, states, (*x.shape[:-1], self.hidden_size))


def _check_shapes(name: str, states: Iterable[Tensor], wanted: tuple[Any, ...]) -> None:
    """Refuses states that would be broadcast: the next state would have another shape."""
    for state in states:
        shape = tuple(state.shape)
        if len(shape) != len(wanted) or not all(map(taken_equal, map(extent_of, shape), map(extent_of, wanted))):
            raise ValueError(f"For '{name}', the shape of 'hx' must be {wanted}, but got {shape}.")


class RNNCellBase(_RecurrentCell):
    """What cells of a user's own derive from: as many blocks of ``hidden_size`` rows in each weight as they have gates.

    Args:
        input_size (int): extent of the input.
        hidden_size (int): extent of the state.
        has_bias (bool): whether there are biases.
        num_chunks (int): number of gates.
        dtype (mindspore.dtype): of the parameters. Default ``mstype.float32``.
    """

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool, num_chunks: int, dtype: Any = dt.float32):
        self.gates = num_chunks
        super().__init__(input_size, hidden_size, has_bias, dtype=dtype)


@with_settings
class RNNCell(_RecurrentCell):
    """One step of a recurrent layer: ``construct(x, hx)``.

    Examples:
        >>> print(nn.RNNCell(3, 4)(ops.ones((1, 3)), ops.ones((1, 4))).shape)
        (1, 4)
    """

    nonlinearity: Nonlinearity = option(default="tanh", after="has_bias")

    def construct(self, x, hx):
        self._check_state(x, hx)
        return rnn.rnn_cell(x, hx, *self._weights(), activation=self.nonlinearity)


@with_settings
class LSTMCell(_RecurrentCell):
    """One step of an LSTM: ``construct(x, (h, c))`` returns the next ``(h, c)``.

    Examples:
        >>> print(nn.LSTMCell(3, 4)(ops.ones((1, 3)), (ops.ones((1, 4)), ops.ones((1, 4))))[0].shape)
        (1, 4)
    """

    gates = 4

    def construct(self, x, hx):
        self._check_state(x, *hx)
        return rnn.lstm_cell(x, hx, *self._weights())


@with_settings
class GRUCell(_RecurrentCell):
    """One step of a GRU: ``construct(x, hx)``.

    Examples:
        >>> print(nn.GRUCell(3, 4)(ops.ones((1, 3)), ops.ones((1, 4))).shape)
        (1, 4)
    """

    gates = 3

    def construct(self, x, hx):
        self._check_state(x, hx)
        return rnn.gru_cell(x, hx, *self._weights())


@with_settings
class _RecurrentLayers(Cell):
    """A stack of recurrent layers, with parameters ``weight_ih_l0`` ..., ``weight_hh_l0_reverse`` ..."""

    input_size: UnkeptSize
    hidden_size: PositiveInt = option("extent of the state")
    num_layers: PositiveInt = 1
    has_bias: Flag = True
    batch_first: Flag = option("whether the input is (N, T, input)", default=False)
    dropout: Share = 0.0
    bidirectional: Flag = False
    dtype: Dtype = dt.float32

    mode = "RNN"
    nonlinearity = "tanh"

    def _settings_taken(self, given):
        self.dropout_op = Dropout(p=float(self.dropout))
        size = self.hidden_size
        init, rows, directions = Uniform(1 / math.sqrt(size)), _GATES[self.mode] * size, 1 + self.bidirectional
        shapes = {
            "weight_ih": lambda layer: (rows, given["input_size"] if layer == 0 else size * directions),
            "weight_hh": lambda layer: (rows, size),
            "bias_ih": lambda layer: (rows,),
            "bias_hh": lambda layer: (rows,),
        }
        made: dict[str, list[Parameter]] = {}
        for kind, shape in shapes.items():
            made[kind] = []
            for layer in range(self.num_layers if self.has_bias or kind.startswith("weight") else 0):
                for suffix in ("", "_reverse")[:directions]:
                    name = f"{kind}_l{layer}{suffix}"
                    made[kind].append(Parameter(initializer(init, shape(layer), given["dtype"]), name=name))
        self.w_ih_list, self.w_hh_list = ParameterTuple(made["weight_ih"]), ParameterTuple(made["weight_hh"])
        self.b_ih_list, self.b_hh_list = ParameterTuple(made["bias_ih"]), ParameterTuple(made["bias_hh"])

    def construct(self, x, hx=None, seq_length=None):
        return self._run_layers(x, hx, seq_length)

    def _run_layers(self, x: Tensor, hx: Any, seq_length: Any) -> tuple[Tensor, Any]:
        if len(x.shape) != 3:
            order = "batch, time, input" if self.batch_first else "time, batch, input"
            said = f"the dimension of 'x' must be 3 ({order}), but got {len(x.shape)}"
            raise ValueError(f"For '{self.cls_name}', {said}.")
        size = self.w_ih_list[0].shape[1]
        if isinstance(x.shape[-1], int) and x.shape[-1] != size:
            said = f"the last dimension of 'x' must be the 'input_size' {size}, but got shape {tuple(x.shape)}"
            raise ValueError(f"For '{self.cls_name}', {said}.")
        if hx is not None and isinstance(hx, list | tuple) != (self.mode == "LSTM"):
            said = "a tuple of two Tensors (h, c)" if self.mode == "LSTM" else "a Tensor"
            raise TypeError(f"For '{self.cls_name}', the 'hx' must be {said}, but got {type(hx).__name__}.")
        if self.batch_first:
            x = transpose(x, perm=(1, 0, 2))
        if isinstance(seq_length, Tensor) and seq_length.ndim == 1:
            given, batch = seq_length.shape[0], x.shape[1]
            if definitely_eq(given, 1) is not True and not taken_equal(given, batch):
                said = f"the 'seq_length' must have a number for each of the {batch} sequences of 'x', but got {given}"
                raise ValueError(f"For '{self.cls_name}', {said}.")
        count = len(self.w_ih_list)
        wanted = (count, x.shape[1], self.hidden_size)
        if hx is None:
            start = full(shape=wanted, value=0, dtype=x.dtype)
            hx = (start, start) if self.mode == "LSTM" else start
        _check_shapes(self.cls_name, hx if self.mode == "LSTM" else (hx,), wanted)
        empty: tuple[Any, ...] = (None,) * count
        groups = (self.w_ih_list, self.w_hh_list, self.b_ih_list or empty, self.b_hh_list or empty)
        weights = [tuple(self.in_use(w) for w in group) for group in zip(*groups, strict=True)]
        drop = self.dropout_op if self.dropout and self.training else None
        out, state = recurrent_layers(
            self.mode, x, hx, weights, self.bidirectional, seq_length, drop, self.nonlinearity
        )
        return (transpose(out, perm=(1, 0, 2)) if self.batch_first else out), state


class RNN(_RecurrentLayers):
    """Recurrent layers over (T, N, input).

    Args:
        input_size (int): extent of the input.
        hidden_size (int): extent of the state.
        num_layers (int): Default ``1``.
        nonlinearity (str): ``"tanh"`` or ``"relu"``; keyword. Default ``"tanh"``.
        has_bias (bool): Default ``True``.
        batch_first (bool): whether the input is (N, T, input). Default ``False``.
        dropout (float): between layers. Default ``0.0``.
        bidirectional (bool): Default ``False``.
        dtype (dtype): Default float32.

    Examples:
        >>> print(nn.RNN(3, 4)(ops.ones((5, 1, 3)))[0].shape)
        (5, 1, 4)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"For '{type(self).__name__}', the 'nonlinearity' must be in ['tanh', 'relu'], but got {nonlinearity}."
            )
        super().__init__(*args, **kwargs)
        self.nonlinearity = nonlinearity


@with_settings
class LSTM(_RecurrentLayers):
    """Long short-term memory over (T, N, input): ``construct(x, (h, c), seq_length)``.

    Examples:
        >>> print(nn.LSTM(3, 4)(ops.ones((5, 1, 3)))[0].shape)
        (5, 1, 4)
    """

    mode = "LSTM"


@with_settings
class GRU(_RecurrentLayers):
    """Gated recurrent units over (T, N, input): ``construct(x, h, seq_length)``.

    Examples:
        >>> print(nn.GRU(3, 4)(ops.ones((5, 1, 3)))[0].shape)
        (5, 1, 4)
    """

    mode = "GRU"
