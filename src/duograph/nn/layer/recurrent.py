"""Recurrent cells and layers."""

from __future__ import annotations

import math
from typing import Any

from duograph.common.initializer import Uniform, initializer
from duograph.core import dtype as dt
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.ops import rnn
from duograph.ops.creation import full
from duograph.ops.movement import transpose
from duograph.tensor.parameter import Parameter, ParameterTuple
from duograph.tensor.tensor import Tensor

from .basic import Dropout

_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


class _RecurrentCell(Cell):
    """One step: weights ``weight_ih`` and ``weight_hh`` and their biases, uniform within ``1 / sqrt(hidden_size)``."""

    gates = 1

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: Any = dt.float32) -> None:
        super().__init__()
        self.input_size = checks.positive_int(input_size, "input_size", self.cls_name)
        self.hidden_size = checks.positive_int(hidden_size, "hidden_size", self.cls_name)
        self.has_bias = checks.boolean(has_bias, "has_bias", self.cls_name)
        init, rows = Uniform(1 / math.sqrt(hidden_size)), self.gates * hidden_size
        self.weight_ih = Parameter(initializer(init, (rows, input_size), dtype), name="weight_ih")
        self.weight_hh = Parameter(initializer(init, (rows, hidden_size), dtype), name="weight_hh")
        self.bias_ih = self.bias_hh = None
        if has_bias:
            self.bias_ih = Parameter(initializer(init, (rows,), dtype), name="bias_ih")
            self.bias_hh = Parameter(initializer(init, (rows,), dtype), name="bias_hh")

    def _weights(self) -> tuple[Any, ...]:
        return tuple(self.in_use(w) for w in (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh))


class RNNCell(_RecurrentCell):
    """One step of a recurrent layer: ``construct(x, hx)``.

    Args:
        input_size (int): extent of the input.
        hidden_size (int): extent of the state.
        has_bias (bool): Default ``True``.
        nonlinearity (str): ``"tanh"`` or ``"relu"``. Default ``"tanh"``.
        dtype (dtype): Default float32.

    Examples:
        >>> print(nn.RNNCell(3, 4)(ops.ones((1, 3)), ops.ones((1, 4))).shape)
        (1, 4)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias, dtype)
        self.nonlinearity = checks.one_of(nonlinearity, ("tanh", "relu"), "nonlinearity", self.cls_name)

    def construct(self, x, hx):
        return rnn.rnn_cell(x, hx, *self._weights(), activation=self.nonlinearity)


class LSTMCell(_RecurrentCell):
    """One step of an LSTM: ``construct(x, (h, c))`` returns the next ``(h, c)``; arguments as in `RNNCell`.

    Examples:
        >>> print(nn.LSTMCell(3, 4)(ops.ones((1, 3)), (ops.ones((1, 4)), ops.ones((1, 4))))[0].shape)
        (1, 4)
    """

    gates = 4

    def construct(self, x, hx):
        return rnn.lstm_cell(x, hx, *self._weights())


class GRUCell(_RecurrentCell):
    """One step of a GRU: ``construct(x, hx)``; arguments as in `RNNCell`.

    Examples:
        >>> print(nn.GRUCell(3, 4)(ops.ones((1, 3)), ops.ones((1, 4))).shape)
        (1, 4)
    """

    gates = 3

    def construct(self, x, hx):
        return rnn.gru_cell(x, hx, *self._weights())


class _RecurrentLayers(Cell):
    """A stack of recurrent layers, with parameters ``weight_ih_l0`` ..., ``weight_hh_l0_reverse`` ..."""

    mode = "RNN"
    nonlinearity = "tanh"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = dt.float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        checks.positive_int(input_size, "input_size", owner)
        self.hidden_size = checks.positive_int(hidden_size, "hidden_size", owner)
        self.num_layers = checks.positive_int(num_layers, "num_layers", owner)
        self.has_bias = checks.boolean(has_bias, "has_bias", owner)
        self.batch_first = checks.boolean(batch_first, "batch_first", owner)
        self.bidirectional = checks.boolean(bidirectional, "bidirectional", owner)
        checks.number(dropout, "dropout", owner)
        if not 0 <= dropout < 1:
            raise ValueError(f"For '{owner}', the 'dropout' must be a number in range [0, 1), but got {dropout}.")
        self.dropout = dropout
        self.dropout_op = Dropout(p=float(dropout))
        init, rows = Uniform(1 / math.sqrt(hidden_size)), _GATES[self.mode] * hidden_size
        directions = 2 if bidirectional else 1
        shapes = {
            "weight_ih": lambda layer: (rows, input_size if layer == 0 else hidden_size * directions),
            "weight_hh": lambda layer: (rows, hidden_size),
            "bias_ih": lambda layer: (rows,),
            "bias_hh": lambda layer: (rows,),
        }
        made: dict[str, list[Parameter]] = {}
        for kind, shape in shapes.items():
            made[kind] = []
            for layer in range(num_layers if has_bias or kind.startswith("weight") else 0):
                for suffix in ("", "_reverse")[:directions]:
                    name = f"{kind}_l{layer}{suffix}"
                    made[kind].append(Parameter(initializer(init, shape(layer), dtype), name=name))
        self.w_ih_list, self.w_hh_list = ParameterTuple(made["weight_ih"]), ParameterTuple(made["weight_hh"])
        self.b_ih_list, self.b_hh_list = ParameterTuple(made["bias_ih"]), ParameterTuple(made["bias_hh"])

    def construct(self, x, hx=None, seq_length=None):
        return self._run_layers(x, hx, seq_length)

    def _run_layers(self, x: Tensor, hx: Any, seq_length: Any) -> tuple[Tensor, Any]:
        if len(x.shape) not in (2, 3):
            raise ValueError(f"For '{self.cls_name}', the dimension of 'x' must be 3, but got {len(x.shape)}.")
        size = self.w_ih_list[0].shape[1]
        if isinstance(x.shape[-1], int) and x.shape[-1] != size:
            said = f"the last dimension of 'x' must be the 'input_size' {size}, but got shape {tuple(x.shape)}"
            raise ValueError(f"For '{self.cls_name}', {said}.")
        if hx is not None and isinstance(hx, list | tuple) != (self.mode == "LSTM"):
            said = "a tuple of two Tensors (h, c)" if self.mode == "LSTM" else "a Tensor"
            raise TypeError(f"For '{self.cls_name}', the 'hx' must be {said}, but got {type(hx).__name__}.")
        if self.batch_first:
            x = transpose(x, perm=(1, 0, 2))
        count = len(self.w_ih_list)
        if hx is None:
            start = full(shape=(count, x.shape[1], self.hidden_size), value=0, dtype=x.dtype)
            hx = (start, start) if self.mode == "LSTM" else start
        empty: tuple[Any, ...] = (None,) * count
        groups = (self.w_ih_list, self.w_hh_list, self.b_ih_list or empty, self.b_hh_list or empty)
        weights = [tuple(self.in_use(w) for w in group) for group in zip(*groups, strict=True)]
        drop = self.dropout_op if self.dropout and self.training else None
        out, state = rnn.recurrent_layers(
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


class LSTM(_RecurrentLayers):
    """Long short-term memory over (T, N, input): ``construct(x, (h, c), seq_length)``; arguments as in `RNN`.

    Examples:
        >>> print(nn.LSTM(3, 4)(ops.ones((5, 1, 3)))[0].shape)
        (5, 1, 4)
    """

    mode = "LSTM"


class GRU(_RecurrentLayers):
    """Gated recurrent units over (T, N, input): ``construct(x, h, seq_length)``; arguments as in `RNN`.

    Examples:
        >>> print(nn.GRU(3, 4)(ops.ones((5, 1, 3)))[0].shape)
        (5, 1, 4)
    """

    mode = "GRU"
