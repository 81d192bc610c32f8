"""Arithmetic, conversions and vectors of the loop IR as LLVM text."""

from __future__ import annotations

from duograph.lower.loop.ir import Instr, Value
from duograph.lower.loop.types import VType

from .half import narrow_half, widen_half
from .lines import Lines
from .spelling import BINARY, BITS_OF, FLOAT_CMP, FLOAT_UNARY, literal, llvm_type, suffix


class Values(Lines):
    """Writes instructions that compute."""

    def do_simple(self, instr: Instr) -> None:
        """Arithmetic, by tables."""
        (result,) = instr.results
        assert isinstance(result, Value)
        type_, t = result.type, llvm_type(result.type)
        ops = [self.ref(x) for x in instr.operands]
        op = instr.op
        if op == "add" and ops[1] == "0" and not type_.is_float:
            self.names[result.id] = ops[0]  # an offset that turned out to be none
            return
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
