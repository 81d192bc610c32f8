"""Reading ONNX files: checked, and planned as an `OnnxCell`."""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from duograph.core.protobuf import parse
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from ..file_cell import Plan
from .cell import Branches, OnnxCell, Rounds, Step
from .layers import softmax_joined
from .schema import ATTRIBUTE_KINDS, PRODUCER, array_of, message
from .table import FUNCTIONS

__all__ = ["load"]

_OLDEST = 7
_DOMAINS = ("", "ai.onnx")
_SMALL = 1 << 10
"""Integers of so many elements at most are kept as Python's, from which sizes may be computed."""
_ONLY: dict[tuple[str, str], tuple[Any, ...]] = {
    ("BatchNormalization", "training_mode"): (0,), ("LSTM", "layout"): (0,), ("GRU", "layout"): (0,),
    ("LSTM", "input_forget"): (0,), ("GatherND", "batch_dims"): (0,), ("ArgMax", "select_last_index"): (0,),
    ("ArgMin", "select_last_index"): (0,), ("IsInf", "detect_negative"): (1,), ("IsInf", "detect_positive"): (1,),
    ("MaxPool", "storage_order"): (0,), ("LayerNormalization", "stash_type"): (1,),
    ("Pad", "mode"): ("constant", "reflect", "edge"), ("AveragePool", "dilations"): ((1, 1), (1,), (1, 1, 1)),
    ("Conv", "auto_pad"): ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"),
    ("ConvTranspose", "auto_pad"): ("NOTSET",), ("BatchNormalization", "spatial"): (1,), ("TopK", "sorted"): (1,),
}  # fmt: skip
"""The values of attributes that are read; others have another meaning that is not there."""
_OF_TRAINING = {
    ("BatchNormalization", "momentum"), ("Dropout", "ratio"), ("Dropout", "seed"), ("Cast", "saturate"),
}  # fmt: skip
"""Attributes without a meaning for inference (and of casts to eight bits, which are not read)."""
_UNREAD = {"LSTM": (4, 7), "GRU": (4,)}
"""Inputs that must be left out: lengths of sequences, peepholes."""
_FIRST = {"BatchNormalization": 1, "Dropout": 1, "LayerNormalization": 1, "MaxPool": 1}
"""Operators of which only the first results are read."""


def load(file_name: str) -> OnnxCell:
    """Reads a network for inference from an ONNX file.

    The operators are those of convolutional networks, transformers and LSTMs, ``If`` and ``Loop`` (`FUNCTIONS` has
    the list); sizes may be open. Weights become Parameters, but for single numbers, which are constants.

    Args:
        file_name (str): an ``.onnx`` file.

    Returns:
        `OnnxCell`, which takes the inputs of the graph in its order.

    Raises:
        TypeError: ``file_name`` is not a string.
        ValueError: the file is missing or damaged, or has an operator, a setting or data that is not read; the message
            names it.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> x = ms.Tensor([-1.0, 3.0])
        >>> ms.onnx.export(nn.ReLU(), x, file_name="/tmp/relu.onnx")
        >>> print(ms.onnx.load("/tmp/relu.onnx")(x))
        [0. 3.]
    """
    if not isinstance(file_name, str | os.PathLike):
        raise TypeError(f"For 'onnx.load', 'file_name' must be string, but got {type(file_name)}.")
    path = Path(file_name)
    if not path.is_file():
        raise ValueError(f"For 'onnx.load', the file {file_name} does not exist.")
    try:
        return _Planner(parse(message("ModelProto"), path.read_bytes())).cell()
    except (ValueError, OSError) as exc:
        raise ValueError(f"For 'onnx.load', the file {file_name} cannot be read: {exc}.") from None


class _Planner:
    def __init__(self, model: Any) -> None:
        versions = {entry.domain: entry.version for entry in model.opset_import}
        version = versions.get("", versions.get("ai.onnx"))
        if version is None or not model.HasField("graph"):
            raise ValueError("it is not an ONNX model, or only a part of one")
        if version < _OLDEST:
            raise ValueError(f"it uses version {version} of the operators; {_OLDEST} is the oldest that is read")
        if model.functions:
            raise ValueError("it has local functions, which are not supported")
        self.version, self.graph = version, model.graph
        self.ours = model.producer_name == PRODUCER
        self.count = 0
        self.numbers: dict[int, float] = {}
        self.weights: dict[int, Parameter] = {}
        self.constants: dict[int, Any] = {}

    def cell(self) -> OnnxCell:
        plan = self.plan(self.graph, {}, with_inputs=True)
        return OnnxCell(plan, self.count, self.weights, self.constants)

    def place(self, names: dict[str, int], name: str) -> int:
        """A new place for a value."""
        if not name:
            return self._new()
        if name in names:
            raise ValueError(f"two values are called {name!r}")
        names[name] = self._new()
        return names[name]

    def _new(self) -> int:
        self.count += 1
        return self.count - 1

    def plan(self, graph: Any, outer: dict[str, int], with_inputs: bool) -> Plan:
        names: dict[str, int] = {}
        if graph.sparse_initializer:
            raise ValueError("it has sparse weights, which are not read")
        for entry in graph.initializer:
            self._keep(self.place(names, entry.name), array_of(entry), entry.name)
        inputs = tuple(self.place(names, info.name) for info in graph.input if info.name not in names)
        if not with_inputs and len(inputs) != len(graph.input):
            raise ValueError("an input of a subgraph has a value")
        known = {**outer, **names}
        steps = []
        for node in graph.node:
            made: dict[str, int] = {}
            steps.append(self._step(node, known, made))
            for name, place in made.items():
                if name in names:
                    raise ValueError(f"two values are called {name!r}")
                names[name] = known[name] = place
        for info in graph.output:
            if info.name not in known:
                raise ValueError(f"nothing gives the output {info.name!r}")
        return Plan(tuple(steps), inputs, tuple(known[info.name] for info in graph.output))

    def _keep(self, place: int, array: np.ndarray, name: str) -> None:
        ours = self.ours and re.fullmatch(r"constant(_\d+)?", name)
        if array.ndim == 0 and array.dtype.kind in "fiub":
            self.numbers[place] = array.item()
        if array.dtype.kind in "fV" and array.ndim and not ours:
            self.weights[place] = Parameter(Tensor(array), name=name)
        else:
            self.constants[place] = _plain(array)

    def _step(self, node: Any, known: dict[str, int], made: dict[str, int]) -> Any:
        what = f"the operator {node.op_type}" + (f" ({node.name!r})" if node.name else "")
        if node.domain not in _DOMAINS:
            raise ValueError(f"{what} of the domain {node.domain!r} is not read")
        for name in node.input:
            if name and name not in known:
                raise ValueError(f"{what} takes {name!r}, which nothing has given before")
        given = tuple(known[name] if name else -1 for name in node.input)
        settings = {entry.name: self._setting(entry, what) for entry in node.attribute}
        outputs = tuple(self.place(made, name) for name in node.output)
        if node.op_type in ("If", "Loop"):
            return self._control(node, given, settings, known, outputs, what)
        function = FUNCTIONS.get(node.op_type)
        if function is None:
            raise ValueError(f"{what} is not read")
        if node.op_type == "Constant":
            return self._constant(settings, outputs, what)
        if node.op_type == "Pad" and len(given) > 2:
            if given[2] >= 0 and given[2] not in self.numbers:
                raise ValueError(f"{what} fills up with a value that is computed, which is not read")
            settings["value"] = self.numbers.get(given[2], 0)
            given = (*given[:2], *given[3:])
        if node.op_type == "Split" and "split" not in settings and len(given) == 1:
            settings.setdefault("num_outputs", len(outputs))
        if node.op_type in ("Softmax", "LogSoftmax") and self.version < 13:
            function = softmax_joined
            settings["log"] = int(node.op_type == "LogSoftmax")
        given = self._checked(node, function, given, settings, what)
        limit = _FIRST.get(node.op_type)
        if limit is not None and any(node.output[limit:]):
            raise ValueError(f"{what} gives more than is read: {node.output[limit]!r}")
        single = len(outputs) == 1 and node.op_type not in ("Split", "TopK", "LSTM", "GRU")
        return Step(function, given, outputs[:1] if single or limit else outputs, settings, single or limit is not None)

    def _checked(
        self, node: Any, function: Any, given: tuple[int, ...], settings: dict[str, Any], what: str
    ) -> tuple[int, ...]:
        """The inputs of an operator whose settings are read; of ``settings``, what the function takes stays."""
        kind = node.op_type
        for name in list(settings):
            allowed = _ONLY.get((kind, name))
            if allowed is not None and settings[name] not in allowed:
                raise ValueError(f"{what} has {name}={settings[name]!r}, which is not read")
        parameters = inspect.signature(function).parameters
        for name in list(settings):
            if name in parameters and parameters[name].kind is not inspect.Parameter.VAR_POSITIONAL:
                continue
            if (kind, name) in _ONLY or (kind, name) in _OF_TRAINING:  # it has the one value that is read
                del settings[name]
            elif not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
                raise ValueError(f"{what} has the setting {name!r}, which is not read")
        unread = _UNREAD.get(kind, ())
        for i in unread:
            if i < len(given) and given[i] >= 0:
                raise ValueError(f"{what} has the input {i} ({node.input[i]!r}), which is not read")
        given = given[:1] if kind == "Dropout" else tuple(x for i, x in enumerate(given) if i not in unread)
        try:
            inspect.signature(function).bind(*given, **settings)
        except TypeError as exc:
            raise ValueError(f"{what}: {exc}") from None
        return given

    def _setting(self, entry: Any, what: str) -> Any:
        kind = ATTRIBUTE_KINDS.get(entry.type)
        if kind is None:
            raise ValueError(f"{what} has the attribute {entry.name!r} of the kind {entry.type}, which is not read")
        value = getattr(entry, kind)
        if kind == "s":
            return value.decode(errors="replace")
        if kind == "t":
            return _plain(array_of(value))
        if kind == "strings":
            return tuple(text.decode(errors="replace") for text in value)
        return tuple(value) if kind in ("floats", "ints") else value

    def _constant(self, settings: dict[str, Any], outputs: tuple[int, ...], what: str) -> Step:
        if len(settings) != 1 or len(outputs) != 1:
            raise ValueError(f"{what} has no value")
        ((name, value),) = settings.items()
        if name in ("value_float", "value_floats"):
            value = Tensor(np.array(value, np.float32))
        elif name not in ("value", "value_int", "value_ints"):
            raise ValueError(f"{what} has the setting {name!r}, which is not read")
        if isinstance(value, int | float) or (isinstance(value, Tensor) and not value.shape):
            self.numbers[outputs[0]] = value.item() if isinstance(value, Tensor) else value
        return Step(FUNCTIONS["Constant"], (), outputs, {"value": value}, True)

    def _control(
        self, node: Any, given: tuple[int, ...], settings: dict[str, Any], known: dict[str, int],
        outputs: tuple[int, ...], what: str,
    ) -> Any:  # fmt: skip
        wanted = ("then_branch", "else_branch") if node.op_type == "If" else ("body",)
        if sorted(settings) != sorted(wanted):
            raise ValueError(f"{what} does not have the graphs {', '.join(wanted)}")
        plans = [self.plan(settings[name], known, with_inputs=False) for name in wanted]
        if node.op_type == "If":
            if len(given) != 1 or any(plan.inputs or len(plan.outputs) != len(outputs) for plan in plans):
                raise ValueError(f"{what} has branches that do not fit")
            return Branches(given[0], plans[0], plans[1], outputs)
        count, condition, *carry = (*given, *(-1,) * (2 - len(given)))
        (body,) = plans
        if len(body.inputs) != len(carry) + 2 or len(body.outputs) != len(carry) + 1 or len(outputs) != len(carry):
            raise ValueError(f"{what} gathers values of all rounds, or has a body that does not fit; that is not read")
        return Rounds(count, condition, tuple(carry), body, outputs)


def _plain(array: np.ndarray) -> Any:
    """Integers that sizes may be computed from as Python's; whatever else as a Tensor."""
    if array.dtype == np.int64 and array.ndim <= 1 and array.size <= _SMALL:
        return array.item() if array.ndim == 0 else tuple(array.tolist())
    return Tensor(array)
