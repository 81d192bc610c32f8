"""Loop IR to LLVM text: the one place that knows LLVM's spelling.

Every function becomes ``define i32 @symbol(ptr %bufs, ptr %dims)``; every parallel region an internal function that
gets what it uses of its surroundings through a context on the caller's stack. No fast-math flag is ever written, and no
optimiser pass will run: what is here is what is executed, so vectors, unrolling and hoisting are the builder's work.
"""

from __future__ import annotations

from typing import Any

from .emit_calls import PointerTable
from .emit_half import narrow_half, widen_half
from .emit_module import Module, captured
from .emit_spelling import (
    BINARY,
    BITS_OF,
    FLOAT_CMP,
    FLOAT_UNARY,
    LLVM,
    literal,
    llvm_type,
    memory_suffix,
    memory_type,
    suffix,
    type_of,
    word,
)  # fmt: skip
from .loop.ir import Block, Buffer, Function, Instr, Value
from .loop.types import VType
from .target import Target


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


class _Emitter:
    """Writes one LLVM function, and the functions of its parallel regions."""

    def __init__(self, module: Module, symbol: str, parts: list[str]) -> None:
        self.module, self.symbol, self.parts = module, symbol, parts
        self.lines: list[str] = []
        self.entry: list[str] = []  # stack memory, reserved once
        self.names: dict[int, str] = {}  # of values and buffers, by id
        self.label = "entry"
        self.counter = 0
        self.regions = 0
        self.call_slots = [0, 0]
        self.shared_status = False
        self.fixed: dict[int, tuple[int, int]] = {}  # buffers: number of a parameter, bytes behind its start
        self.addresses: dict[int, tuple[int, int]] = {}  # the same of integers
        self.pointers_of_calls: PointerTable | None = None

    # ---- names and lines -----------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def fresh(self) -> str:
        self.counter += 1
        return f"%t{self.counter}"

    def fresh_label(self) -> str:
        self.counter += 1
        return f"L{self.counter}"

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def ref(self, x: Value | Buffer) -> str:
        if isinstance(x, Value) and x.const is not None:
            return literal(x.const, x.type)
        if x.id in self.names:
            return self.names[x.id]
        number, offset = self.fixed[x.id]
        return self.temp(f"getelementptr i8, ptr {self.parameters[number]}, i64 {offset}")

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

    # ---- functions -----------------------------------------------------------------------------------------------

    def function(self, function: Function) -> None:
        self.entry.append("  %status = alloca i32")
        self.line("store i32 0, ptr %status")
        for k, buf in enumerate(function.buffers):
            slot = self.temp(f"getelementptr ptr, ptr %bufs, i64 {k}")
            self.assign(buf, f"load ptr, ptr {slot}")
        self.parameters = [self.names[buf.id] for buf in function.buffers]
        for k, dim in enumerate(function.dims):
            slot = self.temp(f"getelementptr i64, ptr %dims, i64 {k}")
            self.assign(dim, f"load {llvm_type(dim.type)}, ptr {slot}")
        if PointerTable.is_worthwhile(function):
            self.pointers_of_calls = PointerTable()
            self.fixed = {buf.id: (k, 0) for k, buf in enumerate(function.buffers)}
            place = len(self.lines)
            self.line("")
            self.start("begin")
        self.block(function.body)
        if self.pointers_of_calls is not None:
            self.lines[place] = self.pointers_of_calls.text(self.module, "begin")
        status = self.temp("load i32, ptr %status")
        self.line(f"ret i32 {status}")
        self.close(f"define i32 @{self.symbol}(ptr noundef %bufs, ptr noundef %dims) #0")

    def close(self, head: str) -> None:
        if self.call_slots[0]:
            self.entry.append(f"  %cbufs = alloca [{self.call_slots[0]} x ptr], align 16")
        if self.call_slots[1]:
            self.entry.append(f"  %cdims = alloca [{self.call_slots[1]} x i64], align 16")
        self.parts.append("\n".join([f"{head} {{", "entry:", *self.entry, *self.lines, "}"]))

    def block(self, block: Block) -> None:
        for instr in block.instrs:
            if instr.op != "const":
                getattr(self, "do_" + instr.op.rstrip("_"), self.do_simple)(instr)

    # ---- arithmetic ----------------------------------------------------------------------------------------------

    def do_simple(self, instr: Instr) -> None:
        """Arithmetic, by tables."""
        (result,) = instr.results
        assert isinstance(result, Value)
        type_, t = result.type, llvm_type(result.type)
        ops = [self.ref(x) for x in instr.operands]
        op = instr.op
        if op in BINARY:
            name = BINARY[op][0 if type_.is_float else 1 if type_.is_signed else 2]
            if not name:
                raise TypeError(f"{op} of {type_}")
            if name.startswith("llvm."):
                text = self.intrinsic(f"{name}.{suffix(type_)}", t, [f"{t} {x}" for x in ops])
            else:
                text = f"{name} {t} {ops[0]}, {ops[1]}"
        elif op == "neg":
            text = f"fneg {t} {ops[0]}" if type_.is_float else f"sub {t} {literal(0, type_)}, {ops[0]}"
        elif op == "not":
            ones = literal(True if type_.is_bool else -1, type_)
            text = f"xor {t} {ops[0]}, {ones}"
        elif op == "abs" and not type_.is_float:
            text = self.intrinsic(f"llvm.abs.{suffix(type_)}", t, [f"{t} {ops[0]}", "i1 false"])
        elif op in FLOAT_UNARY and type_.is_float:
            text = self.intrinsic(f"llvm.{FLOAT_UNARY[op]}.{suffix(type_)}", t, [f"{t} {ops[0]}"])
        elif op in BITS_OF:
            extra = ["i1 false"] if op != "popcount" else []
            text = self.intrinsic(f"llvm.{BITS_OF[op]}.{suffix(type_)}", t, [f"{t} {ops[0]}", *extra])
        elif op == "copysign":
            text = self.intrinsic(f"llvm.copysign.{suffix(type_)}", t, [f"{t} {x}" for x in ops])
        elif op == "fma":
            name = "fma" if self.module.target.has_fma else "fmuladd"
            text = self.intrinsic(f"llvm.{name}.{suffix(type_)}", t, [f"{t} {x}" for x in ops])
        else:
            raise NotImplementedError(f"loop IR instruction {op} of {type_}")
        self.assign(result, text)

    def do_cmp(self, instr: Instr) -> None:
        a, b = instr.operands
        assert isinstance(a, Value)
        pred, t = instr.attrs["pred"], llvm_type(a.type)
        if a.type.is_float:
            text = f"fcmp {FLOAT_CMP[pred]} {t} {self.ref(a)}, {self.ref(b)}"
        else:
            prefix = "" if pred in ("eq", "ne") else "s" if a.type.is_signed else "u"
            text = f"icmp {prefix}{pred} {t} {self.ref(a)}, {self.ref(b)}"
        self.assign(instr.results[0], text)

    def do_select(self, instr: Instr) -> None:
        c, a, b = instr.operands
        self.assign(instr.results[0], f"select {self.typed(c)}, {self.typed(a)}, {self.typed(b)}")  # type: ignore[arg-type]

    def do_bitcast(self, instr: Instr) -> None:
        (x,), (result,) = instr.operands, instr.results
        a, b = llvm_type(x.type), llvm_type(result.type)  # type: ignore[union-attr]
        if a == b:
            self.names[result.id] = self.ref(x)
        else:
            self.assign(result, f"bitcast {a} {self.ref(x)} to {b}")

    def do_convert(self, instr: Instr) -> None:
        (x,), (result,) = instr.operands, instr.results
        assert isinstance(x, Value) and isinstance(result, Value)
        self.names[result.id] = self.converted(self.ref(x), x.type, result.type)

    def converted(self, x: str, source: VType, goal: VType) -> str:
        """``x`` as a number of another element type."""
        if source.elem == goal.elem:
            return x
        if source.elem in ("f16", "bf16"):
            wide = widen_half(self, x, source, self.module.target.has_f16)
            return self.converted(wide, source.with_elem("f32"), goal)
        if goal.elem in ("f16", "bf16"):
            single = self.converted(x, source, goal.with_elem("f32"))
            return narrow_half(self, single, goal, self.module.target.has_f16)
        a, b = llvm_type(source), llvm_type(goal)
        if goal.is_bool:
            zero = literal(0.0 if source.is_float else 0, source)
            return self.temp(f"{'fcmp une' if source.is_float else 'icmp ne'} {a} {x}, {zero}")
        if source.is_float and goal.is_float:
            return self.temp(f"{'fpext' if goal.elem == 'f64' else 'fptrunc'} {a} {x} to {b}")
        if source.is_float:
            return self.temp(f"{'fptosi' if goal.is_signed else 'fptoui'} {a} {x} to {b}")
        if goal.is_float:
            return self.temp(f"{'sitofp' if source.is_signed else 'uitofp'} {a} {x} to {b}")
        if a == b:
            return x
        if source.is_bool or goal.bits > source.bits:
            return self.temp(f"{'sext' if source.is_signed else 'zext'} {a} {x} to {b}")
        return self.temp(f"trunc {a} {x} to {b}")

    # ---- vectors -------------------------------------------------------------------------------------------------

    def do_splat(self, instr: Instr) -> None:
        (x,), (result,) = instr.operands, instr.results
        assert isinstance(result, Value) and isinstance(x, Value)
        t, n = llvm_type(result.type), result.type.lanes
        one = self.temp(f"insertelement {t} poison, {self.typed(x)}, i64 0")
        self.assign(result, f"shufflevector {t} {one}, {t} poison, <{n} x i32> zeroinitializer")

    def do_lanes(self, instr: Instr) -> None:
        (result,) = instr.results
        assert isinstance(result, Value)
        lane_type = result.type.with_lanes(1)
        values = range(result.type.lanes)
        numbers = [literal(float(v) if lane_type.is_float else v, lane_type) for v in values]
        items = ", ".join(f"{llvm_type(lane_type)} {number}" for number in numbers)
        self.names[result.id] = f"<{items}>"

    def do_any(self, instr: Instr) -> None:
        (x,) = instr.operands
        n = x.type.lanes  # type: ignore[union-attr]
        bits = self.temp(f"bitcast {self.typed(x)} to i{n}")  # type: ignore[arg-type]
        self.assign(instr.results[0], f"icmp ne i{n} {bits}, 0")

    def do_libm(self, instr: Instr) -> None:
        args = [self.typed(x) for x in instr.operands]  # type: ignore[arg-type]
        self.assign(instr.results[0], self.intrinsic(instr.attrs["name"], "double", args))

    def do_extract(self, instr: Instr) -> None:
        (x,) = instr.operands
        self.assign(instr.results[0], f"extractelement {self.typed(x)}, i64 {instr.attrs['lane']}")  # type: ignore[arg-type]

    def do_insert(self, instr: Instr) -> None:
        x, value = instr.operands
        text = f"insertelement {self.typed(x)}, {self.typed(value)}, i64 {instr.attrs['lane']}"  # type: ignore[arg-type]
        self.assign(instr.results[0], text)

    def do_shuffle(self, instr: Instr) -> None:
        a, b = instr.operands
        mask = ", ".join(f"i32 {m}" for m in instr.attrs["mask"])
        text = f"shufflevector {self.typed(a)}, {self.typed(b)}, <{len(instr.attrs['mask'])} x i32> <{mask}>"  # type: ignore[arg-type]
        self.assign(instr.results[0], text)

    # ---- memory --------------------------------------------------------------------------------------------------

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
        if buf.id in self.fixed and isinstance(offset, Value) and offset.const is not None:
            number, start = self.fixed[buf.id]
            self.fixed[instr.results[0].id] = number, start + offset.const
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
        pointers = self.pointers_of(buffers)
        table = "%cdims"
        if all(d.const is not None for d in dims):  # type: ignore[union-attr]
            table = self.module.constant(tuple([word(d) for d in dims])) if dims else "null"
        else:
            self.call_slots[1] = max(self.call_slots[1], len(dims))
            for k, dim in enumerate(dims):
                slot = self.temp(f"getelementptr i64, ptr %cdims, i64 {k}")
                self.line(f"store {self.typed(dim)}, ptr {slot}")  # type: ignore[arg-type]
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
        if self.pointers_of_calls is not None and all(buf.id in self.fixed for buf in buffers):
            first = self.pointers_of_calls.place(tuple([self.fixed[buf.id] for buf in buffers]))
            if first is not None:
                return self.temp(f"getelementptr ptr, ptr %pointers, i64 {first}")
        self.call_slots[0] = max(self.call_slots[0], len(buffers))
        for k, buf in enumerate(buffers):
            slot = self.temp(f"getelementptr ptr, ptr %cbufs, i64 {k}")
            self.line(f"store ptr {self.ref(buf)}, ptr {slot}")
        return "%cbufs"

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
