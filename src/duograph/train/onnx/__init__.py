"""``mindspore.onnx``: networks as ONNX files.

Everything is written here from MindIR (`writer.py`, `registry.py`) and from the messages of the format (`schema.py`);
the ``onnx`` package is not needed. Operators are those of opset 18. Files of other writers are
read as Cells (`load.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from duograph.base.files import write_file
from duograph.tensor.tensor import Tensor

from ..capturing import captured
from .cell import OnnxCell
from .export import encode, open_dimensions
from .load import load

__all__ = ["OnnxCell", "export", "load"]


def export(
    net: Any,
    *inputs: Any,
    file_name: str,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    export_params: bool = True,
    keep_initializers_as_inputs: bool = False,
    dynamic_axes: Mapping[str, Any] | None = None,
) -> None:
    """Writes a network to an ONNX file, with its control flow and with sizes that are left open.

    Args:
        net (Union[Cell, function]): a Cell, or a function of Tensors. Of a Cell in training, ``set_train(False)`` comes
            first.
        inputs (Union[Tensor, tuple, list, dict, int, float, bool, str, None]): what to call it with. A dimension that is
            ``None`` (``Tensor(shape=[None, 4], dtype=ms.float32)``) will be of any size; anything else becomes
            a constant.
        file_name (str): the file; ``.onnx`` is added if it is missing.
        input_names (list[str]): names of the inputs. Default ``None``: those of the arguments.
        output_names (list[str]): names of the outputs. Default ``None``: ``output``, ``output_1``, ...
        export_params (bool): must be ``True``: the weights are in the file. Default ``True``.
        keep_initializers_as_inputs (bool): whether the weights can be given as inputs, too. Default ``False``.
        dynamic_axes (dict): by input name, the dimensions that will be of any size: a list of them, or a dict from
            them to names (which are not kept). Default ``None``.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: names that do not fit, or an unknown input among the ``dynamic_axes``.
        NotImplementedError: ``export_params=False``.
        RuntimeError: the program needs the Python interpreter, or an operator that ONNX does not have; the message names
            the operator and shows the line.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> x = ms.Tensor(shape=[None, 3], dtype=ms.float32)
        >>> ms.onnx.export(nn.Dense(3, 2), x, file_name="/tmp/dense.onnx", input_names=["x"], output_names=["y"])
    """  # noqa: E501
    if not isinstance(file_name, str):
        raise TypeError(f"For 'onnx.export', 'file_name' must be string, but got {type(file_name)}.")
    if not export_params:
        raise NotImplementedError("For 'onnx.export', the weights are always in the file ('export_params').")
    if dynamic_axes:
        inputs = _opened(inputs, input_names, dynamic_axes)
    data = encode(captured(net, inputs), input_names, output_names, keep_initializers_as_inputs)
    write_file(file_name if file_name.endswith(".onnx") else f"{file_name}.onnx", data)


def _opened(inputs: tuple[Any, ...], names: Sequence[str] | None, axes: Mapping[str, Any]) -> tuple[Any, ...]:
    """The inputs, with dimensions that are left open."""
    if names is None:
        raise ValueError("For 'onnx.export', 'dynamic_axes' needs 'input_names', which say what inputs it is about.")
    unknown = [name for name in axes if name not in names]
    if unknown:
        raise ValueError(f"For 'onnx.export', {unknown[0]!r} of 'dynamic_axes' is none of the inputs {list(names)}.")
    return tuple(
        open_dimensions(value, tuple(axes[name])) if isinstance(value, Tensor) and name in axes else value
        for value, name in zip(inputs, names, strict=False)
    ) + tuple(inputs[len(names) :])
