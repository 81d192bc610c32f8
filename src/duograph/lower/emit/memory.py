"""Loads, stores and addresses of the loop IR as LLVM text."""

from __future__ import annotations

from typing import Any

from duograph.lower.loop.ir import Buffer, Instr, Value
from duograph.lower.loop.types import VType

from .lines import Lines
from .module import Module
from .spelling import LLVM, memory_suffix, memory_type


class Memory(Lines):
    """Writes instructions on memory."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.addresses: dict[int, tuple[int, int, str]] = {}  # of `fixed` buffers as integers, by id

    def address(self, buf: Any, index: Value) -> str:
        elem = "i8" if buf.elem == "bool" else LLVM[buf.elem]
        return self.temp(f"getelementptr {elem}, ptr {self.ref(buf)}, i64 {self.ref(index)}")

    def from_memory(self, result: Value, raw: str) -> None:
        if result.type.is_bool:
            t = memory_type(result.type)
            raw = self.temp(f"icmp ne {t} {raw}, {'zeroinitializer' if result.type.lanes > 1 else '0'}")
        self.names[result.id] = raw

    def to_memory(self, value: Value) -> str:
        """The typed operand that is stored for ``value``."""
        if value.type.is_bool:
            wide = self.temp(f"zext {self.typed(value)} to {memory_type(value.type)}")
            return f"{memory_type(value.type)} {wide}"
        return self.typed(value)

    def do_load(self, instr: Instr) -> None:
        buf, index, *mask = instr.operands
        (result,) = instr.results
        assert isinstance(result, Value) and isinstance(index, Value)
        t, align = memory_type(result.type), result.type.bits // 8
        address = self.address(buf, index)
        if mask and result.type.lanes == 1:
            address = self.if_on(address, mask[0], t)
            zero = "0x0000000000000000" if result.type.elem in ("f32", "f64") else "0"
            loaded = self.temp(f"load {t}, ptr {address}, align {align}")
            raw = self.temp(f"select {self.typed(mask[0])}, {t} {loaded}, {t} {zero}")  # type: ignore[arg-type]
        elif not mask:
            raw = self.temp(f"load {t}, ptr {address}, align {align}")
        else:
            name = f"llvm.masked.load.{memory_suffix(result.type)}.p0"
            args = [f"ptr {address}", f"i32 {align}", self.typed(mask[0]), f"{t} zeroinitializer"]  # type: ignore[arg-type]
            raw = self.temp(self.intrinsic(name, t, args))
        self.from_memory(result, raw)

    def do_store(self, instr: Instr) -> None:
        buf, index, value, *mask = instr.operands
        assert isinstance(value, Value) and isinstance(index, Value)
        address, align = self.address(buf, index), value.type.bits // 8
        stored = self.to_memory(value)
        if mask and value.type.lanes == 1:
            address = self.if_on(address, mask[0], memory_type(value.type))
        if not mask or value.type.lanes == 1:
            self.line(f"store {stored}, ptr {address}, align {align}")
        else:
            name = f"llvm.masked.store.{memory_suffix(value.type)}.p0"
            args = [stored, f"ptr {address}", f"i32 {align}", self.typed(mask[0])]  # type: ignore[arg-type]
            self.line(self.intrinsic(name, "void", args))

    def if_on(self, address: str, mask: Value | Buffer, type: str) -> str:
        """``address`` if the one lane of ``mask`` is on, else that of a place nobody looks at: LLVM's masked accesses
        are for vectors only."""
        nowhere = self.fresh()
        self.entry.append(f"  {nowhere} = alloca {type}, align 16")
        return self.temp(f"select {self.typed(mask)}, ptr {address}, ptr {nowhere}")  # type: ignore[arg-type]

    def pointers(self, buf: Any, indices: Value) -> str:
        elem = "i8" if buf.elem == "bool" else LLVM[buf.elem]
        n = indices.type.lanes
        return self.temp(f"getelementptr {elem}, ptr {self.ref(buf)}, <{n} x i64> {self.ref(indices)}")

    def do_gather(self, instr: Instr) -> None:
        buf, indices, *mask = instr.operands
        (result,) = instr.results
        assert isinstance(result, Value) and isinstance(indices, Value)
        t, n = memory_type(result.type), result.type.lanes
        cond = self.typed(mask[0]) if mask else f"<{n} x i1> splat (i1 true)"  # type: ignore[arg-type]
        name = f"llvm.masked.gather.{memory_suffix(result.type)}.v{n}p0"
        align = f"i32 {result.type.bits // 8}"
        args = [f"<{n} x ptr> {self.pointers(buf, indices)}", align, cond, f"{t} zeroinitializer"]
        self.from_memory(result, self.temp(self.intrinsic(name, t, args)))

    def do_scatter(self, instr: Instr) -> None:
        buf, indices, value, *mask = instr.operands
        assert isinstance(value, Value) and isinstance(indices, Value)
        n = value.type.lanes
        cond = self.typed(mask[0]) if mask else f"<{n} x i1> splat (i1 true)"  # type: ignore[arg-type]
        name = f"llvm.masked.scatter.{memory_suffix(value.type)}.v{n}p0"
        stored = self.to_memory(value)
        args = [stored, f"<{n} x ptr> {self.pointers(buf, indices)}", f"i32 {value.type.bits // 8}", cond]
        self.line(self.intrinsic(name, "void", args))

    def do_prefetch(self, instr: Instr) -> None:
        buf, index = instr.operands
        address = self.address(buf, index)  # type: ignore[arg-type]
        self.line(self.intrinsic("llvm.prefetch.p0", "void", [f"ptr {address}", "i32 0", "i32 3", "i32 1"]))

    def do_atomic_add(self, instr: Instr) -> None:
        buf, index, value = instr.operands
        address = self.address(buf, index)  # type: ignore[arg-type]
        self.assign(instr.results[0], f"atomicrmw add ptr {address}, {self.typed(value)} acq_rel")  # type: ignore[arg-type]

    def do_alloca(self, instr: Instr) -> None:
        (buf,) = instr.results
        name = f"%b{buf.id}"
        self.names[buf.id] = name
        elem = "i8" if instr.attrs["elem"] == "bool" else LLVM[instr.attrs["elem"]]
        self.entry.append(f"  {name} = alloca [{instr.attrs['count']} x {elem}], align {instr.attrs['align']}")

    def do_view(self, instr: Instr) -> None:
        buf, offset = instr.operands
        if buf.id in self.fixed and isinstance(offset, Value):
            number, start, early = self.fixed[buf.id]
            if offset.const is not None:
                self.fixed[instr.results[0].id] = number, start + offset.const, early
                return
            if not early and self.tables is not None and self.names[offset.id] in self.tables.early:
                self.fixed[instr.results[0].id] = number, start, self.names[offset.id]
                return
        self.assign(instr.results[0], f"getelementptr i8, ptr {self.ref(buf)}, i64 {self.ref(offset)}")

    def do_alloc(self, instr: Instr) -> None:
        (nbytes,) = instr.operands
        self.module.declare("declare ptr @aligned_alloc(i64, i64)")
        padded = self.temp(f"add i64 {self.ref(nbytes)}, 127")
        whole = self.temp(f"and i64 {padded}, -64")
        self.assign(instr.results[0], f"call ptr @aligned_alloc(i64 64, i64 {whole})")

    def do_free(self, instr: Instr) -> None:
        self.module.declare("declare void @free(ptr)")
        self.line(f"call void @free(ptr {self.ref(instr.operands[0])})")

    def do_is_null(self, instr: Instr) -> None:
        self.assign(instr.results[0], f"icmp eq ptr {self.ref(instr.operands[0])}, null")

    def do_same_memory(self, instr: Instr) -> None:
        a, b = (self.ref(x) for x in instr.operands)
        self.assign(instr.results[0], f"icmp eq ptr {a}, {b}")

    def do_address(self, instr: Instr) -> None:
        if instr.operands[0].id in self.fixed:
            self.addresses[instr.results[0].id] = self.fixed[instr.operands[0].id]
        self.assign(instr.results[0], f"ptrtoint ptr {self.ref(instr.operands[0])} to i64")

    def do_at(self, instr: Instr) -> None:
        if instr.operands[0].id in self.addresses:
            self.fixed[instr.results[0].id] = self.addresses[instr.operands[0].id]
            return
        self.assign(instr.results[0], f"inttoptr i64 {self.ref(instr.operands[0])} to ptr")

    def do_copy(self, instr: Instr) -> None:
        dst, at, src, start, count = instr.operands
        size = VType(dst.elem).bits // 8  # type: ignore[union-attr]
        to, from_ = self.address(dst, at), self.address(src, start)  # type: ignore[arg-type]
        nbytes = self.temp(f"mul i64 {self.ref(count)}, {size}")
        args = [f"ptr {to}", f"ptr {from_}", f"i64 {nbytes}", "i1 false"]
        self.line(self.intrinsic("llvm.memcpy.p0.p0.i64", "void", args))
