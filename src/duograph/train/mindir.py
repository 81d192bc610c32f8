"""`export` and `load`: programs as MindIR files.

A ``.mindir`` file is a ZIP archive::

    graph.mindir          the program, as MindIR text
    functions/0.mindir    each recursive function that it calls
    program.json          arguments, results and state around the graph (``jit/portable.py``)
    arrays.safetensors    parameters (``state.0``, ...) and large constants (``const.k0``, ...)

so every part of it can be read with common tools. It ends (as the archive's comment) with a CRC-32 of all before,
which is checked before anything else is read. MindSpore's own files (protobuf) are read as well (`mindspore_ir`).
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

from duograph.base.files import write_file
from duograph.jit.exported import ExportedGraph
from duograph.jit.portable import Portable, portable

from . import mindspore_ir, safetensors_format
from .capturing import captured
from .onnx.export import encode

__all__ = ["export", "load"]

_FORMATS = ("AIR", "ONNX", "MINDIR")
_VERSION = 2  # 1: without a checksum
_CHECK = b"crc32:"
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)  # what zipfile raises of them
_TIME = (1980, 1, 1, 0, 0, 0)  # of every part, so that equal programs are equal files


def export(net: Any, *inputs: Any, file_name: str, file_format: str, **kwargs: Any) -> None:
    """Writes a network to a file.

    Args:
        net (Union[Cell, function]): a Cell, or a function of Tensors, compiled with `jit` or not.
        inputs (Union[Tensor, tuple, list, dict, int, float, bool, str, None]): what to call it with. A dimension that
            is ``None`` (``Tensor(shape=[None, 4], dtype=ms.float32)``) will be of any size; whatever is not a Tensor
            becomes a constant of the graph.
        file_name (str): the file; ``.mindir`` or ``.onnx`` is added if it is missing.
        file_format (str): ``"MINDIR"``, or ``"ONNX"`` for other runtimes (see `duograph.onnx.export`). ``"AIR"`` is for
            Ascend only.
        kwargs (dict): options of MindSpore for encryption and obfuscation, which are not available.

    Raises:
        ValueError: unknown format, or one that needs another device.
        TypeError: an argument has the wrong type.
        RuntimeError: the program needs the Python interpreter (prints, other libraries, Python objects), or an operator
            that ONNX does not have; the message shows where.
        NotImplementedError: encryption, obfuscation.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> net = nn.Dense(3, 2)
        >>> x = ms.Tensor([[1.0, 2.0, 3.0]])
        >>> ms.export(net, x, file_name="/tmp/dense", file_format="MINDIR")
        >>> again = nn.GraphCell(ms.load("/tmp/dense.mindir"))
        >>> bool((again(x) == net(x)).all())
        True
    """
    _check_export(file_name, file_format, kwargs)
    found = captured(net, inputs)
    if file_format == "ONNX":
        write_file(_with_ending(file_name, ".onnx"), encode(found))
    else:
        write_file(_with_ending(file_name, ".mindir"), _packed(portable(*found)))


def load(file_name: str, **kwargs: Any) -> ExportedGraph:
    """Reads what `export` wrote, or MindSpore's own: a graph for inference.

    Of MindSpore's files the primitives that duograph has are read, ``if`` and ``while``; not what changes parameters.

    Args:
        file_name (str): a ``.mindir`` file.
        kwargs (dict): options of MindSpore for encrypted files, which are not available.

    Returns:
        The graph; `nn.GraphCell` makes it callable.

    Raises:
        ValueError: no such file, or another ending.
        RuntimeError: the content is damaged, or has an operator that is not read; the message names it.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> ms.export(nn.ReLU(), ms.Tensor([-1.0, 1.0]), file_name="/tmp/relu", file_format="MINDIR")
        >>> print(nn.GraphCell(ms.load("/tmp/relu.mindir"))(ms.Tensor([-2.0, 2.0])))
        [0. 2.]
    """
    if not isinstance(file_name, str):
        raise ValueError(f"For 'load', the argument 'file_name' must be string, but got {type(file_name)}.")
    if not file_name.endswith(".mindir"):
        raise ValueError(
            "For 'load', the argument 'file_name'(MindIR file) should end with '.mindir', please input the correct "
            "'file_name'."
        )
    if not Path(file_name).is_file():
        raise ValueError(
            "For 'load', the argument 'file_name'(MindIR file) does not exist, please check whether the 'file_name' is "
            "correct."
        )
    _refuse_options("load", kwargs)
    foreign = False
    try:
        data = Path(file_name).read_bytes()
        foreign = mindspore_ir.is_foreign(data)
        return ExportedGraph(mindspore_ir.read(data) if foreign else _unpacked(data))
    except (*_DAMAGES, KeyError, ValueError, TypeError, OSError) as exc:
        what = "cannot be read" if foreign else "is not a file that 'export' writes"
        raise RuntimeError(f"Load MindIR failed: {file_name} {what}: {exc}") from exc


def _with_ending(name: str, ending: str) -> str:
    return name if name.endswith(ending) else name + ending


def _check_export(file_name: Any, file_format: Any, options: dict[str, Any]) -> None:
    if not isinstance(file_name, str):
        raise TypeError(f"The '{file_name}' must be string, but got {type(file_name)}.")
    if file_format not in _FORMATS:
        raise ValueError(f"For 'export', 'file_format' must be one of {list(_FORMATS)}, but got {file_format}.")
    if file_format == "AIR":
        raise ValueError("Only support export file in 'AIR' format with Ascend backend.")
    _refuse_options("export", options)


def _refuse_options(who: str, options: dict[str, Any]) -> None:
    """Encryption and obfuscation: a file that only seems to be protected would be worse than an error."""
    known = {"enc_key": None, "enc_mode": None, "dec_key": None, "dec_mode": None, "dec_func": None, "obf_config": None}
    for name, value in options.items():
        if name not in known and name not in ("incremental", "custom_func", "dataset", "obf_func"):
            raise TypeError(f"{who}() got an unexpected keyword argument {name!r}")
        if name in ("enc_key", "dec_key", "dec_func", "obf_config") and value:
            raise NotImplementedError(f"For '{who}', encrypted and obfuscated files are not available ({name!r}).")


# ---- the file -------------------------------------------------------------------------------------------------------


def _packed(content: Portable) -> bytes:
    buffer = io.BytesIO()
    program = {"version": _VERSION, "functions": list(content.functions), **content.program}
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:

        def add(name: str, data: str | bytes) -> None:
            archive.writestr(zipfile.ZipInfo(name, _TIME), data)

        add("graph.mindir", content.text)
        for i, text in enumerate(content.functions.values()):
            add(f"functions/{i}.mindir", text)
        add("program.json", json.dumps(program, indent=1))
        add("arrays.safetensors", b"".join(safetensors_format.encode(content.arrays, {})))
        archive.comment = _CHECK + b"0" * 8
    data = buffer.getvalue()[:-8]
    return data + f"{zlib.crc32(data):08x}".encode()


def _unpacked(data: bytes) -> Portable:
    if data[-14:-8] == _CHECK and data[-8:] != f"{zlib.crc32(data[:-8]):08x}".encode():
        raise ValueError("it is damaged: its CRC-32 is wrong")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        program = json.loads(archive.read("program.json"))
        if program["version"] not in (1, _VERSION):
            raise ValueError(f"its version is {program['version']}, this is {_VERSION}")
        if program["version"] != 1 and data[-14:-8] != _CHECK:
            raise ValueError("it is damaged: its checksum is gone")
        functions = {
            name: archive.read(f"functions/{i}.mindir").decode() for i, name in enumerate(program["functions"])
        }
        arrays, _ = safetensors_format.decode(archive.read("arrays.safetensors"))
        return Portable(archive.read("graph.mindir").decode(), functions, program, arrays)
