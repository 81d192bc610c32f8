"""Loop IR to LLVM text; the files ``emit*.py`` are the one place that knows LLVM's spelling.

Here are functions, control flow and calls; `emit.values` computes, `emit.memory` loads and stores. Every function
becomes ``define i32 @symbol(ptr %bufs, ptr %dims)``; every parallel region an internal function that gets what it uses
of its surroundings through a context on the caller's stack. No fast-math flag is ever written, and no optimiser pass
will run: what is here is what is executed, so vectors, unrolling and hoisting are the builder's work.
"""

from __future__ import annotations

from typing import Any

from duograph.lower.loop.ir import Block, Buffer, Function, Instr, Value
from duograph.lower.loop.types import I64
from duograph.lower.target import Target

from .calls import CallTables
from .memory import Memory
from .module import Module, captured
from .spelling import llvm_type, word
from .values import Values


def emit_functions(functions: list[Function], target: Target) -> str:
    """One LLVM module with these functions; what they call besides is declared."""
    module = Module(target)
    for function in functions:
        if function.symbol not in module.defined:
            parts: list[str] = []
            module.defined[function.symbol] = ""
            _Emitter(module, function.symbol, parts).function(function)
            module.defined[function.symbol] = "\n".join(parts)
    return module.text()


class _Emitter(Values, Memory):
    """Writes one LLVM function, and the functions of its parallel regions."""

    def __init__(self, module: Module, symbol: str, parts: list[str]) -> None:
        super().__init__(module)
        self.symbol, self.parts = symbol, parts
        self.regions = 0
        self.call_slots = [0, 0]
        self.shared_status = False

    # ---- functions -----------------------------------------------------------------------------------------------

    def function(self, function: Function) -> None:
        self.entry.append("  %status = alloca i32")
        self.line("store i32 0, ptr %status")
        for k, buf in enumerate(function.buffers):
            slot = self.temp(f"getelementptr ptr, ptr %bufs, i64 {k}")
            self.assign(buf, f"load ptr, ptr {slot}")
        self.parameters = [self.names[buf.id] for buf in function.buffers]
        tables = self.tables = CallTables() if CallTables.is_worthwhile(function) else None
        for k, dim in enumerate(function.dims):
            slot = self.temp(f"getelementptr i64, ptr %dims, i64 {k}")
            self.assign(dim, f"load {llvm_type(dim.type)}, ptr {slot}")
            self.is_early(dim)
        body = function.body.instrs
        if tables is not None:
            self.fixed = {buf.id: (k, 0, "") for k, buf in enumerate(function.buffers)}
            prologue = tables.prologue(function)
            for instr in prologue:
                self.instr(instr)
                for result in instr.results:
                    self.is_early(result)
            place, before = len(self.lines), self.label
            self.line("")
            self.start("begin")
            body = body[len(prologue) :]
        for instr in body:
            self.instr(instr)
        if tables is not None:
            tables.write(self, place, before, "begin")
        status = self.temp("load i32, ptr %status")
        self.line(f"ret i32 {status}")
        self.close(f"define i32 @{self.symbol}(ptr noundef %bufs, ptr noundef %dims) #0")

    def close(self, head: str) -> None:
        if self.call_slots[0]:
            self.entry.append(f"  %cbufs = alloca [{self.call_slots[0]} x ptr], align 16")
        if self.call_slots[1]:
            self.entry.append(f"  %cdims = alloca [{self.call_slots[1]} x i64], align 16")
        self.parts.append("\n".join([f"{head} {{", "entry:", *self.entry, *self.lines, "}"]))

    def is_early(self, x: Value | Buffer) -> None:
        """``x`` has just got its name, before all calls: if it is a number, tables of calls may read it."""
        if self.tables is not None and isinstance(x, Value) and x.const is None and x.type == I64:
            self.tables.early.setdefault(self.names[x.id], len(self.lines) - 1)

    def block(self, block: Block) -> None:
        for instr in block.instrs:
            self.instr(instr)

    def instr(self, instr: Instr) -> None:
        if instr.op != "const":
            getattr(self, "do_" + instr.op.rstrip("_"), self.do_simple)(instr)

    # ---- control -------------------------------------------------------------------------------------------------

    def do_for(self, instr: Instr) -> None:
        lo, hi, step, *init = instr.operands
        (region,) = instr.regions
        before, body, after = self.label, self.fresh_label(), self.fresh_label()
        enters = self.temp(f"icmp slt i64 {self.ref(lo)}, {self.ref(hi)}")
        self.line(f"br i1 {enters}, label %{body}, label %{after}")
        self.start(body)
        slots = []
        for arg, first in zip(region.args, (lo, *init), strict=True):
            name = f"%v{arg.id}"
            self.names[arg.id] = name
            slots.append((len(self.lines), name, llvm_type(arg.type), self.ref(first)))
            self.lines.append("")
        self.block(region)
        following = self.temp(f"add nsw i64 {self.names[region.args[0].id]}, {self.ref(step)}")
        again = self.temp(f"icmp slt i64 {following}, {self.ref(hi)}")
        latch = self.label
        nexts = [following, *[self.ref(v) for v in region.yields]]
        for (at, name, t, initial), nxt in zip(slots, nexts, strict=True):
            self.lines[at] = f"  {name} = phi {t} [ {initial}, %{before} ], [ {nxt}, %{latch} ]"
        self.line(f"br i1 {again}, label %{body}, label %{after}")
        self.start(after)
        for result, first, nxt in zip(instr.results, init, nexts[1:], strict=True):
            t = llvm_type(result.type)  # type: ignore[union-attr]
            self.assign(result, f"phi {t} [ {self.ref(first)}, %{before} ], [ {nxt}, %{latch} ]")

    def do_while(self, instr: Instr) -> None:
        test, body = instr.regions
        before, head, inside, after = self.label, self.fresh_label(), self.fresh_label(), self.fresh_label()
        self.line(f"br label %{head}")
        self.start(head)
        slots = []
        for arg, twin, first, result in zip(test.args, body.args, instr.operands, instr.results, strict=True):
            name = f"%v{arg.id}"
            self.names[arg.id] = self.names[twin.id] = self.names[result.id] = name
            slots.append((len(self.lines), name, llvm_type(arg.type), self.ref(first)))
            self.lines.append("")
        self.block(test)
        self.line(f"br i1 {self.ref(test.yields[0])}, label %{inside}, label %{after}")
        self.start(inside)
        self.block(body)
        for (at, name, t, initial), value in zip(slots, body.yields, strict=True):
            self.lines[at] = f"  {name} = phi {t} [ {initial}, %{before} ], [ {self.ref(value)}, %{self.label} ]"
        self.line(f"br label %{head}")
        self.start(after)

    def do_if(self, instr: Instr) -> None:
        (cond,) = instr.operands
        yes, no = instr.regions
        first, second, after = self.fresh_label(), self.fresh_label(), self.fresh_label()
        self.line(f"br i1 {self.ref(cond)}, label %{first}, label %{second}")
        ends = []
        for label, region in ((first, yes), (second, no)):
            self.start(label)
            self.block(region)
            ends.append((self.label, [self.ref(v) for v in region.yields]))
            self.line(f"br label %{after}")
        self.start(after)
        for k, result in enumerate(instr.results):
            (la, a), (lb, b) = ends
            t = llvm_type(result.type)  # type: ignore[union-attr]
            self.assign(result, f"phi {t} [ {a[k]}, %{la} ], [ {b[k]}, %{lb} ]")

    def do_fail(self, instr: Instr) -> None:
        (cond,) = instr.operands
        code, t = instr.attrs["code"], self.fresh_label()
        after = self.fresh_label()
        self.line(f"br i1 {self.ref(cond)}, label %{t}, label %{after}")
        self.start(t)
        self.note(str(code))
        self.line(f"br label %{after}")
        self.start(after)

    def do_cycles(self, instr: Instr) -> None:
        counter = "steady" if self.module.target.arch == "aarch64" else "cycle"
        self.assign(instr.results[0], self.intrinsic(f"llvm.read{counter}counter", "i64", []))

    def do_leave(self, instr: Instr) -> None:
        status, out, after = self.temp("load i32, ptr %status"), self.fresh_label(), self.fresh_label()
        self.line(f"br i1 {self.temp(f'icmp ne i32 {status}, 0')}, label %{out}, label %{after}")
        self.start(out)
        self.line(f"ret i32 {status}")
        self.start(after)

    def note(self, code: str) -> None:
        """The largest status wins."""
        if self.shared_status:
            self.line(f"{self.fresh()} = atomicrmw umax ptr %status, i32 {code} monotonic")
            return
        old = self.temp("load i32, ptr %status")
        larger = self.temp(f"icmp ugt i32 {code}, {old}")
        self.line(f"store i32 {self.temp(f'select i1 {larger}, i32 {code}, i32 {old}')}, ptr %status")

    def do_call(self, instr: Instr) -> None:
        n = instr.attrs["n_buffers"]
        buffers, dims = instr.operands[:n], instr.operands[n:]
        pointers, table = self.pointers_of(buffers), self.sizes_of(dims)  # type: ignore[arg-type]
        symbol = instr.attrs["function"]
        if symbol not in self.module.defined:
            self.module.declare(f"declare i32 @{symbol}(ptr, ptr)")
        status = self.temp(f"call i32 @{symbol}(ptr {pointers}, ptr {table})")
        if not instr.attrs.get("safe"):
            self.note(status)

    def pointers_of(self, buffers: tuple[Any, ...]) -> str:
        """An array of pointers to ``buffers``."""
        if not buffers:
            return "null"
        if self.tables is not None and all(buf.id in self.fixed for buf in buffers):
            first = self.tables.pointers(tuple([self.fixed[buf.id] for buf in buffers]))
            if first is not None:
                return self.temp(f"getelementptr ptr, ptr %pointers, i64 {first}")
        self.call_slots[0] = max(self.call_slots[0], len(buffers))
        for k, buf in enumerate(buffers):
            slot = self.temp(f"getelementptr ptr, ptr %cbufs, i64 {k}")
            self.line(f"store ptr {self.ref(buf)}, ptr {slot}")
        return "%cbufs"

    def sizes_of(self, dims: tuple[Value, ...]) -> str:
        """An array of ``dims``."""
        if all(d.const is not None for d in dims):
            return self.module.constant(tuple([word(d) for d in dims])) if dims else "null"
        names = [self.names[d.id] if d.const is None else "" for d in dims]
        if self.tables is not None and all(not name or name in self.tables.early for name in names):
            sizes = [(word(d) if d.const is not None else 0, name) for d, name in zip(dims, names, strict=True)]
            first = self.tables.sizes(tuple(sizes))
            if first is not None:
                return self.temp(f"getelementptr i64, ptr %sizes, i64 {first}")
        self.call_slots[1] = max(self.call_slots[1], len(dims))
        for k, dim in enumerate(dims):
            slot = self.temp(f"getelementptr i64, ptr %cdims, i64 {k}")
            self.line(f"store {self.typed(dim)}, ptr {slot}")
        return "%cdims"

    def do_parallel(self, instr: Instr) -> None:
        lo, hi, grain = instr.operands
        (region,) = instr.regions
        outside = captured(region, {*self.names, *self.fixed})
        inner = _Emitter(self.module, f"{self.symbol}.p{self.regions}", self.parts)
        inner.shared_status = True
        self.regions += 1
        offset, layout = 8, []
        for x in outside:
            t = "ptr" if isinstance(x, Buffer) else llvm_type(x.type)
            size = 8 if isinstance(x, Buffer) else max(1, x.type.bits // 8 * x.type.lanes)
            align = min(64, 1 << (size - 1).bit_length())
            offset = -(-offset // align) * align
            layout.append((x, t, offset, align))
            offset += size
        context = self.fresh()
        self.entry.append(f"  {context} = alloca [{offset} x i8], align 64")
        self.line(f"store ptr %status, ptr {context}")
        inner.line("%status = load ptr, ptr %ctx")
        for x, t, at, align in layout:
            slot = self.temp(f"getelementptr i8, ptr {context}, i64 {at}")
            self.line(f"store {t} {self.ref(x)}, ptr {slot}, align {align}")
            there = inner.temp(f"getelementptr i8, ptr %ctx, i64 {at}")
            inner.assign(x, f"load {t}, ptr {there}, align {align}")
        for arg, name in zip(region.args, ("%begin", "%end"), strict=True):
            inner.names[arg.id] = name
        inner.block(region)
        inner.line("ret void")
        inner.close(f"define internal void @{inner.symbol}(ptr noundef %ctx, i64 %begin, i64 %end) #0")
        self.module.declare("declare void @dg_parallel(ptr, ptr, i64, i64, i64)")
        at_least = self.temp(self.intrinsic("llvm.smax.i64", "i64", [f"i64 {self.ref(grain)}", "i64 1"]))
        self.line(
            f"call void @dg_parallel(ptr @{inner.symbol}, ptr {context}, i64 {self.ref(lo)}, i64 {self.ref(hi)}, "
            f"i64 {at_least})"
        )
