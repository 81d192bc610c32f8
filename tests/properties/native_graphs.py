"""Random MindIR graphs of tensor ops, and what must hold when they become machine code.

Every node: its native kernel gives the bits of the loop IR interpreter, and the reference's value within some ulp. The
graph: unfused and fused executables give the bits of the kernels one by one. Node by node, because errors of one node
must not be excused by, nor blamed on, what later nodes make of them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.kernel import compute_reference
from duograph.core.op import get_op
from duograph.core.types import TensorType
from duograph.ir.control import make_tuple
from duograph.ir.interpreter import Interpreter
from duograph.ir.node import Apply, Context, Graph, Node
from duograph.ir.printer import print_graph
from duograph.passes.pipelines import compile_pipeline
from duograph.runtime.programs.executable import compile_graph
from tests.ops.test_native import close, interpreted

single = import_module("duograph.runtime.kernels.single")

FLOATS = [dt.float32, dt.float32, dt.float32, dt.float64, dt.float16, dt.bfloat16]
OTHERS = [dt.int32, dt.int64, dt.uint8, dt.int8, dt.bool_]
UNARY = ("exp", "tanh", "neg", "abs", "sigmoid", "erf", "relu", "floor", "sin", "cos", "square", "sign", "log1p",
         "round", "sqrt", "rsqrt", "atan", "softplus", "expm1", "reciprocal", "gelu", "silu", "mish",
         "sinc")  # fmt: skip
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum", "pow", "atan2", "fmod", "copysign")
INTEGER_BINARY = ("add", "sub", "mul", "maximum", "minimum", "floor_div", "mod", "bitwise_and", "bitwise_xor")
COMPARE = ("less", "greater", "equal", "not_equal", "less_equal", "greater_equal")
REDUCE = ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod")
MOST_ELEMENTS = 2500


class Generator:
    """Builds one graph from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.context = Context()
        self.values: list[Node] = []
        self.params: list[Any] = []

    def pick(self, *choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    def shape(self) -> tuple[int, ...]:
        return tuple(int(self.pick(1, 2, 3, 5, 7, 16, 17, 33, 0 if self.rng.random() < 0.05 else 4))
                     for _ in range(self.rng.integers(0, 4)))  # fmt: skip

    def param(self, shape: tuple[int, ...], dtype: Any) -> Node:
        node = self.context.param(f"x{len(self.params)}", TensorType(dtype, shape))
        self.params.append(node)
        self.values.append(node)
        return node

    def operand(self, kind: Callable[[Any], bool]) -> Node:
        """An earlier value whose dtype is of this kind, or a new parameter."""
        found = [v for v in self.values if kind(v.type.dtype)]
        if found and self.rng.random() < 0.85:
            return found[-1 - min(len(found) - 1, int(self.rng.exponential(2)))]
        options = [d for d in (*FLOATS, *OTHERS) if kind(d)]
        return self.param(self.shape(), self.pick(*options))

    def like(self, node: Node) -> Node:
        """A second operand: of the same dtype, and of a shape that broadcasts with that of ``node``."""
        found = [v for v in self.values if v.type.dtype is node.type.dtype and _fits(v.type.shape, node.type.shape)]
        if found and self.rng.random() < 0.7:
            return self.pick(*found)
        shape = [n if self.rng.random() < 0.7 else 1 for n in node.type.shape]
        drop = int(self.rng.integers(0, len(shape) + 1)) if self.rng.random() < 0.3 else 0
        return self.param(tuple(shape[drop:]), node.type.dtype)

    def emit(self, name: str, *operands: Node, **attrs: Any) -> None:
        op = get_op(name)
        try:
            node = self.context.apply(op, operands, op.complete_attrs(attrs), int(self.rng.integers(0, 2)))
        except (TypeError, ValueError):
            return  # the op does not take this dtype or shape
        if all(isinstance(t, TensorType) for t in (node.type,)) and np.prod(node.type.shape) <= MOST_ELEMENTS:
            self.values.append(node)

    def step(self) -> None:
        floating, any_ = (lambda d: d.is_floating), (lambda d: True)
        match int(self.rng.integers(0, 16)):
            case 0 | 1 | 2:
                self.emit(self.pick(*UNARY), self.operand(floating))
            case 3 | 4 | 5:
                x = self.operand(floating)
                self.emit(self.pick(*BINARY), *self.pick((x, self.like(x)), (self.like(x), x)))
            case 6:
                x = self.operand(lambda d: d.is_integer)
                self.emit(self.pick(*INTEGER_BINARY), x, self.like(x))
            case 7:
                x = self.operand(any_)
                self.emit(self.pick(*COMPARE), x, self.like(x))
            case 8:
                x = self.operand(any_)
                condition = self.operand(lambda d: d is dt.bool_)
                self.emit("select", condition, x, self.like(x))
            case 9:
                self.emit("cast", self.operand(any_), dtype=self.pick(*FLOATS, *OTHERS))
            case 10 | 11:
                x = self.operand(lambda d: d.is_floating or d is dt.int32)
                axes = tuple(i for i in range(len(x.type.shape)) if self.rng.random() < 0.5)
                self.emit(self.pick(*REDUCE), x, axis=axes, keep_dims=bool(self.rng.integers(2)))
            case 12:
                x = self.operand(floating)
                if x.type.shape:
                    axis = int(self.rng.integers(len(x.type.shape)))
                    name = self.pick("softmax", "log_softmax", "cumsum", "sort_like")
                    extra = {"exclusive": False, "reverse": bool(self.rng.integers(2))} if name == "cumsum" else {}
                    self.emit("flip", x, axes=(axis,)) if name == "sort_like" else self.emit(
                        name, x, axis=axis, **extra
                    )
            case 13:
                self._move(self.operand(any_))
            case 14:
                x = self.operand(lambda d: d in (dt.float32, dt.float64, dt.float16))
                if len(x.type.shape) >= 2:
                    k, n = x.type.shape[-1], int(self.rng.integers(1, 20))
                    flip = bool(self.rng.integers(2))
                    w = self.param((n, k) if flip else (k, n), x.type.dtype)
                    self.emit("matmul", x, w, transpose_a=False, transpose_b=flip)
            case _:
                x = self.operand(any_)
                self.emit("concat", x, x, axis=0) if x.type.shape else self.emit("reshape", x, shape=(1, 1))

    def _move(self, x: Node) -> None:
        shape = x.type.shape
        match int(self.rng.integers(0, 4)):
            case 0:
                self.emit("transpose", x, perm=tuple(map(int, self.rng.permutation(len(shape)))))
            case 1:
                self.emit("reshape", x, shape=(int(np.prod(shape)),))
            case 2:
                slices = tuple((int(self.rng.integers(0, max(1, n))), n, int(self.rng.integers(1, 3))) for n in shape)
                self.emit("strided_slice", x, slices=slices)
            case _:
                self.emit("broadcast_to", x, shape=(2, *shape))

    def graph(self) -> Graph:
        for _ in range(int(self.rng.integers(3, 25))):
            self.step()
        if not self.values:
            self.param((3,), dt.float32)
        count = int(self.rng.integers(1, 4))
        outputs = tuple(dict.fromkeys([*self.values[-count:], self.pick(*self.values)]))
        return self.context.graph("fuzz", tuple(self.params), self.context.apply(get_op("make_tuple"), outputs, {}))

    def arguments(self) -> list[np.ndarray]:
        made = []
        for p in self.params:
            dtype, shape = p.type.dtype, p.type.shape
            if dtype.is_floating:
                value = self.rng.standard_normal(shape)
                for special in (np.nan, np.inf, -np.inf, 0.0, -0.0):
                    if self.rng.random() < 0.03:
                        value = np.where(self.rng.random(shape) < 0.1, special, value)
            elif dtype is dt.bool_:
                value = self.rng.integers(0, 2, shape)
            else:
                value = self.rng.integers(0, 100, shape)
            array = np.asarray(value).astype(dtype.numpy)
            made.append(array)
        return made


def _fits(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return len(a) <= len(b) and all(m in (1, n) for m, n in zip(a[::-1], b[::-1], strict=False))


def _summed(node: Apply, operands: list[Any]) -> float:
    """The sum of magnitudes that a sum could cancel from; 0 for what sums nothing."""
    if not node.op.name.startswith(("reduce_", "matmul", "cumsum")):
        return 0.0
    sizes = [np.abs(x.astype(np.float64)) for x in operands]
    totals = [float(np.sum(x[np.isfinite(x)])) for x in sizes]
    return float(np.prod(totals)) if node.op.name == "matmul" else totals[0]


class Checked(Interpreter):
    """Runs every node natively, by the loop IR interpreter and by the reference, and compares."""

    def run_node(self, node: Apply, operands: list[Any]) -> Any:
        made = super().run_node(node, operands)
        if node.op is make_tuple or not isinstance(node.type, TensorType):
            return made
        with np.errstate(all="ignore"):
            wanted = np.asarray(compute_reference(node.op, operands, node.attrs))
            close(made, wanted, f"{node!r}", _summed(node, operands))
            lowered = single.lower_op(node.op, [o.type for o in node.operands], node.attrs)
            if lowered is not None and made.size <= 400:
                (again,) = interpreted(lowered, operands)
                assert same(again, made), f"machine code and loop IR differ: {node!r}"
        return made


def check(seed: int) -> None:
    """Builds, runs and compares one graph.

    Raises:
        AssertionError: with the graph, if anything differs.
    """
    generator = Generator(seed)
    graph = generator.graph()
    arguments = generator.arguments()
    try:
        wanted = Checked().run(graph, arguments)
        for level in (0, 1):
            made = compile_graph(compile_pipeline(graph, level), level).run(arguments)
            for k, (a, b) in enumerate(zip(made, wanted, strict=True)):
                assert same(a, b), f"output {k} at O{level}: {a.ravel()[:8]} but {b.ravel()[:8]}"
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}\n{print_graph(graph)}") from error


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal dtype, shape and bits; any NaN equals any other."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "fV":
        with np.errstate(all="ignore"):
            nan_a, nan_b = np.isnan(a.astype(np.float64)), np.isnan(b.astype(np.float64))
        if (nan_a != nan_b).any():
            return False
        a, b = np.where(nan_a, 0, a.astype(np.float64)), np.where(nan_b, 0, b.astype(np.float64))
    return np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
