"""A captured program as the bytes of an ONNX file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf.message import EncodeError

from duograph.core.dim import Symbol, substitute, symbols_of
from duograph.core.types import ScalarType, TensorType, Type
from duograph.frontend.programs.program import Path, Program
from duograph.frontend.rules.sources import Source
from duograph.frontend.values import recipe as recipes
from duograph.ir.node import Apply, Node
from duograph.ir.printer import all_graphs
from duograph.jit.portable import cannot_export, is_open
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from ..capturing import Captured
from . import elements, products, shapes  # noqa: F401  (they enter their operators)
from .registry import OPERATORS
from .schema import DTYPES, IR_VERSION, OPSET, PRODUCER, message, set_tensor
from .writer import NoForm, Writer, dtype_of

__all__ = ["encode"]

_HELP = (
    "an ONNX file holds operators of ONNX only; move this out of the exported program, or export it as MINDIR, which "
    "duograph.load reads"
)


def encode(
    found: Captured,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    weights_are_inputs: bool = False,
) -> bytes:
    """The file of a program.

    Args:
        found: the program.
        input_names: names of the tensors that come in. Default: those of the arguments.
        output_names: names of the tensors that it gives. Default: ``output``, ``output_1``, ...
        weights_are_inputs: whether weights can be given, too.

    Raises:
        RuntimeError: the program depends on Python objects, has effects, or uses what ONNX does not have.
        ValueError: the wrong number of names, or a program of more than 2 GB.
    """
    file = _File(found, input_names)
    try:
        _check_effects(found.program)
        model = file.model(output_names, weights_are_inputs)
        return model.SerializeToString(deterministic=True)
    except NoForm as reason:
        raise _failure(found, reason) from None
    except (EncodeError, ValueError) as exc:
        if isinstance(exc, EncodeError) or "2GB" in str(exc) or "exceed" in str(exc):
            raise ValueError("For 'export', an ONNX file holds at most 2 GB; this network is larger.") from None
        raise


def _failure(found: Captured, reason: NoForm) -> Exception:
    node = reason.node
    what = reason.what
    spans: Any = ()
    if isinstance(node, Apply):
        spans = node.context.origins.get(node, ())
        what = f"the operator {node.op.name}: {what}"
    return cannot_export(found.fn, what, spans[-1] if spans else None, _HELP)


def _check_effects(program: Program) -> None:
    """Raises for what would be left out in silence: printing, calls of Python functions, communication."""
    for graph in all_graphs(program.graph):
        for node in graph.nodes:
            if node.op.effects:
                raise NoForm("it has effects outside of the graph", node)


class _File:
    def __init__(self, found: Captured, input_names: Sequence[str] | None) -> None:
        self.program: Program = found.program
        self.writer = Writer(OPERATORS)
        self.inputs: list[tuple[str, Type]] = []
        self.weights: dict[str, Type] = {}
        self.by_source: dict[Source, str] = {}
        self.symbols: dict[Symbol, Symbol] = {}
        given = list(_leaves(found.arguments))
        if input_names is not None and len(input_names) != len(given):
            raise ValueError(f"For 'export', there are {len(given)} inputs, but {len(input_names)} names of them.")
        types = {source: p.type for source, p in zip(self.program.inputs, self.program.graph.params)}
        for i, (source, label, value) in enumerate(given):
            kind = types.get(source) or TensorType(value.dtype, tuple(1 if n == -1 else n for n in value._data.shape))
            name = self.writer.name(label if input_names is None else input_names[i])
            self.by_source[source] = name
            self.inputs.append((name, kind))

    def model(self, output_names: Sequence[str] | None, weights_are_inputs: bool) -> Any:
        program, writer = self.program, self.writer
        path = self._only_path()
        for symbol, source, axis in program.symbols:
            writer.sizes.setdefault(symbol, (self._of_source(source), axis))
        given: list[Any] = [self._of_input(source) for source in program.inputs]
        given += [None] * (len(program.graph.params) - len(given))  # the state of random numbers
        found = [self._result(recipe, path) for recipe in _outputs(path.value)]
        made = iter(writer.values(program.graph, given, [node for node in found if isinstance(node, Node)]))
        values = [next(made) if isinstance(result, Node) else result[0] for result in found]
        if output_names is not None and len(output_names) != len(values):
            raise ValueError(f"For 'export', there are {len(values)} outputs, but {len(output_names)} names of them.")
        outputs = []
        for i, (value, result) in enumerate(zip(values, found)):
            if not isinstance(value, str):
                raise NoForm("it returns something that is not a tensor", result if isinstance(result, Node) else None)
            name = writer.name("output" if output_names is None else output_names[i])
            identity = message("NodeProto")
            identity.op_type, identity.name = "Identity", name
            identity.input.append(value)
            identity.output.append(name)
            writer.nodes.append(identity)
            outputs.append((name, result.type if isinstance(result, Node) else result[1]))
        return self._model(outputs, weights_are_inputs)

    def _model(self, outputs: list[tuple[str, Type]], weights_are_inputs: bool) -> Any:
        model = message("ModelProto")
        model.ir_version, model.producer_name = IR_VERSION, PRODUCER
        model.opset_import.add(domain="", version=OPSET)
        graph = model.graph
        graph.name = self.program.name
        graph.node.extend(self.writer.nodes)
        for name, array in self.writer.initializers.items():
            set_tensor(graph.initializer.add(), array, name)
        entries = self.inputs + (list(self.weights.items()) if weights_are_inputs else [])
        for pairs, field in ((entries, graph.input), (outputs, graph.output)):
            for name, kind in pairs:
                self._describe(field.add(name=name), kind)
        return model

    def _describe(self, info: Any, kind: Type) -> None:
        tensor = info.type.tensor_type
        tensor.elem_type = DTYPES[dtype_of(kind).type]
        tensor.shape.SetInParent()
        for size in getattr(kind, "shape", ()):
            dimension = tensor.shape.dim.add()
            if isinstance(size, int):
                dimension.dim_value = size
                continue
            for symbol in sorted(symbols_of(size), key=str):  # so that equal programs are equal files
                self.symbols.setdefault(symbol, Symbol(f"n{len(self.symbols)}"))
            dimension.dim_param = str(substitute(size, self.symbols))

    def _only_path(self) -> Path:
        program = self.program
        paths = [path for path in program.paths if path.kind == "return"]
        if len(paths) != 1 or len(program.paths) != 1:
            raise NoForm("it may raise an exception, depending on values" if paths else "it always raises an exception")
        (path,) = paths
        if path.tensors:
            changed = path.tensors[0].target
            what = f" ({changed.source})" if isinstance(changed, recipes.Outside) else ""
            raise NoForm(f"it changes a tensor from outside{what}; of a Cell in training, set_train(False) comes first")
        for kind, owner, attribute, _ in path.attributes:
            where = (
                f"the attribute {type(owner).__name__}.{attribute}" if kind == "attr" else f"the variable {attribute}"
            )
            raise NoForm(f"it assigns to {where}, which belongs to the Python program")
        if path.containers:
            raise NoForm("it changes a container that belongs to the Python program")
        return path

    # -- what comes in --------------------------------------------------------------------------------------------

    def _of_input(self, source: Source) -> str:
        found = self.by_source.get(source)
        if found is None:
            value = source.load(())
            if isinstance(value, bool | int | float):
                kind = ScalarType("bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float")
                found = self.by_source[source] = self.writer.constant(value, dtype_of(kind))
                return found
        return self._of_source(source)

    def _of_source(self, source: Source) -> str:
        found = self.by_source.get(source)
        if found is None:
            tensor = source.load(())
            if not isinstance(tensor, Tensor):
                raise NoForm(f"{source} is a Python object ({type(tensor).__name__})")
            array = tensor.array()
            kind = TensorType(tensor.dtype, tuple(array.shape))
            dtype_of(kind)
            known = [name for name in self.weights if self.writer.initializers[name] is array]
            name = known[0] if known else self.writer.name(tensor.name if isinstance(tensor, Parameter) else "tensor")
            self.writer.initializers[name] = array
            self.weights[name] = kind
            found = self.by_source[source] = name
        return found

    # -- what it gives --------------------------------------------------------------------------------------------

    def _result(self, recipe: Any, path: Path) -> Node | tuple[str, Type]:
        """The node whose value a recipe stands for, or the name of a tensor that the graph does not take."""
        if isinstance(recipe, recipes.Outside) and recipe.source not in self.program.inputs:
            name = self._of_source(recipe.source)
            return name, self.weights.get(name) or dict(self.inputs)[name]
        return self._node(recipe, path)

    def _node(self, recipe: Any, path: Path) -> Node:
        graph = self.program.graph
        match recipe:
            case recipes.Output(index=index):
                return graph.output.operands[path.first + index]  # type: ignore[attr-defined]
            case recipes.Chosen(value=value):
                return self._node(value, path)
            case recipes.View(parent=parent, op=op, attrs=attrs):
                return graph.context.apply(op, (self._node(parent, path),), dict(attrs))
            case recipes.Outside(source=source) if source in self.program.inputs:
                return graph.params[self.program.inputs.index(source)]
            case recipes.Constant(value=value) if isinstance(value, bool | int | float):
                return graph.context.const(value)
        raise NoForm("it gives something that no operator has made")


def _leaves(arguments: dict[str, Any]) -> Iterator[tuple[Source, str, Any]]:
    """The tensors among the arguments, with where they are and a name."""

    def visit(value: Any, source: Source, label: str) -> Iterator[tuple[Source, str, Any]]:
        if isinstance(value, Tensor):
            yield source, label, value
        elif isinstance(value, tuple | list):
            for i, item in enumerate(value):
                yield from visit(item, Source("item", source, i), f"{label}.{i}")
        elif isinstance(value, dict):
            for key, item in value.items():
                yield from visit(item, Source("item", source, key), f"{label}.{key}")

    for i, (name, value) in enumerate(arguments.items()):
        yield from visit(value, Source("arg", name, i), name)


def _outputs(recipe: Any) -> Iterator[Any]:
    """The tensors and numbers in what a program gives, in order; None is none."""
    if isinstance(recipe, recipes.Container) and recipe.kind in (tuple, list, dict):
        for item in recipe.items:
            yield from _outputs(item)
    elif not (isinstance(recipe, recipes.Constant) and recipe.value is None):
        yield recipe


def open_dimensions(value: Any, axes: Any) -> Tensor:
    """A tensor of which only some sizes are fixed, for capture."""
    shape = [None if axis in axes else size for axis, size in enumerate(value.shape)]
    return value if is_open(value) else Tensor(shape=shape, dtype=value.dtype)
