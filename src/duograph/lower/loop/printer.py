"""Prints loop IR. Values and buffers are numbered by occurrence, so equal functions print equal text.

func scale(&0 x: f32, &1 out: f32; %0 n: i64) {
  %1: i64 = sub %0 16
  for %2 in 0 .. %1 step 16 {
    %3: f32x16 = load &0 %2
    ...
"""

from __future__ import annotations

import struct
from typing import Any

from .ir import Block, Buffer, Function, Instr, Value
from .types import VType


class _Names:
    def __init__(self) -> None:
        self.values: dict[int, str] = {}
        self.buffers: dict[int, str] = {}
        self.numbered = 0  # values that are no constants

    def of(self, x: Value | Buffer) -> str:
        names = self.values if x.__class__ is Value else self.buffers
        return names.get(x.id) or self._new(x)

    def _new(self, x: Value | Buffer) -> str:
        if isinstance(x, Buffer):
            name = self.buffers[x.id] = f"&{len(self.buffers)}"
        elif x.const is not None:
            name = self.values[x.id] = show_const(x.const, x.type)
        else:
            name = self.values[x.id] = f"%{self.numbered}"
            self.numbered += 1
        return name

    def typed(self, x: Value | Buffer) -> str:
        return f"{self.of(x)}: {x.elem if isinstance(x, Buffer) else x.type}"


def show_const(value: Any, type: VType) -> str:
    """A constant with its type; floats exactly, by their bits where decimal text is not exact."""
    shown = f"({', '.join(_number(v) for v in value)})" if isinstance(value, tuple) else _number(value)
    return shown if str(type) == "i64" else f"{shown}:{type}"


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"
        return repr(value)
    return str(value)


def show_function(function: Function) -> str:
    """The text of ``function`` under the name ``kernel``: identity does not depend on what it is called."""
    names = _Names()
    buffers = ", ".join(f"{names.of(b)} {b.name}: {b.elem}" for b in function.buffers)
    dims = ", ".join(f"{names.of(d)} {n}: {d.type}" for d, n in zip(function.dims, function.dim_names, strict=True))
    lines = [f"func({buffers}; {dims}) {{"]
    _block(function.body, names, lines, "  ")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _block(block: Block, names: _Names, lines: list[str], indent: str) -> None:
    for instr in block.instrs:
        if instr.op != "const":
            _instr(instr, names, lines, indent)
    if block.yields:
        lines.append(f"{indent}yield {' '.join(names.of(v) for v in block.yields)}")


def _instr(instr: Instr, names: _Names, lines: list[str], indent: str) -> None:
    words = [instr.op]
    if instr.attrs:
        words += [f"{k}={_attr(v)}" for k, v in sorted(instr.attrs.items()) if v is not None]
    words += [names.of(x) for x in instr.operands]
    if instr.regions:
        words.append("{")
    text = " ".join(words)
    if instr.results:
        lines.append(f"{indent}{', '.join([names.typed(r) for r in instr.results])} = {text}")
    else:
        lines.append(indent + text)
    for number, region in enumerate(instr.regions):
        if number:
            lines.append(f"{indent}}} {{")
        if region.args:
            lines.append(f"{indent}  args {', '.join([names.typed(a) for a in region.args])}")
        _block(region, names, lines, indent + "  ")
    if instr.regions:
        lines.append(f"{indent}}}")


def _attr(value: Any) -> str:
    return f"({','.join(map(str, value))})" if isinstance(value, tuple) else str(value)
