"""What the parts of the emitter share: the lines of one LLVM function, and the names of its values."""

from __future__ import annotations

from duograph.lower.loop.ir import Buffer, Value

from .calls import CallTables
from .module import Module
from .spelling import literal, llvm_type, type_of


class Lines:
    """One LLVM function under construction.

    Attributes:
        lines: its code.
        entry: stack memory, reserved once.
        names: what values and buffers are called, by id.
        label: the block that is being written.
        parameters: names of the buffers that are parameters.
        fixed: buffers without a name yet, by id: number of a parameter, bytes behind its start, and further ones: a
            number that is known early, or none.
        tables: arguments of its calls, where there are many.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines: list[str] = []
        self.entry: list[str] = []
        self.names: dict[int, str] = {}
        self.label = "entry"
        self.parameters: list[str] = []
        self.fixed: dict[int, tuple[int, int, str]] = {}
        self.tables: CallTables | None = None
        self._count = 0

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def fresh(self) -> str:
        self._count += 1
        return f"%t{self._count}"

    def fresh_label(self) -> str:
        self._count += 1
        return f"L{self._count}"

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def ref(self, x: Value | Buffer) -> str:
        if isinstance(x, Value) and x.const is not None:
            return literal(x.const, x.type)
        if x.id in self.names:
            return self.names[x.id]
        number, offset, early = self.fixed[x.id]
        found = self.temp(f"getelementptr i8, ptr {self.parameters[number]}, i64 {offset}")
        return self.temp(f"getelementptr i8, ptr {found}, i64 {early}") if early else found

    def typed(self, x: Value) -> str:
        return f"{llvm_type(x.type)} {self.ref(x)}"

    def assign(self, x: Value | Buffer, text: str) -> None:
        name = f"%{'v' if isinstance(x, Value) else 'b'}{x.id}"
        self.names[x.id] = name
        self.line(f"{name} = {text}")

    def temp(self, text: str) -> str:
        name = self.fresh()
        self.line(f"{name} = {text}")
        return name

    def intrinsic(self, name: str, result: str, args: list[str]) -> str:
        """The text of a call of an intrinsic; ``args`` are typed."""
        types = ", ".join(type_of(a) for a in args)
        self.module.declare(f"declare {result} @{name}({types})")
        return f"call {result} @{name}({', '.join(args)})"
